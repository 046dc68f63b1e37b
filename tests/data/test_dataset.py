"""Datasets: what an example is, how many there are, and how they are put together and parted."""

import badak.utils.data as ours
import pytest
import torch
import torch.utils.data as theirs

import badak
from badak.core.errors import ArgumentError, BadakWarning, IndexOutOfRangeError, NotSupportedError, ShapeError
from badak.tensor import arange


class Stream(ours.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self):
        return self.n


def test_a_tensor_dataset_gives_rows():
    data = ours.TensorDataset(arange(12).reshape(4, 3), arange(4))
    x, y = data[2]
    assert len(data) == 4 and x.tolist() == [6, 7, 8] and y.item() == 2
    with pytest.raises(ArgumentError, match="Size mismatch"):
        ours.TensorDataset(arange(3), arange(4))


def test_datasets_stack_side_by_side():
    assert ours.StackDataset([1, 2], [3, 4])[1] == (2, 4)
    named = ours.StackDataset(a=[1, 2], b=[3, 4])
    assert named[0] == {"a": 1, "b": 3} and len(named) == 2
    with pytest.raises(ShapeError, match="Size mismatch"):
        ours.StackDataset([1], [1, 2])
    with pytest.raises(ArgumentError, match="in order or by name"):
        ours.StackDataset()


def test_datasets_concatenate():
    one, two = ours.TensorDataset(arange(3)), ours.TensorDataset(arange(3, 8))
    both = one + two
    assert len(both) == 8 and [both[i][0].item() for i in (0, 2, 3, 7, -1, -8)] == [0, 2, 3, 7, 7, 0]
    for wrong in (8, -9):
        with pytest.raises(IndexOutOfRangeError, match="outside of 8 examples"):
            both[wrong]
    with pytest.raises(ArgumentError, match="empty iterable"):
        ours.ConcatDataset([])
    with pytest.raises(ArgumentError, match="IterableDataset"):
        ours.ConcatDataset([Stream(2)])


def test_streams_chain():
    chain = Stream(2) + Stream(3)
    assert list(chain) == [0, 1, 0, 1, 2] and len(chain) == 5
    with pytest.raises(ArgumentError, match="only supports IterableDataset"):
        list(ours.ChainDataset([[1]]))


def test_a_subset_of_a_subset_gives_the_examples_meant():
    inner = ours.Subset(ours.TensorDataset(arange(10, 20)), [1, 3, 5, 7])
    outer = ours.Subset(inner, [3, 0])
    assert [outer[i][0].item() for i in range(2)] == [17, 11]
    (batch,) = next(iter(ours.DataLoader(outer, 2)))
    assert batch.tolist() == [17, 11]


def test_a_subset_with_its_own_getitem_must_say_how_batches_are_read():
    class Own(ours.Subset):
        def __getitem__(self, i):
            return 0

    with pytest.raises(NotSupportedError, match="__getitems__"):
        Own([1, 2], [0])


def test_a_changed_getitem_is_heard_in_batches():
    class Doubled(ours.TensorDataset):
        def __getitem__(self, i):
            return self.tensors[0][i] * 2

    assert next(iter(ours.DataLoader(Doubled(arange(4)), 4))).tolist() == [0, 2, 4, 6]


def test_rows_that_require_grad_keep_their_history():
    w = badak.ones(4, requires_grad=True)
    (batch,) = next(iter(ours.DataLoader(ours.TensorDataset(w), 3)))
    batch.sum().backward()
    assert w.grad.tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize("lengths", [[3, 7, 20], [0.3, 0.3, 0.4], [0.5, 0.25, 0.25], [1.0]])
def test_random_split_parts_as_torch_does(lengths):
    for own in (False, True):
        torch.manual_seed(4)
        badak.manual_seed(4)
        a = theirs.random_split(range(30), lengths, **({"generator": torch.Generator().manual_seed(1)} if own else {}))
        b = ours.random_split(range(30), lengths, **({"generator": badak.Generator().manual_seed(1)} if own else {}))
        assert [list(part.indices) for part in a] == [list(part.indices) for part in b]


def test_impossible_splits_are_refused():
    with pytest.raises(ArgumentError, match="does not equal the length"):
        ours.random_split(range(10), [3, 4])
    with pytest.raises(ArgumentError, match="not between 0 and 1"):
        ours.random_split(range(10), [1.5, -0.5])
    with pytest.warns(BadakWarning, match="Length of split at index 1 is 0"):
        ours.random_split(range(2), [0.99, 0.01])


def test_what_a_subclass_forgot_is_named():
    class Empty(ours.Dataset):
        pass

    class Silent(ours.IterableDataset):
        pass

    with pytest.raises(NotImplementedError, match="Empty does not define __getitem__"):
        Empty()[0]
    with pytest.raises(NotImplementedError, match="Silent does not define __iter__"):
        iter(Silent())


def test_the_names_stand_where_torch_has_them():
    data = badak.utils.data
    assert data.DataLoader is data.dataloader.DataLoader is ours.DataLoader
    assert data.dataset.Dataset is ours.Dataset and data.sampler.Sampler is ours.Sampler
    assert data.distributed.DistributedSampler is ours.DistributedSampler
    assert ours.Dataset[int] and ours.Sampler[int] and ours.DataLoader[int]


@pytest.mark.parametrize("named", [False, True])
def test_stacked_datasets_are_asked_for_whole_batches_as_in_pytorch(named):
    class Whole:
        def __init__(self, short=False):
            self.asked, self.short = [], short

        def __len__(self):
            return 6

        def __getitems__(self, indices):
            self.asked.append(list(indices))
            return [10 * index for index in indices][self.short :]

    def story(lib):
        one, other = Whole(), list(range(6))
        stacked = lib.utils.data.StackDataset(a=one, b=other) if named else lib.utils.data.StackDataset(one, other)
        batches = list(lib.utils.data.DataLoader(stacked, batch_size=4, collate_fn=list))
        with pytest.raises(ValueError, match="output size mismatch. Expected 2, got 1"):
            lib.utils.data.StackDataset(Whole(short=True), other).__getitems__([0, 1])
        return batches, one.asked

    assert story(badak) == story(torch)
