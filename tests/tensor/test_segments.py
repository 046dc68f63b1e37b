"""Segments reduced one after the other, ranges with their end, and norms of all but a dim: PyTorch judges."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError, DTypeError, ShapeError
from tests.tiers import draws

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated")
BOTH = (torch, badak)


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod", "amax", "amin"])
@pytest.mark.parametrize("initial", [None, 2.0, 0.0])
def test_segments_and_their_slopes(reduce, initial):
    rng = np.random.default_rng(0)
    for trial in range(draws(20)):
        lead, trail = (tuple(rng.integers(1, 3, rng.integers(0, 2)).tolist()) for _ in range(2))
        size, count = int(rng.integers(0, 7)), int(rng.integers(1, 4))
        cuts = np.sort(rng.integers(0, size + 1, (*lead, count - 1)))
        ends = np.concatenate([np.zeros((*lead, 1), int), cuts, np.full((*lead, 1), size)], -1)
        x = rng.integers(-3, 4, (*lead, size, *trail)).astype(np.float64)
        found = []
        for library in BOTH:
            data = library.from_numpy(x.copy()).requires_grad_()
            offsets = library.from_numpy(ends)
            cut = {"offsets": offsets} if trial % 2 else {"lengths": offsets.diff()}
            y = library.segment_reduce(data, reduce, axis=len(lead), initial=initial, **cut)
            weights = library.arange(1.0, y.numel() + 1, dtype=library.float64).reshape(y.shape)
            (y.nan_to_num(0, 0, 0) * weights).sum().backward()
            found.append((y.detach().numpy(), data.grad.numpy()))
        np.testing.assert_allclose(*(values for values, _ in found))
        np.testing.assert_allclose(*(slopes for _, slopes in found))


def test_what_is_left_over_is_in_no_segment():
    x = badak.arange(6.0)
    assert badak.segment_reduce(x, "sum", lengths=badak.tensor([1, 2]), unsafe=True).tolist() == [0, 3]
    assert badak.segment_reduce(x, "sum", offsets=badak.tensor([1, 3, 5])).tolist() == [3, 7]
    assert badak.segment_reduce(badak.tensor([1.0, np.nan]), "max", lengths=badak.tensor([2])).isnan().all()


@pytest.mark.filterwarnings("ignore:compile. .* cannot be replayed")
def test_a_compiled_step_sees_other_lengths():
    step = badak.compile(lambda x, lengths: badak.segment_reduce(x, "sum", lengths=lengths))
    for cut in ([2, 4], [2, 4], [3, 3], [5, 1]):
        expected = [sum(range(cut[0])), sum(range(cut[0], 6))]
        assert step(badak.arange(6.0), badak.tensor(cut)).tolist() == expected


@pytest.mark.parametrize(
    ("error", "said", "data", "reduce", "cut"),
    [
        (ArgumentError, "Either lengths or offsets must be defined", [1.0, 2.0], "sum", {}),
        (ArgumentError, "reduce argument must be sum, mean, max, min or prod; got 'median'", [1.0], "median", {"lengths": [1]}),
        (ArgumentError, "lengths contains negative value", [1.0], "sum", {"lengths": [-1, 2]}),
        (ArgumentError, "lengths must add up to 2", [1.0, 2.0], "sum", {"lengths": [1]}),
        (ArgumentError, "offsets must lie between 0 and 2", [1.0, 2.0], "sum", {"offsets": [0, 9]}),
        (ShapeError, r"expected integers of shape \(n\)", [1.0], "sum", {"lengths": [[1]]}),
        (ShapeError, "got badak.float32", [1.0], "sum", {"lengths": [1.0]}),
        (DTypeError, "expected floats; got badak.int64", [1], "sum", {"lengths": [1]}),
    ],
)
def test_wrong_segments_are_two_lines(error, said, data, reduce, cut):
    with pytest.raises(error, match=said) as refused:
        badak.segment_reduce(badak.tensor(data), reduce, **{name: badak.tensor(value) for name, value in cut.items()})
    assert len(str(refused.value).splitlines()) == 2


def sines(library, *shape):
    return library.arange(float(np.prod(shape))).reshape(*shape).sin()


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.range(1, 4),
        lambda t: t.range(0, 1, 0.25),
        lambda t: t.range(3, 1, -1),
        lambda t: t.range(1, 4, dtype=t.int64),
        lambda t: t.range(5, 0, -2, dtype=t.int32),
        lambda t: t.range(1, 2.5),
        lambda t: t.range(0, 10, 0.1),
        lambda t: t.range(2, 2),
        lambda t: t.range(0, 4, out=t.empty(0)),
        lambda t: t.frobenius_norm(sines(t, 3, 4), [0, 1]),
        lambda t: t.frobenius_norm(sines(t, 3, 4), 1, True),
        lambda t: t.frobenius_norm(sines(t, 3, 4), []),
        lambda t: t.nuclear_norm(sines(t, 3, 4), True),
        lambda t: t.nuclear_norm(sines(t, 2, 3, 4), [1, 2]),
        lambda t: t.norm_except_dim(sines(t, 2, 3, 4), 2, 1),
        lambda t: t.norm_except_dim(sines(t, 2, 3, 4), 1, -1),
        lambda t: t.norm_except_dim(sines(t, 3), 2, 0),
    ],
)
def test_ranges_and_norms(call):
    theirs, own = map(call, BOTH)
    assert str(own.dtype).replace("badak", "torch") == str(theirs.dtype)
    np.testing.assert_allclose(own.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("wrong", [(1, 0), (0, 1, 0), (1, 2, -1)])
def test_ranges_that_lead_away_are_refused(wrong):
    with pytest.raises(ArgumentError, match="step"):
        badak.range(*wrong)
