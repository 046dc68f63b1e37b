"""AdamW: Adam whose weight decay does not pass through the moments; the update is `Adam.update` in adam.py."""

from typing import Any

from badak.optim.adam import Adam
from badak.optim.settings import settings_of


class AdamW(Adam):
    """Adam with decoupled weight decay.

        p = p (1 - lr weight_decay)                        then Adam's update with g = dp

    Settings, memory and errors are Adam's; weight_decay is 0.01 unless given. Note that the decay is scaled by lr, as in
    PyTorch, so that a schedule changes both.

    Source: Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2.

    Args:
        params: parameters, named parameters or groups
        lr: learning rate
        betas: decay of the running mean and of the running mean square, each in [0, 1)
        eps: added to the root
        weight_decay: scaled by lr
        amsgrad: divide by the largest mean square so far
        maximize: go up instead of down
        foreach, fused, capturable: accepted; no effect
        differentiable: record the step, so that gradients go through it

    Raises:
        ArgumentError: for a setting outside its range

    Example:
        >>> w = nn.Parameter(badak.tensor([1.0]))
        >>> optimizer = optim.AdamW([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.item() < 1
        True
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
    ) -> None:
        super().__init__(params, **settings_of(locals()), decoupled_weight_decay=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # files from before Adam had the switch, or Adam's own, stay AdamW here
            group["decoupled_weight_decay"] = True
