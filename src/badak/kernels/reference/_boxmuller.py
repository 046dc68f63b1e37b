"""Pairs of uniform numbers to pairs of normal ones, with the very roundings of PyTorch's CPU kernels.

    z1 = sqrt(-2 log u1) cos(2 pi u2)        z2 = sqrt(-2 log u1) sin(2 pi u2)

float32: PyTorch evaluates log, sin and cos by the Cephes polynomials in float32 with fused multiply-adds. A fused
multiply-add of float32 is a float64 product (exact: 24 + 24 bits) and one float64 sum, rounded once to float32; rounding
twice differs about once in 10^9. float64: PyTorch calls the C library's log, sin and cos, and so does `math`.

Source: Box & Muller, Annals of Mathematical Statistics 29 (1958); polynomials: S. Moshier, Cephes, `logf.c`, `sinf.c`.
"""

import math

import numpy as np

_BLOCK = 8192  # pairs at a time: the working arrays stay in the cache

# Cephes, rounded to float32 and then held as float64 for the exact products
_LOG = [float(np.float32(c)) for c in (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
        1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)]  # fmt: skip
_SIN = [float(np.float32(c)) for c in (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)]
_COS = [float(np.float32(c)) for c in (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)]
_LN2_LOW, _LN2_HIGH = float(np.float32(-2.12194440e-4)), 0.693359375
_PI4 = [float(np.float32(c)) for c in (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)]  # pi/4 in three parts
_SQRT_HALF, _FOUR_OVER_PI = np.float32(0.707106781186547524), np.float32(1.27323954473516)
_TWO_PI = np.float32(2 * math.pi)


def _fma(a, b, c):
    """round32(a b + c) held as float64; a, b, c hold float32 values as float64."""
    product = a * b
    product += c
    return product.astype(np.float32).astype(np.float64)


def _horner(x, coefficients):
    y = np.float64(coefficients[0])
    for c in coefficients[1:]:
        y = _fma(x, y, c)
    return y


def _log(u):
    """Natural logarithm of u in [2^-24, 1], float32 (n,), as float64 that holds float32 values."""
    bits = u.view(np.int32)
    exponent = ((bits >> 23) - 126).astype(np.float64)
    x = ((bits & 0x7FFFFF) | 0x3F000000).view(np.float32)  # mantissa in [1/2, 1)
    low = x < _SQRT_HALF
    exponent -= low
    x = x.astype(np.float64)
    x += x * low
    x -= 1.0  # log u = exponent ln 2 + log(1 + x); exact in float32
    square = (x * x).astype(np.float32).astype(np.float64)
    y = _horner(x, _LOG)
    y = (y * x).astype(np.float32).astype(np.float64)
    y = _fma(y, square, (exponent * _LN2_LOW).astype(np.float32))
    y = _fma(square, -0.5, y)
    y = (x + y).astype(np.float32).astype(np.float64)
    return _fma(exponent, _LN2_HIGH, y)


def _sin_cos(theta):
    """Sine and cosine of theta in [0, 2 pi], float32 (n,), each as float64 that holds float32 values."""
    octant = ((theta * _FOUR_OVER_PI).astype(np.int32) + 1) & ~1  # 0, 2, 4, 6, 8
    j = octant.astype(np.float64)
    x = theta.astype(np.float64)
    for part in _PI4:
        x = _fma(j, -part, x)
    square = (x * x).astype(np.float32).astype(np.float64)
    c = (_horner(square, _COS) * square).astype(np.float32).astype(np.float64)
    c = _fma(c, square, -0.5 * square)
    c = (c + 1.0).astype(np.float32).astype(np.float64)
    s = (_horner(square, _SIN) * square).astype(np.float32).astype(np.float64)
    s = _fma(s, x, x)
    swap = (octant & 2) != 0
    sin, cos = np.where(swap, c, s), np.where(swap, s, c)
    np.negative(sin, out=sin, where=(octant & 4) != 0)
    np.negative(cos, out=cos, where=((octant + 2) & 4) != 0)
    return sin, cos


def _pairs32(u1, u2, mean, std):
    """z1, z2 of float32 u1 in (0, 1], u2 in [0, 1), both (n,); normals scaled by std and moved by mean."""
    radius = np.sqrt((_log(u1) * -2.0).astype(np.float32)).astype(np.float64)
    sin, cos = _sin_cos(u2 * _TWO_PI)
    z = []
    for wave in (cos, sin):
        unit = (radius * wave).astype(np.float32).astype(np.float64)
        z.append((unit * std + mean).astype(np.float32))
    return z


def libm(function, x):
    """`function` of the C library (math.log, ...) at every element of x, float64."""
    return np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


def fma64(a, b, c):
    """a b + c of float64 in one rounding (Dekker's exact product, Knuth's exact sum)."""
    product = a * b
    split = 134217729.0  # 2^27 + 1
    a_high, b_high = a * split, b * split
    a_high, b_high = a_high - (a_high - a), b_high - (b_high - b)
    a_low, b_low = a - a_high, b - b_high
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = product + c
    part = total - product
    return total + (((product - (total - part)) + (c - part)) + rest)


def _pairs64(u1, u2, mean, std):
    radius = np.sqrt(-2.0 * libm(math.log, u1))
    theta = 2 * math.pi * u2
    return [fma64(radius * libm(wave, theta), std, mean) for wave in (math.cos, math.sin)]


def normal_blocks(u, mean, std):
    """Turn uniform u, (n, 16) float32 or float64, into normals in place: columns 0-7 pair with columns 8-15."""
    pairs, kind = (_pairs32, np.float32) if u.dtype == np.float32 else (_pairs64, np.float64)
    mean, std = float(kind(mean)), float(kind(std))
    step = _BLOCK // 8
    for start in range(0, len(u), step):
        block = u[start : start + step]
        half = (len(block), 8)
        first = (1 - block[:, :8]).ravel()  # [0, 1) -> (0, 1] for the logarithm
        z1, z2 = pairs(first, block[:, 8:].ravel(), mean, std)
        block[:, :8], block[:, 8:] = z1.reshape(half), z2.reshape(half)
    return u


def scalar_pairs(u):
    """Normals of uniform float64 u (2 n,), drawn one pair after the other: u[0], u[1] give z[0], z[1].

    z[0] = r cos(2 pi u[0]), z[1] = r sin(2 pi u[0]) with r = sqrt(-2 log(1 - u[1])).
    """
    radius = np.sqrt(-2.0 * libm(math.log1p, -u[1::2]))
    theta = 2 * math.pi * u[0::2]
    z = np.empty_like(u)
    z[0::2] = radius * libm(math.cos, theta)
    z[1::2] = radius * libm(math.sin, theta)
    return z
