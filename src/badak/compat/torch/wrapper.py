"""Wrappers: tensors of a program's class that have sizes and a dtype, and no memory (`Tensor._make_wrapper_subclass`).

What is done to one goes to the `__torch_dispatch__` of its class, or of a mode that is entered, as a function with PyTorch's name,
"aten.mul.Tensor", and arguments in PyTorch's order (`aten.py`). The class calls it on the tensors that it wraps. Gradients stand
above: a node remembers the call. Its backward goes to the class as the operations that the gradient is made of; where it is no
formula, as one function, "aten.sort_backward.default", which computes the call again.
"""

import importlib
import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import badak
from badak.autograd.differentiate import grad
from badak.compat.torch.aten import RUNS, Called, OpOverload, called
from badak.compat.torch.tracing.forms import form_of
from badak.compat.torch.tracing.sizes import name_of
from badak.core.errors import ArgumentTypeError, DeviceError, GraphError, NotSupportedError, tr
from badak.core.modes import anywhere, modes
from badak.core.public_api import overriding
from badak.core.public_api.explain import guarded
from badak.ops.op import NotRecordable, Saved
from badak.tensor import Tensor, dtypes
from badak.tensor.apply import apply, record, wrapped_run
from badak.tensor.attributes import held_by, slots_of
from badak.tensor.double_backward.array import Recorded, tensor_of
from badak.tensor.double_backward.saved import SavedAgain
from badak.tensor.double_backward.walk import backpropagate, walk
from badak.tensor.layouts import order_asked, strided
from badak.tensor.meta_storage import description
from badak.tensor.wrapped import NoMemory, Wrapped, answers, answers_itself, is_wrapper, walks, within

_WITHOUT_GRADIENT = frozenset(
    "detach zeros_like ones_like empty_like full_like rand_like randn_like randint_like new_zeros new_ones new_empty new_full "
    "argmax argmin argsort eq ne lt le gt ge".split()
)


class _State(threading.local):
    below = False  # whether no class is asked: wrappers are sizes alone


state = _State()


def make(cls: type, size: Any, strides: Any, storage_offset: Any, memory_format: Any, dtype: Any, layout: Any, device: Any,
         requires_grad: bool, policy: Any) -> Tensor:  # fmt: skip
    """`Tensor._make_wrapper_subclass`."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise ArgumentTypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class "
            "inherits from Tensor.",
            "class Own(badak.Tensor)",
        )
    if not answers_itself(cls, Tensor):
        raise ArgumentTypeError(
            tr("{} must define __torch_dispatch__", cls.__name__),
            "@classmethod def __torch_dispatch__(cls, func, types, args=(), kwargs=None)",
        )
    where = {"cpu": dtypes.CPU, "meta": dtypes.META}.get("cpu" if device is None else dtypes.device(device).type)
    if where is None:
        raise DeviceError(tr("_make_wrapper_subclass: badak has no device {}", device), "device='cpu'")
    if policy is not None or layout not in (None, strided):
        raise NotSupportedError(
            "_make_wrapper_subclass: badak's wrappers know their sizes, and lie in rows and columns",
            "size=, strides= and dtype= alone",
        )
    kind = (dtypes.default_dtype() if dtype is None else dtypes.to_dtype(dtype)).numpy
    shape = tuple(int(n) for n in size)
    steps = None if strides is None else tuple(step * kind.itemsize for step in strides)
    like = description(shape, kind, steps)
    if steps is None and order_asked(memory_format, len(shape)) == "channels":
        like = np.moveaxis(description((shape[0], *shape[2:], shape[1]), kind), -1, 1)
    made: Any = object.__new__(cls)
    made._array = Wrapped(like, int(storage_offset or 0), where)
    if not _known:
        anywhere.casting += 1  # from now on `apply` looks at the arrays of tensors
        _known.append(True)
    return made.requires_grad_(requires_grad)


_known: list[bool] = []  # whether a wrapper was ever made


# ---------------------------------------------------------------- a call, and who answers it


def _wrappers(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            if is_wrapper(value):
                yield value
        elif isinstance(value, dict):
            yield from _wrappers(value.values())
        elif isinstance(value, list | tuple):
            yield from _wrappers(value)


def has_wrapper(args: tuple, kwargs: dict) -> bool:
    """Whether one of the arguments is a wrapper."""
    return next(_wrappers((args, kwargs)), None) is not None


def of_op(op: Any, inputs: tuple, attributes: dict) -> Any:
    """What `apply` gives for an operation on a wrapper; NotImplemented where none is among its inputs."""
    if not any(x is not None and is_wrapper(x) for x in inputs):
        return NotImplemented
    form = form_of(op, name_of(op))
    if form is None:
        return call(op.name, partial(apply, op), tuple(inputs), attributes)
    function, args, kwargs = form(*inputs, **attributes)
    return call(function.__name__, function, args, kwargs, (op, inputs, attributes))


def of_function(function: Callable, name: str, args: tuple, kwargs: dict) -> Any:
    """What a public function gives that asked for the numbers of a wrapper."""
    return call(name, _public(function, name), args, kwargs)


def whole(public: Callable, args: tuple, kwargs: dict) -> Any:
    """What a public function gives that is handed to the class as it is called."""
    return call(public.__name__, public, args, kwargs)


@cache
def _public(function: Callable, name: str) -> Callable:
    return function if hasattr(function, "__explained__") else guarded(function, "badak.compat", name)


def call(name: str, function: Callable, args: tuple, kwargs: dict, op: Any = None) -> Any:
    """What a mode or the class of a wrapper gives for a call. op: (operation, inputs, attributes), where it is one of `apply`."""
    if state.below:
        return _of_sizes(name, function, args, kwargs)
    if name in _PARTS and (parts := _PARTS[name](*args, **kwargs)) is not None:
        return parts()
    told = called(name, function, args, kwargs)
    packet = told.overload.overloadpacket.__name__
    wanted = modes.grad and packet not in _WITHOUT_GRADIENT and any(x.requires_grad for x in _tensors((args, kwargs)))
    if wanted and packet.endswith("_"):
        raise GraphError(
            tr("{}: badak's wrappers are not changed in place where gradients are recorded", told.overload), "the out-of-place form"
        )
    result = _answer(told)
    if packet.endswith("_"):
        return told.args[0]
    return _recorded(told, result, op) if wanted else result


def _private(name: str, function: Callable) -> Callable:
    """A function that is no public one, as one that asks the classes of wrappers as these do."""

    def run(*args: Any) -> Any:
        return call(name, run, args, {}) if has_wrapper(args, {}) else function(*args)

    return run


def _answer(told: Called) -> Any:
    """Ask the modes, then the classes."""
    overload, run, args, kwargs = told
    kinds: list[type] = []
    for each in _wrappers((args, kwargs)):
        if type(each) not in kinds:
            at = next((i for i, kind in enumerate(kinds) if issubclass(type(each), kind)), len(kinds))
            kinds.insert(at, type(each))
    before, modes.grad = modes.grad, False
    try:
        with overload.doing(run):
            for mode in reversed([each for each in modes.observers if hasattr(type(each), "__torch_dispatch__")]):
                return mode.answer(overload, tuple(kinds), args, kwargs)
            for kind in kinds:
                result = kind.__torch_dispatch__(  # type: ignore[attr-defined]
                    overload, tuple(kinds), args, kwargs
                )
                if result is not NotImplemented:
                    return result
    finally:
        modes.grad = before
    said = "\n".join(f"  - tensor subclass {kind}" for kind in kinds)
    raise ArgumentTypeError(
        tr(
            "Multiple dispatch failed for 'torch.ops.{}'; all __torch_dispatch__ handlers returned NotImplemented: {}",
            overload,
            said,
        ),
        tr("let the __torch_dispatch__ of one of them answer for {}", overload),
    )


def _of_sizes(name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
    """The call on tensors of the meta device in place of wrappers; what changes the sizes of one changes it."""
    twins: dict[int, Tensor] = {}

    def twin(value: Any) -> Any:
        if isinstance(value, Tensor) and is_wrapper(value):
            return twins.setdefault(id(value), Tensor._like_meta(within(value).like))
        if isinstance(value, dict):
            return {key: twin(each) for key, each in value.items()}
        return type(value)(map(twin, value)) if type(value) in (list, tuple) else value

    if name == "set_":
        x, source = args[0], args[1]
        like = within(source).like if is_wrapper(source) else source._described
        if like is None:
            like = description(source._array.shape, source._array.dtype, source._array.strides)
        x._array = Wrapped(like, x._array.offset, x._array.device)
        return x
    made = _public(function, name)(*twin(args), **twin(kwargs))
    if args and isinstance(args[0], Tensor) and id(args[0]) in twins and name.endswith("_"):
        within(args[0]).like = twins[id(args[0])]._described
        return args[0]
    return made


class _DisableTorchDispatch:
    """A block in which no class is asked: what is done to wrappers is done to their sizes alone."""

    def __enter__(self) -> None:
        self._before, state.below = state.below, True

    def __exit__(self, *error: Any) -> None:
        state.below = self._before


def _disabled_torch_dispatch_impl(func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
    """The `__torch_dispatch__` of Tensor: what is done to sizes."""
    with _DisableTorchDispatch():
        return func(*args, **(kwargs or {}))


# ---------------------------------------------------------------- functions of several operations


def _linear(x: Tensor, w: Tensor, b: Tensor | None = None) -> Callable:
    def parts() -> Tensor:
        turned: Any = w.t()
        if b is None or x.dim() == 1:
            return x.matmul(turned) if b is None else x.matmul(turned) + b
        if x.dim() == 2:
            return badak.addmm(b, x, turned)
        return badak.addmm(b, x.reshape(-1, x.shape[-1]), turned).view(*x.shape[:-1], w.shape[0])

    return parts


def _matmul(a: Tensor, b: Tensor) -> Callable | None:
    if b.dim() == 2 and a.dim() > 2:
        return lambda: a.reshape(-1, a.shape[-1]).matmul(b).view(*a.shape[:-1], b.shape[1])
    if a.dim() == 1 and b.dim() == 2:
        return lambda: a.unsqueeze(0).matmul(b).squeeze(0)
    return None


def _getitem(x: Tensor, key: Any) -> Callable | None:
    """select, slice and unsqueeze, dim by dim; None for a key with tensors, lists or truth values."""
    key = key if isinstance(key, tuple) else (key,)
    if not all(each is None or each is ... or type(each) in (int, slice) for each in key):
        return None
    taken = sum(type(each) in (int, slice) for each in key)

    def parts() -> Tensor:
        y, dim = x, 0
        for each in key:
            if each is ...:
                dim += x.dim() - taken
            elif each is None:
                y, dim = y.unsqueeze(dim), dim + 1
            elif type(each) is int:
                y = asked("select", y, dim, each)
            else:
                start, stop, step = each.start or 0, each.stop, each.step or 1
                if (start, stop, step) != (0, None, 1) or len(key) == 1:
                    y = asked(
                        "slice", y, dim, start, 9223372036854775807 if stop is None else stop, *((step,) if step != 1 else ())
                    )
                dim += 1
        return y

    return parts


def asked(name: str, *args: Any) -> Any:
    """What is given for one of aten's operators by its name."""
    return call(name, RUNS[name], args, {})


def _truediv(c: Any, x: Tensor) -> Callable:
    return lambda: badak.reciprocal(x) * c


_PARTS: dict[str, Callable] = {
    "linear": _linear,
    "matmul": _matmul,
    "getitem": _getitem,
    "__getitem__": _getitem,
    "truediv": _truediv,
}


# ---------------------------------------------------------------- gradients


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, dict):
            yield from _tensors(value.values())
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def _replaced(value: Any, by: dict[int, Tensor]) -> Any:
    """A nest with other tensors in place of some."""
    if isinstance(value, Tensor):
        return by.get(id(value), value)
    if isinstance(value, dict):
        return {key: _replaced(each, by) for key, each in value.items()}
    return type(value)(_replaced(each, by) for each in value) if type(value) in (list, tuple) else value


def _recorded(told: Called, result: Any, op: Any) -> Any:
    """The results with a node that remembers the call."""
    overload, _, args, kwargs = told
    inputs = list({id(x): x for x in _tensors((args, kwargs))}.values())
    outputs = result if isinstance(result, tuple | list) else (result,)
    fresh = [_apart(y, inputs) for y in outputs]
    if any(isinstance(y, Tensor) and (y.is_floating_point() or y.is_complex()) for y in fresh):
        saved = _Call(told, inputs, fresh, op)
        edges = [x._edge() for x in inputs]
        record(_Dispatched(overload), saved, edges, [y if isinstance(y, Tensor) else None for y in fresh])
    if hasattr(outputs, "_fields"):
        return type(outputs)(*fresh)
    return type(outputs)(fresh) if isinstance(result, tuple | list) else fresh[0]


def _apart(y: Any, inputs: list) -> Any:
    """A result, or a new tensor of the same, where it is one of the inputs."""
    if not any(y is x for x in inputs):
        return y
    if not is_wrapper(y):
        return Tensor._of(y._array)
    made: Any = object.__new__(type(y))
    held_by(made).update(vars(y))
    for name, value in slots_of(y).items():
        setattr(made, name, value)
    made._array = y._array
    return made


class _Call:
    """What a node remembers: the call, its tensors and its results."""

    def __init__(self, told: Called, inputs: list, outputs: list, op: Any):
        self.told, self.op = told, op
        self.needs = tuple(x.requires_grad for x in inputs)
        self.values = [_plain(x) for x in inputs]  # without history, which the edges have
        self.outputs = [_plain(y) if isinstance(y, Tensor) else y for y in outputs]
        by = {id(x): value for x, value in zip(inputs, self.values)}
        if op is not None:
            self.op = op[0], tuple(None if x is None else by.get(id(x), x) for x in op[1]), op[2]
        self.told = told._replace(args=_replaced(told.args, by), kwargs=_replaced(told.kwargs, by))


def _plain(x: Tensor) -> Tensor:
    """The tensor without its history."""
    return _apart(x, [x])


class _Dispatched:
    """The operation of such a node, as the walks call it."""

    owns_grads = view = False
    overwrites, again, light_for, thins = "", (), (), None
    saves_no_tensors = False
    saved_functions: dict = {}

    def __init__(self, overload: OpOverload):
        self.name = self.__name__ = overload.overloadpacket.__name__

    def of_tensors(self, saved: _Call, *dys: Tensor | None) -> tuple:
        """The gradients of the inputs: of a formula, or of the call made again."""
        if saved.op is not None:
            try:
                return _by_formula(saved, dys)
            except (NotRecordable, NoMemory, TypeError, ValueError, AttributeError, LookupError):
                pass
        return _by_call(saved, dys)


def _by_call(saved: _Call, dys: tuple) -> tuple:
    """The gradients by a function of its own, which runs the call again on the tensors that are wrapped."""
    overload, function, args, kwargs = saved.told
    places = {id(x): i for i, x in enumerate(saved.values)}
    higher = modes.grad

    def backward(dys: list, inputs: list) -> list:
        leaves = [x.detach().requires_grad_() if need else x for x, need in zip(inputs, saved.needs)]
        by = {key: leaves[i] for key, i in places.items()}
        before, modes.grad = modes.grad, True
        try:
            made = function(*_replaced(args, by), **_replaced(kwargs, by))
            outputs = made if isinstance(made, tuple | list) else (made,)
            pairs = [(y, dy) for y, dy in zip(outputs, dys) if dy is not None and isinstance(y, Tensor) and y.requires_grad]
            wanted = [x for x, need in zip(leaves, saved.needs) if need]
            if not pairs:
                return [None] * len(wanted)
            return list(grad([y for y, _ in pairs], wanted, [dy for _, dy in pairs], allow_unused=True, create_graph=higher))
        finally:
            modes.grad = before

    found = iter(_private(f"{overload.overloadpacket.__name__}_backward", backward)(list(dys), saved.values))
    return tuple(next(found) if need else None for need in saved.needs)


class _Again(SavedAgain):
    """What the forward would have saved: of arrays without numbers, so that an input or an output is found, and nothing else."""

    def __init__(self, op: Any, inputs: tuple, outputs: list, attributes: dict, needs: tuple):
        self._op, self.needs = op, needs
        self._attributes = attributes
        arrays = [None if x is None else _sizes(x) for x in inputs]
        self._saved = Saved(needs)
        made = op.forward(self._saved, *arrays, **attributes)
        results = made if type(made) is tuple else (made,)
        self._known = [(array, x) for array, x in [*zip(arrays, inputs), *zip(results, outputs)] if array is not None]

    def array(self, name: str) -> Any:
        return getattr(self._saved, name)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._saved, name)
        if isinstance(value, np.ndarray):
            found = next((x for array, x in self._known if array is value), None)
            if found is None:
                raise NotRecordable(f"its {name}")
            return Recorded(found)
        if isinstance(value, np.generic | float | complex) and not any(value is each for each in self._attributes.values()):
            raise NotRecordable(f"its {name}")
        return value


def _sizes(x: Tensor) -> np.ndarray:
    """An array like that of a tensor, without its numbers."""
    array: Any = x._array
    return description(array.shape, array.dtype, array.strides) if array.size else np.empty(array.shape, array.dtype)


def _by_formula(saved: _Call, dys: tuple) -> tuple:
    """The gradients by the backward of the operation, each step of which is asked for."""
    op, inputs, attributes = saved.op
    if op.saved_functions or op.saved_constants or op.sized_by_values:
        raise NotRecordable(op.name)
    places = {id(x): i for i, x in enumerate(saved.values)}
    needs = tuple(x is not None and saved.needs[places[id(x)]] for x in inputs)
    again = _Again(op, inputs, saved.outputs, attributes, needs)
    made = (op.double_backward or op.backward)(again, *[None if dy is None else Recorded(dy) for dy in dys])
    made = made if type(made) is tuple else (made,)
    found: list = [None] * len(saved.values)
    for x, need, dx in zip(inputs, needs, made, strict=True):
        if need and dx is not None:
            at, dx = places[id(x)], tensor_of(dx)
            found[at] = dx if found[at] is None else found[at] + dx
    return tuple(found)


def in_graph(outputs: Any, gradients: Any) -> bool:
    """Whether a wrapper is met on the way back from these."""
    if any(isinstance(x, Tensor) and is_wrapper(x) for x in (*outputs, *gradients)):
        return True
    seen = {edge[0] for y in outputs if (edge := y._edge()) is not None}
    pending = list(seen)
    while pending:
        node = pending.pop()
        if type(getattr(node, "op", None)) is _Dispatched:
            return True
        new = {edge[0] for edge in node.edges if edge is not None} - seen
        seen |= new
        pending += new
    return False


def walk_back(outputs: Any, gradients: Any, retain_graph: Any, create_graph: bool, targets: Any = None) -> Any:
    """The walk back through a graph with wrappers: over tensors."""
    roots = []
    for y, dy in zip(outputs, gradients, strict=True):
        edge = y._edge()
        if edge is None:
            raise importlib.import_module("badak.tensor.missing_grad").complaint(y)
        if dy is None:
            if y.numel() != 1:
                raise GraphError(
                    tr("grad can be implicitly created only for scalar outputs; this one has shape {}", tuple(y.shape)),
                    "reduce it (loss.mean()), or pass backward(gradient=...) of that shape",
                )
            dy = importlib.import_module("badak").ones_like(y)
        roots.append((edge, dy))
    if create_graph:
        return backpropagate(roots, retain_graph is None or bool(retain_graph), targets)
    before, modes.grad = modes.grad, False
    try:
        return walk(roots, bool(retain_graph), targets, _gradients)
    finally:
        modes.grad = before


def _gradients(node: Any, dys: list) -> tuple:
    """The gradients of a node's inputs, as tensors."""
    if hasattr(node.op, "of_tensors"):
        node.check()
        return node.op.of_tensors(node.saved, *dys)
    node.check()

    def backward(*dys: Any) -> Any:
        made = node.op.backward(node.saved, *[None if dy is None else dy._array for dy in dys])
        return [None if dx is None else Tensor._of(np.asarray(dx)) for dx in (made if type(made) is tuple else (made,))]

    if any(dy is not None and is_wrapper(dy) for dy in dys):
        return tuple(_private(f"{node.op.name}_backward", backward)(*dys))
    return tuple(backward(*dys))


answers.append(of_function)
wrapped_run.append(of_op)
walks.extend((in_graph, walk_back))
overriding.wrappers.extend((has_wrapper, whole))
