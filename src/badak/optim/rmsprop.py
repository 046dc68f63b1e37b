"""RMSprop: the gradient over the root of its recent mean square."""

from typing import Any

from badak.kernels.update import fma, sqrt
from badak.optim.elementwise import Elementwise, Slot
from badak.optim.settings import a_switch, at_least_zero, number


class RMSprop(Elementwise):
    """RMSprop, with momentum and centring where asked.

        g = dp + weight_decay p                            (-dp where `maximize`)
        v = alpha v + (1 - alpha) g^2
        a = alpha a + (1 - alpha) g                        d = sqrt(v - a^2) + eps          (centered)
                                                           d = sqrt(v) + eps                (otherwise)
        b = momentum b + g / d                             p = p - lr b                     (momentum 0: p = p - lr g / d)

    params: tensors, named tensors or groups (see Optimizer); lr, alpha, eps, weight_decay, momentum: numbers >= 0.
    Remembers `step`, `square_avg` (v), `momentum_buffer` (b) and `grad_avg` (a) for each parameter, the last two as needed.
    Source: Hinton 2012, "Neural Networks for Machine Learning", lecture 6e; centred: Graves 2013, "Generating Sequences
    With Recurrent Neural Networks", equations 38 to 45, with eps outside the root as in PyTorch.
    """

    CHECKS = {"alpha": at_least_zero, "centered": a_switch}
    SLOTS = {"square_avg": Slot(), "momentum_buffer": Slot(when="momentum"), "grad_avg": Slot(when="centered")}
    ORDER = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())

    @staticmethod
    def scalars(group: dict[str, Any], step: int) -> tuple[float, ...]:
        alpha = number(group["alpha"])
        sign = -1.0 if group["maximize"] else 1.0
        decay, lr, momentum = number(group["weight_decay"]), number(group["lr"]), number(group["momentum"])
        return sign, decay, lr, alpha, 1 - alpha, number(group["eps"]), momentum

    @staticmethod
    def update(
        p: Any,
        g: Any,
        v: Any,
        b: Any,
        a: Any,
        sign: float,
        decay: int,
        lr: float,
        alpha: float,
        rest: float,
        eps: float,
        momentum: float,
    ) -> tuple:
        g = fma(decay, p, sign * g)
        v = v * alpha + rest * g * g
        if a is None:
            mean, d = None, sqrt(v) + eps
        else:
            mean = fma(rest, g - a, a)
            d = sqrt(v - mean * mean) + eps
        if b is None:
            return p + -lr * g / d, v, None, mean
        buffer = b * momentum + g / d
        return fma(-lr, buffer, p), v, buffer, mean
