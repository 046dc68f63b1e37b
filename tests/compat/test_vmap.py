"""vmap runs each operation once, for all examples: the values of a loop, PyTorch's errors, as many operations for any number."""

import numpy as np
import pytest
import torch

import badak
from badak.core.events import Observer
from tests.samples import all_ops

RNG = np.random.default_rng(0)
N, T, C, V = 3, 4, 6, 5
X = RNG.standard_normal((N, T, C)).astype(np.float32)
W = RNG.standard_normal((C, C)).astype(np.float32)
IDS = RNG.integers(0, V, (N, T))
both = pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])


class Count(Observer):
    """How many operations run, forward and backward."""

    def __init__(self):
        self.ops = 0

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        self.ops += 1


def operations(run) -> int:
    with Count() as counted:
        run()
    return counted.ops


def data(lib, repeat: int = 1):
    tensors = [lib.tensor(np.tile(a, (repeat, *(1,) * (a.ndim - 1)))) for a in (X, IDS)]
    return *tensors, lib.tensor(W)


def close(ours, theirs) -> None:
    ours, theirs = ((t if isinstance(t, tuple | list) else [t]) for t in (ours, theirs))
    for a, b in zip(ours, theirs, strict=True):
        assert tuple(a.shape) == tuple(b.shape)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=2e-5)


KINDS = {
    "pointwise": lambda lib, f, x, i, w: (x * 2 + 1).tanh().exp() / (x.abs() + 1) - f.gelu(x),
    "comparisons": lambda lib, f, x, i, w: lib.where((x > 0) & (x < 1), x, x.clamp(-0.5, 0.5)).masked_fill(x.isnan(), 0.0),
    "reductions": lambda lib, f, x, i, w: (
        x.sum() + x.mean(0) + x.amax(-1).prod() + x.var(1).sum() + x.std() + x.norm(dim=0) + x.logsumexp(0) + x.cumsum(1).amin()
        + x.argmax(0) + (x > 0).any(0) + (x > 0).all() + x.count_nonzero(0) + x.max(0)[0] + x.argmin() + x.median()
    ),
    "sorts": lambda lib, f, x, i, w: (
        x.sort(-1)[0], x.topk(2, 0)[0], x.argsort(1), x.kthvalue(2)[0], x.take_along_dim(x.argsort(0), 0),
    ),
    "views": lambda lib, f, x, i, w: (
        x.T.reshape(2, -1), x.unflatten(1, (2, 3)).permute(2, 0, 1), x[1:, ::2], x[..., None].expand(T, C, 2), x.unfold(0, 2, 1),
        x.diagonal(), x.chunk(2, 1)[1], x.unbind(0)[1], x.flip(0), x.roll(1, 1), x.repeat(2, 1), lib.cat([x, x], 1),
        lib.stack([x, x], -1),
        x.tril(), f.pad(x, (1, 2)), x.squeeze(0), x.repeat_interleave(2, 0), lib.diag_embed(x),
    ),
    "indexing": lambda lib, f, x, i, w: (
        w[i], x[lib.arange(T), i], x.gather(1, i[:, None]), x.index_select(1, i), x[[0, 2]], x[:, [1, 1]],
    ),
    "matmul": lambda lib, f, x, i, w: (
        x @ w, w @ x.T, x @ x.T, x[0] @ w, w @ x[0], x[0] @ x[1], lib.einsum("ij,kj->ik", x, w), lib.bmm(x[None], x.T[None]),
        lib.addmm(w[0, :T], x, x.T), lib.outer(x[0], x[1]),
    ),
    "linear": lambda lib, f, x, i, w: (
        f.linear(x, w, w[0]), f.linear(w, x), f.linear(x, x, x[:, 0]),
        f.linear(x[0], w),
    ),
    "softmax": lambda lib, f, x, i, w: (x.softmax(-1), x.softmax(0), x.log_softmax(1)),
    "norms": lambda lib, f, x, i, w: (
        f.layer_norm(x, (C,), w[0], w[1]), f.layer_norm(x, (C,), x[0], x[1]),
        f.layer_norm(w, (C,), x[0], x[1]), f.layer_norm(x, (T, C)),
        f.rms_norm(x, (C,), x[0]), f.group_norm(x[None], 2), f.normalize(x),
    ),
    "attention": lambda lib, f, x, i, w: (
        f.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
        f.scaled_dot_product_attention(x[None], w[None], w[None], attn_mask=(x[:, :1] > 9) | lib.ones(T, C).bool()),
    ),
    "losses": lambda lib, f, x, i, w: (
        f.cross_entropy(x, i), f.cross_entropy(x, i, w[0].abs(), ignore_index=1),
        f.cross_entropy(x, i, reduction="none", label_smoothing=0.1), f.nll_loss(x, i, reduction="sum"),
        f.mse_loss(x, x * 2), f.cross_entropy(x[0], i[0]), f.l1_loss(x, x * x),
        f.binary_cross_entropy_with_logits(x, (x > 0) * 1.0), f.cross_entropy(x, x.softmax(-1)),
    ),
    "embedding": lambda lib, f, x, i, w: (f.embedding(i, w), f.one_hot(i, V)),
    "embedding of each": lambda lib, f, x, i, w: f.embedding(i % T, x),
    "convolution": lambda lib, f, x, i, w: (
        f.conv1d(x[None], w[:2, :T, None], w[0, :2]), f.conv1d(w[None], x[:, :, None], x[:, 0]),
        f.max_pool1d(x[None], 2), f.avg_pool1d(x[None], 2),
    ),
    "matrices": lambda lib, f, x, i, w: (lib.linalg.inv(x @ x.T + lib.eye(T)), lib.linalg.solve(w, x.T), lib.linalg.det(x @ x.T)),
    "in place": lambda lib, f, x, i, w: (x.clone().mul_(2).add_(x), lib.zeros_like(x).copy_(x[0]), x.new_ones(C).sub_(x[1])),
}  # fmt: skip


def assigned(lib, f, x, i, w):
    y = lib.zeros_like(x)
    y[1:, 0] = x[:-1, 1]
    y[0] = 2.0
    y[2] += x[0]
    return y


KINDS["assignment"] = assigned


@pytest.mark.parametrize("name", KINDS)
def test_no_loop_runs_for_these_kinds_and_the_values_are_pytorchs(name):
    def run(lib, repeat: int = 1):
        x, ids, w = data(lib, repeat)
        return lib.vmap(lambda x, i: KINDS[name](lib, lib.nn.functional, x, i, w))(x, ids)

    ours, theirs = run(badak), run(torch)
    close(ours, theirs)
    assert operations(lambda: run(badak)) == operations(lambda: run(badak, 3))


# PyTorch itself has no answer for the first two, and for group_norm one of another shape than that of one example
@pytest.mark.parametrize("name", [name for name in KINDS if name not in ("reductions", "convolution", "norms")])
def test_no_examples_give_the_shapes_of_pytorch(name):
    def run(lib):
        x, ids, w = data(lib)
        return lib.vmap(lambda x, i: KINDS[name](lib, lib.nn.functional, x, i, w))(x[:0], ids[:0])

    close(run(badak), run(torch))


@both
def test_gradients_of_no_examples_are_empty(lib):
    model = mlp(lib)
    parameters = {key: value.detach() for key, value in model.named_parameters()}
    x, ids, _ = data(lib)
    made = lib.vmap(lib.func.grad(loss_of(lib, model)), (None, 0, 0))(parameters, x[:0], ids[:0])
    assert {key: tuple(value.shape) for key, value in made.items()} == {key: (0, *value.shape) for key, value in parameters.items()}


def loss_of(lib, model):
    def loss(parameters, x, i):
        logits = lib.func.functional_call(model, parameters, (x[None],))
        return lib.nn.functional.cross_entropy(logits[0], i)

    return loss


def mlp(lib):
    return lib.nn.Sequential(lib.nn.Linear(C, 8), lib.nn.LayerNorm(8), lib.nn.GELU(), lib.nn.Linear(8, V))


def transformer(lib):
    layer = lib.nn.TransformerEncoderLayer(C, 2, 8, dropout=0.0, batch_first=True, norm_first=True)
    return lib.nn.Sequential(layer, lib.nn.Linear(C, V))


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # PyTorch's attention runs in a loop
@pytest.mark.parametrize("make", [mlp, transformer])
def test_gradients_of_each_example_equal_those_of_a_loop_and_of_pytorch(make):
    def run(lib, state, repeat: int = 1):
        model = make(lib)
        model.load_state_dict({key: lib.tensor(value) for key, value in state.items()})
        parameters = {key: value.detach() for key, value in model.named_parameters()}
        each = lib.func.grad(loss_of(lib, model))
        x, ids, _ = data(lib, repeat)
        return each, parameters, x, ids

    state = {key: value.detach().numpy() for key, value in make(torch).state_dict().items()}
    made = {}
    for lib in (badak, torch):
        each, parameters, x, ids = run(lib, state)
        made[lib] = lib.vmap(each, (None, 0, 0))(parameters, x, ids)
    each, parameters, x, ids = run(badak, state)
    for key, gradient in made[badak].items():
        loop = np.stack([each(parameters, x[n], ids[n])[key].numpy() for n in range(N)])
        np.testing.assert_allclose(gradient.numpy(), loop, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(gradient.numpy(), made[torch][key].numpy(), rtol=1e-4, atol=1e-5)

    def count(repeat: int) -> int:
        each, parameters, x, ids = run(badak, state, repeat)
        return operations(lambda: badak.vmap(each, (None, 0, 0))(parameters, x, ids))

    assert count(1) == count(3)


COMPOSITIONS = {
    "nested": lambda lib, x, w: lib.vmap(lib.vmap(lambda a, b: (a * b).sin().sum(), (0, None)), (0, 1))(x, w[:, :N]),
    "nested, both dims": lambda lib, x, w: lib.vmap(lambda a: lib.vmap(lambda b: a @ b + b.sum())(w))(x),
    "in and out dims": lambda lib, x, w: lib.vmap(lambda a, b: (a @ b, b.t()), (1, None), (2, 0))(x, w),
    "negative dims": lambda lib, x, w: lib.vmap(lambda a: a.T, -1, -1)(x),
    "chunks": lambda lib, x, w: lib.vmap(lambda a: a @ w, chunk_size=2)(x),
    "unbatched results": lambda lib, x, w: lib.vmap(lambda a: (w * 2, a.sum()))(x),
    "jacrev": lambda lib, x, w: lib.func.jacrev(lambda a: (a @ w).tanh().sum(0))(x[0]),
    "jacrev in chunks": lambda lib, x, w: lib.func.jacrev(lambda a: (a @ w).tanh().sum(0), chunk_size=4)(x[0]),
    "jacrev by two": lambda lib, x, w: lib.func.jacrev(lambda a, b: (a @ b).sum(0), argnums=(0, 1))(x[0], w),
    "jacrev of a dict": lambda lib, x, w: lib.func.jacrev(lambda p: (x[0] @ p["w"]).sin().sum(0))({"w": w})["w"],
    "jacfwd": lambda lib, x, w: lib.func.jacfwd(lambda a: (a @ w).tanh().sum(0))(x[0]),
    "hessian": lambda lib, x, w: lib.func.hessian(lambda a: (a @ w).tanh().pow(2).sum())(x[0, 0]),
    "hessian of each": lambda lib, x, w: lib.vmap(lib.func.hessian(lambda a: (a @ w).tanh().pow(2).sum()))(x[0]),
    "jacobian of each": lambda lib, x, w: lib.vmap(lib.func.jacrev(lambda a: (a @ w).tanh()))(x[0]),
    "jvp of each": lambda lib, x, w: lib.vmap(lambda a, v: lib.func.jvp(lambda b: (b @ w).sin(), (a,), (v,))[1])(x, x * 2),
    "vjp of each": lambda lib, x, w: lib.vmap(lambda a: lib.func.vjp(lambda b: (b @ w).sin(), a)[1](a)[0])(x),
    "grad of vmap": lambda lib, x, w: lib.func.grad(lambda m: lib.vmap(lambda a: (a @ m).sin().sum())(x).sum())(w),
    "grad of vmap of grad": lambda lib, x, w: lib.func.grad(
        lambda m: lib.vmap(lib.func.grad(lambda a: (a @ m).sin().sum()))(x).pow(2).sum()
    )(w),
    "grads of shared weights": lambda lib, x, w: lib.vmap(lib.func.grad(lambda m, a: (a @ m).sin().sum()), (None, 0))(w, x),
    "grads twice": lambda lib, x, w: lib.vmap(
        lambda a: lib.func.grad(lambda b: lib.func.grad(lambda c: c.sin().prod())(b).pow(2).sum())(a)
    )(x[0, :, :3]),
    "nested grads": lambda lib, x, w: lib.vmap(
        lib.vmap(lib.func.grad(lambda a, m: (a @ m).exp().sum()), (0, None)), (0, None)
    )(x, w),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_compositions_equal_those_of_pytorch(name):
    def tensors(lib):
        return COMPOSITIONS[name](lib, lib.tensor(X * 0.3), lib.tensor(W))

    close(tensors(badak), tensors(torch))


REFUSED = {
    "item": (lambda lib, a: a * a.sum().item(), "calling .item()"),
    "float": (lambda lib, a: a * float(a.sum()), "calling .item()"),
    "if": (lambda lib, a: a if a.sum() > 0 else -a, "data-dependent control flow"),
    "rand": (lambda lib, a: a + lib.rand(C), "called random operation while in randomness error mode"),
    "dropout": (lambda lib, a: lib.nn.functional.dropout(a), "called random operation while in randomness error mode"),
    "in place": (lambda lib, a: lib.zeros(T, C).copy_(a), "inplace arithmetic"),
    "assignment": (lambda lib, a: lib.zeros(T, C).__setitem__(0, a[0]), "inplace arithmetic"),
    "nonzero": (lambda lib, a: a.nonzero(), "dynamic shape"),
}


@pytest.mark.parametrize("name", REFUSED)
@both
def test_what_pytorch_refuses_is_refused_in_its_words(lib, name):
    run, words = REFUSED[name]
    with pytest.raises(RuntimeError, match=words.replace("(", r"\(").replace(")", r"\)")):
        lib.vmap(lambda a: run(lib, a))(lib.tensor(X))


@both
def test_arguments_that_mean_nothing_are_refused(lib):
    with pytest.raises(RuntimeError, match="Only allowed values for randomness"):
        lib.vmap(lambda a: a, randomness="some")(lib.tensor(X))
    with pytest.raises(ValueError, match="chunk_size should be None or greater than 0"):
        lib.vmap(lambda a: a, chunk_size=0)(lib.tensor(X))
    with pytest.raises(ValueError, match="must only return Tensors"):
        lib.vmap(lambda a: 2)(lib.tensor(X))
    with pytest.raises(ValueError, match="Expected all tensors to have the same size in the mapped dimension"):
        lib.vmap(lambda a, b: a + b)(lib.tensor(X), lib.tensor(X[:2]))
    with pytest.raises(ValueError, match="Got in_dim=0 for an input but the input is of type"):
        lib.vmap(lambda a: a)(2.0)


@both
def test_random_numbers_are_the_same_or_different_as_asked(lib):
    for draw in (
        lambda a: lib.rand(5),
        lambda a: lib.nn.functional.dropout(lib.ones(50) + a.sum() * 0),
        lambda a: lib.randn_like(a),
    ):
        same, different = (lib.vmap(draw, randomness=how)(lib.tensor(X)) for how in ("same", "different"))
        assert (same[0] == same[1]).all() and (different[0] != different[1]).any()
    assert lib.vmap(lambda a: a)(lib.zeros(0, 3)).shape == (0, 3)


def test_what_is_no_operation_runs_one_after_the_other():
    def through_numpy(a):
        return badak.as_tensor(np.array([1.0])) * a.sum() + badak.fft.fft(a).real.sum()

    close(badak.vmap(through_numpy)(badak.tensor(X)), badak.stack([through_numpy(badak.tensor(x)) for x in X]))
    lstm = badak.nn.LSTM(C, 3)
    close(badak.vmap(lambda a: lstm(a)[0])(badak.tensor(X)), badak.stack([lstm(badak.tensor(x))[0] for x in X]))


def test_every_operation_says_how_it_runs_for_all_examples():
    assert not [op for op in all_ops() if not any("batching" in vars(kind) for kind in op.__mro__[:-2])]


def test_a_compiled_step_holds_a_vmap():
    w = badak.tensor(W)

    def step(x):
        return badak.vmap(badak.func.grad(lambda a: ((a > 0) * (a @ w).tanh()).sum()))(x)

    compiled = badak.compile(step)
    for n in range(6):
        x = badak.tensor(X + n)
        assert compiled(x).equal(step(x))
    assert not compiled.fallback_reason and compiled.recordings


@both
def test_a_batch_norm_under_vmap_takes_the_statistics_of_the_batch(lib):
    net = lib.func.replace_all_batch_norm_modules_(lib.nn.Sequential(lib.nn.BatchNorm1d(C)))
    y = lib.vmap(net)(lib.tensor(X))
    np.testing.assert_allclose(
        y.detach().numpy(), (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5), rtol=1e-3
    )


@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")  # of PyTorch
@both
def test_a_function_is_made_linear_once_for_many_slopes(lib):
    x, calls = lib.tensor(X), []
    y, push = lib.func.linearize(lambda a: (calls.append(1), a.sin())[1], x)
    before = len(calls)
    for v in (x, x * 2):
        np.testing.assert_allclose(push(v).numpy(), np.cos(X) * v.numpy(), rtol=1e-5)
    assert len(calls) == before and y.shape == x.shape
    assert lib.vmap(push)(lib.stack([x, x])).shape == (2, *X.shape)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_jacobians_of_what_has_no_second_derivative_go_one_after_the_other():
    def run(lib):
        net = lib.nn.LSTM(C, 2)
        net.load_state_dict({key: lib.tensor(value) for key, value in state.items()})
        net.requires_grad_(False)
        return lib.func.jacrev(lambda a: net(a)[0])(lib.tensor(X[0])), lib.vmap(lib.func.jacrev(lambda a: net(a)[0]))(lib.tensor(X))

    state = {key: value.detach().numpy() for key, value in torch.nn.LSTM(C, 2).state_dict().items()}
    close(run(badak), run(torch))


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@both
def test_methods_that_change_a_tensor_change_each_example(lib):
    x, rows = lib.tensor(X), lib.tensor([1])
    close([lib.vmap(lambda a: a.clone().index_fill_(0, rows, 2.0))(x)], [lib.cat([x[:, :1], x[:, :1] * 0 + 2, x[:, 2:]], 1)])
    close([lib.vmap(lambda a: a.clone().unsqueeze_(0))(x)], [x[:, None]])
    close([lib.vmap(lambda a: a.clone().cumsum_(0))(x)], [x.cumsum(1)])


@both
def test_the_shape_of_an_example_with_a_history_changes_in_place(lib):
    def loss(a):
        h = a * a
        first = h[0]
        h.t_()
        h.mul_(2)
        return (h * first.sum()).sum()

    x = lib.arange(12.0).reshape(3, 2, 2)
    close([lib.vmap(lib.func.grad(loss))(x)], [lib.stack([lib.func.grad(loss)(each) for each in x])])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        lib.vmap(lambda a: a.t_())(x.requires_grad_())


class Holder:
    """Tensors under names, with the words by which TensorDict goes through PyTorch's vmap."""

    def __init__(self, parts, shape):
        self.parts, self.shape, self.ndim = parts, shape, len(shape)

    def _add_batch_dim(self, *, in_dim, vmap_level):
        add = badak._C._functorch._add_batch_dim
        parts = {name: add(x, in_dim, vmap_level) for name, x in self.parts.items()}
        return Holder(parts, self.shape[:in_dim] + self.shape[in_dim + 1 :])

    def _maybe_remove_batch_dim(self, funcname, *, vmap_level, batch_size, out_dim):
        remove = badak._functorch.vmap._maybe_remove_batch_dim
        return {name: remove(funcname, x, vmap_level, batch_size, out_dim) for name, x in self.parts.items()}

    def __getitem__(self, at):
        return Holder(
            {name: x[at] for name, x in self.parts.items()}, tuple(next(iter(self.parts.values()))[at].shape[: self.ndim])
        )


@pytest.mark.parametrize("at", [0, 1])
def test_what_holds_tensors_goes_through_as_a_whole(at):
    x = badak.tensor(X)
    held = Holder({"x": x, "y": x + 1}, (N, T))
    made = badak.vmap(lambda h, c: Holder({"z": h.parts["x"] * c + h.parts["y"]}, h.shape), (at, None))(held, 2.0)
    close([made["z"]], [(x * 2 + x + 1).movedim(at, 0)])
    close([badak.vmap(lambda h: h.parts["x"].sum(), at)(held)], [x.sum((1 - at, 2))])
