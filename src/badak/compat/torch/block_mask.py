"""What flex_attention may see: functions of one score, on all of them, and the blocks of queries and keys that hold anything.

B batch, H heads, T queries, S keys; R and C rows and columns of blocks.
"""

import math
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Any

import numpy as np

from badak.compat.torch.vmap import vmap
from badak.core.errors import ArgumentError, IndexOutOfRangeError, NotSupportedError, ShapeError, expect, expect_function, tr
from badak.tensor import Tensor, arange, from_numpy, zeros
from badak.tensor import bool as bool_

BLOCK = 128
_NONE: tuple[Tensor | None, Tensor | None] = (None, None)
Mod = Callable[..., Tensor]


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """A mask_mod by which all is seen."""
    return batch.new_ones((), dtype=bool_)


def and_masks(*mask_mods: Mod) -> Mod:
    """A mask_mod by which is seen what all of these show."""
    return _joined("and_masks", mask_mods, lambda a, b: a & b, True)


def or_masks(*mask_mods: Mod) -> Mod:
    """A mask_mod by which is seen what one of these shows."""
    return _joined("or_masks", mask_mods, lambda a, b: a | b, False)


def _joined(where: str, mask_mods: tuple[Mod, ...], join: Callable[[Any, Any], Any], start: bool) -> Mod:
    for mod in mask_mods:
        expect_function(where, mod)

    def joined(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        seen = b.new_full((), start, dtype=bool_)
        for mod in mask_mods:
            seen = join(seen, mod(b, h, q_idx, kv_idx))
        return seen

    return joined


def everywhere(mod: Mod, scores: int = 0) -> Mod:
    """A function of one score as one of all: of `scores` tensors (B, H, T, S), and the numbers of batches, heads, queries, keys."""
    for axis in (3, 2, 1, 0):  # the keys innermost
        mod = vmap(mod, (0,) * scores + tuple(0 if axis == at else None for at in range(4)))
    return mod


def seen_by(mask_mod: Mod, B: int, H: int, queries: Tensor, keys: Tensor) -> Tensor:
    """Which key each query sees, bool (B, H, T, S), with 1 for axes on which it does not depend."""
    seen = everywhere(mask_mod)(arange(B), arange(H), queries, keys)
    if seen.dtype != bool_ or seen.dim() != 4:
        cause = tr("mask_mod gave {} {} for one score; expected one boolean", seen.dtype, tuple(seen.shape[4:]))
        raise ArgumentError(cause, "return q_idx >= kv_idx")
    for axis in range(4):
        if seen.stride(axis) == 0 and seen.shape[axis] > 1:
            seen = seen.narrow(axis, 0, 1)
    return seen


def create_mask(mod_fn: Mod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:
    """The mask of a mask_mod as booleans (B, H, Q_LEN, KV_LEN), True = seen; of a score_mod where its score is not -inf.

    Args:
        mod_fn: a function of (b, h, q_idx, kv_idx), or of (score, b, h, q_idx, kv_idx)
        B, H: sizes; None: 1, for a function that does not depend on them
        Q_LEN, KV_LEN: queries and keys
        device: taken for PyTorch's sake

    Returns: bool (B, H, Q_LEN, KV_LEN)

    Raises:
        ArgumentError: for a function of another number of arguments

    Example:
        >>> from badak.compat.torch.flex_attention import create_mask
        >>> create_mask(lambda b, h, i, j: i >= j, None, None, 2, 2)[0, 0].int().tolist()
        [[1, 0], [1, 1]]
    """
    B, H = _sizes("create_mask", B, H, Q_LEN, KV_LEN)
    places = (arange(B), arange(H), arange(Q_LEN), arange(KV_LEN))
    if _count_arguments("create_mask", mod_fn) == 5:
        scores = everywhere(mod_fn, 1)(zeros(B, H, Q_LEN, KV_LEN), *places)
        return scores != -math.inf
    return seen_by(mod_fn, B, H, *places[2:]).expand(B, H, Q_LEN, KV_LEN).contiguous()


def _sizes(where: str, B: int | None, H: int | None, queries: int, keys: int) -> tuple[int, int]:
    """B and H, 1 where a function does not depend on them."""
    given = {"B": 1 if B is None else B, "H": 1 if H is None else H, "Q_LEN": queries, "KV_LEN": keys}
    expect(
        all(map(_is_size, given.values())),
        where,
        "integers of at least 1",
        "None for B and H, lengths such as 512",
        ArgumentError,
        **given,
    )
    return given["B"], given["H"]


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _block_size(given: Any) -> tuple[int, int]:
    """Queries and keys of a block."""
    size = (given, given) if isinstance(given, int) else given
    fits = isinstance(size, tuple | list) and len(size) == 2 and all(map(_is_size, size))
    expect(fits, "BlockMask", "a block of queries and keys", "BLOCK_SIZE=128, or (128, 64)", ArgumentError, BLOCK_SIZE=given)
    return size[0], size[1]


def _count_arguments(where: str, mod: Mod) -> int:
    """4 for a mask_mod, 5 for a score_mod."""
    expect_function(where, mod)
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    count = sum(each.default is Parameter.empty and each.kind in kinds for each in signature(mod).parameters.values())
    if count not in (4, 5):
        cause = tr("expected a function of (b, h, q_idx, kv_idx) or (score, b, h, q_idx, kv_idx); got one of {} arguments", count)
        raise ArgumentError(cause, "lambda b, h, q_idx, kv_idx: q_idx >= kv_idx")
    return count


# ---------------------------------------------------------------- blocks


def _ordered(table: np.ndarray) -> tuple[Tensor, Tensor]:
    """A table of blocks (..., R, C) as PyTorch keeps it: how many in each row (..., R), and which, those first (..., R, C)."""
    order = np.argsort(~table, axis=-1, kind="stable").astype(np.int32)
    return from_numpy(table.sum(-1, dtype=np.int32)), from_numpy(order)


def _table(count: Tensor | None, indices: Tensor | None) -> np.ndarray:
    """The other way round."""
    if not isinstance(count, Tensor) or not isinstance(indices, Tensor) or indices.dim() < 2 or count.shape != indices.shape[:-1]:
        got = [tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__ for x in (count, indices)]
        raise ShapeError(
            tr("BlockMask: expected numbers of blocks (..., rows) and indices (..., rows, columns); got {} and {}", got[0], got[1]),
            "create_block_mask makes them of a function",
        )
    which, most = indices.numpy(), indices.shape[-1]
    listed = np.arange(most) < count.numpy()[..., None]
    if which.dtype.kind not in "iu" or (count.numpy() > most).any() or (listed & ((which < 0) | (which >= most))).any():
        cause = tr("BlockMask: expected integers, of at most {} blocks of keys in a row, numbered 0 to {}", most, most - 1)
        raise ArgumentError(cause, "create_block_mask makes them of a function")
    table = np.zeros(which.shape, bool)
    places = np.nonzero(listed)
    table[(*places[:-1], which[places])] = True
    return table


def _lists(partial: np.ndarray, full: np.ndarray | None) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Both kinds of blocks as PyTorch keeps them."""
    return *_ordered(partial), *(_NONE if full is None else _ordered(full))


class BlockMask:
    """Which blocks of queries and keys see each other: made by `create_block_mask` or `BlockMask.from_kv_blocks`.

    kv_num_blocks (B, H, R), kv_indices (B, H, R, C): how many, and which, blocks of keys each block of queries sees in part: there
    `mask_mod` says what. full_kv_*: those that it sees whole. q_*, full_q_*: the same by blocks of keys. All int32.
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        q_num_blocks: Tensor | None = None,
        q_indices: Tensor | None = None,
        full_q_num_blocks: Tensor | None = None,
        full_q_indices: Tensor | None = None,
        BLOCK_SIZE: tuple[int, int] = (BLOCK, BLOCK),
        mask_mod: Mod = noop_mask,
    ) -> None:
        _table(kv_num_blocks, kv_indices)  # raises for what is no list of blocks
        for names, pair in (("full_kv", (full_kv_num_blocks, full_kv_indices)), ("full_q", (full_q_num_blocks, full_q_indices))):
            if (pair[0] is None) != (pair[1] is None):
                raise ArgumentError(tr("BlockMask: one of {}_num_blocks and {}_indices is missing", names, names), "both, or none")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = tuple(seq_lengths), BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = BLOCK,
        mask_mod: Mod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> "BlockMask":
        """A mask of lists of blocks.

        Args:
            kv_num_blocks: how many blocks of keys each block of queries sees in part, int32 (B, H, R)
            kv_indices: which, those first, int32 (B, H, R, C)
            full_kv_num_blocks, full_kv_indices: those that it sees whole; None: none
            BLOCK_SIZE: queries and keys of a block
            mask_mod: what is seen within the first kind of blocks; None: all
            seq_lengths: queries and keys; None: whole blocks
            compute_q_blocks: also list by blocks of keys

        Returns: a BlockMask

        Raises:
            ShapeError, ArgumentError: for lists that do not fit each other
        """
        size, by_blocks = _block_size(BLOCK_SIZE), _table(kv_num_blocks, kv_indices)
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        by_keys, full_by_keys = _NONE, _NONE
        if compute_q_blocks:
            by_keys = _ordered(by_blocks.swapaxes(-1, -2))
            if full_kv_num_blocks is not None and full_kv_indices is not None:
                full_by_keys = _ordered(_table(full_kv_num_blocks, full_kv_indices).swapaxes(-1, -2))
        (a, b), (c, d) = by_keys, full_by_keys
        whole = (full_kv_num_blocks, full_kv_indices)
        return cls(seq_lengths, kv_num_blocks, kv_indices, *whole, a, b, c, d, size, mask_mod or noop_mask)

    @property
    def _partial(self) -> np.ndarray:
        return _table(self.kv_num_blocks, self.kv_indices)

    @property
    def _full(self) -> np.ndarray | None:
        return None if self.full_kv_num_blocks is None else _table(self.full_kv_num_blocks, self.full_kv_indices)

    @property
    def shape(self) -> tuple[int, ...]:
        """(B, H, T, S)"""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """How many scores there are, seen or not."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """The share of the scores that is not computed, in percent."""
        blocks = int(self.kv_num_blocks.sum()) + (0 if self.full_kv_num_blocks is None else int(self.full_kv_num_blocks.sum()))
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to_dense(self) -> Tensor:
        """The blocks that are seen, in part or whole, as 0 and 1, int32 (B, H, R, C)."""
        full = self._full
        return from_numpy((self._partial if full is None else self._partial | full).astype(np.int32))

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """The blocks as a picture of letters, for each batch and head: all seen, some, none."""
        dense = self.to_dense().numpy().astype(bool)
        rows, columns = dense.shape[-2:] if grid_size == -1 else (grid_size,) * 2 if isinstance(grid_size, int) else grid_size
        pictures = []
        for count, at in enumerate(np.ndindex(*dense.shape[:-2])):
            if count == limit:
                pictures += ["...", "to_string(limit=N) shows more, block_mask[batch, head] one"]
                break
            part = dense[at]
            steps = [max(1, -(-size // most)) for size, most in zip(part.shape, (rows, columns))]
            lines = [
                "".join(
                    2 * " ░█"[0 if not cell.any() else 2 if cell.all() else 1]
                    for x in range(0, part.shape[1], steps[1])
                    for cell in [part[y : y + steps[0], x : x + steps[1]]]
                )
                for y in range(0, part.shape[0], steps[0])
            ]
            pictures.append("\n".join([str(at), *lines, ""]))
        return "\n".join(pictures)

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string().strip()}\n)"

    def __repr__(self) -> str:
        lists = (
            "kv_num_blocks kv_indices full_kv_num_blocks full_kv_indices q_num_blocks q_indices full_q_num_blocks full_q_indices"
        )
        lines = [f"{name}={None if (x := getattr(self, name)) is None else x.shape}" for name in lists.split()]
        lines += [f"BLOCK_SIZE={self.BLOCK_SIZE}", f"shape={self.shape}", f"sparsity={self.sparsity():.2f}%"]
        lines += [f"mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}"]
        return "BlockMask(\n" + "".join(f"    {line},\n" for line in lines[:-1]) + f"    {lines[-1]}\n)"

    def __getitem__(self, index: Any) -> "BlockMask":
        """The mask of some batches, heads or rows of blocks. Its mask_mod is gone: it would count from another place."""
        index = index if isinstance(index, tuple) else (index,)
        index = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in index)
        parts = (self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices)
        a, b, c, d = [None if part is None else part[index] for part in parts]
        if a is not None and not a.numel():
            cause = tr("BlockMask of {} batches, heads and rows: none is picked", tuple(self.kv_num_blocks.shape))
            raise IndexOutOfRangeError(cause, "mask[0]")
        compute = self.q_indices is not None
        return BlockMask.from_kv_blocks(a, b, c, d, self.BLOCK_SIZE, _mask_of_a_part, self.seq_lengths, compute)  # type: ignore[arg-type]

    def _adjust(self, new_q_len: int, new_kv_len: int) -> "BlockMask":
        """The mask of the first queries and keys."""
        _sizes("BlockMask._adjust", None, None, new_q_len, new_kv_len)
        R, C = (-(-length // size) for length, size in zip((new_q_len, new_kv_len), self.BLOCK_SIZE))
        full = self._full
        a, b, c, d = _lists(self._partial[..., :R, :C], None if full is None else full[..., :R, :C])
        return self.from_kv_blocks(
            a, b, c, d, self.BLOCK_SIZE, self.mask_mod, (new_q_len, new_kv_len), self.q_indices is not None
        )  # fmt: skip

    def to(self, device: Any) -> "BlockMask":
        """The same mask: there is one device."""
        self.kv_indices.to(device)
        return self

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """All that it holds."""
        lists = (
            self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices,
            self.q_num_blocks, self.q_indices, self.full_q_num_blocks, self.full_q_indices,
        )  # fmt: skip
        if flatten:
            return (*self.seq_lengths, *lists, *self.BLOCK_SIZE, self.mask_mod)
        return (self.seq_lengths, *lists, self.BLOCK_SIZE, self.mask_mod)

    def rows(self, B: int, H: int) -> Iterator[tuple[slice, list[int], np.ndarray, np.ndarray]]:
        """Rows of blocks that see the same keys: (queries, columns, what is seen in part, what whole), (b, h, rows, columns)."""
        partial, full = self._partial, self._full
        partial = partial.reshape((1,) * (4 - partial.ndim) + partial.shape)
        full = np.zeros_like(partial) if full is None else full.reshape(partial.shape)
        for axis, size, name in ((0, B, "batches"), (1, H, "heads")):
            if partial.shape[axis] not in (1, size):
                cause = tr("the BlockMask has {} {}, the query {}", partial.shape[axis], name, size)
                raise ShapeError(cause, tr("create_block_mask of {}, or of None", size))
        listed = (partial | full).any((0, 1))  # (R, C)
        rows, size = len(listed), self.BLOCK_SIZE[0]
        start = 0
        for row in range(1, rows + 1):
            if row == rows or (listed[row] != listed[start]).any():
                columns = listed[start].nonzero()[0].tolist()
                at = slice(start, row)
                yield (
                    slice(start * size, min(row * size, self.seq_lengths[0])),
                    columns,
                    partial[:, :, at, columns],
                    full[:, :, at, columns],
                )
                start = row


def _mask_of_a_part(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
    cause = tr("a part of a BlockMask has no mask_mod: its functions count batches, heads and queries from 0")
    raise NotSupportedError(cause, "block_mask.mask_mod = a function of the part")


def create_block_mask(
    mask_mod: Mod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = BLOCK,
    _compile: bool = False,
    separate_full_blocks: bool = True,
) -> BlockMask:
    """The blocks in which a mask_mod lets anything be seen.

    Args:
        mask_mod: a function of (b, h, q_idx, kv_idx), True = seen
        B, H: sizes; None: 1, for a mask that does not depend on them
        Q_LEN, KV_LEN: queries and keys
        device: taken for PyTorch's sake
        BLOCK_SIZE: queries and keys of a block
        separate_full_blocks: list blocks that are seen whole apart; within them mask_mod is not asked

    Returns: a BlockMask, for `flex_attention`

    Raises:
        ArgumentError: for what is no mask_mod

    Example:
        >>> from badak.compat.torch.flex_attention import create_block_mask
        >>> create_block_mask(lambda b, h, i, j: i >= j, None, None, 512, 512).to_dense()[0, 0].tolist()
        [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    """
    B, H = _sizes("create_block_mask", B, H, Q_LEN, KV_LEN)
    if _count_arguments("create_block_mask", mask_mod) != 4:
        cause = tr("create_block_mask: expected a mask_mod; got a score_mod")
        raise ArgumentError(cause, "lambda b, h, q_idx, kv_idx: q_idx >= kv_idx")
    size = _block_size(BLOCK_SIZE)
    R, C = -(-Q_LEN // size[0]), -(-KV_LEN // size[1])
    keys, some, whole = arange(KV_LEN), [], []
    for row in range(R):  # so that no mask of all queries and keys is made
        queries = arange(row * size[0], min((row + 1) * size[0], Q_LEN))
        seen = seen_by(mask_mod, B, H, queries, keys).expand(B, H, len(queries), KV_LEN).numpy()
        padded = np.zeros((*seen.shape[:2], size[0], C * size[1]), bool)
        padded[:, :, : len(queries), :KV_LEN] = seen
        cells = padded.reshape(*seen.shape[:2], size[0], C, size[1])
        some.append(cells.any((2, 4)))
        whole.append(cells.all((2, 4)))
    part, full = np.stack(some, 2), np.stack(whole, 2)
    a, b, c, d = _lists(part & ~full, full) if separate_full_blocks else _lists(part, None)
    return BlockMask.from_kv_blocks(a, b, c, d, size, mask_mod, (Q_LEN, KV_LEN))
