"""`torch.onnx`: models as ONNX files, by the `onnx` package (pip install 'badak[onnx]').

The graph is that of a trace (`compat/torch/tracing/`). `forms.py` and `structure.py` say an operation in ONNX, `writer.py` writes.
An operation without a form is refused by its name.
"""

import os
from typing import Any

from badak.compat.torch.export import Dim, exported
from badak.compat.torch.onnx.writer import FORMS, Writer, onnx, type_of
from badak.compat.torch.tracing.program import Program, _needed, expect_no_alias
from badak.compat.torch.tracing.record import Ref, is_tracing
from badak.compat.torch.tracing.sizes import Expression, name_of
from badak.core.errors import ArgumentError, NotSupportedError, expect_kind, tr
from badak.core.public_api import door as _door
from badak.core.public_api.door import Namespace
from badak.io.atomic import write_file
from badak.nn import Module
from badak.tensor import Tensor

if onnx is not None:
    from onnx import helper

    from badak.compat.torch.onnx import forms as _forms  # noqa: F401  (they register themselves)
    from badak.compat.torch.onnx import structure as _structure  # noqa: F401

OPSETS = range(17, 24)
_TWO_GB = 2**31 - 2**20


class ONNXProgram:
    """An ONNX model: `save(path)` writes it; `model_proto` is the `onnx.ModelProto`."""

    def __init__(self, model_proto: Any) -> None:
        self.model_proto = model_proto

    def save(self, destination: Any, **options: Any) -> None:
        """Write the model to a path, or into an open file; weights beyond 2 GB go to a file next to it."""
        if self.model_proto.ByteSize() > _TWO_GB:
            path = os.fspath(destination)
            onnx.save(self.model_proto, path, save_as_external_data=True, location=f"{os.path.basename(path)}.data")
        elif hasattr(destination, "write"):
            destination.write(self.model_proto.SerializeToString())
        else:
            write_file(destination, lambda file: file.write(self.model_proto.SerializeToString()))


def export(
    model: Module, args: Any = (), f: Any = None, *, kwargs: dict[str, Any] | None = None, input_names: Any = None,
    output_names: Any = None, opset_version: int | None = None, dynamo: bool = True, dynamic_shapes: Any = None,
    dynamic_axes: Any = None, **options: Any,
) -> ONNXProgram:  # fmt: skip
    """Write a model as ONNX.

    Args:
        model: module, in eval()
        args: example inputs: a tensor, or a tuple
        f: path or open file; None: only the returned program
        kwargs: example inputs by name
        input_names, output_names: names of the inputs and outputs of the ONNX graph
        opset_version: 17 to 23; 18 by default
        dynamic_shapes: sizes that may vary, as torch.export.export takes them
        dynamic_axes: the older form, {name of an input: {axis: name of the size}} or {name: [axes]}; one name is one size
        dynamo, options: not needed

    Returns: ONNXProgram

    Raises:
        NotSupportedError: an operation has no form in ONNX, or the program is another one for other sizes
        ImportError: the package onnx is not installed

    Example:
        >>> program = badak.onnx.export(nn.Linear(2, 3), badak.ones(4, 2), dynamic_shapes=({0: "batch"},))
        >>> [node.op_type for node in program.model_proto.graph.node]
        ['Gemm']
    """
    if onnx is None:
        raise MissingOnnx("torch.onnx.export: the package onnx is not installed", "pip install 'badak[onnx]'")
    expect_kind(model, Module, "onnx.export: expected a module; got {}", "a class derived from nn.Module")
    if opset_version is not None and opset_version not in OPSETS:
        raise ArgumentError(tr("onnx.export: opset_version must be 17 to 23; got {}", opset_version), "opset_version=18")
    args = args if isinstance(args, tuple) else (args,)
    if args and isinstance(args[-1], dict) and kwargs is None and not dynamo:
        args, kwargs = args[:-1], args[-1]
    if dynamic_axes and dynamic_shapes is None:
        dynamic_shapes = _shapes_of_axes(args, kwargs or {}, input_names, output_names, dynamic_axes, model)
    program, _ = exported("onnx.export", model, args, kwargs, dynamic_shapes)
    written = ONNXProgram(_model(program, input_names, output_names, opset_version or 18))
    if f is not None:
        written.save(f)
    return written


class MissingOnnx(NotSupportedError, ImportError):
    """The package onnx is not there."""


def _shapes_of_axes(args: tuple, kwargs: dict, inputs: Any, outputs: Any, axes: Any, model: Any) -> Any:
    """dynamic_axes as dynamic_shapes."""
    values = [*args, *kwargs.values()]
    if not all(isinstance(x, Tensor) or x is None for x in values):
        cause = tr("onnx.export: dynamic_axes names inputs that are tensors; here are containers")
        raise NotSupportedError(cause, "dynamic_shapes=...")
    from_forward = [each for each in _argument_names(model) if each]
    names = [*(inputs or from_forward[: len(args)]), *kwargs]
    if unknown := sorted(set(axes) - set(names) - set(outputs or ()) - {f"output_{i}" for i in range(64)}):
        cause = tr("onnx.export: dynamic_axes has {!r}; the inputs are {}", unknown[0], ", ".join(names))
        raise ArgumentError(cause, "input_names=[...]")
    found: list[Any] = []
    for name, value in zip(names, values):
        given = axes.get(name)
        if given is None or value is None:
            found.append(None)
            continue
        pairs = given.items() if isinstance(given, dict) else ((axis, f"{name}_dim_{axis}") for axis in given)
        found.append({axis: str(word) if word else Dim.AUTO for axis, word in pairs})
    return tuple(found)


def _argument_names(model: Any) -> list[str]:
    code = getattr(model.forward, "__code__", None)
    return list(code.co_varnames[1 : code.co_argcount]) if code else []


def _model(program: Program, input_names: Any, output_names: Any, opset: int) -> Any:
    """The ONNX model of a program."""
    w = Writer(program, opset)
    names = _named("input_names", input_names, program.names)
    leaves = [i for i, x in enumerate(program.outputs) if isinstance(x, Ref)]
    out_names = _named(
        "output_names", output_names, [f"output_{i}" for i in range(len(leaves))] if len(leaves) != 1 else ["output"]
    )
    w.names.update(enumerate(names))
    needed = _needed(program)
    expect_no_alias("onnx.export", program)
    for step in program.trace.steps:
        if step.kind == "write" or any(ref.number in needed for ref in step.outputs):
            _say(w, step)
    outputs, infos = [], []
    for i, name in zip(leaves, out_names):
        w.nodes.append(helper.make_node("Identity", [w.of(program.outputs[i])], [name], name=f"output_{name}"))
        outputs.append(name)
        infos.append(
            helper.make_tensor_value_info(name, type_of(w.array(program.outputs[i]).dtype), _shape(program, program.shapes[i]))
        )
    of = {place: name for name, places in program.symbols.items() for place in places}
    inputs = [
        helper.make_tensor_value_info(name, type_of(x._array.dtype), [of.get((i, axis), n) for axis, n in enumerate(x.shape)])
        for i, (name, x) in enumerate(zip(names, program.examples))
    ]
    nodes = w.pruned(outputs)
    graph = helper.make_graph(nodes, "badak", inputs, infos, list(w.constants.values()))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="badak")
    made.ir_version = min(made.ir_version, 8 if opset < 19 else 10)  # what readers of that time take
    if made.ByteSize() < _TWO_GB:
        onnx.checker.check_model(made)
    return made


def _say(w: Writer, step: Any) -> None:
    """Write the nodes of one step."""
    name = name_of(step.function)
    said = FORMS.get(name)
    if said is None:
        cause = tr("onnx.export: the operation {} has no form in ONNX", name)
        raise NotSupportedError(cause, "write that part with other functions")
    target = step.inputs[0] if step.kind == "write" else step.outputs[0]
    result = said(w, w.array(target), *step.inputs, **step.attributes)
    if step.kind == "write":
        w.names[target.number] = result
        while (made := w.made.get(target.number)) and name_of(made.function) == "index.Select":  # a view: its base has it, too
            base = made.inputs[0]
            w.names[base.number] = FORMS["getset._assign"](w, w.array(base), base, made.attributes["key"], target)
            target = base
        return
    for ref, made in zip(step.outputs, result if isinstance(result, list) else [result]):
        w.names[ref.number] = made
        w.made[ref.number] = step


def _named(what: str, given: Any, usual: list[str]) -> list[str]:
    names = list(given or ())
    if len(names) > len(usual) or len(set(names)) < len(names) or not all(isinstance(name, str) and name for name in names):
        cause = tr("onnx.export: expected {} for {} tensors, each once; got {}", what, len(usual), names)
        raise ArgumentError(cause, "a list of names")
    return [*names, *usual[len(names) :]]


def _shape(program: Program, shape: Any) -> list | None:
    """The shape of an output, with the names of sizes that it has from the inputs."""
    if shape is None:
        return None
    symbols = list(program.symbols)
    known = lambda n: symbols[n.terms[0][0][0]] if len(n.terms) == 1 and n.terms[0][1] == 1 and len(n.terms[0][0]) == 1 else None
    return [known(n) if isinstance(n, Expression) else n for n in shape]


dynamo_export = export


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int, **options: Any) -> None:
    """Accept a rule for exports."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Accept that a rule for exports is gone."""


def is_in_onnx_export() -> bool:
    """Whether a run is being written down, for an export or a trace."""
    return is_tracing()


def _parse_args(*kinds: str) -> Any:
    return lambda function: function


symbolic_helper = Namespace(parse_args=_parse_args, quantized_args=_parse_args)
symbolic_opset9 = symbolic_opset11 = symbolic_opset12 = symbolic_opset13 = Namespace()
__getattr__, __dir__ = _door("badak.onnx")
