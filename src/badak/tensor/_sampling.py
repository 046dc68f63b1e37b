"""Random arrays: the Mersenne Twister MT19937 as PyTorch's CPU generator uses it, and PyTorch's distributions over it.

What is made of its 32-bit words stands in `kernels/reference/random.py`.

One number of a distribution costs the same words here as there, so the stream stays in step whatever is drawn:

    float32, float16, bfloat16 uniform   1 word         (word & (2^24 - 1)) 2^-24
    everything in float64                2 words        ((first << 32 | second) & (2^53 - 1)) 2^-53
    bernoulli(p) of one number p         2 words
    bernoulli of an array p              1 word, 2 where p is float64
    integers below a range under 2^28    1 word % range, 2 words above
    normal                               see `Source.normal`

Bits are PyTorch 2.13's on an x86 CPU that is not Intel's; on Intel's, PyTorch takes `bernoulli_(p)` and dropout from MKL,
which badak does not imitate.
"""

import math
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from badak import kernels
from badak.core import events
from badak.core.errors import ArgumentError, IndexOutOfRangeError, StateError, tr

if TYPE_CHECKING:
    from badak.tensor.tensor import Tensor

_WORDS = 624  # words of the twister's state
_LAYOUT = np.dtype(
    {
        # PyTorch's CPU generator state, as the bytes of `torch.get_rng_state()` lie in memory
        "names": ["seed", "left", "seeded", "next", "key", "cached", "has_cached"],
        "formats": ["<u8", "<i4", "<i4", "<u8", ("<u8", _WORDS), "<f8", "<i4"],
        "offsets": [0, 8, 12, 16, 24, 5024, 5040],
        "itemsize": 5056,
    }
)
STATE_BYTES = _LAYOUT.itemsize
_FLOATS = np.empty(0, np.float32)  # asks for the kernels of NumPy arrays
_WIDE = np.empty(0, np.float64)


def _size(shape):
    return math.prod(shape)


def _kernels():
    """The kernels of float64 arrays."""
    return kernels.of(_WIDE)


def _part(dtype):
    """The dtype of a complex number's parts."""
    return np.zeros((), dtype).real.dtype


def _is_half(dtype):
    return dtype.itemsize == 2 and dtype.kind not in "iu"


def _narrow(values, dtype):
    """float64 values as `dtype`; to half precision by way of float32, as the C++ conversion goes."""
    dtype = np.dtype(dtype)
    with np.errstate(over="ignore"):
        return (values.astype(np.float32) if _is_half(dtype) else values).astype(dtype, copy=False)


def _digits(dtype):
    """Bits of the mantissa, the leading one included."""
    return {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}[dtype.name]


def largest_integer(dtype: np.dtype) -> int:
    """The largest integer up to which a dtype holds each one."""
    return 1 if dtype.kind == "b" else int(np.iinfo(dtype).max) if dtype.kind in "iu" else 1 << _digits(dtype)


def _as_words(state):
    """What the kernels move on, uint32 (626,), of (anything, key, position, ...)."""
    words = np.zeros(_WORDS + 2, np.uint32)
    words[:_WORDS], words[_WORDS] = state[1], state[2]
    return words


class Twister:
    """A stream of 32-bit words seeded with the low 32 bits of `seed`, with the one normal number kept for the next call.

    Source: Matsumoto & Nishimura, "Mersenne Twister", ACM TOMACS 8(1), 1998; the seeding is the 2002 `init_genrand`.

    `spare` is the second value of the last scalar Box-Muller pair (float64), or None.
    """

    def __init__(self, seed: int) -> None:
        self.reseed(seed)

    @events.state
    def reseed(self, seed: int) -> None:
        """Start the stream of `seed` (any integer in [0, 2^64)) again; the kept normal is forgotten."""
        self._seed = seed
        self.spare: float | None = None
        self._untouched = True
        self._words = _as_words(np.random.RandomState(seed & 0xFFFFFFFF).get_state())
        self._lock = threading.Lock()

    @events.state(alone=True)
    def draw(self, kernel: str, n: int, *arguments: Any) -> np.ndarray:
        """What the kernel of this name makes of the next words: n numbers. One thread at a time."""
        self._untouched &= n == 0
        with self._lock:
            return getattr(kernels.of(_FLOATS), kernel)(self._words, n, *arguments)

    @events.state
    def state(self) -> np.ndarray:
        """The whole state as uint8 (5056,), the bytes that `torch.set_rng_state` takes."""
        position = int(self._words[_WORDS])
        record = np.zeros((), _LAYOUT)
        record["seed"] = self._seed
        record["left"] = _WORDS + 1 - position
        record["seeded"] = 1
        record["next"] = 0 if self._untouched else position  # as PyTorch notes a stream that nobody has drawn from
        record["key"] = self._words[:_WORDS]
        record["cached"] = 0.0 if self.spare is None else self.spare
        record["has_cached"] = self.spare is not None
        return np.frombuffer(record.tobytes(), np.uint8).copy()

    @events.state
    def restore(self, state: np.ndarray) -> None:
        """Take over `state`, uint8 (5056,), from `state()` or from PyTorch; StateError if it is none."""
        state = np.ascontiguousarray(state)
        if state.dtype != np.uint8 or state.shape != (STATE_BYTES,):
            cause = tr("set_state: expected a uint8 state of shape ({},); got {} {}", STATE_BYTES, state.dtype, state.shape)
            raise StateError(cause, fix="pass what get_state() or torch.get_rng_state() returned")
        record = state.view(_LAYOUT)[0]
        left = int(record["left"])
        if not 1 <= left <= _WORDS or record["seeded"] != 1 or (record["key"] >> np.uint64(32)).any():
            cause = tr("set_state: these {} bytes are no MT19937 state (left={}, seeded={})", STATE_BYTES, left, record["seeded"])
            raise StateError(cause, fix="pass what get_state() or torch.get_rng_state() returned")
        self._seed = int(record["seed"])
        self._untouched = left == 1 and record["next"] == 0
        self.spare = float(record["cached"]) if record["has_cached"] else None
        self._words = _as_words((None, record["key"], _WORDS + 1 - left))


class Source(Twister):
    """A seeded stream with PyTorch's distributions on top. Shapes are tuples, dtypes NumPy's; arrays are C-contiguous."""

    # ------------------------------------------------------------------ uniform

    def _unit64(self, n):
        return self.draw("random_uniform", n, np.float64)

    @events.state(alone=True)
    def uniform(self, shape: Sequence[int], dtype: Any = np.float32, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """u (high - low) + low in one rounding, u uniform on [0, 1); a value that rounds up to high becomes low."""
        dtype = np.dtype(dtype)
        if not low <= high:
            raise ArgumentError(tr("uniform_: expected low <= high; got low={}, high={}", low, high), fix="swap the bounds")
        if dtype.kind == "c":
            return self.uniform((*shape, 2), _part(dtype), low, high).view(dtype)[..., 0]
        u = self.draw("random_uniform", _size(shape), np.float32 if _is_half(dtype) else dtype, low, high)
        if _is_half(dtype):
            u = u.astype(dtype)
            u[u == dtype.type(high)] = dtype.type(low)
        return u.reshape(shape)

    # ------------------------------------------------------------------ normal

    @events.state(alone=True)
    def normal(
        self, shape: Sequence[int], dtype: Any = np.float32, mean: float = 0.0, std: float = 1.0, contiguous: bool = True
    ) -> np.ndarray:
        """Normal numbers by Box and Muller, in one of PyTorch's two ways.

        16 or more that lie contiguously: all uniform numbers first, then each 16 become 8 + 8 normals; where 16 does not
        divide n, the last 16 values are drawn once more. Fewer, or strided: one float64 pair after the other, of which the
        second is kept for the next call.
        """
        dtype, n = np.dtype(dtype), _size(shape)
        if not std >= 0:
            raise ArgumentError(tr("normal_: expected std >= 0; got std={}", std), fix="pass a standard deviation")
        if dtype.kind == "c":
            return self.normal((*shape, 2), _part(dtype), mean, std / math.sqrt(2), contiguous).view(dtype)[..., 0]
        if n < 16 or not contiguous:
            z = _narrow(self._scalar_normal(n, mean, std), dtype)
        elif _is_half(dtype):  # the last 16 are no second draw: all uniform numbers come first
            whole = n - n % 16
            z = self.draw("random_normal", whole + (16 if n % 16 else 0), np.float32, mean, std).astype(dtype)
            z = z if whole == n else np.concatenate([z[: n - 16], z[whole:]])
        else:
            z = self.draw("random_normal", n, dtype, mean, std)
        return z.reshape(shape)

    def _scalar_normal(self, n, mean, std):
        """n float64 normals, pair by pair; the odd one out is kept."""
        z = np.empty(n)
        if n == 0:
            return z
        kept = 0
        if self.spare is not None:
            z[0], kept, self.spare = self.spare, 1, None
        pairs = self.draw("random_pairs", (n - kept + 1) // 2)
        z[kept:] = pairs[: n - kept]
        if len(pairs) > n - kept:
            self.spare = float(pairs[-1])
        return _kernels().scaled(z, float(std), float(mean))

    @events.state(alone=True)
    def log_normal(self, shape: Sequence[int], dtype: Any = np.float32, mean: float = 1.0, std: float = 2.0) -> np.ndarray:
        """exp of normal numbers; the mean and deviation are the logarithm's."""
        if not std > 0:
            raise ArgumentError(tr("log_normal_: expected std > 0; got std={}", std))
        return _narrow(_kernels().c_function(self._scalar_normal(_size(shape), mean, std), "exp"), dtype).reshape(shape)

    # ------------------------------------------------------------------ yes and no

    @events.state(alone=True)
    def bernoulli(self, p: float, shape: Sequence[int], dtype: Any = np.bool_) -> "Tensor":
        """1 with probability p, else 0, of `shape`: u < p with a float64 u."""
        if not 0 <= p <= 1:
            raise ArgumentError(tr("bernoulli_: expected p in [0, 1]; got p={}", p))
        return self.draw("random_bernoulli", _size(shape), float(p)).reshape(shape).astype(dtype, copy=False)

    @events.state(alone=True)
    def bernoulli_each(self, p: np.ndarray, dtype: Any = np.bool_) -> np.ndarray:
        """1 with probability p[i], else 0, of p's shape; the uniform numbers are float64 where p is, else float32."""
        if p.size and not ((p >= 0) & (p <= 1)).all():
            raise ArgumentError("bernoulli: expected every probability in [0, 1]", fix="pass probabilities, e.g. sigmoid(logits)")
        if p.dtype == np.float64:
            return (self._unit64(p.size).reshape(p.shape) < p).astype(dtype, copy=False)
        drawn = self.draw("random_uniform", p.size, np.float32).reshape(p.shape)
        return (drawn < p.astype(np.float32, copy=False)).astype(dtype, copy=False)

    # ------------------------------------------------------------------ integers

    @events.state(alone=True)
    def integers(self, low: int, high: int, shape: Sequence[int], dtype: Any = np.int64) -> np.ndarray:
        """Integers in [low, high): word % (high - low) + low."""
        if not low < high:
            raise IndexOutOfRangeError(tr("random_ expects 'from' to be less than 'to'; got from={} >= to={}", low, high))
        value = self.draw("random_integers", _size(shape), low, high - low)
        return value.astype(dtype, copy=False).reshape(shape)

    @events.state(alone=True)
    def any_integers(self, shape: Sequence[int], dtype: Any) -> np.ndarray:
        """What `random_()` draws: [0, largest] of an integer dtype, [0, 2^digits] of a floating one, 0 or 1 for bool."""
        dtype, n = np.dtype(dtype), _size(shape)
        if dtype.kind == "b":
            return (self.draw("random_words", n) & np.uint32(1)).astype(bool).reshape(shape)
        span = largest_integer(dtype) + 1
        if span < 1 << 28 and dtype.itemsize < 8:
            return self.integers(0, span, shape, dtype)
        words = self.draw("random_words", n, np.uint64 if dtype.itemsize == 8 else np.uint32)
        return (words % words.dtype.type(span)).astype(dtype).reshape(shape)

    def seed64(self) -> int:
        """One integer in [0, 2^63): what a DataLoader draws as its seed."""
        return int(self.any_integers((), np.int64))

    @events.state(alone=True)
    def permutation(self, n: int) -> np.ndarray:
        """0 .. n-1 in random order, int64 (n,): the Fisher-Yates shuffle, from the front."""
        return self.draw("random_permutation", n)

    # ------------------------------------------------------------------ waiting times

    @events.state(alone=True)
    def exponential(self, shape: Sequence[int], dtype: Any = np.float32, rate: float = 1.0) -> np.ndarray:
        """-log(1 - u) / rate with a float64 u."""
        if not rate > 0:
            raise ArgumentError(tr("exponential_: expected lambda > 0; got lambda={}", rate), "pass the rate, 1 / mean")
        u = self._unit64(_size(shape))
        return _narrow(-1.0 / rate * _kernels().c_function(-u, "log1p"), dtype).reshape(shape)

    @events.state(alone=True)
    def geometric(self, p: float, shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray:
        """Trials up to the first success: ceil(log u / log(1 - p))."""
        if not 0 < p < 1:
            raise ArgumentError(tr("geometric_: expected p in (0, 1); got p={}", p))
        with np.errstate(divide="ignore"):
            trials = np.ceil(np.log(self._unit64(_size(shape))) / math.log1p(-p))
        return _narrow(trials, dtype).reshape(shape)

    @events.state(alone=True)
    def cauchy(self, shape: Sequence[int], dtype: Any = np.float32, median: float = 0.0, sigma: float = 1.0) -> np.ndarray:
        """median + sigma tan(pi (u - 1/2))."""
        tangent = _kernels().c_function(math.pi * (self._unit64(_size(shape)) - 0.5), "tan")
        return _narrow(_kernels().scaled(tangent, float(sigma), float(median)), dtype).reshape(shape)

    # ------------------------------------------------------------------ by rejection

    @events.state(alone=True)
    def rejection(self, name: str, a: np.ndarray, b: np.ndarray | None = None, single: bool = True) -> np.ndarray:
        """Numbers "gamma" (of a), "poisson" (of rate a) or "binomial" (of a, b), float64, one after the other in a's order.

        single: PyTorch's numbers for float32 parameters.
        """
        spare = np.array([self.spare is not None, self.spare or 0.0])
        wide = [np.ascontiguousarray(x, np.float64).reshape(-1) for x in (a, a if b is None else b)]
        drawn = self.draw("random_rejection", wide[0].size, name, spare, *wide, single)
        self.spare = float(spare[1]) if spare[0] else None
        return drawn.reshape(a.shape)

    # ------------------------------------------------------------------ classes

    @events.state(alone=True)
    def multinomial(self, p: np.ndarray, n: int, replacement: bool = False) -> Any:
        """n class numbers for each row of weights p (V,) or (B, V), int64 (n,) or (B, n).

        Without replacement, or n = 1: the n largest of p / q with q exponential (the Gumbel trick). With: the first class
        whose cumulative share reaches u.
        """
        rows = p.reshape(-1, p.shape[-1])
        _check_weights(rows, n, replacement)
        if replacement and n > 1:
            u = self._unit64(len(rows) * n).reshape(len(rows), n)
            picked = _reach(rows, u)
        else:
            u = self._unit64(rows.size).reshape(rows.shape)
            picked = _largest(rows, u) if n == 1 else np.argsort(-_scores(rows, u), axis=1, kind="stable")[:, :n]
        return np.ascontiguousarray(picked, np.int64).reshape(p.shape[:-1] + (n,))


def _scores(p, u):
    """p / q, q = -log(1 - u) in the dtype of p."""
    with np.errstate(all="ignore"):
        return p / _narrow(-_kernels().c_function(-u, "log1p"), p.dtype)


def _largest(p, u):
    """The class of the largest of `_scores` in each row of p (B, V), as (B, 1).

    q >= u: only where p / u reaches one of the scores, here that of the largest p / u, can the largest be. Logarithms are slow.
    """
    if p.dtype.itemsize == 2:
        return _scores(p, u).argmax(1)[:, None]
    with np.errstate(all="ignore"):
        bound = p / u
    at = bound.argmax(1)[:, None]
    one = _scores(np.take_along_axis(p, at, 1), np.take_along_axis(u, at, 1)).astype(np.float64)
    near = bound >= np.where((one > 1e-30) & (one < 1e30), one * (1 - 1e-5), 0)  # else roundings may be large: all of them
    scores = np.full(p.shape, -1, p.dtype)
    scores[near] = _scores(p[near], u[near])
    return scores.argmax(1)[:, None]


def _reach(rows, u):
    """The first class of each row whose cumulative share reaches u.    rows (B, V), u (B, n) -> int (B, n)"""
    rows = rows if rows.dtype.itemsize > 2 else rows.astype(np.float32)
    share = kernels.of(rows).cumsum(rows)
    share /= share[:, -1:]
    share[:, -1:] = 1
    picked = np.empty(u.shape, np.int64)
    for row, draws, found in zip(share.astype(np.float64), u, picked):
        found[:] = row.searchsorted(draws)
    return picked


def _check_weights(rows, n, replacement):
    classes = rows.shape[1]
    if n <= 0:
        raise ArgumentError(tr("multinomial: cannot sample num_samples={} <= 0 samples", n), fix="num_samples=1")
    if n > classes and not replacement:
        cause = tr("multinomial: cannot sample num_samples={} > {} classes without replacement", n, classes)
        raise ArgumentError(cause, fix="replacement=True")
    wide = rows.astype(np.float64, copy=False)
    if not (np.isfinite(wide) & (wide >= 0)).all():
        cause = tr("multinomial: probability tensor contains either `inf`, `nan` or element < 0")
        raise ArgumentError(cause, fix="check the logits for nan before softmax")
    if (wide.sum(1) <= 0).any():
        raise ArgumentError("multinomial: invalid multinomial distribution (sum of probabilities <= 0)",
                            fix="give every row at least one positive weight")  # fmt: skip
