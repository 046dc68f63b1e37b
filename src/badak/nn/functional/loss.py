"""Losses. `reduction` is "mean", "sum" or "none"; `size_average` and `reduce` are PyTorch's older words for it.

Terms of log-likelihoods are in nats. Those of the hot path are one operation each (see `ops/loss.py`).
More stand in `likelihood.py`; the modules in `nn/loss.py`.
"""

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, DTypeError, ShapeError, tr, user_line, warn, warn_once
from badak.nn.functional._common import float_tensor, real_tensor, reduction_of, tensor
from badak.ops._check import expect_floats, expect_real
from badak.ops.loss import BCE, MSE, NLL, BCEWithLogits, CrossEntropy, CrossEntropySoft, Huber, KLDiv, SmoothL1, check_smoothing
from badak.tensor import Tensor, apply, broadcast_tensors, promote_types, where
from badak.tensor.upcast import in_float32

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cosine_similarity",
    "cross_entropy", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss",
    "nll_loss", "pairwise_distance", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
]  # fmt: skip


def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                  ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:  # fmt: skip
    """-log softmax(logits)[target], in nats.

        loss[n]      = log(sum_v exp(logits[n,v])) - logits[n, target[n]]
        dlogits[n,v] = (softmax(logits)[n,v] - [v = target[n]]) / M        M = rows not ignored

    Raises IndexOutOfRangeError for a label outside 0..V-1 that is not `ignore_index`. Warns, once, of probabilities in place of
    logits. Parity: where every label is ignored, or the batch is empty, the mean is 0 with a warning (PyTorch: NaN).

    Args:
        input: logits (V,), (N, V) or (N, V, d1, ...): the classes are axis 1, as in PyTorch. Logits (B, T, V) of every
            position become rows first: cross_entropy(logits.flatten(0, 1), target.flatten())
        target: class ids, int, of input's shape without the axis of classes; or class probabilities of input's shape
        weight: (V,), a factor for each class; "mean" then divides by the sum of the weights of the targets
        size_average, reduce: old names of reduction
        ignore_index: targets of this value do not count
        reduction: "mean", "sum" or "none"
        label_smoothing: e: the target becomes (1 - e) onehot + e / V. Szegedy et al. 2016

    Returns: one number, in nats; with "none" the shape of target

    Derivation: docs/explanation/derivations/cross_entropy.md

    Example:
        >>> logits = badak.zeros(2, 5, 10)  # (B, T, V)
        >>> target = badak.zeros(2, 5, dtype=badak.int64)
        >>> round(F.cross_entropy(logits.flatten(0, 1), target.flatten()).item(), 4)
        2.3026
    """
    logits, reduction = real_tensor(input, "cross_entropy"), reduction_of(size_average, reduce, reduction)
    check_smoothing(label_smoothing)
    _look_for_probabilities(logits)
    if target._array.dtype.kind in "fV" and target._array.shape == logits._array.shape:
        if ignore_index >= 0:
            raise ArgumentError("ignore_index is not supported for floating point target", "a target of 0 in such rows")
        wanted = promote_types(logits.dtype, target.dtype) if logits.is_floating_point() else logits.dtype
        rows, shape = _rows(logits.to(wanted))
        goal, _ = _rows(target.to(wanted))
        loss = apply(CrossEntropySoft, rows, goal, weight, smoothing=label_smoothing, reduction=reduction)
        return loss.reshape(shape) if reduction == "none" else loss
    return _of_classes(
        "cross_entropy", CrossEntropy, logits, target, weight, reduction, ignore_index=ignore_index, smoothing=label_smoothing
    )


def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
             ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """-x[target] for log-probabilities x; shapes, `weight` and `ignore_index` as in cross_entropy.

    Args:
        input: log-probabilities (N, V) or (N, V, d1, ...)
        target: class ids, of input's shape without axis 1
        weight: (V,), a factor for each class
        size_average, reduce: old names of reduction
        ignore_index: targets of this value do not count
        reduction: "mean", "sum" or "none"

    Returns: one number, in nats; with "none" the shape of target

    Example:
        >>> F.nll_loss(badak.tensor([[-1.0, -2.0]]), badak.tensor([1])).item()
        2.0
    """
    logp, reduction = real_tensor(input, "nll_loss"), reduction_of(size_average, reduce, reduction)
    return _of_classes("nll_loss", NLL, logp, target, weight, reduction, ignore_index=ignore_index)


def _of_classes(where_: str, op, x: Tensor, target: Tensor, weight, reduction: str, **attributes) -> Tensor:
    """A loss over class ids, brought to rows (N, V) and labels (N,)."""
    shape, labels = x._array.shape, target._array.shape
    if len(shape) == 2 and labels == shape[:1]:
        return apply(op, x, target, weight, reduction=reduction, **attributes)
    if len(shape) == 1 and labels == (1,):  # PyTorch takes it as the one label
        target, labels = target.reshape(()), ()
    if not shape or labels != (shape[:1] + shape[2:] if len(shape) > 1 else ()):
        raise _axes_mismatch(where_, shape, target)
    rows, _ = _rows(x)
    loss = apply(op, rows, target.reshape(-1), weight, reduction=reduction, shape=labels, **attributes)
    return loss.reshape(labels) if reduction == "none" else loss


def _rows(x: Tensor):
    """(V,), (N, V), (N, V, d1, ...) as (all rows, V), and the shape of their losses."""
    shape = tuple(x._array.shape)
    if len(shape) == 1:
        return x.unsqueeze(0), ()
    if len(shape) == 2:
        return x, shape[:1]
    rest = (shape[0], *shape[2:])
    return x.movedim(1, -1).reshape(int(np.prod(rest)), shape[1]), rest


def _axes_mismatch(where_: str, shape, target: Tensor) -> ShapeError:
    expected, labels = (shape[0], *shape[2:]) if len(shape) > 1 else (), target._array.shape
    if len(shape) > 1 and labels == shape and target._array.dtype.kind in "iub":
        one = tr("one-hot rows") if bool((target._array.sum(1) == 1).all()) else tr("one number for each class")
        cause = tr("{}: target {} holds {} as {}, where class ids of shape {} are expected", where_, labels, one, target.dtype,
                   expected)  # fmt: skip
        return ShapeError(cause, "target.argmax(1) gives class ids; target.float() is taken as probabilities", code=14)
    cause = tr("{}: Expected target size {}, got {}: logits {} are read as ({}), target is {}", where_, list(expected),
               list(labels), shape, ", ".join(_axis_names(len(shape))), labels)  # fmt: skip
    if len(shape) == 2 and labels and labels[0] != shape[0] and len(labels) == 1:
        fix = tr("one label for each row: batch_size {} of the logits against {} labels", shape[0], labels[0])
        return ShapeError(cause, fix, code=14)
    if len(shape) > 2 and labels == shape[:-1]:  # the classes are the last axis, as a language model makes them
        fix = tr("logits.flatten(0, {}) and target.flatten(), or logits.movedim(-1, 1)", len(shape) - 2)
        return ShapeError(cause, fix, code=14)
    if len(shape) > 2:
        return ShapeError(cause, tr("a target of shape {}", expected), code=14)
    return ShapeError(cause, tr("a target of class ids of shape {}, or of probabilities of shape {}", expected, shape), code=14)


def _axis_names(ndim: int) -> list[str]:
    return ["classes"] if ndim == 1 else ["batch", "classes", *(f"d{i}" for i in range(1, ndim - 1))]


def _look_for_probabilities(logits: Tensor) -> None:
    """Warn where the logits are the output of a softmax: the loss would take the softmax of a softmax."""
    node, x = logits._node, logits._array
    made = node is not None and node.name == "softmax"
    if not made:
        if type(x) is not np.ndarray or x.ndim != 2 or x.shape[0] == 0 or x.shape[1] < 2 or x.dtype.kind != "f":
            return
        # two numbers decide for most batches that nothing is wrong, one row for nearly all
        if not (0 <= x.item(0) <= 1.0001 and 0 <= x.item(1) <= 1.0001):
            return
        first = x[0]
        if not (first.min() >= 0 and abs(first.sum() - 1) < 1e-4):
            return
        if not ((x >= 0).all() and (abs(x.sum(axis=1) - 1) < 1e-4).all()):
            return
    line = user_line()
    cause = tr("cross_entropy received probabilities (rows sum to 1, as softmax makes) at {}; it takes the softmax itself", line)
    if made:
        cause = tr("cross_entropy received probabilities (rows sum to 1, made by softmax) at {}; it takes the softmax itself", line)
    if made and node is not None and node.line:
        cause = tr(
            "cross_entropy received probabilities, which softmax made at {}, at {}; it takes the softmax itself", node.line, line
        )
    warn_once(tr("probabilities for logits"), cause, "pass logits", code=16)


def kl_div(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
           log_target: bool = False) -> Tensor:  # fmt: skip
    """target (log target - x), for log-probabilities x; 0 where target = 0. "batchmean" divides the sum by the first axis.

    log_target: target is given as its logarithm. "mean" divides by the number of terms, as in PyTorch, which is not the
    divergence. Parity: PyTorch gives NaN where target = 0 and x = -inf.

    Args:
        input: log-probabilities
        target: probabilities of input's shape, or their logarithms
        size_average, reduce: old names of reduction
        reduction: "batchmean", "mean", "sum" or "none"
        log_target: whether target is given as its logarithm

    Returns: one number, in nats; with "none" a tensor of input's shape

    Example:
        >>> p = badak.tensor([[0.5, 0.5]])
        >>> F.kl_div(p.log(), p, reduction="batchmean").item()
        0.0
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if not all(tensor(each, "kl_div").dtype.is_floating_point or each.is_complex() for each in (input, target)):
        raise DTypeError("kl_div: Integral inputs not supported.", "x.float()")
    x, target = _pair("kl_div", input, target)
    expect_real("kl_div", x, target)
    if reduction == "batchmean":
        rows = input.shape[0] if input.dim() else 1  # of the input as it was given: a target may stretch it
        return apply(KLDiv, x, target, log_target=log_target, reduction="sum") / rows
    if reduction == "mean":
        cause = tr("reduction: 'mean' divides the total loss by both the batch size and the support size")
        warn(cause, tr("reduction='batchmean', which is the divergence"), kind=UserWarning)
    return apply(KLDiv, x, target, log_target=log_target, reduction=reduction)


def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
             weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """(x - target)^2.   dx = 2 (x - target) dloss.   `weight` multiplies the terms; "mean" then divides by its sum.

    Args:
        input: any shape
        target: of input's shape
        size_average, reduce: old names of reduction
        reduction: "mean", "sum" or "none"
        weight: of input's shape, a factor for each term

    Returns: one number; with "none" a tensor of input's shape

    Example:
        >>> F.mse_loss(badak.zeros(2), badak.tensor([1.0, 3.0])).item()
        5.0
    """
    reduction = reduction_of(size_average, reduce, reduction)
    x, target = _pair("mse_loss", input, target)
    expect_real("mse_loss", x, target)
    if weight is None:
        return apply(MSE, x, target, reduction=reduction)
    return _weighted(apply(MSE, x, target, reduction="none"), weight, reduction, "mse_loss")


@in_float32
def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
            weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """|x - target|.   dx = sign(x - target) dloss."""
    reduction = reduction_of(size_average, reduce, reduction)
    expect_floats("sub", tensor(input, "l1_loss"), tensor(target, "l1_loss", "target"), also="iu")
    x, target = _pair("l1_loss", input, target)
    return _weighted((x - target).abs(), weight, reduction, "l1_loss")


@in_float32
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                   reduction: str = "mean", beta: float = 1.0) -> Tensor:  # fmt: skip
    """d^2 / (2 beta) where d = |x - target| < beta, else d - beta / 2. Girshick 2015."""
    reduction = reduction_of(size_average, reduce, reduction)
    if beta < 0:
        raise ArgumentError(tr("smooth_l1_loss does not support negative values for beta; got {}", beta), "beta=1.0")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    x, target = _pair("smooth_l1_loss", input, target)
    expect_floats("smooth_l1_loss", x)
    expect_real("smooth_l1_loss", x)
    return apply(SmoothL1, x, target, beta=float(beta), reduction=reduction)


@in_float32
def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None) -> Tensor:
    """d^2 / 2 where d = |x - target| <= delta, else delta (d - delta / 2). Huber 1964."""
    if delta <= 0:
        raise ArgumentError(tr("huber_loss does not support non-positive values for delta; got {}", delta), "delta=1.0")
    expect_floats("huber_loss", tensor(input, "huber_loss"))
    x, target = _pair("huber_loss", input, target)
    expect_real("huber_loss", x)
    if weight is None:
        return apply(Huber, x, target, delta=float(delta), reduction=reduction).to(input.dtype)
    loss = apply(Huber, x, target, delta=float(delta), reduction="none")
    return _reduced((loss * _same_size(weight, loss, "huber_loss")).to(input.dtype), reduction, "huber_loss")


@in_float32
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                         reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """-(target log x + (1 - target) log(1 - x)) for probabilities x; each logarithm is at least -100, as in PyTorch."""
    reduction = reduction_of(size_average, reduce, reduction)
    x, target = tensor(input, "binary_cross_entropy"), tensor(target, "binary_cross_entropy", "target")
    if x.shape != target.shape:
        raise ShapeError(
            tr("binary_cross_entropy: Using a target size ({}) that is different to the input size ({})", list(target.shape),
               list(x.shape)),
            f"target.view({tuple(x.shape)})" if x.numel() == target.numel() else "one target for each probability",
        )  # fmt: skip
    expect_floats("binary_cross_entropy", x, target)
    if target.dtype is not x.dtype:
        raise DTypeError(tr("Found dtype {} but expected {}", target.dtype.word, x.dtype.word), tr("target.to({})", x.dtype))
    _check_probabilities("input", x, tr("binary_cross_entropy_with_logits takes logits"))
    _check_probabilities("target", target, tr("targets of 0 and 1; class ids go into cross_entropy"))
    loss = apply(BCE, x, target)
    return _reduced(loss if weight is None else loss * weight, reduction, "binary_cross_entropy")


@events.check(elementwise=True)
def _check_probabilities(name: str, x: Tensor, fix: str) -> None:
    values = x._array
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise ArgumentError(
            tr("binary_cross_entropy: all elements of {} should be between 0 and 1; got {}..{}", name, values.min(), values.max()),
            fix,
        )


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                                     pos_weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """binary_cross_entropy of sigmoid(x), without overflow.   dx = dloss w ((p t + 1 - t) sigmoid(x) - p t).

    weight w and pos_weight p broadcast to x's shape; they get no gradient (parity: PyTorch gives weight one).

    Args:
        input: logits of any shape
        target: of input's shape, 0 to 1
        weight, pos_weight: broadcast to input's shape
        size_average, reduce: old names of reduction
        reduction: "mean", "sum" or "none"

    Returns: one number, in nats; with "none" a tensor of input's shape

    Example:
        >>> round(F.binary_cross_entropy_with_logits(badak.zeros(2), badak.ones(2)).item(), 4)
        0.6931
    """
    reduction = reduction_of(size_average, reduce, reduction)
    x, target = _logits_and_targets(real_tensor(input, "binary_cross_entropy_with_logits"), target)
    if x._node is not None and x._node.name == "sigmoid":
        cause = tr("binary_cross_entropy_with_logits received what sigmoid made; it takes the sigmoid itself")
        warn_once(tr("sigmoid for logits"), cause, "pass logits, or binary_cross_entropy for probabilities", code=33)
    return apply(BCEWithLogits, x, target, weight, pos_weight, reduction=reduction)


def _logits_and_targets(x: Tensor, target) -> tuple[Tensor, Tensor]:
    """Both in the dtype that has room for both, which the loss then has."""
    where_ = "binary_cross_entropy_with_logits"
    if not real_tensor(target, where_, "target").is_floating_point():
        cause = tr("result type {} can't be cast to the desired output type {}", x.dtype.word, target.dtype.word)
        raise DTypeError(cause, tr("target.to({})", x.dtype))
    if x.dtype is target.dtype:
        return x, target
    kind = promote_types(x.dtype, target.dtype)
    return x.to(kind), target.to(kind)


@in_float32
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 x2 / (max(|x1|, eps) max(|x2|, eps)) along `dim`; the two broadcast.

    Args:
        x1, x2: tensors that broadcast
        dim: the axis of the vectors; it disappears
        eps: the smallest norm

    Returns: similarities, -1 to 1

    Example:
        >>> F.cosine_similarity(badak.tensor([[1.0, 0.0]]), badak.tensor([[0.0, 1.0]])).tolist()
        [0.0]
    """
    a, b = real_tensor(x1, "cosine_similarity", "x1"), real_tensor(x2, "cosine_similarity", "x2")
    kind = promote_types(a.dtype, b.dtype)
    if not kind.is_floating_point:
        raise DTypeError(tr("expected common dtype to be floating point, yet common dtype is {}", kind), "x1.float()")
    a, b = broadcast_tensors(a.to(kind), b.to(kind))
    na, nb = (x.norm(2, dim, keepdim=True).clamp(min=eps) for x in (a, b))
    return ((a / na) * (b / nb)).sum(dim)


@in_float32
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """|x1 - x2 + eps|_p along the last axis."""
    return (tensor(x1, "pairwise_distance", "x1") - x2 + eps).norm(p, -1, keepdim)


@in_float32
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None,
                          reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """1 - cos(x1, x2) where target is 1, max(0, cos(x1, x2) - margin) where it is -1.

    cos(x1, x2) = x1 x2 / sqrt((x1^2 + eps) (x2^2 + eps)) with eps = 1e-12, unlike cosine_similarity's, as in PyTorch.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    x1, x2, y = (
        tensor(x, "cosine_embedding_loss", name) for x, name in zip((input1, input2, target), ("input1", "input2", "target"))
    )
    if y.dim() > 1 or x1.dim() != y.dim() + 1 or x2.dim() != x1.dim():
        wanted = tr("{}D target tensor expects {}D input tensors", y.dim(), y.dim() + 1)
        cause = tr("cosine_embedding_loss: {}; got target {} and inputs {}, {}",
                   wanted if y.dim() < 2 else tr("0D or 1D target tensor expected"), tuple(y.shape), tuple(x1.shape),
                   tuple(x2.shape))  # fmt: skip
        raise ShapeError(cause, "inputs (N, D) with target (N,), or (D,) with ()")
    size1, size2 = (input1 * input1).sum(-1) + 1e-12, (input2 * input2).sum(-1) + 1e-12
    cos = (input1 * input2).sum(-1) / (size1 * size2).sqrt()
    loss = where(target == 1, 1.0 - cos, 0.0) + where(target == -1, (cos - margin).clamp(min=0.0), 0.0)
    return _reduced(loss, reduction, "cosine_embedding_loss")


@in_float32
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None,
                        reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """max(0, -target (x1 - x2) + margin), target 1 or -1."""
    reduction = reduction_of(size_average, reduce, reduction)
    _need_equal_dims("margin_ranking_loss", input1=input1, input2=input2, target=target)
    return _reduced((-target * (input1 - input2) + margin).clamp(min=0.0), reduction, "margin_ranking_loss")


@in_float32
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None,
                         reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """x where target is 1, max(0, margin - x) where it is -1; their sum for other targets, as in PyTorch."""
    reduction = reduction_of(size_average, reduce, reduction)
    expect_floats("hinge_embedding_loss", input)
    loss = where(target != -1, input, 0.0) + where(target != 1, (margin - input).clamp(min=0.0), 0.0)
    return _reduced(loss, reduction, "hinge_embedding_loss")


@in_float32
def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-target x)), target 1 or -1."""
    reduction = reduction_of(size_average, reduce, reduction)
    x = float_tensor(input, "soft_margin_loss")
    z = -(real_tensor(target, "soft_margin_loss", "target").to(x.dtype) * x)
    if z.shape != x.shape:
        cause = tr("soft_margin_loss: output with shape {} doesn't match the broadcast shape {}", list(x.shape), list(z.shape))
        raise ShapeError(cause, "targets of the shape of the input")
    return _reduced(z.logaddexp(z.new_zeros(())), reduction, "soft_margin_loss")


@in_float32
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
                        swap: bool = False, size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:  # fmt: skip
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-distance. Balntas et al. 2016."""
    reduction = reduction_of(size_average, reduce, reduction)
    if not margin > 0:
        raise ArgumentError(tr("triplet_margin_loss: margin must be greater than 0, got {}", margin), "margin=1.0")
    _need_equal_dims("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return _reduced((near - far + margin).clamp(min=0.0), reduction, "triplet_margin_loss")


def _need_equal_dims(where_: str, **given) -> None:
    """Refuse inputs of which one would be stretched over an axis that it does not have."""
    if len({tensor(x, where_, name).dim() for name, x in given.items()}) > 1:
        shapes = ", ".join(f"{name} {tuple(x.shape)}" for name, x in given.items())
        cause = tr("{}: All inputs should have same dimension (number of axes); got {}", where_, shapes)
        raise ShapeError(cause, "x.view(...), or x.squeeze(...)")


def _pair(where_: str, x, target):
    """x and target as floats of one shape; PyTorch's warning where they had to be stretched."""
    x, target = tensor(x, where_), tensor(target, where_, "target")
    if x.dtype is not target.dtype:
        wanted = promote_types(x.dtype, target.dtype)
        x, target = x.to(wanted), target.to(wanted)
    if x._array.shape == target._array.shape:
        return x, target
    warn_once(
        (where_, "stretched"),
        tr("Using a target size ({}) that is different to the input size ({}) in {}: both are broadcast to one shape, which is "
           "rarely meant. Please ensure they have the same size.", target.shape, x.shape, where_),
        f"target.view({tuple(x.shape)})" if x.numel() == target.numel() else "targets of the shape of the input",
    )  # fmt: skip
    return broadcast_tensors(x, target)


_WHOLE = {  # one operation in PyTorch, and one name of the grad_fn
    "binary_cross_entropy": "BinaryCrossEntropy", "soft_margin_loss": "SoftMarginLoss",
}  # fmt: skip


def _reduced(loss: Tensor, reduction: str, where_: str) -> Tensor:
    _need_reduction(reduction, where_)
    made = loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()
    if where_ in _WHOLE and made._node is not None:
        vars(made._node)["shown"] = _WHOLE[where_]
    return made


def _need_reduction(reduction: str, where_: str) -> None:
    if reduction not in ("none", "mean", "sum"):
        raise ArgumentError(tr("{}: {!r} is not a valid value for reduction", where_, reduction), "'none', 'mean' or 'sum'")


def _weighted(loss: Tensor, weight, reduction: str, where_: str) -> Tensor:
    """The reduction of loss times weight; "mean" divides by the sum of the weights."""
    if weight is None:
        return _reduced(loss, reduction, where_)
    loss = loss * _same_size(weight, loss, where_)
    return loss.sum() / weight.sum() if reduction == "mean" else _reduced(loss, reduction, where_)


def _same_size(weight: Tensor, loss: Tensor, where_: str) -> Tensor:
    if weight.shape != loss.shape:
        cause = tr(
            "{}: Weights and input must have the same size; got weight={}, input={}", where_, tuple(weight.shape), tuple(loss.shape)
        )
        raise ShapeError(cause, "weight.expand(input.shape)")
    return weight
