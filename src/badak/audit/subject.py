"""The model under audit: forwards of it, counted, the first of which is what all others are compared with."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from badak.audit.batch import Batch, like
from badak.audit.compare import change
from badak.audit.descend import begins
from badak.audit.keep import random_states
from badak.audit.kind import Kind, kind_of, texts_of
from badak.audit.padding import filled_up, find_padding, mask_leaves, pad_ids
from badak.audit.watch import Watch, arrays_of
from badak.autograd import enable_grad, no_grad
from badak.errors import ArgumentError, BadakError
from badak.nn import Module
from badak.optim import Optimizer
from badak.replay import Compiled


class Unasked(Exception):
    """A probe does not apply; says why."""


class Subject:
    """A model, the batch that it is asked with, and what its first forward showed."""

    def __init__(
        self, model: Module, batch: Batch, said: str | None, pad: int | None, most: int, loss: Callable | None
    ):
        self.model, self.batch, self.most, self.loss = model, batch, most, loss
        self.rng = np.random.default_rng(0)
        self.forwards = self.backwards = 0
        self.notes: list[str] = []
        self.optimizers: list[Optimizer] = []
        self.neighbours: tuple[int, Watch] | None = None  # the row that was kept when all others changed
        self.tables: list[tuple[np.ndarray, np.ndarray]] = []  # what the backward brought to the tables
        self.leaks_rows = False  # set by the probe of rows: others are then not to be told apart from it
        self.compiled = Compiled(model, told=False)
        self.compiled_calls = 0
        model.eval()
        self.invented = self._fill_up(pad)
        self.reference = self._first()
        self.batch.batch_axis = self._batch_axis()
        watch = self.reference
        self.kind: Kind = kind_of(model, self.batch, watch.attentions, watch.lookups, said)
        sides = (self.kind.source, self.kind.text)
        self.texts = [name for name in sides if name is not None and self.batch.leaves[name].integer]
        self.padding: dict[str, np.ndarray] = {}
        self.padding_how = ""
        if self.texts:
            keeps = [seen.keep for seen in watch.attentions]
            self.padding, self.padding_how = find_padding(model, self.batch, self.texts, pad, keeps)

    # Forwards

    def forward(self, batch: Batch, edit: dict | None = None, facts: bool = False, grad: bool = False) -> Watch:
        """One forward, watched."""
        with enable_grad() if grad else no_grad(), Watch(self.model, edit, facts) as watch:
            watch.result = self._call(self.model, batch.copy())
        watch.outputs = arrays_of(watch.result)
        return watch

    def plain(self, batch: Batch) -> list[np.ndarray]:
        """The outputs of one forward that nobody watches, so that it can be recorded and replayed."""
        with no_grad():
            outputs = arrays_of(self._call(self.compiled, batch.copy()))
        self.compiled_calls += 1
        return outputs

    def _call(self, model: Callable, batch: Batch) -> Any:
        self.afford(1)
        self.forwards += 1
        try:
            return model(*batch.args, **batch.kwargs)
        except Exception as error:
            if self.forwards == 1:
                raise
            raise Unasked(f"the model fails on the changed batch: {words(error)}") from error

    def afford(self, count: int) -> None:
        """Raise Unasked where that many forwards are more than the audit may make."""
        if self.forwards + count > self.most:
            raise Unasked(f"{self.forwards} forwards are made; forwards={self.forwards + count} would allow for it")

    def _first(self) -> Watch:
        before = random_states()
        try:
            watch = self.forward(self.batch, facts=True)
        except Unasked:
            raise
        except Exception as error:
            raise ArgumentError(
                f"audit: {type(self.model).__name__} does not take this batch: {words(error)}",
                "the batch is what the model is called with: audit(model, (x,)), audit(model, {'ids': x}), not what a loader gives",
            ) from error
        if not any(np.issubdtype(x.dtype, np.floating) for x in watch.outputs):
            raise ArgumentError(
                f"audit: {type(self.model).__name__} gives no tensor of floats",
                "audit the part of it that gives logits or hidden states",
            )
        if random_states() == before:
            return watch
        try:
            again = self.forward(self.batch)
        except Unasked as why:
            cause = f"audit: {type(self.model).__name__} takes this batch only once: {why}"
            raise ArgumentError(cause, "let forward leave the model as it is") from None
        self.expect_same(watch, again)
        return watch

    def expect_same(self, reference: Watch, again: Watch) -> None:
        """Raise where two forwards of the same batch differ: nothing could be told of such a model."""
        if all(change(a, b) == 0.0 for a, b in zip(reference.outputs, again.outputs)):
            return
        where = begins(reference.calls, again.calls, lambda a, b: change(a, b) == 0.0)
        raise ArgumentError(
            f"audit: two forwards of {type(self.model).__name__} in eval mode differ, from {where.path or 'the model itself'}",
            "draw random numbers in training only: F.dropout(x, p, self.training)",
        )

    @cached_property
    def training(self) -> Watch:
        """The forward in train mode without dropout, with a graph; what it drew at random is in `training_random`."""
        modes = [(module, module.training) for module in self.model.modules()]
        undo = without_dropout(self.model)
        before = random_states()
        try:
            self.model.train()
            for module in self.model.modules():
                if normalises_batches(module):
                    module.training = False
            watch = self.forward(self.batch, grad=True)
            self.training_random = random_states() != before
            return watch
        finally:
            for module, mode in modes:
                module.training = mode
            for attributes, name, value in undo:
                attributes[name] = value

    # What the batch is

    @property
    def rows(self) -> int:
        """Rows of the batch."""
        return self.primary.shape[self.batch.batch_axis]

    @property
    def primary(self) -> np.ndarray:
        """What the model answers: the text, or the pictures."""
        return self.batch.leaves[self.kind.text].array

    def length(self, name: str | None = None) -> int:
        """Positions of a text; of the one that the model answers."""
        return self.batch.leaves[name or self.kind.text].array.shape[1 - self.batch.batch_axis]

    @property
    def causal(self) -> bool:
        return self.kind.kind in ("causal", "encoder-decoder")

    def ids(self, name: str) -> np.ndarray:
        """A text as (B, T)."""
        array = self.batch.leaves[name].array
        return array if self.batch.batch_axis == 0 else array.T

    def placed(self, ids: np.ndarray) -> np.ndarray:
        """(B, T) in the order of axes that the model has."""
        return np.ascontiguousarray(ids if self.batch.batch_axis == 0 else ids.T)

    def vocabulary(self, name: str) -> int:
        """Tokens that the text can have."""
        sizes = [x.vocabulary for x in self.reference.lookups if self.text_of(x.indices) == name]
        return max(sizes, default=int(self.ids(name).max()) + 1)

    def text_of(self, indices: np.ndarray) -> str | None:
        """Which text was looked up, if one was."""
        for name in self.texts:
            ids = self.batch.leaves[name].array
            if indices.size == ids.size and any(np.array_equal(indices.reshape(x.shape), x) for x in (ids, ids.T)):
                return name
        return None

    def other_tokens(self, name: str, where: np.ndarray) -> np.ndarray:
        """The text with other tokens, drawn at random, where (B, T) is true; padding stays, and none is made."""
        ids, size = self.ids(name).copy(), self.vocabulary(name)
        padding = self.padding.get(name)
        if padding is not None:
            where = where & ~padding
        never = set(pad_ids(self.model)) | (set(ids[padding].tolist()) if padding is not None else set())
        allowed = np.array([i for i in range(size) if i not in never])
        if len(allowed) < 2:
            raise Unasked(f"{name} has {size} tokens, which leaves nothing to change")
        new = self.rng.choice(allowed, ids.shape)
        clash = new == ids
        new[clash] = np.where(new[clash] == allowed[0], allowed[1], allowed[0])
        ids[where] = new[where]
        return self.placed(ids).astype(self.batch.leaves[name].array.dtype)

    def other_values(self, name: str, where: tuple) -> np.ndarray:
        """A tensor of floats with other values, drawn at random, at an index."""
        leaf = self.batch.leaves[name]
        new = leaf.array.copy()
        new[where] = like(leaf, self.rng.standard_normal)[where]
        return new

    def _batch_axis(self) -> int:
        """1 where layers with batch_first=False, and none with True, are given what has the axes of the text.

        Where both are, the text is (B, T), and the others count along the wrong axis: the probes find what comes of it.
        """
        texts = texts_of(self.batch)
        if not texts:
            return 0
        shape = self.batch.leaves[texts[0]].array.shape
        said = set()
        for call in self.reference.calls:
            if call.inputs and call.inputs[0].ndim == 3 and call.inputs[0].shape[:2] == shape and shape[0] != shape[1]:
                said.add(getattr(call.module, "batch_first", None))
        return int(False in said and True not in said)

    def _fill_up(self, pad: int | None) -> bool:
        """Make padding where the model knows what that is and the batch has none; whether it was made."""
        texts = texts_of(self.batch)
        known = [pad] if pad is not None else pad_ids(self.model)
        if not texts or not known or any(getattr(m, "batch_first", True) is False for m in self.model.modules()):
            return False
        shapes = {self.batch.leaves[name].array.shape for name in texts}
        if mask_leaves(self.batch, texts, {shape[1] for shape in shapes}) or min(shape[1] for shape in shapes) < 4:
            return False
        if any((self.batch.leaves[name].array == known[0]).any() for name in texts[:1]):
            return False
        some = texts[:1] if len(texts) == 1 or self.batch.leaves[texts[1]].array.max() <= 3 else texts[:2]
        self.batch = filled_up(self.batch, some, dict.fromkeys(some, known[0]))
        return True


def words(error: Exception) -> str:
    """The first line of an error, at most 300 characters."""
    text = error.cause if isinstance(error, BadakError) else f"{type(error).__name__}: {error}"
    return (text.splitlines() or [type(error).__name__])[0][:300]


def without_dropout(model: Module) -> list[tuple]:
    """Set every probability of dropout to 0: of the layers, and of attributes that are named so. Gives what puts them back."""
    undo = []
    for module in model.modules():
        attributes = vars(module)
        for name, value in list(attributes.items()):
            named = "drop" in name.lower() or name in ("p", "dr_rate")
            if named and isinstance(value, float) and 0 < value <= 1:
                undo.append((attributes, name, value))
                attributes[name] = 0.0
    return undo


def normalises_batches(module: Module) -> bool:
    """Whether a layer's train mode mixes the rows of a batch by design."""
    return (
        hasattr(module, "running_mean") and hasattr(module, "track_running_stats") and "Batch" in type(module).__name__
    )
