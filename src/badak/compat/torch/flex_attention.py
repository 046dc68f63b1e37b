"""`torch.nn.attention.flex_attention`: attention whose scores and mask are functions of (batch, head, query, key).

    scores[b, h, i, j] = score_mod(scale q[b, h, i] . k[b, h, j], b, h, i, j)      where mask_mod(b, h, i, j), -inf elsewhere
    out = softmax(scores) v

The functions are written for one score; `vmap` runs them on all. A `BlockMask` says which blocks of queries and keys hold anything
to see: rows of blocks that look at the same keys are computed together, and keys that none of them sees are not touched.

Source: Dong et al., "Flex Attention: A Programming Model for Generating Optimized Attention Kernels", 2024 (arXiv:2412.05496).

B batch, H query heads, G key heads, T queries, S keys, D width of a head; R and C rows and columns of blocks.
"""

import math
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np

from badak.compat.torch.vmap import vmap
from badak.core.errors import ArgumentError, NotSupportedError, ShapeError, expect_function
from badak.nn import functional as F
from badak.tensor import Tensor, arange, cat, float32, float64, from_numpy, where, zeros
from badak.tensor import bool as bool_

BLOCK = 128
Mod = Callable[..., Tensor]


class AuxRequest(NamedTuple):
    """What `flex_attention` is asked for next to its result: of each query the log-sum-exp of its scores, the largest score."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What an AuxRequest asked for, (B, H, T) each, None where it did not."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """A mask_mod by which all is seen."""
    return batch.new_ones((), dtype=bool_)


def and_masks(*mask_mods: Mod) -> Mod:
    """A mask_mod by which is seen what all of these show."""
    return _joined(mask_mods, lambda a, b: a & b, True)


def or_masks(*mask_mods: Mod) -> Mod:
    """A mask_mod by which is seen what one of these shows."""
    return _joined(mask_mods, lambda a, b: a | b, False)


def _joined(mask_mods: tuple[Mod, ...], join: Callable[[Any, Any], Any], start: bool) -> Mod:
    for mod in mask_mods:
        expect_function("a mask of masks", mod)

    def joined(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        seen = b.new_full((), start, dtype=bool_)
        for mod in mask_mods:
            seen = join(seen, mod(b, h, q_idx, kv_idx))
        return seen

    return joined


def _everywhere(mod: Mod, scores: int = 0) -> Mod:
    """A function of one score as one of all: of `scores` tensors (B, H, T, S), and the numbers of batches, heads, queries, keys."""
    for axis in (3, 2, 1, 0):  # the keys innermost
        mod = vmap(mod, (0,) * scores + tuple(0 if axis == at else None for at in range(4)))
    return mod


def _seen(mask_mod: Mod, B: int, H: int, queries: Tensor, keys: Tensor) -> Tensor:
    """Which key each query sees, bool (B, H, T, S), with 1 for axes on which it does not depend."""
    seen = _everywhere(mask_mod)(arange(B), arange(H), queries, keys)
    if seen.dtype != bool_ or seen.dim() != 4:
        raise ArgumentError(
            f"mask_mod gave {seen.dtype} {tuple(seen.shape[4:])} for one score; expected one boolean", "return q_idx >= kv_idx"
        )
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
    B, H = B or 1, H or 1
    places = (arange(B), arange(H), arange(Q_LEN), arange(KV_LEN))
    if _count_arguments(mod_fn) == 5:
        scores = _everywhere(mod_fn, 1)(zeros(B, H, Q_LEN, KV_LEN), *places)
        return scores != -math.inf
    return _seen(mod_fn, B, H, *places[2:]).expand(B, H, Q_LEN, KV_LEN).contiguous()


def _count_arguments(mod: Mod) -> int:
    """4 for a mask_mod, 5 for a score_mod."""
    expect_function("create_mask", mod)
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    count = sum(each.default is Parameter.empty and each.kind in kinds for each in signature(mod).parameters.values())
    if count not in (4, 5):
        raise ArgumentError(
            f"expected a function of (b, h, q_idx, kv_idx) or (score, b, h, q_idx, kv_idx); got one of {count} arguments",
            "lambda b, h, q_idx, kv_idx: q_idx >= kv_idx",
        )
    return count


# ---------------------------------------------------------------- blocks


def _ordered(table: np.ndarray) -> tuple[Tensor, Tensor]:
    """A table of blocks (..., R, C) as PyTorch keeps it: how many in each row (..., R), and which, those first (..., R, C)."""
    order = np.argsort(~table, axis=-1, kind="stable").astype(np.int32)
    return from_numpy(table.sum(-1, dtype=np.int32)), from_numpy(order)


def _table(count: Tensor | None, indices: Tensor | None, columns: int | None = None) -> np.ndarray:
    """The other way round."""
    assert count is not None  # noqa: S101
    assert indices is not None  # noqa: S101
    which = indices.numpy()
    listed = np.arange(which.shape[-1]) < count.numpy()[..., None]
    table = np.zeros((*which.shape[:-1], columns or which.shape[-1]), bool)
    places = np.nonzero(listed)
    table[(*places[:-1], which[places])] = True
    return table


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
    ):
        if kv_indices.dim() < 2:
            raise ShapeError(
                f"BlockMask: expected kv_indices (..., rows, columns); got {tuple(kv_indices.shape)}", "kv_indices[None]"
            )
        for names, pair in (("full_kv", (full_kv_num_blocks, full_kv_indices)), ("full_q", (full_q_num_blocks, full_q_indices))):
            if (pair[0] is None) != (pair[1] is None):
                raise ArgumentError(f"BlockMask: one of {names}_num_blocks and {names}_indices is missing", "both, or none")
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
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
        if kv_indices.dim() < 2:
            raise ShapeError(
                f"BlockMask: expected kv_indices (..., rows, columns); got {tuple(kv_indices.shape)}", "kv_indices[None]"
            )
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        by_keys: list[Tensor | None] = [None] * 4
        if compute_q_blocks:
            by_keys[:2] = _ordered(_table(kv_num_blocks, kv_indices).swapaxes(-1, -2))
            if full_kv_num_blocks is not None and full_kv_indices is not None:
                by_keys[2:] = _ordered(_table(full_kv_num_blocks, full_kv_indices).swapaxes(-1, -2))
        return cls(
            seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *by_keys, size, mask_mod or noop_mask
        )  # fmt: skip

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
        picked = [None if part is None else part[index] for part in parts]
        return BlockMask.from_kv_blocks(
            *picked, self.BLOCK_SIZE, _mask_of_a_part, self.seq_lengths, self.q_indices is not None  # type: ignore[arg-type]
        )  # fmt: skip

    def _adjust(self, new_q_len: int, new_kv_len: int) -> "BlockMask":
        """The mask of the first queries and keys."""
        R, C = (-(-length // size) for length, size in zip((new_q_len, new_kv_len), self.BLOCK_SIZE))
        full = self._full
        lists = (*_ordered(self._partial[..., :R, :C]), *((None, None) if full is None else _ordered(full[..., :R, :C])))
        return self.from_kv_blocks(
            *lists, self.BLOCK_SIZE, self.mask_mod, (new_q_len, new_kv_len), self.q_indices is not None
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

    def _rows(self, B: int, H: int) -> Iterator[tuple[slice, list[int], np.ndarray, np.ndarray]]:
        """Rows of blocks that see the same keys: (queries, columns, what is seen in part, what whole), (b, h, rows, columns)."""
        partial, full = self._partial, self._full
        partial = partial.reshape((1,) * (4 - partial.ndim) + partial.shape)
        full = np.zeros_like(partial) if full is None else full.reshape(partial.shape)
        for axis, size, name in ((0, B, "batches"), (1, H, "heads")):
            if partial.shape[axis] not in (1, size):
                raise ShapeError(
                    f"the BlockMask has {partial.shape[axis]} {name}, the query {size}", f"create_block_mask of {size}, or of None"
                )
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
    raise NotSupportedError(
        "a part of a BlockMask has no mask_mod: its functions count batches, heads and queries from 0",
        "block_mask.mask_mod = a function of the part",
    )


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
    if _count_arguments(mask_mod) != 4:
        raise ArgumentError(
            "create_block_mask: expected a mask_mod; got a score_mod", "lambda b, h, q_idx, kv_idx: q_idx >= kv_idx"
        )
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
    R, C = -(-Q_LEN // size[0]), -(-KV_LEN // size[1])
    keys, some, whole = arange(KV_LEN), [], []
    for row in range(R):  # so that no mask of all queries and keys is made
        queries = arange(row * size[0], min((row + 1) * size[0], Q_LEN))
        seen = _seen(mask_mod, B or 1, H or 1, queries, keys).expand(B or 1, H or 1, len(queries), KV_LEN).numpy()
        padded = np.zeros((*seen.shape[:2], size[0], C * size[1]), bool)
        padded[:, :, : len(queries), :KV_LEN] = seen
        cells = padded.reshape(*seen.shape[:2], size[0], C, size[1])
        some.append(cells.any((2, 4)))
        whole.append(cells.all((2, 4)))
    part, full = np.stack(some, 2), np.stack(whole, 2)
    lists = (*_ordered(part & ~full), *_ordered(full)) if separate_full_blocks else (*_ordered(part), None, None)
    return BlockMask.from_kv_blocks(*lists, size, mask_mod, (Q_LEN, KV_LEN))


# ---------------------------------------------------------------- attention


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Mod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: dict[str, Any] | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention whose scores and mask are functions of (batch, head, query, key).

        scores[b, h, i, j] = score_mod(scale q[b, h, i] . k[b, h, j], b, h, i, j) where mask_mod(b, h, i, j), -inf elsewhere
        out = softmax(scores) v

    Gradients flow into query, key and value, and into tensors that score_mod takes from outside. A query that sees no key gets
    zeros. Blocks that `block_mask` does not list are not computed.

    Args:
        query: (B, H, T, D)
        key: (B or 1, G, S, D)
        value: (B or 1, G, S, E)
        score_mod: a function of (score, b, h, q_idx, kv_idx) that gives the score to take; None: as it is
        block_mask: of `create_block_mask` with T queries and S keys; None: all is seen
        scale: None: 1 / sqrt(D)
        enable_gqa: whether H may be a multiple of G
        return_lse: also give the log-sum-exp of the scores (B, H, T); return_aux=AuxRequest(lse=True) is the newer way
        kernel_options: taken for PyTorch's sake
        return_aux: what else to give

    Returns: (B, H, T, E), or (that, lse), or (that, AuxOutput)

    Raises:
        ShapeError: for shapes that do not fit, or a block_mask of other lengths
        ArgumentError: for return_lse and return_aux at once

    Example:
        >>> from badak.compat.torch.flex_attention import create_block_mask, flex_attention
        >>> q = badak.ones(1, 2, 4, 8)
        >>> near = create_block_mask(lambda b, h, i, j: (i - j).abs() <= 1, None, None, 4, 4, BLOCK_SIZE=2)
        >>> flex_attention(q, q, q, lambda s, b, h, i, j: s - (i - j).abs(), near).shape
        badak.Size([1, 2, 4, 8])

    Source: Dong et al. 2024 (arXiv:2412.05496).
    """
    if return_lse and return_aux is not None:
        raise ArgumentError("flex_attention: return_lse and return_aux at once", "return_aux=AuxRequest(lse=True)")
    asked = AuxRequest(lse=True) if return_lse else return_aux or AuxRequest()
    key, value = _checked(query, key, value, score_mod, block_mask, enable_gqa)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    B, H, T, _ = query.shape
    places = (arange(B), arange(H))
    made: list[tuple[Tensor, Tensor | None, Tensor | None]] = []
    whole = [(slice(0, T), [], np.zeros((1, 1, 1, 0), bool), np.zeros((1, 1, 1, 0), bool))]
    for at, columns, partial, full in whole if block_mask is None else block_mask._rows(B, H):
        q, queries = query[:, :, at], arange(at.start, at.stop)
        if block_mask is None:
            made.append(_attend(q, key, value, score_mod, None, scale, asked, (*places, queries, arange(key.shape[2]))))
            continue
        if not columns:
            blind = query.new_full(q.shape[:3], -math.inf, dtype=_working(query))
            made.append((q.new_zeros(*q.shape[:3], value.shape[3]), *(blind if one else None for one in asked)))
            continue
        keys = np.concatenate([np.arange(c * block_mask.BLOCK_SIZE[1], (c + 1) * block_mask.BLOCK_SIZE[1]) for c in columns])
        keys = keys[keys < key.shape[2]]
        ids = from_numpy(keys)
        near = slice(int(keys[0]), int(keys[-1]) + 1) if len(keys) == keys[-1] - keys[0] + 1 else ids
        keep = _kept(block_mask, B, H, queries, ids, partial, full) if partial.any() or not full.all() else None
        made.append(_attend(q, key[:, :, near], value[:, :, near], score_mod, keep, scale, asked, (*places, queries, ids)))
    out, lse, most = (
        parts[0] if len(parts) == 1 else cat(parts, 2) if parts[0] is not None else None for parts in map(list, zip(*made))
    )
    if return_lse:
        return out, lse
    if return_aux is None:
        return out
    return out, AuxOutput(lse if asked.lse else None, most if asked.max_scores else None)


def _kept(mask: BlockMask, B: int, H: int, queries: Tensor, keys: Tensor, partial: np.ndarray, full: np.ndarray) -> Tensor:
    """What is seen in some blocks: of those in part what mask_mod says, of those that are whole all, of others nothing."""

    def scores_of(blocks: np.ndarray) -> Tensor:
        """A table of blocks (b, h, rows, columns) as one of scores."""
        rows = blocks.repeat(mask.BLOCK_SIZE[0], 2)[:, :, : len(queries)]
        return from_numpy(rows.repeat(mask.BLOCK_SIZE[1], 3)[:, :, :, : len(keys)].copy())

    seen = _seen(mask.mask_mod, B, H, queries, keys) if partial.any() else None
    if seen is None:
        return scores_of(full)
    if not (partial | full).all():
        seen = seen & scores_of(partial)
    return seen | scores_of(full) if full.any() else seen


def _working(x: Tensor) -> Any:
    """The dtype in which scores are computed."""
    return float64 if x.dtype == float64 else float32


def _attend(q, k, v, score_mod, keep, scale, asked, places) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """(result, lse, largest score) of these queries and keys."""
    if score_mod is None and not any(asked):
        return F.scaled_dot_product_attention(q, k, v, keep, scale=scale, enable_gqa=q.shape[1] != k.shape[1]), None, None
    groups = q.shape[1] // k.shape[1]
    if groups > 1:
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    scores = (q @ k.transpose(-2, -1)).to(_working(q)) * scale
    if score_mod is not None:
        scores = _everywhere(score_mod, 1)(scores, *places).to(_working(q))
    if keep is not None:
        scores = where(keep, scores, scores.new_full((), -math.inf))
    most = scores.amax(-1)
    blind = (most == -math.inf)[..., None]
    scores = scores.masked_fill(blind, 0.0)
    weights = scores.softmax(-1).masked_fill(blind, 0.0)
    lse = scores.logsumexp(-1).masked_fill(blind[..., 0], -math.inf) if asked.lse else None
    return weights.to(q.dtype) @ v, lse, most.detach() if asked.max_scores else None


def _checked(query, key, value, score_mod, block_mask, enable_gqa) -> tuple[Tensor, Tensor]:
    """key and value with the query's batches."""
    shapes = f"got query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
    if not query.dim() == key.dim() == value.dim() == 4:
        raise ShapeError(
            f"flex_attention: expected (batch, heads, length, width); {shapes}", "x.unflatten(-1, (heads, -1)).transpose(1, 2)"
        )
    if key.shape[-1] != query.shape[-1] or key.shape[:3] != value.shape[:3]:
        raise ShapeError(
            f"flex_attention: expected query (B, H, T, D), key (B, G, S, D), value (B, G, S, E); {shapes}", "one D, one G, one S"
        )
    if key.shape[0] not in (1, query.shape[0]):
        raise ShapeError(
            f"flex_attention: expected as many batches of keys as of queries, or one; {shapes}", "key.expand(B, -1, -1, -1)"
        )
    if key.shape[1] != query.shape[1] and (not enable_gqa or query.shape[1] % key.shape[1]):
        fix = (
            "enable_gqa=True" if key.shape[1] and query.shape[1] % key.shape[1] == 0 else "query heads a multiple of the key heads"
        )
        raise ShapeError(f"flex_attention: expected as many heads of keys as of queries; {shapes}", fix)
    if score_mod is not None:
        expect_function("flex_attention", score_mod)
    if block_mask is not None:
        if not isinstance(block_mask, BlockMask):
            raise ArgumentError(
                f"flex_attention: block_mask is a {type(block_mask).__name__}", "create_block_mask(mask_mod, B, H, T, S)"
            )
        if block_mask.seq_lengths != (query.shape[2], key.shape[2]):
            raise ShapeError(
                f"flex_attention: the block_mask is of {block_mask.seq_lengths} queries and keys; {shapes}",
                f"create_block_mask(mask_mod, B, H, {query.shape[2]}, {key.shape[2]})",
            )
    B = query.shape[0]
    return key.expand(B, -1, -1, -1), value.expand(B, -1, -1, -1)
