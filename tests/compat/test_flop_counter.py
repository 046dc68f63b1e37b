"""FlopCounterMode: PyTorch's counts, by module, forward and backward."""

import pytest
import torch
from badak.utils.flop_counter import FlopCounterMode
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode as Theirs

import badak
from badak.core.errors import NotSupportedError


def layers(nn):
    return nn.Sequential(nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 2, bias=False))


def images(nn):
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.Flatten(), nn.Linear(16, 3))


def encoder(nn):
    return nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)


def counted(lib, mode, make, shape):
    model = make(lib.nn)
    with sdpa_kernel(SDPBackend.MATH), mode(display=False) as counter:
        model(lib.randn(*shape)).sum().backward()
    return {name: sum(flops.values()) for name, flops in counter.get_flop_counts().items()}, counter


@pytest.mark.parametrize(("make", "shape"), [(layers, (3, 4)), (images, (2, 2, 4, 4)), (encoder, (2, 5, 8))])
def test_counts_are_those_of_pytorch_for_each_module(make, shape):
    theirs, _ = counted(torch, Theirs, make, shape)
    ours, counter = counted(badak, FlopCounterMode, make, shape)
    assert counter.get_total_flops() == theirs["Global"] > 0
    if make is not encoder:  # PyTorch finds its modules again in the backward, and takes some for others there
        assert ours == theirs


def test_a_compiled_model_counts_as_it_is_written():
    model, x = badak.compile(layers(badak.nn)), badak.randn(3, 4)
    for _ in range(3):
        with FlopCounterMode(display=False) as counter:
            model(x)
        assert counter.get_total_flops() == 2 * 3 * (4 * 8 + 8 * 2)


@pytest.mark.slow
def test_a_model_without_values_is_counted():
    with badak.device("meta"), FlopCounterMode(display=False) as counter:
        badak.nn.Linear(10_000, 20_000)(badak.randn(64, 10_000))
    assert counter.get_total_flops() == 2 * 64 * 10_000 * 20_000


def test_a_second_derivative_is_counted_once():
    model, x = layers(badak.nn), badak.randn(3, 4, requires_grad=True)
    first, second = 2 * 3 * 4 * 8, 2 * 3 * 8 * 2  # FLOPs of the two layers
    with FlopCounterMode(display=False) as counter:
        (g,) = badak.autograd.grad(model(x).sum(), x, create_graph=True)
        (g * g).sum().backward()
    assert counter.get_total_flops() == 2 * (first + second) + 2 * first + second


def test_the_table(capsys):
    with FlopCounterMode(depth=1):
        badak.ones(2, 3) @ badak.ones(3, 4)
        layers(badak.nn)(badak.ones(300, 4))
    assert capsys.readouterr().out.splitlines() == [
        "Module          FLOP  % Total",
        "-----------  -------  -------",
        "Global       28.848K  100.00%",
        " - matmul     0.048K    0.17%",
        " - linear    28.800K   99.83%",
        " Sequential  28.800K   99.83%",
        "  - linear   28.800K   99.83%",
    ]  # fmt: skip


def test_a_backward_whose_forward_was_not_seen_is_not_left_out():
    y = layers(badak.nn)(badak.ones(3, 4)).sum()
    with pytest.raises(NotSupportedError, match="ran outside of a counter.*\nfix: the forward within"):
        with FlopCounterMode(display=False):
            y.backward()
    with pytest.raises(NotSupportedError, match="custom_mapping is not supported\nfix: "):
        FlopCounterMode(custom_mapping={"linear": len})
