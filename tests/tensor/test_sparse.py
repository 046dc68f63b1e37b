"""Sparse tensors: the same programs on PyTorch and on badak; values, places, gradients, layouts and what they print."""

import copy
import pickle
import random

import numpy as np
import pytest
import torch

import badak

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch warns that its CSR tensors are young, and that it does not look
LIBRARIES = (badak, torch)


def described(x):
    """All that a tensor shows of itself."""
    if isinstance(x, (tuple, list)):
        return [described(each) for each in x]
    if not isinstance(x, LIBRARIES[0].Tensor | LIBRARIES[1].Tensor):
        return x
    kind, layout = str(x.dtype).split(".")[1], str(x.layout).split(".")[1]
    about = [kind, layout, list(x.shape), x.requires_grad]
    if layout == "sparse_coo":
        about += [x.is_coalesced(), x._nnz(), x.sparse_dim(), x.dense_dim(), x._indices().tolist()]
    if layout == "sparse_csr":
        about += [x._nnz(), x.crow_indices().tolist(), x.col_indices().tolist()]
    return [
        *about,
        np.round(x.detach().to_dense().to(LIBRARIES[0 if isinstance(x, badak.Tensor) else 1].float64).numpy(), 4).tolist(),
    ]


def both(program):
    """What the program gives on badak, and on PyTorch."""
    return [described(program(library)) for library in LIBRARIES]


def matrix(lib, seed, n=5, m=4, count=7, grad=False, dtype="float32", tail=()):
    """A random COO matrix, with repeated places."""
    draw = np.random.default_rng(seed)
    at = np.stack([draw.integers(0, n, count), draw.integers(0, m, count)]) if n * m else np.zeros((2, 0), np.int64)
    count = at.shape[1]
    values = draw.integers(1, 9, (count, *tail)) / 4
    made = lib.tensor(values.tolist() if count else np.zeros((0, *tail)), dtype=getattr(lib, dtype)).reshape(count, *tail)
    return lib.sparse_coo_tensor(
        lib.tensor(at.tolist(), dtype=lib.int64).reshape(2, count), made.requires_grad_(grad), (n, m, *tail)
    )


def dense(lib, seed, *shape, grad=False):
    values = np.random.default_rng(seed + 100).integers(-6, 7, shape) / 4
    return lib.tensor(values.tolist(), dtype=lib.float32).reshape(shape).requires_grad_(grad)


UNARY = (
    "abs asin asinh atan atanh ceil deg2rad erf expm1 floor frac log1p neg rad2deg relu round sgn sign sin sinh sqrt square tan "
    "tanh trunc"
)
PROGRAMS = {
    "mm": lambda lib, s: lib.sparse.mm(matrix(lib, s), dense(lib, s, 4, 3)),
    "torch.mm": lambda lib, s: lib.mm(matrix(lib, s), dense(lib, s, 4, 3)),
    "matmul": lambda lib, s: lib.matmul(matrix(lib, s), dense(lib, s, 4, 3)),
    "@": lambda lib, s: matrix(lib, s) @ dense(lib, s, 4, 3),
    "spmm": lambda lib, s: lib.spmm(matrix(lib, s), dense(lib, s, 4, 3)),
    "dsmm": lambda lib, s: lib.dsmm(matrix(lib, s), dense(lib, s, 4, 3)),
    "legacy": lambda lib, s: [
        lib.sparse.FloatTensor(matrix(lib, s)._indices(), matrix(lib, s)._values(), lib.Size([6, 4])),
        lib.sparse.DoubleTensor(matrix(lib, s)._indices(), matrix(lib, s)._values().double()),
        lib.sparse.LongTensor(2, 3),
        lib.sparse.FloatTensor(),
        [isinstance(matrix(lib, s), kind) for kind in (lib.sparse.FloatTensor, lib.sparse.LongTensor, lib.FloatTensor)],
    ],
    "mv": lambda lib, s: lib.mv(matrix(lib, s), dense(lib, s, 4)),
    "@ vector": lambda lib, s: matrix(lib, s) @ dense(lib, s, 4),
    "csr @": lambda lib, s: matrix(lib, s).to_sparse_csr() @ dense(lib, s, 4, 3),
    "csr mm": lambda lib, s: lib.sparse.mm(matrix(lib, s).to_sparse_csr(), dense(lib, s, 4, 3)),
    "sparse sparse": lambda lib, s: lib.sparse.mm(matrix(lib, s), matrix(lib, s + 1, 4, 6)).coalesce(),
    "addmm": lambda lib, s: lib.sparse.addmm(dense(lib, s, 5, 3), matrix(lib, s), dense(lib, s, 4, 3), beta=0.5, alpha=2.0),
    "torch.addmm": lambda lib, s: lib.addmm(dense(lib, s, 5, 3), matrix(lib, s), dense(lib, s, 4, 3)),
    "coalesce": lambda lib, s: matrix(lib, s).coalesce(),
    "hybrid": lambda lib, s: matrix(lib, s, tail=(2, 3)).coalesce(),
    "to_dense": lambda lib, s: matrix(lib, s, tail=(2,)).to_dense(),
    "to_sparse": lambda lib, s: dense(lib, s, 3, 4, 2).to_sparse(),
    "to_sparse(2)": lambda lib, s: dense(lib, s, 3, 4, 2).to_sparse(2),
    "csr": lambda lib, s: dense(lib, s, 3, 4).to_sparse_csr(),
    "csc": lambda lib, s: dense(lib, s, 3, 4).to_sparse_csc().to_dense(),
    "csr of coo": lambda lib, s: matrix(lib, s).to_sparse_csr(),
    "coo of csr": lambda lib, s: matrix(lib, s).to_sparse_csr().to_sparse_coo(),
    "layout": lambda lib, s: matrix(lib, s).to_sparse(layout=lib.sparse_csr),
    "add": lambda lib, s: (matrix(lib, s) + matrix(lib, s + 1)).coalesce(),
    "add coalesced": lambda lib, s: matrix(lib, s).coalesce() + matrix(lib, s + 1).coalesce(),
    "add alpha": lambda lib, s: lib.add(matrix(lib, s), matrix(lib, s + 1), alpha=3).coalesce(),
    "sub": lambda lib, s: (matrix(lib, s) - matrix(lib, s + 1)).coalesce(),
    "csr add": lambda lib, s: matrix(lib, s).to_sparse_csr() + matrix(lib, s + 1).to_sparse_csr(),
    "dense + sparse": lambda lib, s: dense(lib, s, 5, 4) + matrix(lib, s),
    "dense - sparse": lambda lib, s: dense(lib, s, 5, 4) - matrix(lib, s),
    "mul": lambda lib, s: matrix(lib, s).coalesce() * matrix(lib, s + 1).coalesce(),
    "mul dense": lambda lib, s: (matrix(lib, s) * dense(lib, s, 5, 4)).coalesce(),
    "dense mul": lambda lib, s: (dense(lib, s, 5, 4) * matrix(lib, s)).coalesce(),
    "mul row": lambda lib, s: (matrix(lib, s) * dense(lib, s, 1, 4)).coalesce(),
    "mul number": lambda lib, s: matrix(lib, s) * 2.5,
    "number mul": lambda lib, s: 2 * matrix(lib, s),
    "mul 0-d": lambda lib, s: matrix(lib, s) * lib.tensor(1.5),
    "csr mul": lambda lib, s: matrix(lib, s).to_sparse_csr() * 2.0,
    "div": lambda lib, s: matrix(lib, s) / 4,
    "pow": lambda lib, s: matrix(lib, s).pow(2),
    "**": lambda lib, s: matrix(lib, s) ** 2,
    "t": lambda lib, s: matrix(lib, s).t(),
    "T": lambda lib, s: matrix(lib, s).T,
    "t of coalesced": lambda lib, s: matrix(lib, s).coalesce().t(),
    "transpose": lambda lib, s: matrix(lib, s, tail=(3,)).transpose(0, 1),
    "csr t": lambda lib, s: [str(matrix(lib, s).to_sparse_csr().t().layout)[6:], matrix(lib, s).to_sparse_csr().t().to_dense()],
    "permute": lambda lib, s: matrix(lib, s, tail=(2, 3)).permute(1, 0, 3, 2),
    "sum": lambda lib, s: lib.sparse.sum(matrix(lib, s)),
    "torch.sum": lambda lib, s: [lib.sum(matrix(lib, s)), matrix(lib, s).sum()],
    "sum 0": lambda lib, s: lib.sparse.sum(matrix(lib, s), 0),
    "sum -1": lambda lib, s: lib.sparse.sum(matrix(lib, s), -1),
    "sum all": lambda lib, s: lib.sparse.sum(matrix(lib, s), (0, 1)),
    "sum dense": lambda lib, s: lib.sparse.sum(matrix(lib, s, tail=(2, 3)), 3),
    "sum mixed": lambda lib, s: lib.sparse.sum(matrix(lib, s, tail=(2, 3)), (0, 2)),
    "sum sparse dims": lambda lib, s: lib.sparse.sum(matrix(lib, s, tail=(2, 3)), (0, 1)),
    "softmax 0": lambda lib, s: lib.sparse.softmax(matrix(lib, s), 0),
    "softmax 1": lambda lib, s: lib.sparse.softmax(matrix(lib, s), dim=1),
    "log_softmax 1": lambda lib, s: lib.sparse.log_softmax(matrix(lib, s), 1),
    "softmax hybrid": lambda lib, s: lib.sparse.softmax(matrix(lib, s, tail=(3,)), 1),
    "softmax dense dim": lambda lib, s: lib.sparse.softmax(matrix(lib, s, tail=(3,)), 2),
    "index_select": lambda lib, s: matrix(lib, s).coalesce().index_select(0, lib.tensor([2, 0, 2])).coalesce(),
    "index_select 1": lambda lib, s: matrix(lib, s).index_select(1, lib.tensor([3, 1])).coalesce(),
    "x[i]": lambda lib, s: [matrix(lib, s).coalesce()[2].coalesce(), matrix(lib, s)[-1, 2], [x.coalesce() for x in matrix(lib, s)]],
    "unsqueeze": lambda lib, s: [matrix(lib, s).unsqueeze(0), matrix(lib, s).unsqueeze(2)],
    "stack": lambda lib, s: lib.stack([matrix(lib, s), matrix(lib, s + 1)], 1),
    "zeros_like": lambda lib, s: lib.zeros_like(matrix(lib, s)),
    "linear": lambda lib, s: lib.nn.functional.linear(matrix(lib, s), dense(lib, s, 3, 4), dense(lib, s, 3)),
    "cat": lambda lib, s: lib.cat([matrix(lib, s), matrix(lib, s + 1)], 0),
    "cat 1": lambda lib, s: lib.cat([matrix(lib, s), matrix(lib, s + 1, m=2)], 1),
    "mask": lambda lib, s: dense(lib, s, 5, 4).sparse_mask(matrix(lib, s).coalesce()),
    "norm": lambda lib, s: matrix(lib, s).norm(),
    "double": lambda lib, s: [matrix(lib, s).double(), matrix(lib, s).to(lib.float64), matrix(lib, s).to("cpu")],
    "clone": lambda lib, s: [matrix(lib, s).clone(), matrix(lib, s).detach(), copy.deepcopy(matrix(lib, s))],
    "pickle": lambda lib, s: [
        pickle.loads(pickle.dumps(matrix(lib, s))),
        pickle.loads(pickle.dumps(matrix(lib, s).to_sparse_csr())),
    ],
    "ints": lambda lib, s: [matrix(lib, s, dtype="int64").coalesce(), matrix(lib, s, dtype="int64") * 2],
    "promotion": lambda lib, s: (matrix(lib, s, dtype="int64") + matrix(lib, s)).coalesce(),
    "empty": lambda lib, s: [lib.sparse.mm(matrix(lib, s, count=0), dense(lib, s, 4, 3)), matrix(lib, s, count=0).coalesce()],
    "no rows": lambda lib, s: lib.sparse.mm(matrix(lib, s, n=0, count=0), dense(lib, s, 4, 3)),
    "no columns": lambda lib, s: lib.sparse.mm(matrix(lib, s), dense(lib, s, 4, 0)),
    "told": lambda lib, s: [
        matrix(lib, s).is_sparse,
        matrix(lib, s).to_sparse_csr().is_sparse_csr,
        dense(lib, s, 2).is_sparse,
        matrix(lib, s).numel(),
        len(matrix(lib, s)),
        matrix(lib, s).is_floating_point(),
        matrix(lib, s).size(1),
    ],
    "zero_": lambda lib, s: matrix(lib, s).zero_(),
    "mul_": lambda lib, s: [matrix(lib, s).mul_(2), matrix(lib, s).div_(2)],
    "add_": lambda lib, s: [
        dense(lib, s, 5, 4).add_(matrix(lib, s), alpha=-0.5),
        matrix(lib, s).add_(matrix(lib, s + 1)).coalesce(),
    ],
    "sampled": lambda lib, s: lib.sparse.sampled_addmm(
        matrix(lib, s).to_sparse_csr(), dense(lib, s, 5, 3), dense(lib, s, 3, 4), beta=2
    ),
    **{name: lambda lib, s, name=name: getattr(lib, name)(matrix(lib, s) * 0.3) for name in UNARY.split() if name != "relu"},
    "relu": lambda lib, s: lib.relu(matrix(lib, s) - matrix(lib, s + 1)).coalesce(),
}


@pytest.mark.parametrize("seed", (0, 1, 2))
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_what_pytorch_gives(name, seed):
    ours, theirs = both(lambda lib: PROGRAMS[name](lib, seed))
    assert ours == theirs


LOSSES = {  # of a sparse A (5, 4) and a dense B (4, 3), C (5, 4)
    "mm": lambda lib, a, b, c: lib.sparse.mm(a, b),
    "twice": lambda lib, a, b, c: lib.sparse.mm(a, b) + a @ (b * 2),
    "csr": lambda lib, a, b, c: a.coalesce().to_dense() @ b,
    "addmm": lambda lib, a, b, c: lib.sparse.addmm(c[:, :3], a, b, beta=0.5, alpha=2),
    "to_dense": lambda lib, a, b, c: a.to_dense() * c,
    "softmax": lambda lib, a, b, c: lib.sparse.mm(lib.sparse.softmax(a, 1), b),
    "log_softmax": lambda lib, a, b, c: lib.sparse.log_softmax(a, 1).to_dense() * c,
    "sum": lambda lib, a, b, c: lib.sparse.sum(a, 1).to_dense() * 3,
    "sum all": lambda lib, a, b, c: lib.sparse.sum(a) ** 2,
    "scaled": lambda lib, a, b, c: lib.sparse.mm(a * 2.0, b),
    "added": lambda lib, a, b, c: c + a,
    "transposed": lambda lib, a, b, c: lib.sparse.mm(a.t(), c),
    "values": lambda lib, a, b, c: a.coalesce().values() ** 2,
}


@pytest.mark.parametrize("leaf", ("values", "tensor"))
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_pytorchs(name, leaf):
    grads = []
    for lib in LIBRARIES:
        a = matrix(lib, 3)
        values = a._values().clone().requires_grad_(leaf == "values")
        a = lib.sparse_coo_tensor(a._indices(), values, a.shape)
        if leaf == "tensor":
            a = a.requires_grad_()
        b, c = dense(lib, 1, 4, 3, grad=True), dense(lib, 2, 5, 4, grad=True)
        (LOSSES[name](lib, a, b, c) ** 2).sum().backward()
        first = values.grad if leaf == "values" else _at_places(a)
        grads.append([described(x) for x in (first, b.grad, c.grad)])
    assert grads[0] == grads[1]


def _at_places(a):
    """The gradient of a sparse leaf where its values stand: PyTorch's is a dense one, with more in it, behind some operations."""
    there = a.detach().to_dense() != 0
    return a.grad.to_dense() * there


def test_a_csr_tensor_has_gradients_of_its_layout():
    grads = []
    for lib in LIBRARIES:
        a, b = matrix(lib, 1).to_sparse_csr().requires_grad_(), dense(lib, 1, 4, 3, grad=True)
        ((a @ b) ** 2).sum().backward()
        grads.append([described(_at_places(a)), described(b.grad)])
    assert grads[0] == grads[1]


def test_autograd_grad_gives_the_layout_of_its_input():
    found = []
    for lib in LIBRARIES:
        a, b = matrix(lib, 4).coalesce().requires_grad_(), dense(lib, 1, 4, 3, grad=True)
        found.append(described(lib.autograd.grad(lib.sparse.mm(a, b).sum(), (a, b))))
    assert found[0] == found[1]


def test_second_derivatives_of_a_product():
    values = badak.tensor([1.0, 2.0, -1.5], dtype=badak.float64, requires_grad=True)
    b = badak.tensor([[0.5, 1.0], [2.0, -1.0], [1.5, 0.3]], dtype=badak.float64, requires_grad=True)
    at = badak.tensor([[0, 1, 1], [2, 0, 2]])
    product = lambda v, b: badak.sparse.mm(badak.sparse_coo_tensor(at, v, (2, 3)), b)  # noqa: E731
    assert badak.autograd.gradcheck(product, (values, b)) and badak.autograd.gradgradcheck(product, (values, b))


SHOWN = [
    "x",
    "x.coalesce()",
    "x * 2",
    "-x",
    "x.to_sparse_csr()",
    "x.double()",
    "x.t()",
    "lib.sparse_coo_tensor(size=(2, 3))",
    "x.requires_grad_()",
    "lib.sparse_coo_tensor([[0, 1]], lib.ones(2, 2), (3, 2))",
    "matrix(lib, 1, n=60, m=60, count=1200)",
    "lib.eye(3).to_sparse_csr()",
    "matrix(lib, 1, dtype='int64')",
    "lib.eye(3).to_sparse_csc()",
    "lib.eye(2).to_sparse_csr().requires_grad_()",
    "lib.eye(40).to_sparse()",
    "lib.sparse_coo_tensor([[0]], [1e-8], (3,))",
]


@pytest.mark.parametrize("expression", SHOWN)
def test_it_prints_as_pytorchs(expression):
    ours, theirs = (repr(eval(expression, {"lib": lib, "x": matrix(lib, 0), "matrix": matrix})) for lib in LIBRARIES)
    assert ours.replace("badak.", "torch.") == theirs


REFUSED = """x + 1 | x + lib.ones(5, 4) | x - lib.ones(5, 4) | x / x | 1 / x | 1 - x | lib.exp(x) | x.cos() | x.numpy() |
x.reshape(20) | x.view(20) | x.indices() | x.values() | x.crow_indices() | lib.ones(2).coalesce() |
lib.ones(2).indices() | lib.ones(2)._nnz() | x.max() | x.argmax() | x == x | x > 0 | lib.equal(x, x) |
lib.allclose(x, x) | x.tolist() | float(x) | x.item() | bool(x) | x.contiguous() | x.storage() |
lib.where(lib.ones(5, 4) > 0, x, x) | x.fill_(1) | x.normal_() | lib.ones_like(x) | lib.rand_like(x) |
lib.ones(2, layout=lib.sparse_coo) | x.narrow(0, 0, 1) | x.clamp(0, 1) | lib.einsum('ij,jk', x, lib.ones(4, 2)) |
x.diagonal() | x.flatten() | x.expand(2, 5, 4) | x.repeat(2, 1) | lib.linalg.norm(x) | x.transpose(0, 2) |
lib.mm(x, lib.ones(3, 3)) | x @ lib.ones(4, 3).double() | lib.sparse.mm(x, [1]) | lib.sparse.softmax(lib.ones(2), 0) |
lib.sparse.sum(x, 5) | lib.sparse_coo_tensor([0, 1], [1.0, 2.0]) | lib.sparse_coo_tensor([[0, 1]], [1.0]) |
lib.sparse_coo_tensor() | lib.sparse_coo_tensor([[0]], [1.0], (1, 2, 3)) | lib.sparse_coo_tensor([[0]], [1.0], (-1,)) |
x.sum(0).sum(3) | lib.cat([x, lib.ones(5, 4)]) | lib.nn.functional.conv1d(x, x) | x + x.t() |
x.index_select(0, lib.tensor([9])) | x[7] | lib.nn.functional.mse_loss(x, x) | lib.stack([x, lib.ones(5, 4)]) |
x.sort()"""


@pytest.mark.parametrize("expression", [each.strip() for each in REFUSED.split("|")])
def test_what_pytorch_refuses_is_refused(expression):
    with pytest.raises(Exception):  # noqa: B017, PT011  (whatever PyTorch raises)
        eval(expression, {"lib": torch, "x": matrix(torch, 0)})
    with pytest.raises(badak.core.errors.BadakError, match="\nfix: "):
        eval(expression, {"lib": badak, "x": matrix(badak, 0)})


def test_indices_are_checked_where_pytorch_trusts_them():
    for make in (
        lambda: badak.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (2,)),
        lambda: badak.sparse_coo_tensor([[-1, 0]], [1.0, 2.0], (2,)),
        lambda: badak.sparse_coo_tensor([[0.5]], [1.0]),
        lambda: badak.ones(2, 2, 2).to_sparse_csr(),
    ):
        with pytest.raises(badak.core.errors.BadakError, match="\nfix: "):
            make()


def test_indices_may_be_whole_floats_and_a_gradient_is_detached_in_place():
    for lib in LIBRARIES:
        x = lib.sparse_coo_tensor(lib.tensor([[0.0, 2.0]]), [1.0, 2.0])
        assert x.indices().dtype is lib.int64 and x.to_dense().tolist() == [1, 0, 2] if x.is_coalesced() else x._nnz() == 2
        table = lib.nn.Embedding(4, 2, sparse=True)
        table(lib.tensor([1])).sum().backward()
        table.zero_grad(set_to_none=False)
        assert table.weight.grad.layout is lib.sparse_coo and not table.weight.grad.to_dense().any()
        y = lib.eye(2).to_sparse().requires_grad_() * 2
        assert y.requires_grad and y.detach_() is y and not y.requires_grad


def test_a_wrong_claim_to_be_coalesced_gives_no_wrong_number():
    for lib in LIBRARIES:
        x = lib.sparse_coo_tensor([[1, 0, 1], [0, 1, 0]], [1.0, 2.0, 4.0], (2, 2), is_coalesced=True)
        assert x.is_coalesced() and x.indices().tolist() == [[1, 0, 1], [0, 1, 0]] and (x @ lib.ones(2, 1)).tolist() == [[2], [5]]
    x = badak.sparse_coo_tensor([[1, 0, 1], [0, 1, 0]], [1.0, 2.0, 4.0], (2, 2))._coalesced_(True)
    assert x.is_coalesced() and (x * x).to_dense().tolist() == [[0, 4], [25, 0]]


def test_a_replay_never_stands_for_a_sparse_tensor():
    a, b = (badak.sparse_coo_tensor([[0, 1], [1, 0]], values, (2, 2)) for values in ([1.0, 2.0], [5.0, 7.0]))
    step = badak.compile(lambda m, x: badak.sparse.mm(m, x))
    for m in (a, b, a, b):
        assert step(m, badak.ones(2, 1)).tolist() == badak.sparse.mm(m, badak.ones(2, 1)).tolist()
    held = {"m": a}
    step = badak.compile(lambda x: held["m"] @ x)
    for held["m"] in (a, a, a, b):
        assert step(badak.ones(2, 1)).tolist() == (held["m"] @ badak.ones(2, 1)).tolist()


def test_both_backends_agree_on_any_number_of_threads():
    draw = np.random.default_rng(0)
    row, col = draw.integers(0, 500, 20_000), draw.integers(0, 300, 20_000)
    values, x, dy = (draw.standard_normal(s).astype(np.float32) for s in (20_000, (300, 70), (500, 70)))
    order = np.argsort(row, kind="stable")
    found = []
    for name in ("reference", "numba"):
        with badak.kernels.use(name) as kernels:
            made = kernels.sparse_mm(values, x, row, col, 500)
            ordered = kernels.sparse_mm(values[order], x, row[order], col[order], 500)
            found.append((made, ordered, kernels.sparse_mm_backward(dy, x, row, col)))
            assert np.array_equal(made, ordered)
    for ours, theirs in zip(*found):
        assert np.abs(ours - theirs).max() < 1e-4
    with badak.kernels.use("numba") as numba, pytest.raises(badak.core.errors.IndexOutOfRangeError, match="changed in place"):
        numba.sparse_mm(values, x, row + 500, col, 500)


CSR = [
    ([0, 2], [0], [1.0], (1, 2)),
    ([0, 1, 1], [3], [1.0], (2, 3)),
    ([1, 1], [0], [1.0], (1, 2)),
    ([0, 2, 1], [0, 1], [1.0, 2.0], (2, 2)),
    ([0, 1], [0], [1.0], (2, 2)),
    ([0, 2], [1, 0], [1.0, 2.0], (1, 2)),
    ([0, 2], [1, 1], [1.0, 2.0], (1, 2)),
    ([0, 1], [-1], [1.0], (1, 2)),
    ([0, 1], [0], [[1.0]], (1, 2)),
    ([0, 1], [0.5], [1.0], (1, 2)),
    ([0, 1], [0], [1.0], (1, 2, 3)),
    (0, [0], [1.0], (1, 2)),
    ([0, 1], [0], [1.0], "ab"),
]


@pytest.mark.parametrize("parts", CSR)
def test_parts_that_fit_no_matrix_are_refused(parts):
    for make in (badak.sparse_csr_tensor, badak.sparse_csc_tensor):
        with pytest.raises(badak.core.errors.BadakError, match="\nfix: "):
            make(*parts)


@pytest.mark.parametrize("step", range(40))
def test_random_programs_agree(step):
    draw = random.Random(step)
    names = [name for name in PROGRAMS if name not in ("told", "ints", "csr t")]
    for name in draw.sample(names, 6):
        ours, theirs = both(lambda lib, name=name: PROGRAMS[name](lib, 10 + step))
        assert ours == theirs, name


def test_the_switch_of_checks_says_what_it_was_set_to():
    switch = badak.sparse.check_sparse_tensor_invariants

    @switch()
    def inside():
        return switch.is_enabled()

    with switch(), switch(False):
        assert not switch.is_enabled()
    assert inside() and not switch.is_enabled()
    switch.enable()
    assert switch.is_enabled()
    switch.disable()
    again = switch()
    with again, pytest.raises(RuntimeError, match="already activated"):
        again.__enter__()
    assert not switch.is_enabled()


@pytest.mark.parametrize("lib", [badak, torch])
def test_a_function_of_ones_own_takes_a_sparse_matrix(lib):
    class Product(lib.autograd.Function):
        @staticmethod
        def forward(ctx, sparse, other):
            ctx.sparse = sparse
            return lib.dsmm(sparse, other)

        @staticmethod
        def backward(ctx, grad):
            return None, lib.dsmm(ctx.sparse.mT, grad)

    x = dense(lib, 1, 4, 3).detach().requires_grad_()
    y = Product.apply(matrix(lib, 1).detach(), x)
    y.sum().backward()
    expected = matrix(lib, 1).detach().to_dense().sum(0)
    np.testing.assert_allclose(x.grad.numpy(), expected.numpy()[:, None].repeat(3, 1), rtol=1e-6)


@pytest.mark.parametrize("shape, dims", [((2, 2, 2), 3), ((2, 2, 2), 2), ((2, 2), 1)])
def test_t_refuses_more_than_two_sparse_dims(shape, dims):
    for lib in (badak, torch):
        with pytest.raises(RuntimeError, match="expects a tensor with <= 2 sparse and 0 dense dimensions"):
            lib.ones(shape).to_sparse(dims).t()


@pytest.mark.parametrize("make", ["zeros", "empty"])
def test_a_new_tensor_of_no_values(make):
    for lib in (torch, badak):
        x = getattr(lib, make)(3, 2, layout=lib.sparse_coo, dtype=lib.float64, requires_grad=True)
        assert x.layout is lib.sparse_coo and tuple(x.shape) == (3, 2) and x._nnz() == 0 and x.dtype is lib.float64
        assert x.requires_grad and x.to_dense().tolist() == [[0, 0]] * 3
        with pytest.raises(ValueError, match="SparseAdam requires dense parameter tensors"):
            lib.optim.SparseAdam([x])


@pytest.mark.parametrize("name", ["neg", "abs", "sin", "floor", "add", "mul", "mm", "cat"])
def test_out_holds_the_result(name):
    for t in (torch, badak):
        x = (t.eye(3) * 2).to_sparse()
        given = ([x, x],) if name == "cat" else (x, x) if name in ("add", "mul", "mm") else (x,)
        if name in ("cat", "mm") and t is torch:
            continue  # it has no out= for sparse results of these
        wanted, out = getattr(t, name)(*given), t.ones(3, 3).to_sparse()
        assert getattr(t, name)(*given, out=out) is out
        assert out.to_dense().tolist() == wanted.to_dense().tolist()


@pytest.mark.parametrize("t", [torch, badak])
def test_out_of_another_kind(t):
    x, dense = t.eye(3).to_sparse(), t.empty(3, 3)
    assert t.mm(x, t.ones(3, 3), out=dense) is dense and dense.tolist() == [[1.0] * 3] * 3
    assert t.sin(x, out=t.zeros(3, 3).double().to_sparse()).dtype is t.float64
    for out in (dense, t.zeros(3, 3, dtype=t.int32).to_sparse()):
        with pytest.raises(RuntimeError):
            t.sin(x, out=out)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        t.neg(t.eye(3).to_sparse().requires_grad_(), out=t.eye(3).to_sparse())
    for given in ({"keepdim": True}, {"dtype": t.float64}):
        with pytest.raises((RuntimeError, ValueError)):
            x.norm(**given)


@pytest.mark.parametrize("name", ["sin", "abs", "relu", "sqrt", "neg", "floor", "sgn", "asinh", "conj_physical", "nan_to_num"])
def test_functions_that_leave_zeros_in_place(name):
    for t in (torch, badak):
        x = t.eye(3).to_sparse() * 4
        wanted = getattr(t, name)(x).to_dense()
        assert getattr(x, name + "_")() is x
        assert x.to_dense().tolist() == wanted.tolist()
    with pytest.raises(RuntimeError, match="can't be cast"):
        badak.eye(3, dtype=badak.int32).to_sparse().sin_()


def test_true_at_one_place_twice_is_one_true():
    for t in (torch, badak):
        x = t.sparse_coo_tensor(t.tensor([[0, 0, 1]]), t.tensor([True, True, False]), (3,))
        assert t.sparse.sum(x).item() == x.to_dense().sum().item() == 1


@pytest.mark.parametrize("dtype", ["uint8", "int32", "bool", "float16"])
def test_a_sparse_number_keeps_its_dtype(dtype):
    for t in (torch, badak):
        x = t.tensor(1).to(getattr(t, dtype)).to_sparse()
        assert (x.to_dense().dtype, x.to_dense().item()) == (getattr(t, dtype), 1)


@pytest.mark.parametrize("t", [torch, badak])
def test_an_operation_in_place_keeps_the_dtype_where_the_result_may_go_there(t):
    x = t.eye(2, dtype=t.float32).to_sparse()
    assert x.add_(t.eye(2, dtype=t.float64).to_sparse()).dtype is t.float32
    assert x.mul_(t.eye(2, dtype=t.int64).to_sparse()).dtype is t.float32
    assert x.to_dense().tolist() == [[2, 0], [0, 2]]
    with pytest.raises(RuntimeError, match="can't be cast|Can't convert"):
        t.eye(2, dtype=t.int64).to_sparse().add_(t.eye(2).to_sparse())
    for a, b in ((t.bool, t.bool), (t.float32, t.bool), (t.bool, t.float32)):
        x, y = (t.eye(2, dtype=kind).to_sparse() for kind in (a, b))
        for name in ("sub", "sub_"):
            with pytest.raises(RuntimeError, match="Subtraction"):
                getattr(x, name)(y)


SUMS = {
    "method": lambda lib, x: x.sum(), "rows": lambda lib, x: x.sum(0), "function": lambda lib, x: lib.sum(x, 1),
    "all dims": lambda lib, x: x.sum((0, 1)), "as float": lambda lib, x: x.sum(0, dtype=lib.float64),
    "as int32": lambda lib, x: lib.sparse.sum(x, dtype=lib.int32),
    "rows as int32": lambda lib, x: lib.sparse.sum(x, 0, dtype=lib.int32),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16"])
@pytest.mark.parametrize("name", SUMS)
def test_a_sum_has_the_dtype_of_counts_or_the_one_that_is_asked_for(name, dtype):
    def told(lib):
        y = SUMS[name](lib, lib.tensor([[1, 0, 1], [0, 0, 1], [1, 1, 0]], dtype=getattr(lib, dtype)).to_sparse())
        return str(y.dtype).rpartition(".")[2], (y.to_dense() if y.is_sparse else y).tolist()

    assert told(badak) == told(torch)
