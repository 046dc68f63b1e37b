"""Events: what happens to memory, or to state that outlives a call, happens here or is told here.

An operation ran; memory was written; random numbers were drawn; a value went to Python; a gradient was set; state changed:
all of it reaches the observers of the thread, where it has some (`modes.observer`, one test of an attribute where it has
none). `badak.compile`, doctor, audit, look, profile, anomaly mode, debug mode and inference mode are observers.

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
from functools import partial, wraps
from typing import Any, NamedTuple

import numpy as np

from badak.core.errors import tr, user_line
from badak.core.modes import anywhere, modes


class Effect(NamedTuple):
    """A function with a decorator of this file, and what it does."""

    kind: str  # "pure", "check", "writes" or "state"
    function: Callable
    ufunc: Any = None  # pure: the function of NumPy that does it for two tensors of one dtype
    capturable: bool = False  # writes: calls of kernels alone do it
    prepared: Callable | None = None  # state: see `state`
    alone: bool = False  # state: of its first argument, and of nothing else
    elementwise: bool = False  # pure: of tensors, which it broadcasts, element by element
    along: str = ""  # pure: of an array, along the axis that this argument is


class Observer:
    """Who is told of the events of a thread, within `with observer:`. What a subclass does not override happens as if nobody
    watched. Several may watch at once: each is told, and those that run something by `proceed` do it one within the other.
    """

    eager = False  # whether compiled steps run as they are written while it watches
    tracing = False  # whether it writes down a graph of the program: `jit.is_tracing()`

    def __enter__(self):
        watch(self)
        return self

    def __exit__(self, *error) -> None:
        watch(self, False)

    # operations and the graph

    def on_op_enter(self, op: Any, forward: Callable) -> Callable:
        """An operation is about to run; gives the function that runs it. `on_op` tells of its end, unless it raises."""
        return forward

    def on_op(self, op: Any, saved: Any, inputs: tuple, arrays: list | tuple, attributes: dict, outputs: tuple) -> None:
        """An operation made the tensors `outputs`."""

    def on_backward_enter(self, node: Any, backward: Callable) -> Callable:
        """The backward of a node is about to run; gives the function that runs it. `on_backward` tells of its end."""
        return backward

    def on_backward(self, node: Any, dys: list, dxs: tuple) -> None:
        """The backward of a node made the gradients `dxs`."""

    def lets_write_over(self, node: Any) -> bool:
        """Whether the backward of this node may write a gradient over what its forward has saved."""
        return False

    def on_node(self, node: Any) -> None:
        """The graph has one node more, of which no `on_op` tells."""

    def on_backward_pass(self, outputs: list, gradients: list, options: tuple, proceed: Callable) -> None:
        """backward() is called on these tensors; proceed() does it. options: (retain_graph, create_graph, inputs)."""
        proceed()

    def on_grad_sum(self, held: np.ndarray, dy: np.ndarray, out: np.ndarray) -> None:
        """Two gradients met: out = held + dy, where out may be one of them."""

    # gradients of leaves

    def on_accumulate(self, leaf: Any, dy: np.ndarray, owned: bool, proceed: Callable) -> None:
        """A gradient arrives at a leaf; proceed(dy, owned) adds it to .grad."""
        proceed(dy, owned)

    def on_grad_read(self, leaf: Any) -> None:
        """The .grad of a leaf is looked at."""

    def on_grad_set(self, leaf: Any, grad: Any) -> None:
        """The .grad of a leaf became None, or a tensor."""

    # memory and values

    def on_call(self, effect: Effect, args: tuple, kwargs: dict, proceed: Callable) -> Any:
        """A function with a decorator of this file is called; proceed(*args, **kwargs) gives its result."""
        return proceed(*args, **kwargs)

    def on_constant(self, array: np.ndarray) -> None:
        """An array was made from the program's text alone, as by zeros(3)."""

    def on_read(self, how: str) -> None:
        """A value, or a size that depends on values, goes to Python."""

    def on_write(self, by: str) -> None:
        """The counter of some memory went on: it has other values."""

    def on_memory_asked(self, x: Any) -> None:
        """The program asks where in memory a tensor lies, how much there is, who else sees it, or how often it was written."""

    def on_alias(self, x: Any, of: Any) -> None:
        """This tensor is a new one on memory that was there before, that of the tensor `of`."""

    # modules and other objects

    def on_function(self, function: Any, args: tuple, proceed: Callable) -> Any:
        """A Function of the program is applied to `args`; proceed() gives its result."""
        return proceed()

    def on_module_access(self, module: Any) -> None:
        """A module is called, or asked for a member."""

    def on_module_call(self, module: Any, args: tuple, kwargs: dict) -> Any:
        """A module is about to be called: what the call gives in its place, or NotImplemented."""
        return NotImplemented

    def on_member(self, module: Any, name: str) -> Any:
        """A module is asked for a parameter, a buffer or a child: what is given in its place, or NotImplemented."""
        return NotImplemented

    def on_module_enter(self, module: Any, args: tuple, kwargs: dict) -> None:
        """A module is called."""

    def on_module_exit(self, module: Any, output: Any, error: Any = None) -> None:
        """The call that `on_module_enter` told of is over: it gave the output, or raised the error."""

    def on_optimizer(self, optimizer: Any) -> None:
        """An optimizer was made."""

    def on_train_mode(self, module: Any) -> None:
        """A module went from training to evaluation, or back."""

    def on_redefine(self, thing: Any, how: str) -> None:
        """A module or a tensor is another one than before, apart from values and .grad."""

    def on_state_read(self, holder: Any, name: str) -> None:
        """Python decides by this attribute of an object what happens next, or changes it."""

    def on_state_write(self, holder: Any, name: str) -> None:
        """This attribute of an object, by which Python may decide later, is about to change."""

    def on_user_code(self, what: str) -> None:
        """The user's code is called from within."""


EVENTS = tuple(name for name in vars(Observer) if name.startswith("on_"))


class _Several(Observer):
    """Several observers as one. An event that only one of them handles goes straight to that one."""

    def __init__(self, observers):
        for name in EVENTS:
            handlers = [getattr(each, name) for each in observers if getattr(type(each), name) is not getattr(Observer, name)]
            if len(handlers) == 1:
                setattr(self, name, handlers[0])
            elif handlers and name in _PROCEEDING:
                setattr(self, name, partial(_one_within_the_other, _PROCEEDING[name], handlers))
            elif handlers:
                way = _handed_on if name in _WRAPPING else _answer_of if name in _ANSWERING else _tell_all
                setattr(self, name, partial(way, handlers))


_WRAPPING = ("on_op_enter", "on_backward_enter")
_ANSWERING = ("on_module_call", "on_member")
_PROCEEDING: dict[str, Callable] = {  # what the next observer is given, where the one before proceeds with these arguments
    "on_call": lambda told, args, kwargs: (told[0], args, kwargs),
    "on_accumulate": lambda told, args, kwargs: (told[0], *args),
    "on_backward_pass": lambda told, args, kwargs: told,
    "on_function": lambda told, args, kwargs: told,
}


def _tell_all(handlers, *event) -> None:
    for handler in handlers:
        handler(*event)


def _handed_on(handlers, what, function):
    for handler in handlers:
        function = handler(what, function)
    return function


def _answer_of(handlers, *event):
    answers = (handler(*event) for handler in handlers)
    return next((answer for answer in answers if answer is not NotImplemented), NotImplemented)


def _one_within_the_other(again: Callable, handlers, *event):
    *told, proceed = event
    first, *rest = handlers
    if rest:
        inner = proceed
        proceed = lambda *args, **kwargs: _one_within_the_other(again, rest, *again(told, args, kwargs), inner)
    return first(*told, proceed)


class _Inference(Observer):
    """What is made in inference mode never joins a graph; a view of what was made outside of it may."""

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        for y in outputs:
            y._inference = y._whole is None or y._whole._inference


class _Debug(Observer):
    """Every node remembers the line of the user's program that it comes from."""

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        if outputs[0]._node is not None:
            outputs[0]._node.line = user_line()

    def on_node(self, node) -> None:
        node.line = user_line()


INFERENCE, DEBUG = _Inference(), _Debug()
_counting = threading.Lock()


def watch(observer: Observer, on: bool = True) -> None:
    """Tell this observer of this thread's effects from now on, or no more."""
    before = modes.observers
    others = [each for each in before if each is not observer]
    modes.observers = several = tuple(sorted((*others, observer) if on else others, key=lambda each: each.eager))
    with _counting:
        anywhere.observers += len(several) - len(before)
        if observer is not INFERENCE:
            anywhere.has_observers += len(several) - len(before)
    modes.observer = None if not several else several[0] if len(several) == 1 else _Several(several)


if modes.debug:  # in every thread
    watch(DEBUG)
    type(modes).at_first = (DEBUG,), DEBUG


# ---------------------------------------------------------------- functions that say what they do


def _observed(kind: str, function: Callable | None, **said):
    if function is None:
        return lambda function: _observed(kind, function, **said)
    effect = Effect(kind, function, **said)

    @wraps(function)
    def through(*args, **kwargs):
        if anywhere.has_observers and modes.observer is not None:
            return modes.observer.on_call(effect, args, kwargs, function)
        return function(*args, **kwargs)

    return through


def pure(
    function: Callable | None = None, *, ufunc: Callable | None = None, elementwise: bool = False, along: str = ""
) -> Callable:
    """Decorator: the function makes tensors of its arguments, and nothing else happens.

    ufunc: the function of NumPy that does it for two tensors of one dtype. elementwise, along: what vmap may make of it.
    """
    return _observed("pure", function, ufunc=ufunc, elementwise=elementwise or ufunc is not None, along=along)


def check(function: Callable | None = None, *, elementwise: bool = False) -> Callable:
    """Decorator: the function looks at values and raises, or does nothing. elementwise: at each for itself."""
    return _observed("check", function, elementwise=elementwise)


def writes(function: Callable | None = None, *, capturable: bool = False, elementwise: bool = False) -> Callable:
    """Decorator: the function gives its first argument, a tensor, other values.

    capturable: calls of kernels alone do it. elementwise: it knows of no axis.
    """
    return _observed("writes", function, capturable=capturable, elementwise=elementwise)


def state(function: Callable | None = None, *, alone: bool = False, prepared: Callable | None = None) -> Callable:
    """Decorator: the function changes what outlives the call. alone: only its first argument, which is no tensor.

    prepared(*args, **kwargs) is asked after a recorded call. It gives None, or a pair (prepare, leaves): prepare() does all of
    the next call but its kernel calls, which are then played again on the same arrays, and gives True; or it gives False,
    having done nothing, where they would no longer be the right ones. leaves: the tensors whose .grad these calls read.
    Or a pair (None, arrays): the kernel calls alone do all of the next call, where they read its arguments and these arrays.
    """
    return _observed("state", function, prepared=prepared, alone=alone)


# ---------------------------------------------------------------- what any call may read

of_all: list[tuple[dict, str]] = []  # (namespace, name) of what a program sets or registers for all, and badak reads untold


def for_all(namespace: dict, *names: str) -> None:
    """Let compiled steps compare what these names of a module mean, and what is in it where that is a table."""
    of_all.extend((namespace, name) for name in names)


# ---------------------------------------------------------------- what is told


grad_mode_listeners: list[Callable[[], None]] = []  # called where a block of no_grad() or its kin begins or ends


def constant(array: np.ndarray) -> None:
    """Tell that this array was made from the program's text and from sizes alone."""
    if anywhere.has_observers and modes.observer is not None:
        modes.observer.on_constant(array)


def read(how: str) -> None:
    """Tell that a value goes to Python."""
    if anywhere.has_observers and modes.observer is not None:
        modes.observer.on_read(how)


def memory_asked(x: Any) -> None:
    """Tell that the program asks where in memory a tensor lies, how much that is, who else sees it, how often it was written."""
    if anywhere.has_observers and modes.observer is not None:
        modes.observer.on_memory_asked(x)


def user_code(what: str) -> None:
    """Tell that code of the user is called from within."""
    if anywhere.has_observers and modes.observer is not None:
        modes.observer.on_user_code(what)


def setting(name: str) -> None:
    """Tell that a function sets something for the whole process, or its thread, which a replay would leave as it is."""
    if anywhere.has_observers and modes.observer is not None:
        modes.observer.on_user_code(tr("it calls {}, which sets something for what comes after", name))


def state_read(holder: Any, name: str) -> None:
    """Tell that what happens next depends on this attribute of an object, or changes it."""
    if anywhere.has_observers and modes.observer is not None:
        modes.observer.on_state_read(holder, name)


def state_write(holder: Any, name: str) -> None:
    """Tell that this attribute of an object, by which somebody may decide later, is about to change."""
    if anywhere.has_observers and modes.observer is not None:
        modes.observer.on_state_write(holder, name)


def alias(x: Any, of: Any) -> None:
    """Tell that this tensor is a new one on memory that was there before, as by of.detach()."""
    if anywhere.has_observers and modes.observer is not None:
        modes.observer.on_alias(x, of)


def redefine(thing: Any, how: str | Callable[[], str]) -> None:
    """Tell that a module has another attribute, member or hook; that a tensor has another history or other memory, or that its
    gradient is wanted from now on, or no more. Recordings that met it hold no more. how: what happened, made if somebody asks."""
    if anywhere.has_observers and modes.observer is not None:
        modes.observer.on_redefine(thing, how if isinstance(how, str) else how())
    if dependents.known:
        for recording in dependents.of(thing):
            recording.drop(how if isinstance(how, str) else how())


def train_mode(module: Any) -> None:
    """Tell that a module went from training to evaluation, or back."""
    if anywhere.has_observers and modes.observer is not None:
        modes.observer.on_train_mode(module)
    for recording in dependents.of(module):
        recording.switched(module)


def grad_handed_out(leaf: Any) -> None:
    """Tell that the program takes the .grad of a leaf, which it may keep."""
    for recording in dependents.of(leaf):
        recording.grad_handed_out(leaf)


# ---------------------------------------------------------------- what recordings depend on


class Dependents:
    """The recordings that hold as long as their modules and tensors stay what they are, by the `id` of these.

    A recording has the methods drop(how), switched(module) and grad_handed_out(leaf), and is known only as long as others hold it.
    """

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, weakref.WeakSet]] = {}

    def add(self, thing: Any, recording: Any) -> None:
        """The recording depends on this thing from now on."""
        key = id(thing)
        if key not in self.known:
            self.known[key] = weakref.ref(thing, lambda _: self.known.pop(key, None)), weakref.WeakSet()
        self.known[key][1].add(recording)

    def of(self, thing: Any) -> list:
        """The recordings that depend on it."""
        found = self.known.get(id(thing))
        return list(found[1]) if found is not None and found[0]() is thing else []


dependents = Dependents()
