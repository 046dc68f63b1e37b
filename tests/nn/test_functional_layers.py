"""linear, norms, embedding and padding as functions, against PyTorch."""

import numpy as np
import pytest
import torch

import badak
from badak import kernels
from badak.core.errors import DTypeError, IndexOutOfRangeError, ShapeError
from badak.nn import functional as F
from tests.compare import assert_close
from tests.nn.twins import agree, normal


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (0,)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear(lead, bias):
    arrays = [normal(0, *lead, 4), normal(1, 5, 4)] + [normal(2, 5)] * bias
    agree(lambda lib, x, w, b=None: lib.nn.functional.linear(x, w, b), *arrays)


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 0, 1), (0, 2, 1)], ids=str)
def test_linear_of_rows_in_another_order_of_memory(order):
    agree(
        lambda lib, x, w, b: lib.nn.functional.linear(x.permute(order), w, b).permute(1, 0, 2),
        normal(0, *(np.array([2, 3, 4])[np.argsort(order)])),
        normal(1, 5, 4),
        normal(2, 5),
    )


def test_linear_with_a_vector_of_weights():
    agree(lambda lib, x, w: lib.nn.functional.linear(x, w), normal(0, 3, 4), normal(1, 4))


def test_linear_names_the_sizes_that_clash():
    with pytest.raises(ShapeError) as caught:
        F.linear(badak.zeros(2, 3), badak.zeros(5, 4))
    assert str(caught.value) == (
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5): linear takes input (..., K) and weight (N, K); "
        "got input=(2, 3), weight=(5, 4)\nfix: Linear(3, 5), or an input whose last size is 4"
    )
    with pytest.raises(DTypeError, match="linear: expected one floating dtype; got weight=float64, input=float32"):
        F.linear(badak.zeros(2, 3), badak.zeros(5, 3, dtype=badak.float64))


def test_bilinear():
    agree(
        lambda lib, a, b, w, c: lib.nn.functional.bilinear(a, b, w, c),
        normal(0, 6, 3),
        normal(1, 6, 4),
        normal(2, 5, 3, 4),
        normal(3, 5),
    )


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(axes, affine):
    shape = (2, 3, 8)
    rest = shape[3 - axes :]
    arrays = [normal(0, *shape)] + [normal(1, *rest), normal(2, *rest)] * affine
    agree(lambda lib, x, w=None, b=None: lib.nn.functional.layer_norm(x, rest, w, b, 1e-3), *arrays)


@pytest.mark.parametrize("eps", [None, 1e-2])
def test_rms_norm(eps):
    agree(lambda lib, x, w: lib.nn.functional.rms_norm(x, (8,), w, eps), normal(0, 3, 8), normal(1, 8))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_rows_of_equal_numbers_are_no_noise(backend, dtype):
    for value in (0.1, -0.31622776, 1000.1, 3.3e6):
        for lib in (torch, badak):
            x = lib.full((2, 103), value, dtype=getattr(lib, dtype))
            with kernels.use(backend):
                y = lib.nn.functional.layer_norm(x, (103,), bias=lib.full((103,), 0.5, dtype=x.dtype), eps=1e-12)
                assert (y == 0.5).all() and (lib.nn.functional.group_norm(x[:, :96], 3, eps=1e-12) == 0).all()


def test_layer_norm_of_another_shape_is_refused():
    with pytest.raises(ShapeError) as caught:
        F.layer_norm(badak.zeros(2, 3), (4,))
    assert str(caught.value) == (
        "layer_norm: Given normalized_shape=[4], expected input with shape [*, 4], but got input of size [2, 3]\n"
        "fix: normalized_shape=(3,)"
    )


GROUPS = {
    "no groups": (lambda lib, x: lib.nn.functional.group_norm(x, -2), "num groups to be greater than 0, got -2"),
    "weights": (lambda lib, x: lib.nn.functional.group_norm(x, 2, lib.ones(3)), "weight to be a vector of size equal"),
    "bias": (lambda lib, x: lib.nn.functional.group_norm(x, 2, lib.ones(4), lib.ones(4, 1)), "bias to be a vector of size equal"),
    "a weight of another dtype": (lambda lib, x: lib.nn.functional.group_norm(x, 2, lib.ones(4).double()), "expect"),
}


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_norm_refuses_what_pytorch_refuses(name):
    call, words = GROUPS[name]
    for lib in (torch, badak):
        with pytest.raises(RuntimeError, match=words):
            call(lib, lib.ones(2, 4, 3))


@pytest.mark.parametrize("shape", [(2, 12), (2, 6, 5), (3, 6, 2, 2)])
def test_group_norm(shape):
    agree(
        lambda lib, x, w, b: lib.nn.functional.group_norm(x, 3, w, b),
        normal(0, *shape),
        normal(1, shape[1]),
        normal(2, shape[1]),
        units=256,
    )


@pytest.mark.parametrize("p, dim", [(2.0, 1), (1.0, 0), (3.0, -1)])
def test_normalize(p, dim):
    agree(lambda lib, x: lib.nn.functional.normalize(x, p, dim), normal(0, 3, 4))


def test_normalize_of_zeros_is_zero():
    assert not F.normalize(badak.zeros(2, 3)).numpy().any()


# ------------------------------------------------------------------ embedding

IDS = np.array([[1, 2, 2], [0, 4, 2]])


@pytest.mark.parametrize("options", [{}, {"padding_idx": 2}, {"padding_idx": -1}, {"scale_grad_by_freq": True}])
def test_embedding(options):
    agree(lambda lib, ids, w: lib.nn.functional.embedding(ids, w, **options), IDS, normal(0, 5, 3))


@pytest.mark.parametrize("norm_type", [2.0, 1.0])
def test_embedding_with_max_norm_shortens_the_rows_that_are_used(norm_type):
    w = 3 * normal(0, 5, 3)
    ours, theirs = badak.from_numpy(w.copy()).requires_grad_(), torch.from_numpy(w.copy()).requires_grad_()
    y = F.embedding(badak.from_numpy(IDS[:1]), ours, max_norm=1.0, norm_type=norm_type)
    expected = torch.nn.functional.embedding(torch.from_numpy(IDS[:1]), theirs.detach(), max_norm=1.0, norm_type=norm_type)
    np.testing.assert_allclose(y.detach().numpy(), expected.numpy(), rtol=1e-6)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-6)
    y.sum().backward()
    np.testing.assert_array_equal(ours.grad.numpy()[:, 0], [0, 1, 2, 0, 0])


def test_an_id_out_of_range_is_named_with_its_place():
    with pytest.raises(IndexOutOfRangeError) as caught:
        F.embedding(badak.tensor([[1, 10], [11, 0]]), badak.zeros(10, 4))
    assert str(caught.value) == (
        "embedding: input_ids[0, 1] = 10 but Embedding has 10 rows (0..9). max id 11; index out of range for 2 of 4 ids\n"
        "fix: vocab_size=12, or same tokenizer as in training"
    )
    with pytest.raises(IndexError, match="min id -100"):
        F.embedding(badak.tensor([-100]), badak.zeros(10, 4))


def test_ids_that_are_floats_are_refused():
    with pytest.raises(DTypeError, match="embedding: expected ids of dtype int64 or int32; got float32\nfix: ids.long()"):
        F.embedding(badak.zeros(3), badak.zeros(10, 4))


@pytest.mark.parametrize("num_classes", [-1, 7])
def test_one_hot(num_classes):
    agree(lambda lib, ids: lib.nn.functional.one_hot(ids, num_classes), IDS)


def test_one_hot_refuses_what_it_cannot_show():
    with pytest.raises(IndexOutOfRangeError, match="got id 4, num_classes=3\nfix: num_classes=5"):
        F.one_hot(badak.from_numpy(IDS), 3)
    with pytest.raises(IndexOutOfRangeError, match="must be non-negative; got -1"):
        F.one_hot(badak.tensor([-1]))


# ------------------------------------------------------------------ padding


@pytest.mark.parametrize("pads, mode, value", [
    ((1, 2), "constant", 0.5), ((-1, 2, 1, 0), "constant", None), ((0, 0, 2, 1), "constant", -1.0), ((1, 2), "reflect", None),
    ((2, 1), "replicate", None), ((1, 2), "circular", None),
])  # fmt: skip
def test_pad(pads, mode, value):
    agree(lambda lib, x: lib.nn.functional.pad(x, pads, mode, value), normal(0, 2, 3, 4))


@pytest.mark.parametrize("kernels_in_use", ["reference", "numba"])
@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("name", ["dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"])
@pytest.mark.parametrize("p", [0.5, 1.0])
def test_what_is_not_finite_is_dropped_as_in_pytorch(name, p, inplace, kernels_in_use):
    shape = {"dropout1d": (4, 3, 5), "dropout2d": (4, 3, 5, 2), "dropout3d": (4, 3, 5, 2, 2)}.get(name, (40, 7))
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    x.reshape(-1)[::3], x.reshape(-1)[1::7] = np.nan, -np.inf
    dy = np.where(np.random.default_rng(1).random(shape) < 0.3, np.nan, np.float32(2)).astype(np.float32)
    found = []
    for lib in (badak, torch):
        lib.manual_seed(3)
        leaf = lib.from_numpy(x.copy()).requires_grad_()
        with kernels.use(kernels_in_use):
            y = getattr(lib.nn.functional, name)(leaf * 1, p, True, inplace)
            y.backward(lib.from_numpy(dy))
        found.append((y, leaf.grad))
    for mine, theirs in zip(*found):
        assert_close(mine, theirs)
    assert np.isnan(found[0][0].detach().numpy()).sum() >= np.isnan(x).sum()


@pytest.mark.parametrize("ids", [[-1, 0], [5, 0]])
def test_embedding_with_max_norm_refuses_ids_before_it_shortens_rows(ids):
    table = badak.full((5, 3), 9.0)
    with pytest.raises(badak.core.errors.IndexOutOfRangeError, match="Embedding has 5 rows"):
        F.embedding(badak.tensor(ids), table, max_norm=1.0)
    assert bool((table == 9).all())


@pytest.mark.parametrize("shape", [(2, 0, 6), (0, 6)])
def test_a_convolution_of_no_channels_has_none_as_pytorchs(shape):
    found = []
    for lib in (badak, torch):
        x, w, b = (lib.ones(*each, requires_grad=True) for each in (shape, (8, 0, 3), (8,)))
        y = lib.nn.functional.conv1d(x, w, b, padding=1, stride=2)
        y.sum().backward()
        found.append((tuple(y.shape), tuple(x.grad.shape), tuple(w.grad.shape), b.grad.tolist()))
    assert found[0] == found[1]
    for lib in (badak, torch):
        with pytest.raises(RuntimeError, match="expected weight to be at least 1 at dimension 0"):
            lib.nn.functional.conv_transpose1d(lib.ones(2, 0, 6), lib.ones(0, 8, 3))
