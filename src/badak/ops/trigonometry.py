"""Circular and hyperbolic functions and their inverses; angles in radians. (tanh is an activation.)"""

from typing import Any

import numpy as np

from badak.kernels import elementary
from badak.ops._complex import conj
from badak.ops.pointwise import Samples, pointwise

SMALL, EVERY, INSIDE = Samples(extremes=("small",)), Samples(extremes=("all",)), Samples((-0.9, 0.9))


def _acosh_slope(dy: Any, x: Any) -> Any:
    """For complex x with the root's sign of sqrt(x - 1) sqrt(x + 1)."""
    if x.dtype.kind == "c":
        return dy / (np.sqrt(x - 1) * np.sqrt(x + 1))
    return dy / np.sqrt(np.square(x) - 1)


def _over_r2(dy: Any, a: Any, b: Any) -> Any:
    """dy / (a^2 + b^2), 0 at the origin."""
    r2 = np.square(a) + np.square(b)
    return np.where(r2 == 0, dy.dtype.type(0), dy / r2)


Sin = pointwise(
    "Sin", "y = sin(x);   dx = dy cos(x).", np.sin, lambda dy, x: dy * conj(np.cos(x)), public="sin", takes="float", samples=SMALL
)
Cos = pointwise(
    "Cos", "y = cos(x);   dx = -dy sin(x).", np.cos, lambda dy, x: -dy * conj(np.sin(x)), public="cos", takes="float", samples=SMALL
)
Tan = pointwise(
    "Tan", "y = tan(x);   dx = dy (1 + y^2).", np.tan,
    lambda dy, y: dy * (1 + np.square(y)),
    public="tan", analytic=True, samples=Samples((-1.2, 1.2)),
)  # fmt: skip
Asin = pointwise(
    "Asin", "y = arcsin(x);   dx = dy / sqrt(1 - x^2).", np.arcsin,
    lambda dy, x: dy / np.sqrt(1 - np.square(x)),
    public="asin arcsin", analytic=True, samples=INSIDE,
)  # fmt: skip
Acos = pointwise(
    "Acos", "y = arccos(x);   dx = -dy / sqrt(1 - x^2).", np.arccos,
    lambda dy, x: -dy / np.sqrt(1 - np.square(x)),
    public="acos arccos", analytic=True, samples=INSIDE,
)  # fmt: skip
Atan = pointwise(
    "Atan", "y = arctan(x);   dx = dy / (1 + x^2).", np.arctan,
    lambda dy, x: dy / (1 + np.square(x)),
    public="atan arctan", analytic=True, samples=EVERY,
)  # fmt: skip
Sinh = pointwise(
    "Sinh", "y = sinh(x);   dx = dy cosh(x).", np.sinh,
    lambda dy, x: dy * elementary.cosh(x),
    public="sinh", analytic=True, samples=SMALL,
)  # fmt: skip
Cosh = pointwise(
    "Cosh", "y = cosh(x);   dx = dy sinh(x).", np.cosh,
    lambda dy, x: dy * elementary.sinh(x),
    public="cosh", analytic=True, samples=SMALL,
)  # fmt: skip
Asinh = pointwise(
    "Asinh", "y = arsinh(x);   dx = dy / sqrt(x^2 + 1).", np.arcsinh,
    lambda dy, x: dy / np.sqrt(np.square(x) + 1),
    public="asinh arcsinh", analytic=True, samples=SMALL,
)  # fmt: skip
Acosh = pointwise(
    "Acosh", "y = arcosh(x);   dx = dy / sqrt(x^2 - 1), for complex x with the root's sign of sqrt(x - 1) sqrt(x + 1).",
    np.arccosh, _acosh_slope, public="acosh arccosh", analytic=True, samples=Samples((1.2, 4.0)),
)  # fmt: skip
Atanh = pointwise(
    "Atanh", "y = artanh(x);   dx = dy / (1 - x^2).", np.arctanh,
    lambda dy, x: dy / (1 - np.square(x)),
    public="atanh arctanh", analytic=True, samples=INSIDE,
)  # fmt: skip
Atan2 = pointwise(
    "Atan2", "y = the angle of the point (b, a), in (-pi, pi];   da = dy b / (a^2 + b^2), db = -dy a / (a^2 + b^2).", np.arctan2,
    lambda dy, a, b: _over_r2(dy, a, b) * b,
    lambda dy, a, b: -_over_r2(dy, a, b) * a,
    public="atan2 arctan2", in_place="method", samples=Samples(None, (((0.0, 0.0, 1.0), (0.0, -1.0, 0.0)),), False),
)  # fmt: skip
Hypot = pointwise(
    "Hypot", "y = sqrt(a^2 + b^2), without overflow on the way;   da = dy a / y, db = dy b / y.", np.hypot,
    lambda dy, a, y: dy * (a / y),
    lambda dy, b, y: dy * (b / y),
    public="hypot", in_place="method", samples=Samples((0.2, 4.0), (), False),
)  # fmt: skip
