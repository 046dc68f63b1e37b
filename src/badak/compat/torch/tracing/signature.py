"""How a traced program is called: which tensors go in, in which structure, of which shapes and dtypes."""

import math
from typing import Any, NamedTuple

from badak.compat.torch.pytree import TreeSpec, tree_flatten, tree_unflatten
from badak.core.errors import ArgumentError, DTypeError, ShapeError, tr
from badak.tensor import Tensor

Shape = tuple[int | str, ...]  # a name for a size that may vary


class Signature(NamedTuple):
    """What goes in and comes out."""

    names: list[str]
    shapes: list[Shape]
    dtypes: list[Any]
    spec: TreeSpec  # of (args, kwargs)
    fixed: dict[int, Any]  # leaves of the arguments that are no tensors
    out_spec: TreeSpec
    ranges: dict[str, tuple[int, float]]  # symbol: (least, most)

    def tensors(self, where: str, args: tuple, kwargs: dict) -> list[Tensor]:
        """The tensors of a call, checked."""
        leaves, spec = tree_flatten((tuple(args), dict(kwargs)))
        if spec != self.spec:
            named = [*args, *(kwargs.get(name) for name in self.names[len(args) :])]
            if self.fixed or not kwargs.keys() <= set(self.names[len(args) :]) or len(named) != len(self.names):
                wanted = ", ".join(self.names)
                cause = tr("{}: the call has another structure than the traced one, ({})", where, wanted)
                raise ArgumentError(cause, "call it as it was traced")
            leaves = named
        found = [x for i, x in enumerate(leaves) if i not in self.fixed]
        for i, value in self.fixed.items():
            if isinstance(leaves[i], Tensor) or leaves[i] != value:
                cause = tr("{}: traced with {!r} as an argument; got {!r}", where, value, leaves[i])
                raise ArgumentError(cause, "trace again with that value")
        sizes: dict[str, int] = {}
        for name, shape, dtype, x in zip(self.names, self.shapes, self.dtypes, found):
            if not isinstance(x, Tensor):
                raise ArgumentError(tr("{}: expected a tensor as {}; got {}", where, name, type(x).__name__), "badak.tensor(data)")
            if x.dtype != dtype:
                raise DTypeError(tr("{}: traced with {} of {}; got {}", where, name, dtype, x.dtype), f"{name}.to({dtype})")
            self._match(where, name, shape, tuple(x.shape), sizes)
        return found

    def _match(self, where: str, name: str, shape: Shape, given: tuple, sizes: dict[str, int]) -> None:
        shown = f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
        if len(shape) != len(given):
            cause = tr("{}: traced with {} of shape {}; got {}", where, name, shown, given)
            raise ShapeError(cause, "trace again with such a tensor")
        for size, n in zip(shape, given):
            if isinstance(size, str):
                least, most = self.ranges.get(size, (0, math.inf))
                if not least <= n <= most:
                    cause = tr("{}: the size {} of {} must be {} to {}; got {}", where, size, name, least, most, n)
                    raise ShapeError(cause, "a size in that range")
            if n != (size if isinstance(size, int) else sizes.setdefault(size, n)):
                cause = tr("{}: traced with {} of shape {}; got {}", where, name, shown, given)
                raise ShapeError(cause, "trace again with such a tensor")

    def result(self, leaves: list) -> Any:
        """The result in its structure."""
        return tree_unflatten(leaves, self.out_spec)
