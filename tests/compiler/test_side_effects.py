"""What a step does in Python besides computing is done in every call, in whatever it is written that the step runs."""

import functools
import operator
import os

import numpy as np
import pytest

import badak
from badak import nn

CALLS = 8
PLACES = {}


def place(make):
    PLACES[make.__name__] = make
    return make


class Counting(nn.Module):
    def __init__(self, seen):
        super().__init__()
        self.layer, self.seen = nn.Linear(3, 3), seen

    def forward(self, x):
        self.seen.append(1)
        return self.layer(x).detach()


@place
def the_step(seen):
    return lambda x: (seen.append(1), x * 2)[1]


@place
def a_helper(seen):
    def helper(x):
        seen.append(1)
        return x * 2

    return lambda x: helper(x)


@place
def a_module(seen):
    net = Counting(seen)
    return lambda x: net(x)


@place
def a_module_within(seen):
    net = nn.Sequential(nn.ReLU(), Counting(seen))
    return lambda x: net(x)


@place
def a_hook(seen):
    layer = nn.Linear(3, 3)
    layer.register_forward_hook(lambda *_: seen.append(1))
    return lambda x: layer(x).detach()


@place
def a_method(seen):
    class Writer:
        def write(self, x):
            seen.append(1)
            return x * 2

    writer = Writer()
    return lambda x: writer.write(x)


@place
def a_class_method(seen):
    class Writer:
        lines = seen

        @classmethod
        def write(cls, x):
            cls.lines.append(1)
            return x * 2

    return lambda x: Writer.write(x)


@place
def a_decorator(seen):
    def counted(function):
        @functools.wraps(function)
        def called(x):
            seen.append(1)
            return function(x)

        return called

    return counted(lambda x: x * 2)


def function(ahead, back):
    class Twice(badak.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ahead.append(1)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            back.append(1)
            return g * 2

    weight = nn.Parameter(badak.ones(3))

    def step(x):
        weight.grad = None
        Twice.apply(weight * x).sum().backward()
        return weight.grad.clone()

    return step


@place
def the_forward_of_a_function(seen):
    return function(seen, [])


@place
def the_backward_of_a_function(seen):
    return function([], seen)


class Line:
    """A file that cannot be asked how far it has come: each line is one more."""

    def __init__(self, seen):
        reading, writing = os.pipe()
        self.seen, self.reading, self.file = seen, open(reading, "rb", buffering=0), open(writing, "w", buffering=1)
        os.set_blocking(reading, False)

    def read(self):
        self.seen.extend(self.reading.read(1000) or b"")
        self.file.close(), self.reading.close()


def written(seen, make):
    """A step that writes one letter to such a file by a function that `make` has made of it."""
    line = Line(seen)
    write = make(line.file)
    step = lambda x: (write(), x * 2)[1]
    step.done = line.read
    return step


@place
def a_partial_of_print(seen):
    return written(seen, lambda file: functools.partial(print, "a", end="", file=file, flush=True))


@place
def a_partial_of_os_write(seen):
    return written(seen, lambda file: functools.partial(os.write, file.fileno(), b"a"))


@place
def writes_that_are_mapped(seen):
    return written(seen, lambda file: lambda: (list(map(file.write, ["a"])), list(map(operator.methodcaller("flush"), [file]))))


@place
def a_key_that_writes(seen):
    return written(seen, lambda file: lambda: sorted([b"a"], key=functools.partial(os.write, file.fileno())))


@place
def a_special_method_that_writes(seen):
    def make(file):
        class Loud:
            __len__ = functools.partial(os.write, file.fileno(), b"a")

        loud = Loud()
        return lambda: len(loud)

    return written(seen, make)


@place
def a_record_of_numpy(seen):
    record = np.zeros(1, [("n", int)])[0]

    def step(x):
        record["n"] += 1
        return x * 2

    step.done = lambda: seen.extend(range(record["n"]))
    return step


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", PLACES)
def test_what_is_done_besides_is_done_in_every_call(name):
    seen = []
    function = PLACES[name](seen)
    step = badak.compile(function)
    for _ in range(CALLS):
        step(badak.ones(2, 3))
    getattr(function, "done", lambda: None)()
    assert len(seen) == CALLS and step.fallback_reason and not step.recordings
