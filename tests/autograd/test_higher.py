"""Second derivatives of every op in the table, against differences of first ones; of models and programs, against PyTorch's."""

import itertools

import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import badak
from badak.core import errors
from badak.tensor.apply import apply
from tests import samples
from tests.compare import assert_close
from tests.tiers import naming

# What has no second derivative, and says so.
REFUSED = {
    "Observe": "hooks of modules see arrays",
    "SVD": "its backward takes columns apart in place",
    "LinearInt8": "for models that answer, without any derivative",
    "LinearBFloat16": "for models that answer, without any derivative",
    "LinearBlocks": "its backward reads weights in blocks",
    "EmbeddingBlocks": "for models that answer, without any derivative",
    "SparseEmbedding": "its gradient is a sparse tensor",
    "CTC": "the sums over all ways to spell are one kernel",
    **{
        f"{family}": "the slope of a polynomial is one kernel"
        for family in (
            "ChebyshevT ChebyshevU ChebyshevV ChebyshevW ShiftedChebyshevT ShiftedChebyshevU ShiftedChebyshevV ShiftedChebyshevW "
            "HermiteH HermiteHe Laguerre Legendre"
        ).split()
    },
}
ROWS = [row for row in samples.rows() if row.op.__name__ not in REFUSED]


def _worth(call) -> bool:
    """With a gradient, and something in it."""
    arrays = call.arrays(np.float64)
    if not any(call.needs(arrays)) or any(a is not None and (a.size == 0 or a.size > 300) for a in arrays):
        return False
    with np.errstate(all="ignore"):
        _, ys = call.forward(arrays)
    if call.row.op.__name__ == "Std" and not ys[0].all():
        return False  # the root has no slope at 0
    return any(y.dtype.kind in "fc" and y.size for y in ys)


def _gradients(call, arrays, dys, create_graph: bool):
    """The inputs and cotangents as leaves, and the gradients of the inputs."""
    needs = call.needs(arrays)
    inputs = [None if a is None else badak.from_numpy(np.array(a)) for a in arrays]
    leaves = [x.requires_grad_() for x, need in zip(inputs, needs) if need]
    ys = apply(call.row.op, *inputs, **call.attributes)
    ys = ys if isinstance(ys, tuple) else (ys,)
    cotangents = [None if dy is None else badak.from_numpy(np.array(dy)).requires_grad_(create_graph) for dy in dys]
    live = [(y, dy) for y, dy in zip(ys, cotangents) if y.requires_grad and dy is not None]
    found = badak.autograd.grad([y for y, _ in live], leaves, [dy for _, dy in live], create_graph=create_graph, allow_unused=True)
    return leaves, [dy for _, dy in live], found


def _directions(tensors, rng):
    draws = [rng.standard_normal(x.shape) + (1j * rng.standard_normal(x.shape) if x.is_complex() else 0) for x in tensors]
    return [np.asarray(v) for v in draws]


def _inner(xs, vs) -> float:
    return sum(float(np.real(np.vdot(v, x.detach().numpy()))) for x, v in zip(xs, vs) if x is not None)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op.__name__)
def test_second_derivatives_are_slopes_of_first_ones(row):
    """grad(create_graph=True) gives the first derivatives, and its own derivative is their slope in a random direction."""
    for call in itertools.islice(filter(_worth, row.cases()), 4):
        with naming(call):
            _second_is_slope_of_first(call)


def _second_is_slope_of_first(call) -> None:
    arrays = call.arrays(np.float64)
    with np.errstate(all="ignore"):
        dys = call.cotangents(call.forward(arrays)[1])
    leaves, cotangents, found = _gradients(call, arrays, dys, True)
    for g, expected in zip(found, _gradients(call, arrays, dys, False)[2]):
        assert_close(g, expected, units=1e4, what="first")
    live = [g for g in found if g is not None]
    rng = np.random.default_rng(3)
    weights, along = _directions(live, rng), _directions([*leaves, *cotangents], rng)
    total = sum(
        badak.real(g * badak.from_numpy(w).conj()).sum() if g.is_complex() else (g * badak.from_numpy(w)).sum()
        for g, w in zip(live, weights)
    )
    if not total.requires_grad:
        return  # linear in what is known: the next test knows which these are
    second = badak.autograd.grad(total, [*leaves, *cotangents], allow_unused=True)
    derived = _inner(second, along)
    eps = 1e-6
    up, down = (_moved(call, arrays, dys, [sign * eps * v for v in along], weights) for sign in (1, -1))
    numerical = (up - down) / (2 * eps)
    assert abs(numerical - derived) <= 2e-5 * max(1, abs(numerical)) * call.row.slack, (numerical, derived)


def _moved(call, arrays, dys, steps, weights) -> float:
    """The weighted first derivatives, where all that counts is a step further."""
    steps, needs = iter(steps), call.needs(arrays)
    arrays = [a + next(steps) if need else a for a, need in zip(arrays, needs)]
    dys = [None if dy is None else dy + next(steps) for dy in dys]
    return _inner([g for g in _gradients(call, arrays, dys, False)[2] if g is not None], weights)


# ---------------------------------------------------------------- PyTorch

X = np.random.default_rng(0).standard_normal((2, 5, 16))
IMAGE = np.random.default_rng(1).standard_normal((2, 4, 8, 8))
IDS = np.random.default_rng(2).integers(0, 11, (2, 7))

MODELS = {
    "encoder layer": (lambda nn: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu"), [X]),
    "decoder layer": (lambda nn: nn.TransformerDecoderLayer(16, 4, 32, batch_first=True), [X, X[:, 1:] * 2]),
    "words": (
        lambda nn: nn.Sequential(nn.Embedding(11, 8), nn.LayerNorm(8), nn.Linear(8, 5), nn.SiLU(), nn.RMSNorm(5)),
        [IDS],
    ),
    "convolutions": (
        lambda nn: nn.Sequential(
            nn.Conv2d(4, 4, 3, padding=1, groups=2), nn.GroupNorm(2, 4), nn.ELU(), nn.MaxPool2d(2),
            nn.ConvTranspose2d(4, 2, 2), nn.BatchNorm2d(2), nn.AvgPool2d(2), nn.Flatten(), nn.LogSoftmax(-1),
        ),
        [IMAGE],
    ),
    "activations": (
        lambda nn: nn.Sequential(
            nn.Linear(16, 8), nn.Softplus(), nn.Linear(8, 8), nn.Mish(), nn.Hardswish(), nn.Linear(8, 8), nn.GLU(),
            nn.Tanh(), nn.LeakyReLU(), nn.SELU(), nn.GELU("tanh"), nn.Softmax(-1),
        ),
        [X],
    ),
    "LSTM": (lambda nn: _Outputs(nn, nn.LSTM(16, 3, 2, bidirectional=True, batch_first=True)), [X]),
    "projected LSTM": (lambda nn: _Outputs(nn, nn.LSTM(16, 3, proj_size=2)), [X]),
    "GRU": (lambda nn: _Outputs(nn, nn.GRU(16, 3, bidirectional=True)), [X]),
    "RNN": (lambda nn: _Outputs(nn, nn.RNN(16, 3, 2, nonlinearity="relu")), [X]),
    "packed GRU": (lambda nn: _Outputs(nn, nn.GRU(16, 3, bidirectional=True), packed=True), [X]),
    "cells": (lambda nn: _Cells(nn), [X]),
}  # fmt: skip


def _Outputs(nn, layer, packed: bool = False):
    """The layer, of whose results the outputs and the last state are one tensor."""

    class Outputs(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            rnn = nn.utils.rnn
            y, state = self.layer(rnn.pack_padded_sequence(x, [2, 2, 1, 1, 1], batch_first=False) if packed else x)
            y = y.data if packed else y
            return (y**2).sum() + sum((part.sin() * 2).sum() for part in (state if type(state) is tuple else (state,)))

    return Outputs()


def _Cells(nn):
    """Cells that carry their states, the second fed by the first."""

    class Cells(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LSTMCell(16, 3), nn.GRUCell(3, 2)

        def forward(self, x):
            state, h = None, None
            for step in x:
                state = self.first(step, state)
                h = self.second(state[0], h)
            return h

    return Cells()


def _penalty(lib, build, data, state):
    """The gradients of a penalty on the gradients of the loss, and the parameters that they belong to."""
    torch.manual_seed(0)
    model = build(lib.nn).double().eval()
    if state is not None:
        model.load_state_dict({key: badak.from_numpy(value) for key, value in state.items()})
    xs = [lib.from_numpy(x.copy()) for x in data]
    leaves = [x.requires_grad_() for x in xs if x.is_floating_point()] + list(model.parameters())
    with sdpa_kernel(SDPBackend.MATH):  # PyTorch's others have no second derivatives
        loss = (model(*xs) ** 3).sum()
        slopes = lib.autograd.grad(loss, leaves, create_graph=True, allow_unused=True)
        penalty = sum((g * g).sum() for g in slopes if g is not None)
        found = lib.autograd.grad(penalty, leaves, allow_unused=True)
    return found, {key: value.detach().numpy().copy() for key, value in model.state_dict().items()}


@pytest.mark.parametrize("name", MODELS)
def test_gradient_penalties_of_models_equal_those_of_pytorch(name):
    build, data = MODELS[name]
    theirs, state = _penalty(torch, build, data, None)
    ours, _ = _penalty(badak, build, data, state)
    for a, b in zip(ours, theirs, strict=True):
        assert_close(a, b, units=1e4, what=name)


# Complex numbers do not reach these, or there other operations compute with them.
NOT_COMPLEX = {"RMSNorm", "Angle", "Var", "Std", "Logaddexp", "LogCumSumExp", "Cholesky", "QR", "Eigh", "GammaInc", "GammaIncC"}
NOT_COMPLEX |= {"J0", "J1", "Y0", "Y1", "AiryAi", "AirySlope", "BatchMoments", "BatchNorm"}


@pytest.mark.parametrize("row", [row for row in ROWS if row.op.__name__ not in NOT_COMPLEX], ids=lambda row: row.op.__name__)
def test_complex_second_derivatives_equal_those_of_pytorch(row):
    for call in itertools.islice(filter(_worth, row.cases()), 2):
        with naming(call):
            _complex_second_equals_pytorchs(call)


def _complex_second_equals_pytorchs(call) -> None:
    rng = np.random.default_rng(1)
    arrays = [
        a + 1j * rng.standard_normal(a.shape) if a is not None and a.dtype.kind == "f" else a for a in call.arrays(np.float64)
    ]
    theirs = _penalised(torch, call.row.twin, call, arrays)
    if theirs is None:
        return  # PyTorch takes no complex numbers there, or has no derivative
    try:
        ours = _penalised(badak, lambda *xs, **attributes: apply(call.row.op, *xs, **attributes), call, arrays)
    except errors.GraphError as error:
        assert "cannot be differentiated again" in str(error)
        return
    for a, b in zip(ours, theirs, strict=True):
        assert_close(a, b, units=1e6, size=1)


def _penalised(lib, function, call, arrays):
    """First derivatives, and second ones by way of the sum of their squares; None where PyTorch has none."""
    xs = [None if a is None else lib.from_numpy(np.array(a)) for a in arrays]
    leaves = [x.requires_grad_() for x, need in zip(xs, call.needs(arrays)) if need]
    try:
        ys = function(*xs, **call.attributes)
        live = [y for y in (ys if isinstance(ys, tuple | list) else (ys,)) if y.requires_grad]
        dys = [np.random.default_rng(2).standard_normal((2, *y.shape)) for y in live]
        given = [lib.from_numpy(np.asarray(re + 1j * im if y.is_complex() else re)) for (re, im), y in zip(dys, live)]
        first = lib.autograd.grad(live, leaves, given, create_graph=True, allow_unused=True)
        total = sum((lib.real(g * g.conj()) if g.is_complex() else g * g).sum() for g in first if g is not None)
        slopes = hasattr(total, "requires_grad") and total.requires_grad
        second = lib.autograd.grad(total, leaves, allow_unused=True) if slopes else []
    except (RuntimeError, TypeError, ValueError):
        if lib is badak:
            raise
        return None
    zeros = [np.zeros(x.shape, np.complex128) for x in leaves]
    plain = [None if g is None else g.detach().resolve_conj().numpy() for g in (*first, *second)]
    return [z if g is None else g for g, z in zip(plain, zeros * 2)]


def _values(lib):
    return lib.tensor(X[0, :3, :2])


def _hooked(lib):
    x = _values(lib).requires_grad_()
    y = x * x
    y.register_hook(lambda dy: dy * x)
    y.retain_grad()
    (g,) = lib.autograd.grad((y * 2).sum(), x, create_graph=True)
    return lib.autograd.grad(g.sum(), x)[0], y.grad


def _written(lib):
    x = _values(lib).requires_grad_()
    y = x * 1
    y[0] = x[1] * x[2]
    y.mul_(x)
    y[:, 1].add_(x[:, 0] * x[:, 1])
    (g,) = lib.autograd.grad((y**2).sum(), x, create_graph=True)
    return lib.autograd.grad((g**2).sum(), x)[0]


def _of_function(lib):
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, dy):
            return 2 * ctx.saved_tensors[0] * dy

    x = _values(lib).requires_grad_()
    (g,) = lib.autograd.grad(Square.apply(x).sin().sum(), x, create_graph=True)
    return lib.autograd.grad((g**2).sum(), x)[0]


def _accumulated(lib):
    x = _values(lib).requires_grad_()
    (x**3).sum().backward(create_graph=True)
    (x.grad * x).sum().backward()
    return x.grad


def _third(lib):
    x = _values(lib).requires_grad_()
    y = (x.sin() * x.exp()).sum()
    for _ in range(3):
        (y,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    return y


def _mixed(lib):
    """Half of the graph has gone by a gradient given from outside, with a history of its own."""
    x = _values(lib).requires_grad_()
    v = (x * 2).exp()
    (g,) = lib.autograd.grad(x.tanh(), x, grad_outputs=v, create_graph=True)
    return lib.autograd.grad(g.sum(), x)[0]


def _checkpointed(lib):
    x, w = _values(lib).requires_grad_(), (_values(lib) * 3).requires_grad_()
    y = lib.utils.checkpoint.checkpoint(lambda a: (a * w).sin() * a.exp(), x, use_reentrant=False)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    return lib.autograd.grad((g**2).sum(), [x, w])


def _cast(lib):
    x = lib.tensor([1.0, -2.0, 3.0], dtype=lib.float64, requires_grad=True)
    (g,) = lib.autograd.grad((x.float() ** 3).sum(), x, create_graph=True)
    return lib.autograd.grad(g.sum(), x)[0]


def _functional(name, *args):
    return lambda lib: getattr(lib.autograd.functional, name)(*(a(lib) if callable(a) and a in BUILT else a for a in args))


def _cube(x):
    return (x**3).sum() * x[0, 0]


def _two(x, y):
    return (x * y).sum(0), x.sin()


BUILT = (_values, pair := lambda lib: (_values(lib), _values(lib) + 1))

PROGRAMS = {
    "hooks": _hooked, "writes in place": _written, "a Function": _of_function, "backward": _accumulated, "third": _third,
    "a gradient with a history": _mixed, "casts": _cast,
    "a checkpoint": _checkpointed,
    "jacobian": _functional("jacobian", _cube, _values), "jacobian of two": _functional("jacobian", _two, pair),
    "hessian": _functional("hessian", _cube, _values),
    "hessian of two": _functional("hessian", lambda x, y: (x * y * x).sum(), pair),
    "hvp": _functional("hvp", _cube, _values, _values), "vhp": _functional("vhp", _cube, _values, _values),
    "jvp": _functional("jvp", lambda x, y: (x * y).sum(0), pair, pair), "vjp": _functional("vjp", _cube, _values),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore:Using backward\\(\\) with create_graph=True")
def test_programs_give_what_they_give_in_pytorch(name):
    ours, theirs = _flat(PROGRAMS[name](badak)), _flat(PROGRAMS[name](torch))
    for a, b in zip(ours, theirs, strict=True):
        assert_close(a, b, units=1e4, what=name)
        assert a.requires_grad == b.requires_grad, name


def _flat(tree) -> list:
    return [tree] if hasattr(tree, "shape") else [x for part in tree for x in _flat(part)]


# ---------------------------------------------------------------- what it does not do


def test_every_op_is_differentiated_twice_or_on_the_list():
    """The list names nothing that works, and the table nothing that is not tried."""
    tried = {row.op.__name__ for row in ROWS if any(map(_worth, row.cases()))}
    without = {op.__name__ for op in samples.all_ops()} - tried - set(REFUSED)
    assert not without - {"Cast"}, without  # its rows are of integers; `_cast` tries it


def test_svd_refuses_by_name():
    a = badak.randn(3, 2, requires_grad=True)
    with pytest.raises(errors.GraphError, match="svd cannot be differentiated again"):
        badak.linalg.svdvals(a).sum().backward(create_graph=True)


def test_ctc_refuses_by_name():
    logp = badak.randn(4, 1, 3).log_softmax(-1).requires_grad_()
    with pytest.raises(errors.GraphError, match="the gradient of ctc_loss cannot be differentiated again"):
        badak.nn.functional.ctc_loss(logp, badak.tensor([[1, 2]]), (4,), (2,)).backward(create_graph=True)


def test_slopes_of_special_functions_at_0():
    """There the formulas divide by 0, and PyTorch has no second derivatives of I1 and I1e: their power series tell."""
    for name, second in {"i0": 0.5, "i1": 0.0}.items():
        x = badak.zeros((), dtype=badak.float64, requires_grad=True)
        (g,) = badak.autograd.grad(getattr(badak.special, name)(x), x, create_graph=True)
        assert badak.autograd.grad(g, x)[0].item() == second
    a, x = (badak.tensor(v, dtype=badak.float64, requires_grad=True) for v in (2.0, 0.0))
    da, dx = badak.autograd.grad(badak.special.gammainc(a, x), (a, x), create_graph=True)
    assert (da.item(), dx.item()) == (0, 0) and badak.autograd.grad(da, a)[0].item() == 0


@pytest.mark.parametrize("dtype", [badak.float32, badak.float64])
def test_the_slope_of_gammainc_by_its_concentration_is_a_number_far_out(dtype):
    """P is 1 there, and 0 at 0, whatever the concentration; a create_graph says the same."""
    a = badak.tensor([0.5, 2.0, 3.0, 0.5, 2.0], dtype=dtype, requires_grad=True)
    x = badak.tensor([800.0, 100.0, 5000.0, 0.0, 0.0], dtype=dtype)
    for again in (False, True):
        (g,) = badak.autograd.grad(badak.special.gammainc(a, x).sum(), a, create_graph=again)
        np.testing.assert_allclose(g.detach().numpy(), 0, atol=1e-12)


def test_an_input_that_was_written_to_is_noticed():
    x = badak.randn(3, requires_grad=True)
    y = x * 1
    z = y.exp() * y
    y.mul_(2)
    with pytest.raises(errors.GraphError, match="modified by an inplace operation"):
        badak.autograd.grad(z.sum(), x, create_graph=True)


def test_the_second_walk_notices_writes_too():
    x = badak.randn(3, requires_grad=True)
    y = x * 1
    (g,) = badak.autograd.grad((y**3).sum(), x, create_graph=True)
    y.mul_(2)
    with pytest.raises(errors.GraphError, match="modified by an inplace operation"):
        badak.autograd.grad(g.sum(), x)


@pytest.mark.filterwarnings("ignore:compile")
def test_a_compiled_step_that_asks_for_it_runs_as_it_is():
    @badak.compile
    def step(x):
        (g,) = badak.autograd.grad((x**3).sum(), x, create_graph=True)
        return badak.autograd.grad((g * g).sum(), x)[0]

    x = badak.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(6):
        np.testing.assert_allclose(step(x).numpy(), 36 * x.detach().numpy() ** 3)


def test_gradgradcheck_finds_a_wrong_second_derivative():
    class Wrong(badak.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, dy):
            return 3 * dy * ctx.saved_tensors[0].detach() ** 2  # right, but constant

    x = badak.tensor(X[0, 0, :3], requires_grad=True)
    assert badak.autograd.gradcheck(Wrong.apply, x)
    assert badak.autograd.gradgradcheck(lambda a: a**3, x)
    with pytest.raises(badak.autograd.GradcheckError, match="Jacobian mismatch"):
        badak.autograd.gradgradcheck(Wrong.apply, x)
