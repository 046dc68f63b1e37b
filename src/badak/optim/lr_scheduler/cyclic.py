"""CyclicLR: up and down between two learning rates, again and again."""

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

from badak.core.errors import expect_function, tr
from badak.optim.lr_scheduler.base import check_number, check_numbers, check_optimizer, for_each_group, set_lrs
from badak.optim.lr_scheduler.momentum import MomentumScheduler
from badak.optim.lr_scheduler.state import CYCLES
from badak.optim.optimizer import Optimizer


class CyclicLR(MomentumScheduler):
    """From base_lr to max_lr in step_size_up steps and back in step_size_down, over and over.

    mode: "triangular" (always as high), "triangular2" (half as high in each cycle), "exp_range" (gamma^step as high), or
    scale_fn, a function of the cycle or of the step (scale_mode "cycle" or "iterations"). With cycle_momentum the momentum,
    or Adam's first beta, goes the other way, between max_momentum and base_momentum.
    Source: Smith 2017, "Cyclical Learning Rates for Training Neural Networks".
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(self, optimizer)
        self.optimizer = optimizer
        base_lrs = for_each_group(self, optimizer, "base_lr", base_lr)
        self.max_lrs = for_each_group(self, optimizer, "max_lr", max_lr)
        for low, high in zip(base_lrs, self.max_lrs):
            check_numbers(self, base_lr=low, max_lr=high)
        if last_epoch == -1:
            set_lrs(optimizer, base_lrs)
        down = step_size_up if step_size_down is None else step_size_down
        check_number(self, lambda: step_size_up > 0, "step_size_up > 0", step_size_up)
        check_number(self, lambda: down >= 0, "step_size_down >= 0", down)
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size
        if scale_fn is None:
            check_number(self, lambda: mode in CYCLES, tr("mode one of {}, or scale_fn", ", ".join(CYCLES)), mode)
        else:
            expect_function("CyclicLR: scale_fn", scale_fn)
        check_numbers(self, gamma=gamma)
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """How high a cycle is: 1 is all the way to max_lr."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        way = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height = way * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        lows = self.base_lrs if hasattr(self, "base_lrs") else [group["lr"] for group in self.optimizer.param_groups]
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                self._set_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(lows, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and a function that was given; of an object that is called, its attributes."""
        custom = self._scale_fn_custom
        kept = None if custom is None or isinstance(custom, FunctionType) else dict(vars(custom))
        return super().state_dict() | {"_scale_fn_custom": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; a function stays the one that was given."""
        custom, kept = self._scale_fn_custom, state_dict.get("_scale_fn_custom")
        super().load_state_dict(state_dict)
        self._scale_fn_custom = custom
        if kept is not None and custom is not None:
            vars(custom).update(kept)
