"""gather, scatter and their kin against PyTorch."""

from functools import partial
from itertools import product

import numpy as np
import pytest
import torch

import badak as bk
from badak.core.errors import DTypeError, IndexOutOfRangeError, ShapeError
from badak.kernels.reference._arrays import at_places
from tests.twins import agree, agree_both, flags, floats, whole

INDEX = whole(3, 4, 2)
NAN = float("nan")
NO_ROWS = bk.tensor([], dtype=bk.int64)


def test_gather():
    for x, dim, index in (
        (floats(4, 3), 1, INDEX),
        (floats(4, 3), -1, INDEX),
        (floats(5, 3, 2), 0, whole(5, 2, 3, 2)),
        (floats(4), 0, whole(4, 7)),
    ):
        agree_both("gather", x, dim, index)
    agree_both("take_along_dim", floats(4, 3), INDEX, 1)
    agree_both("take_along_dim", floats(4, 3), whole(3, 1, 2), 1)
    agree_both("take", floats(2, 3), whole(6, 2, 2))


def test_gather_names_the_index_that_is_out_of_range():
    with pytest.raises(IndexOutOfRangeError, match=r"index 5 is out of bounds for dimension 1 with size 3") as e:
        bk.gather(floats(4, 3), 1, bk.tensor([[0], [5], [1], [7]]))
    assert "index[1, 0] is the first of 2" in str(e.value)
    with pytest.raises(ShapeError, match="same number of dimensions"):
        bk.gather(floats(4, 3), 1, whole(3, 4))
    with pytest.raises(DTypeError, match="int32/int64"):
        bk.gather(floats(4, 3), 0, floats(4, 3))


def test_scatter():
    once = bk.tensor([[2, 0], [1, 2], [0, 1], [2, 1]])
    agree_both("scatter", floats(4, 3), 1, once, floats(4, 2))
    agree_both("scatter", floats(4, 3), 1, INDEX, 2.5)
    agree_both("scatter", floats(4, 3), 1, INDEX, 1)
    agree_both("scatter", floats(4, 3), 1, INDEX, value=3)
    agree_both("scatter_add", floats(4, 3), 1, INDEX, floats(4, 2))
    agree_both("scatter_add", floats(4, 3), 0, whole(4, 4, 3), floats(4, 3))
    with pytest.raises(DTypeError, match="self.dtype to be equal to src.dtype"):
        bk.scatter(floats(4, 3), 1, once, floats(4, 2).double())


def test_whole_slices():
    agree_both("index_select", floats(4, 3), 0, whole(4, 5))
    agree_both("index_select", floats(4, 3), 1, whole(3, 5))
    agree_both("index_select", floats(4, 3), 0, NO_ROWS)
    agree_both("index_add", floats(4, 3), 0, whole(4, 5), floats(5, 3))
    agree_both("index_add", floats(4, 3), 1, whole(3, 5), floats(4, 5), alpha=2)
    agree_both("index_copy", floats(4, 3), 0, bk.tensor([2, 0]), floats(2, 3))
    for index in (bk.tensor([2, 0]), NO_ROWS, bk.tensor(1), bk.tensor([-1, 0, -4])):
        agree_both("index_fill", floats(4, 3), 0, index, -1.0)
    with pytest.raises(IndexOutOfRangeError, match="index -5 is out of bounds for dimension 0 with size 4"):
        bk.index_fill(floats(4, 3), 0, bk.tensor([-5]), 1.0)
    agree_both("index_copy", floats(4), 0, bk.tensor([2]), bk.tensor(5.0))
    agree_both("index_put", floats(4, 3), (bk.tensor([1, 2]), bk.tensor([0, 1])), floats(2))
    agree_both("index_put", floats(4, 3), (bk.tensor([1, 1]), bk.tensor([0, 0])), floats(2), accumulate=True)


def test_masks():
    agree_both("masked_select", floats(2, 3), flags(3))
    agree_both("masked_select", floats(3), flags(2, 3))
    agree_both("masked_scatter", floats(2, 3), flags(2, 3), floats(9))
    agree_both("nonzero", flags(2, 3))
    agree_both("nonzero", flags(2, 3), as_tuple=True)
    agree_both("argwhere", flags(3))
    agree_both("nonzero", bk.tensor(3.0))


def test_single_slices():
    agree_both("select", floats(2, 3), 1, -1)
    agree_both("select", floats(2, 3), 1, 3)
    agree_both("narrow", floats(2, 5), 1, 1, 3)
    agree_both("narrow", floats(2, 5), 1, 3, 3)


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_bytes_are_a_mask_wherever_they_index():
    for m in (torch, bk):
        mask = m.tensor([0, 1, 0, 1], dtype=m.uint8)
        assert m.arange(4.0).index_put((mask,), m.tensor([9.0, 8.0])).tolist() == [0, 9, 2, 8]
        assert m.arange(4.0)[mask].tolist() == [1, 3]
        with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated") as said:
            m.ones(4, 4)[mask, mask]
        assert m is torch or len(said) == 2  # PyTorch's own count is that of the process


@pytest.mark.parametrize(
    "wrong",
    [
        lambda m: m.zeros(5, 5)[[0, 1], [0, 1, 2]],
        lambda m: m.zeros(5, 5).__setitem__(([0, 1], [0, 1, 2]), 0),
        lambda m: m.zeros(2, 3)[m.tensor([True, True]), m.tensor([True, True, True])],
        lambda m: m.zeros(10, 0)[:, [0, 1]],
        lambda m: m.zeros(2, 3, 3).fill_diagonal_(1.0),
        lambda m: m.take_along_dim(m.zeros(2, 3), m.zeros(3, dtype=m.int64), dim=0),
    ],
)
def test_an_index_that_does_not_fit_is_told_in_pytorchs_words(wrong):
    with pytest.raises((IndexError, RuntimeError)) as theirs:
        wrong(torch)
    with pytest.raises((IndexError, RuntimeError)) as ours:
        wrong(bk)
    assert isinstance(ours.value, theirs.type) and str(ours.value).startswith(str(theirs.value))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_reversed_is_a_tensor_that_begins_at_the_end(shape):
    x = floats(*shape)
    assert reversed(x).tolist() == reversed(torch.tensor(x.tolist())).tolist()


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
def test_take_along_dim_takes_int64_alone(dtype):
    for m in (torch, bk):
        with pytest.raises(RuntimeError, match="dtype of indices should be Long but got"):
            m.take_along_dim(m.zeros(2, 3), m.zeros(2, 3).to(getattr(m, dtype)), dim=0)


@pytest.mark.parametrize("name", ["index_copy_", "index_copy", "index_add"])
def test_what_is_no_tensor_is_named(name):
    x, rows = bk.zeros(4, 3), bk.ones(1, 3)
    with pytest.raises(TypeError, match=r"argument 'index' must be Tensor, not list\nfix: badak.tensor\(data\) makes one"):
        getattr(x, name)(0, [1], rows)
    with pytest.raises(TypeError, match="argument 'source' must be Tensor, not float"):
        getattr(x, name)(0, bk.tensor([1]), 3.0)


SCATTERS = {  # by name: what is called with a tensor, an index and a source
    "scatter": lambda lib, x, index, src: lib.scatter(x, 0, index, src),
    "scatter of a number": lambda lib, x, index, src: lib.scatter(x, 0, index, 2.0),
    "scatter multiply": lambda lib, x, index, src: lib.scatter(x, 0, index, src, reduce="multiply"),
    "scatter_add": lambda lib, x, index, src: lib.scatter_add(x, 0, index, src),
    "scatter_reduce": lambda lib, x, index, src: lib.scatter_reduce(x, 0, index, src, "sum"),
    "gather": lambda lib, x, index, src: lib.gather(x, 0, index),
    "scatter_": lambda lib, x, index, src: x.detach().clone().scatter_(0, index, src.detach()),
}


@pytest.mark.filterwarnings("ignore:.*reduce argument of torch.scatter")
@pytest.mark.parametrize("call", SCATTERS.values(), ids=SCATTERS)
def test_scatter_and_gather_of_no_dims(call):
    for shapes in product(((), (1,)), repeat=3):
        grad = len(set(shapes)) == 1  # PyTorch's gradients of the others have wrong shapes
        x, index, src = floats(*shapes[0], grad=grad), bk.zeros(shapes[1], dtype=bk.int64), floats(*shapes[2], grad=grad)
        agree(partial(call, bk), partial(call, torch), x, index, src.detach().clone().requires_grad_(grad))
    agree(partial(call, bk), partial(call, torch), floats(), bk.tensor([0]), floats(2, 2))


@pytest.mark.filterwarnings("ignore:.*reduce argument of torch.scatter")
@pytest.mark.parametrize("call", SCATTERS.values(), ids=SCATTERS)
def test_an_index_without_entries_names_no_place_whatever_its_shape_and_dtype(call):
    nothing = [NO_ROWS, NO_ROWS.float(), NO_ROWS.int().reshape(0, 2), NO_ROWS.reshape(0, 5), NO_ROWS.reshape(2, 0, 7)]
    for x, index in product((bk.tensor(1.0), floats(2, 3, grad=False)), nothing):
        agree(partial(call, bk), partial(call, torch), x, index, floats(2, 2, grad=False))
        agree(partial(call, bk), partial(call, torch), x, index, floats(2, 2, grad=False).double())


def test_an_index_needs_the_number_of_dims_of_the_source():
    for src in (floats(2), floats(2, 2, 2), bk.tensor(1.0)):
        for call in (bk.scatter, bk.scatter_add):
            with pytest.raises(ShapeError, match="same number of dimensions as src tensor"):
                call(floats(2, 2), 0, whole(2, 2, 2), src)


def test_booleans_reduced_into_places():
    for x, src, reduce, own in product((False, True), (False, True), ("sum", "prod", "amax", "amin", "mean"), (False, True)):
        x_, src_, index = bk.full((3,), x), bk.tensor([src, src, True]), bk.tensor([0, 1, 1])
        agree_both("scatter_reduce", x_, 0, index, src_, reduce, include_self=own)


def test_a_nan_among_what_is_reduced():
    places = bk.tensor([0, 0, 0, 1, 1, 2])
    for values, reduce in product(([1.0, NAN, 3.0, NAN, 5.0, 5.0], [0.0, NAN, 0.0, 2.0, 0.0, NAN]), ("amax", "amin", "prod")):
        x, src = bk.tensor([1.0, NAN, 4.0], requires_grad=True), bk.tensor(values, requires_grad=True)
        for own in (True, False):
            agree_both("scatter_reduce", x, 0, places, src, reduce, include_self=own)


@pytest.mark.parametrize("reduce", ["max", "min", "sum", "mean", "prod"])
def test_a_nan_in_a_segment(reduce):
    for values, start in product(([1.0, NAN, 3.0, 4.0, 5.0, 5.0], [2.0, NAN, NAN, 1.0, 1.0, 2.0]), (None, 2, NAN)):
        found = []
        for lib in (bk, torch):
            data = lib.tensor(values, requires_grad=True)
            y = lib.segment_reduce(data, reduce, lengths=lib.tensor([1, 2, 3, 0]), initial=start)
            y.backward(lib.ones_like(y))  # PyTorch shares a gradient among equal entries only where it is above 0
            found.append((y.detach().numpy(), data.grad.numpy()))
        for ours, theirs in zip(*found):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum])
def test_places_named_twice_are_reached_in_order(ufunc):
    """By one flat index it is the same, to the bit, as by NumPy's own."""
    draw = np.random.default_rng(0)
    y = draw.standard_normal((5, 6, 3)).astype(np.float32)
    rows, columns = draw.integers(-5, 5, (40,)), draw.integers(0, 6, (40,))
    keys = [(rows,), (rows, columns), (slice(None), columns), (rows[:, None], slice(1, 4)), (y > 0,), (..., draw.integers(0, 3, 7))]
    for key in keys:
        values = draw.standard_normal(y[key].shape).astype(np.float32)
        for given in (values, np.float32(2), values[..., :1]):
            for start in (y, np.asfortranarray(y)):
                theirs, ours = start.copy("K"), start.copy("K")
                ufunc.at(theirs, key, given)
                at_places(ufunc, ours, key, given)
                assert np.array_equal(theirs, ours), key
