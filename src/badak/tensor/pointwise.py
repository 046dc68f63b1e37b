"""The public functions of the pointwise operations: each follows from its row in `ops`, by name, here and in torch.special.

What a function takes stands in its row as `takes`; the stub next to this file, which editors read, is written by tools/stubs.py.
"""

from collections.abc import Callable
from typing import Any

from badak.core.errors import NotSupportedError, tr
from badak.core.public_api.door import door_to
from badak.core.public_api.taken import named
from badak.ops import activation as _activation  # noqa: F401  (the files that have rows)
from badak.ops import bessel as _bessel  # noqa: F401
from badak.ops import elementwise as _elementwise  # noqa: F401
from badak.ops import special as _special  # noqa: F401
from badak.ops import trigonometry as _trigonometry  # noqa: F401
from badak.ops._check import expect_floats, expect_real
from badak.ops.pointwise import DECLARED, Pointwise
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.arithmetic import tensors
from badak.tensor.convert import cast
from badak.tensor.promote import binary, floating, into, not_a_tensor
from badak.tensor.tensor import Tensor

Function = Callable[..., Tensor]


def _float(name: str, op: type[Pointwise]) -> Function:
    """A result that is a float: integers come in as the default float dtype."""

    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        y = apply(op, floating(input, name))
        return y if out is None else into(out, y)

    return function


def real(name: str, x: Any) -> Tensor:
    """x as floats that are real numbers."""
    x = floating(x, name)
    expect_real(name, x)
    return x


def _real(name: str, op: type[Pointwise]) -> Function:
    """As _float, without complex numbers."""

    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        return into(out, apply(op, real(name, input)))

    return function


def _number(name: str, op: type[Pointwise]) -> Function:
    """Integers stay integers."""

    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        try:
            kind = input._array.dtype.kind
        except AttributeError:
            raise not_a_tensor(name, input) from None
        if kind == "b":
            if name == "sgn":
                return into(out, input.clone(), exact=True)
            if name != "square":
                raise NotSupportedError(tr("{}: not defined for booleans", name), "x.int() or x.float() first")
            input = cast(input, dtypes.int64)
        y = apply(op, input)
        return y if out is None else into(out, y, exact=name != "square" and y.dtype is input.dtype)

    return function


def _rounding(name: str, op: type[Pointwise]) -> Function:
    """Integers are what they are, and booleans no numbers."""

    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        expect_floats(name, input, also="iu")
        y = input.clone() if input._array.dtype.kind in "iub" else apply(op, input)
        return y if out is None else into(out, y, exact=True)

    return function


def _pair(name: str, op: type[Pointwise]) -> Function:
    """Two tensors, or a tensor and a number."""
    check = real if op.takes == "real" else lambda name, x: floating(x, name)

    def function(input: Tensor | complex, other: Tensor | complex, *, out: Tensor | None = None) -> Tensor:
        a, b = tensors(name, input, other)
        return into(out, binary(op, check(name, a), check(name, b)))

    def of_degree(input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None) -> Tensor:
        return function(input, n, out=out)

    return of_degree if op.second == "n" else function


_TAKES = {
    "float": (_float, "; integers become the default float dtype"),
    "real": (_real, "; integers become the default float dtype; no complex numbers"),
    "number": (_number, "; integers stay integers; no booleans"),
    "rounding": (_rounding, "; integers stay as they are"),
}
_SECTIONS = """{says}

Args:
    {arguments}{note}
    out: where the result is written

Returns: tensor of {shape} shape
"""


def _public(op: type[Pointwise]) -> Function:
    """The function of an operation."""
    name = (*op.names, *op.special)[0]
    make, note = (_pair, "; they broadcast") if len(op.inputs) == 2 else _TAKES[op.takes]
    pair = f"input, {op.second}: tensors or numbers", "their common"
    arguments, shape = pair if len(op.inputs) == 2 else ("input: any shape", "input's")
    return named(make(name, op), name, _SECTIONS.format(says=op.__doc__, arguments=arguments, note=note, shape=shape))


FUNCTIONS: dict[str, Function] = {}  # every public name
SPECIAL: dict[str, Function] = {}  # those of torch.special
for _op in DECLARED.values():
    if _op.names or _op.special:
        _function = _public(_op)
        FUNCTIONS |= dict.fromkeys((*_op.names, *_op.special), _function)
        SPECIAL |= dict.fromkeys(_op.special, _function)
__getattr__ = door_to(__name__, FUNCTIONS)
