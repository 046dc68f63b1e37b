"""Adagrad: steps that shrink with the gradients seen so far."""

from typing import Any

import numpy as np

from badak.kernels.update import fma, sqrt
from badak.optim.elementwise import Elementwise, Slot
from badak.optim.optimizer import count
from badak.optim.settings import at_least_zero, number
from badak.tensor import Tensor


class Adagrad(Elementwise):
    """Adagrad: the gradient over the root of the sum of its squares.

        g = dp + weight_decay p                            (-dp where `maximize`)
        s = s + g^2                                        (s = initial_accumulator_value before the first step)
        p = p - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)                   t = 1, 2, ...

    params: tensors, named tensors or groups (see Optimizer); the other settings are numbers >= 0.
    Remembers `step` (t) and `sum` (s) for each parameter, from the start on.
    A sparse gradient changes the rows that it names; weight_decay is refused with one.
    Source: Duchi, Hazan and Singer 2011, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization".
    """

    CHECKS = {"lr_decay": at_least_zero, "initial_accumulator_value": at_least_zero}
    SLOTS = {"sum": Slot(start="initial_accumulator_value")}
    REMEMBERS_AT_ONCE = True
    ORDER = "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused"

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
    ) -> None:
        super().__init__(params, locals())

    @staticmethod
    def scalars(group: dict[str, Any], step: int) -> tuple[float, ...]:
        rate = number(group["lr"]) / (1 + (step - 1) * number(group["lr_decay"]))
        return -1.0 if group["maximize"] else 1.0, number(group["weight_decay"]), rate, number(group["eps"])

    @staticmethod
    def update(p: Any, g: Any, s: Any, sign: float, decay: int, rate: float, eps: float) -> tuple:
        g = fma(decay, p, sign * g)
        s = s + g * g
        return p + -rate * g / (sqrt(s) + eps), s

    def _update_sparse(self, p: Tensor, g: Any, group: dict[str, Any]) -> None:
        self._begin(p, group)
        memory, at = self.state[p], tuple(g._at._array)
        sign, _, rate, eps = self.scalars(group, count(memory["step"]._array))
        values = sign * g._entries._array
        memory["sum"]._array[at] += values * values
        p._array[at] -= rate * (values / (np.sqrt(memory["sum"]._array[at]) + eps))
