"""`torch.testing._internal.common_utils`, of which other projects' tests take `TestCase`."""

import math
import unittest
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from badak.compat.torch.testing import assert_close
from badak.compat.torch.testing import make_tensor as make_tensor
from badak.core.errors import ArgumentError, tr
from badak.tensor import Tensor, as_tensor

_NUMBERS = (bool, int, float, complex)
_LEAVES = (Tensor, np.ndarray, *_NUMBERS)
_OF_NUMBERS = (1.3e-6, 1e-5)  # rtol and atol: those of float32, though Python's numbers are float64


def _like(x: Any, other: Any) -> Any:
    """A sequence that stands next to a tensor as a tensor of its dtype."""
    sequence = isinstance(x, Sequence) and not isinstance(x, str | bytes)
    return as_tensor(x, dtype=other.dtype) if sequence and isinstance(other, Tensor) else x


def _number_for(x: Any, other: Any) -> Any:
    """What stands next to a number as a number: a tensor of one value."""
    if not isinstance(other, _NUMBERS) or not isinstance(x, Tensor | np.ndarray) or _has_words(x):
        return x
    if math.prod(x.shape) > 1:
        cause = tr(
            "Only single element tensor-likes can be compared against a number. Got {} elements instead.", math.prod(x.shape)
        )
        raise ArgumentError(cause, "x.sum(), or a tensor to compare with")
    return x.item()


def _has_words(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind not in "biufc"


class TestCase(unittest.TestCase):
    """unittest's, whose assertEqual compares tensors, and what holds them, as `testing.assert_close` does; NaN equals NaN."""

    def assertEqual(  # noqa: N802  (unittest's name)
        self,
        x: Any,
        y: Any,
        msg: Any = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        equal_nan: bool = True,
        exact_dtype: bool = True,
        exact_device: bool = False,
        exact_stride: bool = False,
    ) -> None:
        """Fail unless x and y are equal, their tensors up to atol and rtol (chosen by the dtype where they are left out)."""
        options: dict[str, Any] = dict(equal_nan=equal_nan, exact_dtype=exact_dtype, exact_stride=exact_stride)
        options |= dict(atol=atol, rtol=rtol, exact_device=exact_device)
        x, y = _like(x, y), _like(y, x)
        x, y = _number_for(x, y), _number_for(y, x)
        if isinstance(x, Mapping) and isinstance(y, Mapping):
            super().assertEqual(set(x), set(y), msg)
            for key in x:
                self.assertEqual(x[key], y[key], msg, **options)
        elif all(isinstance(each, Sequence) and not isinstance(each, str | bytes) for each in (x, y)):
            super().assertEqual(len(x), len(y), msg)
            for one, other in zip(x, y):
                self.assertEqual(one, other, msg, **options)
        elif all(isinstance(each, _LEAVES) and not _has_words(each) for each in (x, y)):
            if isinstance(x, _NUMBERS):
                exact_dtype = False
                if rtol is None and atol is None and {type(x), type(y)} & {float, complex}:
                    rtol, atol = _OF_NUMBERS
            assert_close(
                x, y, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=exact_device, check_dtype=exact_dtype,
                check_stride=exact_stride, msg=msg,
            )  # fmt: skip
        elif isinstance(x, np.ndarray) or isinstance(y, np.ndarray):  # words, or objects
            self.assertTrue(np.array_equal(x, y), msg)
        else:
            super().assertEqual(x, y, msg)

    def assertNotEqual(self, first: Any, second: Any, msg: Any = None, **options: Any) -> None:  # noqa: N802
        """Fail where `assertEqual` does not."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(first, second, msg, **options)


run_tests = unittest.main
