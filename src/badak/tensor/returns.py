"""Results with names: x.max(dim) gives a pair (values, indices) whose parts can be asked for by name."""

from collections import namedtuple
from collections.abc import Iterable
from typing import Any

from badak.core.errors import ArgumentTypeError, package, tr


def _shown(self) -> str:
    parts = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self))
    return f"{package()}.return_types.{type(self).__name__}(\n{parts})"


def _made(cls, *values):
    """From one sequence, as in PyTorch, or from its values."""
    parts = tuple(values[0]) if len(values) == 1 and isinstance(values[0], Iterable) else values
    if len(parts) != len(cls._fields):
        cause = tr("return_types.{}() takes a {}-sequence ({}-sequence given)", cls.__name__, len(cls._fields), len(parts))
        raise ArgumentTypeError(cause, f"{cls.__name__}(({', '.join(cls._fields)}))")
    return tuple.__new__(cls, parts)


def _again(name: str, values: tuple) -> Any:
    return globals()[name](values)


def _reduced(self) -> tuple:
    return _again, (type(self).__name__, tuple(self))


def _result(name: str, fields: str) -> Any:
    pair = namedtuple(name, fields)  # type: ignore[misc]
    own = {"__new__": _made, "__repr__": _shown, "__reduce__": _reduced}
    return type(name, (pair,), own | {"__slots__": (), "__module__": "badak.return_types"})


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
