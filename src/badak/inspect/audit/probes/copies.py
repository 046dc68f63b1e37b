"""Copies: layers that started with the same numbers learn the same for a while, and are worth one."""

from collections import defaultdict

import numpy as np

from badak.autograd import grad, no_grad
from badak.core.errors import tr
from badak.inspect.audit.graph import Graph, mixers
from badak.inspect.audit.probes.ties import correlation
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.inspect.audit.watch import tensors_in
from badak.nn.embedding import Embedding
from badak.tensor import Tensor

DRAW = tr("draw them at random: nn.Parameter(torch.randn(n, d) * 0.02)")
COPIED = 0.95  # correlation
LEAST = 16  # numbers that a matrix has to have
SEEN = 1e-4  # a gradient; less may be what rounding leaves of none, as at what is added to all keys alike


def ask(subject: Subject) -> list[Finding]:
    """Matrices of one shape are compared. Those that say nothing are left out: zeros, ones, rows that are all alike, as of a state
    space; so are those that are frozen, as of a target network, which is a copy."""
    shapes = defaultdict(list)
    tables = {id(m.weight) for m in subject.model.modules() if isinstance(m, Embedding)}
    for name, p in subject.model.named_parameters():
        if p.requires_grad and p.dim() >= 2 and p._array.size >= LEAST and drawn(p._array) and id(p) not in tables:
            shapes[tuple(p.shape)].append((name, p._array))
    pairs = defaultdict(list)  # (module, module): [(parameter, correlation)]
    for group in shapes.values():
        for name, other, alike in twins(group):
            one, two, inside = parted(name, other)
            pairs[one, two].append((inside, alike))
    whole = {two for _, two in pairs}
    outer = [pair for pair in pairs if not any(pair[1].startswith(two + ".") for two in whole)]
    return [finding(one, two, pairs[one, two]) for one, two in outer] + queries_alike(subject)


def queries_alike(subject: Subject) -> list[Finding]:
    """Learned queries that start alike: their answers, and their gradients, are the same, so they stay one."""
    found = []
    looked_up = {look.path for look in subject.reference.lookups}
    for which, p in subject.model.named_parameters():
        if p.dim() > 1 and p.shape[-2] > 1 and p.requires_grad and np.any(p._array) and (p._array == p._array[..., :1, :]).all():
            path = next((m.path for m in mixers(subject.reference) if some_alike(m.queries, p.shape[-2])), None)
            if path is not None and which.rpartition(".")[0] not in looked_up:
                cause = tr(
                    "all {} rows of {} are equal, and what asks gives the same for each: they stay alike", p.shape[-2], which
                )
                found.append(Finding("copies", path, cause, DRAW))
    subject.kept_back = 0
    for which in subject.rows_of_zeros:
        if which.rpartition(".")[0] in looked_up:
            continue
        p = subject.model.get_parameter(which)
        awake = p.detach().clone()
        with no_grad():
            p.copy_(awake[..., :1, :].expand_as(awake))
        try:
            watch = subject.facts(subject.batch, grad=True)
            path = next((m.path for m in mixers(watch) if rows_alike(m.queries)), None) or slopes_alike(subject, watch, which)
        except NotApplicable:
            if not found:
                raise
            break
        finally:
            with no_grad():
                p.copy_(awake)
        if path is not None:
            cause = tr(
                "all {} rows of {} are zeros, and what asks with them gives the same for each: they stay alike", p.shape[-2], which
            )
            found.append(Finding("copies", path, cause, DRAW))
    return found


def slopes_alike(subject: Subject, watch: Graph, which: str) -> str | None:
    """Where a parameter whose rows are equal is read first, if the gradient of each row is that of the others, too."""
    p = subject.model.get_parameter(which)
    outputs = [y for y in tensors_in(watch.result) if y.requires_grad]
    shapes = [[1 if n == p.shape[-2] else n for n in y.shape] for y in outputs]  # what is asked of one is asked of all
    parts = [(y * Tensor._of(subject.rng.standard_normal(shape).astype(y._array.dtype))).sum() for y, shape in zip(outputs, shapes)]
    (slope,) = grad(sum(parts[1:], parts[0]), [p], allow_unused=True) if parts else (None,)
    if slope is None or np.abs(slope._array).max() < SEEN or not rows_alike(slope._array[None]):
        return None
    return next((run.path for run in watch.runs if which in run.parameters), "")


def rows_alike(q: np.ndarray) -> bool:
    """Whether several queries are one."""
    return q.ndim > 2 and q.shape[-2] > 1 and np.allclose(q, q[..., :1, :], rtol=1e-4, atol=1e-6)


def some_alike(q: np.ndarray, n: int) -> bool:
    """Whether as many queries as that, one behind the other, are one: learned ones may stand before those of the data."""
    if q.ndim < 3 or q.shape[-2] < n:
        return False
    close = np.isclose(q[..., 1:, :], q[..., :-1, :], rtol=1e-4, atol=1e-6).all(axis=-1)
    close = close.reshape(-1, close.shape[-1]).all(axis=0)
    return any(close[i : i + n - 1].all() for i in range(len(close) - n + 2))


def drawn(array: np.ndarray) -> bool:
    """Whether neither all rows nor all columns of a matrix are alike: what is written down is the same in each layer by design."""
    return not any((array == np.take(array, [0], axis)).all() for axis in range(array.ndim))


def twins(group: list) -> list[tuple[str, str, float]]:
    """Each matrix with the first before it that it is a copy of."""
    found: list[tuple[str, str, float]] = []
    first: list[tuple[str, np.ndarray, np.ndarray]] = []
    for name, array in group:
        small = array.ravel()[:: max(1, array.size // 512)].astype(np.float64)
        for other, sample, whole in first:
            if correlation(small, sample) > COPIED and (alike := correlation(array, whole)) > COPIED:
                found.append((other, name, alike))
                break
        else:
            first.append((name, small, array))
    return found


def parted(name: str, other: str) -> tuple[str, str, str]:
    """The two modules in which the names differ, and what they have in common after it."""
    a, b = name.split("."), other.split(".")
    end = 0
    while end < min(len(a), len(b)) - 1 and a[-1 - end] == b[-1 - end]:
        end += 1
    return ".".join(a[: len(a) - end]), ".".join(b[: len(b) - end]), ".".join(a[len(a) - end :])


def finding(one: str, two: str, alike: list) -> Finding:
    least = min(value for _, value in alike)
    how = tr("the same numbers") if least > 1 - 1e-12 else tr("nearly the same numbers (correlation {:.3f})", least)
    cause = tr("{} and {} hold {} in {} matri{}", one, two, how, len(alike), "ces" if len(alike) > 1 else "x")
    fix = tr("draw each layer's weights for itself, after copy.deepcopy too: nn.init.xavier_uniform_(p) for its matrices")
    return Finding("copies", two, cause, fix, {"matrices": len(alike), "correlation": least, "copy of": one})
