"""The base class: what it takes, what it says, hooks, and a user's own optimizer."""

import copy
import inspect
import pickle
import re
import warnings

import numpy as np
import pytest
import torch

import badak
from badak import nn, optim
from badak.core.errors import ArgumentError, ArgumentTypeError, BadakWarning
from badak.optim.optimizer import Optimizer, required
from badak.tensor import Tensor
from tests.optim.twins import both, leaf, run


def ones(n: int = 3) -> Tensor:
    p = leaf(np.ones(n, np.float32))
    p.grad = Tensor._of(np.ones(n, np.float32))
    return p


class Descent(Optimizer):
    """A user's optimizer, in PyTorch's idiom."""

    def __init__(self, params, lr=0.5):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["seen"] = 0
                state["seen"] += 1
                p._array -= group["lr"] * p.grad._array


ELEMENTWISE = "SGD Adam AdamW Adagrad RMSprop Adadelta Adamax NAdam RAdam Rprop ASGD".split()


@pytest.mark.parametrize("name", [*ELEMENTWISE, "Adafactor", "Muon", "LBFGS"])
def test_signature_is_pytorchs(name):
    def shape(cls):
        return [(p.name, p.kind, p.default) for p in inspect.signature(cls).parameters.values()]

    assert shape(getattr(optim, name)) == shape(getattr(torch.optim, name))


@pytest.mark.parametrize("name", [*ELEMENTWISE, "Adafactor"])
def test_printed_form_is_pytorchs(name):
    _, ours, _, theirs = both(name, groups=True)
    assert repr(ours) == repr(theirs)


def test_params_may_be_tensors_pairs_or_groups():
    a, b = ones(), ones()
    assert [len(g["params"]) for g in optim.SGD(iter([a, b])).param_groups] == [2]
    named = optim.SGD([("a", a), ("b", b)])
    assert named.param_groups[0]["param_names"] == ["a", "b"] and named.state_dict()["param_groups"][0]["param_names"] == ["a", "b"]
    groups = optim.SGD([{"params": a, "lr": 3.0}, {"params": iter([b])}], lr=2.0).param_groups
    assert [(g["lr"], len(g["params"])) for g in groups] == [(3.0, 1), (2.0, 1)]


def test_the_users_dict_is_the_group():
    group = {"params": [ones()]}
    assert optim.SGD([group]).param_groups[0] is group


@pytest.mark.parametrize(
    "params, error, text",
    [
        (
            lambda p: [],
            ArgumentError,
            "no parameters: SGD got an empty parameter list.\nfix: pass model.parameters(); an iterator that was read",
        ),
        (
            lambda p: p,
            ArgumentTypeError,
            "SGD: params should be an iterable of tensors or dicts; got one tensor\nfix: SGD([...]), with brackets",
        ),
        (lambda p: {"params": [p]}, ArgumentTypeError, "SGD: params should be an iterable of tensors or dicts; got one dict"),
        (lambda p: [1], ArgumentTypeError, "optimizer can only optimize Tensors; one of the params is int"),
        (lambda p: [{"params": {p}}], ArgumentTypeError, "param_group: a set of parameters has no order"),
        (lambda p: [{"lr": 3}], ArgumentError, "param_group: expected the key 'params'; got 'lr'"),
        (lambda p: [("a", p), ones()], ArgumentError, "param_group: 1 of 2 parameters have names"),
        (lambda p: [{"params": [("a", p)]}, {"params": [ones()]}], ArgumentError, "param_group: the others has names"),
        (
            lambda p: [{"params": [p]}, {"params": [p]}],
            ArgumentError,
            "some parameters appear in more than one parameter group: 1 of 1",
        ),
    ],
)
def test_params_that_cannot_be_taken_are_explained(params, error, text):
    with pytest.raises(error) as caught:
        optim.SGD(params(ones()))
    assert str(caught.value).startswith(text)


def test_the_parameters_of_a_model_explain_why_there_are_none():
    class Net(badak.nn.Module):
        def __init__(self):
            super().__init__()
            fc = badak.nn.Linear(2, 2)
            self.width = fc.in_features

    model = Net()
    parameters = model.parameters()
    assert inspect.isgenerator(parameters)  # as PyTorch's are: programs ask
    with pytest.raises(ValueError, match="no parameters: model Net has none registered"):
        optim.Adam(parameters)


def test_a_repeated_parameter_warns():
    p = ones()
    with pytest.warns(BadakWarning, match="duplicate parameters"):
        optim.SGD([p, p])


@pytest.mark.parametrize(
    "name, options, text",
    [
        ("SGD", {"lr": -1}, "SGD: Invalid learning rate: -1; expected lr >= 0\nfix: lr=1"),
        ("SGD", {"lr": float("nan")}, "SGD: Invalid learning rate: nan; expected lr >= 0"),
        ("SGD", {"momentum": -1}, "SGD: Invalid momentum value: -1; expected momentum >= 0"),
        (
            "SGD",
            {"nesterov": True},
            "SGD: Nesterov momentum requires a momentum and zero dampening; got momentum=0, dampening=0",
        ),
        ("Adam", {"betas": (1.0, 0.9)}, "Adam: Invalid beta parameter at index 0: 1.0; expected 0 <= betas[0] < 1"),
        ("AdamW", {"eps": -1.0}, "AdamW: Invalid epsilon value: -1.0; expected eps >= 0"),
        ("Adam", {"fused": True, "foreach": True}, "Adam: `fused` and `foreach` cannot be `True` together"),
        ("Adam", {"lr": Tensor._of(np.ones(2))}, "Adam: Tensor lr must be 1-element; got shape (2,)"),
    ],
)
def test_settings_outside_their_range_are_named(name, options, text):
    with pytest.raises(ArgumentError) as caught:
        getattr(optim, name)([ones()], **options)
    assert str(caught.value).startswith(text)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, RuntimeError)


def test_what_cannot_apply_is_said():
    with pytest.warns(BadakWarning, match="capturable=True .* has no effect on the CPU"):
        optim.Adam([ones()], capturable=True)


def test_step_before_backward_warns_once_and_changes_nothing():
    p = leaf(np.ones(3, np.float32))
    optimizer = optim.Adam([p])
    with pytest.warns(BadakWarning) as caught:
        optimizer.step()
        optimizer.step()
    assert [str(w.message) for w in caught] == [
        "step() before backward(): no gradient present.\n"
        "fix: call loss.backward() before optimizer.step(), and zero_grad() not in between"
    ]
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(p._array, 1)
    assert not optimizer.state


def test_one_gradient_among_many_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optim.SGD([leaf(np.ones(3)), ones()]).step()


def test_a_closure_is_called_and_its_loss_returned():
    p = leaf(np.ones(3, np.float32))

    def closure():
        p.grad = Tensor._of(np.ones(3, np.float32))
        return 7.0

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert optim.SGD([p], lr=0.5).step(closure) == 7.0
    np.testing.assert_array_equal(p._array, 0.5)


def test_zero_grad_forgets_or_fills():
    p = ones()
    optimizer, kept = optim.SGD([p]), p.grad
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is kept
    np.testing.assert_array_equal(kept._array, 0)
    optimizer.zero_grad()
    assert p.grad is None


def test_a_step_counts_as_an_in_place_change():
    p = ones()
    before = p._version
    optim.Adam([p]).step()
    assert p._version == before + 1


def test_a_users_optimizer_works_as_in_pytorch():
    p = ones()
    optimizer = Descent([p], lr=0.25)
    optimizer.step()
    np.testing.assert_array_equal(p._array, 0.75)
    assert optimizer.state[p] == {"seen": 1}
    assert optimizer.state_dict() == {"state": {0: {"seen": 1}}, "param_groups": [{"lr": 0.25, "params": [0]}]}
    assert list(inspect.signature(Descent.step).parameters) == ["self", "closure"]


def test_a_setting_may_be_required():
    class Needy(Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": required})

    assert Needy([{"params": [ones()], "lr": 1}]).param_groups[0]["lr"] == 1
    with pytest.raises(ArgumentError, match="the setting 'lr' has no default"):
        Needy([ones()])


def test_an_optimizer_without_step_says_so():
    with pytest.raises(NotImplementedError, match="Optimizer does not define step"):
        Optimizer([ones()], {}).step()


def test_step_hooks_run_around_the_step_and_can_be_removed():
    optimizer, heard = optim.SGD([ones()]), []
    before = optimizer.register_step_pre_hook(lambda o, args, kwargs: heard.append("before"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: heard.append("after"))
    optimizer.step()
    before.remove()
    optimizer.step()
    assert heard == ["before", "after", "after"]


def test_a_pre_hook_can_replace_the_arguments():
    optimizer = optim.SGD([ones()])
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: 5.0), {}))
    assert optimizer.step() == 5.0


def test_a_step_that_calls_its_parents_step_runs_hooks_once():
    class Loud(optim.SGD):
        def step(self, closure=None):
            return super().step(closure)

    optimizer, heard = Loud([ones()]), []
    optimizer.register_step_post_hook(lambda *_: heard.append(1))
    optimizer.step()
    assert heard == [1]


def test_state_dict_hooks_run_in_their_order():
    optimizer, heard = optim.SGD([ones()]), []
    optimizer.register_state_dict_pre_hook(lambda o: heard.append("b"))
    optimizer.register_state_dict_pre_hook(lambda o: heard.append("a"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: {k: v for k, v in state.items() if k != "extra"})
    optimizer.register_load_state_dict_post_hook(lambda o: heard.append("loaded"))
    state = optimizer.state_dict()
    assert state["extra"] == 1
    optimizer.load_state_dict(state)
    assert heard == ["a", "b", "loaded"]


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda s: {"weight": 1}, "SGD.load_state_dict: expected the keys 'state' and 'param_groups'; got 'weight'"),
        (
            lambda s: {**s, "param_groups": []},
            "loaded state dict has a different number of parameter groups: 0, SGD has 1",
        ),
        (
            lambda s: {**s, "param_groups": [{"params": [0, 1]}]},
            "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
            "group 0 has 2 parameters, SGD's has 1",
        ),
    ],
)
def test_a_state_that_does_not_fit_is_explained(change, text):
    optimizer = optim.SGD([ones()])
    with pytest.raises(ValueError) as caught:
        optimizer.load_state_dict(change(optimizer.state_dict()))
    assert str(caught.value).startswith(text)


def test_settings_that_an_older_file_lacks_take_their_defaults():
    optimizer = optim.SGD([ones()], momentum=0.5)
    optimizer.load_state_dict({"state": {}, "param_groups": [{"lr": 0.1, "params": [0]}]})
    assert optimizer.param_groups[0]["lr"] == 0.1 and optimizer.param_groups[0]["momentum"] == 0.5


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_an_optimizer_can_be_copied_and_pickled(copied):
    ours, optimizer, theirs, twin = both("Adam")
    run(ours, optimizer, theirs, twin, [0])
    other = copied(optimizer)
    mine = other.param_groups[0]["params"]
    run(mine, other, theirs, twin, [1])
    assert other.state[mine[0]]["step"].item() == 2 and optimizer.state[ours[0]]["step"].item() == 1


def test_old_import_paths_exist():
    from badak.optim.adam import Adam
    from badak.optim.adamw import AdamW
    from badak.optim.lr_scheduler import _LRScheduler
    from badak.optim.sgd import SGD

    assert (Adam, AdamW, SGD) == (optim.Adam, optim.AdamW, optim.SGD)
    assert issubclass(_LRScheduler, optim.lr_scheduler.LRScheduler)


class Forgetful(nn.Module):
    """A model whose layers are only local names."""

    def __init__(self):
        super().__init__()
        hidden = nn.Linear(4, 4)
        output = nn.Linear(4, 2)
        self.sizes = (hidden.in_features, output.out_features)


def test_a_model_that_forgot_self_is_told_what_is_missing():
    with pytest.raises(ValueError) as caught:
        optim.Adam(Forgetful().parameters())
    assert str(caught.value) == (
        "no parameters: model Forgetful has none registered. Found 2 Linear layers in local names of __init__ (missing self.?).\n"
        "fix: self.hidden = ..."
    )


def test_a_small_model_learns_a_sum():
    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)
    x = badak.randn(32, 4)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    assert loss.item() < 0.01


def test_names_beside_the_base_are_what_optimizers_of_other_packages_import():
    from badak.optim.optimizer import (
        ParamsT,
        _default_to_fused_or_foreach,
        _get_value,
        _use_grad_for_differentiable,
        _view_as_real,
        register_optimizer_step_post_hook,
        register_optimizer_step_pre_hook,
    )

    class Halving(badak.optim.Optimizer):
        def __init__(self, params: ParamsT):
            super().__init__(params, {})

        @_use_grad_for_differentiable
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    p.mul_(0.5)

    p, seen = badak.nn.Parameter(badak.ones(2)), []
    p.grad = badak.ones(2)
    hooks = [
        register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: seen.append("before")),
        register_optimizer_step_post_hook(lambda optimizer, args, kwargs: seen.append("after")),
    ]
    Halving([p]).step()
    for hook in hooks:
        hook.remove()
    Halving([p]).step()
    assert p.tolist() == [0.25, 0.25] and seen == ["before", "after"]
    assert _default_to_fused_or_foreach([p], False) == (False, False) and _get_value(badak.tensor(2.0)) == 2.0
    lists = [badak.ones(2, dtype=badak.complex64)], [badak.zeros(2, dtype=badak.complex64)]
    _view_as_real(*lists)
    assert [x.shape for (x,) in lists] == [(2, 2), (2, 2)]


REFUSED = [
    *[
        (name, {"lr": -1.0})
        for name in "SGD Adam AdamW Adamax NAdam RAdam Adagrad Adadelta RMSprop Rprop ASGD SparseAdam LBFGS".split()
    ],
    *[(name, {"betas": (0.9, 1.5)}) for name in "Adam AdamW Adamax NAdam RAdam SparseAdam".split()],
    *[(name, {"eps": -1.0}) for name in "Adam AdamW Adamax Adagrad Adadelta RMSprop SparseAdam".split()],
    ("RMSprop", {"alpha": -1.0}),
    ("Adadelta", {"rho": 2.0}),
    ("Adagrad", {"lr_decay": -1.0}),
    ("Rprop", {"etas": (0.5, 0.9)}),
    ("SGD", {"nesterov": True}),
]


@pytest.mark.parametrize("name, options", REFUSED, ids=str)
def test_a_refused_setting_is_named_in_pytorchs_words(name, options):
    with pytest.raises(ValueError) as theirs:
        getattr(torch.optim, name)([torch.ones(2, requires_grad=True)], **options)
    with pytest.raises(ValueError, match=re.escape(str(theirs.value))):
        getattr(optim, name)([badak.ones(2, requires_grad=True)], **options)
