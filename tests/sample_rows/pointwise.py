"""Rows of the pointwise operations, made of what each declares (`Samples` in ops/pointwise.py).

The twin is PyTorch's function of that name.
"""

import numpy as np
import torch
import torch.nn.functional as F

from badak.ops.pointwise import DECLARED, Pointwise
from badak.tensor.pointwise import FUNCTIONS  # noqa: F401  (every file that has rows is imported)
from tests.samples import EXTREME, Sample

SHAPES = [(3, 4), (0, 5), (1,), (), (33,)]
PAIRS = [((2, 3), (3,)), ((2, 1), (1, 4)), ((0, 3), (1, 3)), ((), (2,)), ((1,), (1,))]
OF_KERNELS, BIG = [(3, 5), (2, 3, 4), (0, 4), (1,), (33,)], [(257, 65), (70_000,)]
SMALL = np.array([0.0, -0.0, 1.0, -1.0, 1e-30, 30.0, -30.0, np.nan])
FINITE = EXTREME[~(np.abs(EXTREME) > 1e29)]  # and not a number
NAMED = {"all": EXTREME, "finite": FINITE, "small": SMALL, "pairs of all": (EXTREME, EXTREME[::-1].copy())}


def twin(op: type[Pointwise]):
    """PyTorch's function: by the public name, or by that of the operation."""
    for name in (*op.names, *op.special, op.name.replace("_", ""), op.name):
        for space in (torch, torch.special, F):
            if callable(getattr(space, name, None)):
                return getattr(space, name)
    raise AssertionError(f"PyTorch has no {op.__name__}")


TWINS = {"Sign": torch.sign, "ELU": torch.ops.aten.elu, "Polygamma": lambda x, n: torch.polygamma(n, x),
         "PReLU": lambda a, b: torch.where(a > 0, a, a * b)}  # fmt: skip


class Sloped(torch.autograd.Function):
    """PyTorch's function with a slope that it has not."""

    @staticmethod
    def forward(ctx, x, function, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope
        return function(x)

    @staticmethod
    def backward(ctx, dy):
        return dy * ctx.slope(torch, *ctx.saved_tensors), None, None


def special(values):
    if isinstance(values, str):
        return NAMED[values]
    return tuple(map(np.array, values)) if isinstance(values[0], tuple) else np.array(values)


def row(op: type[Pointwise]) -> Sample:
    tested = op.samples
    assert tested is not None
    function, slope = TWINS.get(op.__name__) or twin(op), tested.slope
    return Sample(
        op,
        function if slope is None else lambda x: Sloped.apply(x, function, slope),
        PAIRS if len(op.inputs) == 2 else OF_KERNELS if op.supports_bf16 else SHAPES,
        domain=tested.domain,
        extremes=[special(values) for values in tested.extremes],
        extremes_backward=tested.extremes_backward,
        slack=tested.slack,
        threads=([(size,) * len(op.inputs) for size in BIG] if len(op.inputs) > 1 else BIG) if op.capturable else (),
        **tested.attributes,
    )


ROWS = [row(op) for op in DECLARED.values() if op.samples is not None]
