"""A step of an optimizer in replays: whatever happens to it from outside, the bits are those of calling it."""

from collections import Counter

import numpy as np
import pytest

import badak
from badak import nn, optim
from badak.tensor import Tensor
from tests.kernels.twin import fast_kernels

fast = fast_kernels()

RULES = {
    "AdamW": (optim.AdamW, {"lr": 0.01}),
    "Adam amsgrad": (optim.Adam, {"lr": 0.01, "amsgrad": True}),
    "SGD": (optim.SGD, {"lr": 0.1}),
    "SGD momentum": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    "RMSprop": (optim.RMSprop, {"lr": 0.01}),
    "RMSprop centered": (optim.RMSprop, {"lr": 0.01, "centered": True, "momentum": 0.5}),
    "Adagrad": (optim.Adagrad, {"lr": 0.01, "lr_decay": 0.1}),
    "NAdam": (optim.NAdam, {"lr": 0.01}),
    "RAdam": (optim.RAdam, {"lr": 0.01, "betas": (0.9, 0.95)}),
    "ASGD": (optim.ASGD, {"lr": 0.01, "t0": 3}),
    "Rprop": (optim.Rprop, {"lr": 0.01}),
}


def renew_state(optimizer):
    optimizer.load_state_dict(optimizer.state_dict())


def forget(optimizer):
    optimizer.state.clear()
    for group in optimizer.param_groups if type(optimizer) is optim.Adagrad else []:
        for p in group["params"]:
            optimizer._begin(p, group)


def give_back_gradient(optimizer):
    """The parameter that takes no part in the loss has a gradient from now on."""
    p = optimizer.param_groups[0]["params"][-1]
    p.grad = Tensor._of(np.full(p.shape, 0.3, np.float32))


EVENTS = {
    "nothing": lambda optimizer: None,
    "another rate": lambda optimizer: optimizer.param_groups[0].update(lr=0.003),
    "more decay": lambda optimizer: optimizer.param_groups[0].update(weight_decay=0.2),
    "maximize": lambda optimizer: optimizer.param_groups[0].update(maximize=True),
    "amsgrad": lambda optimizer: optimizer.param_groups[0].update(amsgrad=True),
    "momentum": lambda optimizer: optimizer.param_groups[0].update(momentum=0.7),
    "no momentum": lambda optimizer: optimizer.param_groups[0].update(momentum=0),
    "load_state_dict": renew_state,
    "state.clear()": forget,
    "a new group": lambda optimizer: optimizer.add_param_group({"params": [Tensor._of(np.ones(2, "f")).requires_grad_()]}),
    "one parameter less": lambda optimizer: optimizer.param_groups[0]["params"].pop(0),
    "another gradient": give_back_gradient,
    "a hook": lambda optimizer: optimizer.register_step_post_hook(
        lambda o, args, kwargs: o.param_groups[0].update(lr=o.param_groups[0]["lr"] * 0.5)
    ),
    "the step counter": lambda optimizer: [state["step"].fill_(1) for state in optimizer.state.values() if "step" in state],
}


def trained(rule, options, event, compiled):
    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2))
    spare = Tensor._of(np.ones((2, 3), np.float32)).requires_grad_()
    optimizer = rule([*model.parameters(), spare], **options)

    def step(x):
        model.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        return loss

    step = badak.compile(step) if compiled else step
    losses = []
    for number in range(14):
        if number == 7:
            event(optimizer)
        losses.append(step(badak.randn(4, 5)).item())
    state = [
        {name: value.tolist() if isinstance(value, Tensor) else value for name, value in optimizer.state[p].items()}
        for p in optimizer.state
    ]
    return losses, [p.tolist() for p in model.parameters()], spare.tolist(), state


@pytest.mark.thin(50)
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("name", RULES)
def test_what_happens_to_an_optimizer_outside_counts_in_replays(name, event):
    rule, options = RULES[name]
    assert trained(rule, options, EVENTS[event], True) == trained(rule, options, EVENTS[event], False)


@pytest.mark.parametrize("name", RULES)
def test_steps_and_clipping_are_replayed_by_their_kernels_alone(name, monkeypatch):
    calls = Counter()

    def counted(name):
        function = getattr(fast, name)

        def counting(*args):
            calls[name] += 1
            return function(*args)

        monkeypatch.setattr(fast, name, counting)

    monkeypatch.setattr("badak.compiler.compiled.EVERY", 0)  # a check would run the step itself
    for function in ("update_all", "norm_all", "shrink_all", "limit_all"):
        counted(function)
    rule, options = RULES[name]
    model = nn.Linear(5, 3)
    optimizer = rule(model.parameters(), **options)

    @badak.compile
    def step(x):
        model.zero_grad()
        model(x).square().mean().backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        nn.utils.clip_grad_value_(model.parameters(), 0.05)
        optimizer.step()
        return norm

    norms = [step(badak.randn(4, 5)).item() for _ in range(20)]
    assert len(set(norms)) == 20
    assert set(calls) == {"update_all", "norm_all", "shrink_all", "limit_all"} and max(calls.values()) <= 3


@pytest.mark.parametrize("clipped", [False, True])
@pytest.mark.parametrize("name", RULES)
def test_a_step_may_take_gradients_from_outside(name, clipped):
    def run(compiled):
        rule, options = RULES[name]
        w = Tensor._of(np.ones(70_000, np.float32)).requires_grad_()
        optimizer = rule([w], **options)

        def update():
            if clipped:
                nn.utils.clip_grad_norm_([w], 0.5)
            optimizer.step()
            optimizer.zero_grad()

        update = badak.compile(update) if compiled else update
        badak.manual_seed(1)
        for _ in range(8):
            (w * badak.rand(70_000)).sum().backward()
            update()
        return w.numpy().tobytes() if not w.requires_grad else w.detach().numpy().tobytes()

    assert run(True) == run(False)


def test_python_of_a_step_that_was_overridden_runs_at_every_call():
    class Decaying(optim.Adam):
        def step(self, closure=None):
            for group in self.param_groups:
                group["lr"] *= 0.5
            return super().step(closure)

    assert trained(Decaying, {"lr": 1.0}, EVENTS["nothing"], True) == trained(Decaying, {"lr": 1.0}, EVENTS["nothing"], False)
