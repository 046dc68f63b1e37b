"""What goes wrong between ranks. The classes have PyTorch's names, and derive from what it raises there."""

from badak.core.errors import BadakError


class DistError(BadakError, RuntimeError):
    """Ranks that do not fit together."""


class DistBackendError(DistError, ValueError):
    """A collective that is not the same on all ranks, or to which somebody did not come in time."""


class DistNetworkError(DistError):
    """A connection that failed."""


class DistStoreError(DistError):
    """A meeting place that failed."""


class QueueEmptyError(DistStoreError):
    """A queue of a store in which nothing is, asked not to wait."""
