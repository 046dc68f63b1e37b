"""Schedules in which the momentum, or Adam's first beta, goes the other way than the learning rate."""

from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.optim.lr_scheduler.base import LRScheduler, check_numbers, for_each_group


class MomentumScheduler(LRScheduler):
    """What CyclicLR and OneCycleLR do with `cycle_momentum`."""

    use_beta1: bool

    def _begin_momentum(self, base_momentum: Any, max_momentum: Any, last_epoch: int) -> tuple[list[Any], list[Any]]:
        """Each group's smallest and largest momentum; a new schedule begins with the largest."""
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            cause = tr("{}: optimizer must support momentum or beta1 with `cycle_momentum` option enabled", type(self).__name__)
            raise ArgumentError(cause, "cycle_momentum=False")
        self.use_beta1 = "betas" in defaults
        lows = for_each_group(self, self.optimizer, "base_momentum", base_momentum)
        highs = for_each_group(self, self.optimizer, "max_momentum", max_momentum)
        for value in (*highs, *lows):
            check_numbers(self, momentum=value)
        if last_epoch == -1:
            for group, low, high in zip(self.optimizer.param_groups, lows, highs):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        return lows, highs

    def _set_momentum(self, group: dict[str, Any], momentum: Any) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum
