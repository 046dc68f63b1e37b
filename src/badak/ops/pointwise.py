"""A pointwise operation, y[i] = f(x[i]), is declared once, in one row; everything else that badak knows of it follows.

    Sin = pointwise("Sin", "y = sin(x);   dx = dy cos(x).", np.sin, lambda dy, x: dy * conj(np.cos(x)), public="sin")

What follows from a row, and where it is read:

    the class of the operation, with forward and backward     here
    function, method, in-place form, out=, torch.special      tensor/pointwise.py, by way of core/public_api/public.py
    double backward: the derivative is differentiated         tensor/double_backward/array.py
    the batch rule of vmap: it has no axis                    compat/torch/func.py
    formula, slope and steps of badak.look                    inspect/visualize/steps/pointwise.py
    the samples of the tests                                  tests/sample_rows/pointwise.py

The derivative is written in NumPy's functions, other operations (`I1.of(x)`) and kernels that are recordable, so that it can be
differentiated again. Its parameters say what the forward keeps: x (or a and b), y, and attributes by their names.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from badak.core.public_api.public import declare
from badak.kernels import elementary
from badak.ops._broadcast import elementwise, quiet
from badak.ops.batching import broadcasting
from badak.ops.op import Op
from badak.ops.operation import Function, operation, parameters

DECLARED: dict[Function, type["Pointwise"]] = {}  # what NumPy or the reference kernels call it: the operation


class Samples(NamedTuple):
    """What the tests call it with: ranges of the numbers, special ones, values of attributes."""

    domain: tuple[float, float] | None = None
    extremes: tuple[
        Any, ...
    ] = ()  # "all", "finite" and "small" are lists of tests/sample_rows/pointwise.py; else numbers, for two inputs pairs
    extremes_backward: bool = True
    slack: float = 1.0  # of the tolerance, for a function that is ill-conditioned, or whose twin is: say why
    attributes: dict[str, list[Any]] = {}  # noqa: RUF012  (a NamedTuple's default, never written)
    slope: Function | None = None  # (torch, x) -> dy / dx in PyTorch's functions, where PyTorch's own function has none


class Formula(NamedTuple):
    """y and dx / dy as they are written, and the parts that they are written with: (name, formula, its numbers, why)."""

    y: str
    slope: str
    parts: tuple[tuple[str, str, Function, str], ...] = ()
    parts_of_slope: tuple[tuple[str, str, Function, str], ...] = ()


class Pointwise(Op):
    """An operation that acts on each number alone."""

    pointwise = True
    batching = staticmethod(broadcasting)
    names: tuple[str, ...] = ()  # in public, PyTorch's first
    special: tuple[str, ...] = ()  # in torch.special
    functional = ""  # in nn.functional; its attributes are that function's arguments
    inputs: tuple[str, ...]  # what they are called
    second = "other"
    takes = "float"
    samples: Samples | None = None
    written: Callable[..., Formula] | None = None


def pointwise(
    name: str,
    formula: str,
    function: Function,
    /,
    *derivatives: Function,
    public: str = "",
    special: str = "",
    takes: str = "",
    in_place: str = "both",
    column: str = "both",
    like: Function | None = None,
    analytic: bool = False,
    laid_out: bool = True,
    second: str = "other",
    samples: Samples | None = None,
    written: Callable[..., Formula] | None = None,
    **flags: Any,
) -> type[Pointwise]:
    """The operation y = function(x, attributes), or function(a, b), with one derivative for each input; none is 0.

    formula        "y = ...;   dx = ...", the docstring, which badak.look shows
    public         its public names, functions and methods; special: those in torch.special
    takes          "float", of analytic functions: an integer becomes the default float; "real", of others: and complex
                   numbers are refused; "number": integers stay integers; "rounding": integers are what they are, and no booleans
    in_place       "both": sin_ is a method and a function; "method"; a word for each name, the last for the rest
    column         "methods" where the function of that name is another one
    like           what of NumPy is the same function, where `function` is a kernel
    analytic       the derivative is that of real numbers, and of an analytic function
    second         what its second input is called
    laid_out       the result has to be laid out as the input is (the function does not by itself)
    written        attributes -> Formula, where it is more than one line
    flags          attributes of Op
    """
    if not derivatives:
        derivatives, flags = (_no_slope,), {"steps": True} | flags
    inputs = {1: ("x",), 2: ("a", "b")}.get(len(derivatives)) or tuple(parameters(function)[: len(derivatives)])
    op = operation(
        name, formula, elementary.portable(function), *derivatives,
        lies=elementwise if laid_out else None, slope=quiet, analytic=analytic,
        base=Pointwise, inputs=inputs, stretched=len(inputs) > 1, depth=2, second=second, samples=samples,
        takes=takes or ("float" if analytic else "real"), names=tuple(public.split()), special=tuple(special.split()),
        written=written, **flags,
    )  # fmt: skip
    DECLARED[like or function] = op
    _publish(op, column, in_place.split())
    return op


def _no_slope(dy: Any) -> Any:
    return np.zeros_like(dy)


def _publish(op: type[Pointwise], column: str, in_place: list[str]) -> None:
    """Its names into the table of public names."""
    columns = {column: list(op.names)}
    for number, name in enumerate(op.names):
        where = {"both": "in_place_both", "method": "in_place"}[in_place[min(number, len(in_place) - 1)]]
        columns.setdefault(where, []).append(f"{name}_")
    if len(op.inputs) == 1 and column == "both":
        columns["foreach"] = list(op.names[:1])
    declare("tensor.pointwise", **{column: " ".join(names) for column, names in columns.items()})


def formula_of(op: type[Op], attributes: dict[str, Any]) -> Formula:
    """What badak.look shows of a pointwise operation: from its row, or from its docstring."""
    written = getattr(op, "written", None)
    if written is not None:
        return written(**attributes)
    y, _, slope = (inspect.getdoc(op) or "").partition(";")
    slope = _clause(slope.partition("dx = ")[2])
    if slope.removeprefix("-") in ("0", "dy"):
        slope = slope.replace("dy", "1")
    else:
        slope = slope.replace("dy / ", "1 / ").replace("dy ", "")
    return Formula(_clause(y.partition(" = ")[2]).partition(" = ")[0], slope)


def _clause(text: str) -> str:
    """A formula up to the comma, semicolon or end of line behind it."""
    return re.match(r"(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[^(),;\n])*", text)[0].strip().removesuffix(".")  # type: ignore[index]
