"""A model is given back as it was: weights, buffers, modes, gradients, attributes, hooks, random generators."""

import hashlib
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from badak.core.errors import StateError, heard_anew, tr
from badak.core.events import Effect
from badak.nn import Module
from badak.nn.members import HOOKS, MEMBERS
from badak.tensor import Tensor
from badak.tensor.layouts import strided
from badak.tensor.random import get_rng_state, set_rng_state


class Kept:
    """All that a forward, a backward or a probe could change of a model, by value.

    lazily: parameters are copied no sooner than somebody is about to write to them, which `about_to` must be told; of the others
    a fingerprint proves in the end that nobody did. A large model is not held twice. Its gradients must be taken away before.
    """

    def __init__(self, model: Module, lazily: bool = False):
        self.modules = [(module, dict(vars(module))) for module in model.modules()]
        self.tables = [
            (table, dict(table)) for module, _ in self.modules for name in (*MEMBERS, *HOOKS) for table in [vars(module)[name]]
        ]
        self.lists: list[tuple[Any, Any]] = [
            (value, list(value) if isinstance(value, list) else dict(value))
            for _, attributes in self.modules
            for name, value in attributes.items()
            if type(value) in (list, dict) and name not in (*MEMBERS, *HOOKS)
        ]
        tensors = {id(x): x for x in _tensors(self.modules)}
        later = {id(p): (name, p) for name, p in model.named_parameters()} if lazily else {}
        self.values = [(x, x._array.copy()) for x in tensors.values() if id(x) not in later and x.layout is strided]
        self.uncopied = {key: (name, p, p._array, fingerprint(p._array)) for key, (name, p) in later.items()}
        self.grads = [(x, x.grad, None if lazily else _copied(x.grad)) for x in tensors.values()]

    def about_to(self, effect: Effect, args: tuple, kwargs: dict) -> None:
        """A function that changes memory or state is about to be called: copy the parameters that it may write to."""
        if effect.kind not in ("writes", "state") or effect.alone:
            return
        given = [*args, *kwargs.values()] if effect.kind == "state" else args[:1]
        told = [x._array for x in given if isinstance(x, Tensor)]
        every = any(not isinstance(x, (Tensor, *_PLAIN)) for x in given)
        for key, (_, p, array, _) in list(self.uncopied.items()):
            if every or any(np.may_share_memory(x, array) for x in told):
                self.values.append((p, array.copy()))
                del self.uncopied[key]

    def restore(self) -> None:
        """Put back what is another now."""
        for module, attributes in self.modules:
            _put_back(vars(module), attributes)
        for table, entries in self.tables:
            _put_back(table, entries)
        for value, items in self.lists:
            if isinstance(value, list):
                value[:] = items
            else:
                _put_back(value, items)
        for x, array in self.values:
            _write(x, array)
        for x, grad, before in self.grads:
            if grad is not None and before is not None:
                _write(grad, before)
            if x.is_leaf and x.grad is not grad:
                x.grad = grad
        for name, p, array, mark in self.uncopied.values():
            if fingerprint(array) != mark:
                raise StateError(
                    tr("the model changed its parameter {} behind badak's back, as by .numpy(), and it stays so", name),
                    "change parameters by methods of tensors, p.copy_(x), or look at copy.deepcopy(model)",
                )
            if p._array is not array:  # p.data = x
                _write(p, array)


_PLAIN = (int, float, str, bool, type(None), tuple, np.ndarray, np.random.Generator)  # what holds no parameters


def fingerprint(array: np.ndarray) -> bytes:
    """Sixteen bytes that say whether an array still has the same bits."""
    return hashlib.blake2b(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, digest_size=16).digest()


def _tensors(modules) -> Iterator[Tensor]:
    for _, attributes in modules:
        for table in ("_parameters", "_buffers"):
            yield from (x for x in attributes[table].values() if x is not None)
        yield from (x for x in attributes.values() if isinstance(x, Tensor))


def _put_back(table: Any, entries: dict) -> None:
    if list(table) != list(entries) or any(table[key] is not value for key, value in entries.items()):
        table.clear()
        table.update(entries)


def _write(x: Tensor, array: Any) -> None:
    if x._array.shape != array.shape or x._array.tobytes() != array.tobytes():
        x.data.copy_(Tensor._of(array))


def random_states() -> tuple:
    """Where the three generators stand that programs draw from."""
    _, keys, *rest = np.random.get_state()
    return get_rng_state().tolist(), (np.asarray(keys).tobytes(), *rest), random.getstate()


@contextmanager
def speaking() -> Iterator[list[str]]:
    """What is warned of within the block, each text once, also where it was said before in this process."""
    said: list[str] = []
    with heard_anew(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    said += dict.fromkeys(" ".join(str(each.message).split()) for each in caught)


@contextmanager
def as_it_was(model: Module, lazily: bool = False) -> Iterator[Kept]:
    """Within the block anything may be done to the model; after it, and after an exception, nothing is left of that."""
    kept, numpy_state, python_state, own_state = Kept(model, lazily), np.random.get_state(), random.getstate(), get_rng_state()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield kept
    finally:
        np.random.set_state(numpy_state)
        random.setstate(python_state)
        set_rng_state(own_state)
        kept.restore()


def _copied(grad: Tensor | None) -> np.ndarray | None:
    """Its values; None where there are none, or where nothing writes to them."""
    return None if grad is None or grad.is_sparse else grad._array.copy()
