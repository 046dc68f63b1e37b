"""Averages of a model's weights over training: stochastic weight averaging, exponential moving averages."""

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from numbers import Real
from typing import Any, Literal

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, ArgumentTypeError, expect_kind, tr
from badak.core.public_api import guard_classes as _guard_classes
from badak.nn import Module
from badak.nn.batch_norm import _BatchNorm
from badak.optim.lr_scheduler.base import LRScheduler, copied
from badak.optim.optimizer import Optimizer
from badak.tensor import Tensor, int64, tensor
from badak.tensor.dtypes import Device

__all__ = [
    "AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

PARAM_LIST = tuple[Tensor, ...] | list[Tensor]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ArgumentError(tr("Invalid decay value {} provided. Please provide a value in [0,1] range.", decay), "decay=0.999")


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """What moves a list of averages towards the weights: a += (1 - decay) (w - a)."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list, current_param_list, _) -> None:
        for a, w in zip(ema_param_list, current_param_list):
            if a.is_floating_point() or a.is_complex():
                a.lerp_(w, 1 - decay)
            else:
                a.copy_(a * decay + w * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable:
    """What makes a list of averages those of one weight more: a += (w - a) / (n + 1)."""

    @no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged) -> None:
        n = num_averaged.item() if isinstance(num_averaged, Tensor) else num_averaged
        for a, w in zip(averaged_param_list, current_param_list):
            if a.is_floating_point() or a.is_complex():
                a.lerp_(w, 1 / (n + 1))
            else:
                a.add_(((w - a) / (n + 1)).to(a.dtype))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """As `get_ema_multi_avg_fn`, for one weight at a time: it returns the new average."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param, current_param, num_averaged) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable:
    """As `get_swa_multi_avg_fn`, for one weight at a time: it returns the new average."""

    @no_grad()
    def swa_update(averaged_param, current_param, num_averaged) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of `model` whose weights are averages of those that `update_parameters(model)` was called with.

    Without `avg_fn` and `multi_avg_fn` each counts the same. avg_fn(average, weight, n) returns the new average of one weight;
    multi_avg_fn(averages, weights, n) changes lists of them. use_buffers: buffers are averaged too; otherwise they are
    copied. The first call copies. state_dict: `n_averaged`, and the model's under `module.`.
    Source: Izmailov et al. 2018, "Averaging weights leads to wider optima and better generalization".
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Device = None,
        avg_fn: Callable | None = None,
        multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise ArgumentError("Only one of avg_fn and multi_avg_fn should be provided", "AveragedModel(model, multi_avg_fn=...)")
        expect_kind(model, Module, "AveragedModel: expected a Module; got {}", "AveragedModel(model)")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _averaged(self, model: Module) -> list[Tensor]:
        return [*model.parameters(), *(model.buffers() if self.use_buffers else ())]

    def update_parameters(self, model: Module) -> None:
        """Take the weights that `model` has now into the averages."""
        pairs = zip(self._averaged(self.module), self._averaged(model))
        means, weights = [], []
        with no_grad():
            for mean, weight in pairs:
                weight = weight.detach().to(mean.device)
                means.append(mean.detach())
                weights.append(weight)
                if not int(self.n_averaged):
                    mean.copy_(weight)
            if int(self.n_averaged) and means:
                self._move(means, weights)
            if not self.use_buffers:
                for mine, current in zip(self.module.buffers(), model.buffers()):
                    mine.copy_(current)
            self.n_averaged += 1

    def _move(self, means: list[Tensor], weights: list[Tensor]) -> None:
        n = self.n_averaged
        if self.avg_fn is None:
            move = self.multi_avg_fn or get_swa_multi_avg_fn()
            for dtype in dict.fromkeys(mean.dtype for mean in means):
                at = [i for i, mean in enumerate(means) if mean.dtype == dtype]
                move([means[i] for i in at], [weights[i] for i in at], n)
            return
        for mean, weight in zip(means, weights):
            mean.copy_(self.avg_fn(mean, weight, n))


def update_bn(loader: Iterable, model: Module, device: Device = None) -> None:
    """Give the batch norms of `model` the means and variances of the data that `loader` gives, each batch counted the same.

    A batch that is a list or tuple counts by its first part. The model is left in the mode that it had.
    """
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return
    momenta, training = [norm.momentum for norm in norms], model.training
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    model.train()
    with no_grad():
        for batch in loader:
            x = batch[0] if isinstance(batch, list | tuple) else batch
            model(x if device is None else x.to(device))
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """Moves each learning rate to `swa_lr` in `anneal_epochs` steps, along a cosine ("cos") or a line ("linear"); it stays there.

        lr = swa_lr a + lr_0 (1 - a),  a = (1 - cos(pi t)) / 2 or t,  t = step / anneal_epochs, at most 1

    swa_lr: a number, or one for each group.
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: float | list[float], anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos", last_epoch: int = -1,
    ) -> None:  # fmt: skip
        groups = optimizer.param_groups
        rates = list(swa_lr) if isinstance(swa_lr, list | tuple) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            cause = tr("SWALR: swa_lr must have one number for each group: {} groups, got {}", len(groups), len(rates))
            raise ArgumentError(cause, "swa_lr=0.05")
        if not all(isinstance(rate, Real | Tensor) for rate in rates):
            raise ArgumentTypeError(tr("SWALR: swa_lr must be a number, or one for each group; got {!r}", swa_lr), "swa_lr=0.05")
        for group, rate in zip(groups, rates):
            group["swa_lr"] = copied(rate)
        if anneal_strategy not in ("cos", "linear"):
            cause = tr("anneal_strategy must be one of 'cos' or 'linear', instead got {}", anneal_strategy)
            raise ArgumentError(cause, "anneal_strategy='cos'")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ArgumentError(tr("anneal_epochs must be equal or greater than 0, got {}", anneal_epochs), "anneal_epochs=10")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        step = self._step_count - 1
        if not self.anneal_epochs:
            step = max(step, 1)
        before, now = self._share(step - 1), self._share(step)
        lrs = []
        for group in self.optimizer.param_groups:
            start = group["swa_lr"] if before == 1 else (group["lr"] - group["swa_lr"] * before) / (1 - before)
            lrs.append(group["swa_lr"] * now + start * (1 - now))
        return lrs

    def _share(self, step: int) -> float:
        """How much of the way is gone."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t


_guard_classes(globals(), LRScheduler, __name__)
