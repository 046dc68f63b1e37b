"""More ways, in which Python does not tell what is read: functions in C call others, libraries look at objects of their own.

Each function gives (step, change), as in `ways.py`.
"""

import collections
import functools
import itertools
import operator
import os
import sys
import types
import weakref

import numpy as np
from badak.utils.data import Subset, TensorDataset

import badak
from badak import nn, optim
from tests.compiler.ways import space, way

# ---------------------------------------------------------------- functions in C that call others


@way
def an_attribute_by_a_partial_of_getattr():
    o = space(s=1.0)
    get = functools.partial(getattr, o)
    return (lambda x: x * get("s")), lambda: setattr(o, "s", 2.0)


@way
def attributes_that_are_reduced():
    o, get = space(a=space(s=1.0)), getattr
    return (lambda x: x * functools.reduce(get, ["a", "s"], o)), lambda: setattr(o.a, "s", 2.0)


@way
def attributes_that_are_mapped():
    o, get = space(s=1.0), getattr
    return (lambda x: x * next(map(get, [o], ["s"]))), lambda: setattr(o, "s", 2.0)


@way
def a_format_that_is_kept():
    o, show = space(s=1.0), "{0.s}".format
    return (lambda x: x * float(show(o))), lambda: setattr(o, "s", 2.0)


@way
def a_format_beside_another():
    o, texts = space(s=1.0), ["{0.s}"]
    return (lambda x: x * float("{}".format(texts[0].format(o)))), lambda: setattr(o, "s", 2.0)  # noqa: UP030, UP032


def of_the_folder(step):
    """A step that asks where it runs."""
    here = os.getcwd()
    step.undo = lambda: os.chdir(here)
    return step, lambda: os.chdir("/")


@way
def the_folder_by_a_partial():
    where = functools.partial(os.getcwd)
    return of_the_folder(lambda x: x * float(len(where())))


@way
def the_folder_by_operator_call():
    where = os.getcwd
    return of_the_folder(lambda x: x * float(len(getattr(operator, "call", lambda f: f())(where))))


@way
def the_folder_by_a_star_map():
    where = os.getcwd
    return of_the_folder(lambda x: x * float(len(next(itertools.starmap(where, [()])))))


@way
def the_folder_by_a_default():
    return of_the_folder(lambda x: x * float(len(collections.defaultdict(os.getcwd)["a"])))


@way
def the_folder_by_an_iterator_with_an_end():
    where = os.getcwd
    return of_the_folder(lambda x: x * float(len(next(iter(where, 0)))))


@way
def the_folder_by_a_special_method():
    class Where:
        __call__ = os.getcwd

    where = Where()
    return of_the_folder(lambda x: x * float(len(where())))


@way
def the_number_of_weak_references():
    class K:
        pass

    k, kept = K(), []
    return (lambda x: x * (1.0 + weakref.getweakrefcount(k))), lambda: kept.append(weakref.ref(k))


# ---------------------------------------------------------------- what seemed to end


@way
def a_slice_of_what_changes():
    c = [1.0]
    s = [slice(c, None)]
    return (lambda x: x * s[0].start[0]), lambda: c.__setitem__(0, 2.0)


@way
def a_record_of_numpy():
    record = np.zeros(1, [("k", float)])[0]
    c = [record]
    return (lambda x: x + float(c[0]["k"])), lambda: record.__setitem__("k", 2.0)


@way
def a_record_of_objects():
    record = np.zeros(1, [("k", object)])[0]
    record["k"] = [1.0]
    return (lambda x: x * record["k"][0]), lambda: record["k"].__setitem__(0, 2.0)


@way
def what_a_dtype_carries():
    c = [1.0]
    dtype = np.dtype("f4", metadata={"s": c})
    return (lambda x: x * dtype.metadata["s"][0]), lambda: c.__setitem__(0, 2.0)


@way
def whether_an_array_can_be_written():
    a = np.ones(2)
    return (lambda x: x * (2.0 if a.flags.writeable else 1.0)), lambda: a.setflags(write=False)


@way
def the_variables_of_a_frame():
    def keep(k):
        return sys._getframe()

    k = [1.0]
    frames = [keep(k)]
    return (lambda x: x * frames[0].f_locals["k"][0]), lambda: k.__setitem__(0, 2.0)


@way
def the_variables_behind_a_traceback():
    k = [1.0]

    def fail(inner):
        raise ValueError

    try:
        fail(k)
    except ValueError as error:
        traces = [error.__traceback__]
    return (lambda x: x * traces[0].tb_next.tb_frame.f_locals["inner"][0]), lambda: k.__setitem__(0, 2.0)


# ---------------------------------------------------------------- objects of libraries, which read them unseen


@way
def the_mask_of_an_array():
    a = np.ma.array([1.0, 2.0], mask=[False, False])
    return (lambda x: x * float(a.sum())), lambda: a.mask.__setitem__(0, True)


@way
def another_mask_of_an_array():
    a = np.ma.array([1.0, 2.0], mask=[False, False])
    return (lambda x: x * float(a.sum())), lambda: setattr(a, "mask", [True, False])


@way
def the_coefficients_of_a_polynomial():
    p = np.polynomial.Polynomial([1.0, 2.0])
    return (lambda x: x * float(p(2.0))), lambda: p.coef.__setitem__(0, 5.0)


@way
def a_polynomial_of_one_variable():
    p = np.poly1d([1.0, 2.0])
    return (lambda x: x * float(p(2.0))), lambda: p.coeffs.__setitem__(0, 5.0)


@way
def what_vectorize_was_given():
    f = np.vectorize(lambda t: t * 2.0)
    return (lambda x: x * float(f(2.0))), lambda: setattr(f, "pyfunc", lambda t: t * 5.0)


@way
def how_numpy_prints():
    before, a = np.get_printoptions()["precision"], np.ones(1) / 3
    step = lambda x: x * float(str(a).strip("[]"))
    step.undo = lambda: np.set_printoptions(precision=before)
    return step, lambda: np.set_printoptions(precision=2)


@way
def what_numpy_raises():
    before, large = np.geterr(), np.array([1e308])

    def step(x):
        try:
            return x * min(float((large * 10)[0]), 2.0)
        except FloatingPointError:
            return x

    step.undo = lambda: np.seterr(**before)
    return step, lambda: np.seterr(over="raise")


@way
def a_transform_of_a_distribution():
    t = badak.distributions.AffineTransform(0.0, 2.0)
    return (lambda x: t(x)), lambda: setattr(t, "scale", 3.0)


@way
def the_indices_of_a_subset():
    indices = [0, 1]
    subset = Subset(TensorDataset(badak.arange(10.0)), indices)
    return (lambda x: x + subset[0][0]), lambda: indices.__setitem__(0, 5)


@way
def the_tensors_of_a_dataset():
    data = TensorDataset(badak.arange(10.0))
    return (lambda x: x * data[3][0]), lambda: setattr(data, "tensors", (badak.arange(10.0) * 2,))


@way
def a_mode_that_the_library_tells():
    step = lambda x: x * (2.0 if badak.are_deterministic_algorithms_enabled() else 1.0)
    step.undo = lambda: badak.use_deterministic_algorithms(False)
    return step, lambda: badak.use_deterministic_algorithms(True)


@way
def a_seed_that_the_library_tells():
    before = badak.initial_seed()
    step = lambda x: x + float(badak.initial_seed() % 1000)
    step.undo = lambda: badak.manual_seed(before)
    return step, lambda: badak.manual_seed(before + 7)


@way
def the_length_of_a_tensor():
    t = badak.ones(3)
    return (lambda x: x * len(t)), lambda: setattr(t, "data", badak.ones(5))


@way
def how_often_a_tensor_was_written():
    t = badak.zeros(2)
    return (lambda x: x * (1.0 + t._version)), lambda: t.add_(0)


# ---------------------------------------------------------------- functions of the library that are replaced


def patched(owner, name: str, step, other):
    """A step, and a change that puts another function into a class or a module of badak."""
    kept = getattr(owner, name)
    step.undo = lambda: setattr(owner, name, kept)
    return step, lambda: setattr(owner, name, other)


@way
def another_method_of_tensors():
    return patched(badak.Tensor, "relu", lambda x: (x - 2).relu(), lambda self: self * 2)


@way
def another_operator_of_tensors():
    return patched(badak.Tensor, "__add__", lambda x: x + 1, lambda self, other: self * 2)


@way
def another_way_to_call_modules():
    badak.manual_seed(0)
    layer = nn.Linear(3, 3)
    return patched(nn.Module, "__call__", lambda x: layer(x).detach(), lambda self, x: self.forward(x) * 3)


@way
def another_step_of_optimizers():
    w = nn.Parameter(badak.ones(3))
    o = optim.SGD([w], lr=1.0)

    def step(x):
        w.grad = None
        (w * x).sum().backward()
        o.step()
        return w.detach().clone()

    return patched(optim.SGD, "step", step, lambda self, closure=None: None)


@way
def a_module_that_import_module_gives():
    one, two = types.ModuleType("badak_way_given"), types.ModuleType("badak_way_given")
    one.S, two.S = 1.0, 2.0
    sys.modules["badak_way_given"] = one
    import importlib

    return (lambda x: x * importlib.import_module("badak_way_given").S), lambda: sys.modules.update(badak_way_given=two)
