"""SyncBatchNorm in one process: BatchNorm of any number of axes."""

import numpy as np
import pytest
import torch

import badak
from badak import nn
from badak.core.errors import ShapeError


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (2, 3, 4, 4), (2, 3, 2, 2, 2, 2)])
@pytest.mark.parametrize("training", [True, False])
def test_it_is_batch_norm(shape, training):
    x = np.random.default_rng(0).standard_normal(shape).astype("f")
    ours, theirs = nn.SyncBatchNorm(3), torch.nn.SyncBatchNorm(3)
    ours.train(training), theirs.train(training)
    y, expected = ours(badak.from_numpy(x)), theirs(torch.from_numpy(x))
    np.testing.assert_allclose(y.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)
    for (name, found), (same, other) in zip(ours.state_dict().items(), theirs.state_dict().items(), strict=True):
        assert name == same
        np.testing.assert_allclose(found.numpy(), other.numpy(), rtol=1e-6)
    assert repr(ours) == repr(theirs)


def test_convert_puts_it_in_the_place_of_every_batch_norm():
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Sequential(nn.BatchNorm1d(4, affine=False).eval()))
    before = model.state_dict()
    weight = model[1].weight
    made = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert isinstance(made[1], nn.SyncBatchNorm) and isinstance(made[2][0], nn.SyncBatchNorm)
    assert made[1].weight is weight and not made[2][0].training and list(made.state_dict()) == list(before)
    assert isinstance(nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm1d(2)), nn.SyncBatchNorm)


def test_a_vector_is_refused():
    with pytest.raises(ShapeError) as caught:
        nn.SyncBatchNorm(3)(badak.ones(3))
    assert str(caught.value) == "expected at least 2D input (got 1D input)\nfix: (N, C, ...)"


def test_paddings_of_the_wrong_number_are_refused():
    with pytest.raises(ValueError) as caught:
        nn.ZeroPad2d((1, 2))
    assert str(caught.value) == "ZeroPad2d: expected 4 paddings or one; got (1, 2)\nfix: padding=1"


@pytest.mark.parametrize(
    "call, text",
    [
        (
            lambda x, i: nn.functional.max_unpool1d(x, i[..., :1], 2),
            "max_unpool1d: expected indices of input's shape (1, 1, 2); got (1, 1, 1)\n"
            "fix: what max_pool1d(..., return_indices=True) gave",
        ),
        (
            lambda x, i: nn.functional.max_unpool1d(x, i, 2, output_size=[9]),
            "max_unpool1d: invalid output_size [9], expected within stride of [4]\nfix: [4]",
        ),
    ],
)
def test_what_cannot_be_unpooled_is_named(call, text):
    x, index = nn.functional.max_pool1d(badak.arange(4.0).reshape(1, 1, 4), 2, return_indices=True)
    with pytest.raises(ValueError) as caught:
        call(x, index)
    assert str(caught.value) == text
