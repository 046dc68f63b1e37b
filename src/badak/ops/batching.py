"""The rules of vmap: how an operation runs once for all examples. An operation declares its own, as `batching`, where its forward
does not tell it (`derived`): an elementwise one broadcasts, and what is called `axis`, `axes` or `dim` is an axis.

    rule(run, op, xs, batched, attributes) -> tensor, or tuple of tensors, whose first axis counts the examples

xs      the inputs, tensors or None; batched[k] says whether the first axis of xs[k] counts examples
run     run(op, *tensors, **attributes) runs an operation; run.level is the vmap whose examples these are

`NotImplemented`, and `batching = None`, is a loop over the examples. An array of an attribute, as a key is, may be that of all
examples, too: it has `full` then (`tensor/batched.py`).
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

Rule = Callable[..., Any]


def count(xs: list, batched: list[int]) -> int:
    """How many examples there are."""
    return next(x.shape[0] for x, each in zip(xs, batched) if each)


def aligned(x: Any, ndim: int) -> Any:
    """x, whose examples get axes of size 1 in front, so that they have `ndim`."""
    missing = ndim + 1 - x.ndim
    return x.reshape(x.shape[0], *(1,) * missing, *x.shape[1:]) if missing > 0 else x


def every(xs: Any, batched: list[int]) -> list:
    """The inputs, each with an axis that counts the examples."""
    n = count(xs, batched)
    return [x if each or x is None else x.expand(n, *x.shape) for x, each in zip(xs, batched)]


def values_of(x: Any) -> np.ndarray:
    """The numbers of all examples, however many vmaps there are around."""
    while not isinstance(x._array, np.ndarray):
        x = x._array.full
    return x._array


def is_batched(array: Any) -> bool:
    """Whether an array of an attribute is that of all examples."""
    return hasattr(type(array), "full")


def broadcasting(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
    """Inputs broadcast against one another, and the operation knows of no axis."""
    ndim = max(x.ndim - each for x, each in zip(xs, batched) if x is not None)
    return run(op, *[aligned(x, ndim) if each else x for x, each in zip(xs, batched)], **attributes)


def stacked(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
    """Leading axes of all inputs are a stack of what the operation works on."""
    return run(op, *every(xs, batched), **attributes)


def along(*names: str) -> Rule:
    """The attributes `names` are axes: a number, a tuple of them, or None for all."""

    def rule(run: Any, op: Any, xs: Any, batched: Any, attributes: Any) -> Any:
        xs = every(xs, batched)
        ndim, moved = xs[0].ndim - 1, {}
        for name in names:
            axes = attributes[name] if name in attributes else _default(op, name)
            if axes is None:
                moved[name] = tuple(range(1, ndim + 1))
            elif isinstance(axes, int):
                if not ndim:
                    return NotImplemented
                moved[name] = axes % ndim + 1
            else:
                moved[name] = tuple(a % ndim + 1 for a in axes)
        if any(map(is_batched, attributes.values())):
            return NotImplemented
        return run(op, *xs, **attributes | moved)

    return rule


@cache
def _default(op: Any, name: str) -> Any:
    return inspect.signature(op.forward).parameters[name].default


def derived(forward: Callable) -> Rule | None:
    """The rule that follows from how a forward is written; None where none does."""
    if hasattr(forward, "elementwise"):
        return broadcasting
    axes = [name for name in inspect.signature(forward).parameters if name in ("axis", "axes", "dim")]
    return along(*axes) if axes else None


def adapted(**attributes_of_all: Callable[..., Any]) -> Rule:
    """The one input is a stack of examples, for which these attributes become what the functions give of (attribute, x)."""

    def rule(run: Any, op: Any, xs: Any, batched: Any, attributes: Any) -> Any:
        (x,) = xs
        return run(op, x, **attributes | {name: of_all(attributes[name], x) for name, of_all in attributes_of_all.items()})

    return rule


def _of_all(shape: tuple, x: Any) -> tuple[int, ...]:
    """The shape of a stack; of no examples, one of them says what -1 stands for."""
    return (len(x), *(shape if len(x) else np.empty(x.shape[1:]).reshape(shape).shape))


reshaped = adapted(shape=_of_all)


def folded(run: Any, op: Any, xs: list, batched: list[int] | tuple[int, ...], attributes: dict) -> Any:
    """The first axis of the first input is a batch already, and no other input has one."""
    if any(batched[1:]):
        return NotImplemented
    n, size = xs[0].shape[:2]
    made = run(op, xs[0].flatten(0, 1), *xs[1:], **attributes)
    return _unfolded(made, n, size)


def _unfolded(made: Any, n: int, size: int) -> Any:
    if isinstance(made, tuple):
        return tuple(_unfolded(y, n, size) for y in made)
    return made.reshape(n, size, *made.shape[1:])


def key_of_all(key: int | tuple | None, level: Any, batched: bool) -> tuple | None:
    """The key that picks in all examples of a vmap what `key` picks in one; None where it cannot be said so.

    batched: whether what it picks from has an axis that counts them.
    """
    key, n = key if type(key) is tuple else (key,), level.size
    own = [is_batched(part) and part.level is level for part in key]  # others are those of a vmap around it
    places = [i for i, part in enumerate(key) if isinstance(part, np.ndarray) or is_batched(part)]
    if not places or places[-1] - places[0] >= len(places) or any(key[i].dtype.kind == "b" for i in places):
        return None  # arrays apart from one another bring their axes to the front
    if not any(own):
        return (slice(None), *key)
    if places[0]:
        return None
    ndim = max(key[i].ndim for i in places)
    arrays = []
    for i in places:
        part = key[i]
        arrays.append(part.full._array.reshape(n, *(1,) * (ndim - part.ndim), *part.shape) if own[i] else part)
    first = (np.arange(n).reshape(n, *(1,) * ndim),) if batched else ()
    return (*first, *arrays, *key[places[-1] + 1 :])
