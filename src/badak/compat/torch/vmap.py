"""`torch.func.vmap`: what goes in and comes out. What happens within is in `tensor/vmap.py`."""

import importlib
from collections.abc import Callable
from typing import Any

from badak.compat.torch.pytree import TreeSpec, tree_flatten, tree_unflatten
from badak.core.errors import ArgumentError, IndexOutOfRangeError, expect_function, tr
from badak.core.modes import modes
from badak.tensor import Tensor
from badak.tensor import vmap as batching
from badak.tensor.batched import NoNumber, Unbatched


def vmap(
    func: Callable, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None
) -> Callable:
    """func for tensors with a further dim: it is called once, and each operation in it runs on all examples together.

        vmap(f)(x, y)[i] = f(x[i], y[i])

    in_dims: an int for all arguments or a tuple with an int or None (the same for every i) for each, where a tuple or dict
    may follow the argument's own; keyword arguments are the same for every i. Gradients flow through.
    randomness: "error", "same" numbers for every i or "different" ones. chunk_size: so many examples at once, for less memory.
    Parity: an operation without a rule (`badak.ops.batching`) runs for one example after the other, and so does the function
    where something in it is no operation; a product of many rows may be rounded otherwise than one of few.
    """
    expect_function("vmap", func)
    if randomness not in ("error", "different", "same"):
        raise ArgumentError(tr("Only allowed values for randomness are 'error', 'different', or 'same'. Got {}", randomness), None)
    if chunk_size is not None and chunk_size <= 0:
        raise ArgumentError(tr("vmap: chunk_size should be None or greater than 0. (got {})", chunk_size), "chunk_size=64")

    def mapped(*args, **kwargs):
        dims = tuple(in_dims) if isinstance(in_dims, tuple | list) else (in_dims,) * len(args)
        if len(dims) != len(args):
            cause = tr("vmap: expected one entry of in_dims per argument; got {} for {}", len(dims), len(args))
            raise ArgumentError(cause, "in_dims=0 takes dim 0 of every argument")
        leaves, spec = tree_flatten((args, kwargs), _holds_many)
        places = [d for a, dim in zip(args, dims) for d in _spread(dim, a)]
        places += [None] * (len(leaves) - len(places))
        size = _number_of_examples(leaves, places)
        step = size if chunk_size is None else chunk_size
        made = [
            _examples(func, leaves, places, slice(at, min(at + step, size)), spec, out_dims, randomness)
            for at in range(0, size, step or 1) or [0]
        ]
        outer, at = made[0][1:]
        if len(made) == 1:
            return tree_unflatten(made[0][0], outer)
        return tree_unflatten(
            [ys[0] if d is None else _joined("cat", ys, d) for d, ys in zip(at, zip(*(ys for ys, *_ in made)))], outer
        )

    return mapped


def _vmap(func: Callable, in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False):
    """vmap by its older name."""
    return vmap(func, in_dims, out_dims)


def _holds_many(x: Any) -> bool:
    """Whether it holds tensors and knows how to go through a vmap with all of them: TensorDict has PyTorch's words for it."""
    return hasattr(type(x), "_add_batch_dim") and not isinstance(x, Tensor)


def _number_of_examples(leaves: list, places: list) -> int:
    for x, d in zip(leaves, places):
        if d is not None and not isinstance(x, Tensor) and not _holds_many(x):
            cause = tr(
                "vmap: Got in_dim={} for an input but the input is of type {}. We cannot vmap over non-Tensor arguments", d, type(x)
            )
            raise ArgumentError(cause, "None as its in_dim")
        if d is not None and not -x.ndim <= d < x.ndim:
            cause = tr("vmap: expected in_dims of dims that the tensors have; got {} for shape {}", d, tuple(x.shape))
            raise IndexOutOfRangeError(cause, "in_dims=0 is the first dim, None leaves an argument as it is")
    sizes = dict.fromkeys(x.shape[d] for x, d in zip(leaves, places) if d is not None)
    if not sizes:
        raise ArgumentError("vmap: Expected at least one Tensor to vmap over", "in_dims=0 for one of the arguments")
    if len(sizes) != 1:
        cause = tr(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {} for the mapped dimension",
            list(sizes),
        )
        raise ArgumentError(cause, "in_dims=None for an argument that stays as it is")
    return next(iter(sizes))


def _examples(func, leaves, places, part: slice, spec, out_dims, randomness: str) -> tuple[list, TreeSpec, list]:
    """(results, their tree, out_dims of each) for these examples: all at once, or in a loop where that cannot be."""
    size = part.stop - part.start
    xs = [x if d is None else x[(slice(None),) * (d % x.ndim) + (part,)] for x, d in zip(leaves, places)]
    try:
        with batching.examples(size, randomness) as level:
            args, kwargs = tree_unflatten([x if d is None else _goes_in(x, d, level) for x, d in zip(xs, places)], spec)
            ys, outer = tree_flatten(func(*args, **kwargs), _holds_many)
            at = _out_dims(func, ys, outer, out_dims)
            return [_came_out(y, d, level) for y, d in zip(ys, at)], outer, at
    except Unbatched as error:
        if isinstance(error, NoNumber) or error.level is not level or not size:
            raise
    columns = [[x] * size if d is None else x.unbind(d) for x, d in zip(xs, places)]
    made = []
    before, modes.one_by_one = modes.one_by_one, True
    try:
        for row in zip(*columns):
            args, kwargs = tree_unflatten(row, spec)
            made.append(tree_flatten(func(*args, **kwargs), _holds_many))
    finally:
        modes.one_by_one = before
    outer = made[0][1]
    at = _out_dims(func, made[0][0], outer, out_dims)
    return [ys[0] if d is None else _joined("stack", ys, d) for d, ys in zip(at, zip(*(ys for ys, _ in made)))], outer, at


def _out_dims(func, ys: list, outer: TreeSpec, out_dims) -> list:
    at = _spread(out_dims, tree_unflatten([None] * outer.num_leaves, outer))
    for y, d in zip(ys, at):
        if d is not None and not isinstance(y, Tensor) and not _holds_many(y):
            name = getattr(func, "__name__", type(func).__name__)
            raise ArgumentError(
                tr("vmap({}, ...): `{}` must only return Tensors, got type {}. Did you mean to set out_dims= to None for output?",
                   name, name, type(y)),
                "badak.tensor(value), or out_dims=None",
            )  # fmt: skip
    return at


def _joined(how: str, ys: tuple, d: int) -> Any:
    return getattr(importlib.import_module("badak"), how)(list(ys), d)  # the public one, which asks the class of what is joined


def _goes_in(x: Any, d: int, level) -> Any:
    return x._add_batch_dim(in_dim=d, vmap_level=level) if _holds_many(x) else _add_batch_dim(x, d, level)


def _came_out(y: Any, d: int | None, level) -> Any:
    if _holds_many(y):
        return y._maybe_remove_batch_dim("vmap", vmap_level=level, batch_size=level.size, out_dim=d)
    return _maybe_remove_batch_dim("vmap", y, level, level.size, d)


def _add_batch_dim(tensor: Tensor, in_dim: int, vmap_level) -> Tensor:
    """The tensor of one example that stands for all of this vmap, which the axis `in_dim` counts."""
    return batching.wrap(tensor.movedim(in_dim, 0), vmap_level)


def _remove_batch_dim(batched_output: Tensor, vmap_level, batch_size: int, out_dim: int) -> Tensor:
    """The tensor of all examples, which the axis `out_dim` counts."""
    return batching.expose(batched_output, vmap_level).movedim(0, out_dim)


def _maybe_remove_batch_dim(name: str, batched_output: Any, vmap_level, batch_size: int, out_dim: int | None) -> Any:
    """The same for a result, which is what it is where `out_dim` is None."""
    if out_dim is None:
        if batching.level_of(batched_output) is vmap_level:
            raise ArgumentError("vmap: a function can not return a BatchedTensor when out_dim is None", "out_dims=0")
        return batched_output
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)


def _spread(dim: Any, tree: Any) -> list:
    """`dim` for every leaf of the tree: one for all, or containers of them that follow the tree's own."""
    if dim is None or isinstance(dim, int):
        return [dim] * tree_flatten(tree, _holds_many)[1].num_leaves
    children = list(dim.values()) if isinstance(dim, dict) else list(dim)
    below = [tree[key] for key in dim] if isinstance(dim, dict) else list(tree)
    if len(children) != len(below):
        cause = tr("vmap: expected dims that follow the argument; got {} for {} parts", len(children), len(below))
        raise ArgumentError(cause, "one dim for all of its parts, or a tuple or dict like the argument")
    return [d for child, part in zip(children, below) for d in _spread(child, part)]
