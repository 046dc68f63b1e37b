"""The meta device: every public function gives there the shape, dtype and strides that it gives with memory, or says it cannot."""

import pickle

import pytest
import torch

import badak
from badak import nn
from badak.core.errors import NoDataError
from badak.core.public_api import public
from badak.tensor import meta

pytestmark = pytest.mark.slow

# Sizes that depend on values, and values that go to Python: these have no answer without data.
REFUSED = {
    "allclose argwhere bincount equal histc is_nonzero isin masked_select nonzero unique unique_consecutive item tolist",
    "inverse logdet cholesky slogdet svd qr pinverse det multinomial bernoulli",
    "cholesky_inverse cholesky_solve pca_lowrank svd_lowrank triangular_solve",
}
NOT_OF_TENSORS = {"sparse_coo_tensor", "load", "save", "compile", "set_printoptions", "info", "fork_rng"}
FUNCTIONS = sorted(name for name, function in public.functions().items() if callable(function) and not isinstance(function, type))


def made():
    """Arguments of a call: those for which it succeeds with memory are tried without."""
    x = badak.linspace(0.1, 0.9, 12).reshape(3, 4)
    square, ids = x[:, :3] + badak.eye(3), badak.tensor([0, 2, 1])
    one = [(x,), (x.t(),), (square,), (ids,), ([x, x],)]
    return [*one, (x, x), (x, 0), (x, 0.5), (x, 1, ids), (square, square), (ids, ids), (x[0], x[0])]


def without(value):
    """The same on the meta device."""
    if isinstance(value, badak.Tensor):
        return badak.empty_like(value).to("meta") if value.is_contiguous() else without(value.t().clone()).t()
    return type(value)(map(without, value)) if isinstance(value, list | tuple) else value


def about(value):
    if isinstance(value, badak.Tensor):
        return tuple(value.shape), value.dtype, value.stride() if value.numel() else None
    return [about(part) for part in value] if isinstance(value, list | tuple) else value


@pytest.mark.thin(300)
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - NOT_OF_TENSORS))
def test_a_function_gives_the_same_shape_without_data(name, monkeypatch):
    compare_without_data(name)
    monkeypatch.setattr(meta, "LARGE", 0)
    monkeypatch.setattr(meta, "KEPT", 1)
    compare_without_data(name)  # by examples of other sizes


def compare_without_data(name):
    function = getattr(badak, name)
    for real, bare in zip(made(), map(without, made())):
        try:
            expected = function(*real)
        except Exception:
            continue
        state = badak.get_rng_state()
        try:
            found = function(*bare)
        except NoDataError as error:
            assert "\nfix: " in str(error)
            continue
        except Exception:
            assert name in " ".join(REFUSED).split(), "what works with memory works on the meta device, or says why not"
            continue
        assert about(found) == about(expected)
        assert badak.equal(state, badak.get_rng_state())


N = 2**20
LARGE = {  # what it gives of x (N, N), y (N,), images (1024, 3, 1024, 1024), texts (N, 64, 128)
    "x + y": (N, N), "x.t() * 2": (N, N), "x.sum(0)": (N,), "x.mean((0, 1), keepdim=True)": (1, 1), "x @ x": (N, N), "x @ y": (N,),
    "x.half().exp()": (N, N), "x.softmax(0)": (N, N), "x.cumsum(1)": (N, N), "x.var(1)": (N,), "x.tril()": (N, N),
    "x.t().contiguous()": (N, N), "lib.cat([x, x])": (2 * N, N), "lib.cat([x, x[:5]])": (N + 5, N), "lib.zeros_like(x)": (N, N),
    "lib.rand_like(x)": (N, N), "lib.einsum('ij,kj->ik', x, x)": (N, N), "lib.outer(y, y)": (N, N),
    "F.linear(x, x[:10], y[:10])": (N, 10), "F.layer_norm(x, (N,))": (N, N), "F.rms_norm(x, (N,))": (N, N), "F.gelu(x)": (N, N),
    "F.scaled_dot_product_attention(texts, texts, texts, is_causal=True)": (N, 64, 128), "F.embedding(y.long(), x)": (N, N),
    "F.conv2d(images, lib.empty(8, 3, 3, 3, device='meta'), padding=1)": (1024, 8, 1024, 1024),
    "F.batch_norm(images, None, None, training=True)": (1024, 3, 1024, 1024),
    "F.interpolate(images, scale_factor=2)": (1024, 3, 2048, 2048),
}  # fmt: skip


@pytest.mark.parametrize("expression", LARGE)
def test_nothing_large_is_computed_or_kept(expression):
    found = []
    for lib in (torch, badak):
        x, y, images, texts = (lib.empty(*sizes, device="meta") for sizes in ((N, N), (N,), (1024, 3, 1024, 1024), (N, 64, 128)))
        made = eval(expression, {"lib": lib, "F": lib.nn.functional, "N": N, "x": x, "y": y, "images": images, "texts": texts})
        found.append((tuple(made.shape), made.stride(), str(made.dtype).split(".")[1]))
    assert found[0] == found[1] and found[0][0] == LARGE[expression]


@pytest.mark.parametrize("axes", [2, 3])
def test_a_layer_that_draws_where_it_pools_uses_up_no_random_numbers(axes):
    state, x = badak.get_rng_state(), badak.empty(1, 2, *[9] * axes, device="meta")
    pool = getattr(nn, f"FractionalMaxPool{axes}d")(2, output_size=4)
    assert pool(x).shape == getattr(nn.functional, f"fractional_max_pool{axes}d")(x, 2, 4).shape == (1, 2, *[4] * axes)
    assert badak.equal(state, badak.get_rng_state())


@pytest.mark.parametrize("name", "T mT H mH real imag".split())
def test_an_attribute_that_computes_gives_the_same_shape_without_data(name):
    for x in (badak.ones(2, 3), badak.ones(2, 3, dtype=badak.complex64)):
        if name != "imag" or x.is_complex():
            assert about(getattr(without(x), name)) == about(getattr(x, name))


def test_functions_that_need_values_are_refused_in_two_lines():
    x = badak.empty(2, 3, device="meta")
    for use in (
        lambda: x.item(),
        lambda: x.tolist(),
        lambda: x.numpy(),
        lambda: bool(x[0, 0]),
        lambda: x.nonzero(),
        lambda: x[x > 0],
        lambda: x.cpu(),
        lambda: x.to("cpu"),
        lambda: badak.zeros(2, 3).copy_(x),
        lambda: nn.Linear(2, 2, device="meta").to("cpu"),
        lambda: x.untyped_storage().tolist(),
        lambda: badak.ones(2, device="meta", requires_grad=True).sum().backward(),
    ):
        with pytest.raises(NoDataError) as told:
            use()
        assert len(str(told.value).splitlines()) == 2


def test_operators_give_shapes_too():
    x = badak.empty(2, 3, device="meta")
    made = [x + 1, 1 - x, -x, x @ x.t(), x < 0, x[0], x**2, 2**x, x / x, ~(x > 0), abs(x)]
    assert [tuple(y.shape) for y in made] == [(2, 3)] * 3 + [(2, 2), (2, 3), (3,)] + [(2, 3)] * 5
    assert all(y.is_meta for y in made)
    x += 1
    x[0] = 3.0
    assert x.is_meta


def test_no_memory_is_taken():
    with badak.device("meta"):
        layer = nn.Linear(200_000, 200_000)  # 160 GB
    assert layer.weight.is_meta and layer.weight.numel() == 4 * 10**10
    assert badak.empty(10**12, device="meta").nbytes == 4 * 10**12


def test_a_meta_tensor_is_pickled_and_copied_without_data():
    x = badak.empty(10**6, 10**6, device="meta").t()
    again = pickle.loads(pickle.dumps(x))
    assert (again.is_meta, again.stride(), again.shape) == (True, x.stride(), x.shape)
    assert len(pickle.dumps(x)) < 1000


def test_a_module_on_the_meta_device_takes_weights_as_they_are():
    with badak.device("meta"):
        model = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 2))
    real = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 2))
    x = badak.randn(5, 3)
    assert model(badak.empty(5, 3, device="meta")).shape == (5, 2)
    model.load_state_dict(real.state_dict(), assign=True)
    assert badak.equal(model(x), real(x)) and all(p.requires_grad for p in model.parameters())


def test_the_default_device_ends_with_its_block():
    with badak.device("meta"):
        with badak.device("cpu"):
            assert badak.ones(1).device.type == "cpu"
        assert badak.ones(1).device.type == badak.get_default_device().type == "meta"
    assert badak.ones(1).device.type == "cpu"


def test_constructors_of_old_make_memory_whatever_the_device_of_a_block():
    with badak.device("meta"):
        made = badak.Tensor(3), badak.FloatTensor(badak.Size([3])), badak.LongTensor([1, 2]), badak.empty(3)
    assert [x.device.type for x in made] == ["cpu", "cpu", "cpu", "meta"]
