"""What the program has asked functions of badak that told it numbers or texts: they can be asked again.

badak's own functions are not watched; what they say of a mode, of a seed or of an object is a value that the program decides by.
"""

import functools
import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from badak.compiler.code import unchanged_arguments
from badak.core.public_api.explain import guarded
from badak.tensor import Tensor

_PLAIN = (int, float, complex, bool, str, bytes, type(None))
_MANY = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR


class Question(NamedTuple):
    """A function of badak with what it was given. asked: the object that it was asked of, None for none."""

    code: types.CodeType
    asked: Any  # of a tensor, a weak reference: the step may let it go
    globals: dict
    rest: tuple  # numbers and texts
    function: Callable | None  # where that is known

    @property
    def thing(self) -> Any:
        """What it was asked of, if it is still there."""
        return self.asked() if type(self.asked) is weakref.ref else self.asked

    @property
    def key(self) -> tuple:
        return self.function or self.code, id(self.asked), repr(self.rest)

    def again(self, functions_of: Callable) -> Callable | None:
        """Something to call that asks it again; None where it is not found. functions_of: those in an entry of a class."""
        f, thing = self.function, self.thing
        if f is None and thing is None:
            found = self.globals.get(self.code.co_name)
            f = found if isinstance(found, types.FunctionType) and found.__code__ is self.code else None
        elif f is None:
            entries = (vars(kind).get(self.code.co_name) for kind in type(thing).__mro__)
            f = next((f for each in entries for f in functions_of(each) if f.__code__ is self.code), None)
        return f and functools.partial(f, *(() if thing is None else (thing,)), *self.rest)


def question_of(frame: types.FrameType) -> Question | None:
    """What a function that returns was asked, where it was given one object at most, and numbers and texts."""
    code, held = frame.f_code, frame.f_locals
    function = held.get("function") if "function" in code.co_freevars and frame.f_globals is guarded.__globals__ else None
    if function is not None:  # a public function, below `guarded`
        given = held["args"] if "args" in held else (held["self"],) if "other" not in held else None
        if given is None or held.get("kwargs"):
            return None
    else:
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if code.co_flags & _MANY or code.co_kwonlyargcount or not unchanged_arguments(code) >= {*names}:
            return None
        given = tuple(held[name] for name in names)
    own = given[:1] if given and type(given[0]) not in _PLAIN else ()
    rest = given[len(own) :]
    if not all(type(each) in _PLAIN for each in rest):
        return None
    asked = own[0] if own else None
    return Question(code, weakref.ref(asked) if type(asked) is Tensor else asked, frame.f_globals, tuple(rest), function)


def is_plain(value) -> bool:
    """Whether a value is a number or a text, or a few of them."""
    if type(value) in (list, tuple):
        return len(value) < 100 and all(map(is_plain, value))
    return type(value) in _PLAIN and value is not None
