"""Windows, and Fourier transforms of the windowed pieces of a signal."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.core.public_api.taken import named
from badak.tensor import fft, windows
from badak.tensor.complex import view_as_real
from badak.tensor.create import ones
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.pad import pad
from badak.tensor.tensor import Tensor


def _window(name: str, values: Callable, doc: str) -> Callable[..., Tensor]:
    """The public function of a window of which `values(n, *settings)` gives the factors."""

    def function(
        window_length: int,
        periodic: bool = True,
        *settings: float,
        dtype: DType | None = None,
        layout: Any = None,
        device: Device = None,
        requires_grad: bool = False,
        pin_memory: bool | None = False,
        **named: float,
    ) -> Tensor:
        values_of = lambda n: values(n, *settings, **named)
        return windows.made(name, values_of, int(window_length), periodic, dtype, device, requires_grad)

    return named(function, name, doc)


def _hamming(n: int, alpha: float = 0.54, beta: float = 0.46):
    return windows.cosines(n, (alpha, beta))


hann_window = _window("hann_window", np.hanning, "(1 - cos(2 pi k / n)) / 2, k = 0 .. n - 1; periodic=False: over n - 1.")
hamming_window = _window("hamming_window", _hamming, "alpha - beta cos(2 pi k / n), alpha = 0.54, beta = 0.46.")
blackman_window = _window("blackman_window", np.blackman, "0.42 - 0.5 cos(2 pi k / n) + 0.08 cos(4 pi k / n).")
bartlett_window = _window("bartlett_window", np.bartlett, "1 - |2 k / n - 1|.")
kaiser_window = _window("kaiser_window", lambda n, beta=12.0: np.kaiser(n, beta), "I0(beta sqrt(1 - (2 k / n - 1)^2)) / I0(beta).")


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """y[f, t] = sum_k window[k] x[t hop + k] exp(-2 pi i k f / n_fft), x (T,) or (B, T) -> (B, n_fft / 2 + 1, frames).

    hop_length: n_fft / 4. center: x padded by n_fft / 2 at both ends, so that frame t is around x[t hop]. normalized: over
    sqrt(n_fft). return_complex=False: real and imaginary parts along a last dim. A shorter
    window stands in the middle of n_fft. onesided=False: all n_fft frequencies.
    """
    if return_complex is None and not (input.is_complex() or (window is not None and window.is_complex())):
        raise ArgumentError(tr("stft requires the return_complex parameter be given for real inputs"), "return_complex=True")
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if input.dim() not in (1, 2):
        raise ShapeError(tr("stft: expected a 1D or 2D tensor; got shape {}", tuple(input.shape)), "x.flatten(0, -2)")
    if n_fft < 1 or hop < 1 or not 0 < length <= n_fft or (window is not None and tuple(window.shape) != (length,)):
        shape = None if window is None else tuple(window.shape)
        cause = tr("stft: expected n_fft > 0, hop_length > 0, 0 < win_length <= n_fft and a window of that length; got n_fft={}, "
                   "hop_length={}, win_length={}, window {}", n_fft, hop, length, shape)  # fmt: skip
        raise ArgumentError(cause, "window=hann_window(win_length)")
    x = input.unsqueeze(0) if input.dim() == 1 else input
    if center:
        x = pad(x.unsqueeze(1), (n_fft // 2, n_fft // 2), pad_mode).squeeze(1)
    if x.size(-1) < n_fft:
        cause = tr("stft: expected at least n_fft={} values; got {}", n_fft, x.size(-1))
        raise ShapeError(cause, "a longer signal, or a smaller n_fft")
    frames = x.unfold(-1, n_fft, hop)
    if window is None and length < n_fft:
        window = x.real.new_ones(length) if x.is_complex() else x.new_ones(length)
    if window is not None:
        frames = frames * _middle(window, n_fft)
    complex_ = x.is_complex() or window is not None and window.is_complex()
    if onesided and complex_:
        raise ArgumentError("stft: Cannot have onesided output if window or input is complex", "onesided=False")
    one_sided = not complex_ if onesided is None else onesided
    norm = "ortho" if normalized else "backward"
    y = (fft.rfft(frames, norm=norm) if one_sided else fft.fft(frames, norm=norm)).transpose(-1, -2)
    y = y if input.is_contiguous() else y.contiguous()  # PyTorch's lies as the frames do; the order of signals in rows is kept
    y = y.squeeze(0) if input.dim() == 1 else y
    return view_as_real(y) if return_complex is False else y


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose stft this is: frames transformed back, windowed, added up, over the sum of squared windows.

    Raises ArgumentError where that sum is 0 somewhere inside. length: how many values are wanted.
    """
    hop, size = hop_length or n_fft // 4, win_length or n_fft
    y = input.unsqueeze(0) if input.dim() == 2 else input
    if y.dim() != 3 or not y.is_complex():
        cause = tr("istft: expected a complex tensor (B, frequencies, frames); got {} {}", input.dtype, tuple(input.shape))
        raise ShapeError(cause, "what stft gave")
    w = _middle(ones(size, dtype=y.dtype.to_real()) if window is None else window, n_fft)
    norm, frames = "ortho" if normalized else "backward", y.transpose(-1, -2)
    if return_complex:
        x = fft.ifft(frames, norm=norm) * w
    else:
        x = fft.irfft(frames[..., : n_fft // 2 + 1], n=n_fft, norm=norm) * w
    count = x.size(1)
    at = np.arange(count)[:, None] * hop + np.arange(n_fft)
    places, total = Tensor._of(at.reshape(-1)), (count - 1) * hop + n_fft
    signal = x.new_zeros((x.size(0), total)).index_add(1, places, x.flatten(1))
    envelope = w.new_zeros(total).index_add(0, places, (w * w).expand(count, n_fft).reshape(-1))
    start = n_fft // 2 if center else 0
    end = total - start if length is None else min(start + length, total)
    if end > start and float(envelope[start:end].detach().abs().min()) <= 1e-11:
        raise ArgumentError("istft: window overlap add min: 0: the windows leave gaps", "a smaller hop_length, or another window")
    signal = signal[:, start:end] / envelope[start:end]
    if length is not None and length > end - start:
        signal = pad(signal, (0, length - (end - start)))
    return signal.squeeze(0) if input.dim() == 2 else signal


def _middle(window: Tensor, n: int) -> Tensor:
    """The window with zeros around it, n long."""
    left = math.floor((n - window.size(0)) / 2)
    return window if window.size(0) == n else pad(window, (left, n - window.size(0) - left))
