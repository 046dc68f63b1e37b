"""RAdam: Adam that waits until it knows the size of its gradients."""

from math import sqrt as root_of
from typing import Any

from badak.kernels.update import fma, sqrt
from badak.optim.elementwise import Elementwise, Slot
from badak.optim.settings import number


class RAdam(Elementwise):
    """RAdam: Adam times what the variance of its own rate, known from so few gradients, allows.

        g = dp + weight_decay p                            (-dp where `maximize`; decoupled: p = p (1 - lr weight_decay) instead)
        m = beta1 m + (1 - beta1) g                        v = beta2 v + (1 - beta2) g^2
        R = 2 / (1 - beta2) - 1                            r = R - 2 t beta2^t / (1 - beta2^t)
        p = p - lr m / (1 - beta1^t) c                     c = 1                                      where r <= 5
        c = sqrt((r - 4) (r - 2) R / ((R - 4) (R - 2) r)) sqrt(1 - beta2^t) / (sqrt(v) + eps)         elsewhere

    params: tensors, named tensors or groups (see Optimizer). lr, eps, weight_decay: numbers >= 0; betas: each in [0, 1).
    Remembers `step` (t), `exp_avg` (m) and `exp_avg_sq` (v) for each parameter.
    Source: Liu, Jiang, He, Chen, Liu, Gao and Han 2020, "On the Variance of the Adaptive Learning Rate and Beyond",
    algorithm 2, with eps and the bound 5 as in PyTorch.
    """

    SLOTS = {"exp_avg": Slot(), "exp_avg_sq": Slot()}
    ORDER = "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())

    @staticmethod
    def scalars(group: dict[str, Any], step: int) -> tuple[float, ...]:
        lr, decay, (beta1, beta2) = number(group["lr"]), number(group["weight_decay"]), map(number, group["betas"])
        direction = -1.0 if group["maximize"] else 1.0
        keep, decay = (1 - lr * decay, 0.0) if group["decoupled_weight_decay"] else (1.0, decay)
        rate, known, most = lr / (1 - beta1**step), 1 - beta2**step, 2 / (1 - beta2) - 1
        length = most - 2 * step * beta2**step / known
        trust = 0.0  # too early to divide by the root
        if length > 5:
            trust = root_of((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)) * root_of(known)
        return direction, decay, keep, beta1, 1 - beta1, beta2, 1 - beta2, rate, trust, number(group["eps"])

    @staticmethod
    def update(
        p: Any,
        g: Any,
        m: Any,
        v: Any,
        direction: float,
        decay: int,
        keep: float,
        beta1: float,
        rest1: float,
        beta2: float,
        rest2: float,
        rate: float,
        trust: float,
        eps: float,
    ) -> tuple:
        g = fma(decay, p, direction * g)
        m = fma(rest1, g - m, m) if rest1 < 0.5 else g - (g - m) * beta1  # PyTorch interpolates from the nearer end
        v = v * beta2 + rest2 * g * g
        if trust == 0:
            return p * keep - rate * m, m, v
        return p * keep - rate * m * trust / (sqrt(v) + eps), m, v
