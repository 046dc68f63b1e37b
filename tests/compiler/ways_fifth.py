"""A fifth list, after the fourth was mended: protocols of Python that decide unseen, tools of its library, settings of layers."""

import abc
import contextlib
import copy
import ctypes
import decimal
import functools
import heapq
import itertools
import json
import mmap
import operator
import pathlib
import pickle
import re
import sqlite3
import statistics
import string
import struct
import tempfile
import threading
import types
import typing

import numpy as np

import badak
from badak import distributions, nn, optim
from badak.nn import functional as F
from tests.compiler.ways import in_globals, space, way
from tests.compiler.ways_third import evaluated, net, nothing, training


@way
def what_instances_are():
    class Meta(type):
        accepts = False

        def __instancecheck__(cls, thing):
            return cls.accepts

    class Kind(metaclass=Meta):
        pass

    return (lambda x: x * 2 if isinstance(x, Kind) else x), lambda: setattr(Meta, "accepts", True)


@way
def what_subclasses_are():
    class Base(abc.ABC):  # noqa: B024
        names: set = set()

        @classmethod
        def __subclasshook__(cls, other):
            return other.__name__ in cls.names

    class Own:
        pass

    return (lambda x: x * 2 if "Own" in Base.names and issubclass(Own, Base) else x), lambda: Base.names.add("Own")


@way
def how_an_object_is_formatted():
    class Name:
        width = 1

        def __format__(self, spec):
            return "a" * self.width

    name = Name()
    return (lambda x: x * len(f"{name}")), lambda: setattr(name, "width", 4)


@way
def how_a_key_is_found():
    class Key:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            return 1

        def __eq__(self, other):
            return self.n == other.n

    key, table = Key(1), {Key(1): 1.0, Key(2): 5.0}
    return (lambda x: x * table[key]), lambda: setattr(key, "n", 2)


@way
def how_objects_are_ordered():
    class Row:
        def __init__(self, n, s):
            self.n, self.s = n, s

        def __lt__(self, other):
            return self.n < other.n

    rows = [Row(1, 1.0), Row(2, 5.0)]
    return (lambda x: x * min(rows).s), lambda: setattr(rows[0], "n", 9)


@way
def an_order_by_comparing():
    sign, rows = [1], [1.0, 3.0]
    key = functools.cmp_to_key(lambda a, b: sign[0] * (a - b))
    return (lambda x: x * sorted(rows, key=key)[0]), lambda: sign.__setitem__(0, -1)


@way
def a_heap_of_the_program():
    heap = [2.0, 3.0]
    return (lambda x: x * heap[0]), lambda: heapq.heappush(heap, 0.5)


@way
def a_heap_that_is_popped():
    heap = [float(i) for i in range(40)]
    step = lambda x: x * heapq.heappop(heap)
    step.seen = lambda: len(heap)
    return step, nothing


@way
def a_mean_of_the_library():
    values = [1.0, 3.0]
    return (lambda x: x * statistics.mean(values)), lambda: values.append(8.0)


@way
def a_text_by_a_callback():
    c = space(s="1")
    return (lambda x: x * float(re.sub("n", lambda m: c.s, "n"))), lambda: setattr(c, "s", "4")


@way
def a_map_for_a_format():
    class Values(dict):
        def __missing__(self, key):
            return self.default

    values = Values()
    values.default = "1"
    return (lambda x: x * float("{n}".format_map(values))), lambda: setattr(values, "default", "4")


@way
def a_template_of_a_class():
    class Percent(string.Template):
        delimiter = "%"

    values = {"n": "1"}
    return (lambda x: x * float(Percent("%n").substitute(values))), lambda: values.update(n="4")


@way
def a_struct_object():
    form, raw = struct.Struct("<f"), bytearray(struct.pack("<f", 1.0))
    return (lambda x: x * form.unpack_from(raw)[0]), lambda: form.pack_into(raw, 0, 3.0)


@way
def an_array_of_ctypes():
    values = (ctypes.c_float * 2)(1.0, 2.0)
    return (lambda x: x * values[1]), lambda: values.__setitem__(1, 5.0)


@way
def memory_that_is_mapped():
    memory = mmap.mmap(-1, 16)
    return (lambda x: x * (1.0 + memory[0])), lambda: memory.__setitem__(0, 3)


@way
def a_table_of_sqlite():
    base = sqlite3.connect(":memory:")
    base.execute("create table t (v real)")
    base.execute("insert into t values (1.0)")
    return (lambda x: x * base.execute("select v from t").fetchone()[0]), lambda: base.execute("update t set v = 3.0")


@way
def a_text_of_json():
    c = space(text='{"s": 1.0}')
    return (lambda x: x * json.loads(c.text)["s"]), lambda: setattr(c, "text", '{"s": 4.0}')


@way
def bytes_of_a_pickle():
    c = space(raw=pickle.dumps({"s": 1.0}))
    return (lambda x: x * pickle.loads(c.raw)["s"]), lambda: setattr(c, "raw", pickle.dumps({"s": 3.0}))  # noqa: S301


@way
def a_path_that_is_read():
    path = pathlib.Path(tempfile.mkdtemp()) / "scale"
    path.write_text("1.0")
    return (lambda x: x * float(path.read_text())), lambda: path.write_text("2.0")


@way
def what_a_folder_holds():
    path = pathlib.Path(tempfile.mkdtemp())
    return (lambda x: x * (1 + len(list(path.iterdir())))), lambda: (path / "one").touch()


@way
def an_exit_stack():
    told = []

    def step(x):
        with contextlib.ExitStack() as stack:
            stack.callback(told.append, 1)
            return x * 2

    step.seen = lambda: len(told)
    return step, nothing


@way
def errors_that_are_suppressed():
    table = {}

    def step(x):
        with contextlib.suppress(KeyError):
            return x * table["s"]
        return x

    return step, lambda: table.update(s=4.0)


@way
def decimal_numbers_in_a_context():
    c = space(prec=3)

    def step(x):
        with decimal.localcontext() as context:
            context.prec = c.prec
            return x * float(decimal.Decimal(1) / 3)

    return step, lambda: setattr(c, "prec", 8)


@way
def a_coroutine():
    c = space(s=1.0)

    async def scale():
        return c.s

    def step(x):
        try:
            scale().send(None)
        except StopIteration as end:
            return x * end.value

    return step, lambda: setattr(c, "s", 2.0)


@way
def work_of_another_thread():
    c, told = space(s=1.0), []

    def step(x):
        thread = threading.Thread(target=lambda: told.append(c.s))
        thread.start()
        thread.join()
        return x * told[-1]

    step.seen = lambda: len(told)
    return step, lambda: setattr(c, "s", 2.0)


@way
def what_del_does():
    told = []

    class Thing:
        def __del__(self):
            told.append(1)

    def step(x):
        Thing()
        return x * 2

    step.seen = lambda: len(told)
    return step, nothing


@way
def what_copying_does():
    class Config:
        copies = 0
        s = 2.0

        def __deepcopy__(self, memo):
            Config.copies += 1
            return self

    c = Config()
    step = lambda x: x * copy.deepcopy(c).s
    step.seen = lambda: Config.copies
    return step, nothing


@way
def what_new_gives():
    class Single:
        held: list = []

        def __new__(cls):
            return cls.held[0] if cls.held else super().__new__(cls)

        s = 1.0

    other = Single()
    other.s = 4.0
    return (lambda x: x * Single().s), lambda: Single.held.append(other)


@way
def a_typed_named_tuple():
    class Config(typing.NamedTuple):
        s: float = 1.0

    c = space(c=Config())
    return (lambda x: x * c.c.s), lambda: setattr(c, "c", Config(3.0))


@way
def a_name_given_by_setting():
    class Field:
        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, owner, kind=None):
            return vars(owner).get(f"_{self.name}", 1.0)

    class Config:
        s = Field()

    c = Config()
    return (lambda x: x * c.s), lambda: vars(c).update(_s=2.0)


@way
def an_operator_by_name():
    c = space(op="add")
    return (lambda x: getattr(operator, c.op)(x, 3.0)), lambda: setattr(c, "op", "mul")


@way
def a_built_in_by_name():
    c = space(op="max")
    return (lambda x: x * getattr(__import__("builtins"), c.op)(1.0, 4.0)), lambda: setattr(c, "op", "min")


@way
def a_frame_that_is_asked():
    step, names = in_globals("import sys\nS = 1.0\ndef h(): return sys._getframe(1).f_globals['S']\ndef step(x): return x * h()")
    return step, lambda: names.update(S=2.0)


@way
def a_function_of_numpy_over_python():
    c = space(s=1.0)
    scale = np.vectorize(lambda v: v * c.s)
    return (lambda x: x * float(scale(np.ones(1))[0])), lambda: setattr(c, "s", 3.0)


@way
def a_ufunc_over_python():
    c = space(s=1.0)
    scale = np.frompyfunc(lambda v: v * c.s, 1, 1)
    return (lambda x: x * float(scale(2.0))), lambda: setattr(c, "s", 3.0)


@way
def a_reduction_over_python():
    c = space(s=1.0)
    return (lambda x: x * functools.reduce(lambda a, b: a * b + c.s, [1.0, 2.0])), lambda: setattr(c, "s", 3.0)


@way
def groups_by_a_key():
    c, rows = space(n=1), [1, 2, 3, 4]
    return (lambda x: x * len(list(itertools.groupby(rows, lambda v: v // c.n)))), lambda: setattr(c, "n", 2)


@way
def numbers_of_a_distribution():
    normal = distributions.Normal(badak.zeros(3), badak.ones(3))
    return (lambda x: normal.log_prob(x)), lambda: setattr(normal, "scale", badak.full((3,), 2.0))


@way
def what_distributions_check():
    normal = distributions.Normal(0.0, 1.0)
    return (lambda x: normal.log_prob(x)), lambda: setattr(normal, "loc", badak.tensor(1.0))


def setting(make, name, value, shape=None):
    badak.manual_seed(0)
    layer = make()
    give = (lambda x: x) if shape is None else (lambda x: badak.arange(float(np.prod(shape))).reshape(shape))
    run = lambda x: (lambda y: y[0] if isinstance(y, tuple) else y)(layer(give(x))).detach()
    return run, lambda: setattr(layer, name, value)


_IMAGE = (1, 2, 6, 6)
for _name, _given in {
    "stride": (lambda: nn.Conv2d(2, 2, 3), "stride", (2, 2), _IMAGE),
    "padding": (lambda: nn.Conv2d(2, 2, 3), "padding", (1, 1), _IMAGE),
    "dilation": (lambda: nn.Conv2d(2, 2, 3), "dilation", (2, 2), _IMAGE),
    "kernel_of_a_pool": (lambda: nn.MaxPool2d(2), "kernel_size", 3, _IMAGE),
    "scale_factor": (lambda: nn.Upsample(scale_factor=2.0), "scale_factor", 3.0, _IMAGE),
    "mode_of_upsampling": (lambda: nn.Upsample(scale_factor=2.0), "mode", "bilinear", _IMAGE),
    "slope": (lambda: nn.LeakyReLU(0.1), "negative_slope", 0.9),
    "alpha": (lambda: nn.ELU(), "alpha", 0.2),
    "beta": (lambda: nn.Softplus(), "beta", 3.0),
    "dim_of_a_softmax": (lambda: nn.Softmax(-1), "dim", 0),
    "approximation": (lambda: nn.GELU(), "approximate", "tanh"),
    "groups_of_a_norm": (lambda: nn.GroupNorm(1, 2), "num_groups", 2, _IMAGE),
    "statistics_that_are_kept": (lambda: nn.BatchNorm1d(3), "track_running_stats", False),
    "statistics_of_the_batch": (lambda: nn.BatchNorm1d(3).eval(), "running_mean", badak.full((3,), 2.0)),
    "start_of_flattening": (lambda: nn.Flatten(), "start_dim", 0),
    "weight_of_attention": (lambda: nn.MultiheadAttention(3, 1), "num_heads", 3),
    "largest_norm_of_rows": (lambda: nn.Embedding(9, 3), "padding_idx", 1),
    "where_a_clamp_ends": (lambda: nn.Hardtanh(0.0, 3.0), "max_val", 5.0),
}.items():

    def _made(given=_given):
        make, name, value, *shape = given
        if make().__class__ is nn.Embedding:
            return setting(lambda: nn.Sequential(nn.Linear(3, 3)), "0", nn.Identity())
        if make().__class__ is nn.MultiheadAttention:
            badak.manual_seed(0)
            layer = make()
            return (lambda x: layer(x, x, x)[0].detach()), lambda: setattr(layer, name, value)
        return setting(make, name, value, *shape)

    _made.__name__ = f"a_layer_with_another_{_name}"
    way(_made)


@way
def a_module_that_answers_for_names():
    def forward(self, x):
        return self.layer(x) * self.scale

    model = net(forward)
    type(model).__getattr__ = lambda self, name: type(self).S if name == "scale" else nn.Module.__getattr__(self, name)
    type(model).S = 1.0
    return evaluated(model), lambda: setattr(type(model), "S", 2.0)


@way
def a_module_whose_call_is_its_own():
    model = net(lambda self, x: self.layer(x))
    type(model).__call__ = lambda self, x: nn.Module.__call__(self, x) * self.factor
    model.factor = 1.0
    return evaluated(model), lambda: setattr(model, "factor", 2.0)


@way
def a_list_of_schedules():
    inner, optimizer = training(net(lambda self, x: self.layer(x)))
    one = optim.lr_scheduler.ConstantLR(optimizer, 0.5, total_iters=4)
    two = optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    schedules = [one]

    def step(x):
        y = inner(x)
        for schedule in schedules:
            schedule.step()
        return y

    return step, lambda: schedules.append(two)


@way
def a_plan_by_phases():
    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    c = space(step=0)

    def step(x):
        c.step += 1
        for p in model[0].parameters():
            p.requires_grad_(c.step > 6)
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        return model[0].weight.detach().clone()

    return step, nothing


@way
def a_target_network():
    model = net(lambda self, x: self.layer(x))
    inner, _ = training(model)
    target = copy.deepcopy(model).requires_grad_(False)
    c = space(every=3, n=0)

    def step(x):
        y = inner(x)
        c.n += 1
        if c.n % c.every == 0:
            target.load_state_dict(model.state_dict())
        return target(x) + y[0]

    return step, lambda: setattr(c, "every", 2)


@way
def a_buffer_of_replays():
    memory = []

    def step(x):
        memory.append(x.sum().detach())
        del memory[:-3]
        return badak.stack(memory).mean() + x

    step.seen = lambda: len(memory)
    return step, nothing


@way
def noise_of_a_schedule():
    badak.manual_seed(0)
    c = space(sigma=0.1)
    return (lambda x: x + c.sigma * badak.randn(3)), lambda: setattr(c, "sigma", 0.5)


@way
def words_dropped_by_a_mask():
    badak.manual_seed(0)
    c = space(rate=0.1)
    return (lambda x: x.masked_fill(badak.rand(2, 3) < c.rate, 0.0)), lambda: setattr(c, "rate", 0.9)


@way
def a_loss_that_is_chosen():
    losses, c = {"l1": F.l1_loss, "l2": F.mse_loss}, space(which="l2")
    step, _ = training(net(lambda self, x: self.layer(x)), loss=lambda y: losses[c.which](y, y.detach() * 0))
    return step, lambda: setattr(c, "which", "l1")


@way
def attributes_of_a_simple_class_of_c():
    point = types.SimpleNamespace()
    point.s = 1.0
    step = lambda x: x * vars(point)["s"]
    return step, lambda: point.__dict__.__setitem__("s", 3.0)
