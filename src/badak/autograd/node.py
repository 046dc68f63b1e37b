"""The record of one operation that was run, and of what it depends on."""

from collections.abc import Callable
from itertools import count
from typing import Any

from badak.core.errors import GraphError, tr, user_line
from badak.core.modes import anywhere, modes

_order = count()


def now() -> int:
    """A number between the `order` of what was made before and of what will be."""
    return next(_order)


class Version:
    """Counts the in-place changes of one piece of memory; a tensor and its views share one."""

    count = 0  # on the class: most memory is never changed, and half of its tensors get a counter
    changed_by = ""

    def bump(self, by: str) -> None:
        self.count += 1
        if anywhere.has_observers and modes.observer is not None:
            modes.observer.on_write(by)
            if modes.debug:
                line = user_line()
                by = f"{by} at {line}" if line else by
        self.changed_by = by


class Leaf:
    """The end of a path: hands the whole gradient of one tensor to `accumulate(array, owned)`."""

    __slots__ = ("accumulate", "order", "hooks", "__weakref__")
    edges = ()
    slots = 1
    name = "leaf"

    def __init__(self, accumulate: Callable[[Any, bool], None]) -> None:
        self.accumulate = accumulate
        self.order = next(_order)
        self.hooks: dict[int, dict[int, Callable]] | None = None


class Node:
    """One run of an operation.

    `edges[i]` leads to where input i came from: (node, output number), or None where no gradient is wanted.
    `watched` holds (version, its count at the time, whose) for each saved array that belongs to a tensor: the number of an
    input, or None for an output.
    """

    hooks: dict[int, dict[int, Callable]] | None = None
    watched: list[tuple[Version, int, int | None]] | None = None
    line = ""  # the user's, in debug mode
    again: Any = None  # how its output is made again, where somebody does not keep that (`again.py`)
    keeps = False  # whether what it saved are constants of the function that it is a part of
    spent = False  # whether a gradient has gone through, where that needed no saved tensor; else `saved` is None then

    def __init__(self, op: Any, saved: Any, edges: list, slots: int = 1) -> None:
        self.op, self.saved, self.edges, self.slots = op, saved, edges, slots
        self.order = next(_order)

    @property
    def name(self) -> str:
        return self.op.name

    def let_go(self) -> None:
        """A gradient has gone through: free what was saved, unless no tensor was needed for it (then once more is right)."""
        light = self.op.light_for
        if (
            self.keeps
            or self.op.saves_no_tensors
            or light
            and not any(need for i, need in enumerate(self.saved.needs) if i not in light)
        ):
            self.spent = True
        else:
            self.saved = self.watched = self.again = None

    def check(self) -> None:
        """Raise where this node can no longer give the right gradient."""
        if self.saved is None:
            raise GraphError(
                tr("Trying to backward through the graph a second time (or directly access saved tensors after they have already "
                   "been freed): {} has already given its gradient and freed what it had saved", self._where()),
                "compute the loss again, or the first time: Specify retain_graph=True, backward(retain_graph=True)",
                code=24,
            )  # fmt: skip
        for version, then, _ in self.watched or ():
            if version.count != then:
                check_unchanged(self.watched, self._where())

    def _where(self) -> str:
        return f"{self.name} ({self.line})" if self.line else self.name


def check_unchanged(watched: list[tuple[Version, int, int | None]] | None, where: str) -> None:
    """Raise where something has changed that a node, called `where`, watched."""
    for version, then, number in watched or ():
        if version.count != then:
            cause = tr("one of the variables needed for gradient computation has been modified by an inplace operation: "
                       "input {} of {} is at version {}, expected version {}; "
                       "it was overwritten by {}", number, where, version.count, then, version.changed_by)  # fmt: skip
            if number is None:
                cause = tr("one of the variables needed for gradient computation has been modified by an inplace operation: "
                           "output of {} is at version {}, expected version {}; "
                           "it was overwritten by {}", where, version.count, then, version.changed_by)  # fmt: skip
            raise GraphError(
                cause,
                "use the out-of-place form there (y = y + 1 instead of y += 1)"
                + ("" if modes.debug else "; BADAK_DEBUG=1 names your lines"),
                code=20,
            )
