"""grad(is_grads_batched=True) and jacobian(vectorize=True): gradients for many rows by one walk, as PyTorch gives them."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError, ShapeError

both = pytest.mark.parametrize("many", [False, True], ids=["one output", "two outputs"])


def graph(lib):
    w = lib.tensor(np.linspace(-1, 1, 12).reshape(3, 4), requires_grad=True)
    x = lib.tensor(np.linspace(0, 1, 8).reshape(2, 4), requires_grad=True)
    y = (x @ w.T).tanh()
    return x, w, y, y.softmax(-1)


def rows(lib, seed: int):
    return lib.tensor(np.random.default_rng(seed).standard_normal((5, 2, 3)))


def numbers(tensors) -> list:
    return [None if x is None else x.detach().numpy() for x in tensors]


def close(ours, theirs) -> None:
    for a, b in zip(numbers(ours), numbers(theirs), strict=True):
        assert (a is None) == (b is None) and (a is None or a.shape == b.shape)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@both
def test_rows_of_gradients(many):
    def found(lib):
        x, w, y, z = graph(lib)
        outputs, given = ([z, y], [rows(lib, 0), rows(lib, 1)]) if many else ([z], [rows(lib, 0)])
        return lib.autograd.grad(outputs, [x, w], given, is_grads_batched=True)

    close(found(badak), found(torch))


def test_they_can_be_differentiated_again():
    def found(lib):
        x, w, _, z = graph(lib)
        (dx,) = lib.autograd.grad(z, x, rows(lib, 0), is_grads_batched=True, create_graph=True)
        return lib.autograd.grad((dx**2).sum(), [x, w])

    close(found(badak), found(torch))


@pytest.mark.parametrize("options", [{"allow_unused": True}, {"materialize_grads": True}])
def test_an_input_that_is_not_used(options):
    def found(lib):
        x, _, _, z = graph(lib)
        return lib.autograd.grad(z, [x, lib.ones(3, requires_grad=True)], rows(lib, 0), is_grads_batched=True, **options)

    close(found(badak), found(torch))


def test_the_graph_is_let_go_as_by_one_row():
    x, _, _, z = graph(badak)
    badak.autograd.grad(z, x, rows(badak, 0), is_grads_batched=True)
    with pytest.raises(RuntimeError, match="a second time"):
        badak.autograd.grad(z.sum(), x)


def test_an_operation_without_a_second_derivative_goes_row_by_row():
    def found(lib):
        lib.manual_seed(0)
        layer, x = lib.nn.GRU(3, 2).double(), lib.ones(4, 3, dtype=lib.float64, requires_grad=True)
        for p in layer.parameters():
            p.data = lib.full(p.shape, 0.1, dtype=lib.float64)
        given = lib.tensor(np.random.default_rng(2).standard_normal((3, 4, 2)))
        return lib.autograd.grad(layer(x)[0], x, given, is_grads_batched=True)

    close(found(badak), found(torch))


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_jacobian_by_one_walk(create_graph):
    def found(lib):
        x = lib.tensor(np.linspace(0.1, 1, 6).reshape(2, 3), requires_grad=True)
        w = lib.tensor(np.linspace(-1, 1, 6).reshape(3, 2))

        def function(x, w):
            return (x @ w).sin(), x.sum() * 2, w.exp()[:0]

        made = lib.autograd.functional.jacobian(function, (x, w), create_graph=create_graph, vectorize=True)
        assert made[0][0].requires_grad == create_graph
        return [dx for each in made for dx in each]

    close(found(badak), found(torch))


def test_mistakes_are_named():
    x, _, _, z = graph(badak)
    with pytest.raises(
        ShapeError, match=r"to have a first dim of rows, and then the dims of outputs\[0\], \(2, 3\); got shape \(2, 3\)"
    ):
        badak.autograd.grad(z, x, badak.ones(2, 3), is_grads_batched=True)
    with pytest.raises(ShapeError, match="got None\nfix: badak.eye"):
        badak.autograd.grad(z.sum(), x, is_grads_batched=True)
    with pytest.raises(ArgumentError, match="strict=True and vectorize=True are not supported together\nfix: "):
        badak.autograd.functional.jacobian(lambda x: x, badak.ones(2), strict=True, vectorize=True)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("case", ["linear", "detached", "one input", "int", "int input", "several", "v", "v shape", "rows"])
@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"])
def test_products_with_jacobians_complain_as_pytorch_does(name, case, strict):
    def said(lib):
        x = lib.ones(2)
        function, inputs = {
            "linear": (lambda x: x.sum() * 2, x),
            "detached": (lambda x: x.detach().sum(), x),
            "one input": (lambda x, y: (x * x).sum(), (x, x)),
            "int": (lambda x: 1, x),
            "int input": (lambda x, y: (x * x).sum(), (x, 1)),
            "several": (lambda x: ((x * x).sum(), x.sum()), x),
            "rows": (lambda x: x * x, x),
        }.get(case, (lambda x: (x * x).sum(), x))
        v = {"v": (x, x), "v shape": lib.ones(3)}.get(case, x if name != "vjp" else None)
        v = (x, x) if case == "one input" and name != "vjp" else v
        given = {} if name in ("jacobian", "hessian") else {"v": v}
        try:
            return getattr(lib.autograd.functional, name)(function, inputs, strict=strict, **given)
        except Exception as error:
            return [kind for kind in (TypeError, RuntimeError) if isinstance(error, kind)], str(error).partition("\n")[0].replace(
                "badak.", "torch."
            )

    plain = lambda a: [plain(x) for x in a] if type(a) in (tuple, list) else a.tolist() if hasattr(a, "tolist") else a
    assert plain(said(badak)) == plain(said(torch))
