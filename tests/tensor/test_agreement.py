"""Where a call looked right and was not: values, gradients and refusals of functions with rare arguments, against PyTorch."""

import numpy as np
import pytest
import torch

import badak as bk
from badak.core.errors import BadakError
from tests.nn.twins import agree


def test_the_gradient_of_broadcast_parts_of_complex_numbers():
    a, b = np.arange(1.0, 7.0).reshape(3, 2), np.array(0.5)
    for make in ("complex", "polar"):
        agree(lambda lib, x, y, make=make: lib.view_as_real(getattr(lib, make)(x, y)), a, b)
        agree(lambda lib, x, y, make=make: lib.view_as_real(getattr(lib, make)(x, y)), a[:, :1], a[0])


KEYS = [
    [[0, 1], [1, 0]],
    [[0, 1]],
    [[[0, 1], [1, 0]]],
    [[0, 1], 1],
    [[0], slice(None)],
    [0, 1],
    [None, 0],
    [[True, False], [0, 1]],
    ([[0, 1], [1, 0]],),
]


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_list_as_a_key_means_what_it_means_in_pytorch(key):
    agree(lambda lib, x: x[key], np.arange(6.0).reshape(2, 3))


REFUSED = {
    "reshape": (lambda lib, x: x.reshape(-2), "invalid shape dimension -2 of shape [-2]"),
    "view": (lambda lib, x: x.view(3, -2), "invalid shape dimension -2 of shape [3, -2]"),
    "diag": (lambda lib, x: lib.diag(x.reshape(1, 2, 3)), "diag(): Supports 1D or 2D tensors. Got 3D"),
    "searchsorted": (lambda lib, x: lib.searchsorted(x, "a"), "searchsorted: expected a Tensor or a number; got str"),
    "searchsorted side": (lambda lib, x: lib.searchsorted(x[0], 1.0, side="middle"), "searchsorted: expected side"),
    "linspace": (lambda lib, x: lib.linspace(0, 1, -1), "number of steps must be non-negative; got -1"),
    "logspace": (lambda lib, x: lib.logspace(0, 1, -1), "number of steps must be non-negative; got -1"),
    "requires_grad_": (lambda lib, x: x.requires_grad_("a"), "requires_grad_(): argument 'requires_grad' must be bool, not str"),
    "GRU": (lambda lib, x: lib.nn.GRU(0, 2), "input_size, hidden_size and num_layers must be greater than zero; got 0, 2 and 1"),
    "interpolate": (lambda lib, x: lib.nn.functional.interpolate(x[None], size=-1), "interpolate: Input and output sizes"),
    "meshgrid": (lambda lib, x: lib.meshgrid(), "meshgrid expects a non-empty TensorList"),
    "tensor_split": (lambda lib, x: lib.tensor_split(x, 0), "number of sections must be larger than 0, got 0"),
    "quantile": (lambda lib, x: lib.quantile(x, 1.5), "quantile() q values must be in the range [0, 1]; got 1.5"),
    "flip": (lambda lib, x: x.flip(0, 0), "flip: a dim appears multiple times in the list of dims"),
    "diff": (lambda lib, x: lib.diff(x, -1), "order must be non-negative but got -1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused(name):
    call, text = REFUSED[name]
    with pytest.raises(Exception):  # noqa: B017  (PyTorch's own kinds)
        call(torch, torch.arange(6.0).reshape(2, 3))
    with pytest.raises(BadakError) as caught:
        call(bk, bk.arange(6.0).reshape(2, 3))
    assert str(caught.value).startswith(text) and "\nfix: " in str(caught.value)


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("dim", [None, 0, -1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_quantiles_and_their_gradients(interpolation, dim, keepdim):
    x = np.random.default_rng(0).standard_normal((4, 5))
    q = np.array([0.0, 0.3, 0.5, 1.0])
    agree(lambda lib, x: lib.quantile(x, 0.3, dim, keepdim, interpolation=interpolation), x)
    agree(lambda lib, x: lib.quantile(x, lib.from_numpy(q).to(x.dtype), dim, keepdim, interpolation=interpolation), x)
    x[1, 2] = np.nan
    with_nan = [lib.quantile(lib.from_numpy(x), 0.3, dim, interpolation=interpolation).numpy() for lib in (bk, torch)]
    np.testing.assert_allclose(*with_nan)


def test_the_first_of_equal_maxima_in_reading_order():
    x = np.array([[[[0.0, 1.0], [1.0, 0.0]]]])
    agree(lambda lib, x: lib.nn.functional.adaptive_max_pool2d(x, 1, return_indices=True)[0], x)
    _, place = bk.nn.functional.adaptive_max_pool2d(bk.from_numpy(x), 1, return_indices=True)
    assert place.item() == 1


def both_gradients(function, *arrays):
    """(badak's, PyTorch's) results of function(library, *tensors) and gradients of a weighted sum of them."""
    found = []
    for lib in (bk, torch):
        xs = [lib.from_numpy(a.copy()).requires_grad_() for a in arrays]
        y = function(lib, *xs)
        parts = lib.view_as_real(y) if y.is_complex() else y
        weights = np.random.default_rng(1).standard_normal(tuple(parts.shape))
        (parts * lib.from_numpy(np.asarray(weights)).to(parts.dtype)).sum().backward()
        found.append([z.resolve_conj().numpy() for z in (y.detach(), *(x.grad for x in xs))])
    return found


def check_gradients(function, *arrays):
    for ours, theirs in zip(*both_gradients(function, *arrays)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)


def complex_numbers(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


ANALYTIC = (
    "exp exp2 expm1 log log1p log2 log10 sqrt rsqrt reciprocal square sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
    "sigmoid sgn abs angle"
).split()


@pytest.mark.parametrize("name", ANALYTIC)
def test_gradients_of_functions_of_complex_numbers(name):
    check_gradients(lambda lib, x: getattr(lib, name)(x), complex_numbers(3, 4))


COMPLEX = {
    "prod": (lambda lib, x: x.prod(0), [(3, 4)]),
    "cumprod": (lambda lib, x: x.cumprod(0), [(3, 4)]),
    "logsumexp": (lambda lib, x: x.logsumexp(1), [(3, 4)]),
    "var": (lambda lib, x: x.var(0), [(3, 4)]),
    "std": (lambda lib, x: x.std(), [(3, 4)]),
    "lerp": (lambda lib, a, b, w: lib.lerp(a, b, w), [(3, 4), (3, 4), (4,)]),
    "addcmul": (lambda lib, x, a, b: lib.addcmul(x, a, b, value=0.3), [(3, 4), (3, 1), (4,)]),
    "addcdiv": (lambda lib, x, a, b: lib.addcdiv(x, a, b), [(3, 4), (3, 1), (4,)]),
    "linear": (lambda lib, x, w, b: lib.nn.functional.linear(x, w, b), [(2, 3), (4, 3), (4,)]),
    "matmul": (lambda lib, a, b: a @ b, [(2, 3), (3, 4)]),
    "conv1d": (lambda lib, x, w: lib.nn.functional.conv1d(x, w), [(2, 3, 5), (4, 3, 2)]),
    "conv_transpose1d": (lambda lib, x, w: lib.nn.functional.conv_transpose1d(x, w), [(2, 3, 5), (3, 4, 2)]),
    "vdot": (lambda lib, a, b: lib.vdot(a, b), [(5,), (5,)]),
    "vecdot": (lambda lib, a, b: lib.linalg.vecdot(a, b), [(2, 5), (2, 5)]),
    "l1_loss": (lambda lib, a, b: lib.nn.functional.l1_loss(a, b), [(5,), (5,)]),
    "inv": (lambda lib, a: lib.linalg.inv(a), [(3, 3)]),
    "solve": (lambda lib, a, b: lib.linalg.solve(a, b), [(3, 3), (3, 2)]),
    "det": (lambda lib, a: lib.linalg.det(a), [(3, 3)]),
    "slogdet": (lambda lib, a: lib.linalg.slogdet(a)[0] * lib.linalg.slogdet(a)[1], [(3, 3)]),
    "pinv": (lambda lib, a: lib.linalg.pinv(a), [(4, 3)]),
    "qr": (lambda lib, a: lib.linalg.qr(a)[1], [(3, 3)]),
    "svdvals": (lambda lib, a: lib.linalg.svdvals(a), [(4, 3)]),
    "svd": (lambda lib, a: (lambda u, s, vh: (u * s**2) @ vh)(*lib.linalg.svd(a, full_matrices=False)), [(4, 3)]),
    "float_power": (lambda lib, x: lib.float_power(x, 2), [(3,)]),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_gradients_of_complex_tensors(name):
    function, shapes = COMPLEX[name]
    check_gradients(function, *(complex_numbers(*shape, seed=i) for i, shape in enumerate(shapes)))


MATRICES = {
    "eigh of the upper triangle": lambda lib, a: lib.linalg.eigh(a, UPLO="U")[0],
    "eigvalsh of the lower": lambda lib, a: lib.linalg.eigvalsh(a),
    "cholesky of the upper": lambda lib, a: lib.linalg.cholesky(a + 9 * lib.eye(3, dtype=a.dtype), upper=True),
    "wide qr": lambda lib, a: lib.linalg.qr(a[:2])[1],
    "full svd": lambda lib, a: lib.linalg.svd(a[:2])[1],
    "nuclear norm": lambda lib, a: lib.norm(a, "nuc"),
    "matrix_norm -1": lambda lib, a: lib.linalg.matrix_norm(a, -1),
    "matrix_norm 2": lambda lib, a: lib.linalg.matrix_norm(a, 2, dim=(1, 0)),
    "matrix_power 0": lambda lib, a: lib.linalg.matrix_power(a, 0),
    "lstsq": lambda lib, a: lib.linalg.lstsq(a, a[:, :1] * 2)[0],
    "circular pad that cuts": lambda lib, a: lib.nn.functional.pad(a[None], (-1, 1), "circular"),
    "hinge_embedding_loss": lambda lib, a: lib.nn.functional.hinge_embedding_loss(a, a.detach().round()),
    "tensordot of size 1": lambda lib, a: lib.tensordot(a[:, :1], a, dims=([1], [0])),
    "index_fill": lambda lib, a: a.index_fill(0, lib.tensor([0, 0]), a[1, 1]),
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name):
    check_gradients(MATRICES[name], np.random.default_rng(3).standard_normal((3, 3)) * 2)


def test_hermitian_reads_the_lower_triangle():
    a = np.random.default_rng(3).standard_normal((3, 3))
    ours, theirs = (lib.linalg.pinv(lib.from_numpy(a), hermitian=True).numpy() for lib in (bk, torch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_what_has_no_gradient_says_so():
    u = bk.linalg.svd(bk.from_numpy(np.random.default_rng(0).standard_normal((3, 2))).requires_grad_())[0]
    with pytest.raises(BadakError, match="U's vectors beyond the singular values have no gradient"):
        u.sum().backward()


def test_a_complex_loss_needs_a_gradient_to_start_from():
    for lib in (torch, bk):
        x = lib.ones(2, dtype=lib.complex64, requires_grad=True)
        with pytest.raises(RuntimeError, match="only for real scalar outputs but got"):
            x.sum().backward()
        x.sum().backward(lib.tensor(1 + 0j))
        assert x.grad.tolist() == [1, 1]


@pytest.mark.parametrize("value", ["a number", "a tensor", "of another dtype"])
def test_parts_of_complex_numbers_are_assigned(value):
    found = []
    for lib in (torch, bk):
        given = {"a number": 3.0, "a tensor": lib.tensor([5.0, 6.0]), "of another dtype": lib.tensor([7, 8])}[value]
        x, y, z = lib.tensor([1 + 2j, 3 + 4j]), lib.tensor([1 + 2j, 3 + 4j]), lib.tensor([1.0, 2.0])
        x.real = y.imag = z.real = given
        found.append([x.tolist(), y.tolist(), z.tolist()])
        with pytest.raises((RuntimeError, TypeError)):
            z.imag = given
    assert found[0] == found[1]
