"""Schedules that multiply the rate by a factor now and then, or at every step."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Any

from badak.core.errors import tr
from badak.optim.lr_scheduler.base import LRScheduler, check_count, check_number, check_numbers
from badak.optim.optimizer import Optimizer


class StepLR(LRScheduler):
    """lr(t) = base_lr gamma^floor(t / step_size): one drop every `step_size` steps.

    Args:
        optimizer: whose rate it sets
        step_size: steps between two drops
        gamma: factor of a drop
        last_epoch: steps that are already done; -1 for none

    Example:
        >>> w = nn.Parameter(badak.ones(1))
        >>> optimizer = optim.SGD([w], lr=1.0)
        >>> schedule = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
        >>> w.sum().backward()
        >>> optimizer.step()
        >>> schedule.step()
        >>> optimizer.param_groups[0]["lr"]
        0.5
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        check_count(self, "step_size", step_size, 1)
        check_numbers(self, gamma=gamma)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._lrs()
        return self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * self.gamma ** (self.last_epoch // self.step_size) for lr in self.base_lrs]


class MultiStepLR(LRScheduler):
    """lr(t) = base_lr gamma^(number of milestones <= t): one drop at each of `milestones`, which may repeat."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        check_number(self, lambda: iter(milestones) is not None, tr("a list of milestones"), milestones)
        milestones = list(milestones)
        for milestone in milestones:
            check_count(self, "milestone", milestone)
        check_numbers(self, gamma=gamma)
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch not in self.milestones:
            return self._lrs()
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [lr * self.gamma**passed for lr in self.base_lrs]


class ConstantLR(LRScheduler):
    """lr(t) = base_lr factor for t < total_iters, then base_lr. `factor` lies in (0, 1].

    Parity: factor=0 is allowed by PyTorch and divides by zero at total_iters; here it raises ArgumentError at once.
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        check_number(self, lambda: 0 < factor <= 1, "0 < factor <= 1", factor)
        check_numbers(self, total_iters=total_iters)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        return self._scaled(1.0 / self.factor) if self.last_epoch == self.total_iters else self._lrs()

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)) for lr in self.base_lrs]


class LinearLR(LRScheduler):
    """lr(t) = base_lr (start_factor + (end_factor - start_factor) min(t, total_iters) / total_iters).

    start_factor in (0, 1], end_factor in [0, 1]. The usual warm-up.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        check_number(self, lambda: 0 < start_factor <= 1, "0 < start_factor <= 1", start_factor)
        check_number(self, lambda: 0 <= end_factor <= 1, "0 <= end_factor <= 1", end_factor)
        check_numbers(self, total_iters=total_iters)
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._lrs()
        rise = self.end_factor - self.start_factor
        return self._scaled(1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def _get_closed_form_lr(self) -> list[Any]:
        rise = self.end_factor - self.start_factor
        return [lr * (self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters) for lr in self.base_lrs]


class ExponentialLR(LRScheduler):
    """lr(t) = base_lr gamma^t."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        check_numbers(self, gamma=gamma)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return self._lrs() if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * self.gamma**self.last_epoch for lr in self.base_lrs]


class PolynomialLR(LRScheduler):
    """lr(t) = base_lr (1 - min(t, total_iters) / total_iters)^power."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        check_numbers(self, total_iters=total_iters, power=power)
        check_number(self, lambda: power >= 0, "power >= 0", power)  # the rate would be infinite at the end
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        t = self.last_epoch
        if self._is_initial or t > self.total_iters:
            return self._lrs()
        return self._scaled(((1.0 - t / self.total_iters) / (1.0 - (t - 1) / self.total_iters)) ** self.power)

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power for lr in self.base_lrs]
