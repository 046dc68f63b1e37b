"""What callbacks, losses and models change while `fit` trains is seen by its compiled step, as by the loop without compiling.

Each function is given the model, and gives (loss, callback or None, what is told besides at the end or None).
"""

import collections
import contextvars
import enum
import functools
import itertools
import logging
import math
import os
import random
import types

import numpy as np
import pytest

import badak
from badak import nn
from badak.nn import functional as F
from badak.training.fit import fit
from tests.compiler.ways import space

FITS: dict = {}
LATE = 8  # the step after which most of them change something
cross = F.cross_entropy


def way(function):
    FITS[function.__name__] = function
    return function


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 3)
        self.drop, self.act = nn.Dropout(0.0), nn.ReLU()
        self.depth, self.heat, self.config, self.calls = 1, 1.0, space(s=1.0), 0

    def forward(self, x):
        h = self.act(self.a(x))
        for _ in range(self.depth):
            h = h + self.act(self.b(h))
        return self.out(self.drop(h)) * self.config.s / self.heat


def late(change):
    """A callback that changes something once."""
    return lambda p: change() if p.step == LATE else None


@way
def a_depth_by_stages(net):
    return cross, lambda p: setattr(net, "depth", 1 + p.step // LATE), None


@way
def a_temperature_in_every_step(net):
    return cross, lambda p: setattr(net, "heat", 1.0 + p.step * 0.01), None


@way
def a_config_of_the_model(net):
    return cross, late(lambda: setattr(net.config, "s", 2.0)), None


@way
def an_activation(net):
    return cross, late(lambda: setattr(net, "act", nn.Tanh())), None


@way
def a_rate_of_dropout(net):
    return cross, late(lambda: setattr(net.drop, "p", 0.5)), None


@way
def a_frozen_layer(net):
    return cross, late(lambda: net.a.requires_grad_(False)), None


@way
def weights_that_are_clamped(net):
    return cross, lambda p: net.out.weight.data.clamp_(-0.2, 0.2), None


@way
def an_average_of_the_weights(net):
    average = [p.detach().clone() for p in net.parameters()]

    def callback(p):
        for mean, w in zip(average, net.parameters()):
            mean.mul_(0.9).add_(w.detach(), alpha=0.1)

    return cross, callback, lambda: [mean.tolist() for mean in average]


@way
def calls_that_are_counted(net):
    def forward(self, x):
        self.calls += 1
        return Net.forward(self, x)

    net.forward = types.MethodType(forward, net)
    return cross, None, lambda: net.calls


@way
def a_hook_that_keeps(net):
    kept = []
    net.register_forward_hook(lambda module, args, y: kept.append(y.detach().sum().item()))
    return cross, None, lambda: kept


@way
def a_counter_of_losses(net):
    count = collections.Counter()

    def loss(y, target):
        count["n"] += 1
        return cross(y, target)

    return loss, None, lambda: count["n"]


@way
def an_iterator_that_decides(net):
    steps = itertools.count()
    return lambda y, target: cross(y, target) * (1.0 if next(steps) < LATE else 0.1), None, None


@way
def a_cycle_of_weights(net):
    weights = itertools.cycle([1.0, 0.5])
    return lambda y, target: cross(y, target) * next(weights), None, None


@way
def a_generator_of_weights(net):
    weights = (0.9**i for i in itertools.count())
    return lambda y, target: cross(y, target) * next(weights), None, None


@way
def chance_of_the_library(net):
    chance = random.Random(3)
    return lambda y, target: cross(y, target) * (1.0 + chance.random()), None, None


@way
def chance_of_numpy(net):
    chance = np.random.default_rng(3)
    return lambda y, target: cross(y, target) * float(chance.random()), None, None


@way
def smoothing(net):
    loss = nn.CrossEntropyLoss()
    return loss, late(lambda: setattr(loss, "label_smoothing", 0.3)), None


@way
def weights_of_the_classes(net):
    loss = nn.CrossEntropyLoss(weight=badak.ones(3))
    return loss, lambda p: loss.weight.mul_(1.1), None


@way
def a_partial_over_a_dict(net):
    c = {"s": 0.0}
    loss = functools.partial(lambda c, y, target: cross(y, target) + c["s"] * y.square().mean(), c)
    return loss, lambda p: c.update(s=p.step * 0.1), None


@way
def a_mode_of_two(net):
    class Mode(enum.Enum):
        ONE = 1
        TWO = 2

    c = space(mode=Mode.ONE)
    loss = lambda y, target: cross(y, target) if c.mode is Mode.ONE else y.square().mean()
    return loss, lambda p: setattr(c, "mode", Mode.TWO if p.step % 5 == 0 else Mode.ONE), None


@way
def an_attribute_of_a_number(net):
    class Rate(float):
        pass

    rate = Rate(1.0)
    rate.boost = 1.0
    return lambda y, target: cross(y, target) * rate.boost, lambda p: setattr(rate, "boost", 1.0 + p.step), None


@way
def a_context_variable(net):
    weight = contextvars.ContextVar("weight", default=1.0)
    return lambda y, target: cross(y, target) * weight.get(), late(lambda: weight.set(0.1)), None


@way
def an_environment_variable(net):
    os.environ["BADAK_FIT_WEIGHT"] = "1"
    loss = lambda y, target: cross(y, target) * float(os.environ["BADAK_FIT_WEIGHT"])
    return loss, late(lambda: os.environ.update(BADAK_FIT_WEIGHT="0.1")), None


@way
def a_history_of_losses(net):
    history = []

    def loss(y, target):
        value = cross(y, target)
        history.append(value.detach())
        return value

    return loss, None, lambda: [value.item() for value in history]


@way
def a_value_that_decides(net):
    def loss(y, target):
        value = cross(y, target)
        return value * 0.5 if value.item() > 1.0 else value

    return loss, None, None


@way
def an_array_of_numpy(net):
    table = np.ones(3, np.float32)
    loss = lambda y, target: cross(y * badak.from_numpy(table), target)
    return loss, lambda p: np.multiply(table, np.float32(1.01), out=table), None


@way
def a_hook_of_all_modules(net):
    held = []
    half = lambda module, args, y: y * 0.5 if isinstance(module, nn.Linear) else None
    callback = late(lambda: held.append(nn.modules.module.register_module_forward_hook(half)))
    return cross, callback, lambda: [hook.remove() for hook in held]


@way
def a_hook_of_a_gradient(net):
    return cross, late(lambda: net.out.weight.register_hook(lambda dy: dy * 0.1)), None


@way
def a_layer_that_is_replaced(net):
    return cross, late(lambda: setattr(net, "b", nn.Identity())), None


@way
def a_counter_in_globals(net):
    own = {"cross": cross, "n": 0}
    text = "def loss(y, target):\n global n\n n += 1\n return cross(y, target) * (1.0 if n < 9 else 0.1)"
    exec(text, own)
    return own["loss"], None, lambda: own["n"]


@way
def a_level_of_logging(net):
    log = logging.getLogger("badak_fit_way")
    log.setLevel(logging.WARNING)
    loss = lambda y, target: cross(y, target) * (0.1 if log.isEnabledFor(logging.DEBUG) else 1.0)
    return loss, late(lambda: log.setLevel(logging.DEBUG)), None


@way
def another_forward(net):
    return cross, late(lambda: setattr(net, "forward", lambda x: Net.forward(net, x) * 0.5)), None


@way
def a_class_that_is_patched(net):
    kept = nn.ReLU.forward
    return cross, late(lambda: setattr(nn.ReLU, "forward", lambda self, x: x * 0.1)), lambda: setattr(nn.ReLU, "forward", kept)


@way
def a_schedule_of_a_weight(net):
    c = space(t=0)
    return lambda y, target: cross(y, target) * (0.5 + 0.5 * math.cos(c.t / 10)), lambda p: setattr(c, "t", p.step), None


def trained(name, compiled):
    badak.manual_seed(0)
    net = Net()
    x, y = badak.randn(32, 4), badak.randint(0, 3, (32,))
    batches = [(x[i : i + 4], y[i : i + 4]) for i in range(0, 32, 4)]
    loss, callback, told = FITS[name](net)
    try:
        fit(net, batches, loss, epochs=2, callbacks=[callback] if callback else [], compiled=compiled, log=None)
    finally:
        said = told() if told else None
    return [p.tolist() for p in net.parameters()], said


@pytest.mark.filterwarnings("ignore:compile", "ignore:fit")
@pytest.mark.parametrize("name", FITS)
def test_no_way_goes_unseen_by_fit(name):
    assert trained(name, True) == trained(name, False)
