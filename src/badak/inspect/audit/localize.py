"""Down from the whole model to where a difference begins: the innermost module whose input is clean and whose output is not."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.watch import Call

Clean = Callable[[np.ndarray, np.ndarray], bool | None]


class Begin(NamedTuple):
    """Where it begins, and what is still clean just before."""

    path: str
    between: str


def begins(reference: list[Call], other: list[Call], clean: Clean) -> Begin:
    """Where the calls of `other` begin to differ from those of `reference`, by the judgement of `clean`."""
    matched = match(reference, other)
    path, last = "", None
    calls = [call for call in reference if call.parent is None]
    while True:
        before = None
        for call in calls:
            twin = matched.get(call.index)
            if twin is None:
                continue
            given, made = judged(*shared(call, twin), clean), judged(call.outputs, twin.outputs, clean)
            whole = call.parent is None  # of a loss, and of answers that do not show it, nothing can be told
            if whole or (made is False and given is not False):
                path, last, calls = call.path, before, call.children
                break
            if made is True and call.outputs:
                before = call
        else:
            break
    return Begin(path, tr("{} before it still gives what it should", last.path) if last is not None and last.path else "")


def anywhere(reference: list[Call], other: list[Call], clean: Clean) -> tuple[Call, Call] | None:
    """The first call that ends with clean inputs and other outputs, with its twin; also where a norm behind it hides that."""
    matched = match(reference, other)
    for call in sorted(reference, key=lambda each: each.ended):
        twin = matched.get(call.index)
        if twin is None or judged(call.inputs, twin.inputs, clean) is False:
            continue
        if judged(call.outputs, twin.outputs, clean) is False:
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


def match(reference: list[Call], other: list[Call]) -> dict[int, Call]:
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

    pair([c for c in reference if c.parent is None], [c for c in other if c.parent is None])
    return found


def dies(reference: list[Call], other: list[Call]) -> str:
    """The module in which a change of the input is lost: given other values, it gives the same."""
    matched = match(reference, other)
    equal: Clean = lambda a, b: a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    path, calls = "", [call for call in reference if call.parent is None]
    while True:
        for call in calls:
            twin = matched.get(call.index)
            if twin is None or not call.inputs:
                continue
            lost = call.parent is None or judged(call.outputs, twin.outputs, equal) is True
            if judged(call.inputs, twin.inputs, equal) is False and lost:
                path, calls = call.path, call.children
                break
        else:
            return path
