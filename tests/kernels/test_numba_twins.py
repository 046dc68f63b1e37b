"""Every fast kernel against its reference twin, which is its meaning: values to rounding, inputs as they were."""

import inspect

import numpy as np
import pytest

from badak.core.errors import IndexOutOfRangeError
from badak.kernels import reference
from tests.kernels.twin import DTYPES, assert_close, fast_kernels, normal, strided
from tests.tiers import looped

fast = fast_kernels()

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
SHAPES = [(0,), (1,), (7,), (3, 0), (1, 1), (2, 3, 8), (5, 333), (2, 20_000)]
ODD = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 88.5, -104.0, 1e-20, 1e20, 1e-3, -0.62, 0.63])
ALL = (True, True, True)


def copied(values):
    """Contiguous copies: NumPy's sums are less exact along an axis with gaps, and the twin is to be the exact one."""
    return [np.array(x, order="C") if isinstance(x, np.ndarray) else x for x in values]


def agree(name, *arguments, units=18.0, scale=None, **options):
    """fast.name and reference.name of the same arguments: equal to rounding, dtype and shape; gives the reference results."""
    before = copied(arguments)
    with np.errstate(all="ignore"):
        found, expected = getattr(fast, name)(*arguments, **options), getattr(reference, name)(*before, **options)
    for x, as_it_was in zip(arguments, before):
        if isinstance(x, np.ndarray):
            np.testing.assert_array_equal(x, as_it_was)
    found, expected = (x if isinstance(x, tuple) else (x,) for x in (found, expected))
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert_close(one, other, units, scale)
    return expected[0] if len(expected) == 1 else expected


def layouts(x):
    """The array as it is, with gaps, transposed in memory, and read-only."""
    locked = x.copy()
    locked.flags.writeable = False
    return [x, strided(x), np.asfortranarray(x), locked]


def test_every_fast_kernel_has_the_signature_of_its_twin():
    names = [name for name, value in vars(reference).items() if inspect.isfunction(value)]
    assert names
    for name in names:
        assert list(inspect.signature(getattr(fast, name)).parameters) == list(
            inspect.signature(getattr(reference, name)).parameters
        )


@each_dtype
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_activations(shape, dtype):
    dy = normal(1, *shape, dtype=dtype)
    for x in layouts(3 * normal(0, *shape, dtype=dtype)):
        for approximate in ("none", "tanh"):
            agree("gelu", x, approximate)
            agree("gelu_backward", dy, x, approximate, units=64)  # 1 - tanh^2 cancels, times up to 30
        y = agree("tanh", x)
        agree("tanh_backward", dy, y)
        agree("relu_backward", dy, agree("relu", x))
        agree("sigmoid_backward", dy, agree("sigmoid", x))
        agree("silu", x)
        agree("silu_backward", dy, x)


@each_dtype
def test_activations_pass_on_infinities_and_nan(dtype):
    x = np.tile(ODD.astype(dtype), 3)
    dy = np.ones_like(x)
    for name in ("relu", "sigmoid", "silu", "tanh"):
        agree(name, x, scale=1)
    for approximate in ("none", "tanh"):
        agree("gelu", x, approximate, scale=1)
        agree("gelu_backward", dy, x, approximate, scale=1)


def test_small_results_keep_their_digits():
    """Relative, not absolute, closeness: tanh near 0, sigmoid and GELU far below it, exp inside softmax."""
    x = np.concatenate([-np.logspace(-8, 0.8, 200), np.logspace(-8, 0.8, 200)]).astype(np.float32)
    exact = x.astype(np.float64)
    for name in ("tanh", "sigmoid", "silu"):
        np.testing.assert_allclose(getattr(fast, name)(x), getattr(reference, name)(exact), rtol=1e-6)
    np.testing.assert_allclose(fast.gelu(x, "tanh"), reference.gelu(exact, "tanh"), rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(fast.gelu(x, "none"), reference.gelu(exact, "none"), rtol=4e-6, atol=1e-12)
    np.testing.assert_allclose(fast.softmax(np.stack([x, 0 * x], -1))[:, 0], reference.sigmoid(exact), rtol=1e-6)


@each_dtype
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_dropout_and_squared_error(shape, dtype):
    x, target = normal(0, *shape, dtype=dtype), normal(1, *shape, dtype=dtype)
    keep = np.random.default_rng(2).random(shape) < 0.7
    for one, mask in zip(layouts(x), layouts(keep)):
        for p in (0.0, 0.3, 1.0):
            np.testing.assert_array_equal(fast.dropout(one, mask, p), reference.dropout(one, mask, p))
        agree("mse", one, target)
        agree("mse_backward", target, one, target[::-1])


@each_dtype
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[-1] > 0], ids=str)
def test_softmax(shape, dtype):
    x, dy = 3 * normal(0, *shape, dtype=dtype), normal(1, *shape, dtype=dtype)
    for one in layouts(x):
        agree("softmax", one)
        agree("log_softmax", one)
    agree("softmax_backward", dy, reference.softmax(x), scale=1)
    agree("log_softmax_backward", dy, reference.log_softmax(x), units=64, scale=10)


@each_dtype
def test_softmax_of_masked_and_broken_rows(dtype):
    inf, nan = np.inf, np.nan
    x = np.array([[-inf, 1, 2], [-inf, -inf, -inf], [nan, 1, 2], [inf, 1, 2], [1e30, -1e30, 0]], dtype)
    agree("softmax", x)
    agree("log_softmax", x)


@each_dtype
@looped(shape=[s for s in SHAPES if len(s) > 1 and s[-1] != 1])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("eps", [1e-5, 1e-1])
def test_norms(shape, affine, eps, dtype):
    x, dy = normal(0, *shape, dtype=dtype) + 2, normal(1, *shape, dtype=dtype)
    w, b = (normal(2, shape[-1], dtype=dtype), normal(3, shape[-1], dtype=dtype)) if affine else (None, None)
    for one in layouts(x):
        _, mean, rstd = agree("layer_norm", one, w, b, eps)
        agree("layer_norm_backward", dy, one, w, mean, rstd, ALL, units=64, scale=10)
        _, rstd = agree("rms_norm", one, w, eps)
        agree("rms_norm_backward", dy, one, w, rstd, ALL[:2], units=64, scale=10)
    assert [g is None for g in fast.layer_norm_backward(dy, x, w, mean, rstd, (False, True, False))] == [
        True,
        False,
        True,
    ]


@each_dtype
def test_norms_of_a_row_of_one_channel_or_none(dtype):
    for shape in ((3, 1), (3, 0), (0, 4)):
        x = normal(0, *shape, dtype=dtype)
        agree("layer_norm", x, None, None, 1e-5, scale=1)
        agree("rms_norm", x, None, 1e-5, scale=1)


@each_dtype
@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 4), (4, 5)),
        ((1, 1), (1, 1)),
        ((0, 4), (4, 3)),
        ((2, 0), (0, 3)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((7, 8), (2, 3, 8, 2)),
        ((2, 2, 2, 3, 4), (2, 1, 2, 4, 3)),
        ((130, 70), (70, 515)),
        ((4, 130, 20), (20, 33)),
        ((1, 300), (300, 1)),
    ],
    ids=str,
)
def test_matmul_reads_matrices_in_any_layout(shapes, dtype):
    a, b = normal(0, *shapes[0], dtype=dtype), normal(1, *shapes[1], dtype=dtype)
    for left, right in zip([*layouts(a), a[..., ::-1, :]], [*layouts(b), b[..., ::-1]]):
        agree("matmul", left, right, scale=np.sqrt(a.shape[-1]))
    turned = np.ascontiguousarray(b.swapaxes(-1, -2)).swapaxes(-1, -2)
    agree("matmul", a, turned, scale=np.sqrt(a.shape[-1]))


@each_dtype
@pytest.mark.parametrize(
    "lead, k, n", [((), 5, 3), ((0,), 3, 4), ((2, 3), 0, 3), ((1,), 1, 1), ((2, 350), 40, 130), ((2, 500), 40, 30), ((6,), 64, 900)]
)
@pytest.mark.parametrize("bias", [True, False])
def test_linear_and_its_gradients(lead, k, n, bias, dtype):
    x, w = normal(0, *lead, k, dtype=dtype), normal(1, n, k, dtype=dtype)
    b, dy = normal(2, n, dtype=dtype) if bias else None, normal(3, *lead, n, dtype=dtype)
    for i in range(4):
        one, weight, gradient = layouts(x)[i], layouts(w)[i], layouts(dy)[i]
        agree("linear", one, weight, b, units=32, scale=np.sqrt(max(k, 1)))
        agree("linear_backward", gradient, one, weight, (True, True, bias), units=64, scale=np.sqrt(n + x.size))
    agree("linear_backward", dy, x, w, (False, True, False), units=64, scale=np.sqrt(n + x.size))


@each_dtype
@pytest.mark.parametrize("rows, channels, ids", [(10, 4, (2, 3)), (1, 1, (5,)), (50, 300, (7, 11)), (5, 3, (0,)), (6, 0, (2,))])
@pytest.mark.parametrize("options", [{}, {"padding_idx": 0}, {"scale_grad_by_freq": True}], ids=str)
def test_embedding_and_its_gradient(rows, channels, ids, options, dtype):
    ids = np.random.default_rng(0).integers(0, rows, ids)
    w, dy = normal(1, rows, channels, dtype=dtype), normal(2, *ids.shape, channels, dtype=dtype)
    for table, index in zip(layouts(w), [ids, ids.astype(np.int32), strided(ids)]):
        agree("embedding", table, index, units=0)
    for gradient in layouts(dy):
        agree("embedding_backward", gradient, ids, rows, units=32, **options)


def test_ids_outside_the_table_are_refused_before_memory_is_touched():
    with pytest.raises(IndexOutOfRangeError) as caught:
        fast.embedding(np.zeros((4, 2), np.float32), np.array([1, 7]))
    assert str(caught.value).startswith("embedding: expected ids in 0 .. 3; got ids from 1 to 7")
    with pytest.raises(IndexOutOfRangeError, match="got ids from -1 to 2\nfix: ids from 0"):
        fast.embedding(np.zeros((4, 2), np.float32), np.array([2, -1]))
    with pytest.raises(IndexOutOfRangeError):
        fast.cross_entropy(np.zeros((2, 3), np.float32), np.array([0, 3]))


@each_dtype
@pytest.mark.parametrize("n, classes", [(0, 3), (1, 1), (6, 5), (9, 1000), (40, 513)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy(n, classes, weighted, smoothing, dtype):
    logits, dloss = 3 * normal(0, n, classes, dtype=dtype), normal(1, n, dtype=dtype)
    target = np.random.default_rng(2).integers(0, classes, n)
    target[1:2] = -100
    weight = np.abs(normal(3, classes, dtype=dtype)) if weighted else None
    for one in layouts(logits):
        _, lse = agree("cross_entropy", one, target, weight, -100, smoothing, scale=10)
        agree("cross_entropy_backward", dloss, one, target, lse, weight, -100, smoothing, scale=1)


@each_dtype
def test_cross_entropy_far_from_zero_keeps_its_digits(dtype):
    logits = normal(0, 4, 50, dtype=dtype) + dtype(10_000)
    _, lse = agree("cross_entropy", logits, np.arange(4))
    agree("cross_entropy_backward", np.ones(4, dtype), logits, np.arange(4), lse, None, -100, 0.0, scale=1)


@each_dtype
def test_log_softmax_far_from_zero_keeps_its_digits(dtype):
    """x - max is rounded first; x - (max + log sum) would lose the digits of the log of the sum."""
    x = normal(0, 5, 300, dtype=dtype)
    np.testing.assert_allclose(
        fast.log_softmax(x + dtype(10_000)),
        reference.log_softmax((x + dtype(10_000)).astype(np.float64)),
        rtol=32 * np.finfo(dtype).eps,
    )


@each_dtype
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_running_sums_are_the_same_bits(shape, dtype):
    for x in layouts(normal(0, *shape, dtype=dtype)):
        agree("cumsum", x, units=0)
    zeros = np.full(shape, -0.0, dtype)
    np.testing.assert_array_equal(np.signbit(fast.cumsum(zeros)), np.signbit(reference.cumsum(zeros)))
