"""Ways in which a program changes between the calls of a step what the step reads, or does more than compute.

Each function gives (step, change): change() is called after five calls. The step as it is and the compiled one must give the same.
"""

import abc
import array
import collections
import contextlib
import contextvars
import copy
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import itertools
import json
import logging
import math
import operator
import os
import queue
import random
import re
import string
import sys
import threading
import time
import types
import typing
import weakref

import numpy as np

import badak
from badak import nn, optim
from badak.nn import functional as F

WAYS: dict = {}
space = types.SimpleNamespace


def way(function):
    WAYS[function.__name__] = function
    return function


def of_module(forward, **attributes):
    """A step that runs a module with this forward and these attributes, and the module."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)
            for name, value in attributes.items():
                setattr(self, name, value)

    Net.forward = forward
    badak.manual_seed(0)
    net = Net()
    return (lambda x: net(x).detach()), net


def in_globals(source: str, **names):
    """The step that a program text defines, and its globals."""
    own = {"badak": badak, "nn": nn, "F": F, **names}
    exec(source, own)
    return own["step"], own


# ---------------------------------------------------------------- containers


@way
def a_list_in_a_dict_in_a_list():
    c = [{"a": [1.0, 2.0]}]
    return (lambda x: x * c[0]["a"][1]), lambda: c[0]["a"].__setitem__(1, 5.0)


@way
def a_deque():
    c = collections.deque([1.0], maxlen=3)
    return (lambda x: x * c[-1]), lambda: c.append(4.0)


@way
def a_set():
    c = {"a"}
    return (lambda x: x * (2.0 if "b" in c else 1.0)), lambda: c.add("b")


@way
def the_length_of_a_set():
    c = set()
    return (lambda x: x * len(c)), lambda: c.add(1)


@way
def a_default_dict():
    c = collections.defaultdict(float)
    c["a"] = 1.0
    return (lambda x: x * c["a"]), lambda: c.update(a=3.0)


@way
def an_ordered_dict_whose_order_changes():
    c = collections.OrderedDict(a=2.0, b=3.0)

    def step(x):
        for value in c.values():
            x = (x + value) * value
        return x

    return step, lambda: c.move_to_end("a")


@way
def a_dict_whose_order_changes():
    c = {"a": 2.0, "b": 3.0}

    def step(x):
        for key in c:
            x = (x + 1) * c[key]
        return x

    return step, lambda: c.update(a=c.pop("a"))


@way
def a_key_with_the_same_value():
    c = {"a": 1.0}
    return (lambda x: x * 2 if "a" in c else x), lambda: c.update(b=c.pop("a"))


@way
def a_chain_map():
    one = {"s": 1.0}
    c = collections.ChainMap({}, one)
    return (lambda x: x * c["s"]), lambda: one.update(s=2.0)


@way
def a_mapping_proxy():
    one = {"s": 1.0}
    c = types.MappingProxyType(one)
    return (lambda x: x * c["s"]), lambda: one.update(s=2.0)


@way
def a_view_of_a_dict():
    one = {"s": 1.0}
    values = one.values()
    return (lambda x: x * sum(values)), lambda: one.update(t=2.0)


@way
def a_user_dict():
    c = collections.UserDict(s=1.0)
    return (lambda x: x * c["s"]), lambda: c.update(s=2.0)


@way
def a_user_list():
    c = collections.UserList([1.0])
    return (lambda x: x * c[0]), lambda: c.__setitem__(0, 2.0)


@way
def a_dict_with_missing():
    class D(dict):
        extra = 1.0

        def __missing__(self, key):
            return self.extra

    c = D()
    return (lambda x: x * c["none"]), lambda: setattr(D, "extra", 2.0)


@way
def a_list_that_shows_itself_otherwise():
    class L(list):
        factor = 1.0

        def __getitem__(self, i):
            return list.__getitem__(self, i) * self.factor

    c = L([1.0])
    return (lambda x: x * c[0]), lambda: setattr(c, "factor", 3.0)


@way
def nested_tuples_in_a_list():
    c = [((1.0, 2.0), [3.0])]
    return (lambda x: x * c[0][1][0]), lambda: c[0][1].__setitem__(0, 7.0)


@way
def a_list_in_a_tuple():
    c = ([1.0],)
    return (lambda x: x * c[0][0]), lambda: c[0].__setitem__(0, 7.0)


@way
def an_array_of_the_library():
    c = array.array("d", [1.0])
    return (lambda x: x * c[0]), lambda: c.__setitem__(0, 2.0)


@way
def a_memory_view():
    c = bytearray(b"\x01\x02")
    seen = memoryview(c)
    return (lambda x: x * seen[0]), lambda: c.__setitem__(0, 9)


@way
def an_array_of_objects():
    c = np.array([1.0, "a"], dtype=object)
    return (lambda x: x * c[0]), lambda: c.__setitem__(0, 3.0)


@way
def the_shape_of_an_array():
    c = [np.zeros(2)]
    return (lambda x: x * c[0].size), lambda: c[0].resize(3, refcheck=False)


@way
def an_array_that_is_a_view():
    base = np.ones(5)
    c = base[1:3]
    return (lambda x: x * float(c.sum())), lambda: base.__setitem__(1, 4.0)


@way
def a_structured_array():
    c = np.zeros(1, [("a", "f4")])
    return (lambda x: x * float(c["a"][0])), lambda: c["a"].__setitem__(0, 2.0)


@way
def a_heap():
    import heapq

    c = [1.0, 5.0]
    return (lambda x: x * heapq.nsmallest(1, c)[0]), lambda: heapq.heappush(c, 0.5)


@way
def an_unpacked_dict():
    c = {"dim": 0}
    return (lambda x: x.sum(**c)), lambda: c.update(dim=1)


@way
def an_unpacked_list():
    c = [1, 0]
    return (lambda x: x.permute(*c).contiguous()), lambda: c.reverse()


@way
def a_comprehension():
    c = [1.0, 2.0]
    return (lambda x: sum([x * v for v in c])), lambda: c.append(3.0)


@way
def a_generator_expression_over_zip():
    a, b = [1.0, 2.0], [3.0, 4.0]
    return (lambda x: sum(x * v * w for v, w in zip(a, b))), lambda: b.__setitem__(1, 9.0)


@way
def a_dict_comprehension_over_objects():
    objects = [space(w=1.0), space(w=2.0)]
    return (lambda x: x * sum({i: o.w for i, o in enumerate(objects)}.values())), lambda: setattr(objects[1], "w", 7.0)


@way
def a_map_of_a_lambda():
    objects = [space(w=1.0)]
    return (lambda x: x * sum(map(lambda o: o.w, objects))), lambda: setattr(objects[0], "w", 7.0)


@way
def sorted_by_an_attribute():
    objects = [space(w=1.0, r=1), space(w=2.0, r=2)]
    return (lambda x: x * sorted(objects, key=lambda o: o.r)[0].w), lambda: setattr(objects[0], "r", 5)


@way
def reduced():
    c = [1.0, 2.0]
    return (lambda x: x * functools.reduce(operator.mul, c)), lambda: c.append(3.0)


@way
def starred_assignment():
    c = [1.0, 2.0, 3.0]

    def step(x):
        first, *rest = c
        return x * rest[-1]

    return step, lambda: c.append(8.0)


# ---------------------------------------------------------------- objects


@way
def a_local_alias():
    class T:
        def __init__(self):
            self.cfg = space(beta=1.0)

        def step(self, x):
            c = self.cfg
            return x * c.beta

    t = T()
    return t.step, lambda: setattr(t.cfg, "beta", 2.0)


@way
def an_alias_in_a_loop():
    objects = [space(beta=1.0), space(beta=2.0)]

    def step(x):
        for o in objects:
            x = x * o.beta
        return x

    return step, lambda: setattr(objects[1], "beta", 5.0)


@way
def either_of_two_objects():
    a, b = space(s=1.0), space(s=2.0)

    def step(x):
        return x * (a if x.shape[0] > 5 else b).s

    return step, lambda: setattr(b, "s", 5.0)


@way
def a_property_over_private_state():
    class C:
        def __init__(self):
            self._t = {"now": 1.0}

        @property
        def t(self):
            return self._t["now"]

    c = C()
    return (lambda x: x * c.t), lambda: c._t.update(now=3.0)


@way
def a_property_that_is_replaced():
    class C:
        t = property(lambda self: 1.0)

    c = C()
    return (lambda x: x * c.t), lambda: setattr(C, "t", property(lambda self: 2.0))


@way
def a_cached_property_that_is_deleted():
    state = {"v": 1.0}

    class C:
        @functools.cached_property
        def t(self):
            return state["v"]

    c = C()
    c.t  # noqa: B018
    return (lambda x: x * c.t), lambda: (state.update(v=2.0), delattr(c, "t"))


@way
def getattr_by_a_computed_name():
    o, name = space(s1=1.0, s2=2.0), ["s1"]
    return (lambda x: x * getattr(o, name[0])), lambda: setattr(o, "s1", 4.0)


@way
def getattr_whose_name_changes():
    o, name = space(s1=1.0, s2=2.0), ["s1"]
    return (lambda x: x * getattr(o, name[0])), lambda: name.__setitem__(0, "s2")


@way
def getattr_with_a_default():
    o = space()
    return (lambda x: x * getattr(o, "scale", 1.0)), lambda: setattr(o, "scale", 3.0)


@way
def hasattr_alone():
    o = space()
    return (lambda x: x * 2 if hasattr(o, "flag") else x), lambda: setattr(o, "flag", None)


@way
def vars_of_an_object():
    o = space(a=1.0)
    return (lambda x: x * sum(vars(o).values())), lambda: setattr(o, "b", 3.0)


@way
def the_dict_of_an_object():
    o = space(a=1.0)
    return (lambda x: x * o.__dict__["a"]), lambda: setattr(o, "a", 3.0)


@way
def another_dict_for_an_object():
    class C:
        pass

    o = C()
    o.a = 1.0
    return (lambda x: x * o.a), lambda: setattr(o, "__dict__", {"a": 2.0})


@way
def another_class_for_an_object():
    class A:
        s = 1.0

    class B:
        s = 2.0

    o = A()
    return (lambda x: x * o.s), lambda: setattr(o, "__class__", B)


@way
def a_base_class_attribute():
    class A:
        s = 1.0

    class B(A):
        pass

    o = B()
    return (lambda x: x * o.s), lambda: setattr(A, "s", 2.0)


@way
def a_class_attribute_hidden_by_an_own_one():
    class A:
        s = 1.0

    o = A()
    return (lambda x: x * o.s), lambda: setattr(o, "s", 2.0)


@way
def a_metaclass_attribute():
    class M(type):
        s = 1.0

    class A(metaclass=M):
        pass

    return (lambda x: x * A.s), lambda: setattr(M, "s", 2.0)


@way
def a_method_that_is_replaced_on_the_class():
    class A:
        def f(self, x):
            return x

    o = A()
    return (lambda x: o.f(x)), lambda: setattr(A, "f", lambda self, x: x * 3)


@way
def a_method_that_is_replaced_on_the_object():
    class A:
        def f(self, x):
            return x

    o = A()
    return (lambda x: o.f(x)), lambda: setattr(o, "f", lambda x: x * 3)


@way
def a_special_method_that_is_replaced():
    class A:
        def __call__(self, x):
            return x

    o = A()
    return (lambda x: o(x)), lambda: setattr(A, "__call__", lambda self, x: x * 3)


@way
def a_special_method_that_comes():
    class A:
        pass

    o = A()
    return (lambda x: x * 2 if o else x), lambda: setattr(A, "__bool__", lambda self: False)


@way
def getitem_of_an_object():
    class A:
        w = [1.0]

        def __getitem__(self, i):
            return self.w[i]

    o = A()
    return (lambda x: x * o[0]), lambda: A.w.__setitem__(0, 2.0)


@way
def getattr_of_a_class():
    class A:
        def __init__(self):
            self.__dict__["_d"] = {"s": 1.0}

        def __getattr__(self, name):
            return self._d[name]

    o = A()
    return (lambda x: x * o.s), lambda: o._d.update(s=2.0)


@way
def getattribute_of_a_class():
    table = {"s": 1.0}

    class A:
        def __getattribute__(self, name):
            return table[name]

    o = A()
    return (lambda x: x * o.s), lambda: table.update(s=2.0)


@way
def a_descriptor_of_ones_own():
    class D:
        value = 1.0

        def __get__(self, o, kind):
            return self.value

    class A:
        s = D()

    o = A()
    return (lambda x: x * o.s), lambda: setattr(vars(A)["s"], "value", 2.0)


@way
def slots_below_slots():
    class A:
        __slots__ = ("a",)

    class B(A):
        __slots__ = ("b",)

    o = B()
    o.a, o.b = 1.0, B()
    o.b.a = 2.0
    return (lambda x: x * o.a * o.b.a), lambda: setattr(o.b, "a", 5.0)


@way
def a_slot_that_is_filled():
    class A:
        __slots__ = ("a",)

    o = A()
    return (lambda x: x * getattr(o, "a", 1.0)), lambda: setattr(o, "a", 5.0)


@way
def a_dataclass():
    @dataclasses.dataclass
    class C:
        s: float = 1.0
        inner: list = dataclasses.field(default_factory=lambda: [1.0])

    c = C()
    return (lambda x: x * c.s * c.inner[0]), lambda: c.inner.__setitem__(0, 3.0)


@way
def a_frozen_dataclass_that_is_replaced():
    @dataclasses.dataclass(frozen=True)
    class C:
        s: float

    o = space(c=C(1.0))
    return (lambda x: x * o.c.s), lambda: setattr(o, "c", dataclasses.replace(o.c, s=2.0))


@way
def a_dataclass_as_a_dict():
    @dataclasses.dataclass
    class C:
        s: float = 1.0

    c = C()
    return (lambda x: x * sum(dataclasses.asdict(c).values())), lambda: setattr(c, "s", 3.0)


@way
def a_slotted_dataclass_argument():
    @dataclasses.dataclass(slots=True)
    class C:
        s: float = 1.0

    c = C()
    return ((lambda x, c: x * c.s), lambda x: ((x, c), {})), lambda: setattr(c, "s", 3.0)


@way
def an_enum_member():
    class E(enum.Enum):
        A = 1.0
        B = 2.0

    o = space(e=E.A)
    return (lambda x: x * o.e.value), lambda: setattr(o, "e", E.B)


@way
def the_value_of_an_enum_member():
    class E(enum.Enum):
        A = 1.0

    return (lambda x: x * E.A.value), lambda: setattr(E.A, "_value_", 2.0)


@way
def a_flag():
    class E(enum.Flag):
        A = 1
        B = 2

    o = space(e=E.A)
    return (lambda x: x * 2 if E.B in o.e else x), lambda: setattr(o, "e", E.A | E.B)


@way
def an_abstract_class():
    class A(abc.ABC):
        @abc.abstractmethod
        def f(self): ...

    class B(A):
        s = 1.0

        def f(self):
            return self.s

    o = B()
    return (lambda x: x * o.f()), lambda: setattr(o, "s", 2.0)


@way
def a_typed_dict_and_a_protocol():
    class C(typing.TypedDict):
        s: float

    c: C = {"s": 1.0}
    return (lambda x: x * typing.cast(C, c)["s"]), lambda: c.update(s=3.0)


@way
def a_singleton_behind_a_class_method():
    class S:
        _one = None

        def __init__(self):
            self.s = 1.0

        @classmethod
        def get(cls):
            cls._one = cls._one or cls()
            return cls._one

    S.get()
    return (lambda x: x * S.get().s), lambda: setattr(S.get(), "s", 2.0)


@way
def a_static_method():
    class S:
        w = [1.0]

        @staticmethod
        def f(x):
            return x * S.w[0]

    return (lambda x: S.f(x)), lambda: S.w.__setitem__(0, 2.0)


@way
def super_with_state_in_the_base():
    class A:
        def __init__(self):
            self.k = {"s": 1.0}

        def f(self, x):
            return x * self.k["s"]

    class B(A):
        def f(self, x):
            return super().f(x) + 1

    o = B()
    return (lambda x: o.f(x)), lambda: o.k.update(s=2.0)


@way
def a_weak_key_dictionary():
    class K:
        pass

    k, c = K(), weakref.WeakKeyDictionary()
    c[k] = 1.0
    step = lambda x: x * c[k]
    return step, lambda: c.__setitem__(k, 2.0)


@way
def a_weak_proxy():
    class K:
        s = 1.0

    k = K()
    p = weakref.proxy(k)

    def step(x):
        return x * p.s

    step.keep = k
    return step, lambda: setattr(k, "s", 2.0)


@way
def a_copy_of_a_config():
    c = space(a={"s": 1.0})
    return (lambda x: x * copy.deepcopy(c).a["s"]), lambda: c.a.update(s=4.0)


@way
def an_object_that_is_returned_by_a_helper():
    store = {"c": space(s=1.0)}

    def config():
        return store["c"]

    return (lambda x: x * config().s), lambda: setattr(store["c"], "s", 2.0)


@way
def an_object_that_is_cached():
    @functools.lru_cache(maxsize=8)
    def config(name):
        return space(s=1.0)

    config("a")
    return (lambda x: x * config("a").s), lambda: setattr(config("a"), "s", 2.0)


@way
def a_cache_that_is_cleared():
    state = [1.0]

    @functools.cache
    def config(name):
        return state[0]

    config("a")
    return (lambda x: x * config("a")), lambda: (state.__setitem__(0, 2.0), config.cache_clear())


@way
def an_object_from_a_dispatch_table():
    class A:
        s = 1.0

    table = {A: lambda o: o.s}
    o = A()
    return (lambda x: x * table[type(o)](o)), lambda: table.__setitem__(A, lambda o: 3.0)


@way
def a_context_manager_of_ones_own():
    state = {"s": 1.0}

    class Scale:
        def __enter__(self):
            return state["s"]

        def __exit__(self, *error):
            return False

    manager = Scale()

    def step(x):
        with manager as s:
            return x * s

    return step, lambda: state.update(s=2.0)


@way
def a_generator_as_context_manager():
    state = {"s": 1.0}

    @contextlib.contextmanager
    def scale():
        yield state["s"]

    def step(x):
        with scale() as s:
            return x * s

    return step, lambda: state.update(s=2.0)


@way
def a_generator_function():
    c = [1.0, 2.0]

    def values():
        yield from c

    return (lambda x: x * sum(values())), lambda: c.append(3.0)


@way
def an_iterable_object():
    class I:
        items = [1.0, 2.0]

        def __iter__(self):
            return iter(self.items)

    o = I()
    return (lambda x: x * sum(o)), lambda: I.items.append(5.0)


@way
def matching_a_pattern():
    o = space(kind="a", s=1.0)

    def step(x):
        match o:
            case types.SimpleNamespace(kind="a", s=s):
                return x * s
        return x

    return step, lambda: setattr(o, "kind", "b")


@way
def comparing_objects():
    class A:
        k = 1

        def __eq__(self, other):
            return self.k == other.k

        __hash__ = None

    a, b = A(), A()
    return (lambda x: x * 2 if a == b else x), lambda: setattr(b, "k", 2)


@way
def exceptions_that_decide():
    table = {}

    def step(x):
        try:
            return x * table["s"]
        except KeyError:
            return x

    return step, lambda: table.update(s=3.0)


# ---------------------------------------------------------------- functions


@way
def a_default_that_is_a_list():
    def h(x, c=[1.0]):
        return x * c[0]

    return (lambda x: h(x)), lambda: h.__defaults__[0].__setitem__(0, 2.0)


@way
def a_keyword_default():
    def h(x, *, s=1.0):
        return x * s

    return (lambda x: h(x)), lambda: h.__kwdefaults__.update(s=2.0)


@way
def other_code_for_a_function():
    def h(x):
        return x

    def k(x):
        return x * 3

    return (lambda x: h(x)), lambda: setattr(h, "__code__", k.__code__)


@way
def an_attribute_of_a_function():
    def h(x):
        return x * h.s

    h.s = 1.0
    return (lambda x: h(x)), lambda: setattr(h, "s", 2.0)


@way
def the_step_s_own_default():
    def step(x, s=1.0):
        return x * s

    return step, lambda: setattr(step, "__defaults__", (2.0,))


@way
def a_partial_in_a_dict():
    c = {"f": functools.partial(operator.mul, 2.0)}
    return (lambda x: c["f"](x)), lambda: c.update(f=functools.partial(operator.mul, 3.0))


@way
def the_object_of_a_partial():
    o = space(s=1.0)
    f = functools.partial(lambda o, x: x * o.s, o)
    return (lambda x: f(x)), lambda: setattr(o, "s", 3.0)


@way
def keywords_of_a_partial():
    f = functools.partial(lambda x, s: x * s, s=1.0)
    return (lambda x: f(x)), lambda: f.keywords.update(s=3.0)


@way
def a_partial_method():
    class A:
        s = 1.0

        def f(self, x, k):
            return x * self.s * k

        g = functools.partialmethod(f, k=2.0)

    o = A()
    return (lambda x: o.g(x)), lambda: setattr(o, "s", 3.0)


@way
def a_bound_method_in_a_list():
    class A:
        s = 1.0

        def f(self, x):
            return x * self.s

    o = A()
    fs = [o.f]
    return (lambda x: fs[0](x)), lambda: setattr(o, "s", 3.0)


@way
def a_bound_method_of_a_container():
    c = {"s": 1.0}
    get = c.get
    return (lambda x: x * get("s")), lambda: c.update(s=2.0)


@way
def an_item_getter():
    c = {"s": 1.0}
    get = operator.itemgetter("s")
    return (lambda x: x * get(c)), lambda: c.update(s=2.0)


@way
def an_attribute_getter_with_dots():
    o = space(a=space(s=1.0))
    get = operator.attrgetter("a.s")
    return (lambda x: x * get(o)), lambda: setattr(o.a, "s", 2.0)


@way
def an_attribute_getter_made_in_the_step():
    o = space(s=1.0)
    return (lambda x: x * operator.attrgetter("s")(o)), lambda: setattr(o, "s", 2.0)


@way
def a_method_caller():
    class A:
        s = 1.0

        def f(self):
            return self.s

    o, call = A(), operator.methodcaller("f")
    return (lambda x: x * call(o)), lambda: setattr(o, "s", 2.0)


@way
def a_closure_in_a_closure():
    s = 1.0

    def outer():
        def inner(x):
            return x * s

        return inner

    def change():
        nonlocal s
        s = 2.0

    inner = outer()
    return (lambda x: inner(x)), change


@way
def a_decorator_with_state():
    def scaled(by):
        def deco(f):
            @functools.wraps(f)
            def wrapped(*args):
                return f(*args) * by[0]

            return wrapped

        return deco

    by = [1.0]

    @scaled(by)
    @scaled([2.0])
    def f(x):
        return x

    return (lambda x: f(x)), lambda: by.__setitem__(0, 5.0)


@way
def a_class_as_decorator():
    class Scaled:
        def __init__(self, f):
            self.f, self.by = f, 1.0

        def __call__(self, x):
            return self.f(x) * self.by

    @Scaled
    def f(x):
        return x

    return (lambda x: f(x)), lambda: setattr(f, "by", 2.0)


@way
def no_grad_around_a_function_with_state():
    c = [1.0]

    @badak.no_grad()
    def f(x):
        return x * c[0]

    return (lambda x: f(x)), lambda: c.__setitem__(0, 2.0)


@way
def a_recursive_function():
    c = {"depth": 2}

    def f(x, n):
        return x if n == c["depth"] else f(x * 2, n + 1)

    return (lambda x: f(x, 0)), lambda: c.update(depth=4)


@way
def an_inner_function_with_a_default():
    c = [1.0]

    def step(x):
        def inner(y, s=c[0]):
            return y * s

        return inner(x)

    return step, lambda: c.__setitem__(0, 3.0)


@way
def an_inner_function_of_a_method():
    class T:
        weight = 1.0

        def step(self, x):
            return {"a": lambda: x * self.weight}["a"]()

    t = T()
    return t.step, lambda: setattr(t, "weight", 3.0)


@way
def a_comprehension_of_a_method():
    class T:
        def __init__(self):
            self.weights, self.scale = [1.0, 2.0], 1.0

        def step(self, x):
            return sum(x * w * self.scale for w in self.weights)

    t = T()
    return t.step, lambda: setattr(t, "scale", 3.0)


@way
def a_function_that_is_made_by_a_helper():
    class T:
        scale = 1.0

    t = T()

    def scaled(o):
        def inner(x):
            return x * o.scale

        return inner

    return (lambda x: scaled(t)(x)), lambda: setattr(t, "scale", 3.0)


@way
def an_inner_class():
    c = [1.0]

    def step(x):
        class A:
            s = c[0]

        return x * A.s

    return step, lambda: c.__setitem__(0, 3.0)


@way
def a_global_of_another_file():
    step, own = in_globals("def h(x): return x * S\ndef step(x): return h(x)", S=1.0)
    return step, lambda: own.update(S=2.0)


@way
def a_global_that_is_deleted():
    step, own = in_globals("def step(x): return x * len('ab')", len=lambda s: 7)
    return step, lambda: own.pop("len")


@way
def a_global_that_comes():
    step, own = in_globals("def step(x): return x * len('ab')")
    return step, lambda: own.update(len=lambda s: 7)


@way
def an_import_within_the_step():
    made = types.ModuleType("badak_way_config")
    made.S = 1.0
    sys.modules["badak_way_config"] = made
    step, _ = in_globals("def step(x):\n    import badak_way_config as c\n    return x * c.S")
    return step, lambda: setattr(made, "S", 2.0)


@way
def a_name_imported_within_the_step():
    made = types.ModuleType("badak_way_names")
    made.S = [1.0]
    sys.modules["badak_way_names"] = made
    step, _ = in_globals("def step(x):\n    from badak_way_names import S\n    return x * S[0]")
    return step, lambda: setattr(made, "S", [2.0])


@way
def a_function_of_badak_that_is_replaced():
    own = types.SimpleNamespace(F=F)
    return (lambda x: own.F.relu(x - 3)), lambda: setattr(own, "F", space(relu=lambda x: x * 2))


@way
def a_callable_module_in_a_list():
    badak.manual_seed(0)
    layers = [nn.Linear(3, 3), nn.Tanh()]

    def step(x):
        for layer in layers:
            x = layer(x)
        return x.detach()

    return step, lambda: layers.insert(1, nn.ReLU())


@way
def type_annotations_read_at_run_time():
    class C:
        s: float = 1.0

    return (lambda x: x * len(C.__annotations__)), lambda: C.__annotations__.update(t=int)


@way
def annotations_of_a_function():
    def f(a: int):
        pass

    return (lambda x: x * len(f.__annotations__)), lambda: f.__annotations__.update(t=int)


@way
def other_annotations_of_a_function():
    def f(a: int):
        pass

    return (lambda x: x * len(f.__annotations__)), lambda: setattr(f, "__annotations__", {"a": 1, "b": 2, "c": 3})


@way
def other_annotations_of_a_class():
    class C:
        s: float = 1.0

    return (lambda x: x * len(C.__annotations__)), lambda: setattr(C, "__annotations__", {"a": 1, "b": 2, "c": 3})


@way
def hints_of_a_function():
    def f(a: int):
        pass

    return (lambda x: x * len(typing.get_type_hints(f))), lambda: f.__annotations__.update(t=int)


# ---------------------------------------------------------------- modules


@way
def a_list_of_layers_in_a_module():
    badak.manual_seed(1)
    extra = [nn.Linear(3, 3), nn.ReLU()]

    def forward(self, x):
        for layer in self.stack:
            x = layer(x)
        return x

    step, net = of_module(forward, stack=extra[:1])
    return step, lambda: net.stack.append(extra[1])


@way
def early_exit_of_a_module():
    def forward(self, x):
        for i in range(4):
            if i >= self.state["exit"]:
                break
            x = self.layer(x)
        return x

    step, net = of_module(forward, state={"exit": 1})
    return step, lambda: net.state.update(exit=3)


@way
def a_config_object_of_a_module():
    def forward(self, x):
        c = self.cfg
        return self.layer(x) * (c.scale if c.use else 1.0)

    step, net = of_module(forward, cfg=space(scale=2.0, use=False))
    return step, lambda: setattr(net.cfg, "use", True)


@way
def a_curriculum_in_a_module():
    def forward(self, x):
        return self.layer(x[:, : self.plan.now()].sum() + x)

    class Plan:
        stage = 0
        sizes = (1, 3)

        def now(self):
            return self.sizes[self.stage]

    step, net = of_module(forward, plan=Plan())
    return step, lambda: setattr(net.plan, "stage", 1)


@way
def a_dict_of_parameters_by_hand():
    badak.manual_seed(0)
    p = {"w": nn.Parameter(badak.randn(3, 3)), "b": badak.zeros(3)}
    return (lambda x: x @ p["w"].detach() + p["b"]), lambda: p.update(b=badak.ones(3))


@way
def a_module_put_into_the_dict_of_modules():
    step, net = of_module(lambda self, x: self.layer(x))
    return step, lambda: net._modules.update(layer=nn.Linear(3, 3))


@way
def an_attribute_written_past_setattr():
    step, net = of_module(lambda self, x: self.layer(x) * self.scale, scale=1.0)
    return step, lambda: net.__dict__.update(scale=2.0)


@way
def object_setattr_on_a_layer_of_ours():
    badak.manual_seed(0)
    drop = nn.LayerNorm(3)
    return (lambda x: drop(x).detach()), lambda: object.__setattr__(drop, "eps", 1.0)


@way
def forward_of_a_class_of_ours():
    badak.manual_seed(0)
    layer = nn.Tanh()
    kept = nn.Tanh.forward

    def step(x):
        return layer(x)

    step.undo = lambda: setattr(nn.Tanh, "forward", kept)
    return step, lambda: setattr(nn.Tanh, "forward", lambda self, x: x * 2)


@way
def an_activation_that_a_layer_was_given():
    badak.manual_seed(0)
    c = [1.0]
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True, activation=lambda x: x.relu() * c[0])
    return (lambda x: layer(x.reshape(1, 6, 1).expand(1, 6, 4).contiguous()).detach()), lambda: c.__setitem__(0, 2.0)


@way
def a_hook_that_comes():
    step, net = of_module(lambda self, x: self.layer(x))
    return step, lambda: net.layer.register_forward_hook(lambda m, a, y: y * 2)


@way
def a_function_with_its_own_backward():
    c = {"f": 1.0, "b": 1.0}

    class Scale(badak.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * c["f"]

        @staticmethod
        def backward(ctx, g):
            return g * c["b"]

    w = nn.Parameter(badak.ones(3))

    def step(x):
        w.grad = None
        (Scale.apply(w) * x).sum().backward()
        return w.grad.clone()

    return step, lambda: c.update(b=5.0)


@way
def an_attribute_of_a_parameter():
    w = nn.Parameter(badak.ones(3))
    w.scale = 1.0
    return (lambda x: x * w.detach() * w.scale), lambda: setattr(w, "scale", 3.0)


@way
def a_weight_of_a_loss():
    class Loss:
        def __init__(self):
            self.weights = {"a": 1.0, "b": 0.0}

        def __call__(self, x):
            return sum(w * getattr(self, f"_{name}")(x) for name, w in self.weights.items())

        def _a(self, x):
            return x.mean()

        def _b(self, x):
            return x.square().mean()

    loss = Loss()
    return (lambda x: loss(x)), lambda: loss.weights.update(b=1.0)


@way
def frozen_by_a_list_of_names():
    badak.manual_seed(0)
    layer, frozen = nn.Linear(3, 3), []

    def step(x):
        layer.zero_grad()
        layer(x).square().mean().backward()
        for name, p in layer.named_parameters():
            if name in frozen:
                p.grad = None
        return badak.stack([p.grad.sum() if p.grad is not None else badak.zeros(()) for p in layer.parameters()])

    return step, lambda: frozen.append("bias")


@way
def a_module_list_that_grows():
    badak.manual_seed(0)
    layers, extra = nn.ModuleList([nn.Linear(3, 3)]), nn.Linear(3, 3)

    def step(x):
        for layer in layers:
            x = layer(x)
        return x.detach()

    return step, lambda: layers.append(extra)


# ---------------------------------------------------------------- chance, time, the world


@way
def chance_of_the_library():
    random.seed(0)
    return (lambda x: x * random.random()), lambda: None


@way
def chance_imported_by_name():
    from random import uniform

    random.seed(0)
    return (lambda x: x * uniform(0, 1)), lambda: None


@way
def chance_of_a_generator_of_ones_own():
    r = random.Random(3)
    return (lambda x: x * r.gauss(0, 1)), lambda: None


@way
def chance_that_is_seldom():
    random.seed(5)

    def step(x):
        return x * 2 if random.random() < 0.2 else x

    return step, lambda: None


@way
def chance_by_shuffling():
    random.seed(0)
    c = [1.0, 2.0, 3.0]

    def step(x):
        order = list(c)
        random.shuffle(order)
        return x * order[0]

    return step, lambda: None


@way
def chance_of_numpy():
    np.random.seed(0)
    return (lambda x: x * float(np.random.rand())), lambda: None


@way
def chance_of_numpy_s_generator():
    r = np.random.default_rng(0)
    return (lambda x: x * float(r.uniform())), lambda: None


@way
def chance_of_numpy_by_name():
    from numpy.random import normal

    np.random.seed(0)
    return (lambda x: x * float(normal())), lambda: None


@way
def chance_in_a_helper_of_a_helper():
    random.seed(0)

    def coin():
        return random.randint(0, 1)

    def choose(a, b):
        return a if coin() else b

    return (lambda x: x * choose(1.0, 2.0)), lambda: None


@way
def chance_of_secrets():
    import secrets

    return (lambda x: x * (secrets.randbelow(1) + 1)), lambda: None


@way
def an_iterator_of_the_program():
    it = iter([1.0, 2.0] * 20)
    return (lambda x: x * next(it)), lambda: None


@way
def an_iterator_in_a_for():
    it = iter([1.0, 2.0, 3.0] * 20)

    def step(x):
        for v in it:
            return x * v
        return x

    return step, lambda: None


@way
def a_generator_of_the_program():
    def counting():
        n = 0.0
        while True:
            n += 1
            yield n

    it = counting()
    return (lambda x: x * next(it)), lambda: None


@way
def a_counter_of_itertools():
    it = itertools.count()
    return (lambda x: x * next(it)), lambda: None


@way
def a_cycle():
    it = itertools.cycle([1.0, 2.0])
    return (lambda x: x * next(it)), lambda: None


@way
def an_iterator_sent_into_zip():
    it = iter(range(100))
    return (lambda x: x * next(zip(it, [0]))[0]), lambda: None


@way
def an_iterator_that_is_an_attribute():
    o = space(it=iter([float(n) for n in range(100)]))
    return (lambda x: x * o.it.__next__()), lambda: None


@way
def a_queue():
    q = queue.Queue()
    for n in range(100):
        q.put(float(n))
    return (lambda x: x * q.get()), lambda: None


@way
def a_stack_that_is_popped():
    c = [float(n) for n in range(100)]
    return (lambda x: x * c.pop()), lambda: None


@way
def an_environment_variable():
    os.environ["BADAK_WAY"] = "1.0"
    return (lambda x: x * float(os.environ["BADAK_WAY"])), lambda: os.environ.update(BADAK_WAY="2.0")


@way
def an_environment_variable_by_getenv():
    os.environ["BADAK_WAY"] = "1.0"
    return (lambda x: x * float(os.getenv("BADAK_WAY", "3"))), lambda: os.environ.update(BADAK_WAY="2.0")


@way
def the_arguments_of_the_program():
    def undo():
        sys.argv.remove("--way") if "--way" in sys.argv else None

    step = lambda x: x * (2.0 if "--way" in sys.argv else 1.0)
    step.undo = undo
    return step, lambda: sys.argv.append("--way")


@way
def the_recursion_limit():
    before = sys.getrecursionlimit()

    def step(x):
        return x * sys.getrecursionlimit()

    step.undo = lambda: sys.setrecursionlimit(before)
    return step, lambda: sys.setrecursionlimit(before + 10)


@way
def a_context_variable():
    v = contextvars.ContextVar("v", default=1.0)
    token = []

    def step(x):
        return x * v.get()

    step.undo = lambda: v.reset(token.pop()) if token else None
    return step, lambda: token.append(v.set(2.0))


@way
def a_thread_local():
    o = threading.local()
    o.s = 1.0
    return (lambda x: x * o.s), lambda: setattr(o, "s", 2.0)


@way
def an_event():
    e = threading.Event()
    return (lambda x: x * 2 if e.is_set() else x), e.set


@way
def the_level_of_a_logger():
    log = logging.getLogger("badak-way")
    log.setLevel(logging.WARNING)
    return (lambda x: x * 2 if log.isEnabledFor(logging.INFO) else x), lambda: log.setLevel(logging.INFO)


@way
def a_text_buffer():
    import io

    f = io.StringIO("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n")
    return (lambda x: x * float(f.readline())), lambda: None


@way
def lines_of_a_text_buffer():
    import io

    f = io.StringIO("\n".join(map(str, range(1, 50))))

    def step(x):
        for line in f:
            return x * float(line)
        return x

    return step, lambda: None


@way
def a_template():
    o = space(t="$s")
    return (lambda x: x * float(string.Template(o.t).substitute(s="1.5"))), lambda: setattr(o, "t", "2$s")


@way
def a_json_text():
    o = space(t='{"s": 1.0}')
    return (lambda x: x * json.loads(o.t)["s"]), lambda: setattr(o, "t", '{"s": 2.0}')


@way
def a_pattern_and_a_text():
    o = space(t="a1")
    return (lambda x: x * int(re.search(r"\d", o.t).group())), lambda: setattr(o, "t", "a7")


@way
def numbers_of_math():
    o = space(n=4.0)
    return (lambda x: x * math.sqrt(o.n)), lambda: setattr(o, "n", 9.0)


@way
def a_date():
    o = space(d=datetime.date(2026, 1, 1))
    return (lambda x: x * o.d.year), lambda: setattr(o, "d", datetime.date(2027, 1, 1))


@way
def the_number_of_calls_by_a_closure():
    n = 0

    def step(x):
        nonlocal n
        n += 1
        return x * (2.0 if n > 6 else 1.0)

    return step, lambda: None


@way
def the_number_of_calls_by_a_global():
    step, _ = in_globals("N = 0\ndef step(x):\n    global N\n    N += 1\n    return x * (2.0 if N > 6 else 1.0)")
    return step, lambda: None


@way
def the_number_of_calls_by_a_class():
    class C:
        n = 0

        @classmethod
        def next(cls):
            cls.n += 1
            return cls.n

    return (lambda x: x * (2.0 if C.next() > 6 else 1.0)), lambda: None


@way
def the_number_of_calls_by_a_function():
    def step(x):
        step.n += 1
        return x * (2.0 if step.n > 6 else 1.0)

    step.n = 0
    return step, lambda: None


@way
def the_number_of_calls_by_a_default():
    def tick(x, n=[0]):
        n[0] += 1
        return x * (2.0 if n[0] > 6 else 1.0)

    return (lambda x: tick(x)), lambda: None


@way
def a_number_that_a_callback_changes_every_time():
    o = space(n=0.0)

    class Watcher:
        def __call__(self):
            o.n += 1.0

    after = Watcher()

    def step(x):
        return x * o.n

    step.after = after
    return step, lambda: None


@way
def a_running_mean_in_python():
    o = space(mean=0.0)

    def step(x):
        o.mean = 0.9 * o.mean + 0.1
        return x * o.mean

    return step, lambda: None


@way
def a_memo_of_tensors():
    memo = {}

    def step(x):
        key = tuple(x.shape)
        if key not in memo:
            memo[key] = badak.ones(3)
        return x * memo[key]

    return step, lambda: memo.update({(2, 3): badak.full((3,), 2.0)})


@way
def a_list_of_tensors_that_is_summed():
    c = [badak.ones(3)]
    return (lambda x: x + sum(c)), lambda: c.append(badak.ones(3))


@way
def an_argument_that_is_a_list_of_objects():
    objects = [space(s=1.0)]
    return ((lambda x, c: x * c[0].s), lambda x: ((x, objects), {})), lambda: setattr(objects[0], "s", 3.0)


@way
def an_argument_that_is_a_function():
    c = [1.0]
    f = lambda x: x * c[0]
    return ((lambda x, g: g(x)), lambda x: ((x, f), {})), lambda: c.__setitem__(0, 2.0)


@way
def an_argument_that_is_a_partial():
    o = space(s=1.0)
    f = functools.partial(lambda o, x: x * o.s, o)
    return ((lambda x, g: g(x)), lambda x: ((x,), {"g": f})), lambda: setattr(o, "s", 2.0)


@way
def an_argument_with_a_property():
    class A:
        def __init__(self):
            self.d = {"s": 1.0}

        @property
        def s(self):
            return self.d["s"]

    a = A()
    return ((lambda x, c: x * c.s), lambda x: ((x, a), {})), lambda: a.d.update(s=2.0)


@way
def the_number_of_threads_of_the_program():
    return (lambda x: x * threading.active_count()), lambda: None


@way
def a_sleep_is_no_reason():
    return (lambda x: (time.sleep(0), x * 2)[1]), lambda: None


@way
def a_rate_of_an_optimizer():
    w = nn.Parameter(badak.ones(3))
    o = optim.SGD([w], lr=1.0)
    return (lambda x: x * sum(g["lr"] for g in o.param_groups)), lambda: o.add_param_group(
        {"params": [nn.Parameter(badak.ones(2))], "lr": 0.5}
    )


@way
def a_rate_of_a_schedule():
    w = nn.Parameter(badak.ones(3))
    o = optim.SGD([w], lr=1.0)
    schedule = optim.lr_scheduler.StepLR(o, 1, 0.5)

    def step(x):
        return x * schedule.get_last_lr()[0]

    def change():
        w.grad = badak.ones(3)
        o.step()
        schedule.step()

    return step, change


@way
def other_bases():
    class A:
        def k(self):
            return 2.0

    class B:
        def k(self):
            return 3.0

    class C(A):
        pass

    c = C()
    return (lambda x: x * c.k()), lambda: setattr(C, "__bases__", (B,))


@way
def other_bases_of_a_base():
    class A:
        k = 2.0

    class B:
        k = 3.0

    class M(A):
        pass

    class C(M):
        pass

    c = C()
    return (lambda x: x * c.k), lambda: setattr(M, "__bases__", (B,))


@way
def a_virtual_subclass():
    P = abc.ABCMeta("P", (), {})

    class C:
        pass

    c = C()
    return (lambda x: x * (2.0 if isinstance(c, P) else 1.0)), lambda: P.register(C)


@way
def another_function_for_a_kind():
    @functools.singledispatch
    def k(v):
        return 2.0

    class C:
        pass

    c = C()
    return (lambda x: x * k(c)), lambda: k.register(C, lambda v: 5.0)


def a_class_of_a_module():
    m = types.ModuleType("mm")
    m.k = 2.0
    sys.modules["mm"] = m

    class S(types.ModuleType):
        @property
        def k(self):
            return 7.0

    return (lambda x: x * m.k), lambda: setattr(m, "__class__", S)


if sys.version_info < (3, 14):  # which itself goes on with the attribute of before
    way(a_class_of_a_module)


@way
def a_module_that_answers_for_missing_names():
    m = types.ModuleType("mm2")
    m.__getattr__ = lambda n: 2.0
    return (lambda x: x * m.k), lambda: setattr(m, "__getattr__", lambda n: 3.0)


@way
def a_context_of_decimal_numbers():
    step = lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(3))
    step.undo = lambda: setattr(decimal.getcontext(), "prec", 28)
    return step, lambda: setattr(decimal.getcontext(), "prec", 3)


@way
def a_weak_set():
    class C:
        pass

    c = C()
    s = weakref.WeakSet()
    s._keep = c
    return (lambda x: x * (1.0 + len(s))), lambda: s.add(c)


@way
def a_weak_dict_whose_value_is_gone():
    class C:
        pass

    c = [C()]
    s = weakref.WeakValueDictionary(a=c[0])
    return (lambda x: x * (1.0 + len(s))), lambda: c.clear()


@way
def a_chain_of_dicts():
    a, b = {"k": 2.0}, {}
    m = collections.ChainMap(b, a)
    return (lambda x: x * m["k"]), lambda: b.update(k=3.0)


@way
def what_calling_a_class_does():
    class M(type):
        def __call__(cls):
            return 2.0

    class C(metaclass=M):
        pass

    return (lambda x: x * C()), lambda: setattr(M, "__call__", lambda cls: 3.0)


@way
def numpys_ways_with_errors():
    before = np.geterr()
    step = lambda x: x * (2.0 if np.geterr()["over"] == "ignore" else 1.0)
    step.undo = lambda: np.seterr(**before)
    return step, lambda: np.seterr(over="ignore")


@way
def numpys_ways_of_printing():
    before = np.get_printoptions()["precision"]
    step = lambda x: x * float(np.get_printoptions()["precision"])
    step.undo = lambda: np.set_printoptions(precision=before)
    return step, lambda: np.set_printoptions(precision=3)


@way
def a_lock():
    l = threading.Lock()
    return (lambda x: x * (2.0 if l.locked() else 1.0)), l.acquire


@way
def a_semaphore():
    s = threading.Semaphore(3)
    return (lambda x: x * float(s._value)), s.acquire


@way
def the_name_of_a_function():
    def g():
        pass

    return (lambda x: x * float(len(g.__name__))), lambda: setattr(g, "__name__", "abc")


@way
def the_name_of_a_class():
    class C:
        pass

    c = C()
    return (lambda x: x * float(len(type(c).__name__))), lambda: setattr(C, "__name__", "abc")


@way
def the_subclasses_of_a_class():
    class C:
        pass

    k = []
    return (lambda x: x * float(1 + len(C.__subclasses__()))), lambda: k.append(type("D", (C,), {}))


@way
def another_way_to_find_attributes():
    class C:
        k = 2.0

    c = C()
    return (lambda x: x * c.k), lambda: setattr(C, "__getattribute__", lambda s, n: 3.0)


@way
def the_arguments_of_an_exception():
    e = ValueError(2.0)
    return (lambda x: x * e.args[0]), lambda: setattr(e, "args", (3.0,))


@way
def bytes_behind_a_view():
    b = bytearray(b"\x02")
    m = memoryview(b)
    return (lambda x: x * float(m[0])), lambda: b.__setitem__(0, 3)


@way
def the_state_of_a_partial():
    p = functools.partial(lambda a, x: a * x, 2.0)
    return (lambda x: p(x)), lambda: p.__setstate__((p.func, (3.0,), {}, None))


@way
def the_factory_of_a_default_dict():
    d = collections.defaultdict(lambda: 2.0)

    def f(x):
        r = x * d["k"]
        del d["k"]
        return r

    return f, lambda: setattr(d, "default_factory", lambda: 3.0)


@way
def the_order_of_a_dict():
    d = collections.OrderedDict(a=1.0, b=2.0)
    return (lambda x: x * next(iter(d.values()))), lambda: d.move_to_end("a")


@way
def other_bases_of_a_module():
    class A(nn.Module):
        def forward(self, x):
            return x * 2.0

    class A2(nn.Module):
        def forward(self, x):
            return x * 3.0

    class B(A):
        pass

    b = B()
    return (lambda x: b(x)), lambda: setattr(B, "__bases__", (A2,))


@way
def other_bases_for_super():
    class A:
        def k(self):
            return 2.0

    class A2:
        def k(self):
            return 3.0

    class B(A):
        def k(self):
            return super().k()

    b = B()
    return (lambda x: x * b.k()), lambda: setattr(B, "__bases__", (A2,))


@way
def a_field_of_an_array():
    a = np.zeros(1, [("k", float)])
    a["k"] = 2
    return (lambda x: x * float(a["k"][0])), lambda: a["k"].fill(3)


class Rate:
    def __init__(self, k=2.0):
        self.k = k


def raised(thing):
    return lambda: setattr(thing, "k", 3.0)


@way
def an_attribute_in_a_format():
    o = Rate()
    return (lambda x: x * float("{0.k}".format(o))), raised(o)  # noqa: UP030, UP032


@way
def a_format_of_a_dict():
    d = {"k": 2.0}
    return (lambda x: x * float("{k}".format_map(d))), lambda: d.update(k=3.0)


@way
def a_percent_format_of_vars():
    o = Rate()
    return (lambda x: x * float("%(k)s" % vars(o))), raised(o)  # noqa: UP031


@way
def an_attribute_found_statically():
    o = Rate()
    return (lambda x: x * inspect.getattr_static(o, "k")), raised(o)


@way
def a_deep_copy():
    o = Rate()
    o.o = Rate()
    return (lambda x: x * copy.deepcopy(o).o.k), raised(o.o)


@way
def what_hash_asks():
    class I(Rate):
        def __hash__(s):
            return int(s.k)

    o = I()
    return (lambda x: x * float(hash(o))), raised(o)


@way
def what_a_slice_asks():
    class I(Rate):
        def __index__(s):
            return int(s.k)

    o = I(2)
    return (lambda x: x[:o]), lambda: setattr(o, "k", 1)


@way
def a_match_of_a_class():
    o = Rate()

    def f(x):
        match o:
            case Rate(k=2.0):
                return x * 2
            case _:
                return x

    return f, raised(o)


@way
def another_module_by_the_same_name():
    m = types.ModuleType("mm5")
    m.k = 2.0
    sys.modules["mm5"] = m
    m2 = types.ModuleType("mm5")
    m2.k = 3.0

    def f(x):
        import mm5

        return x * mm5.k

    return f, lambda: sys.modules.__setitem__("mm5", m2)


@way
def a_descriptor_that_knows_its_name():
    class D:
        def __set_name__(s, o, n):
            s.n = "_" + n

        def __get__(s, o, t=None):
            return getattr(o, s.n)

    class C:
        d = D()

    c = C()
    c._d = 2.0
    return (lambda x: x * c.d), lambda: setattr(c, "_d", 3.0)


@way
def a_generator_expression():
    o = [1.0, 1.0]
    return (lambda x: x * sum(v * 2 for v in o if v)), lambda: o.append(1.0)


@way
def whether_a_parameter_wants_a_gradient():
    p = nn.Parameter(badak.ones(3))
    return (lambda x: x * (2.0 if p.requires_grad else 1.0)), lambda: p.requires_grad_(False)


@way
def what_dir_lists():
    o = Rate()
    return (lambda x: x * float("z" in dir(o)) + x), lambda: setattr(o, "z", 1)


@way
def whether_something_can_be_called():
    class C:
        pass

    c = C()
    return (lambda x: x * (2.0 if callable(c) else 1.0)), lambda: setattr(C, "__call__", lambda s: 1)


@way
def what_isinstance_asks():
    class M(type):
        def __instancecheck__(c, o):
            return getattr(o, "k", 0) == 2.0

    class A(metaclass=M):
        pass

    o = Rate()
    return (lambda x: x * (2.0 if isinstance(o, A) else 1.0)), raised(o)
