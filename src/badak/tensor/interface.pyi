# Written by tools/stubs.py from core/public_api/public.py; a test keeps it true.
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from badak.autograd.node import Leaf, Node, Version
from badak.tensor import dtypes
from badak.tensor.tensor import Tensor

class Methods:
    _array: np.ndarray
    _described: Any
    _requires_grad: bool
    _node: Node | None
    _output_number: int
    _grad: 'Tensor | None'
    _leaf_end: tuple[Leaf, int] | None
    _kept_by: object
    _backward_hooks_after: dict[int, Callable] | None
    _version_counter: Version | None
    _whole: 'Tensor | None'
    _view_steps: tuple
    _seen_again: ClassVar[Callable[..., 'Tensor']]
    _rebased: int
    _reshaped_at: int
    _made_at: int
    _inference: bool
    _is_badaks: ClassVar[bool]
    @classmethod
    def _of(cls, array: np.ndarray, kind: Any = None) -> Tensor: ...
    @classmethod
    def _like_meta(cls, description: np.ndarray, kind: Any = None) -> Tensor: ...
    @property
    def H(self) -> Tensor:
        """A matrix transposed and conjugated."""
    @property
    def T(self) -> Tensor:
        """All dims in reverse order; a view."""
    def __abs__(self, *, out: Tensor | None = None) -> Tensor:
        """y = abs(x);   dx = dy sign(x), 0 at 0; for complex x: dx = dy x / abs(x)."""
    def __add__(self, other) -> Tensor:
        ...
    def __and__(self, other) -> Tensor:
        ...
    def __delitem__(self, key: _int) -> None:
        ...
    def __div__(self, other) -> Tensor:
        ...
    def __eq__(self, other) -> Tensor:  # type: ignore[override]
        ...
    def __floordiv__(self, other) -> Tensor:
        ...
    def __ge__(self, other) -> Tensor:
        ...
    def __getitem__(self, key: _int | Sequence | Any | None) -> Tensor:
        """x[key]: a view for basic keys, a gathered copy for advanced ones."""
    def __gt__(self, other) -> Tensor:
        ...
    def __iadd__(self, other) -> Tensor:
        ...
    def __iand__(self, other) -> Tensor:
        ...
    def __idiv__(self, other) -> Tensor:
        ...
    def __ifloordiv__(self, other) -> Tensor:
        ...
    def __ilshift__(self, other) -> Tensor:
        ...
    def __imod__(self, other) -> Tensor:
        ...
    def __imul__(self, other) -> Tensor:
        ...
    def __invert__(self, *, out: Tensor | None = None) -> Tensor:
        """~input, bit by bit; of booleans: not."""
    def __ior__(self, other) -> Tensor:
        ...
    def __ipow__(self, other) -> Tensor:
        ...
    def __irshift__(self, other) -> Tensor:
        ...
    def __isub__(self, other) -> Tensor:
        ...
    def __itruediv__(self, other) -> Tensor:
        ...
    def __ixor__(self, other) -> Tensor:
        ...
    def __le__(self, other) -> Tensor:
        ...
    def __lshift__(self, other) -> Tensor:
        ...
    def __lt__(self, other) -> Tensor:
        ...
    def __matmul__(self, other) -> Tensor:
        ...
    def __mod__(self, other) -> Tensor:
        ...
    def __mul__(self, other) -> Tensor:
        ...
    def __ne__(self, other) -> Tensor:  # type: ignore[override]
        ...
    def __neg__(self, *, out: Tensor | None = None) -> Tensor:
        """-input.   dx = -dy."""
    def __or__(self, other) -> Tensor:
        ...
    def __pos__(self) -> Tensor:
        """input itself."""
    def __pow__(self, other) -> Tensor:
        ...
    def __radd__(self, other) -> Tensor:
        ...
    def __rand__(self, other) -> Tensor:
        ...
    def __rdiv__(self, other) -> Tensor:
        ...
    def __rfloordiv__(self, other) -> Tensor:
        ...
    def __rlshift__(self, other) -> Tensor:
        ...
    def __rmatmul__(self, other) -> Tensor:
        ...
    def __rmod__(self, other) -> Tensor:
        ...
    def __rmul__(self, other) -> Tensor:
        ...
    def __ror__(self, other) -> Tensor:
        ...
    def __rpow__(self, other) -> Tensor:
        ...
    def __rrshift__(self, other) -> Tensor:
        ...
    def __rshift__(self, other) -> Tensor:
        ...
    def __rsub__(self, other) -> Tensor:
        ...
    def __rtruediv__(self, other) -> Tensor:
        ...
    def __rxor__(self, other) -> Tensor:
        ...
    def __setitem__(self, key: Any, value: Tensor | _float) -> None:
        """x[key] = value, with the history kept: the part that is replaced gets value's gradient."""
    def __sub__(self, other) -> Tensor:
        ...
    def __truediv__(self, other) -> Tensor:
        ...
    def __xor__(self, other) -> Tensor:
        ...
    def _coalesced_(self, coalesced: _bool) -> Tensor:
        """Say of a COO tensor that its places are in order, none twice."""
    def _indices(self) -> Tensor:
        """(sparse dims, count): the places of a COO tensor, coalesced or not."""
    def _neg_view(self) -> Tensor:
        """-x, computed at once. What is written into PyTorch's changes x; so this one can only be read."""
    def _nnz(self) -> _int:
        """How many values a sparse tensor holds."""
    def _values(self) -> Tensor:
        """The values of a COO tensor, coalesced or not, without history."""
    def abs(self, *, out: Tensor | None = None) -> Tensor:
        """y = abs(x);   dx = dy sign(x), 0 at 0; for complex x: dx = dy x / abs(x)."""
    def abs_(self, *, out: Tensor | None = None) -> Tensor:
        """abs, in place."""
    def absolute(self, *, out: Tensor | None = None) -> Tensor:
        """y = abs(x);   dx = dy sign(x), 0 at 0; for complex x: dx = dy x / abs(x)."""
    def absolute_(self, *, out: Tensor | None = None) -> Tensor:
        """absolute, in place."""
    def acos(self, *, out: Tensor | None = None) -> Tensor:
        """y = arccos(x);   dx = -dy / sqrt(1 - x^2)."""
    def acos_(self, *, out: Tensor | None = None) -> Tensor:
        """acos, in place."""
    def acosh(self, *, out: Tensor | None = None) -> Tensor:
        """y = arcosh(x);   dx = dy / sqrt(x^2 - 1), for complex x with the root's sign of sqrt(x - 1) sqrt(x + 1)."""
    def acosh_(self, *, out: Tensor | None = None) -> Tensor:
        """acosh, in place."""
    def add(self, other: Any, *, alpha: _complex | None = 1, out: Tensor | None = None) -> Tensor:
        """input + alpha other.   dinput = dy, dother = alpha dy."""
    def add_(self, *args: Any, alpha: _complex | None = 1, other: Tensor | _complex | None = None) -> Tensor:
        """input += alpha other. The old form add_(alpha, other) is accepted too."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _complex = 1, alpha: _complex = 1, out: Tensor | None = None) -> Tensor:
        """beta input + alpha sum_b batch1[b] batch2[b]."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _complex = 1, alpha: _complex = 1, out: Tensor | None = None) -> Tensor:
        """addbmm, in place."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: _complex = 1, out: Tensor | None = None) -> Tensor:
        """input + value tensor1 / tensor2.   dinput = dy, dtensor1 = value dy / tensor2, and so on."""
    def addcdiv_(self, *args: Any, value: _complex = 1, **named: Any) -> Tensor:
        """input += value tensor1 / tensor2. The old form addcdiv_(value, tensor1, tensor2) is accepted too."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: _complex = 1, out: Tensor | None = None) -> Tensor:
        """input + value tensor1 tensor2.   dinput = dy, dtensor1 = value dy tensor2, dtensor2 = value dy tensor1."""
    def addcmul_(self, *args: Any, value: _complex = 1, **named: Any) -> Tensor:
        """input += value tensor1 tensor2. The old form addcmul_(value, tensor1, tensor2) is accepted too."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: _complex = 1, alpha: _complex = 1, out: Tensor | None = None) -> Tensor:
        """beta input + alpha mat1 mat2."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: _complex = 1, alpha: _complex = 1, out: Tensor | None = None) -> Tensor:
        """addmm, in place."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: _complex = 1, alpha: _complex = 1, out: Tensor | None = None) -> Tensor:
        """beta input + alpha mat vec."""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: _complex = 1, alpha: _complex = 1, out: Tensor | None = None) -> Tensor:
        """addmv, in place."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: _complex = 1, alpha: _complex = 1, out: Tensor | None = None) -> Tensor:
        """beta input + alpha outer(vec1, vec2); of booleans True where one of the two summands is."""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: _complex = 1, alpha: _complex = 1, out: Tensor | None = None) -> Tensor:
        """addr, in place."""
    def adjoint(self) -> Tensor:
        """The last two dims exchanged, conjugated if complex."""
    def all(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
        """Whether every value is nonzero: over dim, or over all. uint8 gives uint8, as in PyTorch."""
    def allclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
        """Whether |input - other| <= atol + rtol |other| everywhere."""
    def amax(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
        """y = max x;   dx = dy shared evenly by those that are equal to y."""
    def amin(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
        """y = min x;   dx = dy shared evenly by those that are equal to y."""
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(min, max)."""
    def angle(self, *, out: Tensor | None = None) -> Tensor:
        """The angle of each complex number in (-pi, pi]; of a real one 0, pi where it is negative."""
    def any(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
        """Whether any value is nonzero: over dim, or over all. uint8 gives uint8, as in PyTorch."""
    def apply_(self, callable: Callable) -> Tensor:
        """y[i] = callable(y[i]), one number after the other, by Python; in place."""
    def arccos(self, *, out: Tensor | None = None) -> Tensor:
        """y = arccos(x);   dx = -dy / sqrt(1 - x^2)."""
    def arccos_(self, *, out: Tensor | None = None) -> Tensor:
        """arccos, in place."""
    def arccosh(self, *, out: Tensor | None = None) -> Tensor:
        """y = arcosh(x);   dx = dy / sqrt(x^2 - 1), for complex x with the root's sign of sqrt(x - 1) sqrt(x + 1)."""
    def arccosh_(self, *, out: Tensor | None = None) -> Tensor:
        """arccosh, in place."""
    def arcsin(self, *, out: Tensor | None = None) -> Tensor:
        """y = arcsin(x);   dx = dy / sqrt(1 - x^2)."""
    def arcsin_(self, *, out: Tensor | None = None) -> Tensor:
        """arcsin, in place."""
    def arcsinh(self, *, out: Tensor | None = None) -> Tensor:
        """y = arsinh(x);   dx = dy / sqrt(x^2 + 1)."""
    def arcsinh_(self, *, out: Tensor | None = None) -> Tensor:
        """arcsinh, in place."""
    def arctan(self, *, out: Tensor | None = None) -> Tensor:
        """y = arctan(x);   dx = dy / (1 + x^2)."""
    def arctan2(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """y = the angle of the point (b, a), in (-pi, pi];   da = dy b / (a^2 + b^2), db = -dy a / (a^2 + b^2)."""
    def arctan2_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """arctan2, in place."""
    def arctan_(self, *, out: Tensor | None = None) -> Tensor:
        """arctan, in place."""
    def arctanh(self, *, out: Tensor | None = None) -> Tensor:
        """y = artanh(x);   dx = dy / (1 - x^2)."""
    def arctanh_(self, *, out: Tensor | None = None) -> Tensor:
        """arctanh, in place."""
    def argmax(self, dim: _int | None = None, keepdim: _bool = False, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
        """The index of the largest value along dim (of all, flat, without dim); the first of equal ones."""
    def argmin(self, dim: _int | None = None, keepdim: _bool = False, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
        """The index of the smallest value along dim (of all, flat, without dim); the first of equal ones."""
    def argsort(self, dim: _int = -1, descending: _bool = False, stable: _bool = False) -> Tensor:
        """The indices that put x in order along dim."""
    def argwhere(self) -> Tensor:
        """The indices of the entries that are not 0: (count, dims)."""
    def as_strided(self, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """A view of the memory of input: entry i lies at storage_offset + i . stride, counted in entries from where the memory begins."""
    def as_strided_(self, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """as_strided, in place."""
    def as_strided_scatter(self, src: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """input with the entries that as_strided shows replaced by src."""
    def asin(self, *, out: Tensor | None = None) -> Tensor:
        """y = arcsin(x);   dx = dy / sqrt(1 - x^2)."""
    def asin_(self, *, out: Tensor | None = None) -> Tensor:
        """asin, in place."""
    def asinh(self, *, out: Tensor | None = None) -> Tensor:
        """y = arsinh(x);   dx = dy / sqrt(x^2 + 1)."""
    def asinh_(self, *, out: Tensor | None = None) -> Tensor:
        """asinh, in place."""
    def atan(self, *, out: Tensor | None = None) -> Tensor:
        """y = arctan(x);   dx = dy / (1 + x^2)."""
    def atan2(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """y = the angle of the point (b, a), in (-pi, pi];   da = dy b / (a^2 + b^2), db = -dy a / (a^2 + b^2)."""
    def atan2_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """atan2, in place."""
    def atan_(self, *, out: Tensor | None = None) -> Tensor:
        """atan, in place."""
    def atanh(self, *, out: Tensor | None = None) -> Tensor:
        """y = artanh(x);   dx = dy / (1 - x^2)."""
    def atanh_(self, *, out: Tensor | None = None) -> Tensor:
        """atanh, in place."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _complex = 1, alpha: _complex = 1, out: Tensor | None = None) -> Tensor:
        """beta input + alpha batch1[b] batch2[b] for each b."""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _complex = 1, alpha: _complex = 1, out: Tensor | None = None) -> Tensor:
        """baddbmm, in place."""
    def bernoulli(self, p: _float | Tensor | None = None, *, generator: Any | None = None, out: Tensor | None = None) -> Tensor:
        """1 with probability input[i] (or p, where p is given), else 0; input's shape and dtype."""
    def bernoulli_(self, p: Tensor | _float = 0.5, *, generator: Any | None = None) -> Tensor:
        """Fill x with 1 where a draw of probability p (a number, or a tensor that broadcasts to x) succeeds, else 0."""
    def bfloat16(self, memory_format: Any = None) -> Tensor:
        """x in bfloat16; x itself where it is so already."""
    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often each of 0, 1, 2, ... occurs in a vector, or the sum of their weights."""
    def bitwise_and(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input & other, bit by bit; of booleans: both."""
    def bitwise_and_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """bitwise_and, in place."""
    def bitwise_left_shift(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input << other."""
    def bitwise_left_shift_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """bitwise_left_shift, in place."""
    def bitwise_not(self, *, out: Tensor | None = None) -> Tensor:
        """~input, bit by bit; of booleans: not."""
    def bitwise_not_(self, *, out: Tensor | None = None) -> Tensor:
        """bitwise_not, in place."""
    def bitwise_or(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input | other, bit by bit; of booleans: at least one."""
    def bitwise_or_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """bitwise_or, in place."""
    def bitwise_right_shift(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input >> other."""
    def bitwise_right_shift_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """bitwise_right_shift, in place."""
    def bitwise_xor(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input ^ other, bit by bit; of booleans: exactly one."""
    def bitwise_xor_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """bitwise_xor, in place."""
    def bmm(self, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The products of two stacks of matrices, (B, M, K) and (B, K, N)."""
    def bool(self, memory_format: Any = None) -> Tensor:
        """x in bool; x itself where it is so already."""
    def broadcast_to(self, *shape: Any, size: Sequence[_int] | None = None) -> Tensor:
        """expand(size)."""
    def byte(self, memory_format: Any = None) -> Tensor:
        """x in uint8; x itself where it is so already."""
    def cauchy_(self, median: _float = 0.0, sigma: _float = 1.0, *, generator: Any | None = None) -> Tensor:
        """Fill x with median + sigma tan(pi (u - 1/2))."""
    def ccol_indices(self) -> Tensor:
        """Where the columns of a CSC tensor begin and end in its values."""
    def cdouble(self, memory_format: Any = None) -> Tensor:
        """x in complex128; x itself where it is so already."""
    def ceil(self, *, out: Tensor | None = None) -> Tensor:
        """y = the smallest integer >= x;   dx = 0."""
    def ceil_(self, *, out: Tensor | None = None) -> Tensor:
        """ceil, in place."""
    def cfloat(self, memory_format: Any = None) -> Tensor:
        """x in complex64; x itself where it is so already."""
    def char(self, memory_format: Any = None) -> Tensor:
        """x in int8; x itself where it is so already."""
    def cholesky(self, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """As linalg.cholesky."""
    def cholesky_inverse(self, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """A^-1, where A = L L^H, or L^H L with upper=True."""
    def cholesky_solve(self, L: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """X with A X = B, where A = L L^H, or L^H L with upper=True."""
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple:
        """At most `chunks` equal pieces along dim, the last perhaps smaller; views."""
    def clamp(self, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
        """min(max(x, min), max) for numbers or tensors; None is no bound.   dx = dy where min <= x <= max, else 0."""
    def clamp_(self, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
        """clamp, in place."""
    def clamp_max(self, max: Tensor | _complex) -> Tensor:
        """min(x, max).   dx = dy where x <= max."""
    def clamp_max_(self, max: Tensor | _complex) -> Tensor:
        """clamp_max, in place."""
    def clamp_min(self, min: Tensor | _complex) -> Tensor:
        """max(x, min).   dx = dy where x >= min."""
    def clamp_min_(self, min: Tensor | _complex) -> Tensor:
        """clamp_min, in place."""
    def clip(self, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
        """min(max(x, min), max) for numbers or tensors; None is no bound.   dx = dy where min <= x <= max, else 0."""
    def clip_(self, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
        """clip, in place."""
    def clone(self, *, memory_format: Any = None) -> Tensor:
        """A copy with its own memory, which lies as input does or as memory_format says.   dx = dy."""
    def coalesce(self) -> Tensor:
        """The same COO tensor with its places in order, each once, and their values added up."""
    def col_indices(self) -> Tensor:
        """The column of each value of a CSR tensor."""
    def conj(self) -> Tensor:
        """The complex conjugate; of a real tensor the tensor itself."""
    def conj_physical(self) -> Tensor:
        """The complex conjugate, as conj: badak computes it at once, PyTorch's conj only notes it."""
    def conj_physical_(self) -> Tensor:
        """conj_physical, in place."""
    def contiguous(self, memory_format: Any = None) -> Tensor:
        """x where it lies in row-major order, or as memory_format says, else such a copy."""
    def copy_(self, src: Tensor, non_blocking: _bool = False) -> Tensor:
        """input = src, broadcast to input's shape and cast to its dtype."""
    def copysign(self, other: Any, *, out: Tensor | None = None) -> Tensor:
        """|input| with the sign of other.   dinput = dy y / input, 0 at 0."""
    def copysign_(self, other: Any, *, out: Tensor | None = None) -> Tensor:
        """copysign, in place."""
    def corrcoef(self) -> Tensor:
        """The correlation of variables: cov over the product of standard deviations, in [-1, 1]."""
    def cos(self, *, out: Tensor | None = None) -> Tensor:
        """y = cos(x);   dx = -dy sin(x)."""
    def cos_(self, *, out: Tensor | None = None) -> Tensor:
        """cos, in place."""
    def cosh(self, *, out: Tensor | None = None) -> Tensor:
        """y = cosh(x);   dx = dy sinh(x)."""
    def cosh_(self, *, out: Tensor | None = None) -> Tensor:
        """cosh, in place."""
    def count_nonzero(self, *dims: _int | Sequence[_int], dim: _int | Sequence[_int] | None = None) -> Tensor:
        """How many values are not 0."""
    def cov(self, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """The covariance of variables (rows) over observations (columns): sum_n w_n (x_n - m)(x_n - m)' / (sum w - correction)."""
    def cpu(self, memory_format: Any = None) -> Tensor:
        """x, which is on the CPU."""
    def cross(self, other: Tensor, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor:
        """As linalg.cross; without `dim` along the first one of size 3."""
    def crow_indices(self) -> Tensor:
        """Where the rows of a CSR tensor begin and end in its values."""
    def cuda(self, device: dtypes.device | str | _int | None = None, non_blocking: _bool = False, memory_format: Any = None) -> Tensor:
        """Raises: badak computes on the CPU."""
    def cummax(self, dim: _int, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(values, indices): the largest entry so far along dim and where it last was.   dx = the sum of dy where it was taken."""
    def cummin(self, dim: _int, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(values, indices): the smallest entry so far along dim and where it last was.   dx = the sum of dy where it was taken."""
    def cumprod(self, dim: _int, *, dtype: dtypes.dtype | None = None, out: Tensor | None = None) -> Tensor:
        """y_i = prod_{j <= i} x_j along dim.   dx_j = sum_{i >= j} dy_i y_i / x_j, written without the division at zeros."""
    def cumprod_(self, dim: _int, *, dtype: dtypes.dtype | None = None, out: Tensor | None = None) -> Tensor:
        """cumprod, in place."""
    def cumsum(self, dim: _int, *, dtype: dtypes.dtype | None = None, out: Tensor | None = None) -> Tensor:
        """y_i = sum_{j <= i} x_j along dim; integers and booleans give int64.   dx_j = sum_{i >= j} dy_i."""
    def cumsum_(self, dim: _int, *, dtype: dtypes.dtype | None = None, out: Tensor | None = None) -> Tensor:
        """cumsum, in place."""
    def deg2rad(self, *, out: Tensor | None = None) -> Tensor:
        """Degrees in radians: x pi / 180."""
    def deg2rad_(self, *, out: Tensor | None = None) -> Tensor:
        """deg2rad, in place."""
    def dense_dim(self) -> _int:
        """How many dims are dense."""
    def dequantize(self) -> Tensor:
        """The numbers in float32: no tensor of badak is quantized."""
    def det(self, *, out: Tensor | None = None) -> Tensor:
        """The determinant of each matrix."""
    def diag(self, diagonal: _int = 0) -> Tensor:
        """A vector as the diagonal of a matrix, or a matrix's diagonal as a vector (a copy)."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """Matrices of dims dim1 and dim2 that hold the last dim of input on a diagonal, 0 elsewhere."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """All entries of input as a diagonal of one matrix."""
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """The diagonal of the matrix of dims dim1 and dim2, as the last dim; a view."""
    def diagonal_scatter(self, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """input with a diagonal replaced by src."""
    def diff(self, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """Differences of neighbours along dim, n times, `prepend` and `append` joined on first; whether booleans differ."""
    def digamma(self, *, out: Tensor | None = None) -> Tensor:
        """d/dx ln Gamma(x): NaN at -1, -2, ..., infinite at 0.   dx = dy polygamma(1, x)."""
    def digamma_(self, *, out: Tensor | None = None) -> Tensor:
        """digamma, in place."""
    def dist(self, other: Tensor, p: _complex = 2) -> Tensor:
        """The p-norm of input - other."""
    def div(self, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
        """input / other; of integers too, in the default float dtype.   dinput = dy / other, dother = -dy input / other^2."""
    def div_(self, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
        """div, in place."""
    def divide(self, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
        """input / other; of integers too, in the default float dtype.   dinput = dy / other, dother = -dy input / other^2."""
    def divide_(self, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
        """divide, in place."""
    def dot(self, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The inner product of two vectors of one length."""
    def double(self, memory_format: Any = None) -> Tensor:
        """x in float64; x itself where it is so already."""
    def dsplit(self, indices_or_sections: _int | Sequence[_int] | Tensor) -> tuple[Tensor, ...]:
        """tensor_split along dim 2."""
    def eq(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input == other, element by element, as booleans."""
    def eq_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """eq, in place."""
    def equal(self, other: Tensor) -> _bool:
        """Whether both have the same shape and the same values."""
    def erf(self, *, out: Tensor | None = None) -> Tensor:
        """y = erf(x) = 2/sqrt(pi) int_0^x exp(-t^2) dt;   dx = dy 2/sqrt(pi) exp(-x^2)."""
    def erf_(self, *, out: Tensor | None = None) -> Tensor:
        """erf, in place."""
    def erfc(self, *, out: Tensor | None = None) -> Tensor:
        """y = 1 - erf(x), exact where it is small;   dx = -dy 2/sqrt(pi) exp(-x^2)."""
    def erfc_(self, *, out: Tensor | None = None) -> Tensor:
        """erfc, in place."""
    def erfinv(self, *, out: Tensor | None = None) -> Tensor:
        """y with erf(y) = x;   dx = dy sqrt(pi)/2 exp(y^2)."""
    def erfinv_(self, *, out: Tensor | None = None) -> Tensor:
        """erfinv, in place."""
    def exp(self, *, out: Tensor | None = None) -> Tensor:
        """y = exp(x);   dx = dy y."""
    def exp2(self, *, out: Tensor | None = None) -> Tensor:
        """y = 2^x;   dx = dy y ln 2."""
    def exp2_(self, *, out: Tensor | None = None) -> Tensor:
        """exp2, in place."""
    def exp_(self, *, out: Tensor | None = None) -> Tensor:
        """exp, in place."""
    def expand(self, *size: Any, implicit: _bool = False) -> Tensor:
        """Dims of size 1 seen as larger, new dims in front; -1 keeps a size. A view that cannot be written to."""
    def expand_as(self, other: Tensor) -> Tensor:
        """expand(other.shape)."""
    def expm1(self, *, out: Tensor | None = None) -> Tensor:
        """y = exp(x) - 1, exact near 0;   dx = dy (y + 1)."""
    def expm1_(self, *, out: Tensor | None = None) -> Tensor:
        """expm1, in place."""
    def exponential_(self, lambd: _float = 1.0, *, generator: Any | None = None) -> Tensor:
        """Fill x with waiting times of rate lambd."""
    def fill_(self, value: Any) -> Tensor:
        """Every entry = value, a number or a 0-d tensor."""
    def fill_diagonal_(self, fill_value: _complex, wrap: _bool = False) -> Tensor:
        """The main diagonal, x[i, i, ...], = fill_value; with wrap, of a tall matrix, it begins again below each end."""
    def fix(self, *, out: Tensor | None = None) -> Tensor:
        """y = x without its fraction;   dx = 0."""
    def fix_(self, *, out: Tensor | None = None) -> Tensor:
        """fix, in place."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """The dims start_dim..end_dim as one."""
    def flip(self, *axes: Any, dims: Sequence[_int] | None = None) -> Tensor:
        """The order along these dims reversed, as a copy."""
    def fliplr(self) -> Tensor:
        """Columns in reverse order."""
    def flipud(self) -> Tensor:
        """Rows in reverse order."""
    def float(self, memory_format: Any = None) -> Tensor:
        """x in float32; x itself where it is so already."""
    def float_power(self, exponent: Any) -> Tensor:
        """input^exponent, computed in float64, or complex128 where one of them is complex."""
    def float_power_(self, exponent: Tensor | _complex) -> Tensor:
        """input ** exponent, in place: input has the dtype of the result, float64 or complex128."""
    def floor(self, *, out: Tensor | None = None) -> Tensor:
        """y = the largest integer <= x;   dx = 0."""
    def floor_(self, *, out: Tensor | None = None) -> Tensor:
        """floor, in place."""
    def floor_divide(self, other: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
        """floor(input / other); the gradient is 0 (PyTorch gives none)."""
    def floor_divide_(self, other: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
        """floor_divide, in place."""
    def fmax(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The larger of the two, the other one where one is NaN.   dy goes to the one that is taken, to input where they are equal."""
    def fmin(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The smaller of the two, the other one where one is NaN.   dy goes to the one that is taken, to input where they are equal."""
    def fmod(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input - other trunc(input / other), with the sign of input.   dinput = dy, dother = -dy trunc(input / other)."""
    def fmod_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """fmod, in place."""
    def frac(self, *, out: Tensor | None = None) -> Tensor:
        """y = x - trunc(x);   dx = dy."""
    def frac_(self, *, out: Tensor | None = None) -> Tensor:
        """frac, in place."""
    def frexp(self, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(mantissa, exponent): x = mantissa 2^exponent with 0.5 <= |mantissa| < 1, exponent int32.   dx = dmantissa 2^-exponent."""
    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool = False, out: Tensor | None = None) -> Tensor:
        """y[i, j, k] = x[i, index[i, j, k], k] for dim = 1, and so on.   dx[i, index[i, j, k], k] += dy[i, j, k]."""
    def gcd(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The greatest common divisor of integers; gcd(0, 0) = 0."""
    def gcd_(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """gcd, in place."""
    def ge(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input >= other, element by element, as booleans."""
    def ge_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """ge, in place."""
    def geometric_(self, p: _float, *, generator: Any | None = None) -> Tensor:
        """Fill x with the number of trials up to the first success of probability p."""
    def geqrf(self, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(a, tau): R on and above a's diagonal, the vectors of Q's reflections below it. Without gradient, as in PyTorch."""
    def ger(self, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """y[i, j] = a[i] b[j]."""
    def greater(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input > other, element by element, as booleans."""
    def greater_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """greater, in place."""
    def greater_equal(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input >= other, element by element, as booleans."""
    def greater_equal_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """greater_equal, in place."""
    def gt(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input > other, element by element, as booleans."""
    def gt_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """gt, in place."""
    def half(self, memory_format: Any = None) -> Tensor:
        """x in float16; x itself where it is so already."""
    def hardshrink(self, lambd: _complex = 0.5) -> Tensor:
        """y = x where |x| > lambd, else 0."""
    def hash_tensor(self, dim: _int | Sequence[_int] = (), *, keepdim: _bool = False, mode: _int = 0, out: Tensor | None = None) -> Tensor:
        """The bits of the numbers, as float64 or int64, joined by xor, in uint64: over dim, or over all."""
    def heaviside(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """0 below 0, 1 above, other at 0; without gradient."""
    def heaviside_(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """heaviside, in place."""
    def histc(self, bins: _int = 100, min: _float = 0, max: _float = 0) -> Tensor:
        """How many values fall into each of `bins` equal ranges from min to max (of the data, where both are 0)."""
    def histogram(self, bins: Tensor | _int = 100, *, range: Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(hist, bin_edges): how many values, or how much weight, fall into each range, its upper end belonging to the last alone."""
    def hsplit(self, indices_or_sections: _int | Sequence[_int] | Tensor) -> tuple[Tensor, ...]:
        """tensor_split along columns: dim 1, or dim 0 of a vector."""
    def hypot(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """y = sqrt(a^2 + b^2), without overflow on the way;   da = dy a / y, db = dy b / y."""
    def hypot_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """hypot, in place."""
    def i0(self, *, out: Tensor | None = None) -> Tensor:
        """y = I_0(x);   dx = dy I_1(x)."""
    def i0_(self, *, out: Tensor | None = None) -> Tensor:
        """i0, in place."""
    def igamma(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """y = P(a, x), x = b;   dx = dy x^(a-1) exp(-x) / Gamma(a);   da = dy times how P moves with a (`gammainc_slope`)."""
    def igamma_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """igamma, in place."""
    def igammac(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """y = Q(a, x) = 1 - P(a, x): the gradients of P with the other sign."""
    def igammac_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """igammac, in place."""
    @property
    def imag(self) -> Tensor:
        """The imaginary part; a view."""
    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _complex = 1) -> Tensor:
        """x with slice index[k] along dim += alpha source[k].   dx = dy;   dsource[k] = alpha dy[index[k]]."""
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _complex = 1) -> Tensor:
        """index_add, in place."""
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """x with slice index[k] along dim = source[k].   dx = dy, 0 there;   dsource[k] = dy[index[k]]."""
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """The slices index[0], index[1], ... along dim = those of source, in place."""
    def index_fill(self, dim: _int, index: Tensor, value: Any) -> Tensor:
        """x with the slices `index` along dim = value, a number or a 0-d tensor.   dx = dy, 0 there;   dvalue = sum of dy there."""
    def index_fill_(self, dim: _int, index: Tensor, value: Any) -> Tensor:
        """index_fill, in place."""
    def index_put(self, indices: Any, values: Tensor, accumulate: _bool = False) -> Tensor:
        """x with x[indices] = values, or += to accumulate."""
    def index_put_(self, indices: Any, values: Tensor, accumulate: _bool = False) -> Tensor:
        """index_put, in place."""
    def index_reduce(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
        """scatter_reduce of whole slices: slice index[k] along dim is the prod, mean, amax or amin of all source[k] that go there."""
    def index_reduce_(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
        """index_reduce, in place."""
    def index_select(self, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The slices index[0], index[1], ... along dim.   dx's slice index[k] += dy's slice k."""
    def indices(self) -> Tensor:
        """(sparse dims, count): the places of a coalesced COO tensor."""
    def inner(self, other: Tensor) -> Tensor:
        """Products summed over the last dim of both."""
    def int(self, memory_format: Any = None) -> Tensor:
        """x in int32; x itself where it is so already."""
    def inverse(self, *, out: Tensor | None = None) -> Tensor:
        """As linalg.inv."""
    def is_coalesced(self) -> _bool:
        """Whether the places of a COO tensor are known to be in order, none twice."""
    def is_conj(self) -> _bool:
        """False: a conjugate is computed at once here."""
    def is_neg(self) -> _bool:
        """False: -x is computed at once here."""
    def is_nonzero(self) -> _bool:
        """Whether the one value is not 0."""
    def is_same_size(self, other: Tensor) -> _bool:
        """Whether both have the same shape."""
    def isclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """|input - other| <= atol + rtol |other|, element by element."""
    def isfinite(self) -> Tensor:
        """Where x is neither NaN nor infinite."""
    def isinf(self) -> Tensor:
        """Where x is +inf or -inf."""
    def isnan(self) -> Tensor:
        """Where x is NaN."""
    def isneginf(self) -> Tensor:
        """Where x is -inf."""
    def isposinf(self) -> Tensor:
        """Where x is +inf."""
    def isreal(self) -> Tensor:
        """Where the imaginary part is 0: everywhere, of real numbers."""
    def istft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False) -> Tensor:
        """The signal whose stft this is: frames transformed back, windowed, added up, over the sum of squared windows."""
    def kron(self, other: Tensor) -> Tensor:
        """The Kronecker product: every entry of input times the whole of other."""
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(values, indices) of the k-th smallest along dim, k from 1."""
    def lcm(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The least common multiple of integers; lcm(0, 0) = 0."""
    def lcm_(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """lcm, in place."""
    def ldexp(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """input 2^other."""
    def ldexp_(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """ldexp, in place."""
    def le(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input <= other, element by element, as booleans."""
    def le_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """le, in place."""
    def lerp(self, end: Any, weight: Any, *, out: Tensor | None = None) -> Tensor:
        """input + weight (end - input), for a number or a tensor `weight`; weight = 1 gives exactly `end`."""
    def lerp_(self, end: Any, weight: Any, *, out: Tensor | None = None) -> Tensor:
        """lerp, in place."""
    def less(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input < other, element by element, as booleans."""
    def less_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """less, in place."""
    def less_equal(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input <= other, element by element, as booleans."""
    def less_equal_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """less_equal, in place."""
    def lgamma(self, *, out: Tensor | None = None) -> Tensor:
        """y = log(abs(Gamma(x)));   dx = dy digamma(x)."""
    def lgamma_(self, *, out: Tensor | None = None) -> Tensor:
        """lgamma, in place."""
    def log(self, *, out: Tensor | None = None) -> Tensor:
        """y = log(x);   dx = dy / x."""
    def log10(self, *, out: Tensor | None = None) -> Tensor:
        """y = log10 x;   dx = dy / (x ln 10)."""
    def log10_(self, *, out: Tensor | None = None) -> Tensor:
        """log10, in place."""
    def log1p(self, *, out: Tensor | None = None) -> Tensor:
        """y = log(1 + x), exact near 0;   dx = dy / (1 + x)."""
    def log1p_(self, *, out: Tensor | None = None) -> Tensor:
        """log1p, in place."""
    def log2(self, *, out: Tensor | None = None) -> Tensor:
        """y = log2 x;   dx = dy / (x ln 2)."""
    def log2_(self, *, out: Tensor | None = None) -> Tensor:
        """log2, in place."""
    def log_(self, *, out: Tensor | None = None) -> Tensor:
        """log, in place."""
    def log_normal_(self, mean: _float = 1.0, std: _float = 2.0, *, generator: Any | None = None) -> Tensor:
        """Fill x with exp(mean + std z)."""
    def log_softmax(self, dim: _int | None = None, dtype: Any = None, *, _stacklevel: _int = 3) -> Tensor:
        """x - ln sum exp(x) along `dim`, in `dtype` if given.   dx = dy - exp(y) sum(dy)."""
    def logaddexp(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """ln(exp(input) + exp(other)).   dinput = dy exp(input - y), dother = dy exp(other - y)."""
    def logaddexp2(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """log2(2^input + 2^other)."""
    def logcumsumexp(self, dim: _int, *, out: Tensor | None = None) -> Tensor:
        """ln of the running sum of exp(x) along dim.   dx_j = sum_{i >= j} dy_i exp(x_j - y_i)."""
    def logdet(self) -> Tensor:
        """log det A: nan where the determinant is negative."""
    def logical_and(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """True where both are nonzero."""
    def logical_and_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """logical_and, in place."""
    def logical_not(self, *, out: Tensor | None = None) -> Tensor:
        """True where input is 0."""
    def logical_not_(self, *, out: Tensor | None = None) -> Tensor:
        """logical_not, in place."""
    def logical_or(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """True where one is nonzero."""
    def logical_or_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """logical_or, in place."""
    def logical_xor(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """True where exactly one is nonzero."""
    def logical_xor_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """logical_xor, in place."""
    def logit(self, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
        """ln(x / (1 - x)), the inverse of sigmoid; eps keeps x in [eps, 1 - eps].   dx = dy / (x (1 - x)), 0 where it was kept."""
    def logit_(self, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
        """logit, in place."""
    def logsumexp(self, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """ln sum exp(x), shifted by the maximum.   dx = dy exp(x - y); 0 where all x are -inf (NaN in PyTorch)."""
    def long(self, memory_format: Any = None) -> Tensor:
        """x in int64; x itself where it is so already."""
    def lt(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input < other, element by element, as booleans."""
    def lt_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """lt, in place."""
    def lu(self, pivot: _bool = True, get_infos: _bool = False, out: Tensor | None = None) -> tuple:
        """(LU, pivots), with get_infos (LU, pivots, infos): as linalg.lu_factor_ex. The method x.lu, too."""
    def lu_solve(self, LU_data: Any, LU_pivots: Any, *, out: Tensor | None = None) -> Tensor:
        """As linalg.lu_solve, with the right side first."""
    @property
    def mH(self) -> Tensor:
        """The last two dims exchanged, conjugated if complex."""
    @property
    def mT(self) -> Tensor:
        """The last two dims exchanged; a view."""
    def map2_(self, x: Tensor, y: Tensor, callable: Callable) -> Tensor:
        """self[i] = callable(self[i], x[i], y[i]), one number after the other, by Python; in place. The shapes broadcast."""
    def map_(self, tensor: Any, callable: Callable) -> Tensor:
        """y[i] = callable(y[i], tensor[i]), one number after the other, by Python; in place. The shapes broadcast."""
    def masked_fill(self, mask: Tensor, value: Any) -> Tensor:
        """value where mask, else input (in input's dtype).   dinput = 0 where mask, else dy.   mask: bool, True = replace."""
    def masked_fill_(self, mask: Tensor, value: Any) -> Tensor:
        """masked_fill, in place."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """x with the entries where mask replaced by the first entries of source, in order."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """masked_scatter, in place."""
    def masked_select(self, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The entries where mask, in a vector.   dx = dy there, 0 elsewhere."""
    def matmul(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Matrix product over the last two dims; leading dims broadcast, a vector on the left is a row, on the right a column."""
    def matrix_exp(self) -> Tensor:
        """exp(A), the sum of A^k / k!, of each matrix.   dA = the upper right quarter of exp([[A^T, dY], [0, A^T]])."""
    def matrix_power(self, n: _int, *, out: Tensor | None = None) -> Tensor:
        """A multiplied with itself n times; n < 0 of its inverse, n = 0 the identity."""
    def max(self, dim: _int | Tensor | None = None, keepdim: _bool = False, *, axis: _int | None = None, other: Tensor | None = None, out: Any = None) -> Any:
        """max() is the largest value; max(dim) the pair (values, indices) along dim; max(other) the larger of two."""
    def maximum(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The larger of the two; NaN where either is NaN.   dy goes to the larger, half to each where they are equal."""
    def mean(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: dtypes.dtype | None = None, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
        """y = sum x / n;   dx = dy / n."""
    def median(self, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """The middle value, of two middle ones the lower: of all, or (values, indices) along dim. A NaN makes it NaN."""
    def min(self, dim: _int | Tensor | None = None, keepdim: _bool = False, *, axis: _int | None = None, other: Tensor | None = None, out: Any = None) -> Any:
        """min() is the smallest value; min(dim) the pair (values, indices) along dim; min(other) the smaller of two."""
    def minimum(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The smaller of the two; NaN where either is NaN.   dy goes to the smaller, half to each where they are equal."""
    def mm(self, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The matrix product, (M, K) and (K, N)."""
    def mode(self, dim: _int = -1, keepdim: _bool = False) -> Any:
        """(values, indices) of the most frequent value along dim; of equally frequent ones the smallest, its last index."""
    def moveaxis(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """The dims `source` moved to the places `destination`, the others in their order; a view."""
    def movedim(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """The dims `source` moved to the places `destination`, the others in their order; a view."""
    def msort(self) -> Tensor:
        """The values in order along dim 0."""
    def mul(self, other: Any, *, out: Tensor | None = None) -> Tensor:
        """input other, element by element.   dinput = dy other, dother = dy input."""
    def mul_(self, other: Any, *, out: Tensor | None = None) -> Tensor:
        """mul, in place."""
    def multinomial(self, num_samples: _int, replacement: _bool = False, *, generator: Any | None = None, out: Tensor | None = None) -> Tensor:
        """num_samples class numbers drawn with weights input, (V,) or (B, V), which need not sum to 1; int64."""
    def multiply(self, other: Any, *, out: Tensor | None = None) -> Tensor:
        """input other, element by element.   dinput = dy other, dother = dy input."""
    def multiply_(self, other: Any, *, out: Tensor | None = None) -> Tensor:
        """multiply, in place."""
    def mv(self, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
        """A matrix (M, K) times a vector (K,)."""
    def mvlgamma(self, p: _int, *, out: Tensor | None = None) -> Tensor:
        """ln of the multivariate gamma function: p (p - 1) / 4 ln pi + sum over i < p of lgamma(x - i / 2)."""
    def mvlgamma_(self, p: _int, *, out: Tensor | None = None) -> Tensor:
        """mvlgamma, in place."""
    def nan_to_num(self, nan: _float | None = 0.0, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """x with NaN, +inf and -inf replaced (by 0 and the dtype's largest and smallest numbers).   dx = dy elsewhere."""
    def nan_to_num_(self, nan: _float | None = 0.0, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """nan_to_num, in place."""
    def nanmean(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: dtypes.dtype | None = None) -> Tensor:
        """The mean of the values that are not NaN."""
    def nanmedian(self, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """As median, of the values that are not NaN; NaN where there are none."""
    def nanquantile(self, q: Tensor | _float, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear', out: Tensor | None = None) -> Tensor:
        """As quantile, of the values that are not NaN; NaN where there are none."""
    def nansum(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: dtypes.dtype | None = None, out: Tensor | None = None) -> Tensor:
        """The sum with NaN counted as 0."""
    def narrow(self, dim: _int, start: Tensor | _int, length: _int) -> Tensor:
        """`length` entries along dim from `start`; a view."""
    def narrow_copy(self, *args: Any, out: Any = None, **named: Any) -> Any:
        """What `narrow` shows, in memory of its own.   dx: dy where it was taken from."""
    def ne(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input != other, element by element, as booleans."""
    def ne_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """ne, in place."""
    def neg(self, *, out: Tensor | None = None) -> Tensor:
        """-input.   dx = -dy."""
    def neg_(self, *, out: Tensor | None = None) -> Tensor:
        """neg, in place."""
    def negative(self, *, out: Tensor | None = None) -> Tensor:
        """-input.   dx = -dy."""
    def negative_(self, *, out: Tensor | None = None) -> Tensor:
        """negative, in place."""
    def new(self, *data: Any, size: Sequence[_int] | None = None) -> Tensor:
        """PyTorch's old x.new(...): sizes, or a Size, give an uninitialised tensor, data a copy, a tensor itself, in input's dtype."""
    def new_empty(self, *size: Any, **options: Any) -> Tensor:
        """An uninitialised tensor of the given shape in input's dtype."""
    def new_full(self, size: Sequence[_int], fill_value: _complex, **options: Any) -> Tensor:
        """fill_value in the given shape and input's dtype."""
    def new_ones(self, *size: Any, **options: Any) -> Tensor:
        """Ones of the given shape in input's dtype."""
    def new_tensor(self, data: np.ndarray | Sequence[_float] | list, *, dtype: dtypes.dtype | None = None, device: dtypes.device | str | _int | None = None, requires_grad: _bool = False) -> Tensor:
        """A copy of `data` in input's dtype."""
    def new_zeros(self, *size: Any, **options: Any) -> Tensor:
        """Zeros of the given shape in input's dtype."""
    def nextafter(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The next float from input towards other.   dinput = dy, dother = 0."""
    def nextafter_(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """nextafter, in place."""
    def nonzero(self, *, as_tuple: _bool = False, out: Tensor | None = None) -> Any:
        """The indices of the entries that are not 0: (count, dims), or with as_tuple a vector for each dim."""
    def nonzero_static(self, *, size: _int, fill_value: _int = -1) -> Tensor:
        """The first `size` rows of nonzero, filled up with fill_value: (size, dims)."""
    def norm(self, p: Any = 'fro', dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, out: Tensor | None = None, dtype: dtypes.dtype | None = None) -> Tensor:
        '(sum |x|^p)^(1/p); p may be inf, -inf, 0 (the number of nonzeros) or "fro" (2).   p = 2: dx = dy x / y.'
    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: Any | None = None) -> Tensor:
        """Fill x with mean + std z; of complex numbers both parts have this mean, as in PyTorch, and std / sqrt 2."""
    def not_equal(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input != other, element by element, as booleans."""
    def not_equal_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """not_equal, in place."""
    def orgqr(self, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The first n columns of H_1 H_2 ... H_k, H_i = I - tau_i v_i v_i^H, v_i = (0, ..., 1, input[i + 1 :, i])."""
    def ormqr(self, tau: Tensor, other: Tensor, left: _bool = True, transpose: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """Q other, or other Q with left=False; Q^H with `transpose`: Q is the whole product of the reflections."""
    def outer(self, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """y[i, j] = a[i] b[j]."""
    def permute(self, *order: Any, dims: Sequence[_int] | None = None) -> Tensor:
        """The dims in another order: y's dim i is x's dim dims[i]; a view."""
    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """As linalg.pinv with rtol=rcond."""
    def polygamma(self, input: Any = None, *, out: Any = None) -> Tensor:
        """The n-th derivative of digamma.   dx = dy polygamma(n + 1, x).   x.polygamma(n) is the method."""
    def polygamma_(self, input: Any = None, *, out: Any = None) -> Tensor:
        """polygamma, in place."""
    def positive(self) -> Tensor:
        """input itself."""
    def pow(self, exponent: Any, *, out: Any = None) -> Tensor:
        """input^exponent.   dinput = dy exponent input^(exponent - 1), dexponent = dy y ln(input)."""
    def pow_(self, exponent: Any, *, out: Any = None) -> Tensor:
        """pow, in place."""
    def prelu(self, weight: Tensor) -> Tensor:
        """y = x where x > 0, else weight x; weight has one number, or one for each channel (dim 1)."""
    def prod(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: dtypes.dtype | None = None, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
        """y = prod x;   dx = dy y / x, written as the product of the others where x = 0."""
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """input with the entries at flat positions `index` = source, or += to accumulate."""
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """put, in place."""
    def qr(self, some: _bool = True, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """As linalg.qr; some=False: with a square Q."""
    def quantile(self, q: Tensor | _float, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear', out: Tensor | None = None, _of_numbers: _bool = False) -> Tensor:
        """The value below which the fraction q lies, along dim or of all; one for each of a vector q, in a new first dim."""
    def rad2deg(self, *, out: Tensor | None = None) -> Tensor:
        """Radians in degrees: x 180 / pi."""
    def rad2deg_(self, *, out: Tensor | None = None) -> Tensor:
        """rad2deg, in place."""
    def random_(self, from_: Any = None, to: Any = ..., *, generator: Any | None = None) -> Tensor:
        """Fill x with integers: random_() over all that the dtype holds exactly (from 0), random_(to), random_(from_, to)."""
    def ravel(self) -> Tensor:
        """All values in one dim, one next to the other."""
    @property
    def real(self) -> Tensor:
        """The real part; a view."""
    def reciprocal(self, *, out: Tensor | None = None) -> Tensor:
        """y = 1 / x;   dx = -dy y^2."""
    def reciprocal_(self, *, out: Tensor | None = None) -> Tensor:
        """reciprocal, in place."""
    def relu(self) -> Tensor:
        """max(x, 0).   dx = dy where y > 0, else 0."""
    def relu_(self) -> Tensor:
        """relu, in place."""
    def remainder(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """input - other floor(input / other), with the sign of other.   dinput = dy, dother = -dy floor(input / other)."""
    def remainder_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """remainder, in place."""
    def renorm(self, p: _float, dim: _int, maxnorm: _float, *, out: Tensor | None = None) -> Tensor:
        """Each slice along dim whose p-norm is above maxnorm scaled down to it."""
    def renorm_(self, p: _float, dim: _int, maxnorm: _float, *, out: Tensor | None = None) -> Tensor:
        """renorm, in place."""
    def repeat(self, *times: Any, repeats: Sequence[_int] | None = None) -> Tensor:
        """Copies laid side by side, repeats[a] times along each dim; more numbers than dims make new dims in front."""
    def repeat_interleave(self, repeats: Any = None, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
        """Each entry along dim several times in a row: `repeats` a number, or one for each entry. Without dim as if flat."""
    def reshape(self, *shape: Any, **named: Any) -> Tensor:
        """Another shape, one size of which may be -1: a view where memory allows it, else a copy.   dx = dy in x's shape."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """reshape(other.shape)."""
    def resize_(self, *size: Any, memory_format: Any = None) -> Tensor:
        """Another shape of the memory from input's first value on; more memory, with 0 after the values, where it is too short."""
    def resize_as_(self, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
        """resize_ to the shape of another tensor; preserve_format: channels last where that lies so, else in rows."""
    def resolve_conj(self) -> Tensor:
        """The tensor itself: a conjugate is computed at once here."""
    def resolve_neg(self) -> Tensor:
        """The tensor itself: a negative is computed at once here."""
    def roll(self, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] | None = None) -> Tensor:
        """Entries moved by `shifts` along `dims`, around the end; without dims as if flat."""
    def rot90(self, k: _int = 1, dims: Sequence[_int] = (0, 1)) -> Tensor:
        """The plane of these dims turned k times by 90 degrees, from the first dim towards the second."""
    def round(self, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
        """The nearest number with `decimals` digits; halves go to the even neighbour.   dx = 0."""
    def round_(self, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
        """round, in place."""
    def row_indices(self) -> Tensor:
        """The row of each value of a CSC tensor."""
    def rsqrt(self, *, out: Tensor | None = None) -> Tensor:
        """y = 1 / sqrt(x);   dx = -dy y^3 / 2."""
    def rsqrt_(self, *, out: Tensor | None = None) -> Tensor:
        """rsqrt, in place."""
    def scatter(self, dim: _int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Tensor:
        """x with x[i, index[i, j, k], k] = src[i, j, k] for dim = 1, and so on; src may be a number."""
    def scatter_(self, dim: _int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Tensor:
        """scatter, in place."""
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """x with x[i, index[i, j, k], k] += src[i, j, k] for dim = 1, and so on.   dx = dy;   dsrc = dy there."""
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """scatter_add, in place."""
    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
        """y[index[i, j, k], j, k] for dim = 0, and so on, is the sum, prod, mean, amax or amin of all src[i, j, k] that go there."""
    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
        """scatter_reduce, in place."""
    def select(self, dim: _int, index: _int) -> Tensor:
        """The slice `index` along dim; a view."""
    def select_scatter(self, src: Tensor, dim: _int, index: _int) -> Tensor:
        """input with its slice `index` along dim replaced by src."""
    def set_(self, source: Any = None, storage_offset: _int = 0, size: Any = None, stride: Any = None) -> Tensor:
        """Let input see other memory: that of a tensor, or a part of a storage from the number at storage_offset on."""
    def sgn(self, *, out: Tensor | None = None) -> Tensor:
        """y = -1, 0, 1 as x is negative, zero, positive, 0 where it is not a number;   dx = 0."""
    def sgn_(self, *, out: Tensor | None = None) -> Tensor:
        """sgn, in place."""
    def share_memory_(self) -> Tensor:
        """Move the memory that input sees to where other processes see it too, with all tensors that see it."""
    def short(self, memory_format: Any = None) -> Tensor:
        """x in int16; x itself where it is so already."""
    def sigmoid(self, *, out: Tensor | None = None) -> Tensor:
        """y = 1 / (1 + exp(-x));   dx = dy y (1 - y)."""
    def sigmoid_(self, *, out: Tensor | None = None) -> Tensor:
        """sigmoid, in place."""
    def sign(self, *, out: Tensor | None = None) -> Tensor:
        """-1, 0 or 1.   dx = 0."""
    def sign_(self, *, out: Tensor | None = None) -> Tensor:
        """sign, in place."""
    def signbit(self, *, out: Tensor | None = None) -> Tensor:
        """Where the sign is set, of -0.0 too."""
    def sin(self, *, out: Tensor | None = None) -> Tensor:
        """y = sin(x);   dx = dy cos(x)."""
    def sin_(self, *, out: Tensor | None = None) -> Tensor:
        """sin, in place."""
    def sinc(self, *, out: Tensor | None = None) -> Tensor:
        """y = sin(pi x) / (pi x), 1 at 0;   dx = dy (cos(pi x) - y) / x, 0 at 0."""
    def sinc_(self, *, out: Tensor | None = None) -> Tensor:
        """sinc, in place."""
    def sinh(self, *, out: Tensor | None = None) -> Tensor:
        """y = sinh(x);   dx = dy cosh(x)."""
    def sinh_(self, *, out: Tensor | None = None) -> Tensor:
        """sinh, in place."""
    def slice_scatter(self, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """input with its slices start, start + step, ... before end along dim replaced by src."""
    def slogdet(self, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(sign, logabsdet): the determinant as sign exp(logabsdet), where it itself would overflow."""
    def softmax(self, dim: _int | None = None, dtype: Any = None, *, _stacklevel: _int = 3) -> Tensor:
        """exp(x) / sum exp(x) along `dim`, in `dtype` if given.   dx = y (dy - sum(dy y))."""
    def sort(self, dim: _int = -1, descending: _bool = False, stable: _bool | None = False, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(values, indices) in order along dim.   dx = dy put back at `indices`."""
    def sparse_dim(self) -> _int:
        """How many dims are sparse; 0 of a dense tensor."""
    def sparse_mask(self, mask: Tensor) -> Tensor:
        """The values of input at the places of a sparse tensor."""
    def split(self, split_size_or_sections: _int | Sequence[_int], dim: _int = 0) -> tuple:
        """Pieces of a size (the last may be smaller), or of the sizes listed, along dim; views."""
    def split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple:
        """Pieces of these sizes along dim; views."""
    def sqrt(self, *, out: Tensor | None = None) -> Tensor:
        """y = sqrt(x);   dx = dy / (2 y)."""
    def sqrt_(self, *, out: Tensor | None = None) -> Tensor:
        """sqrt, in place."""
    def square(self, *, out: Tensor | None = None) -> Tensor:
        """y = x^2;   dx = dy 2 x."""
    def square_(self, *, out: Tensor | None = None) -> Tensor:
        """square, in place."""
    def squeeze(self, *dims: _int | Sequence[_int], dim: _int | Sequence[_int] | None = None) -> Tensor:
        """Without the dims of size 1: all of them, or those of `dim` that are; a view."""
    def squeeze_(self, *dims: _int | Sequence[_int], dim: _int | Sequence[_int] | None = None) -> Tensor:
        """squeeze, in place."""
    def std(self, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
        """The root of var.   dx = dy (x - mean) / (y (n - correction)), 0 where y = 0."""
    def stft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, pad_mode: str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
        """y[f, t] = sum_k window[k] x[t hop + k] exp(-2 pi i k f / n_fft), x (T,) or (B, T) -> (B, n_fft / 2 + 1, frames)."""
    def storage(self) -> Any:
        """The memory that input sees, as numbers of its dtype."""
    def storage_type(self) -> Any:
        """The class of its storage: badak.FloatStorage of a float32 tensor."""
    def sub(self, other: Any, *, alpha: _complex | None = 1, out: Tensor | None = None) -> Tensor:
        """input - alpha other.   dinput = dy, dother = -alpha dy.   Booleans cannot be subtracted, as in PyTorch."""
    def sub_(self, *args: Any, alpha: Any = 1, other: Any = None) -> Tensor:
        """input -= alpha other. The old form sub_(alpha, other) is accepted too."""
    def subtract(self, other: Any, *, alpha: _complex | None = 1, out: Tensor | None = None) -> Tensor:
        """input - alpha other.   dinput = dy, dother = -alpha dy.   Booleans cannot be subtracted, as in PyTorch."""
    def subtract_(self, other: Any, *, alpha: _complex | None = 1, out: Tensor | None = None) -> Tensor:
        """subtract, in place."""
    def sum(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: dtypes.dtype | None = None, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
        """y = sum x;   dx = dy for every summand."""
    def sum_to_size(self, *size: Any) -> Tensor:
        """The sum over the dims along which a tensor of this size would be stretched to input's shape.   dx = dy, stretched."""
    def svd(self, some: _bool = True, compute_uv: _bool = True, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(U, S, V) with A = U diag(S) V^H: V, not its transpose as in linalg.svd."""
    def swapaxes(self, dim0: _int, dim1: _int) -> Tensor:
        """The dims dim0 and dim1 exchanged; a view."""
    def swapaxes_(self, dim0: _int, dim1: _int) -> Tensor:
        """swapaxes, in place."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """The dims dim0 and dim1 exchanged; a view."""
    def swapdims_(self, dim0: _int, dim1: _int) -> Tensor:
        """swapdims, in place."""
    def t(self) -> Tensor:
        """A matrix with rows and columns exchanged; a vector as it is."""
    def t_(self) -> Tensor:
        """t, in place."""
    def take(self, index: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The entries at flat positions `index`, in index's shape.   dx[index] += dy."""
    def take_along_dim(self, indices: Tensor, dim: _int | None = None) -> Tensor:
        """gather, with input and indices broadcast against each other apart from dim; without dim on the flat input."""
    def tan(self, *, out: Tensor | None = None) -> Tensor:
        """y = tan(x);   dx = dy (1 + y^2)."""
    def tan_(self, *, out: Tensor | None = None) -> Tensor:
        """tan, in place."""
    def tanh(self, *, out: Tensor | None = None) -> Tensor:
        """y = tanh(x);   dx = dy (1 - y^2)."""
    def tanh_(self, *, out: Tensor | None = None) -> Tensor:
        """tanh, in place."""
    def tensor_split(self, indices_or_sections: _int | Sequence[_int] | Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
        """`sections` pieces of sizes that differ by at most one, or pieces that end at these indices; views."""
    def tile(self, *times: Any, dims: Sequence[_int] | None = None) -> Tensor:
        """repeat, with 1 for leading dims that are left out."""
    def to(self, *args: Any, **options: Any) -> Tensor:
        """to(dtype), to(device), to(device, dtype), to(other): x in that dtype; badak's only device is the CPU."""
    def to_dense(self, dtype: Any = None, *, masked_grad: _bool | None = None) -> Tensor:
        """All values, with the zeros; a dense tensor as it is. dvalues: the gradient at their places."""
    def to_sparse(self, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: _int | None = None) -> Tensor:
        """The tensor as a sparse one: what is not 0 and where it stands."""
    def to_sparse_coo(self) -> Any:
        """to_sparse of layout sparse_coo."""
    def to_sparse_csc(self, dense_dim: _int | None = None) -> Tensor:
        """A matrix as a sparse one of layout sparse_csc."""
    def to_sparse_csr(self, dense_dim: _int | None = None) -> Tensor:
        """A matrix as a sparse one of layout sparse_csr."""
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(values, indices) of the k largest (or smallest) along dim, in order.   dx = dy put back at `indices`."""
    def trace(self) -> Tensor:
        """The sum of a matrix's diagonal."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """The dims dim0 and dim1 exchanged; a view."""
    def transpose_(self, dim0: _int, dim1: _int) -> Tensor:
        """transpose, in place."""
    def triangular_solve(self, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
        """(X, A) with A X = input for a triangular A, transposed first with `transpose`; A is given back."""
    def tril(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """The part on and below a diagonal of the last two dims, 0 elsewhere (diagonal 1 is the one above the main one)."""
    def tril_(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """tril, in place."""
    def triu(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """The part on and above a diagonal of the last two dims, 0 elsewhere (diagonal 1 is the one above the main one)."""
    def triu_(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """triu, in place."""
    def true_divide(self, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
        """input / other; of integers too, in the default float dtype.   dinput = dy / other, dother = -dy input / other^2."""
    def true_divide_(self, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
        """true_divide, in place."""
    def trunc(self, *, out: Tensor | None = None) -> Tensor:
        """y = x without its fraction;   dx = 0."""
    def trunc_(self, *, out: Tensor | None = None) -> Tensor:
        """trunc, in place."""
    def type(self, dtype: str | dtypes.dtype | None = None, non_blocking: _bool = False) -> Any:
        'The name of x\'s legacy type, or x in the given dtype (a dtype, "torch.FloatTensor", or badak.FloatTensor).'
    def type_as(self, other: Tensor) -> Tensor:
        """x in the dtype of other."""
    def unbind(self, dim: _int = 0) -> tuple:
        """All slices along dim, as a tuple of views."""
    def unflatten(self, dim: _int, sizes: Sequence[_int]) -> Tensor:
        """One dim as several, one size of which may be -1."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """Windows of `size` along a dim, `step` apart, in a new last dim; a view that cannot be written to."""
    def uniform_(self, from_: _float = 0.0, to: _float = 1.0, *, generator: Any | None = None) -> Tensor:
        """Fill x with uniform numbers on [from_, to); of complex numbers both parts."""
    def unique(self, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """The distinct values in order (slices along dim, if given); with the flags also where each came from, how often."""
    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """The values with runs of equal ones (slices along dim, if given) shortened to one."""
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> tuple:
        """As chunk, and a piece may be changed in place where gradients are recorded."""
    def unsafe_split(self, split_size: _int, dim: _int = 0) -> tuple:
        """As split, and a piece may be changed in place where gradients are recorded."""
    def unsafe_split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> Any:
        """As split_with_sizes, and a piece may be changed in place where gradients are recorded."""
    def unsqueeze(self, dim: _int) -> Tensor:
        """A new dim of size 1 before dim `dim`; a view."""
    def unsqueeze_(self, dim: _int) -> Tensor:
        """unsqueeze, in place."""
    def untyped_storage(self) -> Any:
        """The memory that input sees, all of it, as bytes."""
    def values(self) -> Tensor:
        """The values of a CSR tensor or a coalesced COO tensor, with their history."""
    def var(self, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
        """sum (x - mean)^2 / (n - correction), correction 1 (unbiased) unless told.   dx = 2 dy (x - mean) / (n - correction)."""
    def vdot(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """dot of the conjugate of input with other."""
    def view(self, *shape: Any, dtype: dtypes.dtype | None = None) -> Tensor:
        """The same memory in another shape, one size of which may be -1; raises where memory does not allow it."""
    def view_as(self, other: Tensor) -> Tensor:
        """view(other.shape)."""
    def vsplit(self, indices_or_sections: _int | Sequence[_int] | Tensor) -> tuple[Tensor, ...]:
        """tensor_split along rows."""
    def where(self, condition: Tensor, other: Tensor | _float) -> Tensor:
        """input where condition, else other."""
    def xlogy(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """y = a log(b), 0 where a = 0, NaN where b is;   da = dy log(b), 0 where a = 0 and b <= 0;   db = dy a / b."""
    def xlogy_(self, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
        """xlogy, in place."""
    def zero_(self) -> Tensor:
        """Every entry = 0."""
