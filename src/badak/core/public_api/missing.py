"""What badak does not have: an error at the place of use, and a stand-in for a name that is only imported."""

import difflib
from collections.abc import Iterable
from types import ModuleType

from badak.core.errors import NotSupportedError, Shown, package
from badak.core.public_api.table import ASK, instead, is_pytorch, names_of


class MissingName(NotSupportedError, AttributeError):
    """A name that PyTorch has and badak does not. An AttributeError too, so that hasattr() says False."""


def absent(space: str, name: str, owner: object = None) -> AttributeError:
    """The error for badak.<space>.<name>: with advice for a name of PyTorch, and Python's own words for any other."""
    dotted = f"{space}.{name}".lstrip(".")
    listed = names_of(space)  # where it is in no list, and like a name that is there, it is that name misspelt
    misspelt = listed and name not in listed and "." in space and meant(name, dir(owner))
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
    return MissingName(f"torch.{dotted}: badak does not have it", instead(dotted) or ASK)


class AbsentName(Shown, AttributeError):
    """A name that nobody has. Its message looks for the one that was meant when it is shown, for hasattr() asks often."""

    def __init__(self, text: str, name: str = "", owner: object = None):
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


class Missing(ModuleType):
    """Stands for torch.<dotted> after `import` or `from ... import`; every use of it is the error.

    It can be imported, stand in an annotation and be asked for by isinstance (nothing is one). Calling it, reading an
    attribute, indexing, iterating, or making an object of a class derived from it raises MissingName.
    """

    def __init__(self, dotted: str):
        super().__init__(f"badak.{dotted}")
        self.__dict__.update(_dotted=dotted, __path__=[])

    def __getattr__(self, name: str):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise missing(f"{self._dotted}.{name}")

    def __call__(self, *args, **kwargs):
        raise missing(self._dotted)

    __getitem__ = __iter__ = __len__ = __bool__ = __enter__ = __call__

    def __instancecheck__(self, thing: object) -> bool:
        return False

    def __subclasscheck__(self, thing: object) -> bool:
        return False

    def __or__(self, other):
        return object  # an annotation: X | None

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple) -> tuple[type, ...]:
        def refuse(cls, *args, **kwargs):
            raise missing(self._dotted)

        return (type(self._dotted.rpartition(".")[2], (), {"__new__": refuse}),)

    def __repr__(self) -> str:
        return f"<torch.{self._dotted}, which badak does not have>"
