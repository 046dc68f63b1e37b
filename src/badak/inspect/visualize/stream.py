"""The residual stream: the sums x + part(x) of a run, one after the other, and which part of the model each operation belongs to.

A residual sum is an addition one side of which the other was computed from, by products with weights. In models that
normalise after the sum the state is what the norm gives.
"""

from dataclasses import dataclass, field

import numpy as np

from badak.inspect.visualize.attention import Attended
from badak.inspect.visualize.trace import Ran, Trace, through
from badak.ops.arithmetic import Add
from badak.ops.attention import Attention
from badak.ops.conv import Conv
from badak.ops.einsum import Contract
from badak.ops.linear import AddMM, Linear
from badak.ops.matmul import MatMul
from badak.ops.norm import LayerNorm, RMSNorm

WEIGHED = (Linear, AddMM, MatMul, Contract, Conv)
NORMS = (LayerNorm, RMSNorm)


@dataclass(eq=False)
class State:
    """The stream after one addition. made: the operation whose output it is."""

    made: Ran
    sum: Ran | None = None  # the residual sum; None for the embedding
    slot: int = 0  # the side of it that was added
    part: str = "embedding"  # or "attention", "cross", "feed_forward"
    cone: set[int] = field(default_factory=set)  # the operations between the state before and this one


@dataclass(eq=False)
class Stream:
    """The states of one stack, the embedding first."""

    states: list[State]

    @property
    def after_norm(self) -> bool:
        """Whether the states are what norms give."""
        return any(state.sum is not state.made for state in self.states[1:-1])


def streams_of(trace: Trace, attended: list[Attended]) -> list[Stream]:
    """The residual streams of a run, in the order in which they begin."""
    above = _ancestors(trace)
    kinds = {each.run.number: each.kind for each in attended}
    streams: list[Stream] = []
    for run in trace.runs:
        if run.op is not Add or run.output.ndim < 2:
            continue
        found = _residual(run, above)
        if found is None:
            continue
        base, slot = found
        cone = {n for n in range(base.number + 1, run.number + 1) if _depends(above, run.number, n)}
        part = _part(cone, kinds, trace)
        if part == "other":
            continue
        stream = next((each for each in streams if _latest(each.states[-1].made, base, trace, above)), None)
        if stream is None:
            stream = Stream([State(base)])
            streams.append(stream)
        stream.states[-1].made = base
        stream.states.append(State(run, run, slot, part, cone))
    for stream in streams:
        if stream.after_norm:
            _settle(stream, trace, above)
    return [stream for stream in streams if len(stream.states) > 1 and stream.states[0].made.live]


def _ancestors(trace: Trace) -> list[int]:
    """For each run the numbers of all that it depends on, as bits. Runs are in order, those before are known."""
    found: list[int] = []
    for run in trace.runs:
        mine = 0
        for source in run.sources:
            if source is not None:
                mine |= found[source.number] | 1 << source.number
        found.append(mine)
    return found


def _depends(above: list[int], number: int, base: int) -> bool:
    return number == base or bool(above[number] >> base & 1)


def _residual(run: Ran, above: list[int]) -> tuple[Ran, int] | None:
    """(what made the state before, the side that was added) of a residual sum; None for another addition."""
    a, b = run.inputs[:2]
    if a is None or b is None or a.shape != b.shape or not all(run.sources[:2]):
        return None
    for slot in (1, 0):
        base, other = through(run.sources[1 - slot]), run.sources[slot]
        if base is None or other is None or not base.live or not _depends(above, other.number, base.number):
            continue
        return base, slot
    return None


def _latest(last: Ran, base: Ran, trace: Trace, above: list[int]) -> bool:
    """Whether a sum's base is this state, as it is or after a norm: what is between them multiplies with no weights."""
    if base is last or base.output.shape != last.output.shape or not _depends(above, base.number, last.number):
        return base is last
    between = (trace.runs[n] for n in range(last.number + 1, base.number + 1) if _depends(above, base.number, n))
    return all(run.op not in WEIGHED and run.op is not Attention for run in between)


def _part(cone: set[int], kinds: dict[int, str], trace: Trace) -> str:
    kind = next((kinds[number] for number in sorted(cone) if number in kinds), None)
    if kind is not None:
        return "cross" if kind == "cross" else "attention"
    return "feed_forward" if any(trace.runs[n].op in WEIGHED for n in cone) else "other"


def _settle(stream: Stream, trace: Trace, above: list[int]) -> None:
    """The last state of a model that normalises after its sums is its norm's output, too."""
    last = stream.states[-1].made
    after = [run for run in trace.runs[last.number + 1 :] if not run.moves and _latest(last, run, trace, above)]
    norm = next((run for run in after if run.op in NORMS), after[-1] if after else None)
    stream.states[-1].made = norm or last


def per_token(x: np.ndarray, length: int) -> np.ndarray | None:
    """(T, C) of an activation of one row of a batch: (1, T, C), (T, 1, C) or (T, C)."""
    lead = [n for n in x.shape[:-1] if n != 1]
    if lead == [length] or (length == 1 and not lead):
        return x.reshape(length, x.shape[-1]).astype(np.float64)
    return None
