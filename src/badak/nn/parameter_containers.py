"""ParameterList and ParameterDict: parameters in a list or a dict. Tensors become parameters, anything else is kept as is."""

import operator
from collections.abc import Iterable, Iterator
from typing import Any

from badak.core.errors import ArgumentTypeError, GraphError, IndexOutOfRangeError
from badak.nn.containers import _iterable, _look_up, pairs
from badak.nn.errors import kind
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Tensor


class ParameterList(Module):
    """A list whose tensors are parameters; other objects, None among them, may stand in it too."""

    def __init__(self, values: Iterable | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(() if values is None else values)

    def __getitem__(self, idx: int | slice):
        if isinstance(idx, slice):
            return self.__class__(list(self)[idx])
        return getattr(self, self._name(idx))

    def __setitem__(self, idx: int, param: object) -> None:
        setattr(self, self._name(idx), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator:
        return iter([self[place] for place in range(len(self))])

    def __iadd__(self, parameters: Iterable) -> "ParameterList":
        return self.extend(parameters)

    def __call__(self, *args, **kwargs):
        raise GraphError("ParameterList should not be called.", "index it: it holds parameters and computes nothing")

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: object) -> "ParameterList":
        """Put `value` at the end."""
        self._size += 1
        self[len(self) - 1] = value
        return self

    def extend(self, values: Iterable) -> "ParameterList":
        """Put the values of an iterable at the end."""
        for value in list(_iterable(values, "ParameterList.extend", "an iterable")):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        lines = [f"  ({place}): {_described(value, 'dtype')}" for place, value in enumerate(self)]
        return "\n".join(lines)

    def _name(self, idx: int) -> str:
        place = operator.index(idx)
        if not -len(self) <= place < len(self):
            raise IndexOutOfRangeError(f"index {place} is out of range: ParameterList has {len(self)} values")
        return str(place % len(self))


class ParameterDict(Module):
    """A dict, in the order of insertion, whose tensors are parameters; other objects may stand in it too."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, str] = {}  # key -> the name of its attribute
        self.update({} if parameters is None else parameters)

    def __getitem__(self, key: str):
        return getattr(self, _look_up(self, self._keys, key))

    def __setitem__(self, key: str, value: object) -> None:
        if not isinstance(key, str):
            raise ArgumentTypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{kind(key)}')."
            )
        if key not in self._keys and hasattr(self, key):  # "keys" or "forward" would hide a method
            raise ArgumentTypeError(f"ParameterDict: {key!r} is the name of a method or attribute of a module", "another key")
        self._keys[key] = key
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        delattr(self, _look_up(self, self._keys, key))
        del self._keys[key]

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __call__(self, input):
        raise GraphError("ParameterDict should not be called.", "index it: it holds parameters and computes nothing")

    def __or__(self, other: "ParameterDict") -> "ParameterDict":
        return ParameterDict({**dict(self.items()), **dict(other.items())})

    def __ror__(self, other: "ParameterDict") -> "ParameterDict":
        return ParameterDict({**dict(other.items()), **dict(self.items())})

    def __ior__(self, other: "ParameterDict") -> "ParameterDict":
        self.update(other)
        return self

    def get(self, key: str, default: object = None) -> object:
        """The value under `key`, or `default`."""
        return self[key] if key in self else default

    def setdefault(self, key: str, default: object = None) -> object:
        """The value under `key`, which is put there if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> object:
        """Take out the value under `key`."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, object]:
        """Take out the pair that came last."""
        key = list(self)[-1]
        return key, self.pop(key)

    def clear(self) -> None:
        """Take everything out."""
        for key in list(self):
            del self[key]

    def copy(self) -> "ParameterDict":
        """Another ParameterDict with the same parameters."""
        return ParameterDict(dict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: object = None) -> "ParameterDict":
        """A ParameterDict with `default` under each key."""
        return ParameterDict(dict.fromkeys(keys, default))

    def keys(self):
        """The keys."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, object]]:
        """Pairs of key and value."""
        return ((key, self[key]) for key in self)

    def values(self) -> Iterable:
        """The values."""
        return (self[key] for key in self)

    def update(self, parameters: Any) -> None:
        """Add all of a mapping, or of an iterable of pairs."""
        for key, value in pairs(parameters, "ParameterDict"):
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(f"  ({key}): {_described(value, 'type')}" for key, value in self.items())


def _as_parameter(value: object) -> object:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _described(value: object, by: str) -> str:
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    what = "Parameter containing" if isinstance(value, Parameter) else "Tensor"
    sizes = "x".join(str(size) for size in value.shape)
    return f"{what}: [{value.dtype if by == 'dtype' else value.type()} of size {sizes}]"
