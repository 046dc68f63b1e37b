"""`torch.jit`: modules are traced into graphs, and saved as data. A script (`scripting.py`) runs its Python; its file is a trace.

A trace is what one run did (`tracing/`); sizes of the inputs that the program follows may vary, everything else is fixed. A file
holds the weights and the graph, and no code: reading it runs nothing. TorchScript archives of PyTorch's are refused.
"""

import builtins
import warnings
from collections.abc import Callable
from types import UnionType
from typing import Any, Optional, Union, get_args, get_origin
from typing import Final as Final

from badak.autograd import no_grad
from badak.compat.torch.pytree import tree_flatten
from badak.compat.torch.scripting import Error as Error
from badak.compat.torch.scripting import RecursiveScriptModule as RecursiveScriptModule
from badak.compat.torch.scripting import ScriptFunction as ScriptFunction
from badak.compat.torch.scripting import ScriptModule, seen
from badak.compat.torch.scripting import export as export
from badak.compat.torch.scripting import freeze as freeze
from badak.compat.torch.scripting import ignore as ignore
from badak.compat.torch.scripting import is_scripting as is_scripting
from badak.compat.torch.scripting import optimize_for_inference as optimize_for_inference
from badak.compat.torch.scripting import script as script
from badak.compat.torch.scripting import unused as unused
from badak.compat.torch.tracing import archive
from badak.compat.torch.tracing.branches import depends_on_sizes
from badak.compat.torch.tracing.calls import CallGraph, recorded
from badak.compat.torch.tracing.module import Traced
from badak.compat.torch.tracing.program import Program, differing, found_sizes, graph_of, signature, unchanged
from badak.compat.torch.tracing.program import trace as traced
from badak.compat.torch.tracing.record import is_tracing as is_tracing
from badak.compat.torch.tracing.signature import Signature
from badak.compat.torch.tracing.twin import Kept
from badak.core.errors import ArgumentError, DTypeError, NotSupportedError, ShapeError, StateError, expect_function, tr
from badak.core.public_api.door import Namespace
from badak.nn import Module, Parameter
from badak.tensor import Tensor


class TracerWarning(Warning):
    """A trace may not be what the program does for other inputs."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Hide those that functions of badak cause."""
        warnings.filterwarnings("ignore", category=TracerWarning, module="badak")


class TracingCheckError(StateError):
    """A trace gives something else than the program."""


class ConstMap:
    """Constants of a traced program, as attributes c0, c1."""

    def __init__(self, const_mapping: dict[str, Tensor]) -> None:
        self.const_mapping = const_mapping

    def __getattr__(self, name: str) -> Tensor:
        if name.startswith("__") or name not in self.const_mapping:
            raise AttributeError(name)
        return self.const_mapping[name]


class TracedModule(Traced, RecursiveScriptModule):
    """What `trace` makes of a module, and `load` of a file: the graph of one run, with the weights.

    Inputs of another rank or dtype than the graph has go to the program, as it was when it was traced; a file has no program.
    """

    _where = tr("traced module")
    __call__, _get_name, extra_repr = Module.__call__, Module._get_name, Module.extra_repr

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the graph gives."""
        call: Signature = self.__dict__["_signature"]
        try:
            tensors = call.tensors(self._where, args, kwargs)
        except (ShapeError, DTypeError):
            if "_kept" not in self.__dict__:
                raise
            return self.__dict__["_kept"](self.held(), args, kwargs)
        return call.result(self.run(*tensors))

    def __getstate__(self) -> dict:
        return {name: x for name, x in super().__getstate__().items() if name != "_kept"}

    @property
    def inlined_graph(self) -> CallGraph:
        """The calls that the run made, as `_get_trace_graph` gives them."""
        if "_call_graph" not in self.__dict__:
            cause = tr("traced.graph: a file keeps the operations, not the calls of the program")
            raise NotSupportedError(cause, "traced.code, or trace the program again")
        return self.__dict__["_call_graph"]

    graph = inlined_graph

    @property
    def code_with_constants(self) -> tuple[str, ConstMap]:
        """The graph as Python, and the tensors that it names `_tensor_constant0`, by `.c0`."""
        names = sorted(name for name in self.held() if name.startswith("_tensor_constant"))
        return self.code, ConstMap({f"c{i}": self.held()[name] for i, name in enumerate(names)})


TopLevelTracedModule = TracedModule


class TracedFunction(TracedModule, ScriptFunction):
    """What `trace` makes of a function."""


def trace(
    func: Module | Callable, example_inputs: Any = None, optimize: Any = None, check_trace: bool = True, check_inputs: Any = None,
    check_tolerance: float = 1e-5, strict: bool = True, *, example_kwarg_inputs: dict[str, Any] | None = None, **options: Any,
) -> TracedModule:  # fmt: skip
    """Run a module or function once and keep what it did, as a graph that can be saved.

    The sizes of the inputs that may vary are found by further runs at other sizes. Control flow is that of the example.

    Args:
        func: module or function of tensors
        example_inputs: a tensor, or a tuple of arguments
        check_trace: compare the graph with the program, also on other values of the same shapes
        check_inputs: further tuples of arguments to compare them on
        check_tolerance: how far the results may be apart
        example_kwarg_inputs: arguments by name
        optimize, strict, options: not needed

    Returns: TracedModule, with the parameters of the module

    Raises:
        NotSupportedError: the run draws random numbers, or does what a graph has no form for
        TracingCheckError: the results differ

    Example:
        >>> traced = badak.jit.trace(nn.Linear(2, 3), badak.ones(4, 2))
        >>> tuple(traced(badak.ones(7, 2)).shape)
        (7, 3)
    """
    expect_function("jit.trace", func)
    if example_inputs is None and not example_kwarg_inputs:
        raise ArgumentError("jit.trace: expected example_inputs; got none", "torch.jit.trace(module, (x,))")
    args = () if example_inputs is None else example_inputs if builtins.isinstance(example_inputs, tuple) else (example_inputs,)
    if builtins.isinstance(example_inputs, list):
        args = tuple(example_inputs)
    kwargs = example_kwarg_inputs or {}
    program, found = _traced("jit.trace", func, args, kwargs, found_sizes(func, args, kwargs))
    _warn(program.trace.reads)
    with unchanged(program.held):
        found.__dict__["_call_graph"] = recorded(func, args, kwargs)[0].graph
    if check_trace and not program.trace.reads:
        _check("jit.trace", program, func, found, check_inputs or (), check_tolerance)
    found.__dict__["_kept"] = Kept(func)
    return found


def _traced(where: str, func: Module | Callable, args: tuple, kwargs: dict, sizes: dict) -> tuple[Program, TracedModule]:
    program = traced(where, func, args, kwargs, sizes)
    if program.trace.draws:
        cause = tr("{}: the run draws random numbers ({}), which a graph would repeat", where, program.trace.draws[0])
        raise NotSupportedError(cause, "module.eval() first")
    graph, tensors = graph_of(where, program)
    kind = TracedModule if builtins.isinstance(func, Module) else TracedFunction
    found = kind(graph, tensors, signature(program))
    found.training = getattr(func, "training", False)
    return program, found


def _as_trace(m: Any) -> TracedModule:
    """A script as a trace of a run on the arguments it last saw, where that run is all that it does."""
    args, kwargs = seen("jit.save", m)
    sizes: dict = {}
    held = [*m.parameters(), *m.buffers()] if builtins.isinstance(m, Module) else []
    with no_grad(), unchanged({str(i): x for i, x in enumerate(held)}):
        branches = depends_on_sizes(lambda: m(*args, **kwargs))
    if not branches:
        sizes = found_sizes(m, args, kwargs)
    program, found = _traced("jit.save", m, args, kwargs, sizes)
    if program.trace.reads:
        how, line = program.trace.reads[0]
        cause = tr("jit.save: a tensor goes to Python at {} ({}); a file holds no Python that could branch on it", line, how)
        fix = tr("compute with tensors there, as by torch.where; or torch.jit.trace(model, example).save(path) for one branch")
        raise NotSupportedError(cause, fix)
    _check("jit.save", program, m, found, (), 1e-5)
    return found


def _warn(reads: list[tuple[str, str]]) -> None:
    for how, line in dict.fromkeys(reads):
        warnings.warn(
            f"{line}: a tensor goes to Python ({how}), so that the trace might not generalize to other inputs",
            TracerWarning,
            stacklevel=3,
        )


def _get_trace_graph(
    f: Module | Callable, args: Any = (), kwargs: dict[str, Any] | None = None, strict: bool = True, _force_outplace: bool = False,
    return_inputs: bool = False, _return_inputs_states: bool = False,
) -> tuple:  # fmt: skip
    """Run a module or function and give the calls it made as a graph, `graph.nodes()` with kind() "aten::linear", and its result.

    Names of modules are those that hooks push on `torch._C._get_tracing_state()`.

    Args:
        f: module or function of tensors
        args: a tensor, or a tuple of arguments
        kwargs: arguments by name
        return_inputs: give the arguments, too
        strict, _force_outplace, _return_inputs_states: not needed
    """
    expect_function("_get_trace_graph", f)
    calls, given, made = recorded(f, args if builtins.isinstance(args, tuple) else (args,), kwargs or {})
    _warn(calls.reads)
    return (calls.graph, made, given) if return_inputs or _return_inputs_states else (calls.graph, made)


def trace_module(mod: Module, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> TracedModule:
    """`trace(mod, inputs["forward"])`."""
    if set(inputs) != {"forward"}:
        cause = tr("jit.trace_module: expected inputs for 'forward'; got {}", sorted(inputs))
        raise NotSupportedError(cause, "a module for each method")
    return trace(mod, inputs["forward"], *args, **kwargs)


def _check(where_: str, program: Any, func: Callable, found: TracedModule, inputs: Any, tolerance: float) -> None:
    where = differing(program, func, found.run, max(tolerance, 1e-5))
    for args in inputs:
        args = args if builtins.isinstance(args, tuple) else (args,)
        pairs = zip(tree_flatten(func(*args))[0], tree_flatten(found(*args))[0])
        if not all(
            a.shape == b.shape and a.allclose(b, atol=tolerance, rtol=tolerance) for a, b in pairs if builtins.isinstance(a, Tensor)
        ):
            where = tr("the result for check_inputs")
    if where is not None:
        cause = tr("{}: {} of the graph differs from the program's on other values: it depends on values in Python", where_, where)
        raise TracingCheckError(cause, "compute with tensors there, or check_trace=False for a graph of this example")


def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
    """Write a traced module to a path, or into an open file: weights and graph, as data. A script is traced on what it last saw.

    Args:
        m: what `trace` or `script` made
        f: path or open binary file
        _extra_files: name -> text, kept with it

    Raises:
        NotSupportedError: for a module that was neither traced nor scripted, or a script that branches on data
        StateError: for a script that was never called
    """
    if not builtins.isinstance(m, ScriptModule | ScriptFunction):
        cause = tr("torch.jit.save: {} was not traced; badak writes no Python code into files", type(m).__name__)
        raise NotSupportedError(cause, "torch.jit.trace(model, example).save(path), or save model.state_dict()")
    if not builtins.isinstance(m, TracedModule):
        m = _as_trace(m)
    held = m.held()
    more = {
        "parameters": [name for name, x in held.items() if builtins.isinstance(x, Parameter)],
        "frozen": [name for name, x in held.items() if builtins.isinstance(x, Parameter) and not x.requires_grad],
        "kind": "function" if builtins.isinstance(m, TracedFunction) else "module", "training": m.training,
    }  # fmt: skip
    text = archive.packed("jit.save", m.fx_graph, m.__dict__["_signature"], held, more)
    archive.write("jit.save", f, held, text, _extra_files)


def load(f: Any, map_location: Any = None, _extra_files: dict[str, Any] | None = None) -> TracedModule:
    """Read what `save` wrote. Nothing in the file is run: the graph is data, of names that badak knows.

    Args:
        f: path or open binary file
        map_location: the CPU
        _extra_files: filled with the texts that were saved under its names

    Raises:
        FileError: the file is no traced module, or damaged, or PyTorch's
    """
    graph, call, tensors, said, extra = archive.read("torch.jit.load", f)
    named: Any = said.get("parameters")
    frozen: Any = said.get("frozen")
    lists = builtins.isinstance(named, list) and builtins.isinstance(frozen, list)
    parameters, still = (set(map(str, named)), set(map(str, frozen))) if lists else (set(), set())
    held = {
        name: Parameter(x, requires_grad=name not in still) if name in parameters and x.is_floating_point() else x
        for name, x in tensors.items()
    }
    for name in _extra_files or ():
        if name in extra:
            _extra_files[name] = extra[name]  # type: ignore[index]
    found = (TracedFunction if said.get("kind") == "function" else TracedModule)(graph, held, call)
    found.training = said.get("training") is True
    return found


def script_if_tracing(fn: Any) -> Any:
    """The function itself."""
    return fn


interface = script_method = _script_if_tracing = _overload = _overload_method = script_if_tracing
annotations = Namespace(
    List=list, Dict=dict, Tuple=tuple, Optional=Optional, Any=Any,
    BroadcastingList1=list, BroadcastingList2=list, BroadcastingList3=list,
)  # fmt: skip


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:  # noqa: A001  (PyTorch's name)
    """Python's isinstance, which also looks into lists, dicts and tuples: list[int], dict[str, Tensor], Optional[float]."""
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, each) for each in target_type)
    origin, inner = get_origin(target_type), get_args(target_type)
    if origin in (Union, UnionType):
        return any(isinstance(obj, each) for each in inner)
    if origin is None or not builtins.isinstance(obj, origin):
        return builtins.isinstance(obj, origin or target_type)
    if origin is tuple:
        return len(obj) == len(inner) and all(map(isinstance, obj, inner))
    if origin is dict:
        return all(isinstance(key, inner[0]) and isinstance(value, inner[1]) for key, value in obj.items())
    return all(isinstance(each, inner[0]) for each in obj)


def fork(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the function now; `wait` gives its result."""
    return func(*args, **kwargs)


def wait(future: Any) -> Any:
    """The result of `fork`."""
    return future
