"""Parameters of 16 bits: an update is computed in float32, and parameters and memory are rounded once."""

import numpy as np
import pytest

import badak
from badak import optim

KINDS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD"]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_that_of_float32_rounded_once(kind, dtype):
    rng, half = np.random.default_rng(0), getattr(badak, dtype)
    start, gradient = (badak.from_numpy(rng.standard_normal((5, 3)).astype(np.float32)).to(half) for _ in range(2))
    narrow, wide = badak.nn.Parameter(start.clone()), badak.nn.Parameter(start.float())
    for p in (narrow, wide):
        p.grad = gradient.to(p.dtype)
        getattr(optim, kind)([p], lr=2.0**-7).step()
    assert narrow.dtype is half
    assert narrow.detach().equal(wide.detach().to(half))


@pytest.mark.parametrize("kind", KINDS)
def test_memory_has_the_parameters_dtype(kind):
    p = badak.nn.Parameter(badak.ones(4, dtype=badak.bfloat16))
    p.grad = badak.ones(4, dtype=badak.bfloat16)
    optimizer = getattr(optim, kind)([p], lr=0.01)
    optimizer.step()
    assert {x.dtype for x in optimizer.state[p].values() if badak.is_tensor(x) and x.shape == p.shape} <= {badak.bfloat16}
