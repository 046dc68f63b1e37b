"""Modules of 16-bit weights: computed in float32, rounded once, with PyTorch's dtypes forward and backward."""

import numpy as np
import pytest
import torch

import badak as bk
from tests.tiers import looped

EPS = {"bfloat16": 2**-8, "float16": 2**-11}
LAYERS = {
    "Linear": (lambda nn: nn.Linear(8, 3), (4, 8)),
    "RMSNorm": (lambda nn: nn.RMSNorm(8), (4, 8)),
    "LayerNorm": (lambda nn: nn.LayerNorm(8), (4, 8)),
    "GELU": (lambda nn: nn.GELU(), (4, 8)),
    "SiLU": (lambda nn: nn.SiLU(), (4, 8)),
    "Tanh": (lambda nn: nn.Tanh(), (4, 8)),
    "Dropout": (lambda nn: nn.Dropout(0.5), (4, 8)),
    "Conv2d": (lambda nn: nn.Conv2d(2, 3, 3), (1, 2, 5, 5)),
    "ConvTranspose1d": (lambda nn: nn.ConvTranspose1d(4, 3, 2), (1, 4, 8)),
    "GRU": (lambda nn: nn.GRU(8, 4, batch_first=True), (2, 3, 8)),
    "TransformerEncoderLayer": (lambda nn: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), (2, 4, 8)),
    "Sequential": (lambda nn: nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 3)), (4, 8)),
}


@pytest.mark.filterwarnings("ignore")
@looped(dtype=EPS)
@pytest.mark.parametrize("name", LAYERS)
def test_sixteen_bit_models_keep_their_dtype(name, dtype):
    make, shape = LAYERS[name]
    rng = np.random.default_rng(0)
    x, weights, found = rng.standard_normal(shape).astype(np.float32), rng.standard_normal(100).astype(np.float32), []
    for lib in (bk, torch):
        lib.manual_seed(0)
        model, kind = make(lib.nn).to(getattr(lib, dtype)), getattr(lib, dtype)
        lib.manual_seed(1)
        given = lib.from_numpy(x.copy()).to(kind).requires_grad_()
        y = model(given)
        y = y[0] if isinstance(y, tuple) else y
        (y.flatten()[:100].float() * lib.from_numpy(weights)[: y.numel()]).sum().backward()
        leaves = [given, *model.parameters()]
        assert {y.dtype, *(leaf.grad.dtype for leaf in leaves)} == {kind}
        found.append([z.detach().float().numpy() for z in (y, *(leaf.grad for leaf in leaves))])
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=EPS[dtype] * 16 * max(1.0, np.abs(theirs).max()))


@pytest.mark.parametrize("kernel_set", ["reference", "numba"])
def test_norms_of_bfloat16_beside_parameters_in_float32_sum_their_gradients_in_float32(kernel_set):
    x, w, b = (bk.randn(*shape, generator=bk.Generator().manual_seed(3)) for shape in ((37, 64), (64,), (64,)))
    dy = bk.randn(37, 64).bfloat16()
    for norm, parameters in (
        (lambda x, w, b: bk.nn.functional.layer_norm(x, (64,), w, b), (w, b)),
        (lambda x, b: bk.nn.functional.layer_norm(x, (64,), None, b), (b,)),
        (lambda x, w: bk.nn.functional.rms_norm(x, (64,), w, 1e-5), (w,)),
    ):
        found = []
        for dtype in (bk.bfloat16, bk.float32):
            with bk.kernels.use(kernel_set):
                inputs = [x.bfloat16().to(dtype), *parameters]
                inputs = [each.detach().clone().requires_grad_() for each in inputs]
                y = norm(*inputs)
                y.backward(dy.to(dtype))
            assert [each.grad.dtype for each in inputs] == [dtype, *[bk.float32] * len(parameters)] and y.dtype == dtype
            found.append([each.grad.float() for each in inputs[1:]])
        for half, full in zip(*found):
            np.testing.assert_allclose(half.numpy(), full.numpy(), rtol=1e-5, atol=1e-5)
