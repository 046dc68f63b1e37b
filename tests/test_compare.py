"""The comparison of all tests sees what it must."""

import numpy as np
import pytest

from tests.compare import assert_close

NUMBERS = np.array([1e30, 1.0, 1e-6, -3.0, np.inf, np.nan, 0.0], np.float32)
DAMAGED = {
    "a zero next to a huge number": (
        [1e30, 0.0, 1e-6, -3.0, np.inf, np.nan, 0.0],
        "element [1] is .*0.0.*off by 1, allowed",
    ),
    "a small one": ([1e30, 1.0, 0.0, -3.0, np.inf, np.nan, 0.0], "element [2]"),
    "a sign": ([1e30, 1.0, 1e-6, 3.0, np.inf, np.nan, 0.0], "element [3]"),
    "a digit": ([1e30, 1.00001, 1e-6, -3.0, np.inf, np.nan, 0.0], "element [1]"),
    "no number": ([1e30, np.nan, 1e-6, -3.0, np.inf, np.nan, 0.0], "element [1] is .*nan"),
    "minus infinity": ([1e30, 1.0, 1e-6, -3.0, -np.inf, np.nan, 0.0], "not equal"),
    "a number for none": ([1e30, 1.0, 1e-6, -3.0, np.inf, 1.0, 0.0], "not equal"),
    "something for nothing": ([1e30, 1.0, 1e-6, -3.0, np.inf, np.nan, 1e-30], "element [6]"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_seen(name):
    values, text = DAMAGED[name]
    assert_close(NUMBERS * np.float32(1 + 1e-7), NUMBERS, size=0)
    with pytest.raises(AssertionError, match=text.replace("[", r"\[", 1).replace("]", r"\]", 1)):
        assert_close(np.array(values, np.float32), NUMBERS, size=0)


def test_shapes_integers_and_none_are_exact():
    for found, expected in [(np.ones(2), np.ones((2, 1))), (np.array([1, 2]), np.array([1, 3])), (None, np.ones(1))]:
        with pytest.raises(AssertionError):
            assert_close(found, expected)
    assert_close(None, None)


def test_what_cancels_may_be_off_by_the_rounding_of_its_terms():
    sums = np.array([1e-9, 50.0], np.float32)
    assert_close(sums + np.float32(1e-5), sums, terms=100)
    with pytest.raises(AssertionError, match="off by"):
        assert_close(sums + np.float32(1e-3), sums, terms=100)
    with pytest.raises(AssertionError, match="off by"):
        assert_close(sums + np.float32(1e-5), sums, terms=100, size=0)
    with pytest.raises(AssertionError, match="off by"):
        assert_close(np.nextafter(sums, np.float32(1)), sums, units=0)
