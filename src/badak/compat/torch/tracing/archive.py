"""Traced programs in files: weights as safetensors, the graph as JSON among the metadata. Nothing in a file is ever run as code.

A function is a name of `forms.FUNCTIONS`, a tensor a name of the file, an argument a number, a text, or a nest of them: whatever
else stands in a file is refused. The public functions check what a graph hands them, as they check a program.
"""

import json
import math
import os
from typing import Any

from badak.compat.torch.fx.graph import Graph
from badak.compat.torch.fx.node import Node
from badak.compat.torch.pytree import TreeSpec
from badak.compat.torch.tracing.forms import FUNCTIONS, name_in_files
from badak.compat.torch.tracing.signature import Signature
from badak.core.errors import FileError, NotSupportedError, tr
from badak.io import safetensors
from badak.io.atomic import open_file, unreadable
from badak.tensor import Tensor, dtypes
from badak.tensor import dtype as DType

KEY, EXTRA, VERSION = "badak.program", "badak.extra", 1
_CONTAINERS = {"tuple": tuple, "list": list, "dict": dict}
MOST_DEPTH = 40


def packed(where: str, graph: Graph, signature: Signature, held: dict[str, Tensor], more: dict[str, Any]) -> str:
    """A program as text. held: its tensors; more: what else the file says, in JSON's kinds."""
    nodes = [
        {"name": node.name, "op": node.op, "target": _target(where, node), "args": _encoded(where, node.args)}
        | ({"kwargs": _encoded(where, node.kwargs)} if node.kwargs else {})
        for node in graph.nodes
    ]
    call = {
        "names": signature.names, "shapes": signature.shapes, "dtypes": [x.name for x in signature.dtypes],
        "spec": _spec(where, signature.spec), "out_spec": _spec(where, signature.out_spec),
        "fixed": [[i, _encoded(where, x)] for i, x in signature.fixed.items()],
        "ranges": {name: [low, None if high == math.inf else high] for name, (low, high) in signature.ranges.items()},
    }  # fmt: skip
    return json.dumps({"version": VERSION, "nodes": nodes, "call": call, "tensors": list(held), **more})


def _target(where: str, node: Node) -> str:
    if node.op != "call_function":
        return node.target
    name = name_in_files(node.target)
    if name is None:
        cause = tr("{}: a file has no word for the function {}", where, getattr(node.target, "__name__", node.target))
        raise NotSupportedError(cause, "write that part with other functions, or save the state_dict")
    return name


def _encoded(where: str, a: Any) -> Any:
    if a is None or isinstance(a, bool | str) or type(a) is int:
        return a
    if isinstance(a, float):
        return {"float": repr(a)}
    if isinstance(a, Node):
        return {"node": a.name}
    if isinstance(a, DType):
        return {"dtype": a.name}
    if a is ...:
        return {"dots": 0}
    if isinstance(a, slice):
        return {"slice": [_encoded(where, x) for x in (a.start, a.stop, a.step)]}
    if isinstance(a, tuple):
        return {"tuple": [_encoded(where, x) for x in a]}
    if isinstance(a, list):
        return [_encoded(where, x) for x in a]
    if isinstance(a, dict):
        return {"dict": [[name, _encoded(where, x)] for name, x in a.items()]}
    raise NotSupportedError(tr("{}: a file cannot hold a {} as an argument", where, type(a).__name__), "numbers, text and tensors")


def _spec(where: str, spec: TreeSpec) -> Any:
    if spec.is_leaf():
        return None
    name = next((name for name, kind in _CONTAINERS.items() if spec.type is kind), None)
    if name is None or name == "dict" and not all(isinstance(key, str) for key in spec.context):
        cause = tr("{}: a file cannot hold a result of type {}", where, spec.type.__name__)
        raise NotSupportedError(cause, "return tensors, tuples, lists or dicts")
    return [name, list(spec.context) if name == "dict" else None, [_spec(where, child) for child in spec.children_specs]]


def write(where: str, file: Any, tensors: dict[str, Tensor], text: str, extra: dict[str, Any] | None = None) -> None:
    """Write a program to a path, or into an open file."""
    held = {name: x.detach().contiguous() for name, x in tensors.items()}
    data = {KEY: text}
    if extra:
        data[EXTRA] = json.dumps({name: x if isinstance(x, str) else x.decode("latin1") for name, x in extra.items()})
    if hasattr(file, "write"):
        safetensors.write(file, held, data)
    else:
        safetensors.save_file(held, os.fspath(file), data)


# ---------------------------------------------------------------- reading


class _Wrong(Exception):
    """What is wrong with a program in a file."""


def read(where: str, file: Any) -> tuple[Graph, Signature, dict[str, Tensor], dict[str, Any], dict[str, str]]:
    """(graph, signature, tensors by name, what else it says, extra texts) of a path, or of an open file."""
    if hasattr(file, "read"):
        data = file.read()
        name = getattr(file, "name", f"the file given to {where}")
        if data[:2] == b"PK":
            raise _foreign(where, name)
        tensors, metadata = safetensors.load_with_metadata(data, str(name))
    else:
        name = os.fspath(file)
        try:
            with open_file(name) as opened:
                data = opened.read(2)
        except OSError as error:
            raise unreadable(name, error) from error
        if data == b"PK":
            raise _foreign(where, name)
        tensors, metadata = safetensors.load_file(name), safetensors.read_metadata(name)
    if KEY not in metadata:
        raise FileError(tr("{}: it holds tensors, and no program", name), "badak.load or safetensors read it")
    try:
        said = json.loads(metadata[KEY])
        if not isinstance(said, dict) or said.get("version") != VERSION:
            raise _Wrong("of another version, or not whole")
        signature = _signature(said.get("call"))
        graph = _graph(said.get("nodes"), tensors)
        inputs = [node.target for node in graph.nodes if node.op == "placeholder"]
        if inputs != signature.names:
            raise _Wrong("its inputs are not those of its graph")
        extra = json.loads(metadata.get(EXTRA, "{}"))
        if not isinstance(extra, dict) or not all(isinstance(x, str) for x in extra.values()):
            raise _Wrong("its extra files are no texts")
        order: Any = said.get("tensors")
        _need(
            isinstance(order, list) and all(isinstance(x, str) for x in order) and sorted(order) == sorted(tensors), "its tensors"
        )
        tensors = {name: tensors[name] for name in order}
    except (_Wrong, ValueError, RecursionError) as error:
        cause = tr("{}: the program in it is damaged ({})", name, error)
        raise FileError(cause, "write it again with the save that made it") from None
    return graph, signature, tensors, said, extra


def _foreign(where: str, name: Any) -> FileError:
    cause = tr("{}: {} is a TorchScript archive of PyTorch's: it holds a program as code, which badak does not run", where, name)
    return FileError(cause, "save the state_dict with PyTorch and load that, or trace the model with badak")


def _need(ok: Any, what: str) -> None:
    if not ok:
        raise _Wrong(what)


def _signature(said: Any) -> Signature:
    _need(isinstance(said, dict), "no signature")
    names, shapes, kinds = said.get("names"), said.get("shapes"), said.get("dtypes")
    _need(isinstance(names, list) and all(isinstance(x, str) and x.isidentifier() for x in names), "names of inputs")
    _need(len(set(names)) == len(names), "an input twice")
    _need(isinstance(shapes, list) and len(shapes) == len(names), "shapes of inputs")
    for shape in shapes:
        _need(isinstance(shape, list) and len(shape) <= 64, "a shape")
        _need(all(isinstance(n, str) or type(n) is int and 0 <= n < 2**48 for n in shape), "a size")
    _need(isinstance(kinds, list) and len(kinds) == len(names) and all(_is_dtype(x) for x in kinds), "dtypes of inputs")
    fixed = said.get("fixed")
    _need(
        isinstance(fixed, list) and all(isinstance(x, list) and len(x) == 2 and type(x[0]) is int for x in fixed), "fixed arguments"
    )
    ranges = said.get("ranges")
    _need(isinstance(ranges, dict), "ranges of sizes")
    for pair in ranges.values():
        _need(
            isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int and (pair[1] is None or type(pair[1]) is int),
            "a range",
        )
    spec, out = _tree(said.get("spec")), _tree(said.get("out_spec"))
    values = {i: _decoded(x, {}) for i, x in fixed}
    _need(
        spec.num_leaves == len(names) + len(values) and all(0 <= i < spec.num_leaves for i in values), "the structure of its inputs"
    )
    return Signature(
        names, [tuple(shape) for shape in shapes], [getattr(dtypes, x) for x in kinds], spec, values, out,
        {name: (low, math.inf if high is None else high) for name, (low, high) in ranges.items()},
    )  # fmt: skip


def _is_dtype(name: Any) -> bool:
    return isinstance(name, str) and isinstance(getattr(dtypes, name, None), DType)


def _tree(said: Any, depth: int = 0) -> TreeSpec:
    if said is None:
        return TreeSpec(None, None)
    _need(depth < MOST_DEPTH and isinstance(said, list) and len(said) == 3, "a structure")
    name, keys, children = said
    _need(isinstance(name, str) and name in _CONTAINERS and isinstance(children, list), "a structure")
    if name == "dict":
        _need(
            isinstance(keys, list) and all(isinstance(key, str) for key in keys) and len(keys) == len(children),
            "keys of a structure",
        )
    return TreeSpec(_CONTAINERS[name], keys if name == "dict" else None, [_tree(child, depth + 1) for child in children])


def _decoded(said: Any, nodes: dict[str, Node], depth: int = 0) -> Any:
    _need(depth < MOST_DEPTH, "arguments too deep")
    if said is None or isinstance(said, bool | str):
        return said
    if type(said) is int:
        _need(-(2**63) <= said < 2**63, "an integer beyond 64 bits")
        return said
    if isinstance(said, list):
        return [_decoded(x, nodes, depth + 1) for x in said]
    _need(isinstance(said, dict) and len(said) == 1, "an argument")
    ((kind, what),) = said.items()
    if kind == "node":
        _need(isinstance(what, str) and what in nodes, "a node that is not there, or comes later")
        return nodes[what]
    if kind == "float":
        _need(isinstance(what, str), "a float")
        return float(what)
    if kind == "dtype":
        _need(_is_dtype(what), "a dtype")
        return getattr(dtypes, what)
    if kind == "dots":
        return ...
    _need(kind in ("tuple", "slice", "dict") and isinstance(what, list), "an argument")
    if kind == "dict":
        _need(all(isinstance(x, list) and len(x) == 2 and isinstance(x[0], str) for x in what), "a dict")
        return {name: _decoded(x, nodes, depth + 1) for name, x in what}
    values = [_decoded(x, nodes, depth + 1) for x in what]
    _need(kind == "tuple" or len(values) == 3, "a slice")
    return tuple(values) if kind == "tuple" else slice(*values)


def _graph(said: Any, tensors: dict[str, Tensor]) -> Graph:
    _need(isinstance(said, list), "no nodes")
    graph = Graph()
    nodes: dict[str, Node] = {}
    for each in said:
        _need(isinstance(each, dict), "a node")
        name, op, target = each.get("name"), each.get("op"), each.get("target")
        _need(isinstance(name, str) and name.isidentifier() and name not in nodes, "the name of a node")
        _need(isinstance(target, str), "a target")
        _need(op in ("placeholder", "get_attr", "call_function", "call_method", "output"), f"an operation {op!r}")
        _need(op != "get_attr" or target in tensors, f"a tensor {target!r} that is not there")
        _need(op != "call_method" or target == "size", f"a method {target!r}")
        _need(op != "call_function" or target in FUNCTIONS, f"a function {target!r}")
        _need(op != "placeholder" or target.isidentifier(), "the name of an input")
        args, kwargs = _decoded(each.get("args"), nodes), _decoded(each.get("kwargs", {"dict": []}), nodes)
        _need(isinstance(args, tuple) and isinstance(kwargs, dict), "arguments")
        _need(op != "output" or len(args) == 1 and isinstance(args[0], list), "its output")
        _need(op not in ("placeholder", "get_attr") or not args and not kwargs, "arguments")
        _need(op != "call_method" or len(args) == 2 and isinstance(args[0], Node) and type(args[1]) is int, "arguments")
        function = FUNCTIONS[target] if op == "call_function" else target
        nodes[name] = graph.create_node(op, function, args, kwargs, name=name)
        _need(nodes[name].name == name, "the name of a node")
    _need(said and said[-1].get("op") == "output" and sum(each.get("op") == "output" for each in said) == 1, "its output")
    return graph
