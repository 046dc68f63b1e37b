"""The one door for effects: what happens to memory, or to state that outlives a call, happens here or is told here.

An operation ran; memory was written; random numbers were drawn; a value went to Python; a gradient was set; state changed:
all of it reaches the `Observer` of the thread, where it has one (`modes.observer`, one test of an attribute where it has
none). A recording of `badak.compile` is one, anomaly mode, debug mode and inference mode are the others.

A function that is no operation says with its decorator what it does to the world:

    pure      makes tensors of its arguments, and nothing else happens
    check     looks at values and raises, or does nothing
    writes    gives its first argument, a tensor, other values
    state     anything else that outlives the call: a step of an optimizer, a draw of random numbers, a cache that moves on

Within such a function nobody watches: what it does is one effect. All writes to the memory of tensors, and to state, stand
in one. `Version.bump` outside of them is a change that nobody announced.
"""

import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

from badak.core.errors import user_line
from badak.core.modes import anywhere, modes


class Effect(NamedTuple):
    """A function behind a decorator of this file, and what it does."""

    kind: str  # "pure", "check", "writes" or "state"
    function: Callable
    ufunc: Any = None  # pure: the function of NumPy that does it for two tensors of one dtype
    capturable: bool = False  # writes: calls of kernels alone do it
    prepared: Callable | None = None  # state: see `state`
    alone: bool = False  # state: of its first argument, and of nothing else


class Observer:
    """One who is told of the effects of a thread. What a subclass does not override happens as if nobody watched."""

    acts = False  # True: it does some of it itself; one of these at most

    def ran(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        """An operation made the tensors `outputs`."""

    def went_back(self, node, dys, dxs) -> None:
        """The backward of a node made the gradients `dxs`."""

    def noted(self, node) -> None:
        """The graph has one node more, which no operation that `ran` has made."""

    def summed(self, held, dy, out) -> None:
        """Two gradients met: out = held + dy, where out may be one of them."""

    def call(self, effect: Effect, args, kwargs):
        """A function behind the door is called; gives its result."""
        return effect.function(*args, **kwargs)

    def accumulate(self, leaf, dy, owned: bool) -> None:
        """A gradient arrives at a leaf; the observer hands it on to `leaf._take_gradient`."""
        leaf._take_gradient(dy, owned)

    def grad_read(self, leaf) -> None:
        """The .grad of a leaf is looked at."""

    def grad_set(self, leaf, grad) -> None:
        """The .grad of a leaf became None, or a tensor."""

    def made(self, array) -> None:
        """An array was made from the program's text alone, as by zeros(3)."""

    def read(self, how: str) -> None:
        """A value, or a size that depends on values, goes to Python."""

    def bumped(self, by: str) -> None:
        """The counter of some memory went on: it has other values."""

    def met(self, module) -> None:
        """A module is called, or asked for a member."""

    def redefined(self, thing, how: str) -> None:
        """A module or a tensor is another one than before, apart from values and .grad."""

    def switched(self, module) -> None:
        """A module went from training to evaluation, or back."""

    def decides(self, holder, name: str) -> None:
        """Python decides by this attribute of an object what happens next, or changes it."""

    def changes(self, holder, name: str) -> None:
        """This attribute of an object, by which Python may decide later, is about to change."""

    def derived(self, x, of) -> None:
        """This tensor is a new one on memory that was there before, that of the tensor `of`."""

    def hooked(self, what: str) -> None:
        """The user's code is called from within."""


class _Several:
    """More than one. The last of them has the say where somebody has to do something."""

    def __init__(self, observers):
        self.all, self.last = observers, observers[-1]

    def ran(self, *what) -> None:
        for each in self.all:
            each.ran(*what)

    def went_back(self, *what) -> None:
        for each in self.all:
            each.went_back(*what)

    def noted(self, node) -> None:
        for each in self.all:
            each.noted(node)

    def __getattr__(self, name: str):
        return getattr(self.last, name)


class _Inference(Observer):
    """What is made in inference mode never joins a graph."""

    def ran(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        for y in outputs:
            y._inference = True


class _Debug(Observer):
    """Every node remembers the line of the user's program that it comes from."""

    def ran(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        if outputs[0]._node is not None:
            outputs[0]._node.line = user_line()

    def noted(self, node) -> None:
        node.line = user_line()


INFERENCE, DEBUG = _Inference(), _Debug()
_counting = threading.Lock()


def watch(observer: Observer, on: bool = True) -> None:
    """Tell this observer of this thread's effects from now on, or no more."""
    before = modes.observers
    others = [each for each in before if each is not observer]
    modes.observers = several = tuple(sorted((*others, observer) if on else others, key=lambda each: each.acts))
    with _counting:
        anywhere.observers += len(several) - len(before)
        if observer is not INFERENCE:
            anywhere.curious += len(several) - len(before)
    modes.observer = None if not several else several[0] if len(several) == 1 else _Several(several)


if modes.debug:  # in every thread
    watch(DEBUG)
    type(modes).at_first = (DEBUG,), DEBUG


# ---------------------------------------------------------------- functions behind the door


def _behind(effect: Effect):
    function = effect.function

    @wraps(function)
    def through(*args, **kwargs):
        if anywhere.curious and modes.observer is not None:
            return modes.observer.call(effect, args, kwargs)
        return function(*args, **kwargs)

    return through


def pure(function=None, *, ufunc=None):
    """Decorator: the function makes tensors of its arguments, and nothing else happens.

    ufunc: the function of NumPy that does it for two tensors of one dtype.
    """
    if function is None:
        return lambda function: pure(function, ufunc=ufunc)
    return _behind(Effect("pure", function, ufunc))


def check(function):
    """Decorator: the function looks at values and raises, or does nothing."""
    return _behind(Effect("check", function))


def writes(function=None, *, capturable: bool = False):
    """Decorator: the function gives its first argument, a tensor, other values. capturable: calls of kernels alone do it."""
    if function is None:
        return lambda function: writes(function, capturable=capturable)
    return _behind(Effect("writes", function, capturable=capturable))


def state(function=None, *, alone: bool = False, prepared=None):
    """Decorator: the function changes what outlives the call. alone: only its first argument, which is no tensor.

    prepared(*args, **kwargs) is asked after a recorded call. It gives None, or a pair (prepare, leaves): prepare() does all of
    the next call but its kernel calls, which are then played again on the same arrays, and gives True; or it gives False,
    having done nothing, where they would no longer be the right ones. leaves: the tensors whose .grad these calls read.
    """
    if function is None:
        return lambda function: state(function, alone=alone, prepared=prepared)
    return _behind(Effect("state", function, prepared=prepared, alone=alone))


# ---------------------------------------------------------------- what is told


def made(array) -> None:
    """Tell that this array was made from the program's text alone."""
    if anywhere.curious and modes.observer is not None:
        modes.observer.made(array)


def read(how: str) -> None:
    """Tell that a value goes to Python."""
    if anywhere.curious and modes.observer is not None:
        modes.observer.read(how)


def hooked(what: str) -> None:
    """Tell that code of the user is called from within."""
    if anywhere.curious and modes.observer is not None:
        modes.observer.hooked(what)


def decides(holder, name: str) -> None:
    """Tell that what happens next depends on this attribute of an object, or changes it."""
    if anywhere.curious and modes.observer is not None:
        modes.observer.decides(holder, name)


def changes(holder, name: str) -> None:
    """Tell that this attribute of an object, by which somebody may decide later, is about to change."""
    if anywhere.curious and modes.observer is not None:
        modes.observer.changes(holder, name)


def derived(x, of) -> None:
    """Tell that this tensor is a new one on memory that was there before, as by of.detach()."""
    if anywhere.curious and modes.observer is not None:
        modes.observer.derived(x, of)


def redefined(thing, how: str) -> None:
    """Tell that a module has another attribute, member or hook; that a tensor has another history or other memory, or that its
    gradient is wanted from now on, or no more. Recordings that met it hold no more."""
    if anywhere.curious and modes.observer is not None:
        modes.observer.redefined(thing, how)
    if dependents.known:
        for recording in dependents.of(thing):
            recording.drop(how)


def switched(module) -> None:
    """Tell that a module went from training to evaluation, or back."""
    if anywhere.curious and modes.observer is not None:
        modes.observer.switched(module)
    for recording in dependents.of(module):
        recording.switched(module)


def grad_handed_out(leaf) -> None:
    """Tell that the program takes the .grad of a leaf, which it may keep."""
    for recording in dependents.of(leaf):
        recording.grad_handed_out(leaf)


# ---------------------------------------------------------------- what recordings depend on


class Dependents:
    """The recordings that hold as long as their modules and tensors stay what they are, by the `id` of these.

    A recording has the methods drop(how), switched(module) and grad_handed_out(leaf), and is known only as long as others hold it.
    """

    def __init__(self):
        self.known: dict[int, tuple[Any, weakref.WeakSet]] = {}

    def add(self, thing, recording) -> None:
        """The recording depends on this thing from now on."""
        key = id(thing)
        if key not in self.known:
            self.known[key] = weakref.ref(thing, lambda _: self.known.pop(key, None)), weakref.WeakSet()
        self.known[key][1].add(recording)

    def of(self, thing) -> list:
        """The recordings that depend on it."""
        found = self.known.get(id(thing))
        return list(found[1]) if found is not None and found[0]() is thing else []


dependents = Dependents()
