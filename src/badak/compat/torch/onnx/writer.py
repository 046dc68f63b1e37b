"""Writes an ONNX graph node by node, with badak's values and sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak.compat.torch.tracing.program import Program
from badak.compat.torch.tracing.record import Ref, Step, Value
from badak.compat.torch.tracing.sizes import Expression, Made
from badak.core.errors import NotSupportedError, tr

try:
    import onnx
    from onnx import helper, numpy_helper
except ImportError:  # the extra is asked for where it is used
    onnx = None  # type: ignore[assignment]

INT = np.dtype(np.int64)


class Writer:
    """Nodes, constants, and which name has which value. A name is a text; forms get and give names."""

    def __init__(self, program: Program, opset: int) -> None:
        self.program, self.opset = program, opset
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.names: dict[int, str] = {}  # number of a value: its name
        self.made: dict[int, Step] = {}  # number of a value: the step that gives it
        self._sizes: dict[Any, str] = {}
        self._count = 0

    # names and constants

    def name(self, hint: str) -> str:
        """A name that nobody has."""
        self._count += 1
        return f"{hint.lower()}_{self._count}"

    def constant(self, value: Any, dtype: Any = None, name: str = "") -> str:
        """The name of a constant."""
        array = np.asarray(value, dtype)
        type_of(array.dtype)
        key = ("constant", array.dtype.str, array.shape, array.tobytes()) if array.size <= 64 and not name else None
        if key in self._sizes:
            return self._sizes[key]
        name = name or self.name("constant")
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
        if key:
            self._sizes[key] = name
        return name

    def op(self, kind: str, *inputs: str | None, outputs: int = 1, **attributes: Any) -> Any:
        """A node: the name of its output, or the names of several."""
        made = [self.name(kind) for _ in range(outputs)]
        given = {name: value for name, value in attributes.items() if value is not None}
        while inputs and inputs[-1] is None:
            inputs = inputs[:-1]
        self.nodes.append(helper.make_node(kind, [x or "" for x in inputs], made, name=self.name(f"node_{kind}"), **given))
        return made[0] if outputs == 1 else made

    # values

    def value(self, ref: Ref) -> Value:
        """What is known of a value: an example of it."""
        return self.program.trace.values[ref.number]

    def array(self, ref: Ref) -> np.ndarray:
        """An example of a value: its dtype and number of dims are those of all."""
        return self.value(ref).array

    def of(self, a: Any) -> Any:
        """The name of a value; None for None."""
        if a is None:
            return None
        if a.number not in self.names:
            value = self.value(a)
            if value.made is not None:
                self.names[a.number] = self._sized(value.made)
            else:
                self.names[a.number] = self.constant(value.array, name=value.name)
        return self.names[a.number]

    def _sized(self, made: Made) -> str:
        if made.how == "full":
            start = made.start
            scalar = self.cast(self.size(start), made.dtype) if isinstance(start, Expression) else self.constant(start, made.dtype)
            return self.op("Expand", scalar, self.sizes(made.shape))
        start, n = (self.size(x) for x in (made.start, made.shape[0]))
        step = self.constant(made.step, INT)
        stop = self.op("Add", start, self.op("Mul", n, step))
        return self.cast(self.op("Range", start, stop, step), made.dtype, INT)

    def cast(self, x: str, to: np.dtype, of: np.dtype | None = None) -> str:
        """A value as another dtype."""
        return x if of is not None and of == to else self.op("Cast", x, to=type_of(to))

    def as_dtype(self, a: Any, to: np.dtype) -> str:
        """A value, or a number, as that dtype."""
        if isinstance(a, Ref):
            return self.cast(self.of(a), to, self.array(a).dtype)
        return self.constant(a, to)

    # sizes

    def size(self, n: Any) -> str:
        """An integer, or an expression of sizes, as a scalar."""
        if not isinstance(n, Expression):
            return self.constant(n, INT)
        if n not in self._sizes:
            total = ""
            for term, c in n.terms:
                part = self.constant(c, INT)
                for i in term:
                    part = self.symbol(i) if c == 1 and i == term[0] else self.op("Mul", part, self.symbol(i))
                total = self.op("Add", total, part) if total else part
            self._sizes[n] = total
        return self._sizes[n]

    def symbol(self, i: int) -> str:
        """The size that varies, of number i."""
        key = "symbol", i
        if key not in self._sizes:
            number, axis = list(self.program.symbols.values())[i][0]
            shape = self.op("Shape", self.names[number])
            self._sizes[key] = self.op("Gather", shape, self.constant(axis, INT))
        return self._sizes[key]

    def sizes(self, shape: Any) -> str:
        """A shape as a tensor of one dim."""
        if not any(isinstance(n, Expression) for n in shape):
            return self.constant(list(shape), INT)
        one = self.constant([1], INT)
        return self.op("Concat", *(self.op("Reshape", self.size(n), one) for n in shape), axis=0)

    # what several forms need

    def reduce(self, kind: str, x: str, axes: Any, keepdims: bool) -> str:
        """A reduction; its axes are an attribute in older versions."""
        if axes is None:
            return self.op(kind, x, keepdims=int(keepdims))
        if kind == "ReduceSum" or self.opset >= 18:
            return self.op(kind, x, self.constant(list(axes), INT), keepdims=int(keepdims))
        return self.op(kind, x, axes=list(axes), keepdims=int(keepdims))

    def unsqueeze(self, x: str, *axes: int) -> str:
        """x with axes of size 1."""
        return self.op("Unsqueeze", x, self.constant(list(axes), INT))

    def squeeze(self, x: str, *axes: int) -> str:
        """x without axes of size 1."""
        return self.op("Squeeze", x, self.constant(list(axes), INT))

    def pruned(self, outputs: list[str]) -> list[Any]:
        """The nodes that the outputs depend on."""
        needed, kept = set(outputs), []
        for node in reversed(self.nodes):
            if needed & set(node.output):
                needed |= set(node.input)
                kept.append(node)
        self.constants = {name: x for name, x in self.constants.items() if name in needed}
        return kept[::-1]


def type_of(dtype: Any) -> int:
    """ONNX's number of a dtype."""
    if np.dtype(dtype).kind not in "biuf":
        raise NotSupportedError(tr("onnx: tensors of {} are not exported", np.dtype(dtype).name), "model.float() first")
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


FORMS: dict[str, Callable] = {}  # the place of an operation, as `sizes.name_of` gives it: (writer, inputs, attributes) -> names


def form(*names: str) -> Callable[[Callable], Callable]:
    """Decorator: how these operations are said in ONNX: (writer, step, **attributes) -> the name or names of the results."""

    def register(function: Callable) -> Callable:
        FORMS.update(dict.fromkeys(names, function))
        return function

    return register
