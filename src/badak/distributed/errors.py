"""What goes wrong between ranks. The classes have PyTorch's names, and derive from what it raises there."""

from badak.core.errors import BadakError, StateError


class DistError(BadakError, RuntimeError):
    """Ranks that do not fit together."""


class DistBackendError(DistError, ValueError):
    """A collective that is not the same on all ranks, or to which somebody did not come in time."""


class ProcessException(StateError):
    """A process that `multiprocessing.spawn` started has failed: `error_index` is its rank, `error_pid` its number in the system.

    Args:
        msg: what happened
        error_index: its rank
        error_pid: its number in the system
        fix: what helps
    """

    def __init__(self, msg: str, error_index: int, error_pid: int, fix: str | None = None) -> None:
        super().__init__(msg, fix)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid, self.fix)


class ProcessRaisedException(ProcessException):
    """Its function has raised an error, whose traceback is in the message."""


class ProcessExitedException(ProcessException):
    """It has ended with an exit code, or by a signal, whose name is `signal_name`.

    Args:
        msg: what happened
        error_index: its rank
        error_pid: its number in the system
        exit_code: below 0 for a signal
        signal_name: that signal
        fix: what helps
    """

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None, fix: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid, fix)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name, self.fix)


class DistNetworkError(DistError):
    """A connection that failed."""


class DistStoreError(DistError):
    """A meeting place that failed."""


class QueueEmptyError(DistStoreError):
    """A queue of a store in which nothing is, asked not to wait."""
