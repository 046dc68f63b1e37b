"""The net below all checks: what a public call says when it fails in a way that no check foresaw.

A check knows best what is wrong, and says it. But a wrong kind, size or dtype can also surface deep inside, as an exception of
Python or NumPy. `guarded` turns those into the two lines of every other mistake: the call with what it was given, and how it is
called. An exception from code of the caller (a hook, a function that was handed in) is not ours and passes as it is, and so does
one by which Python itself is answered: the IndexError that ends a `for`, the KeyError of a mapping, the AttributeError of getattr.
Whatever is said, what caught the exception before catches it still: its class derives from the first one's.
"""

import os
import re
import sys
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, isgeneratorfunction, signature, unwrap
from types import FrameType, FunctionType
from typing import Any

from badak.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    BadakError,
    DTypeError,
    IndexOutOfRangeError,
    NoDataError,
    OutOfMemoryError,
    ShapeError,
    package,
    tr,
    warn,
)
from badak.core.public_api import overriding
from badak.core.public_api.kinds import SPACES, kinds_of, wrong_one
from badak.core.public_api.missing import meant
from badak.core.public_api.taken import fits, older_form, other_numbers, other_words, takes_out, with_out, worded

FOREIGN = (TypeError, AttributeError, ValueError, LookupError, ArithmeticError, MemoryError, RuntimeError)
_LIBRARIES = {"badak", "numpy", "numba", "llvmlite", "ml_dtypes", *sys.stdlib_module_names} - {"__main__", "this"}
_STDLIB = os.path.dirname(os.__file__)
BROADCAST = "sizes are aligned from the right and must be equal or 1: add axes with unsqueeze, or reshape one"


AS_IT_IS = object()  # the answer of what runs a call again: its exception stands
without_data: list[Callable] = []  # what runs a call again that met the meta device: `tensor/meta.py` puts it here

into_out: list[Callable] = []  # what calls a function that was given out=: `tensor/promote.py` puts it here


def guarded(function: Callable, space: str, name: str | None = None) -> Callable:
    """The function as it stands in the public module `space`: what fails inside it unforeseen is explained."""

    if isgeneratorfunction(function):
        return _guarded_iterator(function, space, name or function.__name__)
    kinds = kinds_of(function) if space in SPACES and name != "__init__" else ()
    own_out = takes_out(function, space, name or function.__name__)
    first = min((kind[0] for kind in kinds), default=0)
    looks = function.__module__.startswith("badak.inspect.")  # at models and runs, whatever tensors these are given
    asked = overriding.asked(name or function.__name__) if space in SPACES and name != "__init__" and not looks else None
    overridable = asked in (overriding.overridden, overriding.overridden_or_wrapper)

    @wraps(function)
    def public(*args, **kwargs):
        if overriding.active and asked is not None and asked(args, kwargs):
            return overriding.dispatch(public, args, kwargs)
        if kinds and (kwargs or len(args) > first) and (wrong := wrong_one(kinds, args, kwargs)):
            argument, wanted, found = wrong
            cause = tr("{}(): argument '{}' must be {}, not {}", name or function.__name__, argument, wanted, found)
            raise ArgumentTypeError(cause, _usage(function, name or function.__name__, space))
        try:
            if kwargs and "out" in kwargs and into_out:
                return into_out[0](function, name or function.__name__, args, kwargs, own_out)
            return function(*args, **kwargs)
        except FOREIGN as error:
            theirs = other_words(function, args, kwargs) if kwargs and type(error) is TypeError else None
            if not isinstance(error, NoDataError):
                theirs = theirs or (other_numbers(function, args, kwargs) if isinstance(error, TypeError) else None)
            if theirs:
                return public(*theirs[0], **theirs[1])
            if isinstance(error, TypeError) and (theirs := older_form(function, args, kwargs)):
                called = name or function.__name__
                warn(f"This overload of {called} is deprecated", _usage(function, called, space), kind=UserWarning)
                return public(*theirs[0], **theirs[1])
            if overridable and overriding.answers_foreign(args, kwargs):
                return overriding.dispatch(public, args, kwargs)
            return answered(error, function, name or function.__name__, args, kwargs, space)

    public.__module__, public.__explained__ = space, True  # type: ignore[attr-defined]
    if own_out is False:
        public.__signature__ = with_out(signature(function))  # type: ignore[attr-defined]
    elif function.__name__ == "__init__":  # of constructors alone: for all functions it costs a sixth of the import
        public.__signature__ = signature(function)  # type: ignore[attr-defined]  # for inspect.getfullargspec
    return public


def _guarded_iterator(function: Callable, space: str, name: str) -> Callable:
    """The same for a function that yields."""

    @wraps(function)
    def public(*args, **kwargs):
        try:
            yield from function(*args, **kwargs)
        except FOREIGN as error:
            answered(error, function, name, args, kwargs, space)

    public.__module__, public.__explained__ = space, True  # type: ignore[attr-defined]
    return public


def answered(error: BaseException, function: Callable, name: str, args: tuple, kwargs: dict, space: str) -> Any:
    """What a call gives that met the meta device; any other exception is raised, explained where it is ours."""
    try:
        result = AS_IT_IS
        if isinstance(error, NoDataError) and hasattr(error, "again"):  # an example of a vmap, `tensor/vmap.py`
            result = error.again(function, name, args, kwargs)
        elif type(error) is NoDataError and without_data:
            result = without_data[0](function, name, args, kwargs)
        else:
            explain(error, function, name, args, kwargs, space)
        if result is AS_IT_IS:
            raise error
        return result
    finally:
        del error  # whose traceback holds this frame: with a name for it, both would live until the next garbage collection


_METHOD_OF = {"__truediv__": "div", "__radd__": "add", "__rmul__": "mul"}
_METHOD_OF |= {f"__{name}__": name for name in "add sub mul matmul neg abs".split()}

_NAME_OF = {"__rtruediv__": "__rdiv__", "__mod__": "remainder", "__pow__": "pow"}  # by which PyTorch's operators are known
_NAME_OF |= {f"__{name}__": name for name in "lt le ne gt ge".split()} | {
    f"__i{name}__": f"{name}_" for name in "add sub mul".split()
}


def guarded_operator(function: Callable, space: str, name: str) -> Callable:
    """`guarded` for an operator, to which Python hands its one, two or three operands: in a third of the time."""
    asked = overriding.overridden_or_wrapper if overriding.changes(name) else overriding.overridden

    def of_one(self):
        if overriding.active and asked((self,), {}):
            return overriding.dispatch(function_of(self), (self,), {})
        try:
            return function(self)
        except FOREIGN as error:
            return answered(error, function, name, (self,), {}, space)

    def of_two(self, other):
        if overriding.active and asked((self, other), {}):
            return overriding.dispatch(function_of(self), (self, other), {})
        try:
            return function(self, other)
        except FOREIGN as error:
            if overriding.answers_foreign((self, other), {}):
                return overriding.dispatch(function_of(self), (self, other), {})
            return answered(error, function, name, (self, other), {}, space)

    def of_three(self, key, value):
        if overriding.active and asked((self, key, value), {}):
            return overriding.dispatch(function_of(self), (self, key, value), {})
        try:
            return function(self, key, value)
        except FOREIGN as error:
            return answered(error, function, name, (self, key, value), {}, space)

    def function_of(self):
        """What a class is asked for: PyTorch's operators are their methods."""
        kind = next(each for each in type(self).__mro__ if name in each.__dict__)
        return getattr(kind, _METHOD_OF.get(name, name), None) or public

    public = wraps(function)((of_one, of_two, of_three)[unwrap(function).__code__.co_argcount - 1])
    public.__module__, public.__explained__ = space, True  # type: ignore[attr-defined]
    public.__name__ = _NAME_OF.get(name, name)
    return public


def guard_names(names: dict[str, Any], space: str) -> None:
    """Guard all functions among the public names of a module: what a package lists, what a file defines or has in __all__."""
    lists, listed = "__path__" in names, names.get("__all__", ())
    for name, value in names.items():
        public = name[0] != "_" or name in listed
        if type(value) is FunctionType and public and not hasattr(value, "__explained__"):
            if lists or name in listed or value.__module__ == names["__name__"]:
                names[name] = guarded(value, space, name)


def guard_classes(names: dict[str, Any], base: type, space: str) -> None:
    """Guard the constructors of all public classes of a module that derive from `base`."""
    for name, value in names.items():
        if isinstance(value, type) and issubclass(value, base) and value is not base:
            made = getattr(value, "__init__")  # noqa: B009  (mypy knows no other way)
            if made is not getattr(base, "__init__"):  # noqa: B009
                setattr(value, "__init__", guarded(unwrap(made), space, name))  # noqa: B010


_OPERATORS = ("__init__", "__getitem__", "__iter__", "__call__")


def guard_types(names: dict[str, Any], space: str) -> None:
    """Guard the constructors and public methods of all public classes that a package lists, or a file defines."""
    for name, value in names.items():
        ours = isinstance(value, type) and value.__module__.startswith(names["__name__"])
        if ours and name[0] != "_" and not issubclass(value, BaseException):
            for member, function in list(vars(value).items()):
                made = getattr(function, "__func__", function)  # of a class method
                if (member in _OPERATORS or member[0] != "_") and type(made) is FunctionType and not hasattr(made, "__explained__"):
                    kept = guarded(made, space, name if member == "__init__" else f"{name}.{member}")
                    setattr(value, member, kept if made is function else type(function)(kept))


def explain(error: BaseException, function: Callable, name: str, args: Any, kwargs: dict, space: str) -> None:
    """Raise what says in two lines why the call failed; return where the exception is to pass as it is."""
    if isinstance(error, BadakError):
        if error.fix is None:
            error.mend(_usage(function, name, space))
        return
    assert error.__traceback__ is not None
    if "\nfix: " in str(error) or not _is_ours(error.__traceback__.tb_next) or _answers_python(error, function, args):
        return
    try:
        given = signature(function).bind(*args, **kwargs)
    except TypeError as wrong:  # a missing or an unknown argument
        twice = "multiple values" in str(error)  # libraries look for the argument's name in Python's own words
        cause = str(error) if twice else f"{name}(): {wrong}"
        raise kept(ArgumentTypeError, error)(cause, _meant(kwargs, function) + _usage(function, name, space)) from None
    asked = {argument: value for argument, value in given.arguments.items() if not _is_owner(argument, value, function)}
    wrong_kind = _wrong_kind(asked, given.signature) or _no_tensor(error, asked)
    if wrong_kind:
        argument, wanted = wrong_kind
        value = given.arguments[argument]
        fix = f"{package()}.as_tensor({argument})" if _could_be_tensor(wanted, value) else _usage(function, name, space)
        cause = tr("{}(): argument '{}' must be {}, not {}", name, argument, wanted, described(value))
        raise kept(ArgumentTypeError, error)(cause, fix) from None
    shown = {argument: value for argument, value in given.arguments.items() if argument not in ("self", "cls")}
    called = ", ".join(f"{argument}={described(value)}" for argument, value in shown.items())
    raise kept(_class_of(error), error)(
        f"{name}({called}): {_reason(error)}", _fix_of(error) or _usage(function, name, space)
    ) from None


def _meant(kwargs: dict, function: Callable) -> str:
    """ "did you mean 'weight'? " of an argument whose name is nearly that of one."""
    known = signature(function).parameters
    wrong = next((name for name in kwargs if name not in known), "")
    near = meant(wrong, [name for name in known if name not in kwargs and name != "self"]) if wrong else ""
    return f"did you mean {near}? " if near else ""


def _answers_python(error: BaseException, function: Callable, args: tuple) -> bool:
    """Whether it is part of a protocol of Python: a lookup, in a container that is no tensor, that found nothing."""
    name = function.__name__
    if isinstance(error.__cause__, StopIteration):  # raised by the program in the middle of a generator
        return True
    asked = name[:2] == "__" == name[-2:] and name not in ("__init__", "__call__")
    return asked and isinstance(error, LookupError | AttributeError) and not (args and hasattr(args[0], "_array"))


def kept(wanted: type[BadakError], error: BaseException) -> type[BadakError]:
    """`wanted`, made to derive from each of Python's own classes that the exception has, too."""
    theirs = tuple(each for each in type(error).__mro__ if each.__module__ == "builtins")
    return wanted if issubclass(wanted, theirs[:1]) else _both(wanted, theirs[0])


_classes: dict[tuple[type, type], type[BadakError]] = {}


def _both(wanted: type[BadakError], theirs: type[BaseException]) -> type[BadakError]:
    if (wanted, theirs) in _classes:
        return _classes[wanted, theirs]

    def reduced(self):
        return _made_again, (wanted, theirs, self.cause, self.fix)

    made = type(wanted.__name__, (wanted, theirs), {"__module__": wanted.__module__, "__reduce__": reduced})
    return _classes.setdefault((wanted, theirs), made)


def _made_again(wanted: type[BadakError], theirs: type[BaseException], cause: str, fix: str | None) -> BadakError:
    """What pickle calls: an exception comes back from a worker process as it was."""
    return _both(wanted, theirs)(cause, fix)


def described(value: Any, depth: int = 0) -> str:
    """A value in a few words: "Tensor (2, 3) float32", "'same'", "list of 3"."""
    if hasattr(value, "_array"):
        return f"{type(value).__name__} {tuple(value.shape)} {value._array.dtype.name}"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{type(value).__module__}.{type(value).__name__} {value.shape} {value.dtype}"
    if isinstance(value, list | tuple):
        if depth == 0 and len(value) <= 4:
            parts = ", ".join(described(part, 1) for part in value)
            return f"[{parts}]" if isinstance(value, list) else f"({parts})"
        return f"{type(value).__name__} of {len(value)}"
    if value is None or isinstance(value, bool | int | float | complex | str):
        text = repr(value) if not isinstance(value, int) or -(10**20) < value < 10**20 else "a huge int"
        return text if len(text) <= 40 else text[:37] + "..."
    return type(value).__name__


def _is_ours(trace) -> bool:
    """Whether only badak and the libraries that it calls were running."""
    while trace is not None:
        if not _is_of_a_library(trace.tb_frame):
            return False
        trace = trace.tb_next
    return True


def _is_of_a_library(frame: FrameType) -> bool:
    """Whether a frame is of badak or what it calls, by its file: a program may have a `test.py` of its own, as Python has.

    Lines that were made as text ("<string>": the constructor of a dataclass) have no file: there the name of the module counts.
    """
    module = frame.f_globals.get("__spec__")
    file = getattr(module, "origin", None) or frame.f_globals.get("__file__") or ""
    root = frame.f_globals.get("__name__", "").partition(".")[0]
    if root not in _LIBRARIES:
        return False
    if root not in sys.stdlib_module_names or file in ("frozen", "built-in", ""):
        return True
    return file.startswith(_STDLIB) and "site-packages" not in file


def _is_owner(argument: str, value: Any, function: Callable) -> bool:
    """Whether it is the object whose method was called, which Python has chosen."""
    return argument == "self" and unwrap(getattr(type(value), function.__name__, len)) is unwrap(function)


def _wrong_kind(arguments: dict, called: Signature) -> tuple[str, str] | None:
    """(the first argument of a wrong kind, the kind that it must have)."""
    for name, value in arguments.items():
        parameter = called.parameters[name]
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) or value is parameter.default:
            continue
        if not fits(parameter.annotation, value):
            return name, worded(parameter.annotation)
    return None


def _no_tensor(error: BaseException, arguments: dict) -> tuple[str, str] | None:
    """The same for an argument that was used as a tensor and is none."""
    told = re.match(r"'(?:\w+\.)*(\w+)' object has no attribute", str(error))
    used = told[1] if told else ""
    for name, value in arguments.items():
        if type(value).__name__ == used and not hasattr(value, "_array"):
            return name, "Tensor"
        if isinstance(value, list | tuple) and any(type(part).__name__ == used for part in value):
            return name, "a list of Tensors"
    return None


def _could_be_tensor(wanted: str, value: Any) -> bool:
    return wanted.startswith("Tensor") and (isinstance(value, list | tuple | float | int) or hasattr(value, "__array__"))


def _fix_of(error: BaseException) -> str:
    """What helps against errors that say always the same."""
    if isinstance(error, MemoryError):
        return "smaller sizes, or a machine with more memory"
    if isinstance(error, RecursionError):
        return "values that are not nested so deeply"
    return BROADCAST if "broadcast" in str(error) else ""


def _class_of(error: BaseException) -> type[BadakError]:
    if _names_no_loop(error):
        return DTypeError
    if isinstance(error, TypeError | AttributeError):
        return ArgumentTypeError
    if isinstance(error, IndexError | OverflowError):
        return IndexOutOfRangeError
    if isinstance(error, MemoryError):
        return OutOfMemoryError
    return ShapeError if "shape" in str(error) or "dimension" in str(error) else ArgumentError


def _names_no_loop(error: BaseException) -> bool:
    """Whether a function of NumPy's says that it knows nothing for these dtypes."""
    return type(error) is TypeError and str(error).startswith("ufunc ") and "not supported for the input types" in str(error)


def _reason(error: BaseException) -> str:
    """The first line of what the exception says."""
    if _names_no_loop(error):
        return tr("not implemented for these dtypes")
    lines = str(error).strip().splitlines()
    text = lines[0].strip() if lines else ""
    return f"{type(error).__name__}: {text}"[:300] if isinstance(error, KeyError) or not text else text[:300]


def _usage(function: Callable, name: str, space: str) -> str:
    """How it is called, as the line of fix."""
    try:
        parameters = [each.replace(annotation=Parameter.empty) for each in signature(function).parameters.values()]
    except (TypeError, ValueError):
        return tr("help({}.{}) says what it takes", space, name)
    shown = str(Signature([each for each in parameters if each.name not in ("self", "cls")]))
    if len(shown) > 90:
        shown = shown[:87].rsplit(",", 1)[0] + ", ...)"
    return tr("{}{}; help({}.{}) says what each argument may be", name, shown, space, name)
