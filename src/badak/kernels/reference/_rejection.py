"""Draws by rejection, one number at a time, as PyTorch's CPU code makes them: both backends run these very lines.

    gamma       Marsaglia and Tsang 2000, "A simple method for generating gamma variables", with the boost for a < 1
    poisson     Hoermann 1993, "The transformed rejection method for generating Poisson random variables" (PTRS); below 10 by
                a product of uniform numbers
    binomial    Hoermann 1993, "The generation of binomial random variates" (BTRS); below 10 by geometric waiting times

`uniform` draws from the `stream`, a tuple of a generator, room for its words, and the second of two normal numbers. Everything is
float64, but what PyTorch keeps in float32 where that is the dtype asked for: `narrow`. The float32 result of two float32 numbers,
rounded from float64, is that of float32 arithmetic.
"""

import math

import numpy as np

TAILS = (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
         0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287)  # fmt: skip


def uniform(stream):
    return (int(stream[0].randint(0, 1 << 64, dtype=np.uint64)) & ((1 << 53) - 1)) * 2.0**-53


def narrow(x, single):
    return float(np.float32(x)) if single else x


def normal(stream):
    """Box and Muller's pair, of which the second is kept."""
    spare = stream[2]
    if spare[0] != 0:
        spare[0] = 0
        return spare[1]
    first, second = uniform(stream), uniform(stream)
    radius, theta = math.sqrt(-2.0 * math.log1p(-second)), 2 * math.pi * first
    spare[0], spare[1] = 1, radius * math.sin(theta)
    return radius * math.cos(theta)


def gamma(stream, a, single):
    scale = 1.0
    if a < 1:
        if a == 0:
            return 0.0
        scale = (1 - uniform(stream)) ** narrow(1 / a, single)
        a = narrow(a + 1, single)
    d = narrow(a - narrow(1.0 / 3.0, True), single)
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal(stream)
        y = 1 + c * x
        while y <= 0:
            x = normal(stream)
            y = 1 + c * x
        v = y * y * y
        u = 1 - uniform(stream)
        xx = x * x
        if u < 1 - 0.03310000151395798 * xx * xx:  # 0.0331 of float32
            return scale * d * v
        if math.log(u) < 0.5 * xx + d * (1 - v + math.log(v)):
            return scale * d * v


def poisson(stream, rate):
    if rate == 0:
        return 0.0
    if rate < 10:
        bound, product, count = math.exp(-rate), uniform(stream), 0.0
        while product > bound:
            count += 1
            product *= uniform(stream)
        return count
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse, bound = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u = uniform(stream) - 0.5
        v = uniform(stream)
        us = 0.5 - abs(u)
        k = float(np.floor((2 * a / us + b) * u + rate + 0.43))
        if us >= 0.07 and v <= bound:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if math.log(v) + math.log(inverse) - math.log(a / (us * us) + b) <= -rate + k * log_rate - math.lgamma(k + 1):
            return k


def tail(k, single):
    """What Stirling's formula leaves of ln k!."""
    if k <= 9:
        return narrow(TAILS[int(k)], single)
    square = narrow((k + 1) * (k + 1), single)
    return narrow((1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1), single)


def few(stream, n, p, single):
    """Successes by the waiting times between them, for n p < 10."""
    log_rest = narrow(math.log1p(-p), single)
    waited, count = 0.0, 0.0
    while True:
        u = uniform(stream)
        waited += float(np.ceil(math.log(u) / log_rest)) if u > 0 else math.inf
        if waited > n:
            return count
        count += 1


def many(stream, n, p, single):
    """Successes by transformed rejection, for n p >= 10."""
    rest = narrow(1 - p, single)
    deviation = narrow(math.sqrt(narrow(narrow(n * p, single) * rest, single)), single)
    b = narrow(1.15 + 2.53 * deviation, single)
    a = narrow(-0.0873 + 0.0248 * b + 0.01 * p, single)
    c = narrow(narrow(n * p, single) + 0.5, single)
    bound, r = narrow(0.92 - 4.2 / b, single), narrow(p / rest, single)
    alpha = narrow((2.83 + 5.1 / b) * deviation, single)
    m = float(np.floor(narrow(narrow(n + 1, single) * p, single)))
    while True:
        u = uniform(stream) - 0.5
        v = uniform(stream)
        us = 0.5 - abs(u)
        k = narrow(float(np.floor((2 * a / us + b) * u + c)), single) if us > 0 else -1.0
        if k < 0 or k > n:
            continue
        if us >= 0.07 and v <= bound:
            return k
        left = narrow(n - m, single) + 1, narrow(n - k, single) + 1
        above = (m + 0.5) * narrow(math.log(narrow((m + 1) / narrow(r * left[0], single), single)), single)
        above += narrow((n + 1) * narrow(math.log(narrow(left[0] / left[1], single)), single), single)
        above += (k + 0.5) * narrow(math.log(narrow(narrow(r * left[1], single) / (k + 1), single)), single)
        above += tail(m, single)
        above += tail(n - m, single)
        above -= tail(k, single)
        above -= tail(n - k, single)
        if math.log(v * alpha / (a / (us * us) + b)) <= above:
            return k


def binomial(stream, n, p, single):
    if n <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return n
    q = p if p <= 0.5 else narrow(1 - p, single)
    found = many(stream, n, q, single) if narrow(n * q, single) >= 10 else few(stream, n, q, single)
    return found if p <= 0.5 else n - found
