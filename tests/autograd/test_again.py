"""What a graph lets go, and makes again: the same gradients to the bit, the same errors as PyTorch's, less memory."""

import gc
import weakref

import numpy as np
import pytest
import torch

import badak
from badak.autograd.again import Thin
from badak.compat.torch.checkpoint import checkpoint
from badak.core.errors import GraphError
from badak.nn import functional as F
from badak.ops.linear import Linear
from badak.tensor import apply

N, C, H, R = 70, 1024, 2048, 8


def numbers(*shape):
    return np.random.standard_normal(shape).astype(np.float32)


class Adapted:
    """A gated layer behind a norm, frozen, with adapters of rank R on it; `np` numbers or tensors of either library."""

    def __init__(self, of):
        self.of, self.F = of, of.nn.functional
        frozen = {"norm": (C,), "gate": (H, C), "up": (H, C), "down": (C, H)}
        shapes = frozen | {"x": (N, C), "a": (R, C), "a2": (R, C), "d": (R, H), "b": (H, R), "b2": (H, R), "e": (C, R)}
        np.random.seed(0)
        for name, shape in shapes.items():
            array = of.tensor(numbers(*shape) / 30)
            setattr(self, name, array if name in frozen else array.requires_grad_())
        self.learning = [self.x, self.a, self.a2, self.d, self.b, self.b2, self.e]

    def norm_of(self, x):
        return self.norm * (x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt())

    def __call__(self, x, held=None):
        h, F = self.norm_of(x), self.F
        gate = F.linear(h, self.gate) + F.linear(F.linear(h, self.a), self.b)
        up = F.linear(h, self.up) + F.linear(F.linear(h, self.a2), self.b2)
        active = F.silu(gate)
        y = active * up
        if held is not None:
            held.update(active=active, y=y, gate=gate, up=up)
        return F.linear(F.linear(y, self.d), self.e)

    def gradients(self):
        found = [p.grad for p in self.learning]
        for p in self.learning:
            p.grad = None
        return found


def kept(monkeypatch):
    """The same without what this file is about."""
    monkeypatch.setattr(Linear, "thins", None)


def same(first, second):
    return all((a == b).all() for a, b in zip(first, second, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["plain", "retained", "checkpoint", "rms_norm", "gelu"])
def test_gradients_are_those_of_what_was_kept_to_the_bit(way, monkeypatch):
    model = Adapted(badak)
    if way == "rms_norm":
        model.norm_of = lambda x: F.rms_norm(x, (C,), model.norm)
    if way == "gelu":
        monkeypatch.setattr(F, "silu", lambda x: F.gelu(x, approximate="tanh"))

    def run():
        loss = (checkpoint(model, model.x, use_reentrant=False) if way == "checkpoint" else model(model.x)).pow(2).sum()
        if way == "retained":
            loss.backward(retain_graph=True)
        loss.backward()
        return model.gradients()

    thin = run()
    kept(monkeypatch)
    assert same(thin, run())


def test_gradients_are_pytorchs():
    found = []
    for of in (badak, torch):
        model = Adapted(of)
        model(model.x).pow(2).sum().backward()
        found.append([g.numpy() for g in model.gradients()])
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4 * np.abs(theirs).max())


def test_what_can_be_made_again_is_not_kept():
    model, made = Adapted(badak), {}
    loss = model(model.x, made).sum()
    held = {name: weakref.ref(x._array) for name, x in made.items()}
    made.clear()
    gc.collect()
    assert {name for name, seen in held.items() if seen() is None} == {"active", "y"}
    loss.backward()
    gc.collect()
    assert all(seen() is None for seen in held.values())


def test_small_arrays_and_wide_layers_keep_what_they_need():
    x, w = badak.ones(N, C).requires_grad_(), badak.ones(C, C).requires_grad_()
    assert type(F.linear(x * 2 * x, w)._node.saved) is not Thin
    few = badak.ones(2, C).requires_grad_()
    assert type(F.linear(few * few, badak.ones(R, C).requires_grad_())._node.saved) is not Thin


@pytest.mark.parametrize("changed", ["gate", "up", "active", "y"])
def test_changes_in_place_are_told_as_by_pytorch(changed):
    for of, error in ((badak, GraphError), (torch, RuntimeError)):
        model, held = Adapted(of), {}
        loss = model(model.x, held).sum()
        with of.no_grad():
            held[changed].add_(1)
        with pytest.raises(error, match="modified by an inplace operation"):
            loss.backward()


def test_what_nobody_saved_may_change_in_place():
    """weight * (x * rstd): PyTorch keeps x * rstd for nothing."""
    found = []
    for change in (False, True):
        model, held = Adapted(badak), {}

        def norm_of(x, model=model, held=held):
            held["h"] = x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt()
            return model.norm * held["h"]

        model.norm_of = norm_of
        loss = model(model.x).sum()
        if change:
            held["h"].add_(1)
        loss.backward()
        found.append(model.gradients())
    assert same(*found)


def test_gradients_of_gradients(monkeypatch):
    model = Adapted(badak)

    def run():
        (dx,) = badak.autograd.grad(model(model.x).pow(2).sum(), model.x, create_graph=True)
        dx.pow(2).sum().backward()
        return model.gradients()

    thin = run()
    kept(monkeypatch)
    assert same(thin, run())


def test_a_part_of_the_graph_alone():
    """The adapter's gradient, after the other way through the product has freed what that had saved."""
    model, held = Adapted(badak), {}
    out = model(model.x, held)
    y = held.pop("y")
    y_sum = y.sum()
    expected = badak.autograd.grad(out.sum(), model.d, retain_graph=True)
    held.clear()
    del y
    y_sum.backward()
    assert same(badak.autograd.grad(out.sum(), model.d), expected)


def test_ops_that_say_again_save_what_it_names():
    """An op's `again` names its inputs and attributes; what it makes of them is what it made."""
    x = badak.tensor(numbers(3, 4)).requires_grad_()
    for y in (F.silu(x), F.gelu(x, approximate="tanh"), F.rms_norm(x, (4,)), x * x):
        saved, op = y._node.saved, y._node.op
        arrays = [getattr(saved, name) for name in op.again[: len(y._node.edges)]]
        attributes = {name: getattr(saved, name) for name in op.again[len(arrays) :]}
        again = apply(op, *[None if a is None else badak.Tensor._of(a) for a in arrays], **attributes)
        assert (again == y).all()
