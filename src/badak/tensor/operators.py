"""What +, -, *, @, ==, &, +=, ... mean between tensors, numbers and NumPy arrays. Anything else is not ours to answer."""

import numpy as np

from badak.ops.arithmetic import Add, Mul, Scale, Shift
from badak.tensor import arithmetic, compare, pointwise
from badak.tensor.apply import apply
from badak.tensor.inplace_ops import add_, sub_, twin
from badak.tensor.linalg.products import matmul
from badak.tensor.promote import binary
from badak.tensor.tensor import Tensor

_OPERANDS = (Tensor, int, float, complex, np.generic, np.ndarray)


def _right(function):
    """self op other."""

    def operator(self, other):
        return function(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    return operator


def _left(function):
    """other op self, where other is no tensor."""

    def operator(self, other):
        return function(other, self) if isinstance(other, _OPERANDS) else NotImplemented

    return operator


def _matmul_left(self, other):
    return matmul(Tensor._of(other), self) if isinstance(other, np.ndarray) else NotImplemented


def _straight(function, of_two, of_number):
    """self op other, where two tensors, or floats and a float, go straight to an operation.

    Sums and multiples are in every layer; this way they take 0.5 us less.
    """

    def operator(self, other):
        kind = type(other)
        if kind is Tensor:
            return binary(of_two, self, other)
        if kind is float and self._array.dtype.kind == "f":
            return apply(of_number, self, c=other)
        return function(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    return operator


# the words of Python's operators, and their functions
_EITHER_WAY = {"and": compare.bitwise_and, "or": compare.bitwise_or, "xor": compare.bitwise_xor}
_SHIFTS = {"lshift": compare.bitwise_left_shift, "rshift": compare.bitwise_right_shift}
_ORDERED = {
    "truediv": arithmetic.div, "div": arithmetic.div, "floordiv": arithmetic.floor_divide, "mod": arithmetic.remainder,
    "pow": arithmetic.pow, **_SHIFTS,
}  # fmt: skip
_COMPARISONS = {word: getattr(compare, word) for word in ("eq", "ne", "lt", "le", "gt", "ge")}
_CHANGING = {"mul": arithmetic.mul, **_ORDERED, **_EITHER_WAY}
OPERATORS = {
    "__add__": _straight(arithmetic.add, Add, Shift),
    "__radd__": _right(arithmetic.add),
    "__sub__": _right(arithmetic.sub),
    "__rsub__": _left(arithmetic.sub),
    "__mul__": _straight(arithmetic.mul, Mul, Scale),
    "__rmul__": _right(arithmetic.mul),
    "__matmul__": _right(matmul),
    "__rmatmul__": _matmul_left,
    "__neg__": arithmetic.neg,
    "__pos__": arithmetic.positive,
    "__abs__": pointwise.abs,
    "__invert__": compare.bitwise_not,
    **{f"__{word}__": _right(function) for word, function in (_ORDERED | _EITHER_WAY | _COMPARISONS).items()},
    **{f"__r{word}__": _left(function) for word, function in _ORDERED.items()},
    **{f"__r{word}__": _right(function) for word, function in _EITHER_WAY.items()},
    "__iadd__": _right(add_),
    "__isub__": _right(sub_),
    **{f"__i{word}__": _right(twin(function, f"{function.__name__}_")) for word, function in _CHANGING.items()},
}
