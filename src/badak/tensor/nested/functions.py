"""The table of the public functions that take nested tensors: all others refuse them (`layout.py`).

A function in the table is called as func(public function, *its arguments): what acts on each number, or on dims that are not
ragged, is the public function itself on the values.
"""

from collections.abc import Callable
from typing import Any

from badak.core.errors import IndexOutOfRangeError, NotSupportedError, ShapeError, tr
from badak.ops.pointwise import DECLARED
from badak.tensor.nested import products, reduce, shape
from badak.tensor.nested.layout import FUNCTIONS, PADDED, NestedTensor, dim_of, nested, parts
from badak.tensor.tensor import Tensor

_EACH = """
    abs absolute add sub subtract rsub mul multiply div divide true_divide floor_divide remainder fmod pow float_power neg negative
    positive exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal sin cos tan asin acos atan sinh cosh tanh asinh acosh
    atanh atan2 sigmoid logit erf erfc erfinv ceil floor round trunc frac fix sign sgn clamp clip clamp_min clamp_max minimum
    maximum fmin fmax where lerp addcmul addcdiv nan_to_num isnan isinf isfinite isposinf isneginf signbit eq ne lt le gt ge
    not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not bitwise_and bitwise_or
    bitwise_xor bitwise_not masked_fill heaviside hypot copysign xlogy lgamma digamma deg2rad rad2deg
    relu relu6 leaky_relu elu selu celu gelu silu mish softplus softsign hardtanh hardsigmoid hardswish hardshrink softshrink
    tanhshrink logsigmoid threshold dropout alpha_dropout
    __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __pow__
    __rpow__ __neg__ __pos__ __abs__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __and__ __or__ __xor__ __invert__ __rand__ __ror__
    __rxor__ clone detach to float double half bfloat16 int long short bool cpu contiguous
    zeros_like ones_like full_like empty_like rand_like randn_like
"""
_IN_PLACE = """
    abs_ add_ sub_ mul_ div_ neg_ exp_ log_ sqrt_ sigmoid_ tanh_ relu_ clamp_ pow_ fill_ zero_ masked_fill_ normal_ uniform_
    __iadd__ __isub__ __imul__ __itruediv__ requires_grad_
"""
_ONE_DIM = (
    "softmax log_softmax cumsum cumprod argmax argmin argsort sort logsumexp std var narrow select chunk split unbind glu flip"
)


def rows_of(name: str, other: Any, x: NestedTensor) -> Any:
    """Something next to x in a function of each number: what stands in the places of x's values."""
    if not isinstance(other, Tensor):
        return other
    if isinstance(other, NestedTensor):
        if other.ndim != x.ndim or other._ragged != x._ragged or other._lengths is not x._lengths:
            cause = tr(
                "cannot call binary pointwise function {} with inputs of shapes {} and {}", name, tuple(x.shape), tuple(other.shape)
            )
            raise ShapeError(cause, "nested tensors of the same lengths")
        return other._entries
    lacking = x.ndim - other.dim()
    if lacking < 0:
        raise ShapeError(tr("{}: {} has more dims than the nested {}", name, tuple(other.shape), tuple(x.shape)), PADDED)
    if lacking > x._ragged:
        return other
    dense = other.reshape((1,) * lacking + tuple(other.shape))
    size, at = x._lengths, x._ragged
    if dense.shape[0] not in (1, len(size.lengths)) or dense.shape[at] not in (1, size.longest()):
        raise ShapeError(tr("{}: {} does not broadcast to the nested {}", name, tuple(other.shape), tuple(x.shape)), PADDED)
    if dense.shape[0] == 1 and dense.shape[at] == 1:
        return dense.squeeze(0)
    dense = dense.expand(len(size.lengths), *(-1,) * (dense.dim() - 1)) if dense.shape[0] == 1 else dense
    examples = Tensor._of(size.examples())
    if dense.shape[at] == 1:
        return dense.movedim(at, 1).squeeze(1).index_select(0, examples).movedim(0, at - 1)
    return dense.movedim(at, 1)[examples, Tensor._of(size.places())].movedim(0, at - 1)


def _each(func: Callable, *args: Any, **options: Any) -> Any:
    """A function of each number: itself on the values."""
    x = next((each for each in (*args, *options.values()) if isinstance(each, NestedTensor)), None)
    if x is None:  # it stands in a list
        raise NotSupportedError(tr("{} does not know nested tensors", func.__name__), PADDED)
    if isinstance(options.get("out"), Tensor):
        raise NotSupportedError(tr("{}: out= takes no nested tensor", func.__name__), "y = f(x)")
    result = func(
        *(rows_of(func.__name__, each, x) for each in args),
        **{name: rows_of(func.__name__, each, x) for name, each in options.items()},
    )
    if result is x._entries:
        return x
    if (
        not isinstance(result, Tensor)
        or result.dim() != x.ndim - 1
        or result.shape[x._ragged - 1] != x._entries.shape[x._ragged - 1]
    ):
        raise NotSupportedError(tr("{} of a nested tensor and these arguments is not supported", func.__name__), PADDED)
    return x.like(result)


def _in_place(func: Callable, x: Any, *args: Any, **options: Any) -> Any:
    """A function that writes into the values of x."""
    if not isinstance(x, NestedTensor):
        raise NotSupportedError(tr("{} of a dense tensor does not take a nested one", func.__name__), PADDED)
    others = [rows_of(func.__name__, each, x) for each in args]
    func(x._entries, *others, **{name: rows_of(func.__name__, each, x) for name, each in options.items()})
    return x


def _told(func: Callable, x: NestedTensor) -> Any:
    """What the values say, of the whole tensor."""
    return func(x._entries)


def _size(func: Callable, x: NestedTensor, dim: int | None = None) -> Any:
    return x.shape if dim is None else x.shape[dim_of("size", x, dim)]


def _getitem(func: Callable, x: NestedTensor, key: Any) -> Tensor:
    if type(key) is not int:
        cause = tr("a nested tensor is indexed by the number of an example only")
        raise NotSupportedError(cause, "x[i], x.unbind(), x.narrow(-1, 0, n)")
    return parts(x)[dim_of_example(x, key)]


def dim_of_example(x: NestedTensor, i: int) -> int:
    """The number of an example, counted from the front."""
    count = len(x)
    if not -count <= i < count:
        cause = tr("index {} is out of bounds for a nested tensor of {} examples", i, count)
        raise IndexOutOfRangeError(cause, f"0 to {count - 1}")
    return i % count


def _embedding(func: Callable, input: Any, weight: Tensor, *args: Any, **options: Any) -> Tensor:
    if not isinstance(input, NestedTensor) or isinstance(weight, NestedTensor):
        raise NotSupportedError("embedding takes nested ids and a plain table", PADDED)
    return nested(func(input._entries, weight, *args, **options), input._offsets, input._ragged, input._lengths)


def _backward(func: Callable, x: NestedTensor, gradient: Any = None, *args: Any, **options: Any) -> None:
    func(x._entries, gradient if gradient is None else rows_of("backward", gradient, x), *args, **options)


FUNCTIONS |= dict.fromkeys((name for op in DECLARED.values() for name in (*op.names, *op.special)), _each)
FUNCTIONS |= dict.fromkeys(_EACH.split(), _each)
FUNCTIONS |= dict.fromkeys(_IN_PLACE.split(), _in_place)
FUNCTIONS |= dict.fromkeys(_ONE_DIM.split(), shape.along)
FUNCTIONS |= dict.fromkeys(
    "is_floating_point is_complex is_signed element_size get_device numel nelement __bool__ item".split(), _told
)
FUNCTIONS |= dict.fromkeys("sum mean prod amax amin max min any all norm".split(), reduce.reduced)
FUNCTIONS |= dict.fromkeys("matmul __matmul__ __rmatmul__ bmm mm".split(), products.matmul)
FUNCTIONS |= dict.fromkeys(("layer_norm", "rms_norm"), products.normed)
FUNCTIONS |= dict.fromkeys(("dim", "ndimension"), lambda func, input: input.ndim)
FUNCTIONS |= dict.fromkeys(("view", "reshape"), shape.view)
FUNCTIONS |= {
    "backward": _backward,
    "size": _size,
    "__getitem__": _getitem,
    "embedding": _embedding,
    "linear": products.linear,
    "scaled_dot_product_attention": products.attention,
    "values": lambda func, input: input._entries,
    "transpose": shape.transpose,
    "mT": lambda func, input: shape.transpose(func, input, -2, -1),
    "permute": shape.permute,
    "unsqueeze": shape.unsqueeze,
    "squeeze": shape.squeeze,
    "unflatten": shape.unflatten,
    "flatten": shape.flatten,
    "cat": shape.cat,
    "concat": shape.cat,
    "is_same_size": lambda func, input, other: input.shape == other.shape,
}
