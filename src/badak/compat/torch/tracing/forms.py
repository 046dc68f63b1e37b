"""Each operation as a call of a public function: what a traced graph says, prints and saves.

A form takes the inputs and the attributes of a step and gives (function, args, kwargs). A pointwise operation that declares its
public name (`ops/pointwise.py`) has its form by that. tests/compat/test_forms.py runs each form on the samples of its operation.
"""

import importlib
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import badak
from badak.core.errors import ArgumentError, ArgumentTypeError, BadakError, NotSupportedError, tr
from badak.core.nests import changed
from badak.core.public_api.explain import FOREIGN, described
from badak.core.public_api.taken import parameters_of
from badak.nn import functional as F
from badak.nn.functional.pooling import counts_of
from badak.ops.einsum import in_small_letters
from badak.ops.op import Op
from badak.ops.pointwise import DECLARED, Pointwise
from badak.ops.reduce import REDUCTIONS, Reduction
from badak.ops.windows import AvgPool, MaxPool
from badak.tensor import Tensor, apply

Call = tuple[Callable, tuple, dict]
_Form = Callable[..., Call]


def call(function: Callable, *args: Any, **kwargs: Any) -> Call:
    """A call as data."""
    return function, args, kwargs


class Primitive:
    """An operation that no public function is alone: called by a graph as it is. Its forward checks what it is given."""

    def __init__(self, op: type[Op], tensors: int) -> None:
        self.op, self.tensors = op, tensors
        self.__name__ = self.__qualname__ = op.name
        self.__module__ = "badak.ops"

    def __call__(self, *inputs: Any, **attributes: Any) -> Any:
        """apply(op, ...)."""
        tensors = [*inputs, *(None,) * (self.tensors - len(inputs))]
        if len(tensors) != self.tensors or not all(x is None or isinstance(x, Tensor) for x in tensors):
            raise ArgumentTypeError(tr("{}: expected {} tensors or None", self.__name__, self.tensors), "trace the program again")
        try:
            _guard(self.__name__, tensors, attributes)
            return apply(self.op, *tensors, **changed(attributes, Tensor, lambda x: x._array))
        except FOREIGN as error:
            if isinstance(error, BadakError):
                raise
            raise ArgumentError(f"{self.__name__}: {error}", "trace the program again") from None

    def __repr__(self) -> str:
        return f"<operation {self.__name__}>"


def _guard(name: str, tensors: list, attributes: dict) -> None:
    """Complain of what the forward of a primitive takes on trust."""

    def need(ok: bool, rule: str) -> None:
        if not ok:
            got = described(list(attributes.values()))
            raise ArgumentError(tr("{}: expected {}; got {}", name, rule, got), "trace the program again")

    def whole(*names: str) -> bool:
        values = [attributes.get(each) for each in names]
        return all(type(x) is tuple and x and all(type(n) is int and n >= 0 for n in x) for x in values)

    x = tensors[0]
    need(x is not None, tr("a tensor first"))
    if name in ("lstm", "gru", "rnn"):
        lengths, needed = attributes.get("lengths"), tensors[1 : 4 if name == "lstm" else 3]  # the bias may be missing
        need(x.dim() == 3 and all(each is not None for each in needed), tr("gates (T, B, n H), states and weight"))
        if lengths is not None:
            inside = isinstance(lengths, Tensor) and lengths.dtype == badak.int64 and lengths.shape == x.shape[1:2]
            need(inside and bool(((lengths >= 0) & (lengths <= x.shape[0])).all()), tr("lengths (B,) from 0 to T"))
        need(name != "lstm" or tensors[1].shape == tensors[2].shape, tr("hidden and cell states of one shape"))
        last = tensors[-1]
        need(last is None or last.dtype == tensors[-2].dtype and last.shape == tensors[-2].shape[:1], tr("a bias (n H,)"))
    elif name in ("layer_norm", "rms_norm"):
        axes = attributes.get("axes", 1)
        need(
            type(axes) is int and 1 <= axes <= x.dim() and type(attributes.get("eps", 0.0)) in (int, float), tr("1 to x.dim() axes")
        )
    elif name == "attention":
        causal = attributes.get("causal")
        need(all(each is not None for each in tensors[:3]) and (causal is None or type(causal) is int), tr("query, key and value"))
        drop = tensors[5]
        need(drop is None or drop.dtype == badak.bool, tr("a mask of booleans"))
    elif name == "unfold":
        need(
            whole("kernel", "stride", "padding", "dilation", "out") and x.dim() == 2 + len(attributes["kernel"]),
            tr("the windows of images"),
        )
        spans = [attributes[each] for each in ("kernel", "stride", "padding", "dilation", "out")]
        need(len(set(map(len, spans))) == 1, tr("as many numbers of each"))
        need(
            all(s and d and k and (o - 1) * s + d * (k - 1) < n + 2 * p for n, k, s, p, d, o in zip(x.shape[2:], *spans)),
            tr("windows inside"),
        )
    elif name == "fold":
        need(
            whole("size", "stride", "padding", "dilation") and x.dim() == 2 + 2 * len(attributes["size"]),
            tr("the windows of images"),
        )
        axes = len(attributes["size"])
        spans = [
            attributes["size"],
            x.shape[2 : 2 + axes],
            *(attributes[each] for each in ("stride", "padding", "dilation")),
            x.shape[2 + axes :],
        ]
        need(len(set(map(len, spans))) == 1, tr("as many numbers of each"))
        need(all(s and d and (o - 1) * s + d * (k - 1) < n + 2 * p for n, k, s, p, d, o in zip(*spans)), tr("windows inside"))


def _op(name: str) -> type[Op]:
    file, _, kind = name.partition(".")
    return getattr(importlib.import_module(f"badak.ops.{file}"), kind)


def _reduced(function: Callable) -> _Form:
    def form(x: Any, axis: Any = None, keepdims: bool = False) -> Call:
        return call(function, x) if axis is None and not keepdims else call(function, x, axis, keepdims)

    return form


def _spread(function: Callable) -> _Form:
    return lambda x, axis=None, correction=1, keepdims=False: call(function, x, axis, correction=correction, keepdim=keepdims)


def _pads(x: Any, pads: tuple, value: float = 0.0) -> Call:
    return call(F.pad, x, [n for pair in reversed(pads) for n in pair], "constant", value)


def _softmax(function: Callable) -> _Form:
    return lambda x, dim=-1: call(function, x, dim)


def _cat(function: Callable) -> _Form:
    return lambda *xs, axis: call(function, list(xs), axis)


def _conv(name: str) -> _Form:
    def form(x: Any, w: Any, b: Any, stride: Any, padding: Any, dilation: Any, groups: int = 1, output_padding: Any = None) -> Call:
        function = getattr(F, f"{name}{len(stride)}d")
        if output_padding is not None:
            return call(function, x, w, b, stride, padding, output_padding, groups, dilation)
        return call(function, x, w, b, stride, padding, dilation, groups)

    return form


def of_windows(
    op: Any,
    size: tuple,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    out: Sequence[int],
    dilation: Sequence[int] | None = None,
    counts: Any = None,
) -> dict:
    """What a pool was asked for, in place of what followed from that and the size."""
    dilation = dilation or (1,) * len(kernel)
    floor = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, stride, padding, dilation))
    asked = {"kernel": kernel, "stride": stride, "padding": padding, "ceil_mode": out != floor}
    if op is MaxPool:
        return asked | {"dilation": dilation}
    given: Any = counts
    if given.ndim == 0:
        return asked | {"divisor": int(given)}
    return asked | {"include_pad": np.array_equal(given, counts_of(size, kernel, stride, padding, out, True))}


def _max_pool(x: Any, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, **way: Any) -> Call:
    if "out" in way:  # as the operation is called, not as a graph says it
        way = of_windows(MaxPool, x.shape[2:], kernel, stride, padding, dilation=dilation, **way)
    function = getattr(F, f"max_pool{len(kernel)}d")
    return call(function, x, kernel, stride, padding, dilation, way["ceil_mode"], return_indices=True)


def _avg_pool(x: Any, kernel: tuple, stride: tuple, padding: tuple, **way: Any) -> Call:
    if "out" in way:
        way = of_windows(AvgPool, x.shape[2:], kernel, stride, padding, **way)
        del way["kernel"], way["stride"], way["padding"]
    return _means(x, kernel, stride, padding, **way)


def _means(
    x: Any, kernel: tuple, stride: tuple, padding: tuple, ceil_mode: bool, include_pad: bool = True, divisor: int = 0
) -> Call:
    more = {"divisor_override": divisor} if divisor else {}
    return call(getattr(F, f"avg_pool{len(kernel)}d"), x, kernel, stride, padding, ceil_mode, include_pad, **more)


def _itself(name: str) -> _Form:
    return partial(call, getattr(badak, name))


def _alike(name: str, public: str) -> _Form:
    names = [each for each, *_ in parameters_of(_op(name).forward)][1:]

    def form(*inputs: Any, **attributes: Any) -> Call:
        return call(getattr(badak, public), *inputs, *(attributes[each] for each in names[len(inputs) :] if each in attributes))

    return form


def _primitive(name: str) -> _Form:
    return lambda *inputs, **attributes: call(PRIMITIVES[name], *inputs, **attributes)


def _loss(function: Callable, **renamed: str) -> _Form:
    def form(x: Any, target: Any, weight: Any = None, **options: Any) -> Call:
        options = {renamed.get(name, name): value for name, value in options.items() if name != "shape"}
        return call(function, x, target, weight=weight, **options)

    return form


PRIMITIVES = {
    name: Primitive(_op(name), tensors)
    for name, tensors in {
        "activation.ELU": 1, "activation.PReLU": 2, "attention.Attention": 6, "recurrent.LSTM": 5, "recurrent.GRU": 4,
        "recurrent.RNN": 4, "norm.BatchNorm": 5, "norm.BatchMoments": 1, "norm.LayerNorm": 3, "norm.RMSNorm": 2, "pad.PadBy": 1,
        "windows.Unfold": 1, "windows.Fold": 1, "reduce.Prod": 1,
    }.items()
}  # fmt: skip
# operations that take what a function takes, in the same order: file, operation=function
_ALIKE = {
    "arithmetic": """Add=add Shift=add Sub=sub SubFrom=rsub Mul=mul Scale=mul Div=div DivBy=div FloorDiv=floor_divide Neg=neg
                     Remainder=remainder Fmod=fmod PowBy=pow Pow=pow Lerp=lerp LerpBy=lerp""",
    "activation": "ReLU=relu",
    "elementwise": "Logaddexp=logaddexp",
    "special": "Copysign=copysign Fmax=fmax Fmin=fmin",
    "along": "TakeAlong=take_along_dim",
    "index": "MaskedSelect=masked_select MaskedScatter=masked_scatter Take=take",
    "matmul": "MatMul=matmul",
    "linear": "AddMM=addmm",
    "shape": "View=reshape Transpose=transpose Permute=permute Expand=broadcast_to Unbind=unbind Diagonal=diagonal",
    "rearrange": "Reshape=reshape Flip=flip Roll=roll Repeat=tile RepeatInterleave=repeat_interleave",
    "select": "Clamp=clamp ClampBetween=clamp Maximum=maximum Minimum=minimum Where=where MaskedFill=masked_fill",
    "reduce": "CumSum=cumsum CumProd=cumprod",
    "complex": """Polar=polar Complex=complex Angle=angle Real=real Imag=imag Conj=conj ViewAsReal=view_as_real
                  ViewAsComplex=view_as_complex""",
}


FORMS: dict[str, _Form] = {
    "arithmetic.DivInto": lambda x, c: call(operator.truediv, c, x),
    "arithmetic.TruncDiv": lambda a, b: call(badak.div, a, b, rounding_mode="trunc"),
    "norm.GroupNorm": lambda x, w, b, groups, eps=1e-5: call(F.group_norm, x, groups, w, b, eps),
    "elementwise.Round": lambda x, **attributes: call(badak.round, x, **attributes),
    "loss.BCE": lambda x, target: call(F.binary_cross_entropy, x, target, reduction="none"),
    "arithmetic.PowOf": lambda x, c: call(badak.pow, c, x),
    "along.Gather": lambda x, index, dim: call(badak.gather, x, dim, index),
    "reduce.OneOf": lambda x, index: call(badak.take_along_dim, x, index, -1),
    "along.Scatter": lambda x, index, src, dim: call(badak.scatter, x, dim, index, src),
    "along.ScatterFill": lambda x, index, c, dim: call(badak.scatter, x, dim, index, c),
    "along.ScatterAdd": lambda x, index, src, dim: call(badak.scatter_add, x, dim, index, src),
    "along.IndexSelect": lambda x, index, dim: call(badak.index_select, x, dim, index),
    "along.IndexAdd": lambda x, index, src, dim, c=1: call(badak.index_add, x, dim, index, src, alpha=c),
    "along.IndexCopy": lambda x, index, src, dim: call(badak.index_copy, x, dim, index, src),
    "along.IndexFill": lambda x, index, c, dim: call(badak.index_fill, x, dim, index, c),
    "index.Select": lambda x, key: call(operator.getitem, x, key),
    "index.Index": lambda x, key: call(operator.getitem, x, key),
    "pad.Pad": _pads,
    "cast.Cast": lambda x, dtype: call(badak.Tensor.to, x, dtype),
    "cast.Clone": lambda x, order=None: call(badak.clone, x),
    "linear.Linear": lambda x, w, b: call(F.linear, x, w, b),
    "loss.CrossEntropy": _loss(F.cross_entropy, smoothing="label_smoothing"),
    "loss.CrossEntropySoft": _loss(F.cross_entropy, smoothing="label_smoothing"),
    "loss.NLL": _loss(F.nll_loss),
    "loss.MSE": lambda x, target, **options: call(F.mse_loss, x, target, **options),
    "loss.Huber": lambda x, target, **options: call(F.huber_loss, x, target, **options),
    "loss.SmoothL1": lambda x, target, **options: call(F.smooth_l1_loss, x, target, **options),
    "loss.KLDiv": lambda x, target, **options: call(F.kl_div, x, target, **options),
    "loss.BCEWithLogits": lambda x, target, weight, pos_weight, reduction="mean": call(
        F.binary_cross_entropy_with_logits, x, target, weight, reduction=reduction, pos_weight=pos_weight
    ),
    "fourier.Fourier": lambda x, n, axis, norm="backward", inverse=False: call(
        badak.fft.ifft if inverse else badak.fft.fft, x, n, axis, norm
    ),
    "fourier.RealFourier": lambda x, n, axis, norm="backward": call(badak.fft.rfft, x, n, axis, norm),
    "fourier.InverseRealFourier": lambda x, n, axis, norm="backward": call(badak.fft.irfft, x, n, axis, norm),
    "concat.Cat": _cat(badak.cat),
    "concat.Stack": _cat(badak.stack),
    "shape.Split": lambda x, sizes, axis: call(badak.split, x, list(sizes), axis),
    "shape.Unfold": lambda x, axis, size, step: call(badak.Tensor.unfold, x, axis, size, step),
    "softmax.Softmax": _softmax(F.softmax),
    "softmax.LogSoftmax": _softmax(F.log_softmax),
    "arithmetic.Addcmul": lambda x, a, b, c: call(badak.addcmul, x, a, b, value=c),
    "arithmetic.Addcdiv": lambda x, a, b, c: call(badak.addcdiv, x, a, b, value=c),
    "reduce.Var": _spread(badak.var),
    "reduce.Std": _spread(badak.std),
    "reduce.Amax": lambda x, axis=None, keepdims=False, nan=False: call(badak.amax, x, () if axis is None else axis, keepdims),
    "reduce.Amin": lambda x, axis=None, keepdims=False, nan=False: call(badak.amin, x, () if axis is None else axis, keepdims),
    "reduce.LogSumExp": _reduced(badak.logsumexp),
    "reduce.Norm": lambda x, p=2, axis=None, keepdims=False: call(badak.norm, x, p, axis, keepdims),
    "windows.MaxPool": _max_pool,
    "windows.AvgPool": _avg_pool,
    "conv.Conv": _conv("conv"),
    "conv.ConvTranspose": _conv("conv_transpose"),
    "triangular.Tril": lambda x, k=0: call(badak.tril, x, k),
    "triangular.Triu": lambda x, k=0: call(badak.triu, x, k),
    "embedding.Embedding": lambda w, ids, padding_idx=None, scale_grad_by_freq=False: call(
        F.embedding, ids, w, padding_idx, scale_grad_by_freq=scale_grad_by_freq
    ),
    "einsum.Contract": lambda a, b, ta, tb, ty: call(badak.einsum, in_small_letters(f"{ta},{tb}->{ty}"), a, b),
    "einsum.SumTo": lambda x, tx, ty: call(badak.einsum, in_small_letters(f"{tx}->{ty}"), x),
}
FORMS |= {name: _primitive(name) for name in PRIMITIVES}
FORMS |= {
    f"{file}.{op}": _alike(f"{file}.{op}", public)
    for file, listed in _ALIKE.items()
    for op, public in (each.split("=") for each in listed.split())
}

# functions without an operation (`events.pure`, `events.writes`): their places, as `sizes.name_of` gives them
PURE: dict[str, _Form] = {
    f"compare.{name}": _itself(name)
    for name in (
        "eq ne lt le gt ge isnan isinf isfinite logical_not logical_and logical_or logical_xor bitwise_not bitwise_and "
        "bitwise_or bitwise_xor isclose isin"
    ).split()
}
PURE |= {
    "sort._order": lambda array, dim, descending: call(badak.argsort, array, dim, descending, stable=True),
    "sort.argmax_along": lambda input, dim, keepdim: call(badak.argmax, input, dim, keepdim),
    "sort.argmin_along": lambda input, dim, keepdim: call(badak.argmin, input, dim, keepdim),
    "reduce._argmax": lambda array, dim: call(badak.argmax, array, dim),
    "reduce._argmin": lambda array, dim: call(badak.argmin, array, dim),
    "sort._top": lambda array, k, dim, largest: call(_top_indices, array, k, dim, largest),
    "embedding._one_hot": lambda tensor, num_classes: call(F.one_hot, tensor, num_classes),
    "inplace._put": lambda x, value, name: call(badak.Tensor.copy_, x, value),
    "inplace_ops._fill": lambda x, value: call(badak.Tensor.fill_, x, value),
    "inplace_ops._replace_slices": lambda x, dim, index, source: call(badak.Tensor.index_copy_, x, dim, index, source),
    "getset._assign": lambda x, key, value: call(operator.setitem, x, key, value),
}


def _top_indices(x: Any, k: int, dim: int, largest: bool) -> Any:
    return badak.topk(x, k, dim, largest)[1]


_WORDS = """
add addcdiv addcmul addmm amax amin angle arange argmax argmin argsort bitwise_and bitwise_not bitwise_or bitwise_xor
broadcast_to cat clamp clone complex conj copysign cumprod cumsum diagonal div einsum eq flip floor_divide fmax fmin fmod full
gather ge gt imag index_add index_copy index_fill index_put index_select isclose isfinite isin isinf isnan le lerp logaddexp
logical_and logical_not logical_or logical_xor logsumexp lt masked_fill masked_scatter masked_select matmul maximum mean minimum
mul ne neg norm permute polar pow real relu remainder repeat_interleave reshape roll round rsub scatter scatter_add split stack
std sub sum take take_along_dim tile transpose tril triu unbind var view_as_complex view_as_real where
"""
_LAYERS = """
avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d binary_cross_entropy
binary_cross_entropy_with_logits conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d cross_entropy embedding
group_norm huber_loss kl_div linear log_softmax mse_loss nll_loss one_hot pad smooth_l1_loss softmax
"""


def _functions() -> dict[str, Callable]:
    """The functions that a graph in a file may name."""
    found: dict[str, Callable] = {name: getattr(badak, name) for name in _WORDS.split()}
    found |= {f"nn.functional.{name}": getattr(F, name) for name in _LAYERS.split()}
    found |= {f"fft.{name}": getattr(badak.fft, name) for name in ("fft", "ifft", "rfft", "irfft")}
    found |= {f"Tensor.{name}": getattr(badak.Tensor, name) for name in ("to", "copy_", "fill_", "index_copy_", "unfold")}
    found |= {
        f"operator.{f.__name__}": f for f in (operator.getitem, operator.setitem, operator.truediv, operator.mul, operator.add)
    }
    found |= {f"ops.{primitive.__name__}": primitive for primitive in PRIMITIVES.values()}
    rows: list[Any] = [*DECLARED.values(), *REDUCTIONS]
    for op in rows:
        if functional := getattr(op, "functional", ""):
            found[f"nn.functional.{functional}"] = getattr(F, functional)
        for space, names in (("", op.names[:1]), ("special.", getattr(op, "special", ())[:1] if not op.names else ())):
            found |= {f"{space}{name}": getattr(badak.special if space else badak, name) for name in names}
    return found | {"top_indices": _top_indices}


FUNCTIONS = _functions()
_NAMES = {id(function): name for name, function in FUNCTIONS.items()}


def name_in_files(function: Callable) -> str | None:
    """The word of a file for a function; None where there is none."""
    return _NAMES.get(id(function))


def form_of(function: Any, name: str) -> _Form | None:
    """The form of an operation or function; None where it has none."""
    if name in FORMS or name in PURE:
        return FORMS.get(name) or PURE[name]
    if isinstance(function, type) and issubclass(function, Reduction) and function.names:
        return _reduced(getattr(badak, function.names[0]))
    if isinstance(function, type) and issubclass(function, Pointwise) and function.functional:
        return lambda x, **attributes: call(getattr(F, function.functional), x, **attributes)
    if isinstance(function, type) and issubclass(function, Pointwise) and (function.names or function.special):
        public = getattr(badak, function.names[0]) if function.names else getattr(badak.special, function.special[0])
        return lambda *inputs, **attributes: call(public, *inputs, **attributes)
    return None


def without_form(name: str, where: str) -> NotSupportedError:
    """The error for an operation that a graph cannot say."""
    cause = tr("{}: a graph has no form for the operation {}", where, name)
    return NotSupportedError(cause, "write that part with other functions")
