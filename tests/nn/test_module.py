"""Module: what is registered, what is found again, what hooks see, what moves."""

import copy
import math
import pickle
import warnings
from collections import OrderedDict, namedtuple

import pytest
import torch

import badak
from badak import nn
from badak.core.errors import BadakWarning

Pair = namedtuple("Pair", "first second")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)
        self.scale = nn.Parameter(badak.ones(1))
        self.register_buffer("seen", badak.zeros(2))
        self.register_buffer("scratch", badak.zeros(2), persistent=False)
        self.note = "plain"

    def forward(self, x):
        return self.second(self.first(x).relu()) * self.scale


def names(pairs):
    return [name for name, _ in pairs]


# ------------------------------------------------------------------ attributes


def test_attributes_are_sorted_by_kind():
    net = Net()
    expected = ["scale", "first.weight", "first.bias", "second.weight", "second.bias"]
    assert names(net.named_parameters()) == expected
    assert names(net.named_buffers()) == ["seen", "scratch"]
    assert names(net.named_children()) == ["first", "second"]
    assert names(net.named_modules()) == ["", "first", "second"]
    assert "note" in vars(net) and "scale" not in vars(net)


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_members_cannot_be_assigned_before_init(lib):
    module, tensor = lib.nn.ReLU(), lib.ones(1)
    for value, what in ((module, "module"), (lib.nn.Parameter(tensor), "parameters"), (lib.nn.Buffer(tensor), "buffer")):

        class Early(lib.nn.Module):
            def __init__(self, value=value):
                self.x = value

        with pytest.raises(AttributeError, match=rf"cannot assign {what} before Module.__init__\(\) call"):
            Early()


def test_a_typo_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'wieght'"):
        nn.Linear(2, 3).wieght
    assert not hasattr(nn.Module(), "weight")


def test_a_plain_value_never_replaces_a_member():
    linear = nn.Linear(2, 3)
    for value in (badak.ones(3, 2), 3, nn.ReLU):
        with pytest.raises(TypeError, match="cannot assign '.*' as parameter 'weight'"):
            linear.weight = value
    with pytest.raises(TypeError, match="cannot assign 'int' as child module '0'"):
        setattr(nn.Sequential(linear), "0", 3)
    with pytest.raises(TypeError, match="cannot assign 'int' as buffer 'seen'"):
        Net().seen = 3
    assert "fix: nn.Parameter(value)" in str(pytest.raises(TypeError, setattr, linear, "weight", badak.ones(1)).value)


def test_none_and_other_kinds_take_the_place_of_a_member():
    net = Net()
    net.scale = None
    assert net._parameters["scale"] is None and net.scale is None
    net.seen = badak.ones(2)
    assert net._buffers["seen"].tolist() == [1, 1]
    net.first = nn.Parameter(badak.ones(1))
    assert names(net.named_children()) == ["second"] and "first" in net._parameters
    net.first = nn.Buffer(badak.ones(1), persistent=False)
    assert "first" in net._buffers and "first" not in net._parameters and "first" not in net.state_dict()
    del net.first
    assert not hasattr(net, "first") and "first" not in net._non_persistent_buffers_set


def test_a_plain_attribute_becomes_a_member_and_is_not_kept_twice():
    net = Net()
    net.note = nn.Linear(1, 1)
    assert "note" not in vars(net) and net._modules["note"] is net.note


BAD_NAMES = [
    ("register_parameter", "a.b", KeyError, "parameter name can't contain"),
    ("register_parameter", "", KeyError, "parameter name can't be empty string"),
    ("register_parameter", "forward", KeyError, "attribute 'forward' already exists"),
    ("register_parameter", 3, TypeError, "parameter name should be a string. Got int"),
    ("register_buffer", "a.b", KeyError, "buffer name can't contain"),
    ("register_buffer", "weight", KeyError, "attribute 'weight' already exists"),
    ("register_buffer", 3, TypeError, "buffer name should be a string. Got int"),
    ("add_module", "a.b", KeyError, 'module name can\'t contain "."'),
    ("add_module", "weight", KeyError, "attribute 'weight' already exists"),
    ("register_module", 3, TypeError, "module name should be a string. Got int"),
]


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
@pytest.mark.parametrize("method, name, error, words", BAD_NAMES)
def test_names_that_cannot_be_registered(lib, method, name, error, words):
    with pytest.raises(error) as caught:
        getattr(lib.nn.Linear(2, 3), method)(name, None)
    assert words in str(caught.value.args[0])


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_registered_things_are_of_their_kind(lib):
    module, tensor = lib.nn.Module(), lib.ones(1)
    for method, value in (("register_parameter", tensor), ("register_parameter", 3), ("register_buffer", 3), ("add_module", 3)):
        with pytest.raises(TypeError):
            getattr(module, method)("q", value)


def test_dir_lists_members_and_no_numbers():
    listed = dir(nn.Sequential(nn.ReLU(), nn.Linear(1, 1)))
    assert "forward" in listed and "0" not in listed
    assert {"weight", "bias"} <= set(dir(nn.Linear(1, 1)))


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_an_attribute_that_is_missing_before_init_is_told(lib):
    class Early(lib.nn.Module):
        def __init__(self):
            self.width

    with pytest.raises(AttributeError) as caught:
        Early()
    assert str(caught.value).startswith("'Early' object has no attribute 'width'")


# ------------------------------------------------------------------ walking


def test_a_tied_parameter_comes_once_unless_asked():
    def tie(lib):
        model = lib.nn.Sequential(lib.nn.Linear(3, 3), lib.nn.Linear(3, 3, bias=False))
        model[1].weight = model[0].weight
        return model

    ours, theirs = tie(badak), tie(torch)
    assert names(ours.named_parameters()) == names(theirs.named_parameters()) == ["0.weight", "0.bias"]
    assert names(ours.named_parameters(remove_duplicate=False)) == names(theirs.named_parameters(remove_duplicate=False))
    assert list(ours.state_dict()) == list(theirs.state_dict()) == ["0.weight", "0.bias", "1.weight"]


def test_a_shared_module_comes_once_unless_asked():
    def share(lib):
        relu = lib.nn.ReLU()
        return lib.nn.Sequential(relu, lib.nn.Sequential(relu), relu)

    ours, theirs = share(badak), share(torch)
    for options in ({}, {"remove_duplicate": False}, {"prefix": "top"}):
        assert names(ours.named_modules(**options)) == names(theirs.named_modules(**options))
    assert names(ours.named_children()) == names(theirs.named_children())


def test_parameters_and_buffers_of_one_module_only():
    net = Net()
    assert names(net.named_parameters(recurse=False)) == ["scale"]
    assert names(net.named_parameters(prefix="net", recurse=False)) == ["net.scale"]
    assert len(list(net.parameters())) == 5 and next(net.parameters()) is net.scale
    assert len(list(net.buffers())) == 2


def test_members_are_found_by_path():
    net = nn.Sequential(Net())
    assert net.get_submodule("0.first") is net[0].first and net.get_submodule("") is net
    assert net.get_parameter("0.first.weight") is net[0].first.weight
    assert net.get_buffer("0.seen") is net[0].seen
    with pytest.raises(AttributeError, match="Linear has no attribute `a`"):
        net.get_submodule("0.first.a")
    with pytest.raises(AttributeError, match="`weight` is not an nn.Module"):
        net.get_submodule("0.first.weight")
    with pytest.raises(AttributeError, match="`forward` is not an nn.Parameter"):
        net.get_parameter("0.first.forward")
    with pytest.raises(AttributeError, match="`weight` is not a buffer"):
        net.get_buffer("0.first.weight")
    net.set_submodule("0.first", nn.Identity())
    assert isinstance(net[0].first, nn.Identity)
    with pytest.raises(ValueError):
        net.set_submodule("", nn.Identity())
    with pytest.raises(AttributeError):
        net.set_submodule("0.third", nn.Identity(), strict=True)


def test_apply_visits_children_first():
    visited = []
    Net().apply(lambda module: visited.append(type(module).__name__))
    assert visited == ["Linear", "Linear", "Net"]


# ------------------------------------------------------------------ modes and gradients


def test_train_and_eval_reach_every_module():
    net = Net()
    assert net.eval() is net and not any(module.training for module in net.modules())
    assert all(module.training for module in net.train().modules())
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        net.train("yes")


def test_freezing_and_zero_grad():
    net = Net()
    net(badak.ones(2, 3)).sum().backward()
    assert all(parameter.grad is not None for parameter in net.parameters())
    net.zero_grad(set_to_none=False)
    assert all(not parameter.grad.any() for parameter in net.parameters())
    net.zero_grad()
    assert all(parameter.grad is None for parameter in net.parameters())
    assert net.requires_grad_(False) is net
    assert not any(parameter.requires_grad for parameter in net.parameters())


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match=r'Module \[Module\] is missing the required "forward" function'):
        nn.Module()(badak.ones(1))


def test_module_init_takes_no_arguments():
    with pytest.raises(TypeError):
        nn.Module(3)


# ------------------------------------------------------------------ moving


def test_dtype_changes_reach_parameters_gradients_and_float_buffers():
    net = Net()
    net.register_buffer("count", badak.tensor([1, 2]))
    net(badak.ones(2, 3)).sum().backward()
    before = net.first.weight
    for move in (lambda: net.double(), lambda: net.to(badak.float64), lambda: net.to("cpu", badak.float64)):
        assert move() is net
        assert net.first.weight is before and net.first.weight.dtype == badak.float64
        assert net.first.weight.grad.dtype == badak.float64
        assert net.seen.dtype == badak.float64 and net.count.dtype == badak.int64
        net.float()
        assert net.first.weight.dtype == badak.float32
    assert net.half().first.weight.dtype == badak.float16
    assert net.bfloat16().first.weight.dtype == badak.bfloat16
    assert net.to(badak.ones(1, dtype=badak.float64)).seen.dtype == badak.float64
    assert net.cpu() is net and net.share_memory() is net
    assert net.to_empty(device="cpu").first.weight.shape == (4, 3)


MOVES = [
    lambda lib: ((lib.device("cpu"), True), {}), lambda lib: ((None, True), {}), lambda lib: ((lib.long,), {}),
    lambda lib: (("cpu", lib.long, True), {}), lambda lib: ((lib.device("cpu"),), {"dtype": lib.long, "non_blocking": True}),
    lambda lib: (([],), {}), lambda lib: (({},), {"non_blocking": True}), lambda lib: ((lib.tensor(3),), {"non_blocking": True}),
    lambda lib: (("cpu", lib.tensor(3)), {}), lambda lib: ((None, lib.float), {}), lambda lib: ((lib.float64, True), {}),
    lambda lib: ((lib.ones(1),), {}), lambda lib: (("cpu", None, True), {}), lambda lib: ((None, None, True), {}),
    lambda lib: ((), {}), lambda lib: ((None,), {}), lambda lib: ((lib.float, lib.device("cpu")), {}),
    lambda lib: (("cpu", lib.float, True, False), {}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(MOVES)))
def test_to_takes_what_pytorchs_takes(number):
    found = []
    for lib in (badak, torch):
        args, kwargs = MOVES[number](lib)
        try:
            found.append(str(lib.nn.Linear(2, 2).to(*args, **kwargs).weight.dtype).partition(".")[2])
        except (TypeError, RuntimeError):
            found.append("refused")
    assert found[0] == found[1]


def test_hooks_stand_in_their_tables_as_they_were_given():
    told = []
    for lib in (badak, torch):
        module, hook = lib.nn.Sigmoid(), lambda *given: None
        handles = [
            module.register_forward_pre_hook(hook),
            module.register_forward_pre_hook(hook, with_kwargs=True, prepend=True),
            module.register_forward_hook(hook, with_kwargs=True, always_call=True),
            module.register_full_backward_hook(hook),
        ]
        tables = [getattr(module, name) for name in (
            "_forward_pre_hooks", "_forward_hooks", "_backward_hooks", "_forward_pre_hooks_with_kwargs",
            "_forward_hooks_with_kwargs", "_forward_hooks_always_called",
        )]  # fmt: skip
        places = [[[each.id for each in handles].index(key) for key in table] for table in tables]
        assert all(each is hook for table in tables[:3] for each in table.values())
        handles[1].remove()
        handles[2].remove()
        told.append((places, [len(table) for table in tables]))
        calls = []
        module._forward_hooks[-1] = lambda module, args, output, calls=calls: calls.append(len(args))
        module(lib.ones(2))
        assert calls == [1]
    assert told[0] == told[1]


def test_a_handle_knows_the_hooks_that_it_is_among():
    for lib in (badak, torch):
        module = lib.nn.Sigmoid()
        handles = [module.register_forward_hook(lambda *given: None) for _ in range(2)]
        assert [handle.id in handles[0].hooks_dict_ref() for handle in handles] == [True, True]
        handles[0].remove()
        assert list(handles[1].hooks_dict_ref()) == [handles[1].id]


def test_a_moved_module_still_learns():
    badak.manual_seed(0)
    net = Net().double()
    net(badak.ones(2, 3, dtype=badak.float64)).sum().backward()
    assert net.first.weight.grad.dtype == badak.float64 and net.first.weight.grad.abs().sum() > 0


def test_where_a_module_cannot_go():
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        Net().to(badak.int64)
    for go in (Net().cuda, lambda: Net().to("cuda"), lambda: nn.ReLU().to(device="cuda:1"), nn.ReLU().cuda):
        with pytest.raises((RuntimeError, AssertionError), match="(?i)cpu|cuda"):
            go()


# ------------------------------------------------------------------ hooks


def test_forward_hooks_see_and_replace_arguments_and_output():
    double = nn.Identity()
    seen = []
    handles = [
        double.register_forward_pre_hook(lambda module, args: (args[0] + 1,)),
        double.register_forward_pre_hook(lambda module, args: args[0] * 2, prepend=True),
        double.register_forward_hook(lambda module, args, output: seen.append((args[0].item(), output.item()))),
        double.register_forward_hook(lambda module, args, output: output * 10),
    ]
    assert double(badak.tensor(3.0)).item() == 70 and seen == [(7.0, 7.0)]
    for handle in handles:
        handle.remove()
        handle.remove()
    assert double(badak.tensor(3.0)).item() == 3
    with double.register_forward_hook(lambda *_: badak.tensor(0.0)):
        assert double(badak.tensor(3.0)).item() == 0
    assert double(badak.tensor(3.0)).item() == 3


class Power(nn.Module):
    def forward(self, x, exponent=1):
        return x**exponent


def test_forward_hooks_with_keyword_arguments():
    power = Power()
    power.register_forward_pre_hook(lambda module, args, kwargs: (args, {"exponent": kwargs["exponent"] + 1}), with_kwargs=True)
    power.register_forward_hook(lambda module, args, kwargs, output: output + kwargs["exponent"], with_kwargs=True)
    assert power(badak.tensor(2.0), exponent=2).item() == 11
    power.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
    with pytest.raises(TypeError, match=r"None or a tuple of \(new_args, new_kwargs\)"):
        power(badak.tensor(2.0), exponent=2)


def test_always_called_hooks_run_after_a_forward_that_raised():
    power, seen = Power(), []
    power.register_forward_hook(lambda module, args, output: seen.append("only on success"))
    power.register_forward_hook(lambda module, args, output: seen.append(output), always_call=True)
    with pytest.raises(TypeError):
        power()
    assert seen == [None]


def backward_story(lib, of_inputs):
    """What a backward hook and a pre-hook see, and the gradient that is left."""
    lib.manual_seed(0)
    linear, story = lib.nn.Linear(3, 2), []
    linear.register_full_backward_pre_hook(lambda module, dys: (dys[0] * 2,))
    linear.register_full_backward_hook(
        lambda module, dxs, dys: story.append(([None if g is None else g.tolist() for g in dxs], dys[0].tolist()))
    )
    x = lib.ones(1, 3).requires_grad_(of_inputs)
    (linear(x) * lib.tensor([1.0, 2.0])).sum().backward()
    return story, linear.weight.grad.tolist(), None if x.grad is None else x.grad.tolist()


@pytest.mark.filterwarnings("ignore:Full backward hook is firing:UserWarning")
@pytest.mark.parametrize("of_inputs", [True, False])
def test_backward_hooks_see_what_pytorch_shows(of_inputs):
    ours, theirs = backward_story(badak, of_inputs), backward_story(torch, of_inputs)
    assert ours[0][0][0] == [None] or ours[0][0][0][0][0] == pytest.approx(theirs[0][0][0][0][0], rel=1e-6)
    assert len(ours[0]) == len(theirs[0]) == 1 and ours[0][0][1] == theirs[0][0][1]
    assert ours[1] == theirs[1]
    assert (ours[2] is None) == (theirs[2] is None)


def test_tensors_that_need_no_gradient_have_zeros_where_others_need_one():
    told = []
    for lib in (badak, torch):

        class Mixed(lib.nn.Module):
            def forward(self, x, number, mask, z):
                return x * z * number, mask

        module = Mixed()
        module.register_full_backward_hook(lambda module, dxs, dys: told.append([None if g is None else g.tolist() for g in dxs]))
        for needs in (True, False):
            x, z = lib.ones(2, requires_grad=needs), lib.full((2,), 3.0)
            y, _ = module(x, 2, lib.tensor([1, 2]), z)
            if needs:
                y.sum().backward()
    assert told[0] == told[1] == [[6.0, 6.0], None, [0, 0], [0.0, 0.0]]


def test_a_backward_hook_replaces_the_gradient_of_the_inputs():
    power = Power()
    power.register_full_backward_hook(lambda module, dxs, dys: (dxs[0] * 100, None))
    x = badak.tensor(3.0, requires_grad=True)
    power(x, 2).backward()
    assert x.grad.item() == 600
    power.register_full_backward_hook(lambda module, dxs, dys: (dxs[0],))
    with pytest.raises(RuntimeError, match="invalid number of grad, got 1, but expected 2"):
        power(x, 2).backward()


@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_backward_hooks_leave_a_named_tuple_what_it_is(lib):
    class Both(lib.nn.Module):
        def forward(self, x):
            return Pair(x * 2, x.detach())

    model, seen = Both(), []
    model.register_full_backward_hook(lambda module, dxs, dys: seen.append((len(dxs), len(dys))))
    model.register_full_backward_pre_hook(lambda module, dys: seen.append(len(dys)))
    found = model(lib.ones(2, requires_grad=True))
    assert type(found) is Pair
    found.first.sum().backward()
    assert seen == [2, (1, 2)]


HOOKS = "full_backward_hook", "full_backward_pre_hook", "backward_hook"


@pytest.mark.parametrize("name", HOOKS)
def test_backward_hooks_of_a_dict_are_called_or_missed_as_pytorchs_are(name):
    told = []
    for lib in (badak, torch):

        class Named(lib.nn.Module):
            def forward(self, x):
                return {"note": "no tensor", "sum": (x * 2).sum()}

        module, seen = Named(), []
        getattr(module, f"register_{name}")(lambda module, *dys, seen=seen: seen.append(dys[-1][0].item()))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            module(lib.ones(2, requires_grad=True))["sum"].backward()
        told.append((seen, [str(each.message) for each in said if "For backward hooks to be called" in str(each.message)]))
    assert told[0] == told[1]
    assert told[0][0] == ([1.0] if name == "backward_hook" else [])


def test_a_gradient_that_does_not_come_through_the_output_is_not_told():
    told = []
    for lib in (badak, torch):
        module, seen = lib.nn.Tanh(), []
        module.register_full_backward_hook(lambda module, dxs, dys, seen=seen: seen.append(dxs[0].item()))
        x = lib.tensor(0.5, requires_grad=True)
        (g,) = lib.autograd.grad(module(x), x, create_graph=True)
        g.backward()
        told.append(([pytest.approx(each) for each in seen], x.grad.item()))
    assert len(told[0][0]) == len(told[1][0]) and told[0][1] == pytest.approx(told[1][1])


def test_hooks_leave_values_and_gradients_alone():
    plain, hooked = Net(), Net()
    hooked.load_state_dict(plain.state_dict())
    hooked.apply(lambda module: module.register_full_backward_hook(lambda *_: None))
    for net in (plain, hooked):
        net(badak.ones(2, 3)).sum().backward()
    for one, other in zip(plain.parameters(), hooked.parameters()):
        assert one.grad.tolist() == other.grad.tolist()


# ------------------------------------------------------------------ copies


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))], ids=["deepcopy", "pickle"])
def test_copies_are_equal_and_independent(duplicate):
    net = Net()
    net.second.weight = nn.Parameter(badak.ones(2, 4))
    net.tied = net.second
    twin = duplicate(net)
    assert twin.tied is twin.second and twin.first.weight is not net.first.weight
    for (name, one), (other_name, other) in zip(net.state_dict().items(), twin.state_dict().items()):
        assert name == other_name and one.tolist() == other.tolist()
    with badak.no_grad():
        twin.scale.fill_(7)
    assert net.scale.item() == 1 and twin.scale.requires_grad and isinstance(twin.scale, nn.Parameter)
    assert twin._non_persistent_buffers_set == {"scratch"} and twin(badak.ones(1, 3)).shape == (1, 2)


# ------------------------------------------------------------------ Parameter and Buffer


def test_a_parameter_shares_the_memory_of_its_tensor():
    values = badak.zeros(2)
    parameter = nn.Parameter(values)
    values += 1
    assert parameter.tolist() == [1, 1] and parameter.requires_grad and parameter.is_leaf
    assert not nn.Parameter(values, requires_grad=False).requires_grad
    assert type(parameter.detach()) is badak.Tensor and not isinstance(parameter + 1, nn.Parameter)
    assert nn.Parameter().shape == (0,)


def test_what_cannot_be_a_parameter():
    with pytest.raises((TypeError, AttributeError), match="takes a tensor"):
        nn.Parameter([1.0, 2.0])
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(badak.tensor([1, 2]))


def test_buffers_are_tensors_that_are_registered():
    module = nn.Module()
    module.a, module.b = nn.Buffer(badak.ones(1)), nn.Buffer(badak.ones(1), persistent=False)
    assert isinstance(module.a, badak.Tensor) and names(module.named_buffers()) == ["a", "b"]
    assert list(module.state_dict()) == ["a"]


# ------------------------------------------------------------------ what is not registered


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.dec_layers = [nn.Linear(2, 2) for _ in range(3)]
        self.last = nn.Linear(2, 2)


def test_a_plain_list_of_modules_is_warned_of_once():
    with pytest.warns(BadakWarning) as caught:
        list(Decoder().parameters())
        list(Decoder().parameters())
    assert len(caught) == 1
    assert str(caught[0].message) == (
        "Decoder.dec_layers is a list with 3 modules: their 6 parameters are not registered and will not train.\n"
        "fix: nn.ModuleList([...])."
    )


def test_plain_dicts_and_lists_of_parameters_are_warned_of():
    module = nn.Module()
    module.table = {"a": nn.Linear(1, 1)}
    module.scales = (nn.Parameter(badak.ones(1)),)
    with pytest.warns(BadakWarning) as caught:
        list(module.parameters())
    texts = [str(warning.message) for warning in caught]
    assert texts[0].endswith("fix: nn.ModuleDict({...}).") and texts[1].endswith("fix: nn.ParameterList([...]).")


def test_a_plain_list_of_registered_modules_is_fine():
    module = nn.Module()
    module.layers = nn.ModuleList([nn.Linear(1, 1)])
    module.order = list(module.layers)
    assert len(list(module.parameters())) == 2  # warnings are errors


class Forgetful(nn.Module):
    def __init__(self):
        super().__init__()
        fc = nn.Linear(2, 2)
        out = nn.Linear(2, 2)
        self.widths = [fc.in_features, out.in_features]


def test_an_optimizer_without_parameters_hears_why():
    with pytest.raises(ValueError) as caught:
        badak.optim.SGD(Forgetful().parameters(), lr=0.1)
    assert str(caught.value) == (
        "no parameters: model Forgetful has none registered. Found 2 Linear layers in local names of __init__ "
        "(missing self.?).\nfix: self.fc = ..."
    )


def test_zero_grad_clears_nothing_that_is_frozen_and_costs_no_warning():
    net = Net()
    net.first.requires_grad_(False)
    net(badak.ones(1, 3)).sum().backward()
    assert net.first.weight.grad is None
    net.zero_grad()


def test_the_tables_of_global_hooks_can_be_replaced_as_in_pytorch():
    """PyTorch's own tests, and libraries that tidy up, put new tables in the place of the old."""
    for lib in (torch, badak):
        heard, module = [], lib.nn.modules.module
        module.register_module_forward_hook(lambda m, args, y, heard=heard: heard.append(type(m).__name__))
        assert len(module._global_forward_hooks) == 1
        lib.nn.Identity()(lib.ones(1))
        module._global_forward_hooks = OrderedDict()
        lib.nn.Identity()(lib.ones(1))
        assert heard == ["Identity"]


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
@pytest.mark.parametrize("returned", [None, "inputs", "another"])
def test_a_backward_hook_of_inputs_without_gradients_returns_none_or_nones(returned):
    found = []
    for lib in (torch, badak):
        layer, x = lib.nn.Linear(2, 2), lib.ones(1, 2)
        layer.register_full_backward_hook(lambda m, dx, dy, x=x: {None: None, "inputs": dx, "another": x}[returned])
        try:
            layer(x).sum().backward()
            found.append("went through")
        except RuntimeError:
            found.append("refused")
    assert found[0] == found[1]


def test_a_module_is_not_copied_by_to():
    for lib in (torch, badak):
        with pytest.raises(RuntimeError, match=r"\.to\(\) does not accept copy argument"):
            lib.nn.Linear(2, 2).to("cpu", copy=True)


@pytest.mark.slow
def test_a_module_says_whether_it_is_compiled_under_pytorchs_name():
    for lib in (badak, torch):
        module = lib.nn.Linear(2, 2)
        assert module._compiled_call_impl is None
        module.compile()
        assert callable(module._compiled_call_impl)
        assert copy.deepcopy(module)._compiled_call_impl is None


def test_gradients_that_hooks_have_seen_are_differentiated_again():
    found = []
    for lib in (torch, badak):
        layer, seen = lib.nn.Linear(2, 1), []
        with lib.no_grad():
            layer.weight.copy_(lib.tensor([[2.0, 3.0]]))
            layer.bias.zero_()
        layer.register_full_backward_hook(lambda module, dx, dy, seen=seen: seen.append(tuple(dx[0].tolist())) or (dx[0] * dx[0],))
        layer.register_full_backward_pre_hook(lambda module, dy: (dy[0] * 2,))
        x = lib.ones(1, 2, requires_grad=True)
        (dx,) = lib.autograd.grad(layer(x).pow(2).sum(), x, create_graph=True)
        dx.sum().backward()
        found.append((dx.tolist(), x.grad.tolist(), layer.weight.grad.tolist()))
    assert found[0] == found[1]


def test_functions_of_the_library_as_attributes_of_a_class_take_no_self():
    for lib in (badak, torch):

        class Net(lib.nn.Module):
            act, product, forward_of = lib.tanh, lib.conv2d, lib.nn.Linear.forward
            own = lambda self, x: x + 1  # noqa: E731

        net = Net()
        made = net.act(net.product(lib.ones(1, 1, 2, 2), weight=lib.ones(1, 1, 1, 1)))
        assert made.sum().item() == pytest.approx(4 * math.tanh(1))
        assert net.own(1) == 2
        net.weight, net.bias = lib.ones(1, 1), None
        assert net.forward_of(lib.ones(1)).item() == 1


def test_a_change_in_place_by_apply_is_noticed_by_a_graph():
    for lib in (torch, badak):
        layer = lib.nn.Linear(3, 2)
        y = layer.weight * layer.weight
        layer._apply(lambda x: x.mul_(2))
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_a_gradient_stays_the_same_object_where_its_module_moves():
    for lib in (torch, badak):
        layer = lib.nn.Linear(2, 1)
        layer(lib.ones(3, 2)).sum().backward()
        before = layer.weight.grad
        layer.double()
        assert layer.weight.grad is before and before.dtype is lib.float64 and before.tolist() == [[3.0, 3.0]]


@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_the_class_behind_a_module_is_initialised_where_that_is_asked_for(lib):
    class Named:
        def __init__(self, name="none"):
            super().__init__()
            self.name = name

    class Before(Named, lib.nn.Module):
        pass

    class Behind(lib.nn.Module, Named):
        pass

    class Called(lib.nn.Module, Named):
        call_super_init = True

    assert (Before("a").name, Called("b").name, Called(name="c").name) == ("a", "b", "c")
    assert not hasattr(Behind(), "name") and not lib.nn.Module.call_super_init
    with pytest.raises(TypeError):
        Behind("a")


@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_a_buffer_reaches_a_register_buffer_of_the_programs_own(lib):
    class Older(lib.nn.Module):
        def register_buffer(self, name, value):
            super().register_buffer(name, value, True)

    module = Older()
    module.x = lib.nn.Buffer(lib.ones(1))
    assert list(module.state_dict()) == ["x"]
    with pytest.raises(RuntimeError, match="without the persistent argument is not allowed"):
        module.y = lib.nn.Buffer(lib.ones(1), persistent=False)


OLDER = {  # (module of a library, its arguments)
    "one": (lambda lib, x: x.sin(), 1), "two in a row": (lambda lib, x: x.sin().cos(), 1), "a sum": (lambda lib, x, y: x + y, 2),
    "two apart": (lambda lib, x, y: (x.sin(), y.sin()), 2), "pieces": (lambda lib, x: x.split(1), 1),
    "a dict": (lambda lib, x: {"a": x.sin()}, 1), "a number": (lambda lib, x: (x.sin(), 1), 1),
    "nothing": (lambda lib, x: x.detach().sin(), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", OLDER)
def test_an_older_backward_hook_warns_where_pytorch_gives_it_other_gradients(name):
    def told(lib):
        class Made(lib.nn.Module):
            def forward(self, *args):
                return OLDER[name][0](lib, *args)

        module = Made()
        module.register_backward_hook(lambda *given: None)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            module(*(lib.ones(2, requires_grad=True) * 1 for _ in range(OLDER[name][1])))
        return [(each.category, str(each.message).partition(" is deprecated")[0]) for each in found]

    assert told(badak) == told(torch)
