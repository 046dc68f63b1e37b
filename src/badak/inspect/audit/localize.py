"""Down from the whole model to where a difference begins: the innermost module whose input is clean and whose output is not."""

from collections.abc import Callable
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.compare import same
from badak.inspect.audit.watch import Call, Watch

Clean = Callable[[np.ndarray, np.ndarray], bool | None]


class Begin(NamedTuple):
    """Where it begins, and what is still clean just before."""

    path: str
    between: str


def begins(reference: Watch, other: Watch, clean: Clean) -> Begin:
    """Where the calls of `other` begin to differ from those of `reference`, by the judgement of `clean`."""

    def here(call: Call, twin: Call) -> bool:
        if call.parent is None:  # of a loss, and of answers that do not show it, nothing can be told
            return True
        return judged(call.outputs, twin.outputs, clean) is False and judged(*shared(call, twin), clean) is not False

    way = down(reference, other, here)
    matched, path, last = match(reference, other), way[-1].path if way else "", None
    for call in takewhile(lambda each: each is not way[-1], way[-1].parent.children if way and way[-1].parent else ()):
        if call.outputs and call.index in matched and judged(call.outputs, matched[call.index].outputs, clean) is True:
            last = call
    return Begin(path, tr("{} before it still gives what it should", last.path) if last is not None and last.path else "")


def down(reference: Watch, other: Watch, here: Callable[[Call, Call], bool]) -> list[Call]:
    """The first call, and the first within each, of which something is so."""
    matched, calls, way = match(reference, other), reference.roots(), list[Call]()
    while found := next((call for call in calls if call.index in matched and here(call, matched[call.index])), None):
        way.append(found)
        calls = found.children
    return way


def anywhere(reference: Watch, other: Watch, clean: Clean) -> tuple[Call, Call] | None:
    """The first call that ends with clean inputs and other outputs, with its twin; also where a norm behind it hides that."""
    for call, twin in twins(reference, other):
        if judged(call.outputs, twin.outputs, clean) is False and judged(call.inputs, twin.inputs, clean) is not False:
            return call, twin
    return None


def shared(call: Call, twin: Call) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What both calls were given, in order: one that remembers is given more."""
    least = min(len(call.inputs), len(twin.inputs))
    return call.inputs[:least], twin.inputs[:least]


def judged(these: list[np.ndarray], those: list[np.ndarray], clean: Clean) -> bool | None:
    """False where one is not clean, None where that cannot be said of one, else True."""
    if len(these) != len(those):
        return False
    words = [clean(a, b) for a, b in zip(these, those)]
    return False if False in words else None if None in words else True


def but_totals(clean: Clean) -> Clean:
    """Totals over the batch, such as a loss, change as they must."""
    return lambda a, b: None if a.ndim == 0 else clean(a, b)


def match(reference: Watch, other: Watch) -> dict[int, Call]:
    """{index of a call: the same call of the other forward}: the n-th of a module below the same call."""
    found: dict[int, Call] = {}

    def pair(these: list[Call], those: list[Call]) -> None:
        left = list(those)
        for call in these:
            twin = next((each for each in left if each.path == call.path), None)
            if twin is not None:
                left.remove(twin)
                found[call.index] = twin
                pair(call.children, twin.children)

    pair(reference.roots(), other.roots())
    return found


def twins(reference: Watch, other: Watch) -> list[tuple[Call, Call]]:
    """Each call with the same one of the other forward, in the order in which they ended."""
    matched = match(reference, other)
    return [(call, matched[call.index]) for call in sorted(reference.calls, key=lambda each: each.ended) if call.index in matched]


def dies(reference: Watch, other: Watch) -> str:
    """The module in which a change of the input is lost: given other values, it gives the same."""

    def here(call: Call, twin: Call) -> bool:
        lost = call.parent is None or judged(call.outputs, twin.outputs, same) is True
        return lost and bool(call.inputs) and judged(call.inputs, twin.inputs, same) is False

    way = down(reference, other, here)
    return way[-1].path if way else ""
