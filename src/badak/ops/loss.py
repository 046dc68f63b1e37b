"""Losses. `reduction` is "none", "sum" or "mean"; every loss is in nats (mse: squared units of its input)."""

from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import ArgumentError, DTypeError, IndexOutOfRangeError, ShapeError, tr, warn_once
from badak.core.memory import is_alone
from badak.ops._broadcast import elementwise, quiet
from badak.ops._check import dtype_mismatch, not_floating, position, unlike_scalars, within
from badak.ops.batching import aligned, count, every
from badak.ops.op import Op


def _rows_of_each(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
    """Op.batching of a loss over classes: the rows of all examples, then a sum or a mean of each example's."""
    if batched[2]:
        return NotImplemented
    (x, target), weight = every(xs[:2], batched[:2]), xs[2]
    reduction, options = attributes.get("reduction", "mean"), {k: v for k, v in attributes.items() if k != "shape"}
    rows = run(op, x.flatten(0, 1), target.flatten(0, 1), weight, **options | {"reduction": "none"}).reshape(x.shape[:2])
    if reduction == "none":
        return rows
    total = rows.sum(1)
    if reduction == "sum" or target.ndim == x.ndim:
        return total if reduction == "sum" else rows.mean(1)
    seen = target != attributes.get("ignore_index", -100)
    counts = seen.to(rows.dtype) if weight is None else weight[target * seen] * seen
    counts = counts.sum(1)
    return total / counts.masked_fill(counts == 0, 1)


def _numbers_of_each(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
    """Op.batching of a loss over numbers."""
    x, target = every(xs[:2], batched[:2]) if any(batched[:2]) else [x.expand(count(xs, batched), *x.shape) for x in xs[:2]]
    weights = [aligned(w, x.ndim - 1) if each else w for w, each in zip(xs[2:], batched[2:])]
    each = run(op, x, target, *weights, **attributes | {"reduction": "none"})
    reduction, axes = attributes.get("reduction", "mean"), tuple(range(1, x.ndim))
    return each if reduction == "none" or not axes else each.sum(axes) if reduction == "sum" else each.mean(axes)


class CrossEntropy(Op):
    """loss[n] = logsumexp(logits[n]) - logits[n, target[n]];   dlogits[n] = dloss[n] (softmax(logits[n]) - onehot).

    logits (N, V), target int (N,), weight (V,) or None. With class weights w and smoothing e the target becomes
    c[v] = (1 - e) w[target] onehot[v] + (e / V) w[v], and dlogits[n] = dloss[n] (softmax sum(c) - c). Rows whose target
    is `ignore_index` give 0. "mean" divides by the sum of w[target] over the other rows (their number without weights),
    and gives 0 with a warning where there is none.
    """

    capturable = True  # apart from that warning, and from class weights
    saved_constants = ("lse", "count")
    supports_bf16 = True
    overwrites = "logits"
    batching = staticmethod(_rows_of_each)

    @staticmethod
    def forward(save: Any, logits: np.ndarray, target: np.ndarray, weight: np.ndarray | None, **options: Any) -> np.ndarray:
        loss = unrounded_cross_entropy(save, logits, target, weight, **options)
        return loss if loss.dtype == logits.dtype else kernels.of(loss).cast(loss, logits.dtype)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        if dy.dtype != saved.lse.dtype:
            dy = kernels.of(dy).cast(dy, saved.lse.dtype)
        if saved.count is not None:
            dloss = kernels.of(dy).spread_loss(dy, saved.count, saved.target.size)
        else:
            dloss = _spread(dy, saved.target.shape, *saved.spread)
        free = saved.last and is_alone(vars(saved), CrossEntropy.overwrites)
        dlogits = kernels.of(dy).cross_entropy_backward(
            dloss, saved.logits, saved.target, saved.lse, saved.weight, saved.ignore_index, saved.smoothing, over_logits=free
        )
        return dlogits, None, None


def check_smoothing(smoothing: float) -> None:
    """Raise where it is no part of a whole."""
    if not 0.0 <= smoothing <= 1.0:
        cause = tr("cross_entropy: label_smoothing must be between 0.0 and 1.0. Got: {}", smoothing)
        raise ArgumentError(cause, "label_smoothing=0.1")


def unrounded_cross_entropy(
    save: Any,
    logits: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    ignore_index: int = -100,
    smoothing: float = 0.0,
    reduction: str = "mean",
    shape: tuple | None = None,
) -> np.ndarray:
    """The forward of `CrossEntropy`, whose result is float32 for logits of bfloat16."""
    all_seen = _check_classes("cross_entropy", logits, target, weight, ignore_index, shape)
    check_smoothing(smoothing)
    kernel = kernels.of(logits)
    loss, lse = kernel.cross_entropy(logits, target, weight, ignore_index, smoothing)
    save.logits, save.target, save.lse, save.weight = logits, target, lse, weight
    save.ignore_index, save.smoothing, save.count = ignore_index, smoothing, None
    if weight is None and reduction in ("mean", "sum"):
        if reduction == "mean" and not (all_seen and target.size):
            _look_for_labels("cross_entropy", target != ignore_index, ignore_index, not target.size)
        total, save.count = kernel.total_loss(loss, target, ignore_index, reduction == "mean")
        return total
    save.spread = _class_spread("cross_entropy", target, weight, ignore_index, reduction, all_seen)
    return _reduced(loss, *save.spread)


class CrossEntropySoft(Op):
    """loss[n] = -sum_v c[n, v] logp[n, v], c = w ((1 - e) target + e/V), logp = log_softmax(logits).

        dlogits = dloss (softmax sum(c) - c)        dtarget = -dloss (1 - e) w logp

    logits and target (N, V), weight (V,) or None. "mean" divides by N.
    """

    saved_constants = ("lse",)
    batching = staticmethod(_rows_of_each)

    @staticmethod
    def forward(
        save: Any,
        logits: np.ndarray,
        target: np.ndarray,
        weight: np.ndarray | None,
        smoothing: float = 0.0,
        reduction: str = "mean",
    ) -> np.ndarray:
        _check_pair("cross_entropy", logits, target)
        check_smoothing(smoothing)
        if weight is not None and weight.shape != logits.shape[1:]:
            raise _weight_mismatch("cross_entropy", weight, logits.shape[1])
        loss, lse = kernels.of(logits).cross_entropy_soft(logits, target, weight, smoothing)
        save.logits, save.target, save.lse, save.weight, save.smoothing = logits, target, lse, weight, smoothing
        save.spread = _plain_spread("cross_entropy", loss.size, reduction)
        return _reduced(loss, *save.spread)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        dloss = _spread(dy, saved.lse.shape, *saved.spread)
        dlogits, dtarget = kernels.of(dy).cross_entropy_soft_backward(
            dloss, saved.logits, saved.target, saved.lse, saved.weight, saved.smoothing, saved.needs[:2]
        )
        return dlogits, dtarget, None


class NLL(Op):
    """loss[n] = -w[target[n]] logp[n, target[n]];   dlogp[n, v] = -w[v] dloss[n] [v = target[n]].

    logp (N, V), target int (N,), weight (V,) or None; `ignore_index` and "mean" as in CrossEntropy.
    """

    batching = staticmethod(_rows_of_each)

    @staticmethod
    def forward(
        save: Any,
        logp: np.ndarray,
        target: np.ndarray,
        weight: np.ndarray | None,
        ignore_index: int = -100,
        reduction: str = "mean",
        shape: tuple | None = None,
    ) -> np.ndarray:
        all_seen = _check_classes("nll_loss", logp, target, weight, ignore_index, shape)
        loss = kernels.of(logp).nll(logp, target, weight, ignore_index)
        save.logp, save.target, save.weight, save.ignore_index = logp, target, weight, ignore_index
        save.spread = _class_spread("nll_loss", target, weight, ignore_index, reduction, all_seen)
        return _reduced(loss, *save.spread)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        dloss = _spread(dy, saved.target.shape, *saved.spread)
        dlogp = kernels.of(dy).nll_backward(dloss, saved.logp, saved.target, saved.weight, saved.ignore_index)
        return dlogp, None, None


class KLDiv(Op):
    """loss = t (log t - x), t = target, or exp(target) where `log_target`; 0 where t = 0 and x < inf.

    dx = -t dloss;   dtarget = dloss (log t + 1 - x), times t where `log_target`.
    """

    kept_for = {0: 1}  # noqa: RUF012
    batching = staticmethod(_numbers_of_each)

    @staticmethod
    def forward(save: Any, x: np.ndarray, target: np.ndarray, log_target: bool = False, reduction: str = "mean") -> np.ndarray:
        _check_pair("kl_div", x, target)
        loss = kernels.of(x).kl_div(x, target, log_target)
        save.x, save.target, save.log_target = x, target, log_target
        save.spread = _plain_spread("kl_div", x.size, reduction)
        return _reduced(loss, *save.spread)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        dloss = _spread(dy, saved.x.shape, *saved.spread)
        return kernels.of(dy).kl_div_backward(dloss, saved.x, saved.target, saved.log_target, saved.needs)


class BCE(Op):
    """loss = -(t max(ln x, -100) + (1 - t) max(ln(1 - x), -100)) of probabilities x, t = target.

    dx = dloss (x - t) / max(x (1 - x), 1e-12);   dtarget = dloss (ln(1 - x) - ln x).
    """

    @staticmethod
    @elementwise
    def forward(save: Any, x: np.ndarray, target: np.ndarray) -> np.ndarray:
        save.x, save.target = x, target
        return -(target * np.maximum(_ln(x), -100) + (1 - target) * np.maximum(_ln1p(-x), -100))

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        x, t = saved.x, saved.target
        nx, nt = saved.needs
        dx = dy * (x - t) / np.maximum(x * (1 - x), _LEAST) if nx else None
        return dx, dy * (_ln1p(-x) - _ln(x)) if nt else None


_ln, _ln1p = quiet(np.log), quiet(np.log1p)
_LEAST = float(np.float32(1e-12))  # as PyTorch's is, for float64, too


def _of_terms(save: Any, where: str, loss: np.ndarray, x: np.ndarray, target: np.ndarray, reduction: str) -> np.ndarray:
    """The reduction of a loss of differences; what its backward asks for is kept."""
    save.x, save.target, save.spread = x, target, _plain_spread(where, x.size, reduction)
    return _reduced(loss, *save.spread)


def _either_way(saved: Any, dx: Any) -> tuple:
    """The gradients of x and target, one the negative of the other, where they are wanted."""
    nx, nt = saved.needs
    return dx if nx else None, -dx if nt else None


class MSE(Op):
    """loss = (x - target)^2;   dx = 2 (x - target) dloss, dtarget = -dx."""

    batching = staticmethod(_numbers_of_each)

    @staticmethod
    def forward(save: Any, x: np.ndarray, target: np.ndarray, reduction: str = "mean") -> np.ndarray:
        _check_pair("mse_loss", x, target)
        return _of_terms(save, "mse_loss", kernels.of(x).mse(x, target), x, target, reduction)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        dloss = _spread(dy, saved.x.shape, *saved.spread)
        return _either_way(saved, kernels.of(dy).mse_backward(dloss, saved.x, saved.target))


class Huber(Op):
    """loss = d^2 / 2 where d = |x - target| <= delta, else delta (d - delta / 2).

    dx = dloss (x - target), kept in [-delta, delta];   dtarget = -dx.
    """

    batching = staticmethod(_numbers_of_each)

    @staticmethod
    def forward(save: Any, x: np.ndarray, target: np.ndarray, delta: float = 1.0, reduction: str = "mean") -> np.ndarray:
        _check_pair("huber_loss", x, target)
        save.delta = delta
        return _of_terms(save, "huber_loss", kernels.of(x).huber(x, target, delta), x, target, reduction)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        dloss = _spread(dy, saved.x.shape, *saved.spread)
        return _either_way(saved, kernels.of(dy).huber_backward(dloss, saved.x, saved.target, saved.delta))


class SmoothL1(Op):
    """loss = d^2 / (2 beta) where d = |x - target| < beta, else d - beta / 2.

    dx = dloss (x - target) / beta, the quotient kept in [-1, 1];   dtarget = -dx.
    """

    name = "smooth_l1"
    batching = staticmethod(_numbers_of_each)

    @staticmethod
    def forward(save: Any, x: np.ndarray, target: np.ndarray, beta: float = 1.0, reduction: str = "mean") -> np.ndarray:
        _check_pair("smooth_l1_loss", x, target)
        save.beta = beta
        return _of_terms(save, "smooth_l1_loss", kernels.of(x).smooth_l1(x, target, beta), x, target, reduction)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        dloss = _spread(dy, saved.x.shape, *saved.spread)
        return _either_way(saved, kernels.of(dy).smooth_l1_backward(dloss, saved.x, saved.target, saved.beta))


class BCEWithLogits(Op):
    """loss = w (p t softplus(-x) + (1 - t) softplus(x)), the cross entropy of a coin with probability sigmoid(x).

    dx = dloss w ((p t + 1 - t) sigmoid(x) - p t);   dtarget = dloss w (p softplus(-x) - softplus(x)).
    weight w and pos_weight p broadcast to x's shape; they get no gradient.
    """

    batching = staticmethod(_numbers_of_each)

    @staticmethod
    def forward(
        save: Any,
        x: np.ndarray,
        target: np.ndarray,
        weight: np.ndarray | None,
        pos_weight: np.ndarray | None,
        reduction: str = "mean",
    ) -> np.ndarray:
        _check_pair("binary_cross_entropy_with_logits", x, target)
        save.x, save.target, save.weight, save.pos_weight = x, target, weight, pos_weight
        save.spread = _plain_spread("binary_cross_entropy_with_logits", x.size, reduction)
        w, p = _stretch("weight", weight, x), _stretch("pos_weight", pos_weight, x)
        return _reduced(kernels.of(x).bce_with_logits(x, target, w, p), *save.spread)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        x = saved.x
        w, p = _stretch("weight", saved.weight, x), _stretch("pos_weight", saved.pos_weight, x)
        dloss = _spread(dy, x.shape, *saved.spread)
        dx, dtarget = kernels.of(dy).bce_with_logits_backward(dloss, x, saved.target, w, p, saved.needs[:2])
        return dx, dtarget, None, None


# ------------------------------------------------------------------ reductions


def _plain_spread(where: str, size: int, reduction: str) -> tuple[int, ...]:
    """(reduced?, divisor) of a loss whose mean is over all its `size` terms."""
    if reduction == "none":
        return False, 1
    if reduction not in ("mean", "sum"):
        raise ArgumentError(tr("{}: {!r} is not a valid value for reduction", where, reduction), "'none', 'mean' or 'sum'")
    return True, size if reduction == "mean" else 1


def _class_spread(
    where: str, target: np.ndarray, weight: np.ndarray | None, ignore_index: int, reduction: str, all_seen: bool
) -> Any:
    """(reduced?, divisor) of a loss over labels: ignored rows do not count, the others count as their weight."""
    if reduction != "mean" or (all_seen and weight is None and target.size):
        return _plain_spread(where, target.size, reduction)
    seen = target[target != ignore_index]
    if not _look_for_labels(where, seen, ignore_index, not target.size):
        return True, 1
    return True, seen.size if weight is None else float(weight[seen].sum())


def _look_for_labels(where: str, seen: np.ndarray, ignore_index: int, empty: bool = False) -> bool:
    """Whether there is any label, True somewhere in `seen` or an entry of it; warn, once, where there is none."""
    if seen.dtype == np.bool_ and seen.any() or seen.dtype != np.bool_ and seen.size:
        return True
    why = tr("it is empty") if empty else tr("all == ignore_index={}", ignore_index)
    cause = tr("{}: no label to learn from in this batch ({}); the loss is 0", where, why)
    warn_once(
        (where, "no label", empty), cause, "batches with at least one example" if empty else "check truncation/masking", code=15
    )
    return False


@quiet
def _reduced(loss: np.ndarray, reduced: bool, divisor: float) -> np.ndarray:
    return loss if not reduced else np.asarray(np.divide(loss.sum(), divisor, dtype=loss.dtype))


@quiet
def _spread(dy: Any, shape: tuple[int, ...], reduced: bool, divisor: float) -> Any:
    """dloss of every term from the gradient of the reduced loss."""
    if not reduced:
        return dy
    if not isinstance(dy, np.ndarray | np.generic):  # a recorded one
        return np.broadcast_to(dy / divisor, shape)
    dloss = np.empty(shape, dy.dtype)
    dloss.fill(np.divide(dy, divisor, dtype=dy.dtype))  # a tenth of the time of np.broadcast_to, 3 us, for few terms
    return dloss


# ------------------------------------------------------------------ checks


def _check_classes(
    where: str, logits: np.ndarray, target: np.ndarray, weight: np.ndarray | None, ignore_index: int, shape: tuple | None
) -> bool:
    """Raise where these are no logits with their labels; whether it is known that none of the labels is ignored.

    `shape` is that of the caller's target, in whose words a label is named (None: it was a vector).
    """
    if logits.dtype.kind in "iub":
        raise not_floating(where, logits)
    if target.dtype.kind not in "iu":
        raise DTypeError(tr("{}: expected class ids of dtype int64; got {}", where, target.dtype), "target.long()")
    if logits.ndim != 2 or target.shape != logits.shape[:1]:
        cause = tr("{}: expected logits (N, V) and target (N,); got logits={}, target={}", where, logits.shape, target.shape)
        raise ShapeError(cause, "flatten both: logits.view(-1, V), target.view(-1)")
    classes = logits.shape[1]
    if weight is not None and weight.shape != (classes,):
        raise _weight_mismatch(where, weight, classes)
    if weight is not None and weight.dtype != logits.dtype:
        raise dtype_mismatch(where, unlike_scalars(logits, weight), logits=logits, weight=weight)
    if within(target, classes):
        return not 0 <= ignore_index < classes
    wrong = ((target < 0) | (target >= classes)) & (target != ignore_index)
    if wrong.any():
        shape = target.shape if shape is None else shape
        raise _label_out_of_range(target.reshape(shape), wrong.reshape(shape), classes, ignore_index)
    return False


def _label_out_of_range(target: np.ndarray, wrong: np.ndarray, classes: int, ignore_index: int) -> IndexOutOfRangeError:
    first, largest = int(target[wrong][0]), int(target[wrong].max())
    cause = tr("target{} = {} but logits have {} classes (valid 0..{}, "
               "ignore_index={}). Target {} is out of bounds; {} of {} labels affected", position(wrong), first, classes,
               classes - 1, ignore_index, first, int(wrong.sum()), target.size)  # fmt: skip
    if largest >= classes:
        return IndexOutOfRangeError(cause, tr("labels from 0, or Linear(..., {})", largest + 1), code=11)
    return IndexOutOfRangeError(cause, tr("labels from 0, or ignore_index={}", first), code=11)


def _weight_mismatch(where: str, weight: Any, classes: int) -> ShapeError:
    return ShapeError(
        tr("{}: weight tensor should be defined either for all {} classes or no classes but got weight tensor of shape: {}", where,
           classes, list(weight.shape)),
        tr("a weight of shape ({},)", classes),
    )  # fmt: skip


def _check_pair(where: str, x: np.ndarray, target: np.ndarray) -> None:
    if x.dtype.kind in "iub":
        raise not_floating(where, x)
    if x.dtype != target.dtype:
        raise dtype_mismatch(where, input=x, target=target)
    if x.shape != target.shape:
        raise ShapeError(
            tr("{}: expected input and target of one shape; got input={}, target={}", where, x.shape, target.shape),
            f"target.view({tuple(x.shape)})" if x.size == target.size else "one target for each value of the input",
        )


def _stretch(name: str, w: np.ndarray | None, x: Any) -> np.ndarray | None:
    """w as an array of x's shape."""
    if w is None:
        return None
    try:
        return np.broadcast_to(w, x.shape)
    except ValueError:
        cause = tr("binary_cross_entropy_with_logits: expected {} that broadcasts to the input; got {}={}, input={}", name, name,
                   w.shape, x.shape)  # fmt: skip
        raise ShapeError(cause, tr("{} of shape {}", name, tuple(x.shape[-1:]))) from None
