"""What is added to scores by distance, and is not learned: the farther a key stands, the less it counts."""

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.graph import HIDDEN, Ran, between, scores_of
from badak.inspect.audit.subject import Subject
from badak.ops.arithmetic import Add, Sub
from badak.ops.attention import Attention
from badak.ops.softmax import Softmax

NEARER = tr("a bias that falls with distance: -slope * (i - j).abs()")


def rewarded(subject: Subject) -> str:
    """The attention whose fixed bias by distance is larger the farther back a key stands; "" where there is none."""
    for run in subject.reference.runs:
        scores: np.ndarray | None = None
        if run.op is Softmax and run.output.ndim > 2 and (product := scores_of(run)) is not None:
            bias, scores = added_to(run, product), run.inputs[0]
        elif issubclass(run.op, Attention) and plain(run.sources[4], run.parameters[4]):
            bias = scores = run.inputs[4]
        if scores is None:
            continue
        hidden = np.asarray(scores <= HIDDEN)
        T = bias.shape[-1] if bias is not None and bias.ndim > 1 else 0
        if bias is None or T < 4 or bias.shape[-2] != T:
            continue
        last, seen = bias.reshape(-1, T, T)[:, -1], ~np.broadcast_to(hidden, (*hidden.shape[:-2], T, T)).reshape(-1, T, T)[0, -1]
        steps = np.diff(last[:, seen].astype(np.float64), axis=1)
        if steps.shape[1] > 2 and np.isfinite(steps).all() and (steps < 0).all():
            return run.path
    return ""


def plain(source: Ran | None, parameter: str | None) -> bool:
    """Whether what an operation is given is neither learned nor made of a text."""
    return parameter is None and (source is None or not (source.live or source.reads))


def added_to(softmax: Ran, product: Ran) -> np.ndarray | None:
    """What is added to scores on their way to a softmax that is neither learned nor made of a text; None where there is nothing."""
    total: np.ndarray | None = None
    for run, side in between(softmax, product) or ():
        other = 1 - side
        added = run.inputs[other] if run.op in (Add, Sub) and other < len(run.inputs) else None
        if added is not None and plain(run.sources[other], run.parameters[other]):
            total = (0.0 if total is None else total) + (-1.0 if run.op is Sub else 1.0) * np.asarray(added)
    return total
