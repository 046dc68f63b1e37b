"""Matrices taken apart: what op_db does not ask, second derivatives, refusals, shapes without memory."""

import numpy as np
import pytest
import torch

import badak
from badak.autograd import gradcheck, gradgradcheck
from badak.core.errors import BadakError


def matrix(*shape, seed=0):
    return badak.tensor(np.random.default_rng(seed).standard_normal(shape), requires_grad=True)


DIFFERENTIATED = {
    "matrix_exp": (badak.linalg.matrix_exp, (2, 3, 3)),
    "lu square": (lambda a: badak.linalg.lu(a)[1:], (3, 3)),
    "lu wide": (lambda a: badak.linalg.lu_factor(a)[0], (2, 4)),
    "lu tall": (lambda a: badak.linalg.lu_factor(a)[0], (4, 2)),
    "lu_solve": (lambda a: badak.linalg.lu_solve(*badak.linalg.lu_factor(a), badak.ones(3, 1, dtype=badak.float64)), (3, 3)),
    "eigvals": (lambda a: badak.view_as_real(badak.linalg.eigvals(a)), (3, 3)),
    "eig": (lambda a: badak.view_as_real(badak.linalg.eig(a)[1]), (3, 3)),
    "householder_product": (lambda a: badak.linalg.householder_product(a, a[0, :2]), (4, 3)),
    "ormqr": (lambda a: badak.ormqr(a, a[0, :2], a), (4, 4)),
    "tensorinv": (lambda a: badak.linalg.tensorinv(a.reshape(2, 2, 4), 2), (4, 4)),
    "cholesky_inverse": (lambda a: badak.cholesky_inverse(a.tril() + 2 * badak.eye(3, dtype=badak.float64)), (3, 3)),
    "svd_lowrank": (lambda a: (badak.manual_seed(0), badak.svd_lowrank(a, 2, 1)[1])[1], (4, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_first_and_second_derivatives(name):
    call, shape = DIFFERENTIATED[name]
    x = matrix(*shape, seed=3)
    assert gradcheck(call, (x,)) and (name in ("svd_lowrank",) or gradgradcheck(call, (x,)))


def test_the_gradient_of_eigenvectors_is_pytorchs_where_pytorch_has_one():
    a = np.random.default_rng(1).standard_normal((2, 4, 4))
    grads = []
    for lib in (badak, torch):
        x = lib.tensor(a, requires_grad=True)
        w, v = lib.linalg.eig(x)
        (v.abs() * w.abs().unsqueeze(-2)).square().cumsum(-1).sum().backward()  # however the vectors are turned
        grads.append(x.grad.numpy())
    np.testing.assert_allclose(*grads, rtol=1e-9, atol=1e-10)


def test_large_and_small_matrices_have_the_exponential_that_pytorch_gives():
    for size in (1e-12, 1e-3, 1.0, 30.0):
        a = np.random.default_rng(2).standard_normal((3, 5, 5)) * size
        for kind in (np.float64, np.float32):
            ys = [lib.linalg.matrix_exp(lib.from_numpy(a.astype(kind))).numpy() for lib in (badak, torch)]
            assert ys[0].dtype == kind
            if size < 10 or kind is np.float64:
                np.testing.assert_allclose(*ys, rtol=1e-4 if kind is np.float32 else 1e-8, atol=1e-5 * np.abs(ys[1]).max())
    assert badak.linalg.matrix_exp(badak.full((2, 2), float("nan"))).isnan().all()


def test_what_fails_for_one_matrix_of_a_stack_is_reported():
    a = np.stack([np.eye(2), np.zeros((2, 2)), 2 * np.eye(2)])
    inverse, info = badak.linalg.inv_ex(badak.tensor(a))
    assert info.tolist() == [0, 1, 0] and inverse[1].isnan().all() and inverse[2, 0, 0] == 0.5
    factor, info = badak.linalg.cholesky_ex(badak.tensor(a))
    assert info.tolist() == torch.linalg.cholesky_ex(torch.tensor(a)).info.tolist() and factor[0, 0, 0] == 1
    x, info = badak.linalg.solve_ex(badak.tensor(a), badak.ones(3, 2, 1, dtype=badak.float64))
    assert info.tolist() == [0, 1, 0] and x[2].tolist() == [[0.5], [0.5]]


REFUSED = {
    "lu of a singular matrix": (lambda: badak.linalg.lu_factor(badak.zeros(2, 2)), "linalg.lu_factor: U[1,1] is zero"),
    "lu without pivots": (lambda: badak.linalg.lu(badak.eye(2), pivot=False), "linalg.lu_factor: LU without pivoting"),
    "pivots of another size": (
        lambda: badak.linalg.lu_solve(badak.eye(2), badak.ones(3, dtype=badak.int32), badak.ones(2, 1)),
        "linalg.lu_solve: Number of pivots per batch should be same as",
    ),
    "exponential of a long matrix": (lambda: badak.matrix_exp(badak.ones(2, 3)), "linalg.matrix_exp: A must be batches of square"),
    "tensorinv": (lambda: badak.linalg.tensorinv(badak.ones(2, 3), 1), "Expected self to satisfy the requirement prod"),
    "tensorinv of nothing": (lambda: badak.linalg.tensorinv(badak.ones(2, 2), 0), "Expected a strictly positive integer for"),
    "tensorsolve": (lambda: badak.linalg.tensorsolve(badak.ones(2, 3), badak.ones(2)), "Expected self to satisfy the requirement"),
    "geqrf": (lambda: badak.geqrf(matrix(2, 2)), "the derivative for 'geqrf' is not implemented."),
    "vander": (lambda: badak.vander(badak.ones(2, 2)), "torch.vander: x must be a one-dimensional tensor"),
    "rank": (lambda: badak.pca_lowrank(badak.ones(2, 2), q=3), "q(=3) must be non-negative integer and not greater than"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused(name):
    call, text = REFUSED[name]
    with pytest.raises(BadakError) as caught:
        call()
    assert str(caught.value).startswith(text) and "\nfix: " in str(caught.value)


def test_shapes_without_memory():
    a = badak.empty(2, 4, 3, device="meta")
    assert [x.shape for x in badak.linalg.lu(a)] == [(2, 4, 4), (2, 4, 3), (2, 3, 3)]
    assert badak.linalg.matrix_exp(badak.empty(5, 5, device="meta")).shape == (5, 5)
    assert [x.dtype for x in badak.linalg.eig(badak.empty(2, 2, device="meta"))] == [badak.complex64] * 2


@pytest.mark.parametrize("name", ["linalg.ldl_factor", "linalg.ldl_solve"])
def test_a_name_that_is_not_there_says_so_in_two_lines(name):
    room, _, last = name.partition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(getattr(badak, room), last)
    cause, fix = str(caught.value).splitlines()
    assert cause == f"torch.{name}: badak does not have it" and fix.startswith("fix: ")
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        getattr(badak, room).no_such_name  # noqa: B018
