"""torch.autograd.forward_ad: the slopes of PyTorch's forward mode; what has no slope says so."""

import numpy as np
import pytest
import torch
import torch.autograd.forward_ad as theirs

import badak
import badak.compat.torch.forward_ad as ours
from badak.core.errors import ArgumentTypeError, BadakError, GraphError, ShapeError

X, V, W = (np.random.default_rng(n).standard_normal((3, 3)).astype(np.float32) for n in range(3))


def slopes(lib, forward):
    with forward.dual_level():
        x = forward.make_dual(lib.tensor(X), lib.tensor(V))
        w = forward.make_dual(lib.tensor(W), lib.tensor(X))
        y = lib.tanh(x @ w) * x.exp()
        z = lib.softmax(y, -1).sum(0)
        found = [forward.unpack_dual(each).tangent for each in (x, y, z)]
        none = forward.unpack_dual(lib.ones(2))
    return found, none.tangent, forward.unpack_dual(y).tangent


@pytest.mark.slow
def test_slopes_are_pytorchs():
    (expected, *rest), (found, *own) = slopes(torch, theirs), slopes(badak, ours)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.numpy(), rtol=1e-4, atol=1e-5)
    assert rest == own == [None, None]


def test_a_slope_has_a_gradient():
    w = badak.tensor([3.0], requires_grad=True)
    with ours.dual_level():
        x = ours.make_dual(badak.tensor([2.0]), badak.ones(1))
        slope = ours.unpack_dual(w * x**3).tangent
    slope.sum().backward()
    assert slope.item() == 36.0 and w.grad.item() == 12.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ours.make_dual(3, 4), ArgumentTypeError, "expected a tensor as primal; got int"),
        (
            lambda: ours.make_dual(badak.ones(2).long(), badak.ones(2)),
            ArgumentTypeError,
            "Expected primal to be floating point or complex",
        ),
        (lambda: ours.make_dual(badak.ones(2), badak.ones(3)), ShapeError, r"a slope of \(2,\)"),
        (lambda: ours.unpack_dual(3), ArgumentTypeError, "got int"),
        (lambda: badak.no_grad()(ours.make_dual)(badak.ones(2), badak.ones(2)), GraphError, "no slopes"),
        (lambda: ours.enter_dual_level(), GraphError, "Nested"),
        (lambda: badak.func.functionalize(3), BadakError, "functionalize"),
        (lambda: badak.func.functionalize(badak.exp, remove="x"), BadakError, "expected remove"),
    ],
)
def test_a_mistake_is_explained(call, error, words):
    with ours.dual_level(), pytest.raises(error, match=words) as raised:
        call()
    assert "\nfix: " in str(raised.value)


def test_outside_of_a_level_there_are_none():
    with pytest.raises(GraphError, match="within a level"):
        ours.make_dual(badak.ones(1), badak.ones(1))
    with pytest.raises(GraphError, match="no level was entered"):
        ours.exit_dual_level()


def test_a_dual_number_sees_the_memory_of_its_value_as_pytorchs():
    told = []
    for lib in (badak, torch):
        ad = lib.autograd.forward_ad
        value, slope, part = lib.arange(4.0), lib.ones(4), lib.arange(5.0)[:4]
        with ad.dual_level():
            dual = ad.make_dual(value, slope)
            primal, tangent = ad.unpack_dual(dual)
            same = [tangent is slope, primal is dual, primal.data_ptr() == value.data_ptr() == dual.data_ptr()]
            dual.mul_(3)
            changed = [value.tolist(), ad.unpack_dual(dual).tangent.tolist()]
            same.append(ad.unpack_dual(ad.make_dual(part, slope)).tangent is slope)  # whose memory is larger
        told.append((same, changed))
    assert told[0] == told[1] == ([True, False, True, False], [[0, 3, 6, 9], [3, 3, 3, 3]])
