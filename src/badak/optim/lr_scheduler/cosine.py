"""Schedules along a cosine."""

import math
from typing import Any

from badak.core.errors import tr
from badak.optim.lr_scheduler.base import LRScheduler, check_number, check_numbers
from badak.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """lr(t) = eta_min + (base_lr - eta_min) (1 + cos(pi t / T_max)) / 2: half a period in T_max steps.

    The rate follows a recurrence in lr(t - 1), as in PyTorch, so that it can be chained; the values are those of the formula
    as long as nobody else changes the rate. After T_max it rises again.
    Source: Loshchilov and Hutter 2017, "SGDR: Stochastic Gradient Descent with Warm Restarts", equation 5.

    Args:
        optimizer: whose rate it sets
        T_max: steps of half a period
        eta_min: the lowest rate
        last_epoch: steps that are already done; -1 for none

    Example:
        >>> w = nn.Parameter(badak.ones(1))
        >>> optimizer = optim.SGD([w], lr=1.0)
        >>> schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> w.sum().backward()
        >>> optimizer.step()
        >>> schedule.step()
        >>> round(optimizer.param_groups[0]["lr"], 3)
        0.5
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        check_number(self, lambda: T_max > 0, "T_max > 0", T_max)
        check_numbers(self, eta_min=eta_min)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        t, T, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return self._lrs()
        if self._step_count == 1 and t > 0:
            return [low + (base - low) * (1 + math.cos(t * math.pi / T)) / 2 for base in self.base_lrs]
        pairs = zip(self.base_lrs, self.optimizer.param_groups)
        if (t - 1 - T) % (2 * T) == 0:  # the step before was at the bottom, where the ratio below is 0 / 0
            return [group["lr"] + (base - low) * (1 - math.cos(math.pi / T)) / 2 for base, group in pairs]
        ratio = (1 + math.cos(math.pi * t / T)) / (1 + math.cos(math.pi * (t - 1) / T))
        return [ratio * (group["lr"] - low) + low for _, group in pairs]

    def _get_closed_form_lr(self) -> list[Any]:
        low = self.eta_min
        return [low + (base - low) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """lr = eta_min + (base_lr - eta_min) (1 + cos(pi T_cur / T_i)) / 2, back to base_lr when T_cur reaches T_i.

    The first period T_i has T_0 steps, each later one T_mult times as many. `step(epoch)` takes fractions of epochs too.
    Source: Loshchilov and Hutter 2017, "SGDR: Stochastic Gradient Descent with Warm Restarts", equation 5.
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        check_number(self, lambda: isinstance(T_0, int) and T_0 > 0, tr("a positive integer T_0"), T_0)
        check_number(self, lambda: isinstance(T_mult, int) and T_mult >= 1, tr("an integer T_mult >= 1"), T_mult)
        check_number(self, lambda: isinstance(eta_min, (int, float)), tr("a number eta_min"), eta_min)
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        low = self.eta_min
        return [low + (base - low) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on by one step, or to `epoch` (a fraction where steps are parts of epochs)."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            self._jump(epoch)
        self._update_lr(math.floor(epoch))

    def _jump(self, epoch: float) -> None:
        """Find the period that `epoch` lies in: the n-th begins at T_0 (T_mult^n - 1) / (T_mult - 1)."""
        check_number(self, lambda: epoch >= 0, "epoch >= 0", epoch)
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n
