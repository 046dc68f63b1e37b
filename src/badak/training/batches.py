"""Any loader for the loop: batches over and over, and where it stands among them."""

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, StateError, tr, warn
from badak.core.nests import inside
from badak.data import DataLoader, TensorDataset
from badak.tensor import Tensor


class Batches:
    """Batches of a list, or of any object that can be gone through several times.

    A list is gone on with exactly. What knows its own position (`state_dict` and `load_state_dict`, as a DataLoader does) is asked
    for it. Of anything else the batches that were given are passed over, which is exact only if it gives the same ones each time.
    """

    def __init__(self, loader: Iterable, name: str = "loader") -> None:
        if not isinstance(loader, Iterable) or isinstance(loader, (str, bytes, dict, Tensor, np.ndarray)):
            cause = tr("fit: expected {} to give batches; got {}", name, type(loader).__name__)
            raise ArgumentError(cause, "a DataLoader, or a list of batches (inputs, labels)")
        if isinstance(loader, Iterator):
            cause = tr("fit: {} is an iterator, which gives its batches only once", name)
            raise ArgumentError(cause, tr("list({}), or an object whose __iter__ begins again in each epoch", name))
        self.loader, self.name = loader, name
        self.knows = hasattr(loader, "state_dict") and hasattr(loader, "load_state_dict")
        self.given, self.skip = 0, 0
        if length_of(loader) == 0:
            raise ArgumentError(tr("fit: {} has no batch", name), "a DataLoader over at least one example, or a list of batches")

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        return (read() for read in self.unread())

    def unread(self) -> Iterator[Callable[[], Any]]:
        """Functions that give the batches of an epoch."""
        skip, self.skip = self.skip, 0
        self.given = skip
        batches = unread(self.loader)
        if not self.knows:
            for _ in range(skip):
                next(batches, None)
        for read in batches:
            self.given += 1
            yield read
        self.given = 0

    def state_dict(self) -> dict[str, Any]:
        """Batches given in this epoch, and the loader's own state."""
        return {"batches": self.given, "loader": self.loader.state_dict() if self.knows else None}  # type: ignore[attr-defined]

    def load_state_dict(self, state: Any) -> None:
        """Let the next epoch begin where `state` says."""
        given = state.get("batches") if isinstance(state, dict) else None
        if not isinstance(state, dict) or type(given) is not int or given < 0 or (state.get("loader") is None) is self.knows:
            raise StateError(tr("{}: {} is no position in {}", self.name, str(state)[:80], type(self.loader).__name__))
        self.given = self.skip = given
        if self.knows:
            self.loader.load_state_dict(state["loader"])  # type: ignore[attr-defined]
        elif given and not isinstance(self.loader, (list, tuple)):
            cause = tr("fit: {} does not know its position: the {:,} batches that were given are passed over, and the run goes on "
                       "exactly only if it gives the same ones in the same order", type(self.loader).__name__, given)  # fmt: skip
            warn(cause, tr("a badak.data.DataLoader, a list, or state_dict and load_state_dict of its own"))


def unread(loader: Iterable) -> Iterator[Callable[[], Any]]:
    """Functions that give a batch of this epoch each; those of a DataLoader read it then."""
    knows = isinstance(loader, Batches) or isinstance(loader, DataLoader) and type(loader).__iter__ is DataLoader.__iter__
    return loader.unread() if knows else map(lambda batch: lambda: batch, loader)  # type: ignore[attr-defined]


def length_of(loader: Any) -> int | None:
    """Batches in an epoch, None where nobody knows."""
    try:
        return len(loader) if isinstance(loader, Sized) else None
    except TypeError:  # a DataLoader over a stream has the method, and no answer
        return None


def memory_of(loader: Any) -> list[Any] | None:
    """The arrays that a loader reads, where they lie in memory: by them its data is known again. None elsewhere."""
    if isinstance(loader, DataLoader):
        whole = type(loader.dataset) is TensorDataset
        return [x.detach().numpy() for x in loader.dataset.tensors if x.dtype.itemsize] if whole else None
    if not isinstance(loader, (list, tuple)):
        return None
    return [x.detach().numpy() if isinstance(x, Tensor) else x for x in inside(loader, (Tensor, np.ndarray))]
