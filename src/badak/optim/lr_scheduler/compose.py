"""Schedules made of schedules: one after another, or all at once."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, tr
from badak.optim.lr_scheduler.base import LRScheduler, check_count, copied, set_lrs, values_of
from badak.optim.lr_scheduler.plateau import ReduceLROnPlateau
from badak.optim.lr_scheduler.state import checked, refuse
from badak.optim.optimizer import Optimizer
from badak.optim.state import OptimizerStateError


class _OfSchedules(LRScheduler):
    """Checks its parts, and saves them with itself."""

    _schedulers: list[LRScheduler]

    def _check(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None) -> None:
        name = type(self).__name__
        if not isinstance(schedulers, Sequence):
            cause = tr("{} expects a list of schedulers; got {}", name, type(schedulers).__name__)
            raise ArgumentTypeError(cause, f"{name}([...])")
        if len(schedulers) < 1:
            raise ArgumentError(tr("{} expects at least one scheduler, but got no scheduler.", name), f"{name}([...])")
        for at, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise ArgumentTypeError(
                    tr("{} at index {} should have `optimizer` as its attribute; it is a {}", name, at, type(scheduler).__name__),
                    "pass schedules",
                )
            if isinstance(scheduler, ReduceLROnPlateau):
                cause = tr("{} does not support ReduceLROnPlateau (index {}): its step() needs a metric", name, at)
                raise ArgumentError(cause, "step it by itself")
            if optimizer is not None and scheduler.optimizer is not optimizer:
                cause = tr("{} expects all schedulers to belong to the same optimizer; the one at index {} has another", name, at)
                raise ArgumentError(cause, "make all schedules with one optimizer")

    def state_dict(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        loaded = checked(self, {**state_dict} if isinstance(state_dict, dict) else state_dict, ("last_epoch", "_schedulers"))
        parts = loaded.pop("_schedulers")
        if len(parts) != len(self._schedulers):
            refuse(self, tr("'_schedulers' has {} states; here there are {} schedules", len(parts), len(self._schedulers)))
        before = [scheduler.state_dict() for scheduler in self._schedulers]
        try:
            for scheduler, state in zip(self._schedulers, parts):
                scheduler.load_state_dict(state)
        except OptimizerStateError:
            for scheduler, state in zip(self._schedulers, before):
                scheduler.load_state_dict(state)
            raise
        self.__dict__.update(loaded)


class SequentialLR(_OfSchedules):
    """schedulers[0] until milestones[0], then schedulers[1] from its own step 0 until milestones[1], and so on.

    milestones: steps, one fewer than the schedules. Raises ArgumentError where the numbers or the optimizers do not match.
    """

    def __init__(self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1) -> None:
        self._check(schedulers, optimizer)
        for at, scheduler in enumerate(schedulers[1:], 1):
            if isinstance(scheduler, _OfSchedules):
                kind = type(scheduler).__name__
                cause = tr("SequentialLR: a {} (index {}) has no rate of its own to begin with at a milestone", kind, at)
                raise NotSupportedError(cause, "one SequentialLR of all schedules, or put it first")
        if not isinstance(milestones, Sequence):
            cause = tr("SequentialLR expects a list of milestones; got {}", type(milestones).__name__)
            raise ArgumentTypeError(cause, f"milestones=[{milestones}]")
        for milestone in milestones:
            check_count(self, "milestone", milestone)
        if len(milestones) != len(schedulers) - 1:
            cause = tr("SequentialLR expects one milestone fewer than schedulers; got {} schedulers and {} milestones",
                       len(schedulers), len(milestones))  # fmt: skip
            raise ArgumentError(cause, tr("{} milestones", len(schedulers) - 1))
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each part has made its first step when it was made: take that back, and let only the first part set the rate.
        set_lrs(optimizer, [copied(group["initial_lr"]) for group in optimizer.param_groups])
        _take_back_a_step(self)
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Go on by one step, in the schedule whose turn it is."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


def _take_back_a_step(scheduler: Any) -> None:
    if hasattr(scheduler, "_schedulers"):
        for part in scheduler._schedulers:
            _take_back_a_step(part)
    elif hasattr(scheduler, "last_epoch"):
        scheduler.last_epoch -= 1


class ChainedScheduler(_OfSchedules):
    """All schedules at every step, each multiplying the rate that the one before has left.

    optimizer: that of the schedules unless given.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        self._check(schedulers, optimizer)
        self._check(schedulers, schedulers[0].optimizer)
        self._schedulers = list(schedulers)
        self.optimizer = schedulers[0].optimizer
        self._last_lr = values_of(self.optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Go on by one step in every schedule."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self.optimizer, "lr")
