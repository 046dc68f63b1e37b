"""The switch for checks of sparse tensors. badak always checks them; the switch only says what it was set to."""

from contextlib import ContextDecorator
from typing import Any

from badak.core.errors import StateError


class check_sparse_tensor_invariants(ContextDecorator):  # noqa: N801  (PyTorch's name)
    """A context, a decorator and a switch for checks of sparse tensors, which badak makes whatever it says.

    Args:
        enable: what is_enabled() says within

    Raises: StateError where one context is entered twice

    Example:
        >>> with badak.sparse.check_sparse_tensor_invariants():
        ...     badak.sparse.check_sparse_tensor_invariants.is_enabled()
        True
    """

    _enabled = False

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.saved_state: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """What the switch was set to last."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable() -> None:
        """Set the switch."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable() -> None:
        """Set the switch back. The checks are made all the same."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self) -> None:
        if self.saved_state is not None:
            raise StateError(
                "This context manager instance is already activated. Use a different context manager instance for context nesting.",
                "with badak.sparse.check_sparse_tensor_invariants(): ...",
            )
        self.saved_state = self._enabled
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(self, *_: Any) -> None:
        check_sparse_tensor_invariants._enabled, self.saved_state = bool(self.saved_state), None

    def _recreate_cm(self) -> "check_sparse_tensor_invariants":
        return type(self)(self.state)
