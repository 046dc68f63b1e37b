"""Rows of picking and replacing by position, and of einsum."""

import numpy as np
import torch

from badak.ops import along as a
from badak.ops import einsum as e
from badak.ops import index as i
from tests.samples import Sample, bools, case, ints


def key_of(key):
    """A NumPy key in PyTorch's words."""
    if isinstance(key, tuple):
        return tuple(map(key_of, key))
    return torch.from_numpy(key) if isinstance(key, np.ndarray) else key


def put(x, value, key, accumulate=False):
    if accumulate:
        return x.index_put(key_of(key), value, accumulate=True)
    y = x.clone()
    y[key_of(key)] = value
    return y


ROW = np.array([2, 0, 2])
MASK = np.array([True, False, True])
NONE = np.zeros(0, np.int64)
BASIC = [(slice(None), 1), (0,), (..., slice(0, None, 2)), (None, slice(1, 3)), (slice(0, 0),)]
ADVANCED = [
    (ROW,),
    ROW,
    (MASK,),
    (slice(None), np.array([[0, 1], [1, -1]])),
    (ROW, np.array([0, 1, 0])),
    (NONE,),
    (slice(None), NONE),
]
GATHERS = [
    case((4, 3), ints(3, 4, 2), dim=1),
    case((4, 3), ints(4, 2, 3), dim=0),
    case((2, 3, 4), ints(3, 2, 2, 4), dim=1),
    case((1,), ints(1, 1), dim=0),
    case((0, 3), ints(3, 0, 2), dim=1),
]
ONCE = np.array([[2, 0], [1, 2], [0, 1], [2, 1]])  # no entry twice in a row
SLICES = [
    case((3, 2), ints(3, 4), dim=0),
    case((2, 3), ints(3, 4), dim=1),
    case((1,), ints(1, 1), dim=0),
    case((3, 2), NONE, dim=0),
]


def with_source(cases, shapes):
    return [case(*one.inputs, shape, **one.attributes) for one, shape in zip(cases, shapes)]


def used(src, index):
    """The part of src that a smaller index uses; PyTorch has no gradient for the rest."""
    return src[tuple(map(slice, index.shape))]


def contract(a, b, ta, tb, ty):
    return torch.einsum(f"{ta},{tb}->{ty}", a, b)


PRODUCTS = [
    case((2, 3), (3, 4), ta="ij", tb="jk", ty="ik"),
    case((2, 3, 4), (2, 5, 4), ta="bid", tb="bjd", ty="bij"),
    case((2, 3), (4, 5), ta="ij", tb="kl", ty="ik"),
    case((3,), (3,), ta="i", tb="i", ty=""),
    case((2, 3, 4, 5), (2, 6, 4, 5), ta="qihd", tb="qjhd", ty="qhji"),
    case((2, 3), (), ta="ij", tb="", ty="ji"),
    case((0, 3), (3, 2), ta="ij", tb="jk", ty="ik"),
    case((2, 0), (0, 2), ta="ij", tb="jk", ty="ik"),
    case((1,), (1,), ta="i", tb="j", ty="ij"),
]

ROWS = [
    Sample(i.Select, lambda x, key: x[key_of(key)], [(3, 4), (3, 0)], key=[k for k in BASIC if k != (slice(None), 1)]),
    Sample(
        i.Select,
        lambda x, key: x[key_of(key)],
        [case((3, 4), key=(slice(None), 1)), case((1,), key=(0,)), case((1,), key=0)],
    ),
    Sample(i.Index, lambda x, key: x[key_of(key)], [(3, 2)], key=ADVANCED),
    Sample(i.Index, lambda x, key: x[key_of(key)], [case((3, 0), key=(ROW,)), case((1,), key=(np.array([0, 0]),))]),
    Sample(
        i.IndexPut,
        put,
        [
            case((3, 2), (3, 2), key=(np.array([2, 0, 1]),)),
            case((3, 2), (2,), key=(MASK,)),
            case((3, 2), (), key=(slice(None), 1)),
            case((1,), (1,), key=(np.array([0]),)),
            case((3, 0), (2, 0), key=(MASK,)),
            case((3, 2), (3, 2), key=(ROW,), accumulate=True),
        ],
    ),
    Sample(a.Gather, lambda x, index, dim: x.gather(dim, index), GATHERS),
    Sample(
        a.TakeAlong,
        lambda x, index, dim: x.gather(dim, index),
        [case((4, 3), ONCE, dim=1), case((1,), ints(1, 1), dim=0), case((0, 3), ints(3, 0, 1), dim=1)],
    ),
    Sample(
        a.Scatter,
        lambda x, index, src, dim: x.scatter(dim, index, used(src, index)),
        [
            case((4, 3), ONCE, (4, 2), dim=1),
            case((4, 3), ONCE, (5, 3), dim=1),
            case((1,), ints(1, 1), (1,), dim=0),
            case((0, 3), ints(3, 0, 1), (0, 2), dim=1),
        ],
    ),
    Sample(a.ScatterFill, lambda x, index, c, dim: x.scatter(dim, index, c), GATHERS, c=[2, -0.5]),
    Sample(
        a.ScatterAdd,
        lambda x, index, src, dim: x.scatter_add(dim, index, used(src, index)),
        with_source(GATHERS, [(4, 2), (4, 3), (2, 3, 4), (1,), (0, 2)]),
    ),
    Sample(a.IndexSelect, lambda x, index, dim: x.index_select(dim, index), SLICES),
    Sample(
        a.IndexAdd,
        lambda x, index, src, dim, c: x.index_add(dim, index, src, alpha=c),
        with_source(SLICES, [(4, 2), (2, 4), (1,), (0, 2)]),
        c=[1, 0.5],
    ),
    Sample(
        a.IndexCopy,
        lambda x, index, src, dim: x.index_copy(dim, index, src),
        [
            case((3, 2), np.array([2, 0]), (2, 2), dim=0),
            case((2, 3), np.array([1]), (2, 1), dim=1),
            case((1,), ints(1, 1), (1,), dim=0),
            case((3, 2), NONE, (0, 2), dim=0),
        ],
    ),
    Sample(a.IndexFill, lambda x, index, c, dim: x.index_fill(dim, index, c), SLICES, c=[2.5]),
    Sample(
        i.MaskedSelect,
        torch.masked_select,
        [((2, 3), bools(3)), ((3,), bools(2, 3)), ((1,), bools(1)), ((0, 2), bools(0, 2))],
    ),
    Sample(
        i.MaskedScatter,
        torch.masked_scatter,
        [((2, 3), bools(2, 3), (7,)), ((2, 3), bools(3), (2, 3)), ((1,), bools(1), (1,)), ((0, 2), bools(0, 2), (0,))],
    ),
    Sample(i.Take, torch.take, [((2, 3), ints(6, 2, 2)), ((1,), ints(1, 2)), ((2, 3), NONE)]),
    Sample(e.Contract, contract, PRODUCTS),
    Sample(
        e.SumTo,
        lambda x, tx, ty: torch.einsum(f"{tx}->{ty}", x),
        [
            case((2, 3, 4), tx="ijk", ty="ki"),
            case((2, 3), tx="ij", ty=""),
            case((1,), tx="i", ty="i"),
            case((0, 2), tx="ij", ty="j"),
        ],
    ),
]
