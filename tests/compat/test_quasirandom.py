"""Sobol sequences are PyTorch's, number by number, also scrambled."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError

pytest.importorskip("scipy", reason="SciPy has the direction numbers")


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [1, 2, 7, 50])
@pytest.mark.parametrize("options", [{}, {"scramble": True, "seed": 3}])
def test_points_are_those_of_pytorch(dimension, options):
    ours, theirs = (space.quasirandom.SobolEngine(dimension, **options) for space in (badak, torch))
    for draw in ("draw", "draw", "fast_forward", "draw", "reset", "draw_base2", "draw_base2"):
        for count in (4,) if draw == "draw_base2" else () if draw == "reset" else (1, 5, 8):
            mine, expected = getattr(ours, draw)(count), getattr(theirs, draw)(count)
            if draw == "fast_forward":
                continue
            assert np.array_equal(mine.numpy(), expected.numpy()), (draw, count)
        if draw == "reset":
            ours.reset(), theirs.reset()
        assert ours.num_generated == theirs.num_generated
    assert repr(ours) == repr(theirs)


@pytest.mark.slow
def test_scrambling_without_a_seed_follows_manual_seed():
    found = []
    for space in (badak, torch):
        space.manual_seed(5)
        found.append(space.quasirandom.SobolEngine(3, scramble=True).draw(4, dtype=space.float64).numpy())
    assert np.allclose(*found, rtol=0, atol=1e-7)  # PyTorch rounds the first point to float32


@pytest.mark.slow
def test_what_cannot_be_drawn():
    with pytest.raises(ArgumentError, match=r"\[1, 21201\]; got 0"):
        badak.quasirandom.SobolEngine(0)
    engine = badak.quasirandom.SobolEngine(2)
    with pytest.raises(ArgumentError, match="expected a number of points"):
        engine.draw(-1)
    engine.draw(3)
    with pytest.raises(ArgumentError, match="power of 2"):
        engine.draw_base2(1)
