"""A Function within vmap: it runs for all examples at once, and its history is that of the tensors of all of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from badak.autograd.function import Function, FunctionContext, run_backward, run_forward
from badak.core.errors import GraphError, tr
from badak.tensor import Tensor
from badak.tensor import vmap as batching
from badak.tensor.batched import Level


class VmapInfo(NamedTuple):
    """What a Function's vmap is told: how many examples there are, and what random numbers are to each of them."""

    batch_size: int
    randomness: str


def of_examples(function: Any, level: Level, args: Sequence, kwargs: dict) -> Any:
    """What apply gives where arguments have the examples of a vmap."""
    if function.vmap is Function.vmap:
        own = {"function": function} | ({} if function.jvp is Function.jvp else {"jvp": staticmethod(_slopes_of_examples)})
        batched = [batching.level_of(a) is level for a in args]
        generated: Any = type(function.__name__, (_Generated,), own)
        made = generated.apply(level, batched, kwargs, *(_bare(a, level) for a in args))
        return batching.mapped(made, lambda y: _wrapped(y, level))
    if function.generate_vmap_rule:
        cause = tr("{}: generate_vmap_rule=True, and it has a vmap of its own", function.__name__)
        raise GraphError(cause, "one of the two says what vmap does")
    dims = batching.mapped(args, lambda a: 0 if batching.level_of(a) is level else None)
    full = batching.mapped(args, lambda a: _bare(a, level))
    with batching.around(level):
        made = function.vmap(VmapInfo(level.size, level.randomness), dims, *full, **kwargs)
    if not isinstance(made, tuple) or len(made) != 2:
        cause = tr("Expected the vmap staticmethod of {} to return a tuple of two, (output, out_dims)", function.__name__)
        raise GraphError(cause, "return y, 0")
    return _placed(*made, level)


def _placed(y, dim, level) -> Any:
    """Outputs of a user's vmap with the examples that they have in `dim`."""
    if isinstance(y, tuple | list):
        return type(y)([_placed(part, dim[i] if isinstance(dim, tuple | list) else dim, level) for i, part in enumerate(y)])
    return _wrapped(y if dim is None else y.movedim(dim, 0), None if dim is None else level)


def _bare(x, level: Level) -> Any:
    """The tensor of all examples of this vmap; what has none, as it is."""
    return batching.expose(x, level) if batching.level_of(x) is level else x


def _wrapped(x, level) -> Any:
    return batching.wrap(x, level) if isinstance(x, Tensor) and level is not None else x


@dataclass
class _All:
    """A tensor of all examples, where a context keeps one of each."""

    full: Tensor


class _InnerContext(FunctionContext):
    """`ctx` within the vmap; what it saves, the context around it saves."""

    def save_for_backward(self, *tensors) -> None:
        self._saved = tensors


class _Generated(Function):
    """A Function for all examples: its forward and backward run within the vmap. Its subclass names the function."""

    function: Any

    @classmethod
    def forward(cls, ctx, level, batched, kwargs, *args):
        inner = _InnerContext()
        inner.needs_input_grad = ctx.needs_input_grad[3:]
        given = [_wrapped(a, level) if each else a for a, each in zip(args, batched)]
        made = run_forward(cls.function, inner, given, kwargs)
        full = {id(a): b for a, b in zip(given, args)}
        outputs = made if isinstance(made, tuple) else (made,)
        for y in (*outputs, *inner._saved, *inner._saved_forward, *inner._dirty):
            if isinstance(y, Tensor) and id(y) not in full:
                full[id(y)] = _bare(y, level)
        for y in outputs:
            if isinstance(y, Tensor) and batching.level_of(y) is not level:
                full[id(y)] = y.expand(level.size, *y.shape)
        ctx.save_for_backward(*(full.get(id(x), x) for x in inner._saved))
        ctx.save_for_forward(*(full.get(id(x), x) for x in inner._saved_forward))
        ctx.mark_dirty(*(full[id(x)] for x in inner._dirty))
        ctx.mark_non_differentiable(*(full[id(y)] for y in outputs if id(y) in inner._not_differentiable))
        ctx.set_materialize_grads(inner._materialize)
        ctx.function, ctx.level, ctx.batched = cls.function, level, batched
        ctx.shapes = [a.shape if isinstance(a, Tensor) else None for a in given]
        ctx.kept = [batching.level_of(x) is level for x in inner._saved]
        ctx.kept_forward = [batching.level_of(x) is level for x in inner._saved_forward]
        own = {name: value for name, value in vars(inner).items() if not name.startswith("_")}
        ctx.own = batching.mapped(own, lambda x: _All(_bare(x, level)) if batching.level_of(x) is level else x)
        return tuple(full.get(id(y), y) for y in outputs) if isinstance(made, tuple) else full.get(id(made), made)

    @classmethod
    def backward(cls, ctx, *dys):
        with _within(ctx) as (inner, level):
            made = run_backward(cls.function, inner, [_wrapped(dy, level) for dy in dys], len(ctx.batched))
            return None, None, None, *map(partial(_gradient, level), made, ctx.batched, ctx.shapes)


def _gradient(level: Level, g, batched: bool, shape) -> Tensor | None:
    """A gradient of all examples; of an argument that all of them share, their sum."""
    if not isinstance(g, Tensor) or shape is None:
        return g
    g = g if g.shape == shape else g.sum_to_size(shape)
    if batched:
        return batching.expose(g, level)
    return batching.expose(g, level).sum(0) if batching.level_of(g) is level else g


def _slopes_of_examples(ctx, *vs) -> Any:
    with _within(ctx) as (inner, level):
        inner._in_jvp = True
        made = ctx.function.jvp(inner, *(_wrapped(v, level) if each else v for v, each in zip(vs[3:], ctx.batched)))
        return batching.mapped(made, lambda y: batching.expose(y, level) if isinstance(y, Tensor) else y)


@contextmanager
def _within(ctx) -> Iterator[tuple[_InnerContext, Any]]:
    """A vmap over the examples of which ctx is, and the user's context within it."""
    with batching.examples(ctx.level.size, ctx.level.randomness) as level:
        inner = _InnerContext()
        vars(inner).update(batching.mapped(ctx.own, lambda x: batching.wrap(x.full, level) if type(x) is _All else x))
        kept = zip(ctx.saved_tensors, ctx.kept_forward if ctx._in_jvp else ctx.kept)
        inner._saved = inner._saved_forward = tuple(_wrapped(x, level) if each else x for x, each in kept)
        yield inner, level
