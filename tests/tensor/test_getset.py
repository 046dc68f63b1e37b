"""x[key] and x[key] = value against PyTorch: values, gradients, order of dims, shared memory, complaints."""

import numpy as np
import pytest
import torch

import badak as bk
from badak.core.errors import ArgumentError, ArgumentTypeError, IndexOutOfRangeError, ShapeError
from tests.tiers import looped
from tests.twins import agree, floats, to_torch, whole

ROWS = bk.tensor([2, 0, 2])
MASK = bk.tensor([True, False, True])
BASIC = [
    0,
    -1,
    slice(1, None),
    (slice(None), 1),
    (0, 1),
    (..., 0),
    None,
    (slice(None), None, slice(0, 2)),
    (slice(None, None, 2), ..., -1),
    (),
    ...,
    bk.tensor(1),
    np.int64(1),
    slice(0, 0),
]
ADVANCED = [
    ROWS,
    [0, 2],
    (slice(None), [0, 1]),
    (ROWS, bk.tensor([0, 1, 0])),
    (slice(None), ROWS % 2, None),
    MASK,
    (MASK, 1),
    (0, slice(None), [0, 2]),
    (0, [0, 1], slice(None)),
    ([0, 1], slice(None), [0, 2]),
    (slice(None), 0, [0, 2]),
    (1, ..., [0, 2]),
    ([0, 1], ..., 2),
    (None, 0, slice(None), [1, 2]),
    (0, None, [0, 1]),
    (slice(None), slice(None), -1 * ROWS),
    bk.tensor([], dtype=bk.int64),
    np.array([1, 0]),
]


@pytest.mark.parametrize("key", BASIC + ADVANCED, ids=str)
def test_getitem(key):
    agree(lambda x: x[key], lambda x: x[_torch_key(key)], floats(3, 2, 4))


@pytest.mark.parametrize("of", ["True", "False"])
@pytest.mark.parametrize("key", ["{}", "{}, [0, 1]", ":, {}", "{}, :, [0, 1]", "{}, 1", "None, {}, 0", "..., {}", "[1, 0], {}"])
def test_a_mask_of_one_number_in_memory_of_any_order(key, of):
    """It picks 1 or 0 entries of an axis of its own."""
    mine, theirs = (eval(f"lambda x: x[{key.format(f'm({of})')}]", {"m": m}) for m in (bk.tensor, torch.tensor))
    try:
        theirs(torch.zeros(2, 3, 4))
    except IndexError:
        with pytest.raises(IndexError):
            mine(bk.zeros(2, 3, 4))
    else:
        agree(lambda x: mine(x.permute(2, 0, 1)), lambda x: theirs(x.permute(2, 0, 1)), floats(3, 2, 4))
        agree(lambda x: mine(x[:, :2, 1:]), lambda x: theirs(x[:, :2, 1:]), floats(3, 3, 4))


@pytest.mark.parametrize("key", BASIC + ADVANCED, ids=str)
def test_setitem_with_a_number_and_with_a_tensor(key):
    def assign(x, value, key):
        y = x * 1
        y[key] = value
        return y

    x = floats(3, 2, 4)
    repeats = bool(np.asarray(x[key].shape).prod()) and len(np.unique(_positions(key))) < _positions(key).size
    for value in (2, 0.5, floats()):
        agree(lambda x, v: assign(x, v, key), lambda x, v: assign(x, v, _torch_key(key)), x, value)
    if not repeats:  # which of two values for one place stays is not promised
        value = floats(*x[key].shape)
        agree(lambda x, v: assign(x, v, key), lambda x, v: assign(x, v, _torch_key(key)), x, value)


def _positions(key):
    return torch.arange(24).reshape(3, 2, 4)[_torch_key(key)].numpy()


def _torch_key(key):
    if isinstance(key, tuple):
        return tuple(map(_torch_key, key))
    return to_torch(key)


def test_without_gradients_the_memory_itself_is_written():
    for key in BASIC + ADVANCED:
        x, y = bk.zeros(3, 2, 4), torch.zeros(3, 2, 4)
        x[key], y[_torch_key(key)] = 3, 3
        np.testing.assert_array_equal(x.numpy(), y.numpy())


def test_basic_keys_share_memory():
    x = bk.zeros(3, 4)
    x[1][2] = 5
    x[:, 0][0] = 7
    assert x[1, 2].item() == 5 and x[0, 0].item() == 7


def test_masked_assignment_and_augmented_items():
    x = floats(3, 4, grad=False)
    y = to_torch(x)
    x[x < 0] = -float("inf")
    y[y < 0] = -float("inf")
    x[0] += 1
    y[0] += 1
    np.testing.assert_array_equal(x.numpy(), y.numpy())


def test_iteration_and_tuples_of_indices():
    x = whole(9, 3, 2)
    assert [row.tolist() for row in x] == x.tolist()
    i, j = (x > 3).nonzero(as_tuple=True)
    assert x[i, j].tolist() == x[x > 3].tolist()


def test_keys_that_make_no_sense():
    x = floats(3, 4)
    for key, error, text in (
        (7, IndexOutOfRangeError, "index 7 is out of bounds for dimension 0 with size 3"),
        ((0, 9), IndexOutOfRangeError, "index 9 is out of bounds for dimension 1 with size 4"),
        ([5], IndexOutOfRangeError, "out of bounds for dimension 0"),
        ((0, 0, 0), IndexOutOfRangeError, "too many indices for tensor of dimension 2"),
        (slice(None, None, -1), ArgumentError, "step must be greater than zero"),
        (1.5, IndexOutOfRangeError, "only integers, slices"),
        (bk.ones(3), IndexOutOfRangeError, "tensors used as indices must be"),
        (bk.tensor([True, False]), IndexOutOfRangeError, "mask"),
    ):
        with pytest.raises(error, match=text.replace("(", r"\(")):
            x[key]
    with pytest.raises(ShapeError, match="shape mismatch"):
        bk.zeros(3, 4)[0] = bk.ones(3)
    with pytest.raises(ArgumentTypeError, match="does not support deleting"):
        del x[0]


PLACES = [((2,), 1), ((2, 2), (1, 1)), ((), ()), ((), Ellipsis), ((2, 2), slice(0, 1))]


@looped(dtype="complex64 complex128 bfloat16 float16 float32 float64 int64 bool uint8 int16".split())
@pytest.mark.parametrize("given", [(), (1,), (1, 1)])
def test_a_tensor_of_one_value_goes_to_a_single_place(dtype, given):
    for shape, key in PLACES:
        both = []
        for library in (bk, torch):
            x = library.zeros(shape, dtype=getattr(library, dtype))
            x[key] = library.ones(given, dtype=x.dtype)
            both.append(x.tolist())
        assert both[0] == both[1]


@pytest.mark.parametrize("name", "device dtype is_cuda is_mps is_nested is_quantized is_sparse layout requires_grad shape".split())
def test_what_a_tensor_says_of_itself_is_a_descriptor_of_its_class(name):
    for lib in (torch, bk):
        x = lib.ones(2)
        assert getattr(lib.Tensor, name).__get__(x) == getattr(x, name)
