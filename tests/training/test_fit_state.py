"""fit replays its steps by default: what callbacks, losses and models change in Python between them must arrive all the same."""

import random
import types

import numpy as np
import pytest

import badak
from badak import nn
from badak.nn import functional as F
from badak.training import fit

pytestmark = pytest.mark.slow


class Weighted:
    """A loss with a weight that something else raises. Each form keeps it in another place."""

    def __init__(self, form: str):
        self.form, self.weight, self.table, self.row = form, 0.0, {"weight": 0.0}, [0.0]
        self.inner, self.curve = types.SimpleNamespace(weight=0.0), np.polynomial.Polynomial([0.0])

    @property
    def late(self) -> float:
        return self.table["weight"]

    def __call__(self, outputs, labels):
        weight = {
            "attribute": lambda: self.weight, "dict": lambda: self.table["weight"], "list": lambda: self.row[0],
            "property": lambda: self.late, "object": lambda: self.inner.weight, "polynomial": lambda: float(self.curve(1.0)),
        }[self.form]()  # fmt: skip
        return F.cross_entropy(outputs, labels) + weight * outputs.square().mean()

    def raise_to(self, weight: float) -> None:
        self.weight = self.table["weight"] = self.row[0] = self.inner.weight = self.curve.coef[0] = weight


class Net(nn.Module):
    """A residual step that chance, a flag or a list of layers decides on."""

    def __init__(self, how: str):
        super().__init__()
        self.how, self.a, self.b, self.out = how, nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 3)
        self.cfg, self.stack, self.seen = {"deep": False}, [], []

    def forward(self, x):
        h = self.a(x)
        if self.how == "random" and random.random() < 0.5 or self.how == "numpy" and np.random.rand() < 0.5:
            h = h + self.b(h).relu()
        if self.how == "flag" and self.cfg["deep"]:
            h = h + self.b(h).relu()
        for layer in self.stack:
            h = layer(h)
        if self.how == "log":
            self.seen.append(len(x))
        return self.out(h)


def trained(net, loss, callback, compiled):
    x, y = badak.randn(16, 4), badak.randint(0, 3, (16,))
    loader = [(x[i : i + 4], y[i : i + 4]) for i in range(0, 16, 4)]
    fit(net, loader, loss, epochs=5, callbacks=[callback], compiled=compiled, log=None, lr=1e-2)
    return {name: p.tolist() for name, p in net.state_dict().items()}


@pytest.mark.parametrize("often", [False, True], ids=["once", "each step"])
@pytest.mark.parametrize("form", ["attribute", "dict", "list", "property", "object", "polynomial"])
def test_a_weight_that_a_callback_raises_arrives(form, often):
    outcomes = []
    for compiled in (False, True):
        badak.manual_seed(0)
        loss = Weighted(form)
        weight = lambda step: 0.1 * step if often else 0.5 * (step > 9)
        outcomes.append(trained(Net(""), loss, lambda place, loss=loss, weight=weight: loss.raise_to(weight(place.step)), compiled))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("how", ["random", "numpy", "flag", "stack", "log"])
def test_a_model_that_python_decides_in_trains_the_same(how):
    outcomes = []
    for compiled in (False, True):
        badak.manual_seed(0), random.seed(0), np.random.seed(0)
        net = Net(how)

        def change(place, net=net):
            if place.step == 9:
                net.cfg["deep"] = True
                net.stack.extend([nn.ReLU()] if how == "stack" else [])

        outcomes.append((trained(net, F.cross_entropy, change, compiled), net.seen))
    assert outcomes[0] == outcomes[1]
