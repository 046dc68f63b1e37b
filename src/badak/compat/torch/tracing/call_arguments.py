"""The arguments of a public function as TorchScript's node of it has them: in the order of PyTorch's C++ code."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from badak.tensor import Tensor

OVER_AXES = frozenset("amax amin logsumexp mean nanmean nansum norm std sum var".split())  # whose axes are a list
NO_INPUTS = frozenset("_stacklevel axis dims named out reduce size_average".split())  # of badak's functions, or of Python's part
RENAMED = {
    "attention": "scaled_dot_product_attention", "_reversed": "numpy_T", "__rsub__": "rsub", "__neg__": "neg",
    "__matmul__": "matmul", "__truediv__": "div",
}  # fmt: skip
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def told(name: str, function: Callable, args: tuple, kwargs: dict) -> tuple[str, list]:
    """The kind of the node, and its inputs in the order of PyTorch's C++ code."""
    name = RENAMED.get(name, name)
    if name == "__getitem__":
        return _getitem(*args)
    try:
        bound = _signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return f"aten::{name.strip('_')}", [*args, *kwargs.values()]
    bound.apply_defaults()
    given = dict(bound.arguments)
    form = _FORMS.get(name)
    if form is not None:
        return form(**given)
    if given.pop("inplace", False) is True:
        name += "_"
    if given.get("reduction") in _REDUCTIONS:
        given["reduction"] = _REDUCTIONS[given["reduction"]]
    if given.get("dim", 0) is None and not given.get("keepdim", True) and not name.startswith("arg"):
        del given["dim"], given["keepdim"]
    elif name in OVER_AXES and isinstance(given.get("dim"), int):
        given["dim"] = [given["dim"]]
    several = {key for key, p in _signature(function).parameters.items() if p.kind is p.VAR_POSITIONAL}
    parts = [part if key in several else (part,) for key, part in given.items() if key not in NO_INPUTS]
    name = name if name.startswith("_") and not name.startswith("__") else name.lstrip("_")
    return f"aten::{name.removesuffix('__')}", [x for part in parts for x in _spread(part)]


def _spread(part: tuple) -> list:
    """The arguments of *args: one list of numbers, or themselves."""
    return [list(part)] if len(part) > 1 and all(isinstance(x, int) for x in part) else list(part)


@cache
def _signature(function: Callable) -> inspect.Signature:
    return inspect.signature(function)


def _getitem(x: Tensor, key: Any) -> tuple[str, list]:
    """x[key] as one node, named by the first part that is no whole slice."""
    parts = key if isinstance(key, tuple) else (key,)
    chosen = [(i, part) for i, part in enumerate(parts) if part != slice(None) or isinstance(part, Tensor)]
    if any(isinstance(part, Tensor | list) or hasattr(part, "__array__") for _, part in chosen):
        return "aten::index", [x, [part for _, part in chosen]]
    at, part = chosen[0] if chosen else (0, slice(None))
    if isinstance(part, slice):
        return "aten::slice", [x, at, part.start, part.stop, part.step or 1]
    return ("aten::unsqueeze", [x, at]) if part is None else ("aten::select", [x, at, part])


def _split(x: Tensor, sizes: Any, dim: int = 0, *_: Any) -> tuple[str, list]:
    return ("aten::split", [x, sizes, dim]) if isinstance(sizes, int) else ("aten::split_with_sizes", [x, list(sizes), dim])


def _many(n: int, part: Any) -> list:
    return [part] * n if isinstance(part, int) else list(part)


def _convolution(n: int, transposed: bool) -> Callable:
    def form(input, weight, bias, stride, padding, dilation, groups, output_padding=0) -> tuple:
        if isinstance(padding, str):
            return "aten::_convolution_mode", [input, weight, bias, _many(n, stride), padding, _many(n, dilation), groups]
        numbers = [_many(n, part) for part in (stride, padding, dilation)]
        more = [_many(n, output_padding), groups, False, False, True, True]
        return "aten::_convolution", [input, weight, bias, *numbers, transposed, *more]

    return form


def _upsample(input, size, scale_factor, mode, align_corners, **_: Any) -> tuple:
    n = input.dim() - 2
    word = {"linear": "linear", "bilinear": "bilinear", "trilinear": "trilinear", "nearest-exact": "nearest_exact"}.get(mode, mode)
    align = [] if mode.startswith("nearest") else [bool(align_corners)]
    scales = None if scale_factor is None else [float(each) for each in _scales(n, scale_factor)]
    start = "aten::_upsample" if "exact" in mode else "aten::upsample"
    return f"{start}_{word}{n}d", [input, None if size is None else _many(n, size), *align, scales]


def _scales(n: int, factor: Any) -> list:
    return list(factor) if isinstance(factor, tuple | list) else [factor] * n


_FORMS: dict[str, Callable] = {
    **{f"conv{n}d": _convolution(n, False) for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _convolution(n, True) for n in (1, 2, 3)},
    "interpolate": _upsample,
    "batch_norm": lambda input, running_mean, running_var, weight, bias, training, momentum, eps: (
        "aten::batch_norm", [input, weight, bias, running_mean, running_var, training, momentum, eps, True]),
    "instance_norm": lambda input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps: (
        "aten::instance_norm", [input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True]),
    "group_norm": lambda input, num_groups, weight, bias, eps: (
        "aten::group_norm", [input, num_groups, weight, bias, eps, True]),
    "layer_norm": lambda input, normalized_shape, weight, bias, eps: (
        "aten::layer_norm", [input, _many(1, normalized_shape), weight, bias, eps, True]),
    "split": lambda **given: _split(*given.values()),
    "einsum": lambda equation, operands: ("aten::einsum", [equation, list(operands), None]),
    "embedding": lambda input, weight, padding_idx, scale_grad_by_freq, sparse, **_: (
        "aten::embedding", [weight, input, -1 if padding_idx is None else padding_idx, scale_grad_by_freq, sparse]),
    "grid_sample": lambda input, grid, mode, padding_mode, align_corners: (
        "aten::grid_sampler", [input, grid, ("bilinear", "nearest", "bicubic").index(mode),
                               ("zeros", "border", "reflection").index(padding_mode), bool(align_corners)]),
    "cross_entropy": lambda input, target, weight, ignore_index, reduction, label_smoothing, **_: (
        "aten::cross_entropy_loss", [input, target, weight, _REDUCTIONS[reduction], ignore_index, label_smoothing]),
    "dropout": lambda input, p, training, inplace: (f"aten::dropout{'_' * inplace}", [input, p, training]),
    **{f"adaptive_{way}_pool{n}d": lambda input, output_size, way=way, n=n, **_: (
        f"aten::adaptive_{way}_pool{n}d", [input, _many(n, output_size)]) for way in ("avg", "max") for n in (1, 2, 3)},
}  # fmt: skip
