"""all_to_all: every rank sends a part of its own to each other one."""

import math
from typing import Any

import numpy as np

from badak.core.errors import ShapeError, tr
from badak.distributed.collectives import array, arrays, begin, flat, put, raw
from badak.distributed.group import ProcessGroup, mine
from badak.distributed.work import Work
from badak.tensor.tensor import Tensor


def all_to_all_single(
    output: Any,
    input: Tensor,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    async_op: bool = False,  # noqa: A002
) -> Work | None:
    """The j-th part of rank i's input becomes the i-th part of rank j's output; parts are rows of the first dim."""
    if (group := mine(group)) is None:
        return None
    y, x = array(output, "all_to_all_single"), array(input, "all_to_all_single")
    out, into = _splits(y, output_split_sizes, group, "output"), _splits(x, input_split_sizes, group, "input")
    return _exchange("all_to_all_single", group, [x], into, math.prod(x.shape[1:]), [output], out, async_op)


def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """output_tensor_list[i] on rank j = input_tensor_list[j] on rank i."""
    if (group := mine(group)) is None:
        return None
    xs, ys = arrays(input_tensor_list, "all_to_all", group), arrays(output_tensor_list, "all_to_all", group)
    sizes = [x.size for x in xs], [y.size for y in ys]
    return _exchange("all_to_all", group, xs, sizes[0], 1, list(output_tensor_list), sizes[1], async_op)


def _exchange(kind: str, group: ProcessGroup, xs, sent, width: int, outputs, taken, async_op: bool) -> Work | None:
    """Send sent[j] rows of `width` numbers to rank j, take taken[i] from rank i."""

    def fits(lines: list[str]) -> bool:
        heads = [line.split(" sends ")[0] for line in lines]
        tables = [[list(map(int, part.split(","))) for part in line.split(" sends ")[-1].split(" takes ")] for line in lines]
        n = range(len(lines))
        return len(set(heads)) == 1 and all(tables[i][0][j] == tables[j][1][i] for i in n for j in n)

    def data():
        row = np.concatenate([flat(x) for x in xs])
        size = width * row.itemsize
        made = np.empty(sum(taken) * width, row.dtype)
        if group.size() == 1:
            made[:] = row
        else:
            there, here = ([[n * size for n in counts], _starts(counts, size), group.byte] for counts in (sent, taken))
            yield [group.comm.Ialltoallv([raw(row), *there], [raw(made), *here])]
        sizes = np.cumsum([y._array.size for y in outputs])[:-1]
        for output, values in zip(outputs, np.split(made, sizes)):
            put(output, values, kind)

    line = f"{kind} of {xs[0].dtype} sends {','.join(map(str, sent))} takes {','.join(map(str, taken))}"
    return begin(group, line, data(), async_op, fits)


def _starts(counts, size: int) -> list[int]:
    return [size * int(n) for n in np.cumsum([0, *counts[:-1]])]


def _splits(x: np.ndarray, sizes, group: ProcessGroup, name: str) -> list[int]:
    """How many rows belong to each rank."""
    rows, n = (x.shape[0] if x.ndim else 1), group.size()
    made = [rows // n] * n if not sizes else [int(size) for size in sizes]
    if len(made) != n or sum(made) != rows or min(made) < 0:
        cause = tr("all_to_all_single: {} has {} rows, which {} does not split over {} ranks", name, rows, made, n)
        raise ShapeError(cause, tr("{}_split_sizes with one number for each rank, {} together", name, rows))
    return made
