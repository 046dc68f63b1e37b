"""Wrong options and malformed states: an error of two lines, and nothing has changed; what is accepted can be gone on with."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import badak
from badak import optim
from badak.core.errors import BadakError, StateError
from badak.optim import lr_scheduler
from badak.tensor import Tensor


def parameters():
    rng = np.random.default_rng(0)
    made = [Tensor._of(rng.standard_normal(shape).astype(np.float32)).requires_grad_() for shape in [(2, 3), (4,), ()]]
    for p in made:
        p.grad = Tensor._of(np.asarray(rng.standard_normal(p.shape), np.float32))
    return made


def two_lines(caught, text=""):
    """Whether an error says cause and fix."""
    cause, fix = str(caught.value).split("\nfix: ")
    assert text in cause and fix
    assert "\n" not in cause + fix


OPTIONS = [
    ("SGD", {"lr": "a"}, "SGD: lr should be a number; got 'a'"),
    ("SGD", {"lr": None}, "SGD: lr should be a number; got None"),
    ("SGD", {"lr": [0.1]}, "SGD: lr should be a number; got a list"),
    ("SGD", {"lr": 10**400}, "SGD: expected a number as lr; got a int"),
    ("SGD", {"lr": 1j}, "SGD: lr should be a number; got 1j"),
    ("SGD", {"momentum": "0.9", "nesterov": True}, "SGD: momentum should be a number; got '0.9'"),
    ("SGD", {"dampening": math.nan}, "SGD: expected a number as dampening; got nan"),
    ("SGD", {"nesterov": "yes"}, "SGD: nesterov should be True or False; got 'yes'"),
    ("SGD", {"maximize": 2}, "SGD: maximize should be True or False; got 2"),
    ("Adam", {"betas": (0.9,)}, "Adam: betas should be two numbers; got 1"),
    ("Adam", {"betas": (0.9, 0.99, 0.999)}, "Adam: betas should be two numbers; got 3"),
    ("Adam", {"betas": 0.9}, "Adam: betas should be two numbers; got 0.9"),
    ("Adam", {"betas": ("a", 0.9)}, "Adam: betas[0] should be a number; got 'a'"),
    ("AdamW", {"betas": (0.9, math.nan)}, "AdamW: Invalid beta parameter at index 1: nan; expected 0 <= betas[1] < 1"),
    ("AdamW", {"weight_decay": -1}, "AdamW: Invalid weight_decay value: -1; expected weight_decay >= 0"),
    ("AdamW", {"amsgrad": None}, "AdamW: amsgrad should be True or False; got None"),
    ("RMSprop", {"alpha": "a"}, "RMSprop: alpha should be a number; got 'a'"),
    ("RMSprop", {"centered": 0.5}, "RMSprop: centered should be True or False; got 0.5"),
    ("Adagrad", {"initial_accumulator_value": -0.1}, "Adagrad: Invalid initial_accumulator_value value: -0.1; expected initial"),
    ("Adadelta", {"rho": 1.5}, "Adadelta: Invalid rho value: 1.5; expected 0 <= rho <= 1"),
    ("Rprop", {"etas": (1.5, 1.2)}, "Rprop: Invalid eta values: 1.5, 1.2; expected 0 < etas[0] < 1 < etas[1]"),
    ("Rprop", {"step_sizes": 1.0}, "Rprop: step_sizes should be two numbers; got 1.0"),
    ("ASGD", {"t0": "a"}, "ASGD: t0 should be a number; got 'a'"),
    ("NAdam", {"momentum_decay": -1}, "NAdam: Invalid momentum_decay value: -1; expected momentum_decay >= 0"),
]


@pytest.mark.parametrize("name, options, text", OPTIONS, ids=str)
def test_options_without_meaning_are_named(name, options, text):
    with pytest.raises((ValueError, TypeError)) as caught:
        getattr(optim, name)(parameters(), **options)
    two_lines(caught, text)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad"])
def test_options_of_a_group_are_named_when_it_is_added_and_when_they_are_used(name):
    with pytest.raises(TypeError) as caught:
        getattr(optim, name)([{"params": parameters(), "lr": "a"}])
    two_lines(caught, f"{name}: lr should be a number; got 'a'")
    optimizer = getattr(optim, name)(parameters())
    optimizer.step()
    before = copy.deepcopy(optimizer.state_dict())
    optimizer.param_groups[0]["lr"] = "a"
    with pytest.raises(TypeError) as caught:
        optimizer.step()
    two_lines(caught, f"{name}: lr should be a number; got 'a'")
    optimizer.param_groups[0]["lr"] = before["param_groups"][0]["lr"]
    assert flat(optimizer.state_dict()) == flat(before)


SCHEDULES = {
    "LambdaLR": {"lr_lambda": lambda t: 0.9**t},
    "MultiplicativeLR": {"lr_lambda": lambda t: 0.9},
    "StepLR": {"step_size": 2},
    "MultiStepLR": {"milestones": [1, 3]},
    "ConstantLR": {},
    "LinearLR": {},
    "ExponentialLR": {"gamma": 0.9},
    "PolynomialLR": {},
    "CosineAnnealingLR": {"T_max": 5},
    "CosineAnnealingWarmRestarts": {"T_0": 3},
    "OneCycleLR": {"max_lr": 0.1, "total_steps": 30},
    "NoamLR": {"d_model": 8},
    "ReduceLROnPlateau": {},
}
WRONG = [
    ("StepLR", {"step_size": 0}, "StepLR: expected an integer step_size >= 1; got 0"),
    ("StepLR", {"step_size": 2.5}, "StepLR: expected an integer step_size >= 1; got 2.5"),
    ("StepLR", {"step_size": 2, "gamma": "a"}, "StepLR: gamma should be a number; got 'a'"),
    ("StepLR", {"step_size": 2, "last_epoch": "a"}, "StepLR: expected an integer last_epoch >= -1; got 'a'"),
    ("MultiStepLR", {"milestones": 3}, "MultiStepLR: expected a list of milestones; got 3"),
    ("MultiStepLR", {"milestones": ["a"]}, "MultiStepLR: expected an integer milestone >= 0; got 'a'"),
    ("ConstantLR", {"factor": "a"}, "ConstantLR: expected 0 < factor <= 1; got 'a'"),
    ("LinearLR", {"start_factor": None}, "LinearLR: expected 0 < start_factor <= 1; got None"),
    ("LinearLR", {"total_iters": "a"}, "LinearLR: total_iters should be a number; got 'a'"),
    ("ExponentialLR", {"gamma": None}, "ExponentialLR: gamma should be a number; got None"),
    ("PolynomialLR", {"power": "a"}, "PolynomialLR: power should be a number; got 'a'"),
    ("CosineAnnealingLR", {"T_max": 0}, "CosineAnnealingLR: expected T_max > 0; got 0"),
    ("CosineAnnealingLR", {"T_max": 5, "eta_min": "a"}, "CosineAnnealingLR: eta_min should be a number; got 'a'"),
    ("CosineAnnealingWarmRestarts", {"T_0": "a"}, "CosineAnnealingWarmRestarts: expected a positive integer T_0; got 'a'"),
    ("OneCycleLR", {"max_lr": "a", "total_steps": 5}, "OneCycleLR: max_lr should be a number; got 'a'"),
    ("OneCycleLR", {"max_lr": 1, "total_steps": 5, "div_factor": 0}, "OneCycleLR: expected div_factor > 0; got 0"),
    ("NoamLR", {"d_model": "a"}, "NoamLR: expected d_model > 0; got 'a'"),
    ("ReduceLROnPlateau", {"factor": "a"}, "ReduceLROnPlateau: expected factor < 1; got 'a'"),
    ("ReduceLROnPlateau", {"patience": "a"}, "ReduceLROnPlateau: patience should be a number; got 'a'"),
    ("ReduceLROnPlateau", {"min_lr": "a"}, "ReduceLROnPlateau: min_lr should be a number; got 'a'"),
]


@pytest.mark.parametrize("name, options, text", WRONG, ids=str)
def test_options_of_a_schedule_without_meaning_are_named(name, options, text):
    with pytest.raises((ValueError, TypeError)) as caught:
        getattr(lr_scheduler, name)(optim.SGD(parameters(), momentum=0.9), **options)
    two_lines(caught, text)


def test_a_function_that_gives_no_rate_is_named():
    with pytest.raises(TypeError) as caught:
        lr_scheduler.LambdaLR(optim.SGD(parameters(), lr=1), lambda step: "a" if step == 0 else 1)
    two_lines(caught, "get_lr: a learning rate should be a number; got 'a'")
    with pytest.raises(TypeError) as caught:
        lr_scheduler.ReduceLROnPlateau(optim.SGD(parameters())).step("a")
    two_lines(caught, "ReduceLROnPlateau: metrics should be a number; got 'a'")


RULES = {
    "SGD": {},
    "SGD momentum": {"momentum": 0.9},
    "Adam": {},
    "Adam amsgrad": {"amsgrad": True},
    "AdamW": {},
    "RMSprop": {},
    "RMSprop all": {"centered": True, "momentum": 0.5},
    "Adagrad": {},
    "NAdam": {},
    "ASGD": {},
}


def trained(name, steps=2):
    optimizer = getattr(optim, name.split()[0])(parameters(), **RULES[name])
    for _ in range(steps):
        optimizer.step()
    return optimizer


def flat(value):
    """A state in a form that can be compared."""
    if isinstance(value, dict):
        return {name: flat(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [flat(part) for part in value]
    return (value._array.tobytes(), value.shape) if isinstance(value, Tensor) else repr(value)


def of_first(state, **changes):
    return {**state, "state": {**state["state"], 0: {**state["state"][0], **changes}}}


def without(state, name):
    return {**state, "state": {**state["state"], 0: {k: v for k, v in state["state"][0].items() if k != name}}}


def of_group(state, **changes):
    return {**state, "param_groups": [{**state["param_groups"][0], **changes}]}


STATES = [
    ("no dict", lambda s: [s], "expected a dict; got list"),
    ("None", lambda s: None, "expected a dict; got NoneType"),
    ("state is a list", lambda s: {**s, "state": []}, "'state' should be a dict; got list"),
    ("groups are a dict", lambda s: {**s, "param_groups": {}}, "'param_groups' should be a list; got dict"),
    ("group is None", lambda s: {**s, "param_groups": [None]}, "param_groups[0] should be a dict; got NoneType"),
    ("no params", lambda s: {**s, "param_groups": [{"lr": 1}]}, "param_groups[0]['params'] should be a list of numbers"),
    ("params of strings", lambda s: of_group(s, params=["0", "1", "2"]), "['params'] should be a list of numbers"),
    ("a number too much", lambda s: {**s, "state": {**s["state"], 7: {}}}, "memory of parameter 7, which is in no group"),
    ("memory is None", lambda s: {**s, "state": {0: None}}, "should be a dict; got NoneType"),
    ("memory is a list", lambda s: {**s, "state": {0: [1]}}, "should be a dict; got list"),
    ("no step", lambda s: without(s, "step"), "lacks 'step'"),
    ("no moment", lambda s: without(s, "exp_avg_sq"), "lacks 'exp_avg_sq'"),
    ("moment is None", lambda s: of_first(s, exp_avg=None), "lacks 'exp_avg'"),
    ("moment is a list", lambda s: of_first(s, exp_avg=[1.0]), "'exp_avg' in the state of a parameter of shape (2, 3) should be"),
    ("another shape", lambda s: of_first(s, exp_avg=badak.zeros(3, 2)), "has shape (3, 2)"),
    ("another kind", lambda s: of_first(s, exp_avg=badak.zeros(2, 3, dtype=badak.int64)), "has dtype badak.int64"),
    ("steps are NaN", lambda s: of_first(s, step=badak.tensor(math.nan)), "should be a count of steps; got nan"),
    ("steps are negative", lambda s: of_first(s, step=badak.tensor(-1.0)), "should be a count of steps; got -1.0"),
    ("half a step", lambda s: of_first(s, step=0.5), "should be a count of steps; got 0.5"),
    ("endless steps", lambda s: of_first(s, step=math.inf), "should be a count of steps; got inf"),
    ("steps are two", lambda s: of_first(s, step=badak.ones(2)), "should be a count of steps; got a Tensor"),
    ("step is a string", lambda s: of_first(s, step="1"), "should be a count of steps; got a str"),
    ("another's memory", lambda s: of_first(s, momentum_buffer=badak.zeros(2, 3)), "'momentum_buffer', which Adam does not"),
    ("rate is a string", lambda s: of_group(s, lr="a"), "param_groups[0]: Adam: lr should be a number; got 'a'"),
    ("one beta", lambda s: of_group(s, betas=[0.9]), "param_groups[0]: Adam: betas should be two numbers; got 1"),
    ("rate is NaN", lambda s: of_group(s, lr=math.nan), "expected a number as lr; got nan"),
    ("switch is a string", lambda s: of_group(s, amsgrad="no"), "amsgrad should be True or False; got 'no'"),
]


@pytest.mark.parametrize("change, text", [row[1:] for row in STATES], ids=[row[0] for row in STATES])
def test_a_malformed_state_is_refused_and_changes_nothing(change, text):
    optimizer = trained("Adam")
    before = flat(copy.deepcopy(optimizer.state_dict()))
    with pytest.raises(StateError) as caught:
        optimizer.load_state_dict(change(copy.deepcopy(optimizer.state_dict())))
    two_lines(caught, text)
    assert flat(optimizer.state_dict()) == before


def test_a_number_that_no_float_holds_is_refused():
    optimizer = trained("ASGD")
    with pytest.raises(StateError) as caught:
        optimizer.load_state_dict(of_first(optimizer.state_dict(), eta=10**400))
    two_lines(caught, "'eta' in the state of a parameter of shape (2, 3) should be a number below 2**63")


@pytest.mark.parametrize("source", RULES)
@pytest.mark.parametrize("target", RULES)
def test_a_state_of_another_optimizer_is_refused_or_goes_on(source, target):
    """Adam's and AdamW's are one; one without memory fits everywhere; what a setting turned off may be begun."""
    optimizer = trained(target, 0)
    try:
        optimizer.load_state_dict(trained(source).state_dict())
    except StateError:
        assert source.split()[0] != target.split()[0] and {source.split()[0], target.split()[0]} != {"Adam", "AdamW"}
    optimizer.step()
    assert all(np.isfinite(p._array).all() for p in optimizer.param_groups[0]["params"])


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.just(10**400),
    st.floats(),
    st.text(max_size=3),
    st.just([]),
    st.just({}),
    st.just([1.0, 2.0]),
    st.just({"a": 1}),
    st.builds(lambda shape: badak.zeros(shape), st.sampled_from([(), (1,), (2, 3), (3, 2), (4,), (0,)])),
    st.builds(lambda: badak.zeros(2, 3, dtype=badak.int64)),
    st.builds(lambda: badak.full((), math.nan)),
    st.builds(object),
)


def mutated(value, draw):
    """`value` with one place in it changed, left out or renamed."""
    if isinstance(value, dict) and value and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(value, key=repr)))
        way = draw(st.integers(0, 9))
        if way == 0:
            return {k: v for k, v in value.items() if k != key}
        if way == 1:
            return {draw(st.sampled_from([None, "a", -1, 99, ()])) if k == key else k: v for k, v in value.items()}
        return {k: mutated(v, draw) if k == key else v for k, v in value.items()}
    if isinstance(value, list) and value and draw(st.integers(0, 3)):
        at = draw(st.integers(0, len(value) - 1))
        if draw(st.integers(0, 5)) == 0:
            return value[:at] + value[at + 1 :]
        return [mutated(v, draw) if i == at else v for i, v in enumerate(value)]
    return draw(JUNK)


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_mutated_state_is_refused_or_can_be_gone_on_with(name, data):
    optimizer = trained(name)
    before = flat(copy.deepcopy(optimizer.state_dict()))
    state = mutated(copy.deepcopy(optimizer.state_dict()), data.draw)
    try:
        optimizer.load_state_dict(state)
    except BadakError as error:
        assert isinstance(error, StateError) and error.fix and "\n" not in error.cause
        assert flat(optimizer.state_dict()) == before
        return
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())


def scheduled(name):
    optimizer = optim.SGD(parameters(), lr=0.1, momentum=0.9)
    if name in SCHEDULES:
        schedule = getattr(lr_scheduler, name)(optimizer, **SCHEDULES[name])
    else:
        parts = [lr_scheduler.ExponentialLR(optimizer, 0.9), lr_scheduler.StepLR(optimizer, 2)]
        if name == "SequentialLR":
            schedule = lr_scheduler.SequentialLR(optimizer, parts, [3])
        else:
            schedule = lr_scheduler.ChainedScheduler(parts)
    go_on(optimizer, schedule, 2)
    return optimizer, schedule


def go_on(optimizer, schedule, steps):
    for _ in range(steps):
        optimizer.step()
        schedule.step(*([1.0] if isinstance(schedule, lr_scheduler.ReduceLROnPlateau) else []))


ALL = [*SCHEDULES, "SequentialLR", "ChainedScheduler"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_mutated_state_of_a_schedule_is_refused_or_can_be_gone_on_with(name, data):
    optimizer, schedule = scheduled(name)
    before = flat(copy.deepcopy(schedule.state_dict()))
    state = mutated(copy.deepcopy(schedule.state_dict()), data.draw)
    try:
        schedule.load_state_dict(state)
    except BadakError as error:
        assert isinstance(error, StateError) and error.fix and "\n" not in error.cause
        assert flat(schedule.state_dict()) == before
        return
    try:
        go_on(optimizer, schedule, 4)
    except BadakError as error:  # a number of steps beyond the last one, say
        assert error.fix


SCHEDULE_STATES = [
    (lambda s: [s], "expected a dict; got list"),
    (lambda s: {k: v for k, v in s.items() if k != "last_epoch"}, "'last_epoch' is missing"),
    (lambda s: {**s, "last_epoch": math.nan}, "'last_epoch' should be a number; got nan"),
    (lambda s: {**s, "last_epoch": "3"}, "'last_epoch' should be a number; got '3'"),
    (lambda s: {**s, "base_lrs": []}, "'base_lrs' should be a list that is not empty; got a list"),
    (lambda s: {**s, "base_lrs": [0.1, 0.2]}, "'base_lrs' has 2 values for 1 group"),
    (lambda s: {**s, "base_lrs": [None]}, "'base_lrs[0]' should be a number; got None"),
    (lambda s: {**s, "optimizer": None}, "'optimizer' is not part of a state"),
    (lambda s: {**s, "step": 3}, "'step' is not part of a state"),
]


@pytest.mark.parametrize("change, text", SCHEDULE_STATES, ids=[row[1] for row in SCHEDULE_STATES])
def test_a_malformed_state_of_a_schedule_is_refused(change, text):
    schedule = scheduled("StepLR")[1]
    with pytest.raises(StateError) as caught:
        schedule.load_state_dict(change(schedule.state_dict()))
    two_lines(caught, "StepLR.load_state_dict: " + text)


@pytest.mark.parametrize("key", ["start_lr", "end_lr", "start_momentum", "end_momentum"])
def test_the_phases_of_a_schedule_name_what_a_group_has(key):
    schedule = scheduled("OneCycleLR")[1]
    state = copy.deepcopy(schedule.state_dict())
    state["_schedule_phases"][1][key] = "lr"
    with pytest.raises(StateError) as caught:
        schedule.load_state_dict(state)
    rates = "'initial_lr' or 'max_lr' or 'min_lr'" if key.endswith("lr") else "'max_momentum' or 'base_momentum'"
    two_lines(caught, f"OneCycleLR.load_state_dict: \"_schedule_phases[1]['{key}']\" should be {rates}; got 'lr'")


@pytest.mark.parametrize("milestones, text", [({"3": 1}, "'3'"), ({3: 10**400}, "a"), ({3: 0}, "0"), ({3: 1.0}, "1.0")])
def test_milestones_are_counts_that_a_list_may_have(milestones, text):
    schedule = scheduled("MultiStepLR")[1]
    with pytest.raises(StateError) as caught:
        schedule.load_state_dict(schedule.state_dict() | {"milestones": milestones})
    assert caught.value.cause.startswith("MultiStepLR.load_state_dict: 'milestones' should count whole steps; got " + text)
    assert len(caught.value.cause) < 200 and caught.value.fix


@pytest.mark.parametrize("name", ["use_beta1", "cycle_momentum"])
def test_what_a_schedule_changes_in_the_groups_is_there(name):
    schedule = scheduled("OneCycleLR")[1]
    other = not getattr(schedule, name)
    with pytest.raises(StateError) as caught:
        schedule.load_state_dict(schedule.state_dict() | {name: other})
    two_lines(caught, f"OneCycleLR.load_state_dict: {name!r} is {other}, but not for this optimizer")


@pytest.mark.parametrize("total, start, three", [(4, 0.25, False), (10, 0.1, False), (2, 0.5, True), (4, 0.25, True)])
def test_a_phase_without_steps_is_at_its_end(total, start, three):
    optimizer = optim.SGD(parameters(), lr=0.1, momentum=0.9)
    schedule = lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=total, pct_start=start, three_phase=three)
    assert schedule.get_last_lr() == [0.1]  # up at once
    go_on(optimizer, schedule, total - 1)
    assert schedule.get_last_lr()[0] < 0.1


@pytest.mark.parametrize("name, value", [("T_mult", 7.6e-245), ("T_i", 0.5), ("T_0", 0)])
def test_periods_below_a_step_are_refused(name, value):
    schedule = lr_scheduler.CosineAnnealingWarmRestarts(optim.SGD(parameters(), lr=1), 3)
    with pytest.raises(StateError) as caught:
        schedule.load_state_dict({**schedule.state_dict(), name: value})
    two_lines(caught, f"{name!r} should be a number >= 1; got {value}")
