"""`torch.export`: a module as a graph for all sizes of its inputs that may vary, with its weights as arguments of the graph.

The graph is that of one run (`tracing/`), proven by runs at other sizes: it is the same for all of them, or the export is
refused. Its functions are badak's public ones ("torch.nn.functional.linear"), where PyTorch's are aten's. No code in a file is run.
"""

import math
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from badak.compat.torch.fx.graph import Graph
from badak.compat.torch.fx.graph_module import GraphModule
from badak.compat.torch.fx.node import Node
from badak.compat.torch.pytree import tree_flatten
from badak.compat.torch.tracing import archive
from badak.compat.torch.tracing.module import Traced
from badak.compat.torch.tracing.program import Place, Program, Range, differing, found_sizes, graph_of, signature, trace
from badak.compat.torch.tracing.signature import Signature
from badak.core.errors import ArgumentError, FileError, NotSupportedError, StateError, expect_kind, tr
from badak.core.public_api import door as _door
from badak.nn import Module, Parameter
from badak.tensor import Tensor

__all__ = [
    "Dim", "ExportGraphSignature", "ExportedProgram", "InputKind", "InputSpec", "OutputSpec", "dims", "export", "load", "save",
]  # fmt: skip


class _Hint(NamedTuple):
    """Dim.AUTO, Dim.DYNAMIC or Dim.STATIC."""

    name: str

    def __repr__(self) -> str:
        return f"DimHint({self.name})"


class Dim:
    """A size that may vary, from `min` to `max`; one Dim at several places is one size.

    Dim.AUTO and Dim.DYNAMIC: a size of its own; AUTO stays fixed where the module wants it. Dim.STATIC, or an integer: fixed.
    """

    AUTO, DYNAMIC, STATIC = _Hint("AUTO"), _Hint("DYNAMIC"), _Hint("STATIC")

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:  # noqa: A002
        if not isinstance(name, str) or not name.isidentifier():
            raise ArgumentError(tr("Dim: expected a name such as 'batch'; got {!r}", name), "Dim('batch')")
        self.__name__, self.min, self.max = name, 0 if min is None else min, math.inf if max is None else max
        if not self.min < self.max:
            raise ArgumentError(tr("Dim: expected min < max; got {} and {}", min, max), "an integer is a fixed size")

    def __repr__(self) -> str:
        most = "" if self.max == math.inf else f", max={self.max}"
        return f"Dim('{self.__name__}', min={self.min}{most})"

    def _derived(self, other: Any) -> Any:
        raise NotSupportedError(tr("Dim: {} in a formula is not supported", self.__name__), "Dim.AUTO, or a Dim of its own")

    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = _derived


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:  # noqa: A002
    """A Dim for each name."""
    return tuple(Dim(name, min=min, max=max) for name in names)


class InputKind(Enum):
    """What an argument of the graph is."""

    USER_INPUT, PARAMETER, BUFFER, CONSTANT_TENSOR = range(4)


class InputSpec(NamedTuple):
    """An argument of the graph, and the name of what it is in the module."""

    kind: InputKind
    arg: str
    target: str | None = None


class OutputSpec(NamedTuple):
    """A result of the graph."""

    arg: str


class ExportGraphSignature(NamedTuple):
    """What the arguments and results of a graph are."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _of(self, *kinds: InputKind) -> dict[str, str]:
        return {spec.arg: spec.target or "" for spec in self.input_specs if spec.kind in kinds}

    @property
    def inputs_to_parameters(self) -> dict[str, str]:
        """Argument -> parameter."""
        return self._of(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> dict[str, str]:
        """Argument -> buffer."""
        return self._of(InputKind.BUFFER)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(self.inputs_to_parameters.values())

    @property
    def buffers(self) -> tuple[str, ...]:
        """The names of the buffers."""
        return tuple(self.inputs_to_buffers.values())

    @property
    def user_inputs(self) -> tuple[str, ...]:
        """The arguments that a call gives."""
        return tuple(self._of(InputKind.USER_INPUT))

    @property
    def user_outputs(self) -> tuple[str, ...]:
        """The results that a call gets."""
        return tuple(spec.arg for spec in self.output_specs)

    def __str__(self) -> str:
        lines = ["# inputs"]
        for spec in self.input_specs:
            lines.append(f"{spec.arg}: {spec.kind.name}" + ("" if spec.target is None else f" target='{spec.target}'"))
        return "\n".join([*lines, "", "# outputs", *(f"{spec.arg}: USER_OUTPUT" for spec in self.output_specs), ""])


class ExportedModule(Traced):
    """What `ExportedProgram.module()` gives: called as the module was."""

    _where = tr("exported module")


class ExportedProgram:
    """A graph, whose first arguments are the weights, and the weights.

    `module()` is called as the original was. `graph_module`, `graph`, `graph_signature`, `state_dict`, `constants`,
    `range_constraints` and `example_inputs` say what it is.
    """

    def __init__(self, graph: Graph, held: dict[str, Tensor], call: Signature, persistent: set[str], examples: Any = None) -> None:
        self._plain, self._call, self._held = graph, call, held
        self.example_inputs = examples
        self.state_dict = {name: x for name, x in held.items() if name in persistent}
        self.constants = {name: x for name, x in held.items() if name not in persistent}
        self.range_constraints = call.ranges
        lifted, self.graph_signature = _lifted(graph, held, persistent)
        self.graph_module = GraphModule({}, lifted)

    graph = property(lambda self: self.graph_module.graph)

    def module(self, check_guards: bool = True) -> ExportedModule:
        """The module of it, with the same weights."""
        return ExportedModule(self._plain, self._held, self._call)

    def parameters(self) -> list[Tensor]:
        """The parameters."""
        return [x for x in self._held.values() if isinstance(x, Parameter)]

    def named_parameters(self) -> list[tuple[str, Tensor]]:
        """The parameters by name."""
        return [(name, x) for name, x in self._held.items() if isinstance(x, Parameter)]

    def buffers(self) -> list[Tensor]:
        """The buffers."""
        return [self._held[name] for name in self.graph_signature.buffers]

    def named_buffers(self) -> list[tuple[str, Tensor]]:
        """The buffers by name."""
        return [(name, self._held[name]) for name in self.graph_signature.buffers]

    def run_decompositions(self, decomp_table: Any = None) -> "ExportedProgram":
        """The program itself: its functions are badak's operations already."""
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise StateError("Unable to call ExportedProgram directly.", "exported_program.module()(...)")

    def __str__(self) -> str:
        code = self.graph_module.print_readable(print_output=False).replace("\n", "\n    ")
        rest = f"Graph signature: \n{self.graph_signature}\nRange constraints: {self.range_constraints}\n"
        return f"ExportedProgram:\n    {code}\n{rest}"


def _lifted(graph: Graph, held: dict[str, Tensor], persistent: set[str]) -> tuple[Graph, ExportGraphSignature]:
    """The graph with a placeholder for each weight, and what its arguments are."""
    made, known, specs = Graph(), {}, []
    places: dict[str, Node] = {}
    for name, x in held.items():
        constant = name not in persistent
        kind = InputKind.CONSTANT_TENSOR if constant else InputKind.PARAMETER if isinstance(x, Parameter) else InputKind.BUFFER
        letter = {InputKind.PARAMETER: "p", InputKind.BUFFER: "b"}.get(kind, "c")
        places[name] = made.placeholder(f"{letter}_{name.replace('.', '_')}")
        specs.append(InputSpec(kind, places[name].name, name))
    for node in graph.nodes:
        if node.op == "get_attr":
            known[node] = places[node.target]
            continue
        if node.op == "output":
            result = [known[x] if isinstance(x, Node) else x for x in node.args[0]]
            made.output(tuple(result))
            continue
        known[node] = made.node_copy(node, lambda x: known[x])
        known[node].meta.pop("step", None)
        if node.op == "placeholder":
            specs.append(InputSpec(InputKind.USER_INPUT, known[node].target))
    return made, ExportGraphSignature(specs, [OutputSpec(str(x)) for x in result])


def export(
    mod: Module, args: tuple, kwargs: dict[str, Any] | None = None, *, dynamic_shapes: Any = None, strict: bool = False,
    preserve_module_call_signature: tuple[str, ...] = (), **options: Any,
) -> ExportedProgram:  # fmt: skip
    """Export a module: its graph for all sizes that `dynamic_shapes` leaves open, and its weights.

    Args:
        mod: module
        args, kwargs: example inputs
        dynamic_shapes: for each argument (by name, or in order) {dim: Dim}, a list with an entry for each dim, or None
        strict, preserve_module_call_signature, options: not needed

    Returns: ExportedProgram

    Raises:
        NotSupportedError: the program is another one for other sizes, its result depends on values in Python, it draws random
            numbers, or does what a graph has no form for

    Example:
        >>> program = badak.export.export(nn.Linear(2, 3), (badak.ones(4, 2),), dynamic_shapes=({0: badak.export.Dim("n")},))
        >>> tuple(program.module()(badak.ones(7, 2)).shape)
        (7, 3)
    """
    expect_kind(mod, Module, "export: expected a module; got {}", "a class derived from nn.Module")
    program, ranges = exported("export", mod, args, kwargs, dynamic_shapes)
    graph, tensors = graph_of("export", program)
    held = {**dict(mod.named_parameters()), **dict(mod.named_buffers())} | tensors
    persistent = set(dict(mod.named_parameters())) | set(dict(mod.named_buffers()))
    return ExportedProgram(graph, held, signature(program, ranges), persistent, (tuple(args), kwargs or {}))


def exported(where: str, mod: Callable, args: Any, kwargs: Any, dynamic_shapes: Any) -> tuple[Program, dict[str, Range]]:
    """The program of a module, checked on other values: (program, ranges of the sizes)."""
    expect_kind(args, tuple, "{}: expected a tuple of example inputs; got {}", "args=(x,)", where)
    said = _sizes_of(where, mod, args, kwargs or {}, dynamic_shapes)
    sizes, ranges = said.named, said.ranges
    if said.free:
        found = found_sizes(mod, args, kwargs)
        sizes |= {place: f"{found[place]}_auto" for place in said.free if place in found and place not in sizes}
    program = trace(where, mod, args, kwargs, sizes, ranges)
    if program.trace.draws:
        cause = tr("{}: the run draws random numbers ({}), which a graph would repeat", where, program.trace.draws[0])
        raise NotSupportedError(cause, "module.eval() first")
    graph, tensors = graph_of(where, program)
    different = differing(program, mod, Traced(graph, tensors, signature(program)).run)
    if different:
        reads = tr(", ").join(dict.fromkeys(f"{how} at {line}" for how, line in program.trace.reads)) or tr("a value in Python")
        cause = tr("{}: {} of the graph differs from the module's on other values: it depends on {}", where, different, reads)
        raise NotSupportedError(cause, "compute with tensors there, as by torch.where")
    return program, {name: ranges.get(name, (0, math.inf)) for name in program.symbols}


class _Sizes:
    """Reads dynamic_shapes, tensor by tensor."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.named: dict[Place, str] = {}
        self.ranges: dict[str, Range] = {}
        self.free: list[Place] = []  # that are to be found out
        self._count = 0

    def read(self, value: Any, shapes: Any) -> None:
        """An argument, and what is said of its sizes."""
        if isinstance(value, Tensor):
            self._tensor(value, shapes)
        elif isinstance(value, dict):
            for name, part in value.items():
                self.read(part, shapes.get(name) if isinstance(shapes, dict) else None)
        elif isinstance(value, tuple | list):
            parts = shapes if isinstance(shapes, tuple | list) else [None] * len(value)
            if len(parts) != len(value):
                cause = tr("{}: dynamic_shapes has {} entries for {} values", self.where, len(parts), len(value))
                raise ArgumentError(cause, "one entry for each")
            for part, shape in zip(value, parts):
                self.read(part, shape)
        else:
            self._count += sum(isinstance(x, Tensor) for x in tree_flatten(value)[0])

    def _tensor(self, x: Tensor, dims: Any) -> None:
        here, self._count = self._count, self._count + 1
        dims = dict(enumerate(dims)) if isinstance(dims, tuple | list) else {} if dims is None else dims
        if not isinstance(dims, dict) or not all(type(axis) is int and -x.dim() <= axis < x.dim() for axis in dims):
            cause = tr("{}: expected dynamic_shapes of a tensor of {} dims as {{dim: Dim}}; got {}", self.where, x.dim(), dims)
            raise ArgumentError(cause, "{0: Dim('n')}")
        for axis, dim in dims.items():
            place = here, axis % x.dim()
            if isinstance(dim, Dim):
                self.named[place] = dim.__name__
                self.ranges[dim.__name__] = dim.min, dim.max
            elif isinstance(dim, str):
                self.named[place] = dim
            elif dim in (Dim.AUTO, Dim.DYNAMIC):
                self.free.append(place)
            elif dim is not None and dim != Dim.STATIC and type(dim) is not int:
                cause = tr("{}: expected a Dim for dim {}; got {!r}", self.where, axis, dim)
                raise ArgumentError(cause, "Dim('n'), Dim.AUTO or None")


def _sizes_of(where: str, mod: Any, args: tuple, kwargs: dict, given: Any) -> _Sizes:
    """What dynamic_shapes says of these arguments."""
    values, names = [*args, *kwargs.values()], _argument_names(mod, args, kwargs)
    if isinstance(given, dict):
        if unknown := sorted(given.keys() - set(names)):
            cause = tr("{}: dynamic_shapes has {!r}; the arguments are {}", where, unknown[0], ", ".join(names))
            raise ArgumentError(cause, "names of arguments")
        given = [given.get(name) for name in names]
    if given is not None and (not isinstance(given, tuple | list) or len(given) > len(values)):
        cause = tr("{}: expected dynamic_shapes for {} arguments; got {!r}", where, len(values), given)
        raise ArgumentError(cause, "a dict, or a tuple in their order")
    sizes = _Sizes(where)
    for value, shapes in zip(values, [*(given or ()), *[None] * len(values)]):
        sizes.read(value, shapes)
    return sizes


def _argument_names(mod: Any, args: tuple, kwargs: dict) -> list[str]:
    code = getattr(getattr(mod, "forward", mod), "__code__", None)
    named = list(code.co_varnames[: code.co_argcount]) if code else []
    named = named[1:] if hasattr(getattr(mod, "forward", mod), "__self__") else named
    return [*(named[i] if i < len(named) else f"arg_{i}" for i in range(len(args))), *kwargs]


def save(ep: ExportedProgram, f: Any, *, extra_files: dict[str, Any] | None = None, **options: Any) -> None:
    """Write an exported program to a path (.pt2), or into an open file: weights and graph, as data."""
    expect_kind(ep, ExportedProgram, "export.save: expected an ExportedProgram; got {}", "torch.export.export(module, args)")
    more = {
        "parameters": [name for name, x in ep._held.items() if isinstance(x, Parameter)],
        "persistent": list(ep.state_dict), "kind": "export",
    }  # fmt: skip
    archive.write("export.save", f, ep._held, archive.packed("export.save", ep._plain, ep._call, ep._held, more), extra_files)


def load(f: Any, *, extra_files: dict[str, Any] | None = None, **options: Any) -> ExportedProgram:
    """Read what `save` wrote. Nothing in the file is run.

    Raises:
        FileError: the file holds no exported program, or is damaged, or PyTorch's
    """
    graph, call, tensors, said, extra = archive.read("torch.export.load", f)
    lists: list[Any] = [said.get("parameters"), said.get("persistent")]
    if said.get("kind") != "export" or not all(isinstance(x, list) for x in lists):
        raise FileError(tr("{}: no exported program", f), "torch.jit.load for what torch.jit.save wrote")
    parameters, persistent = (set(map(str, x)) for x in lists)
    held = {name: Parameter(x) if name in parameters and x.is_floating_point() else x for name, x in tensors.items()}
    for name in extra_files or ():
        if name in extra:
            extra_files[name] = extra[name]  # type: ignore[index]
    return ExportedProgram(graph, held, call, persistent & held.keys())


__getattr__, __dir__ = _door("badak.export")
