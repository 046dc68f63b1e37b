"""Attention as the record has it: the matrix of every head, and what the head mostly does.

An attention is an `Attention`, or a softmax over keys that a product with values reads. Its weights are those of the run. An
`Attention` never holds them: the same kernel computes them again from the queries and keys that it was given.
"""

from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from badak import kernels
from badak.inspect.visualize.numbers import fixed_point, floats, short
from badak.inspect.visualize.trace import Ran, Trace, readers, through
from badak.ops.attention import Attention
from badak.ops.einsum import Contract
from badak.ops.linear import AddMM, Linear
from badak.ops.matmul import MatMul
from badak.ops.softmax import Softmax

MOSTLY = 0.4  # the least share that gives a head its name
BROAD = 0.8  # of the most possible entropy
ROOM = 1_000_000  # characters of base64 that all matrices may take


@dataclass(eq=False)
class Attended:
    """One attention of the run: weights (H, T, S)."""

    run: Ran
    weights: np.ndarray
    scale: float | None
    causal: bool
    kind: str  # "self" or "cross"
    path: str
    reads: tuple[frozenset[int], frozenset[int]]  # what its queries, and its keys, were projected from


def attentions_of(trace: Trace) -> list[Attended]:
    """Every attention of the first row of the batch, in order."""
    consumers: dict[int, list[Ran]] = trace.consumers()
    found: list[Attended] = []
    for run in trace.runs:
        if issubclass(run.op, Attention):
            q, k = run.inputs[:2]
            assert q is not None and k is not None
            scale = run.attributes.get("scale")
            sides = _read_from(run.sources[0]), _read_from(run.sources[1])
            same = sides[0] == sides[1] or (not all(sides) and q.shape[-2] == k.shape[-2])
            weights = _weights(run.inputs, run.attributes)
            scale = q.shape[-1] ** -0.5 if scale is None else scale
        elif run.op is Softmax and _is_attention(run, consumers):
            weights, scale, sides = _rows(run.output), None, _sides_of_scores(run)
            same = sides[0] == sides[1]
        else:
            continue
        _join(found, Attended(run, weights, scale, _lower(weights), "self" if same else "cross", run.path, sides))
    return found


def _join(found: list[Attended], one: Attended) -> None:
    """Heads that are modules of their own, which read the same, are heads of one attention."""
    last = found[-1] if found else None
    if last is None or not all(one.reads) or last.reads != one.reads or last.weights.shape[1:] != one.weights.shape[1:]:
        found.append(one)
        return
    last.weights = np.concatenate([last.weights, one.weights])
    last.causal = last.causal and one.causal
    both = zip(last.path.split("."), one.path.split("."))
    last.path = ".".join(word for word, _ in takewhile(lambda pair: pair[0] == pair[1], both))


def _weights(inputs: list, attributes: dict[str, Any]) -> np.ndarray:
    q, k, v, keep, bias, drop = (None if x is None else x[:1] if i < 3 or x.ndim == 4 else x for i, x in enumerate(inputs))
    made = kernels.of(q).attention(q, k, v, keep, bias, attributes.get("causal"), attributes.get("scale"), None, 0.0, True)
    return floats(made[2][0])


def _rows(weights: np.ndarray) -> np.ndarray:
    """(..., T, S) of one row of the batch as (H, T, S)."""
    return floats(weights.reshape(-1, *weights.shape[-2:]))


def _is_attention(run: Ran, consumers: dict[int, list[Ran]]) -> bool:
    x = run.output
    if x.ndim < 2 or run.attributes.get("dim", -1) not in (-1, x.ndim - 1) or not run.live:
        return False
    return any(_multiplies(each, run, consumers) for each in readers(run, consumers))


def _multiplies(reader: Ran, run: Ran, consumers: dict[int, list[Ran]], depth: int = 3) -> bool:
    """Whether values are added up under these weights: at once, or after a mask or a dropout of them."""
    if reader.op in (MatMul, Contract):
        return True
    same = reader.output.shape == run.output.shape and reader.op is not Softmax
    return bool(same and depth and any(_multiplies(each, run, consumers, depth - 1) for each in readers(reader, consumers)))


def _lower(weights: np.ndarray) -> bool:
    """Whether no query sees what follows it."""
    _, T, S = weights.shape
    return S >= T > 1 and not weights[:, ~np.tri(T, S, S - T, dtype=bool)].any()


_PRODUCTS = (Linear, AddMM, MatMul, Contract)


def _read_from(run: Ran | None) -> frozenset[int]:
    """What queries, or keys, were projected from: the activations that the nearest products below read."""
    found: set[int] = set()
    pending, seen = [run], set()
    while pending:
        each = through(pending.pop())
        if each is None or each.number in seen:
            continue
        seen.add(each.number)
        if each.op in _PRODUCTS:
            found |= {source.number for source in map(through, each.sources) if source is not None and source.live}
        else:
            pending += [source for source in each.sources if source is not None and source.live]
    return frozenset(found)


def _sides_of_scores(run: Ran) -> tuple[frozenset[int], frozenset[int]]:
    """The same for an attention that was written by hand: the product that made its scores has both sides."""
    for below in reversed(run.inside()):
        both = below.sources[:2]
        if below.op in (MatMul, Contract) and below.output.size == run.output.size and None not in both:
            return _read_from(both[0]), _read_from(both[1])
    return frozenset(), frozenset()


# ---------------------------------------------------------------- what a head does


def does(weights: np.ndarray, kind: str, ids: list[int] | None) -> dict[str, Any]:
    """The name of what a head (T, S) mostly does, the shares that say so, and its mean entropy in nats."""
    T, S = weights.shape
    rows = weights.sum(axis=-1) > 0
    i = np.arange(T)
    at = i + (S - T) if kind == "self" else np.round(i * (S - 1) / max(T - 1, 1)).astype(int)  # the key of each query's own place
    scores: dict[str, float] = {}

    def share(name: str, columns: np.ndarray, asked: np.ndarray) -> None:
        asked = asked & rows & (columns >= 0) & (columns < S)
        if asked.any():
            scores[name] = float(weights[i[asked], columns[asked]].mean())

    share("first", np.zeros(T, int), (at > 0) | (kind == "cross"))
    share("last", np.full(T, S - 1), (at < S - 1) | (kind == "cross"))
    if kind == "self":
        share("previous", at - 1, at > 1)  # of the second, the previous is the first
        share("next", at + 1, at < S - 2)
        share("itself", at, np.ones(T, bool))
        same = _same(weights, ids, rows) if ids is not None and len(ids) == T == S else None
        scores |= {} if same is None else {"same": same}
    elif rows.any():
        near = np.abs(np.arange(S) - at[:, None]) <= 1
        scores["aligned"] = float((weights * near).sum(axis=-1)[rows].mean())
    if not _sees(weights, at):
        scores.pop("next", None)
        scores.pop("last", None)
    logs = np.log(np.where(weights > 0, weights, 1.0))
    entropies = -(weights * logs).sum(axis=-1)
    entropy = float(entropies[rows].mean()) if rows.any() else 0.0
    most = float(np.log(np.maximum((weights > 0).sum(axis=-1), 1))[rows].mean()) if rows.any() else 0.0
    best = max(scores, key=lambda name: scores[name], default="")
    name = best if best and scores[best] >= MOSTLY else "broad" if most > 0 and entropy > BROAD * most else "mixed"
    return {"does": name, "scores": {key: short(value) for key, value in scores.items()}, "entropy": short(entropy)}


def _sees(weights: np.ndarray, at: np.ndarray) -> bool:
    """Whether any query looks at what follows it."""
    T, S = weights.shape
    return bool(weights[np.arange(S) > at[:, None]].any())


def _same(weights: np.ndarray, ids: list[int], rows: np.ndarray) -> float | None:
    """The share at other places with the same token, over the queries that see one."""
    known = np.asarray(ids)
    others = (known[:, None] == known) & ~np.eye(len(ids), dtype=bool)
    asked = rows & (others & (weights > 0)).any(axis=-1)
    return float((weights * others).sum(axis=-1)[asked].mean()) if asked.any() else None


# ---------------------------------------------------------------- as the record has it


def matrices(found: list[Attended], most: int) -> tuple[str, int]:
    """(code, how many attentions fit) so that all matrices stay within their room."""
    sizes = []
    for each in found:
        H, T, S = each.weights.shape
        T, S = min(T, most), min(S, most)
        sizes.append(H * (int(np.tri(T, S, S - T).sum()) if each.causal and S >= T else T * S))
    if sum(sizes) * 2 * 4 / 3 <= ROOM:
        return "linear16", len(found)
    room, fit = ROOM * 3 / 4, 0
    for size in sizes:
        room -= size
        if room < 0:
            break
        fit += 1
    return "root8", fit


def heads(each: Attended, code: str, most: int, ids: list[int] | None) -> list[dict[str, Any]]:
    """The heads of one attention, cut to the first `most` places."""
    T, S = each.weights.shape[1:]
    shown = each.weights[:, : min(T, most), : min(S, most)]
    packed = lower(each, most)
    return [{"data": fixed_point(p, code, packed), **does(whole, each.kind, ids)} for p, whole in zip(shown, each.weights)]


def lower(each: Attended, most: int) -> bool:
    """Whether only the lower triangle is written."""
    T, S = each.weights.shape[1:]
    return each.causal and (T == S or max(T, S) <= most)
