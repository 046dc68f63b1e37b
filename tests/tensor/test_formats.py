"""Memory formats: images whose channels lie side by side, made, kept by layers, and asked for, as in PyTorch."""

import numpy as np
import pytest
import torch

import badak
import badak.nn.functional as F
from badak.core.errors import ShapeError

LAYERS = {
    "conv2d": lambda lib, x: lib.nn.functional.conv2d(x, lib.ones(5, 4, 3, 3)),
    "conv_transpose2d": lambda lib, x: lib.nn.functional.conv_transpose2d(x, lib.ones(4, 5, 3, 3)),
    "batch_norm": lambda lib, x: lib.nn.functional.batch_norm(x, None, None, training=True),
    "group_norm": lambda lib, x: lib.nn.functional.group_norm(x, 2),
    "instance_norm": lambda lib, x: lib.nn.functional.instance_norm(x),
    "max_pool2d": lambda lib, x: lib.nn.functional.max_pool2d(x, 2),
    "avg_pool2d": lambda lib, x: lib.nn.functional.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda lib, x: lib.nn.functional.adaptive_avg_pool2d(x, 2),
    "interpolate": lambda lib, x: lib.nn.functional.interpolate(x, scale_factor=2),
    "pixel_shuffle": lambda lib, x: lib.nn.functional.pixel_shuffle(x, 2),
    "reflect": lambda lib, x: lib.nn.functional.pad(x, (1, 1, 1, 1), mode="reflect"),
    "circular": lambda lib, x: lib.nn.functional.pad(x, (1, 1, 1, 1), mode="circular"),
    "softmax": lambda lib, x: lib.nn.functional.softmax(x, 1),
    "roll": lambda lib, x: x.roll(1, 2),
    "sort": lambda lib, x: x.sort(2).values,
    "nan_to_num": lambda lib, x: x.nan_to_num(),
    "all": lambda lib, x: (x > 0).all(2),
    "logsigmoid": lambda lib, x: lib.nn.functional.logsigmoid(x),
    "rand_like": lambda lib, x: lib.rand_like(x),
    "dropout": lambda lib, x: lib.nn.functional.dropout(x, 0.5),
    "empty_like": lambda lib, x: lib.zeros_like(x),
    "in rows": lambda lib, x: x.contiguous(),
    "rows asked for": lambda lib, x: lib.ones_like(x, memory_format=lib.contiguous_format),
    "a clone in rows": lambda lib, x: x.clone(memory_format=lib.contiguous_format),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("batch", [1, 2])
def test_results_lie_in_memory_as_with_pytorch(name, batch):
    numbers, found = np.random.default_rng(0).standard_normal((batch, 4, 6, 8)).astype(np.float32), []
    for lib in (torch, badak):
        lib.manual_seed(0)
        y = LAYERS[name](lib, lib.from_numpy(numbers.copy()).to(memory_format=lib.channels_last))
        found.append(([s for s, n in zip(y.stride(), y.shape) if n > 1], y.float().numpy()))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-4, atol=1e-5)


def test_a_format_can_be_asked_for():
    x = badak.ones(2, 3, 4, 5)
    y = x.to(memory_format=badak.channels_last)
    assert y.stride() == (60, 1, 15, 3) and y.is_contiguous(memory_format=badak.channels_last) and not y.is_contiguous()
    assert y.contiguous(memory_format=badak.channels_last) is y and x.contiguous() is x
    assert badak.empty_like(x, memory_format=badak.channels_last).stride() == y.stride()
    layer = badak.nn.Conv2d(3, 2, 3).to(memory_format=badak.channels_last)
    assert layer.weight.stride() == (27, 1, 9, 3) and layer.bias.stride() == (1,)
    assert F.conv2d(x, layer.weight).is_contiguous(memory_format=badak.channels_last)
    with pytest.raises(ShapeError, match="required rank 4 tensor to use channels_last format; got 2 dims\nfix: "):
        badak.ones(2, 3).to(memory_format=badak.channels_last)


def test_gradients_go_through_a_change_of_format():
    x = badak.ones(1, 2, 2, 2).requires_grad_()
    (x.to(memory_format=badak.channels_last) * 3).sum().backward()
    assert x.grad.eq(3).all()


COPIES = {
    "tensor": lambda lib, v: lib.tensor(v),
    "in another dtype": lambda lib, v: lib.tensor(v, dtype=lib.float32),
    "of a tensor": lambda lib, v: lib.tensor(lib.from_numpy(v)),
    "new_tensor": lambda lib, v: lib.ones(1).new_tensor(v),
    "asarray": lambda lib, v: lib.asarray(v, copy=True),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", COPIES)
def test_a_copy_of_an_array_lies_in_memory_as_the_array(name):
    a = np.arange(24.0).reshape(2, 3, 4)
    for v in (a.T, np.asfortranarray(a), a[:, ::2].transpose(2, 0, 1), a[:, :, ::2], np.broadcast_to(a[:1], (2, 3, 4)).T):
        ours, theirs = COPIES[name](badak, v), COPIES[name](torch, v)
        assert ours.stride() == theirs.stride()
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
        ours[0] = 99.0
        assert v.max() < 24
