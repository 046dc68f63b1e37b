"""torch.func and torch.vmap: the same numbers as PyTorch's, by the same lines."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError, ArgumentTypeError, IndexOutOfRangeError

both = pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
X = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
Y = X[0] * 2


def same(run) -> None:
    """run(lib, x, y) gives a tensor, or several, equal in PyTorch and badak."""
    theirs, ours = (run(lib, lib.tensor(X), lib.tensor(Y)) for lib in (torch, badak))
    theirs, ours = (_flat(one) for one in (theirs, ours))
    assert len(theirs) == len(ours)
    for a, b in zip(theirs, ours):
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-5, atol=1e-6)


def _flat(tree) -> list:
    return [tree] if hasattr(tree, "shape") else [x for part in tree for x in _flat(part)]


@both
def test_what_the_function_closes_over_has_gradients_too(lib):
    w = lib.tensor(X, requires_grad=True)
    g = lib.func.grad(lambda a: (w @ a).sin().sum())(lib.tensor(Y))
    (g * g).sum().backward()
    slope = X * np.cos(X @ Y)[:, None]  # g = sum over the rows of it
    g = slope.sum(0)
    expected = 2 * (np.cos(X @ Y)[:, None] * g - np.sin(X @ Y)[:, None] * (X @ g)[:, None] * Y)
    np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-4, atol=1e-5)


RUNS = {
    "vmap": lambda lib, x, y: lib.vmap(lib.dot, in_dims=(0, None))(x, y),
    "vmap with dims": lambda lib, x, y: lib.func.vmap(lambda a, b: (a + b, a * b), (1, 0), (1, 0))(x, x.T),
    "vmap of containers": lambda lib, x, y: lib.vmap(lambda d, k: d["a"] * k + d["b"], ({"a": 0, "b": None}, None))(
        {"a": x, "b": y}, 2.0
    ),
    "vmap of keywords": lambda lib, x, y: lib.vmap(lambda a, b: a - b)(x, b=x + 1),
    "grad": lambda lib, x, y: lib.func.grad(lambda a, b: (a**2 * b).sum())(x, y),
    "grad by two": lambda lib, x, y: lib.func.grad(lambda a, b: (a**2 * b).sum(), argnums=(0, 1))(x, y),
    "grad with more": lambda lib, x, y: lib.func.grad(lambda a: (a.sin().sum(), a * 2), has_aux=True)(x),
    "grad and value": lambda lib, x, y: lib.func.grad_and_value(lambda a: a.exp().sum())(x),
    "grads per sample": lambda lib, x, y: lib.vmap(lib.func.grad(lambda a, b: (a * b).sin().sum()), (0, None))(x, y),
    "jacrev": lambda lib, x, y: lib.func.jacrev(lambda a: a.outer(a) + a)(y),
    "grad of grad": lambda lib, x, y: lib.func.grad(lambda a: lib.func.grad(lambda b: (b.sin() * b).sum())(a).pow(2).sum())(x),
    "hessian": lambda lib, x, y: lib.func.hessian(lambda a: (a.exp() * a.sum()).sum())(y),
    "jacfwd": lambda lib, x, y: lib.func.jacfwd(lambda a: a.outer(a) + a)(y),
    "jacrev of jacrev": lambda lib, x, y: lib.func.jacrev(lib.func.jacrev(lambda a: a.tanh().outer(a).sum()))(y),
    "jvp": lambda lib, x, y: lib.func.jvp(lambda a, b: (a * b, a.sin()), (x, y), (x * 2, y)),
    "vjp": lambda lib, x, y: lib.func.vjp(lambda a, b: a * b, x, y)[1](lib.ones(4, 3)),
}


@pytest.mark.parametrize("name", RUNS)
def test_functions_of_functions_equal_those_of_pytorch(name):
    same(RUNS[name])


@both
def test_gradients_flow_through_vmap(lib):
    x = lib.tensor(X, requires_grad=True)
    lib.vmap(lambda a: (a**2).sum())(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * X)


@both
def test_a_module_is_called_with_other_parameters_and_keeps_its_own(lib):
    net = lib.nn.Sequential(lib.nn.Linear(3, 3), lib.nn.BatchNorm1d(3)).eval()
    own = net[0].weight
    given = {"0.weight": lib.eye(3), "0.bias": lib.zeros(3), "1.running_mean": lib.tensor(Y)}
    y = lib.func.functional_call(net, given, lib.tensor(X))
    np.testing.assert_allclose(y.detach().numpy(), (X - Y) / np.sqrt(1 + 1e-5), rtol=1e-5)
    assert net[0].weight is own


@both
def test_tied_parameters_are_replaced_together(lib):
    net = lib.nn.ModuleDict({"a": lib.nn.Linear(3, 3), "b": lib.nn.Linear(3, 3)})
    net["b"].weight = net["a"].weight
    net.forward = lambda x: net["b"](x) - net["b"].bias
    y = lib.func.functional_call(net, {"a.weight": lib.eye(3)}, (lib.tensor(X),))
    np.testing.assert_allclose(y.detach().numpy(), X, atol=1e-6)


@both
def test_an_ensemble_runs_as_one(lib):
    nets = [lib.nn.Linear(3, 2) for _ in range(5)]
    state = lib.func.stack_module_state(nets)
    y = lib.vmap(lambda p, b, x: lib.func.functional_call(nets[0], (p, b), (x,)), (0, 0, None))(*state, lib.tensor(X))
    expected = np.stack([net(lib.tensor(X)).detach().numpy() for net in nets])
    np.testing.assert_allclose(y.detach().numpy(), expected, rtol=1e-5, atol=1e-6)


@both
def test_a_module_has_other_tensors_within_a_block(lib):
    import importlib

    net = lib.nn.Linear(3, 3)
    before = net.weight
    stateless = importlib.import_module(f"{lib.__name__}.nn.utils.stateless") if lib is not badak else lib.nn.utils.stateless
    with stateless._reparametrize_module(net, {"weight": lib.eye(3), "bias": lib.zeros(3)}):
        np.testing.assert_array_equal(net(lib.tensor(X)).numpy(), X)
    assert net.weight is before


def test_mistakes_are_named():
    x = badak.tensor(X)
    with pytest.raises(ArgumentError, match="one entry of in_dims per argument; got 1 for 2"):
        badak.vmap(badak.dot, in_dims=(0,))(x, x)
    with pytest.raises(ArgumentError, match=r"same size in the mapped dimension, got sizes \[\d, \d\] for"):
        badak.vmap(badak.dot)(x, x.T)
    with pytest.raises(ArgumentError, match="Linear has no parameter or buffer 'wieght'"):
        badak.func.functional_call(badak.nn.Linear(3, 3), {"wieght": x}, (x,))


@pytest.mark.parametrize(
    "call, cause",
    [
        (lambda x: badak.func.hessian(lambda a: a.sum())("x"), "expected a tensor to differentiate by; got str"),
        (lambda x: badak.func.jacfwd(lambda a: 1)(x), "jacfwd: expected a function that gives tensors; it gave int"),
        (lambda x: badak.autograd.functional.jacobian("f", x), "jacobian: expected a function; got str"),
        (lambda x: badak.autograd.functional.jvp(lambda a: a, x, x[:1]), r"v has invalid size: should be .*4, 3.* but got .*"),
        (lambda x: badak.vmap(lambda a: a, in_dims=5)(x), r"of dims that the tensors have; got 5 for shape \(4, 3\)"),
        (lambda x: badak.vmap(lambda a: a, in_dims=(0, 0))(x), "one entry of in_dims per argument; got 2 for 1"),
        (
            lambda x: badak.func.grad(lambda a: a.sum(), argnums=3)(x),
            "argnums below 1, the positional arguments; got 3",
        ),
        (
            lambda x: badak.func.jacrev(lambda a: a.sum(), argnums=2)(x),
            "argnums below 1, the positional arguments; got 2",
        ),
    ],
)
def test_a_dim_or_an_argument_that_is_not_there_is_named_with_a_fix(call, cause):
    with pytest.raises((ArgumentError, ArgumentTypeError, IndexOutOfRangeError), match=f"{cause}\nfix: "):
        call(badak.tensor(X))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning:torch")
@both
def test_under_no_grad_derivatives_are_taken_and_have_no_history(lib):
    layer = lib.nn.Linear(3, 2)
    w, v, rows = layer.weight, lib.ones(2, 3), lib.tensor(X)

    def values(p):
        return lib.nn.functional.linear(rows, p, layer.bias) ** 2

    def loss(p):
        return values(p).sum()

    func = lib.func
    runs = {
        "grad": lambda: func.grad(loss)(w),
        "grad_and_value": lambda: func.grad_and_value(loss)(w)[1],
        "jvp": lambda: func.jvp(values, (w,), (v,))[1],
        "linearize": lambda: func.linearize(values, w)[1](v),
        "vjp": lambda: func.vjp(values, w)[1](lib.ones(4, 2))[0],
        "jacrev": lambda: func.jacrev(values)(w),
        "jacfwd": lambda: func.jacfwd(values)(w),
        "hessian": lambda: func.hessian(loss)(w),
        "vmap": lambda: lib.vmap(func.grad(loss))(lib.stack([w, w])),
        "jvp of grad": lambda: func.jvp(func.grad(loss), (w,), (v,))[1],
    }
    for name, run in runs.items():
        recorded = run()
        with lib.no_grad():
            plain = run()
        assert not plain.requires_grad and name
        np.testing.assert_allclose(plain.numpy(), recorded.detach().numpy(), rtol=1e-5, atol=1e-5)


def test_slopes_of_a_number():
    """0-d inputs and outputs: their Jacobian has no dims."""
    for library in (badak, torch):
        x, square = library.tensor(2.0), lambda x: x**3
        functional = library.autograd.functional
        for vectorize in (False, True):
            assert functional.hessian(square, x, vectorize=vectorize).tolist() == functional.jacobian(square, x).tolist() == 12
        assert library.func.jacrev(square)(x).tolist() == library.func.jacfwd(square)(x).tolist() == 12
        assert library.func.hessian(square)(x).tolist() == 12


@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_a_library_can_stand_around_what_is_differentiated(lib, monkeypatch):
    module, seen = lib._functorch.eager_transforms, []
    before = module._wrap_tensor_for_grad
    monkeypatch.setattr(module, "_wrap_tensor_for_grad", lambda x, level: before(seen.append(tuple(x.shape)) or x, level))
    made = lib.func.jacrev(lambda a: a * 2)(lib.ones(3)), lib.func.grad(lambda a: (a * a).sum())(lib.ones(2))
    assert [x.tolist() for x in made] == [[[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]], [2.0, 2.0]]
    assert (3,) in seen and (2,) in seen


@pytest.mark.parametrize("t", [torch, badak])
def test_what_a_module_puts_in_the_place_of_a_tensor_stands_in_the_dict(t):
    class Counts(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", t.zeros(()))

        def forward(self, x):
            self.seen = self.seen + 1
            return x + self.seen

    counts, state = Counts(), {"seen": t.ones(())}
    assert t.func.functional_call(counts, state, t.ones(())).item() == 3
    assert (counts.seen.item(), state["seen"].item()) == (0, 2)
    state = {"seen": t.ones(())}
    t.func.functional_call(counts, (state,), t.ones(()))
    assert (counts.seen.item(), state["seen"].item()) == (0, 1)
