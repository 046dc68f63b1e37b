"""What a model is called with, and which axis of it is what.

B rows, T positions of the text that the model answers, S of the source that it reads next to (an encoder's).
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from badak.core.errors import ArgumentTypeError, tr
from badak.nn import Module
from badak.tensor import Tensor
from badak.tensor.of_values import OfValues

TARGET_NAMES = ("tgt", "trg", "target_ids", "decoder", "dec_", "y_in")
LABEL_NAMES = ("label", "target", "targets", "labels", "y")


@dataclass
class Leaf:
    """One tensor of the batch, under the name that the forward has for it."""

    name: str
    path: tuple
    array: np.ndarray

    @property
    def integer(self) -> bool:
        return self.array.dtype.kind in "iu"


@dataclass
class Batch:
    """Arguments of the model, and their tensors by name."""

    args: tuple
    kwargs: dict
    leaves: dict[str, Leaf] = field(default_factory=dict)
    batch_axis: int = 0
    names: list[str] = field(default_factory=list)  # of the arguments

    @classmethod
    def of(cls, model: Module, given: Any, where: str = "audit") -> "Batch":
        """From a tensor, a tuple of arguments, a dict of named ones, or the pair of both."""
        args, kwargs = arguments(given, where)
        names = _names(model, args)
        leaves: dict[str, Leaf] = {}
        for name, path, x in [*_walk(args, names), *_walk(kwargs, None)]:
            leaves[name] = Leaf(name, path, x._array)
        batch = cls(args, kwargs, leaves, names=names)
        if not leaves:
            raise ArgumentTypeError(
                tr("{}: the batch holds no tensor", where),
                "the arguments of the model: a tensor, a tuple, or a dict by name",
            )
        return batch

    def with_(self, changed: dict[str, np.ndarray]) -> "Batch":
        """The same with other arrays for some tensors."""
        new = {leaf.path: changed.get(name, leaf.array) for name, leaf in self.leaves.items()}
        args = _rebuilt(self.args, ("args",), new)
        kwargs = _rebuilt(self.kwargs, ("kwargs",), new)
        leaves = {name: Leaf(name, leaf.path, new[leaf.path]) for name, leaf in self.leaves.items()}
        return Batch(args, kwargs, leaves, self.batch_axis, self.names)

    def by_rows(self, x: np.ndarray) -> np.ndarray:
        """(B, T) of what is laid out as the model has it; and the other way."""
        return x if self.batch_axis == 0 else x.T

    def ids(self, name: str) -> np.ndarray:
        """A tensor as (B, T)."""
        return self.by_rows(self.leaves[name].array)

    def length(self, name: str) -> int:
        """Positions of a text."""
        return self.leaves[name].array.shape[1 - self.batch_axis]

    def counted(self, texts: list[str]) -> np.ndarray | None:
        """(B, T), what stands next to a text and counts its places, where there is such."""
        shapes = [self.ids(name).shape for name in texts[-1:]]
        beside = [self.ids(name) for name, leaf in self.leaves.items() if leaf.integer and name not in texts]
        return next((x for x in beside if x.shape in shapes and counts(x).all()), None)

    def learning(self) -> tuple["Batch", dict[str, Tensor]]:
        """The same with copies of float tensors that bring their gradients back, and these tensors by name."""
        fresh = {name: Tensor._of(leaf.array.copy()) for name, leaf in self.leaves.items()}
        floats = {name: x.requires_grad_(True) for name, x in fresh.items() if x.is_floating_point()}
        new = {leaf.path: floats[name].clone() if name in floats else fresh[name] for name, leaf in self.leaves.items()}
        args, kwargs = _rebuilt(self.args, ("args",), new), _rebuilt(self.kwargs, ("kwargs",), new)
        return Batch(args, kwargs, self.leaves, self.batch_axis, self.names), floats

    def arrays(self) -> list[tuple[str, np.ndarray]]:
        """(name, array) of every tensor, as the model is given it."""
        return [(name, x._array) for name, _, x in [*_walk(self.args, self.names), *_walk(self.kwargs, None)]]

    def ties(self, rows: int) -> bool:
        """Whether a table, sparse or not, says of each two rows if they are next to each other."""
        every = (x for _, _, x in [*_every(self.args, self.names), *_every(self.kwargs, None)])
        square = [x for x in every if tuple(x.shape) == (rows, rows)]
        return any(isinstance(x, OfValues) or _ties(x._array) for x in square)

    def copy(self) -> "Batch":
        """The same on memory of its own: a model may write into what it is given."""
        return self.with_({name: leaf.array.copy() for name, leaf in self.leaves.items()})


def _ties(x: np.ndarray) -> bool:
    near = x != 0
    return bool(np.array_equal(near, near.T)) and not near.all() and near.sum() > len(x)


def counts(rows: np.ndarray) -> np.ndarray:
    """(B,), whether each row of integers (B, T) counts its places, also from 0 again with each document."""
    return ((np.diff(rows) == 1) | (rows[:, 1:] == 0)).all(axis=1) & (rows.max(axis=1, initial=0) > 1)


def arguments(given: Any, where: str = "audit") -> tuple[tuple, dict]:
    """(args, kwargs) of what a caller gave as batch."""
    if isinstance(given, Tensor):
        return (given,), {}
    if isinstance(given, Mapping):
        return (), dict(given)
    if isinstance(given, (tuple, list)):
        if len(given) == 2 and isinstance(given[0], (tuple, list)) and isinstance(given[1], dict):
            return tuple(given[0]), dict(given[1])
        return tuple(given), {}
    raise ArgumentTypeError(
        tr("{}: batch is {}, not what a model can be called with", where, type(given).__name__),
        "a tensor, a tuple of the model's arguments, or a dict of them by name",
    )


def _names(model: Module, args: tuple) -> list[str]:
    try:
        every = inspect.signature(model.forward).parameters.values()
        known = [p for p in every if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        known = []
    names = [p.name for p in known]
    return [names[i] if i < len(names) else f"argument {i}" for i in range(len(args))]


def _walk(values: Any, names: list[str] | None):
    """(name, path, tensor) of every tensor with an array in nested tuples, lists and dicts; what has none stays as it is."""
    yield from (each for each in _every(values, names) if not isinstance(each[2], OfValues))


def _every(values: Any, names: list[str] | None):
    """(name, path, tensor) of every tensor."""
    root = "kwargs" if names is None else "args"
    items = values.items() if names is None else enumerate(values)

    def inside(value: Any, name: str, path: tuple):
        if isinstance(value, Tensor):
            yield name, path, value
        elif isinstance(value, (tuple, list)):
            for i, each in enumerate(value):
                yield from inside(each, f"{name}[{i}]", (*path, i))
        elif isinstance(value, dict):
            for key, each in value.items():
                yield from inside(each, f"{name}[{key}]", (*path, key))

    for key, value in items:
        yield from inside(value, str(key) if names is None else names[key], (root, key))


def _rebuilt(value: Any, path: tuple, new: dict) -> Any:
    if path in new:
        return new[path] if isinstance(new[path], Tensor) else Tensor._of(new[path])
    if isinstance(value, dict):
        return {key: _rebuilt(each, (*path, key), new) for key, each in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_rebuilt(each, (*path, i), new) for i, each in enumerate(value))
    return value


def like(leaf: Leaf, draw: Callable[[tuple], np.ndarray]) -> np.ndarray:
    """Random values of a float leaf's shape, mean and spread."""
    x = leaf.array
    return (x.mean() + draw(x.shape) * (x.std() or 1.0)).astype(x.dtype)
