"""Matrix products and einsum against PyTorch."""

import numpy as np
import pytest
import torch

import badak as bk
from badak.core.errors import ArgumentError, DTypeError, ShapeError
from tests.twins import agree, agree_both, floats, whole


@pytest.mark.parametrize(
    "a, b",
    [
        ((2, 3), (3, 4)),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((5, 2, 3), (3, 4)),
        ((5, 1, 2, 3), (6, 3, 4)),
        ((3, 0), (0, 2)),
        ((5, 2, 3), (3,)),
    ],
    ids=str,
)
def test_matmul(a, b):
    agree_both("matmul", floats(*a), floats(*b))
    agree(lambda x, y: x @ y, lambda x, y: x @ y, floats(*a, dtype=np.float64), floats(*b, dtype=np.float64))


def test_products_by_their_names():
    for name, *shapes in (
        ("mm", (2, 3), (3, 4)),
        ("bmm", (2, 3, 4), (2, 4, 5)),
        ("mv", (2, 3), (3,)),
        ("dot", (3,), (3,)),
        ("outer", (3,), (2,)),
        ("ger", (3,), (2,)),
        ("inner", (2, 3), (4, 3)),
        ("kron", (2, 3), (3, 2)),
        ("addmm", (2, 4), (2, 3), (3, 4)),
        ("addmv", (2,), (2, 3), (3,)),
        ("addbmm", (3, 5), (2, 3, 4), (2, 4, 5)),
        ("addr", (2, 3), (2,), (3,)),
        ("baddbmm", (2, 3, 5), (2, 3, 4), (2, 4, 5)),
        ("cdist", (2, 3, 4), (2, 5, 4)),
    ):
        agree_both(name, *[floats(*shape) for shape in shapes])
    agree_both("addmm", floats(4), floats(2, 3), floats(3, 4), beta=0.5, alpha=2)
    agree_both("outer", whole(3, 3), floats(2))
    agree_both("trace", floats(3, 4))
    agree_both("tensordot", floats(2, 3, 4), floats(3, 4, 5), 2)
    agree_both("tensordot", floats(2, 3, 4), floats(5, 3, 2), dims=([0, 1], [2, 1]))
    agree_both("cdist", floats(3, 4), floats(5, 4), p=1.0)
    for mode in ("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        agree_both("cdist", floats(3, 4), floats(5, 4), compute_mode=mode)
    agree_both("cdist", floats(2, 30, 4), floats(2, 5, 4))
    agree_both("matmul", whole(3, 2, 3), whole(3, 3, 2))


def test_distances_of_equal_rows():
    for rows in (3, 30):  # from 26 on by a product
        x = bk.arange(2.0 * rows).reshape(rows, 2).requires_grad_()
        y = bk.cdist(x, x.detach())
        y.sum().backward()
        assert (y.diagonal() == 0).all() and y.isfinite().all() and x.grad.isfinite().all()
        assert bk.cdist(x.detach() * float("nan"), x.detach()).isnan().all()
    with pytest.raises(ValueError, match="^nearest is not a valid value for compute_mode\nfix: "):
        bk.cdist(x, x, compute_mode="nearest")


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("aB,Bc", (2, 3), (3, 4)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("i...->...", (3, 2)),
    ("i,j->ij", (2,), (3,)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("b...d,bd->b...", (2, 3, 4, 5), (2, 5)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("nhwc,hc->nwc", (2, 3, 4, 5), (3, 5)),
    ("ij,ij->ij", (2, 3), (1, 3)),
    ("ij,kl->i", (2, 3), (4, 5)),
    ("iij,jk->ik", (2, 2, 3), (3, 4)),
    ("a b, b c -> c a", (2, 3), (3, 4)),
]


@pytest.mark.parametrize("equation, shapes", [(e, s) for e, *s in EQUATIONS], ids=lambda v: str(v))
def test_einsum(equation, shapes):
    xs = [floats(*shape) for shape in shapes]
    agree(lambda *a: bk.einsum(equation, *a), lambda *a: torch.einsum(equation, *a), *xs)


def test_einsum_says_what_is_wrong():
    for equation, shapes, text in (
        ("ij,jk->ijj", [(2, 3), (3, 4)], "more than once"),
        ("ij,jk->iz", [(2, 3), (3, 4)], "no operand has it"),
        ("ij", [(2, 3), (3,)], "1 operands, and 2 were given"),
    ):
        with pytest.raises(ArgumentError, match=text):
            bk.einsum(equation, *[floats(*s) for s in shapes])
    with pytest.raises(ShapeError, match="subscript j has size 3 and 4"):
        bk.einsum("ij,jk->ik", floats(2, 3), floats(4, 5))
    with pytest.raises(ShapeError, match="number of subscripts"):
        bk.einsum("ijk,jk->ik", floats(2, 3), floats(3, 4))


def test_shapes_that_do_not_multiply():
    with pytest.raises(ShapeError, match="mat1 and mat2 shapes cannot be multiplied"):
        floats(2, 3) @ floats(2, 3)
    with pytest.raises(ShapeError, match=r"first two dimensions of batch2 tensor to be: \[2, 4\] but got: \[2, 3\]"):
        bk.bmm(floats(2, 3, 4), floats(2, 3, 4))
    with pytest.raises(ShapeError, match="inconsistent tensor size"):
        bk.dot(floats(3), floats(4))
    with pytest.raises(ShapeError, match="must be a matrix"):
        bk.mm(floats(2), floats(2, 3))
    with pytest.raises(DTypeError):
        floats(2, 3) @ whole(3, 3, 2)
