"""LRScheduler: what all schedules share, and the base of a user's own."""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, tr, undefined, warn_once
from badak.optim.lr_scheduler.state import checked
from badak.optim.optimizer import Optimizer
from badak.optim.settings import number, shown
from badak.optim.state import OptimizerStateError
from badak.tensor import Tensor


class InitialRateError(OptimizerStateError, KeyError):
    """A parameter group without the rate from which a schedule could go on."""


class LRScheduler:
    """Sets the "lr" of an optimizer's groups, once when it is made and then at every `step()`.

    A schedule of one's own overrides `get_lr`, which returns one learning rate for each group and may use
    `base_lrs` (the rates at the start), `last_epoch` (steps made so far, from 0) and `optimizer`:

        class HalfEachTime(LRScheduler):
            def get_lr(self):
                return [lr * 0.5 ** self.last_epoch for lr in self.base_lrs]

    optimizer: an Optimizer. last_epoch: -1 to begin; the last step made, to go on with an optimizer whose groups have
    their "initial_lr" (as loaded ones do). Call `optimizer.step()` before `scheduler.step()`; the other order warns.
    Raises ArgumentTypeError for another kind of optimizer, OptimizerStateError for last_epoch >= 0 without "initial_lr".

    A schedule that multiplies the current rate (most do, as in PyTorch) can be chained with others and keeps changes made
    to the rate by hand.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(self, optimizer)
        check_count(self, "last_epoch", last_epoch, -1)
        self.optimizer = optimizer
        for at, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                cause = tr("param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with last_epoch={}", at,
                           last_epoch)  # fmt: skip
                raise InitialRateError(cause, "load the optimizer's state first, or leave last_epoch out to begin again")
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Any]:
        """The learning rates that hold at step `last_epoch`, one for each group."""
        raise undefined(self, "def get_lr(self)")

    def get_last_lr(self) -> list[Any]:
        """The learning rates that were set last, one for each group."""
        return self._last_lr

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if "step" in cls.__dict__:
            cls.step = events.state(cls.__dict__["step"])  # type: ignore[method-assign]

    @events.state
    def step(self, epoch: int | None = None) -> None:
        """Go on by one step. `epoch` (PyTorch's old way) jumps to that step instead."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warn_once(
                ("schedule before step", id(self)),
                tr("Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first value of the schedule, "
                   "lr={}, was never used.", self.get_last_lr()[0]),
                "call optimizer.step() first, then lr_scheduler.step(): "
                "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",
            )  # fmt: skip
        self._step_count += 1
        if epoch is not None:
            number(epoch, type(self).__name__, "epoch")
            cause = tr("The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible.")
            warn_once(tr("epoch of a schedule"), cause, "scheduler.step()")
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = getattr(self, "_get_closed_form_lr", None) if epoch is not None else None
            lrs = (closed or self.get_lr)()
        finally:
            self._get_lr_called_within_step = False
        set_lrs(self.optimizer, lrs)
        self._last_lr = self._lrs()

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, in PyTorch's form."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; the optimizer's own state is loaded separately."""
        self.__dict__.update(checked(self, state_dict))

    def _lrs(self) -> list[Any]:
        """The groups' current learning rates."""
        return values_of(self.optimizer, "lr")

    def _scaled(self, factor: float) -> list[Any]:
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class _LRScheduler(LRScheduler):
    """The base's old name, which programs still derive from."""


def check_optimizer(schedule: Any, optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        name = type(schedule).__name__
        cause = tr("{}: {} is not an Optimizer", name, type(optimizer).__name__)
        raise ArgumentTypeError(cause, tr("{}(optimizer, ...), with a badak.optim optimizer", name))


def copied(value: Any) -> Any:
    """`value` itself, or for a tensor one that does not change with it."""
    return Tensor._of(value._array.copy()) if isinstance(value, Tensor) else value


def values_of(optimizer: Optimizer, name: str) -> list[Any]:
    return [copied(group[name]) for group in optimizer.param_groups]


def set_lrs(optimizer: Optimizer, lrs: list[Any]) -> None:
    """Set the groups' rates; a rate that is a tensor keeps being that tensor."""
    if not isinstance(lrs, list | tuple) or len(lrs) != len(optimizer.param_groups):
        found = len(lrs) if isinstance(lrs, list | tuple) else shown(lrs)
        cause = tr("get_lr: expected one learning rate for each of {} groups; got {}", len(optimizer.param_groups), found)
        raise ArgumentError(cause, 'return [group["lr"] * factor for group in self.optimizer.param_groups]')
    for lr in lrs:
        number(lr, "get_lr", tr("a learning rate"))
    for group, lr in zip(optimizer.param_groups, lrs):
        if isinstance(group["lr"], Tensor):
            group["lr"]._array[...] = float(lr)
            group["lr"]._watch().bump("lr_scheduler.step")
        else:
            group["lr"] = copied(lr)  # which the next step changes in place


def for_each_group(schedule: Any, optimizer: Optimizer, name: str, value: Any) -> list[Any]:
    """`value` for every group, or the values of a list with one for each."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in range(count)]
    if len(value) != count:
        cause = tr("{}: expected one {} for each of {} groups; got {}", type(schedule).__name__, name, count, len(value))
        raise ArgumentError(cause, tr("one {}, or a list of {}", name, count))
    return [copied(item) for item in value]


def check_number(schedule: Any, ok: Callable[[], Any], rule: str, value: Any) -> None:
    """Raise unless ok(): ArgumentTypeError where that cannot be asked of such a value, else ArgumentError."""
    cause, fix = tr("{}: expected {}; got {}", type(schedule).__name__, rule, shown(value)), tr("give it {}", rule)
    try:
        good = ok()
    except (TypeError, ValueError, ArithmeticError):
        raise ArgumentTypeError(cause, fix) from None
    if not good:
        raise ArgumentError(cause, fix)


def check_numbers(schedule: Any, **options: Any) -> None:
    """Every option is a number, or a tensor with one."""
    for name, value in options.items():
        number(value, type(schedule).__name__, name)


def check_count(schedule: Any, name: str, value: Any, least: int = 0) -> None:
    """An integer of steps; 2.0 is one, as in PyTorch."""
    rule = tr("an integer {} >= {}", name, least)
    whole = isinstance(value, int | np.integer) or isinstance(value, float) and value.is_integer()
    if isinstance(value, bool) or not whole:
        raise ArgumentTypeError(tr("{}: expected {}; got {}", type(schedule).__name__, rule, shown(value)), tr("give it {}", rule))
    check_number(schedule, lambda: value >= least, rule, value)
