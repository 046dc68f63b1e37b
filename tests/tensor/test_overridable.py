"""Every function that a class answers for in PyTorch, it answers for here: PyTorch lists them, and is asked first."""

import inspect

import numpy as np
import pytest
import torch
from torch import overrides

import badak

LISTS = "cat stack hstack vstack dstack concat concatenate column_stack row_stack block_diag".split()
BY_THEIR_PARTS = {"uniform_", "normal_", "constant_", "kaiming_uniform_"}  # of nn.init: a class is asked for what they call


def name_of(function):
    return (overrides.resolve_name(function) or "").removeprefix("torch.")


def is_public(name):
    return bool(name) and not any(part[0] == "_" for part in name.split(".") if part[:2] != "__")


NAMES = {name: like for function, like in overrides.get_testing_overrides().items() if is_public(name := name_of(function))}
FUNCTIONS = [name for name in NAMES if not name.startswith("Tensor.") and name.removeprefix("nn.init.") not in BY_THEIR_PARTS]
METHODS = [name.removeprefix("Tensor.") for name in NAMES if name.startswith("Tensor.") and name.count(".") == 1]


def asked(call):
    """What a call gives whose arguments are of a class that answers -1; None where it fails."""
    try:
        return call()
    except Exception:
        return None


def reach(lib, name):
    found = lib
    for part in name.split("."):
        found = getattr(found, part)
    return found


def answers(lib, name):
    class Answers:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return -1

    spec = inspect.getfullargspec(NAMES[name])
    number = len(spec.args) - len(spec.defaults or ()) + 2 * bool(spec.varargs)
    args = [Answers() for _ in range(number)]
    if name in LISTS and not spec.varargs:
        args[0] = [Answers(), Answers()]
    return asked(lambda: reach(lib, name)(*args, **({"upper": True} if "solve_triangular" in name else {})))


def method_answers(lib, name):
    class Answers(lib.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return -1

    spec = inspect.getfullargspec(NAMES[f"Tensor.{name}"])
    number = len(spec.args) - len(spec.defaults or ()) - 1 + bool(spec.varargs)
    x, *args = (lib.ones(1).as_subclass(Answers) for _ in range(number + 1))
    return asked(lambda: getattr(x, name)(*args))


def has(name):
    return asked(lambda: reach(badak, name)) is not None


@pytest.mark.filterwarnings("ignore")
def test_a_class_answers_for_the_functions_that_it_answers_for_in_pytorch():
    theirs = [name for name in FUNCTIONS if answers(torch, name) == -1]
    assert len(theirs) > 600
    assert [name for name in theirs if has(name) and answers(badak, name) != -1] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_class_of_tensors_answers_for_the_methods_that_it_answers_for_in_pytorch():
    theirs = [name for name in METHODS if method_answers(torch, name) == -1]
    assert len(theirs) > 450
    there = [name for name in theirs if hasattr(badak.Tensor, name) and name not in ("__setstate__", "__nonzero__")]
    assert [name for name in there if method_answers(badak, name) != -1] == []


@pytest.mark.parametrize("lib", [torch, badak])
def test_a_class_sees_what_numpy_asks(lib):
    seen = []

    class Tells(lib.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            seen.append(function.__name__)
            return super().__torch_function__(function, types, args, kwargs or {})

    x = lib.ones(2).as_subclass(Tells)
    assert np.asarray(x, dtype=np.float64).tolist() == [1.0, 1.0]
    assert lib.special.erf(x).dtype == lib.float32 and type(lib.special.expit(x)) is Tells
    assert "__array__" in seen
