"""Inverted dropout with a given mask."""

from badak import kernels
from badak.ops.batching import stacked
from badak.ops.op import Op


class Dropout(Op):
    """y = x keep / (1 - p);   dx = dy keep / (1 - p).    keep bool of x's shape, True = kept."""

    capturable = True
    supports_bf16 = True
    keeps_finite = True
    batching = staticmethod(stacked)

    @staticmethod
    def forward(save, x, keep, p):
        save.keep, save.p = keep, p
        return kernels.of(x).dropout(x, keep, p)

    @staticmethod
    def backward(saved, dy):
        return kernels.of(dy).dropout(dy, saved.keep, saved.p), None
