"""Muon: momentum whose matrices are made orthogonal."""

from math import sqrt
from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.kernels.reference import matrix_updates
from badak.optim.matrixwise import Matrixwise
from badak.optim.settings import a_count, a_number, number, shown
from badak.tensor import Tensor


def three_numbers(owner: str, name: str, value: Any) -> None:
    """The coefficients of the polynomial."""
    if not isinstance(value, list | tuple) or len(value) != 3:
        found = len(value) if isinstance(value, list | tuple) else shown(value)
        cause = tr("{}: {} should be three numbers; got {}", owner, name, found)
        raise ArgumentTypeError(cause, f"{name}=(3.4445, -4.775, 2.0315)")
    for at, each in enumerate(value):
        a_number(owner, f"{name}[{at}]", each)


def fewer_than_100(owner: str, name: str, value: Any) -> None:
    a_count(owner, name, value)
    if value >= 100:
        raise ArgumentError(tr("{}: expected {} < 100; got {}", owner, name, value), f"{name}=5")


def a_way_to_adjust(owner: str, name: str, value: Any) -> None:
    if value not in (None, "original", "match_rms_adamw"):
        cause = tr('{}: expected {} "original" or "match_rms_adamw"; got {}', owner, name, shown(value))
        raise ArgumentError(cause, f'{name}="original"')


class Muon(Matrixwise):
    """Muon: every step changes a matrix (R, C) as much in all of its directions.

        m = momentum m + (1 - momentum) dp                 u = momentum m + (1 - momentum) dp            (not nesterov: u = m)
        p = p (1 - lr weight_decay) - lr s O(u)            O(u) near U V' of u = U S V'
        s = sqrt(max(1, R / C))                            0.2 sqrt(max(R, C)) with adjust_lr_fn="match_rms_adamw"

    O is `ns_steps` times x = a x + (b x x' + c (x x')^2) x from u / max(|u|, eps), with (a, b, c) = `ns_coefficients`, computed
    in float32 and rounded to bfloat16 after each product, as in PyTorch: equal to it up to the last bits of a bfloat16.

    params: matrices, named matrices or groups of them (see Optimizer); ArgumentError for other shapes. lr, weight_decay,
    momentum: numbers >= 0. Remembers `momentum_buffer` (m) for each.
    Source: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks"; match_rms_adamw: Liu et al. 2025,
    "Muon is Scalable for LLM Training", section 2.2.
    """

    CHECKS = {"ns_coefficients": three_numbers, "ns_steps": fewer_than_100, "adjust_lr_fn": a_way_to_adjust}

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        super().__init__(params, locals())

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            if p.ndim != 2:
                cause = tr("Muon changes matrices; got a parameter of shape {}", tuple(p.shape))
                raise ArgumentError(cause, "optim.AdamW for biases, norms and embeddings")

    def _shapes(self, p: Tensor) -> dict[str, tuple[int, ...]]:
        return {"momentum_buffer": tuple(p.shape)}

    def _update(self, p: Any, g: Any, memory: dict[str, Any], group: dict[str, Any]) -> None:
        lr, momentum, powers = (number(group["lr"]), number(group["momentum"]), tuple(map(number, group["ns_coefficients"])))
        rows, columns = p.shape
        matched = group["adjust_lr_fn"] == "match_rms_adamw"
        scale = 0.2 * sqrt(max(rows, columns)) if matched else sqrt(max(1, rows / max(columns, 1)))
        keep, m = 1 - lr * number(group["weight_decay"]), memory["momentum_buffer"]._array
        matrix_updates.muon(p, g, m, momentum, group["nesterov"], keep, lr * scale, powers, group["ns_steps"], number(group["eps"]))
