"""From examples to batches: the containers, values and dtypes of PyTorch."""

from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest
import torch
from badak.utils.data import default_collate, default_convert
from torch.utils.data import default_collate as their_collate
from torch.utils.data import default_convert as their_convert

import badak
from badak.core.errors import ArgumentTypeError, DTypeError, ShapeError
from badak.data.collate import collate, default_collate_fn_map

Point = namedtuple("Point", "x y")


def plain(value):
    """A batch with (dtype, shape, values) in the place of each tensor."""
    if isinstance(value, (torch.Tensor, badak.Tensor)):
        return str(value.dtype).partition(".")[2], tuple(value.shape), value.tolist()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(plain, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    return value


BATCHES = {
    "tensors": lambda m: [m.arange(3), m.arange(3)],
    "0-d tensors": lambda m: [m.tensor(1.5), m.tensor(2.5)],
    "pairs": lambda m: [(m.arange(2), 1), (m.arange(2), 2)],
    "ints": lambda m: [1, 2, 3],
    "bools": lambda m: [True, False],
    "floats": lambda m: [1.0, 2.5],
    "texts": lambda m: ["a", "b"],
    "bytes": lambda m: [b"a", b"b"],
    "arrays": lambda m: [np.arange(3, dtype=np.float32), np.ones(3, np.float32)],
    "float64 arrays": lambda m: [np.arange(3) / 2, np.ones(3)],
    "numpy numbers": lambda m: [np.float32(1), np.float32(2)],
    "numpy float64": lambda m: [np.float64(1), np.float64(2)],
    "numpy ints": lambda m: [np.int32(1), np.int32(2)],
    "numpy bools": lambda m: [np.bool_(True), np.bool_(False)],
    "dicts": lambda m: [{"A": 0, "B": [1, 2]}, {"A": 100, "B": [3, 4]}],
    "ordered dicts": lambda m: [OrderedDict(a=1), OrderedDict(a=2)],
    "named tuples": lambda m: [Point(0, 0.5), Point(1, 1.5)],
    "lists": lambda m: [[0, 1], [2, 3]],
    "nested": lambda m: [{"a": (1, [2.0, "x"])}, {"a": (3, [4.0, "y"])}],
    "ranges": lambda m: [range(2), range(2)],
}


@pytest.mark.parametrize("what", BATCHES)
def test_batches_are_made_as_torch_makes_them(what):
    theirs, ours = their_collate(BATCHES[what](torch)), default_collate(BATCHES[what](badak))
    assert plain(theirs) == plain(ours) and type(theirs).__name__ == type(ours).__name__


@pytest.mark.parametrize(
    "value",
    [0, "a", np.arange(3), np.float32(2), np.array(["a"]), [np.array([0, 1]), "b"], (1, np.ones(2)), Point(np.ones(1), 0),
     {"a": np.ones(2)}, range(3)],
)  # fmt: skip
def test_single_examples_are_converted_as_torch_converts_them(value):
    theirs, ours = their_convert(value), default_convert(value)
    assert str(plain(theirs)) == str(plain(ours))


def test_a_batch_of_rows_keeps_the_gradient():
    w = badak.ones(3, requires_grad=True)
    default_collate([w * 2, w * 3]).sum().backward()
    assert w.grad.tolist() == [5, 5, 5]


def test_a_container_keeps_what_it_carries_beside_its_values():
    batch = default_collate([defaultdict(list, a=1), defaultdict(list, a=2)])
    assert isinstance(batch, defaultdict) and batch["absent"] == []


def test_new_kinds_of_examples_can_be_registered():
    class Word:
        pass

    made = collate([Word(), Word()], collate_fn_map={Word: lambda batch, *, collate_fn_map=None: len(batch)})
    assert made == 2
    assert default_collate_fn_map[str](["a"]) == ["a"]


@pytest.mark.parametrize(
    "batch, error, text",
    [
        ([badak.zeros(3), badak.zeros(4)], ShapeError, r"equal size, but got \[3\] at entry 0 and \[4\] at entry 1"),
        ([np.zeros(3), np.zeros(4)], ShapeError, "equal size"),
        ([[1, 2], [3]], ShapeError, "each element in list of batch should be of equal size"),
        ([object()], ArgumentTypeError, "must contain tensors, numpy arrays, numbers, dicts or lists"),
        ([None], ArgumentTypeError, "NoneType"),
        ([np.array(["a"])], ArgumentTypeError, "<U1"),
        ([np.zeros(2, "M8[s]")], DTypeError, "datetime64"),
    ],
)
def test_batches_that_cannot_be_made_are_named(batch, error, text):
    with pytest.raises(error, match=text):
        default_collate(batch)
