"""Files of whole objects (weights_only=False) that reach for code of the program, and the classes that they reach for.

Every special method of these classes raises SystemExit, which no reader catches: it would be seen.
"""

import enum
from pathlib import Path  # noqa: F401  (a name under which a file looks for it)
from typing import Any

from badak import nn
from tests.io.attacks.pickles import CALLS, archive, called, text, whole


def spring(*args: Any, **kwargs: Any) -> Any:
    """What must never be called."""
    raise SystemExit("code of the program was called by a file")


class Trap:
    """A plain class, of which a file may make instances: none of its methods may run."""

    __init__ = __setattr__ = __hash__ = __eq__ = __len__ = __iter__ = __next__ = __bool__ = __float__ = __int__ = __index__ = spring
    __repr__ = __str__ = __contains__ = __getitem__ = __setitem__ = __lt__ = __complex__ = __bytes__ = __getattr__ = __array__ = (
        spring
    )
    __reduce__ = __reduce_ex__ = __dir__ = __enter__ = __add__ = __radd__ = __iadd__ = __copy__ = __deepcopy__ = __fspath__ = spring
    append = extend = update = add = keys = items = spring
    value = property(spring, spring)


class Calls:
    """Could pose as an activation."""

    __call__ = spring


class Sets:
    """Has code for its state."""

    __setstate__ = spring


class Ends:
    """Has code for its end."""

    def __del__(self) -> None:
        raise SystemExit("code of the program was called by a file")


class Starts:
    """Has code for its beginning."""

    __new__ = spring


class Kind(type):
    """A metaclass of the program."""

    __call__ = spring


class OfKind(metaclass=Kind):
    """Has a metaclass."""


class Choice(enum.Enum):
    """Has code for values that it does not have."""

    ONE = 1
    _missing_ = classmethod(spring)


class Net(nn.Module):
    """A model of the program."""

    width = property(spring, spring)
    __setattr__ = spring

    def __init__(self) -> None:
        object.__setattr__(self, "training", True)


class Deriving(nn.Module):
    """A model with code for its state."""

    __setstate__ = spring


def instance(name: str, state: bytes = b"", module: str = __name__) -> bytes:
    """NEWOBJ and BUILD; `state` is key, value, key, value ..."""
    return f"c{module}\n{name}\n".encode() + b")\x81}(" + state + b"ub"


def linear(state: bytes = b"") -> bytes:
    """A Linear with this state."""
    return instance("Linear", state, "badak.nn.linear")


def own(name: str) -> bytes:
    """A class of this file."""
    return f"c{__name__}\n{name}\n".encode()


def nested(depth: int) -> bytes:
    """Sequential in Sequential in ..."""
    body = linear()
    for _ in range(depth):
        body = instance("Sequential", text("_modules") + b"}" + text("0") + body + b"s", "badak.nn.containers")
    return body


SPAWN = b"cbadak.tensor.generator\nos.spawnvp\n"
HOOK = "badak.nn.state"
SHELL = instance(
    "_WithModule",
    text("hook") + instance("_WithModule", text("hook") + SPAWN + text("module") + b"K\0", HOOK) + text("module") + text("sh"),
    HOOK,
)
TRAP = instance("Trap")
BODIES = {
    "a shell by extend": (
        instance("_WithModule", text("extend") + SHELL, HOOK) + b"(" + text("sh") + b"e",
        "_WithModule",
    ),
    "a dotted name": (SPAWN, "badak.tensor.generator.os.spawnvp (the program has not imported it)"),
    "a function of the program": (own("spring"), "spring (it is no plain class)"),
    "a function of badak's reader": (b"cbadak.io.pt\nload\n", "badak.io.pt.load (it is no plain class)"),
    "a class of badak's": (
        instance("Storage", module="badak.io.storage"),
        "badak.io.storage.Storage (it is not for files)",
    ),
    "a class of the standard library": (
        instance("Popen", module="subprocess"),
        "subprocess.Popen (it belongs to an installed package)",
    ),
    "a class of a package": (instance("vectorize", module="numpy.lib._function_base_impl"), "vectorize ("),
    "a class under a name of another module": (own("Path"), "that is not its own name"),
    "a class that calls": (instance("Calls"), "Calls (it has a __call__ of its own"),
    "a class with code for its state": (instance("Sets"), "Sets (it has a __setstate__ of its own"),
    "a class with code for its end": (instance("Ends"), "Ends (it has a __del__ of its own"),
    "a class with code for its beginning": (instance("Starts"), "Starts (it has a __new__ of its own"),
    "a class with a metaclass": (instance("OfKind"), "OfKind (it is no plain class)"),
    "a model with code for its state": (instance("Deriving"), "Deriving (it has a __setstate__ of its own"),
    "a class that is called": (called(__name__, "Trap"), "Trap, which badak does not do for a file"),
    "a class that is made with arguments": (own("Trap") + b"K\1\x85\x81", "Trap cannot be made of what the file gives"),
    "a value that an enum does not have": (called(__name__, "Choice", b"K\2\x85"), "2 is the value of no member"),
    "an enum's value with code": (called(__name__, "Choice", TRAP + b"\x85"), "a Trap is the value of no member"),
    "a property": (instance("Trap", text("value") + b"N"), "an attribute 'value' in the place of the class's own"),
    "a method": (instance("Trap", text("append") + b"N"), "an attribute 'append' in the place of the class's own"),
    "a special name": (instance("Trap", text("__array_interface__") + b"}"), "an attribute '__array_interface__'"),
    "an attribute that is a number": (instance("Trap", b"K\1N"), "an attribute 1"),
    "a state that is an object": (own("Trap") + b")\x81" + TRAP + b"b", "a state of a Trap"),
    "a key with code": (b"}" + TRAP + b"Ns", "a Trap as a key"),
    "a member with code": (b"\x8f(" + TRAP + b"\x90", "a Trap as a key"),
    "a key with code in a tuple": (b"}" + TRAP + b"\x85Ns", "a Trap as a key"),
    "items into an object": (TRAP + b"NNs", "items are put into a Trap"),
    "items onto an object": (TRAP + b"(Ne", "items are appended to a Trap"),
    "members into an object": (TRAP + b"(N\x90", "items are added to a Trap"),
    "an object as a persistent id": (TRAP + b"Q", "a Trap describes no storage"),
    "an object as a name": (TRAP + TRAP + b"\x93", "a name that is no text"),
    "an object that is called": (TRAP + b")R", "a Trap is called"),
    "a model's own forward": (
        linear(text("forward") + b"cbadak.nn.functional\nrelu\n"),
        "an attribute 'forward' in the place",
    ),
    "a model's property": (instance("Net", text("width") + b"N"), "an attribute 'width' in the place"),
    "a model with hooks": (linear(text("_forward_hooks") + b"}K\1" + TRAP + b"s"), "a module with hooks"),
    "hooks that are an object": (linear(text("_forward_hooks") + TRAP), "a module with hooks"),
    "a parameter that is a number": (
        linear(text("_parameters") + b"}" + text("weight") + b"K\1s"),
        "a module's table of Parameters",
    ),
    "a model in a model that is none": (
        linear(text("_modules") + b"}" + text("a") + TRAP + b"s"),
        "a module's table of Modules",
    ),
    "parameters that are an object": (linear(text("_parameters") + TRAP), "a module's table of Parameters"),
    "a mode that is an object": (linear(text("training") + TRAP), "a module whose buffers or mode are none"),
    "a model that contains itself": (
        b"cbadak.nn.linear\nLinear\n)\x81q\1}" + text("_modules") + b"}" + text("me") + b"h\1ssb",
        "a module that contains itself",
    ),
    "a model that contains one without a state": (
        linear(text("_modules") + b"}" + text("a") + b"cbadak.nn.linear\nLinear\n)\x81s"),
        "one that is not finished",
    ),
    "a model without a state": (b"cbadak.nn.linear\nLinear\n)\x81", "a Linear without its state"),
    "a list of models without a state": (b"]cbadak.nn.linear\nLinear\n)\x81a", "a Linear without its state"),
    "a model without a state that is thrown away": (b"cbadak.nn.linear\nLinear\n)\x810N", "a Linear without its state"),
    "a state given twice": (linear() + b"}b", "a module that is given its state twice"),
    "models as deep as Python goes": (nested(400), "modules nested deeper than 100"),
}
OBJECTS = {
    **{name: (archive(whole(body)), says) for name, (body, says) in BODIES.items()},
    **{f"{name} is called": (archive(whole(body)), name) for name, body in CALLS.items()},
}
