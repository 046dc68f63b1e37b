"""Adamax: Adam with the largest recent gradient in the place of the root mean square."""

from typing import Any

from badak.kernels.update import fma, largest
from badak.optim.elementwise import Elementwise, Slot
from badak.optim.settings import number


class Adamax(Elementwise):
    """Adamax: the gradient's running mean over its running maximum.

        g = dp + weight_decay p                            (-dp where `maximize`)
        m = beta1 m + (1 - beta1) g                        u = max(beta2 u, |g| + eps)
        p = p - lr / (1 - beta1^t) m / u                                          t = 1, 2, ...

    params: tensors, named tensors or groups (see Optimizer). lr, eps, weight_decay: numbers >= 0; betas: each in [0, 1).
    Remembers `step` (t), `exp_avg` (m) and `exp_inf` (u) for each parameter.
    Source: Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization", algorithm 2; eps as in PyTorch.
    """

    SLOTS = {"exp_avg": Slot(), "exp_inf": Slot()}

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, locals())

    @staticmethod
    def scalars(group: dict[str, Any], step: int) -> tuple[float, ...]:
        direction, (beta1, beta2) = -1.0 if group["maximize"] else 1.0, map(number, group["betas"])
        rate = number(group["lr"]) / (1 - beta1**step)
        return direction, number(group["weight_decay"]), beta1, 1 - beta1, beta2, rate, number(group["eps"])

    @staticmethod
    def update(
        p: Any,
        g: Any,
        m: Any,
        u: Any,
        direction: float,
        decay: int,
        beta1: float,
        rest1: float,
        beta2: float,
        rate: float,
        eps: float,
    ) -> tuple:
        g = fma(decay, p, direction * g)
        m = fma(rest1, g - m, m) if rest1 < 0.5 else g - (g - m) * beta1  # PyTorch interpolates from the nearer end
        u = largest(u * beta2, largest(g, -g) + eps)
        return p + -rate * m / u, m, u
