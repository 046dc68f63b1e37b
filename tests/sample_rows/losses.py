"""Rows of the losses. Means of no rows are tested elsewhere: PyTorch's are NaN, badak's 0."""

import numpy as np
import torch
import torch.nn.functional as F

from badak.ops.ctc import CTC
from badak.ops.loss import BCE, MSE, NLL, BCEWithLogits, CrossEntropy, CrossEntropySoft, Huber, KLDiv, SmoothL1
from tests.samples import Draw, Sample, case, ints, uniform

REDUCTIONS = ["mean", "sum", "none"]
V = 5
WEIGHT = np.array([0.5, 2.0, 1.0, 0.25, 3.0])
LABELS = np.array([1, -100, 0, 4, -100, 2, 2])


def probabilities(*shape: int) -> Draw:
    """Rows that sum to 1."""
    return Draw(lambda rng: rng.dirichlet(np.ones(shape[-1]), shape[:-1]).astype(np.float64))


def cross_entropy(x, target, weight, ignore_index, smoothing, reduction):
    return F.cross_entropy(x, target, weight, ignore_index=ignore_index, label_smoothing=smoothing, reduction=reduction)


def nll(x, target, weight, ignore_index, reduction):
    return F.nll_loss(x, target, weight, ignore_index=ignore_index, reduction=reduction)


def soft(x, target, weight, smoothing, reduction):
    return F.cross_entropy(x, target, weight, label_smoothing=smoothing, reduction=reduction)


def bce(x, target, weight, pos_weight, reduction):
    return F.binary_cross_entropy_with_logits(x, target, weight, pos_weight=pos_weight, reduction=reduction)


def kl_div(x, target, log_target, reduction):
    loss = F.kl_div(x, target, log_target=log_target, reduction="none")  # its own "mean" warns
    return {"none": loss, "sum": loss.sum(), "mean": loss.mean()}[reduction]


def ctc(logp, targets, steps, lengths, blank, zero_infinity):
    """PyTorch's, whose gradient is larger than the derivative by exp(logp) at every step that counts."""
    loss = F.ctc_loss(logp, targets, steps, lengths, blank, "none", zero_infinity)
    there_is_a_way = F.ctc_loss(logp.detach(), targets, steps, lengths, blank, "none").isfinite()
    counted = (torch.arange(len(logp))[:, None] < steps) & there_is_a_way
    extra = (logp.exp().sum(-1) * counted).sum(0)
    return loss - (extra - extra.detach())


def log_chances(*shape: int) -> Draw:
    return Draw(lambda rng: np.log(rng.dirichlet(np.ones(shape[-1]), shape[:-1])))


WAYS = [
    case(log_chances(6, 2, V), np.array([[1, 2, 2], [3, 1, 4]]), np.array([6, 5]), np.array([3, 2])),
    case(log_chances(6, 3, V), np.array([2, 2, 1, 3, 4]), np.array([6, 6, 4]), np.array([3, 0, 2])),
    case(log_chances(4, 2, V), np.array([[2, 2, 2], [1, 3, 3]]), np.array([4, 4]), np.array([3, 1]), zero_infinity=True),
    case(log_chances(6, 2, V), np.array([[0, 1], [1, 3]]), np.array([6, 4]), np.array([2, 2]), blank=2),
    case(np.zeros((1, 1, 1)), np.zeros((1, 0), np.int64), np.array([1]), np.array([0])),
]

CLASSES = [
    case((7, V), LABELS, None),
    case((7, V), LABELS, WEIGHT),
    case((7, V), ints(V, 7), None, ignore_index=2),
    case((1, 1), np.array([0]), None, smoothing=0.0),
]
NLL_CLASSES = [*CLASSES[:3], case((1, 1), np.array([0]), None)]
EMPTY_CLASSES = [case((0, V), ints(V, 0), None)]
EXTREME_LOGITS = np.array([[1e4, 0.0, -1e4], [1e4, 9999.5, 9999.0], [0.0, -np.inf, 1.0], [80.0, 100.0, 0.0]])
MANY = case((600, 37), ints(37, 600), None)

PAIRS = [((3, 4), (3, 4)), ((1,), (1,)), ((2, 3, 4), (2, 3, 4))]
FAR_APART = [case(np.array([3.0, -4.0, 0.25, 1.0, 30.0]), np.array([0.5, 2.0, 0.5, 1.0, -30.0]))]
COINS = [
    ((3, 4), uniform(0, 1, 3, 4), None, None),
    ((1,), uniform(0, 1, 1), None, None),
    ((3, 4), uniform(0, 1, 3, 4), uniform(0.1, 2, 3, 4), uniform(0.5, 3, 4)),
    ((3, 4), uniform(0, 1, 3, 4), uniform(0.1, 2, 3, 1), None),
]

ROWS = [
    Sample(CrossEntropy, cross_entropy, CLASSES, ignore_index=-100, smoothing=[0.0, 0.1], reduction=REDUCTIONS,
           no_grad=(2,), threads=[MANY],
           extremes=[case(EXTREME_LOGITS, np.array([0, 1, 0, 1]), None, smoothing=0.0)],
           extremes_size=1.0),  # a probability less 1
    Sample(CrossEntropy, cross_entropy, EMPTY_CLASSES, ignore_index=-100, smoothing=0.0, reduction=["sum", "none"],
           no_grad=(2,)),
    Sample(CrossEntropySoft, soft,
           [((7, V), probabilities(7, V), None), ((7, V), probabilities(7, V), WEIGHT), ((1, 1), probabilities(1, 1), None)],
           smoothing=[0.0, 0.1], reduction=REDUCTIONS, no_grad=(2,), threads=[((600, 37), probabilities(600, 37), None)]),
    Sample(CrossEntropySoft, soft, [((0, V), (0, V), None)], smoothing=0.0, reduction=["sum", "none"]),
    Sample(NLL, nll, NLL_CLASSES, ignore_index=-100, reduction=REDUCTIONS, no_grad=(2,), threads=[MANY]),
    Sample(NLL, nll, EMPTY_CLASSES, ignore_index=-100, reduction=["sum", "none"], no_grad=(2,)),
    Sample(KLDiv, kl_div,
           [((3, 4), uniform(0.05, 1, 3, 4)), ((1,), uniform(0.05, 1, 1))], log_target=[False, True], reduction=REDUCTIONS,
           threads=[((257, 65), uniform(0.05, 1, 257, 65))]),
    Sample(KLDiv, kl_div,
           [((0, 4), (0, 4))], log_target=[False, True], reduction=["sum", "none"]),
    Sample(MSE, lambda x, t, reduction: F.mse_loss(x, t, reduction=reduction), PAIRS, reduction=REDUCTIONS,
           threads=[((257, 65), (257, 65))]),
    Sample(MSE, lambda x, t, reduction: F.mse_loss(x, t, reduction=reduction), [((0, 4), (0, 4))], reduction=["sum", "none"]),
    *(Sample(op, twin, [*PAIRS, *FAR_APART], reduction=REDUCTIONS, threads=[((257, 65), (257, 65))], **bounds)
      for op, twin, bounds in ((Huber, F.huber_loss, {"delta": [1.0, 0.3]}), (SmoothL1, F.smooth_l1_loss, {"beta": [1.0, 0.3]}))),
    *(Sample(op, twin, [((0, 4), (0, 4))], reduction=["sum", "none"])
      for op, twin in ((Huber, F.huber_loss), (SmoothL1, F.smooth_l1_loss))),
    Sample(BCE, lambda x, t: F.binary_cross_entropy(x, t, reduction="none"),
           [(uniform(0.1, 0.9, 3, 4), uniform(0.1, 0.9, 3, 4)), (uniform(0.1, 0.9, 1), uniform(0.1, 0.9, 1)), ((0, 4), (0, 4))],
           extremes=[case(np.array([0.0, 1.0, 0.5, 0.0, 1.0]), np.array([1.0, 1.0, 0.25, 0.0, 0.0]))], no_grad=(1,)),
    Sample(BCEWithLogits, bce, COINS, reduction=REDUCTIONS, no_grad=(2, 3),
           threads=[((257, 65), uniform(0, 1, 257, 65), None, None)],
           extremes=[case(np.array([1e4, -1e4, 1e4, -1e4, 40.0]), np.array([1.0, 0.0, 0.0, 1.0, 1.0]), None, None)]),
    Sample(BCEWithLogits, bce, [((0, 4), (0, 4), None, None)], reduction=["sum", "none"]),
    Sample(CTC, ctc, WAYS, blank=0, zero_infinity=False, slack=4),
]  # fmt: skip
