"""`__torch_function__`: classes and modes that answer for a public function instead of it (NEP 18, as PyTorch has it).

A derived class of Tensor is known from its definition on, a mode while it is entered, any other class with a `__torch_function__`
from the first call on that failed for it. While there is none of them, a call costs one test of a list.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from badak.core.errors import ArgumentTypeError, tr

active: list[Any] = []  # the classes and modes that there are
_counting = threading.Lock()
_modes_on = 0  # in all threads
_plain: dict[str, Any] = {}  # the attributes that Tensor has itself, while others stand there for a mode
NEVER = frozenset(
    """as_subclass broadcast_shapes compile finfo from_dlpack from_numpy get_default_dtype iinfo is_grad_enabled is_storage
    is_tensor load manual_seed save set_default_dtype set_grad_enabled vmap""".split()
)  # of PyTorch's functions those for which nobody can answer
MAKERS = frozenset(
    """arange as_tensor asarray can_cast empty eye fftfreq full linspace logspace ones promote_types rand randint randn randperm
    result_type rfftfreq sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor tensor tril_indices triu_indices zeros""".split()
)  # those for which no class can, but a mode

WHOLE = frozenset(
    """chunk clone copy_ detach empty_like full_like max min new_empty new_full new_ones new_zeros ones_like rand_like randint_like
    randn_like repeat split squeeze t unsqueeze zeros_like""".split()
)  # what the class of a wrapper is asked for as it is called, although it needs no number
_BY_PYTHON = (
    "__len__ __bool__ __float__ __int__ __complex__ __index__ __contains__ __format__ __repr__ __reduce_ex__ __deepcopy__ "
    "__array__ __array_wrap__ __dlpack__ __dlpack_device__"
).split()
wrappers: list[Callable] = []  # whether there is one among arguments; who answers: `compat/torch/wrapper.py` puts them here


class _State(threading.local):
    modes: tuple = ()  # the last one entered comes first to its turn
    without_classes = False


state = _State()


def disabled(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The `__torch_function__` of a class that leaves everything to badak, as Parameter does: func, and no class is asked."""
    before, state.without_classes = state.without_classes, True
    try:
        return func(*args, **(kwargs or {}))
    finally:
        state.without_classes = before


def add(one: Any) -> None:
    """From now on this class is asked, or this mode."""
    with _counting:
        active.append(one)


def remove(one: Any) -> None:
    """This mode is asked no more."""
    with _counting:
        active.remove(one)


def overridden(args: tuple, kwargs: dict) -> bool:
    """Whether one of the modes, or the class of one of the arguments, answers for the call."""
    return bool(state.modes) or bool(classes(args, kwargs))


def overridden_or_wrapper(args: tuple, kwargs: dict) -> bool:
    """The same, or one of them is a wrapper."""
    return overridden(args, kwargs) or bool(wrappers) and wrappers[0](args, kwargs)


def in_mode(args: tuple, kwargs: dict) -> bool:
    """Whether a mode answers for the call."""
    return bool(state.modes)


def asked(name: str) -> Callable | None:
    """What says whether a call of PyTorch's function of this name is answered by somebody else."""
    if name in NEVER or name in MAKERS:
        return None if name in NEVER else in_mode
    return overridden_or_wrapper if name in WHOLE or changes(name) else overridden


def changes(name: str) -> bool:
    """Whether a function of this name changes its first argument in place."""
    if name.startswith("__"):
        return name == "__setitem__" or name.startswith("__i") and name not in ("__iter__", "__invert__", "__index__", "__int__")
    return name.endswith("_") and name not in ("requires_grad_", "share_memory_")


def classes(args: Any, kwargs: dict) -> list[Any]:
    """The arguments whose classes answer, one for each class, derived classes before those that they derive from."""
    found: list[Any] = []
    if state.without_classes:
        return found
    for value in _values(args, kwargs):
        kind = type(value)
        asked = getattr(kind, "__torch_function__", None)
        if (
            asked is None
            or is_own(kind)
            or getattr(asked, "__func__", asked) is disabled
            or any(type(one) is kind for one in found)
        ):
            continue
        at = next((i for i, one in enumerate(found) if issubclass(kind, type(one))), len(found))
        found.insert(at, value)
    return found


def is_own(kind: type) -> bool:
    """Whether a class of tensors is badak's, and none that a program derives."""
    return kind.__dict__.get("_is_badaks", False)


def _values(args: Any, kwargs: dict) -> Iterator[Any]:
    for value in (*args, *kwargs.values()):
        if type(value) in (list, tuple):
            yield from value
        else:
            yield value


def dispatch(public: Callable, args: tuple, kwargs: dict) -> Any:
    """Ask the modes, then the classes; raise ArgumentTypeError where none answers."""
    found = classes(args, kwargs)
    types = tuple(map(type, found))
    if getattr(public, "spreads", False) and type(args[-1]) in (list, tuple):
        args = (*args[:-1], *args[-1])  # einsum("i,i->", [x, y]) is einsum("i,i->", x, y)
    if state.modes:
        before, mode = state.modes, state.modes[-1]
        state.modes = before[:-1]
        try:
            answer = mode.__torch_function__(public, types, args, kwargs)
        finally:
            state.modes = before
        if answer is not NotImplemented:
            return answer
    if not found and wrappers and wrappers[0](args, kwargs):
        return wrappers[1](public, args, kwargs)
    for one in found:
        answer = type(one).__torch_function__(public, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    name = getattr(public, "__name__", public)
    cause = tr(
        "no implementation found for '{}' on types that implement __torch_function__: {}", name, [kind.__name__ for kind in types]
    )
    raise ArgumentTypeError(cause, "let the __torch_function__ of one of them answer for it")


def asked_as(name: str, function: Callable, *args: Any) -> Any:
    """function(*args), or what a mode, or the class of one of them, gives for PyTorch's function of this name."""
    if not (active and overridden(args, {})):
        return function(*args)

    def public(*args: Any) -> Any:
        return function(*args)

    public.__name__ = name
    return dispatch(public, args, {})


class _Asked(property):
    """An attribute of Tensor on a class that answers, or while a mode is on: these are asked where a program reads or sets it."""

    def __init__(self, of: Any):
        super().__init__(getattr(of, "fget", None), getattr(of, "fset", None), getattr(of, "fdel", None), of.__doc__)
        self.of = of

    def __get__(self, x: Any, kind: type | None = None) -> Any:
        if x is None:
            return self.of
        return self.of.__get__(x, kind) if _badak_asks(x) else dispatch(self.of.__get__, (x,), {})

    def __set__(self, x: Any, value: Any) -> None:
        if _badak_asks(x):
            self.of.__set__(x, value)
        else:
            dispatch(self.of.__set__, (x, value), {})

    def __delete__(self, x: Any) -> None:
        if _badak_asks(x):
            self.of.__delete__(x)
        else:
            dispatch(self.of.__delete__, (x,), {})


def _asked_method(method: Callable) -> Callable:
    @wraps(method)
    def public(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs) if _badak_asks(args[0]) else dispatch(method, args, kwargs)

    return public


def _badak_asks(x: Any) -> bool:
    """Whether nobody is asked for x, as where badak's own code reads it: PyTorch's reads it in C++, which asks no one."""
    if not state.modes and (state.without_classes or is_own(type(x))):
        return True
    return sys._getframe(2).f_globals.get("__name__", "").partition(".")[0] == "badak"


def _asking(base: Any) -> dict[str, Any]:
    """The attributes of Tensor that others can answer for, and what Python's own functions call, so that these are asked."""
    every = ((name, getattr(base, name)) for name in dir(base) if name[0] != "_" or name in ("_base", "_version"))
    attributes = {name: _Asked(kept) for name, kept in every if hasattr(type(kept), "__set__")}
    return attributes | {name: _asked_method(getattr(base, name)) for name in _BY_PYTHON}


def ask_modes_for_attributes(base: Any, on: bool) -> None:
    """From now on a mode answers for the attributes of Tensor too, or no more: `base` has others while a mode is on."""
    global _modes_on
    with _counting:
        _modes_on += 1 if on else -1
        if on and _modes_on == 1:
            for name, asked in _asking(base).items():
                _plain[name] = vars(base).get(name)
                setattr(base, name, asked)
        elif not on and not _modes_on:
            for name, kept in _plain.items():
                if kept is None:  # it is inherited
                    delattr(base, name)
                else:
                    setattr(base, name, kept)
            _plain.clear()


def ask_for_attributes(cls: Any, base: Any) -> None:
    """Let a class that answers answer for the properties of its base, and for what Python's own functions call, too."""
    answers = cls.__torch_function__
    if getattr(answers, "__func__", answers) in (base.__torch_function__.__func__, disabled):
        return
    for name, one in _asking(base).items():
        if getattr(cls, name, None) is getattr(base, name):  # the class has none of its own
            setattr(cls, name, one)


def answers_foreign(args: tuple, kwargs: dict) -> bool:
    """Whether a call that failed had an argument of a class that answers, and that was not known: from now on it is."""
    if state.without_classes:
        return False
    foreign = [type(one) for one in classes(args, kwargs) if type(one) not in active]
    for kind in foreign:
        add(kind)
    return bool(foreign)
