"""A sixth list: what badak keeps for all, what an argument is besides its values, and what a recording may keep alive.

Each function gives (step, change), as in `ways.py`.
"""

import collections
import decimal
import weakref

from badak.utils import swap_tensors

import badak
from badak import distributions, nn, optim
from badak.autograd.graph import disable_saved_tensors_hooks, save_on_cpu
from badak.compat.torch.pytree import register_pytree_node, tree_leaves
from badak.data.collate import default_collate, default_collate_fn_map
from badak.nn import functional as F
from badak.nn.utils import parametrize
from tests.compiler.ways import space, way
from tests.compiler.ways_third import nothing

# ---------------------------------------------------------------- what is kept for all


def undone(step, undo):
    step.undo = undo
    return step


@way
def a_divergence_that_is_registered():
    class Own(distributions.Normal):
        pass

    p, q = Own(0.0, 1.0), Own(1.0, 1.0)
    change = lambda: distributions.register_kl(Own, Own)(lambda p, q: badak.tensor(9.0))
    return (lambda x: x * distributions.kl_divergence(p, q)), change


@way
def a_node_that_is_registered():
    class Pair:
        def __init__(self, a):
            self.a = a

    pair = Pair(badak.full((3,), 5.0))
    step = lambda x: x * (2.0 if isinstance(tree_leaves(pair)[0], Pair) else 3.0)
    return step, lambda: register_pytree_node(Pair, lambda q: ([q.a], None), lambda values, context: Pair(values[0]))


@way
def how_examples_are_collated():
    before = default_collate_fn_map[float]
    step = undone(lambda x: x * default_collate([2.0, 3.0]).sum(), lambda: default_collate_fn_map.update({float: before}))
    return step, lambda: default_collate_fn_map.update({float: lambda batch, collate_fn_map=None: badak.tensor([9.0])})


@way
def the_dtype_of_autocast():
    layer = nn.Linear(3, 3)

    def step(x):
        with badak.autocast("cpu"):
            return layer(x).detach()

    before = badak.get_autocast_dtype("cpu")
    undone(step, lambda: badak.set_autocast_dtype("cpu", before))
    return step, lambda: badak.set_autocast_dtype("cpu", badak.float16)


@way
def hooks_of_saved_tensors_that_are_refused():
    block = disable_saved_tensors_hooks("not here")

    def step(x):
        badak.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x).__enter__().__exit__(None, None, None)
        return x * 2

    return undone(step, lambda: block.__exit__(None, None, None)), block.__enter__


@way
def tensors_saved_elsewhere():
    badak.manual_seed(0)
    layer = nn.Linear(3, 3)
    optimizer = optim.SGD(layer.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        with save_on_cpu():
            layer(x).square().mean().backward()
        optimizer.step()
        return layer.weight.detach().clone()

    return step, nothing


@way
def weights_that_are_computed_once():
    layer = nn.Linear(3, 3)
    double = nn.Module()
    double.forward = lambda w: w * 2
    parametrize.register_parametrization(layer, "weight", double)
    block = parametrize.cached()

    def step(x):
        y = layer(x).detach()
        layer.parametrizations.weight.original.data.add_(1.0)
        return y

    def change():
        block.__enter__()
        layer.weight  # noqa: B018  (kept from now on)

    return undone(step, lambda: block.__exit__(None, None, None)), change


@way
def memory_that_is_filled():
    badak.use_deterministic_algorithms(True)
    step = undone(lambda x: x + badak.empty(3).isnan(), lambda: badak.use_deterministic_algorithms(False))
    return step, lambda: badak.use_deterministic_algorithms(False, warn_only=True)


@way
def the_device_of_new_tensors():
    block = badak.device("meta")
    step = undone(lambda x: x * len(badak.zeros(3).device.type), lambda: block.__exit__(None, None, None))
    return step, block.__enter__


def below_a_layer(make, name, give=lambda x: x):
    """A layer that asks badak's functions by name, where the program puts another function."""
    layer, before = make(), getattr(F, name)
    step = undone(lambda x: layer(give(x)).detach() + x * 0, lambda: setattr(F, name, before))
    return step, lambda: setattr(F, name, lambda *args, **kwargs: badak.full((1,), 9.0))


for _name, _make in {
    "relu": nn.ReLU,
    "linear": lambda: nn.Linear(3, 3),
    "softmax": lambda: nn.Softmax(-1),
    "layer_norm": lambda: nn.LayerNorm(3),
    "dropout": lambda: nn.Dropout(0.0),
    "gelu": nn.GELU,
}.items():

    def _below(name=_name, make=_make):
        return below_a_layer(make, name)

    _below.__name__ = f"another_{_name}_below_a_layer"
    way(_below)


# ---------------------------------------------------------------- tensors and modules


@way
def tensors_that_are_swapped():
    layer = nn.Linear(3, 3)
    return (lambda x: layer(x).detach()), lambda: swap_tensors(layer.weight, nn.Parameter(badak.eye(3)))


@way
def another_class_for_a_tensor():
    class Loud(badak.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return badak.full((1,), 42.0)

    scale = badak.ones(3)
    return (lambda x: x * scale), lambda: setattr(scale, "__class__", Loud)


@way
def another_class_for_a_weight():
    class Loud(nn.Parameter):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return badak.full((1,), 42.0)

    layer = nn.Linear(3, 3)
    return (lambda x: layer(x).detach()), lambda: setattr(layer.weight, "__class__", Loud)


@way
def which_buffers_are_saved():
    layer = nn.BatchNorm1d(3)
    return (lambda x: x * len(layer.state_dict())), lambda: layer._non_persistent_buffers_set.add("running_mean")


@way
def what_decimal_numbers_have_noted():
    context = decimal.getcontext()

    def step(x):
        decimal.Decimal(1) / decimal.Decimal(3)
        return x * 2

    def after():
        step.noted = context.flags[decimal.Inexact]
        context.clear_flags()

    step.after, step.seen = after, lambda: step.noted
    return step, nothing


@way
def what_weak_references_alone_lead_to():
    class Thing:
        def __init__(self, n):
            self.n = n

    kept = [Thing(1.0), Thing(2.0)]
    known = weakref.WeakSet(kept)
    return (lambda x: x * sum(thing.n for thing in known)), kept.pop


# ---------------------------------------------------------------- what an argument is besides its values


def given(step, make):
    """A step whose argument is make(x, number of the call)."""
    calls = []

    def arguments(x):
        calls.append(x)
        found = make(x, len(calls))
        return (found if isinstance(found, tuple) else (found,)), {}

    return (step, arguments), nothing


def with_attribute(thing, value):
    thing.scale = value
    return thing


def late(n):
    return 1.0 if n < 6 else 5.0


class Row(list):
    pass


class Named(dict):
    pass


class Pair(tuple):
    pass


class Slotted(list):
    __slots__ = ("scale",)


@way
def an_attribute_of_an_argument():
    return given(lambda x: x * x.scale, lambda x, n: with_attribute(x, late(n)))


@way
def an_attribute_that_an_argument_gets():
    seen = []

    def step(x):
        x.scale = 1
        return x * 2

    made, change = given(step, lambda x, n: seen.append(x) or x)
    step.seen = lambda: hasattr(seen[-1], "scale")
    return made, change


@way
def an_argument_with_a_gradient():
    def make(x, n):
        x.grad = badak.ones(2, 3) if n > 5 else None
        return x

    return given(lambda x: x * (2.0 if x.grad is None else 3.0), make)


@way
def where_an_argument_begins():
    return given(lambda x: x * (1.0 + x.storage_offset()), lambda x, n: x[n % 2])


@way
def whether_an_argument_is_a_view():
    return given(lambda x: x * (2.0 if x._is_view() else 3.0), lambda x, n: x[0] if n % 2 else x[0].clone())


@way
def of_what_an_argument_is_a_view():
    return given(lambda x: x * (2.0 if x._base is None else 3.0), lambda x, n: x[0] if n % 2 else x[0].clone())


@way
def of_what_a_part_of_an_argument_is_a_view():
    return given(lambda x: x[0] * (2.0 if x[0]._base is x else 3.0), lambda x, n: x[:1] if n % 2 else x[:1].clone())


@way
def how_often_an_argument_was_written():
    return given(lambda x: x * (1.0 + x._version), lambda x, n: [x.mul_(1.0) for _ in range(n)][-1])


@way
def the_memory_of_an_argument():
    return given(lambda x: x * x.untyped_storage().size(), lambda x, n: badak.ones(n, 3)[0])


@way
def a_view_beyond_an_argument():
    return given(lambda x: x.as_strided((6,), (1,)) * 1, lambda x, n: x[0])


@way
def one_argument_twice():
    return given(lambda x, y: x * (2.0 if x is y else 3.0), lambda x, n: (x, x if n > 8 else x.clone()))


@way
def an_argument_that_has_another_name_later():
    state = space()

    def make(x, n):
        state.t = x[0] if n % 2 else badak.ones(2, 3)
        return x

    def step(x):
        x.add_(1.0)
        return state.t * 1

    return given(step, make)


for _kind in (Row, Named, Pair, Slotted):
    for _value in (lambda n: n, lambda n: [n], lambda n: badak.full((3,), n)):

        def _made(kind=_kind, value=_value):
            first = "a" if kind is Named else 0
            scale = lambda each: each[0] if type(each) is list else each
            make = lambda x, n: (with_attribute(kind(a=x) if kind is Named else kind((x,)), value(late(n))),)
            return given(lambda rows: rows[first] * scale(rows.scale), make)

        _made.__name__ = f"an_attribute_of_a_{_kind.__name__.lower()}_that_is_an_argument_{type(_value(1.0)).__name__.lower()}"
        way(_made)


@way
def what_a_dict_that_is_an_argument_makes_up():
    step = lambda d: d["a"] * d.get("b", 1.0) * (d.default_factory() if d.default_factory else 1.0)
    one, two = (lambda: 2.0), (lambda: 7.0)
    return given(step, lambda x, n: collections.defaultdict(one if n < 6 else two, a=x))


@way
def an_argument_on_the_meta_device():
    return given(lambda x, y: x * len(y.device.type) * len(y), lambda x, n: (x, badak.ones(n % 2 + 1, device="meta")))


@way
def a_tensor_on_the_meta_device():
    like = badak.ones(2, 3, device="meta")
    c = space(like=like)
    return (lambda x: x * len(c.like) + len((c.like * 2).shape)), lambda: setattr(c, "like", badak.ones(5, 3, device="meta"))


# ---------------------------------------------------------------- what was not there


@way
def an_attribute_that_a_parameter_gets():
    p = nn.Parameter(badak.ones(3))
    return (lambda x: (x * getattr(p, "scale", 1.0)).detach()), lambda: setattr(p, "scale", 3.0)


@way
def an_attribute_that_is_tried():
    p = nn.Parameter(badak.ones(3))

    def step(x):
        try:
            return x * p.scale
        except AttributeError:
            return x

    return step, lambda: setattr(p, "scale", 3.0)


@way
def an_attribute_that_one_of_the_parameters_gets():
    layer = nn.Linear(3, 3)
    step = lambda x: x * sum(2.0 if getattr(p, "no_decay", False) else 1.0 for p in layer.parameters())
    return step, lambda: setattr(layer.bias, "no_decay", True)


@way
def an_attribute_that_an_argument_of_ones_own_gets():
    p = nn.Parameter(badak.ones(3))
    step = lambda x, p: (x * getattr(p, "scale", 1.0)).detach()
    return (step, lambda x: ((x, p), {})), lambda: setattr(p, "scale", 3.0)


@way
def an_attribute_that_a_buffer_gets():
    norm = nn.BatchNorm1d(3)
    return (lambda x: x * getattr(norm.running_mean, "scale", 1.0)), lambda: setattr(norm.running_mean, "scale", 3.0)


@way
def an_attribute_that_a_buffer_of_a_loop_gets():
    norm = nn.BatchNorm1d(3)
    step = lambda x: sum(x * b.sum() * getattr(b, "scale", 1.0) for b in norm.buffers())
    return step, lambda: setattr(norm.running_var, "scale", 3.0)


@way
def an_attribute_that_a_method_gets():
    class Thing:
        def method(self):
            pass

    thing = Thing()
    return (lambda x: x * getattr(thing.method, "scale", 1.0)), lambda: setattr(Thing.method, "scale", 3.0)


def put_past_a_module(make, change):
    badak.manual_seed(0)
    layer = make()
    return (lambda x: layer(x).detach()), lambda: change(layer)


@way
def a_forward_put_past_a_module():
    return put_past_a_module(lambda: nn.Linear(3, 3), lambda layer: vars(layer).update(forward=lambda x: x * 3))


@way
def a_mode_put_past_a_module():
    return put_past_a_module(lambda: nn.Dropout(0.5), lambda layer: vars(layer).update(training=False))


@way
def a_hook_put_past_a_module():
    return put_past_a_module(lambda: nn.Linear(3, 3), lambda layer: layer._forward_hooks.update({99: lambda m, args, y: y * 3}))
