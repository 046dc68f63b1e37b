"""Neighbours of what the third list found: iterators, hooks of all, classes over C, what modules and optimizers tell."""

import array
import collections
import copy
import csv
import datetime
import enum
import fractions
import functools
import inspect
import io
import itertools
import operator
import re
import struct
import sys
import types
import weakref

import numpy as np

import badak
from badak import nn, optim
from badak.nn import functional as F
from tests.compiler.ways import in_globals, space, way
from tests.compiler.ways_third import evaluated, net, nothing, training


def _register(name, make, *args):
    def made():
        return make(*args)

    made.__name__ = name
    way(made)


# ---------------------------------------------------------------- every iterator that is kept

ITERATORS = {
    "repeat": lambda: itertools.repeat(1, 40), "enumerate": lambda: enumerate([1] * 40), "zip": lambda: zip([1] * 40, [2] * 40),
    "map": lambda: map(abs, [1] * 40), "filter": lambda: filter(None, [1] * 40), "range": lambda: iter(range(40)),
    "range_of_large": lambda: iter(range(2**70, 2**70 + 40)), "dict": lambda: iter(dict.fromkeys(range(40))),
    "dict_values": lambda: iter(dict.fromkeys(range(40), 1).values()), "dict_items": lambda: iter(dict.fromkeys(range(40)).items()),
    "set": lambda: iter(set(range(40))), "ordered_dict": lambda: iter(collections.OrderedDict.fromkeys(range(40))),
    "deque": lambda: iter(collections.deque([1] * 40)), "array": lambda: iter(array.array("i", [1] * 40)),
    "text": lambda: iter("a" * 40), "bytes": lambda: iter(b"a" * 40), "tuple": lambda: iter((1,) * 40),
    "reversed_dict": lambda: reversed(dict.fromkeys(range(40))), "pairwise": lambda: itertools.pairwise([1] * 40),
    "cycle": lambda: itertools.cycle([1, 2]), "chain": lambda: itertools.chain([1] * 20, [2] * 20),
    "accumulate": lambda: itertools.accumulate([1] * 40), "tee": lambda: itertools.tee([1] * 40)[1],
    "product": lambda: itertools.product([1] * 7, [2] * 7), "groupby": lambda: itertools.groupby(range(40)),
    "takewhile": lambda: itertools.takewhile(bool, [1] * 40), "starmap": lambda: itertools.starmap(max, [(1, 2)] * 40),
    "compress": lambda: itertools.compress([1] * 40, [1] * 40), "zip_longest": lambda: itertools.zip_longest([1] * 40, [2]),
    "calls": lambda: iter(([9] + [1] * 40).pop, 9), "matches": lambda: re.finditer("a", "a" * 40),
    "unpacked": lambda: struct.iter_unpack("b", b"a" * 40), "csv": lambda: csv.reader(["a,b"] * 40),
    "lines": lambda: io.StringIO("a\n" * 40), "ndenumerate": lambda: np.ndenumerate(np.ones(40)), "flat": lambda: np.ones(40).flat,
    "memory": lambda: iter(memoryview(b"a" * 40)), "filterfalse": lambda: itertools.filterfalse(bool, [0] * 40),
}  # fmt: skip


def left_over(name):
    """How much is left after ten calls tells how often the step took one."""
    source = ITERATORS[name]()
    calls = [0]

    def step(x):
        return (next(source), x * 2)[1]

    def rest():
        calls[0] += 1
        return sum(1 for _ in itertools.islice(source, 99)) if calls[0] == 10 else None

    step.seen = rest
    return step, nothing


for _name in ITERATORS:
    _register(f"an_iterator_over_{_name}", left_over, _name)


@way
def a_copy_of_an_iterator():
    source = iter([1.0, 2.0, 3.0])
    return (lambda x: x * next(copy.copy(source))), lambda: next(source)


@way
def how_much_an_iterator_has_left():
    source = iter([1.0, 2.0, 3.0])
    return (lambda x: x * operator.length_hint(source)), lambda: next(source)


@way
def what_an_iterator_says_of_itself():
    source = iter([1.0, 2.0, 3.0])
    return (lambda x: x * source.__reduce__()[2]), lambda: next(source)


@way
def an_iterator_of_the_program_s_class():
    class Steps:
        n = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            return 1.0

    steps = Steps()
    step = lambda x: x * next(steps)
    step.seen = lambda: steps.n
    return step, nothing


@way
def an_iterator_that_is_taken_seldom():
    values, source = [0] * 3 + [1] + [0] * 20, itertools.count()
    at = itertools.count()

    def step(x):
        return x * (1.0 + next(source) if values[next(at)] else 1.0)

    return step, nothing


@way
def an_iterator_behind_a_default():
    def tick(source=itertools.count()):  # noqa: B008
        return next(source)

    return (lambda x: x * 2 if tick() < 6 else x), nothing


@way
def a_buffer_of_bytes():
    buffer = io.BytesIO(b"1.0")
    return (lambda x: x * float(bytes(buffer.getbuffer()))), lambda: (buffer.seek(0), buffer.write(b"2.0"), buffer.seek(0))


# ---------------------------------------------------------------- hooks and modes of all


@way
def a_hook_before_all_modules():
    model, held = net(lambda self, x: self.layer(x)), []
    step = lambda x: model(x).detach()
    step.undo = lambda: [h.remove() for h in held]
    return step, lambda: held.append(nn.modules.module.register_module_forward_pre_hook(lambda m, a: (a[0] * 2,)))


@way
def a_hook_of_all_modules_that_goes():
    model = net(lambda self, x: self.layer(x))
    hook = nn.modules.module.register_module_forward_hook(lambda m, a, y: y * 2)
    step = lambda x: model(x).detach()
    step.undo = hook.remove
    return step, hook.remove


@way
def a_hook_of_all_gradients():
    model, held = net(lambda self, x: self.layer(x)), []
    step, _ = training(model)
    step.undo = lambda: [h.remove() for h in held]
    double = lambda m, dx, dy: tuple(None if g is None else g * 2 for g in dx)
    return step, lambda: held.append(nn.modules.module.register_module_full_backward_hook(double))


@way
def a_hook_put_into_the_table_of_all():
    model = net(lambda self, x: self.layer(x))
    table = nn.modules.module._global_forward_hooks
    step = lambda x: model(x).detach()
    step.undo = lambda: table.pop("mine", None)
    return step, lambda: table.update(mine=lambda m, a, y: y * 2)


@way
def a_hook_of_all_optimizers():
    model, held = net(lambda self, x: self.layer(x)), []
    step, _ = training(model)
    step.undo = lambda: [h.remove() for h in held]
    clamp = lambda o, a, k: model.layer.weight.data.clamp_(-0.1, 0.1)
    return step, lambda: held.append(optim.optimizer.register_optimizer_step_post_hook(lambda *a: (clamp(*a), None)[1]))


@way
def a_hook_of_all_optimizers_from_the_start():
    model, seen = net(lambda self, x: self.layer(x)), []
    step, _ = training(model)
    hook = optim.optimizer.register_optimizer_step_pre_hook(lambda o, a, k: seen.append(1))
    step.undo, step.seen = hook.remove, lambda: len(seen)
    return step, nothing


@way
def a_hook_of_one_optimizer_from_the_start():
    model, seen = net(lambda self, x: self.layer(x)), []
    step, optimizer = training(model)
    optimizer.register_step_post_hook(lambda o, a, k: seen.append(1))
    step.seen = lambda: len(seen)
    return step, nothing


@way
def a_hook_of_registering():
    seen, held = [], []

    def step(x):
        made = nn.Module()
        made.weight = nn.Parameter(badak.ones(3))
        return (x * made.weight).detach()

    step.seen, step.undo = lambda: len(seen), lambda: [h.remove() for h in held]
    register = nn.modules.module.register_module_parameter_registration_hook
    return step, lambda: held.append(register(lambda m, name, p: seen.append(name)))


@way
def what_saving_tensors_does():
    w, scopes = nn.Parameter(badak.ones(3)), []
    hooks = badak.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t)

    def step(x):
        w.grad = None
        (w * x).sum().backward()
        return w.grad.clone()

    step.undo = lambda: [each.__exit__(None, None, None) for each in scopes]
    return step, lambda: (hooks.__enter__(), scopes.append(hooks))


@way
def a_mode_of_functions_around_the_call():
    class Double(badak.overrides.TorchFunctionMode):
        def __torch_function__(self, function, kinds, args=(), kwargs=None):
            y = function(*args, **(kwargs or {}))
            return y * 2 if function is badak.relu else y

    mode, scopes = Double(), []
    step = lambda x: badak.relu(x - 2)
    step.undo = lambda: [each.__exit__(None, None, None) for each in scopes]
    return step, lambda: (mode.__enter__(), scopes.append(mode))


@way
def inference_around_the_call():
    w, mode, scopes = nn.Parameter(badak.ones(3)), badak.inference_mode(), []
    step = lambda x: x * 2 if (w * x).requires_grad else x
    step.undo = lambda: [each.__exit__(None, None, None) for each in scopes]
    return step, lambda: (mode.__enter__(), scopes.append(mode))


@way
def a_parametrization_that_is_kept():
    from badak.nn.utils import parametrize

    class Double(nn.Module):
        s = 2.0

        def forward(self, w):
            return w * self.s

    model = net(lambda self, x: self.layer(x))
    double = Double()
    parametrize.register_parametrization(model.layer, "weight", double)
    return evaluated(model), lambda: setattr(double, "s", 3.0)


@way
def a_parametrization_that_goes():
    from badak.nn.utils import parametrize

    class Double(nn.Module):
        def forward(self, w):
            return w * 2

    model = net(lambda self, x: self.layer(x))
    parametrize.register_parametrization(model.layer, "weight", Double())
    return evaluated(model), lambda: parametrize.remove_parametrizations(model.layer, "weight", leave_parametrized=False)


@way
def a_parametrization_that_comes():
    from badak.nn.utils import parametrize

    class Double(nn.Module):
        def forward(self, w):
            return w * 2

    model = net(lambda self, x: self.layer(x))
    return evaluated(model), lambda: parametrize.register_parametrization(model.layer, "weight", Double())


@way
def weights_that_are_pruned():
    from badak.nn.utils import prune

    model = net(lambda self, x: self.layer(x))
    return evaluated(model), lambda: prune.l1_unstructured(model.layer, "weight", amount=0.5)


# ---------------------------------------------------------------- classes over C, with attributes


def with_attribute(kind, *args):
    made = type("Own", (kind,), {})(*args)
    made.s = 1.0
    return (lambda x: x * made.s), lambda: setattr(made, "s", 2.0)


KINDS = {
    "float": (float, 1.0), "int": (int, 1), "complex": (complex, 1), "text": (str, "a"), "bytes": (bytes, b"a"),
    "numpy_float": (np.float64, 1.0), "list": (list,), "dict": (dict,), "set": (set,), "frozenset": (frozenset,), "tuple": (tuple,),
    "deque": (collections.deque,), "bytearray": (bytearray,), "array": (array.array, "i"), "date": (datetime.date, 2000, 1, 1),
    "timedelta": (datetime.timedelta,), "partial": (functools.partial, abs), "exception": (ValueError,),
    "module": (types.ModuleType, "m"),
    "ordered_dict": (collections.OrderedDict,), "default_dict": (collections.defaultdict,), "counter": (collections.Counter,),
    "count": (itertools.count,), "object": (object,), "namespace": (types.SimpleNamespace,), "tensor": (badak.Tensor,),
    "user_dict": (collections.UserDict,), "chain_map": (collections.ChainMap,), "fraction": (fractions.Fraction, 1, 2),
    "property": (property,), "parameter": (nn.Parameter, badak.ones(1)),
}  # fmt: skip


def written_in_the_step(kind, *args):
    made = type("Own", (kind,), {})(*args)
    made.n = 0

    def step(x):
        made.n += 1
        return x * 2

    step.seen = lambda: made.n
    return step, nothing


def set_to_the_same(kind, *args):
    """The step sets an attribute to what it is; the program takes it away, and the step must set it again."""
    made = type("Own", (kind,), {})(*args)

    def step(x):
        made.last = "seen"
        return x * 2

    step.seen = lambda: getattr(made, "last", None)
    return step, lambda: delattr(made, "last")


for _name, _kind in KINDS.items():
    _register(f"an_attribute_of_a_subclass_of_{_name}", with_attribute, *_kind)
    _register(f"a_count_in_a_subclass_of_{_name}", written_in_the_step, *_kind)
    _register(f"an_attribute_set_again_in_a_subclass_of_{_name}", set_to_the_same, *_kind)


@way
def an_attribute_of_an_enum_member():
    class Mode(enum.IntEnum):
        LOW = 1

    Mode.LOW.scale = 1.0
    return (lambda x: x * Mode.LOW.scale), lambda: setattr(Mode.LOW, "scale", 2.0)


@way
def a_method_of_a_text_enum():
    class Act(enum.StrEnum):
        RELU = "relu"

        def run(self, x):
            return x

    return (lambda x: Act.RELU.run(x)), lambda: setattr(Act, "run", lambda self, x: x * 2)


@way
def an_attribute_of_a_weak_reference():
    class Ref(weakref.ref):
        s = 1.0

    o = lambda: None
    ref = Ref(o)
    step = lambda x: x * ref.s
    step.keep = o
    return step, lambda: setattr(ref, "s", 2.0)


@way
def an_array_class_with_an_attribute():
    class Table(np.ndarray):
        s = 1.0

    table = np.ones(3).view(Table)
    return (lambda x: x * table.s), lambda: setattr(table, "s", 2.0)


@way
def the_defaults_of_a_named_tuple():
    Point = collections.namedtuple("Point", "s", defaults=(1.0,))
    return (lambda x: x * Point().s), lambda: setattr(Point.__new__, "__defaults__", (2.0,))


@way
def the_items_of_a_list_subclass():
    class Own(list):
        pass

    values = Own([1.0])
    return (lambda x: x * values[0]), lambda: list.__setitem__(values, 0, 2.0)


@way
def a_text_that_is_another_with_the_same_letters():
    class Name(str):
        pass

    c = space(n=Name("a"))
    c.n.s = 1.0

    def change():
        c.n = Name("a")
        c.n.s = 2.0

    return (lambda x: x * c.n.s), change


@way
def a_number_with_other_words():
    class Rate(float):
        def __repr__(self):
            return "rate"

    c = space(s=Rate(1.0))
    return (lambda x: x * c.s), lambda: setattr(c, "s", Rate(2.0))


# ---------------------------------------------------------------- what modules, parameters and optimizers tell


def told(ask, change, *children, **attributes):
    """A step that multiplies with what somebody tells of a model."""
    model = net(lambda self, x: self.layer(x), *children, **attributes)
    return (lambda x: x * float(ask(model))), lambda: change(model)


TOLD = {
    "how_many_parameters_learn": (lambda m: sum(p.numel() for p in m.parameters() if p.requires_grad),
                                  lambda m: m.layer.bias.requires_grad_(False)),
    "how_many_modules": (lambda m: len(list(m.modules())), lambda m: m.children_.append(nn.ReLU())),
    "how_many_children": (lambda m: len(m.children_), lambda m: m.children_.append(nn.ReLU())),
    "the_keys_of_a_state": (lambda m: len(m.state_dict()), lambda m: m.register_buffer("more", badak.ones(1))),
    "buffers_that_are_not_kept": (lambda m: len(m.state_dict()) + 2 * len(list(m.buffers())),
                                  lambda m: m.register_buffer("more", badak.ones(1), persistent=False)),
    "the_kind_of_a_child": (lambda m: isinstance(m.act, nn.ReLU), lambda m: setattr(m, "act", nn.Tanh())),
    "the_class_name_of_a_child": (lambda m: len(type(m.act).__name__), lambda m: setattr(m, "act", nn.Tanhshrink())),
    "the_dtype_of_the_first": (lambda m: next(m.parameters()).element_size(), lambda m: m.double()),
    "a_rate_among_modules": (lambda m: max([c.p for c in m.modules() if isinstance(c, nn.Dropout)], default=0.0) + 1,
                             lambda m: m.children_.append(nn.Dropout(0.3))),
    "a_submodule_by_name": (lambda m: m.get_submodule("layer").out_features, lambda m: setattr(m, "layer", nn.Linear(3, 5))),
    "a_module_by_a_computed_name": (lambda m: getattr(m, "lay" + "er").out_features,
                                    lambda m: setattr(m, "layer", nn.Linear(3, 5))),
    "whether_it_has_a_part": (lambda m: 1.0 + hasattr(m, "extra"), lambda m: m.add_module("extra", nn.ReLU())),
    "whether_two_weights_are_one": (lambda m: 1.0 + (m.children_[0].weight is m.layer.weight),
                                    lambda m: setattr(m.children_[0], "weight", m.layer.weight)),
    "whether_memory_is_shared": (lambda m: 1.0 + (m.children_[0].weight.data_ptr() == m.layer.weight.data_ptr()),
                                 lambda m: setattr(m.children_[0].weight, "data", m.layer.weight.data)),
    "how_a_child_is_trained": (lambda m: 1.0 + m.layer.training, lambda m: m.layer.eval()),
    "the_text_of_a_module": (lambda m: len(repr(m)), lambda m: setattr(m.layer, "out_features", 3000)),
    "a_shape_of_a_weight": (lambda m: m.layer.weight.shape[0],
                            lambda m: setattr(m.layer, "weight", nn.Parameter(badak.ones(4, 3)))),
    "a_stride_of_a_weight": (lambda m: m.layer.weight.stride(0), lambda m: setattr(m.layer.weight, "data", badak.ones(3, 3).t())),
    "a_sum_of_a_weight": (lambda m: float(m.layer.weight.sum()), lambda m: m.layer.weight.data.fill_(2)),
    "whether_a_gradient_is_there": (lambda m: 1.0 + (m.layer.weight.grad is None),
                                    lambda m: setattr(m.layer.weight, "grad", badak.ones(3, 3))),
    "whether_a_weight_is_a_leaf": (lambda m: 1.0 + m.layer.weight.is_leaf,
                                   lambda m: m.layer._parameters.update(weight=nn.Parameter(badak.ones(3, 3)) * 1)),
    "the_name_of_the_mode": (lambda m: 2.0 if m.training else 1.0, lambda m: m.train(False)),
    "hooks_that_are_counted": (lambda m: 1.0 + len(m.layer._forward_hooks),
                               lambda m: m.layer.register_forward_hook(lambda *_: None)),
    "the_bias_that_is_none": (lambda m: 1.0 + (m.layer.bias is None), lambda m: m.layer.register_parameter("bias", None)),
}  # fmt: skip
for _name, (_ask, _change) in TOLD.items():
    _more = {"act": nn.ReLU()} if "kind_of" in _name or "class_name" in _name else {}
    _register(_name, lambda a, c, m: told(a, c, nn.Linear(3, 3), **m), _ask, _change, _more)


@way
def a_dict_of_modules_that_grows():
    badak.manual_seed(0)
    table = nn.ModuleDict({"a": nn.Linear(3, 3)})

    def step(x):
        for layer in table.values():
            x = layer(x)
        return x.detach()

    return step, lambda: table.update({"b": nn.Tanh()})


@way
def a_list_of_parameters_that_grows():
    values = nn.ParameterList([badak.ones(3)])

    def step(x):
        for p in values:
            x = x * p
        return x.detach()

    return step, lambda: values.append(badak.full((3,), 2.0))


@way
def a_dict_of_parameters_that_changes():
    values = nn.ParameterDict({"a": badak.ones(3)})
    return (lambda x: (x * values["a"]).detach()), lambda: values.update({"a": badak.full((3,), 2.0)})


@way
def a_layer_that_is_lazy():
    badak.manual_seed(0)
    layer = nn.LazyLinear(3)
    return evaluated(layer), lambda: layer.weight.data.fill_(1)


def of_optimizer(change, kind=optim.SGD, **options):
    model = net(lambda self, x: self.layer(x))
    optimizer = kind(model.parameters(), lr=0.1, **options)

    def step(x):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        return model.layer.weight.detach().clone()

    return step, lambda: change(optimizer, model)


def set_group(**values):
    return lambda o, m: o.param_groups[0].update(values)


OPTIMIZERS = {
    "nesterov": (set_group(nesterov=True), dict(momentum=0.9)), "maximize": (set_group(maximize=True), {}),
    "momentum": (set_group(momentum=0.5), {}), "dampening": (set_group(dampening=0.5), dict(momentum=0.9)),
    "amsgrad": (set_group(amsgrad=True), dict(kind=optim.Adam)), "eps": (set_group(eps=1.0), dict(kind=optim.Adam)),
    "a_rate_as_a_tensor": (lambda o, m: o.param_groups[0]["lr"].fill_(0.01), dict(kind=optim.Adam, lr=None)),
    "another_rate_as_a_tensor": (set_group(lr=badak.tensor(0.01)), {}),
    "the_moments": (lambda o, m: o.state[m.layer.weight]["exp_avg"].zero_(), dict(kind=optim.Adam)),
    "other_moments": (lambda o, m: o.state[m.layer.weight].update(exp_avg=badak.ones(3, 3)), dict(kind=optim.Adam)),
    "the_count_of_steps": (lambda o, m: o.state[m.layer.weight]["step"].fill_(100), dict(kind=optim.Adam)),
    "a_state_that_goes": (lambda o, m: o.state.pop(m.layer.weight), dict(kind=optim.Adam)),
    "the_parameters": (lambda o, m: o.param_groups[0].update(params=[m.layer.bias]), {}),
    "the_order_of_groups": (lambda o, m: o.param_groups.reverse(), {}), "no_groups": (lambda o, m: o.param_groups.clear(), {}),
    "its_step": (lambda o, m: setattr(o, "step", lambda: None), {}),
    "its_zeroing": (lambda o, m: setattr(o, "zero_grad", lambda: None), {}),
}  # fmt: skip
for _name, (_change, _options) in OPTIMIZERS.items():
    if "lr" in _options:

        def _with_tensor(change):
            model = net(lambda self, x: self.layer(x))
            optimizer = optim.Adam(model.parameters(), lr=badak.tensor(0.1))

            def step(x):
                optimizer.zero_grad()
                model(x).square().mean().backward()
                optimizer.step()
                return model.layer.weight.detach().clone()

            return step, lambda: change(optimizer, model)

        _register(f"an_optimizer_with_{_name}", _with_tensor, _change)
    else:
        _register(f"an_optimizer_with_{_name}", lambda c, o: of_optimizer(c, **o), _change, _options)


@way
def an_optimizer_of_ones_own():
    model = net(lambda self, x: self.layer(x))

    class Signs(optim.Optimizer):
        scale = 1.0

        @badak.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.sub_(p.grad.sign() * group["lr"] * self.scale)

    optimizer = Signs(model.parameters(), {"lr": 0.01})

    def step(x):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        return model.layer.weight.detach().clone()

    return step, lambda: setattr(optimizer, "scale", 2.0)


@way
def an_average_by_hand():
    model = net(lambda self, x: self.layer(x))
    inner, _ = training(model)
    average = {k: v.detach().clone() for k, v in model.named_parameters()}
    c = space(decay=0.9)

    def step(x):
        inner(x)
        with badak.no_grad():
            for k, v in model.named_parameters():
                average[k].mul_(c.decay).add_(v, alpha=1 - c.decay)
        return average["layer.weight"].clone()

    return step, lambda: setattr(c, "decay", 0.5)


@way
def a_scaler_of_gradients():
    model = net(lambda self, x: self.layer(x))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    scaler = badak.amp.GradScaler("cpu", init_scale=4.0, growth_interval=3)

    def step(x):
        optimizer.zero_grad()
        scaler.scale(model(x).square().mean()).backward()
        scaler.step(optimizer)
        scaler.update()
        return model.layer.weight.detach() * scaler.get_scale()

    return step, nothing


def of_criterion(criterion, name, value, target=None, size=3):
    model = net(lambda self, x: self.layer(x))
    y = badak.tensor([0, 1]) if target is None else target
    step, _ = training(model, loss=lambda out: criterion(out, y))
    return step, lambda: setattr(criterion, name, value)


_HALF = badak.full((2, 3), 0.5)
for _name, _given in {
    "an_index_that_counts_not": lambda: (nn.CrossEntropyLoss(), "ignore_index", 1),
    "a_weight_of_positives": lambda: (nn.BCEWithLogitsLoss(), "pos_weight", badak.tensor([2.0, 1.0, 3.0]), _HALF),
    "a_bend": lambda: (nn.SmoothL1Loss(), "beta", 0.1, _HALF),
    "a_delta": lambda: (nn.HuberLoss(), "delta", 0.1, _HALF),
    "a_margin": lambda: (nn.MultiMarginLoss(), "margin", 3.0),
    "logs_of_targets": lambda: (nn.KLDivLoss(), "log_target", True, _HALF),
}.items():
    _register(f"a_loss_with_{_name}", lambda given: of_criterion(*given()), _given)


# ---------------------------------------------------------------- more of every day


@way
def a_flag_that_keeps_gradients():
    c, w = space(set_to_none=True), nn.Parameter(badak.ones(3))
    optimizer = optim.SGD([w], lr=0.1)

    def step(x):
        (w * x).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=c.set_to_none)
        return badak.tensor(1.0 if w.grad is None else 2.0)

    return step, lambda: setattr(c, "set_to_none", False)


@way
def a_second_derivative_by_a_flag():
    c, w = space(twice=False), nn.Parameter(badak.ones(3))

    def step(x):
        (g,) = badak.autograd.grad(((w * x) ** 3).sum(), w, create_graph=c.twice)
        if c.twice:
            (g,) = badak.autograd.grad(g.sum(), w)
        return g.detach()

    return step, lambda: setattr(c, "twice", True)


@way
def an_attribute_of_the_step():
    def step(x):
        step.calls += 1
        return x * 2

    step.calls = 0
    step.seen = lambda: step.calls
    return step, nothing


@way
def a_signature_that_is_asked():
    def h(x):
        return x * 2

    return (lambda x: x * len(inspect.signature(h).parameters)), lambda: setattr(h, "__code__", (lambda x, y=1: x).__code__)


@way
def a_module_of_python_that_is_there():
    step = lambda x: x * 2 if "badak_fourth" in sys.modules else x
    step.undo = lambda: sys.modules.pop("badak_fourth", None)
    return step, lambda: sys.modules.update(badak_fourth=types.ModuleType("badak_fourth"))


@way
def a_strategy_from_a_registry():
    registry = {}

    def register(name):
        return lambda f: registry.setdefault(name, f)

    @register("one")
    def one(x):
        return x

    @register("two")
    def two(x):
        return x * 2

    c = space(name="one")
    return (lambda x: registry[c.name](x)), lambda: setattr(c, "name", "two")


@way
def a_config_that_is_merged_in_each_call():
    base, over = {"s": 1.0, "t": 2.0}, {}
    return (lambda x: x * {**base, **over}["s"]), lambda: over.update(s=3.0)


@way
def a_config_by_union():
    base, over = {"s": 1.0}, {}
    return (lambda x: x * (base | over)["s"]), lambda: over.update(s=3.0)


@way
def a_formatted_name():
    table, c = {"layer_1": 1.0, "layer_2": 2.0}, space(n=1)
    return (lambda x: x * table[f"layer_{c.n}"]), lambda: setattr(c, "n", 2)


@way
def a_walrus():
    c = space(s=1.0)
    return (lambda x: x * s if (s := c.s) < 2 else x * -s), lambda: setattr(c, "s", 2.0)


@way
def a_match_statement():
    c = {"kind": "a", "s": 1.0}
    source = """
def step(x):
    match c:
        case {"kind": "a", "s": s}: return x * s
        case {"kind": "b"}: return x * 5
    return x
"""
    step, _ = in_globals(source, c=c)
    return step, lambda: c.update(kind="b")


@way
def nested_functions_that_are_made_in_each_call():
    c = space(s=1.0)

    def step(x):
        def outer(y):
            def inner(z):
                return z * c.s

            return inner(y)

        return outer(x)

    return step, lambda: setattr(c, "s", 2.0)


@way
def a_key_of_a_sort():
    c, rows = space(key=lambda v: v), [3.0, 1.0]
    return (lambda x: x * sorted(rows, key=c.key)[0]), lambda: setattr(c, "key", lambda v: -v)


@way
def any_and_all_over_objects():
    parts = [space(on=False), space(on=False)]
    return (lambda x: x * 2 if any(p.on for p in parts) else x), lambda: setattr(parts[1], "on", True)


@way
def a_comprehension_with_a_condition():
    parts = [space(s=1.0, on=True), space(s=2.0, on=False)]
    return (lambda x: x * sum([p.s for p in parts if p.on])), lambda: setattr(parts[1], "on", True)


@way
def a_deleted_entry_with_a_default():
    c = {"s": 2.0}
    return (lambda x: x * c.setdefault("s", 1.0)), lambda: c.pop("s")


@way
def a_depth_that_grows_by_stages():
    badak.manual_seed(0)
    layers, c = [nn.Linear(3, 3) for _ in range(3)], space(depth=1)

    def step(x):
        for layer in layers[: c.depth]:
            x = layer(x).relu()
        return x.detach()

    return step, lambda: setattr(c, "depth", 3)


@way
def a_schedule_of_temperature():
    c = space(step=0)

    def step(x):
        return (x / max(0.5, 1.0 - 0.1 * c.step)).softmax(-1)

    step.seen = lambda: setattr(c, "step", c.step + 1)
    return step, nothing


@way
def teacher_forcing_by_a_rate():
    c = space(rate=1.0)
    badak.manual_seed(0)

    def step(x):
        return badak.where(badak.rand(2, 1) < c.rate, x, -x)

    return step, lambda: setattr(c, "rate", 0.0)


@way
def mixing_by_a_weight_of_beta():
    rng = np.random.default_rng(0)
    return (lambda x: x * float(rng.beta(1.0, 1.0))), nothing


@way
def a_bias_that_is_cached_by_length():
    cache = {}

    def bias(n):
        if n not in cache:
            cache[n] = badak.arange(float(n)) * len(cache)
        return cache[n]

    return (lambda x: x + bias(x.shape[1])), lambda: cache.clear() or cache.update({7: badak.ones(7)})


@way
def a_buffer_that_grows():
    model = net(lambda self, x: self.layer(x) + self.seen.sum())
    model.register_buffer("seen", badak.zeros(1))

    def forward(self, x):
        self.seen = badak.cat([self.seen, x.sum().reshape(1)])
        return self.layer(x) + self.seen.sum()

    type(model).forward = forward
    return evaluated(model), nothing


@way
def activations_kept_by_name():
    kept = {}

    def forward(self, x):
        kept["h"] = h = self.layer(x)
        return h.relu()

    model = net(forward)
    step = lambda x: model(x).detach()
    step.seen = lambda: kept["h"].sum().item()
    return step, nothing


@way
def a_function_of_two_compiled_ones():
    c = space(s=1.0)
    one, two = badak.compile(lambda x: x * c.s), badak.compile(lambda x: x + c.s)
    return (lambda x: two(one(x))), lambda: setattr(c, "s", 2.0)


@way
def a_compiled_method_of_two_objects():
    class Scale:
        def __init__(self, s):
            self.s = s

        @badak.compile
        def run(self, x):
            return x * self.s

    a, b = Scale(1.0), Scale(5.0)
    now = [a]
    return (lambda x: now[0].run(x)), lambda: now.__setitem__(0, b)


@way
def activation_by_name_of_a_module():
    c = space(act="relu")
    return (lambda x: getattr(F, c.act)(x - 2)), lambda: setattr(c, "act", "gelu")


@way
def a_list_given_as_a_default_factory():
    log = collections.defaultdict(list)

    def step(x):
        log["n"].append(1)
        return x * 2

    step.seen = lambda: len(log["n"])
    return step, nothing
