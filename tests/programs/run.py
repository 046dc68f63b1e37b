"""One run of a program: with or without compile, with one backend, on some threads, in badak or in PyTorch."""

import array
import collections
import contextvars
import copy
import dataclasses
import enum
import functools
import gc
import io
import itertools
import operator
import random
import threading
import types
import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

import badak
from badak import kernels
from badak.core import events
from badak.core.events import Observer
from badak.training.fit import fit
from tests.programs.record import Record


@dataclass(frozen=True)
class Way:
    """How to run a program."""

    compiled: bool = False
    kernels: str = "numba"
    threads: int = 1
    torch: bool = False
    dtype: str = "float32"
    nudge: int = 0  # not 0: the numbers that go in are off by a rounding or two, another one for each nudge

    def __str__(self) -> str:
        if self.torch:
            return f"PyTorch, {self.dtype}"
        threads = f"{self.threads} thread{'s' * (self.threads > 1)}"
        return f"{'compiled' if self.compiled else 'eager'}, {self.kernels}, {threads}, {self.dtype}"


STANDARD = (array, collections, contextvars, copy, dataclasses, enum, functools, gc, io, itertools, operator, random, types)
ROUNDINGS = 4  # that an operation may be off by: sums of a hundred terms are, and two of them more so


class Roundings(Observer):
    """Puts what each operation and each backward makes off by a few roundings: what comes of it decides which digits mean something.

    Numbers that go in off by a rounding would not do: a gradient that is 0 but for roundings stays so whatever goes in.
    """

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        if op.view:
            return
        made = [y._array for y in outputs]
        self._round(made, arrays)
        for name, x in saved.__dict__.items():  # the way to the result, as the gates of a recurrence
            if isinstance(x, np.ndarray) and x.dtype.kind == "f" and not any(x is each for each in (*arrays, *made)):
                saved.__dict__[name] = x * self._off(x)

    def on_backward(self, node, dys, dxs) -> None:
        if node.op.owns_grads:
            self._round(dxs, dys)

    def _round(self, made, given) -> None:
        for x in made:
            if x is not None and x.dtype.kind == "f" and x.base is None and not any(x is each for each in given):
                x *= self._off(x)

    def _off(self, x):
        return (1 + self.rng.integers(-ROUNDINGS, ROUNDINGS + 1, x.shape) * np.finfo(x.dtype).eps).astype(x.dtype)


class Run:
    """What came of a program: its record, and what its compiled functions say of themselves."""

    def __init__(self, text: str, way: Way):
        self.way = way
        self.lib = __import__("torch") if way.torch else badak
        self.record = Record(self.lib)
        self.compiled: list = []
        self._local = threading.local()
        self._calls = 0
        with _settings(self.lib, way), _randomness(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self.lib.manual_seed(0)
            names = self._names()
            self._hidden = set(names)
            self.names = names
            with self._roundings():
                try:
                    exec(compile(text, "<program>", "exec"), names)
                except Exception as error:
                    self.record.error("the program", error)
            self._look("the end")

    @contextmanager
    def _roundings(self):
        """In a run with a nudge: every operation of this thread is off by a rounding."""
        rounding = Roundings(self.way.nudge) if self.way.nudge and not self.way.torch else None
        if rounding:
            events.watch(rounding)
        try:
            yield
        finally:
            if rounding:
                events.watch(rounding, False)

    @property
    def whys(self) -> list[str]:
        """For each compiled function: why it was not replayed; "replayed" where it was."""
        return [_said(each) for each in self.compiled]

    def _names(self) -> dict:
        lib = self.lib
        names = {name: getattr(lib, name) for name in ("nn", "optim")}
        names |= {
            "torch": lib,
            "F": lib.nn.functional,
            "np": np,
            "fit": self._fit,
            "compile": self._compile,
            "watch": self._watch,
        }
        names |= {"draw": self._draw, "ints": self._ints, "note": lambda error: self.record.error("caught", error)}
        names |= {module.__name__: module for module in STANDARD}
        return names | {
            "together": self._together,
            "in_turn": self._in_turn,
            "__name__": "program",
            "print": lambda *_: None,
        }

    def _compile(self, function):
        if not self.way.compiled:
            return function
        made = badak.compile(function)
        self.compiled.append(made)
        return made

    def _fit(self, model, batches, loss, **settings):
        """What a training with callbacks came to: its steps, how it ended, and the losses of its rows."""
        outcome = fit(model, batches, loss, compiled=self.way.compiled, log=None, **settings)
        return [outcome.step, outcome.ended, [row.train_loss for row in outcome.rows]]

    def _rng(self) -> np.random.Generator:
        if not hasattr(self._local, "rng"):
            self._local.rng = np.random.default_rng(0)
            self._local.nudges = np.random.default_rng(self.way.nudge)
        return self._local.rng

    def _draw(self, *shape):
        """Normal numbers, the same in both precisions."""
        values = self._rng().standard_normal(shape).astype(np.float32).astype(self.way.dtype)
        if self.way.nudge:
            values *= 1 + np.finfo(self.way.dtype).eps * self._local.nudges.integers(-2, 3, shape)
        return self._given(np.array(values, self.way.dtype))

    def _ints(self, n, *shape):
        return self._given(np.array(self._rng().integers(0, n, shape)))

    def _given(self, array: np.ndarray):
        """The array as a tensor. PyTorch's has memory of its own: after a failed `resize_` of NumPy's it writes past the end."""
        x = self.lib.from_numpy(array)
        return x.clone() if self.way.torch else x

    def _watch(self, function, *args):
        """Call, and write down what came of it."""
        self._calls += 1
        if self._calls == 1 and self.way.nudge:
            self._nudge()
        name = getattr(function, "__name__", type(function).__name__)
        where = f"call {self._calls} ({name})"
        record = getattr(self._local, "record", self.record)
        result = None
        try:
            result = function(*args)
            record.look(where, result)
        except Exception as error:
            record.error(where, error)
        for at, value in enumerate(args):
            record.look(f"{where} argument {at}", value)
        if record is self.record:
            self._look(where)
        return result

    def _nudge(self) -> None:
        """Put every parameter and tensor of the program off by a rounding or two."""
        lib, rng = self.lib, np.random.default_rng(self.way.nudge)
        found = [value for name, value in self.names.items() if name not in self._hidden]
        tensors = [x for x in found if isinstance(x, lib.Tensor)]
        for x in tensors + [p for module in found if isinstance(module, lib.nn.Module) for p in module.parameters()]:
            if x.is_floating_point():
                factor = 1 + float(lib.finfo(x.dtype).eps) * rng.integers(-2, 3, tuple(x.shape))
                x.data.mul_(lib.from_numpy(np.array(factor)).to(x.dtype))

    def _look(self, where: str) -> None:
        self.record.look_around(where, {name: value for name, value in self.names.items() if name not in self._hidden})

    def _together(self, *works, in_turn: bool = False):
        records = [Record(self.lib) for _ in works]

        def run(work, record):
            self._local.record = record
            try:
                with self._roundings():
                    work()
            except Exception as error:
                record.error("the thread (", error)

        threads = [threading.Thread(target=run, args=pair) for pair in zip(works, records)]
        for thread in threads:
            thread.start()
            if in_turn:
                thread.join()
        for thread in threads:
            thread.join()
        for number, record in enumerate(records):  # calls are counted across threads: their numbers say nothing here
            self.record.extend((f"thread {number}: {where.partition(' (')[2]}", value) for where, value in record)

    def _in_turn(self, *works):
        self._together(*works, in_turn=True)


def _said(made) -> str:
    """What a compiled function says of itself after its calls."""
    compiled = getattr(made.forward, "__self__", made.forward) if hasattr(made, "forward") else made  # of a module: its forward
    if not hasattr(compiled, "recordings"):
        return "its forward was replaced"
    if compiled.fallback_reason:
        return compiled.fallback_reason
    if compiled.recordings:
        return "replayed"
    plans = [plan for several in compiled.plans.values() for plan in several]
    return next((why for plan in plans for why in (plan.refused, plan.waits, plan.dropped) if why), "too few calls alike")


@contextmanager
def _randomness():
    """The random numbers of Python and NumPy from the start, and afterwards as they were."""
    before = random.getstate(), np.random.get_state()
    random.seed(0)
    np.random.seed(0)
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])


@contextmanager
def _settings(lib, way: Way):
    """The way's dtype and kernels, and afterwards everything as it was."""
    default, grad = lib.get_default_dtype(), lib.is_grad_enabled()
    lib.set_default_dtype(getattr(lib, way.dtype))
    if lib is not badak:
        try:
            yield
        finally:
            lib.set_default_dtype(default)
            lib.set_grad_enabled(grad)
        return
    from badak.kernels import numba
    from badak.kernels.numba.threadpool import parallel

    threads, grain = numba.get_num_threads(), (parallel._GRAIN, parallel._KEPT_GRAIN)
    try:
        with kernels.use(way.kernels):
            numba.set_num_threads(way.threads)
            if way.threads > 1:
                parallel._GRAIN, parallel._KEPT_GRAIN = 0, 0  # even the smallest work is shared out
            yield
    finally:
        numba.set_num_threads(threads)
        parallel._GRAIN, parallel._KEPT_GRAIN = grain
        badak.set_default_dtype(default)
        badak.set_grad_enabled(grad)
