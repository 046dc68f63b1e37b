"""What autocast does to the inputs of operations: products in 16 bits, losses and what needs range in float32.

The lists are those of PyTorch for the CPU. Other operations take what comes: a sum of bfloat16 and float32 is float32.
"""

from typing import Any

import numpy as np

from badak.core.modes import modes
from badak.kernels.half import BFLOAT16
from badak.ops import complex as complex_ops
from badak.ops import fourier, linalg, loss, mixed, recurrent, reduce
from badak.ops.attention import Attention
from badak.ops.conv import Conv, ConvTranspose
from badak.ops.einsum import Contract
from badak.ops.linear import AddMM, Linear
from badak.ops.matmul import MatMul
from badak.tensor import dtypes
from badak.tensor.convert import cast
from badak.tensor.dtypes import dtype as DType
from badak.tensor.tensor import Tensor

PRODUCTS = {Linear, AddMM, MatMul, Conv, ConvTranspose, Attention, Contract, recurrent.LSTM, recurrent.RNN}
FULL = {
    loss.CrossEntropy, loss.CrossEntropySoft, loss.NLL, loss.KLDiv, loss.MSE, loss.BCEWithLogits, reduce.Prod,
    complex_ops.Polar, linalg.Cholesky, linalg.Inverse, linalg.Pinv, linalg.QR, linalg.SVD, linalg.Eigh, linalg.Solve,
    fourier.Fourier, fourier.RealFourier, fourier.InverseRealFourier, recurrent.GRU,
}  # fmt: skip
NAMES = {  # functions of several operations that are computed in float32, and give it
    "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "cosine_embedding_loss", "hinge_embedding_loss",
    "margin_ranking_loss", "soft_margin_loss", "triplet_margin_loss", "multi_margin_loss", "poisson_nll_loss",
    "multilabel_margin_loss", "ctc_loss", "cdist", "quantile", "trace", "grid_sample",
}  # fmt: skip


MIXED = {  # operations that take float32 and bfloat16 as they come: what runs instead of them
    Linear: mixed.MixedLinear, AddMM: mixed.MixedAddMM, MatMul: mixed.MixedMatMul,
    loss.CrossEntropy: mixed.MixedCrossEntropy,
}  # fmt: skip
_MIXABLE = np.dtype(np.float32).char + BFLOAT16.char + np.dtype(np.int64).char  # int64: the labels of a loss


class Casting:
    """The operations and their inputs, as one block of autocast wants them. Parameters are cast once for the whole block."""

    def __init__(self, kind: DType, keep: bool = True) -> None:
        self.kind, self.keep = kind, keep
        self._mixed = MIXED if kind is dtypes.bfloat16 else {}
        self._kept: dict[int, tuple[Tensor, int, Tensor]] = {}  # id: (parameter, its count of changes, the same in 16 bits)

    def twin(self) -> "Casting":
        """One that begins where this one stands now."""
        made = Casting(self.kind, self.keep)
        made._kept = dict(self._kept)
        return made

    def __call__(self, op: Any, inputs: tuple) -> tuple[Any, tuple]:
        if op in self._mixed and not (op is loss.CrossEntropy and inputs[2] is not None):  # weights of classes
            for x in inputs:
                if x is not None and x._array.dtype.char not in _MIXABLE:
                    break
            else:
                return self._mixed[op], inputs
        if op in PRODUCTS:
            return op, tuple([self.lowered(x) for x in inputs])
        return (op, tuple([in_full(x) for x in inputs])) if op in FULL else (op, inputs)

    def lowered(self, x: Any) -> Any:
        """x in the 16-bit dtype, where it is a tensor of float32 or of another 16-bit dtype."""
        if x is None or x.dtype is self.kind or x.dtype not in (dtypes.float32, dtypes.float16, dtypes.bfloat16):
            return x
        if not (self.keep and x.requires_grad and x._node is None and x._whole is None):
            return cast(x, self.kind)
        version = x._watch().count
        found = self._kept.get(id(x))
        if found is None or found[1] != version or found[2]._array.shape != x._array.shape:
            found = self._kept[id(x)] = x, version, cast(x, self.kind)
        return found[2] if found[2].requires_grad or not modes.grad else cast(x, self.kind)


def in_full(x: Any) -> Any:
    """x, within autocast in float32 where it has 16 bits."""
    if modes.casting is None or not isinstance(x, Tensor) or x.dtype not in (dtypes.float16, dtypes.bfloat16):
        return x
    return cast(x, dtypes.float32)


def in_half(x: Any) -> Any:
    """x, within autocast in its 16-bit dtype."""
    return x if modes.casting is None else modes.casting.lowered(x)
