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
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from badak.core.public_api.public import declare
from badak.core.public_api.taken import parameters_of
from badak.kernels import elementary
from badak.ops._broadcast import elementwise, quiet, unbroadcast
from badak.ops._complex import analytic as as_analytic
from badak.ops.batching import broadcasting
from badak.ops.op import Op

Function = Callable[..., Any]
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
    sources: dict[str, tuple[Function, ...]]  # what forward and backward are made of
    names: tuple[str, ...] = ()  # in public, PyTorch's first
    special: tuple[str, ...] = ()  # in torch.special
    inputs = 1
    second = "other"
    takes = "float"
    samples: Samples | None = None
    written: Callable[..., Formula] | None = None


def pointwise(
    name: str,
    formula: str,
    function: Function,
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
    op_name: str = "",
    samples: Samples | None = None,
    written: Callable[..., Formula] | None = None,
    **flags: Any,
) -> type[Pointwise]:
    """The operation y = function(x, attributes), or function(a, b), with one derivative for each input; none is 0.

    formula        "y = ...;   dx = ...", the docstring, which badak.look shows
    public         its public names, functions and methods; special: those in torch.special
    takes          "float", of analytic functions: an integer becomes the default float; "real", of others: and complex
                   numbers are refused; "number": integers stay integers; "rounding": integers are what they are
    in_place       "both": sin_ is a method and a function; "method"; a word for each name, the last for the rest
    column         "methods" where the function of that name is another one
    like           what of NumPy is the same function, where `function` is a kernel
    analytic       the derivative is that of real numbers, and of an analytic function
    second         what its second input is called
    laid_out       the result has to be laid out as the input is (the function does not by itself)
    written        attributes -> Formula, where it is more than one line
    flags          attributes of Op
    """
    inputs = ("a", "b") if len(derivatives) == 2 else ("x",)
    keeps = {kept for each in derivatives for kept in _parameters(each)[1:]}
    forward = _forward(elementary.portable(function), inputs, frozenset(keeps))
    backward: Function
    if not derivatives:
        backward, flags = _zero, {"saves_no_tensors": True, "steps": True} | flags
    else:
        light = tuple(i for i, each in enumerate(derivatives) if not {"a", "b", "x", "y"} & set(_parameters(each)[1:]))
        flags = {"saves_no_tensors": len(light) == len(inputs), "light_for": light} | flags
        backward = _backward(derivatives, inputs)
        backward = quiet(as_analytic(backward) if analytic else backward)
    sources = {"forward": (function,), "backward": (*derivatives, *((unbroadcast,) if len(inputs) == 2 else ()))}
    module = sys._getframe(1).f_globals["__name__"]
    body = {
        "__doc__": formula, "__module__": module, "__qualname__": name, "inputs": len(inputs), "second": second, "samples": samples,
        "takes": takes or ("float" if analytic else "real"), "sources": sources,
        "names": tuple(public.split()), "special": tuple(special.split()),
        "forward": staticmethod(elementwise(forward) if laid_out else forward), "backward": staticmethod(backward),
        "written": staticmethod(written) if written else None, **({"name": op_name} if op_name else {}),
    }  # fmt: skip
    op = type(name, (Pointwise,), body | flags)
    DECLARED[like or function] = op
    _publish(op, column, in_place.split())
    return op


def _parameters(function: Function) -> list[str]:
    return [name for name, *_ in parameters_of(function)]


def _forward(function: Function, inputs: tuple[str, ...], keeps: frozenset[str]) -> Function:
    """The forward, which keeps of inputs, output and attributes what a derivative asks for."""
    if len(inputs) == 2:

        def of_pair(save, a, b, **attributes):
            save.a, save.b = a, b
            y = function(a, b, **attributes)
            if "y" in keeps:
                save.y = y
            return y

        return _written_as(of_pair, function)
    if not keeps:
        return _written_as(lambda save, x, **attributes: function(x, **attributes), function)
    if keeps == {"x"}:

        def keeping_input(save, x, **attributes):
            save.x = x
            return function(x, **attributes)

        return _written_as(keeping_input, function)
    if keeps == {"y"}:

        def keeping_output(save, x):
            save.y = y = function(x)
            return y

        return _written_as(keeping_output, function)
    defaults = {} if isinstance(function, np.ufunc) else _defaults(function)

    def keeping(save, x, **attributes):
        y = function(x, **attributes)
        known = {"x": x, "y": y, **defaults, **attributes}
        save.__dict__.update({kept: known[kept] for kept in keeps})
        return y

    return _written_as(keeping, function)


def _defaults(function: Function) -> dict[str, Any]:
    return {each.name: each.default for each in inspect.signature(function).parameters.values() if each.default is not each.empty}


def _backward(derivatives: tuple[Function, ...], inputs: tuple[str, ...]) -> Function:
    """The backward, which hands to a derivative what it asks for."""
    asked = [tuple(_parameters(each)[1:]) for each in derivatives]
    if len(inputs) == 2:

        def of_pair(saved, dy):
            return tuple(
                unbroadcast(derivative(dy, *[getattr(saved, name) for name in names]), x.shape) if need else None
                for derivative, names, x, need in zip(derivatives, asked, (saved.a, saved.b), saved.needs)
            )

        return _written_as(of_pair, derivatives[0])
    (derivative,), (names,) = derivatives, asked
    if names == ("x",):
        return _written_as(lambda saved, dy: derivative(dy, saved.x), derivative)
    if names == ("y",):
        return _written_as(lambda saved, dy: derivative(dy, saved.y), derivative)
    return _written_as(lambda saved, dy: derivative(dy, *[getattr(saved, name) for name in names]), derivative)


def _written_as(function: Any, source: Function) -> Function:
    """`function`, which reads as the source that it calls."""
    function.__signature__, function.__wrapped__ = inspect.signature(function), source
    return function


def _zero(saved, dy):
    """A function of steps: no slope."""
    return np.zeros_like(dy)


def _publish(op: type[Pointwise], column: str, in_place: list[str]) -> None:
    """Its names into the table of public names."""
    columns = {column: list(op.names)}
    for number, name in enumerate(op.names):
        where = {"both": "in_place_both", "method": "in_place"}[in_place[min(number, len(in_place) - 1)]]
        columns.setdefault(where, []).append(f"{name}_")
    if op.inputs == 1 and column == "both":
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
