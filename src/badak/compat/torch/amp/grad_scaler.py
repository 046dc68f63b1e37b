"""GradScaler: loss scaling, which keeps small gradients of 16-bit types from becoming zero."""

import math
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, GraphError, tr, warn_once
from badak.core.public_api import guard_types
from badak.tensor import Tensor, dtypes, isfinite


class GradScaler:
    """Scale the loss, unscale the gradients, skip a step with infinities, adapt the scale.

    Works on the CPU as in PyTorch; for a device that is not there it is switched off, and every call passes through.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and str(device).partition(":")[0] != "cpu":
            warn_once("GradScaler", tr("GradScaler is enabled, but {} is not available; it is switched off", device))
            enabled = False
        self._enabled, self._scale = enabled, float(init_scale)
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._found: dict[int, bool] = {}  # by optimizer: whether its unscaled gradients hold an infinity
        self._stepped: set[int] = set()  # the optimizers that step() has had since the last update()
        self._used = False  # whether scale() has had a loss

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The factor; 1 when switched off."""
        return self._scale if self._enabled else 1.0

    def scale(self, outputs: Any) -> Any:
        """The loss (or a list, tuple or dict of losses) times the factor."""
        if not self._enabled:
            return outputs
        self._used = True
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if isinstance(outputs, dict):
            return {name: self.scale(value) for name, value in outputs.items()}
        return type(outputs)(self.scale(value) for value in outputs)

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer by the factor, and look for infinities. Once before each update()."""
        if not self._enabled:
            return
        self._check_used("unscale_")
        if id(optimizer) in self._stepped:
            raise GraphError("unscale_() is being called after step().", "unscale_, then step, then update")
        if id(optimizer) in self._found:
            cause = tr("unscale_() has already been called on this optimizer since the last update().")
            raise GraphError(cause, "scaler.update() after step")
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if any(grad.dtype is dtypes.float16 for grad in grads):
            raise ArgumentTypeError("Attempting to unscale FP16 gradients.", "float32 parameters, and autocast for the products")
        self._found[id(optimizer)] = not all(bool(isfinite(grad).all()) for grad in grads)
        for grad in grads:
            _multiply(grad, 1.0 / self._scale)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step(), unless a gradient is infinite or NaN."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        self._check_used("step")
        if id(optimizer) in self._stepped:
            raise GraphError("step() has already been called since the last update().", "scaler.update() after step")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        self._stepped.add(id(optimizer))
        return None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Tensor | float | None = None) -> None:
        """Lower the factor after an infinity, raise it after `growth_interval` steps without one; or set it."""
        if not self._enabled:
            return
        self._check_used("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._found:
            raise ArgumentError("No inf checks were recorded prior to update.", "scaler.step(optimizer) first")
        elif any(self._found.values()):
            self._scale, self._growth_tracker = self._scale * self._backoff_factor, 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                grown = self._scale * self._growth_factor
                self._scale, self._growth_tracker = grown if math.isfinite(grown) else self._scale, 0
        self._found, self._stepped = {}, set()

    def _check_used(self, function: str) -> None:
        if not self._used:
            cause = tr("Attempted {} but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) "
                       "earlier in the iteration.", function)  # fmt: skip
            raise ArgumentError(cause, "scaler.scale(loss).backward()")

    def get_growth_factor(self) -> float:
        """By how much the factor grows."""
        return self._growth_factor

    def get_backoff_factor(self) -> float:
        """By how much the factor shrinks."""
        return self._backoff_factor

    def get_growth_interval(self) -> int:
        """After how many steps the factor grows."""
        return self._growth_interval

    def state_dict(self) -> dict[str, float]:
        """Factor and settings; the empty dict when switched off."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, float]) -> None:
        """Take a state_dict() back."""
        if not self._enabled:
            return
        self._scale, self._growth_tracker = float(state_dict["scale"]), int(state_dict["_growth_tracker"])
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = int(state_dict["growth_interval"])


@events.writes
def _multiply(grad: Tensor, factor: float) -> None:
    np.multiply(grad._array, grad._array.dtype.type(factor), out=grad._array)
    grad._watch().bump("GradScaler.unscale_")


guard_types(globals(), "badak.amp")
