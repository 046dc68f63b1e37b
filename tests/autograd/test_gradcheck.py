"""gradcheck finds a wrong gradient, passes a right one, and says where they differ."""

import pytest
import torch

import badak

both = pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])


def wrong_square(lib):
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensors
            return dy * x  # the 2 is missing

    return Square.apply


def leaf(lib, *shape):
    return lib.rand(*shape, dtype=lib.float64, requires_grad=True)


@both
def test_a_right_gradient_passes(lib):
    assert lib.autograd.gradcheck(lambda x, w: (x @ w).tanh(), (leaf(lib, 2, 3), leaf(lib, 3, 2)))


@both
def test_a_wrong_gradient_is_found(lib):
    with pytest.raises(RuntimeError, match="[Jj]acobian"):
        lib.autograd.gradcheck(wrong_square(lib), (leaf(lib, 3),))
    assert lib.autograd.gradcheck(wrong_square(lib), (leaf(lib, 3),), raise_exception=False) is False


@both
def test_several_outputs_are_all_checked(lib):
    def f(x):
        return x.sin(), wrong_square(lib)(x)

    assert not lib.autograd.gradcheck(f, (leaf(lib, 2),), raise_exception=False)


@both
def test_inputs_without_gradient_are_left_alone(lib):
    assert lib.autograd.gradcheck(lambda x, k: x * k, (leaf(lib, 3), lib.ones(3, dtype=lib.float64)))


@both
def test_something_must_require_a_gradient(lib):
    with pytest.raises(ValueError, match="require"):
        lib.autograd.gradcheck(lambda x: x * 2, (lib.ones(2, dtype=lib.float64),))
