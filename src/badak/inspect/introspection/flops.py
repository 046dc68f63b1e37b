"""How many floating point operations an operation takes: two for each product and sum of a matrix product, none for the rest.

That is the field's convention, PyTorch's `torch.utils.flop_counter` too: what is done to each element by itself is not counted.
"""

import math
from collections.abc import Callable
from typing import Any

from badak.ops.attention import Attention
from badak.ops.conv import Conv, ConvTranspose
from badak.ops.einsum import Contract
from badak.ops.linear import AddMM, Linear
from badak.ops.matmul import MatMul
from badak.ops.mixed import MixedAddMM
from badak.ops.op import Op
from badak.ops.quantized import LinearBFloat16, LinearInt8
from badak.ops.recurrent import GRU, LSTM, RNN

# (FLOPs of the forward, those of the backward for each input that wants a gradient)
Count = tuple[int, dict[int, int]]


def _products(first: int, second: int, inner: Callable[..., int]) -> Callable[..., Count]:
    """A product of the inputs `first` and `second` that sums `inner` terms for each number of the result."""

    def count(inputs, outputs, attributes) -> Count:
        flops = 2 * outputs[0].size * inner(inputs)
        return flops, {first: flops, second: flops}

    return count


def _attention(inputs, outputs, attributes) -> Count:
    """q k^T and weights v, all T S scores of them also where a mask hides some, as PyTorch counts."""
    q, k, v = inputs[:3]
    B, H, T, D = q.shape
    scores, values = 2 * B * H * T * k.shape[2] * D, 2 * B * H * T * k.shape[2] * v.shape[3]
    return scores + values, {0: scores + values, 1: scores, 2: values}  # the gradient of the weights is counted with q's


def _transposed(inputs, outputs, attributes) -> Count:
    x, w = inputs[:2]
    flops = 2 * x.size * (w.size // max(w.shape[0], 1))
    return flops, {0: flops, 1: flops}


def _contract(inputs, outputs, attributes) -> Count:
    """Each number of the result is a sum over the letters that it lacks."""
    sizes = dict(zip(attributes["ta"], inputs[0].shape)) | dict(zip(attributes["tb"], inputs[1].shape))
    inner = [sizes[c] for c in attributes["ta"] if c in attributes["tb"] and c not in attributes["ty"]]
    flops = 2 * outputs[0].size * math.prod(inner) if inner else 0
    return flops, {0: flops, 1: flops}


def _recurrent(weight: int) -> Callable[..., Count]:
    def count(inputs, outputs, attributes) -> Count:
        T, B, _ = inputs[0].shape
        flops = 2 * T * B * inputs[weight].size
        return flops, {0: flops, weight: flops}

    return count


_COUNTS: dict[type[Op], Callable[..., Count]] = {
    Linear: _products(0, 1, lambda inputs: inputs[1].shape[-1]),
    LinearBFloat16: _products(0, 1, lambda inputs: inputs[1].shape[-1]),
    LinearInt8: _products(0, 1, lambda inputs: inputs[1].shape[-1]),
    AddMM: _products(1, 2, lambda inputs: inputs[1].shape[-1]),
    MixedAddMM: _products(1, 2, lambda inputs: inputs[1].shape[-1]),
    MatMul: _products(0, 1, lambda inputs: inputs[0].shape[-1]),
    Conv: _products(0, 1, lambda inputs: math.prod(inputs[1].shape[1:])),
    ConvTranspose: _transposed,
    Contract: _contract,
    Attention: _attention,
    LSTM: _recurrent(3),
    GRU: _recurrent(2),
    RNN: _recurrent(2),
}


def flops_of(op: type[Op], inputs: Any, outputs: Any, attributes: dict[str, Any], needs: tuple[bool, ...]) -> tuple[int, int]:
    """(forward, backward) of one run of an operation on these arrays; needs: which inputs want a gradient."""
    count = next((_COUNTS[cls] for cls in op.__mro__ if cls in _COUNTS), None)
    if count is None:
        return 0, 0
    forward, backward = count(inputs, outputs, attributes)
    return forward, sum(flops for number, flops in backward.items() if needs[number])
