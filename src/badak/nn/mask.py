"""Mask: which query sees which key, said in words that fit any length.

    Mask.causal()                 nothing after itself
    Mask.padding(ids, pad=0)      no key whose id is the padding's
    Mask.window(k)                keys less than k places away, on both sides
    Mask.prefix(n)                the first n keys, for all
    a & b,  a | b,  ~a            both,  one of them,  what a hides

A Mask has one polarity: it says what may be *seen*, wherever it is given. PyTorch's tensors of booleans have two (True = seen in
scaled_dot_product_attention, True = hidden in MultiheadAttention), so a tensor becomes a Mask only by name, `Mask.of(keep=...)`
or `Mask.of(hide=...)`, and does not mix with one by & and |.

Queries are the last T of the S positions whose keys are there: with a cache of what was read before, the same Mask serves the
whole text and each new token. No table is made before sizes are known, and for Mask.causal() none at all: attention has a way
of its own for it, also where it is one side of an &.

B batch, T queries, S keys.
"""

from dataclasses import dataclass
from typing import NoReturn

from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError, expect, expect_kind, tr
from badak.nn.grid import Grid
from badak.tensor import Tensor, arange
from badak.tensor import bool as bool_


class Mask:
    """Which query sees which key: made by causal(), padding(ids), window(k), prefix(n), of(...), joined by & | ~.

    Accepted wherever attention takes a mask, always with the one meaning *may be seen*. `show()` draws it; `keep(T, S)` and
    `hide(T, S)` are tensors for other code. Raises ShapeError where it does not fit the sizes that are asked.

    PyTorch has no such class.

    Args:
        *given: none: use the named constructors

    Returns: a mask that attention takes

    Raises:
        ShapeError: where it does not fit the sizes that are asked

    Example:
        >>> (badak.Mask.causal() & badak.Mask.window(2)).keep(3, 3).int().tolist()
        [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    """

    def __new__(cls, *given: object) -> "Mask":
        if cls is Mask:
            fix = tr("Mask.causal(), Mask.padding(ids), Mask.window(k), Mask.prefix(n), or Mask.of(keep=tensor)")
            raise ArgumentTypeError("Mask: it is made by its functions, and not called itself", fix)
        return super().__new__(cls)

    @staticmethod
    def causal() -> "Mask":
        """Each query sees itself and what stands before it."""
        return CausalMask()

    @staticmethod
    def padding(ids: Tensor, pad: int = 0) -> "Mask":
        """Keys are seen where `ids` (B, S), or (S,), is not `pad`."""
        expect_kind(ids, Tensor, "Mask.padding: ids must be a Tensor, not {}", "badak.tensor(ids)")
        if ids.dtype == bool_:
            fix = tr("Mask.of(keep=x[:, None]) where True = seen, Mask.of(hide=x[:, None]) where True = padding")
            raise DTypeError("Mask.padding: expected ids; got booleans, which are a mask already", fix)
        if ids.is_floating_point() or ids.dim() not in (1, 2):
            cause = tr("Mask.padding: expected ids as integers of shape (batch, keys); got {} {}", ids.dtype, tuple(ids.shape))
            raise ShapeError(cause, "the ids of the tokens")
        return PaddingMask(ids, pad)

    @staticmethod
    def window(k: int) -> "Mask":
        """Each query sees the keys less than k places away; Mask.causal() & Mask.window(k): itself and the k - 1 before it."""
        _expect_count("window", "k", k, 1)
        return WindowMask(k)

    @staticmethod
    def prefix(n: int) -> "Mask":
        """All see the first n keys; Mask.causal() | Mask.prefix(n) reads a beginning at once and then goes from left to right."""
        _expect_count("prefix", "n", n, 0)
        return PrefixMask(n)

    @staticmethod
    def of(*, keep: Tensor | None = None, hide: Tensor | None = None) -> "Mask":
        """What a tensor of booleans says, (T, S), (B, T, S) or (B, H, T, S), each of them or 1. keep: True = seen; hide: hidden."""
        given = [x for x in (keep, hide) if x is not None]
        fix = tr("Mask.of(keep=x) where True = seen, Mask.of(hide=x) where True = hidden")
        if len(given) != 1:
            raise ArgumentError("Mask.of: expected one of keep and hide", fix)
        x = given[0]
        if not isinstance(x, Tensor) or x.dtype != bool_:
            what = tr("a Tensor of {}", x.dtype) if isinstance(x, Tensor) else type(x).__name__
            raise DTypeError(tr("Mask.of: expected a Tensor of booleans; got {}", what), "keep=(x != 0), or hide=(x == -inf)")
        if x.dim() not in (2, 3, 4):
            cause = tr("Mask.of: expected (queries, keys), (batch, queries, keys) or four axes; got {}", tuple(x.shape))
            raise ShapeError(cause, "x[:, None] of shape (B, 1, S) for a mask of keys (B, S)")
        return GivenMask(x.unsqueeze(1) if x.dim() == 3 else x, hide is not None)

    def keep(self, queries: int, keys: int | None = None) -> Tensor:
        """Booleans, True = seen, (T, S), or (B, H, T, S) with 1 for what all share; as many keys as queries unless said."""
        T, S = queries, queries if keys is None else keys
        expect(T >= 0 and S >= 0, "Mask.keep", "sizes of at least 0", "mask.keep(5, 8)", queries=T, keys=S)
        seen = self._seen(T, S)
        return seen.expand(*seen.shape[:-2], T, S)

    def hide(self, queries: int, keys: int | None = None) -> Tensor:
        """The opposite of `keep`: True = hidden, as PyTorch's MultiheadAttention wants it."""
        return ~self.keep(queries, keys)

    def show(self, queries: int | None = None, keys: int | None = None) -> Grid:
        """The mask as a picture in a terminal or a notebook; sizes that the mask does not know are 8 unless given."""
        T, S = self._sizes()
        S = keys or S or queries or T or 8
        T = queries or T or S
        return Grid(str(self), self.keep(T, S))

    def resolve(self, queries: int, keys: int, batch: int) -> tuple[Tensor | None, int | None]:
        """(keep, causal) as `ops/attention.py` takes them, for attention of a batch.

        keep: (T, S) or (B or 1, H or 1, T or 1, S), None where causal says all. causal c: query i sees the keys up to i + c.
        """
        parts = self._parts()
        rest = [part._seen(queries, keys) for part in parts if not isinstance(part, CausalMask)]
        causal = None
        if len(rest) < len(parts):
            _expect_last("Mask.causal()", queries, keys)
            causal = keys - queries if queries != 1 else None  # a single query is the last, which sees all
        keep = None
        for seen in rest:
            keep = seen if keep is None else keep & seen
        if keep is not None and keep.dim() == 4 and keep.shape[0] not in (1, batch):
            cause = tr("{}: a mask for a batch of {}, given to a batch of {}", self, keep.shape[0], batch)
            raise ShapeError(cause, "a mask made of the same batch")
        return keep, causal

    def _seen(self, T: int, S: int) -> Tensor:
        """What is seen, in as few elements as say it."""
        raise AssertionError("each kind of mask defines it")

    def _sizes(self) -> tuple[int | None, int | None]:
        """T and S, where the mask knows them."""
        return None, None

    def _parts(self) -> tuple["Mask", ...]:
        """Masks of which this one is the &."""
        return (self,)

    def __and__(self, other: "Mask") -> "Mask":
        return BothMask(self, _expect_mask(other, "&"))

    def __or__(self, other: "Mask") -> "Mask":
        return EitherMask(self, _expect_mask(other, "|"))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> "Mask":
        return NotMask(self)

    def __bool__(self) -> NoReturn:
        raise ArgumentTypeError("a Mask is neither true nor false", "a & b, a | b, ~a in the place of and, or, not")

    def __repr__(self) -> str:
        raise AssertionError("each kind of mask defines it")

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()


# Dataclasses: badak.compile takes them apart, so that a step replays with the ids that it is given.


@dataclass(frozen=True, eq=False, repr=False)
class CausalMask(Mask):
    def _seen(self, T: int, S: int) -> Tensor:
        i, j = _positions("Mask.causal()", T, S)
        return j <= i

    def __repr__(self) -> str:
        return "Mask.causal()"


@dataclass(frozen=True, eq=False, repr=False)
class WindowMask(Mask):
    k: int

    def _seen(self, T: int, S: int) -> Tensor:
        i, j = _positions(str(self), T, S)
        return (j > i - self.k) & (j < i + self.k)

    def __repr__(self) -> str:
        return f"Mask.window({self.k})"


@dataclass(frozen=True, eq=False, repr=False)
class PrefixMask(Mask):
    n: int

    def _seen(self, T: int, S: int) -> Tensor:
        return (arange(S) < self.n).unsqueeze(0)  # (1, S)

    def __repr__(self) -> str:
        return f"Mask.prefix({self.n})"


@dataclass(frozen=True, eq=False, repr=False)
class PaddingMask(Mask):
    ids: Tensor
    pad: int

    def _seen(self, T: int, S: int) -> Tensor:
        shape = tuple(self.ids.shape)
        if shape[-1] != S:
            cause = tr("Mask.padding: ids {} say nothing of {} keys", shape, S)
            raise ShapeError(cause, "the ids of all keys, of those in a cache too")
        seen = self.ids != self.pad
        return seen.unsqueeze(0) if len(shape) == 1 else seen[:, None, None]  # (1, S) or (B, 1, 1, S)

    def _sizes(self) -> tuple[int | None, int | None]:
        return None, self.ids.shape[-1]

    def __repr__(self) -> str:
        return f"Mask.padding(ids {tuple(self.ids.shape)}, pad={self.pad})"


@dataclass(frozen=True, eq=False, repr=False)
class GivenMask(Mask):
    given: Tensor  # (T, S) or (B, H, T, S), each of them or 1
    hides: bool

    def _seen(self, T: int, S: int) -> Tensor:
        shape = tuple(self.given.shape)
        if shape[-2] not in (1, T) or shape[-1] not in (1, S):
            raise ShapeError(tr("{}: a mask for other sizes than {} queries and {} keys", self, T, S), "a mask of these sizes")
        x = ~self.given if self.hides else self.given
        return x if shape[-1] == S else x.expand(*shape[:-1], S)

    def _sizes(self) -> tuple[int | None, int | None]:
        T, S = self.given.shape[-2:]
        return T if T > 1 else None, S if S > 1 else None

    def __repr__(self) -> str:
        return f"Mask.of({'hide' if self.hides else 'keep'}={tuple(self.given.shape)})"


@dataclass(frozen=True, eq=False, repr=False)
class StartsMask(Mask):
    """Causal, and nothing before the place where the text of each row begins, (B,). What stands before sees itself."""

    starts: Tensor

    def _seen(self, T: int, S: int) -> Tensor:
        i, j = _positions(str(self), T, S)
        return ((j <= i) & (j >= self.starts[:, None, None]) | (j == i))[:, None]  # (B, 1, T, S)

    def __repr__(self) -> str:
        return f"Mask of texts that begin at {tuple(self.starts.shape)}"


@dataclass(frozen=True, eq=False, repr=False)
class NotMask(Mask):
    mask: Mask

    def _seen(self, T: int, S: int) -> Tensor:
        return ~self.mask._seen(T, S)

    def _sizes(self) -> tuple[int | None, int | None]:
        return self.mask._sizes()

    def __repr__(self) -> str:
        return f"~{_inner(self.mask)}"


@dataclass(frozen=True, eq=False, repr=False)
class TwoMasks(Mask):
    a: Mask
    b: Mask

    def _sizes(self) -> tuple[int | None, int | None]:
        (T, S), (U, V) = self.a._sizes(), self.b._sizes()
        return T or U, S or V


class BothMask(TwoMasks):
    def _seen(self, T: int, S: int) -> Tensor:
        return self.a._seen(T, S) & self.b._seen(T, S)

    def _parts(self) -> tuple[Mask, ...]:
        return self.a._parts() + self.b._parts()

    def __repr__(self) -> str:
        return f"{_inner(self.a, BothMask)} & {_inner(self.b, BothMask)}"


class EitherMask(TwoMasks):
    def _seen(self, T: int, S: int) -> Tensor:
        return self.a._seen(T, S) | self.b._seen(T, S)

    def __repr__(self) -> str:
        return f"{_inner(self.a, EitherMask)} | {_inner(self.b, EitherMask)}"


def _inner(mask: Mask, free: type | None = None) -> str:
    """The words of a mask inside those of another, in brackets where Python needs them."""
    return f"({mask})" if isinstance(mask, TwoMasks) and type(mask) is not free else str(mask)


def _positions(name: str, T: int, S: int) -> tuple[Tensor, Tensor]:
    """Where the queries (T, 1) and the keys (S,) stand in the text."""
    _expect_last(name, T, S)
    return arange(S - T, S).unsqueeze(1), arange(S)


def _expect_last(name: str, T: int, S: int) -> None:
    if T > S:
        cause = tr("{}: {} queries and {} keys, but the queries' own places must be among the keys'", name, T, S)
        raise ShapeError(cause, "attention to another text takes Mask.padding of that text's ids")


def _expect_count(name: str, what: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        cause = tr("Mask.{}: expected an integer {} of at least {}; got {!r}", name, what, least, value)
        raise ArgumentError(cause, f"Mask.{name}(4)")


def _expect_mask(other: object, sign: str) -> Mask:
    if isinstance(other, Mask):
        return other
    what = (
        tr("a Tensor does not say whether True is seen or hidden") if isinstance(other, Tensor) else tr("only a Mask can be joined")
    )
    cause = tr("Mask {} {}: {}", sign, type(other).__name__, what)
    raise ArgumentTypeError(cause, "Mask.of(keep=x) where True = seen, Mask.of(hide=x) where True = hidden")


AnyMask = Tensor | Mask  # what attention takes: a tensor in the polarity of its place, or a Mask
