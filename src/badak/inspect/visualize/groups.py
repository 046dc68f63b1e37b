"""Operations that mean something together: a rotation by an angle, a gate."""

import numpy as np

from badak.inspect.visualize.trace import Ran, origins, through
from badak.ops.activation import ACTIVATIONS


def rotations(runs: list[Ran]) -> dict[int, str]:
    """The sums a cos +- b sin and their two products: cos and sin are no part of what learns, and cos^2 + sin^2 = 1."""
    found: dict[int, str] = {}
    for run in runs:
        if run.op.__name__ not in ("Add", "Sub"):
            continue
        made = [each for each in map(through, run.sources) if each is not None]
        turns = [x for x in map(_constant, made) if x is not None]
        if len(turns) == 2 and _one(turns[0], turns[1]):
            found |= {each.number: "rotary" for each in (run, *made)}
    return found


def _constant(run: Ran) -> np.ndarray | None:
    """What a product is multiplied by, where that is not learned."""
    if run.op.__name__ != "Mul":
        return None
    fixed = [
        x
        for x, source, name in zip(run.inputs, run.sources, run.parameters)
        if x is not None and name is None and (source is None or not source.live)
    ]
    return fixed[0] if len(fixed) == 1 else None


def _one(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a^2 + b^2 is 1 everywhere."""
    return a.shape == b.shape and np.allclose(np.square(a.astype(np.float64)) + np.square(b), 1, atol=1e-3)


def gates(runs: list[Ran]) -> dict[int, str]:
    """Products of two halves of a layer, one of which went through an activation: SwiGLU and its relatives."""
    return {
        run.number: "gate"
        for run in runs
        if run.op.__name__ == "Mul"
        and all(source is not None and source.live for source in run.sources)
        and any(made is not None and made.op in ACTIVATIONS for made in map(through, run.sources))
    }


def moves(run: Ran | None) -> list[str]:
    """What moved a value, without changing it, on its way from where it was computed: the last first."""
    names = [each.op.name.replace("_", " ") for each in origins(run)]
    return list(dict.fromkeys(names[:-1]))
