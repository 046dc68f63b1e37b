"""CSR and CSC tensors whose values are tensors, next to PyTorch's."""

import pytest
import torch

import badak
from badak.core.errors import NotSupportedError, ShapeError

pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR", "ignore:Sparse invariant checks")

ANSWERS = {
    "facts": lambda lib, x: (tuple(x.shape), x.dense_dim(), x.sparse_dim(), x._nnz(), x.values().tolist()),
    "to_dense": lambda lib, x: x.to_dense().tolist(),
    "indices": lambda lib, x: x.to_sparse_coo().indices().tolist(),
    "csc": lambda lib, x: (x.to_sparse_csc().values().tolist(), x.to_sparse_csc().to_dense().tolist()),
    "times": lambda lib, x: (x * 2).to_dense().tolist(),
    "abs": lambda lib, x: x.abs().to_dense().tolist(),
    "add": lambda lib, x: (x + x).to_dense().tolist(),
    "mul": lambda lib, x: (x * x).to_dense().tolist(),
    "sum": lambda lib, x: x.sum().item(),
    "select": lambda lib, x: x.select(0, 1).to_dense().tolist(),
    "clone": lambda lib, x: x.detach().clone().values().tolist(),
    "printed": lambda lib, x: repr(x.detach()).replace("torch.", "").replace("badak.", ""),
}


def made(lib, kind="csr", size=(2, 3, 2)):
    values = (lib.arange(6.0) - 2).reshape(3, 2).requires_grad_()
    size = () if size is None else (size,)
    return values, getattr(lib, f"sparse_{kind}_tensor")(lib.tensor([0, 2, 3]), lib.tensor([0, 2, 1]), values, *size)


@pytest.mark.parametrize("name", ANSWERS)
def test_it_answers_as_pytorch_s(name):
    assert ANSWERS[name](badak, made(badak)[1]) == ANSWERS[name](torch, made(torch)[1])


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_its_size_follows_and_its_values_learn(kind):
    answers = []
    for lib in (torch, badak):
        assert tuple(made(lib, kind, None)[1].shape) == ((2, 3, 2) if kind == "csr" else (3, 2, 2))
        values, x = made(lib, kind, (2, 3, 2) if kind == "csr" else (3, 2, 2))
        (x.to_dense() * lib.arange(12.0).reshape(x.shape)).sum().backward()
        answers.append((tuple(x.shape), x.to_dense().tolist(), values.grad.tolist()))
    assert answers[0] == answers[1]
    hybrid = [lib.sparse_coo_tensor([[0, 1], [1, 0]], lib.ones(2, 3)).to_sparse_csr().to_dense().tolist() for lib in (torch, badak)]
    assert hybrid[0] == hybrid[1]


def test_what_it_cannot_be_or_do_is_explained():
    for size in ((2, 3), (2, 3, 3), (3, 3, 2)):
        with pytest.raises(ShapeError, match="those of a value \\(2,\\)") as raised:
            made(badak, size=size)
        assert "\nfix: " in str(raised.value)
    with pytest.raises(NotSupportedError, match="two sparse dims"):
        made(badak)[1].transpose(0, 2)
    with pytest.raises(ShapeError, match="expected a sparse matrix"):
        made(badak)[1] @ badak.ones(3, 2)
