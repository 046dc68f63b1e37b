"""Rows of the Fourier transforms: odd and even lengths, cut off and filled up."""

import numpy as np
import torch

from badak.ops.fourier import Fourier, InverseRealFourier, RealFourier
from tests.samples import Draw, Sample, case


def spectrum(*shape):
    """Complex numbers."""
    return Draw(lambda rng: (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(np.complex64))


def rows(function):
    """PyTorch's function; of no rows, on which its library fails, none of the columns that it would make."""
    return lambda x, n, axis, norm, **options: (
        function(x, n, axis, norm, **options)
        if x.numel()
        else function(torch.ones(1, x.shape[1], dtype=x.dtype), n, axis, norm, **options)[:0] + x.real.sum()
    )


@rows
def fourier(x, n, axis, norm, inverse):
    return (torch.fft.ifft if inverse else torch.fft.fft)(x, n, axis, norm)


NORMS = ["backward", "ortho", "forward"]
INNERMOST = "PyTorch leaves the axis that was transformed innermost; moving it back costs NumPy's transform nothing"
ROWS = [
    Sample(Fourier, fourier, [
        case(spectrum(2, 5), n=5, axis=1), case(spectrum(2, 6), n=4, axis=1), case(spectrum(3, 2), n=8, axis=0),
        case(spectrum(1, 1), n=1, axis=1), case(spectrum(0, 2), n=2, axis=1),
    ], norm=NORMS, inverse=[False, True], slack=4, by_rows=INNERMOST),
    Sample(RealFourier, rows(torch.fft.rfft), [
        case((2, 5), n=5, axis=1), case((2, 6), n=6, axis=1), case((2, 6), n=4, axis=1), case((3, 2), n=8, axis=0),
        case((1, 1), n=1, axis=1), case((0, 2), n=2, axis=1),
    ], norm=NORMS, slack=4, by_rows=INNERMOST),
    Sample(InverseRealFourier, rows(torch.fft.irfft), [
        case(spectrum(2, 3), n=5, axis=1), case(spectrum(2, 3), n=4, axis=1), case(spectrum(2, 5), n=4, axis=1),
        case(spectrum(3, 2), n=9, axis=0), case(spectrum(1, 1), n=1, axis=1), case(spectrum(0, 2), n=2, axis=1),
    ], norm=NORMS, slack=4, by_rows=INNERMOST),
]  # fmt: skip
