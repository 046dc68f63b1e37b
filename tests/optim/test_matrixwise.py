"""Adafactor and Muon against PyTorch's over 20 steps, and states that travel between the two."""

import copy

import numpy as np
import pytest
import torch

import badak
from badak import optim
from badak.core.errors import ArgumentError, ArgumentTypeError
from badak.optim.state import OptimizerStateError
from badak.tensor import Tensor
from tests.optim.twins import leaf, value

SHAPES = {"Adafactor": [(4, 3), (5,), (2, 3, 4), (1, 7), ()], "Muon": [(4, 3), (3, 5), (1, 7), (8, 8)]}
OPTIONS = [
    ("Adafactor", {}),
    (
        "Adafactor",
        {"lr": 0.1, "beta2_decay": -0.5, "eps": (1e-3, 1e-2), "d": 1.5, "weight_decay": 0.1, "maximize": True},
    ),
    ("Adafactor", {"lr": 0.1, "eps": (None, 0.0), "foreach": True}),
    ("Muon", {}),
    ("Muon", {"lr": 0.1, "weight_decay": 0.3, "momentum": 0.8, "nesterov": False}),
    ("Muon", {"lr": 0.1, "ns_steps": 3, "ns_coefficients": (2.0, -1.5, 0.5), "adjust_lr_fn": "match_rms_adamw"}),
]
# Adafactor: 20 steps of a handful of roundings. Muon: a bfloat16 has 8 bits, and what differs in the last of them is multiplied
# by up to a = 3.4 in each of 5 products before it reaches the parameter times lr.
EXACT = {"Adafactor": {"float32": 2e-6, "float64": 1e-12}, "Muon": {"float32": 0.02, "float64": 0.02}}


def both(name: str, dtype: str, **options):
    rng = np.random.default_rng(0)
    arrays = [np.asarray(rng.standard_normal(shape), dtype) for shape in SHAPES[name]]
    ours, theirs = [leaf(a) for a in arrays], [torch.tensor(a, requires_grad=True) for a in arrays]
    return ours, getattr(optim, name)(ours, **options), theirs, getattr(torch.optim, name)(theirs, **options)


def run(ours, optimizer, theirs, twin, steps) -> None:
    for step in steps:
        rng = np.random.default_rng(1000 + step)
        for p, q in zip(ours, theirs):
            g = np.asarray(rng.standard_normal(tuple(q.shape)) * 10.0 ** rng.integers(-3, 2), value(p).dtype)
            p.grad, q.grad = Tensor._of(g.copy()), torch.tensor(g)
        optimizer.step()
        twin.step()


def assert_near(ours, theirs, name, dtype, lr=1.0):
    exact = EXACT[name][dtype] * (lr if name == "Muon" else 1)
    for p, q in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(value(p), value(q), rtol=exact, atol=exact)


@pytest.mark.parametrize("name, options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_optimizer_agrees_with_pytorch_over_20_steps(name, options, dtype):
    ours, optimizer, theirs, twin = both(name, dtype, **options)
    for step in range(20):
        run(ours, optimizer, theirs, twin, [step])
        assert_near(ours, theirs, name, dtype, options.get("lr", 1e-3) * (step + 1))
    mine, other = optimizer.state_dict(), twin.state_dict()
    assert mine["param_groups"] == other["param_groups"]
    for number, entries in other["state"].items():
        assert mine["state"][number].keys() == entries.keys()
        for key, expected in entries.items():
            found = value(mine["state"][number][key])
            assert found.dtype == value(expected).dtype and found.shape == tuple(expected.shape)
            np.testing.assert_allclose(found, value(expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name, options", OPTIONS, ids=str)
def test_states_travel_both_ways(name, options):
    ours, optimizer, theirs, twin = both(name, "float64", **options)
    run(ours, optimizer, theirs, twin, range(4))
    fresh, _, other, _ = both(name, "float64")
    for p, q, new, new_twin in zip(ours, theirs, fresh, other):
        new._array[...] = p._array
        new_twin.data.copy_(q)
    resumed, twin_resumed = getattr(optim, name)(fresh, **options), getattr(torch.optim, name)(other, **options)
    resumed.load_state_dict(twin.state_dict())
    state = optimizer.state_dict()
    state["state"] = {
        n: {k: torch.from_numpy(v._array.copy()) for k, v in entries.items()} for n, entries in state["state"].items()
    }
    twin_resumed.load_state_dict(state)
    run(fresh, resumed, other, twin_resumed, range(4, 8))
    assert_near(fresh, other, name, "float64", 8 * options.get("lr", 1e-3))


@pytest.mark.parametrize("name, options", OPTIONS, ids=str)
def test_resumed_equals_uninterrupted_bit_for_bit(name, options):
    ours, optimizer, theirs, twin = both(name, "float32", **options)
    run(ours, optimizer, theirs, twin, range(3))
    again = [leaf(p._array.copy()) for p in ours]
    resumed = getattr(optim, name)(again, **options)
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    run(ours, optimizer, theirs, twin, range(3, 6))
    run(again, resumed, theirs, twin, range(3, 6))
    for p, q in zip(ours, again):
        np.testing.assert_array_equal(p._array, q._array)


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_replayed_steps_are_called_steps(name):
    def trained(compiled):
        badak.manual_seed(0)
        model = badak.nn.Linear(5, 3, bias=name == "Adafactor")
        optimizer = getattr(optim, name)(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        step = badak.compile(step) if compiled else step
        losses = [step(badak.randn(4, 5)).item() for _ in range(8)]
        return losses, [p.tolist() for p in model.parameters()]

    assert trained(True) == trained(False)


@pytest.mark.parametrize(
    "name, options, text",
    [
        ("Muon", {"ns_steps": 100}, "Muon: expected ns_steps < 100; got 100\nfix: ns_steps=5"),
        ("Muon", {"ns_steps": 2.5}, "Muon: ns_steps should be an integer; got 2.5\nfix: ns_steps=5"),
        ("Muon", {"ns_coefficients": (1, 2)}, "Muon: ns_coefficients should be three numbers; got 2\nfix: "),
        (
            "Muon",
            {"adjust_lr_fn": "a"},
            'Muon: expected adjust_lr_fn "original" or "match_rms_adamw"; got \'a\'\nfix: ',
        ),
        ("Muon", {"lr": -1}, "Muon: Invalid learning rate: -1; expected lr >= 0\nfix: lr=1"),
        ("Adafactor", {"beta2_decay": 0.1}, "Adafactor: expected beta2_decay <= 0; got 0.1\nfix: beta2_decay=-0.8"),
        ("Adafactor", {"d": 0.5}, "Adafactor: expected d >= 1; got 0.5\nfix: d=1.0"),
        ("Adafactor", {"eps": 0.5}, "Adafactor: eps should be a pair; got 0.5\nfix: eps=(None, 1e-3)"),
        ("Adafactor", {"eps": (None, -1.0)}, "Adafactor: Invalid eps[1] value: -1.0; expected eps[1] >= 0\nfix: "),
    ],
)
def test_settings_without_meaning_are_named(name, options, text):
    with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
        getattr(optim, name)([leaf(np.ones((2, 3)))], **options)
    assert str(caught.value).startswith(text)


def test_what_is_no_matrix_is_refused_by_muon():
    with pytest.raises(ValueError) as caught:
        optim.Muon([leaf(np.ones(3))])
    assert str(caught.value) == (
        "Muon changes matrices; got a parameter of shape (3,)\nfix: optim.AdamW for biases, norms and embeddings"
    )


def test_complex_parameters_are_refused_before_anything_changes():
    p, q = leaf(np.ones((2, 3))), leaf(np.ones((2, 3), complex))
    p.grad, q.grad = Tensor._of(np.ones((2, 3))), Tensor._of(np.ones((2, 3), complex))
    optimizer = optim.Adafactor([p, q])
    with pytest.raises(TypeError) as caught:
        optimizer.step()
    assert str(caught.value) == ("Adafactor does not support complex parameters; got badak.complex128\nfix: optim.AdamW for these")
    assert p._array.tolist() == np.ones((2, 3)).tolist() and not optimizer.state


def test_a_state_of_another_shape_is_refused():
    p = leaf(np.ones((2, 3)))
    p.grad = Tensor._of(np.ones((2, 3)))
    optimizer = optim.Adafactor([p])
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    state["state"][0]["row_var"] = Tensor._of(np.ones((2, 3)))
    with pytest.raises(OptimizerStateError, match=r"'row_var' in the state of a parameter of shape \(2, 3\) has shape \(2, 3\)"):
        optimizer.load_state_dict(state)
