"""One comparison for all tests, and one rule of how far two right answers may lie apart.

Element i may be off by

    eps (16 + 2 sqrt(K)) max(|expected[i]|, size)

eps     the dtype's spacing at 1: what one rounding is off by, relative to the number
K       `terms`: how many numbers are added up on the way to one. Each rounds once, up or down, so that their sum is off by
        about sqrt(K) roundings, two right answers by twice that; 16 is for the functions on the way (exp, erf, tanh: up to 4
        units each, on two sides)
size    how large the numbers are that cancel in an element: one of 1e-9 that is left of a sum of ones cannot be right to nine
        digits. Of K numbers around 1 a sum is about sqrt(K), so that is what is taken where nothing is said, and never more
        than the largest element. 0: nothing cancels, every element is right in all its digits, however small.

To this comes what underflows: a factor below the smallest normal number may be taken for 0, and is multiplied with at most 104,
beyond which exp is 0 in float32 in any case.

Where a test knows better how many roundings there are it gives `units` in the place of 16 + 2 sqrt(K).

The tolerance belongs to the element: an infinite or a huge one says nothing about its neighbours.
"""

from typing import Any

import numpy as np

UNDERFLOW = 104 * float(np.finfo(np.float32).tiny)


DEEP = 128  # units: through a layer or a small model, whose sums of up to a thousand terms follow upon each other


def allowed(expected: np.ndarray, terms: float = 1, size: float | None = None, units: float | None = None) -> np.ndarray:
    """The tolerance of each element of an array of finite numbers."""
    units = 16 + 2 * terms**0.5 if units is None else units
    magnitude = np.abs(expected.astype(np.result_type(expected.dtype, np.float64)))
    if size is None:
        size = min(float(magnitude.max(initial=0.0)), max(units / 2 - 8, 1.0))
    return float(np.finfo(expected.dtype).eps) * units * np.maximum(magnitude, size) + (UNDERFLOW if units else 0.0)


def values(x: Any) -> np.ndarray:
    """The values of an array, or of a tensor of either library."""
    if hasattr(x, "detach"):
        x = x.detach()
        x = (x.resolve_conj() if hasattr(x, "resolve_conj") else x).numpy()
    return np.asarray(x)


def assert_close(found, expected, *, terms: float = 1, size: float | None = None, units: float | None = None, what: str = ""):
    """Equal shapes and kinds, non-finite values in the same places, integers equal, the rest within the rule of this file."""
    if found is None or expected is None:
        assert found is expected, f"{what}: {found} against {expected}"
        return
    found, expected = values(found), values(expected)
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, expected {expected.shape}"
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected, err_msg=what)
        return
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite], expected[~finite], err_msg=what)
    gap = np.abs(found[finite] - expected[finite].astype(np.result_type(expected, np.float64)))
    limit = allowed(expected[finite], terms, size, units)
    if not np.all(gap <= limit):  # also where the gap is not a number
        at = int(np.argmax(np.where(np.isnan(gap), np.inf, gap / np.maximum(limit, 1e-300))))
        raise AssertionError(
            f"{what}: element {np.argwhere(finite)[at].tolist()} is {found[finite][at]!r}, expected {expected[finite][at]!r}: "
            f"off by {gap[at]:.3g}, allowed {limit[at]:.3g}"
        )
