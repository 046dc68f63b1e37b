"""The random kernels: both sets make the same numbers of the same words, and use as many."""

import threading

import numpy as np
import pytest

from badak.kernels import reference
from badak.tensor import random as bk
from tests.kernels.twin import fast_kernels

fast = fast_kernels()

COUNTS = [0, 1, 2, 15, 16, 17, 623, 624, 625, 8191, 8193, 40_003]
DRAWS = {
    "random_words": [(), (np.uint64,)],
    "random_uniform": [(kind, *bounds) for kind in (np.float32, np.float64) for bounds in ((), (-0.3, 1.7), (2.0, 2.0))],
    "random_pairs": [()],
    "random_bernoulli": [(0.0,), (0.1,), (1.0,)],
    "random_integers": [(-3, 1), (-3, 50257), (5, 2**28 - 1), (0, 2**28), (-7, 2**63 - 1), (-(2**63), 2**64)],
    "random_permutation": [()],
}


def state(seed: int) -> np.ndarray:
    words = np.zeros(626, np.uint32)
    _, words[:624], words[624], _, _ = np.random.RandomState(seed).get_state()
    return words


def assert_same(name: str, *arguments, rounding: float = 0) -> None:
    """Two draws, so that the second starts in the middle of the words."""
    one, other = state(5), state(5)
    for _ in range(2):
        found, expected = getattr(fast, name)(one, *arguments), getattr(reference, name)(other, *arguments)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=rounding, atol=rounding)
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("name", DRAWS)
def test_both_sets_draw_the_same_numbers(name, n):
    for arguments in DRAWS[name]:
        assert_same(name, n, *arguments)


@pytest.mark.parametrize("n", [n for n in COUNTS if n >= 16])
def test_both_sets_draw_the_same_normals(n):
    """In float32 the reference set rounds its fused products twice, which shows about once in 10^9 numbers."""
    assert_same("random_normal", n, np.float32, 0.3, 0.7, rounding=1e-6)
    assert_same("random_normal", n, np.float64, 0.3, 0.7)


@pytest.mark.parametrize("name", ["exp", "tan", "log1p"])
def test_functions_are_those_of_the_c_library(name):
    x = np.linspace(-0.999, 3, 20_011)
    np.testing.assert_array_equal(fast.c_function(x, name), reference.c_function(x, name))


def test_scaling_rounds_once():
    x = np.random.default_rng(0).standard_normal(20_011)
    np.testing.assert_array_equal(fast.scaled(x, 0.3, -0.7), reference.scaled(x, 0.3, -0.7))


def test_threads_that_share_a_generator_draw_every_number_once():
    generator = bk.Generator().manual_seed(1)
    drawn: list[bytes] = []

    def draw():
        for _ in range(200):
            drawn.append(generator.uniform((700,)).tobytes())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = bk.Generator().manual_seed(1)
    assert sorted(drawn) == sorted(alone.uniform((700,)).tobytes() for _ in range(800))
