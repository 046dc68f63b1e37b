"""Adagrad: steps that shrink with the gradients seen so far."""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak.optim.optimizer import Optimizer, loss_of, next_step, step_tensor
from badak.optim.settings import at_least_zero, check_lr, number, say_what_cannot_apply
from badak.tensor import Tensor


class Adagrad(Optimizer):
    """Adagrad: the gradient over the root of the sum of its squares.

        g = dp + weight_decay p                            (-dp where `maximize`)
        s = s + g^2                                        (s = initial_accumulator_value before the first step)
        p = p - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)                   t = 1, 2, ...

    params: tensors, named tensors or groups (see Optimizer); the other settings are numbers >= 0.
    Remembers `step` (t) and `sum` (s) for each parameter, from the start on.
    Source: Duchi, Hazan and Singer 2011, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization".
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        check_lr("Adagrad", lr)
        at_least_zero(
            "Adagrad",
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )
        say_what_cannot_apply("Adagrad", foreach, fused, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for p in group["params"]:
            start = np.full_like(p._array, group["initial_accumulator_value"])
            self.state[p].update(step=step_tensor(), sum=Tensor._of(start))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of every parameter that has a gradient; returns what `closure` returned."""
        loss = loss_of(closure)
        for p, grad, group in self._trainable():
            state = self.state[p]
            param, total = p._array, state["sum"]._array
            lr = number(group["lr"]) / (1 + (next_step(state) - 1) * group["lr_decay"])
            g = -grad if group["maximize"] else grad
            if group["weight_decay"] != 0:
                g = g + group["weight_decay"] * param
            total += g * g
            param += -lr * g / (total**0.5 + group["eps"])
        return loss
