"""Stochastic gradient descent."""

from collections.abc import Callable
from typing import Any

from badak import kernels
from badak.errors import ArgumentError
from badak.optim.optimizer import Optimizer, loss_of, zeros_like
from badak.optim.settings import at_least_zero, check_lr, number, say_what_cannot_apply
from badak.tensor import Tensor


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum (also Nesterov's) where asked.

        g = dp + weight_decay p                            (-dp where `maximize`)
        m = momentum m + (1 - dampening) g                 (m = g at the first step)
        p = p - lr m                                       Nesterov: p = p - lr (g + momentum m);  momentum 0: p = p - lr g

    params: tensors, named tensors or groups (see Optimizer). lr, momentum, dampening, weight_decay: numbers >= 0.
    Remembers `momentum_buffer` (m) for each parameter where momentum is not 0.
    foreach and fused are accepted and change nothing: the update is one kernel call for all parameters of a group.
    Raises ArgumentError for settings outside their range, MissingError for differentiable=True.

    Sources: Robbins and Monro 1951; momentum as in Sutskever, Martens, Dahl and Hinton 2013, "On the importance of
    initialization and momentum in deep learning", with lr outside m as in PyTorch.
    """

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
    ):
        check_lr("SGD", lr)
        at_least_zero("SGD", momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ArgumentError(
                f"SGD: nesterov=True expects momentum > 0 and dampening = 0; got momentum={momentum}, dampening={dampening}",
                "momentum=0.9, dampening=0",
            )
        say_what_cannot_apply("SGD", foreach, fused, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of every parameter that has a gradient; returns what `closure` returned."""
        loss = loss_of(closure)
        for params, arrays, grads, group, memo in self._batches():
            momentum = number(group["momentum"])
            buffers, firsts = zip(*map(self._buffer, params)) if momentum != 0 else (None, [False] * len(params))
            kernels.of(arrays[0]).sgd_all(
                arrays,
                grads,
                buffers,
                firsts,
                number(group["lr"]),
                momentum,
                number(group["dampening"]),
                number(group["weight_decay"]),
                group["nesterov"],
                group["maximize"],
                memo,
            )
        return loss

    def _buffer(self, p: Tensor) -> tuple[Any, bool]:
        """(m, whether this is the first step that uses it). Without momentum nothing is remembered."""
        state = self.state[p]
        first = state.get("momentum_buffer") is None
        if first:
            state["momentum_buffer"] = zeros_like(p)
        return state["momentum_buffer"]._array, first
