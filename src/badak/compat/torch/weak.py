"""`torch.utils.weak`: dictionaries whose keys are tensors, by identity, and that do not keep them alive."""

import weakref
from collections.abc import Iterator, MutableMapping
from typing import Any

from badak.core.public_api import door as _door
from badak.tensor import Tensor


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to another one to the very same object."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        self._id = id(key)
        super().__init__(key, callback)  # type: ignore[call-arg]

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, theirs = self(), other() if isinstance(other, weakref.ref) else None
        return self is other if mine is None or theirs is None else mine is theirs


class WeakIdKeyDictionary(MutableMapping):
    """A dict whose keys are objects, by identity; an entry is gone with its key."""

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:  # noqa: A002  (PyTorch's name)
        self.ref_type = ref_type
        self.data: Any = {}
        self.update(dict or {})

    def _ref(self, key: Any) -> Any:
        data = weakref.ref(self)
        return self.ref_type(key, lambda gone: (held := data()) is not None and held.data.pop(gone, None))

    def __getitem__(self, key: Any) -> Any:
        try:
            return self.data[self.ref_type(key)]
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self._ref(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        return self.ref_type(key) in self.data

    def __iter__(self) -> Iterator[Any]:
        return (key for ref in list(self.data) if (key := ref()) is not None)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)}>"

    def keyrefs(self) -> list:
        """The weak references."""
        return list(self.data)


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor, equal to another one to the very same tensor."""

    def __init__(self, tensor: Tensor) -> None:
        self.ref = WeakIdRef(tensor)

    def __call__(self) -> Tensor | None:
        found: Tensor | None = self.ref()
        return found

    def __eq__(self, other: object) -> bool:
        return self.ref == other.ref if isinstance(other, TensorWeakRef) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.ref)


__getattr__, __dir__ = _door("badak.utils.weak")
