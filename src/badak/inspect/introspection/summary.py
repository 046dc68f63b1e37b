"""What a model is made of and what it costs: modules, shapes, parameters, FLOPs, memory, found by running it once.

    badak.summary(model, ids)
    badak summary RUN

Memory of a training step, in bytes, is that of

    weights         parameters and buffers, what is shared counted once
    gradients       one number for each parameter that is trained
    moments         two more, as Adam keeps them
    activations     the arrays that the forward leaves for the backward, each once; neither the batch nor the weights
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from badak.autograd import enable_grad
from badak.core.errors import ArgumentTypeError
from badak.core.i18n import columns, padded, say, tr
from badak.core.memory import owner_of
from badak.core.nests import inside
from badak.core.tracing import Recorder
from badak.nn import Module
from badak.tensor import Tensor
from badak.tensor.random import get_rng_state, set_rng_state

HEADS = ("module", "output", "parameters", "FLOPs", "activations")


@dataclass
class Row:
    """One module: its place in the model, what it gives, and what it and all inside it cost."""

    path: str
    kind: str
    output: str = ""
    calls: int = 0
    parameters: int = 0
    flops: int = 0
    activations: int = 0

    @property
    def depth(self) -> int:
        return self.path.count(".") + 1 if self.path else 0

    @property
    def costs(self) -> tuple:
        """What makes two modules alike."""
        return self.kind, self.output, self.calls, self.parameters, self.flops, self.activations


@dataclass
class Summary:
    """What `badak.summary` gives: `rows`, one for each module, and the sums; str() is a table."""

    name: str
    batch: str
    rows: list[Row]
    parameters: int = 0  # numbers
    trainable: int = 0
    forward: int = 0  # FLOPs
    backward: int = 0
    weights: int = 0  # bytes, as all that follow
    gradients: int = 0
    moments: int = 0
    activations: int = 0

    @property
    def training(self) -> int:
        """Bytes of a training step."""
        return self.weights + self.gradients + self.moments + self.activations

    def lines(self, depth: int | None = None) -> list[tuple[str, ...]]:
        """The cells of the table, alike neighbours told once; depth: how far down."""
        found: list[tuple[str, ...]] = []
        for row, alike in _told_once(self.rows):
            if depth is None or row.depth <= depth:
                last = row.path.rpartition(".")[2]
                more = "  " + say("and {} more like it", alike) if alike else ""
                name = f"{'  ' * row.depth}{last + ': ' if last else ''}{row.kind}{more}"
                activations = size(row.activations) if row.activations else ""
                found.append((name, row.output, f"{row.parameters:,}" if row.parameters else "", count(row.flops), activations))
        return found

    def totals(self) -> list[tuple[str, str]]:
        """The sums, in words."""
        frozen = self.parameters - self.trainable
        return [
            (say("batch"), self.batch),
            (say("parameters"), say("{:,}, {:,} of them not trained", self.parameters,
                                    frozen) if frozen else f"{self.parameters:,}"),
            ("FLOPs", say("forward {}, backward {}", count(self.forward) or "0", count(self.backward) or "0")),
            (say("memory"), say("weights {}: what the model needs to answer", size(self.weights))),
            ("", say("gradients {}, moments (Adam's two) {}, "
                        "activations {}", size(self.gradients), size(self.moments), size(self.activations))),
            ("", say("{} in training, with this batch", size(self.training))),
        ]  # fmt: skip

    def table(self, depth: int | None = None) -> str:
        """The whole text; depth: how many levels of modules are listed."""
        rows = [tuple(say(head) for head in HEADS), *self.lines(depth)]
        widths = [max(columns(row[i]) for row in rows) for i in range(len(HEADS))]
        lines = ["  ".join(padded(cell, w, i >= 2) for i, (cell, w) in enumerate(zip(row, widths))).rstrip() for row in rows]
        return "\n".join([*lines, "", *(f"{padded(name, 12)}{text}" for name, text in self.totals())])

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{say(name)}</th>" for name in HEADS)
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:{'left' if i < 2 else 'right'};white-space:pre'>{escape(cell)}</td>"
                             for i, cell in enumerate(row)) + "</tr>"
            for row in self.lines()
        )  # fmt: skip
        sums = "".join(f"<div><b>{escape(name)}</b> {escape(text)}</div>" for name, text in self.totals())
        return f"<table style='font-family:monospace'><tr>{head}</tr>{body}</table>{sums}"


class _Watch(Recorder):
    """Counts what the operations of a forward take, for each module in which they run."""

    def __init__(self, rows: dict[int, Row], known: dict[int, Any]):
        super().__init__()
        self.rows, self.known = rows, known  # known: memory that is no activation: of weights, of the batch
        self.forward = self.backward = 0
        self.kept: dict[int, Any] = {}

    def entered(self, module, args, kwargs) -> Row | None:
        return self.rows.get(id(module))

    def left(self, row, output, error) -> None:
        if error is None:
            row.calls += 1
            row.output = ", ".join(str(tuple(x.shape)) for x in inside(output, Tensor))

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        forward, of_inputs = op.flops(arrays, [y._array for y in outputs], attributes) if op.flops else (0, {})
        backward = sum(flops for number, flops in of_inputs.items() if saved.needs[number])
        left = 0
        if any(y._node is not None for y in outputs):
            self.backward += backward
            for array in inside([*vars(saved).values()], np.ndarray):
                owner = owner_of(array)
                if id(owner) not in self.known and id(owner) not in self.kept:
                    self.kept[id(owner)] = owner
                    left += owner.nbytes
        self.forward += forward
        for row in {id(row): row for row in self.stack}.values():
            row.flops += forward
            row.activations += left


def summary(model: Module, *batch: Any, **named: Any) -> Summary:
    """What model(*batch, **named) is made of and costs: modules, shapes, parameters, FLOPs, memory in training.

    The model runs once, as it is (training or not), with gradients; its buffers and the random numbers are as before afterwards.
    Raises ArgumentTypeError for what is no module; what the forward raises for a wrong batch passes. PyTorch has no such function.
    """
    if not isinstance(model, Module):
        raise ArgumentTypeError(tr("summary: expected a Module first; got {}", type(model).__name__), "badak.summary(model, batch)")
    rows = {id(module): Row(path, type(module).__name__) for path, module in model.named_modules()}
    weights = [*model.parameters(), *model.buffers()]
    given = [x._array for x in inside((batch, named), Tensor)]
    watch = _Watch(rows, {id(owner_of(array)): array for array in (*given, *(x._array for x in weights))})
    for module in model.modules():
        rows[id(module)].parameters = sum(p.numel() for p in module.parameters())
    with _unchanged(model), enable_grad(), watch:
        model(*batch, **named)
    trained = [p for p in model.parameters() if p.requires_grad]
    gradients = sum(p.numel() * p.element_size() for p in trained)
    shown = [f"{x.dtype} {tuple(x.shape)}".removeprefix("badak.") for x in inside((batch, named), Tensor)]
    return Summary(
        type(model).__name__,
        ", ".join(shown) or "no tensors",
        list(rows.values()),
        parameters=sum(p.numel() for p in model.parameters()),
        trainable=sum(p.numel() for p in trained),
        forward=watch.forward,
        backward=watch.backward,
        weights=sum({id(owner_of(x._array)): x._array.nbytes for x in weights}.values()),
        gradients=gradients,
        moments=2 * gradients,
        activations=sum(owner.nbytes for owner in watch.kept.values()),
    )


@contextmanager
def _unchanged(model: Module) -> Iterator[None]:
    """A block after which buffers, such as running means, and the random numbers are what they were."""
    state, buffers = get_rng_state(), [(x, x._array.copy()) for x in model.buffers()]
    try:
        yield
    finally:
        set_rng_state(state)
        for x, before in buffers:
            if not np.array_equal(x._array, before, equal_nan=before.dtype.kind in "fc"):
                x.data.copy_(Tensor._of(before))


def _told_once(rows: list[Row]) -> Iterator[tuple[Row, int]]:
    """(row, how many after it are alike and left out): layers that cost the same as the one before, with all inside them."""
    inside = {row.path: [r for r in rows if r.path.startswith(f"{row.path}.")] for row in rows}
    skipped: set[str] = set()
    for row in rows:
        if row.path in skipped:
            continue
        parent = row.path.rpartition(".")[0]
        alike = 0
        if row.path and row.path.rpartition(".")[2].isdigit():
            for other in rows[rows.index(row) + 1 :]:
                if other.path.rpartition(".")[0] == parent and other.path.count(".") == row.path.count("."):
                    mine, theirs = ([r.costs for r in inside[r0.path]] for r0 in (row, other))
                    if other.costs != row.costs or mine != theirs:
                        break
                    alike += 1
                    skipped |= {other.path, *(r.path for r in inside[other.path])}
        yield row, alike


def count(number: float) -> str:
    """A number of FLOPs to read: "12.3 M"; "" for none."""
    return _read(number, ("", "K", "M", "G", "T"), "{:,.0f} P") if number else ""


def size(number: float) -> str:
    """A number of bytes to read."""
    return _read(number, ("B", "KB", "MB", "GB"), "{:,.3g} TB")


def _read(number: float, units: tuple[str, ...], last: str) -> str:
    for unit in units:
        if number < 1000:
            return f"{number:.3g} {unit}".strip()
        number /= 1000
    return last.format(number)
