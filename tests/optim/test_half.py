"""16-bit Parameters: an update is computed in float32, and parameters and memory are rounded once."""

import numpy as np
import pytest
import torch

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


def trained(library, clip, kind, **settings):
    """The 16-bit parameters after ten steps, in float32, and the norms that were clipped."""
    rng, norms = np.random.default_rng(0), []
    shapes = (40, 33), (7,), (129,), (200, 100)
    half = lambda shape: library.tensor(rng.standard_normal(shape).astype(np.float32)).to(library.bfloat16)
    params = [library.nn.Parameter(half(shape)) for shape in shapes]
    optimizer = getattr(library.optim, kind)(params, lr=0.01, **settings)
    for _ in range(10):
        for p, shape in zip(params, shapes):
            p.grad = half(shape)
        if clip:
            norms.append(float(library.nn.utils.clip_grad_norm_(params, clip)))
        optimizer.step()
    return [np.array(p.detach().float().tolist(), np.float32) for p in params], norms


@pytest.mark.parametrize("kind", ["Adam", "AdamW"])
def test_the_same_bits_as_pytorchs_fused_optimizer(kind):
    (made, _), (wanted, _) = trained(badak, 0, kind), trained(torch, 0, kind, fused=True)
    assert all(np.array_equal(x, y) for x, y in zip(made, wanted))


def test_clipping_is_that_of_pytorch_but_for_its_roundings():
    """PyTorch rounds the norm of each tensor and the factor, too."""
    (made, norms), (wanted, theirs) = trained(badak, 1.0, "SGD"), trained(torch, 1.0, "SGD")
    assert np.allclose(norms, theirs, rtol=2.0**-7, atol=0)
    assert all(np.allclose(x, y, rtol=2.0**-7, atol=2.0**-14) for x, y in zip(made, wanted))


@pytest.mark.parametrize("p", [2.0, np.inf])
def test_clipping_is_computed_in_float32_and_rounded_once(p):
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in ((300, 200), (5,))]
    params = [badak.nn.Parameter(badak.zeros(*x.shape, dtype=badak.bfloat16)) for x in arrays]
    for param, x in zip(params, arrays):
        param.grad = badak.from_numpy(x).to(badak.bfloat16)
    exact = [np.array(param.grad.float().tolist(), np.float32) for param in params]
    norm = badak.nn.utils.clip_grad_norm_(params, 1.0, p)
    whole = np.linalg.norm(np.concatenate([x.ravel() for x in exact]).astype(np.float64), p)
    assert norm.dtype is badak.bfloat16 and abs(float(norm) - whole) <= 2.0**-8 * whole
    for param, x in zip(params, exact):
        wanted = badak.from_numpy(x * np.float32(1 / (float(norm) + 1e-6))).to(badak.bfloat16)
        assert np.allclose(param.grad.float().tolist(), wanted.float().tolist(), rtol=2.0**-8, atol=0)


def test_a_compiled_step_of_16_bits_has_the_bits_of_the_eager_one():
    rng = np.random.default_rng(0)
    x = badak.from_numpy(rng.standard_normal((8, 32)).astype(np.float32)).bfloat16()
    found = []
    for wrap in (lambda f: f, badak.compile):
        badak.manual_seed(0)
        model = badak.nn.Linear(32, 16).bfloat16()
        optimizer = optim.AdamW(model.parameters(), lr=0.01)

        def step(x, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = model(x).float().square().mean()
            loss.backward()
            badak.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            return loss

        run = wrap(step)
        found.append([run(x).item() for _ in range(6)] + [p.detach().float().tolist() for p in model.parameters()])
    assert found[0] == found[1]
