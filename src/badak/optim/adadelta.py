"""Adadelta: steps in the unit of the parameters, without a rate to choose."""

from typing import Any

from badak.kernels.update import fma, sqrt
from badak.optim.elementwise import Elementwise, Slot
from badak.optim.settings import a_fraction, number


class Adadelta(Elementwise):
    """Adadelta: the gradient times the root of recent squared steps over the root of recent squared gradients.

        g = dp + weight_decay p                            (-dp where `maximize`)
        v = rho v + (1 - rho) g^2
        d = sqrt(u + eps) / sqrt(v + eps) g                u = rho u + (1 - rho) d^2        (after d)
        p = p - lr d

    params: tensors, named tensors or groups (see Optimizer). lr, eps, weight_decay: numbers >= 0; rho: in [0, 1].
    Remembers `step`, `square_avg` (v) and `acc_delta` (u) for each parameter.
    Source: Zeiler 2012, "ADADELTA: An Adaptive Learning Rate Method", algorithm 1.
    """

    CHECKS = {"rho": a_fraction}
    SLOTS = {"square_avg": Slot(), "acc_delta": Slot()}
    ORDER = "lr rho eps weight_decay maximize capturable foreach differentiable"

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())

    @staticmethod
    def scalars(group: dict[str, Any], step: int) -> tuple[float, ...]:
        rho, direction = number(group["rho"]), -1.0 if group["maximize"] else 1.0
        return direction, number(group["weight_decay"]), number(group["lr"]), rho, 1 - rho, number(group["eps"])

    @staticmethod
    def update(
        p: Any, g: Any, v: Any, u: Any, direction: float, decay: int, lr: float, rho: float, rest: float, eps: float
    ) -> tuple:
        g = fma(decay, p, direction * g)
        v = v * rho + rest * g * g
        d = sqrt(u + eps) / sqrt(v + eps) * g
        return fma(-lr, d, p), v, u * rho + rest * d * d
