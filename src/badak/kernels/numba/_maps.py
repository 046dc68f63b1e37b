"""Kernels made of a function of single numbers: y[i] = function(x[i], ...), one pass over blocks that stay in cache."""

from collections.abc import Callable
from functools import wraps
from inspect import signature

from badak.kernels import reference
from badak.kernels.half import BFLOAT16
from badak.kernels.numba._blocks import block, of_all, of_one
from badak.kernels.numba.codegen.compile import exact as rounded_each
from badak.kernels.numba.codegen.compile import kernel
from badak.kernels.numba.lookup_tables import looked_up, scaled
from badak.kernels.numba.threadpool.parallel import parallel, parallel_exact

ARRAYS = {"x", "y", "dy", "dloss", "target"}  # what a function calls an element of an array; its other parameters are numbers
_SOURCE = """
def {name}(task, made, {parameters}):
    made, {arrays} = block(task, made), {blocks}
    for i in range(made.size):
        made[i] = of({elements})
"""


def loop_over(function: Callable, exact: bool = False) -> Callable:
    """The kernel that runs the function on every number. exact: every operation is rounded on its own, as NumPy's are."""
    named, names = f"{function.__name__.lstrip('_')}_block", list(signature(function).parameters)
    arrays = [name for name in names if name in ARRAYS]
    source = _SOURCE.format(
        name=named,
        parameters=", ".join(names),
        arrays=", ".join(arrays),
        blocks=", ".join(f"block(task, {name})" for name in arrays),
        elements=", ".join(f"{name}[i]" if name in arrays else name for name in names),
    )
    scope = {"block": block, "of": (rounded_each if exact else kernel)(function), "__name__": function.__module__}
    exec(compile(source, function.__code__.co_filename, "exec"), scope)  # its file says how old a compiled one may be
    made = scope[named]
    made.__doc__ = function.__doc__
    words = " ".join(["W1", *("R1" if name in arrays else "f" for name in names)])
    return (parallel_exact if exact else parallel)(words)(made)


def mapped(cost: float, exact: bool = False, looks: bool = True) -> Callable:
    """Decorator: the kernel of this name. cost: nanoseconds of one core per element; looks: bfloat16 is looked up in a table."""

    def decorate(function: Callable) -> Callable:
        run, meaning = loop_over(function, exact), getattr(reference, function.__name__) if looks else None
        count = sum(name in ARRAYS for name in signature(function).parameters)

        @wraps(function)
        def of_numbers(x, *numbers):
            return looked_up(meaning, x, *numbers) if looks and x.dtype == BFLOAT16 else of_one(run, x, cost, *numbers)

        @wraps(function)
        def of_arrays(*given):
            if looks and given[0].dtype == BFLOAT16:
                return scaled(meaning, *given)
            return of_all(run, given[:count], cost, *given[count:])

        return of_numbers if count == 1 else of_arrays

    return decorate
