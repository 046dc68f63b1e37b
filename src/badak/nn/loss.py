"""Losses as modules: each is the function of that name in `nn.functional`, with its settings kept.

`reduction` is "mean", "sum" or "none"; `size_average` and `reduce` are PyTorch's older way to say it. The formulas stand in
the functions' docstrings.
"""

from collections.abc import Callable
from math import prod
from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, ShapeError, tr
from badak.nn import functional as F
from badak.nn.functional._common import reduction_of
from badak.nn.linear import Linear
from badak.nn.module import Module
from badak.tensor import Tensor
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812


class _Loss(Module):
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction_of(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class CrossEntropyLoss(_WeightedLoss):
    """-log softmax(logits)[target], in nats.

    logits (B, V, ...) and target (B, ...) of class numbers, or of logits' shape, of class probabilities.
    weight (V,): a factor for each class. ignore_index: targets that do not count. label_smoothing: 0 .. 1.

    Args:
        weight: (V,), a factor for each class
        size_average, reduce: old names of reduction
        ignore_index: targets of this value do not count
        reduction: "mean", "sum" or "none"
        label_smoothing: share of the target that is spread over all classes, 0 to 1

    Returns: module; `forward(logits, target)` gives one number, in nats; with "none" the shape of target

    Raises:
        IndexOutOfRangeError: from `forward`, for a target outside 0 .. V - 1 that is not ignore_index

    Derivation: docs/explanation/derivations/cross_entropy.md

    Example:
        >>> loss = nn.CrossEntropyLoss()
        >>> round(loss(badak.zeros(3, 10), badak.tensor([1, 2, 3])).item(), 4)
        2.3026
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_WeightedLoss):
    """-x[target] for log-probabilities x (B, V, ...).

    Args:
        weight: (V,), a factor for each class
        size_average, reduce: old names of reduction
        ignore_index: targets of this value do not count
        reduction: "mean", "sum" or "none"

    Returns: module; `forward(log_probabilities, target)` gives one number, in nats

    Example:
        >>> nn.NLLLoss()(badak.tensor([[-1.0, -2.0]]), badak.tensor([1])).item()
        2.0
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class MSELoss(_Loss):
    """(x - target)^2.

    Args:
        size_average, reduce: old names of reduction
        reduction: "mean", "sum" or "none"

    Returns: module; `forward(input, target)` gives one number; with "none" the shape of input

    Example:
        >>> nn.MSELoss()(badak.zeros(2), badak.tensor([1.0, 3.0])).item()
        5.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """|x - target|.

    Args:
        size_average, reduce: old names of reduction
        reduction: "mean", "sum" or "none"

    Returns: module; `forward(input, target)` gives one number; with "none" the shape of input

    Example:
        >>> nn.L1Loss()(badak.zeros(2), badak.tensor([1.0, 3.0])).item()
        2.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """d^2 / (2 beta) where d = |x - target| < beta, else d - beta / 2."""

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean", beta: float = 1.0
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """d^2 / 2 where d = |x - target| <= delta, else delta (d - delta / 2)."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        if not isinstance(delta, float | int):
            raise ArgumentTypeError(tr("delta must be a float or int, got: {}", type(delta)), "delta=1.0")
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class KLDivLoss(_Loss):
    """target (log target - x), x log-probabilities; reduction "batchmean" divides by the first axis.

    log_target: target is given as its logarithm.

    Args:
        size_average, reduce: old names of reduction
        reduction: "batchmean" (the divergence), "mean", "sum" or "none"
        log_target: whether the target is given as its logarithm

    Returns: module; `forward(log_probabilities, target)` gives one number, in nats

    Example:
        >>> p = badak.tensor([[0.5, 0.5]])
        >>> nn.KLDivLoss(reduction="batchmean")(p.log(), p).item()
        0.0
    """

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean", log_target: bool = False
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """-(target log x + (1 - target) log(1 - x)), x probabilities."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """BCELoss of sigmoid(x); pos_weight is a factor for the positive part.

    Args:
        weight: broadcasts to the input; a factor for each term
        size_average, reduce: old names of reduction
        reduction: "mean", "sum" or "none"
        pos_weight: (C,), a factor for the positive part of each class

    Returns: module; `forward(logits, target)` gives one number, in nats

    Example:
        >>> round(nn.BCEWithLogitsLoss()(badak.zeros(2), badak.tensor([0.0, 1.0])).item(), 4)
        0.6931
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 - cos(x1, x2) where target is 1, max(0, cos(x1, x2) - margin) where it is -1."""

    def __init__(
        self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class CosineSimilarity(Module):
    """x1 x2 / (|x1| |x2|) along dim."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class GaussianNLLLoss(_Loss):
    """(ln var + (x - target)^2 / var) / 2; see nn.functional.gaussian_nll_loss."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class PoissonNLLLoss(_Loss):
    """exp(x) - target x; see nn.functional.poisson_nll_loss."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class HingeEmbeddingLoss(_Loss):
    """x where target is 1, max(0, margin - x) where it is -1."""

    def __init__(
        self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """max(0, -target (x1 - x2) + margin), target 1 or -1."""

    def __init__(
        self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target x)), target 1 or -1."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of the binary cross entropy with logits."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The mean over the other classes k of max(0, margin - x_target + x_k)^p."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction)


class CTCLoss(_Loss):
    """-ln of the probability of all ways to spell the targets in time: see nn.functional.ctc_loss."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)


class TripletMarginLoss(_Loss):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-distance."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps, swap=self.swap, reduction=self.reduction
        )


class PairwiseDistance(Module):
    """|x1 - x2 + eps|_p along the last axis."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class MultiLabelMarginLoss(_Loss):
    """The sum over labels j and other classes i of max(0, 1 - x_j + x_i), / V."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with a distance of one's own."""

    def __init__(
        self, *, distance_function: Callable | None = None, margin: float = 1.0, swap: bool = False, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            cause = tr("TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {} instead", margin)
            raise ArgumentError(cause, "margin=1.0")
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip


class LinearCrossEntropyLoss(_WeightedLoss):
    """cross_entropy(linear(x), target), with the linear layer as its own: (..., K) to V classes.

    out_features: (d1, ...), for several losses of each x. `options`, how PyTorch cuts the work, changes nothing here.
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Device = None,
        dtype: DType | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: Any = None,
    ) -> None:
        if weight is not None and weight.shape != (num_classes,):
            cause = tr("expected weight shape to be {}, got {}", (num_classes,), tuple(weight.shape))
            raise ShapeError(cause, "a factor for each class")
        if not 0 <= label_smoothing <= 1:
            cause = tr("expected label_smoothing to be in range [0, 1], got {}", label_smoothing)
            raise ArgumentError(cause, "label_smoothing=0.1")
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features, self.options = num_classes, out_features, options
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.linear = Linear(in_features, prod(out_features, start=num_classes), bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        outer, w, b = (self.num_classes, *self.out_features), self.linear.weight, self.linear.bias
        return F.linear_cross_entropy(
            input, w.reshape(*outer, -1), target, linear_bias=None if b is None else b.reshape(outer), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        kept = "num_classes out_features bias reduction ignore_index label_smoothing options".split()
        said = {name: getattr(self, name) for name in kept if name != "bias"} | {"bias": self.linear.bias is not None}
        return ", ".join([f"in_features={self.linear.in_features}", *(f"{name}={said[name]}" for name in kept)])


class NLLLoss2d(NLLLoss):
    """NLLLoss, under its older name for images."""
