"""torch.linalg and its older names, against PyTorch."""

import math
from math import inf

import numpy as np
import pytest
import torch

import badak
from tests.parity.compare import DEEP, assert_same
from tests.tiers import looped

rng = np.random.default_rng(0)
SQUARE, STACK, WIDE, TALL = (rng.standard_normal(shape) for shape in ((4, 4), (2, 3, 3), (3, 5), (5, 3)))
POSITIVE = SQUARE @ SQUARE.T + np.eye(4)
SINGULAR = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, -1.0])

CALLS = {
    "inv": (lambda lib, a: lib.linalg.inv(a), [SQUARE]),
    "inverse": (lambda lib, a: a.inverse() + lib.inverse(a), [STACK]),
    "pinv": (lambda lib, a: lib.linalg.pinv(a), [WIDE]),
    "pinv of low rank": (lambda lib, a: lib.linalg.pinv(a), [SINGULAR]),
    "pinv with atol": (lambda lib, a: lib.linalg.pinv(a, atol=1.5), [TALL]),
    "pinverse": (lambda lib, a: lib.pinverse(a), [TALL]),
    "solve": (lambda lib, a, b: lib.linalg.solve(a, b), [SQUARE, rng.standard_normal((4, 2))]),
    "solve a vector": (lambda lib, a, b: lib.linalg.solve(a, b), [SQUARE, rng.standard_normal(4)]),
    "solve from the right": (lambda lib, a, b: lib.linalg.solve(a, b, left=False), [SQUARE, rng.standard_normal((2, 4))]),
    "solve stacks": (lambda lib, a, b: lib.linalg.solve(a, b), [STACK, rng.standard_normal((3, 2))]),
    "solve a triangle of as many matrices as rows": (  # B is a matrix for all of them, not a vector for each
        lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=False),
        [rng.standard_normal((4, 4, 4)), SQUARE],
    ),
    "solve upper": (lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=True), [SQUARE, rng.standard_normal((4, 2))]),
    "solve ones": (
        lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=False, unitriangular=True),
        [SQUARE, rng.standard_normal((4, 2))],
    ),
    "lstsq": (lambda lib, a, b: lib.linalg.lstsq(a, b).solution, [TALL, rng.standard_normal((5, 2))]),
    "det": (lambda lib, a: lib.det(a) + a.det() + lib.linalg.det(a), [STACK]),
    "det of a singular one": (lambda lib, a: lib.linalg.det(a + lib.eye(3, dtype=a.dtype) * 0), [SINGULAR + np.diag([0, 0, 1.0])]),
    "slogdet": (lambda lib, a: lib.linalg.slogdet(a), [STACK]),
    "logdet": (lambda lib, a: lib.logdet(a), [POSITIVE]),
    "cholesky": (lambda lib, a: lib.linalg.cholesky((a + a.mT) / 2), [POSITIVE]),
    "cholesky upper": (lambda lib, a: lib.linalg.cholesky((a + a.mT) / 2, upper=True), [POSITIVE]),
    "qr": (lambda lib, a: lib.linalg.qr(a), [TALL]),
    "svdvals": (lambda lib, a: lib.linalg.svdvals(a), [WIDE]),
    "svd put together": (lambda lib, a: (lambda u, s, vh: u * s @ vh)(*lib.linalg.svd(a, full_matrices=False)), [WIDE]),
    "older svd": (lambda lib, a: (lambda u, s, v: u * s**2 @ v.mT)(*lib.svd(a)), [TALL]),
    "eigvalsh": (lambda lib, a: lib.linalg.eigvalsh((a + a.mT) / 2), [POSITIVE]),
    "matrix_power": (lambda lib, a: lib.linalg.matrix_power(a, 5), [SQUARE]),
    "matrix_power below 0": (lambda lib, a: lib.matrix_power(a, -3), [STACK]),
    "matrix_power 0": (lambda lib, a: lib.matrix_power(a, 0) * a, [STACK]),
    "cross": (lambda lib, a, b: lib.linalg.cross(a, b), [rng.standard_normal((2, 3)), rng.standard_normal((2, 3))]),
    "cross of rows": (lambda lib, a, b: lib.cross(a, b, dim=0), [rng.standard_normal((3, 2)), rng.standard_normal((3, 2))]),
    "vecdot": (lambda lib, a, b: lib.linalg.vecdot(a, b), [SQUARE, SQUARE.T.copy()]),
    "cond": (lambda lib, a: lib.linalg.cond(a), [SQUARE]),
    **{f"norm {o}": (lambda lib, a, o=o: lib.linalg.norm(a, o), [TALL]) for o in ("fro", "nuc", 1, 2, -2, float("inf"))},
}


@pytest.mark.parametrize("call, arrays", CALLS.values(), ids=list(CALLS))
@looped(dtype=["float32", "float64"])
def test_values_and_gradients_are_those_of_pytorch(call, arrays, dtype):
    found = []
    for lib in (badak, torch):
        leaves = [lib.from_numpy(a.astype(dtype)).requires_grad_() for a in arrays]
        made = call(lib, *leaves)
        parts = [y for y in (made if isinstance(made, tuple) else (made,)) if y.numel()]
        live = [y for y in parts if y.requires_grad]
        sum((y * y).sum() for y in live).backward()
        found.append([*parts, *(leaf.grad for leaf in leaves)])
    for ours, theirs in zip(*found, strict=True):
        assert_same(ours, theirs, 4 * DEEP)


def test_whole_factors_and_other_eigenvalues():
    a = badak.from_numpy(TALL.copy())
    U, S, Vh = badak.linalg.svd(a)  # noqa: N806
    assert U.shape == (5, 5) and Vh.shape == (3, 3)
    np.testing.assert_allclose((U[:, :3] * S @ Vh).numpy(), TALL, atol=1e-12)
    for lib in (badak, torch):
        values = np.sort_complex(lib.linalg.eigvals(lib.from_numpy(SQUARE.copy())).numpy())
        np.testing.assert_allclose(values, np.sort_complex(np.linalg.eigvals(SQUARE)), atol=1e-12)
        assert lib.linalg.matrix_rank(lib.from_numpy(np.stack([SINGULAR, np.eye(3)]))).tolist() == [1, 3]
        w, v = lib.linalg.eig(lib.from_numpy(SQUARE.copy()))
        assert w.shape == (4,) and v.shape == (4, 4)
    assert badak.linalg.slogdet(a[:3]).logabsdet.shape == ()
    assert badak.linalg.qr(a, mode="r").Q.numel() == 0 and badak.linalg.qr(a, mode="r").R.shape == (3, 3)
    assert (badak.cholesky(badak.eye(3)) == badak.eye(3)).all()


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_what_is_refused(lib):
    for call in (
        lambda: lib.linalg.inv(lib.zeros(2, 2)),
        lambda: lib.linalg.inv(lib.zeros(2, 3)),
        lambda: lib.linalg.inv(lib.zeros(3)),
        lambda: lib.linalg.inv(lib.ones(2, 2, dtype=lib.int64)),
        lambda: lib.linalg.solve(lib.zeros(2, 2), lib.ones(2)),
        lambda: lib.linalg.solve(lib.eye(2), lib.ones(2), left=False),
        lambda: lib.linalg.solve(lib.eye(2).expand(2, 2, 2), lib.ones(2, 2), left=False),
        lambda: lib.linalg.solve_triangular(lib.eye(2), lib.ones(2), upper=True),
        lambda: lib.linalg.cholesky(-lib.eye(2)),
        lambda: lib.linalg.cross(lib.ones(2), lib.ones(2)),
    ):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(lib.linalg.LinAlgError, match="singular"):
        lib.linalg.inv(lib.zeros(2, 2))


def told(lib, call):
    """What a call gives, in plain numbers, or that it is refused."""
    try:
        made = call(lib)
    except (RuntimeError, ValueError) as error:
        return "refused", isinstance(error, lib.linalg.LinAlgError)
    return [x.tolist() if x.numel() else tuple(x.shape) for x in (made if isinstance(made, tuple) else (made,))]


def matrix(lib, *shape):
    numbers = lib.arange(math.prod(shape)).double()
    return (numbers**2 % 7 + numbers.cos()).reshape(shape)


STRANGE = {
    **{
        f"cond of norm {p}": lambda lib, p=p: lib.linalg.cond(matrix(lib, 2, 3, 3), p)
        for p in (1, -1, 2, -2, inf, -inf, "fro", "nuc")
    },
    **{f"cond {p} of 0": lambda lib, p=p: lib.linalg.cond(lib.zeros(2, 2), p) for p in (1, inf, "fro", "nuc")},
    **{f"cond {p} of none": lambda lib, p=p: lib.linalg.cond(lib.ones(2, 0, 0), p) for p in (None, 1, "fro")},
    "cond of another norm": lambda lib: lib.linalg.cond(lib.ones(2, 2), 3),
    "cond of no square": lambda lib: lib.linalg.cond(lib.ones(2, 3), 1),
    "qr of another mode": lambda lib: lib.linalg.qr(lib.ones(2, 2), mode="x"),
    "rank with a limit": lambda lib: lib.linalg.matrix_rank(matrix(lib, 3, 3), 2.0),
    "rank with a limit, of a symmetric one": lambda lib: lib.linalg.matrix_rank(lib.eye(3), 0.01, True),
    "tensorsolve of none": lambda lib: lib.linalg.tensorsolve(lib.ones(0, 3, 0, 3), lib.ones(0, 3)),
    "tensorinv of none": lambda lib: lib.linalg.tensorinv(lib.ones(0, 3, 0, 3)),
    "residuals": lambda lib: lib.linalg.lstsq(matrix(lib, 4, 3, 2), lib.ones(4, 3, 1).double()).residuals,
    "lstsq of a vector": lambda lib: lib.linalg.lstsq(lib.ones(3), lib.ones(3)),
    "lstsq of other rows": lambda lib: lib.linalg.lstsq(lib.ones(3, 2), lib.ones(2, 2)),
    "lstsq of two dtypes": lambda lib: lib.linalg.lstsq(lib.ones(3, 2), lib.ones(3, 2).double()),
    "a norm over three dims": lambda lib: lib.linalg.norm(lib.ones(2, 2, 2), 1, (0, 1, 2)),
    "a norm of three dims": lambda lib: lib.linalg.norm(lib.ones(2, 2, 2), 1),
    "a matrix norm over one dim": lambda lib: lib.linalg.norm(lib.ones(2, 2), "fro", 0),
    "a matrix norm over one dim twice": lambda lib: lib.linalg.norm(lib.ones(2, 2), 1, (0, 0)),
    "a matrix norm of a vector": lambda lib: lib.linalg.norm(lib.ones(2), "fro"),
    "a matrix norm of integers": lambda lib: lib.linalg.matrix_norm(lib.ones(2, 2).long(), 1),
    **{f"a matrix norm {p} of none": lambda lib, p=p: lib.linalg.matrix_norm(lib.ones(0, 4), p) for p in (1, 2, inf, "fro")},
    **{f"a norm {p} of none": lambda lib, p=p: lib.linalg.vector_norm(lib.ones(0, 4), p, 0) for p in (1, 0, 2, -1, inf, -inf)},
    **{f"a norm {p} of none at all": lambda lib, p=p: lib.linalg.vector_norm(lib.ones(0), p) for p in (0, 2, -1, inf)},
    "svd of nan": lambda lib: lib.linalg.svd(lib.full((2, 2), math.nan)),
    "eigh of nan": lambda lib: lib.linalg.eigh(lib.full((2, 2), math.nan)),
    "addr with a boolean": lambda lib: lib.addr(lib.ones(2, 2), lib.ones(2), lib.ones(2), beta=True),
    "addr of integers with half": lambda lib: lib.addr(lib.eye(2).long(), lib.arange(2), lib.arange(2), alpha=0.5),
    "addr of booleans": lambda lib: lib.addr(lib.eye(2).bool(), lib.ones(2).bool(), lib.ones(2).bool(), beta=2),
    "addmm of integers with a float": lambda lib: lib.addmm(lib.eye(2).long(), lib.eye(2).long(), lib.eye(2).long(), beta=2.5),
    "letters as numbers": lambda lib: lib.einsum(matrix(lib, 2, 3), [0, 1], matrix(lib, 3, 2), [1, 2], [2, 0]),
    "letters as numbers, dots": lambda lib: lib.einsum(matrix(lib, 4, 2, 3), [..., 0, 51], [..., 51, 0]),
    "letters as tensors": lambda lib: lib.einsum(lib.ones(2, 3), lib.tensor([0, 1]), lib.ones(3), lib.tensor([1])),
    "a number that is no letter": lambda lib: lib.einsum(lib.ones(2), [52]),
}


@pytest.mark.parametrize("name", STRANGE)
def test_norms_ranks_and_solutions_are_pytorchs_where_they_are_strange(name):
    ours, theirs = (told(lib, STRANGE[name]) for lib in (badak, torch))
    if "refused" in theirs:
        assert ours == theirs
    else:
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(np.array(a, float), np.array(b, float), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (2, 3, 2), (0, 2), (2, 0)], ids=str)
def test_qr_with_a_square_q(shape):
    a = matrix(badak, *shape)
    for q, r in (badak.linalg.qr(a, mode="complete"), badak.qr(a, some=False)):
        m = shape[-2]
        assert q.shape[-2:] == (m, m) and r.shape == a.shape
        np.testing.assert_allclose((q @ r).numpy(), a.numpy(), atol=1e-12)
        np.testing.assert_allclose((q.mT @ q).numpy(), np.broadcast_to(np.eye(m), q.shape), atol=1e-12)


def test_qr_with_a_square_q_has_a_gradient_where_it_is_unique():
    a = matrix(badak, 2, 3).requires_grad_()
    assert badak.autograd.gradcheck(lambda a: badak.linalg.qr(a, mode="complete"), (a,))
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete' and nrows > ncols.\nfix: "):
        badak.linalg.qr(matrix(badak, 3, 2).requires_grad_(), mode="complete").R.sum().backward()


BROKEN = {
    "inv": lambda lib, a: lib.linalg.inv(a),
    "solve": lambda lib, a: lib.linalg.solve(a, a),
    "cholesky": lambda lib, a: lib.linalg.cholesky(a - 0.5 * lib.eye(3)),
    "svd": lambda lib, a: lib.linalg.svd(a.masked_fill(a == 0, math.nan)),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("stacked", [False, True])
def test_what_cannot_be_taken_apart_says_which_matrix_it_is_and_where(name, stacked):
    said = []
    for lib in (badak, torch):
        a = lib.tensor([1.0, 1, 0]).diag()
        with pytest.raises(lib.linalg.LinAlgError) as error:
            BROKEN[name](lib, lib.stack([lib.ones(3, 3) * 0.1 + 2 * lib.eye(3), a]) if stacked else a)
        said.append(str(error.value))
    assert said[1].removeprefix("torch.") in said[0]


@pytest.mark.parametrize("name", ["atol", "rtol"])
@pytest.mark.parametrize("function", ["matrix_rank", "pinv"])
def test_limits_are_numbers(function, name):
    with pytest.raises(TypeError):
        getattr(torch.linalg, function)(torch.eye(3), **{name: "small"})
    with pytest.raises(TypeError, match=f"expected {name}, a number or a tensor; got str\nfix: {name}=1e-6"):
        getattr(badak.linalg, function)(badak.eye(3), **{name: "small"})


def test_nan_has_no_factor_and_no_determinant():
    for lib in (badak, torch):
        x = lib.tensor([[float("nan"), 1.0], [1.0, 1.0]], dtype=lib.float64)
        for given in (x, lib.stack([lib.eye(2, dtype=lib.float64), x])):
            with pytest.raises(lib.linalg.LinAlgError, match="not positive-definite"):
                lib.linalg.cholesky(given)
        assert lib.linalg.cholesky_ex(x).info.item() == 1
        assert lib.linalg.slogdet(x).logabsdet.isnan() and lib.logdet(x).isnan()
        assert lib.linalg.slogdet(lib.zeros(2, 2)).logabsdet.item() == -float("inf")


def test_svd_of_an_infinity_ends():
    for values in ([[inf, inf, 0.0], [inf, 1.0, 0.0], [0.0, 0.0, 1.0]], [[math.nan, 1.0], [1.0, 1.0]]):
        x = badak.tensor(values, requires_grad=True)
        for call in (badak.linalg.svd, badak.linalg.svdvals, badak.linalg.pinv, badak.linalg.cond, badak.linalg.matrix_rank):
            with pytest.raises(badak.linalg.LinAlgError, match="non-finite values"):
                call(x)
        found = []
        for lib in (badak, torch):
            pair = lib.tensor([values, np.eye(len(values)).tolist()], requires_grad=True)
            lib.linalg.det(pair).backward(lib.ones(2))
            found.append(pair.grad)
        assert found[0][0].isnan().all() and not found[1][0].isfinite().all()
        np.testing.assert_allclose(found[0][1].numpy(), found[1][1].numpy(), atol=1e-6)


def test_what_is_infinite_is_so_in_silence():
    for values in ([[inf, -inf], [1.0, 0.0]], [[math.nan, 1.0], [1.0, 1.0]], [[1e38, 1e38], [-1e38, 1e38]]):
        for call in (badak.linalg.det, badak.linalg.qr, lambda x: x @ x, lambda x: badak.outer(x[0], x[0])):
            x = badak.tensor(values, requires_grad=True)
            y = call(x)
            y = y if isinstance(y, badak.Tensor) else y[1]
            y.backward(badak.ones_like(y))
    assert badak.linalg.det(badak.tensor([[math.nan, 1.0], [1.0, 1.0]])).isnan()
    x = badak.zeros(2, 2, requires_grad=True)
    with pytest.raises(badak.linalg.LinAlgError, match="singular"):
        badak.linalg.qr(x)[0].sum().backward()
