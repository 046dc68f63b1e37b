"""What badak does not have: an error at the place of use, and a stand-in for a name that is only imported."""

import difflib
from collections.abc import Callable, Iterable
from functools import wraps
from types import EllipsisType, FunctionType, ModuleType
from typing import Any

from badak.core.errors import NotSupportedError, Shown, package, tr
from badak.core.public_api.import_time import asker, is_being_imported, stands_in_decorator, wants_placeholder
from badak.core.public_api.table import ASK, instead, is_pytorch, names_of, reach


class MissingName(NotSupportedError, AttributeError):
    """A name that PyTorch has and badak does not. An AttributeError too, so that hasattr() says False."""


def absent(space: str, name: str, owner: object = None) -> AttributeError:
    """The error for badak.<space>.<name>: with advice for a name of PyTorch, and Python's own words for any other."""
    dotted = f"{space}.{name}".lstrip(".")
    listed = names_of(space)  # where it is in no list, and like a name that is there, it is that name misspelt
    known = name in listed or name in names_of(space, private=True)
    misspelt = listed and not known and "." in space and meant(name, dir(owner))
    if is_pytorch(dotted) and not misspelt:
        return missing(dotted)
    where = f"{package()}.{space}".rstrip(".")
    return AbsentName(f"module '{where}' has no attribute '{name}'", name, owner)


def absent_attribute(space: str, name: str, owner: object) -> AttributeError:
    """The error for an attribute that objects of torch.<space> have in PyTorch and not here, or nowhere."""
    if name in names_of(space):
        return missing(f"{space}.{name}")
    return AbsentName(f"'{type(owner).__name__}' object has no attribute '{name}'", name, owner)


def missing(dotted: str) -> MissingName:
    """The error for torch.<dotted>, which badak does not have."""
    return MissingName(tr("torch.{}: badak does not have it", dotted), instead(dotted) or ASK)


def placeholders(space: str) -> list[str]:
    """PyTorch's public names in torch.<space> for which an import gets a placeholder: those that badak does not have."""
    owner = reach(f"badak.{space}".rstrip("."))
    have = owner is not None and not isinstance(owner, Missing)
    return sorted(
        name for name in names_of(space) if not (have and hasattr(owner, name)) or isinstance(getattr(owner, name), Missing)
    )


class AbsentName(Shown, AttributeError):
    """A name that nobody has. Its message looks for the one that was meant when it is shown, for hasattr() asks often."""

    def __init__(self, text: str, name: str = "", owner: object = None) -> None:
        super().__init__(text)
        self.name, self._owner = name, owner  # Python looks for what was meant by itself, where it has `obj`

    def __str__(self) -> str:
        text, near = super().__str__(), meant(self.name or "", dir(self._owner))
        return f"{text}\nfix: did you mean {near}?" if near else text

    def __reduce__(self):
        return AttributeError, (str(self),)


def meant(name: str, known: Iterable[str]) -> str:
    """ "'softmax'", "'relu' or 'relu6'": the names that are like one that is not there; "" where none is."""
    names = {each for each in known if name[:1] == "_" or each[:1] != "_"}
    same = [each for each in sorted(names) if each.lower().replace("_", "") == name.lower().replace("_", "")]
    near = same[:1] or difflib.get_close_matches(name, sorted(names), n=3, cutoff=0.7)  # sorted: AdamW before adamw
    return " or ".join(map(repr, near))


def placeholder_or_error(space: str, name: str, owner: object = None) -> "Missing":
    """What stands for badak.<space>.<name> while definitions are made; anywhere else its error is raised."""
    try:
        raise absent(space, name, owner)
    except MissingName:
        if wants_placeholder():
            return Missing(f"{space}.{name}".lstrip("."))
        raise


class Missing(ModuleType):
    """Stands for torch.<dotted>, which badak does not have, so that an import does not end there; every use of it is the error.

    It can be imported, subscripted by types, derived from, stand in annotations and be asked for by isinstance (nothing is one).
    A function that it decorates complains when it is called. What a library makes of it while it is imported is a placeholder
    as well. Anywhere else calling it, reading an attribute, indexing, iterating, or making an object of a class derived from it
    raises MissingName.
    """

    is_placeholder = True

    def __init__(self, dotted: str) -> None:
        super().__init__(f"badak.{dotted}")
        self.__dict__.update(_dotted=dotted, __path__=[], __qualname__=dotted.rpartition(".")[2])

    def __getattr__(self, name: str):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if wants_placeholder():
            return Missing(f"{self._dotted}.{name}")
        raise missing(f"{self._dotted}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        frame = asker()
        in_decorator = frame is not None and stands_in_decorator(frame)
        if not in_decorator and not is_being_imported(frame):
            raise missing(self._dotted)
        if len(args) == 1 and not kwargs and isinstance(args[0], type | FunctionType):
            return self._refusing(args[0])
        return self

    def __getitem__(self, key: Any) -> Any:
        if _is_type(key) or is_being_imported(asker()):
            return self
        raise missing(self._dotted)

    def __iter__(self):
        return iter(self._none())

    def __len__(self) -> int:
        return len(self._none())

    def __bool__(self) -> bool:
        return bool(self._none())

    def _none(self) -> tuple[()]:
        """Nothing, for a library that is imported and looks what there is."""
        if is_being_imported(asker()):
            return ()
        raise missing(self._dotted)

    def __enter__(self):
        raise missing(self._dotted)

    def __exit__(self, *error: object) -> None:
        raise missing(self._dotted)

    def __instancecheck__(self, thing: object) -> bool:
        return False

    def __subclasscheck__(self, thing: object) -> bool:
        return False

    def __or__(self, other):
        return object  # an annotation: X | None

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple) -> tuple[type, ...]:
        if "_class" not in self.__dict__:
            self.__dict__["_class"] = type(self.__qualname__, (), {"__new__": self._refusal()})
        return (self.__dict__["_class"],)

    def _refusal(self) -> Callable:
        def refuse(*args, **kwargs):
            raise missing(self._dotted)

        return refuse

    def _refusing(self, thing: Any) -> Any:
        """The decorated function or class, as one that complains when it is called."""
        if isinstance(thing, type):
            return type(thing)(thing.__name__, (thing,), {"__new__": self._refusal(), "__module__": thing.__module__})
        return wraps(thing)(self._refusal())

    def __reduce__(self):
        return Missing, (self._dotted,)  # so that what holds one can be copied

    def __repr__(self) -> str:
        return f"<torch.{self._dotted}, which badak does not have>"


def _is_type(key: object) -> bool:
    """Whether it can be a parameter of a generic class."""
    parts = key if isinstance(key, tuple | list) else (key,)
    kinds = type | str | Missing | EllipsisType | None
    return all(isinstance(each, kinds) or hasattr(each, "__origin__") or "typing" in type(each).__module__ for each in parts)
