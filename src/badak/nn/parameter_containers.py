"""ParameterList and ParameterDict: parameters in a list or a dict. Tensors become parameters, anything else is kept as is."""

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from badak.core.errors import ArgumentTypeError, GraphError, IndexOutOfRangeError, tr
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
        if values is not None:
            self += values

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            part = self.__class__()
            for place in range(*idx.indices(len(self))):
                part.append(self[place])
            return part
        return getattr(self, self._get_abs_string_index(idx))

    def __setitem__(self, idx: int, param: object) -> None:
        setattr(self, self._get_abs_string_index(idx), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator:
        return (self[place] for place in range(len(self)))

    def __iadd__(self, parameters: Iterable) -> "ParameterList":
        return self.extend(parameters)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
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
        if isinstance(values, Tensor):
            cause = tr("ParameterList.extend should be called with an iterable, but got Tensor")
            raise ArgumentTypeError(cause, "a list of it: [tensor]")
        for value in list(_iterable(values, "ParameterList.extend", tr("an iterable"))):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        lines = [f"  ({place}): {_described(value, 'dtype')}" for place, value in enumerate(self)]
        return "\n".join(lines)

    def _get_abs_string_index(self, idx: int) -> str:
        place = operator.index(idx)
        if not -len(self) <= place < len(self):
            raise IndexOutOfRangeError(tr("index {} is out of range: ParameterList has {} values", place, len(self)))
        return str(place % len(self))


class ParameterDict(Module):
    """A dict, in the order of insertion, whose tensors are parameters; other objects may stand in it too.

    The values of a plain dict go in sorted by key, as in PyTorch: an OrderedDict keeps its order.
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, str] = {}  # key -> the name of its attribute
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _look_up(self, self._keys, key))

    def __setitem__(self, key: str, value: object) -> None:
        if not isinstance(key, str):
            cause = tr("Index given to ParameterDict cannot be used as a key as it is not a string (type is '{}').", kind(key))
            raise ArgumentTypeError(cause)
        if key not in self._keys and hasattr(self, key):  # "keys" or "forward" would hide a method
            raise ArgumentTypeError(tr("ParameterDict: {!r} is the name of a method or attribute of a module", key), "another key")
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

    def __call__(self, input: int) -> Any:
        raise GraphError("ParameterDict should not be called.", "index it: it holds parameters and computes nothing")

    def __or__(self, other: "ParameterDict") -> "ParameterDict":
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: "ParameterDict") -> "ParameterDict":
        both = other.copy()
        both.update(self)
        return both

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
        key = list(self._keys)[-1]
        value = self[key]
        del self[key]
        return key, value

    def clear(self) -> None:
        """Take everything out."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> "ParameterDict":
        """Another ParameterDict with the same parameters."""
        return ParameterDict([(key, self[key]) for key in self._keys])

    def fromkeys(self, keys: Iterable[str], default: object = None) -> "ParameterDict":
        """A ParameterDict with `default` under each key."""
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> Any:
        """The keys."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, object]]:
        """Pairs of key and value."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add all of a mapping, or of an iterable of pairs. The keys of a plain dict are sorted, as in PyTorch."""
        found = pairs(parameters, "ParameterDict")
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            found.sort(key=lambda pair: pair[0])
        for key, value in found:
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
