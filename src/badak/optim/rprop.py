"""Rprop: steps that follow the signs of the gradient alone."""

from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.kernels.update import fma, largest, sign
from badak.optim.elementwise import Elementwise, Slot
from badak.optim.settings import number, two_numbers


class Rprop(Elementwise):
    """Resilient backpropagation: a step size for every element, larger while its gradient keeps its sign.

        g = dp                                             (-dp where `maximize`)
        s = s etaplus          where g g' > 0              s = s etaminus, g = 0          where g g' < 0
        s in step_sizes (smallest, largest)                p = p - s sign(g)              g' = g

    params: tensors, named tensors or groups (see Optimizer). lr: a number >= 0, the first s. etas: (etaminus, etaplus) with
    0 < etaminus < 1 < etaplus. For the gradients of whole data sets, not of batches.
    Remembers `step`, `prev` (g') and `step_size` (s) for each parameter.
    Source: Riedmiller and Braun 1993, "A Direct Adaptive Method for Faster Backpropagation Learning: The RPROP Algorithm",
    without taking the last step back, as in PyTorch.
    """

    CHECKS = {"etas": two_numbers, "step_sizes": two_numbers}
    SLOTS = {"prev": Slot(), "step_size": Slot(start="lr")}
    ORDER = "lr etas step_sizes foreach maximize differentiable capturable"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())
        smaller, larger = map(number, etas)
        if not 0.0 < smaller < 1.0 < larger:
            cause = tr("Rprop: Invalid eta values: {}, {}; expected 0 < etas[0] < 1 < etas[1]", smaller, larger)
            raise ArgumentError(cause, "etas=(0.5, 1.2)")

    @staticmethod
    def scalars(group: dict[str, Any], step: int) -> tuple[float, ...]:
        direction = -1.0 if group["maximize"] else 1.0
        return direction, *map(number, group["etas"]), *map(number, group["step_sizes"]), 0.5, 1.0

    @staticmethod
    def update(
        p: Any,
        g: Any,
        before: Any,
        size: Any,
        direction: float,
        smaller: float,
        larger: float,
        low: float,
        high: int,
        half: float,
        one: float,
    ) -> tuple:
        g = direction * g
        turn = sign(g * before)
        same, back = (
            half * (turn * turn + turn),
            half * (turn * turn - turn),
        )  # 1 where it keeps its sign, where it changes it
        size = size * (same * larger + back * smaller + (one - turn * turn))
        size = -largest(-largest(size, low), -high)
        bound = (one - back) / back  # infinite, or 0 where the sign changes: so 0 also of an infinite gradient
        g = -largest(-largest(g, -bound), -bound)
        return fma(-sign(g), size, p), g, size
