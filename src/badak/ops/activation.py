"""Elementwise non-linearities. Their derivatives stand in `kernels/reference/activation.py`, compiled in `kernels/numba`."""

import math
from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import ArgumentError, tr
from badak.kernels.reference.error_function import erf
from badak.ops._broadcast import each
from badak.ops.pointwise import Formula, Samples, pointwise
from badak.ops.select import choose

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
    functional="gelu", samples=Samples(extremes=("finite",), attributes={"approximate": ["none", "tanh"]}), **FAST,
)  # fmt: skip
ReLU = pointwise(
    "ReLU", "y = max(x, 0);   dx = dy [y > 0].",
    lambda x: kernels.of(x).relu(x),
    lambda dy, y: kernels.of(dy).relu_backward(dy, y),
    samples=EVERY, **FAST,
)  # fmt: skip
LeakyReLU = pointwise(
    "LeakyReLU", "y = x above 0, else negative_slope x;   dx = dy above 0, else negative_slope dy.",
    lambda x, negative_slope: kernels.of(x).leaky_relu(x, negative_slope),
    lambda dy, x, negative_slope: kernels.of(dy).leaky_relu_backward(dy, x, negative_slope),
    functional="leaky_relu", samples=Samples(extremes=("all",), attributes={"negative_slope": [0.01, 0.3]}), **FAST,
)  # fmt: skip
Hardtanh = pointwise(
    "Hardtanh", "y = x between min_val and max_val, the nearer of the two beyond;   dx = dy where min_val < x < max_val.",
    lambda x, min_val, max_val: kernels.of(x).hardtanh(x, min_val, max_val),
    lambda dy, x, min_val, max_val: kernels.of(dy).hardtanh_backward(dy, x, min_val, max_val),
    takes="number", functional="hardtanh",
    samples=Samples(extremes=("all",), attributes={"min_val": [-1.0], "max_val": [1.0, 0.5]}), **FAST,
)  # fmt: skip
Hardsigmoid = pointwise(
    "Hardsigmoid", "y = min(max(x + 3, 0), 6) / 6;   dx = dy / 6 where -3 < x < 3.",
    lambda x: kernels.of(x).hardsigmoid(x),
    lambda dy, x: kernels.of(dy).hardsigmoid_backward(dy, x),
    # PyTorch's slope is 1/6 in float32, for float64 too
    functional="hardsigmoid",
    samples=Samples(extremes=("all",), slope=lambda torch, x: ((x > -3) & (x < 3)).to(x.dtype) / 6), **FAST,
)  # fmt: skip
Hardswish = pointwise(
    "Hardswish", "y = x min(max(x + 3, 0), 6) / 6;   dx = dy (x / 3 + 1/2) where -3 < x < 3, dy above, 0 below.",
    lambda x: kernels.of(x).hardswish(x),
    lambda dy, x: kernels.of(dy).hardswish_backward(dy, x),
    functional="hardswish", samples=EVERY, **FAST,
)  # fmt: skip
PReLU = pointwise(
    "PReLU", "y = a above 0, else b a;   da = dy above 0, else b dy;   db = 0 above 0, else a dy.",
    lambda a, b: choose(a > 0, a, each(np.multiply, a, b)),
    lambda dy, a, b: choose(a > 0, dy, each(np.multiply, dy, b)),
    lambda dy, a: choose(a > 0, 0, each(np.multiply, dy, a)),
    capturable=True, keeps_finite=True, samples=Samples(None, ("pairs of all",), False),
)  # fmt: skip
ELU = pointwise(
    "ELU",
    "y = scale x above 0, else scale alpha (exp(input_scale x) - 1);   dx = dy scale, below dy scale alpha input_scale "
    "exp(input_scale x).",
    lambda x, alpha, scale, input_scale: kernels.of(x).elu(x, alpha, scale, input_scale),
    lambda dy, x, alpha, scale, input_scale: kernels.of(dy).elu_backward(dy, x, alpha, scale, input_scale),
    samples=Samples(extremes=("all",), attributes={"alpha": [1.0, 0.7], "scale": [1.0, 1.05], "input_scale": [1.0, 1.5]}), **FAST,
)  # fmt: skip
Softplus = pointwise(
    "Softplus", "y = log(1 + exp(beta x)) / beta, x where beta x > threshold;   dx = dy sigmoid(beta x), dy there.",
    lambda x, beta=1.0, threshold=math.inf: kernels.of(x).softplus(x, beta, threshold),
    lambda dy, x, beta, threshold: kernels.of(dy).softplus_backward(dy, x, beta, threshold),
    like=kernels.reference.log1p_exp,
    functional="softplus", samples=Samples(extremes=("all",), attributes={"beta": [1.0, 2.0], "threshold": [20.0, 1.0]}), **FAST,
)  # fmt: skip
LogSigmoid = pointwise(
    "LogSigmoid", "y = log sigmoid(x) = -log(1 + exp(-x));   dx = dy sigmoid(-x).",
    lambda x: kernels.of(x).log_sigmoid(np.asarray(x, order="C")),  # row-major, as PyTorch's
    lambda dy, x: kernels.of(dy).log_sigmoid_backward(dy, x),
    functional="logsigmoid", samples=EVERY, **FAST | {"capturable": False},
)  # fmt: skip
Mish = pointwise(
    "Mish", "y = x tanh(log(1 + exp(x)));   dx = dy (t + x (1 - t^2) sigmoid(x)), t = tanh(log(1 + exp(x))).",
    lambda x: kernels.of(x).mish(x),
    lambda dy, x: kernels.of(dy).mish_backward(dy, x),
    again=("x",), functional="mish", samples=EVERY, **FAST,
)  # fmt: skip
SiLU = pointwise(
    "SiLU", "y = x s, s = 1 / (1 + exp(-x));   dx = dy s (1 + x (1 - s)).",
    lambda x: kernels.of(x).silu(x),
    lambda dy, x: kernels.of(dy).silu_backward(dy, x),
    written=_silu_formula, again=("x",), functional="silu", samples=EVERY, **FAST,
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
ACTIVATIONS = LeakyReLU, PReLU, Hardtanh, Hardsigmoid, Hardswish, ELU, Softplus, LogSigmoid, Mish, GELU, ReLU, SiLU, Tanh, Sigmoid
