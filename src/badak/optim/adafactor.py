"""Adafactor: Adam's root mean square in the memory of a row and a column."""

from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.kernels.reference import matrix_updates
from badak.optim.matrixwise import Matrixwise
from badak.optim.optimizer import count
from badak.optim.settings import at_least_zero, number, shown
from badak.tensor import Tensor, finfo
from badak.tensor.dtypes import of_numpy


def at_most_zero(owner: str, name: str, value: Any) -> None:
    if not number(value, owner, name) <= 0:
        raise ArgumentError(tr("{}: expected {} <= 0; got {}", owner, name, value), f"{name}=-0.8")


def at_least_one(owner: str, name: str, value: Any) -> None:
    if not number(value, owner, name) >= 1:
        raise ArgumentError(tr("{}: expected {} >= 1; got {}", owner, name, value), f"{name}=1.0")


def two_floors(owner: str, name: str, value: Any) -> None:
    """(a number >= 0 or None, a number >= 0)."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ArgumentTypeError(tr("{}: {} should be a pair; got {}", owner, name, shown(value)), f"{name}=(None, 1e-3)")
    for at, each in enumerate(value):
        if at or each is not None:
            at_least_zero(owner, f"{name}[{at}]", each)


class Adafactor(Matrixwise):
    """Adafactor: the gradient over the root of its mean square, which is kept as the product of a column and a row.

        b = t^beta2_decay          a = max(eps[1], rms(p)) min(lr, 1 / sqrt(t))        g = dp  (-dp where `maximize`)
        r = r + b (mean_columns(g^2) - r)                  c = c + b (mean_rows(g^2) - c)            t = 1, 2, ...
        v = r c / max(mean(r), eps[0])                     v = v + b (g^2 - v)  of a vector
        u = g / sqrt(max(v, eps[0]^2))                     p = p (1 - lr weight_decay) - a u / max(1, rms(u) / d)

    with rms(x) = sqrt(mean(x^2)). eps[0] None stands for the machine epsilon of the parameter's dtype.

    params: tensors, named tensors or groups (see Optimizer), real ones. lr, weight_decay: numbers >= 0; beta2_decay <= 0; d >= 1.
    Remembers `step` (t) and `row_var` (r), `col_var` (c) of the last two axes, or `variance` (v) of a vector.
    Source: Shazeer and Stern 2018, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost", algorithms 4 to 6; the
    bounds as in PyTorch.
    """

    CHECKS = {"beta2_decay": at_most_zero, "eps": two_floors, "d": at_least_one}
    COUNTS = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, locals())

    def _shapes(self, p: Tensor) -> dict[str, tuple[int, ...]]:
        shape = tuple(p.shape)
        return {"row_var": (*shape[:-1], 1), "col_var": (*shape[:-2], 1, shape[-1])} if len(shape) > 1 else {"variance": shape}

    def _update(self, p: Any, g: Any, memory: dict[str, Any], group: dict[str, Any]) -> None:
        step, lr, (floor, size) = count(memory["step"]._array), number(group["lr"]), group["eps"]
        floor = finfo(of_numpy(p.dtype)).eps if floor is None else number(floor)
        held = [memory[name]._array for name in ("row_var", "col_var", "variance") if name in memory]
        mix, rate, keep = (step ** number(group["beta2_decay"]), min(lr, step**-0.5), 1 - lr * number(group["weight_decay"]))
        matrix_updates.adafactor(p, -g if group["maximize"] else g, held, mix, rate, keep, floor, number(size), number(group["d"]))
