"""Attention, softmax and the losses: what makes shares out of scores."""

import numpy as np

from badak.inspect.visualize.steps.row import Row, Steps, step

HERE = "this place's part"


def _heads(row: Row) -> tuple[np.ndarray, ...]:
    """Of the first head at this place: q (D,), k (S, D), v (S, E), scores (S,), weights (S,)."""
    q, k, v, keep, bias = row.run.inputs[:5]
    assert q is not None and k is not None and v is not None
    t = row.place
    q0, k0, v0 = (x.astype(np.float64) for x in (q[0, 0, t], k[0, 0], v[0, 0]))
    s = scale_of(row, q0) * (k0 @ q0)
    T, S = q.shape[2], k.shape[2]
    if bias is not None:
        s = s + np.broadcast_to(bias, (q.shape[0], q.shape[1], T, S))[0, 0, t]
    causal = row.setting("causal")
    seen = np.ones(S, bool) if causal is None else np.arange(S) <= t + causal
    if keep is not None:
        seen = seen & np.broadcast_to(keep, (q.shape[0], q.shape[1], T, S))[0, 0, t]
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max()) if seen.any() else np.zeros(S)
    return q0, k0, v0, s, e / (e.sum() or 1.0)


def scale_of(row: Row, q: np.ndarray) -> float:
    scale = row.setting("scale")
    return q.shape[-1] ** -0.5 if scale is None else scale


def attention(row: Row) -> Steps:
    q, _, v, s, p = _heads(row)
    biased = row.run.inputs[4] is not None
    return [
        step("q", "", q, "what this place asks, head 1"),
        step("scale", "", scale_of(row, q)),
        step("s", "scale q . k[j]" + " + bias[j]" * biased, s, "one number for every key; hidden keys have none"),
        step("p", "exp(s[j]) / sum_j exp(s[j])", p, "shares that add up to 1"),
        step("y", "sum_j p[j] v[j]", row.y if row.y.size == v.shape[-1] else p @ v),
    ]


def attention_back(row: Row) -> Steps:
    q, k, v, _, p = _heads(row)
    dy, scale = row.came, scale_of(row, q)
    dp = v @ dy
    delta = float(p @ dp)
    ds = p * (dp - delta)
    return [
        step("dv", "p[j] dy", p[:, None] * dy, "every value gets its share; this place's part"),
        step("dp", "dy . v[j]", dp, "how much a larger share of key j would raise the loss"),
        step("delta", "sum_j p[j] dp[j]", delta, "the mean of dp: shares only move against each other"),
        step("ds", "p (dp - delta)", ds),
        step("dq", "scale sum_j ds[j] k[j]", scale * (ds @ k)),
        step("dk", "scale ds[j] q", scale * ds[:, None] * q, HERE),
    ]


def softmax(row: Row) -> Steps:
    x = row.given()
    e = np.exp(x - x.max())
    return [
        step("x", "", x),
        step("e", "exp(x - max(x))", e, "no exponent is above 0, so nothing overflows"),
        step("Z", "sum_k e[k]", e.sum()),
        step("y", "e / Z", row.y),
    ]


def softmax_back(row: Row) -> Steps:
    inner = float(row.came @ row.y)
    return [
        step("sum(dy y)", "sum_k dy[k] y[k]", inner, "what all share: only the rest moves"),
        step("dx", "y (dy - sum(dy y))", row.y * (row.came - inner)),
    ]


def log_softmax(row: Row) -> Steps:
    x = row.given()
    return [
        step("x", "", x),
        step("lse", "log sum_k exp(x[k])", np.logaddexp.reduce(x)),
        step("y", "x - lse", row.y),
    ]


def log_softmax_back(row: Row) -> Steps:
    total = float(row.came.sum())
    return [
        step("sum(dy)", "sum_k dy[k]", total, "what all share: only the rest moves"),
        step("dx", "dy - exp(y) sum(dy)", row.came - np.exp(row.y) * total),
    ]


def over_rows(row: Row) -> bool:
    """Whether the shares of a softmax run along the row that is shown."""
    return row.setting("dim", -1) in (-1, row.run.output.ndim - 1)


# ---------------------------------------------------------------- losses

UNLABELLED = "this place has no label: it does not count"
BEFORE_MEAN = "this place's part, before the mean"


def _targets(row: Row) -> np.ndarray:
    target = row.run.inputs[1]
    assert target is not None
    return target.reshape(-1)


def _label(row: Row, size: int) -> int:
    labels = _targets(row)
    label = int(labels[row.place if labels.size > 1 else 0])
    return label if 0 <= label < size and label != row.setting("ignore_index", -100) else -1


def cross_entropy(row: Row) -> Steps:
    x = row.given()
    label, lse = _label(row, x.size), float(np.logaddexp.reduce(x))
    if label < 0:
        return [step("logits", "", x), step("loss", "0", 0.0, UNLABELLED)]
    return [
        step("logits", "", x),
        step("lse", "log sum_v exp(logits[v])", lse),
        step("logits[target]", "", x[label]),
        step("loss", "lse - logits[target]", lse - x[label], BEFORE_MEAN),
    ]


def cross_entropy_back(row: Row) -> Steps:
    x = row.given()
    label, lse = _label(row, x.size), float(np.logaddexp.reduce(x))
    if label < 0:
        return []
    p = np.exp(x - lse)
    wrong = p.copy()
    wrong[label] -= 1
    steps = [
        step("lse", "log sum_v exp(logits[v])", lse),
        step("p", "exp(logits - lse)", p, "what the model says"),
        step("p[target] - 1", "", wrong[label], "what it should have said is taken off"),
    ]
    plain = row.run.inputs[2] is None and not row.setting("smoothing")
    if plain and row.setting("reduction", "mean") == "mean":
        share = 1 / int((_targets(row) != row.setting("ignore_index", -100)).sum())
        made = step("dlogits", "dy (p - onehot) / M", row.came[0] * wrong * share, "M places count in the mean")
        return [*steps, made]
    return steps


def nll(row: Row) -> Steps:
    x = row.given()
    label = _label(row, x.size)
    if label < 0:
        return [step("logp", "", x), step("loss", "0", 0.0, UNLABELLED)]
    return [
        step("logp", "", x),
        step("logp[target]", "", x[label]),
        step("loss", "-logp[target]", -x[label], BEFORE_MEAN),
    ]
