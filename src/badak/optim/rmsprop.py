"""RMSprop: the gradient over the root of its recent mean square."""

from collections.abc import Callable
from typing import Any

from badak.optim.optimizer import Optimizer, loss_of, next_step, step_tensor, zeros_like
from badak.optim.settings import at_least_zero, check_lr, number, say_what_cannot_apply


class RMSprop(Optimizer):
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
    ):
        check_lr("RMSprop", lr)
        at_least_zero("RMSprop", eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        say_what_cannot_apply("RMSprop", foreach, None, differentiable, capturable)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of every parameter that has a gradient; returns what `closure` returned."""
        loss = loss_of(closure)
        for p, grad, group in self._trainable():
            state = self.state[p]
            if not state:
                state.update(step=step_tensor(), square_avg=zeros_like(p))
                if group["momentum"] > 0:
                    state["momentum_buffer"] = zeros_like(p)
                if group["centered"]:
                    state["grad_avg"] = zeros_like(p)
            next_step(state)
            self._update(p._array, grad, group, state)
        return loss

    @staticmethod
    def _update(param: Any, grad: Any, group: dict[str, Any], state: dict[str, Any]) -> None:
        lr, alpha, momentum = number(group["lr"]), group["alpha"], group["momentum"]
        g = -grad if group["maximize"] else grad
        if group["weight_decay"] != 0:
            g = g + group["weight_decay"] * param
        v = state["square_avg"]._array
        v *= alpha
        v += (1 - alpha) * g * g
        variance = v
        if group["centered"]:
            a = state["grad_avg"]._array
            a += (1 - alpha) * (g - a)
            variance = v - a * a
        d = variance**0.5 + group["eps"]
        if momentum > 0:
            b = state["momentum_buffer"]._array
            b *= momentum
            b += g / d
            param -= lr * b
        else:
            param += -lr * g / d
