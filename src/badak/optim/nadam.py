"""NAdam: Adam with Nesterov's momentum."""

from math import sqrt as root_of
from typing import Any

from badak.kernels.update import fma, quotient, sqrt
from badak.optim.elementwise import Elementwise, Slot
from badak.optim.settings import at_least_zero, number


class NAdam(Elementwise):
    """NAdam: Adam that looks ahead along its running mean, with a momentum that grows.

        g = dp + weight_decay p                            (-dp where `maximize`; decoupled: p = p (1 - lr weight_decay) instead)
        m = beta1 m + (1 - beta1) g                        v = beta2 v + (1 - beta2) g^2
        mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2)     M_t = mu_1 ... mu_t
        p = p - lr ((1 - mu_t) / (1 - M_t) g + mu_(t+1) / (1 - M_(t+1)) m) / (sqrt(v / (1 - beta2^t)) + eps)

    params: tensors, named tensors or groups (see Optimizer). lr, eps, weight_decay, momentum_decay: numbers >= 0; betas: each
    in [0, 1). Remembers `step` (t), `mu_product` (M), `exp_avg` (m) and `exp_avg_sq` (v) for each parameter.
    Source: Dozat 2016, "Incorporating Nesterov Momentum into Adam", algorithm 2, with the schedule of its section 3.
    """

    CHECKS = {"momentum_decay": at_least_zero}
    SLOTS = {"exp_avg": Slot(), "exp_avg_sq": Slot()}
    NUMBERS = {"mu_product": 1.0}
    ORDER = "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach capturable differentiable"

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())

    @staticmethod
    def scalars(group: dict[str, Any], step: int, *numbers: Any) -> tuple[float, ...]:
        (product,), lr, (beta1, beta2) = numbers, number(group["lr"]), map(number, group["betas"])
        direction, decay = -1.0 if group["maximize"] else 1.0, number(group["weight_decay"])
        keep, decay = (1 - lr * decay, 0.0) if group["decoupled_weight_decay"] else (1.0, decay)
        now, ahead = (beta1 * (1 - 0.5 * 0.96 ** (t * number(group["momentum_decay"]))) for t in (step, step + 1))
        product *= now
        rate, rate_ahead = lr * (1 - now) / (1 - product.item()), lr * ahead / (1 - product.item() * ahead)
        root, eps = root_of(1 - beta2**step), number(group["eps"])
        return direction, decay, keep, beta1, 1 - beta1, beta2, 1 - beta2, root, rate, rate_ahead, eps

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
        root: float,
        rate: float,
        rate_ahead: float,
        eps: float,
    ) -> tuple:
        g = fma(decay, p, direction * g)
        m = fma(rest1, g - m, m) if rest1 < 0.5 else g - (g - m) * beta1  # PyTorch interpolates from the nearer end
        v = v * beta2 + rest2 * g * g
        d = quotient(sqrt(v), root) + eps
        return p * keep + -rate * g / d + -rate_ahead * m / d, m, v
