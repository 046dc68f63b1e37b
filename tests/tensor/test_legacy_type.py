"""x.type(torch.Tensor): the class itself stands for the default dtype, as its kin stand for theirs."""

import pytest
import torch

import badak


@pytest.mark.parametrize("lib", [badak, torch])
def test_the_class_of_tensors_is_a_type_of_the_default_dtype(lib):
    x = lib.ones(2, dtype=lib.bool)
    assert x.type(lib.Tensor).dtype is lib.float32
    assert x.type("torch.Tensor").dtype is lib.float32
    assert x.type(lib.DoubleTensor).dtype is lib.float64


@pytest.mark.parametrize("lib", [badak, torch])
def test_the_order_of_a_norm_may_be_a_word(lib):
    p = lib.nn.Parameter(lib.tensor([3.0, -4.0]))
    p.grad = p.detach().clone()
    assert float(lib.nn.utils.clip_grad_norm_([p], 1.0, norm_type="inf")) == 4.0
