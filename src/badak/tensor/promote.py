"""Which dtype a result has, and the way of two operands to it.

PyTorch's rule: operands fall into the categories bool < integer < float < complex, and into tensors with dims, 0-d tensors,
and Python numbers. The tensors with dims decide; a 0-d tensor counts only if its category is higher, and a number only if
its category is higher still. NumPy's scalars count as Python numbers.
"""

import warnings
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentTypeError, DTypeError, GraphError, IndexOutOfRangeError, tr
from badak.core.modes import modes
from badak.core.public_api.explain import into_out
from badak.kernels.half import BFLOAT16, FLOAT32
from badak.ops._broadcast import stretched
from badak.ops.arithmetic import Add
from badak.ops.mixed import MixedAdd
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.convert import cast
from badak.tensor.data import fit, short
from badak.tensor.dtypes import CATEGORY as _CATEGORY
from badak.tensor.dtypes import dtype as DType
from badak.tensor.dtypes import promote_types as promote_types
from badak.tensor.inplace import expect_writable, put, refuse_inference
from badak.tensor.tensor import Tensor

_PYTHON = (bool, int, float, complex)
_MIXED = {np.dtype(np.float32), BFLOAT16}


def _of_number(x) -> DType:
    if isinstance(x, bool):
        return dtypes.bool_
    if isinstance(x, int):
        return dtypes.int64
    return dtypes.default_dtype() if isinstance(x, float) else dtypes.default_dtype().to_complex()


def _above(high: DType | None, low: DType | None) -> DType | None:
    """The dtype of operands that decide, given that of operands that only count by category."""
    if high is None or low is None:
        return high or low
    ch, cl = _CATEGORY[high.kind], _CATEGORY[low.kind]
    if ch == 2:
        return high.to_complex() if cl == 3 else high
    return promote_types(high, low) if ch == 0 or (cl >= 2 and ch < 2) else high


def result_type(*operands: Any) -> DType:
    """The dtype of an operation on these tensors and numbers."""
    decided: list[DType | None] = [None, None, None]  # by tensors with dims, 0-d tensors, numbers
    for x in operands:
        if isinstance(x, Tensor):
            rank, kind = (0 if x._array.ndim else 1), x.dtype
        else:
            rank, kind = 2, _of_number(x)
        before = decided[rank]
        decided[rank] = kind if before is None else promote_types(before, kind)
    return _above(decided[0], _above(decided[1], decided[2])) or dtypes.default_dtype()


def can_cast(from_: DType, to: DType) -> bool:
    """Whether a value may go from one dtype to the other in an in-place operation: never to a lower category."""
    if type(from_) is not DType or type(to) is not DType:
        from_, to = dtypes.to_dtype(from_), dtypes.to_dtype(to)
    if from_.is_floating_point or from_.is_complex:
        return _CATEGORY[from_.kind] <= _CATEGORY[to.kind]
    return to.kind != "bool" or from_.kind == "bool"


def operand(x: Any, where: str) -> Any:
    """x as a tensor or a Python number; anything else is a mistake."""
    kind = type(x)
    if kind in _PYTHON or isinstance(x, Tensor):
        return x
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, np.ndarray):
        return Tensor._of(x)
    if isinstance(x, _PYTHON):
        return plain(x)
    raise ArgumentTypeError(tr("{}: expected a Tensor or a number; got {}", where, kind.__name__), "badak.tensor(data) makes one")


def factor(x: Tensor, c: Any, where: str) -> Any:
    """The number c for a result of x's own dtype: without its fraction for integers, refused where the dtype cannot hold it."""
    c = operand(c, where)
    kind = x._array.dtype
    return c if isinstance(c, Tensor) else fit(c, FLOAT32 if kind.kind in "fV" and kind.itemsize == 2 else kind, where)


def plain(x: Any) -> Any:
    """A number of a class of the program's that derives from Python's, as Python's: NumPy would compute with its own dtype."""
    if isinstance(x, complex):
        return complex(x.real, x.imag)
    return float.__float__(x) if isinstance(x, float) else int.__int__(x)


def not_a_tensor(name: str, x: Any) -> ArgumentTypeError:
    """The complaint about an argument that should have been a tensor."""
    fix = tr("badak.tensor(data) makes one") if isinstance(x, (list, tuple, np.ndarray, int, float)) else None
    return ArgumentTypeError(tr("{}(): argument 'input' (position 1) must be Tensor, not {}", name, type(x).__name__), fix)


def number(x: Tensor, c: complex) -> tuple:
    """(x, c): x in the dtype that x and the number c have together, c fit to be computed with."""
    if isinstance(c, np.generic):
        c = c.item()  # NumPy would compute with its dtype
    elif type(c) not in _PYTHON and isinstance(c, _PYTHON):
        c = plain(c)
    kind = x._array.dtype.kind
    if (kind == "f" or kind == "V") and type(c) is not complex:  # bfloat16 is of kind V
        return x, c
    wanted = result_type(x, c)
    x = cast(x, wanted)
    return (x, _around(c, wanted)) if wanted.kind in ("int", "uint") else (x, c)


def _around(c, like: DType):
    """The number c in dtype `like`; an integer goes around the end of a small dtype, as in PyTorch."""
    if like.kind not in ("int", "uint"):
        return c
    if not -(2**63) <= c < 2**64:
        cause = tr("int too big to convert: {} does not fit into int64", short(c))
        raise IndexOutOfRangeError(cause, "a float: the tensor then is one too")
    bits = 8 * like.itemsize
    c = int(c) % 2**bits
    return c - 2**bits if like.kind == "int" and c >= 2 ** (bits - 1) else c


def tensor_of(c: int, like: DType, where: str = "") -> Tensor:
    """The number c as a 0-d tensor; one too large for it is refused in `where`, or goes around the end, as in PyTorch."""
    array = np.asarray(fit(c, like.numpy, where) if where else _around(c, like), like.numpy)
    events.constant(array)
    return Tensor._of(array)


def told_constant(array: np.ndarray) -> Tensor:
    """A tensor of an array that was made from the program's text and from sizes alone."""
    events.constant(array)
    return Tensor._of(array)


def same(*xs: Any) -> Any:
    """The tensors xs in their common dtype."""
    wanted = result_type(*xs)
    return [cast(x, wanted) for x in xs]


def binary(op: Any, a: Tensor, b: Tensor) -> Tensor:
    """op on two tensors in their common dtype, with a complaint that names both shapes where they do not broadcast."""
    left, right = a._array, b._array
    if left.dtype is not right.dtype and left.dtype != right.dtype:
        if op is Add and left.shape == right.shape and {left.dtype, right.dtype} == _MIXED:
            op = MixedAdd
        else:
            a, b = same(a, b)
    try:
        return apply(op, a, b)
    except ValueError:
        stretched(a._array.shape, b._array.shape)
        raise


def floating(x: Tensor, name: str) -> Tensor:
    """x if its dtype is a float or complex one, else x in the default float dtype."""
    try:
        return x if x._array.dtype.kind in "fcV" else cast(x, dtypes.default_dtype())
    except AttributeError:
        raise not_a_tensor(name, x) from None


_CASTING = frozenset("column_stack diff dstack hstack hypot kron nanmean row_stack vstack".split())


def _with_out(function, name: str, args: tuple, kwargs: dict, own: bool | None):
    """The call of a public function that was given out=, one tensor or as many as it has results: they hold what it gives.

    own: whether the function has out= itself. Most that do write there; what was not written is written here.
    """
    out = kwargs["out"]
    if own is False:
        kwargs = {word: value for word, value in kwargs.items() if word != "out"}
    if out is None or own is None:
        return function(*args, **kwargs)
    outs = out if isinstance(out, list | tuple) else (out,)
    for each in outs:
        if not isinstance(each, Tensor):
            cause = tr("{}(): argument 'out' must be Tensor, not {}", name, type(each).__name__)
            raise ArgumentTypeError(cause, "out=badak.empty(0)")
    if modes.grad and any(x.requires_grad for x in _tensors([*args, *kwargs.values(), *outs])):
        cause = tr("{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
                   "requires grad.", name)  # fmt: skip
        raise GraphError(cause, "with badak.no_grad(), or without out=")
    made = function(*args, **kwargs)
    results = made if isinstance(made, tuple) else (made,)
    if len(results) != len(outs) or isinstance(made, tuple) != (outs is out):
        found = tr("tuple of {}", len(outs)) if outs is out else "Tensor"
        cause = tr("{}(): argument 'out' must be {}, not {}", name,
                   tr("tuple of {}", len(results)) if isinstance(made, tuple) else "Tensor", found)  # fmt: skip
        raise ArgumentTypeError(cause, "an empty tensor for each result")
    if all(each is y for each, y in zip(outs, results)):
        return made
    exact = isinstance(made, tuple) or (own is False and name not in _CASTING)
    written = [each if each is y else into(each, y, exact) for each, y in zip(outs, results)]
    return written[0] if outs is not out else made._make(written) if hasattr(made, "_make") else tuple(written)


into_out.append(_with_out)


def _tensors(values):
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def into(out: Tensor | None, y: Tensor, exact: bool = False) -> Tensor:
    """y, or out holding y's values where the caller gave one: in y's dtype where it is `exact`, else in one that y may go to."""
    if out is None:
        return y
    refuse_inference(out)
    if exact and out.dtype is not y.dtype:
        cause = tr("Expected out tensor to have dtype {}, but got {} instead", y.dtype, out.dtype)
        raise DTypeError(cause, tr("badak.empty(0, dtype={})", y.dtype))
    if not can_cast(y.dtype, out.dtype):
        raise DTypeError(tr("result type {} can't be cast to the desired output type {}", y.dtype, out.dtype), "leave out= away")
    if out._array.size:
        expect_writable(out, "out=")
    if out._array.shape != y._array.shape:
        if out._array.size:
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not match the "
                f"required output shape {list(y.shape)}. This behavior is deprecated, and in a future PyTorch release outputs will "
                "not be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, "
                "to zero elements with t.resize_(0).",
                UserWarning,
                stacklevel=2,
            )
            return put(out.resize_(y._array.shape), y, "out=")
        events.redefine(out, tr("out= of another size"))
        out._array = y._array.astype(out._array.dtype)
        return out
    return put(out, y, "out=")
