"""Random numbers from the words of a Mersenne Twister: what PyTorch's CPU generator makes of the same state.

A state is uint32 (626,): the 624 words of MT19937, the position in them (624: all are used), and one word of nothing,
so that it can be looked at as float64. Every function here moves it on, in place, by the words that it uses:

    uniform, float32    1 word        (word & (2^24 - 1)) 2^-24
    uniform, float64    2 words       ((first << 32 | second) & (2^53 - 1)) 2^-53
    bernoulli           2 words       that float64 < p
    integers            1 word % span where span < 2^28, else 2 words % span
    normal              as uniform; each 16 become 8 + 8 normals, and where 16 does not divide n the last 16 are drawn again

Source: Matsumoto & Nishimura, "Mersenne Twister", ACM TOMACS 8(1), 1998. The words come from NumPy's `RandomState`, whose
streams are frozen by NumPy's compatibility policy (NEP 19). The shuffle: Durstenfeld, CACM 7(7), 1964, algorithm 235.
"""

import math
from typing import Any

import numpy as np

from badak.kernels.reference._arrays import Array
from badak.kernels.reference._boxmuller import fma64, libm, normal_blocks, scalar_pairs
from badak.kernels.reference._rejection import binomial, gamma, poisson

_BLOCK = 65_536  # numbers at a time: the words stay in the cache
_MASK24, _MASK53 = np.uint32((1 << 24) - 1), np.uint64((1 << 53) - 1)
_KEY = 624


def random_words(state: Array, n: int, dtype: type = np.uint32) -> Array:
    """The next n words as uint32 (n,), or the next 2 n as uint64 (n,): first << 32 | second."""
    twister = np.random.RandomState(0)
    twister.set_state(("MT19937", state[:_KEY], int(state[_KEY]), 0, 0.0))
    words = twister.randint(0, 1 << np.dtype(dtype).itemsize * 8, n, dtype=dtype)
    _, state[:_KEY], state[_KEY], _, _ = twister.get_state()
    return words


def _blocks(n):
    return [slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK)]


def random_uniform(state: Array, n: int, dtype: Any, low: float = 0.0, high: float = 1.0) -> Array:
    """u (high - low) + low in one rounding, u on [0, 1); a value that rounds up to high becomes low.    float (n,)"""
    out = np.empty(n, dtype)
    kind = out.dtype.type
    unit = (low, high) == (0.0, 1.0)
    for part in _blocks(n):
        if out.dtype == np.float64:
            words = random_words(state, part.stop - part.start, np.uint64) & _MASK53
            u = words.view(np.int64) * 2.0**-53
            out[part] = u if unit else fma64(u, high - low, low)
        else:
            words = random_words(state, part.stop - part.start) & _MASK24
            width = float(kind(high) - kind(low))  # the float64 product is exact, so the sum is the only rounding
            out[part] = words.view(np.int32) * (width * 2.0**-24) + float(kind(low))
    out[out == kind(high)] = kind(low)
    return out


def random_normal(state: Array, n: int, dtype: Any, mean: float = 0.0, std: float = 1.0) -> Array:
    """n >= 16 normals by Box and Muller in blocks of 16.    float (n,)"""
    z, whole = random_uniform(state, n, dtype), n - n % 16
    normal_blocks(z[:whole].reshape(-1, 16), mean, std)
    if whole < n:
        z[n - 16 :] = normal_blocks(random_uniform(state, 16, dtype).reshape(1, 16), mean, std)[0]
    return z


def random_pairs(state: Array, n: int) -> Array:
    """2 n standard normals, one Box-Muller pair after the other.    float64 (2 n,)"""
    return scalar_pairs(random_uniform(state, 2 * n, np.float64))


def random_bernoulli(state: Array, n: int, p: float) -> Array:
    """True with probability p.    bool (n,)"""
    out, bound = np.empty(n, bool), np.uint64(math.ceil(p * 2**53))
    for part in _blocks(n):
        np.less(random_words(state, part.stop - part.start, np.uint64) & _MASK53, bound, out=out[part])
    return out


def random_integers(state: Array, n: int, low: int, span: int) -> Array:
    """word % span + low, which wraps as C's arithmetic does; every 64-bit number where span is 2^64.    int64 (n,)"""
    if span < 1 << 28:
        values = (random_words(state, n) % np.uint32(span)).astype(np.int64)
    else:
        values = random_words(state, n, np.uint64)
        values = (values % np.uint64(span) if span < 1 << 64 else values).view(np.int64)
    values += np.int64(low if span < 1 << 64 else 0)
    return values


def random_rejection(state: Array, n: int, name: str, spare: Array, a: Array, b: Array, single: bool) -> Array:
    """n gamma, poisson or binomial numbers of the parameters a (and b), float64 (n,).    spare: (whether, which) normal is kept."""
    twister = np.random.RandomState(0)
    twister.set_state(("MT19937", state[:_KEY], int(state[_KEY]), 0, 0.0))
    out, stream = np.empty(n), (twister, None, spare)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist())):
        if name == "gamma":
            out[i] = gamma(stream, x, single)
        elif name == "poisson":
            out[i] = poisson(stream, x)
        else:
            out[i] = binomial(stream, x, y, single)
    _, state[:_KEY], state[_KEY], _, _ = twister.get_state()
    return out


def random_permutation(state: Array, n: int) -> Array:
    """0 .. n-1 in random order: position i, from the front, changes places with one at or behind it.    int64 (n,)

    From 2^32 / 20 numbers on, a 64-bit word says which position at or before i gives its number to i and gets i.
    """
    order = np.arange(n)
    if n < (1 << 32) // 20:
        ahead = np.arange(n, 1, -1, dtype=np.uint32)
        for i, j in enumerate((random_words(state, max(n - 1, 0)) % ahead).tolist()):
            order[i], order[i + j] = order[i + j], order[i]
        return order
    for i, j in enumerate((random_words(state, n, np.uint64) % np.arange(1, n + 1, dtype=np.uint64)).tolist()):
        order[i] = order[j]
        order[j] = i
    return order


def c_function(x: Array, name: str) -> Array:
    """The C library's exp, tan or log1p of every element, float64 (n,): NumPy's own may round differently."""
    return libm(getattr(math, name), x)


def scaled(x: Array, factor: float, shift: float) -> Array:
    """x factor + shift in one rounding, float64 (n,)."""
    return fma64(x, factor, shift)
