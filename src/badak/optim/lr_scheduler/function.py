"""Schedules that are a function of the step: LambdaLR, MultiplicativeLR, and the Transformer's own, NoamLR."""

import types
from collections.abc import Callable
from typing import Any

from badak.core.errors import expect_kind, tr
from badak.optim.lr_scheduler.base import LRScheduler, check_number, for_each_group
from badak.optim.lr_scheduler.state import checked, refuse
from badak.optim.optimizer import Optimizer
from badak.optim.settings import shown


class _OfFunctions(LRScheduler):
    """Keeps one function for each group; functions are not saved, callable objects save their attributes."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | list[Callable[[int], float]], last_epoch: int = -1
    ):
        self.lr_lambdas = for_each_group(self, optimizer, "lr_lambda", lr_lambda)
        for function in self.lr_lambdas:
            expect_kind(function, Callable, "lr_lambda should be a function, but got {}", "lr_lambda=lambda step: 0.95 ** step")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        state = {name: value for name, value in super().state_dict().items() if name != "lr_lambdas"}
        state["lr_lambdas"] = [
            None if isinstance(function, types.FunctionType) else dict(vars(function)) for function in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        loaded = checked(self, state_dict, ("last_epoch", "lr_lambdas"))
        saved = loaded.pop("lr_lambdas")
        if len(saved) != len(self.lr_lambdas):
            refuse(self, tr("'lr_lambdas' has {} entries; here there are {} functions", len(saved), len(self.lr_lambdas)))
        for function, attributes in zip(self.lr_lambdas, saved):
            if attributes is not None and not (isinstance(attributes, dict) and hasattr(function, "__dict__")):
                refuse(self, tr("'lr_lambdas' should hold None or attributes of a function; got {}", shown(attributes)))
        self.__dict__.update(loaded)
        for function, attributes in zip(self.lr_lambdas, saved):
            if attributes is not None:
                vars(function).update(attributes)


class LambdaLR(_OfFunctions):
    """lr(t) = base_lr lr_lambda(t), t = 0, 1, ...

    lr_lambda: a function of the step, or a list with one for each group.

    Args:
        optimizer: whose rate it sets
        lr_lambda: a function of the step, or one for each group
        last_epoch: steps that are already done; -1 for none

    Example:
        >>> w = nn.Parameter(badak.ones(1))
        >>> optimizer = optim.SGD([w], lr=1.0)
        >>> schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
        >>> w.sum().backward()
        >>> optimizer.step()
        >>> schedule.step()
        >>> optimizer.param_groups[0]["lr"]
        0.5
    """

    def get_lr(self) -> list[Any]:
        return [lr * function(self.last_epoch) for function, lr in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_OfFunctions):
    """lr(t) = lr(t - 1) lr_lambda(t), lr(0) = base_lr.

    lr_lambda: a function of the step, or a list with one for each group.
    """

    def get_lr(self) -> list[Any]:
        if self._is_initial:
            return self._lrs()
        return [group["lr"] * function(self.last_epoch) for function, group in zip(self.lr_lambdas, self.optimizer.param_groups)]


class NoamLR(LRScheduler):
    """The schedule of "Attention Is All You Need": a linear warm-up, then the inverse root of the step.

        lr(t) = base_lr d_model^-0.5 min(n^-0.5, n warmup_steps^-1.5),   n = t + 1 = 1, 2, ...

    The largest rate, base_lr (d_model warmup_steps)^-0.5, is reached at n = warmup_steps. With lr=1.0 in the optimizer
    these are the paper's values; its Adam has betas=(0.9, 0.98), eps=1e-9.

    d_model: the model's width C, > 0. warmup_steps: > 0, 4000 in the paper.
    Parity: PyTorch has no such class; the name is the field's, after the paper's second author.
    Source: Vaswani et al. 2017, "Attention Is All You Need", equation 3.
    """

    def __init__(self, optimizer: Optimizer, d_model: int, warmup_steps: int = 4000, last_epoch: int = -1) -> None:
        check_number(self, lambda: d_model > 0, "d_model > 0", d_model)
        check_number(self, lambda: warmup_steps > 0, "warmup_steps > 0", warmup_steps)
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        n = self.last_epoch + 1
        factor = self.d_model**-0.5 * min(n**-0.5, n * self.warmup_steps**-1.5)
        return [lr * factor for lr in self.base_lrs]
