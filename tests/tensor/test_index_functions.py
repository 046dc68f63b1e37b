"""gather, scatter and their kin against PyTorch."""

import pytest
import torch

import badak as bk
from badak.core.errors import DTypeError, IndexOutOfRangeError, ShapeError
from tests.twins import agree_both, flags, floats, whole

INDEX = whole(3, 4, 2)
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
