"""Matrixwise: an optimizer whose update looks at a whole matrix, so that parameters change one after the other."""

from collections.abc import Callable
from typing import Any, ClassVar

from badak.core.errors import DTypeError, tr
from badak.optim.optimizer import Declared, begin_number, loss_of
from badak.optim.state import check_memory
from badak.tensor import Tensor


class Matrixwise(Declared):
    """The base. A subclass states its CHECKS (see `settings.py`), `_shapes` and `_update`."""

    COUNTS: ClassVar[bool] = False

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of every parameter that has a gradient; returns what `closure` returned."""
        loss = loss_of(closure)
        for group in self.param_groups:
            self._check_group(group)
            ready = [p for p in group["params"] if p._grad is not None]
            for p in ready:
                self._check_real(p)
            for p in ready:
                memory = self.state[p]
                if self.COUNTS:
                    begin_number(memory, "step", 0)
                for name, shape in self._shapes(p).items():
                    if memory.get(name) is None:
                        memory[name] = p.new_zeros(shape)
                self._update(p._array, p._grad._array, memory, group)
            self._changed(ready)
        return loss

    def _check_real(self, p: Tensor) -> None:
        if p._array.dtype.kind == "c":
            owner = type(self).__name__
            raise DTypeError(tr("{} does not support complex parameters; got {}", owner, p.dtype), "optim.AdamW for these")

    def _shapes(self, p: Tensor) -> dict[str, tuple[int, ...]]:
        """What is remembered of p: {name: its shape}."""
        raise AssertionError("a subclass says what it remembers")

    def _update(self, p: Any, g: Any, memory: dict[str, Any], group: dict[str, Any]) -> None:
        """Change the array p by its gradient g, and the tensors in `memory`."""
        raise AssertionError("a subclass defines its update")

    def _check_memory(self, memory: Any, p: Tensor, group: dict[str, Any]) -> None:
        shapes = self._shapes(p)
        check_memory(type(self).__name__, memory, p, [*shapes, *["step"] * self.COUNTS], shapes)
