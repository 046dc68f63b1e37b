"""torch.linalg's functions under their older names, which are also methods of a tensor."""

from collections.abc import Sequence
from typing import Any

from badak.tensor import returns
from badak.tensor.linalg import decompose as _linalg
from badak.tensor.linalg.decompose import det as det
from badak.tensor.linalg.decompose import logdet as logdet
from badak.tensor.linalg.decompose import matrix_power as matrix_power
from badak.tensor.linalg.decompose import slogdet as slogdet
from badak.tensor.linalg.products import cross as _cross
from badak.tensor.tensor import Tensor


def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:  # noqa: A002
    """As linalg.inv."""
    return _linalg.inv(input, out=out)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:  # noqa: A002
    """As linalg.pinv with rtol=rcond."""
    return _linalg.pinv(input, rtol=rcond)


def cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:  # noqa: A002
    """As linalg.cholesky."""
    return _linalg.cholesky(input, upper=upper, out=out)


def qr(input: Tensor, some: bool = True, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:  # noqa: A002
    """As linalg.qr; some=False: with a square Q."""
    return returns.qr(*_linalg.qr(input, "reduced" if some else "complete"))


def svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:  # noqa: A002
    """(U, S, V) with A = U diag(S) V^H: V, not its transpose as in linalg.svd."""
    U, S, Vh = _linalg.svd(input, full_matrices=not some)  # noqa: N806
    return returns.svd(U, S, Vh.mH)


def cross(input: Tensor, other: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:  # noqa: A002
    """As linalg.cross; without `dim` along the first one of size 3."""
    if dim is None:
        dim = next((d for d, n in enumerate(input.shape) if n == 3), -1)
    return _cross(input, other, dim=dim, out=out)
