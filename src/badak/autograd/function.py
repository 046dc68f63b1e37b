"""Function: an operation that a user writes, over tensors."""

import importlib
import inspect
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np

from badak.autograd.differentiate import grad
from badak.autograd.grad_mode import enable_grad, no_grad
from badak.autograd.saved import opened, packed_all, saved_in
from badak.core import events
from badak.core.errors import ArgumentTypeError, GraphError, NotSupportedError, ShapeError, expect_function, tr, warn, warn_once
from badak.core.modes import anywhere, modes
from badak.tensor import Tensor
from badak.tensor import vmap as batching
from badak.tensor.apply import record, see_in_function
from badak.tensor.inplace import refuse_leaf, rewrite


class FunctionContext:
    """`ctx`: what a Function's forward leaves for its backward."""

    def __init__(self) -> None:
        self.needs_input_grad: tuple[bool, ...] = ()
        self._saved: tuple = ()
        self._saved_forward: tuple = ()  # what its jvp sees in the place of _saved
        self._in_jvp = False
        self._versions: list = []
        self._not_differentiable: tuple = ()
        self._dirty: tuple = ()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for backward; a change of them in place before it is noticed."""
        self._saved, watched = packed_all(tensors)
        self._versions = [(t._watch(), t._watch().count) for t in watched]

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for jvp, which finds them in saved_tensors and in saved_for_forward."""
        self._saved_forward = tensors

    @property
    def saved_for_forward(self) -> tuple | None:
        """What save_for_forward kept; None before it."""
        return self._saved_forward or None

    @property
    def saved_tensors(self) -> tuple:
        if self._in_jvp:
            return self._saved_forward
        for version, then in self._versions:
            if version.count != then:
                cause = tr("one of the variables needed for gradient computation has been modified by an inplace operation: "
                           "a tensor given to save_for_backward is at version {}, expected version {}; "
                           "it was overwritten by {}", version.count, then, version.changed_by)  # fmt: skip
                raise GraphError(cause, "use the out-of-place form there")
        return opened(self._saved)

    @property
    def saved_variables(self) -> tuple:
        """PyTorch's old name."""
        warn_once("saved_variables", "'saved_variables' is deprecated; use 'saved_tensors'", "ctx.saved_tensors")
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple:
        return saved_in(self)

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Outputs that get no gradient."""
        self._not_differentiable = tuple(id(t) for t in tensors)

    def mark_dirty(self, *tensors: Any) -> None:
        """Inputs that forward changed in place; GraphError for a leaf that requires a gradient."""
        self._dirty = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """False: backward gets None, instead of zeros, for an output that nothing depends on."""
        self._materialize = value


class Function:
    """Subclass with static `forward(ctx, *args)` and `backward(ctx, *grad_outputs)`; use as `Sub.apply(*args)`.

    Both work on tensors, nothing in them is recorded. `forward(*args)` with `setup_context(ctx, inputs, output)` works too.
    backward returns one gradient (or None) for each argument of forward.

    Example:
        >>> class Double(badak.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return 2 * x
        ...     @staticmethod
        ...     def backward(ctx, dy):
        ...         return 2 * dy
        >>> x = badak.ones(1, requires_grad=True)
        >>> Double.apply(x).backward()
        >>> x.grad.item()
        2.0
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise GraphError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with "
            "static forward method.",
            "@staticmethod def forward(ctx, x): ..., and Sub.apply(x)",
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        cause = tr("You must implement the forward function for custom autograd.Function: a static forward(ctx, ...)")
        raise NotSupportedError(cause, "class F(Function): @staticmethod def forward(ctx, x): ...")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        cause = tr(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD"
        )
        raise NotSupportedError(cause, "@staticmethod def backward(ctx, *grad_outputs): ...")

    vjp = backward  # PyTorch's other name for it

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """For forward mode: the slopes of the outputs along those of the inputs; without it the backward gives them.

        badak transposes it, as it finds slopes by two walks back: it is called with zeros whose gradient is asked for.
        """
        raise NotSupportedError("this Function defines no jvp", "@staticmethod def jvp(ctx, *grad_inputs): ...")

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Save for backward, where forward takes no ctx."""

    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """For all examples of a vmap at once: gives (outputs, out_dims). Without it forward and backward run within the vmap.

        info has batch_size and randomness; in_dims says in which dim each argument has its examples, None where it has none.
        """
        raise NotSupportedError("this Function defines no vmap", "@staticmethod def vmap(info, in_dims, *args): ...")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and record it, so that backward runs in its turn."""
        if anywhere.has_observers and modes.observer is not None:
            return modes.observer.on_function(cls, args, partial(cls._apply, args, kwargs))
        return cls._apply(args, kwargs)

    @classmethod
    def _apply(cls, args: tuple, kwargs: dict) -> Any:
        if cls.setup_context is not Function.setup_context:  # defaults are inputs as what was passed, as in PyTorch
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        level = batching.innermost(args) if modes.batching else None
        if level is not None:
            return importlib.import_module("badak.autograd.vmapped").of_examples(cls, level, args, kwargs)
        ctx = FunctionContext()
        needs = tuple(modes.grad and isinstance(a, Tensor) and a.requires_grad for a in args)
        ctx.needs_input_grad = needs
        edges = [a._edge() if need else None for a, need in zip(args, needs)]
        with no_grad():
            made = run_forward(cls, ctx, args, kwargs)
        outputs = made if isinstance(made, tuple) else (made,)
        for x in ctx._dirty:
            x._watch().bump(cls.__name__)
        if ctx._dirty:  # what was saved counts as it is now: forward itself may have changed it
            ctx._versions = [(version, version.count) for version, _ in ctx._versions]
        if any(not any(x is a for a in args) for x in ctx._dirty):
            warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be "
                "passed to ctx.mark_dirty().",
                "ctx.mark_dirty(x) of an argument x of forward",
            )
        if any(not any(x is y for y in outputs) for x in ctx._dirty):
            cause = tr("Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
                       "modified inplace must all be outputs of the Function.")  # fmt: skip
            raise GraphError(cause, "return what ctx.mark_dirty was given")
        if any(needs):
            for x in ctx._dirty:
                refuse_leaf(x)
            outputs = _record(cls, ctx, args, edges, outputs)
        else:
            outputs = tuple(_without_history(y, ctx, args) for y in outputs)
            if modes.grad:
                _note_views(cls.__name__, ctx, args, outputs)
        return outputs if isinstance(made, tuple) else outputs[0]


def run_forward(function: Any, ctx: Any, args: Sequence, kwargs: dict) -> Any:
    if function.setup_context is Function.setup_context:
        return function.forward(ctx, *args, **kwargs)
    made = function.forward(*args, **kwargs)
    function.setup_context(ctx, args, made)
    return made


def run_backward(function: Any, ctx: Any, dys: Sequence, expected: int) -> tuple:
    """What the user's backward gives: a gradient, or None, for each argument."""
    if function.backward is not Function.backward and function.vjp is not Function.vjp:
        raise GraphError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them.",
            "backward, without vjp",
        )
    backward = function.vjp if function.backward is Function.backward else function.backward
    made = backward(ctx, *dys)
    made = made if isinstance(made, tuple) else (made,)
    if len(made) < expected or any(g is not None for g in made[expected:]):
        cause = tr("function {}Backward returned an incorrect number of gradients (expected {}, got {})", function.__name__,
                   expected, len(made))  # fmt: skip
        raise GraphError(cause, "backward returns one gradient, or None, for each argument of forward")
    return made[:expected]


def once_differentiable(fn: Callable) -> Callable:
    """Decorator of a Function's backward: it runs without a graph, and what differentiates its result raises GraphError."""
    expect_function("once_differentiable", fn)

    @wraps(fn)
    def wrapper(ctx, *args):
        with no_grad():
            made = fn(ctx, *args)
        wanted = modes.grad and any(isinstance(a, Tensor) and a.requires_grad for a in args)
        if not wanted:
            return made
        parts = made if isinstance(made, tuple) else (made,)
        source = next(a for a in args if isinstance(a, Tensor) and a.requires_grad)
        marked = tuple(_Once.apply(source, each) if isinstance(each, Tensor) else each for each in parts)
        return marked if isinstance(made, tuple) else marked[0]

    return wrapper


class _UserOp:
    """What the walk calls: the user's backward, between arrays and tensors."""

    owns_grads = False
    view = False
    overwrites = ""
    again = light_for = ()
    thins = None

    def __init__(self, function, shapes, light: bool):
        self.function, self.shapes, self.saves_no_tensors = function, shapes, light
        self.name = self.__name__ = function.__name__

    def backward(self, ctx, *dys):
        with no_grad():
            made = self.of_tensors(ctx, *(None if dy is None else Tensor._of(dy) for dy in dys))
        return tuple(None if grad is None else grad._array for grad in made)

    def of_tensors(self, ctx, *dys):
        """The same from tensors to tensors, recorded where gradients are."""
        if modes.slopes and self.function.jvp is not Function.jvp:
            return self._by_slopes(ctx, dys)
        given = [self._given(dy, i, ctx) for i, dy in enumerate(dys)]
        made = run_backward(self.function, ctx, given, len(ctx.needs_input_grad))
        return tuple(self._fitted(grad, i) for i, grad in enumerate(made))

    def _by_slopes(self, ctx, dys):
        """J^T dy by the user's jvp, which is linear: the gradient of dy . J v by v, at v = 0."""
        needs, given, along = ctx.needs_input_grad, [], []
        with enable_grad():
            for need, shape in zip(needs, self.shapes[1]):
                v = Tensor._of(np.zeros(*shape)) if shape is not None and (need or ctx._materialize) else None
                if need:
                    along.append(v.requires_grad_())
                given.append(v.clone() if need else v)  # which jvp may change in place
            ctx._in_jvp = True
            try:
                slopes = self.function.jvp(ctx, *given)
            finally:
                ctx._in_jvp = False
        slopes, expected = slopes if isinstance(slopes, tuple) else (slopes,), len(self.shapes[0])
        if len(slopes) != expected:
            cause = tr(
                "Function's jvp returned an invalid number of forward gradients (expected {} but got {})", expected, len(slopes)
            )
            raise GraphError(cause, "one slope for each output")
        wrong = next((s for s in slopes if s is not None and not isinstance(s, Tensor)), None)
        if wrong is not None:
            raise ArgumentTypeError(tr("Function's jvp returned {}, not a tensor", wrong), "one slope for each output")
        pairs = [(s, dy) for s, dy in zip(slopes, dys) if dy is not None and isinstance(s, Tensor) and s.requires_grad]
        if not pairs:
            return (None,) * len(needs)
        outputs, gradients = zip(*pairs)
        found = iter(grad(list(outputs), along, list(gradients), create_graph=True, allow_unused=True))
        return tuple(next(found) if need else None for need in needs)

    def _given(self, dy, i, ctx):
        if dy is None and ctx._materialize and self.shapes[0][i] is not None:
            shape, dtype = self.shapes[0][i]
            zeros = np.zeros(shape, dtype)
            events.constant(zeros)
            return Tensor._of(zeros)
        return dy

    def _fitted(self, grad, i):
        """The gradient in its input's shape: summed where backward gave that of the input as it was stretched."""
        if grad is None or self.shapes[1][i] is None:
            return grad
        shape, dtype = self.shapes[1][i]
        if grad.is_complex() and dtype.kind != "c":
            cause = tr("Function {}Backward returned a complex gradient at index {} for a real input", self.name, i)
            raise GraphError(cause, "return gradient.real")
        if grad._array.shape == shape:
            return grad
        try:
            return grad.sum_to_size(shape)
        except ShapeError:
            raise ShapeError(
                tr("Function {}Backward returned an invalid gradient at index {} - got {} but expected shape compatible with {}",
                   self.name, i, list(grad.shape), list(shape)),
                "backward returns a gradient of its input's shape, or of one that the input is stretched to",
            ) from None  # fmt: skip


def _record(function, ctx, args, edges, outputs):
    shapes = (
        [(y._array.shape, y._array.dtype) if isinstance(y, Tensor) else None for y in outputs],
        [(tuple(a.shape), a.dtype.numpy) if isinstance(a, Tensor) else None for a in args],
    )
    name = function.__name__
    given = {id(a) for a in args}
    bases = {id(a if a._whole is None else a._whole) for a in args if isinstance(a, Tensor)}
    made = list(outputs)
    with_history: list = [None] * len(outputs)
    views = []
    for slot, y in enumerate(outputs):
        if not isinstance(y, Tensor) or id(y) in ctx._not_differentiable or not (y.is_floating_point() or y.is_complex()):
            made[slot] = _without_history(y, ctx, args)
            continue
        if not any(y is d for d in ctx._dirty):
            if id(y) in given:
                x, y = y, Tensor._of(y._array)  # an input handed through is a new tensor with a new history
                see_in_function(y, x, name, slot)
            elif y._whole is not None and id(y._whole) in bases:
                see_in_function(y, y._whole, name, slot)
        made[slot] = with_history[slot] = y
        if any(y is d for d in ctx._dirty) and y._whole is not None:  # its base is changed as well
            with_history[slot] = Tensor._of(y._array)
            views.append((y, with_history[slot]))
    record(_UserOp(function, shapes, not ctx._saved), ctx, edges, with_history)
    for y, value in views:
        rewrite(y, value)
    for y in ctx._dirty:
        if y._kept_by is not None:
            y._keep_here()
    return tuple(made)


def _without_history(y: Any, ctx: FunctionContext, args: Sequence) -> Any:
    """An output that wants no gradient: of an input that forward hands out a tensor of its own, on the same memory."""
    if not isinstance(y, Tensor) or not any(y is a for a in args):
        return y
    if y.requires_grad:
        return y.detach()
    return y if any(y is d for d in ctx._dirty) else y.view_as(y)


def _note_views(name: str, ctx, args, outputs) -> None:
    """Views of inputs that want no gradient: a change that wants one would go around the Function's backward."""
    bases = {id(a if a._whole is None else a._whole) for a in args if isinstance(a, Tensor)}
    for slot, y in enumerate(outputs):
        if isinstance(y, Tensor) and y._whole is not None and id(y._whole) in bases and not any(y is d for d in ctx._dirty):
            see_in_function(y, y._whole, name, slot)


class _Once(Function):
    """Hands a value through; whoever differentiates it is told that it cannot be."""

    @staticmethod
    def forward(ctx, source, value):
        return value.clone()

    @staticmethod
    def backward(ctx, *grads):
        cause = tr("trying to differentiate twice a function that was marked with @once_differentiable")
        raise GraphError(cause, "write its backward with functions that are differentiable, without the mark")


class InplaceFunction(Function):
    """A Function, by PyTorch's old name of those that can change their input in place."""


FunctionCtx = FunctionContext
