"""LBFGS against PyTorch's: every evaluation, state and early end."""

import copy
import importlib

import numpy as np
import pytest
import torch

import badak
from badak import optim
from badak.core.errors import NotSupportedError
from badak.optim.state import OptimizerStateError
from badak.tensor import Tensor
from tests.optim.twins import value

OPTIONS = [
    {},
    {"lr": 0.1, "max_iter": 4},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "max_iter": 7, "history_size": 3, "lr": 0.5},
    {"line_search_fn": "strong_wolfe", "max_eval": 5},
    {"lr": 0.05, "history_size": 2},
    {"lr": 0.05, "tolerance_grad": 1e-2},
    {"lr": 0.05, "tolerance_change": 1e-2},
]
START = [np.array([[-1.2, 1.0], [0.5, -0.3]]), np.array([0.7, -0.4, 0.2])]


def valley(lib, params):
    """Rosenbrock's valley in the first parameter, a bowl that hangs on it in the second."""
    x, w = params
    first, second = x[0], x[1]
    return 10 * ((second - first * first) ** 2).sum() + ((1 - first) ** 2).sum() + ((w - first[0]) ** 2 * w.exp()).sum()


def trained(lib, options, steps, dtype="float64", loss_of=valley):
    params = [lib.nn.Parameter(lib.from_numpy(a.astype(dtype))) for a in START]
    optimizer = lib.optim.LBFGS(params, **options)
    trail = []

    def closure():
        optimizer.zero_grad()
        loss = loss_of(lib, params)
        loss.backward()
        trail.append(loss.item())
        return loss

    returned = [optimizer.step(closure).item() for _ in range(steps)]
    return params, optimizer, trail, returned


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_evaluation_is_pytorchs(options):
    steps = 2 if options.get("lr") == 0.05 else 4  # many short steps: a last bit is worth 1e-6 after 60 of them
    ours, optimizer, trail, returned = trained(badak, options, steps)
    theirs, twin, expected, twin_returned = trained(torch, options, steps)
    np.testing.assert_allclose(trail, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(returned, twin_returned, rtol=1e-6, atol=1e-9)
    for p, q in zip(ours, theirs):
        np.testing.assert_allclose(value(p), value(q), rtol=1e-6)
    (mine,), (other,) = optimizer.state_dict()["state"].values(), twin.state_dict()["state"].values()
    assert mine.keys() == other.keys()
    assert (mine["n_iter"], mine["func_evals"]) == (other["n_iter"], other["func_evals"])
    assert [len(mine[name]) for name in ("old_dirs", "old_stps", "ro")] == [len(other[n]) for n in ("old_dirs", "old_stps", "ro")]
    np.testing.assert_allclose(value(mine["d"]), value(other["d"]), rtol=1e-3, atol=1e-7)
    assert optimizer.state_dict()["param_groups"] == twin.state_dict()["param_groups"]


def test_single_precision_finds_the_same_valley():
    ours, *_ = trained(badak, {"line_search_fn": "strong_wolfe"}, 10, "float32")
    theirs, *_ = trained(torch, {"line_search_fn": "strong_wolfe"}, 10, "float32")
    for p, q in zip(ours, theirs):
        np.testing.assert_allclose(value(p), value(q), rtol=1e-3, atol=1e-3)


def test_a_gradient_that_is_small_enough_ends_before_the_first_step():
    params, optimizer, trail, _ = trained(badak, {"tolerance_grad": 1e9}, 1)
    assert len(trail) == 1 and [value(p).tolist() for p in params] == [a.tolist() for a in START]


@pytest.mark.parametrize("options", OPTIONS[:4], ids=str)
def test_a_state_of_pytorch_goes_on_here_and_ours_there(options):
    def resumed(lib, params, state):
        params = [lib.nn.Parameter(lib.from_numpy(value(p).copy())) for p in params]
        optimizer = lib.optim.LBFGS(params, **options)
        optimizer.load_state_dict(state)

        def closure():
            optimizer.zero_grad()
            loss = valley(lib, params)
            loss.backward()
            return loss

        optimizer.step(closure)
        return params

    def moved(x):
        if isinstance(x, dict):
            return {k: moved(v) for k, v in x.items()}
        if isinstance(x, list):
            return [moved(v) for v in x]
        return torch.from_numpy(np.array(x._array)) if isinstance(x, Tensor) else x

    ours, optimizer, *_ = trained(badak, options, 2)
    theirs, twin, *_ = trained(torch, options, 2)
    here = resumed(badak, theirs, twin.state_dict())
    there = resumed(torch, ours, moved(optimizer.state_dict()))
    straight, *_ = trained(torch, options, 3)
    for p, q, r in zip(here, there, straight):
        np.testing.assert_allclose(value(p), value(r), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(value(q), value(r), rtol=1e-6, atol=1e-9)


def test_complex_parameters_change_as_pairs_of_real_ones():
    def found(lib):
        p = lib.nn.Parameter(lib.from_numpy(np.array([1 + 2j, -0.5j, 0.3])))
        optimizer = lib.optim.LBFGS([p], lr=0.2, max_iter=5)

        def closure():
            optimizer.zero_grad()
            loss = ((p - 1j).abs() ** 4).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        optimizer.step(closure)
        return value(p)

    np.testing.assert_allclose(found(badak), found(torch), rtol=1e-6)


def test_a_parameter_without_gradient_counts_as_flat():
    p, q = (badak.nn.Parameter(badak.ones(2)) for _ in range(2))
    optimizer = optim.LBFGS([p, q], lr=0.1, max_iter=2)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert q.tolist() == [1, 1] and p[0].item() < 1


def test_without_a_closure_it_says_what_to_write():
    with pytest.raises(NotSupportedError) as caught:
        optim.LBFGS([badak.nn.Parameter(badak.ones(2))]).step()
    assert str(caught.value) == (
        "LBFGS.step: the loss is computed several times in a step, so it needs a closure\n"
        "fix: def closure(): optimizer.zero_grad(); loss = ...; loss.backward(); return loss"
    )


@pytest.mark.parametrize(
    "options, text",
    [
        ({"lr": -1}, "LBFGS: Invalid learning rate: -1; expected lr >= 0\nfix: lr=1"),
        ({"max_iter": 1.5}, "LBFGS: max_iter should be an integer; got 1.5\nfix: max_iter=5"),
        ({"line_search_fn": "armijo"}, "LBFGS: expected line_search_fn \"strong_wolfe\" or None; got 'armijo'\nfix: "),
    ],
)
def test_settings_without_meaning_are_named(options, text):
    with pytest.raises((ValueError, TypeError)) as caught:
        optim.LBFGS([badak.nn.Parameter(badak.ones(2))], **options)
    assert str(caught.value).startswith(text)


def test_several_groups_are_refused():
    p, q = (badak.nn.Parameter(badak.ones(2)) for _ in range(2))
    with pytest.raises(ValueError) as caught:
        optim.LBFGS([{"params": [p]}, {"params": [q]}])
    assert str(caught.value) == "LBFGS takes one group of parameters; got 2\nfix: LBFGS(model.parameters())"


@pytest.mark.parametrize(
    "name, other, text",
    [
        ("n_iter", -1, "'n_iter' should be a count; got -1"),
        ("old_dirs", 3, "'old_dirs' should be a list; got int"),
        ("old_dirs", [], "'old_dirs', 'old_stps' and 'ro' should be equally long"),
        ("d", Tensor._of(np.ones(3)), "'d' has shape (3,)"),
        ("H_diag", "a", "'H_diag' should be a number; got str"),
        ("more", 1, "the state has 'more', which LBFGS does not remember"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(name, other, text):
    _, optimizer, *_ = trained(badak, {}, 1)
    state = copy.deepcopy(optimizer.state_dict())
    state["state"][0][name] = other
    with pytest.raises(OptimizerStateError) as caught:
        optimizer.load_state_dict(state)
    assert str(caught.value).startswith(f"LBFGS.load_state_dict: {text}\nfix: ")


def test_pytorchs_line_search_can_be_imported_as_it_is_there():
    """pytorch-minimize takes it from there."""
    found = []
    for lib in (torch, badak):
        home = importlib.import_module(f"{lib.__name__}.optim.lbfgs")
        search, cubic = home._strong_wolfe, home._cubic_interpolate

        def rosenbrock(x, t, d, lib=lib):
            at = (x + t * d).requires_grad_()
            loss = (100 * (at[1:] - at[:-1] ** 2) ** 2 + (1 - at[:-1]) ** 2).sum()
            loss.backward()
            return loss.item(), at.grad

        x = lib.tensor([-1.2, 1.0], dtype=lib.float64)
        loss, grad = rosenbrock(x, 0.0, x)
        d = -grad
        new, slope, t, tries = search(rosenbrock, x, 1.0, d, loss, grad, grad.dot(d), c2=0.5, max_ls=20)
        first, falls, rises = (lib.tensor(number, dtype=lib.float64) for number in (-1.0, 4.0, -9.0))
        lowest = [cubic(0.0, 1.0, first, 2.0, 3.0, falls), cubic(0.0, 1.0, first, 1.0, 0.0, rises)]
        found.append([new, *slope.tolist(), float(t), tries, *map(float, lowest)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)
