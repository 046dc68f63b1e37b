"""A backward that writes its gradient over what was saved does so only where nobody else sees that memory."""

import sys

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import GraphError
from badak.core.memory import OwnMemory, is_alone, mapped
from badak.nn import functional as F

N, C, V = 14, 16, 300


def made(of, dtype):
    np.random.seed(0)
    w, x = (of.tensor(np.random.standard_normal(shape).astype(np.float32)).to(getattr(of, dtype)) for shape in ((V, C), (N, C)))
    target = of.tensor(np.random.randint(0, V, N))
    target[3] = -100
    return w.requires_grad_(), x, target


def run(of, dtype="float32", see=lambda logits: None, again=False, **options):
    """The gradient of a head's weights, and what `see` has given of the logits."""
    w, x, target = made(of, dtype)
    logits = (x @ w.T)[None]
    held = see(logits)
    loss = of.nn.functional.cross_entropy(logits.view(-1, V), target, **options)
    del logits
    if again:
        loss.backward(retain_graph=True)
        w.grad = None
    loss.backward()
    return w.grad, held


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("options", [{}, {"reduction": "sum"}, {"label_smoothing": 0.1}, {"weight": 1}])
def test_the_gradient_is_the_same_wherever_it_lies(dtype, options):
    if "weight" in options:
        options = {"weight": badak.rand(V).to(getattr(badak, dtype))}
    alone, _ = run(badak, dtype, **options)
    beside, _ = run(badak, dtype, see=lambda logits: logits, **options)
    twice, _ = run(badak, dtype, again=True, **options)
    assert (alone == beside).all() and (alone == twice).all()


@pytest.mark.parametrize(
    "see",
    [
        lambda logits: logits,
        lambda logits: logits[0, 3:],
        lambda logits: logits.detach(),
        lambda logits: logits.detach().numpy(),
        lambda logits: memoryview(logits.detach().numpy()),
        lambda logits: logits.logsumexp(-1),  # its history has saved them
        lambda logits: logits.untyped_storage(),
    ],
)
def test_who_sees_the_logits_sees_them_unchanged(see):
    def number(held):
        return np.asarray(held.detach() if isinstance(held, badak.Tensor) else held.tolist() if hasattr(held, "tolist") else held)

    _, held = run(badak, see=see)
    w, x, _ = made(badak, "float32")
    assert (number(held) == number(see((x @ w.T)[None]))).all()


def test_a_second_backward_is_told_as_by_pytorch():
    for of, error in ((badak, GraphError), (torch, RuntimeError)):
        w, x, target = made(of, "float32")
        loss = of.nn.functional.cross_entropy(x @ w.T, target)
        loss.backward()
        with pytest.raises(error, match="backward through the graph a second time"):
            loss.backward()


def test_an_interrupted_backward_cannot_be_repeated(monkeypatch):
    w, x, target = made(badak, "float32")
    loss = F.cross_entropy(x @ w.T, target)
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["badak.ops.loss"], "is_alone", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            loss.backward()
    with pytest.raises(GraphError):
        loss.backward()


def test_gradients_of_gradients_keep_the_logits():
    w, x, target = made(badak, "float32")
    (dw,) = badak.autograd.grad(F.cross_entropy(x @ w.T, target), w, create_graph=True)
    dw.pow(2).sum().backward()
    assert w.grad.isfinite().all() and dw.allclose(run(badak)[0], atol=1e-6)


def test_who_is_alone_with_an_array():
    held = {"a": np.ones(4), "mapped": mapped((3, 4), np.float32)}
    held["view"], held["of mapped"] = np.ones((2, 3)).reshape(3, 2), mapped((3, 4), np.float32).reshape(4, 3)
    held["table"] = np.frombuffer(bytes(8), np.float32)
    assert [is_alone(held, name) for name in ("a", "mapped", "view", "of mapped", "table", "none")] == [True] * 4 + [False] * 2
    others = [held["a"], held["mapped"][0], held["view"].base[0], held["of mapped"].base.base]
    assert not any(is_alone(held, name) for name in ("a", "mapped", "view", "of mapped"))
    assert type(others[-1]) is OwnMemory and (held["mapped"] == 0).all()
