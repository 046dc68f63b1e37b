"""Functions that stand in torch as well as in torch.nn.functional, there in another order and with numbers for words.

`badak.embedding(weight, ids)` is `F.embedding(ids, weight)`. Reductions: 0 "none", 1 "mean", 2 "sum".
"""

from collections.abc import Callable, Sequence
from typing import Any

from badak.core.errors import ArgumentError, NotSupportedError, tr
from badak.core.public_api.taken import named
from badak.nn import functional as F
from badak.nn.functional.batch_norm import _normed
from badak.tensor import Tensor
from badak.tensor.generator import Generator


def _named(reduction, where: str) -> str:
    """The word for a number."""
    if isinstance(reduction, bool) or reduction not in (0, 1, 2):
        cause = tr("{}: expected reduction 0 (none), 1 (mean) or 2 (sum); got {!r}", where, reduction)
        raise ArgumentError(cause, tr("nn.functional.{}, which takes words", where))
    return ("none", "mean", "sum")[reduction]


# ---------------------------------------------------------------- norms


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """As nn.functional.batch_norm."""
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple:
    """(y, mean, rstd): nn.functional.batch_norm, and the mean and 1 / sqrt(var + eps) by which it normalised in training.

    In evaluation these two are empty. They have no gradient.

    Args:
        input: (N, C, ...)
        weight, bias: (C,) or None
        running_mean, running_var: (C,), moved in training, used in evaluation; or None
        training: use mean and variance of the batch
        momentum: weight of the batch in the running values
        eps: added to the variance

    Returns: three tensors: of input's shape, (C,) and (C,)

    Example:
        >>> y, mean, rstd = badak.native_batch_norm(badak.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 1e-5)
        >>> y.round().tolist(), mean.tolist()
        ([[-1.0], [1.0]], [2.0])
    """
    y, mean, var = _normed(input, running_mean, running_var, weight, bias, training, momentum, eps)
    return (y, mean, (var + eps).rsqrt()) if training else (y, mean.new_empty(0), mean.new_empty(0))


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """As nn.functional.instance_norm."""
    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Tensor:
    """As nn.functional.layer_norm."""
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Tensor:
    """As nn.functional.group_norm."""
    return F.group_norm(input, num_groups, weight, bias, eps)


# ---------------------------------------------------------------- drawn masks, embeddings, pools


def _masked(function: Callable, in_place: bool = False) -> Callable:
    def masked(input: Tensor, p: float, train: bool) -> Tensor:
        return function(input, p, train, in_place)

    name = function.__name__
    return named(masked, f"{name}_" if in_place else name, f"{name}, in place." if in_place else f"As nn.functional.{name}.")


dropout, dropout_ = _masked(F.dropout), _masked(F.dropout, True)
alpha_dropout, alpha_dropout_ = _masked(F.alpha_dropout), _masked(F.alpha_dropout, True)
feature_alpha_dropout, feature_alpha_dropout_ = _masked(F.feature_alpha_dropout), _masked(F.feature_alpha_dropout, True)


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """The rows of weight (V, C) that indices name. padding_idx: the row without gradient, none if negative."""
    row = None if padding_idx < 0 else padding_idx
    return F.embedding(indices, weight, row, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int]) -> tuple[Tensor, Tensor]:
    """(values, places) of nn.functional.adaptive_max_pool1d."""
    return F.adaptive_max_pool1d(input, output_size, True)


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Any:
    """(values, places) of nn.functional.max_pool1d."""
    return F.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def rrelu(
    input: Tensor, lower: Any = 0.125, upper: Any = 1 / 3, training: bool = False, generator: Generator | None = None
) -> Tensor:
    """As nn.functional.rrelu."""
    if generator is not None:
        raise NotSupportedError("rrelu: generator is not there", "manual_seed, and no generator")
    return F.rrelu(input, lower, upper, training)


# ---------------------------------------------------------------- losses


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    """As nn.functional.binary_cross_entropy_with_logits."""
    word = _named(reduction, "binary_cross_entropy_with_logits")
    return F.binary_cross_entropy_with_logits(input, target, weight, pos_weight=pos_weight, reduction=word)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1) -> Tensor:
    """As nn.functional.cosine_embedding_loss."""
    word = _named(reduction, "cosine_embedding_loss")
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=word)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1) -> Tensor:
    """As nn.functional.hinge_embedding_loss."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_named(reduction, "hinge_embedding_loss"))


def kl_div(input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor:
    """As nn.functional.kl_div."""
    return F.kl_div(input, target, reduction=_named(reduction, "kl_div"), log_target=log_target)


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1) -> Tensor:
    """As nn.functional.margin_ranking_loss."""
    word = _named(reduction, "margin_ranking_loss")
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=word)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """As nn.functional.poisson_nll_loss."""
    word = _named(reduction, "poisson_nll_loss")
    return F.poisson_nll_loss(input, target, log_input, full, None, eps, None, word)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-06,
    swap: bool = False,
    reduction: int = 1,
) -> Tensor:
    """As nn.functional.triplet_margin_loss."""
    word = _named(reduction, "triplet_margin_loss")
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=word)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """As nn.functional.ctc_loss."""
    word = _named(reduction, "ctc_loss")
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, word, zero_infinity)
