"""Classes that programs derive from Tensor are made as in PyTorch: by __new__, while __init__ is theirs alone."""

import copy
import sys

import numpy as np
import pytest
import torch

import badak


def answers(space) -> list:
    class Plain(space.Tensor):
        pass

    class Named(space.Tensor):
        def __init__(self, data, label="none"):
            super().__init__()
            self.label = label

    class Placed(space.Tensor):
        @staticmethod
        def __new__(cls, data, *, place, **kwargs):
            made = space.Tensor._make_subclass(cls, data, kwargs.pop("requires_grad", False))
            made.place = place
            return made

    class Both(Placed, space.nn.Parameter):
        pass

    x = Placed(space.ones(2), place=3, requires_grad=True)
    both = Both(space.ones(2), place=4, requires_grad=True)
    made = (Plain(2, 3), Plain([1.0, 2.0]), Named([1.0]), x, both, space.nn.Parameter(space.ones(2), False))
    shown = [(type(each).__name__, tuple(each.shape), each.requires_grad) for each in made]
    return [shown, Named([1.0]).label, x.place, both.place, isinstance(both, space.nn.Parameter)]


def test_as_in_pytorch():
    assert answers(badak) == answers(torch)


def test_values_of_a_parameter_are_read_where_nothing_is_recorded():
    for space in (badak, torch):
        x = space.nn.Parameter(space.ones(2))
        with space.no_grad():
            assert np.asarray(x).tolist() == x.numpy().tolist() == [1.0, 1.0]
        with pytest.raises(RuntimeError, match="requires grad"):
            x.numpy()


def test_old_names_of_operators():
    for space in (badak, torch):
        x = space.tensor([8])
        assert (1 << x).tolist() == [256] and (512 >> x).tolist() == [2]
        assert x.__div__(2).tolist() == [4.0] and x.__rdiv__(4).tolist() == [0.5]
        assert x.__long__() == 8 and x.__nonzero__()


def test_a_storage_is_as_large_as_its_memory():
    for space in (badak, torch):
        assert 400 < sys.getsizeof(space.ones(100).untyped_storage()) < 600


def with_words_of_its_own(lib):
    """What a class shows that derives from one of the program, and from Tensor, and hands its attributes on as a whole."""

    class Noted:
        note = "of the class"

    class Image(Noted, lib.Tensor):
        def __new__(cls, x):
            return x.as_subclass(cls)

        def __init__(self, x):
            self.note = "read"
            self._meta, self._steps = {"size": 3}, 4

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            made = super().__torch_function__(func, types, args, kwargs)
            if isinstance(made, Image):
                made.__dict__ = args[0].__dict__.copy()
            return made

    x = Image(lib.arange(6.0).reshape(2, 3))
    y = (x * 2).sum()
    return sorted(vars(x)), y.tolist(), type(y).__name__, y.note, y._meta, (x - 1)[0].tolist(), x.is_meta, x.to(dtype=None).tolist()


def test_attributes_that_are_handed_on_as_a_whole_leave_the_values_alone():
    """As MONAI's and fastai's tensors do. Raw, the dict of a tensor has its state in it."""
    mine, expected = with_words_of_its_own(badak), with_words_of_its_own(torch)
    assert [*mine[0], *mine[1:]] == [*expected[0], *expected[1:]]


def test_a_class_with_slots():
    class Slotted(badak.Tensor):
        __slots__ = ("elem",)

    for x in (badak.ones(2).as_subclass(Slotted), badak.Tensor._make_subclass(Slotted, badak.ones(2))):
        x.elem, x.word = badak.zeros(1), "said"
        for y in (copy.copy(x), copy.deepcopy(x)):
            assert type(y) is Slotted and y.tolist() == [1, 1] and y.word == "said"
            assert y.elem.tolist() == [0]
        assert copy.deepcopy(x).elem is not x.elem


def test_no_class_is_asked_whether_it_is_a_tensor():
    class Lazy:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise AssertionError(func)

    for lib in (badak, torch):
        assert not lib.is_tensor(Lazy()) and not lib.is_storage(Lazy())


@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_a_derived_class_makes_its_own_pickle_of_a_tensors(lib):
    class Kept(lib.Tensor):
        def __reduce_ex__(self, protocol):
            build, arguments = super().__reduce_ex__(protocol)
            return remade, (build, arguments, "again")

    def remade(build, arguments, word):
        made = build(*arguments)
        made.word = word
        return made

    one = lib.ones(2).as_subclass(Kept)
    one.mark = "mine"
    again = copy.copy(one)
    assert type(again) is Kept and (again.mark, again.word) == ("mine", "again") and again.tolist() == [1.0, 1.0]


def asking(lib, calls):
    class Asked(lib.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append(func)
            if func == lib.Tensor.ndim.__get__:
                return 10
            return super().__torch_function__(func, types, args, kwargs or {})

    return Asked


READ = """shape dtype device ndim grad data requires_grad is_leaf T mT H mH real itemsize nbytes output_nr grad_fn _version _base
is_meta retains_grad is_cpu is_cuda is_mps is_sparse is_nested is_quantized layout""".split()


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_a_class_that_answers_is_asked_for_attributes(lib, name):
    calls: list = []
    kind = asking(lib, calls)
    x = lib.ones(2, 2).as_subclass(kind)
    calls.clear()
    found = getattr(x, name)
    assert calls[:1] == [getattr(lib.Tensor, name).__get__] and (name != "ndim" or found == 10)
    assert (type(found) is kind) is (name in ("data", "T", "mT", "H", "mH", "real"))
    assert getattr(kind, name) == getattr(lib.Tensor, name)


PYTHON = {
    "__len__": len, "__bool__": lambda x: bool(x[0, 0]), "__float__": lambda x: float(x[0, 0]), "__contains__": lambda x: 1 in x,
    "__repr__": repr, "__format__": lambda x: format(x[0, 0]), "__reduce_ex__": lambda x: x.__reduce_ex__(2),
    "__set__": lambda x: setattr(x, "requires_grad", False), "__delete__": lambda x: delattr(x, "grad"),
}  # fmt: skip


@pytest.mark.parametrize("name", PYTHON)
@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_a_class_that_answers_is_asked_by_functions_of_python(lib, name):
    calls: list = []
    x = lib.ones(2, 2).as_subclass(asking(lib, calls))
    calls.clear()
    PYTHON[name](x)
    assert name in [call.__name__ for call in calls]


@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_a_class_that_answers_may_have_attributes_of_its_own_and_none_are_asked_inside(lib):
    calls: list = []

    class Own(asking(lib, calls)):
        shape = "mine"

    x, y = lib.ones(2, 2).as_subclass(Own), lib.ones(2, 2)
    calls.clear()
    assert x.shape == "mine" and not calls
    made = lib.nn.functional.linear(x, y) + x.sum()
    assert type(made) is Own and lib.Tensor.shape.__get__ not in calls
    with lib._C.DisableTorchFunctionSubclass():
        assert x.ndim == 2
    calls.clear()
    assert y.ndim == 2 and not calls


@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_a_mode_is_asked_for_attributes_and_by_functions_of_python_while_it_is_on(lib):
    calls: list = []

    class Mode(lib.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            calls.append(func)
            return 10 if func == lib.Tensor.ndim.__get__ else func(*args, **(kwargs or {}))

    x, before = lib.ones(2, 2), dict(vars(lib.Tensor))
    with Mode():
        for name in READ:
            found = getattr(x, name)
            assert calls == [getattr(lib.Tensor, name).__get__] and (name != "ndim" or found == 10)
            assert lib.overrides.resolve_name(calls[0]) == f"torch.Tensor.{name}.__get__"
            calls.clear()
        x.grad = None
        assert len(x) == 2 and [func.__name__ for func in calls] == ["__set__", "__len__"]
        calls.clear()
        lib.nn.functional.linear(x, x)
        assert calls == [lib.nn.functional.linear]
    calls.clear()
    assert x.ndim == 2 and not calls and dict(vars(lib.Tensor)) == before


def test_attributes_that_say_the_same_of_every_tensor_are_not_set():
    for lib in (torch, badak):
        with pytest.raises(AttributeError, match="is_cuda.*not writable"):
            lib.ones(1).is_cuda = True
