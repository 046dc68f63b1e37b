"""Who tells the steps of which operation."""

from collections.abc import Callable

import numpy as np

from badak.inspect.visualize.floors import formulas
from badak.inspect.visualize.steps import norms, pairs, places, pointwise, products, weights
from badak.inspect.visualize.steps.row import Row, Steps, step
from badak.inspect.visualize.trace import Ran

Teller = Callable[[Row], Steps | None]
NAMES = {
    "LayerNorm": ["x", "w", "b"], "RMSNorm": ["x", "w"], "Linear": ["x", "w", "b"], "AddMM": ["b", "x", "w"],
    "Conv": ["x", "w", "b"], "Attention": ["q", "k", "v", "keep", "bias", "drop"], "Embedding": ["w", "ids"],
    "CrossEntropy": ["logits", "target", "weight"], "NLL": ["logp", "target", "weight"], "Dropout": ["x", "keep"],
    "MaskedFill": ["x", "mask"], "Where": ["keep", "a", "b"],
}  # fmt: skip
TOLD: dict[str, tuple[Teller, Teller | None]] = {
    "LayerNorm": (norms.layer_norm, norms.layer_norm_back),
    "RMSNorm": (norms.rms_norm, norms.rms_norm_back),
    "Linear": (products.linear, products.linear_back),
    "AddMM": (products.linear, products.linear_back),
    "MatMul": (products.matmul, products.matmul_back),
    "Conv": (products.conv, products.conv_back),
    "Attention": (weights.attention, weights.attention_back),
    "Softmax": (weights.softmax, weights.softmax_back),
    "LogSoftmax": (weights.log_softmax, weights.log_softmax_back),
    "CrossEntropy": (weights.cross_entropy, weights.cross_entropy_back),
    "NLL": (weights.nll, None),
    "Embedding": (places.embedding, places.embedding_back),
    "Mean": (places.total, places.total_back),
    "Sum": (places.total, places.total_back),
    "Cat": (places.together, places.apart),
    "Dropout": (pairs.dropout, pairs.dropout_back),
    "MaskedFill": (pairs.masked, pairs.masked_back),
    **dict.fromkeys(pairs.PAIRS, (pairs.pair, pairs.pair_back)),
}


def forward_steps(row: Row) -> Steps:
    """The forward of this row; of an operation that is not known here, what goes in and what comes out, by its own formula."""
    told = _teller(row)
    made = told[0](row) if told is not None and _fits(row) else None
    if made is not None:
        return made
    inputs = [step(name, "", x) for name, x in zip(names_of(row.run), row.x) if x is not None]
    return [*inputs, step("y", _formula(row.run), row.y)]


def backward_steps(row: Row) -> Steps:
    """The backward of this row, between what came and what goes on."""
    told = _teller(row)
    if row.dy is None or told is None or told[1] is None or not _fits(row):
        return []
    return told[1](row) or []


def _teller(row: Row) -> tuple[Teller, Teller | None] | None:
    known = TOLD.get(row.kind)
    return (pointwise.pointwise, pointwise.pointwise_back) if known is None and pointwise.of_one(row) else known


def _fits(row: Row) -> bool:
    """Whether the row is one of real numbers along the axis that the operation works on."""
    kind = row.kind
    if kind == "Conv":  # reads a piece of the picture, which is no row of it
        return True
    main = 1 if kind == "AddMM" else 0
    if len(row.x) <= main or row.x[main] is None or np.iscomplexobj(row.run.output):
        return False
    if kind in ("Softmax", "LogSoftmax"):
        return weights.over_rows(row) and row.given().size == row.y.size
    if kind in ("LayerNorm", "RMSNorm"):
        return row.setting("axes", 1) == 1 and row.given().size == row.y.size
    if pointwise.of_one(row):
        return row.given().size == row.y.size and (row.dy is None or row.dy.size == row.y.size)
    if kind in pairs.PAIRS:
        return len(row.x) == 2 and (row.dy is None or row.dy.size == row.y.size)
    return True


def names_of(run: Ran) -> list[str]:
    """What the inputs of an operation are called."""
    known = NAMES.get(run.op.__name__)
    return known or (["x"] if len(run.inputs) == 1 else list("abcdefghijklmnop")[: len(run.inputs)])


def _formula(run: Ran) -> str:
    """The first formula of its docstring, without its left side."""
    forward, _, _ = formulas(run.op)
    return forward[0].partition(" = ")[2] if forward and " = " in forward[0] else ""
