"""A third list, written without a look at how steps are compared: what training programs do every day, and what nobody would.

Each function gives (step, change), as in `ways.py`; `step.seen()`, where there is one, tells what the step did besides computing.
"""

import array
import bisect
import builtins
import collections
import contextlib
import contextvars
import copy
import ctypes
import dataclasses
import decimal
import enum
import fractions
import functools
import gc
import io
import itertools
import logging
import math
import operator
import os
import random
import struct
import sys
import tempfile
import threading
import time
import types
import warnings
import weakref

import numpy as np

import badak
from badak import nn, optim
from badak.nn import functional as F
from tests.compiler.ways import in_globals, space, way

nothing = lambda: None


def net(forward, *children, **attributes):
    """A module with this forward, a layer, these children in a list, and these attributes."""
    badak.manual_seed(0)
    made = type("Net", (nn.Module,), {"forward": forward})()
    made.layer, made.children_ = nn.Linear(3, 3), nn.ModuleList(children)
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def evaluated(model):
    return lambda x: model(x).detach()


def training(model, rate=0.1, loss=lambda y: y.square().mean(), kind=optim.SGD):
    """A step of training and its optimizer; the step gives the loss and the sum of what was learnt."""
    optimizer = kind([p for p in model.parameters() if p.requires_grad], lr=rate)

    def step(x):
        optimizer.zero_grad()
        value = loss(model(x))
        value.backward()
        optimizer.step()
        return badak.stack([value.detach(), *(p.detach().sum() for p in model.parameters())])

    step.seen = lambda: [None if p.grad is None else p.grad.sum().item() for p in model.parameters()]
    return step, optimizer


# ---------------------------------------------------------------- attributes


@way
def a_property_that_counts():
    class Config:
        calls = 0

        @property
        def scale(self):
            self.calls += 1
            return 2.0

    c = Config()
    step = lambda x: x * c.scale
    step.seen = lambda: c.calls
    return step, nothing


@way
def a_property_over_a_global_list():
    values = [1.0]

    class Config:
        scale = property(lambda self: sum(values))

    c = Config()
    return (lambda x: x * c.scale), lambda: values.append(1.5)


@way
def a_setter_that_clips():
    class Config:
        _s = 1.0
        s = property(lambda self: self._s, lambda self, value: setattr(self, "_s", min(value, 3.0)))

    c = Config()
    return (lambda x: x * c.s), lambda: setattr(c, "s", 8.0)


@way
def a_delegate_by_getattr():
    class Inner:
        s = 1.0

    class Outer:
        def __init__(self, inner):
            self._inner = inner

        def __getattr__(self, name):
            return getattr(self.__dict__["_inner"], name)

    inner = Inner()
    outer = Outer(inner)
    return (lambda x: x * outer.s), lambda: setattr(inner, "s", 2.0)


@way
def a_delegate_that_gets_an_own_attribute():
    class Outer:
        def __getattr__(self, name):
            return 1.0

    outer = Outer()
    return (lambda x: x * outer.s), lambda: setattr(outer, "s", 2.0)


@way
def a_descriptor_with_a_weak_table():
    class Field:
        def __init__(self):
            self.of = weakref.WeakKeyDictionary()

        def __get__(self, owner, kind=None):
            return self if owner is None else self.of.get(owner, 1.0)

        def __set__(self, owner, value):
            self.of[owner] = value

    class Config:
        s = Field()

    c = Config()
    return (lambda x: x * c.s), lambda: setattr(c, "s", 2.0)


@way
def a_descriptor_with_a_table_by_id():
    class Field:
        table: dict = {}

        def __get__(self, owner, kind=None):
            return self.table.get(id(owner), 1.0)

        def __set__(self, owner, value):
            self.table[id(owner)] = value

    class Config:
        s = Field()

    c = Config()
    return (lambda x: x * c.s), lambda: setattr(c, "s", 2.0)


@way
def a_data_descriptor_that_comes_over_an_own_attribute():
    class Config:
        pass

    c = Config()
    c.s = 1.0
    return (lambda x: x * c.s), lambda: setattr(Config, "s", property(lambda self: 4.0))


@way
def a_slot_that_is_emptied():
    class Config:
        __slots__ = ("s",)

    c = Config()
    c.s = 2.0

    def step(x):
        try:
            return x * c.s
        except AttributeError:
            return x

    return step, lambda: delattr(c, "s")


@way
def an_own_attribute_that_goes():
    class Config:
        s = 1.0

    c = Config()
    c.s = 3.0
    return (lambda x: x * c.s), lambda: delattr(c, "s")


@way
def a_dict_of_an_object_that_is_updated():
    c = space(s=1.0)
    return (lambda x: x * c.s), lambda: c.__dict__.update(s=2.0)


@way
def a_dict_of_an_object_that_two_share():
    a, b = space(s=1.0), type("B", (), {})()
    b.__dict__ = a.__dict__
    return (lambda x: x * b.s), lambda: setattr(a, "s", 2.0)


@way
def a_class_that_changes_between_two():
    class One:
        def scale(self):
            return 1.0

    class Two:
        def scale(self):
            return 2.0

    o = One()
    o.kind = "o"
    return (lambda x: x * o.scale()), lambda: setattr(o, "__class__", Two)


@way
def a_base_in_the_middle():
    class A:
        s = 1.0

    class B(A):
        pass

    class C(B):
        pass

    c = C()
    return (lambda x: x * c.s), lambda: setattr(B, "s", 2.0)


@way
def a_method_of_a_mixin_that_comes():
    class Mixin:
        pass

    class A:
        def scale(self):
            return 1.0

    class C(Mixin, A):
        pass

    c = C()
    return (lambda x: x * c.scale()), lambda: setattr(Mixin, "scale", lambda self: 5.0)


@way
def a_property_of_the_metaclass():
    class Meta(type):
        value = 1.0

        @property
        def scale(cls):
            return cls.value

    class Config(metaclass=Meta):
        pass

    return (lambda x: x * Config.scale), lambda: setattr(Meta, "value", 2.0)


@way
def a_registry_of_subclasses():
    class Base:
        kinds: dict = {}

        def __init_subclass__(cls, **words):
            Base.kinds[cls.__name__] = cls

    class One(Base):
        s = 2.0

    def change():
        type("Two", (Base,), {"s": 3.0})

    def step(x):
        for kind in Base.kinds.values():
            x = x * kind.s
        return x

    return step, change


@way
def a_call_of_the_class_that_registers():
    made = []

    class Thing:
        def __init__(self):
            made.append(self)

    def step(x):
        return x * (2.0 if isinstance(Thing(), Thing) else 1.0)

    step.seen = lambda: len(made)
    return step, nothing


@way
def a_class_getitem():
    class Table:
        values: dict = {"a": 1.0}

        def __class_getitem__(cls, key):
            return cls.values[key]

    return (lambda x: x * Table["a"]), lambda: Table.values.update(a=2.0)


@way
def a_truth_of_an_object():
    class Switch:
        on = False

        def __bool__(self):
            return self.on

    switch = Switch()
    return (lambda x: x * 2 if switch else x), lambda: setattr(switch, "on", True)


@way
def a_length_of_an_object():
    class Box:
        n = 0

        def __len__(self):
            return self.n

    box = Box()
    return (lambda x: x * 2 if box else x), lambda: setattr(box, "n", 3)


@way
def a_number_by_float():
    class Rate:
        value = 1.0

        def __float__(self):
            return self.value

    rate = Rate()
    return (lambda x: x * float(rate)), lambda: setattr(rate, "value", 0.5)


@way
def an_index_of_an_object():
    class Where:
        at = 0

        def __index__(self):
            return self.at

    where = Where()
    return (lambda x: x * [1.0, 7.0][where]), lambda: setattr(where, "at", 1)


@way
def a_reflected_operator():
    class Scale:
        s = 1.0

        def __rmul__(self, x):
            return x + self.s

    scale = Scale()
    return (lambda x: x * scale), lambda: setattr(scale, "s", 2.0)


@way
def what_contains_answers():
    class Range:
        top = 1

        def __contains__(self, value):
            return value < self.top

    inside = Range()
    return (lambda x: x * 2 if 3 in inside else x), lambda: setattr(inside, "top", 9)


@way
def what_iter_gives():
    class Steps:
        n = 1

        def __iter__(self):
            return iter([0.5] * self.n)

    steps = Steps()
    return (lambda x: x * sum(steps)), lambda: setattr(steps, "n", 4)


@way
def what_enter_gives():
    class Scope:
        entered = 0

        def __enter__(self):
            self.entered += 1
            return 2.0

        def __exit__(self, *_):
            return False

    scope = Scope()

    def step(x):
        with scope as factor:
            return x * factor

    step.seen = lambda: scope.entered
    return step, nothing


# ---------------------------------------------------------------- containers


@way
def an_array_of_doubles():
    values = array.array("d", [1.0, 2.0])
    return (lambda x: x * values[1]), lambda: values.__setitem__(1, 4.0)


@way
def a_memory_view_over_bytes():
    raw = bytearray(struct.pack("f", 1.0))
    view = memoryview(raw).cast("f")
    return (lambda x: x * view[0]), lambda: raw.__setitem__(slice(None), struct.pack("f", 3.0))


@way
def a_field_of_ctypes():
    class Point(ctypes.Structure):
        _fields_ = (("s", ctypes.c_double),)

    p = Point(1.0)
    return (lambda x: x * p.s), lambda: setattr(p, "s", 2.0)


@way
def a_simple_ctypes_value():
    v = ctypes.c_float(1.0)
    return (lambda x: x * v.value), lambda: setattr(v, "value", 2.0)


@way
def a_struct_unpacked():
    raw = bytearray(struct.pack("<f", 1.0))
    return (lambda x: x * struct.unpack_from("<f", raw)[0]), lambda: struct.pack_into("<f", raw, 0, 2.0)


@way
def a_deque_that_rotates():
    values = collections.deque([1.0, 2.0, 3.0])
    return (lambda x: x * values[0]), lambda: values.rotate(1)


@way
def the_room_of_a_deque():
    boxes = [collections.deque([1.0, 2.0], maxlen=2)]
    return (lambda x: x * (boxes[0].maxlen or 9)), lambda: boxes.__setitem__(0, collections.deque([1.0, 2.0]))


@way
def a_counter_of_words():
    count = collections.Counter("aab")
    return (lambda x: x * count.most_common(1)[0][1]), lambda: count.update("bbbb")


@way
def a_child_of_a_chain():
    chain = collections.ChainMap({"s": 1.0})
    return (lambda x: x * chain["s"]), lambda: chain.maps.insert(0, {"s": 2.0})


@way
def a_default_dict_that_fills_itself():
    table = collections.defaultdict(lambda: 2.0)

    def step(x):
        return x * table["k"]

    step.seen = lambda: len(table)
    return step, table.clear


@way
def a_named_tuple_replaced():
    Point = collections.namedtuple("Point", "s t")
    box = space(p=Point(1.0, 2.0))
    return (lambda x: x * box.p.s), lambda: setattr(box, "p", box.p._replace(s=4.0))


@way
def a_subclass_of_a_tuple_with_an_attribute():
    class Pair(tuple):
        pass

    pair = Pair((1.0, 2.0))
    pair.s = 1.0
    return (lambda x: x * pair.s), lambda: setattr(pair, "s", 2.0)


@way
def a_subclass_of_float_with_an_attribute():
    class Rate(float):
        pass

    rate = Rate(1.0)
    rate.boost = 1.0
    return (lambda x: x * rate * rate.boost), lambda: setattr(rate, "boost", 2.0)


@way
def a_subclass_of_int_with_other_arithmetic():
    class Count(int):
        bias = 0

        def __mul__(self, other):
            return int(self) * other + self.bias

    count = Count(2)
    return (lambda x: x * (count * 3)), lambda: setattr(Count, "bias", 1)


@way
def a_subclass_of_str():
    class Name(str):
        kind = "relu"

    name = Name("act")
    return (lambda x: (x - 2).relu() if name.kind == "relu" else x.tanh()), lambda: setattr(name, "kind", "tanh")


@way
def a_list_that_contains_itself():
    values = [1.0]
    values.append(values)
    return (lambda x: x * values[1][1][0]), lambda: values.__setitem__(0, 2.0)


@way
def a_frozen_set_in_a_cell():
    kinds = frozenset("a")

    def step(x):
        return x * (2.0 if "b" in kinds else 1.0)

    def change():
        nonlocal kinds
        kinds = frozenset("ab")

    return step, change


@way
def a_set_with_the_same_length():
    kinds = {"a", "b"}

    def change():
        kinds.discard("b")
        kinds.add("c")

    return (lambda x: x * (2.0 if "c" in kinds else 1.0)), change


@way
def a_slice_in_a_dict():
    parts = {"here": slice(0, 1)}
    return (lambda x: x[parts["here"]].sum()), lambda: parts.update(here=slice(0, 2))


@way
def a_range_in_a_list():
    parts = [range(2)]

    def step(x):
        for i in parts[0]:
            x = x + i
        return x

    return step, lambda: parts.__setitem__(0, range(4))


@way
def a_sorted_list():
    edges = [1.0, 5.0]
    return (lambda x: x * bisect.bisect(edges, 3.0)), lambda: bisect.insort(edges, 2.0)


@way
def a_list_sorted_in_place():
    values = [3.0, 1.0, 2.0]
    return (lambda x: x * values[0]), lambda: values.sort()


@way
def a_mask_from_a_python_list():
    keep = [True, False, True]
    return (lambda x: x * badak.tensor(keep)), lambda: keep.__setitem__(1, True)


@way
def a_tensor_from_nested_lists():
    rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    return (lambda x: x * badak.tensor(rows)), lambda: rows[1].__setitem__(2, 0.0)


@way
def a_list_of_shapes():
    shape = [2, 3]
    return (lambda x: x.reshape(shape)), lambda: shape.__setitem__(slice(None), [3, 2])


@way
def a_keys_view_that_is_kept():
    table = {"a": 1}
    keys = table.keys()
    return (lambda x: x * len(keys)), lambda: table.update(b=2)


@way
def an_items_iterator_per_call():
    table = {"a": 1.0, "b": 2.0}

    def step(x):
        for value in table.values():
            x = x * value
        return x

    return step, lambda: table.update(b=3.0)


# ---------------------------------------------------------------- values


@way
def a_float_by_one_ulp():
    c = space(s=0.1)
    return (lambda x: x.double() * c.s), lambda: setattr(c, "s", math.nextafter(0.1, 1.0))


@way
def zero_and_minus_zero():
    c = space(s=0.0)
    return (lambda x: badak.tensor(1.0) / (x * 0 + 1).copysign(badak.tensor(c.s))), lambda: setattr(c, "s", -0.0)


@way
def a_nan_that_becomes_a_number():
    c = space(s=math.nan)
    return (lambda x: x * (1.0 if math.isnan(c.s) else c.s)), lambda: setattr(c, "s", 3.0)


@way
def a_nan_and_another_nan():
    c = [math.nan]
    return (lambda x: x * (2.0 if c[0] is math.nan else 1.0)), lambda: c.__setitem__(0, float("nan"))


@way
def true_and_one():
    c = space(s=True)
    return (lambda x: x * (2.0 if c.s is True else 5.0)), lambda: setattr(c, "s", 1)


@way
def one_and_one_point_zero():
    c = space(s=2)
    return (lambda x: badak.full((3,), c.s).to(badak.float32) * x if isinstance(c.s, float) else x), lambda: setattr(c, "s", 2.0)


@way
def an_integer_that_makes_another_dtype():
    c = space(s=2)
    return (lambda x: x.long() * c.s), lambda: setattr(c, "s", 2.0)


@way
def a_very_large_integer():
    c = space(s=2**70)
    return (lambda x: x * float(c.s % 97)), lambda: setattr(c, "s", 2**70 + 1)


@way
def a_complex_number():
    c = space(s=1 + 2j)
    return (lambda x: x * abs(c.s)), lambda: setattr(c, "s", 3 + 4j)


@way
def a_fraction():
    c = space(s=fractions.Fraction(1, 3))
    return (lambda x: x * float(c.s)), lambda: setattr(c, "s", fractions.Fraction(2, 3))


@way
def a_decimal():
    c = space(s=decimal.Decimal("0.1"))
    return (lambda x: x * float(c.s)), lambda: setattr(c, "s", decimal.Decimal("0.2"))


@way
def a_text_of_the_same_length():
    c = space(act="relu")
    return (lambda x: getattr(F, c.act)(x - 2)), lambda: setattr(c, "act", "silu")


@way
def a_text_in_an_equation():
    c = ["ij,ij->i"]
    return (lambda x: badak.einsum(c[0], x, x)), lambda: c.__setitem__(0, "ij,ij->j")


@way
def bytes_that_change():
    c = space(raw=b"\x01")
    return (lambda x: x * c.raw[0]), lambda: setattr(c, "raw", b"\x04")


@way
def none_and_a_number():
    c = space(clip=None)
    return (lambda x: x if c.clip is None else x.clamp(max=c.clip)), lambda: setattr(c, "clip", 2.0)


@way
def an_ellipsis_for_a_default():
    c = space(s=...)
    return (lambda x: x if c.s is ... else x * 3), lambda: setattr(c, "s", None)


@way
def an_object_at_the_same_address():
    class Box:
        def __init__(self, s):
            self.s = s

    held = [Box(1.0)]

    def change():
        held.clear()
        gc.collect()
        held.append(Box(2.0))

    return (lambda x: x * held[0].s), change


@way
def a_function_at_the_same_address():
    held = {}

    def make(s):
        held.clear()
        gc.collect()
        held["f"] = lambda x: x * s

    make(1.0)
    return (lambda x: held["f"](x)), lambda: make(2.0)


@way
def the_id_of_an_object():
    c = space(o=object())
    kept = [c.o]
    return (lambda x: x * (1.0 if id(c.o) == id(kept[0]) else 2.0)), lambda: setattr(c, "o", object())


@way
def an_enum_by_its_value():
    class Mode(enum.IntEnum):
        LOW = 1
        HIGH = 3

    c = space(mode=Mode.LOW)
    return (lambda x: x * c.mode), lambda: setattr(c, "mode", Mode.HIGH)


@way
def a_flag_of_an_enum():
    class Use(enum.Flag):
        A = enum.auto()
        B = enum.auto()

    c = space(use=Use.A)
    return (lambda x: x * 2 if Use.B in c.use else x), lambda: setattr(c, "use", c.use | Use.B)


@way
def a_frozen_dataclass_that_is_written_past():
    @dataclasses.dataclass(frozen=True)
    class Config:
        s: float = 1.0

    c = Config()
    return (lambda x: x * c.s), lambda: object.__setattr__(c, "s", 2.0)


@way
def a_field_of_a_dataclass_with_a_factory():
    @dataclasses.dataclass
    class Config:
        weights: list = dataclasses.field(default_factory=lambda: [1.0])

    c = Config()
    return (lambda x: x * sum(getattr(c, f.name)[0] for f in dataclasses.fields(c))), lambda: c.weights.__setitem__(0, 2.0)


@way
def a_nested_dataclass_replaced():
    @dataclasses.dataclass(frozen=True)
    class Inner:
        s: float = 1.0

    @dataclasses.dataclass
    class Outer:
        inner: Inner

    c = Outer(Inner())
    return (lambda x: x * c.inner.s), lambda: setattr(c, "inner", dataclasses.replace(c.inner, s=2.0))


# ---------------------------------------------------------------- functions


@way
def a_cache_of_results_with_a_reader():
    c = space(s=1.0)

    @functools.cache
    def scale(n):
        return c.s * n

    def change():
        c.s = 3.0
        scale.cache_clear()

    return (lambda x: x * scale(2)), change


@way
def a_cache_that_hides_a_change():
    c = space(s=1.0)
    scale = functools.cache(lambda: c.s)
    return (lambda x: x * scale()), lambda: setattr(c, "s", 9.0)


@way
def a_cached_property_that_is_written():
    class Config:
        s = 1.0

        @functools.cached_property
        def twice(self):
            return self.s * 2

    c = Config()
    return (lambda x: x * c.twice), lambda: c.__dict__.update(twice=5.0)


@way
def a_cached_property_that_hides_a_change():
    class Config:
        s = 1.0

        @functools.cached_property
        def twice(self):
            return self.s * 2

    c = Config()
    return (lambda x: x * c.twice), lambda: setattr(c, "s", 9.0)


@way
def a_dispatch_by_method():
    class Config:
        @functools.singledispatchmethod
        def scale(self, value):
            return 1.0

    c = Config()
    return (lambda x: x * c.scale(3)), lambda: Config.__dict__["scale"].register(int, lambda self, value: 4.0)


@way
def keyword_defaults_replaced():
    def h(x, *, s=1.0):
        return x * s

    return (lambda x: h(x)), lambda: setattr(h, "__kwdefaults__", {"s": 2.0})


@way
def a_default_of_a_method():
    class Scale:
        def __call__(self, x, s=1.0):
            return x * s

    scale = Scale()
    return (lambda x: scale(x)), lambda: setattr(Scale.__call__, "__defaults__", (3.0,))


@way
def a_default_of_init():
    class Scale:
        def __init__(self, s=1.0):
            self.s = s

    return (lambda x: x * Scale().s), lambda: setattr(Scale.__init__, "__defaults__", (3.0,))


@way
def a_cell_written_from_outside():
    def outer():
        s = 1.0
        return lambda x: x * s

    h = outer()
    return (lambda x: h(x)), lambda: setattr(h.__closure__[0], "cell_contents", 2.0)


@way
def a_cell_of_the_step_itself():
    def outer():
        s = 1.0
        return lambda x: x * s

    step = outer()
    return step, lambda: setattr(step.__closure__[0], "cell_contents", 2.0)


@way
def a_cell_two_functions_share():
    s = 1.0

    def bump():
        nonlocal s
        s += 1

    def read():
        return s

    return (lambda x: x * read()), bump


@way
def a_partial_whose_keywords_change():
    scale = functools.partial(lambda x, s: x * s, s=1.0)
    return (lambda x: scale(x)), lambda: scale.keywords.update(s=2.0)


@way
def a_partial_of_a_partial():
    c = [1.0]
    inner = functools.partial(lambda c, t, x: x * c[0] + t, c)
    outer = functools.partial(inner, 1.0)
    return (lambda x: outer(x)), lambda: c.__setitem__(0, 2.0)


@way
def a_lambda_in_a_dict():
    table = {"act": lambda x: x}
    return (lambda x: table["act"](x)), lambda: table.update(act=lambda x: x * 2)


@way
def a_wrapped_function_of_a_decorator():
    def timed(f):
        @functools.wraps(f)
        def inner(*args, **words):
            inner.calls += 1
            return f(*args, **words)

        inner.calls = 0
        return inner

    h = timed(lambda x: x * 2)

    def step(x):
        return h(x)

    step.seen = lambda: h.calls
    return step, nothing


@way
def a_decorator_with_an_option():
    options = {"scale": 1.0}

    def scaled(name):
        def around(f):
            return lambda *args: f(*args) * options[name]

        return around

    h = scaled("scale")(lambda x: x + 1)
    return (lambda x: h(x)), lambda: options.update(scale=2.0)


@way
def star_arguments():
    extra = (1.0,)
    words = {"s": 1.0}

    def h(x, *values, **more):
        return x * (sum(values) + more["s"])

    def step(x):
        return h(x, *extra, **words)

    return step, lambda: words.update(s=4.0)


@way
def compiled_text_that_is_evaluated():
    c = space(code=compile("x * 2", "rule", "eval"))

    def step(x):
        return eval(c.code, {"x": x})

    return step, lambda: setattr(c, "code", compile("x * 5", "rule", "eval"))


@way
def text_that_is_evaluated_with_names():
    names = {"s": 1.0}
    return (lambda x: x * eval("s + 1", names)), lambda: names.update(s=2.0)


@way
def text_that_is_executed():
    source = ["y = x * 2"]

    def step(x):
        found = {"x": x}
        exec(source[0], found)
        return found["y"]

    return step, lambda: source.__setitem__(0, "y = x * 3")


@way
def a_built_in_that_is_replaced():
    step, names = in_globals("def step(x): return x * max(1.0, 2.0)")
    return step, lambda: names.update(max=lambda a, b: 9.0)


@way
def a_built_in_of_all_that_is_replaced():
    kept = builtins.max

    def step(x):
        return x * max(1.0, 2.0)

    step.undo = lambda: setattr(builtins, "max", kept)
    return step, lambda: setattr(builtins, "max", lambda *a, **k: 9.0 if a == (1.0, 2.0) else kept(*a, **k))


@way
def an_operator_in_a_table():
    table = {"op": operator.add}
    return (lambda x: table["op"](x, 2.0)), lambda: table.update(op=operator.mul)


@way
def an_item_getter_over_a_list():
    values, get = [1.0, 2.0], operator.itemgetter(1)
    return (lambda x: x * get(values)), lambda: values.__setitem__(1, 5.0)


@way
def a_method_of_another_object():
    class A:
        s = 1.0

        def scale(self, x):
            return x * self.s

    a, b = A(), A()
    b.s = 3.0
    c = space(f=a.scale)
    return (lambda x: c.f(x)), lambda: setattr(c, "f", b.scale)


@way
def a_bound_method_as_a_class_attribute():
    class A:
        s = 1.0

        def scale(self, x):
            return x * self.s

    a = A()

    class B:
        go = a.scale

    b = B()
    return (lambda x: b.go(x)), lambda: setattr(a, "s", 2.0)


@way
def a_module_of_its_own():
    one, two = types.ModuleType("badak_third_one"), types.ModuleType("badak_third_two")
    two.S = 1.0
    one.two = two
    sys.modules.update(badak_third_one=one, badak_third_two=two)
    step, _ = in_globals("import badak_third_one as m\ndef step(x): return x * m.two.S")
    return step, lambda: setattr(two, "S", 3.0)


@way
def globals_by_their_function():
    step, names = in_globals("S = 1.0\ndef step(x): return x * globals()['S']")
    return step, lambda: names.update(S=2.0)


@way
def the_code_of_the_step():
    def step(x):
        return x * 2

    def other(x):
        return x * 3

    return step, lambda: setattr(step, "__code__", other.__code__)


@way
def a_recursion_whose_depth_changes():
    c = space(depth=2)

    def h(x, n):
        return x if n == 0 else h(x * 2, n - 1)

    return (lambda x: h(x, c.depth)), lambda: setattr(c, "depth", 4)


@way
def an_assertion_of_a_value():
    c = space(limit=10)

    def step(x):
        assert c.limit > 5, "too small"
        return x * 2

    return step, lambda: setattr(c, "limit", 1)


@way
def an_error_that_is_counted():
    failures = []

    def step(x):
        try:
            raise ValueError(len(failures))
        except ValueError as error:
            failures.append(error.args[0])
        return x * 2

    step.seen = lambda: list(failures)
    return step, nothing


@way
def a_shape_error_caught():
    w = [badak.ones(3)]

    def step(x):
        try:
            return x @ w[0]
        except RuntimeError:
            return x * -1

    return step, lambda: w.__setitem__(0, badak.ones(5))


@way
def what_finally_does():
    done = []

    def step(x):
        try:
            return x * 2
        finally:
            done.append(1)

    step.seen = lambda: len(done)
    return step, nothing


# ---------------------------------------------------------------- iterators


@way
def a_generator_between_calls():
    def scales():
        s = 1.0
        while True:
            yield s
            s += 1

    source = scales()
    return (lambda x: x * next(source)), nothing


@way
def a_cycle_of_layers():
    badak.manual_seed(0)
    turn = itertools.cycle([nn.Linear(3, 3), nn.Linear(3, 3)])
    return (lambda x: next(turn)(x).detach()), nothing


@way
def a_count_behind_a_class():
    class Names:
        ids = itertools.count()

    def step(x):
        return x * 2 if next(Names.ids) < 6 else x

    return step, nothing


@way
def an_accumulated_schedule():
    schedule = iter(list(itertools.accumulate([1.0] * 40)))
    return (lambda x: x * next(schedule)), nothing


@way
def a_reversed_list_that_is_kept():
    values = [1.0] * 30
    back = reversed(values)
    return (lambda x: x * next(back, 5.0)), lambda: values.__setitem__(slice(None), [3.0] * 30)


@way
def an_iterator_through_islice():
    source = itertools.count()
    return (lambda x: x * sum(itertools.islice(source, 2))), nothing


@way
def an_iterator_of_a_data_loader():
    from badak.utils.data import DataLoader

    badak.manual_seed(0)
    loader = iter(DataLoader([badak.tensor(float(i)) for i in range(40)], batch_size=1))
    return (lambda x: x * next(loader)), nothing


# ---------------------------------------------------------------- the surroundings


@way
def a_context_variable_that_is_reset():
    scale = contextvars.ContextVar("scale", default=1.0)
    return (lambda x: x * scale.get()), lambda: scale.set(2.0)


@way
def a_local_of_the_thread():
    local = threading.local()
    local.s = 1.0
    return (lambda x: x * local.s), lambda: setattr(local, "s", 2.0)


@way
def the_name_of_the_thread():
    thread = threading.current_thread()
    kept = thread.name

    def step(x):
        return x * len(threading.current_thread().name)

    step.undo = lambda: setattr(thread, "name", kept)
    return step, lambda: setattr(thread, "name", "another-name")


@way
def an_environment_variable_in_a_helper():
    def scale():
        return float(os.environ.get("BADAK_THIRD_SCALE", "1"))

    step = lambda x: x * scale()
    step.undo = lambda: os.environ.pop("BADAK_THIRD_SCALE", None)
    return step, lambda: os.environ.update(BADAK_THIRD_SCALE="2")


@way
def an_environment_variable_that_goes():
    os.environ["BADAK_THIRD_GONE"] = "1"
    step = lambda x: x * 2 if "BADAK_THIRD_GONE" in os.environ else x
    step.undo = lambda: os.environ.pop("BADAK_THIRD_GONE", None)
    return step, lambda: os.environ.pop("BADAK_THIRD_GONE")


@way
def a_clock_of_the_process():
    start = time.monotonic()
    return (lambda x: x * (1.0 if time.monotonic() >= start else 2.0)), nothing


@way
def a_file_that_is_read():
    handle, path = tempfile.mkstemp()
    os.write(handle, b"1.0")
    os.close(handle)

    def step(x):
        with open(path) as file:
            return x * float(file.read())

    def change():
        with open(path, "w") as file:
            file.write("2.0")

    step.undo = lambda: os.path.exists(path) and os.remove(path)
    return step, change


@way
def a_file_that_is_there():
    path = os.path.join(tempfile.gettempdir(), f"badak_third_{os.getpid()}")
    step = lambda x: x * 2 if os.path.exists(path) else x
    step.undo = lambda: os.path.exists(path) and os.remove(path)
    return step, lambda: open(path, "w").close()


@way
def a_text_buffer_that_is_written():
    out = io.StringIO()
    step = lambda x: (out.write("."), x * 2)[1]
    step.seen = lambda: out.getvalue()
    return step, nothing


@way
def a_print_to_a_file():
    out = io.StringIO()

    def step(x):
        print("shape", x.shape, file=out)
        return x * 2

    step.seen = lambda: len(out.getvalue())
    return step, nothing


@way
def a_redirected_print():
    out = io.StringIO()

    def step(x):
        with contextlib.redirect_stdout(out):
            print(x.shape)
        return x * 2

    step.seen = lambda: len(out.getvalue())
    return step, nothing


@way
def a_level_of_logging():
    log = logging.getLogger("badak_third")
    log.setLevel(logging.WARNING)
    return (lambda x: x * 2 if log.isEnabledFor(logging.DEBUG) else x), lambda: log.setLevel(logging.DEBUG)


@way
def a_handler_of_logging():
    log = logging.getLogger("badak_third_handler")
    log.propagate = False
    told = []

    class Keep(logging.Handler):
        def emit(self, record):
            told.append(record.getMessage())

    log.addHandler(Keep())

    def step(x):
        log.warning("step")
        return x * 2

    step.seen = lambda: len(told)
    step.undo = log.handlers.clear
    return step, nothing


@way
def a_warning_in_the_step():
    told = []

    def step(x):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            warnings.warn("often", stacklevel=1)
        told.extend(seen)
        return x * 2

    step.seen = lambda: len(told)
    return step, nothing


@way
def a_warning_that_becomes_an_error():
    kept = list(warnings.filters)

    def step(x):
        try:
            warnings.warn("badak third", UserWarning, stacklevel=1)
        except UserWarning:
            return x * 3
        return x

    step.undo = lambda: warnings.filters.__setitem__(slice(None), kept)
    return step, lambda: warnings.filterwarnings("error", "badak third")


@way
def chance_of_a_generator_object():
    chance = random.Random(3)
    return (lambda x: x * chance.random()), nothing


@way
def chance_behind_a_method():
    class Drop:
        def __init__(self):
            self.chance = np.random.RandomState(3)

        def __call__(self, x):
            return x if self.chance.rand() < 0.7 else x * 0

    drop = Drop()
    return (lambda x: drop(x)), nothing


@way
def chance_of_the_system():
    chance = random.SystemRandom()
    return (lambda x: x * (1.0 if chance.random() < 2 else 0.0)), nothing


@way
def chance_of_a_generator_of_badak():
    generator = badak.Generator()
    generator.manual_seed(5)
    return (lambda x: x + badak.rand(3, generator=generator)), lambda: generator.manual_seed(9)


@way
def chance_that_decides_by_a_tensor():
    badak.manual_seed(3)
    return (lambda x: x * 2 if badak.rand(1).item() < 0.5 else x), nothing


# ---------------------------------------------------------------- arrays of NumPy


@way
def an_array_written_in_place():
    table = np.ones(3, np.float32)
    return (lambda x: x * badak.from_numpy(table)), lambda: np.multiply(table, 2, out=table)


@way
def an_array_that_tensor_copies():
    table = np.ones(3, np.float32)
    return (lambda x: x * badak.tensor(table)), lambda: table.fill(4)


@way
def an_array_written_through_a_view():
    table = np.ones((3, 3), np.float32)
    row = table[1]
    return (lambda x: x * badak.as_tensor(row)), lambda: table.__setitem__((1, 2), 7)


@way
def another_dtype_of_an_array():
    c = space(t=np.ones(3, np.float32))
    return (lambda x: x * badak.from_numpy(c.t)), lambda: setattr(c, "t", np.ones(3, np.float64))


@way
def the_shape_of_an_array_in_place():
    table = np.arange(6, dtype=np.float32)
    return (lambda x: x * table.ndim), lambda: setattr(table, "shape", (2, 3))


@way
def whether_an_array_may_be_written():
    table = np.ones(3)
    return (lambda x: x * 2 if table.flags.writeable else x), lambda: table.setflags(write=False)


@way
def a_mapped_file():
    handle, path = tempfile.mkstemp()
    os.close(handle)
    table = np.memmap(path, np.float32, "w+", shape=(3,))
    table[:] = 1
    step = lambda x: x * float(table[0])
    step.undo = lambda: os.path.exists(path) and os.remove(path)
    return step, lambda: table.__setitem__(0, 2)


@way
def a_scalar_of_the_library():
    c = space(s=np.float32(1))
    return (lambda x: x * float(c.s)), lambda: setattr(c, "s", np.float32(2))


@way
def an_array_of_no_dimension():
    s = np.array(1.0)
    return (lambda x: x * s.item()), lambda: s.__setitem__((), 3.0)


@way
def an_array_of_texts():
    names = np.array(["relu", "tanh"])
    return (lambda x: getattr(badak, str(names[0]))(x - 2)), lambda: names.__setitem__(0, "tanh")


@way
def a_tensor_over_an_array_of_the_program():
    table = np.ones(3, np.float32)
    w = badak.from_numpy(table)
    return (lambda x: x * w), lambda: table.fill(3)


# ---------------------------------------------------------------- tensors


@way
def a_tensor_written_by_copy():
    w = badak.ones(3)
    return (lambda x: x * w), lambda: w.copy_(badak.arange(3.0))


@way
def a_tensor_written_through_a_view():
    w = badak.ones(3, 3)
    row = w[0]
    return (lambda x: x @ w), lambda: row.fill_(5)


@way
def a_tensor_whose_data_is_another():
    w = badak.ones(3)
    return (lambda x: x * w), lambda: setattr(w, "data", badak.full((3,), 3.0))


@way
def a_tensor_whose_data_has_another_shape():
    w = badak.ones(3)
    return (lambda x: x * w), lambda: setattr(w, "data", badak.full((1,), 3.0))


@way
def a_tensor_whose_data_has_another_dtype():
    w = badak.ones(3)
    return (lambda x: x * w), lambda: setattr(w, "data", badak.full((3,), 3.0, dtype=badak.float64))


@way
def a_tensor_that_is_resized():
    w = badak.ones(1, 3)
    return (lambda x: (x * w).sum(0)), lambda: w.resize_(2, 3).fill_(2)


@way
def a_tensor_that_is_turned_in_place():
    w = badak.arange(9.0).reshape(3, 3)
    return (lambda x: x @ w), lambda: w.t_()


@way
def a_scalar_tensor_read_by_item():
    w = badak.tensor(1.0)
    return (lambda x: x * w.item()), lambda: w.fill_(2.0)


@way
def a_scalar_tensor_that_decides():
    w = badak.tensor(1.0)
    return (lambda x: x * 2 if w > 1.5 else x), lambda: w.fill_(2.0)


@way
def a_tensor_as_a_shape():
    n = badak.tensor(2)
    return (lambda x: x.repeat(int(n), 1)), lambda: n.fill_(3)


@way
def a_tensor_that_begins_to_want_a_gradient():
    w = badak.ones(3)

    def step(x):
        y = (x * w).sum()
        return y.detach() if y.requires_grad else y * 2

    return step, lambda: w.requires_grad_()


@way
def a_gradient_that_the_program_sets():
    w = nn.Parameter(badak.ones(3))
    w.grad = badak.ones(3)
    return (lambda x: x * w.grad), lambda: setattr(w, "grad", badak.full((3,), 2.0))


@way
def a_gradient_that_is_none():
    w = nn.Parameter(badak.ones(3))
    return (lambda x: x if w.grad is None else x * w.grad), lambda: setattr(w, "grad", badak.full((3,), 2.0))


@way
def an_attribute_of_a_tensor():
    w = badak.ones(3)
    w.scale = 1.0
    return (lambda x: x * w * w.scale), lambda: setattr(w, "scale", 2.0)


@way
def a_subclass_of_tensors_with_state():
    class Scaled(badak.Tensor):
        factor = 1.0

        @classmethod
        def __torch_function__(cls, function, kinds, args=(), kwargs=None):
            result = super().__torch_function__(function, kinds, args, kwargs or {})
            return result * cls.factor if function is badak.add else result

    w = badak.ones(3).as_subclass(Scaled)
    return (lambda x: badak.add(w, x).as_subclass(badak.Tensor) * 1), lambda: setattr(Scaled, "factor", 2.0)


@way
def a_subclass_of_tensors_that_counts():
    told = []

    class Told(badak.Tensor):
        @classmethod
        def __torch_function__(cls, function, kinds, args=(), kwargs=None):
            told.append(getattr(function, "__name__", "?"))
            return super().__torch_function__(function, kinds, args, kwargs or {})

    w = badak.ones(3).as_subclass(Told)
    step = lambda x: badak.add(w, x).as_subclass(badak.Tensor)
    step.seen = lambda: len(told)
    return step, nothing


@way
def a_storage_that_two_share():
    a = badak.ones(3)
    b = badak.ones(3)
    return (lambda x: x * b), lambda: (b.set_(a), a.fill_(4))


@way
def a_tensor_made_without_a_gradient():
    w = nn.Parameter(badak.ones(3))
    kept = space(d=w.detach())
    return (lambda x: x * kept.d), lambda: w.data.fill_(3.0)


@way
def a_number_of_rows_that_depends_on_values():
    w = badak.arange(3.0)
    return (lambda x: x[:, w > 0].sum(1) * (w > 0).sum()), lambda: w.fill_(1)


@way
def a_step_given_to_a_tensor():
    c = space(k=0)
    return (lambda x: x.topk(c.k + 1).values), lambda: setattr(c, "k", 1)


# ---------------------------------------------------------------- modules


@way
def a_child_that_goes_to_evaluation():
    drop = nn.Dropout(0.5)
    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(drop))

    def step(x):
        badak.manual_seed(1)
        return model(x).detach()

    return step, drop.eval


@way
def a_rate_of_dropout():
    drop = nn.Dropout(0.5)

    def step(x):
        badak.manual_seed(1)
        return drop(x)

    return step, lambda: setattr(drop, "p", 0.1)


@way
def a_training_flag_read_by_forward():
    model = net(lambda self, x: self.layer(x) * (2 if self.training else 1))
    return evaluated(model), model.eval


@way
def a_training_flag_past_setattr():
    model = net(lambda self, x: self.layer(x) * (2 if self.training else 1))
    return evaluated(model), lambda: model.__dict__.update(training=False)


@way
def a_hook_that_goes():
    model = net(lambda self, x: self.layer(x))
    hook = model.layer.register_forward_hook(lambda m, a, y: y * 2)
    return evaluated(model), hook.remove


@way
def a_hook_before_that_comes():
    model = net(lambda self, x: self.layer(x))
    return evaluated(model), lambda: model.layer.register_forward_pre_hook(lambda m, a: (a[0] * 2,))


@way
def a_hook_of_all_modules():
    model = net(lambda self, x: self.layer(x))
    held = []
    step = lambda x: model(x).detach()
    step.undo = lambda: [h.remove() for h in held]
    change = lambda: held.append(nn.modules.module.register_module_forward_hook(lambda m, a, y: y * 2))
    return step, change


@way
def a_hook_of_a_gradient():
    model = net(lambda self, x: self.layer(x))
    step, _ = training(model)
    return step, lambda: model.layer.weight.register_hook(lambda g: g * 2)


@way
def a_hook_after_accumulating():
    model = net(lambda self, x: self.layer(x))
    step, _ = training(model)
    return step, lambda: model.layer.weight.register_post_accumulate_grad_hook(lambda p: (p.grad.zero_(), None)[1])


@way
def a_hook_that_keeps_what_it_sees():
    kept = []
    model = net(lambda self, x: self.layer(x))
    model.layer.register_forward_hook(lambda m, a, y: kept.append(y.detach().sum().item()))
    step = lambda x: model(x).detach()
    step.seen = lambda: list(kept)
    return step, nothing


@way
def a_hook_of_a_parameterization():
    model = net(lambda self, x: self.layer(x))
    return evaluated(model), lambda: nn.utils.parametrizations.weight_norm(model.layer)


@way
def a_buffer_that_is_swapped():
    model = net(lambda self, x: self.layer(x) * self.scale)
    model.register_buffer("scale", badak.ones(3))
    return evaluated(model), lambda: setattr(model, "scale", badak.full((3,), 2.0))


@way
def a_buffer_in_the_dict_of_buffers():
    model = net(lambda self, x: self.layer(x) * self.scale)
    model.register_buffer("scale", badak.ones(3))
    return evaluated(model), lambda: model._buffers.update(scale=badak.full((3,), 2.0))


@way
def a_parameter_in_the_dict_of_parameters():
    model = net(lambda self, x: self.layer(x))
    return evaluated(model), lambda: model.layer._parameters.update(bias=None)


@way
def a_parameter_that_is_replaced():
    model = net(lambda self, x: self.layer(x))
    step, _ = training(model)
    return step, lambda: setattr(model.layer, "weight", nn.Parameter(badak.ones(3, 3)))


@way
def a_parameter_that_is_frozen():
    model = net(lambda self, x: self.layer(x))
    step, _ = training(model)
    return step, lambda: model.layer.weight.requires_grad_(False)


@way
def a_module_frozen_as_a_whole():
    model = net(lambda self, x: self.children_[0](self.layer(x)), nn.Linear(3, 3))
    step, _ = training(model)
    return step, lambda: model.children_[0].requires_grad_(False)


@way
def a_module_that_is_added():
    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3))
    return evaluated(model), lambda: model.add_module("after", nn.ReLU())


@way
def a_module_that_is_inserted():
    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    return evaluated(model), lambda: model.insert(1, nn.Tanh())


@way
def a_module_that_is_deleted():
    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    return evaluated(model), lambda: model.__delitem__(1)


@way
def weights_that_become_tied():
    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    step, _ = training(model)
    return step, lambda: setattr(model[1], "weight", model[0].weight)


@way
def weights_that_were_tied():
    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    step, _ = training(model)
    return step, lambda: setattr(model[1], "weight", nn.Parameter(model[0].weight.detach().clone()))


@way
def an_activation_that_is_swapped():
    model = net(lambda self, x: self.act(self.layer(x)), act=nn.ReLU())
    return evaluated(model), lambda: setattr(model, "act", nn.Tanh())


@way
def an_activation_function_that_is_swapped():
    model = net(lambda self, x: self.act(self.layer(x)), act=F.relu)
    return evaluated(model), lambda: setattr(model, "act", F.gelu)


@way
def weights_that_are_loaded():
    model = net(lambda self, x: self.layer(x))
    other = {k: v * 2 for k, v in model.state_dict().items()}
    return evaluated(model), lambda: model.load_state_dict(other)


@way
def weights_that_are_assigned():
    model = net(lambda self, x: self.layer(x))
    other = {k: v * 2 for k, v in model.state_dict().items()}
    return evaluated(model), lambda: model.load_state_dict(other, assign=True)


@way
def a_model_that_goes_to_double():
    model = net(lambda self, x: self.layer(x.to(self.layer.weight.dtype)))
    return evaluated(model), model.double


@way
def how_norm_averages():
    norm = nn.BatchNorm1d(3)
    return (lambda x: norm(x).detach() + norm.running_mean), lambda: setattr(norm, "momentum", 0.9)


@way
def how_norm_is_kept_from_zero():
    norm = nn.LayerNorm(3)
    return evaluated(norm), lambda: setattr(norm, "eps", 1.0)


@way
def early_exits_by_a_value():
    layers = [nn.Linear(3, 3) for _ in range(3)]
    limit = [100.0]
    badak.manual_seed(0)

    def step(x):
        for layer in layers:
            x = layer(x)
            if x.abs().max() > limit[0]:
                break
        return x.detach()

    return step, lambda: limit.__setitem__(0, 0.0)


@way
def layers_dropped_by_chance():
    def forward(self, x):
        for child in self.children_:
            if not self.training or badak.rand(()).item() < 0.6:
                x = x + child(x)
        return x

    model = net(forward, nn.Linear(3, 3), nn.Linear(3, 3))
    return evaluated(model), nothing


@way
def a_schedule_within_the_module():
    def forward(self, x):
        self.at += 1
        return self.layer(x) * min(1.0, self.at / 6)

    return evaluated(net(forward, at=0)), nothing


@way
def what_a_module_keeps_for_later():
    def forward(self, x):
        self.kept = x.sum()
        return self.layer(x)

    model = net(forward)
    step = lambda x: model(x).detach()
    step.seen = lambda: float(model.kept)
    return step, nothing


@way
def a_memo_by_shape_in_a_module():
    def forward(self, x):
        key = tuple(x.shape)
        if key not in self.memo:
            self.memo[key] = badak.ones(x.shape) * len(self.memo)
        return self.layer(x) + self.memo[key]

    model = net(forward, memo={})
    return evaluated(model), lambda: model.memo.update({(2, 3): badak.full((2, 3), 9.0)})


@way
def a_forward_of_the_class_replaced():
    model = net(lambda self, x: self.layer(x))
    return evaluated(model), lambda: setattr(type(model), "forward", lambda self, x: self.layer(x) * 2)


@way
def another_class_for_a_module():
    model = net(lambda self, x: self.layer(x))
    other = type("Other", (type(model),), {"forward": lambda self, x: self.layer(x) * 3})
    return evaluated(model), lambda: setattr(model, "__class__", other)


@way
def a_property_of_a_module():
    model = net(lambda self, x: self.layer(x) * self.scale, level=1)
    type(model).scale = property(lambda self: 2.0**self.level)
    return evaluated(model), lambda: setattr(model, "level", 3)


@way
def a_module_that_is_copied_into_place():
    holder = space(model=net(lambda self, x: self.layer(x)))

    def change():
        holder.model = copy.deepcopy(holder.model)
        holder.model.layer.bias.data.fill_(4)

    return (lambda x: holder.model(x).detach()), change


@way
def two_objects_with_one_compiled_method():
    class Scale:
        def __init__(self, s):
            self.s = s

        def step(self, x):
            return x * self.s

    one, two = Scale(1.0), Scale(2.0)
    now = [one]
    step = lambda x, who: Scale.step(who, x)
    return (step, lambda x: ((x, now[0]), {})), lambda: now.__setitem__(0, two)


@way
def a_compiled_step_in_a_compiled_step():
    c = space(s=1.0)
    inner = badak.compile(lambda x: x * c.s)
    return (lambda x: inner(x) + 1), lambda: setattr(c, "s", 2.0)


@way
def a_compiled_module_in_a_step():
    c = space(s=1.0)
    model = net(lambda self, x: self.layer(x) * c.s)
    compiled = badak.compile(model)

    def step(x):
        with badak.no_grad():
            return compiled(x)

    return step, lambda: setattr(c, "s", 2.0)


@way
def a_checkpoint_with_state():
    c = space(s=1.0)
    model = net(lambda self, x: badak.utils.checkpoint.checkpoint(lambda h: self.layer(h) * c.s, x, use_reentrant=False))
    step, _ = training(model)
    return step, lambda: setattr(c, "s", 2.0)


@way
def a_function_with_state_in_backward():
    c = space(s=1.0)

    class Scale(badak.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, dy):
            return dy * c.s

    w = nn.Parameter(badak.ones(3))

    def step(x):
        w.grad = None
        Scale.apply(w * x).sum().backward()
        return w.grad.clone()

    return step, lambda: setattr(c, "s", 2.0)


@way
def a_call_of_a_module_with_other_weights():
    badak.manual_seed(0)
    layer = nn.Linear(3, 3)
    weights = {k: v.detach().clone() for k, v in layer.named_parameters()}
    return (lambda x: badak.func.functional_call(layer, weights, (x,)).detach()), lambda: weights.update(bias=badak.ones(3))


@way
def a_map_over_examples_with_state():
    c = space(s=1.0)
    return (lambda x: badak.func.vmap(lambda row: row.sum() * c.s)(x)), lambda: setattr(c, "s", 3.0)


@way
def a_gradient_of_a_function_with_state():
    c = space(s=1.0)
    return (lambda x: badak.func.grad(lambda y: (y * y).sum() * c.s)(x)), lambda: setattr(c, "s", 3.0)


# ---------------------------------------------------------------- training


@way
def a_rate_in_the_groups():
    step, optimizer = training(net(lambda self, x: self.layer(x)))
    return step, lambda: optimizer.param_groups[0].update(lr=0.01)


@way
def a_decay_in_the_groups():
    step, optimizer = training(net(lambda self, x: self.layer(x)), kind=optim.AdamW)
    return step, lambda: optimizer.param_groups[0].update(weight_decay=0.5)


@way
def the_betas_in_the_groups():
    step, optimizer = training(net(lambda self, x: self.layer(x)), kind=optim.Adam)
    return step, lambda: optimizer.param_groups[0].update(betas=(0.5, 0.6))


@way
def a_group_that_is_added():
    model = net(lambda self, x: self.children_[0](self.layer(x)), nn.Linear(3, 3))
    model.children_[0].requires_grad_(False)
    step, optimizer = training(model)

    def change():
        model.children_[0].requires_grad_(True)
        optimizer.add_param_group({"params": list(model.children_[0].parameters()), "lr": 0.01})

    return step, change


@way
def a_state_of_an_optimizer_that_is_cleared():
    step, optimizer = training(net(lambda self, x: self.layer(x)), kind=optim.Adam)
    return step, optimizer.state.clear


@way
def a_state_of_an_optimizer_that_is_loaded():
    step, optimizer = training(net(lambda self, x: self.layer(x)), kind=optim.Adam)
    start = copy.deepcopy(optimizer.state_dict())
    return step, lambda: optimizer.load_state_dict(start)


@way
def a_parameter_out_of_the_groups():
    step, optimizer = training(net(lambda self, x: self.layer(x)))
    return step, lambda: optimizer.param_groups[0]["params"].pop()


@way
def a_group_of_parameters_that_had_gradients():
    model = net(lambda self, x: self.children_[0](self.layer(x)), nn.Linear(3, 3))
    optimizer = optim.SGD(model.layer.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        return model.children_[0].weight.grad.clone()

    return step, lambda: optimizer.add_param_group({"params": list(model.children_[0].parameters())})


@way
def a_hook_of_an_optimizer():
    model = net(lambda self, x: self.layer(x))
    step, optimizer = training(model)
    return step, lambda: optimizer.register_step_post_hook(lambda o, a, k: model.layer.weight.data.clamp_(-0.1, 0.1))


@way
def a_schedule_in_the_step():
    inner, optimizer = training(net(lambda self, x: self.layer(x)))
    schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1.0 if n < 5 else 0.1)

    def step(x):
        y = inner(x)
        schedule.step()
        return y

    step.seen = lambda: schedule.last_epoch
    return step, nothing


@way
def a_schedule_whose_rule_changes():
    inner, optimizer = training(net(lambda self, x: self.layer(x)))
    rule = {"f": 1.0}
    schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda n: rule["f"])

    def step(x):
        y = inner(x)
        schedule.step()
        return y

    return step, lambda: rule.update(f=0.1)


@way
def the_weights_of_two_losses():
    c = {"a": 1.0, "b": 0.0}
    step, _ = training(net(lambda self, x: self.layer(x)), loss=lambda y: c["a"] * y.square().mean() + c["b"] * y.abs().mean())
    return step, lambda: c.update(b=1.0)


@way
def a_loss_with_smoothing():
    criterion = nn.CrossEntropyLoss()
    y = badak.tensor([0, 1])
    step, _ = training(net(lambda self, x: self.layer(x)), loss=lambda out: criterion(out, y))
    return step, lambda: setattr(criterion, "label_smoothing", 0.3)


@way
def the_weights_of_the_classes():
    criterion = nn.CrossEntropyLoss(weight=badak.ones(3))
    y = badak.tensor([0, 1])
    step, _ = training(net(lambda self, x: self.layer(x)), loss=lambda out: criterion(out, y))
    return step, lambda: setattr(criterion, "weight", badak.tensor([1.0, 5.0, 1.0]))


@way
def how_a_loss_is_reduced():
    criterion = nn.MSELoss()
    step, _ = training(net(lambda self, x: self.layer(x)), loss=lambda out: criterion(out, out.detach() * 0))
    return step, lambda: setattr(criterion, "reduction", "sum")


@way
def gradients_kept_over_some_calls():
    model = net(lambda self, x: self.layer(x))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    c = space(n=0)

    def step(x):
        model(x).square().mean().backward()
        c.n += 1
        if c.n % 3 == 0:
            optimizer.step()
            optimizer.zero_grad()
        return model.layer.weight.detach().clone()

    return step, nothing


@way
def clipping_that_begins():
    model = net(lambda self, x: self.layer(x))
    c = space(clip=None)
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        if c.clip:
            nn.utils.clip_grad_norm_(model.parameters(), c.clip)
        optimizer.step()
        return model.layer.weight.detach().clone()

    return step, lambda: setattr(c, "clip", 0.01)


@way
def an_average_of_weights():
    model = net(lambda self, x: self.layer(x))
    inner, _ = training(model)
    average = optim.swa_utils.AveragedModel(model)

    def step(x):
        y = inner(x)
        average.update_parameters(model)
        return badak.cat([y, average.module.layer.weight.detach().flatten()])

    step.seen = lambda: int(average.n_averaged)
    return step, nothing


@way
def a_best_loss_kept_in_python():
    inner, _ = training(net(lambda self, x: self.layer(x)))
    best = [math.inf]

    def step(x):
        y = inner(x)
        if y[0].item() < best[0]:
            best[0] = y[0].item()
        return y

    step.seen = lambda: best[0]
    return step, nothing


@way
def a_history_of_losses_as_tensors():
    inner, _ = training(net(lambda self, x: self.layer(x)))
    history = []

    def step(x):
        y = inner(x)
        history.append(y[0])
        return y

    step.seen = lambda: [v.item() for v in history]
    return step, nothing


# ---------------------------------------------------------------- modes and settings


@way
def gradients_switched_off_between():
    w = nn.Parameter(badak.ones(3))

    def step(x):
        y = (x * w).sum()
        return badak.tensor(1.0) * (2.0 if y.requires_grad else 1.0) * y.detach()

    step.undo = lambda: badak.set_grad_enabled(True)
    return step, lambda: badak.set_grad_enabled(False)


@way
def a_mode_asked_by_its_name():
    step = lambda x: x * 2 if badak.is_grad_enabled() else x
    step.undo = lambda: badak.set_grad_enabled(True)
    return step, lambda: badak.set_grad_enabled(False)


@way
def autocast_by_a_flag():
    c = space(on=False)
    badak.manual_seed(0)
    layer = nn.Linear(3, 3)

    def step(x):
        with badak.autocast("cpu", enabled=c.on, dtype=badak.bfloat16):
            return layer(x).detach().float()

    return step, lambda: setattr(c, "on", True)


@way
def autocast_around_the_call():
    badak.manual_seed(0)
    layer = nn.Linear(3, 3)
    scope = badak.autocast("cpu", dtype=badak.bfloat16)
    entered = []

    def undo():
        if entered:
            scope.__exit__(None, None, None)
            entered.clear()

    step = lambda x: layer(x).detach().float()
    step.undo = undo
    return step, lambda: (scope.__enter__(), entered.append(1))


@way
def the_dtype_that_is_the_default():
    step = lambda x: badak.ones(2) * badak.tensor(0.1)
    step.undo = lambda: badak.set_default_dtype(badak.float32)
    return step, lambda: badak.set_default_dtype(badak.float64)


@way
def algorithms_that_must_be_deterministic():
    step = lambda x: x * 2 if badak.are_deterministic_algorithms_enabled() else x
    step.undo = lambda: badak.use_deterministic_algorithms(False)
    return step, lambda: badak.use_deterministic_algorithms(True)


@way
def the_number_of_threads():
    kept = badak.get_num_threads()
    step = lambda x: x * badak.get_num_threads()
    step.undo = lambda: badak.set_num_threads(kept)
    return step, lambda: badak.set_num_threads(1 if kept > 1 else 2)


@way
def the_precision_of_products():
    kept = badak.get_float32_matmul_precision()
    step = lambda x: x * len(badak.get_float32_matmul_precision())
    step.undo = lambda: badak.set_float32_matmul_precision(kept)
    return step, lambda: badak.set_float32_matmul_precision("medium" if kept != "medium" else "highest")


@way
def how_tensors_print():
    step = lambda x: x * len(str(badak.tensor([1.0, 2.0])))
    step.undo = lambda: badak.set_printoptions(profile="default")
    return step, lambda: badak.set_printoptions(precision=1, sci_mode=True)


@way
def a_seed_in_the_step():
    c = space(seed=1)

    def step(x):
        badak.manual_seed(c.seed)
        return x + badak.rand(3)

    return step, lambda: setattr(c, "seed", 2)


@way
def the_seed_between_calls():
    badak.manual_seed(7)
    return (lambda x: x + badak.rand(3)), lambda: badak.manual_seed(7)


@way
def the_state_of_chance_that_is_put_back():
    badak.manual_seed(7)
    state = badak.get_rng_state()
    return (lambda x: x + badak.rand(3)), lambda: badak.set_rng_state(state)


@way
def a_mode_of_functions():
    told = []

    class Tell(badak.overrides.TorchFunctionMode):
        def __torch_function__(self, function, kinds, args=(), kwargs=None):
            told.append(1)
            return function(*args, **(kwargs or {}))

    def step(x):
        with Tell():
            return badak.relu(x - 2)

    step.seen = lambda: len(told)
    return step, nothing


@way
def which_attention_is_allowed():
    cuda = badak.backends.cuda
    step = lambda x: x * 2 if cuda.flash_sdp_enabled() else x
    kept = cuda.flash_sdp_enabled()
    step.undo = lambda: cuda.enable_flash_sdp(kept)
    return step, lambda: cuda.enable_flash_sdp(not kept)


@way
def anomaly_that_is_watched():
    w = nn.Parameter(badak.ones(3))

    def step(x):
        w.grad = None
        ((w * 0).sqrt() * x).sum().backward()
        return w.grad.nan_to_num()

    step.undo = lambda: badak.autograd.set_detect_anomaly(False)
    return step, lambda: badak.autograd.set_detect_anomaly(True)


# ---------------------------------------------------------------- arguments


@way
def an_argument_of_another_length_in_a_list():
    xs = [badak.ones(3)]

    def step(x, many):
        for one in many:
            x = x + one
        return x

    return (step, lambda x: ((x, xs), {})), lambda: xs.append(badak.ones(3))


@way
def an_argument_that_is_a_dict():
    batch = {"a": 1.0}
    return ((lambda x, b: x * sum(b.values())), lambda x: ((x, batch), {})), lambda: batch.update(c=2.0)


@way
def an_argument_that_is_true_or_one():
    c = [True]
    return ((lambda x, flag: x * (2.0 if flag is True else 3.0)), lambda x: ((x, c[0]), {})), lambda: c.__setitem__(0, 1)


@way
def an_argument_of_minus_zero():
    c = [0.0]
    return ((lambda x, s: x * 0 + math.copysign(1.0, s)), lambda x: ((x, c[0]), {})), lambda: c.__setitem__(0, -0.0)


@way
def an_argument_given_by_name():
    c = [{"s": 1.0}]
    return ((lambda x, s=0.0, t=0.0: x * (s + 3 * t)), lambda x: ((x,), c[0])), lambda: c.__setitem__(0, {"t": 1.0})


@way
def an_argument_that_is_a_tensor_twice():
    c = [False]

    def step(a, b):
        a = a * 2
        return a + b

    def given(x):
        return ((x, x), {}) if c[0] else ((x, x.clone() + 1), {})

    return (step, given), lambda: c.__setitem__(0, True)


@way
def an_argument_that_is_a_view():
    base = badak.arange(12.0).reshape(4, 3)
    c = [base[:2]]
    return ((lambda x, v: x * v), lambda x: ((x, c[0]), {})), lambda: c.__setitem__(0, base[::2])


@way
def an_argument_that_wants_a_gradient():
    c = [False]

    def step(x, w):
        y = x * w
        return y.detach() * (2.0 if y.requires_grad else 1.0)

    return (step, lambda x: ((x, badak.ones(3).requires_grad_(c[0])), {})), lambda: c.__setitem__(0, True)


@way
def an_argument_that_is_a_module():
    badak.manual_seed(0)
    layers = [nn.Linear(3, 3), nn.Linear(3, 3)]
    return ((lambda x, m: m(x).detach()), lambda x: ((x, layers[0]), {})), layers.reverse


@way
def an_argument_that_is_a_range():
    c = [range(1)]

    def step(x, steps):
        for i in steps:
            x = x + i + 1
        return x

    return (step, lambda x: ((x, c[0]), {})), lambda: c.__setitem__(0, range(3))


@way
def an_argument_that_is_a_dtype():
    c = [badak.float32]
    return ((lambda x, d: x.to(d) * badak.tensor(0.1, dtype=d)), lambda x: ((x, c[0]), {})), lambda: c.__setitem__(0, badak.float64)


@way
def an_argument_of_data_class_with_a_tensor():
    @dataclasses.dataclass
    class Batch:
        x: badak.Tensor
        scale: float

    c = [1.0]
    return ((lambda x, b: b.x * b.scale), lambda x: ((x, Batch(x, c[0])), {})), lambda: c.__setitem__(0, 2.0)
