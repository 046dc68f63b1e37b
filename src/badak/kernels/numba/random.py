"""Random numbers from the words of a Mersenne Twister, whose state advances 8 to 16 words at a time.

The words follow one another, so one thread draws them; what is made of them is cut into blocks.
"""

import math

import numpy as np

from badak.kernels import reference
from badak.kernels.numba._blocks import block, blocks_of, flat
from badak.kernels.numba.codegen.compile import kernel
from badak.kernels.numba.codegen.floats import fma, rounded
from badak.kernels.numba.threadpool.parallel import parallel_exact
from badak.kernels.reference import _rejection

_f = np.float32
_KEY, _SHIFT = 624, 397
_MASK24, _MASK53, _LOW31 = 0xFFFFFF, (1 << 53) - 1, 0x7FFFFFFF
_CHUNK = 8192  # words drawn at a time: they are still in the first cache when they are used


# ---------------------------------------------------------------- the twister


@kernel
def _twist(key):
    """The next 624 words of the state. Three loops, in which no word is read that the same loop has written near it."""
    for i in range(_KEY - _SHIFT):
        y = (int(key[i]) & 0x80000000) | (int(key[i + 1]) & _LOW31)
        key[i] = int(key[i + _SHIFT]) ^ (y >> 1) ^ (0x9908B0DF if y & 1 else 0)
    for i in range(_KEY - _SHIFT, _KEY - 1):
        y = (int(key[i]) & 0x80000000) | (int(key[i + 1]) & _LOW31)
        key[i] = int(key[i + _SHIFT - _KEY]) ^ (y >> 1) ^ (0x9908B0DF if y & 1 else 0)
    y = (int(key[_KEY - 1]) & 0x80000000) | (int(key[0]) & _LOW31)
    key[_KEY - 1] = int(key[_SHIFT - 1]) ^ (y >> 1) ^ (0x9908B0DF if y & 1 else 0)


@kernel
def _draw(words, state):
    """Fill words, uint32, and move the state, uint32 (626,), on."""
    n, done, position = len(words), 0, int(state[_KEY])
    while done < n:
        if position >= _KEY:
            _twist(state)
            position = 0
        count = min(_KEY - position, n - done)
        source, target = state[position : position + count], words[done : done + count]
        for i in range(count):
            y = int(source[i])
            y ^= y >> 11
            y ^= (y << 7) & 0x9D2C5680
            y ^= (y << 15) & 0xEFC60000
            target[i] = y ^ (y >> 18)
        position += count
        done += count
    state[_KEY] = position


@kernel
def _wide(words, i):
    """Words 2 i and 2 i + 1 as one number of 53 bits."""
    return ((int(words[2 * i]) << 32) | int(words[2 * i + 1])) & _MASK53


@parallel_exact("W1 W1")
def draw_words(task, state, out):
    """Fill the memory of `out` with words."""
    _draw(out.view(np.uint32), state.view(np.uint32))


# ---------------------------------------------------------------- uniform, yes and no, integers


@kernel
def _use(state, out, start):
    """The next chunk of `out` from `start` on, its memory filled with words."""
    part = out[start : start + _CHUNK]
    _draw(part.view(np.uint32), state.view(np.uint32))
    return part


@parallel_exact("W1 W1 f f f")
def fill_uniform(task, out, state, low, width, high):
    """out = u width + low; low where that is high."""
    for start in range(0, len(out), _CHUNK):
        part = _use(state, out, start)
        words = part.view(np.uint32)
        if out.itemsize == 4:
            factor = np.float64(width) * 2.0**-24
            for i in range(len(part)):
                u = out.dtype.type((int(words[i]) & _MASK24) * factor + np.float64(low))
                part[i] = low if u == high else u
        else:
            for i in range(len(part)):
                u = fma(_wide(words, i) * 2.0**-53, np.float64(width), np.float64(low))
                part[i] = low if u == high else u


@parallel_exact("W1 W?1 i")
def fill_bernoulli(task, state, out, bound):
    """out = a number of 53 bits is below the bound."""
    buffer = np.empty(2 * min(_CHUNK, len(out)), np.uint32)
    key = state.view(np.uint32)
    for start in range(0, len(out), _CHUNK):
        part = out[start : start + _CHUNK]
        _draw(buffer[: 2 * len(part)], key)
        for i in range(len(part)):
            part[i] = _wide(buffer, i) < bound


@parallel_exact("W1 Wi1 i i")
def fill_below(task, state, out, low, span):
    """out = word % span + low for a span below 2^28; the quotient by way of float64 is at most one too large or small."""
    buffer = np.empty(min(_CHUNK, len(out)), np.uint32)
    key, inverse = state.view(np.uint32), 1.0 / span
    for start in range(0, len(out), _CHUNK):
        part = out[start : start + _CHUNK]
        _draw(buffer[: len(part)], key)
        for i in range(len(part)):
            rest = int(buffer[i]) - int(buffer[i] * inverse) * span
            rest += span if rest < 0 else 0
            rest -= span if rest >= span else 0
            part[i] = rest + low


@parallel_exact("W1 Wi1 i i")
def fill_below_wide(task, state, out, low, span):
    """out = number of 64 bits % span + low for a span below 2^63."""
    buffer = np.empty(2 * min(_CHUNK, len(out)), np.uint32)
    key, half, modulus = state.view(np.uint32), np.uint64(32), np.uint64(span)
    for start in range(0, len(out), _CHUNK):
        part = out[start : start + _CHUNK]
        _draw(buffer[: 2 * len(part)], key)
        for i in range(len(part)):
            number = (np.uint64(buffer[2 * i]) << half) | np.uint64(buffer[2 * i + 1])
            part[i] = np.int64(number % modulus) + low


@parallel_exact("W1 Wi1")
def shuffle(task, state, order):
    """Position i, from the front, changes places with one at or behind it."""
    n = len(order)
    buffer = np.empty(min(_CHUNK, n), np.uint32)
    key = state.view(np.uint32)
    for i in range(n):
        order[i] = i
    for start in range(0, n - 1, _CHUNK):
        count = min(_CHUNK, n - 1 - start)
        _draw(buffer[:count], key)
        for k in range(count):
            i = start + k
            j = i + int(buffer[k]) % (n - i)
            order[i], order[j] = order[j], order[i]


# ---------------------------------------------------------------- normal numbers: see reference/_boxmuller.py

_LOG = tuple(_f(c) for c in (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
        -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1))  # fmt: skip
_SIN = tuple(_f(c) for c in (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1))
_COS = tuple(_f(c) for c in (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2))
_PI4 = tuple(_f(c) for c in (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8))
_LN2_LOW, _LN2_HIGH = _f(-2.12194440e-4), _f(0.693359375)
_SQRT_HALF, _FOUR_OVER_PI, _TWO_PI = _f(0.707106781186547524), _f(1.27323954473516), _f(2 * math.pi)
_HALF, _ONE, _TWO = _f(0.5), _f(1), _f(2)


def _log(u):
    """Natural logarithm of a float32 u in [2^-24, 1]."""
    bits = int(_f(u).view(np.int32))
    exponent = _f((bits >> 23) - 126)
    x = np.int32((bits & 0x7FFFFF) | 0x3F000000).view(_f)  # mantissa in [1/2, 1)
    low = x < _SQRT_HALF
    exponent = exponent - _ONE if low else exponent
    x = (x + x if low else x) - _ONE
    square = x * x
    y = fma(x, _LOG[0], _LOG[1])
    y = fma(x, y, _LOG[2])
    y = fma(x, y, _LOG[3])
    y = fma(x, y, _LOG[4])
    y = fma(x, y, _LOG[5])
    y = fma(x, y, _LOG[6])
    y = fma(x, y, _LOG[7])
    y = fma(x, y, _LOG[8])
    y = fma(y * x, square, exponent * _LN2_LOW)
    y = fma(square, -_HALF, y)
    return fma(exponent, _LN2_HIGH, x + y)


def _sin_cos(theta):
    """Sine and cosine of a float32 theta in [0, 2 pi]."""
    octant = (int(theta * _FOUR_OVER_PI) + 1) & ~1  # 0, 2, 4, 6, 8
    j = _f(octant)
    x = fma(j, -_PI4[2], fma(j, -_PI4[1], fma(j, -_PI4[0], theta)))
    square = x * x
    c = fma(square, fma(square, _COS[0], _COS[1]), _COS[2]) * square
    c = fma(c, square, -_HALF * square) + _ONE
    s = fma(fma(square, fma(square, _SIN[0], _SIN[1]), _SIN[2]) * square, x, x)
    sin, cos = (c, s) if octant & 2 else (s, c)
    return -sin if octant & 4 else sin, -cos if (octant + 2) & 4 else cos


rounded(_log)(lambda u: _log)
rounded(_sin_cos)(lambda theta: _sin_cos)


@parallel_exact("W1 f f")
def box_muller(task, z, mean, std):
    """Of each 16 uniform numbers, make normals of 0-7 and 8-15."""
    z = block(task, z)
    if z.itemsize == 4:
        for row in range(len(z) // 16):
            pairs = z[16 * row : 16 * row + 16]
            for i in range(8):
                radius = np.sqrt(-_TWO * _log(_f(_ONE - _f(pairs[i]))))
                sin, cos = _sin_cos(_f(pairs[i + 8]) * _TWO_PI)
                pairs[i] = fma(radius * cos, _f(std), _f(mean))
                pairs[i + 8] = fma(radius * sin, _f(std), _f(mean))
    else:
        for i in range(len(z)):
            if not i & 8:
                radius = math.sqrt(-2.0 * math.log(1.0 - z[i]))
                theta = 2 * math.pi * z[i + 8]
                z[i] = fma(radius * math.cos(theta), np.float64(std), np.float64(mean))
                z[i + 8] = fma(radius * math.sin(theta), np.float64(std), np.float64(mean))


@parallel_exact("W1")
def box_muller_pairs(task, z):
    """Of uniform z[2 i], z[2 i + 1], make a pair of standard normals."""
    z = block(task, z)
    for i in range(0, len(z), 2):
        radius = math.sqrt(-2.0 * math.log1p(-z[i + 1]))
        theta = 2 * math.pi * z[i]
        z[i] = radius * math.cos(theta)
        z[i + 1] = radius * math.sin(theta)


# ---------------------------------------------------------------- by rejection: see reference/_rejection.py

rounded(_rejection.narrow)(lambda x, single: _rejection.narrow)
rounded(_rejection.normal)(lambda stream: _rejection.normal)
rounded(_rejection.gamma)(lambda stream, a, single: _rejection.gamma)
rounded(_rejection.poisson)(lambda stream, rate: _rejection.poisson)
rounded(_rejection.tail)(lambda k, single: _rejection.tail)
rounded(_rejection.few)(lambda stream, n, p, single: _rejection.few)
rounded(_rejection.many)(lambda stream, n, p, single: _rejection.many)
rounded(_rejection.binomial)(lambda stream, n, p, single: _rejection.binomial)


@rounded(_rejection.uniform)
def _(stream):
    def uniform(stream):
        words = stream[1]
        _draw(words, stream[0])
        return _wide(words, 0) * 2.0**-53

    return uniform


@parallel_exact("W1 R1 R1 W1 W1 i ?", dtypes=(np.float64,))
def fill_rejection(task, out, a, b, state, spare, which, single):
    """out = gamma numbers (0), Poisson's (1) or binomial ones (2) of the parameters a and b."""
    stream = state.view(np.uint32), np.empty(2, np.uint32), spare
    for i in range(len(out)):
        if which == 0:
            out[i] = _rejection.gamma(stream, a[i], single)
        elif which == 1:
            out[i] = _rejection.poisson(stream, a[i])
        else:
            out[i] = _rejection.binomial(stream, a[i], b[i], single)


@parallel_exact("W1 R1 i f f")
def map_function(task, y, x, which, factor, shift):
    """y = exp x, tan x, log1p x, or x factor + shift."""
    y, x = block(task, y), block(task, x)
    if which == 0:
        for i in range(len(x)):
            y[i] = math.exp(x[i])
    elif which == 1:
        for i in range(len(x)):
            y[i] = math.tan(x[i])
    elif which == 2:
        for i in range(len(x)):
            y[i] = math.log1p(x[i])
    else:
        for i in range(len(x)):
            y[i] = fma(x[i], factor, shift)


# ---------------------------------------------------------------- as in `reference`


def _floats(state, dtype=np.float32):
    """The memory of a state as an array of the type that a kernel is compiled for."""
    return state.view(dtype)


def random_words(state, n, dtype=np.uint32):
    """The next n words as uint32 (n,), or the next 2 n as uint64 (n,): first << 32 | second."""
    words = np.empty(n, dtype)
    draw_words(1, 0, _floats(state), _floats(words))
    return words if words.itemsize == 4 else words << np.uint64(32) | words >> np.uint64(32)


def random_uniform(state, n, dtype, low=0.0, high=1.0):
    """u (high - low) + low in one rounding, u on [0, 1); a value that rounds up to high becomes low.    float (n,)"""
    out = np.empty(n, dtype)
    kind = out.dtype.type
    low, high = kind(low), kind(high)
    fill_uniform(1, 0, out, _floats(state, dtype), low, high - low, high)
    return out


def random_normal(state, n, dtype, mean=0.0, std=1.0):
    """n >= 16 normals by Box and Muller in blocks of 16.    float (n,)"""
    z, whole = random_uniform(state, n, dtype), n - n % 16
    mean, std = z.dtype.type(mean), z.dtype.type(std)
    work = 2 if z.itemsize == 4 else 13
    box_muller(blocks_of(whole), whole * work, z[:whole], mean, std)
    if whole < n:
        last = random_uniform(state, 16, dtype)
        box_muller(1, 0, last, mean, std)
        z[n - 16 :] = last
    return z


def random_pairs(state, n):
    """2 n standard normals, one Box-Muller pair after the other.    float64 (2 n,)"""
    z = random_uniform(state, 2 * n, np.float64)
    box_muller_pairs(blocks_of(2 * n), 26 * n, z)
    return z


def random_bernoulli(state, n, p):
    """True with probability p.    bool (n,)"""
    out = np.empty(n, bool)
    fill_bernoulli(1, 0, _floats(state), out, math.ceil(p * 2**53))
    return out


def random_integers(state, n, low, span):
    """word % span + low; every 64-bit number where span is 2^64.    int64 (n,)"""
    if span >= 1 << 63:
        return reference.random_integers(state, n, low, span)
    out = np.empty(n, np.int64)
    (fill_below if span < 1 << 28 else fill_below_wide)(1, 0, _floats(state), out, low, span)
    return out


def random_permutation(state, n):
    """0 .. n-1 in random order: position i, from the front, changes places with one at or behind it.    int64 (n,)"""
    if n >= (1 << 32) // 20:
        return reference.random_permutation(state, n)
    order = np.empty(n, np.int64)
    shuffle(1, 0, _floats(state), order)
    return order


_DRAWS = ("gamma", "poisson", "binomial")


def random_rejection(state, n, name, spare, a, b, single):
    """n gamma, poisson or binomial numbers of the parameters a (and b), float64 (n,)."""
    out = np.empty(n)
    fill_rejection(1, 0, out, a, b, _floats(state, np.float64), spare, _DRAWS.index(name), single)
    return out


_FUNCTIONS = ("exp", "tan", "log1p")


def c_function(x, name):
    """The C library's exp, tan or log1p of every element, float64 (n,)."""
    y = np.empty(x.shape)
    map_function(blocks_of(x.size), x.size * 12, y.reshape(-1), flat(x), _FUNCTIONS.index(name), 0.0, 0.0)
    return y


def scaled(x, factor, shift):
    """x factor + shift in one rounding, float64 (n,)."""
    y = np.empty(x.shape)
    map_function(blocks_of(x.size), x.size, y.reshape(-1), flat(x), len(_FUNCTIONS), float(factor), float(shift))
    return y
