"""Keys and values of many texts in one memory: pages of a fixed size, which a text takes when it begins and gives back at its end.

    pool = PagePool(layers=12, pages=64)
    pages = pool.take(300)                                              for a text of 300 tokens at most
    model(ids, cache=PagedCache(pool, [pages], [0], T), starts=...)     ids (1, T); then, with others at other places,
    model(ids, cache=PagedCache(pool, [pages, more], [T, 17], 1), ...)  ids (2, 1)

A text has the bits that it has alone with a `KeyValueCache`, whatever goes through the model with it.
"""

from collections.abc import Callable, Sequence

import numpy as np

from badak import kernels
from badak.core import events
from badak.core.errors import ArgumentError, IndexOutOfRangeError, tr
from badak.kernels.pages import gathered
from badak.nn.cache import KeyValueCache
from badak.nn.mask import AnyMask
from badak.tensor import Tensor, from_numpy

PAGE = 64  # tokens of a page


class PagePool:
    """The pages of all layers of a decoder. `free` are those that no text has. The memory is asked for with the first keys.

    layers: attention layers of the decoder; pages: of PAGE tokens each.
    """

    def __init__(self, layers: int, pages: int) -> None:
        if layers < 1 or pages < 1:
            cause = tr("PagePool: expected layers and pages of at least 1; got {} and {}", layers, pages)
            raise ArgumentError(cause, "PagePool(12, 64)")
        self.pages, self.free = pages, list(range(pages - 1, -1, -1))
        self.layers: list[tuple[np.ndarray, np.ndarray] | None] = [None] * layers

    def fits(self, tokens: int) -> bool:
        """Whether a text of so many tokens finds pages now."""
        return -(-tokens // PAGE) <= len(self.free)

    def take(self, tokens: int) -> np.ndarray:
        """Pages for a text of so many tokens, int64. IndexOutOfRangeError where there are not enough."""
        count = -(-tokens // PAGE)
        if count > len(self.free):
            raise IndexOutOfRangeError(
                tr("PagePool: {} tokens take {} pages of {}, {} of {} are free", tokens, count, PAGE, len(self.free), self.pages),
                "put_back(pages) of a text that has ended, or a larger pool",
            )
        taken, self.free = self.free[len(self.free) - count :], self.free[: len(self.free) - count]
        return np.array(taken[::-1], np.int64)

    def put_back(self, pages: np.ndarray) -> None:
        """Give the pages of a text back."""
        self.free += pages.tolist()[::-1]

    def of(self, layer: int, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pages of keys and of values (P, G, PAGE, D) of a layer."""
        found = self.layers[layer]
        if found is None:
            found = tuple(np.empty((self.pages, x.shape[1], PAGE, x.shape[3]), x.dtype) for x in (k, v))  # type: ignore[assignment]
            self.layers[layer] = found
        return found  # type: ignore[return-value]


class PagedCache(KeyValueCache):
    """What a decoder is given for T tokens of each of B texts which read `lengths` tokens. tables: their pages.

    `stand` lets it serve another forward: a step of `badak.compile` finds there, in each replay, what stands there then.
    """

    def __init__(self, pool: PagePool, tables: Sequence[np.ndarray], lengths: Sequence[int], tokens: int) -> None:
        super().__init__(len(pool.layers), pool.pages * PAGE)
        self.pool = pool
        self._stands: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
        self.stand(tables, lengths, tokens)

    def stand(self, tables: Sequence[np.ndarray], lengths: Sequence[int], tokens: int) -> None:
        """The next T tokens are of these texts."""
        shape = len(tables), tokens
        stand = self._stands.get(shape) or (np.zeros((shape[0], self.pool.pages), np.int64), np.empty(shape, np.int64))
        if tokens == 1:  # these stay where they are, for steps that are recorded
            self._stands[shape] = stand
        self.table, self.at = stand
        self.at[:] = np.array(lengths, np.int64)[:, None] + np.arange(tokens)  # (B, T)
        for row, pages in zip(self.table, tables):
            row[: len(pages)] = pages

    def _pages(self, layer: int, k: Tensor, v: Tensor) -> tuple[np.ndarray, ...]:
        """What `attend` reads and writes."""
        return *self.pool.of(layer, k._array, v._array), self.table, self.at

    @events.state(alone=True, prepared=lambda self, layer, q, k, v, *more, **named: (None, self._pages(layer, k, v)))
    def attend(
        self, layer: int, q: Tensor, k: Tensor, v: Tensor, p: float = 0.0, keep: AnyMask | None = None, window: int = 0
    ) -> Tensor:
        """Keep k, v (B, G, T, D), and let each query see what its text has kept: (B, H, T, E). See `KeyValueCache.attend`."""
        keys, values, table, at = self._pages(layer, k, v)
        kernel = kernels.of(q._array)
        for mine, new in ((keys, k), (values, v)):
            kernel.fill_pages(mine, new._array, table, at)
        if q.shape[2] == 1:
            return Tensor._of(kernel.paged_attention(q._array, keys, values, table, at, window))
        return self._look_at_each(layer, q, (keys, values), (at[:, -1] + 1).tolist(), window)

    def _look_at_each(self, layer: int, q: Tensor, kept: tuple[np.ndarray, np.ndarray], ends: list[int], window: int) -> Tensor:
        rows = []
        for b, end in enumerate(ends):
            self._length = end - q.shape[2]
            self._kept[layer] = tuple(Tensor._of(gathered(x, self.table[b], end)) for x in kept)
            rows.append(self._look(layer, q[b : b + 1], None, 0.0, window)._array)
        self._kept[layer] = None
        return Tensor._of(np.concatenate(rows))

    @events.state(alone=True)
    def places(self, tokens: int) -> Tensor:
        """The places of the tokens in their texts, int64 (B, T)."""
        return from_numpy(self.at)

    def seen(self, starts: Tensor, tokens: int) -> None:
        """All that a text has kept, in causal order."""

    @events.state(alone=True)
    def expect_within(self, limit: int, tokens: int, complaint: Callable[[int, int, KeyValueCache], Exception]) -> None:
        """Raise complaint(length, limit, self) where a text would be longer than `limit`."""
        self._length = int(self.at[:, 0].max())
        if self._length + tokens > limit:
            raise complaint(self._length + tokens, limit, self)

    def advance(self, tokens: int) -> None:
        """The texts count their tokens themselves."""
