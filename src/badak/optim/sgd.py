"""Stochastic gradient descent."""

from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.kernels.update import fma
from badak.optim.elementwise import Elementwise, Slot
from badak.optim.settings import a_number, number
from badak.tensor import Tensor
from badak.tensor.sparse.create import coalesce
from badak.tensor.sparse.forms import clone


class SGD(Elementwise):
    """Stochastic gradient descent, with momentum (also Nesterov's) where asked.

        g = dp + weight_decay p                            (-dp where `maximize`)
        m = momentum m + (1 - dampening) g                 (m = g at the first step)
        p = p - lr m                                       Nesterov: p = p - lr (g + momentum m);  momentum 0: p = p - lr g

    params: tensors, named tensors or groups (see Optimizer). lr, momentum, weight_decay: numbers >= 0; dampening: a number.
    Remembers `momentum_buffer` (m) for each parameter where momentum is not 0.
    foreach and fused are accepted and change nothing: the update is one kernel call for all parameters of a group.
    A sparse gradient changes the rows that it names; the memory of momentum is sparse then.
    Raises ArgumentError for settings outside their range, ArgumentTypeError for those of another kind, NotSupportedError for
    weight_decay with a sparse gradient.

    Sources: Robbins and Monro 1951; momentum as in Sutskever, Martens, Dahl and Hinton 2013, "On the importance of
    initialization and momentum in deep learning", with lr outside m as in PyTorch.

    Args:
        params: parameters, named parameters or groups
        lr: learning rate
        momentum: decay of the running gradient
        dampening: what the new gradient loses in it
        weight_decay: added to the gradient, times the parameter
        nesterov: look ahead
        maximize: go up instead of down
        foreach, fused: accepted; no effect
        differentiable: record the step, so that gradients go through it

    Example:
        >>> w = nn.Parameter(badak.tensor([1.0]))
        >>> optimizer = optim.SGD([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.item()
        0.5
    """

    CHECKS = {"dampening": a_number}
    SLOTS = {"momentum_buffer": Slot(when="momentum", late=True)}
    COUNTS = False
    ADDS = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, locals())
        if nesterov and (momentum <= 0 or dampening != 0):
            cause = tr(
                "SGD: Nesterov momentum requires a momentum and zero dampening; got momentum={}, dampening={}", momentum, dampening
            )
            raise ArgumentError(cause, "momentum=0.9, dampening=0")

    @staticmethod
    def scalars(group: dict[str, Any], step: int) -> tuple[float, ...]:
        sign, decay = -1.0 if group["maximize"] else 1.0, number(group["weight_decay"])
        rest = 1.0 if step == 1 else 1 - number(group["dampening"])
        return sign, decay, number(group["lr"]), number(group["momentum"]), rest, float(group["nesterov"])

    @staticmethod
    def update(
        p: Any, g: Any, m: Any, sign: float, decay: float, lr: float, momentum: float, rest: float, nesterov: float
    ) -> tuple:
        g = fma(decay, p, sign * g)
        if m is None:
            return fma(-lr, g, p), None
        buffer = fma(rest, g, m * momentum)
        return fma(-lr, fma(momentum, buffer, g) if nesterov != 0 else buffer, p), buffer

    def _recorded(self, new: bool, p, g, m, *scalars: float):
        if m is None or not new:
            return self.update(p, g, m, *scalars)
        sign, decay, lr, momentum, _, nesterov = scalars
        g = sign * g + decay * p
        buffer = type(g)(g.tensor.detach())  # the first one is a constant, as in PyTorch
        return p - lr * (g + momentum * buffer if nesterov else buffer), buffer

    def _update_sparse(self, p: Tensor, g: Any, group: dict[str, Any]) -> None:
        g = -g if group["maximize"] else g
        if group["momentum"]:
            before = self.state[p].get("momentum_buffer")
            rest = 1 - number(group["dampening"])
            buffer = clone(g) if before is None else coalesce(before * number(group["momentum"]) + g * rest)
            self.state[p]["momentum_buffer"] = buffer
            g = coalesce(g + buffer * number(group["momentum"])) if group["nesterov"] else buffer
        p._array[tuple(g._at._array)] -= number(group["lr"]) * g._entries._array
