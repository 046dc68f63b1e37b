"""Adam: steps of one size for every parameter, however large its gradient."""

from math import sqrt as root_of
from typing import Any

from badak.kernels.update import fma, largest, quotient, sqrt
from badak.optim.elementwise import Elementwise, Slot
from badak.optim.settings import number


class Adam(Elementwise):
    """Adam: the gradient's running mean over the root of its running mean square.

        g = dp + weight_decay p                            (-dp where `maximize`)
        m = beta1 m + (1 - beta1) g                        v = beta2 v + (1 - beta2) g^2
        p = p - lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)            t = 1, 2, ...

    eps stands outside the root and after the bias correction. amsgrad=True uses the largest v so far in place of v (its
    correction still by t). decoupled_weight_decay=True is AdamW.

    params: tensors, named tensors or groups (see Optimizer). lr, eps, weight_decay: numbers >= 0; betas: each in [0, 1).
    Remembers `step` (t), `exp_avg` (m), `exp_avg_sq` (v) and with amsgrad `max_exp_avg_sq` for each parameter.
    foreach and fused are accepted and change nothing: the update is one kernel call for all parameters of a group;
    capturable has no effect on a CPU and says so. Raises ArgumentError for settings outside their range, ArgumentTypeError for
    those of another kind.

    Sources: Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization", algorithm 1; Reddi, Kale and Kumar 2018,
    "On the Convergence of Adam and Beyond" (amsgrad).

    Args:
        params: parameters, named parameters or groups
        lr: learning rate
        betas: decay of the running mean and of the running mean square, each in [0, 1)
        eps: added to the root
        weight_decay: added to the gradient, times the parameter
        amsgrad: divide by the largest mean square so far
        foreach, fused, capturable: accepted; no effect
        maximize: go up instead of down
        differentiable: record the step, so that gradients go through it
        decoupled_weight_decay: decay as in AdamW

    Example:
        >>> w = nn.Parameter(badak.tensor([1.0]))
        >>> optimizer = optim.Adam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> round(w.item(), 3)
        0.9
    """

    SLOTS = {"exp_avg": Slot(), "exp_avg_sq": Slot(), "max_exp_avg_sq": Slot(when="amsgrad")}
    ORDER = "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused decoupled_weight_decay"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(params, locals())

    @staticmethod
    def scalars(group: dict[str, Any], step: int) -> tuple[float, ...]:
        lr, decay, (beta1, beta2) = number(group["lr"]), number(group["weight_decay"]), map(number, group["betas"])
        sign, decoupled = -1.0 if group["maximize"] else 1.0, group["decoupled_weight_decay"]
        keep, decay = (1 - lr * decay, 0.0) if decoupled else (1.0, decay)
        root, rate = root_of(1 - beta2**step), lr / (1 - beta1**step)
        return sign, decay, keep, beta1, 1 - beta1, beta2, 1 - beta2, root, rate, number(group["eps"])

    @staticmethod
    def update(
        p: Any,
        g: Any,
        m: Any,
        v: Any,
        top: Any,
        sign: float,
        decay: float,
        keep: float,
        beta1: float,
        rest1: float,
        beta2: float,
        rest2: float,
        root: float,
        rate: float,
        eps: float,
    ) -> tuple:
        g = fma(decay, p, sign * g)
        m = fma(rest1, g - m, m) if rest1 < 0.5 else g - (g - m) * beta1  # PyTorch interpolates from the nearer end
        v = v * beta2 + rest2 * g * g
        if top is None:
            return p * keep + -rate * m / (quotient(sqrt(v), root) + eps), m, v, None
        highest = largest(top, v)
        return p * keep + -rate * m / (quotient(sqrt(highest), root) + eps), m, v, highest
