"""An operation is declared once: what it computes, and a derivative for each of its inputs. Its class (`ops/op.py`) follows.

    Transpose = operation(
        "Transpose", "y = x with axes a and b exchanged;   dx = dy with them exchanged back.",
        lambda x, a, b: x.swapaxes(a, b),
        lambda dy, a, b: dy.swapaxes(a, b),
        view=True, owns_grads=False, batching=along("a", "b"),
    )

The parameters of a derivative say what the forward keeps for it: an input or an attribute by its name, `y` the output, `x_shape`
and `x_dtype` what they are of the input x. `pointwise` (`ops/pointwise.py`) and `reduction` (`ops/reduce.py`) are declarations that
know more of their kind. An operation of several outputs, or whose forward keeps what it found on its way, is written as a class.
"""

import inspect
import sys
from collections.abc import Callable
from functools import cache
from itertools import zip_longest
from types import CodeType
from typing import Any

import numpy as np

from badak.core.public_api.taken import parameters_of
from badak.ops._broadcast import quiet, unbroadcast
from badak.ops._complex import analytic as as_analytic
from badak.ops.op import Op

Function = Callable[..., Any]
MOVES: dict[str, Any] = {"data_movement": True, "keeps_finite": True}  # of what takes numbers from place to place


def operation(
    name: str,
    formula: str,
    function: Function,
    /,
    *derivatives: Function | None,
    lies: Function | None = None,
    slope: Function | None = None,
    analytic: bool = False,
    shared: Function | None = None,
    twice: tuple[Function | None, ...] = (),
    base: type[Op] = Op,
    inputs: tuple[str, ...] = (),
    stretched: bool = False,
    depth: int = 1,
    **facts: Any,
) -> Any:
    """The class of y = function(inputs, attributes), whose first parameters, one for each derivative, are inputs.

    formula      "y = ...;   dx = ...", its docstring
    derivatives  of (dy, what it asks for) an input's gradient; None: it has none
    lies         how y lies in memory: `elementwise` or `by_rows`; None: as the function leaves it
    slope        decorates the backward: `quiet`, `summing`
    analytic     the derivatives are those of real numbers, and of an analytic function
    shared       of (dy, what it asks for) what the gradients share: derivatives ask for it as `g`
    twice        derivatives that double backward runs in their place, where those write into memory place by place
    inputs       what they are called, where the function has other names
    stretched    inputs broadcast, so that gradients are summed down to their shapes
    depth        how many calls up the module is that declares it
    facts        attributes of Op
    """
    names = [*inputs, *parameters(function)[len(inputs) :]]
    inputs = tuple(names[: len(derivatives)])
    asked = [_asked(shared, *each) for each in zip_longest(derivatives, twice)]
    forward = _forward(function, names, asked, inputs, stretched)
    backward = _backward(derivatives, shared, inputs, stretched)
    twofold = {"double_backward": _backward(twice, shared, inputs, stretched)} if twice else {}
    if analytic:
        backward, slope = as_analytic(backward), slope or quiet
        twofold = {name: as_analytic(each) for name, each in twofold.items()}
    light = tuple(i for i, each in enumerate(asked) if derivatives[i] and not each & {*inputs, "y"})
    more = (unbroadcast,) if stretched else ()
    body = {
        "__doc__": formula, "__module__": sys._getframe(depth).f_globals["__name__"], "__qualname__": name, "inputs": inputs,
        "sources": {"forward": (function,), "backward": (*filter(None, (*derivatives, shared)), *more)},
        "forward": lies(forward) if lies else forward, "value": lies(function) if lies else function,
        "backward": slope(backward) if slope else backward,
        "saves_no_tensors": len(light) == len(inputs), "light_for": light if len(light) < len(inputs) else (), **twofold, **facts,
    }  # fmt: skip
    return type(name, (base,), {key: staticmethod(value) if inspect.isfunction(value) else value for key, value in body.items()})


@cache
def parameters(function: Function) -> list[str]:
    """What the parameters of a function are called; a and b of NumPy's functions of two arrays, x of one."""
    function = inspect.unwrap(function)
    if isinstance(function, np.ufunc):
        return ["a", "b"] if function.nin == 2 else ["x"]
    return [name for name, *_ in parameters_of(function)]


def _asked(shared: Function | None, *derivatives: Function | None) -> set[str]:
    """What the derivatives of an input ask for, themselves or by way of what they share with others."""
    names = {name for one in derivatives if one for name in parameters(one)[1:]}
    return names - {"g"} | set(parameters(shared)[1:] if shared and "g" in names else ())


def _forward(function: Function, names: list[str], asked: list[set[str]], inputs: tuple[str, ...], stretched: bool) -> Function:
    """The forward, which keeps what is asked for, and an input only where a gradient is wanted that asks for it."""
    shapes = {f"{each}_{what}": f"{each}.{what}" for each in inputs for what in ("shape", "dtype")}
    kept = set().union(*asked, (f"{each}_shape" for each in inputs if stretched))
    lines = ["needs = save.needs"] if len(inputs) > 1 else []
    for each in sorted(kept - {"y"}):
        wanted = _where_wanted([i for i, one in enumerate(asked) if each in one], inputs) if each in inputs else ""
        lines.append(f"{wanted}save.{each} = {shapes.get(each, each)}")
    call = f"function({', '.join(names)})"
    lines += [f"save.y = y = {call}", "return y"] if "y" in kept else [f"return {call}"]
    made = _written("forward", ["save", *names], lines, function)
    if not isinstance(inspect.unwrap(function), np.ufunc):
        made.__defaults__ = tuple(default for _, _, default, _ in parameters_of(function) if default is not inspect.Parameter.empty)
    return _reading_as(made, function)


def _where_wanted(users: list[int], inputs: tuple[str, ...]) -> str:
    """ "if ...: " before what only the gradients of some inputs need."""
    return "" if len(users) == len(inputs) else f"if {' or '.join(f'needs[{i}]' for i in users)}: "


def _backward(
    derivatives: tuple[Function | None, ...], shared: Function | None, inputs: tuple[str, ...], stretched: bool
) -> Function:
    """The backward, which hands to each derivative what it asks for."""
    known = {f"of_{each}": one for each, one in zip(inputs, derivatives) if one} | {"shared": shared}
    gradients = []
    for number, (each, one) in enumerate(zip(inputs, derivatives)):
        if one is None:
            gradients.append("None")
            continue
        call = _call(f"of_{each}", one)
        call = f"unbroadcast({call}, saved.{each}_shape)" if stretched else call
        gradients.append(f"{call} if needs[{number}] else None" if len(inputs) > 1 else call)
    lines = ["needs = saved.needs"] if len(inputs) > 1 else []
    users = [i for i, one in enumerate(derivatives) if one and "g" in parameters(one)]
    lines += [f"{_where_wanted(users, inputs)}g = {_call('shared', shared)}"] if shared else []
    lines.append(f"return {', '.join(gradients)}")
    made = _written("backward", ["saved", "dy"], lines, unbroadcast=unbroadcast, **known)
    return _reading_as(made, next(filter(None, derivatives)))


def _call(name: str, function: Function) -> str:
    """A call with the gradient and what the function asks for."""
    return f"{name}({', '.join(['dy', *('g' if kept == 'g' else f'saved.{kept}' for kept in parameters(function)[1:])])})"


def _written(name: str, parameters: list[str], lines: list[str], function: Function | None = None, **known: Any) -> Any:
    """The function of this name that has these lines, in which the others are known: as by hand, without a loop over names."""
    known |= {"function": function, "__name__": __name__}
    exec(_compiled(f"def {name}({', '.join(parameters)}):\n" + "".join(f"    {line}\n" for line in lines)), known)
    return known[name]


@cache
def _compiled(text: str) -> CodeType:
    """Many operations keep the same: as many share one text."""
    return compile(text, __file__, "exec")  # it is badak's: who looks at frames asks for the file


def _reading_as(made: Any, source: Function | None) -> Function:
    """`made`, of which `badak.source` shows the function that it calls."""
    code = made.__code__
    known = None if made.__defaults__ else _signature(code.co_varnames[: code.co_argcount])
    made.__signature__, made.__wrapped__ = known or inspect.signature(made), source
    return made


@cache
def _signature(names: tuple[str, ...]) -> inspect.Signature:
    """The signature of parameters without defaults, which many operations have alike."""
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])
