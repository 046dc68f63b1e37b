"""torch.fft's functions, live against PyTorch: sizes, dims, norms, and gradients through them."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError, IndexOutOfRangeError

X = np.random.default_rng(0).standard_normal((4, 5, 6)).astype(np.float32)
CALLS = {
    "fft": lambda lib, x: lib.fft.fft(x),
    "fft of a length": lambda lib, x: lib.fft.fft(x, 4, 1, "ortho"),
    "ifft": lambda lib, x: lib.fft.ifft(x, n=9, norm="forward"),
    "rfft": lambda lib, x: lib.fft.rfft(x, dim=1),
    "irfft": lambda lib, x: lib.fft.irfft(lib.fft.rfft(x, dim=0) * 2, dim=0, n=4),
    "irfft of reals": lambda lib, x: lib.fft.irfft(x),
    "hfft": lambda lib, x: lib.fft.hfft(x, norm="ortho"),
    "ihfft": lambda lib, x: lib.fft.ihfft(x),
    "fft2": lambda lib, x: lib.fft.fft2(x),
    "ifft2": lambda lib, x: lib.fft.ifft2(x, s=(3, 8)),
    "fftn": lambda lib, x: lib.fft.fftn(x),
    "ifftn": lambda lib, x: lib.fft.ifftn(x, dim=(0, 2)),
    "rfft2": lambda lib, x: lib.fft.rfft2(x, norm="ortho"),
    "irfft2": lambda lib, x: lib.fft.irfft2(lib.fft.rfft2(x), s=(5, 6)),
    "rfftn": lambda lib, x: lib.fft.rfftn(x, s=(3, -1)),
    "irfftn": lambda lib, x: lib.fft.irfftn(x, dim=(0, 1)),
    "fftshift": lambda lib, x: lib.fft.fftshift(x),
    "ifftshift": lambda lib, x: lib.fft.ifftshift(x, dim=1),
    "token mixing": lambda lib, x: lib.fft.fft(lib.fft.fft(x, dim=-1), dim=-2).real,
}


@pytest.mark.parametrize("name", CALLS)
def test_transforms_and_gradients_equal_those_of_pytorch(name):
    found = []
    for lib in (torch, badak):
        x = lib.tensor(X, requires_grad=True)
        y = CALLS[name](lib, x)
        (y.abs() ** 2 * 0.01 + (y.real if y.is_complex() else y)).sum().backward()
        found.append((str(y.dtype).split(".")[1], y.detach().resolve_conj().numpy(), x.grad.numpy()))
    (kind, y, dx), (our_kind, our_y, our_dx) = found
    assert kind == our_kind
    np.testing.assert_allclose(our_y, y, rtol=2e-6, atol=2e-6 * np.abs(y).max())
    np.testing.assert_allclose(our_dx, dx, rtol=1e-5, atol=1e-5 * np.abs(dx).max())


@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies_equal_those_of_pytorch(n):
    for name in ("fftfreq", "rfftfreq"):
        for d in (1.0, 0.1):
            theirs, ours = (getattr(lib.fft, name)(n, d).numpy() for lib in (torch, badak))
            np.testing.assert_array_equal(ours, theirs)


def test_whole_numbers_become_floats_and_float64_stays():
    assert badak.fft.fft(badak.arange(4)).dtype is badak.complex64
    assert badak.fft.rfft(badak.arange(4)).dtype is badak.complex64
    assert badak.fft.fft(badak.zeros(4, dtype=badak.float64)).dtype is badak.complex128


def test_mistakes_are_named():
    x = badak.zeros(2, 3)
    with pytest.raises(IndexOutOfRangeError, match="fft: expected dim in 0 .. 1; got dim=2"):
        badak.fft.fft(x, dim=2)
    with pytest.raises(ArgumentError, match="Invalid normalization mode: 'both'"):
        badak.fft.fft(x, norm="both")
    with pytest.raises(ArgumentError, match="Invalid number of data points"):
        badak.fft.irfft(badak.zeros(1))
    with pytest.raises(ArgumentError, match="rfft: expects a real input"):
        badak.fft.rfft(badak.fft.fft(x))
    with pytest.raises(ArgumentError, match="dim and shape must have the same length"):
        badak.fft.fft2(x, s=(2,))


def test_angles_and_conjugates_equal_those_of_pytorch():
    z = np.array([1 + 1j, -1, -2j, 0, 3 - 4j], np.complex64)
    for lib_z in (z, np.float32([1, -2, 0, -0.0, np.inf, -np.inf])):
        theirs, ours = torch.from_numpy(lib_z), badak.from_numpy(lib_z)
        np.testing.assert_allclose(badak.angle(ours).numpy(), torch.angle(theirs).numpy(), atol=1e-7)
        np.testing.assert_array_equal(ours.conj().resolve_conj().numpy(), theirs.conj().resolve_conj().numpy())
        assert not ours.is_conj() and ours.resolve_neg() is ours
        np.testing.assert_array_equal(ours.conj_physical().numpy(), theirs.conj_physical().numpy())
