"""The model under audit: forwards of it, counted, the first of which is what all others are compared with."""

import random
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from badak.autograd import enable_grad, no_grad
from badak.compiler import Compiled
from badak.core.errors import ArgumentError, BadakError, tr
from badak.inspect.audit.answer import Losses, asked_by, labels_in, main_answer, moved, places_of, sink_of, triangles_in, verdict
from badak.inspect.audit.axes import batch_axis
from badak.inspect.audit.batch import Batch, like
from badak.inspect.audit.compare import ROUNDING, Places, along, change
from badak.inspect.audit.graph import Graph, Ran, mixers
from badak.inspect.audit.kind import SHIFTED, Kind, Shown, kind_of, one_further, part_of, texts_of
from badak.inspect.audit.localize import Clean, begins
from badak.inspect.audit.padding import filled_up, find_padding, mask_leaves, pad_ids
from badak.inspect.audit.past import held_by, remembers
from badak.inspect.audit.preserve_state import random_states, speaking
from badak.inspect.audit.reading import NotApplicable, reads_on, tried
from badak.inspect.audit.ready import normalises_batches, put_back, rows_in, wake, without_dropout
from badak.inspect.audit.watch import Watch, arrays_of
from badak.nn import Module
from badak.ops.embedding import Embedding
from badak.ops.index import Index
from badak.optim import Optimizer
from badak.tensor import Tensor


class Neighbours(NamedTuple):
    """A forward in which rows changed: `row` was kept, `twin` got the text of it, `turned` its own tokens in another order."""

    row: int
    twin: int | None
    turned: int | None
    moves: dict[str, np.ndarray]  # of `turned`: where each token of a text came from
    watch: Graph


NO_NUMBERS = tr("its outputs are NaN")
Changed = dict[str, np.ndarray]  # other arrays for some tensors of the batch


class Subject:
    """A model, the batch that it is asked with, and what its first forward showed."""

    def __init__(
        self, model: Module, batch: Batch, said: str | None, pad: int | None, most: int, loss: Callable | None,
        asked: Losses | list[np.ndarray] | None = None,
    ):  # fmt: skip
        self.model, self.batch, self.most, self.loss = model, batch, most, loss
        self._draws = random.getstate()
        self.rng = np.random.default_rng(0)
        self.forwards = self.backwards = 0
        self.notes: list[str] = []
        self.optimizers: list[Optimizer] = []
        self.neighbours: Neighbours | None = None  # the forward in which other rows changed
        self.inputs: dict[str, Tensor] = {}  # the numbers of the batch that the backward brings gradients to
        self.leaves: list[Tensor] = []  # no parameters, that got a gradient
        self.tables: list[tuple[np.ndarray, np.ndarray]] = []  # what the backward brought to the tables
        self.found: set[str] = set()  # the probes that have found something
        self.leaks_rows = False  # set by the probe of rows: others are then not to be told apart from it
        self.leaks_future = False  # set by the probe of what follows: a part of the text gives other outputs than the whole then
        self.moves_within = False  # set by it: a place answers what stands before it, for the model moves the text itself
        self.sizes_move = False  # set by it, too: how many places are read together depends on what stands there
        self.forgets = False  # set by it, too: nothing behind a token changes with it
        self.broken = False  # set by the probe of numbers: nothing can be compared with NaN
        self.compiled, self.compiled_calls = Compiled(model, told=False), 0
        model.eval()
        self.woken = wake(model, self.rng)
        self.rows_of_zeros = rows_in(model, self.woken)
        self.kept_back = len(self.rows_of_zeros[:1])  # forwards for the probe that comes last and needs one
        if self.woken:
            self.notes.append(
                tr("parameters of zeros alone ({}, e.g. {}): small random numbers stood in for them, "
                   "so that what is behind them was asked, too", len(self.woken), self.woken[0])
            )  # fmt: skip
        self.held = held_by(model)
        self.invented = self._fill_up(pad)
        self.reference = self._first()
        given = asked if isinstance(asked, Losses) else Losses()
        self.asked = asked_by(loss, self.reference) if loss is not None else given  # what its loss compares
        labels = asked if isinstance(asked, list) and asked else self.asked.labels
        self.batch.batch_axis = self._batch_axis(labels)
        self._find(said, pad, labels)
        if self.rows == 1 and self._more_rows():
            self._find(said, pad, labels)

    def _find(self, said: str | None, pad: int | None, labels: list[np.ndarray]) -> None:
        """What the first forward shows: the kind, the texts, where positions stand, padding."""
        watch = self.reference
        sides = [(each.q.reads, each.k.reads) for each in mixers(watch)]
        answers = [y for y in watch.outputs if y.dtype.kind in "fc" and y.ndim]
        if not answers:
            inner = [call for call in watch.calls if call.parent is not None and call.outputs]
            answers = max(inner, key=lambda each: each.ended).outputs if inner else []
        known = [*labels_in(watch), *labels]
        words = [run.output for run in watch.runs if run.op is Embedding or run.op is Index and any(run.parameters)]
        remembered = remembers(self.model, watch.result, (self.batch.args[1:], self.batch.kwargs), words)
        self.shown = Shown(watch.attentions, watch.lookups, sides, known, answers, *triangles_in(watch), remembered)
        self.kind: Kind = kind_of(self.model, self.batch, self.shown, said)
        names = (self.kind.source, self.kind.text)
        leaves = [self.batch.leaves[name] for name in names if name is not None]
        self.texts = [leaf.name for leaf in leaves if leaf.integer and leaf.array.ndim == 2]
        self.padding: dict[str, np.ndarray] = {}
        self.padding_how = ""
        if self.texts:
            self.padding, self.padding_how = find_padding(self.model, self.batch, self.texts, pad, watch)
        self.places = {name: self._places(name) for name in {*self.texts, self.kind.text}}
        if self.kind.text in self.texts and self.answer is not None:  # answers that are as many as a text without its last token
            places, length = self.places[self.kind.text], self.length()
            for n in watch.outputs[self.answer].shape[:2]:
                if 0 < length - n <= SHIFTED and n != self.rows:
                    places.others.setdefault(n, 0)
        if said is None and reads_on(self):
            self.kind = Kind("causal", tr("a token changes what it answers behind it, and nothing before it"), self.kind.text)

    def _places(self, name: str) -> Places:
        array = self.batch.leaves[name].array
        if array.ndim < 2:
            return Places(0)
        axis, rows = self.batch.batch_axis, array.shape[self.batch.batch_axis]
        found = [(x.indices, part_of(x.indices, array, axis)) for x in self.reference.lookups] if name in self.texts else []
        cut = [(x.size // rows, first) for x, first in found if first is not None]
        return places_of(self.reference, self.length(name), cut)

    def places_of_all(self) -> set[int]:
        """Every length that an axis of positions has."""
        known = {n for places in self.places.values() for n in places.all}
        return known if self.texts else known | {seen.keep.shape[-1] for seen in self.reference.attentions}

    def clean(self, other: Watch, clean: Clean, moves: bool = True) -> bool:
        """Whether what the model gives is clean; raises NotApplicable where that cannot be judged."""
        if self.broken:
            raise NotApplicable(NO_NUMBERS)
        word = verdict(self.reference, other, clean, moved if moves else None)
        if word is None:
            raise NotApplicable(tr("nothing that the model gives, nor its last modules, could be compared: no axis of it is known"))
        return word

    def sink(self) -> Ran | None:
        """The operation that made the model's answer."""
        return sink_of(self.reference, self.answer)

    @property
    def answer(self) -> int | None:
        """Which of the outputs is the answer."""
        return self.answer_in(self.reference)

    def answer_in(self, graph: Graph) -> int | None:
        """The same of another forward."""
        text = self.kind.text
        return main_answer(graph, self.vocabulary(text) if text in self.texts else 0, text)

    def without_padding(self, y: np.ndarray) -> np.ndarray:
        """What an output has at places that are no padding."""
        for name, mask in self.padding.items():
            for each in self.places[name].masks(mask):
                if y.shape[:2] == each.shape:
                    return y[~each]
        return y

    # Forwards

    def forward(self, asked: Batch | Changed, edit: dict | None = None, facts: bool = False, grad: bool = False) -> Watch:
        """One forward, watched, of a batch, or of this one with other tensors."""
        batch = asked if isinstance(asked, Batch) else self.batch.with_(asked)
        with (
            enable_grad() if grad else no_grad(),
            Graph(self.model, edit) if facts else Watch(self.model, edit) as watch,
        ):
            given, self.inputs = batch.learning() if grad else (batch.copy(), self.inputs)
            if isinstance(watch, Graph):
                watch.given = {id(x): name for name, x in given.arrays()}
            watch.result = self._call(self.model, given)
        watch.outputs = arrays_of(watch.result)
        return watch

    def plain(self, batch: Batch) -> list[np.ndarray]:
        """The outputs of one forward that nobody watches, so that it can be recorded and replayed."""
        with no_grad():
            outputs = arrays_of(self._call(self.compiled, batch.copy()))
        self.compiled_calls += 1
        return outputs

    def facts(self, asked: Batch | Changed, grad: bool = False) -> Graph:
        """One forward as a graph."""
        watch = self.forward(asked, facts=True, grad=grad)
        assert isinstance(watch, Graph)
        return watch

    def _call(self, model: Callable, batch: Batch) -> Any:
        self.afford(1)
        self.forwards += 1
        random.setstate(self._draws)  # a decoder may choose by chance what it reads next
        try:
            return model(*batch.args, **batch.kwargs)
        except Exception as error:
            if self.forwards == 1:
                raise
            raise NotApplicable(tr("the model fails on the changed batch: {}", words(error))) from error

    def afford(self, count: int) -> None:
        """Raise NotApplicable where that many forwards are more than the audit may make."""
        if self.forwards + count > self.most - self.kept_back:
            raise NotApplicable(tr("{} forwards are made; forwards={} would allow for it", self.forwards, self.forwards + count))

    def _first(self) -> Graph:
        before = random_states()
        try:
            with speaking() as said:
                watch = self.facts(self.batch)
        except NotApplicable:
            raise
        except Exception as error:
            raise self._refusal(error) from error
        self.notes += [f"the model warns: {text}" for text in said]
        if not any(np.issubdtype(x.dtype, np.floating) for x in watch.outputs):
            raise ArgumentError(
                tr("audit: {} gives no tensor of floats", type(self.model).__name__),
                "audit the part of it that gives logits or hidden states",
            )
        if random_states() == before:
            return watch
        try:
            again = self.forward(self.batch)
        except NotApplicable as why:
            cause = tr("audit: {} takes this batch only once: {}", type(self.model).__name__, why)
            raise ArgumentError(cause, "let forward leave the model as it is") from None
        self.expect_same(watch, again)
        return watch

    def _refusal(self, error: Exception) -> ArgumentError:
        """The model's own error, and in which module it came up; or that the batch is not what it takes."""
        name, where = type(self.model).__name__, getattr(error, "badak_module", "")
        place = f", in {where}" if where else ""
        return ArgumentError(
            tr("audit: {} does not take this batch{}: {}", name, place, words(error)),
            "the error is the model's own: the batch is what it is called with, as in audit(model, (x,)), audit(model, {'ids': x})",
        )

    def _more_rows(self) -> bool:
        """Three rows drawn at random next to the only one, where the model takes them: with one nothing is told of neighbours."""
        before = self.batch, self.reference
        try:
            self.batch = self._widened()
            self.reference = self.facts(self.batch)
        except NotApplicable:
            self.batch, self.reference = before
            return False
        self.notes.append(tr("the batch had one row: three more were drawn at random"))
        return True

    def _widened(self) -> Batch:
        axis, changed = self.batch.batch_axis, {}
        for name, leaf in self.batch.leaves.items():
            x = leaf.array
            where = axis if leaf.integer and x.ndim == 2 else self.axis_of_rows(x)
            if x.ndim < 2 or x.shape[where] != 1:
                continue
            rows = np.concatenate([x] * 4, axis=where)
            if name in self.texts or leaf.array.dtype.kind == "f" and name == self.kind.text:
                rest = (slice(None),) * where + (slice(1, None),)
                drawn = [self.other_tokens(name) if leaf.integer else self.other_values(name) for _ in range(3)]
                rows[rest] = np.concatenate(drawn, axis=where)
            changed[name] = rows
        return self.batch.with_(changed)

    def expect_same(self, reference: Watch, again: Watch) -> None:
        """Raise where two forwards of the same batch differ: nothing could be told of such a model."""
        if all(change(a, b) == 0.0 for a, b in zip(reference.outputs, again.outputs)):
            return
        where = begins(reference, again, lambda a, b: change(a, b) == 0.0)
        raise ArgumentError(
            tr("audit: two forwards of {} in eval mode differ, from {}", type(self.model).__name__,
               where.path or tr("the model itself")),
            "draw random numbers in training only: F.dropout(x, p, self.training)",
        )  # fmt: skip

    @cached_property
    def training(self) -> Graph:
        """The forward in train mode without dropout, with a graph; what it drew at random is in `training_random`."""
        modes = [(module, module.training) for module in self.model.modules()]
        undo = without_dropout(self.model)
        before = random_states()
        try:
            self.model.train()
            for module in self.model.modules():
                if normalises_batches(module):
                    module.training = False
            watch = self.facts(self.batch, grad=True)
            self.training_random = random_states() != before
            return watch
        finally:
            for module, mode in modes:
                module.training = mode
            put_back(undo)

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
        return self.batch.length(name or self.kind.text)

    @property
    def rounding(self) -> float:
        """How much every position may differ where one has changed, by rounding: in frequencies all of a text come together, and
        an expert rounds otherwise where it is asked for more of them."""
        return ROUNDING if self.reference.in_frequencies() or self.sizes_move else 0.0

    @property
    def causal(self) -> bool:
        return self.kind.kind in ("causal", "encoder-decoder")

    def ids(self, name: str) -> np.ndarray:
        """A text as (B, T)."""
        return self.batch.ids(name)

    def placed(self, ids: np.ndarray) -> np.ndarray:
        """(B, T) in the order of axes that the model has."""
        return np.ascontiguousarray(self.batch.by_rows(ids))

    def vocabulary(self, name: str) -> int:
        """Tokens that the text can have."""
        sizes = [x.vocabulary for x in self.reference.lookups if self.text_of(x.indices) == name]
        return max(sizes, default=int(self.ids(name).max()) + 1)

    def text_of(self, indices: np.ndarray) -> str | None:
        """Which text was looked up, if one was, or a part of one."""
        axis = self.batch.batch_axis
        return next((name for name in self.texts if part_of(indices, self.batch.leaves[name].array, axis) is not None), None)

    def other_tokens(self, name: str, at: Any = ...) -> np.ndarray:
        """The text with other tokens, drawn at random, at an index of (B, T); padding stays, and none is made."""
        ids, size = self.ids(name).copy(), self.vocabulary(name)
        padding, where = self.padding.get(name), np.zeros(ids.shape, bool)
        where[at] = True
        if padding is not None:
            where &= ~padding
        never = set(pad_ids(self.model)) | (set(ids[padding].tolist()) if padding is not None else set())
        allowed = np.array([i for i in range(size) if i not in never])
        if len(allowed) < 2:
            raise NotApplicable(tr("{} has {} tokens, which leaves nothing to change", name, size))
        new = self.rng.choice(allowed, ids.shape)
        clash = new == ids
        new[clash] = np.where(new[clash] == allowed[0], allowed[1], allowed[0])
        ids[where] = new[where]
        return self.placed(ids).astype(self.batch.leaves[name].array.dtype)

    def other_at(self, name: str, t: int) -> np.ndarray:
        """The text, or the rows of numbers, with something else at position t."""
        if self.batch.leaves[name].integer:
            return self.other_tokens(name, (slice(None), t))
        return self.other_values(name, (slice(None),) * (1 - self.batch.batch_axis) + (t,))

    def by_place(self, *arrays: np.ndarray, name: str = "") -> Iterator[tuple[int, list[np.ndarray]]]:
        """(the position that stands first, the arrays with their positions as the first axis) for each axis that can be theirs."""
        for shape, axis, first in along(arrays[0].shape, self.places[name or self.kind.text], self.rows):
            yield first, [np.moveaxis(x.reshape(shape), axis, 0) for x in arrays]

    def answers_by_place(self, outputs: list[np.ndarray]) -> Iterator[tuple[int, list[np.ndarray]]]:
        """The same of the model's answer, as it was and as it is in these outputs."""
        both = [] if self.answer is None else [self.reference.outputs[self.answer], outputs[self.answer]]
        if both and both[0].shape == both[1].shape:
            yield from self.by_place(*both)

    def other_values(self, name: str, where: Any = ...) -> np.ndarray:
        """A tensor of floats with other values, drawn at random, at an index."""
        leaf = self.batch.leaves[name]
        new = leaf.array.copy()
        new[where] = like(leaf, self.rng.standard_normal)[where]
        return new

    def _batch_axis(self, labels: list[np.ndarray]) -> int:
        floats = {n: leaf.array for n, leaf in self.batch.leaves.items() if leaf.array.dtype.kind == "f"}
        series = [n for n, x in floats.items() if x.ndim == 3]
        names = texts_of(self.batch) or series
        for x in floats.values():  # a series of which a loss asks the next number
            further = [x.ndim in (2, 3) and any(one_further(y, x, axis) for y in labels if y.dtype.kind == "f") for axis in (0, 1)]
            if not texts_of(self.batch) and further[0] != further[1]:
                return further.index(True)
        if not names:
            return 0
        again = lambda text: tried(lambda: self.forward({names[0]: text}))
        axis = batch_axis(self.batch, names[0], self.reference, [*labels_in(self.reference), *labels], pad_ids(self.model), again)
        shapes = [x.shape[:2] for x in (self.batch.leaves[name].array for name in names) if min(x.shape[:2]) > 1]
        unlike = [len({shape[i] for shape in shapes}) > 1 for i in (0, 1)]  # as many rows in each text, whatever layers believe
        return 1 - axis if unlike[axis] and not unlike[1 - axis] else axis

    def axis_of_rows(self, x: np.ndarray) -> int:
        """Along which axis rows of numbers stand: that of the text, or of the series, where there are as many."""
        state = bool(self.texts) and x.ndim == 3 and x.shape[0] != self.rows == x.shape[1]  # (layers, B, C)
        axis = 1 if state else self.batch.batch_axis
        return axis if x.dtype.kind == "f" and x.ndim > 2 and x.shape[axis] == self.rows else 0

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
