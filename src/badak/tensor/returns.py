"""Results with names: x.max(dim) gives a pair (values, indices) whose parts can be asked for by name."""

from collections import namedtuple
from typing import Any

from badak.core.errors import package


def _shown(self) -> str:
    parts = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self))
    return f"{package()}.return_types.{type(self).__name__}(\n{parts})"


def _result(name: str, fields: str) -> Any:
    pair = namedtuple(name, fields)  # type: ignore[misc]
    return type(name, (pair,), {"__slots__": (), "__repr__": _shown, "__module__": "badak.return_types"})


max = _result("max", "values indices")
min = _result("min", "values indices")
sort = _result("sort", "values indices")
topk = _result("topk", "values indices")
median = _result("median", "values indices")
kthvalue = _result("kthvalue", "values indices")
cummax = _result("cummax", "values indices")
cummin = _result("cummin", "values indices")
frexp = _result("frexp", "mantissa exponent")
mode = _result("mode", "values indices")
aminmax = _result("aminmax", "min max")
linalg_eig = _result("linalg_eig", "eigenvalues eigenvectors")
linalg_eigh = _result("linalg_eigh", "eigenvalues eigenvectors")
geqrf = _result("geqrf", "a tau")
histogram = _result("histogram", "hist bin_edges")
histogramdd = _result("histogramdd", "hist bin_edges")
linalg_cholesky_ex = _result("linalg_cholesky_ex", "L info")
linalg_inv_ex = _result("linalg_inv_ex", "inverse info")
linalg_lu = _result("linalg_lu", "P L U")
linalg_lu_factor = _result("linalg_lu_factor", "LU pivots")
linalg_lu_factor_ex = _result("linalg_lu_factor_ex", "LU pivots info")
linalg_solve_ex = _result("linalg_solve_ex", "result info")
lu_unpack = _result("lu_unpack", "P L U")
nanmedian = _result("nanmedian", "values indices")
triangular_solve = _result("triangular_solve", "solution cloned_coefficient")
linalg_lstsq = _result("linalg_lstsq", "solution residuals rank singular_values")
linalg_qr = _result("linalg_qr", "Q R")
qr = _result("qr", "Q R")
linalg_slogdet = _result("linalg_slogdet", "sign logabsdet")
linalg_svd = _result("linalg_svd", "U S Vh")
svd = _result("svd", "U S V")
