"""The random generator: PyTorch's numbers for PyTorch's seeds, live against torch and against recorded bytes."""

import copy
import json
import pickle
import warnings
import zlib
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, IndexOutOfRangeError, StateError
from badak.kernels.reference._boxmuller import fma64
from badak.tensor import Tensor
from badak.tensor import random as bk
from badak.tensor._sampling import Source, _largest, _scores
from tests.tiers import looped

SIZES = [0, 1, 2, 3, 5, 15, 16, 17, 31, 32, 100, 1000]
DTYPES = {
    "float32": (torch.float32, np.dtype(np.float32)),
    "float64": (torch.float64, np.dtype(np.float64)),
    "float16": (torch.float16, np.dtype(np.float16)),
    "bfloat16": (torch.bfloat16, np.dtype(ml_dtypes.bfloat16)),
}

# name: (torch's way to draw n numbers, ours)
DRAWS = {
    "rand": (lambda n, t: torch.rand(n, dtype=t), lambda s, n, d: s.uniform((n,), d)),
    "uniform_": (
        lambda n, t: torch.empty(n, dtype=t).uniform_(-0.3, 1.7),
        lambda s, n, d: s.uniform((n,), d, -0.3, 1.7),
    ),
    "randn": (lambda n, t: torch.randn(n, dtype=t), lambda s, n, d: s.normal((n,), d)),
    "normal_": (lambda n, t: torch.empty(n, dtype=t).normal_(0.3, 0.7), lambda s, n, d: s.normal((n,), d, 0.3, 0.7)),
    "normal_ strided": (
        lambda n, t: torch.empty(2 * n + 2, dtype=t)[::2].normal_(0.3, 0.7),
        lambda s, n, d: s.normal((n + 1,), d, 0.3, 0.7, contiguous=False),
    ),
    "bernoulli_": (lambda n, t: torch.empty(n, dtype=t).bernoulli_(0.3), lambda s, n, d: s.bernoulli(0.3, (n,)).astype(d)),
    "bernoulli": (
        lambda n, t: torch.bernoulli(torch.rand(n, dtype=t)),
        lambda s, n, d: s.bernoulli_each(s.uniform((n,), d)).astype(d),
    ),
    "exponential_": (lambda n, t: torch.empty(n, dtype=t).exponential_(0.7), lambda s, n, d: s.exponential((n,), d, 0.7)),
    "log_normal_": (
        lambda n, t: torch.empty(n, dtype=t).log_normal_(0.2, 0.4),
        lambda s, n, d: s.log_normal((n,), d, 0.2, 0.4),
    ),
    "cauchy_": (lambda n, t: torch.empty(n, dtype=t).cauchy_(0.2, 1.3), lambda s, n, d: s.cauchy((n,), d, 0.2, 1.3)),
    "geometric_": (lambda n, t: torch.empty(n, dtype=t).geometric_(0.2), lambda s, n, d: s.geometric(0.2, (n,), d)),
    "random_": (lambda n, t: torch.empty(n, dtype=t).random_(), lambda s, n, d: s.any_integers((n,), d)),
}
RECORDED = json.loads((Path(__file__).parent / "recorded_random.json").read_text())
LIBM = {"log_normal_", "cauchy_", "exponential_", "normal_ strided", "randn", "normal_"}  # float64 follows the C library


def torch_bytes(x: torch.Tensor) -> bytes:
    rows = torch.empty(x.shape, dtype=x.dtype).copy_(x)
    return rows.reshape(-1).view(torch.uint8).numpy().tobytes() if x.numel() else b""


def same(theirs: torch.Tensor, ours) -> bool:
    array = ours._array if isinstance(ours, Tensor) else ours
    return tuple(theirs.shape) == array.shape and torch_bytes(theirs) == np.ascontiguousarray(array).tobytes()


def digest(name: str, dtype: str, n: int) -> str:
    """Checksum of two draws one after the other, of ours."""
    source = Source(42)
    draw, kind = DRAWS[name][1], DTYPES[dtype][1]
    return f"{zlib.crc32(draw(source, n, kind).tobytes() + draw(source, n, kind).tobytes()):08x}"


@looped(dtype=DTYPES)
@pytest.mark.parametrize("name", DRAWS)
def test_draws_equal_those_of_torch_bit_for_bit(name, dtype):
    theirs, ours = DRAWS[name]
    for n in SIZES:
        torch.manual_seed(42)
        source = Source(42)
        for _ in range(2):  # twice: what the first call leaves behind counts too
            assert same(theirs(n, DTYPES[dtype][0]), ours(source, n, DTYPES[dtype][1])), (name, dtype, n)
        assert np.array_equal(torch.get_rng_state().numpy(), source.state()), (name, dtype, n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DRAWS)
def test_draws_equal_those_recorded_from_torch(name, dtype):
    if dtype == "float64" and name in LIBM:
        pytest.skip("float64 values of log, exp, tan, cos are the C library's")
    for n in SIZES:
        assert digest(name, dtype, n) == RECORDED[f"{name} {dtype} {n}"]


def test_a_million_normals_equal_those_of_torch_bit_for_bit():
    torch.manual_seed(5)
    assert same(torch.randn(1_000_003), Source(5).normal((1_000_003,)))


@pytest.mark.parametrize("low, high", [(0, 10), (-5, 7), (0, 2**28 - 1), (0, 2**28), (0, 2**32), (3, 2**40), (-(2**63), 2**63 - 1)])
def test_randint_equals_that_of_torch_in_every_range(low, high):
    torch.manual_seed(7)
    assert same(torch.randint(low, high, (99,)), Source(7).integers(low, high, (99,)))


@pytest.mark.parametrize("kind", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_random_of_whole_numbers_equals_that_of_torch(kind):
    torch.manual_seed(7)
    assert same(torch.empty(99, dtype=getattr(torch, kind)).random_(), Source(7).any_integers((99,), np.dtype(kind)))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 16, 17, 1000, 60000])
def test_randperm_equals_that_of_torch(n):
    torch.manual_seed(7)
    assert same(torch.randperm(n), Source(7).permutation(n))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-42, 1.0, 1e37])
def test_the_class_that_is_drawn_has_the_largest_score_of_all(dtype, scale):
    """Scores are computed where they may be the largest: near others, of weights that are large, tiny, equal or 0."""
    random = np.random.default_rng(0)
    for peak in (0, 1, 8):
        for left in (0.02, 1.0):
            p = np.exp(peak * random.standard_normal((5, 700))) * (random.random((5, 700)) < left)
            p[:, 3] += 1e-3
            p = (p / p.max() * scale).astype(dtype)
            for u in (random.random(p.shape), np.round(31 * random.random(p.shape)) / 64 + 1 / 64):
                assert _largest(p, u)[:, 0].tolist() == _scores(p, u).argmax(1).tolist()


@pytest.mark.parametrize("replacement, samples", [(False, 1), (False, 5), (True, 1), (True, 40)])
@pytest.mark.parametrize("shape", [(12,), (3, 12)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_multinomial_equals_that_of_torch(dtype, shape, replacement, samples):
    weights = np.random.default_rng(0).random(shape).astype(dtype)
    torch.manual_seed(7)
    bk.manual_seed(7)
    theirs = torch.multinomial(torch.from_numpy(weights), samples, replacement)
    assert same(theirs, badak.multinomial(Tensor._of(weights), samples, replacement))


def test_a_seed_gives_the_numbers_of_torch_for_negative_and_large_seeds():
    for seed in (0, 1, -1, -3, 2**32 - 1, 2**32, 2**40 + 5, -(2**63), 2**64 - 1):
        torch.manual_seed(seed)
        assert bk.manual_seed(seed) is bk.default_generator
        assert bk.initial_seed() == torch.initial_seed()
        assert same(torch.rand(9), bk.rand(9))


def test_a_seed_outside_64_bits_is_refused():
    for seed in (-(2**63) - 1, 2**64):
        with pytest.raises(IndexOutOfRangeError, match="manual_seed: expected"):
            bk.manual_seed(seed)
    with pytest.raises(ArgumentTypeError, match="expected an int"):
        bk.Generator().manual_seed(0.5)


def test_torch_and_badak_take_over_each_others_states():
    torch.manual_seed(9)
    torch.rand(700)
    torch.randn(3)  # leaves a normal behind
    bk.set_rng_state(Tensor._of(torch.get_rng_state().numpy()))
    ours = bk.get_rng_state()
    assert same(torch.get_rng_state(), ours)
    assert same(torch.randn(5), bk.randn(5))
    torch.set_rng_state(torch.from_numpy(bk.get_rng_state()._array))
    assert same(torch.randn(4), bk.randn(4))
    assert same(torch.rand(1000), bk.rand(1000))


def test_a_freshly_seeded_state_has_the_bytes_of_torch():
    torch.manual_seed(3)
    bk.manual_seed(3)
    assert same(torch.get_rng_state(), bk.get_rng_state())


def test_a_damaged_state_is_refused():
    good = bk.get_rng_state()._array
    for bad in (good[:-1], good.astype(np.int64), np.zeros_like(good), np.full_like(good, 255)):
        with pytest.raises(StateError, match="set_state"):
            bk.set_rng_state(Tensor._of(bad))
    assert np.array_equal(bk.get_rng_state()._array, good)


def test_copies_of_a_generator_go_on_from_the_same_point():
    generator = bk.Generator().manual_seed(3)
    generator.normal((3,))
    copies = [generator.clone_state(), copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))]
    expected = generator.normal((5,))
    assert all(np.array_equal(one.normal((5,)), expected) for one in copies)


def test_a_new_generator_starts_as_torchs_does():
    assert bk.Generator().initial_seed() == torch.Generator().initial_seed()
    assert same(torch.rand(3, generator=torch.Generator()), bk.rand(3, generator=bk.Generator()))
    assert str(bk.Generator("cpu").device) == "cpu"


def test_seed_starts_anew_from_an_unknown_seed():
    first, second = bk.seed(), bk.seed()
    assert first != second and bk.initial_seed() == second


def test_what_is_drawn_inside_fork_rng_is_not_missed_outside():
    bk.manual_seed(1)
    expected = bk.rand(4)._array
    bk.manual_seed(1)
    with bk.fork_rng():
        bk.rand(100)
    assert np.array_equal(bk.rand(4)._array, expected)


def view(kind: str):
    """The same view of a torch and of a badak tensor of ones."""
    views = {
        "rows": lambda x: x,
        "transposed": lambda x: x.transpose(0, 2),
        "permuted": lambda x: x.transpose(0, 1),
        "every second": lambda x: x[:, :, ::2],
    }
    theirs, ours = torch.ones(3, 5, 8), np.ones((3, 5, 8), np.float32)
    if kind == "every second":
        return views[kind](theirs), Tensor._of(views[kind](ours))
    axes = {"rows": (0, 1, 2), "transposed": (2, 1, 0), "permuted": (1, 0, 2)}[kind]
    return views[kind](theirs), Tensor._of(ours.transpose(axes))


FILLS = {
    "uniform_": lambda x: x.uniform_(-1, 2),
    "normal_": lambda x: x.normal_(1, 2),
    "bernoulli_": lambda x: x.bernoulli_(0.3),
    "exponential_": lambda x: x.exponential_(),
    "random_": lambda x: x.random_(5),
    "random_ from to": lambda x: x.random_(-3, 5),
    "geometric_": lambda x: x.geometric_(0.3),
    "cauchy_": lambda x: x.cauchy_(),
    "log_normal_": lambda x: x.log_normal_(),
}


@pytest.mark.parametrize("name", FILLS)
@looped(kind=["rows", "transposed", "permuted", "every second"])
def test_filling_follows_the_order_of_memory_as_in_torch(kind, name):
    theirs, ours = view(kind)
    torch.manual_seed(2)
    bk.manual_seed(2)
    filled = FILLS[name](ours)
    assert filled is ours
    assert same(FILLS[name](theirs), ours)
    assert same(torch.get_rng_state(), bk.get_rng_state())


@pytest.mark.parametrize("name", ["rand_like", "randn_like"])
@pytest.mark.parametrize("kind", ["rows", "transposed", "permuted", "every second"])
def test_like_functions_take_over_the_layout_as_in_torch(kind, name):
    theirs, ours = view(kind)
    torch.manual_seed(2)
    bk.manual_seed(2)
    a, b = getattr(torch, name)(theirs), getattr(bk, name)(ours)
    assert same(a, b) and a.stride() == b.stride()


@pytest.mark.parametrize("kind", ["rows", "transposed", "permuted", "every second"])
def test_the_dropout_mask_is_that_of_torch(kind):
    theirs, ours = view(kind)
    torch.manual_seed(2)
    bk.manual_seed(2)
    assert same(torch.nn.functional.dropout(theirs, 0.3) != 0, bk.dropout_mask(ours._array, 0.7))
    assert same(torch.get_rng_state(), bk.get_rng_state())


def test_bernoulli_with_a_tensor_of_chances_broadcasts_in_memory_order():
    chances = np.array([[0.1], [0.5], [0.9]], np.float32)
    torch.manual_seed(2)
    bk.manual_seed(2)
    theirs = torch.empty(4, 3).t().bernoulli_(torch.from_numpy(chances))
    assert same(theirs, Tensor._of(np.empty((4, 3), np.float32).T).bernoulli_(Tensor._of(chances)))
    turned = np.linspace(0, 1, 24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1)
    assert same(torch.bernoulli(torch.from_numpy(turned)), bk.bernoulli(Tensor._of(turned)))


def test_normal_takes_tensors_and_numbers_as_torch_does():
    mean, std = np.linspace(-1, 1, 20, dtype=np.float32)[:, None], np.linspace(0, 2, 9, dtype=np.float32)
    their_mean, their_std = torch.from_numpy(mean), torch.from_numpy(std)
    our_mean, our_std = Tensor._of(mean), Tensor._of(std)
    calls = [
        (lambda m, s, normal: normal(m, s)),
        (lambda m, s, normal: normal(m, 0.7)),
        (lambda m, s, normal: normal(m)),
        (lambda m, s, normal: normal(0.3, s)),
        (lambda m, s, normal: normal(0.3, 0.7, (3, 7))),
        (lambda m, s, normal: normal(0.3, 0.7, size=(3, 7))),
    ]
    for call in calls:
        torch.manual_seed(2)
        bk.manual_seed(2)
        assert same(call(their_mean, their_std, torch.normal), call(our_mean, our_std, bk.normal))


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.rand(2, 3),
        lambda m: m.rand((2, 3)),
        lambda m: m.rand([2, 3]),
        lambda m: m.rand(size=(2, 3)),
        lambda m: m.rand(()),
        lambda m: m.randn(2, 30),
        lambda m: m.randint(7, (3,)),
        lambda m: m.randint(-3, 7, (3,)),
        lambda m: m.randint(high=7, size=(3,)),
        lambda m: m.randint(low=2, high=7, size=(3,)),
        lambda m: m.randint(0, 7, (3,), dtype=m.int32),
        lambda m: m.randint_like(m.rand(3, 2), 7),
        lambda m: m.randint_like(m.rand(3, 2), -2, 7),
        lambda m: m.randperm(12),
        lambda m: m.rand(3, dtype=m.float64),
        lambda m: m.rand(3, generator=m.Generator().manual_seed(4)),
        lambda m: m.empty(7).normal_(generator=m.Generator().manual_seed(4)),
    ],
)
def test_calls_read_as_in_torch(call):
    torch.manual_seed(6)
    badak.manual_seed(6)
    theirs, ours = call(torch), call(badak)
    assert same(theirs, ours)
    assert str(theirs.dtype).removeprefix("torch.") == str(ours.dtype).removeprefix("badak.")


def test_requires_grad_and_out_are_honoured():
    assert bk.rand(3, requires_grad=True).requires_grad
    out = bk.rand(3)
    bk.manual_seed(6)
    assert bk.rand(3, out=out) is out
    bk.manual_seed(6)
    assert np.array_equal(bk.rand(3)._array, out._array)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: bk.rand(2, dtype=badak.int64), DTypeError, "rand: expected a floating-point dtype"),
        (lambda: bk.rand("a"), ArgumentTypeError, "rand: expected a shape"),
        (lambda: bk.rand(-1), ArgumentError, "sizes >= 0"),
        (lambda: bk.randint(0, 0, (1,)), IndexOutOfRangeError, "'from' to be less than 'to'"),
        (lambda: bk.randint(3), ArgumentTypeError, "randint"),
        (lambda: bk.randperm(-1), ArgumentError, "n >= 0"),
        (lambda: bk.rand(2).normal_(0, -1), ArgumentError, "std >= 0"),
        (lambda: bk.rand(2).uniform_(1, 0), ArgumentError, "low <= high"),
        (lambda: bk.rand(2).bernoulli_(1.5), ArgumentError, r"p in \[0, 1\]"),
        (lambda: bk.rand(2).exponential_(0), ArgumentError, "lambda > 0"),
        (lambda: bk.rand(2).geometric_(1), ArgumentError, r"p in \(0, 1\)"),
        (lambda: bk.randint(3, (2,)).normal_(), DTypeError, "floating-point tensor"),
        (lambda: badak.multinomial(bk.rand(3), 4), ArgumentError, "without replacement"),
        (lambda: badak.multinomial(bk.rand(3) * 0, 1), ArgumentError, "sum of probabilities <= 0"),
        (lambda: badak.multinomial(bk.rand(3) - 2, 1), ArgumentError, "element < 0"),
        (lambda: bk.rand(2, generator=3), ArgumentTypeError, "badak.Generator"),
        (lambda: bk.rand(2, device="cuda"), NotImplementedError, "computes on the CPU"),
    ],
)
def test_mistakes_are_named(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_drawing_over_a_leaf_that_requires_grad_is_refused_outside_no_grad():
    leaf = bk.rand(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="in-place operation"):
        leaf.normal_()
    with badak.no_grad():
        leaf.normal_()
    assert leaf.requires_grad


def test_fma64_rounds_once():
    rng = np.random.default_rng(0)
    a, b, c = rng.random(1000), rng.random(1000) - 0.5, rng.random(1000)
    exact = _exact(a, b, c)
    assert np.array_equal(fma64(a, b, c), np.array(exact))


def _exact(a, b, c):
    return [float(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in zip(a.tolist(), b.tolist(), c.tolist())]


# ---------------------------------------------------------------------- history

HISTORIES = {  # what is drawn from y, or over it, or with a y of its own
    "bernoulli": lambda lib, y: lib.bernoulli(y),
    "x.bernoulli": lambda lib, y: y.bernoulli(),
    "normal of a mean": lambda lib, y: lib.normal(y, 1.0),
    "normal of a deviation": lambda lib, y: lib.normal(0.0, y),
    "normal of both": lambda lib, y: lib.normal(y, y),
    "multinomial": lambda lib, y: lib.multinomial(y, 2),
    "rand_like": lambda lib, y: lib.rand_like(y),
    "randn_like": lambda lib, y: lib.randn_like(y),
    "randint_like": lambda lib, y: lib.randint_like(y, 3),
    "uniform_": lambda lib, y: y.uniform_(),
    "normal_": lambda lib, y: y.normal_(),
    "log_normal_": lambda lib, y: y.log_normal_(),
    "exponential_": lambda lib, y: y.exponential_(),
    "cauchy_": lambda lib, y: y.cauchy_(),
    "geometric_": lambda lib, y: y.geometric_(0.5),
    "bernoulli_": lambda lib, y: y.bernoulli_(),
    "bernoulli_ of p": lambda lib, y: y.bernoulli_(0.3),
    "bernoulli_ of probabilities": lambda lib, y: lib.zeros(4, 3).bernoulli_(y[0]),
    "bernoulli_ of its own probabilities": lambda lib, y: y.bernoulli_(y.clone()),
    "random_": lambda lib, y: y.random_(),
    "random_ below": lambda lib, y: y.random_(5),
    "random_ between": lambda lib, y: y.random_(1, 5),
    "normal_ over a part": lambda lib, y: (y[1:3].normal_(), y)[1],
}


def test_every_random_function_is_among_the_draws():
    mine = {name for name, thing in vars(bk).items() if getattr(thing, "__module__", "") == "badak.tensor.random"}
    mine |= {"multinomial"}  # which lies with what tensors say how to draw
    fresh = {"rand", "randn", "randint", "randperm"}  # of nothing but a size
    helpers = {"dropout_mask", "draw_like", "memory_axes", "or_default"}
    tried = {name.split()[0].split(".")[-1] for name in HISTORIES}
    assert {name for name in mine if not name.startswith("_")} - fresh - helpers == tried


@pytest.mark.parametrize("name", HISTORIES)
def test_gradients_through_a_draw_are_those_of_torch(name):
    start, found = np.random.default_rng(0).random((4, 3)), {}
    for lib in (badak, torch):
        x = lib.tensor(start, requires_grad=True)
        drawn = HISTORIES[name](lib, x * 0.5)
        grad = None
        if drawn.requires_grad:
            assert not drawn.is_leaf
            (3 * drawn).sum().backward()
            grad = x.grad.tolist()
        found[lib] = drawn.requires_grad, grad
        with lib.no_grad():
            assert not HISTORIES[name](lib, x * 0.5).requires_grad
    assert found[badak] == found[torch]


@pytest.mark.parametrize("name", [name for name in HISTORIES if "_" in name.split()[0] and "like" not in name])
def test_a_leaf_is_not_drawn_over(name):
    x = badak.rand(4, 3, requires_grad=True)
    if "of probabilities" not in name:
        with pytest.raises(RuntimeError, match=r"leaf Variable that requires grad is being used in an in-place operation.\nfix: "):
            HISTORIES[name](badak, x)


@pytest.mark.parametrize("name", [name for name in HISTORIES if name not in ("multinomial",)])
def test_a_recorded_draw_has_the_gradients_of_an_eager_one(name):
    def program(compile):
        badak.manual_seed(3)
        step, found = compile(lambda x: (HISTORIES[name](badak, x * 0.5) * x).sum()), []
        for number in range(6):
            x = badak.full((4, 3), 0.1 + number / 10, requires_grad=True)
            step(x).backward()
            found.append(x.grad.tolist())
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is not replayed says so
        assert program(lambda f: f) == program(badak.compile)


@pytest.mark.parametrize("name", ["uniform_", "normal_", "exponential_", "random_", "cauchy_", "log_normal_"])
def test_a_refused_draw_draws_nothing(name):
    badak.manual_seed(0)
    with pytest.raises(badak.core.errors.GraphError, match=f"{name}: unsupported operation: more than one element"):
        getattr(badak.zeros(1, 3).expand(4, 3), name)()
    with pytest.raises(badak.core.errors.GraphError, match="leaf Variable that requires grad"):
        getattr(badak.zeros(3, requires_grad=True), name)()
    after = badak.rand(3)
    badak.manual_seed(0)
    assert badak.equal(after, badak.rand(3))


@pytest.mark.parametrize("was_deterministic", [False, True])
def test_resized_memory_holds_zeros(was_deterministic):
    if was_deterministic:
        badak.use_deterministic_algorithms(True)
        badak.use_deterministic_algorithms(False)
    for _ in range(20):
        badak.full((2, 2), 7.0)  # memory that is free, and not 0
        assert badak.ones(2).resize_(2, 2).tolist() == [[1, 1], [0, 0]]


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 5, 16, 1 << 22])
@pytest.mark.parametrize("name", ["normal_", "uniform_"])
def test_large_weights_are_drawn_in_pieces_with_the_same_bits(name, more):
    drawn = []
    for library in (torch, badak):
        library.manual_seed(3)
        with library.no_grad():
            large = getattr(library.empty(2, (1 << 22) + more), name)()
        drawn.append(np.append(large.flatten()[-40:].numpy(), [large[:, :999].double().sum().item(), library.rand(1).item()]))
    np.testing.assert_allclose(*drawn, rtol=2e-6, atol=1e-6)


ARGUMENTS = {
    "normal_": (), "uniform_": (), "bernoulli_": (0.5,), "bernoulli_ of a tensor": (), "exponential_": (), "random_": (),
    "cauchy_": (), "log_normal_": (), "geometric_": (0.3,),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["a leaf", "a view of one", "expanded"])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_what_refuses_to_be_filled_leaves_the_generator_where_it_stands(name, kind):
    """As PyTorch does: numbers drawn later are the same."""
    for lib in (torch, badak):
        w = lib.zeros(4, 1, 3).expand(4, 5, 3) if kind == "expanded" else lib.zeros(4, 5, 3).requires_grad_()
        x = w.select(1, -1) if kind == "a view of one" else w
        lib.manual_seed(0)
        before = lib.get_rng_state()
        with pytest.raises(RuntimeError):
            if name == "bernoulli_ of a tensor":
                x.bernoulli_(lib.full(tuple(x.shape), 0.5))
            else:
                getattr(x, name)(*ARGUMENTS[name])
        assert (lib.get_rng_state() == before).all(), lib


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_uniform_numbers_are_drawn_for_both_parts(dtype):
    def drawn(lib):
        lib.manual_seed(0)
        kind = getattr(lib, dtype)
        return [lib.empty(3, dtype=kind).uniform_(), lib.empty(2, 40, dtype=kind).t().uniform_(-1, 2)]

    for mine, theirs in zip(drawn(badak), drawn(torch)):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_normal_of_parameters_that_do_not_fit_says_where_they_clash():
    for lib in (badak, torch):
        with pytest.raises(RuntimeError, match=r"The size of tensor a \(12\) must match the size of tensor b \(5\)"):
            lib.normal(lib.zeros(12), lib.ones(2, 5))


def test_out_of_another_size_is_resized():
    for draw in (
        lambda t, out: t.rand(6, out=out),
        lambda t, out: t.randint(5, (6,), out=out),
        lambda t, out: t.randperm(6, out=out),
        lambda t, out: t.bernoulli(t.full((6,), 0.5), out=out),
        lambda t, out: t.multinomial(t.ones(3), 1, out=out.long()),
    ):
        for t in (badak, torch):
            t.manual_seed(1)
        with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
            ours = draw(badak, badak.zeros(4))
        assert ours.tolist() == draw(torch, torch.zeros(4)).tolist()


BOUNDS = {"bfloat16": (0, 1000), "float16": (-32769, 60000), "float32": (2**24 - 9, 2**25 + 3), "int8": (-128, 128)}


@pytest.mark.parametrize("dtype", BOUNDS)
def test_integers_of_a_dtype_that_leaves_some_out_are_pytorchs(dtype):
    low, high = BOUNDS[dtype]
    found = []
    for lib in (badak, torch):
        lib.manual_seed(3)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            x = lib.empty(50, dtype=getattr(lib, dtype)).random_(low, high)
            y = lib.randint(low, high, (50,), dtype=x.dtype)
        z = lib.empty(9, dtype=x.dtype).random_(-5, None)
        found.append((x.tolist(), y.tolist(), z.tolist(), any("out of bounds" in str(each.message) for each in said)))
    assert found[0] == found[1]


def test_numbers_that_a_dtype_does_not_hold_are_not_drawn():
    for lib in (badak, torch):
        for dtype, low, high in (("int8", -300, 300), ("uint8", -1, 5), ("bool", 0, 3), ("float16", 0, 70000), ("int16", 0, 32769)):
            with pytest.raises((RuntimeError, IndexError)):
                lib.empty(3, dtype=getattr(lib, dtype)).random_(low, high)
        with pytest.raises(RuntimeError):
            lib.empty(3, dtype=lib.float16).uniform_(-60000, 60000)
        with pytest.raises(RuntimeError, match="sigma > 0.0"):
            lib.empty(3).cauchy_(0, 0)
        with pytest.raises(NotImplementedError):
            lib.normal(lib.ones(3, dtype=lib.int64), 1.0)
