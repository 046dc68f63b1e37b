"""ReduceLROnPlateau: slower when a metric stops improving."""

import math
from typing import Any

from badak.core.errors import ArgumentError, tr, warn_once
from badak.optim.lr_scheduler.base import LRScheduler, check_number, check_numbers, check_optimizer, set_lrs, values_of
from badak.optim.optimizer import Optimizer
from badak.optim.settings import number


class ReduceLROnPlateau(LRScheduler):
    """lr = max(lr factor, min_lr) after more than `patience` steps in a row without a better metric.

    A metric is better where it is below best (1 - threshold) (mode "min", threshold_mode "rel"), best - threshold ("min",
    "abs"), above best (1 + threshold) ("max", "rel") or best + threshold ("max", "abs"). After a reduction, `cooldown` steps
    do not count. A change of less than eps is not made. `step(metric)` takes the metric.

    factor: < 1. min_lr: one for all groups, or a list. Raises ArgumentError for other factors, modes and lengths.

    Args:
        optimizer: whose rate it sets
        mode: "min" or "max": whether less or more is better
        factor: of a reduction, below 1
        patience: steps without improvement that are allowed
        threshold: how much better counts
        threshold_mode: "rel" or "abs"
        cooldown: steps after a reduction that do not count
        min_lr: the lowest rate; one, or one for each group
        eps: a smaller change is not made

    Example:
        >>> optimizer = optim.SGD([nn.Parameter(badak.zeros(1))], lr=1.0)
        >>> schedule = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
        >>> for loss in (1.0, 2.0):
        ...     schedule.step(loss)
        >>> optimizer.param_groups[0]["lr"]
        0.1
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        check_number(self, lambda: factor < 1.0, "factor < 1", factor)
        check_number(self, lambda: mode in ("min", "max"), tr("mode 'min' or 'max'"), mode)
        check_number(self, lambda: threshold_mode in ("rel", "abs"), tr("threshold_mode 'rel' or 'abs'"), threshold_mode)
        check_optimizer(self, optimizer)
        check_numbers(self, patience=patience, threshold=threshold, cooldown=cooldown, eps=eps)
        self.factor, self.optimizer = factor, optimizer
        several = isinstance(min_lr, (list, tuple))
        self.default_min_lr = None if several else min_lr
        check_number(
            self,
            lambda: not several or len(min_lr) == len(optimizer.param_groups),
            tr("{} min_lrs", len(optimizer.param_groups)),
            min_lr,
        )
        self.min_lrs = list(min_lr) if several else [min_lr] * len(optimizer.param_groups)
        for low in self.min_lrs:
            check_numbers(self, min_lr=low)
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = values_of(optimizer, "lr")
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        """Say what is better."""
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf

    def _reset(self) -> None:
        """Forget the metrics seen so far."""
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the metric of one more epoch, a number or a tensor with one element."""
        metric = float(number(metrics, type(self).__name__, "metrics"))
        if epoch is not None:
            cause = tr("The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible.")
            warn_once(tr("epoch of a schedule"), cause, "scheduler.step(metric)")
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(metric, self.best):
            self.best, self.num_bad_epochs = metric, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = values_of(self.optimizer, "lr")

    def _reduce_lr(self, epoch: int) -> None:
        """Lower the rates. A subclass may do otherwise; epoch is the count of steps so far."""
        count = len(self.optimizer.param_groups)
        if len(self.min_lrs) != count:
            if self.default_min_lr is None:
                cause = tr("ReduceLROnPlateau: The number of param groups in the `optimizer` ({}) differs from when it was "
                           "initialized ({})", count, len(self.min_lrs))  # fmt: skip
                raise ArgumentError(cause, "set scheduler.min_lrs to one for each group")
            self.min_lrs = [self.default_min_lr] * count
        lrs = []
        for group, low in zip(self.optimizer.param_groups, self.min_lrs):
            before = float(group["lr"])
            after = max(before * self.factor, low)
            lrs.append(after if before - after > self.eps else group["lr"])
        set_lrs(self.optimizer, lrs)

    @property
    def in_cooldown(self) -> bool:
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        sign = 1.0 if self.mode == "max" else -1.0
        bar = best * (1.0 + sign * self.threshold) if self.threshold_mode == "rel" else best + sign * self.threshold
        return a > bar if self.mode == "max" else a < bar

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self.mode_worse = math.inf if self.mode == "min" else -math.inf
