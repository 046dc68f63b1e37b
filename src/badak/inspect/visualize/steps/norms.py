"""Layer norm and RMS norm: a row is moved and stretched, and its gradient loses what that takes out."""

import math

import numpy as np

from badak.inspect.visualize.steps.row import Row, Steps, filled, step

DERIVATIVE = "the derivative by h"
SCALED = "a scale of x is divided out again: this part is lost"


def _normed(row: Row) -> tuple[np.ndarray, float, float, np.ndarray]:
    x = row.given()
    mean, var = float(x.mean()), float(x.var())
    rstd = 1 / math.sqrt(var + row.setting("eps", 1e-5))
    return x, mean, rstd, (x - mean) * rstd


def layer_norm(row: Row) -> Steps:
    x, mean, rstd, h = _normed(row)
    return [
        step("x", "", x),
        step("mean", "1/C sum_c x[c]", mean, "the middle of the row"),
        step("var", "1/C sum_c (x[c] - mean)^2", x.var(), "how far it spreads"),
        step("rstd", "1 / sqrt(var + eps)", rstd),
        step("h", "(x - mean) rstd", h, "mean 0, variance 1"),
        step("y", _affine(row), row.y),
    ]


def _affine(row: Row) -> str:
    """y of h, by the parameters that there are."""
    weight, bias = (len(row.x) > i and row.x[i] is not None for i in (1, 2))
    return ("w h" if weight else "h") + (" + b" if bias else "")


def layer_norm_back(row: Row) -> Steps:
    x, _, rstd, h = _normed(row)
    g = filled(row.x[1], x.size, 1.0) * row.came
    return [
        step("g", "w dy" if row.x[1] is not None else "dy", g, DERIVATIVE),
        step("mean(g)", "1/C sum_c g[c]", g.mean(), "a shift of x is taken out again: this part is lost"),
        step("mean(g h)", "1/C sum_c g[c] h[c]", (g * h).mean(), SCALED),
        step("dx", "rstd (g - mean(g) - h mean(g h))", rstd * (g - g.mean() - h * (g * h).mean())),
    ]


def _rms(row: Row) -> tuple[np.ndarray, float, np.ndarray]:
    x = row.given()
    rstd = 1 / math.sqrt(float((x * x).mean()) + row.setting("eps", 1e-5))
    return x, rstd, x * rstd


def rms_norm(row: Row) -> Steps:
    x, rstd, h = _rms(row)
    return [
        step("x", "", x),
        step("mean(x^2)", "1/C sum_c x[c]^2", (x * x).mean()),
        step("rstd", "1 / sqrt(mean(x^2) + eps)", rstd),
        step("h", "x rstd", h, "length 1 for each channel"),
        step("y", _affine(row), row.y),
    ]


def rms_norm_back(row: Row) -> Steps:
    x, rstd, h = _rms(row)
    weight = row.x[1] if len(row.x) > 1 else None
    g = filled(weight, x.size, 1.0) * row.came
    return [
        step("g", "w dy" if weight is not None else "dy", g, DERIVATIVE),
        step("mean(g h)", "1/C sum_c g[c] h[c]", (g * h).mean(), SCALED),
        step("dx", "rstd (g - h mean(g h))", rstd * (g - h * (g * h).mean())),
    ]
