"""Random collectives on random groups: each rank draws the data of all, computes with NumPy what must come out, and compares.

`against_numpy.py COUNT SEED`. Several operations are under way at once, and are waited for in another order.
"""

import sys

import numpy as np

import badak
from badak import distributed as dist
from badak.distributed import ReduceOp

count, seed = int(sys.argv[1]), int(sys.argv[2])
dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
common = np.random.default_rng(seed)
DTYPES = [
    badak.float32,
    badak.float64,
    badak.float16,
    badak.bfloat16,
    badak.complex64,
    badak.int64,
    badak.uint8,
    badak.bool,
]
UFUNCS = {
    ReduceOp.SUM: np.add, ReduceOp.PRODUCT: np.multiply, ReduceOp.MIN: np.minimum, ReduceOp.MAX: np.maximum,
    ReduceOp.BAND: np.bitwise_and, ReduceOp.BOR: np.bitwise_or, ReduceOp.BXOR: np.bitwise_xor,
}  # fmt: skip


def join(rows, op):
    """Neighbours, then pairs of neighbours."""
    if op is ReduceOp.AVG:
        total = join(rows, ReduceOp.SUM)
        return (total / np.asarray(len(rows), total.dtype)).astype(total.dtype)
    rows = list(rows)
    while len(rows) > 1:
        pairs = [rows[i : i + 2] for i in range(0, len(rows), 2)]
        rows = [pair[0] if len(pair) == 1 else UFUNCS[op](*pair).astype(pair[0].dtype) for pair in pairs]
    return rows[0]


def ops_for(kind):
    """The operations that a dtype has."""
    if kind in "iub":
        return [op for op in UFUNCS if kind != "b" or op is not ReduceOp.PRODUCT]
    return [ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.AVG, *([] if kind == "c" else [ReduceOp.MIN, ReduceOp.MAX])]


def one(groups):
    """Begin one collective on a random group; (handle, tensors, what must be in them), or None where this rank has no part."""
    members, group = groups[int(common.integers(len(groups)))]
    shape = tuple(int(n) for n in common.integers(0, 6, common.integers(0, 4)))
    if common.random() < 0.2:
        shape = (int(common.integers(1, 30_000)),)
    dtype = DTYPES[int(common.integers(len(DTYPES)))]
    numpy = badak.empty(0, dtype=dtype)._array.dtype
    n = len(members)
    data = [common.integers(0, 7, (n, *shape)).astype(np.float32) * 0.7 for _ in range(n)]
    data = [(row > 2 if numpy.kind == "b" else row).astype(numpy) for row in data]
    choices = ops_for("f" if numpy.kind == "V" else numpy.kind)
    op, kind, root = choices[int(common.integers(len(choices)))], int(common.integers(10)), int(common.integers(n))
    if rank not in members:
        return None
    me = members.index(rank)
    own = badak.Tensor._of(data[me][0].copy("F"))
    blank = lambda *shape: badak.zeros(*shape, dtype=dtype)  # noqa: E731
    named = {"group": group, "async_op": True}
    rows = [row[0] for row in data]
    if kind == 0:
        return dist.all_reduce(own, op=op, **named), [own], [join(rows, op)]
    if kind == 1:
        return dist.broadcast(own, src=members[root], **named), [own], [rows[root]]
    if kind == 2:
        into = [blank(shape) for _ in members]
        return dist.all_gather(into, own, **named), into, rows
    if kind == 3:
        into = blank((n, *shape))
        return dist.all_gather_into_tensor(into, own, **named), [into], [np.stack(rows)]
    if kind == 4:
        into = [blank(shape) for _ in members] if me == root else None
        return dist.gather(own, into, group_dst=root, **named), into or [own], rows if into else [rows[me]]
    if kind == 5:
        parts = [badak.Tensor._of(row) for row in data[me]] if me == root else None
        return dist.scatter(own, parts, group_src=root, **named), [own], [data[root][me]]
    if kind == 6:
        parts = [badak.Tensor._of(row) for row in data[me]]
        return dist.reduce_scatter(own, parts, op=op, **named), [own], [join([row[me] for row in data], op)]
    if kind == 7:
        want = join(rows, op) if me == root else rows[me]
        return dist.reduce(own, dst=members[root], op=op, **named), [own], [want]
    if kind == 8:
        into = [blank(shape) for _ in members]
        parts = [badak.Tensor._of(row) for row in data[me]]
        return dist.all_to_all(into, parts, **named), into, [row[me] for row in data]
    whole = badak.Tensor._of(data[me])
    into = blank((n, *shape))
    return dist.all_to_all_single(into, whole, **named), [into], [np.stack([row[me] for row in data])]


groups = [(list(range(size)), None)]
for _ in range(3):
    members = sorted(common.permutation(size)[: common.integers(1, size + 1)].tolist())
    groups.append((members, dist.new_group(members)))
np.seterr(all="ignore")
under_way = []
for i in range(count):
    begun = one(groups)
    if begun is not None:
        under_way.append((i, *begun))
    while under_way and (i == count - 1 or len(under_way) > 4):
        number, handle, tensors, wanted = under_way.pop(i % len(under_way))
        handle.wait()
        for tensor, values in zip(tensors, wanted, strict=True):
            assert tensor._array.dtype == values.dtype and tensor._array.shape == values.shape
            assert tensor._array.tobytes() == np.ascontiguousarray(values).tobytes(), (
                number,
                handle.what,
                tensor,
                values,
            )
dist.barrier()
sys.stdout.write(f"rank {rank}: {count} as NumPy has them\n")  # at once: print may write the end of its line by itself
