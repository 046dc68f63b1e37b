"""What a contributor changes to add something: a copy of badak gets it in so many files of source, and has all that follows.

A pointwise operation or a reduction is one row in one file, a fused operation with a compiled kernel four files, a layer three, an
optimizer two.
"""

import os
import shutil
import subprocess
import sys
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import badak
from badak.ops.op import Op, Saved
from badak.ops.operation import operation
from badak.ops.sparse import SampledMm, SparseMm
from badak.tensor import apply
from tests.samples import Sample, rows

ROOT = Path(__file__).resolve().parent.parent

POINTWISE = {
    "ops/special.py": """

Cubed = pointwise(
    "Cubed", "y = x^3;   dx = dy 3 x^2.", lambda x: x * x * x,
    lambda dy, x: dy * (3 * np.square(x)),
    public="cubed", samples=Samples((-2.0, 2.0)),
)  # fmt: skip
""",
}
OF_POINTWISE = """
import numpy as np
import badak
from badak.ops.pointwise import DECLARED, formula_of
from badak.ops.sparse import SampledMm, SparseMm

x = badak.tensor([1.0, -2.0, 3.0], requires_grad=True)
y = badak.cubed(x)
(dx,) = badak.autograd.grad(y.sum(), x, create_graph=True)
(ddx,) = badak.autograd.grad(dx.sum(), x)
assert y.tolist() == [1.0, -8.0, 27.0] and dx.tolist() == [3.0, 12.0, 27.0] and ddx.tolist() == [6.0, -12.0, 18.0]
assert x.cubed().tolist() == y.tolist() == badak.cubed(x.detach(), out=badak.empty(3)).tolist()
assert x.detach().clone().cubed_().tolist() == badak.cubed_(x.detach().clone()).tolist() == y.tolist()
assert badak._foreach_cubed([x.detach()])[0].tolist() == y.tolist()
assert badak.cubed(badak.tensor([2])).dtype == badak.float32
assert badak.cubed(badak.ones(2, dtype=badak.bfloat16)).dtype == badak.bfloat16
assert badak.cubed(badak.ones(2, 3, device="meta")).shape == (2, 3)
assert badak.func.vmap(badak.cubed)(badak.ones(2, 3)).tolist() == [[1.0] * 3] * 2
step = badak.compile(lambda x: badak.cubed(x))
assert all(step(badak.full((3,), float(n))).tolist() == [float(n**3)] * 3 for n in range(6)) and not step.fallback_reason
op = next(op for op in DECLARED.values() if op.__name__ == "Cubed")
assert formula_of(op, {})[:2] == ("x^3", "3 x^2")
assert "ops/special.py" in str(badak.source("cubed"))
import tools.api, tools.stubs
from badak.tensor import pointwise
assert "cubed" in tools.api.names("")
assert "def cubed(input: Tensor, *, out: Tensor | None = None) -> Tensor:" in tools.stubs.declared_stub(pointwise)
print("all of it")
"""

REDUCTION = {
    "ops/reduce.py": """

SumOfSquares = reduction(
    "SumOfSquares", "y = sum x^2;   dx = 2 dy x.",
    lambda x, axis=None, keepdims=False: np.add.reduce(x * x, axis=axis, keepdims=keepdims),
    lambda dy, g, x: g * (2 * x),
    public="sum_of_squares", takes="floats",
)  # fmt: skip
""",
}
OF_REDUCTION = """
import badak

x = badak.tensor([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
y = badak.sum_of_squares(x, 1)
(dx,) = badak.autograd.grad((y * y).sum(), x, create_graph=True)
(ddx,) = badak.autograd.grad(dx.sum(), x)
assert y.tolist() == [5.0, 25.0] and dx.tolist() == [[20.0, -40.0], [300.0, 400.0]]
assert ddx.tolist() == [[12.0, 36.0], [268.0, 324.0]]
assert badak.autograd.gradgradcheck(badak.sum_of_squares, (x.detach().double().requires_grad_(),))
assert x.sum_of_squares().item() == 30.0 and x.sum_of_squares(axis=(0, 1), keepdim=True).shape == (1, 1)
assert badak.sum_of_squares(x.detach(), -1, out=badak.empty(2)).tolist() == y.tolist()
assert badak.sum_of_squares(badak.tensor([2]), dtype=badak.float32).item() == 4.0
assert badak.sum_of_squares(badak.ones(2, dtype=badak.bfloat16)).dtype == badak.bfloat16
assert badak.sum_of_squares(badak.ones(2, 3, device="meta"), 0).shape == (3,)
assert badak.func.vmap(badak.sum_of_squares)(badak.ones(2, 3)).tolist() == [3.0, 3.0]
step = badak.compile(lambda x: badak.sum_of_squares(x))
assert all(step(badak.full((3,), float(n))).item() == 3.0 * n * n for n in range(6)) and not step.fallback_reason
assert "ops/reduce.py" in str(badak.source("sum_of_squares"))
import tools.api, tools.stubs
from badak.tensor import reductions
assert "sum_of_squares" in tools.api.names("")
assert "def sum_of_squares(input: Tensor, dim: _int | Sequence[_int] | None = None" in tools.stubs.declared_stub(reductions)
print("all of it")
"""

FUSED = {
    "kernels/reference/gated_silu.py": '''"""A gate and what passes it, at once."""

from badak.kernels.reference._arrays import elementwise
from badak.kernels.reference.activation import sigmoid


@elementwise
def gated_silu(a, b):
    """y = a b sigmoid(b)."""
    return a * b * sigmoid(b)


@elementwise
def gated_silu_backward(dy, a, b):
    """da = dy b s, db = dy a s (1 + b (1 - s)), s = sigmoid(b)."""
    s = sigmoid(b)
    return dy * b * s, dy * a * s * (1 + b * (1 - s))
''',
    "kernels/numba/gated_silu.py": '''"""A gate and what passes it, at once: one pass over blocks that stay in cache."""

import numpy as np

from badak.kernels.numba._blocks import block, blocks_of
from badak.kernels.numba.simd.functions import sigmoid
from badak.kernels.numba.threadpool.parallel import parallel


@parallel("W1 R1 R1")
def gated_silu_block(task, y, a, b):
    """y = a b sigmoid(b)."""
    y, a, b = block(task, y), block(task, a), block(task, b)
    for i in range(y.size):
        y[i] = a[i] * b[i] * sigmoid(b[i])


@parallel("W1 W1 R1 R1 R1")
def gated_silu_backward_block(task, da, db, dy, a, b):
    """da = dy b s, db = dy a s (1 + b (1 - s)), s = sigmoid(b)."""
    one = dy.dtype.type(1)
    da, db, dy, a, b = block(task, da), block(task, db), block(task, dy), block(task, a), block(task, b)
    for i in range(dy.size):
        s = sigmoid(b[i])
        da[i] = dy[i] * b[i] * s
        db[i] = dy[i] * a[i] * s * (one + b[i] * (one - s))


def gated_silu(a, b):
    """See `reference`."""
    y = np.empty(a.shape, a.dtype)
    gated_silu_block(blocks_of(a.size), 2 * a.size, y.ravel(), a.ravel(), b.ravel())
    return y


def gated_silu_backward(dy, a, b):
    """See `reference`."""
    da, db = np.empty(a.shape, a.dtype), np.empty(a.shape, a.dtype)
    gated_silu_backward_block(blocks_of(a.size), 4 * a.size, da.ravel(), db.ravel(), dy.ravel(), a.ravel(), b.ravel())
    return da, db
''',
    "ops/gated_silu.py": '''"""A gate and what passes it, at once."""

from badak import kernels
from badak.ops.activation import Sigmoid
from badak.ops.batching import stacked
from badak.ops.op import Op


class GatedSiLU(Op):
    """y = a b s, s = 1 / (1 + exp(-b));   da = dy b s, db = dy a s (1 + b (1 - s))."""

    capturable = True
    keeps_finite = True
    batching = staticmethod(stacked)

    @staticmethod
    def forward(save, a, b):
        save.a, save.b = a, b
        return kernels.of(a).gated_silu(a, b)

    @staticmethod
    def backward(saved, dy):
        return kernels.of(dy).gated_silu_backward(dy, saved.a, saved.b)

    @staticmethod
    def double_backward(saved, dy):
        a, b, s = saved.a, saved.b, Sigmoid.of(saved.b)
        return dy * b * s, dy * a * s * (1 + b * (1 - s))
''',
    "nn/functional/activation.py": '''

__all__ += ["gated_silu"]


def gated_silu(input, gate) -> Tensor:
    """y = input silu(gate)."""
    from badak.ops.gated_silu import GatedSiLU

    return apply(GatedSiLU, input, gate)
''',
}
OF_FUSED = """
import badak
from badak.nn import functional as F
badak.manual_seed(0)
for backend in ("reference", "numba"):
    badak.kernels.use(backend)
    a, b = (badak.randn(3, 5, dtype=badak.float64, requires_grad=True) for _ in range(2))
    assert badak.autograd.gradcheck(F.gated_silu, (a, b)) and badak.autograd.gradgradcheck(F.gated_silu, (a, b))
    assert F.gated_silu(a, b).allclose(a * F.silu(b))
    y = badak.func.vmap(badak.func.grad(lambda a, b: F.gated_silu(a, b).sum()))(a, b)
    assert y.allclose(F.silu(b))
    assert F.gated_silu(a.bfloat16(), b.bfloat16()).dtype == badak.bfloat16
    assert F.gated_silu(badak.ones(2, device="meta"), badak.ones(2, device="meta")).shape == (2,)
step = badak.compile(lambda a, b: F.gated_silu(a, b))
for n in range(6):
    x = badak.full((3,), float(n))
    assert step(x, x).equal(F.gated_silu(x, x))
assert not step.fallback_reason and step.recordings
print("all of it")
"""

LAYER = {
    "nn/activation.py": '''

class Ramp(Module):
    """y = min(max(x, 0), limit)."""

    def __init__(self, limit: float = 1.0) -> None:
        super().__init__()
        self.limit = limit

    def forward(self, input: Tensor) -> Tensor:
        return F.ramp(input, self.limit)
''',
    "nn/functional/activation.py": '''

__all__ += ["ramp"]


def ramp(input, limit=1.0) -> Tensor:
    """y = min(max(input, 0), limit)."""
    return input.clamp(0, limit)
''',
    "nn/__init__.py": """
from badak.nn.activation import Ramp as Ramp
""",
}
OF_LAYER = """
import badak
x = badak.tensor([-1.0, 0.5, 3.0])
assert badak.nn.Ramp(2.0)(x).tolist() == badak.nn.functional.ramp(x, 2.0).tolist() == [0.0, 0.5, 2.0]
assert badak.func.vmap(badak.nn.Ramp())(x).tolist() == [0.0, 0.5, 1.0]
import tools.api
assert "Ramp" in tools.api.names("nn") and "ramp" in tools.api.names("nn.functional")
print("all of it")
"""

OPTIMIZER = {
    "optim/lion.py": '''"""Lion: steps of one size, by the sign of an average."""

from typing import Any

from badak.optim.elementwise import Elementwise, Slot
from badak.optim.settings import number


class Heavy(Elementwise):
    """Momentum alone: m = momentum m + g, p = p - lr m.

    params: tensors, named tensors or groups (see Optimizer).
    """

    SLOTS = {"average": Slot()}

    def __init__(self, params: Any, lr: Any = 1e-2, momentum: float = 0.9):
        super().__init__(params, locals())

    @staticmethod
    def scalars(group: dict[str, Any], step: int) -> tuple[float, ...]:
        return number(group["lr"]), number(group["momentum"])

    @staticmethod
    def update(p, g, m, rate, momentum):
        m = momentum * m + g
        return p + -rate * m, m
''',
    "optim/__init__.py": """
from badak.optim.lion import Heavy as Heavy
""",
}
OF_OPTIMIZER = """
import badak
for backend in ("reference", "numba"):
    badak.kernels.use(backend)
    x, y = (badak.ones(5, requires_grad=True) for _ in range(2))
    ours, theirs = badak.optim.Heavy([x], lr=0.1), badak.optim.SGD([y], lr=0.1, momentum=0.9)
    for _ in range(4):
        for tensor, optimizer in ((x, ours), (y, theirs)):
            optimizer.zero_grad()
            (tensor * tensor).sum().backward()
            optimizer.step()
    assert x.allclose(y)
    ours.load_state_dict(ours.state_dict())
print("all of it")
"""

CHANGES = {
    "a pointwise operation": (1, POINTWISE, OF_POINTWISE),
    "a reduction": (1, REDUCTION, OF_REDUCTION),
    "a fused operation": (4, FUSED, OF_FUSED),
    "a layer": (3, LAYER, OF_LAYER),
    "an elementwise optimizer": (2, OPTIMIZER, OF_OPTIMIZER),
}


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
def test_so_many_files_change(what, tmp_path):
    most, files, program = CHANGES[what]
    assert len(files) <= most
    for folder in ("src", "tools", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", "img", "course"))
    for name, text in files.items():
        with (tmp_path / "src" / "badak" / name).open("a", encoding="utf-8") as file:
            file.write(text)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}{os.pathsep}{tmp_path}"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.strip() == "all of it", done.stderr


def test_contributing_says_how_many():
    told = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "one file" in told and "four files" in told and "three files" in told and "two files" in told


# ------------------------------------------------------------------ no operation lacks a declaration that it needs

ROWS = rows()


def once(row: Sample, dtype=np.float32):
    for call in row.cases():
        arrays = call.arrays(dtype)
        save, made = call.forward(arrays)
        yield call, arrays, save, made if isinstance(made, tuple) else (made,)


@pytest.mark.parametrize("row", ROWS, ids=repr)
def test_an_operation_that_multiplies_matrices_says_how_often(row):
    for call, arrays, _, made in once(row):
        with FlopCounterMode(display=False) as counter:
            call.row.twin(*(None if a is None else torch.tensor(a) for a in arrays), **call.attributes)
        if counted := counter.get_total_flops():
            assert row.op.flops is not None, f"PyTorch counts {counted} FLOPs"
            if row.op in (SparseMm, SampledMm):
                continue  # whose twins are dense
            if "lengths" not in signature(row.op.forward).parameters:  # the twin of a recurrent one multiplies the input, too
                assert row.op.flops(arrays, made, call.attributes)[0] == counted


@pytest.mark.parametrize("row", [row for row in ROWS if row.op.keeps_finite], ids=repr)
def test_what_keeps_numbers_finite_does(row):
    for call, arrays, _, _made in once(row):
        floats = [a is not None and a.dtype.kind == "f" for a in arrays]
        size = np.float32(1e15 if sum(floats) == 1 else 1e2)  # products of two are no sums
        big = [a * size if each else a for a, each in zip(arrays, floats)]
        save = Saved(call.needs(big))
        ys = row.op.forward(save, *big, **call.attributes)
        ys = ys if isinstance(ys, tuple) else (ys,)
        dxs = row.op.backward(save, *(np.ones_like(y) for y in ys))
        for array in (*ys, *(dxs if isinstance(dxs, tuple) else (dxs,))):
            assert array is None or array.dtype.kind not in "f" or np.isfinite(array).all(), row


@pytest.mark.filterwarnings("ignore::badak.core.errors.BadakWarning")
@pytest.mark.parametrize("row", ROWS, ids=repr)
def test_an_operation_whose_size_depends_on_values_says_so(row):
    """The same calls with other masks, of the same shapes."""
    rng = np.random.default_rng(1)
    for call, arrays, _, made in once(row):
        others = [rng.random(a.shape) < 0.5 if a is not None and a.dtype == bool else a for a in arrays]
        if any(a is not b for a, b in zip(arrays, others)):
            found = row.op.forward(Saved(call.needs(others)), *others, **call.attributes)
            if [y.shape for y in (found if isinstance(found, tuple) else (found,))] != [y.shape for y in made]:
                assert row.op.sized_by_values is not None and row.op.sized_by_values(**call.attributes), row


def test_every_operation_says_how_vmap_runs_it():
    kinds: list[type[Op]] = [row.op for row in ROWS]
    assert not [op for op in kinds if not any("batching" in vars(kind) for kind in op.__mro__[:-2])]


def test_a_row_keeps_what_its_derivatives_ask_for_and_nothing_where_nobody_asks(monkeypatch):
    product = operation(
        "ScaledProduct", "y = c a b;   da = c dy b, db = c dy a.",
        lambda a, b, c=2.0: c * a * b,
        lambda dy, g, b: g * b,
        lambda dy, g, a: g * a,
        shared=lambda dy, c: c * dy,
    )  # fmt: skip
    a, b = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    save = Saved((True, False))
    assert product.forward(save, a, b).tolist() == product.value(a, b).tolist() == [6.0, 20.0]
    assert set(vars(save)) == {"b", "c"} and save.b is b
    assert [dx if dx is None else dx.tolist() for dx in product.backward(save, np.ones(2))] == [[6.0, 10.0], None]
    steps = operation("Ones", "y = 1;   dx = 0.", np.ones_like, lambda dy, x_shape: np.zeros(x_shape))
    assert steps.saves_no_tensors and not product.saves_no_tensors
    x = badak.tensor([1.0, 2.0])
    monkeypatch.setattr(product, "forward", staticmethod(lambda *arrays: pytest.fail("it keeps what nobody wants")))
    assert apply(product, x, x).tolist() == [2.0, 8.0]
