"""What is noted where a function is called that changes state: clipping, a schedule that moves on, a seed."""

import random
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import ref

import numpy as np

from badak.compat.torch.amp.grad_scaler import GradScaler
from badak.core.modes import modes
from badak.data.collate import default_collate
from badak.data.fetch import MapFetcher
from badak.data.loader import _BaseDataLoaderIter
from badak.distributions import Distribution
from badak.inspect.doctor import layout, mixtures, parts
from badak.inspect.doctor.collated import apart, in_order
from badak.inspect.doctor.facts import Clip, Watch
from badak.inspect.doctor.given import loaded_into
from badak.inspect.doctor.graph import behind, memory
from badak.inspect.doctor.names import line, said
from badak.inspect.doctor.rows import places_of, source_of
from badak.inspect.doctor.tape import tensors
from badak.nn import Module
from badak.optim.lr_scheduler import LRScheduler
from badak.tensor import Tensor
from badak.tensor._sampling import Source
from badak.tensor.random import default_generator


def clipped(watch: Watch, by_value: bool, proceed: Callable, parameters: Any, limit: Any, **kwargs: Any) -> Any:
    """clip_grad_norm_, clip_grad_value_: how large the gradients were, and what is let through."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    gradients = [p._grad.to_dense()._array for p in parameters if isinstance(p, Tensor) and p._grad is not None]
    early = bool(parameters) and not any(g.any() for g in gradients) and not watch.open.backs
    mine = [p for p in parameters if isinstance(p, Tensor) and p._grad is not None]
    late = bool(mine) and not watch.open.backs and all(watch._used.get(id(p)) for p in mine)
    backs = len(watch.open.backs)
    before = max((float(abs(g).max()) for g in gradients if g.size), default=0.0) if by_value else 0.0
    result = proceed(parameters, limit, **kwargs)
    if not by_value and isinstance(result, Tensor):
        before = float(result._array)
    if len(watch.open.clips) < 16:
        watch.open.clips.append(Clip(line(), before, float(limit), early, late, backs, watch.scaled))
    return result


def clip(watch: Watch, effect: Any, args: tuple, kwargs: dict, proceed: Callable) -> Any:
    by_value = effect.function.__name__ == "clip_grad_value_"
    names = ("parameters", "clip_value" if by_value else "max_norm")
    given = {**dict(zip(names, args)), **kwargs}
    if len(args) > 2 or not all(name in given for name in names):
        return proceed(*args, **kwargs)
    return clipped(watch, by_value, proceed, given.pop(names[0]), given.pop(names[1]), **given)


def compared(watch: Watch, effect: Any, args: tuple, kwargs: dict, proceed: Callable) -> Any:
    """Data and a number, which says what label it is; or what a model gave in a test and a number."""
    result = proceed(*args, **kwargs)
    x, limit = (*args, None, None)[:2]
    if isinstance(x, Tensor) and isinstance(result, Tensor) and x._node is None and not x._requires_grad and x._array.size > 1:
        if isinstance(limit, Tensor) and effect.function.__name__ == "eq" and not modes.grad:
            column_and_row(watch, x._array, limit._array)
            for guess, labels in ((x, limit), (limit, x)):
                _, model = watch.guesses.get(memory(guess._array), (None, 0))
                if model and guess.shape == labels.shape and len(watch.open.guessed) < 256:
                    watch.open.guessed.append((model, line(), guess._array.ravel().copy(), labels._array.ravel().copy()))
        if isinstance(limit, int | float):
            parts.read(watch, x._array, float(limit))
            if memory(x._array) in watch.answers and not modes.grad and len(watch.guesses) < 256:
                watch.guesses[memory(result._array)] = result, id(watch.answers[memory(x._array)][1])
        if modes.grad and len(watch.told) < 16:
            watch.told[memory(result._array)] = result._array, x._array
    return result


def column_and_row(watch: Watch, a: np.ndarray, b: np.ndarray) -> None:
    """Note answers (B, 1) that are compared with labels (B,): each with all. What was made a column on purpose is a view."""
    column, row = (a, b) if a.ndim == 2 else (b, a)
    n = len(column) if column.ndim == 2 else 0
    on_purpose = isinstance(column.base, np.ndarray) and column.base.ndim == 1
    if n > 3 and column.shape == (n, 1) and row.shape == (n,) and not on_purpose:
        layout.note(watch, "compared", a.shape, b.shape)


def largest(watch: Watch, effect: Any, args: tuple, kwargs: dict, proceed: Callable) -> Any:
    """argmax, argmin, max and min along an axis, of what a model gave in a test."""
    x, axis = (*args, None, None)[:2]
    array = x._array if isinstance(x, Tensor) else x
    if isinstance(array, np.ndarray) and array.ndim:
        smallest = "argmin" in effect.function.__qualname__
        parts.asked_for(watch, array, smallest, behind(x, ()) if isinstance(x, Tensor) and x._node is not None else None)
        if isinstance(axis, int) and not smallest:
            parts.read(watch, array, None, axis % array.ndim)
        _, module = watch.answers.get(memory(array), (None, None))
        if module is not None and not smallest and not modes.grad and len(watch.guesses) < 256:
            result = proceed(*args, **kwargs)
            classes = [y for y in tensors(result) if y._array.dtype.kind in "iu"]
            watch.guesses |= {memory(y._array): (y, id(module)) for y in classes}
            return result
    return proceed(*args, **kwargs)


def scheduled(watch: Watch, effect: Any, args: tuple, kwargs: dict, proceed: Callable) -> Any:
    if args and isinstance(args[0], LRScheduler):
        watch.open.scheduled.append((line(), bool(watch.open.backs)))
        watch.schedules[id(args[0])] = args[0]
    return proceed(*args, **kwargs)


def reseeded(watch: Watch, args: tuple) -> None:
    """A generator is given a seed."""
    if args[0] is default_generator:
        watch.seeds.append((line(), args[1:], len(watch.steps)))


def seeded(watch: Watch, effect: Any, args: tuple, kwargs: dict, proceed: Callable) -> Any:
    reseeded(watch, args)
    watch.open.seeded = True
    return proceed(*args, **kwargs)


SEEDS = (random, "seed"), (np.random, "seed"), (np.random, "default_rng"), (np.random, "RandomState")


def like_class(kind: type, makes: Callable) -> type:
    """What stands in for a class: called, it does what `makes` does; asked, its instances are those of the class."""

    class Kind(type):
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            return makes(*args, **kwargs)

        def __instancecheck__(cls, x: Any) -> bool:
            return isinstance(x, kind)

    return Kind(kind.__name__, (), {})


def stands_in(*functions: tuple[Any, str, Any]) -> Callable[[], None]:
    """Put functions, (holder, name, function), in the place of others. Gives the function that puts these back."""
    plain = [(holder, name, vars(holder).get(name)) for holder, name, _ in functions]
    for each in functions:
        setattr(*each)

    def ended() -> None:
        for holder, name, function in plain:
            setattr(holder, name, function) if function is not None else delattr(holder, name)

    return ended


def seeds_told(watch: Watch) -> Callable[[], None]:
    """Note seeds given to Python and NumPy, too. Gives the function that ends it."""

    def told(function: Callable) -> Callable:
        def seeding(*args: Any, **kwargs: Any) -> Any:
            watch.open.seeded |= bool(args or kwargs)
            return function(*args, **kwargs)

        return seeding if not isinstance(function, type) else like_class(function, seeding)

    return stands_in(*((holder, name, told(getattr(holder, name))) for holder, name in SEEDS))


def shuffles_told(watch: Watch) -> Callable[[], None]:
    """Note lists that Python or NumPy shuffles, and what has a label for each of them. Gives the function that ends it."""

    def told(function: Callable) -> Callable:
        def shuffling(x: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(x, (list, np.ndarray)) and len(watch.given.shuffled) < 256:
                with suppress(Exception):
                    watch.given.shuffled.append(
                        (x, apart(x, sys._getframe(1).f_locals) if len(watch.given.shuffled) < 64 else [], line())
                    )
            return function(x, *args, **kwargs)

        return shuffling

    return stands_in(*((holder, "shuffle", told(holder.shuffle)) for holder in (random, np.random)))


def loads_told(watch: Watch) -> Callable[[], None]:
    """Note which modules were given weights, and who keeps those of one. Gives the function that ends it."""
    load, state, scale, unscale = Module.load_state_dict, Module.state_dict, GradScaler.scale, GradScaler.unscale_

    def loading(module: Module, *args: Any, **kwargs: Any) -> Any:
        result = load(module, *args, **kwargs)
        if len(watch.given.loaded) < 64:
            watch.given.loaded.append(
                loaded_into(module, result.missing_keys, line(), args[0] if args else kwargs.get("state_dict"))
            )
        return result

    def giving(module: Module, *args: Any, **kwargs: Any) -> Any:
        result = state(module, *args, **kwargs)
        if not args and not kwargs and len(watch.given.kept) < 64:
            first = next(iter(result.values()), None)
            watch.given.kept.append((ref(result if first is None else first), line(), said(), watch.open.number))
        return result

    def scaling(scaler: GradScaler, outputs: Any) -> Any:
        watch.scaled = scaler.get_scale()
        return scale(scaler, outputs)

    def unscaling(scaler: GradScaler, optimizer: Any) -> None:
        unscale(scaler, optimizer)
        watch.scaled = 1.0

    return stands_in(
        (Module, "load_state_dict", loading), (Module, "state_dict", giving), (GradScaler, "scale", scaling),
        (GradScaler, "unscale_", unscaling),
    )  # fmt: skip


def draws_told(watch: Watch) -> Callable[[], None]:
    """Note the rows that loaders give, before anything is done to them. Gives the function that ends it."""
    plain, fetch = _BaseDataLoaderIter.__next__, MapFetcher.fetch

    def drawing(batches: Any) -> Any:
        batch = plain(batches)
        watch.loaders[id(batches._loader)] = batches._loader
        watch.rows.drawn = next((x for x in tensors(batch) if x._node is None and x.dim() > 1), None)
        watch.rows.given = getattr(batches._loader, "dataset", None)
        watch.rows.drew(source_of(batches._loader))
        return batch

    def fetching(fetcher: Any, index: Any) -> Any:
        watch.rows.places = None
        with suppress(Exception):  # a dataset of the program's own may be anything
            watch.rows.places = places_of(fetcher.dataset, index)
        made_by = fetcher.collate_fn
        if not fetcher.batched or made_by is default_collate or len(watch.collated) >= 8:
            return fetch(fetcher, index)

        def collating(examples: Any) -> Any:
            batch = made_by(examples)
            with suppress(Exception):
                watch.collated.append(in_order(examples, batch))
            return batch

        fetcher.collate_fn = collating
        try:
            return fetch(fetcher, index)
        finally:
            fetcher.collate_fn = made_by

    return stands_in((_BaseDataLoaderIter, "__next__", drawing), (MapFetcher, "fetch", fetching))


def noise_told(watch: Watch) -> Callable[[], None]:
    """Note how many normal numbers are drawn at a time. Gives the function that ends it."""
    plain = Source.normal

    def drawing(source: Source, shape: Any, *args: Any, **kwargs: Any) -> Any:
        result = plain(source, shape, *args, **kwargs)
        if len(watch.open.noise) < 64:
            watch.open.noise.append(int(np.prod(np.shape(result), dtype=int)))
            mixtures.drawn(watch, result)
        return result

    return stands_in((Source, "normal", drawing))


def likelihoods_told(watch: Watch) -> Callable[[], None]:
    """Note how likely data is under what a model gives, or what a model gives under what is fixed. Gives what ends it."""
    kinds = [Distribution]
    for kind in kinds:
        kinds += [each for each in kind.__subclasses__() if each not in kinds]

    def told(function: Callable) -> Callable:
        def asking(self: Any, value: Any) -> Any:
            result = function(self, value)
            if modes.grad and isinstance(result, Tensor) and result._node is not None and len(watch.likely) < 64:
                learns = [x._node is not None or x._requires_grad for x in (*tensors(vars(self)), value) if isinstance(x, Tensor)]
                if learns and learns[-1] != any(learns[:-1]):
                    watch.likely[id(result._node)] = result._node, line(), 1, watch.open.likely
            return result

        return asking

    def spread(function: Callable) -> Callable:
        def asking(self: Any) -> Any:
            result = function(self)
            if modes.grad and isinstance(result, Tensor) and result._node is not None and len(watch.likely) < 256:
                watch.likely[id(result._node)] = result._node, line(), 1, watch.open.uncertain
            return result

        return asking

    ways = [("log_prob", told), ("entropy", spread)]
    return stands_in(*((kind, name, way(vars(kind)[name])) for name, way in ways for kind in kinds if name in vars(kind)))


def classes_drawn(watch: Watch, effect: Any, args: tuple, kwargs: dict, proceed: Callable) -> Any:
    """Classes are drawn, as what a policy does next."""
    result = proceed(*args, **kwargs)
    if modes.grad or watch.called:
        watch.given.drawn[result.reshape(-1).tobytes()] = None
        if len(watch.given.drawn) > 256:
            del watch.given.drawn[next(iter(watch.given.drawn))]
    return result


DOORS = {
    "multinomial": classes_drawn,
    **dict.fromkeys(("eq", "ne", "gt", "ge", "lt", "le"), compared),
    **dict.fromkeys(("along", "position"), largest),
    "clip_grad_norm_": clip,
    "clip_grad_value_": clip,
    "step": scheduled,
    "reseed": seeded,
}
TOLD = seeds_told, loads_told, draws_told, shuffles_told, likelihoods_told, noise_told  # while a training is watched
