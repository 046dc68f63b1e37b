"""Linear algebra; the names of this package are those of torch.linalg.

`products.py` multiplies vectors and matrices, `einsum.py` whatever letters can name; `decompose.py` takes matrices apart (the
operations and their gradients are in `ops/linalg.py`); `norms.py` measures; `older.py` has the names of torch itself.
"""

from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.ops.linalg import LinAlgError as LinAlgError
from badak.tensor.linalg.decompose import cholesky as cholesky
from badak.tensor.linalg.decompose import det as det
from badak.tensor.linalg.decompose import eig as eig
from badak.tensor.linalg.decompose import eigh as eigh
from badak.tensor.linalg.decompose import eigvals as eigvals
from badak.tensor.linalg.decompose import eigvalsh as eigvalsh
from badak.tensor.linalg.decompose import inv as inv
from badak.tensor.linalg.decompose import lstsq as lstsq
from badak.tensor.linalg.decompose import matrix_power as matrix_power
from badak.tensor.linalg.decompose import matrix_rank as matrix_rank
from badak.tensor.linalg.decompose import pinv as pinv
from badak.tensor.linalg.decompose import qr as qr
from badak.tensor.linalg.decompose import slogdet as slogdet
from badak.tensor.linalg.decompose import solve as solve
from badak.tensor.linalg.decompose import solve_triangular as solve_triangular
from badak.tensor.linalg.decompose import svd as svd
from badak.tensor.linalg.decompose import svdvals as svdvals
from badak.tensor.linalg.factors import cholesky_ex as cholesky_ex
from badak.tensor.linalg.factors import inv_ex as inv_ex
from badak.tensor.linalg.factors import lu as lu
from badak.tensor.linalg.factors import lu_factor as lu_factor
from badak.tensor.linalg.factors import lu_factor_ex as lu_factor_ex
from badak.tensor.linalg.factors import lu_solve as lu_solve
from badak.tensor.linalg.factors import matrix_exp as matrix_exp
from badak.tensor.linalg.factors import solve_ex as solve_ex
from badak.tensor.linalg.norms import cond as cond
from badak.tensor.linalg.norms import matrix_norm as matrix_norm
from badak.tensor.linalg.norms import norm as norm
from badak.tensor.linalg.norms import vector_norm as vector_norm
from badak.tensor.linalg.products import cross as cross
from badak.tensor.linalg.products import matmul as matmul
from badak.tensor.linalg.products import multi_dot as multi_dot
from badak.tensor.linalg.products import vecdot as vecdot
from badak.tensor.linalg.reflections import householder_product as householder_product
from badak.tensor.linalg.shaped import tensorinv as tensorinv
from badak.tensor.linalg.shaped import tensorsolve as tensorsolve
from badak.tensor.linalg.shaped import vander as vander
from badak.tensor.shape import diagonal as _diagonal
from badak.tensor.tensor import Tensor

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "LinAlgError", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd",
    "svdvals", "vecdot", "vector_norm", "cholesky_ex", "inv_ex", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matrix_exp",
    "solve_ex", "householder_product", "tensorinv", "tensorsolve", "vander",
]  # fmt: skip


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:  # noqa: N803
    """The diagonal of the last two dims; a view."""
    return _diagonal(A, offset, dim1, dim2)


__getattr__, __dir__ = _door("badak.linalg")
_guard_names(globals(), "badak.linalg")
