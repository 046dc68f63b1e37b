"""histogramdd, nonzero_static, empty_strided, empty_permuted, cond, DLPack by its old names: as PyTorch's."""

import numpy as np
import pytest
import torch
import torch.utils.dlpack

import badak

POINTS = [[0.1, 0.5], [0.9, 0.2], [0.4, 0.45], [1.0, 0.0], [0.3, 0.31]]
HISTOGRAMS = {
    "numbers": lambda lib, x: lib.histogramdd(x, [2, 3]),
    "one number": lambda lib, x: lib.histogramdd(x, 4),
    "range": lambda lib, x: lib.histogramdd(x, [2, 2], range=[0.0, 1.0, 0.0, 0.5]),
    "edges": lambda lib, x: lib.histogramdd(x, (lib.tensor([0.0, 0.35, 1.0]), lib.tensor([0.0, 0.4, 0.6]))),
    "weights": lambda lib, x: lib.histogramdd(x, [2, 3], weight=lib.arange(5.0)),
    "density": lambda lib, x: lib.histogramdd(x, [2, 3], density=True),
}


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histogramdd(name):
    ours, theirs = (HISTOGRAMS[name](lib, lib.tensor(POINTS)) for lib in (badak, torch))
    np.testing.assert_allclose(ours.hist.numpy(), theirs.hist.numpy(), rtol=1e-6)
    for mine, other in zip(ours.bin_edges, theirs.bin_edges, strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-6)


def test_nonzero_static_and_empty_tensors():
    for lib in (badak, torch):
        x = lib.tensor([[1, 0], [0, 2], [3, 4]])
        assert lib.nonzero_static(x, size=6).tolist() == [[0, 0], [1, 1], [2, 0], [2, 1], [-1, -1], [-1, -1]]
        assert x.nonzero_static(size=1, fill_value=7).tolist() == [[0, 0]]
        y = lib.empty_strided((2, 3), (1, 2), dtype=lib.int64)
        assert (tuple(y.shape), y.stride(), y.dtype) == ((2, 3), (1, 2), lib.int64)
        z = lib.empty_permuted((2, 3, 5), (0, 2, 1))
        assert (tuple(z.shape), z.stride()) == ((2, 3, 5), (15, 1, 3))


def test_cond_calls_one_function():
    for lib in (badak, torch):
        x = lib.tensor(2.0, requires_grad=True)
        y = badak.cond(bool(x > 1), lambda x: x * 3, lambda x: x - 1, (x,)) if lib is badak else x * 3
        y.backward()
        assert x.grad.item() == 3
    assert badak.cond(badak.tensor([False]), lambda: 1, lambda: 2) == 2


def test_dlpack_by_its_old_names():
    for lib, space in ((badak, badak.utils.dlpack), (torch, torch.utils.dlpack)):
        x = lib.arange(6.0)
        y = space.from_dlpack(space.to_dlpack(x))
        y[0] = 9
        assert x[0] == 9
    assert badak.utils.dlpack.from_dlpack(torch.ones(2)).tolist() == [1, 1]


def test_nonsense_is_refused():
    x = badak.ones(3)
    for wrong in (
        lambda: badak.histogramdd(badak.tensor(POINTS), [2]),
        lambda: badak.histogramdd(badak.tensor([[1, 2]]), 2),
        lambda: badak.nonzero_static(x, size=-1),
        lambda: badak.empty_strided((2, 3), (1,)),
        lambda: badak.empty_permuted((2, 3), (0, 0)),
        lambda: badak.cond(x, abs, abs),
        lambda: badak.cond(True, 1, abs),
        lambda: badak.cond(True, abs, abs, x),
        lambda: badak.cond("x", abs, abs),
        lambda: badak.utils.dlpack.from_dlpack([1]),
        lambda: badak.utils.dlpack.to_dlpack([1]),
        lambda: badak.utils.dlpack.to_dlpack(x.requires_grad_()),
    ):
        with pytest.raises(badak.core.errors.BadakError, match="\nfix: "):
            wrong()
