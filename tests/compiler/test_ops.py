"""Every operation, recorded on some values and replayed on others: the bits are those of running it."""

import numpy as np
import pytest

import badak
from badak import kernels
from badak.nn import functional as F
from badak.ops.index import Index, MaskedSelect
from badak.ops.rearrange import RepeatInterleave
from badak.ops.sparse import SparseEmbedding
from badak.tensor import Tensor, apply
from tests.samples import rows
from tests.tiers import looped


def bits(tensors) -> list:
    dense = [x if x is None or not x.is_sparse else x.to_dense() for x in tensors]
    return [None if x is None else (x.shape, x._array.tobytes()) for x in dense]


def step_of(call, dtype):
    """The call and its gradients, as a function of its inputs that are there."""
    arrays = call.arrays(dtype)
    needs, op, attributes = call.needs(arrays), call.row.op, call.attributes  # the twin is none of the step's business

    def step(*given):
        waiting = iter(given)
        inputs = [None if a is None else next(waiting).detach() for a in arrays]
        leaves = [x.requires_grad_() for x, need in zip(inputs, needs) if need]
        ys = apply(op, *inputs, **attributes)
        ys = ys if isinstance(ys, tuple) else (ys,)
        ends = [y for y in ys if y.requires_grad]
        dys = [badak.ones(y.shape, dtype=y.dtype) * 0.5 for y in ends]
        dxs = badak.autograd.grad(ends, leaves, dys, allow_unused=True) if ends else ()
        return [y.detach() for y in ys], [None if dx is None else dx for dx in dxs]

    return step


def inputs_of(call, dtype, seed):
    return [Tensor._of(a) for a in call.arrays(dtype, seed) if a is not None]


@pytest.mark.thin(30)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("row", rows(), ids=repr)
@looped(kernel_set=["reference", "numba"])
def test_replaying_an_operation_on_other_values_gives_its_bits(row, kernel_set):
    with kernels.use(kernel_set), np.errstate(all="ignore"):
        for call in [*row.cases(), *list(row.threads())[:1]]:
            step = step_of(call, np.float32)
            compiled = badak.compile(step)
            for seed in (0, 0, 1, 2, 3):
                expected_ys, expected_dxs = step(*inputs_of(call, np.float32, seed))
                ys, dxs = compiled(*inputs_of(call, np.float32, seed))
                assert bits(ys) == bits(expected_ys), call
                assert bits(dxs) == bits(expected_dxs), f"{call}: gradients"
            if compiled.fallback_reason:
                why = "sparse tensor" if row.op is SparseEmbedding else "depends on values"
                assert row.op in (Index, MaskedSelect, RepeatInterleave, SparseEmbedding) and why in compiled.fallback_reason, call
            else:
                (plan,) = compiled.recordings
                assert plan.steps is not None


def test_kernels_stand_for_the_operations_of_a_transformer():
    q = badak.randn(2, 3, 4, 8)
    rows = badak.randn(64, 32)
    weight = badak.randn(48, 32)

    def several(q, rows, weight, ids):
        y = F.linear(F.layer_norm(rows, (32,)), weight)
        y = F.gelu(y) + F.silu(y)
        return F.scaled_dot_product_attention(q, q, q, is_causal=True), y.softmax(-1), F.embedding(ids, weight)

    compiled = badak.compile(several)
    for _ in range(4):
        compiled(q, rows, weight, badak.arange(5))
    (plan,) = compiled.recordings
    python = [entry for entry in plan.entries if entry.calls is None]
    assert [entry.op.name for entry in python] == ["layer_norm"]  # without weights it makes ones again each time
