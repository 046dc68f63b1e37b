"""`torch.signal.windows`: M factors that let a piece of a signal begin and end softly. sym=False: one period of M + 1 factors."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, DTypeError, expect_kind, tr
from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.core.public_api.taken import named
from badak.tensor import dtypes
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.promote import told_constant
from badak.tensor.tensor import Tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann", "kaiser",
    "nuttall",
]  # fmt: skip


def made(name: str, values: Callable, n: int, periodic: bool, dtype: Any, device: Device, requires_grad: bool) -> Tensor:
    """`values(n)` gives a window of n > 1 factors, symmetric; a periodic one is a longer one without its last."""
    dtypes.check_device(device)
    kind = dtypes.default_dtype() if dtype is None else dtypes.to_dtype(dtype)
    if not kind.is_floating_point:
        raise DTypeError(tr("{} expects floating point dtypes, got: {}", name, kind), "dtype=badak.float32")
    if n < 0:
        raise ArgumentError(tr("{} requires non-negative window_length, got window_length={}", name, n), "window_length=400")
    factors = np.ones(n) if n < 2 else values(n + 1)[:-1] if periodic else values(n)
    y = told_constant(np.array(factors, kind.numpy))
    return y.requires_grad_() if requires_grad else y


def cosines(n: int, factors: Sequence[float]) -> np.ndarray:
    """sum_i (-1)^i a_i cos(2 pi i k / (n - 1)), k = 0 .. n - 1."""
    k = 2 * np.pi * np.arange(n) / (n - 1)
    return sum((-1) ** i * a * np.cos(i * k) for i, a in enumerate(factors))


def _window(name: str, values: Callable, doc: str) -> Callable[..., Tensor]:
    """The public function: `values(n, **settings)`."""

    def function(
        M: int,
        *,
        sym: bool = True,
        dtype: DType | None = None,
        layout: Any = None,
        device: Device = None,
        requires_grad: bool = False,
        **settings: Any,
    ) -> Tensor:  # noqa: N803
        kind = dtypes.default_dtype() if dtype is None else dtypes.to_dtype(dtype)
        if kind not in (dtypes.float32, dtypes.float64):
            raise ArgumentError(tr("{} expects float32 or float64 dtypes, got: {}", name, kind), "dtype=badak.float32")
        return made(name, lambda n: values(n, **settings), int(M), not sym, dtype, device, requires_grad)

    return named(function, name, doc)


def _exponential(n: int, tau: float = 1.0, center: float | None = None) -> np.ndarray:
    if tau <= 0:
        raise ArgumentError(tr("Tau must be positive, got: {} instead.", tau), "tau=1.0")
    return np.exp(-np.abs(np.arange(n) - ((n - 1) / 2 if center is None else center)) / tau)


def _gaussian(n: int, std: float = 1.0) -> np.ndarray:
    if std <= 0:
        raise ArgumentError(tr("Standard deviation must be positive, got: {} instead.", std), "std=1.0")
    return np.exp(-(((np.arange(n) - (n - 1) / 2) / std) ** 2) / 2)


def _general_cosine(n: int, a) -> np.ndarray:
    expect_kind(a, (list, tuple), "Coefficients must be a list/tuple, got: {}", "a=[0.5, 0.5]")
    if not a:
        raise ArgumentError("Coefficients cannot be empty", "a=[0.5, 0.5]")
    return cosines(n, a)


def _kaiser(n: int, beta: float = 12.0) -> np.ndarray:
    if beta < 0:
        raise ArgumentError(tr("beta must be non-negative, got: {} instead.", beta), "beta=12.0")
    return np.kaiser(n, beta)


def exponential(M: int, *, center: int | None = None, tau: float = 1.0, sym: bool = True, **options: Any) -> Tensor:  # noqa: N803
    """exp(-|k - center| / tau); the center is the middle, or with sym=False any."""
    if sym and center is not None:
        raise ArgumentError("Center must be None for symmetric windows", "sym=False")
    around = center if center is None else float(center)
    return _window("exponential", _exponential, "")(M, tau=tau, center=around, sym=sym, **options)


bartlett = _window("bartlett", np.bartlett, "1 - |2 k / (M - 1) - 1|.")
blackman = _window("blackman", np.blackman, "0.42 - 0.5 cos(2 pi k / (M - 1)) + 0.08 cos(4 pi k / (M - 1)).")
cosine = _window("cosine", lambda n: np.sin(np.pi * (np.arange(n) + 0.5) / n), "sin(pi (k + 0.5) / M).")
gaussian = _window("gaussian", _gaussian, "exp(-((k - (M - 1) / 2) / std)^2 / 2).")
general_cosine = _window("general_cosine", _general_cosine, "sum_i (-1)^i a_i cos(2 pi i k / (M - 1)).")
general_hamming = _window(
    "general_hamming", lambda n, alpha=0.54: cosines(n, (alpha, 1 - alpha)), "alpha - (1 - alpha) cos(2 pi k / (M - 1))."
)
hamming = _window("hamming", lambda n: cosines(n, (0.54, 0.46)), "0.54 - 0.46 cos(2 pi k / (M - 1)).")
hann = _window("hann", np.hanning, "(1 - cos(2 pi k / (M - 1))) / 2.")
kaiser = _window("kaiser", _kaiser, "I0(beta sqrt(1 - (2 k / (M - 1) - 1)^2)) / I0(beta).")
nuttall = _window(
    "nuttall", lambda n: cosines(n, (0.3635819, 0.4891775, 0.1365995, 0.0106411)), "general_cosine with Nuttall's factors."
)


__getattr__, __dir__ = _door("badak.signal.windows")
_guard_names(globals(), "badak.signal.windows")
