"""Operations on float32 and bfloat16 side by side: numbers are rounded where they are multiplied, results and gradients once.

The judge is PyTorch, in two ways: float64 on numbers that were rounded first says what is right, autocast what dtypes come out.
"""

import itertools

import numpy as np
import pytest
import torch

import badak
from badak.ops import mixed
from badak.ops.op import Op
from tests.samples import all_ops

HALF = 2.0**-8  # the largest part of a number that rounding it to bfloat16 takes away
KINDS = ("float32", "bfloat16")


CALLS = {  # op: (what is called, the shapes of its inputs, how many of them are multiplied: the first ones)
    mixed.MixedLinear: [
        (lambda lib, x, w, b: lib.nn.functional.linear(x, w, b), [(5, 7, 24), (40, 24), (40,)], 2),
        (lambda lib, x, w: lib.nn.functional.linear(x, w), [(1, 24), (40, 24)], 2),
        (lambda lib, x, w: lib.nn.functional.linear(x.transpose(0, 1), w), [(6, 33), (5, 6)], 2),
        (lambda lib, x, w, b: lib.nn.functional.linear(x, w, b), [(0, 3), (2, 3), (2,)], 2),
    ],
    mixed.MixedAddMM: [(lambda lib, x, w, b: lib.addmm(b, x, w), [(9, 24), (24, 40), (40,)], 2)],
    mixed.MixedMatMul: [
        (lambda lib, a, b: a @ b, [(9, 24), (24, 40)], 2),
        (lambda lib, a, b: a @ b, [(3, 9, 24), (24, 40)], 2),
        (lambda lib, a, b: a @ b.mT, [(2, 3, 9, 24), (2, 3, 5, 24)], 2),
        (lambda lib, a, b: a @ b, [(3, 1, 9, 24), (2, 24, 4)], 2),
        (lambda lib, a, b: a @ b, [(24,), (24, 5)], 2),
    ],
    mixed.MixedAdd: [
        (lambda lib, a, b: a + b, [(3, 50), (3, 50)], 0),
        (lambda lib, a, b: a.mT + b.mT, [(70, 300), (70, 300)], 0),
        (lambda lib, a, b: a.permute(2, 0, 1) + b, [(3, 5, 2), (2, 3, 5)], 0),
        (lambda lib, a, b: a[:, ::2] + b, [(3, 6), (3, 3)], 0),
    ],
    mixed.MixedCrossEntropy: [
        (lambda lib, x: lib.nn.functional.cross_entropy(x, lib.tensor([1, 0, -100, 6])), [(4, 7)], 0),
        (lambda lib, x: lib.nn.functional.cross_entropy(x, lib.tensor([1, 0]), label_smoothing=0.2), [(2, 7)], 0),
        (lambda lib, x: lib.nn.functional.cross_entropy(x, lib.tensor([1, 0]), lib.arange(7).to(x.dtype) / 8), [(2, 7)], 0),
    ],
}
ROWS = [
    pytest.param(call, shapes, dict(zip(range(9), kinds)), products, id=f"{op.__name__} {number} {' '.join(kinds)}")
    for op, calls in CALLS.items()
    for number, (call, shapes, products) in enumerate(calls)
    for kinds in itertools.product(KINDS, repeat=len(shapes))
]


def test_every_mixed_operation_has_a_row():
    found = {op for op in vars(mixed).values() if isinstance(op, type) and issubclass(op, Op) and op.__module__ == mixed.__name__}
    assert found == set(CALLS) and not found & all_ops()


def drawn(shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


def results(lib, call, arrays, kinds, dy=None):
    """(y, the gradients) under autocast; dy in y's dtype."""
    xs = [lib.from_numpy(array.copy()).to(getattr(lib, kinds[i])).requires_grad_() for i, array in enumerate(arrays)]
    with lib.autocast("cpu", dtype=lib.bfloat16):
        y = call(lib, *xs)
    y.backward(lib.from_numpy(dy.copy()).to(y.dtype))
    return y, [x.grad for x in xs]


def exact(call, arrays, kinds, products, dy):
    """The same in float64, from numbers that were rounded where they are rounded."""
    xs = []
    for i, array in enumerate(arrays):
        x = torch.from_numpy(array)
        xs.append((x.bfloat16() if i < products or kinds[i] == "bfloat16" else x).double().requires_grad_())
    y = call(torch, *xs)
    y.backward(dy)
    return y, [x.grad for x in xs]


def near(found, right, kind: str, terms: int) -> None:
    """`found` is `right`, rounded once to its dtype, but for the roundings of a sum of `terms` in float32."""
    found, right = found.detach().float().numpy(), right.detach().numpy()
    part = (HALF if kind == "bfloat16" else 0.0) + 2.0**-24
    sums = 2.0**-24 * (16 + terms**0.5) * max(np.abs(right).max(initial=0), 1) * 4
    np.testing.assert_array_less(np.abs(found - right), np.abs(right) * part + sums + 1e-30)


@pytest.mark.parametrize(("call", "shapes", "kinds", "products"), ROWS)
def test_values_and_gradients_are_rounded_once(call, shapes, kinds, products):
    arrays = drawn(shapes)
    for i, array in enumerate(arrays):
        if kinds[i] == "bfloat16":
            array[...] = torch.from_numpy(array).bfloat16().float().numpy()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        shape = call(torch, *[torch.from_numpy(array) for array in arrays]).shape
    dy = torch.from_numpy(drawn([shape], 1)[0]).bfloat16()
    theirs, their_gradients = results(torch, call, arrays, kinds, dy.float().numpy())
    ours, gradients = results(badak, call, arrays, kinds, dy.float().numpy())
    right, right_gradients = exact(call, arrays, kinds, products, dy.double())
    terms = max(array.size for array in arrays)
    kind = str(ours.dtype).partition(".")[2]
    assert kind == str(theirs.dtype).partition(".")[2] and tuple(ours.shape) == tuple(theirs.shape)
    assert ours.stride() == theirs.stride() or not ours.numel()
    near(ours, right, kind, terms)
    for i, (mine, its, wanted) in enumerate(zip(gradients, their_gradients, right_gradients, strict=True)):
        assert str(mine.dtype) == str(its.dtype).replace("torch", "badak") == f"badak.{kinds[i]}"
        through = "bfloat16" if i == 2 and "bfloat16" in kinds.values() else kinds[i]  # a bias next to a weight in bfloat16
        near(mine, wanted, through, terms)


def test_labels_that_are_probabilities_and_other_floats_are_cast_as_before():
    x, p = drawn([(4, 7), (4, 7)])
    for lib in (badak, torch):
        with lib.autocast("cpu", dtype=lib.bfloat16):
            y = lib.nn.functional.cross_entropy(lib.from_numpy(x).bfloat16(), lib.from_numpy(p).softmax(-1))
            assert y.dtype is lib.float32
            assert (lib.from_numpy(x).double() @ lib.from_numpy(p).double().T).dtype is lib.float64
    with pytest.raises(badak.core.errors.DTypeError, match="linear: expected one floating dtype"):
        badak.nn.functional.linear(badak.ones(2, 3), badak.ones(4, 3).bfloat16())
    with pytest.raises(badak.core.errors.DTypeError, match="matmul: expected one floating dtype"):
        badak.ones(2, 3) @ badak.ones(3, 4).bfloat16()


@pytest.mark.parametrize("call", [lambda x, w: badak.nn.functional.linear(x, w), lambda x, w: x @ w.mT])
def test_shapes_that_do_not_fit_are_named_under_autocast(call):
    with badak.autocast("cpu"), pytest.raises(badak.core.errors.ShapeError, match="mat1 and mat2 shapes cannot be multiplied"):
        call(badak.ones(2, 3), badak.ones(4, 5))


def test_a_weight_that_changes_before_its_backward_is_noticed():
    model, x = badak.nn.Linear(3, 2), badak.ones(4, 3, requires_grad=True)
    with badak.autocast("cpu"):
        y = model(x).sum()
    with badak.no_grad():
        model.weight.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation|was overwritten"):
        y.backward()


def second(lib):
    """Gradients of the gradients of a small model under autocast."""
    rng = np.random.default_rng(0)
    x, w, b, h, v = xs = [
        lib.from_numpy(rng.standard_normal(shape).astype(np.float32)).requires_grad_()
        for shape in ((5, 8), (6, 8), (6,), (5, 6), (6, 4))
    ]
    with lib.autocast("cpu", dtype=lib.bfloat16):
        y = h + lib.nn.functional.gelu(lib.nn.functional.linear(x, w, b), approximate="tanh")
        y = lib.addmm(lib.zeros(4), lib.nn.functional.layer_norm(y, (6,)) @ lib.eye(6), v)
        loss = lib.nn.functional.cross_entropy(y, lib.tensor([0, 1, 2, 3, 0]))
    gradients = lib.autograd.grad(loss, xs, create_graph=True)
    assert all(gradient.dtype is lib.float32 for gradient in gradients)
    return [g.numpy() for g in lib.autograd.grad(sum(gradient.square().sum() for gradient in gradients), xs)]


def test_gradients_can_be_differentiated_again():
    for ours, theirs in zip(second(badak), second(torch), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=16 * HALF * np.abs(theirs).max())


def test_a_step_has_as_many_operations_as_one_in_float32():
    """None for casts: small models are not to lose."""
    nn, counts = badak.nn, []
    norm, up, down, head = nn.LayerNorm(8), nn.Linear(8, 32), nn.Linear(32, 8), nn.Linear(8, 5)
    for enabled in (False, True):
        with badak.autocast("cpu", enabled=enabled):
            h = badak.ones(3, 8, requires_grad=True)
            h = h + nn.functional.dropout(down(nn.functional.gelu(up(norm(h)))), 0.1)
            loss = nn.functional.cross_entropy(head(norm(h)), badak.tensor([0, 1, 2]))
        seen, pending = set(), [loss.grad_fn]
        while pending:
            if (node := pending.pop()) not in seen:
                seen.add(node)
                pending += [edge[0] for edge in getattr(node, "edges", ()) if edge is not None]
        counts.append(len(seen))
    assert counts[0] == counts[1]
