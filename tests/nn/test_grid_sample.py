"""Images looked at where a grid says, against PyTorch: values, gradients, places far away, second derivatives."""

import itertools

import numpy as np
import pytest
import torch

import badak
from badak.autograd import gradcheck, gradgradcheck
from badak.core.errors import BadakError
from tests.nn.twins import agree

PADDINGS = ("zeros", "border", "reflection")
MODES = [
    (mode, padding, corners, axes)
    for mode, padding, corners, axes in itertools.product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True), (2, 3)
    )
    if mode != "bicubic" or axes == 2
]


def places(*shape, spread=1.7):
    """Places that lie within and beyond the borders, none of them where a slope jumps."""
    return np.random.default_rng(len(shape)).uniform(-spread, spread, shape).astype("f")


@pytest.mark.parametrize("mode, padding, corners, axes", MODES)
def test_values_and_gradients_are_pytorchs(mode, padding, corners, axes):
    x = np.random.default_rng(1).standard_normal((2, 3, *(5, 4, 3)[:axes])).astype("f")
    for spread in (0.9, 9.0):
        grid = places(2, *(4, 3, 2)[:axes], axes, spread=spread)
        agree(
            lambda lib, x, grid: lib.nn.functional.grid_sample(x, grid, mode, padding, corners),
            x,
            grid,
            units=4096,
            dtypes=("float64",),
        )


@pytest.mark.parametrize("mode, padding, corners, axes", MODES)
def test_borders_infinities_and_what_is_no_number(mode, padding, corners, axes):
    edges = np.array([-1, 1, 0, -1.5, 3, np.nan, np.inf, -np.inf, 1e30], "f")
    grid = np.stack(np.meshgrid(*[edges] * 2, indexing="ij"), -1)
    grid = np.concatenate([grid, np.zeros_like(grid[..., :1])], -1)[None, :, :, :axes].reshape(1, 9, *(1,) * (axes - 2), 9, axes)
    x = np.random.default_rng(1).standard_normal((1, 1, *(4, 3, 2)[:axes])).astype("f")
    ys = [lib.nn.functional.grid_sample(lib.tensor(x), lib.tensor(grid), mode, padding, corners).numpy() for lib in (badak, torch)]
    known = np.isfinite(grid).all(-1)[:, None] & (np.abs(grid) < 1e9).all(-1)[:, None]
    np.testing.assert_allclose(ys[0][known], ys[1][known], rtol=1e-5, atol=1e-5)
    if padding == "zeros":
        np.testing.assert_allclose(ys[0][~known], 0, atol=0)


@pytest.mark.thin(3)
@pytest.mark.slow
@pytest.mark.parametrize("mode, padding", list(itertools.product(("bilinear", "bicubic"), PADDINGS)))
def test_first_and_second_derivatives_are_those_of_the_values(mode, padding):
    x = badak.tensor(np.random.default_rng(1).standard_normal((1, 1, 2, 3)), requires_grad=True)
    grid = badak.tensor(places(1, 1, 2, 2).astype("d"), requires_grad=True)

    def call(x, grid):
        return badak.nn.functional.grid_sample(x, grid, mode, padding, False)

    assert gradcheck(call, (x, grid)) and gradgradcheck(call, (x, grid))


@pytest.mark.filterwarnings("ignore:.*affine_grid")
@pytest.mark.filterwarnings("ignore:Since version 1.3.0, affine_grid")
@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 3, 1, 5), (2, 1, 2, 3, 4)])
def test_affine_grid_is_pytorchs(size, corners):
    axes = len(size) - 2
    theta = np.random.default_rng(2).standard_normal((2, axes, axes + 1)).astype("f")
    agree(lambda lib, theta: lib.nn.functional.affine_grid(theta, size, corners), theta)


def test_sixteen_bits_and_the_meta_device():
    x, grid = badak.randn(1, 2, 3, 4), badak.rand(1, 5, 6, 2)
    half = badak.nn.functional.grid_sample(x.bfloat16(), grid.bfloat16(), align_corners=False)
    exact = badak.nn.functional.grid_sample(x.bfloat16().float(), grid.bfloat16().float(), align_corners=False)
    assert half.dtype == badak.bfloat16 and badak.equal(half, exact.bfloat16())
    assert badak.nn.functional.grid_sample(x.to("meta"), grid.to("meta")).shape == (1, 2, 5, 6)
    assert badak.nn.functional.affine_grid(badak.empty(1, 2, 3, device="meta"), (1, 2, 3, 4)).shape == (1, 3, 4, 2)


REFUSED = {
    "mode": (lambda F, x: F.grid_sample(x, x, mode="linear"), "nn.functional.grid_sample(): expected mode to be"),
    "padding": (lambda F, x: F.grid_sample(x, x, padding_mode="no"), "nn.functional.grid_sample(): expected padding_mode"),
    "batch": (lambda F, x: F.grid_sample(x, badak.ones(2, 3, 3, 2)), "grid_sampler(): expected grid and input to have same batch"),
    "last axis": (lambda F, x: F.grid_sample(x, badak.ones(1, 3, 3, 3)), "grid_sampler(): expected grid to have size 2 in last"),
    "axes": (lambda F, x: F.grid_sample(x[0], x[0]), "grid_sampler(): expected 4D or 5D input"),
    "dtype": (lambda F, x: F.grid_sample(x, badak.ones(1, 3, 3, 2).double()), "grid_sampler(): expected input and grid to have"),
    "theta": (lambda F, x: F.affine_grid(x, (1, 2, 3, 4)), "affine_grid: Expected a batch of 2D affine matrices of shape Nx2x3"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name):
    call, text = REFUSED[name]
    with pytest.raises(BadakError) as caught:
        call(badak.nn.functional, badak.ones(1, 2, 3, 4))
    assert str(caught.value).startswith(text) and "\nfix: " in str(caught.value)
