"""differentiable=True: gradients through the steps of an optimizer, against PyTorch's."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import NotSupportedError
from badak.tensor import Tensor

OPTIMIZERS = [
    ("SGD", {}), ("SGD", {"momentum": 0.9}), ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("Adam", {}), ("Adam", {"amsgrad": True, "maximize": True}), ("AdamW", {}), ("RMSprop", {"momentum": 0.9, "centered": True}),
    ("Adagrad", {}), ("Adadelta", {}), ("Adamax", {}), ("NAdam", {}), ("RAdam", {}), ("ASGD", {}), ("Rprop", {}),
]  # fmt: skip


def given(seed, complex_numbers):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(4)
    return x + 1j * rng.standard_normal(4) if complex_numbers else x


def total_of(lib, name, options, steps, start, push):
    """The squares of all that the steps have made of a parameter and the gradients."""
    p = start.clone()
    optimizer = getattr(lib.optim, name)([p], differentiable=True, **options)
    for step in range(steps):
        p.grad = push * (step + 1) + p.clone() ** 2 * 0.1
        optimizer.step()
    kept = [x for _, x in sorted(optimizer.state[p].items()) if isinstance(x, torch.Tensor | Tensor) and x.requires_grad]
    return sum((x.abs() ** 2).sum() for x in (p, *kept))


def slopes(lib, name, options, steps, complex_numbers):
    """Of that total, to the first parameter and the gradients."""
    start, push = (lib.from_numpy(given(seed, complex_numbers)).requires_grad_() for seed in (0, 1))
    total = total_of(lib, name, options, steps, start, push)
    return [None if x is None else x.numpy() for x in lib.autograd.grad(total, [start, push], allow_unused=True)]


def differences(name, options, steps, complex_numbers, size=1e-6):
    """The same by differences of PyTorch's own totals."""
    at = [given(seed, complex_numbers) for seed in (0, 1)]

    def total(*values):
        return total_of(torch, name, options, steps, *(torch.from_numpy(x).requires_grad_() for x in values)).item()

    made = [np.zeros_like(x) for x in at]
    for which, found in enumerate(made):
        for i in range(found.size):
            for unit in (1, 1j) if complex_numbers else (1,):
                pair = []
                for sign in (1, -1):
                    moved = [x.copy() for x in at]
                    moved[which][i] += sign * size * unit
                    pair.append(total(*moved))
                found[i] += unit * (pair[0] - pair[1]) / (2 * size)
    return made


@pytest.mark.parametrize("complex_numbers", [False, True])
@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_gradients_through_steps_are_pytorchs(name, options, steps, complex_numbers):
    exact = {"rtol": 2e-6, "atol": 1e-12}  # PyTorch counts the steps of Adam in float32
    try:
        expected = slopes(torch, name, options, steps, complex_numbers)
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error) and steps > 1  # PyTorch changes what it needs of the step before
        expected, exact = differences(name, options, steps, complex_numbers), {"rtol": 1e-4, "atol": 1e-7}
    for ours, theirs in zip(slopes(badak, name, options, steps, complex_numbers), expected, strict=True):
        if theirs is None:
            assert ours is None
        else:
            np.testing.assert_allclose(ours, theirs, **exact)


def test_a_step_is_that_of_one_that_is_not_recorded():
    for differentiable in (False, True):
        p = badak.tensor([1.0, -2.0], requires_grad=True).clone()
        optimizer = badak.optim.Adam([p.detach() if not differentiable else p], lr=0.1, differentiable=differentiable)
        moved = optimizer.param_groups[0]["params"][0]
        moved.grad = badak.tensor([0.5, 3.0])
        optimizer.step()
        assert moved.tolist() == pytest.approx([0.9, -2.1])


def test_a_setting_that_wants_a_gradient_is_refused():
    lr = badak.tensor(0.1, requires_grad=True)
    p = badak.ones(2, requires_grad=True).clone()
    p.grad = badak.ones(2)
    with pytest.raises(NotSupportedError, match="SGD: the setting 'lr' wants a gradient"):
        badak.optim.SGD([p], lr=lr, differentiable=True).step()
