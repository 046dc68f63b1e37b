"""One forward as a graph: every operation, what made its inputs, which tensors of the batch its numbers come from.

`mixers` are the attentions in it: queries, keys, values, and the operation that adds values up.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from badak.inspect.audit.einsums import asks_along, scored, summed
from badak.inspect.audit.watch import Watch, tensors_in
from badak.nn import Module
from badak.ops.arithmetic import Add
from badak.ops.attention import Attention
from badak.ops.cast import Cast
from badak.ops.einsum import Contract
from badak.ops.embedding import Embedding
from badak.ops.fourier import Fourier, InverseRealFourier, RealFourier
from badak.ops.index import Index
from badak.ops.matmul import MatMul
from badak.ops.op import Op
from badak.ops.softmax import Softmax
from badak.tensor import Tensor

HIDDEN = -1e3  # a score that is at most this is hidden; masks of -1e4 are added to scores that may be above 0


class Seen(NamedTuple):
    """Which keys an attention lets its queries see, as far as it can be known: (..., T, S), True = seen."""

    path: str
    keep: np.ndarray
    blind: np.ndarray  # (..., T): queries that see nothing


class Lookup(NamedTuple):
    """A table was asked for rows."""

    path: str
    indices: np.ndarray
    vocabulary: int
    table: np.ndarray
    reads: frozenset[str] = frozenset()  # the tensors of the batch that its indices come from, where that is known


@dataclass(eq=False)
class Ran:
    """One operation that ran. `sources` are the operations that made its inputs, None for parameters and what was given."""

    number: int
    op: type[Op]
    path: str
    calls: tuple[int, ...]  # of modules, in which it ran, the outermost first
    inputs: list[np.ndarray | None]
    sources: list["Ran | None"]
    slots: list[int]  # which output of its source each input is
    attributes: dict[str, Any]
    outputs: list[np.ndarray]
    parameters: list[str | None]  # names of the inputs that are parameters, or parts of one
    live: bool  # whether parameters had a part in it
    reads: frozenset[str] = frozenset()  # the tensors of the batch that its numbers come from
    graded: bool = False  # whether a gradient can come back through it
    cut: frozenset[int] = frozenset()  # the inputs that lost their history on the way from their source
    dys: list[np.ndarray | None] | None = None  # what came from above
    dxs: list[Any] = field(default_factory=list)
    order: int = -1  # in the backward

    @property
    def output(self) -> np.ndarray:
        return self.outputs[0]

    @property
    def moves(self) -> bool:
        """Whether it only says where numbers stand, or in which precision: pictures of a model leave it out."""
        return self.op.view or self.op is Cast or self.op.__name__ in _MOVES

    def inside(self) -> list["Ran"]:
        """It and all that it depends on, in order."""
        seen, pending = {self.number: self}, [self]
        while pending:
            for source in pending.pop().sources:
                if source is not None and source.number not in seen:
                    seen[source.number] = source
                    pending.append(source)
        return [seen[number] for number in sorted(seen)]


_MOVES = {"Reshape", "Clone", "Replaced"}
_NOBODY: tuple[Ran | None, int] = (None, 0)


class Graph(Watch):
    """`with Graph(model) as graph: y = model(...)`. `runs`: the operations, in order."""

    copies = False  # whether arrays are kept as they were, also where they are written to later

    def __init__(self, model: Module, edit: dict | None = None):
        super().__init__(model, edit)
        self.runs: list[Ran] = []
        self.attentions: list[Seen] = []
        self.lookups: list[Lookup] = []
        self.given: dict[int, str] = {}  # id of an array of the batch -> its name
        self._made: dict[int, tuple[Ran, int]] = {}  # id of an array -> what made its values, and as which output
        self._reads: dict[int, frozenset[str]] = {}  # id of an array -> the tensors of the batch in it, also in parts of it
        self._alive: list[Any] = []  # so that no id is given twice
        self._names = {id(p._array): name for name, p in model.named_parameters()}
        self._written: dict[int, np.ndarray] = {}  # memory that was written to, and that the next forward may write to again
        self._softmaxes: dict[int, int] = {}  # which of the attentions -> number of its softmax

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        for i, number in self._softmaxes.items():
            product = scores_of(self.runs[number]) if number < len(self.runs) else None
            if product is not None and product.op is Contract and (axis := asks_along(product)) is not None:
                keep, blind = self.attentions[i].keep, self.attentions[i].blind
                if keep.ndim == product.output.ndim:
                    self.attentions[i] = Seen(self.attentions[i].path, np.moveaxis(keep, axis, -2), np.moveaxis(blind, axis, -1))
        self.lookups += [
            Lookup(each[0].path, ids, each[0].vocabulary, each[0].table, each[0].reads)
            for each in in_turn(self.lookups, lambda look: look.path, lambda look: look.indices)
            for ids in [np.stack([look.indices.ravel() for look in each], axis=1)]
        ]

    def made(self, array: np.ndarray) -> tuple[Ran, int] | None:
        """The operation that made an array, and as which of its outputs."""
        return self._made.get(id(array))

    def maker(self, array: np.ndarray) -> Ran | None:
        """The operation that made an array."""
        return self._made.get(id(array), _NOBODY)[0]

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        ids = asked_for(op, attributes) if id(arrays[0]) in self._names else None  # rows of a bare parameter
        reads = frozenset().union(*(self._told(x) for x in (*arrays, ids)))
        path = self.stack[-1].path if self.stack else ""
        self._note(path, op, arrays, attributes, reads)
        made = [_NOBODY if x is None else self._made.get(id(x), _NOBODY) for x in arrays]
        names = [None if x is None else self._names.get(id(x)) for x in arrays]
        part = names[0] if (op.view or op is Cast) and names else None  # of a parameter
        sources, slots = [source for source, _ in made], [slot for _, slot in made]
        copy = self.copies or any(x is not None and id(owner(x)) in self._written for x in (*arrays, *(y._array for y in outputs)))
        given = [x if x is None or name or not copy else x.copy() for x, name in zip(arrays, names)]
        kept = [y._array if part or not copy else y._array.copy() for y in outputs]
        live = any(names) or any(source is not None and source.live for source in sources)
        graded = [i for i, source in enumerate(sources) if source is not None and source.graded]
        run = Ran(
            len(self.runs), op, path, tuple(call.index for call in self.stack), given, sources, slots, attributes, kept, names,
            live, reads, any(y._node is not None for y in outputs), frozenset(i for i in graded if not inputs[i].requires_grad),
        )  # fmt: skip
        self._alive.append((arrays, outputs, [y._node for y in outputs]))
        for slot, y in enumerate(outputs):
            self._reads[id(y._array)] = reads
            if part:
                self._names[id(y._array)] = part
            else:
                self._made[id(y._array)] = run, slot
        if not part:
            self.runs.append(run)
            self.noticed(run, outputs)

    def _note(self, path: str, op: type[Op], arrays: Any, attributes: dict[str, Any], reads: frozenset[str]) -> None:
        """Note attentions and look-ups."""
        if op is Embedding:
            ids = next(x for x in arrays if x is not None and x.dtype.kind in "iu")
            table = next(x for x in arrays if x is not None and x.dtype.kind not in "iu")
            self.lookups.append(Lookup(path, ids, table.shape[0], table, reads))
        elif id(arrays[0]) in self._names and reads and (ids := asked_for(op, attributes)) is not None and arrays[0].ndim == 2:
            self.lookups.append(Lookup(path, ids, len(arrays[0]), arrays[0], reads))
        elif op is Attention:
            self._attends(path, arrays, attributes)
        elif op is Softmax and arrays[0].ndim >= 3 and attributes.get("dim", -1) in (-1, arrays[0].ndim - 1):
            keep = ~(arrays[0] <= HIDDEN)  # NaN hides nothing
            self._softmaxes[len(self.attentions)] = len(self.runs)
            self.attentions.append(Seen(path, keep, np.asarray(~keep.any(axis=-1))))

    def _attends(self, path: str, arrays: Any, attributes: dict[str, Any]) -> None:
        q, k, _, keep, bias, *_ = arrays
        shape = (*q.shape[:3], k.shape[2])
        seen: Any = np.ones(shape[2:], bool)
        if attributes.get("causal") is not None:
            seen = np.tril(seen, attributes["causal"])
        if keep is not None:
            seen = seen & keep
        if bias is not None:
            seen = seen & (bias > HIDDEN)
        self.attentions.append(Seen(path, seen, np.asarray(~np.broadcast_to(seen, shape).any(axis=-1))))

    def _told(self, array: np.ndarray | None) -> frozenset[str]:
        """The tensors of the batch that an array's numbers come from."""
        if id(array) in self.given:
            return frozenset((self.given[id(array)],))
        return self._reads.get(id(array), frozenset())

    def noticed(self, run: Ran, outputs: list) -> None:
        """An operation stands in `runs` now."""

    def on_call(self, effect, args, kwargs, proceed):
        """A write gives a tensor's memory other values: those of what is written there."""
        result = super().on_call(effect, args, kwargs, proceed)
        if effect.kind == "writes":
            written, *given = (self._made.get(id(getattr(x, "_array", None))) for x in args)
            if isinstance(args[0], Tensor):
                memory = owner(args[0]._array)
                self._written[id(memory)] = memory
                told = (self._told(x._array) for x in args if isinstance(x, Tensor))
                self._reads[id(args[0]._array)] = frozenset().union(*told)
                self._alive.append(args[0]._array)
            made = next((each for each in given if each is not None), None)
            if made is not None:
                self._made[id(args[0]._array)] = made
            elif written is not None:
                self._made.pop(id(args[0]._array))
        return result

    @property
    def results(self) -> list[Ran | None]:
        """What made each tensor that the model gave."""
        return [self.maker(x._array) for x in tensors_in(self.result)]

    def in_frequencies(self) -> bool:
        """Whether a part of it is computed there."""
        return any(run.op in (Fourier, RealFourier, InverseRealFourier) for run in self.runs)

    def consumers(self) -> dict[int, list[Ran]]:
        """Number of a run -> those that read what it made."""
        found: dict[int, list[Ran]] = defaultdict(list)
        for run in self.runs:
            for source in filter(None, run.sources):
                found[source.number].append(run)
        return {**found}


def asked_for(op: type[Op], attributes: dict[str, Any]) -> np.ndarray | None:
    """The ids of rows that an index picks, table[ids]; None for anything else."""
    key = attributes.get("key") if op is Index else None
    key = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    return key if isinstance(key, np.ndarray) and key.dtype.kind in "iu" else None


def owner(x: np.ndarray) -> np.ndarray:
    """The array whose memory it is."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def in_turn(several: list, path: Callable, ids: Callable) -> list[list]:
    """Look-ups of one token for each row, one after the other, as a decoder makes them that reads its text token by token."""
    found: dict[tuple, list] = defaultdict(list)
    for each in several:
        if ids(each).size == max(ids(each).shape, default=0) > 1:
            found[path(each), ids(each).size].append(each)
    return [each for each in found.values() if len(each) >= LEAST]


LEAST = 3  # look-ups that make a text


def through(run: Ran | None) -> Ran | None:
    """The operation that computed what this one only moves."""
    while run is not None and run.moves and run.sources and run.sources[0] is not None:
        run = run.sources[0]
    return run


def summands_of(run: Ran) -> list[Ran]:
    """What a sum of two of one shape adds up, the older one first; nothing for anything else."""
    made = sorted((source for source in run.sources if source is not None), key=lambda each: each.number)
    fits = run.op is Add and len(made) == 2 and all(each.output.shape == run.output.shape for each in made)
    return made if fits else []


def origins(run: Ran | None) -> Iterator[Ran]:
    """An operation, and those that what it moves was moved by before, back to the one that computed it."""
    while run is not None:
        yield run
        run = run.sources[0] if run.moves and run.sources else None


def readers(run: Ran, consumers: dict[int, list[Ran]]) -> Iterator[Ran]:
    """The operations that compute with what a run made, moved or not."""
    for each in consumers.get(run.number, []):
        if each.moves:
            yield from readers(each, consumers)
        else:
            yield each


# ---------------------------------------------------------------- attentions

PRODUCTS = (MatMul, Contract)


class Asked(NamedTuple):
    """Queries and keys of one product of an attention's scores."""

    q: Ran
    k: Ran
    queries: Any  # as the product has them, (..., T, D); None with scores that are no product
    keys: np.ndarray | None  # (..., S, D); None where that cannot be told
    path: str = ""


class Mixer(NamedTuple):
    """One attention, of a head or of all: the operation that adds values up, and what it was given."""

    core: Ran
    asked: list[Asked]  # the products that its scores are the sum of; mostly one
    v: Ran
    values: np.ndarray | None
    mixed: np.ndarray  # what the core gave, (..., T, D)

    @property
    def path(self) -> str:
        return self.core.path

    @property
    def q(self) -> Ran:
        return self.asked[0].q

    @property
    def k(self) -> Ran:
        return self.asked[0].k

    @property
    def queries(self) -> np.ndarray:
        return self.asked[0].queries

    @property
    def keys(self) -> np.ndarray | None:
        return self.asked[0].keys


def mixers(graph: Graph) -> list[Mixer]:
    """The attentions of a forward, in order."""
    consumers, found = graph.consumers(), []
    for run in graph.runs:
        if issubclass(run.op, Attention):
            q, k, v = run.sources[:3]
            queries, keys, values = run.inputs[:3]
            if q is not None and k is not None and v is not None and queries is not None:
                found.append(Mixer(run, [Asked(q, k, queries, keys)], v, values, run.output))
        elif run.op is Softmax and run.attributes.get("dim", -1) in (-1, run.output.ndim - 1) and run.output.ndim > 2:
            core, below = product_after(run, consumers), scores_of(run)
            if core is not None and below is not None:
                found.append(by_hand(run, core, below))
    return found


def additive(graph: Graph) -> list[Mixer]:
    """The attentions within one text whose scores are no product, as of graphs: of their queries and keys nothing is known."""
    consumers, found = graph.consumers(), []
    for run in graph.runs:
        square = run.op is Softmax and run.output.ndim > 2 and run.output.shape[-1] == run.output.shape[-2] > 2
        core = product_after(run, consumers) if square and scores_of(run) is None else None
        if core is not None and any(source is not None and source.reads for source in core.sources[:2] if source is not run):
            found.append(by_hand(run, core, None))
    return found


def by_hand(softmax: Ran, core: Ran, below: Ran | None) -> Mixer:
    """The attention that a product (or something else, where that is None), a softmax and a product are."""
    weights = core.sources[1] if core.op is Contract else None
    side = 0 if weights is not None and softmax in weights.inside() else 1
    values, mixed = (core.inputs[1], core.output) if core.op is MatMul else summed(core, side)
    scores = [] if below is None else [below, *(each for each in summands(softmax) if each is not below)]
    asked = [asked_by(each) for each in scores] or [Asked(softmax, softmax, None, None)]
    return Mixer(core, asked, core.sources[side] or softmax, values, mixed)


def asked_by(below: Ran) -> Asked:
    """Queries and keys of a product."""
    q, k = below.sources[:2]
    assert q is not None and k is not None
    queries, keys = below.inputs[:2]
    if below.op is MatMul:
        keys = None if keys is None or keys.ndim < 2 else keys.swapaxes(-1, -2)
    else:
        if below.attributes["ty"][-1] not in below.attributes["tb"]:  # the keys stand first
            q, k = k, q
        queries, keys = scored(below)
    return Asked(q, k, queries, keys)  # type: ignore[arg-type]


def summands(softmax: Ran) -> list[Ran]:
    """The products of what was read of a text, without weights, that are added up in a softmax's scores."""
    found, pending, seen = [], [softmax.sources[0]], {-1}
    while pending:
        run = pending.pop()
        if run is None or run.number in seen or run.output.size != softmax.output.size:
            continue
        seen.add(run.number)
        if run.op not in PRODUCTS:
            pending += run.sources
        elif all(source is not None and source.reads for source in run.sources[:2]) and not any(run.parameters[:2]):
            found.append(run)
    return found


def between(softmax: Ran, product: Ran) -> list[tuple[Ran, int]] | None:
    """What scores go through on their way to a softmax, the last first, and as which input; None where they go several ways."""
    found, at = list[tuple[Ran, int]](), softmax.sources[0]
    while at is not None and at is not product:
        sides = [i for i, source in enumerate(at.sources) if source is not None and product in source.inside()]
        if len(sides) != 1:
            return None
        found.append((at, sides[0]))
        at = at.sources[sides[0]]
    return None if at is None else found


def product_after(run: Ran, consumers: dict[int, list[Ran]], depth: int = 5) -> Ran | None:
    """The product that adds values up under these weights: the next one, or behind a mask, a factor or a dropout."""
    for reader in readers(run, consumers):
        if reader.op in PRODUCTS:
            return reader
    for reader in readers(run, consumers):  # of several softmaxes one may be taken from another
        if depth and reader.output.ndim > 2 and reader.output.shape[-2:] == run.output.shape[-2:] and reader.op is not Softmax:
            found = product_after(reader, consumers, depth - 1)
            if found is not None:
                return found
    return None


def scores_of(run: Ran) -> Ran | None:
    """The product of queries and keys that a softmax's scores are made of."""
    fits = [
        below for below in reversed(run.inside())
        if below.op in PRODUCTS and below.output.size == run.output.size and None not in below.sources[:2]
    ]  # fmt: skip
    both = (below for below in fits if all(source is not None and source.reads for source in below.sources[:2]))
    below = next(both, next(iter(fits), None))  # of queries with keys, not with distances
    return below if below is not None and not any(below.parameters[:2]) else None
