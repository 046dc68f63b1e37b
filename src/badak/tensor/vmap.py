"""vmap: a function of one example runs once, on all of them.

Within it a tensor has `Batched` in place of its array: shape and dtype of one example, and a tensor of all of them, in which the
history is. `apply` hands each operation to its rule (`ops/batching.py`), which runs it on those. A public function that asks for
numbers, or an operation without a rule, runs for one example after the other.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from inspect import signature
from typing import Any

from badak.core.errors import GraphError, NotSupportedError, tr
from badak.core.events import Effect, Observer, watch
from badak.core.modes import anywhere, modes
from badak.core.public_api.explain import AS_IT_IS
from badak.ops.batching import aligned
from badak.ops.concat import Stack
from badak.ops.shape import Unbind
from badak.tensor._sampling import Twister
from badak.tensor.apply import apply, batched_run
from badak.tensor.batched import Batched, Level, NoNumber, Unbatched, no_number
from badak.tensor.tensor import Tensor

_NUMBERS = frozenset("item tolist numpy".split())
_ON_ALL = frozenset(
    "zeros_like ones_like full_like empty_like dropout rand_like randn_like".split()
)  # as they are, on all examples
_SEEDS = frozenset("reseed state restore".split())


def wrap(full: Tensor, level: Level) -> Tensor:
    """The tensor of one example that stands for all of them, which the first axis counts."""
    y = Tensor._of(Batched(full, level))
    y._requires_grad = full.requires_grad
    return y


def level_of(x: Any) -> Level | None:
    """The innermost vmap whose examples a tensor has."""
    array = getattr(x, "_array", None) if isinstance(x, Tensor) and x._described is None else x
    return array.level if type(array) is Batched else None


def on_level(x: Any, level: Level) -> bool:
    """Whether the tensor has the examples of this vmap."""
    at = level_of(x)
    return at is not None and (at is level or on_level(_full(x), level))


def _full(x: Any) -> Any:
    array: Any = x._array if isinstance(x, Tensor) else x
    return array.full


def expose(x: Tensor, level: Level) -> Tensor:
    """x with a first axis that counts the examples of this vmap."""
    at = level_of(x)
    if at is level:
        return _full(x)
    if at is not None and at.depth > level.depth:
        return wrap(expose(_full(x), level).transpose(0, 1), at)
    return x.expand(level.size, *x.shape)


def hide(x: Tensor, level: Level) -> Tensor:
    """The other way round."""
    at = level_of(x)
    if at is not None and at.depth > level.depth:
        return wrap(hide(_full(x).transpose(0, 1), level), at)
    return wrap(x, level)


def for_each(like: Tensor, x: Tensor) -> Tensor:
    """A new tensor, which each example has for itself where `like` is that of all of them."""
    at = level_of(like)
    return x if at is None else wrap(for_each(_full(like), x).expand(at.size, *x.shape).clone(), at)


# ---------------------------------------------------------------- one operation


def _innermost(values) -> Level | None:
    return max((level for level in map(level_of, values) if level is not None), key=lambda level: level.depth, default=None)


def _flat(value) -> Iterator[Any]:
    """The parts of containers."""
    if type(value) in (list, tuple) or isinstance(value, tuple):
        for part in value:
            yield from _flat(part)
    elif type(value) is dict:
        yield from _flat(list(value.values()))
    elif type(value) is slice:
        yield from (value.start, value.stop, value.step)
    else:
        yield value


def mapped(value: Any, function: Callable) -> Any:
    """The containers with function(part) for each part."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[mapped(part, function) for part in value])
    if type(value) in (list, tuple):
        return type(value)([mapped(part, function) for part in value])
    if type(value) is dict:
        return {key: mapped(part, function) for key, part in value.items()}
    return function(value)


class _Run:
    """What a rule runs operations by, on the examples of this vmap."""

    __slots__ = ("level",)

    def __init__(self, level: Level):
        self.level = level

    def __call__(self, op, *xs, **attributes):
        return apply(op, *xs, **attributes)


def _run(op, inputs, attributes) -> Any:
    """The operation on all examples; NotImplemented where no input has any."""
    level = _innermost([*(x for x in inputs if x is not None), *_flat(list(attributes.values()))])
    if level is None:
        return NotImplemented
    batched = [x is not None and level_of(x) is level for x in inputs]
    xs = [_full(x) if each else x for x, each in zip(inputs, batched)]
    made = NotImplemented
    if op.batching is not None:
        made = op.batching(_Run(level), op, xs, batched, attributes)
    if made is NotImplemented:
        return _one_by_one(lambda *xs, **named: apply(op, *xs, **named), inputs, attributes, level)
    return tuple(wrap(y, level) for y in made) if type(made) is tuple else wrap(made, level)


def _one_by_one(function: Callable, args, kwargs, level: Level):
    """function for one example after the other, its results side by side."""
    columns: dict[int, Any] = {}

    def of_one(value, i: int):
        if level_of(value) is not level:
            return value
        if id(value) not in columns:
            columns[id(value)] = apply(Unbind, _full(value), axis=0)
        one = columns[id(value)][i]
        return one if isinstance(value, Tensor) else one._array

    level.alone += 1
    try:
        made = [_called(function, args, kwargs, partial(of_one, i=i)) for i in range(level.size)]
    finally:
        level.alone -= 1
    if not made:
        raise Unbatched.at(level)
    return _side_by_side(made, level)


def _called(function: Callable, args, kwargs, of_one: Callable):
    return function(*mapped(tuple(args), of_one), **mapped(kwargs, of_one))


def _side_by_side(made: list, level: Level):
    first = made[0]
    if isinstance(first, Tensor):
        if any(x.shape != first.shape for x in made):
            raise _dynamic("it")
        return wrap(apply(Stack, *made, axis=0), level)
    if isinstance(first, list | tuple):
        parts = [_side_by_side(list(column), level) for column in zip(*made)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if any(x != first for x in made):
        raise no_number("bool()")
    return first


batched_run.append(_run)


def innermost(args: Sequence) -> Level | None:
    """The innermost vmap whose examples one of the arguments, or of their parts, has."""
    return _innermost(_flat(list(args)))


# ---------------------------------------------------------------- one function


def again(error: Unbatched, function: Callable, name: str, args: tuple, kwargs: dict) -> Any:
    """What a public function gives that asked for the numbers of one example."""
    level = _innermost(_flat([list(args), kwargs])) or error.level
    if level is None or level not in modes.batching or (isinstance(error, NoNumber) and name in _NUMBERS):
        return AS_IT_IS
    if name in ("equal", "is_nonzero", "allclose"):
        raise no_number("bool()")
    if name in ("nonzero", "unique", "unique_consecutive", "masked_select"):
        raise _dynamic(name)
    given = [x for x in _flat([list(args), kwargs]) if isinstance(x, Tensor)]
    if name in _ON_ALL and level_of(args[0]) is level:
        return wrap(function(_full(args[0]), *args[1:], **kwargs), level)
    if _changes(name) and given and given[0] is args[0]:
        if not on_level(args[0], level):
            if any(on_level(x, level) for x in given):
                raise not_in_place()
            return AS_IT_IS
        shape = _one_by_one(partial(_shape_after, function), args, kwargs, level)
        if shape != tuple(args[0].shape):  # what is changed are views of all examples
            return AS_IT_IS
        return args[0]
    if name in ("as_strided", "as_strided_copy"):  # counts from the memory of the one example
        return _one_by_one(lambda x, *rest, **named: function(x.clone(), *rest, **named), args, kwargs, level)
    return _one_by_one(function, args, kwargs, level)


def _shape_after(function: Callable, x: Tensor, *args, **kwargs) -> tuple:
    """The shape of x after a method has changed it."""
    function(x, *args, **kwargs)
    return tuple(x.shape)


def _changes(name: str) -> bool:
    """Whether a method changes the tensor."""
    if name[:2] == "__":
        return name == "__setitem__" or (name[2] == "i" and name not in ("__iter__", "__int__", "__index__", "__invert__"))
    return name.endswith("_")


Unbatched.again = again  # type: ignore[attr-defined]


def _dynamic(name: str) -> NotSupportedError:
    cause = tr("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over {}.", name)
    return NotSupportedError(cause, "badak.where, or a loop over the examples")


def not_in_place() -> NotSupportedError:
    """The complaint about a tensor that all examples share, and each would change in its own way."""
    return NotSupportedError(
        "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has "
        "more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap.",
        "the form that gives a new tensor, or zeros_like(x), which each example has for itself",
    )


def _random() -> NotSupportedError:
    return NotSupportedError(
        "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
        "flags on vmap or perform the randomness operation out of vmap",
        "vmap(f, randomness='different')",
    )


class _Vmap(Observer):
    """Leads to all examples what is no operation: pure functions, changes of memory, draws of random numbers."""

    def on_call(self, effect: Effect, args, kwargs, proceed):
        if effect.kind == "state" and args and isinstance(args[0], Twister) and effect.function.__name__ not in _SEEDS:
            for level in reversed(modes.batching):
                if level.randomness == "error":
                    raise _random()
                if level.randomness == "different" and not level.alone:
                    raise Unbatched.at(level)
            return proceed(*args, **kwargs)
        level = _innermost(_flat([list(args), kwargs]))
        if level is None:
            return proceed(*args, **kwargs)

        def function(*args, **kwargs):
            return self.on_call(effect, args, kwargs, proceed)

        if effect.kind == "check" and not effect.elementwise:
            with suppress(Unbatched):
                return proceed(*args, **kwargs)  # it looks at shapes alone
            return _one_by_one(function, args, kwargs, level)  # which gives nothing
        if effect.kind == "writes":
            if (
                not effect.elementwise
                or level_of(args[0]) is not level
                or any(level_of(x) is not None for x in _flat([list(args[1:]), kwargs]))
            ):
                raise Unbatched.at(level)
            function(_full(args[0]), *args[1:], **kwargs)
            return args[0]
        if effect.elementwise and level_of(kwargs.get("out")) is None:
            ndim = max((len(x.shape) for x in args if isinstance(x, Tensor)), default=0)
            made = function(*[aligned(_full(x), ndim) if level_of(x) is level else x for x in args], **kwargs)
            return None if made is None else mapped(made, lambda y: wrap(y, level))
        if effect.along and level_of(args[0]) is level and isinstance(args[0], Tensor) and args[0].ndim:
            given: Any = signature(effect.function).bind(*args, **kwargs).arguments
            axes = given.pop("axis", None)
            axes, ndim = given.pop(effect.along, None) if axes is None else axes, args[0].ndim
            axes = range(ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
            axes = [a % ndim + 1 for a in axes]
            rest = dict(list(given.items())[1:]) | {effect.along: axes[0] if len(axes) == 1 else tuple(axes)}
            return wrap(function(_full(args[0]), **rest), level)
        if effect.along and type(args[0]) is Batched and args[0].ndim and level_of(args[0]) is level:
            place, moved = effect.function.__code__.co_varnames.index(effect.along), list(args)
            moved[0], moved[place] = _full(args[0])._array, args[place] % args[0].ndim + 1
            return mapped(function(*moved, **kwargs), lambda y: Batched(Tensor._of(y), level))
        raise Unbatched.at(level)


_VMAP = _Vmap()


@contextmanager
def examples(size: int, randomness: str) -> Iterator[Level]:
    """A block in which tensors may have this many examples."""
    level, before = Level(size, randomness), modes.batching
    level.depth = len(before)
    first = _VMAP not in modes.observers  # within `alone` and `around` there are vmaps around that are not seen
    if first:
        watch(_VMAP)
    modes.batching = (*before, level)
    anywhere.casting += 1
    try:
        yield level
    finally:
        anywhere.casting -= 1
        modes.batching = before
        if first:
            watch(_VMAP, False)


@contextmanager
def around(level: Level) -> Iterator[None]:
    """A block for what is done for all examples of this vmap: within those around it alone."""
    before, modes.batching = modes.batching, modes.batching[: level.depth]
    try:
        yield
    finally:
        modes.batching = before


@contextmanager
def alone() -> Iterator[None]:
    """A block of a loop over examples, outside of all vmaps that are under way."""
    before, modes.batching = modes.batching, ()
    try:
        yield
    finally:
        modes.batching = before


def write(x: Tensor, value: Tensor, write_: Callable, name: str) -> Tensor:
    """write_ where one of them has examples."""
    level = _innermost([x, value])
    assert level is not None
    if level_of(x) is not level:
        raise not_in_place()
    write_(_full(x), aligned(_full(value), x.ndim) if level_of(value) is level else value, name)
    x._requires_grad = _full(x).requires_grad
    return x


def real_of(x: Tensor) -> Tensor:
    """The tensor of all examples of all vmaps, in whose graph the history is."""
    while type(x._array) is Batched:
        x = _full(x)
    return x


def hook_on_all(x: Tensor, hook: Callable) -> Any:
    """A hook of the gradient of one example, on the tensor of all of them: it runs within a vmap."""
    level = level_of(x)
    assert level is not None

    def of_all(dy: Tensor) -> Tensor | None:
        with examples(level.size, level.randomness) as again:
            made = hook(wrap(dy, again))
            return None if made is None else expose(made, again)

    return _full(x).register_hook(of_all)


def levels_of(xs: Sequence[Tensor]) -> list[Level]:
    """The vmaps under way whose examples one of the tensors has, from the outermost in."""
    return [level for level in modes.batching if any(on_level(x, level) for x in xs)]


def complain_of_shapes(y: Tensor) -> GraphError:
    """The complaint about a gradient of what is no single number."""
    shape = tuple(y.shape)
    cause = tr("grad can be implicitly created only for scalar outputs; this one has shape {}", shape)
    return GraphError(cause, "one number: y.sum()")
