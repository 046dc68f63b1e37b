"""Operations that act on each number alone: y = f(x), and dx = dy f'(x)."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from badak.inspect.visualize.steps.row import Row, Steps, step

Number = Callable[..., Any]
erf = np.vectorize(math.erf, otypes=[float])
SLOPE = "the slope at x"


class Pointwise(NamedTuple):
    """f and its slope, each as it is written and as it is computed; `given` are values that both are written with."""

    y: str
    slope: str
    of: Number  # slope(x, y, c)
    given: tuple[tuple[str, str, Number, str], ...] = ()
    only_back: tuple[tuple[str, str, Number, str], ...] = ()


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _phi(x: np.ndarray) -> np.ndarray:
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _Phi(x: np.ndarray) -> np.ndarray:
    return (1 + erf(x / math.sqrt(2))) / 2


_C = math.sqrt(2 / math.pi)


def _u(x: np.ndarray) -> np.ndarray:
    return _C * (x + 0.044715 * x**3)


_GELU = Pointwise(
    "x Phi(x)",
    "Phi(x) + x phi(x)",
    lambda x, y, c: _Phi(x) + x * _phi(x),
    (("Phi(x)", "1/2 (1 + erf(x / sqrt 2))", lambda x: _Phi(x), "how likely a normal number lies below x"),),
    (("phi(x)", "exp(-x^2 / 2) / sqrt(2 pi)", _phi, "its density"),),
)
_GELU_TANH = Pointwise(
    "x/2 (1 + tanh u)",
    "1/2 (1 + tanh u) + x/2 (1 - tanh^2 u) sqrt(2 / pi) (1 + 3 0.044715 x^2)",
    lambda x, y, c: 0.5 * (1 + np.tanh(_u(x)))
    + x / 2 * (1 - np.tanh(_u(x)) ** 2) * _C * (1 + 3 * 0.044715 * x * x),
    (("u", "sqrt(2 / pi) (x + 0.044715 x^3)", _u, ""),),
)  # fmt: skip

POINTWISE = {
    "ReLU": Pointwise("max(x, 0)", "[x > 0]", lambda x, y, c: (x > 0).astype(float)),
    "SiLU": Pointwise("x s", "s (1 + x (1 - s))", lambda x, y, c: _sigmoid(x) * (1 + x * (1 - _sigmoid(x))),
                      (("s", "1 / (1 + exp(-x))", _sigmoid, "between 0 and 1: how much of x passes"),)),
    "Tanh": Pointwise("tanh(x)", "1 - y^2", lambda x, y, c: 1 - y * y),
    "Sigmoid": Pointwise("1 / (1 + exp(-x))", "y (1 - y)", lambda x, y, c: y * (1 - y)),
    "Exp": Pointwise("exp(x)", "y", lambda x, y, c: y),
    "Log": Pointwise("log(x)", "1 / x", lambda x, y, c: 1 / x),
    "Sqrt": Pointwise("sqrt(x)", "1 / (2 y)", lambda x, y, c: 1 / (2 * y)),
    "Rsqrt": Pointwise("1 / sqrt(x)", "-y^3 / 2", lambda x, y, c: -(y**3) / 2),
    "Square": Pointwise("x^2", "2 x", lambda x, y, c: 2 * x),
    "Reciprocal": Pointwise("1 / x", "-y^2", lambda x, y, c: -y * y),
    "Sin": Pointwise("sin(x)", "cos(x)", lambda x, y, c: np.cos(x)),
    "Cos": Pointwise("cos(x)", "-sin(x)", lambda x, y, c: -np.sin(x)),
    "Erf": Pointwise("erf(x)", "2/sqrt(pi) exp(-x^2)", lambda x, y, c: 2 / math.sqrt(math.pi) * np.exp(-x * x)),
    "Abs": Pointwise("abs(x)", "sign(x)", lambda x, y, c: np.sign(x)),
    "Neg": Pointwise("-x", "-1", lambda x, y, c: np.full_like(x, -1)),
    "Scale": Pointwise("c x", "c", lambda x, y, c: np.full_like(x, c)),
    "Shift": Pointwise("x + c", "1", lambda x, y, c: np.ones_like(x)),
    "SubFrom": Pointwise("c - x", "-1", lambda x, y, c: np.full_like(x, -1)),
    "DivBy": Pointwise("x / c", "1 / c", lambda x, y, c: np.full_like(x, 1 / c)),
    "DivInto": Pointwise("c / x", "-c / x^2", lambda x, y, c: -c / (x * x)),
    "PowBy": Pointwise("x^c", "c x^(c - 1)", lambda x, y, c: c * x ** (c - 1)),
}  # fmt: skip


def _known(row: Row) -> tuple[Pointwise, np.ndarray, float | None]:
    c = row.setting("c")
    x = row.given()
    if row.kind == "GELU":
        return (_GELU_TANH if row.setting("approximate") == "tanh" else _GELU), x, None
    return POINTWISE[row.kind], x, None if c is None else float(c)


def pointwise(row: Row) -> Steps:
    f, x, c = _known(row)
    constant = [] if c is None else [step("c", "", c)]
    given = [step(name, formula, of(x), why) for name, formula, of, why in f.given]
    return [step("x", "", x), *constant, *given, step("y", f.y, row.y)]


def pointwise_back(row: Row) -> Steps:
    f, x, c = _known(row)
    with np.errstate(all="ignore"):
        slope = f.of(x, row.y, c)
    given = [step(name, formula, of(x), why) for name, formula, of, why in (*f.given, *f.only_back)]
    return [*given, step("slope", f.slope, slope, SLOPE), step("dx", "dy slope", row.came * slope)]
