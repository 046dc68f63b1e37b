"""What a decoder remembers of the text so far, so that only new tokens have to go through it.

In causal attention the key and the value of a token depend on nothing that comes after it: once computed they stay. With
S tokens remembered, a new one costs one position of every layer and S products of its query; without them, S + 1 positions.
"""

import functools
import weakref
from collections.abc import Callable

import numpy as np

from badak import kernels
from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, GraphError, IndexOutOfRangeError, ShapeError, expect, tr
from badak.core.modes import anywhere, modes
from badak.nn.functional.multi_head import Visible, attend
from badak.nn.mask import AnyMask, Mask, StartsMask
from badak.tensor import Tensor, arange, int64


class KeyValueCache:
    """Keys and values of the tokens that a decoder has read, for each of its layers; new tokens attend to them.

        y[i] = softmax(scale q[i] K[: length + i + 1]^T) V[: length + i + 1]        K, V: those kept, then the new ones

    A chunk of T tokens goes through the layers in turn, each of which calls `attend(layer, q, k, v)`; `advance(T)` then
    counts the chunk as read. Until then nothing of it is: a chunk that failed midway can be given again. `length` is the
    number of tokens read, `rewind(length)` forgets all after that; `rows`, `places` and `seen` say where the next tokens stand.

    In a step of `badak.compile` all of these are done again by each replay, so that one recording serves every length. A program
    that asks for `length` itself decides by it: its step is recorded for each length.

    The first chunk of a text decides B, H, D and the dtype. Its arrays, two of (B, H, S, D) in each layer, are filled in place:
    2 L B H S D numbers. Nothing is recorded for a backward.

    Where the layers also look at a text next to theirs, such as what an encoder has read, `cross_attention(layer, memory,
    project)` gives its keys and values: computed with the first chunk, kept until `rewind()` goes back to the beginning.

    Raises IndexOutOfRangeError beyond max_length and the layers, and for tokens counted as read that a layer has not kept;
    ShapeError and
    DTypeError for keys and values unlike those kept; GraphError where a gradient is wanted; ArgumentError for another memory in
    the middle of a text.

    PyTorch has no such class. Source: Shazeer 2019, "Fast Transformer Decoding: One Write-Head is All You Need", section 2.4.

    Args:
        layers: attention layers L of the decoder
        max_length: the most tokens S that it holds

    Returns: object that decoders take as `cache=`

    Example:
        >>> from badak.models import GPT, GPTConfig
        >>> model = GPT(GPTConfig(vocab_size=50, context=16, d_model=8, layers=2, heads=2)).eval()
        >>> cache = nn.KeyValueCache(layers=2, max_length=16)
        >>> with badak.no_grad():
        ...     logits = model(badak.tensor([[1, 2, 3]]), cache=cache)
        >>> cache.length
        3
    """

    def __init__(self, layers: int, max_length: int) -> None:
        expect(
            layers > 0 and max_length > 0,
            "KeyValueCache",
            "layers and max_length of at least 1",
            "as many layers as the model has blocks, and max_length for the longest text",
            layers=layers,
            max_length=max_length,
        )
        self.max_length = max_length
        self._ends = np.zeros((1, 1, layers, 1))  # up to which token each layer has kept them, in a dtype that kernels copy
        self._place, self._after = np.empty(1, np.int64), np.empty((1, 1, 1, 1))  # of the next token, and the number after it
        self._at = np.empty((1, 1), np.int64)  # its place in each row
        self._stand_at(0)
        self._begun = False  # whether something was read
        self._kept: list = [None] * layers  # a pair of tensors for each layer, once there is something to keep
        self._beside: list = [None] * layers  # keys and values of what stands next to the text, where there is something
        self.memory: Tensor | None = None  # of which they were made: a copy, with the rows that were taken
        self._axis, self._origins = 0, np.zeros(0, np.int64)  # where it has its batch; which of its first rows each row is
        self._source: tuple[Callable[[], Tensor | None], int] = _nobody, 0  # what it is a copy of, and the version of that
        self.changes = 0  # how often the arrays became others

    def __len__(self) -> int:
        return len(self._kept)

    def _stand_at(self, length: int) -> None:
        """So many tokens are read. A recorded step finds in these arrays where the next one stands."""
        self._length = length
        self._place[:], self._at[:], self._after[:] = length, length, length + 1

    def _expect_rows(self, rows: int) -> None:
        """There are so many rows now."""
        if len(self._at) != rows:
            self._at = np.full((rows, 1), self._length)

    @property
    def length(self) -> int:
        """The number of tokens read."""
        events.state_read(self, "_length")
        return self._length

    def attend(
        self, layer: int, q: Tensor, k: Tensor, v: Tensor, p: float = 0.0, keep: AnyMask | None = None, window: int = 0
    ) -> Tensor:
        """Keep k, v and let query i see the keys 0..length + i: the attention of T new tokens, (B, H, T, E).

        q (B, H, T, D), k (B, G, T, D), v (B, G, T, E), query head h reads key head h // (H / G); p: dropout of the weights;
        keep: of those keys only the ones where this bool mask, which broadcasts to (B, H, T, length + T), is true; a Mask instead
        says all by itself, in causal order only where it says so. window: above 0 query i sees only the last so many of its keys,
        its own included.
        """
        if modes.grad and (q.requires_grad or k.requires_grad or v.requires_grad):
            raise _no_history()
        watched = _is_watched()
        events.state_read(self, "changes")
        _expect_space(self, k)
        kept = self._tensors(layer, k, v)
        if watched and keep is None and p == 0 and _asks_alone(q._array, k._array, v._array):
            return self._attend_alone(layer, q, k, v, window)
        for mine, new in zip(kept, (k, v)):
            (store if watched else _store)(mine, new, self)
        if not watched:
            self._reached(layer, k.shape[2])
            return self._look(layer, q, keep, p, window)
        if isinstance(keep, StartsMask) and p == 0:
            return self._look_again(layer, q, None, keep.starts, window)
        if isinstance(keep, Mask) or p > 0:  # tensors within it, and draws, are recorded one by one
            self._reach(layer, k.shape[2])
            events.state_read(self, "_length")
            return self._look(layer, q, keep, p, window)
        return self._look_again(layer, q, keep, None, window)

    def _memory(self, layer: int) -> tuple[np.ndarray, ...]:
        """What the kernels of `_attend_alone` read and write: keys, values, the pages of each row, and where tokens stand."""
        keys, values = self._kept[layer]
        return keys._array, values._array, _own_rows(len(self._at)), self._at, self._after, self._ends

    @events.state(alone=True, prepared=lambda self, layer, *given: None if _is_watched() else (None, self._memory(layer)))
    def _attend_alone(self, layer: int, q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
        """The same for one token of each row, a page each, as calls of kernels that find its place in an array."""
        _expect_space(self, k)
        if _is_watched():  # by others than a recorder, for whom this is one thing
            for kept, new in zip(self._kept[layer], (k, v)):
                _store(kept, new, self)
            return self._look_again(layer, q, None, None, window)
        keys, values, table, at, after, ends = self._memory(layer)
        kernel = kernels.of(q._array)
        kernel.fill_pages(keys, k._array, table, at)
        kernel.fill_pages(values, v._array, table, at)
        kernel.fill_pages(ends, after, _own_rows(1), _number(layer))
        return Tensor._of(kernel.paged_attention(q._array, keys, values, table, at, window))

    def _look(self, layer: int, q: Tensor, keep: AnyMask | None, p: float, window: int) -> Tensor:
        """The attention of q to what a layer has kept, q's own keys included."""
        T, S = q.shape[2], self._length + q.shape[2]
        first = max(S - T + 1 - window, 0) if window else 0  # the first key that any query sees
        keys, values = (Tensor._of(mine._array[:, :, first:S]) for mine in self._kept[layer])
        # one query sees everything: no mask is needed, and the kernels have a shorter way without
        causal = self._length if T != 1 else None
        if isinstance(keep, Mask):
            keep, causal = keep.resolve(T, S, q.shape[0])
        if first:
            keep = keep if keep is None or keep.shape[-1] == 1 else keep[..., first:]
            causal = None if causal is None else causal - first
        if window and T > 1 and S > window:  # else each query sees all of these keys, up to itself
            near = Mask.window(window).keep(T, S - first)
            keep = near if keep is None else keep & near
        return attend(q, keys, values, Visible(keep, None, causal, (T, S - first)), p, False)[0]

    @events.state(alone=True)
    def _look_again(self, layer: int, q: Tensor, keep: Tensor | None, starts: Tensor | None, window: int) -> Tensor:
        """The same as one effect, which finds the length that there is then."""
        self._reached(layer, q.shape[2])
        return self._look(layer, q, keep if starts is None else StartsMask(starts), 0.0, window)

    def rows(self, table: Tensor, tokens: int) -> Tensor:
        """The rows of a table of positions (S, ...) for the next `tokens`. IndexOutOfRangeError where it has none for them."""
        if modes.grad and table.requires_grad:
            raise _no_history()
        return self._rows(table, tokens) if _is_watched() else _rows_of(self, table, tokens)

    @events.state(alone=True, prepared=lambda self, table, tokens: (None, (self._place,)) if tokens == 1 else None)
    def _rows(self, table: Tensor, tokens: int) -> Tensor:
        rows = _rows_of(self, table, tokens)
        if tokens == 1 and table.dim() == 2:  # by a kernel that finds the place in an array
            return Tensor._of(kernels.of(table._array).embedding(table._array, self._place))
        return rows.clone()  # for a replay writes over what it made

    @events.state(alone=True)
    def places(self, tokens: int) -> Tensor:
        """The places of the next `tokens` in the text, int64 (T,)."""
        return arange(self._length, self._length + tokens)

    def seen(self, starts: Tensor, tokens: int) -> AnyMask | None:
        """Which keys the next `tokens` see where the text of each row begins at `starts` (B,)."""
        mask = StartsMask(starts)
        return mask if _is_watched() else mask.keep(tokens, self._length + tokens)

    @events.state(alone=True)
    def expect_within(self, limit: int, tokens: int, complaint: Callable[[int, int, "KeyValueCache"], Exception]) -> None:
        """Raise complaint(length, limit, self) where the text would be longer than `limit` with so many more tokens."""
        if self._length + tokens > limit:
            raise complaint(self._length + tokens, limit, self)

    def cross_attention(
        self, layer: int, memory: Tensor, project: Callable[[], tuple[Tensor, Tensor]], batch_axis: int = 0
    ) -> tuple[Tensor, Tensor]:
        """The keys and values (B, H, S, D) of `memory`: made by project() with the first tokens of a text, and kept.

        memory: a tensor with the batch at `batch_axis`, the same for all layers. Later it must be that still, or equal to it, with
        the rows taken as by `take`: `cache.memory` is.
        """
        self._expect_layer(layer)
        events.state_read(self, "_begun")
        events.state_read(self, "changes")
        if not self._begun:
            k, v = project()
            if modes.grad and (k.requires_grad or v.requires_grad):
                raise _no_history()
            self._keep_beside(layer, k, v, memory, batch_axis)
        elif self._beside[layer] is None:
            cause = tr("KeyValueCache: layer {} is given a memory, but had none with the first {} tokens", layer, self._length)
            raise ArgumentError(cause, "cache.rewind(), and the text from its beginning")
        elif memory is not self.memory and not self._is_source(memory):
            _expect_same(memory, self.memory)
        return self._beside[layer]

    def _is_source(self, memory: Tensor) -> bool:
        """Whether this is the tensor that was kept, unchanged; what a replay is given is another one."""
        source, version = self._source
        return source() is memory and memory._watch().count == version

    def advance(self, tokens: int) -> None:
        """Count `tokens` more as read. Raises IndexOutOfRangeError where a layer has not kept the keys and values of all of
        them."""
        self._changes()
        self._advance(tokens)

    def rewind(self, length: int = 0) -> None:
        """Forget all tokens but the first `length`; IndexOutOfRangeError for more than were read."""
        self._changes()
        self._rewind(length)

    def _changes(self) -> None:
        events.state_write(self, "_length")
        events.state_write(self, "_begun")

    def take(self, rows: Tensor) -> None:
        """Go on with these rows of the batch, in this order, some of them several times (int64, (B',)): as beams do."""
        if not isinstance(rows, Tensor) or rows.dim() != 1 or rows.dtype is not int64:
            got = f"{rows.dtype} {tuple(rows.shape)}" if isinstance(rows, Tensor) else type(rows).__name__
            raise ArgumentTypeError(tr("KeyValueCache.take: expected rows as int64 (B',); got {}", got), "badak.tensor([0, 0, 1])")
        events.state_read(self, "_length")
        events.state_read(self, "changes")
        self._take(rows)

    @events.state(alone=True)
    def _take(self, rows: Tensor) -> None:
        for layer, kept in enumerate(self._kept):
            if kept is not None:
                self._kept[layer] = tuple(self._taken(x, rows, int(self._ends[0, 0, layer, 0])) for x in kept)
        if self.memory is None:
            return
        origins = self._origins[rows._array]
        if not np.array_equal(origins, self._origins):  # beams that change places within a text read the same
            for layer, beside in enumerate(self._beside):
                if beside is not None:
                    self._beside[layer] = tuple(self._taken(x, rows, x.shape[2]) for x in beside)
            self.memory, self._source = self.memory.index_select(self._axis, rows), (_nobody, 0)
            self._origins = origins

    def _taken(self, x: Tensor, rows: Tensor, end: int) -> Tensor:
        """Rows of x (B, H, S, D), up to `end`: in the memory of x where there are as many."""
        new = x[:, :, :end].index_select(0, rows)
        if len(new) != len(x):
            self.changes += 1
            self._expect_rows(len(new))
            x = _empty(new, x.shape[2])
        x._array[:, :, :end] = new._array
        return x

    @events.state(alone=True)
    def _reach(self, layer: int, tokens: int) -> None:
        self._reached(layer, tokens)

    def _reached(self, layer: int, tokens: int) -> None:
        self._ends[0, 0, layer] = self._length + tokens

    @events.state(alone=True)
    def _advance(self, tokens: int) -> None:
        behind = int(self._ends.argmin())
        more = int(self._ends.min()) - self._length
        if not 0 <= tokens <= more:
            raise IndexOutOfRangeError(
                tr("KeyValueCache.advance: {} tokens after the first {}, but layer {} has kept {} of them", tokens, self._length,
                   behind, max(more, 0)),
                tr("attend(layer, q, k, v) in each of the {} layers first", len(self))
                if tokens > 0
                else "rewind(length) goes back",
            )  # fmt: skip
        self._stand_at(self._length + tokens)
        self._begun = self._length > 0

    @events.state(alone=True)
    def _rewind(self, length: int) -> None:
        if not 0 <= length <= self._length:
            cause = tr("KeyValueCache.rewind: length {} of {} read", length, self._length)
            raise IndexOutOfRangeError(cause, tr("length in 0..{}", self._length))
        self._stand_at(length)
        np.minimum(self._ends, length, out=self._ends)
        self._begun = length > 0

    def _tensors(self, layer: int, k: Tensor, v: Tensor) -> tuple:
        """What a layer keeps, made if these are its first keys and values, or the first of a text that is not like the last."""
        self._expect_layer(layer)
        kept = self._kept[layer]
        if kept is None or (not self._begun and not all(_is_like(x._array, new) for x, new in zip(kept, (k, v)))):
            self._begin(layer, k, v)
        keys, values = self._kept[layer]
        _check(keys._array, k, "key")
        _check(values._array, v, "value")
        return keys, values

    @events.state
    def _begin(self, layer: int, k: Tensor, v: Tensor) -> None:
        self.changes += 1
        self._expect_rows(len(k))
        self._kept[layer] = _empty(k, self.max_length), _empty(v, self.max_length)

    @events.state
    def _keep_beside(self, layer: int, k: Tensor, v: Tensor, memory: Tensor, axis: int) -> None:
        """Keep a memory, its keys and values: in the arrays of those before where they fit."""
        self._beside[layer] = self._kept_in(self._beside[layer] or (None, None), (k, v))
        self._origins = np.arange(len(k))
        if not self._is_source(memory):
            self.memory, self._axis = self._kept_in((self.memory,), (memory,))[0], axis
            self._source = weakref.ref(memory), memory._watch().count

    def _kept_in(self, old: tuple, new: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Copies of `new` in the memory of `old`, or in other memory where the shapes differ."""
        if any(x is None or x.shape != y.shape or x.dtype != y.dtype for x, y in zip(old, new)):
            self.changes += 1
            old = tuple(y.new_empty(y.shape) for y in new)
        for x, y in zip(old, new):
            x._array[...] = y._array
        return old

    def _expect_layer(self, layer: int) -> None:
        if not 0 <= layer < len(self):
            raise IndexOutOfRangeError(tr("KeyValueCache: layer {} of {}", layer, len(self)), tr("layer in 0..{}", len(self) - 1))

    def __repr__(self) -> str:
        return f"KeyValueCache(layers={len(self)}, max_length={self.max_length}, length={self._length})"


def _is_watched() -> bool:
    """Whether what happens is recorded, or followed."""
    return bool(anywhere.has_observers and modes.observer is not None)


def _no_history() -> GraphError:
    cause = tr("KeyValueCache: a gradient is wanted, but keys and values are kept without their history")
    return GraphError(cause, "with badak.no_grad(): around the model, or the whole text at once without a cache")


@events.check
def _expect_same(memory: Tensor, kept: Tensor) -> None:
    """Refuse another memory in the middle of a text: its keys and values were never computed."""
    if memory.shape != kept.shape or not np.array_equal(memory._array, kept._array):
        cause = tr(
            "KeyValueCache: memory {} is not the one whose keys and values are kept, {}", tuple(memory.shape), tuple(kept.shape)
        )
        fix = tr("cache.rewind() before another memory; after cache.take(rows), the same rows of it, as in cache.memory")
        raise ArgumentError(cause, fix)


@functools.lru_cache(64)
def _own_rows(rows: int) -> np.ndarray:
    """The pages of texts where each has one row of a batch, (B, 1)."""
    return _fixed(np.arange(rows)[:, None])


@functools.lru_cache(1000)
def _number(number: int) -> np.ndarray:
    return _fixed(np.array([[number]]))


def _fixed(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _nobody() -> None:
    """What a reference to nothing gives."""


def _empty(x: Tensor, max_length: int) -> Tensor:
    """Memory for keys or values like x (B, H, T, D): (B, H, max_length, D)."""
    batch, heads, _, size = x.shape
    return x.new_empty(batch, heads, max_length, size)


def _expect_space(cache: KeyValueCache, new: Tensor) -> None:
    """Refuse keys or values (B, H, T, D) that a cache has no space for."""
    start, T = cache._length, new._array.shape[2]
    if start + T > cache.max_length:
        cause = tr("KeyValueCache: length {} + {} new tokens > max_length {}", start, T, cache.max_length)
        raise IndexOutOfRangeError(cause, tr("a cache with max_length={}", start + T))


def _rows_of(cache: KeyValueCache, table: Tensor, tokens: int) -> Tensor:
    start, end = cache._length, cache._length + tokens
    if end > table.shape[0]:
        cause = tr("KeyValueCache: length {} + {} new tokens > the {} rows of a table of positions", start, tokens, table.shape[0])
        raise IndexOutOfRangeError(cause, "a table for longer texts, or the end of the text without a cache")
    return table[start:end]


def _asks_alone(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> bool:
    """Whether q (B, H, 1, D) is one query for each text to keys like k (B, G, 1, D), and nobody has a say in its attention.

    What does not fit, attention refuses.
    """
    if modes.casting is not None or modes.replaced or q.ndim != 4 or not q.dtype == k.dtype == v.dtype:
        return False
    (batch, heads, queries, size), groups = q.shape, k.shape[1]
    same = k.shape[0] == batch and k.shape[2] == queries == 1 and k.shape[3] == size
    return same and groups > 0 and heads % groups == 0 and v.shape[:2] == k.shape[:2]


def _store(kept: Tensor, new: Tensor, cache: KeyValueCache) -> None:
    """Put the new keys or values, (B, H, T, D), behind those of the tokens that were read."""
    _expect_space(cache, new)
    start = cache._length
    kept._array[:, :, start : start + new._array.shape[2]] = new._array


store = events.writes(_store)


def _is_like(kept, new: Tensor) -> bool:
    """Whether keys or values (B, H, T, D) fit to those kept (B, H, max_length, D)."""
    found = new._array
    return found.shape[:2] == kept.shape[:2] and found.shape[3] == kept.shape[3] and found.dtype == kept.dtype


def _check(kept, new: Tensor, name: str) -> None:
    (batch, heads, _, size), found = kept.shape, new._array
    if found.shape[:2] != (batch, heads) or found.shape[3] != size:
        raise ShapeError(
            tr("KeyValueCache: {} {} does not fit those kept, (batch={}, heads={}, length, head_dim={})", name, found.shape, batch,
               heads, size),
            "a cache of its own for each batch of texts" if found.shape[0] != batch else "a cache of its own for each model",
        )  # fmt: skip
    if found.dtype != kept.dtype:
        cause = tr("KeyValueCache: {} is {}, those kept are {}", name, found.dtype, kept.dtype)
        raise DTypeError(cause, "a new cache after a change of dtype")
