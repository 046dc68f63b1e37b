"""autocast on the CPU: the same dtypes as PyTorch, operation by operation, and a model trained with it."""

import numpy as np
import pytest
import torch

import badak


def _product(lib, g):
    return g(2, 3) @ g(3, 2)


CALLS = {
    "linear": lambda lib, g: lib.nn.functional.linear(g(2, 3), g(4, 3), g(4)),
    "matmul": _product,
    "bmm": lambda lib, g: lib.bmm(g(1, 2, 3), g(1, 3, 2)),
    "addmm": lambda lib, g: lib.addmm(g(2), g(2, 3), g(3, 2)),
    "baddbmm": lambda lib, g: lib.baddbmm(g(1, 2, 2), g(1, 2, 3), g(1, 3, 2)),
    "einsum": lambda lib, g: lib.einsum("ij,jk->ik", g(2, 3), g(3, 2)),
    "conv1d": lambda lib, g: lib.nn.functional.conv1d(g(1, 2, 5), g(3, 2, 2)),
    "conv2d": lambda lib, g: lib.nn.functional.conv2d(g(1, 2, 5, 5), g(3, 2, 2, 2)),
    "attention": lambda lib, g: lib.nn.functional.scaled_dot_product_attention(g(1, 2, 3, 4), g(1, 2, 3, 4), g(1, 2, 3, 4)),
    "prelu": lambda lib, g: lib.nn.functional.prelu(g(2, 3), g(3)),
    "vecdot": lambda lib, g: lib.linalg.vecdot(g(3), g(3)),
    "softmax": lambda lib, g: lib.nn.functional.softmax(g(2, 3), -1),
    "layer_norm": lambda lib, g: lib.nn.functional.layer_norm(g(2, 3), (3,)),
    "gelu": lambda lib, g: lib.nn.functional.gelu(g(2)),
    "batch_norm": lambda lib, g: lib.nn.functional.batch_norm(g(2, 3), None, None, training=True),
    "embedding": lambda lib, g: lib.nn.functional.embedding(lib.tensor([0]), g(2, 3)),
    "sum": lambda lib, g: g(3).sum(),
    "prod": lambda lib, g: g(3).prod(),
    "exp": lambda lib, g: g(3).exp(),
    "add": lambda lib, g: g(3) + lib.ones(3),
    "cat": lambda lib, g: lib.cat([g(3), lib.ones(3)]),
    "max_pool2d": lambda lib, g: lib.nn.functional.max_pool2d(g(1, 2, 4, 4), 2),
    "max_pool3d": lambda lib, g: lib.nn.functional.max_pool3d(g(1, 2, 4, 4, 4), 2),
    "adaptive_avg_pool3d": lambda lib, g: lib.nn.functional.adaptive_avg_pool3d(g(1, 2, 4, 4, 4), 2),
    "pad reflect": lambda lib, g: lib.nn.functional.pad(g(1, 2, 4), (1, 1), mode="reflect"),
    "pad circular": lambda lib, g: lib.nn.functional.pad(g(1, 2, 4), (1, 1), mode="circular"),
    "cross_entropy": lambda lib, g: lib.nn.functional.cross_entropy(g(2, 3), lib.tensor([0, 1])),
    "mse_loss": lambda lib, g: lib.nn.functional.mse_loss(g(3), g(3)),
    "l1_loss": lambda lib, g: lib.nn.functional.l1_loss(g(3), g(3)),
    "huber_loss": lambda lib, g: lib.nn.functional.huber_loss(g(3), g(3)),
    "bce": lambda lib, g: lib.nn.functional.binary_cross_entropy_with_logits(g(3), g(3)),
    "kl_div": lambda lib, g: lib.nn.functional.kl_div(g(2, 3), g(2, 3), reduction="sum"),
    "trace": lambda lib, g: g(2, 2).trace(),
    "cdist": lambda lib, g: lib.cdist(g(2, 3), g(2, 3)),
    "quantile": lambda lib, g: g(5).quantile(0.5),
    "fft": lambda lib, g: lib.fft.fft(g(4)),
    "normalize": lambda lib, g: lib.nn.functional.normalize(g(2, 2)),
    "float64": lambda lib, g: g(2, 3).double() @ g(3, 2).double(),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("given", ["float32", "bfloat16"])
def test_operations_give_the_dtypes_that_pytorch_gives(name, given):
    found = []
    for lib in (torch, badak):
        rng = np.random.default_rng(0)

        def g(*shape, lib=lib, rng=rng):
            return lib.from_numpy(rng.random(shape).astype(np.float32) / 2 + 0.25).to(getattr(lib, given))

        with lib.autocast("cpu", dtype=lib.bfloat16):
            y = CALLS[name](lib, g)
        found.append((str(y.dtype).split(".")[1], (abs(y) if y.is_complex() else y).float().numpy()))
    assert found[1][0] == found[0][0]
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=2**-6, atol=1e-2)


def trained(lib) -> list[float]:
    """The losses of ten steps, and the dtypes of gradients and results."""
    lib.manual_seed(0)
    nn = lib.nn
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))
    optimizer = lib.optim.AdamW(model.parameters(), lr=1e-2)
    x, target = lib.randn(12, 8), lib.randint(0, 4, (12,))
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        with lib.autocast("cpu"):
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, target)
        assert (logits.dtype, loss.dtype) == (lib.bfloat16, lib.float32)
        loss.backward()
        assert all(p.grad.dtype is lib.float32 for p in model.parameters())
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_model_trains_as_with_pytorch():
    ours, theirs = trained(badak), trained(torch)
    np.testing.assert_allclose(ours, theirs, rtol=2**-6)  # logits are off by a unit of bfloat16 here and there
    assert ours[-1] < ours[0] / 1.5


def test_blocks_nest_and_end():
    x = badak.ones(2, 2)
    with badak.autocast("cpu"):
        assert badak.is_autocast_enabled("cpu") and (x @ x).dtype is badak.bfloat16
        with badak.autocast("cpu", enabled=False):
            assert (x @ x).dtype is badak.float32
        with badak.autocast("cpu", dtype=badak.float16):
            assert (x @ x).dtype is badak.float16 and badak.get_autocast_dtype("cpu") is badak.float16
        with badak.autocast("cuda"), badak.cuda.amp.autocast():
            assert (x @ x).dtype is badak.bfloat16 and not badak.is_autocast_enabled()
    assert (x @ x).dtype is badak.float32 and not badak.is_autocast_enabled("cpu")
    assert badak.autocast("cpu")(lambda: x @ x)().dtype is badak.bfloat16
    assert badak.get_autocast_dtype("cpu") is badak.bfloat16


def test_a_weight_changed_within_the_block_is_cast_anew():
    w = badak.nn.Parameter(badak.ones(2, 2))
    with badak.autocast("cpu"):
        before = (w @ w).detach()
        with badak.no_grad():
            w.mul_(3)
        after = w @ w
    assert before[0, 0] == 2 and after[0, 0] == 18


def test_compiled_steps_run_as_they_are_within_a_block():
    m = badak.nn.Linear(3, 2)
    step = badak.compile(lambda x: m(x).detach())
    x = badak.ones(4, 3)
    for _ in range(4):
        assert step(x).dtype is badak.float32
        with badak.autocast("cpu"):
            assert step(x).dtype is badak.bfloat16


def test_autocast_without_a_block():
    found = []
    for lib in (badak, torch):
        x, words = lib.ones(2, 2), []
        lib.set_autocast_enabled("cpu", True)
        lib.set_autocast_dtype("cpu", lib.float16)
        try:
            words += [
                (x @ x).dtype,
                lib.is_autocast_enabled("cpu"),
                lib.get_autocast_dtype("cpu"),
                lib.autocast_increment_nesting(),
            ]
            with lib.autocast("cpu"):
                words.append((x @ x).dtype)
            words += [lib.is_autocast_enabled("cpu"), lib.autocast_decrement_nesting()]
        finally:
            lib.set_autocast_enabled("cpu", False)
            lib.set_autocast_dtype("cpu", lib.bfloat16)
        found.append([str(word).rpartition(".")[2] for word in [*words, (x @ x).dtype]])
    assert found[0] == found[1]
