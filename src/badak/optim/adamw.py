"""AdamW: Adam whose weight decay does not pass through the moments; the update is `Adam.update` in adam.py."""

from typing import Any

from badak.optim.adam import Adam


class AdamW(Adam):
    """Adam with decoupled weight decay.

        p = p (1 - lr weight_decay)                        then Adam's update with g = dp

    Settings, memory and errors are Adam's; weight_decay is 0.01 unless given. Note that the decay is scaled by lr, as in
    PyTorch, so that a schedule changes both.

    Source: Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # files from before Adam had the switch, or Adam's own, stay AdamW here
            group["decoupled_weight_decay"] = True
