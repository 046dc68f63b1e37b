"""Tied weights that came apart: the token embedding and the output matrix were one, and are two now."""

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import Subject
from badak.nn.embedding import Embedding
from badak.nn.linear import Linear
from badak.ops import linear
from badak.ops.einsum import Contract

ONCE_ONE = 0.5  # correlation of two matrices that were drawn apart: 0 to within 1 / sqrt(numbers)


def ask(subject: Subject) -> list[Finding]:
    """Each table is compared with each linear map of its shape, which may be a table, too: not one tensor, yet nearly the same
    numbers."""
    modules = list(subject.model.named_modules())
    tables = [(path, m.weight) for path, m in modules if isinstance(m, Embedding)]
    maps = [(path, m.weight) for path, m in modules if isinstance(m, Linear)]
    read = {name for run in subject.reference.runs if run.op in (linear.Linear, Contract) for name in run.parameters[:2] if name}
    maps += [(path, m.weight) for path, m in modules if isinstance(m, Embedding) and f"{path}.weight" in read]
    wanted = bool(getattr(getattr(subject.model, "config", None), "tie_word_embeddings", False))
    found, most = [], max((len(table) for _, table in tables), default=0)
    for path, table in tables:
        for other, weight in maps:
            if table is weight or table.shape != weight.shape or table._array.size < 16:
                continue
            alike = correlation(table._array, weight._array)
            if alike > ONCE_ONE:
                found.append(tie(path, other, alike))
            elif wanted and other == maps[-1][0] and len(table) == most and not any(weight is each for _, each in tables):
                found.append(tie(path, other, alike))
    return found


def tie(path: str, other: str, alike: float) -> Finding:
    cause = tr("{}.weight and {}.weight are two tensors with a correlation of {:.3f}: each step takes them further apart", other,
               path, alike)  # fmt: skip
    fix = tr("{}.weight = {}.weight, after loading and before the optimizer is built", other, path)
    return Finding("ties", other, cause, fix, {"correlation": alike, "table": path})


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Of all numbers of two matrices."""
    x, y = (z.astype(np.float64).ravel() - z.mean() for z in (a, b))
    size = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / size) if size else 0.0
