"""SparseAdam: Adam of the rows that a sparse gradient names."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, GraphError, tr
from badak.optim.optimizer import Optimizer, loss_of
from badak.optim.settings import check_settings, number, words_of
from badak.tensor.layouts import strided
from badak.tensor.sparse.create import coalesce


class SparseAdam(Optimizer):
    """Adam in which a row without a gradient stays as it is: so do its running means, which do not decay meanwhile.

        m = m + (1 - beta1) (g - m)        v = v + (1 - beta2) (g^2 - v)                    of the rows in dp (-dp where `maximize`)
        p = p - lr sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + eps)                    t = 1, 2, ... of the parameter

    For tables with sparse=True (Embedding, EmbeddingBag). Remembers `step` (t), `exp_avg` (m) and `exp_avg_sq` (v).
    Source: Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization"; the lazy form is PyTorch's.

    Args:
        params: dense parameters, named parameters or groups
        lr: learning rate, above 0
        betas: decay of the running mean and of the running mean square, each in [0, 1)
        eps: added to the root, above 0
        maximize: go up instead of down

    Raises:
        GraphError: from `step`, for a dense gradient

    Example:
        >>> table = nn.Embedding(10, 3, sparse=True)
        >>> optimizer = optim.SparseAdam(table.parameters())
        >>> table(badak.tensor([1, 4])).sum().backward()
        >>> optimizer.step()
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8, maximize: bool = False
    ) -> None:
        settings = {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize}
        check_settings("SparseAdam", settings, {})
        for name in ("lr", "eps"):
            if number(settings[name]) == 0:
                cause = tr("SparseAdam: Invalid {}: {}; expected {} > 0", words_of(name), settings[name], name)
                raise ArgumentError(cause, f"{name}=1e-3")
        super().__init__(params, settings)
        for p in self._parameters():
            if p.layout is not strided or p.is_complex():
                raise ArgumentError("SparseAdam requires dense parameter tensors of real numbers", "x.to_dense() as the parameter")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of every parameter that has a gradient; returns what `closure` returned."""
        loss = loss_of(closure)
        for group in self.param_groups:
            for p in [p for p in group["params"] if p._grad is not None]:
                if not p._grad.is_sparse:
                    cause = tr("SparseAdam does not support dense gradients, please consider Adam instead")
                    raise GraphError(cause, "Embedding(..., sparse=True)")
                self._update(p, coalesce(p._grad), group)
                self._changed([p])
        return loss

    def _update(self, p: Any, g: Any, group: dict[str, Any]) -> None:
        memory, at = self.state[p], tuple(g._at._array)
        memory.setdefault("step", 0)
        for name in ("exp_avg", "exp_avg_sq"):
            if name not in memory:
                memory[name] = p.detach().new_zeros(p.shape)
        memory["step"] += 1
        (beta1, beta2), step, lr = map(number, group["betas"]), int(memory["step"]), number(group["lr"])
        values = -g._entries._array if group["maximize"] else g._entries._array
        first, second = memory["exp_avg"]._array, memory["exp_avg_sq"]._array
        m = (values - first[at]) * (1 - beta1) + first[at]
        v = (values * values - second[at]) * (1 - beta2) + second[at]
        first[at], second[at] = m, v
        p._array[at] += -(lr * sqrt(1 - beta2**step) / (1 - beta1**step)) * (m / (np.sqrt(v) + group["eps"]))
