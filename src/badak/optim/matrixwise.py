"""Matrixwise: an optimizer whose update looks at a whole matrix, so that parameters change one after the other."""

from collections.abc import Callable
from typing import Any, ClassVar

from badak.core.errors import BadakError, DTypeError, tr
from badak.optim.optimizer import Optimizer, loss_of
from badak.optim.settings import check_settings
from badak.optim.state import OptimizerStateError, check_memory
from badak.tensor import Tensor


class Matrixwise(Optimizer):
    """The base. A subclass states its CHECKS (see `settings.py`), `_shapes` and `_update`."""

    CHECKS: ClassVar[dict[str, Callable[[str, str, Any], None]]] = {}
    COUNTS: ClassVar[bool] = False

    def __init__(self, params: Any, settings: dict[str, Any]):
        defaults = {name: value for name, value in settings.items() if name not in ("self", "params", "__class__")}
        check_settings(type(self).__name__, defaults, self.CHECKS)
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        if isinstance(param_group, dict):
            check_settings(type(self).__name__, param_group, self.CHECKS, ranges=False)
        super().add_param_group(param_group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of every parameter that has a gradient; returns what `closure` returned."""
        loss = loss_of(closure)
        for group in self.param_groups:
            check_settings(type(self).__name__, group, self.CHECKS, ranges=False)
            ready = [p for p in group["params"] if p._grad is not None]
            for p in ready:
                self._check_real(p)
            for p in ready:
                memory = self.state[p]
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

    def _check_loaded(self, state: dict[Any, Any], groups: list[dict[str, Any]]) -> None:
        owner = type(self).__name__
        for at, group in enumerate(groups):
            try:
                check_settings(owner, group, self.CHECKS, ranges=False)
            except BadakError as error:
                raise OptimizerStateError(
                    tr("{}.load_state_dict: param_groups[{}]: {}", owner, at, error.cause),
                    "pass what optimizer.state_dict() gave",
                ) from None
            for p in group["params"]:
                if p in state and state[p] != {}:
                    shapes = self._shapes(p)
                    check_memory(owner, state[p], p, [*shapes, *["step"] * self.COUNTS], shapes)
