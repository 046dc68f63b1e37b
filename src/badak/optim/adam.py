"""Adam: steps of one size for every parameter, however large its gradient."""

from collections.abc import Callable
from operator import is_
from typing import Any

from badak import kernels
from badak.optim.optimizer import Optimizer, loss_of, next_steps, step_tensor, zeros_like
from badak.optim.settings import at_least_zero, check_betas, check_lr, number, say_what_cannot_apply
from badak.tensor import Tensor


class Adam(Optimizer):
    """Adam: the gradient's running mean over the root of its running mean square.

        g = dp + weight_decay p                            (-dp where `maximize`)
        m = beta1 m + (1 - beta1) g                        v = beta2 v + (1 - beta2) g^2
        p = p - lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)            t = 1, 2, ...

    eps stands outside the root and after the bias correction. amsgrad=True uses the largest v so far in place of v (its
    correction still by t). decoupled_weight_decay=True is AdamW.

    params: tensors, named tensors or groups (see Optimizer). lr, eps, weight_decay: numbers >= 0; betas: each in [0, 1).
    Remembers `step` (t), `exp_avg` (m), `exp_avg_sq` (v) and with amsgrad `max_exp_avg_sq` for each parameter.
    foreach and fused are accepted and change nothing: the update is one kernel call for all parameters of a group;
    capturable has no effect on a CPU and says so. Raises ArgumentError for settings outside their range, MissingError for
    differentiable=True.

    Sources: Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization", algorithm 1; Reddi, Kale and Kumar 2018,
    "On the Convergence of Adam and Beyond" (amsgrad).
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ):
        owner = type(self).__name__
        check_lr(owner, lr)
        at_least_zero(owner, eps=eps, weight_decay=weight_decay)
        check_betas(owner, betas)
        say_what_cannot_apply(owner, foreach, fused, differentiable, capturable)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of every parameter that has a gradient; returns what `closure` returned."""
        loss = loss_of(closure)
        for params, arrays, grads, group, memo in self._batches():
            amsgrad = group["amsgrad"]
            states = [self.state[p] or self._begin(p, amsgrad) for p in params]
            kernels.of(arrays[0]).adam_all(
                arrays,
                grads,
                [state["exp_avg"]._array for state in states],
                [state["exp_avg_sq"]._array for state in states],
                [state["max_exp_avg_sq"]._array for state in states] if amsgrad else None,
                next_steps(states),
                number(group["lr"]),
                *map(number, group["betas"]),
                group["eps"],
                number(group["weight_decay"]),
                group["decoupled_weight_decay"],
                group["maximize"],
                memo,
            )
        return loss

    def _kept_step(self) -> Callable[[], bool] | None:
        if any(self._hooked(moment) for moment in ("step pre", "step post")):
            return None
        parts = [_KeptStep(self, params, group, memo) for params, _, _, group, memo in self._batches()]
        if any(part.set is None for part in parts):
            return None

        def prepare() -> bool:
            fits = all(part.fits() for part in parts)
            for part in parts if fits else ():
                part.prepare()
            return fits

        return prepare

    def _begin(self, p: Tensor, amsgrad: bool) -> dict[str, Any]:
        """The memory of p before its first step."""
        state = self.state[p]
        state.update(step=step_tensor(), exp_avg=zeros_like(p), exp_avg_sq=zeros_like(p))
        if amsgrad:
            state["max_exp_avg_sq"] = zeros_like(p)
        return state


class _KeptStep:
    """What a step of one group consists of besides its kernel call: counting, and the factors that change."""

    def __init__(self, optimizer: Adam, params: list[Tensor], group: dict[str, Any], memo: dict[str, Any]):
        self.optimizer, self.params, self.group = optimizer, params, group
        self.settings, self.state, self.groups = self._settings(), optimizer.state, len(optimizer.param_groups)
        self.states = [optimizer.state[p] for p in params]
        self.set = kernels.of(params[0]._array).adam_kept(memo)
        self.arrays = [state[name]._array for state in self.states for name in ("exp_avg", "exp_avg_sq")]

    def _settings(self) -> tuple[Any, ...]:
        """What the kernel call has as numbers."""
        group = self.group
        decay = 0 if group["decoupled_weight_decay"] else group["weight_decay"]
        flags = group["amsgrad"], group["maximize"], group["decoupled_weight_decay"], len(group["params"])
        return (*map(number, group["betas"]), group["eps"], number(decay), *flags)

    def fits(self) -> bool:
        """Whether nothing but the learning rate and decoupled weight decay has changed since the call was kept."""
        optimizer = self.optimizer
        return (
            optimizer.state is self.state
            and len(optimizer.param_groups) == self.groups
            and self._settings() == self.settings
            and all(map(is_, self.states, map(self.state.get, self.params)))
            and all(map(is_, self.arrays, [s[name]._array for s in self.states for name in ("exp_avg", "exp_avg_sq")]))
        )

    def prepare(self) -> None:
        """Count one more step and set its factors."""
        group = self.group
        settings = number(group["lr"]), *map(number, group["betas"]), number(group["weight_decay"])
        self.set(next_steps(self.states), *settings, group["decoupled_weight_decay"])
        for p in self.params:
            (p._counter or p._watch()).bump("Adam.step")
