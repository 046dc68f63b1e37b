"""One row through one operation, step by step, forward and backward: the numbers of the run and those on the way between them.

What goes in, what comes out and the gradients are the run's own; what stands between them is computed here, in float64, by the
formulas of the kernels in `kernels/plain`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from badak.look.numbers import FIRST, short
from badak.look.trace import Ran

Steps = list[dict[str, Any]]


@dataclass(eq=False)
class Row:
    """One operation at one place: rows of its inputs and its output, of what came back, and of what goes on; None where unknown."""

    run: Ran
    x: list[np.ndarray | None]
    y: np.ndarray
    dy: np.ndarray | None
    dx: list[np.ndarray | None]
    place: int


def step(name: str, formula: str, values: Any, why: str = "") -> dict[str, Any]:
    """One step: at most the first six of its values."""
    flat = np.asarray(values, np.float64).reshape(-1)
    return {"name": name, "formula": formula, "values": short(flat[:FIRST]), "of": int(flat.size), "why": why}


ABOVE = "what comes from above"
BELOW = "what goes on"


def forward_steps(row: Row) -> Steps:
    """The forward of this row; of an operation that is not known here, what goes in and what comes out."""
    made = _FORWARD.get(row.run.op.__name__)
    if made is not None and all(x is not None for x in row.x[:1]):
        return made(row)
    inputs = [step(name, "", x) for name, x in zip("abcdefgh", row.x) if x is not None]
    return [*inputs, step("y", _formula(row.run), row.y)]


def backward_steps(row: Row) -> Steps:
    """The backward of this row, from what came to what goes on."""
    if row.dy is None:
        return []
    made = _BACKWARD.get(row.run.op.__name__)
    between = made(row) if made is not None and row.x[0] is not None else []
    goes = [step(f"d{name}", "", dx, BELOW) for name, dx in zip(names_of(row.run), row.dx) if dx is not None]
    return [step("dy", "", row.dy, ABOVE), *between, *goes]


def names_of(run: Ran) -> list[str]:
    """What the inputs of an operation are called."""
    known = {
        "LayerNorm": ["x", "w", "b"], "RMSNorm": ["x", "w"], "Linear": ["x", "w", "b"], "AddMM": ["b", "x", "w"],
        "Attention": ["q", "k", "v", "keep", "bias", "drop"], "Embedding": ["w", "ids"],
        "CrossEntropy": ["logits", "target", "weight"],
        "NLL": ["logp", "target", "weight"],
    }.get(run.op.__name__)  # fmt: skip
    return known or (["x"] if len(run.inputs) == 1 else list("abcdefghijklmnop")[: len(run.inputs)])


def _formula(run: Ran) -> str:
    first = (run.op.__doc__ or "").strip().split("\n")[0]
    return first.partition(";")[0].removeprefix("y = ").rstrip(".")


def _of(x: np.ndarray | None, size: int, default: float) -> np.ndarray:
    return np.full(size, default) if x is None else x.astype(np.float64).reshape(-1)


# ---------------------------------------------------------------- forward


def _normed(row: Row) -> tuple[np.ndarray, float, float, np.ndarray]:
    x = row.x[0]
    assert x is not None
    mean, var = float(x.mean()), float(x.var())
    rstd = 1 / math.sqrt(var + row.run.attributes.get("eps", 1e-5))
    return x, mean, rstd, (x - mean) * rstd


def _layer_norm(row: Row) -> Steps:
    x, mean, rstd, h = _normed(row)
    return [
        step("x", "", x),
        step("mean", "1/C sum_c x[c]", mean, "the middle of the row"),
        step("var", "1/C sum_c (x[c] - mean)^2", x.var(), "how far it spreads"),
        step("rstd", "1 / sqrt(var + eps)", rstd),
        step("h", "(x - mean) rstd", h, "mean 0, variance 1"),
        step("y", "w h + b", row.y),
    ]


def _layer_norm_back(row: Row) -> Steps:
    x, _, rstd, h = _normed(row)
    assert row.dy is not None
    g = _of(row.x[1], x.size, 1.0) * row.dy
    return [
        step("g", "w dy", g, "the derivative by h"),
        step("mean(g)", "1/C sum_c g[c]", g.mean(), "a shift of x is taken out again: this part is lost"),
        step(
            "mean(g h)", "1/C sum_c g[c] h[c]", (g * h).mean(), "a scale of x is divided out again: this part is lost"
        ),
        step("dx", "rstd (g - mean(g) - h mean(g h))", rstd * (g - g.mean() - h * (g * h).mean())),
    ]


def _rms_norm(row: Row) -> Steps:
    x, rstd, h = _rms(row)
    return [
        step("x", "", x),
        step("mean(x^2)", "1/C sum_c x[c]^2", (x * x).mean()),
        step("rstd", "1 / sqrt(mean(x^2) + eps)", rstd),
        step("h", "x rstd", h, "length 1 for each channel"),
        step("y", "w h", row.y),
    ]


def _rms(row: Row) -> tuple[np.ndarray, float, np.ndarray]:
    x = row.x[0]
    assert x is not None
    rstd = 1 / math.sqrt(float((x * x).mean()) + row.run.attributes.get("eps", 1e-5))
    return x, rstd, x * rstd


def _rms_norm_back(row: Row) -> Steps:
    x, rstd, h = _rms(row)
    assert row.dy is not None
    g = _of(row.x[1], x.size, 1.0) * row.dy
    return [
        step("g", "w dy", g, "the derivative by h"),
        step(
            "mean(g h)", "1/C sum_c g[c] h[c]", (g * h).mean(), "a scale of x is divided out again: this part is lost"
        ),
        step("dx", "rstd (g - h mean(g h))", rstd * (g - h * (g * h).mean())),
    ]


def _weights(row: Row) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """x (K,), w (N, K), b (N,) of a linear map."""
    b, x, w = (
        (row.x[0], row.x[1], row.run.inputs[2])
        if row.run.op.__name__ == "AddMM"
        else (row.x[2], row.x[0], row.run.inputs[1])
    )
    assert x is not None and w is not None
    return x, (w.T if row.run.op.__name__ == "AddMM" else w), b


def _linear(row: Row) -> Steps:
    x, w, b = _weights(row)
    first = w[0].astype(np.float64) * x
    steps = [
        step("x", "", x),
        step("w[0]", "", w[0].astype(np.float64), "the weights of the first output"),
        step("x[k] w[0,k]", "", first),
        step("sum", "sum_k x[k] w[0,k]", first.sum()),
    ]
    steps += [] if b is None else [step("b[0]", "", b.reshape(-1)[:1])]
    return [*steps, step("y", "x w^T + b" if b is not None else "x w^T", row.y, "the same for every output")]


def _linear_back(row: Row) -> Steps:
    x, w, _ = _weights(row)
    assert row.dy is not None
    return [
        step("dx", "dy w", row.dy @ w.astype(np.float64), "every output sends back along its weights"),
        step("dw[0]", "dy[0] x", row.dy[0] * x, "this row's part; the rows add up"),
        step("db", "dy", row.dy, "this row's part; the rows add up"),
    ]


def _heads(row: Row) -> tuple[np.ndarray, ...]:
    """Of head 0 at this place: q (D,), k (S, D), v (S, E), scores (S,), weights (S,)."""
    q, k, v, keep, bias = row.run.inputs[:5]
    assert q is not None and k is not None and v is not None
    t = row.place
    q0, k0, v0 = (x.astype(np.float64) for x in (q[0, 0, t], k[0, 0], v[0, 0]))
    scale = row.run.attributes.get("scale")
    s = (q0.shape[-1] ** -0.5 if scale is None else scale) * (k0 @ q0)
    T, S = q.shape[2], k.shape[2]
    if bias is not None:
        s = s + np.broadcast_to(bias, (q.shape[0], q.shape[1], T, S))[0, 0, t]
    causal = row.run.attributes.get("causal")
    seen = np.ones(S, bool) if causal is None else np.arange(S) <= t + causal
    if keep is not None:
        seen = seen & np.broadcast_to(keep, (q.shape[0], q.shape[1], T, S))[0, 0, t]
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max()) if seen.any() else np.zeros(S)
    return q0, k0, v0, s, e / (e.sum() or 1.0)


def _attention(row: Row) -> Steps:
    q, _, v, s, p = _heads(row)
    return [
        step("q", "", q, "what this place asks, head 0"),
        step("s", "scale q k[j]", s, "one number for every key; hidden keys have none"),
        step("p", "exp(s[j]) / sum_j exp(s[j])", p, "shares that add up to 1"),
        step("y", "sum_j p[j] v[j]", row.y if row.y.size == v.shape[-1] else p @ v),
    ]


def _attention_back(row: Row) -> Steps:
    q, k, v, _, p = _heads(row)
    assert row.dy is not None
    scale = row.run.attributes.get("scale")
    scale = q.size**-0.5 if scale is None else scale
    dp = v @ row.dy
    delta = float(p @ dp)
    ds = p * (dp - delta)
    return [
        step("dv", "p[j] dy", p[:, None] * row.dy, "every value gets its share; this place's part"),
        step("dp", "dy v[j]", dp, "how much a larger share of key j would raise the loss"),
        step("delta", "sum_j p[j] dp[j]", delta, "the mean of dp: shares only move against each other"),
        step("ds", "p (dp - delta)", ds),
        step("dq", "scale sum_j ds[j] k[j]", scale * (ds @ k)),
        step("dk", "scale ds[j] q", scale * ds[:, None] * q, "this place's part"),
    ]


def _softmax(row: Row) -> Steps:
    x = row.x[0]
    assert x is not None
    e = np.exp(x - x.max())
    return [
        step("x", "", x),
        step("e", "exp(x - max x)", e, "no exponent is above 0, so nothing overflows"),
        step("Z", "sum_k e[k]", e.sum()),
        step("y", "e / Z", row.y),
    ]


def _softmax_back(row: Row) -> Steps:
    assert row.dy is not None
    inner = float(row.dy @ row.y)
    return [
        step("sum(dy y)", "sum_k dy[k] y[k]", inner, "what all share: only the rest moves"),
        step("dx", "y (dy - sum(dy y))", row.y * (row.dy - inner)),
    ]


def _entropy(row: Row) -> tuple[np.ndarray, int, float]:
    x, target = row.x[0], row.run.inputs[1]
    assert x is not None and target is not None
    most, labels = float(x.max()), target.reshape(-1)
    return x, int(labels[row.place if labels.size > 1 else 0]), most + math.log(float(np.exp(x - most).sum()))


def _cross_entropy(row: Row) -> Steps:
    x, label, lse = _entropy(row)
    if not 0 <= label < x.size:
        return [step("logits", "", x), step("loss", "0", 0.0, "this place has no label: it does not count")]
    return [
        step("logits", "", x),
        step("lse", "log sum_v exp(logits[v])", lse),
        step("logits[target]", "", x[label]),
        step("loss", "lse - logits[target]", lse - x[label], "this place's part, before the mean"),
    ]


def _cross_entropy_back(row: Row) -> Steps:
    x, label, lse = _entropy(row)
    if not 0 <= label < x.size:
        return []
    p = np.exp(x - lse)
    return [
        step("p", "exp(logits - lse)", p, "what the model says"),
        step("p[target] - 1", "", p[label] - 1, "what it should have said is taken off"),
    ]


def _pointwise(derivative: str, slope: Callable[[np.ndarray, Ran], np.ndarray]) -> Callable[[Row], Steps]:
    def back(row: Row) -> Steps:
        assert row.x[0] is not None and row.dy is not None
        by = slope(row.x[0], row.run)
        return [step("dy/dx", derivative, by, "the slope at x"), step("dx", "slope dy", by * row.dy)]

    return back


def _gelu_slope(x: np.ndarray, run: Ran) -> np.ndarray:
    if run.attributes.get("approximate") == "tanh":
        a = math.sqrt(2 / math.pi)
        t = np.tanh(a * (x + 0.044715 * x**3))
        return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * a * (1 + 3 * 0.044715 * x * x)
    phi = 0.5 * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2)))
    return phi + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _silu_slope(x: np.ndarray, run: Ran) -> np.ndarray:
    s = 1 / (1 + np.exp(-x))
    return s * (1 + x * (1 - s))


def _embedding(row: Row) -> Steps:
    ids = next(x for x in row.run.inputs if x is not None and x.dtype.kind in "iu").reshape(-1)
    number = int(ids[row.place]) if row.place < ids.size else -1
    return [
        step("ids[t]", "", number, "the number of the token"),
        step("y", "w[ids[t]]", row.y, "its row of the table"),
    ]


_FORWARD: dict[str, Callable[[Row], Steps]] = {
    "LayerNorm": _layer_norm, "RMSNorm": _rms_norm, "Linear": _linear, "AddMM": _linear, "Attention": _attention,
    "Softmax": _softmax, "CrossEntropy": _cross_entropy, "Embedding": _embedding,
}  # fmt: skip
_BACKWARD: dict[str, Callable[[Row], Steps]] = {
    "LayerNorm": _layer_norm_back, "RMSNorm": _rms_norm_back, "Linear": _linear_back, "AddMM": _linear_back,
    "Attention": _attention_back, "Softmax": _softmax_back, "CrossEntropy": _cross_entropy_back,
    "GELU": _pointwise("Phi(x) + x phi(x)", _gelu_slope),
    "SiLU": _pointwise("s (1 + x (1 - s)), s = 1 / (1 + exp(-x))", _silu_slope),
    "ReLU": _pointwise("1 where x > 0, else 0", lambda x, run: (x > 0).astype(np.float64)),
    "Tanh": _pointwise("1 - y^2", lambda x, run: 1 - np.tanh(x) ** 2),
}  # fmt: skip
