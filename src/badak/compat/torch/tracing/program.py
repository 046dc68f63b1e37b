"""A traced program: what a run did, for all sizes of the inputs that may vary, as a `torch.fx` graph."""

import inspect
import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

import badak
from badak.autograd import no_grad
from badak.compat.torch.fx.graph import Graph
from badak.compat.torch.fx.node import Node
from badak.compat.torch.pytree import TreeSpec, tree_flatten, tree_unflatten
from badak.compat.torch.tracing.forms import form_of, without_form
from badak.compat.torch.tracing.record import Ref, Trace, record
from badak.compat.torch.tracing.signature import Signature
from badak.compat.torch.tracing.sizes import MOST, Differs, Expression, corners, fitted, name_of, unified
from badak.core.errors import ArgumentError, NotSupportedError, expect_kind, tr
from badak.core.nests import inside
from badak.nn import Module, Parameter
from badak.tensor import Tensor

Place = tuple[int, int]  # (number of an input, axis)
Range = tuple[int, float]  # least and most
SPAN = 3  # between the least and the largest size that is tried


class Program(NamedTuple):
    """A trace, and how it is called."""

    trace: Trace
    names: list[str]  # of the tensors that go in
    symbols: dict[str, list[Place]]  # a size that varies, and where the inputs have it
    examples: list[Tensor]
    spec: TreeSpec  # of (args, kwargs)
    fixed: dict[int, Any]  # leaves of the arguments that are no tensors
    held: dict[str, Tensor]
    outputs: list[Any]  # numbers of values, or what else the leaves of the result are
    out_spec: TreeSpec
    shapes: list[Any]  # of the leaves of the result, integers and expressions; None where a size follows in no simple way


def trace(
    where: str, function: Callable, args: tuple, kwargs: dict | None = None, sizes: dict[Place, str] | None = None,
    ranges: dict[str, Range] | None = None,
) -> Program:  # fmt: skip
    """What function(*args, **kwargs) does.

    Args:
        where: who asks, for errors
        function: a module or a function of tensors
        args, kwargs: examples of its arguments
        sizes: (number of the tensor, axis) -> the name of a size that may vary; one name is one size
        ranges: name of a size -> (least, most)

    Returns: Program
    """
    expect_kind(function, Callable, "{}: expected a module or a function; got {}", "a module", where)
    kwargs = kwargs or {}
    leaves, spec = tree_flatten((tuple(args), kwargs))
    inputs = [x for x in leaves if isinstance(x, Tensor)]
    if not inputs:
        raise ArgumentError(tr("{}: expected a tensor among the example inputs; got none", where), "(badak.randn(2, 3),)")
    inputs = [x.detach().clone() for x in inputs]
    fixed = {i: x for i, x in enumerate(leaves) if not isinstance(x, Tensor)}
    held = _held(function)
    symbols: dict[str, list[Place]] = {}
    for place, name in (sizes or {}).items():
        symbols.setdefault(name, []).append(place)
    base = _base(where, inputs, symbols, ranges or {})

    def run(point: tuple[int, ...]) -> Trace:
        resized = _resized(inputs, symbols, point)
        args, kwargs = _call(resized, spec, fixed)
        with unchanged(held):
            return record(function, args, kwargs, resized, held)

    shapes: list[Any]
    if not symbols:
        result = run(())
        shapes = [tuple(x.shape) if isinstance(x, Tensor) else None for x in tree_flatten(result.outputs)[0]]
    else:
        points = [*corners(base), tuple(n + SPAN for n in base)]
        traces = [run(point) for point in points]
        outputs = [_flat(each) for each in traces]
        result = unified(traces, points)
        if any(spec != outputs[0][1] or flat != outputs[0][0] for flat, spec in outputs):
            raise NotSupportedError(tr("{}: the result has another structure for other sizes", where), "leave the sizes fixed")
        shapes = [_shape_of(leaves, points) for leaves in zip(*(tree_flatten(each.outputs)[0] for each in traces))]
    flat, out_spec = _flat(result)
    examples = _resized(inputs, symbols, base) if symbols else inputs
    return Program(result, _names(function, args, kwargs), symbols, examples, spec, fixed, held, flat, out_spec, shapes)


def _base(where: str, inputs: list[Tensor], symbols: dict[str, list[Place]], ranges: dict[str, Range]) -> tuple[int, ...]:
    """The least of the sizes tried, for each symbol: three below the example where possible, at least 2, as 1 is broadcast."""
    if len(symbols) > MOST:
        cause = tr("{}: {} sizes vary; at most {} may", where, len(symbols), MOST)
        raise NotSupportedError(cause, "name equal sizes alike, or fix some")
    found = []
    for name, places in symbols.items():
        for i, axis in places:
            if not 0 <= i < len(inputs) or not 0 <= axis < inputs[i].dim():
                cause = tr("{}: no input has dim {} that is called {!r}", where, axis, name)
                raise ArgumentError(cause, "dims from 0 to x.dim() - 1")
        if len(of := {inputs[i].shape[axis] for i, axis in places}) > 1:
            cause = tr("{}: the size {!r} is {} in the examples: one name is one size", where, name, sorted(of))
            raise ArgumentError(cause, "two names")
        least, most = ranges.get(name, (0, math.inf))
        if not least <= (n := of.pop()) <= most:
            cause = tr("{}: the size {!r} is {} in the example, outside {} to {}", where, name, n, least, most)
            raise ArgumentError(cause, "an example in the range")
        base = max(2, n - SPAN, least)
        if base + SPAN > most:
            base = int(most) - SPAN
        if base < max(1, least):
            cause = tr("{}: the range {} to {} of {!r} is too small to try sizes in", where, least, most, name)
            raise ArgumentError(cause, "a fixed size")
        found.append(base)
    return tuple(found)


def _resized(inputs: list[Tensor], symbols: dict[str, list[Place]], point: tuple[int, ...]) -> list[Tensor]:
    """The examples at other sizes: cut, or repeated from their start."""
    arrays = [x._array for x in inputs]
    for places, n in zip(symbols.values(), point):
        for i, axis in places:
            if arrays[i].shape[axis] != n:
                arrays[i] = np.take(arrays[i], np.arange(n) % max(1, arrays[i].shape[axis]), axis)
    return [Tensor._of(np.array(array, order="C")) for array in arrays]


def _call(tensors: list[Tensor], spec: TreeSpec, fixed: dict[int, Any]) -> tuple[tuple, dict]:
    rest = iter(tensors)
    args, kwargs = tree_unflatten([fixed[i] if i in fixed else next(rest) for i in range(len(tensors) + len(fixed))], spec)
    return args, kwargs


def _flat(trace: Trace) -> tuple[list, TreeSpec]:
    """The leaves of the result, numbers of values for tensors."""
    leaves, spec = tree_flatten(trace.outputs)
    return [trace.ref(x) if isinstance(x, Tensor) else x for x in leaves], spec


@contextmanager
def unchanged(held: dict[str, Tensor]) -> Iterator[None]:
    """A block after which buffers are what they were before: a run to look at is none of the program's."""
    before = [(x, x._array.copy()) for x in held.values() if not isinstance(x, Parameter)]
    try:
        yield
    finally:
        for x, array in before:
            if not np.array_equal(x._array, array, equal_nan=array.dtype.kind == "f"):
                with no_grad():
                    x.copy_(Tensor._of(array))


def _shape_of(leaves: tuple, points: list) -> Any:
    """The shape of a leaf of the results, by the sizes that vary."""
    if not isinstance(leaves[0], Tensor):
        return None
    try:
        return tuple(fitted([x.shape[axis] for x in leaves], points, tr("a result")) for axis in range(leaves[0].dim()))
    except Differs:
        return None


def expect_no_alias(where: str, program: Program) -> None:
    """Complain of a write into memory that another value shows, which is read afterwards."""
    trace = program.trace
    results = {x.number for x in program.outputs if isinstance(x, Ref)}
    for i, step in enumerate(trace.steps):
        if step.kind != "write":
            continue
        target = step.inputs[0]
        own, made_by = {target.number}, {ref.number: each for each in trace.steps[:i] for ref in each.outputs}
        number = target.number
        while number in made_by and name_of(made_by[number].function) == "index.Select":  # a view, and what it is a view of
            number = made_by[number].inputs[0].number
            own.add(number)
        later = results | {ref.number for each in trace.steps[i + 1 :] for ref in inside((each.inputs, each.attributes), Ref)}
        for number in later - own:
            made_later = any(ref.number == number for each in trace.steps[i + 1 :] for ref in each.outputs)
            if not made_later and np.shares_memory(trace.values[number].alive, trace.values[target.number].alive):
                cause = tr("{}: {} writes into memory that another tensor shows", where, name_of(step.function))
                raise NotSupportedError(cause, "x = x.clone() before the write")


def _held(function: Any) -> dict[str, Tensor]:
    owner = function if isinstance(function, Module) else getattr(function, "__self__", None)
    if not isinstance(owner, Module):
        return {}
    return dict([*owner.named_parameters(), *owner.named_buffers()])


def _names(function: Any, args: tuple, kwargs: dict) -> list[str]:
    """A name for each tensor among the arguments: x, or x_0, x_1 where x holds several."""
    target = function.forward if isinstance(function, Module) else function
    try:
        given = inspect.signature(target).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        given = {f"arg_{i}": x for i, x in enumerate(args)} | kwargs
    names: list[str] = []
    for name, value in given.items():
        parameter = inspect.signature(target).parameters.get(name) if callable(target) else None
        several = value if parameter is not None and parameter.kind is parameter.VAR_KEYWORD else {name: value}
        for inner, each in several.items():
            tensors = [x for x in tree_flatten(each)[0] if isinstance(x, Tensor)]
            names += [inner] if len(tensors) == 1 else [f"{inner}_{i}" for i in range(len(tensors))]
    return names


# ---------------------------------------------------------------- as a graph


class _Builder:
    """Makes the nodes of a program."""

    def __init__(self, where: str, program: Program) -> None:
        self.where, self.program = where, program
        self.graph = Graph()
        self.nodes: dict[int, Node] = {}
        self.attributes: dict[str, Tensor] = {}
        self.sizes: dict[str, Node] = {}
        self.expressions: dict[Expression, Any] = {}

    def build(self) -> Graph:
        """The graph."""
        trace, needed = self.program.trace, _needed(self.program)
        places = [self.graph.placeholder(name) for name in self.program.names]
        for number, node in enumerate(places):
            self.nodes[number] = node
        for name, spots in self.program.symbols.items():
            self.sizes[name] = self.graph.create_node("call_method", "size", (places[spots[0][0]], spots[0][1]), name=f"sym_{name}")
        for step in trace.steps:
            if step.kind == "write" or any(ref.number in needed for ref in step.outputs):
                self._step(step)
        self.graph.output([self._value(x) if isinstance(x, Ref) else x for x in self.program.outputs])
        for node in reversed(self.graph.nodes):
            if (
                node.op in ("call_method", "call_function")
                and not node.users
                and node.target in ("size", operator.mul, operator.add)
            ):
                self.graph.erase_node(node)
        return self.graph

    def _step(self, step: Any) -> None:
        name = name_of(step.function)
        form = form_of(step.function, name)
        if form is None:
            raise without_form(name, self.where)
        function, args, kwargs = form(*map(self._arg, step.inputs), **{key: self._arg(x) for key, x in step.attributes.items()})
        made = self.graph.call_function(function, args, kwargs)
        made.meta["step"] = step
        if len(step.outputs) == 1 and function not in MANY:
            self.nodes[step.outputs[0].number] = made
        else:
            for i, ref in enumerate(step.outputs):
                self.nodes[ref.number] = self.graph.call_function(operator.getitem, (made, i))

    def _arg(self, a: Any) -> Any:
        """An argument: nodes for values and sizes."""
        if isinstance(a, Ref):
            return self._value(a)
        if isinstance(a, Expression):
            return self._size(a)
        if isinstance(a, tuple | list):
            return type(a)(map(self._arg, a))
        if isinstance(a, slice):
            return slice(*map(self._arg, (a.start, a.stop, a.step)))
        if isinstance(a, np.dtype | type) and not isinstance(a, badak.dtype):
            return _dtype_of(a)
        return a

    def _value(self, ref: Ref) -> Node:
        if ref.number not in self.nodes:
            value = self.program.trace.values[ref.number]
            if value.made is not None:
                self.nodes[ref.number] = self._constant(value.made)
            else:
                name = value.name or f"_tensor_constant{sum(key.startswith('_tensor_constant') for key in self.attributes)}"
                held = self.program.held.get(name)
                self.attributes[name] = held if held is not None else Tensor._of(value.array)
                self.nodes[ref.number] = self.graph.get_attr(name)
        return self.nodes[ref.number]

    def _constant(self, made: Any) -> Node:
        if made.how == "full":
            return self.graph.call_function(
                badak.full, (self._arg(made.shape), self._arg(made.start)), {"dtype": _dtype_of(made.dtype)}
            )
        start, n = self._arg(made.start), self._arg(made.shape[0])
        n = n if made.step == 1 else self.graph.call_function(operator.mul, (n, made.step))
        stop = n if start == 0 else self.graph.call_function(operator.add, (n, start))
        return self.graph.call_function(badak.arange, (start, stop, made.step), {"dtype": _dtype_of(made.dtype)})

    def _size(self, a: Expression) -> Any:
        """An expression of sizes as nodes."""
        if a not in self.expressions:
            names = list(self.program.symbols)
            total: Any = None
            for term, c in a.terms:
                part: Any = c
                for i in term:
                    part = (
                        self.sizes[names[i]] if part == 1 else self.graph.call_function(operator.mul, (part, self.sizes[names[i]]))
                    )
                total = part if total is None else self.graph.call_function(operator.add, (total, part))
            self.expressions[a] = total
        return self.expressions[a]


MANY = (badak.split, badak.unbind)


def _dtype_of(kind: Any) -> badak.dtype:
    return Tensor._of(np.empty(0, kind)).dtype


def _needed(program: Program) -> set[int]:
    """The numbers of the values that the result, or a write, depends on."""
    needed = {x.number for x in program.outputs if isinstance(x, Ref)}
    for step in reversed(program.trace.steps):
        if step.kind == "write" or any(ref.number in needed for ref in step.outputs):
            needed |= {ref.number for ref in inside((step.inputs, step.attributes), Ref)}
    return needed


def graph_of(where: str, program: Program) -> tuple[Graph, dict[str, Tensor]]:
    """The program as a graph, tensors in and a list of the leaves of the result out, and the tensors that it names."""
    builder = _Builder(where, program)
    return builder.build(), builder.attributes


def signature(program: Program, ranges: dict[str, tuple[int, float]] | None = None) -> Signature:
    """How the program is called."""
    of = {place: name for name, places in program.symbols.items() for place in places}
    shapes = [tuple(of.get((i, axis), n) for axis, n in enumerate(x.shape)) for i, x in enumerate(program.examples)]
    kinds = [x.dtype for x in program.examples]
    return Signature(program.names, shapes, kinds, program.spec, program.fixed, program.out_spec, ranges or {})


def differing(program: Program, function: Callable, run: Callable, tolerance: float = 1e-4) -> str | None:
    """What differs between function and its graph, on inputs with other values; None where nothing does.

    A number that depends on values, and was written down as a constant, shows here, and so does a branch not taken.
    """
    for change in (lambda a: a, lambda a: np.roll(a, 1), lambda a: -np.roll(a, 2) if a.dtype.kind == "f" else np.roll(a, 2)):
        changed = [Tensor._of(np.ascontiguousarray(change(x._array))) for x in program.examples]
        args, kwargs = _call(changed, program.spec, program.fixed)
        with no_grad(), unchanged(program.held):
            try:
                expected = tree_flatten(function(*args, **kwargs))[0]
            except Exception:  # noqa: BLE001  (such values it does not take)
                continue
        with no_grad(), unchanged(program.held):
            found = run(*(Tensor._of(np.ascontiguousarray(change(x._array))) for x in program.examples))
        for i, (a, b) in enumerate(zip(expected, found)):
            if isinstance(a, Tensor) and not (
                a.shape == b.shape and badak.allclose(a, b, rtol=10 * tolerance, atol=tolerance, equal_nan=True)
            ):
                return tr("output {}", i)
    return None


def found_sizes(function: Callable, args: tuple, kwargs: dict | None) -> dict[Place, str]:
    """The sizes of the inputs that may vary: those with which the program runs, and is the same one.

    Equal sizes at equal axes of several inputs are one size.
    """
    inputs = [x for x in tree_flatten((tuple(args), kwargs or {}))[0] if isinstance(x, Tensor)]
    groups: dict[tuple[int, int], list[Place]] = {}
    for i, x in enumerate(inputs):
        for axis, n in enumerate(x.shape):
            groups.setdefault((axis, n), []).append((i, axis))
    found: dict[Place, str] = {}
    for number, (_, places) in enumerate(sorted(groups.items())):
        name = f"s{number}"
        chosen = dict.fromkeys(places, name)
        if len(set(found.values())) < MOST and _runs(function, args, kwargs, chosen):
            if not found or _runs(function, args, kwargs, found | chosen):
                found |= chosen
    return found


def _runs(function: Callable, args: tuple, kwargs: dict | None, sizes: dict[Place, str]) -> bool:
    try:
        graph_of("", trace("", function, args, kwargs, sizes))
    except Exception:  # noqa: BLE001  (whatever the program says to that size)
        return False
    return True
