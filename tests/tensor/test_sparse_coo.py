"""Sparse tensors: made, looked at and turned dense as PyTorch's; nothing else is done with them."""

import pytest
import torch

import badak

pytestmark = pytest.mark.filterwarnings("ignore:Sparse invariant")  # PyTorch says that it does not look
MADE = [
    lambda lib: lib.sparse_coo_tensor([[0, 0], [1, 1]], lib.tensor([1.0, 2.0]), (2, 3)),
    lambda lib: lib.sparse_coo_tensor(lib.tensor([[2, 0, 2]]), [1, 2, 3]),
    lambda lib: lib.sparse_coo_tensor(lib.tensor([[2, 0]]), lib.ones(2, 3), (4, 3), dtype=lib.float64),
    lambda lib: lib.sparse_coo_tensor(size=(2, 3)),
    lambda lib: lib.sparse_coo_tensor((2, 3)),
]


@pytest.mark.parametrize("make", MADE)
def test_it_is_dense_as_in_pytorch(make):
    told = []
    for library in (badak, torch):
        x = make(library)
        dense = x.to_dense()
        said = [x.is_sparse, str(x.layout).split(".")[1], list(x.shape), x.dim(), x.numel(), x.size(0), x._nnz(), x.sparse_dim()]
        told.append([*said, str(x.dtype).split(".")[1], dense.tolist(), dense.is_sparse, isinstance(x, library.Tensor)])
    assert told[0] == told[1]


def test_gradients_come_to_the_values():
    grads = []
    for library in (badak, torch):
        values = library.tensor([1.0, 2.0], requires_grad=True)
        dense = library.sparse_coo_tensor([[0, 0]], values, (3,)).to_dense()
        (dense * library.tensor([3.0, 4.0, 5.0])).sum().backward()
        grads.append(values.grad.tolist())
    assert grads[0] == grads[1]


def test_arithmetic_and_nonsense_are_refused():
    x = badak.sparse_coo_tensor([[0, 1]], [1.0, 2.0])
    for use in (lambda: x + 1, lambda: x.sum(), lambda: badak.matmul(x, x), lambda: x.numpy(), lambda: x[0]):
        with pytest.raises(badak.core.errors.NotSupportedError, match="does not compute with sparse tensors\nfix: x.to_dense"):
            use()
    for call in (
        lambda: badak.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (2,)),
        lambda: badak.sparse_coo_tensor([[-1, 0]], [1.0, 2.0], (2,)),
        lambda: badak.sparse_coo_tensor([0, 1], [1.0, 2.0]),
        lambda: badak.sparse_coo_tensor([[0, 1]], [1.0]),
        lambda: badak.sparse_coo_tensor(),
        lambda: badak.sparse_coo_tensor([[0]], [1.0], requires_grad=True),
    ):
        with pytest.raises(badak.core.errors.BadakError, match="\nfix: "):
            call()
