"""Averaged stochastic gradient descent."""

from typing import Any

from badak.kernels.update import fma
from badak.optim.elementwise import Elementwise, Slot
from badak.optim.settings import a_number, at_least_zero, number


class ASGD(Elementwise):
    """Stochastic gradient descent that keeps the mean of its parameters.

        g = dp + weight_decay p                            (-dp where `maximize`)
        p = p (1 - lambd eta) - eta g                      a = a + mu (p - a)
        eta = lr / (1 + lambd lr t)^alpha                  mu = 1 / max(1, t - t0)               (for the next step)

    eta is lr and mu is 1 at the first step. The mean a is in the state, under `ax`; the parameters themselves are p.

    params: tensors, named tensors or groups (see Optimizer). lr, weight_decay, lambd, alpha: numbers >= 0; t0: a number.
    Remembers `step` (t), `eta`, `mu` and `ax` (a) for each parameter.
    Source: Polyak and Juditsky 1992, "Acceleration of Stochastic Approximation by Averaging"; the rate of Bottou 2010,
    "Large-Scale Machine Learning with Stochastic Gradient Descent".
    """

    CHECKS = {"lambd": at_least_zero, "alpha": at_least_zero, "t0": a_number}
    SLOTS = {"ax": Slot()}
    NUMBERS = {"eta": "lr", "mu": 1.0}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, locals())

    @staticmethod
    def scalars(group: dict[str, Any], step: int, *numbers: Any) -> tuple[float, ...]:
        (eta, mu), lr, lambd = numbers, number(group["lr"]), number(group["lambd"])
        direction, decay, rate = -1.0 if group["maximize"] else 1.0, number(group["weight_decay"]), eta.item()
        made = direction, decay, 1 - lambd * rate, rate, mu.item()
        try:
            next_eta = lr / (1 + lambd * lr * step) ** number(group["alpha"])
        except OverflowError:
            next_eta = 0.0  # what is divided by is larger than any number
        next_mu = 1 / max(1, step - number(group["t0"]))
        eta.fill(next_eta)
        mu.fill(next_mu)
        return made

    @staticmethod
    def update(p: Any, g: Any, a: Any, direction: float, decay: int, keep: float, rate: float, mu: float) -> tuple:
        g = fma(decay, p, direction * g)
        p = fma(-rate, g, p * keep)
        return p, p if mu == 1 else a + (p - a) * mu
