"""badak.use: your own function in the place of one of badak's operations."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager
from typing import Any

from badak.autograd.function import Function
from badak.autograd.grad_mode import enable_grad
from badak.core.errors import ArgumentError, expect_kind, tr
from badak.core.modes import anywhere, modes
from badak.ops.op import Op
from badak.tensor.apply import apply
from badak.tensor.tensor import Tensor

BACKWARD = "_backward"


class use(ContextDecorator):
    """Compute one of badak's operations by a function of your own, wherever it is called, within a block or a decorated function.

    The operation is the one that the function is named after: `softmax`, `matmul`, `layer_norm`, `embedding`, `cross_entropy`.
    The function takes the inputs of the operation in their order, and its other arguments by name; what it has no parameter for
    must have the default value. A function called `NAME_backward` replaces the gradient alone: it takes `dy`, then the inputs,
    and returns one gradient for each of them. Within your function, badak's own operation is back. The replacement holds in this
    thread; compiled steps run as they are written meanwhile. `calls` counts how often the function ran. PyTorch has no such
    function.

    Args:
        function: takes and returns tensors
        name: of the operation, or `NAME_backward`; the name of the function where it is None

    Returns: a context manager and decorator

    Raises:
        ArgumentError: no operation has that name, or a call has an argument that the function does not take

    Example:
        >>> def softmax(x, dim):
        ...     e = (x - x.amax(dim, keepdim=True)).exp()
        ...     return e / e.sum(dim, keepdim=True)
        >>> with badak.use(softmax) as mine:
        ...     y = nn.Softmax(-1)(badak.zeros(2))
        >>> y, mine.calls
        (tensor([0.5000, 0.5000]), 1)
    """

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        expect_kind(function, Callable, "use: expected a function, got {}", "badak.use(my_softmax, 'softmax')")
        self.function: Callable[..., Any] = function
        self.name = str(name or getattr(function, "__name__", ""))
        found = _operations()
        self.op = found.get(self.name) or found.get(self.name.removesuffix(BACKWARD))
        if self.op is None or self.op.view:
            cause = tr("use: no operation of badak that can be replaced is called {!r}", self.name)
            raise ArgumentError(cause, "badak.use(my_function, 'softmax') names the operation; badak source softmax shows it")
        self.is_backward = self.name not in found
        self.calls = 0
        self._before: list[dict] = []

    def __enter__(self) -> "use":
        self._before.append(modes.replaced)
        modes.replaced = modes.replaced | {self.op: self._run}
        anywhere.casting += 1
        return self

    def __exit__(self, *error: object) -> None:
        modes.replaced = self._before.pop()
        anywhere.casting -= 1

    def _run(self, inputs: tuple, attributes: dict[str, Any]) -> Any:
        """What `apply` gives for the operation."""
        with self._paused():
            if self.is_backward:
                return _Backward.apply(self, attributes, *inputs)
            self.calls += 1
            return self.function(*self._taken(list(inputs), 0, attributes), **self._named(attributes))

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """Within it, badak's own operation is back."""
        before, modes.replaced = modes.replaced, {op: run for op, run in modes.replaced.items() if op is not self.op}
        try:
            yield
        finally:
            modes.replaced = before

    def _taken(self, inputs: list, first: int, attributes: dict[str, Any]) -> list:
        """The inputs that the function has parameters for; behind them only None may stand."""
        own = inspect.signature(self.function).parameters.values()
        places = [p for p in own if p.kind <= p.POSITIONAL_OR_KEYWORD and p.name not in attributes]
        names = [p.name for p in inspect.signature(self.op.forward).parameters.values()][1:]  # type: ignore[union-attr]
        while inputs and inputs[-1] is None and len(inputs) > len(places) - first:
            inputs.pop()
        if len(inputs) > len(places) - first and not self._takes_all(inspect.Parameter.VAR_POSITIONAL):
            raise self._refused(names[len(places) - first])
        return inputs

    def _named(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """The attributes that the function has parameters for; the others must have their defaults."""
        if self._takes_all(inspect.Parameter.VAR_KEYWORD):
            return attributes
        own = inspect.signature(self.function).parameters
        usual = inspect.signature(self.op.forward).parameters  # type: ignore[union-attr]
        for name, value in attributes.items():
            if name not in own and name in usual and value != usual[name].default:
                raise self._refused(f"{name}={value}")
        return {name: value for name, value in attributes.items() if name in own}

    def _takes_all(self, kind: Any) -> bool:
        return any(p.kind == kind for p in inspect.signature(self.function).parameters.values())

    def _refused(self, what: str) -> ArgumentError:
        return ArgumentError(
            tr("use: {} is called with {}, which {} does not take", self.op.name, what, self.name),  # type: ignore[union-attr]
            tr("give {} a parameter of that name", self.name),
        )


class _Backward(Function):
    """An operation with its own forward and somebody else's backward."""

    @staticmethod
    def forward(ctx: Any, replacement: use, attributes: dict[str, Any], *inputs: Any) -> Any:
        ctx.replacement, ctx.attributes = replacement, attributes
        ctx.save_for_backward(*inputs)
        return apply(replacement.op, *inputs, **attributes)

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        own = ctx.replacement
        own.calls += 1
        inputs = list(ctx.saved_tensors)
        if not modes.grad:  # no second derivative is asked for: the function may use NumPy, or differentiate by itself
            inputs = [x.detach() if isinstance(x, Tensor) else x for x in inputs]
        with enable_grad(), own._paused():
            made = own.function(dy, *own._taken(inputs, 1, ctx.attributes), **own._named(ctx.attributes))
        gradients = tuple(made) if isinstance(made, tuple | list) else (made,)
        return None, None, *gradients, *[None] * (len(ctx.saved_tensors) - len(gradients))


def _operations() -> dict[str, type[Op]]:
    """Every operation of badak by its name."""
    found: dict[str, type[Op]] = {}
    waiting: list[type[Op]] = [Op]
    for kind in waiting:
        waiting += kind.__subclasses__()
        if kind.__module__.startswith("badak.ops"):
            found.setdefault(kind.name, kind)
    return found
