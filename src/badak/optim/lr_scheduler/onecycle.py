"""OneCycleLR: up, down and out in a fixed number of steps."""

import math
from functools import partial
from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.optim.lr_scheduler.base import check_number, check_numbers, check_optimizer, for_each_group
from badak.optim.lr_scheduler.momentum import MomentumScheduler
from badak.optim.optimizer import Optimizer


class OneCycleLR(MomentumScheduler):
    """From initial_lr = max_lr / div_factor up to max_lr in the first pct_start of the steps, then down to
    min_lr = initial_lr / final_div_factor.

    With three_phase the way down goes to initial_lr first, as long as the way up was, then to min_lr. Between two ends the
    rate follows half a cosine (anneal_strategy="cos") or a line ("linear"). With cycle_momentum the optimizer's momentum,
    or Adam's first beta, goes the other way, between max_momentum and base_momentum.

    The number of steps is total_steps, or epochs * steps_per_epoch; a step beyond it raises ArgumentError.
    Source: Smith and Topin 2019, "Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates".
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(self, optimizer)
        self.optimizer = optimizer
        self.total_steps = self._count_steps(total_steps, epochs, steps_per_epoch)
        check_number(
            self, lambda: isinstance(pct_start, float) and 0 <= pct_start <= 1, tr("a float pct_start in [0, 1]"), pct_start
        )
        check_number(self, lambda: anneal_strategy in ("cos", "linear"), tr("anneal_strategy 'cos' or 'linear'"), anneal_strategy)
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        self.cycle_momentum = cycle_momentum
        check_number(self, lambda: div_factor > 0, "div_factor > 0", div_factor)
        check_number(self, lambda: final_div_factor > 0, "final_div_factor > 0", final_div_factor)
        max_lrs = for_each_group(self, optimizer, "max_lr", max_lr)
        for largest in max_lrs:
            check_numbers(self, max_lr=largest)
        if last_epoch == -1:
            for group, largest in zip(optimizer.param_groups, max_lrs):
                group["initial_lr"], group["max_lr"] = largest / div_factor, largest
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _count_steps(self, total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
        counts = {"total_steps": total_steps} if total_steps is not None else {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
        if None in counts.values():
            raise ArgumentError("OneCycleLR: You must define either total_steps OR (epochs AND steps_per_epoch)", "total_steps=...")
        for name, count in counts.items():
            check_number(self, partial(_is_count, count), tr("a positive integer {}", name), count)
        return math.prod(counts.values())  # type: ignore[arg-type]

    def get_lr(self) -> list[Any]:
        t = self.last_epoch
        if t > self.total_steps:
            cause = tr("OneCycleLR: Tried to step {} times. The specified number of total steps is {}", t, self.total_steps)
            raise ArgumentError(cause, "make the schedule with the number of steps that the training has")
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if t <= end:
                break
            start, last = end, start
        else:  # one step beyond the last phase is allowed, and lies on its continuation
            start = last
        way = (t - start) / (end - start) if end > start else 1.0  # a phase without steps is at its end (PyTorch divides by 0)
        lrs = []
        for group in self.optimizer.param_groups:
            lrs.append(self._anneal_func(group[phase["start_lr"]], group[phase["end_lr"]], way))
            if self.cycle_momentum:
                self._set_momentum(group, self._anneal_func(group[phase["start_momentum"]], group[phase["end_momentum"]], way))
        return lrs

    def _anneal_func(self, start: Any, end: Any, pct: float) -> Any:
        """The value after `pct` (0 to 1) of the way from `start` to `end`. A subclass may go another way."""
        anneal = self._annealing_linear if self._anneal_func_type == "linear" else self._annealing_cos
        return anneal(start, end, pct)

    @staticmethod
    def _annealing_linear(start: Any, end: Any, pct: float) -> Any:
        return (end - start) * pct + start

    @staticmethod
    def _annealing_cos(start: Any, end: Any, pct: float) -> Any:
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and value > 0


def _phases(total_steps: int, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
    """The ends of the phases: PyTorch's table, which is part of its state_dict."""

    def phase(end_step: float, start: str, end: str, start_momentum: str, end_momentum: str) -> dict[str, Any]:
        return {
            "end_step": end_step,
            "start_lr": start,
            "end_lr": end,
            "start_momentum": start_momentum,
            "end_momentum": end_momentum,
        }

    up = phase(float(pct_start * total_steps) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    if not three_phase:
        return [up, phase(total_steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    down = phase(float(2 * pct_start * total_steps) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum")
    return [up, down, phase(total_steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")]
