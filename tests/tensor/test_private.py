"""Functions with PyTorch's underscore, against PyTorch's."""

import pytest
import torch

import badak
from badak.core.errors import ArgumentError, DTypeError, GraphError, ShapeError

X = [[-2.0, -1.0, 0.5], [1.0, 2.0, 3.0]]
CALLS = {
    "_neg_view": lambda lib, x: lib._neg_view(x),
    "x._neg_view": lambda lib, x: x._neg_view(),
    "_VF": lambda lib, x: lib._VF._add_relu(x, x, alpha=2),
    "relu of addmm": lambda lib, x: lib._addmm_activation(lib.ones(2), x, x.mT, beta=2, alpha=-1),
    "gelu of addmm": lambda lib, x: lib._addmm_activation(lib.ones(2), x, x.mT, use_gelu=True),
    "_masked_softmax": lambda lib, x: lib._masked_softmax(x, x > 2, 0, 2),
    "of keys": lambda lib, x: lib._masked_softmax(x[:, :2].reshape(1, 1, 2, 2), lib.tensor([[True, False]]), None, 1),
    "of queries": lambda lib, x: lib._masked_softmax(x[:, :2].reshape(1, 1, 2, 2), x[:, :2] < -1, -1, 0),
    "_unsafe_index": lambda lib, x: lib._unsafe_index(x, [lib.tensor([1, 0]), lib.tensor([2, 0])]),
    "_unsafe_index_put": lambda lib, x: lib._unsafe_index_put(x, [lib.tensor([1])], lib.ones(1, 3), True),
    "_unsafe_masked_index": lambda lib, x: lib._unsafe_masked_index(
        x, lib.tensor([True, False]), [lib.tensor([1, 9]), lib.tensor([0, -9])], 7.0
    ),
    "_unsafe_masked_index_put_accumulate": lambda lib, x: lib._unsafe_masked_index_put_accumulate(
        x, lib.tensor([True, False]), [lib.tensor([1, 9]), lib.tensor([0, -9])], lib.ones(2)
    ),
    "_chunk_cat": lambda lib, x: lib._chunk_cat([x.mT, x[0]], 0, 2),
    "as_strided_": lambda lib, x: lib.arange(6.0).as_strided_((2, 2), (1, 2), 1) + x[:, :2],
    "max_pool2d_with_indices": lambda lib, x: sum(lib.nn.functional.max_pool2d_with_indices(x[None, None], (1, 2))),
    "max_pool3d_with_indices": lambda lib, x: sum(lib.nn.functional.max_pool3d_with_indices(x[None, None], 1)),
    "max_pool1d_with_indices": lambda lib, x: sum(lib.nn.functional.max_pool1d_with_indices(x, 2)),
    "adaptive_max_pool1d_with_indices": lambda lib, x: sum(lib.nn.functional.adaptive_max_pool1d_with_indices(x, 2)),
    "adaptive_max_pool2d_with_indices": lambda lib, x: sum(lib.nn.functional.adaptive_max_pool2d_with_indices(x[None], 1)),
    "adaptive_max_pool3d_with_indices": lambda lib, x: sum(lib.nn.functional.adaptive_max_pool3d_with_indices(x[None, None], 1)),
}
WITHOUT = {"_VF", "relu of addmm", "gelu of addmm", "_chunk_cat", "of keys", "of queries"}  # gradients in PyTorch


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_are_pytorchs(name):
    told = []
    for lib in (badak, torch):
        x = lib.tensor(X, requires_grad=True)
        y = CALLS[name](lib, x)
        if name not in WITHOUT:
            (y * lib.arange(y.numel()).reshape(y.shape)).sum().backward()
        told.append((y.tolist(), [] if name in WITHOUT else x.grad.tolist()))
    for ours, theirs in zip(*told):
        assert torch.allclose(torch.tensor(ours), torch.tensor(theirs), rtol=1e-5, atol=1e-6, equal_nan=True)
        assert torch.tensor(ours).shape == torch.tensor(theirs).shape


def test_nothing_waits_to_be_negated():
    x = badak.ones(2)
    assert not badak.is_neg(x._neg_view()) and not x.is_neg()
    with pytest.raises(GraphError, match="x = x.clone()"):
        x._neg_view().mul_(2)


def test_masks_that_do_not_fit_are_refused():
    x = badak.ones(1, 1, 2, 3)
    with pytest.raises(DTypeError, match="Mask should be a boolean tensor"):
        badak._masked_softmax(x, badak.ones(1, 1, 2, 3))
    with pytest.raises(ArgumentError, match="Mask Type should be 0 .* got 3"):
        badak._masked_softmax(x, x > 0, -1, 3)
    with pytest.raises(ShapeError, match="does not fit an input"):
        badak._masked_softmax(x, badak.ones(3) > 0, -1, 1)


@pytest.mark.parametrize(("name", "args"), [("t_", ()), ("squeeze_", ()), ("unsqueeze_", (0,)), ("as_strided_", ((1,), (1,)))])
def test_the_shape_of_a_leaf_is_not_changed_while_gradients_are_recorded(name, args):
    for lib in (torch, badak):
        x = lib.ones(2, 3, requires_grad=True)
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
            getattr(x, name)(*args)
        with lib.no_grad():
            getattr(x, name)(*args)
