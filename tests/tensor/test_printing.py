"""Tensors print as PyTorch prints them, to the character."""

import numpy as np
import pytest
import torch

import badak

RNG = np.random.default_rng(0)
VALUES = [
    np.float32(1.5), np.array([1.0, 2.0], np.float32), np.zeros(3, np.float32), np.zeros((0,), np.float32),
    np.zeros((2, 0), np.float32), np.array([1e-5, 1, 1000], np.float32), np.array([1e9, 1.0], np.float32),
    np.array([0.1, np.nan, np.inf, -np.inf], np.float32), np.array([np.nan], np.float32), np.array([1.0, np.inf], np.float32),
    np.array([True, False]), np.arange(12).reshape(3, 4), np.array([-5, 100000]), np.array([255, 1], np.uint8),
    RNG.standard_normal((2, 3, 4)).astype(np.float32), RNG.standard_normal(30).astype(np.float32),
    RNG.standard_normal((3, 40)), np.zeros(1200, np.float32), np.arange(1300), RNG.standard_normal((50, 60)).astype(np.float32),
    RNG.standard_normal((2, 30, 30, 2)).astype(np.float32), np.array([1e-8, 1e-7], np.float32), np.array([12345.678], np.float32),
    np.array([-0.0, 0.5], np.float32), np.array([[1.0], [22.0], [-333.0]], np.float32), np.array([1, 2], np.int32),
    np.array(3), np.array([123456789.0], np.float32), np.array([0.00012, 0.5]), np.array([1 + 2j, -0.5 - 1j], np.complex64),
    np.array([1 + 2j]).conj() * 1j, np.array([complex(1, -0.0), complex(-0.0, np.nan), complex(np.inf, -np.inf)]),
    np.arange(12) * (1 - 0.37j), np.arange(12) * (100 + 1j), np.full((40, 40), 1 - 0.5j, np.complex64),
]  # fmt: skip


@pytest.mark.parametrize("array", VALUES, ids=lambda a: f"{a.dtype}{a.shape}")
def test_a_tensor_prints_as_in_pytorch(array):
    expected = str(torch.from_numpy(np.array(array)))
    assert str(badak.from_numpy(np.array(array))) == expected.replace("dtype=torch.", "dtype=badak.")


def test_requires_grad_and_the_operation_are_shown():
    x = badak.ones(2, requires_grad=True)
    assert str(x) == "tensor([1., 1.], requires_grad=True)"
    assert str(x * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"


@pytest.mark.parametrize(
    "options", [{"precision": 2}, {"sci_mode": True}, {"threshold": 10}, {"linewidth": 40}, {"profile": "short"}]
)
def test_print_options_are_those_of_pytorch(options):
    values = RNG.standard_normal((4, 9)).astype(np.float32)
    try:
        badak.set_printoptions(**options)
        torch.set_printoptions(**options)
        assert str(badak.tensor(values)) == str(torch.tensor(values))
    finally:
        badak.set_printoptions(profile="default")
        torch.set_printoptions(profile="default")


def test_a_derived_class_prints_its_name():
    for space in (badak, torch):
        kept = type("Kept", (space.nn.Parameter,), {})
        made = type("Made", (space.Tensor,), {})
        assert repr(kept(space.ones(2))) == "Parameter containing:\nParameter(Kept([1., 1.], requires_grad=True))"
        assert repr(space.ones(2).as_subclass(made)) == "Made([1., 1.])"


def test_a_piece_whose_base_was_changed_can_be_printed():
    for space in (badak, torch):
        x = space.ones(4, requires_grad=True) * 1
        piece, _ = x.split(2)
        x.mul_(2)
        assert str(piece) == "tensor([2., 2.], grad_fn=<Invalid>)"
