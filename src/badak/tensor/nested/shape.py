"""Other shapes of nested tensors, and functions along one of their dims: what happens along a dim that is not ragged happens to
the values."""

import math
from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

from badak.core.errors import NotSupportedError, ShapeError, tr
from badak.tensor.nested.layout import PADDED, NestedTensor, dim_of, expect_nested, nested, padded, parts, unpadded
from badak.tensor.tensor import Tensor

_ALONG_RAGGED = {
    "softmax": -math.inf,
    "log_softmax": -math.inf,
    "cumsum": 0,
    "cumprod": 1,
}  # what padding leaves their values alone


def regular(where: str, x: NestedTensor, dim: int) -> int:
    """The dim of the values that a dim of x is, which must be neither that of the examples nor ragged."""
    at = dim_of(where, x, dim)
    if at == 0 or at == x._ragged:
        word = tr("ragged dim") if at else "dim=0"
        raise NotSupportedError(tr("{}(): not supported for NestedTensor on {}", where, word), PADDED)
    return at - 1


def along(func: Callable, x: NestedTensor, *args: Any, **options: Any) -> Any:
    """A function along one dim."""
    expect_nested(func.__name__, x)
    given = signature(func).bind(x, *args, **options)
    given.apply_defaults()
    name = func.__name__
    word = next((each for each in ("dim", "dims") if each in given.arguments), "dim")
    dim = given.arguments.get(word)
    if name == "unbind":
        if dim != 0:
            raise NotSupportedError("unbind(): only supported for NestedTensor on dim=0", "x.unbind()")
        return parts(x)
    if type(dim) is not int:
        raise NotSupportedError(tr("{} of a nested tensor takes one dim", name), "dim=-1")
    at = dim_of(name, x, dim)
    if at == x._ragged and name in _ALONG_RAGGED:
        return unpadded(_called(func, padded(x, _ALONG_RAGGED[name]), given, word, at), x)
    if at == 0 and name in ("chunk", "split"):
        return _examples(func, x, given)
    made = _called(func, x._entries, given, word, regular(name, x, at))
    removed = not isinstance(made, tuple | list) and made.dim() < x._entries.dim()
    ragged = x._ragged - (removed and at < x._ragged)
    wrap = lambda values: nested(values, x._offsets, ragged, x._lengths)
    if hasattr(made, "_fields"):
        return type(made)(*map(wrap, made))
    return tuple(map(wrap, made)) if isinstance(made, tuple | list) else wrap(made)


def _called(func: Callable, values: Tensor, given: Any, word: str, dim: int) -> Any:
    """The function on values, along another dim than it was called with."""
    names = list(given.signature.parameters)
    given.arguments[names[0]], given.arguments[word] = values, dim
    return func(*given.args, **given.kwargs)


def _examples(func: Callable, x: NestedTensor, given: Any) -> tuple[Tensor, ...]:
    """Runs of examples."""
    numbers = Tensor._of(x._lengths.lengths)
    groups = _called(func, numbers, given, "dim", 0)
    made, start = [], 0
    each = parts(x)
    for group in groups:
        count = group.shape[0]
        offsets = x._offsets[start : start + count + 1] - x._offsets[start]
        at = x._ragged - 1
        rows = sum(part.shape[at] for part in each[start : start + count])
        values = x._entries.narrow(at, int(x._offsets[start]), rows)
        made.append(nested(values, offsets, x._ragged))
        start += count
    return tuple(made)


def transpose(func: Callable, x: NestedTensor, dim0: int, dim1: int) -> NestedTensor:
    a, b = dim_of("transpose", x, dim0), dim_of("transpose", x, dim1)
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return permute(func, x, order)


def permute(func: Callable, x: NestedTensor, *dims: Any) -> NestedTensor:
    order = [dim_of("permute", x, dim) for dim in _flat(dims)]
    if sorted(order) != list(range(x.ndim)):
        raise ShapeError(tr("permute: expected each of {} dims once; got {}", x.ndim, order), "all dims")
    if order[0] != 0:
        raise NotSupportedError("the dim of the examples of a nested tensor stays the first", "dims 1 and after")
    return nested(x._entries.permute([at - 1 for at in order[1:]]), x._offsets, order.index(x._ragged), x._lengths)


def unsqueeze(func: Callable, x: NestedTensor, dim: int) -> NestedTensor:
    at = dim_of("unsqueeze", x, dim, 1)
    if at == 0:
        raise NotSupportedError("unsqueeze(): not supported for NestedTensor on dim=0", PADDED)
    return nested(x._entries.unsqueeze(at - 1), x._offsets, x._ragged + (at <= x._ragged), x._lengths)


def squeeze(func: Callable, x: NestedTensor, dim: int) -> NestedTensor:
    at = regular("squeeze", x, dim)
    made = x._entries.squeeze(at)
    return nested(made, x._offsets, x._ragged - (made.dim() < x._entries.dim() and at < x._ragged - 1), x._lengths)


def unflatten(func: Callable, x: NestedTensor, dim: int, sizes: Any) -> NestedTensor:
    at = regular("unflatten", x, dim)
    made = x._entries.unflatten(at, sizes)
    return nested(made, x._offsets, x._ragged + (made.dim() - x._entries.dim()) * (at < x._ragged - 1), x._lengths)


def flatten(func: Callable, x: NestedTensor, start_dim: int = 0, end_dim: int = -1) -> NestedTensor:
    first, last = dim_of("flatten", x, start_dim), dim_of("flatten", x, end_dim)
    if first == 0 or first <= x._ragged <= last:
        word = tr("ragged dim") if first else "dim=0"
        raise NotSupportedError(tr("flatten(): not supported for NestedTensor on {}", word), PADDED)
    made = x._entries.flatten(first - 1, last - 1)
    return nested(made, x._offsets, x._ragged - (last - first) * (last < x._ragged), x._lengths)


def view(func: Callable, x: NestedTensor, *sizes: Any) -> NestedTensor:
    """The ragged dim of the new shape is written as x.size(n), or -1; it keeps as many values before it."""
    asked = _flat(sizes)
    ragged = [at for at, n in enumerate(asked) if n is x._lengths]
    if not ragged:
        ragged = [at for at, n in enumerate(asked) if n == -1]
    if len(ragged) != 1 or ragged[0] == 0 or asked[0] not in (-1, len(x._lengths.lengths)):
        cause = tr("{} of a nested tensor keeps the examples and the ragged dim; got {}", func.__name__, tuple(asked))
        raise NotSupportedError(cause, "x.view(x.size(0), -1, *sizes), -1 where the ragged dim stands")
    at = ragged[0]
    before = tuple(x._entries.shape[: x._ragged - 1])
    rows = x._entries.shape[x._ragged - 1]
    head, tail = list(asked[1:at]), list(asked[at + 1 :])
    _fill(head, math.prod(before))
    if math.prod(head) != math.prod(before):
        cause = tr("{}: {} would mix the ragged dim of {} with others", func.__name__, tuple(asked), tuple(x.shape))
        raise NotSupportedError(cause, "x.transpose first")
    return nested(func(x._entries, (*head, rows, *tail)), x._offsets, at, x._lengths)


def _fill(sizes: list, count: int) -> None:
    """Put in place of a -1 what is left."""
    if -1 in sizes:
        at = sizes.index(-1)
        others = math.prod(n for n in sizes if n != -1)
        sizes[at] = count // others if others else 0


def cat(func: Callable, tensors: Any, dim: int = 0, **options: Any) -> NestedTensor:
    x = expect_nested("cat", tensors[0])
    if any(not isinstance(each, NestedTensor) or each._lengths is not x._lengths or each._ragged != x._ragged for each in tensors):
        raise ShapeError("cat: expected nested tensors of the same lengths", PADDED)
    return x.like(func([each._entries for each in tensors], regular("cat", x, dim), **options))


def _flat(sizes: Iterable) -> list:
    given = list(sizes)
    return list(given[0]) if len(given) == 1 and isinstance(given[0], list | tuple) else given
