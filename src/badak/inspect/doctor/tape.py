"""One step of a training, kept so that it can be made again: calls of modules, operations between them, backwards, the optimizer.

Modules are called again; what the program computed outside of them is made again operation by operation, from the same data.
A tensor is known by the place in the graph that it had: (node, slot).
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from badak.core.errors import ArgumentError, tr
from badak.core.events import Observer
from badak.core.modes import modes
from badak.nn import Module
from badak.ops.attention import Attention
from badak.ops.select import Dropout
from badak.tensor import Tensor, apply
from badak.tensor.backward import backward
from badak.tensor.of_values import OfValues


class Place(NamedTuple):
    """Of a tensor in the graph of the first step."""

    node: Any
    slot: int


class Data(NamedTuple):
    """A tensor without a graph: part of the batch."""

    array: np.ndarray


class Made(dict):
    """What a repeat has made so far, by its place in the first step."""

    loss = 0.0
    learns = True  # backwards are made


def kept(x: Any) -> Any:
    """Tensors in containers, as a tape has them. Parameters stay what they are."""
    if isinstance(x, Tensor):
        edge = x._edge()
        if edge is None:
            return Data(x._array.copy())
        return x if x._node is None else Place(*edge)
    if type(x) in (list, tuple):
        return type(x)(map(kept, x))
    return {key: kept(value) for key, value in x.items()} if type(x) is dict else x


def given(x: Any, made: Made) -> Any:
    """The way back: fresh copies of data, and what this repeat has made."""
    if type(x) is Data:
        return Tensor._of(x.array.copy())
    if type(x) is Place:
        return made[x]
    if type(x) in (list, tuple):
        return type(x)(given(each, made) for each in x)
    return {key: given(value, made) for key, value in x.items()} if type(x) is dict else x


def places(x: Any) -> Iterator[Place]:
    """The places in what `kept` gave."""
    if type(x) is Place:
        yield x
    elif type(x) in (list, tuple, dict):
        for each in x.values() if type(x) is dict else x:
            yield from places(each)


def of_arrays(args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """What a call was given, but for tensors that have no array, as sparse ones."""
    plain = tuple(x for x in args if not isinstance(x, OfValues))
    return plain, {k: x for k, x in kwargs.items() if not isinstance(x, OfValues)}


def tensors(x: Any, deep: int = 4) -> Iterator[Tensor]:
    """Those that a module gave: alone, in containers, or as attributes of an object."""
    if isinstance(x, Tensor):
        yield from () if isinstance(x, OfValues) else (x,)
    elif deep and not isinstance(x, Module | str | type):
        inner: Iterable = x.values() if isinstance(x, dict) else x if isinstance(x, list | tuple) else ()
        for each in inner or vars(x).values() if hasattr(x, "__dict__") else inner:
            yield from tensors(each, deep - 1)


def once(cause: str) -> ArgumentError:
    """The error that a step cannot be repeated."""
    return ArgumentError(cause, "badak doctor without --overfit")


class Called:
    """A module was called by the program itself."""

    def __init__(self, module: Module, args: tuple, kwargs: dict[str, Any]):
        self.module, self.needs = module, (kept(args), kept(kwargs))
        self.places: list[Place | None] = []

    def returned(self, y: Any) -> None:
        self.places = [kept(x) if x._node is not None else None for x in tensors(y)]

    def run(self, made: Made) -> None:
        args, kwargs = given(self.needs, made)
        found = list(tensors(self.module(*args, **kwargs)))
        name, before, now = type(self.module).__name__, len(self.places), len(found)
        if before != now:
            raise once(tr("the first step cannot be repeated: {} gave {} tensors, and {} for the same input", name, before, now))
        made.update((place, x) for place, x in zip(self.places, found, strict=True) if place is not None)


class Ran:
    """An operation ran outside of all modules."""

    def __init__(self, op: Any, inputs: tuple, attributes: dict[str, Any], outputs: tuple):
        self.op, self.needs, self.attributes = op, kept(tuple(inputs)), attributes
        self.places = [Place(y._node, y._output_number) for y in outputs]

    def run(self, made: Made) -> None:
        y = apply(self.op, *given(self.needs, made), **self.attributes)
        made.update(zip(self.places, y if type(y) is tuple else (y,), strict=True))


class Back:
    """A backward() from some tensors."""

    places = ()

    def __init__(self, outputs: Iterable[Tensor], gradients: Iterable[Any], options: tuple):
        outputs = list(outputs)
        self.needs, self.value = (kept(outputs), kept(list(gradients)), kept(options)), _sum(outputs)

    def run(self, made: Made) -> None:
        outputs, gradients, options = given(self.needs, made)
        made.loss += _sum(outputs)
        if made.learns:
            backward(outputs, gradients, *options)


def _sum(outputs: list[Tensor]) -> float:
    return sum(float(y._array.sum()) for y in outputs)


class Tape:
    """The step: `entries` in their order, `clips` of gradients, the optimizer. `place`: the line of the last backward()."""

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.clips: list[tuple] = []  # (function, parameters, other arguments)
        self.optimizer: Any = None
        self.place = ""

    @property
    def loss(self) -> float:
        """What the program itself went back from."""
        return sum(each.value for each in self.entries if isinstance(each, Back))

    def finish(self) -> None:
        """Keep what backwards need. Raises ArgumentError where something is missing."""
        wanted: set[Place] = set()
        used = []
        for each in reversed(self.entries):
            if isinstance(each, Back) or wanted.intersection(each.places):
                used.append(each)
                wanted.update(places(each.needs))
        self.entries = used[::-1]
        if not any(isinstance(each, Back) for each in used):
            raise once(tr("the first step cannot be repeated: no loss.backward() was seen before optimizer.step()"))
        missing = wanted.difference(*(each.places for each in used))
        for place in missing:
            raise once(
                tr("the first step cannot be repeated: the loss takes what {} made inside of a module, "
                   "and the module does not return it", place.node.name)
            )  # fmt: skip

    def forward(self, learns: bool = True) -> float:
        """The loss, from the very batch; learns: with its backwards."""
        made = Made()
        made.learns = learns
        with _WithoutDropout():
            for each in self.entries:
                each.run(made)
        return made.loss

    def step(self) -> None:
        """What the program did with the gradients."""
        for function, parameters, args, kwargs in self.clips:
            function(parameters, *args, **kwargs)
        self.optimizer.step()


class _WithoutDropout(Observer):
    """Dropout drops nothing, wherever its share comes from; all else of train mode stays. Gradients are recorded."""

    def __enter__(self) -> None:
        self._grad, modes.grad = modes.grad, True
        super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        modes.grad = self._grad

    def on_op_enter(self, op, forward):
        if op is Dropout:
            return lambda save, x, keep, p: forward(save, x, np.ones_like(keep), 0.0)
        if op is Attention:
            return lambda save, q, k, v, keep, bias, drop, **attributes: forward(
                save, q, k, v, keep, bias, None, **{**attributes, "p": 0.0}
            )
        return forward
