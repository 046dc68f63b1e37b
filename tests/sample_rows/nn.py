"""Rows of the operations that layers are made of."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from badak.kernels.reference import blocks as reference
from badak.ops.attention import Attention
from badak.ops.embedding import Embedding
from badak.ops.linear import AddMM, Linear, LinearOfEach
from badak.ops.matmul import MatMul
from badak.ops.norm import BatchMoments, BatchNorm, GroupNorm, LayerNorm, RMSNorm
from badak.ops.quantized import EmbeddingBlocks, LinearBFloat16, LinearBlocks, LinearInt8
from badak.ops.select import Dropout
from badak.ops.softmax import LogSoftmax, Softmax
from tests.samples import Draw, Sample, bools, case, complexes, ints, uniform

EXTREME = np.array([0.0, -0.0, 1.0, -1.0, 1e-30, -1e-30, 30.0, -30.0, 88.0, -88.0, 1e4, -1e4, np.nan])
WILD = np.concatenate([EXTREME, [np.inf, -np.inf], EXTREME, [np.inf, -np.inf, np.nan]])
ROUGH = np.array([0.0, -0.0, 1.0, -1.0, 1e-30, 2e-39, 88.0, -1e4, 127.5, -63.5, 0.5, 1e30])
SHAPES = [(3, 5), (2, 3, 4), (0, 4), (1,), (33,)]
BIG = [(257, 65), (70_000,)]


def layer_norm(x, w, b, eps, axes):
    return F.layer_norm(x, x.shape[x.ndim - axes :], w, b, eps)


def batch_moments(x):
    axes = [i for i in range(x.ndim) if i != 1]
    if not x.numel():
        return x.sum(axes), x.sum(axes), x.sum(axes)
    mean, var, count = x.mean(axes), x.var(axes, correction=0), x.numel() // x.shape[1]
    return mean, var, var * (count / max(count - 1, 1))


def batch_norm(x, w, b, mean, var, eps, moving):
    """By statistics that stay: those that move with x are in tests/parity/test_batch_norm.py."""
    channels = (-1, *(1,) * (x.ndim - 2))
    y = (x - mean.reshape(channels)) / (var + eps).sqrt().reshape(channels)
    y = y if w is None else y * w.reshape(channels)
    return y if b is None else y + b.reshape(channels)


def of_channels(*shape, w=True, b=True):
    """The inputs of a batch norm of (N, C, ...)."""
    size = shape[1:2]
    return shape, size if w else None, size if b else None, size, uniform(0.5, 2.0, *size)


def rms_norm(x, w, eps, axes):
    return F.rms_norm(x, x.shape[x.ndim - axes :], w, eps)


def embedding(w, ids, padding_idx, scale_grad_by_freq):
    return F.embedding(ids, w, padding_idx, scale_grad_by_freq=scale_grad_by_freq)


def attention(q, k, v, keep, bias, drop, causal=None, scale=None, p=0.0, want_weights=False):
    """The formula, with zeros where a query sees nothing."""
    heads = q.shape[1] // max(k.shape[1], 1)
    k, v = k.repeat_interleave(heads, 1), v.repeat_interleave(heads, 1)
    s = q @ k.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    visible = torch.ones(s.shape, dtype=torch.bool)
    if keep is not None:
        visible = visible & keep
    if causal is not None:
        visible = visible & torch.ones(s.shape[-2:], dtype=torch.bool).tril(causal)
    s = (s if bias is None else s + bias).masked_fill(~visible, -math.inf)
    weights = torch.softmax(s, -1) if s.shape[-1] else s
    if drop is not None:
        weights = weights * drop / (1 - p)
    return (weights @ v, weights) if want_weights else weights @ v


def pytorchs_attention(q, k, v, keep, bias, drop, causal=None, scale=None, p=0.0, want_weights=False):
    """PyTorch's own, for its order in memory; it gives no weights."""
    y = F.scaled_dot_product_attention(q, k, v, is_causal=causal == 0, enable_gqa=True)
    return (y, torch.empty(*q.shape[:3], k.shape[2])) if want_weights else y


def group_norm(x, w, b, groups, eps):
    """The formula: PyTorch's own has no gradient for a bias without weight."""
    channels, count = (-1, *(1,) * (x.ndim - 2)), x.shape[1] // groups * math.prod(x.shape[2:])
    y = F.layer_norm(x.reshape(x.shape[0], groups, count), (count,), eps=eps).reshape(x.shape)
    y = y if w is None else y * w.reshape(channels)
    return y if b is None else y + b.reshape(channels)


def int8s(*shape):
    return Draw(lambda rng: rng.integers(-127, 128, shape).astype(np.int8))


def linear_bfloat16(x, w, b):
    x, w = (a.bfloat16().to(a.dtype) for a in (x, w))
    return F.linear(x, w, b)


def linear_int8(x, w, scale, b):
    """The formula, in float32 whatever x is."""
    rows = x.float()
    largest = rows.abs().amax(-1, keepdim=True) if x.shape[-1] else rows.new_zeros((*x.shape[:-1], 1))
    fine, some = largest.isfinite(), largest.isfinite() & (largest >= 2.0**-120)
    inverse = torch.where(some, 127 / largest, torch.zeros(()))
    steps = torch.where(some, largest / 127, torch.where(fine, 0.0, torch.nan))
    q = torch.where(fine, rows, torch.zeros(())).mul(inverse).round()
    y = (q.double() @ w.double().T).float() * (steps * scale.float())
    return (y if b is None else y + b.float()).to(x.dtype)


def blocks(form, *shape):
    """Random weights as bytes."""
    return Draw(lambda rng: reference.quantize_blocks(rng.standard_normal(shape).astype(np.float32), form))


def numbers(w, form, size):
    return torch.from_numpy(reference.dequantize_blocks(w.numpy(), form, size))


def linear_blocks(x, w, b, form, size):
    """The formula, in float32 whatever x is; products exact, their sums rounded part by part."""
    parts = F.pad(x.float(), (0, -size % 32)).unflatten(-1, (-1, 32))
    largest = parts.abs().amax(-1, keepdim=True)
    fine, some = largest.isfinite(), largest.isfinite() & (largest >= 2.0**-120)
    steps = torch.where(some, largest / 127, torch.where(fine, 0.0, torch.nan))
    inverse = torch.where(some, 127 / largest, torch.zeros(()))
    q = torch.where(fine, parts, torch.zeros(())).mul(inverse).round()
    p, scale, _ = reference.unpacked(w.numpy(), form)
    y = x.new_zeros(*x.shape[:-1], len(w), dtype=torch.float32)
    for part in range(p.shape[1]):
        sums = (q[..., part, None, :] * torch.from_numpy(p[:, part]).float()).sum(-1)
        u = sums * torch.from_numpy(scale[:, part])
        y = (y.double() + u.double() * steps[..., part, :].double()).float()
    F.linear(x, numbers(w, form, size).to(x.dtype))  # so often PyTorch multiplies
    return (y if b is None else y + b.float()).to(x.dtype)


def heads(B, H, G, T, S, D, E, keep=None, bias=None, drop=None, **attributes):
    """A case of Attention: q, k, v, keep, bias, drop."""
    return case(
        (B, H, T, D),
        (B, G, S, D),
        (B, G, S, E),
        None if keep is None else bools(*keep),
        bias,
        None if drop is None else bools(B, H, T, S, p=drop),
        **attributes,
    )


ATTENTION = [
    heads(2, 2, 2, 3, 4, 5, 3),
    heads(1, 1, 1, 1, 1, 1, 1),
    heads(0, 2, 2, 3, 4, 5, 3),
    heads(2, 2, 2, 3, 3, 4, 4, causal=0),
    heads(2, 2, 2, 2, 5, 4, 4, causal=3, want_weights=True),
    heads(2, 4, 2, 3, 4, 4, 2, keep=(2, 1, 3, 4), scale=0.3),
    heads(2, 4, 1, 3, 4, 4, 2, keep=(2, 1, 1, 4), bias=(3, 4)),
    heads(2, 2, 2, 3, 4, 4, 4, bias=(2, 2, 3, 4), want_weights=True),
    heads(2, 2, 2, 3, 4, 4, 4, bias=(2, 1, 1, 4), drop=0.6, p=0.4),
    heads(2, 4, 2, 3, 5, 4, 2, keep=(3, 5), bias=(4, 1, 5), drop=0.6, p=0.4, causal=2, want_weights=True),
]
NORMS = [
    case((7, 5), (5,), (5,)),
    case((2, 3, 8), (8,), None),
    case((3, 4), None, None),
    case((4,), (4,), (4,)),
    case((0, 4), (4,), (4,)),
    case((2, 3, 4), (3, 4), (3, 4), axes=2),
    case((2, 3, 4), None, None, axes=3),
]
# One channel has no spread: dx is 0, as a difference of equal numbers that any rounding shows. dw is 0 where x = 0.
ONE_CHANNEL = case(np.zeros((1, 1)), (1,), (1,))


def without_bias(item):
    return case(item.inputs[0], item.inputs[1], **item.attributes)


def linear_of_each(x, w, b):
    y = x @ w.mT
    return y if b is None else y + b[:, None]


ROWS = [
    Sample(Softmax, lambda x, dim: torch.softmax(x, dim), SHAPES, dim=[-1, 0], threads=BIG,
           extremes=[np.array([[1e4, 0.0, -1e4], [0.0, -np.inf, -np.inf], [1e30, 1e30, 0.0], [np.nan, 0.0, 1.0]])]),
    Sample(LogSoftmax, lambda x, dim: torch.log_softmax(x, dim), SHAPES, dim=[-1, 0], threads=BIG,
           extremes=[np.array([[1e4, 0.0, -1e4], [0.0, -np.inf, -np.inf], [1e30, 1e30, 0.0], [np.nan, 0.0, 1.0]])]),
    Sample(MatMul, torch.matmul,
           [((3, 4), (4, 5)), ((4,), (4,)), ((4,), (4, 3)), ((3, 4), (4,)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (4,)),
            ((2, 1, 3, 4), (5, 4, 2)), ((4,), (2, 4, 3)), ((5, 3, 4), (5, 4, 2)), ((1, 1), (1, 1)), ((0, 4), (4, 3)),
            ((2, 0), (0, 3)), ((3, 2, 4), (1, 4, 2)), ((2, 4), (3, 4, 5)), (complexes(3, 4), complexes(4, 2)),
            (complexes(2, 3, 4), complexes(2, 4, 2))],
           threads=[((300, 70), (70, 90)), ((6, 40, 30), (6, 30, 20)), ((6, 40, 30), (30, 20)), ((3, 70), (70, 1100))]),
    Sample(AddMM, torch.addmm,
           [((5,), (7, 4), (4, 5)), ((20,), (2, 9), (9, 20)), ((1,), (1, 1), (1, 1)), ((5,), (0, 4), (4, 5)),
            ((5,), (3, 0), (0, 5)), (complexes(5), complexes(3, 4), complexes(4, 5))],
           threads=[((130,), (400, 96), (96, 130)), ((1100,), (2, 300), (300, 1100))]),
    Sample(Linear, F.linear,
           [((7, 4), (5, 4), (5,)), ((2, 3, 4), (5, 4), None), ((4,), (5, 4), (5,)), ((1, 1), (1, 1), (1,)),
            ((0, 4), (5, 4), (5,)), ((3, 0), (5, 0), (5,)), (complexes(3, 4), complexes(5, 4), complexes(5))],
           threads=[((400, 96), (130, 96), (130,)), ((4, 100, 64), (64, 64), None)]),
    Sample(LinearOfEach, linear_of_each,
           [((3, 2, 4), (3, 5, 4), (3, 5)), ((2, 3, 4), (2, 5, 4), None), ((1, 2, 3), (1, 2, 3), (1, 2)),
            ((1, 1, 1), (1, 1, 1), (1, 1)), ((2, 0, 3), (2, 4, 3), None), ((0, 2, 3), (0, 4, 3), (0, 4))]),
    Sample(LinearBFloat16, linear_bfloat16,
           [((7, 4), (5, 4), (5,)), ((2, 1, 9), (5, 9), None), ((130,), (65, 130), (65,)), ((0, 4), (5, 4), (5,)),
            ((1, 1), (1, 1), (1,)), ((3, 0), (5, 0), (5,)), ((40, 100), (37, 100), (37,))],
           no_grad=(0, 1, 2), threads=[((400, 96), (130, 96), (130,)), ((3, 300), (1000, 300), None)]),
    Sample(LinearInt8, linear_int8,
           [((7, 4), int8s(5, 4), uniform(0.01, 1, 5), (5,)), ((2, 3, 9), int8s(5, 9), uniform(0.01, 1, 5), None),
            ((130,), int8s(65, 130), uniform(0.01, 1, 65), (65,)), ((0, 4), int8s(5, 4), uniform(0.01, 1, 5), (5,)),
            ((1, 1), int8s(1, 1), uniform(0.01, 1, 1), (1,)), ((3, 0), int8s(5, 0), uniform(0.01, 1, 5), (5,)),
            ((40, 100), int8s(37, 100), uniform(0.01, 1, 37), (37,))],
           no_grad=(0, 1, 2, 3), extremes=[(np.stack([np.roll(ROUGH, i) for i in range(9)]), int8s(6, len(ROUGH)),
                                           uniform(0.01, 1, 6), (6,))],
           threads=[((400, 96), int8s(130, 96), uniform(0.01, 1, 130), (130,)),
                    ((3, 300), int8s(1000, 300), uniform(0.01, 1, 1000), None)]),
    Sample(LinearBlocks, linear_blocks,
           [case((7, 64), blocks("q8_0", 5, 64), (5,), form="q8_0", size=64),
            case((2, 3, 40), blocks("q4_0", 5, 40), None, form="q4_0", size=40),
            case((544,), blocks("q4_0", 65, 544), (65,), form="q4_0", size=544),
            case((0, 32), blocks("q8_0", 5, 32), (5,), form="q8_0", size=32),
            case((1, 1), blocks("q8_0", 1, 1), (1,), form="q8_0", size=1),
            case((40, 100), blocks("q4_0", 37, 100), (37,), form="q4_0", size=100)],
           no_grad=(0, 1, 2), threads=[case((400, 96), blocks("q4_0", 130, 96), (130,), form="q4_0", size=96),
                                       case((3, 300), blocks("q8_0", 1000, 300), None, form="q8_0", size=300)]),
    Sample(EmbeddingBlocks, lambda w, ids, form, size: F.embedding(ids, numbers(w, form, size)),
           [case(blocks("q4_0", 10, 40), ints(10, 2, 7), form="q4_0", size=40),
            case(blocks("q8_0", 3, 32), ints(3, 9), form="q8_0", size=32),
            case(blocks("q8_0", 4, 33), ints(4, 0), form="q8_0", size=33),
            case(blocks("q8_0", 1, 1), ints(1, 1), form="q8_0", size=1)],
           no_grad=(0,), threads=[case(blocks("q4_0", 50, 70), ints(50, 8, 64), form="q4_0", size=70)]),
    # A gradient that leaves out a row or divides by a count is not the derivative: against the twin only, as extremes.
    Sample(Embedding, embedding,
           [((10, 4), ints(10, 2, 7)), ((3, 1), ints(3, 9)), ((4, 3), ints(4, 0)), ((1, 1), ints(1, 1)), ((5, 2), ints(5))],
           padding_idx=None, scale_grad_by_freq=False, threads=[((50, 33), ints(50, 8, 64))],
           extremes=[case((10, 4), ints(10, 2, 17), padding_idx=p, scale_grad_by_freq=f)
                     for p, f in [(3, False), (None, True), (0, True)]]),
    Sample(LayerNorm, layer_norm, NORMS, axes=1, eps=[1e-5, 1e-1], threads=[((257, 65), (65,), (65,))]),
    Sample(LayerNorm, layer_norm, [ONE_CHANNEL], axes=1, eps=[1e-5, 1e-1], no_grad=(0,)),
    Sample(GroupNorm, group_norm,
           [case((2, 6, 5), (6,), (6,), groups=3), case((3, 4, 2, 3), None, (4,), groups=1), case((2, 8), (8,), None, groups=2),
            case((1, 2, 2, 1, 3), None, None, groups=2), case((0, 4, 3), (4,), (4,), groups=2),
            case((2, 1, 5), (1,), (1,), groups=1)],
           eps=[1e-5, 1e-1], threads=[case((8, 12, 40, 41), (12,), (12,), groups=4), case((300, 70), (70,), (70,), groups=10)]),
    Sample(BatchMoments, batch_moments, [(4, 3), (2, 3, 5), (3, 2, 4, 6), (2, 2, 1, 3, 2), (1, 1), (0, 3), (40, 33)],
           threads=[(16, 20, 40, 41), (900, 70)]),
    Sample(BatchNorm, batch_norm,
           [of_channels(4, 3), of_channels(2, 3, 5, b=False), of_channels(3, 2, 4, 6, w=False), of_channels(0, 3, 2),
            of_channels(2, 2, 1, 3, 2, w=False, b=False), of_channels(1, 1), of_channels(40, 33)],
           eps=[1e-5, 1e-1], moving=False, threads=[of_channels(16, 20, 40, 41), of_channels(900, 70)],
           order=lambda x, w, b, mean, var, eps, moving: F.batch_norm(x, mean, var, w, b, False, 0, eps)),
    Sample(RMSNorm, rms_norm, [without_bias(item) for item in NORMS] + [case((1, 1), (1,), eps=1.0)], axes=1,
           eps=[1e-5, 1e-1], threads=[((257, 65), (65,))]),
    Sample(Dropout, lambda x, keep, p: x * keep / (1 - p),
           [((3, 4), bools(3, 4)), ((0, 4), bools(0, 4)), ((1,), bools(1)), ((2, 3, 4), bools(2, 3, 4))],
           p=[0.0, 0.1, 0.5], threads=[((257, 65), bools(257, 65))],
           extremes=[(WILD, bools(WILD.size, p=0.5)), (WILD[::-1].copy(), bools(WILD.size, p=0.3))]),
    Sample(Attention, attention, ATTENTION, order=pytorchs_attention,
           threads=[heads(3, 4, 2, 70, 90, 16, 16, keep=(3, 1, 70, 90), bias=(70, 90)),
                    heads(2, 2, 2, 130, 130, 32, 32, causal=0, drop=0.9, p=0.1, want_weights=True)]),
]  # fmt: skip
