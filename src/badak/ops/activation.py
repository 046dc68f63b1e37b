"""Elementwise non-linearities. Their derivatives stand in `kernels/reference/activation.py`, compiled in `kernels/numba`."""

import math
from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import ArgumentError, tr
from badak.kernels import elementary
from badak.kernels.reference._erf import erf
from badak.ops.pointwise import Formula, Samples, pointwise

EVERY = Samples(extremes=("all",))
# kernels compute them, of bfloat16 too
FAST: dict = {"laid_out": False, "capturable": True, "supports_bf16": True, "keeps_finite": True}


def _gelu(x: np.ndarray, approximate: str = "none") -> np.ndarray:
    if approximate not in ("none", "tanh"):
        raise ArgumentError(tr("gelu: expected approximate 'none' or 'tanh'; got {!r}", approximate), "approximate='none'")
    return kernels.of(x).gelu(x, approximate)


def _gelu_formula(approximate: str = "none") -> Any:
    c = math.sqrt(2 / math.pi)
    if approximate == "tanh":
        return Formula(
            "x/2 (1 + tanh u)", "1/2 (1 + tanh u) + x/2 (1 - tanh^2 u) sqrt(2 / pi) (1 + 3 0.044715 x^2)",
            (("u", "sqrt(2 / pi) (x + 0.044715 x^3)", lambda x: c * (x + 0.044715 * x**3), ""),),
        )  # fmt: skip
    return Formula(
        "x Phi(x)", "Phi(x) + x phi(x)",
        (("Phi(x)", "1/2 (1 + erf(x / sqrt 2))", lambda x: (1 + erf(x / math.sqrt(2))) / 2,
          "how likely a normal number lies below x"),),
        (("phi(x)", "exp(-x^2 / 2) / sqrt(2 pi)", lambda x: np.exp(-x * x / 2) / math.sqrt(2 * math.pi), "its density"),),
    )  # fmt: skip


def _below_zero(x: Any) -> Any:
    """x where it is at most 0, else 0: an exponential of a large x would be inf, and 0 inf NaN."""
    return np.where(x <= 0, x, x.dtype.type(0))


def _silu_formula() -> Any:
    return Formula(
        "x s", "s (1 + x (1 - s))",
        (("s", "1 / (1 + exp(-x))", Sigmoid.of, "between 0 and 1: how much of x passes"),),
    )  # fmt: skip


GELU = pointwise(
    "GELU",
    """y = x Phi(x), Phi the normal distribution function;   dx = dy (Phi(x) + x phi(x)).

    approximate="tanh" takes x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) and its own derivative instead.
    """,
    _gelu, lambda dy, x, approximate: kernels.of(dy).gelu_backward(dy, x, approximate),
    portable="f", written=_gelu_formula, again=("x", "approximate"),
    samples=Samples(extremes=("finite",), attributes={"approximate": ["none", "tanh"]}), **FAST,
)  # fmt: skip
ReLU = pointwise(
    "ReLU", "y = max(x, 0);   dx = dy [y > 0].",
    lambda x: kernels.of(x).relu(x),
    lambda dy, y: kernels.of(dy).relu_backward(dy, y),
    samples=EVERY, **FAST,
)  # fmt: skip
ELU = pointwise(
    "ELU",
    "y = scale x above 0, else scale alpha (exp(input_scale x) - 1);   dx = dy scale, below dy scale alpha input_scale "
    "exp(input_scale x).",
    lambda x, alpha, scale, input_scale: scale * np.where(x <= 0, alpha * np.expm1(_below_zero(x) * input_scale), x),
    lambda dy, x, alpha, scale, input_scale: (
        dy * (scale * np.where(x <= 0, alpha * input_scale * elementary.exp(_below_zero(x) * input_scale), x.dtype.type(1)))
    ),
    samples=Samples(extremes=("all",), attributes={"alpha": [1.0, 0.7], "scale": [1.0, 1.05], "input_scale": [1.0, 1.5]}),
)  # fmt: skip
SiLU = pointwise(
    "SiLU", "y = x s, s = 1 / (1 + exp(-x));   dx = dy s (1 + x (1 - s)).",
    lambda x: kernels.of(x).silu(x),
    lambda dy, x: kernels.of(dy).silu_backward(dy, x),
    written=_silu_formula, again=("x",), samples=EVERY, **FAST,
)  # fmt: skip
Tanh = pointwise(
    "Tanh", "y = tanh(x);   dx = dy (1 - y^2).",
    lambda x: kernels.of(x).tanh(x),
    lambda dy, y: kernels.of(dy).tanh_backward(dy, y),
    public="tanh", like=np.tanh, analytic=True, samples=EVERY, **FAST,
)  # fmt: skip
Sigmoid = pointwise(
    "Sigmoid", "y = 1 / (1 + exp(-x));   dx = dy y (1 - y).",
    lambda x: kernels.of(x).sigmoid(x),
    lambda dy, y: kernels.of(dy).sigmoid_backward(dy, y),
    public="sigmoid", special="expit", analytic=True, like=kernels.reference.sigmoid, samples=EVERY, **FAST,
)  # fmt: skip
