"""L-BFGS: Newton's direction from the last steps and gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, BadakError, NotSupportedError, tr
from badak.optim.line_search import Point, strong_wolfe
from badak.optim.line_search import _cubic_interpolate as _cubic_interpolate  # PyTorch has these here
from badak.optim.line_search import _strong_wolfe as _strong_wolfe
from badak.optim.optimizer import Optimizer, loss_of
from badak.optim.settings import Check, a_count, a_number, at_least_zero, check_settings, number, shown
from badak.optim.state import OptimizerStateError, check_number, check_slot, refuse
from badak.tensor import Tensor


def a_count_or_none(owner: str, name: str, value: Any) -> None:
    if value is not None:
        a_count(owner, name, value)


def a_line_search(owner: str, name: str, value: Any) -> None:
    if value not in (None, "strong_wolfe"):
        cause = tr('{}: expected {} "strong_wolfe" or None; got {}', owner, name, shown(value))
        raise ArgumentError(cause, f'{name}="strong_wolfe"')


_CHECKS: dict[str, Check] = {
    "lr": at_least_zero,
    "max_iter": a_count,
    "max_eval": a_count_or_none,
    "tolerance_grad": a_number,
    "tolerance_change": a_number,
    "history_size": a_count,
    "line_search_fn": a_line_search,
}
_COUNTS, _VECTORS, _NUMBERS = ("func_evals", "n_iter"), ("d", "prev_flat_grad"), ("t", "H_diag", "prev_loss")
_LISTS = {"old_dirs": _VECTORS, "old_stps": _VECTORS, "ro": _NUMBERS, "al": _NUMBERS}


class LBFGS(Optimizer):
    """L-BFGS: up to `max_iter` steps along an estimate of Newton's direction, each from the last `history_size` of them.

        y_i = g_(i+1) - g_i          s_i = x_(i+1) - x_i          r_i = 1 / y_i.s_i         (kept where y_i.s_i > 1e-10)
        d = -H g      by the two loops       q = -g;  a_i = r_i s_i.q,  q -= a_i y_i        (newest to oldest)
                                             d = q (y.s / y.y);  d += s_i (a_i - r_i y_i.d) (oldest to newest)
        x = x + t d   t = lr, at the very first step min(1, 1 / sum|g|) lr; or the strong Wolfe conditions find it

    step(closure) needs the closure: it computes the loss and its gradients again, up to `max_eval` times (None: 1.25 max_iter).
    It ends early where every |g| <= tolerance_grad, or where steps or losses change by less than tolerance_change.

    params: tensors or one group of them. Raises ArgumentError for several groups and for settings outside their range.
    Remembers everything with the first parameter, as PyTorch does.
    Source: Nocedal and Wright 2006, "Numerical Optimization", algorithms 7.4 and 7.5; the ends as in PyTorch.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        defaults = {name: value for name, value in locals().items() if name in _CHECKS}
        check_settings("LBFGS", defaults, _CHECKS)
        super().__init__(params, defaults | ({"max_eval": max_iter * 5 // 4} if max_eval is None else {}))
        if len(self.param_groups) != 1:
            cause = tr("LBFGS takes one group of parameters; got {}", len(self.param_groups))
            raise ArgumentError(cause, "LBFGS(model.parameters())")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Up to max_iter steps; returns the first loss that `closure` gave."""
        if closure is None:
            cause = tr("LBFGS.step: the loss is computed several times in a step, so it needs a closure")
            raise NotSupportedError(cause, "def closure(): optimizer.zero_grad(); loss = ...; loss.backward(); return loss")
        (group,) = self.param_groups
        check_settings("LBFGS", group, _CHECKS, ranges=False)
        search = _Search(self, group, closure)
        first, loss, grad = search.evaluate()
        if not _largest(grad) <= group["tolerance_grad"]:
            search.run(loss, grad)
        return first

    def _warn_without_gradient(self) -> None:
        """The closure makes them."""

    def _check_loaded(self, state: dict[Any, Any], groups: list[dict[str, Any]]) -> None:
        try:
            check_settings("LBFGS", groups[0], _CHECKS, ranges=False)
        except BadakError as error:
            cause = tr("LBFGS.load_state_dict: param_groups[0]: {}", error.cause)
            raise OptimizerStateError(cause, "pass what optimizer.state_dict() gave") from None
        params = groups[0]["params"]
        for memory in state.values():
            if not isinstance(memory, dict):
                refuse("LBFGS", tr("the state of a parameter should be a dict; got {}", type(memory).__name__))
            _check_memory(memory, params)


def _check_memory(memory: dict[str, Any], params: list[Tensor]) -> None:
    """Counts, vectors of the length of all parameters, numbers, and lists of both that are equally long."""
    for name, value in memory.items():
        if name in _COUNTS:
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                refuse("LBFGS", tr("{!r} should be a count; got {}", name, shown(value)))
        elif name in _LISTS:
            if not isinstance(value, list):
                refuse("LBFGS", tr("{!r} should be a list; got {}", name, type(value).__name__))
            for each in value:
                _check_one(_LISTS[name], name, each, params)
        elif name in _VECTORS + _NUMBERS:
            _check_one(_VECTORS if name in _VECTORS else _NUMBERS, name, value, params)
        else:
            refuse("LBFGS", tr("the state has {!r}, which LBFGS does not remember", str(name)[:40]))
    if len({len(memory.get(name, ())) for name in ("old_dirs", "old_stps", "ro")}) > 1:
        refuse("LBFGS", tr("'old_dirs', 'old_stps' and 'ro' should be equally long"))
    if memory.get("n_iter") and not {"d", "t", "old_dirs", "H_diag", "prev_flat_grad"} <= memory.keys():
        refuse("LBFGS", tr("the state counts steps, but does not remember them"))


def _check_one(kind: tuple[str, ...], name: str, value: Any, params: list[Tensor]) -> None:
    if kind is _NUMBERS:
        if value is not None:
            check_number("LBFGS", f"{name!r}", value)
    else:
        size = sum(p.numel() * (2 if p._array.dtype.kind == "c" else 1) for p in params)
        check_slot("LBFGS", f"{name!r}", value, params[0].real if params[0].is_complex() else params[0], (size,))


class _Search:
    """One call of `step`: the parameters as one vector, complex ones as pairs of real numbers."""

    def __init__(self, optimizer: Optimizer, group: dict[str, Any], closure: Callable[[], Any]):
        self.optimizer, self.group, self.closure = optimizer, group, closure
        self.params = group["params"]
        self.memory = optimizer.state[self.params[0]]
        self.memory.setdefault("func_evals", 0)
        self.memory.setdefault("n_iter", 0)
        self.evaluations = 0

    def evaluate(self) -> tuple[Any, float, Any]:
        """(what the closure returned, the loss, the gradient)."""
        loss = loss_of(self.closure)
        self.evaluations += 1
        self.memory["func_evals"] += 1
        grads = [np.zeros_like(p._array) if p._grad is None else p._grad._array for p in self.params]
        return loss, float(loss), np.concatenate([_flat(grad) for grad in grads])

    @np.errstate(all="ignore")  # a step too far gives infinities, not warnings
    def run(self, loss: float, grad: Any) -> None:
        """Steps until one of the ends is reached; `loss` and `grad` are those where it begins."""
        group, memory = self.group, self.memory
        lr, close, history = (number(group["lr"]), number(group["tolerance_change"]), _History(memory, group["history_size"]))
        for count in range(1, group["max_iter"] + 1):
            memory["n_iter"] += 1
            if memory["n_iter"] == 1:
                d, t = -grad, min(1.0, 1.0 / np.abs(grad).sum()) * lr
            else:
                d, t = history.direction(grad), lr
            history.d, history.t, history.before, before = d, t, grad, loss
            slope = grad.dot(d)
            if slope > -close:
                break
            best = self.moved(Point(0, loss, grad, slope), t, d, count)
            loss, grad, history.t = best.loss, best.grad, best.t
            if count == group["max_iter"] or self.evaluations >= group["max_eval"]:
                break
            flat = _largest(grad) <= group["tolerance_grad"]
            if flat or _largest(d * history.t) <= close or abs(loss - before) < close:
                break
        history.keep(memory, before)

    def moved(self, start: Point, t: Any, d: Any, count: int) -> Point:
        """Take a step along d and give where it led; of the last without a line search only where it started."""
        if self.group["line_search_fn"] is None:
            self.add(t, d)
            if count == self.group["max_iter"]:
                return start._replace(t=t)
            _, loss, grad = self.evaluate()
            return Point(t, loss, grad, None)

        held = [p._array.copy() for p in self.params]

        def at(t: Any) -> Point:
            self.add(t, d)
            _, loss, grad = self.evaluate()
            for p, old in zip(self.params, held):
                p._array[...] = old
            return Point(t, loss, grad, grad.dot(d))

        most = self.group["max_eval"] - self.evaluations
        best, _ = strong_wolfe(at, start, t, _largest(d), most)
        self.add(best.t, d)
        return best

    def add(self, t: Any, d: Any) -> None:
        """x = x + t d."""
        at = 0
        for p in self.params:
            real = p._array if p._array.dtype.kind != "c" else p._array[..., None].view(p._array.real.dtype)
            real += (t * d[at : at + real.size]).reshape(real.shape).astype(real.dtype, copy=False)
            at += real.size
        self.optimizer._changed(self.params)


class _History:
    """The last steps s, differences of gradients y, and their 1 / y.s."""

    def __init__(self, memory: dict[str, Any], size: int):
        self.size = size
        self.y, self.s, self.r = ([_array(x) for x in memory.get(name, ())] for name in ("old_dirs", "old_stps", "ro"))
        self.a: list[Any] | None = memory.get("al")
        self.scale = _array(memory.get("H_diag", 1))
        self.d, self.t, self.before = (_array(memory.get(name)) for name in ("d", "t", "prev_flat_grad"))

    def direction(self, grad: Any) -> Any:
        """-H grad, after the last step has been added to what is known of H."""
        y, s = grad - self.before, self.d * self.t
        ys = y.dot(s)
        if ys > 1e-10:
            if self.y and len(self.y) == self.size:
                del self.y[0], self.s[0], self.r[0]
            self.y.append(y)
            self.s.append(s)
            self.r.append(1.0 / ys)
            self.scale = ys / y.dot(y)
        self.a, q = [None] * max(self.size, len(self.y)), -grad
        for i in reversed(range(len(self.y))):
            self.a[i] = self.s[i].dot(q) * self.r[i]
            q -= self.a[i] * self.y[i]
        d = q * self.scale
        for i in range(len(self.y)):
            d += self.s[i] * (self.a[i] - self.y[i].dot(d) * self.r[i])
        return d

    def keep(self, memory: dict[str, Any], loss: float) -> None:
        """Write it into `memory` under PyTorch's names."""
        kept = {} if self.a is None else {"al": self.a}
        kept |= {"d": self.d, "t": self.t, "old_dirs": self.y, "old_stps": self.s, "ro": self.r, "H_diag": self.scale}
        kept["prev_flat_grad"] = self.before
        memory.update(
            {name: [_tensor(x) for x in each] if isinstance(each, list) else _tensor(each) for name, each in kept.items()}
        )
        memory["prev_loss"] = loss


def _flat(array: Any) -> Any:
    """An array as a vector, a complex one as pairs of real numbers."""
    return array.ravel() if array.dtype.kind != "c" else array.ravel().view(array.real.dtype)


def _largest(x: Any) -> Any:
    return np.max(np.abs(x), initial=0)


def _array(x: Any) -> Any:
    """The array or number in a tensor."""
    return x if not isinstance(x, Tensor) else x._array if x.ndim else x._array[()]


def _tensor(x: Any) -> Any:
    return Tensor._of(np.array(x)) if isinstance(x, np.ndarray | np.generic) else x
