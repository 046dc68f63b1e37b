"""The steps of each operation: a formula gives the numbers that stand next to it, and they lead to those of the run."""

import numpy as np
import pytest

import badak
from badak import nn
from badak.inspect.visualize import boxes
from badak.inspect.visualize.steps import backward_steps, forward_steps
from badak.inspect.visualize.steps import row as rows
from badak.nn import functional as F
from tests.inspect.visualize.evaluate import Judge
from tests.inspect.visualize.test_look import MODELS

pytestmark = pytest.mark.slow


class Curves(nn.Module):
    """Every operation that acts on each number alone, and pairs, means, products and pieces of pictures: one after the other."""

    def __init__(self):
        super().__init__()
        self.patches, self.cls = nn.Conv2d(3, 8, 4, 4), nn.Parameter(badak.randn(1, 1, 8))
        self.weight, self.answer = nn.Parameter(badak.rand(8) + 0.5), nn.Linear(8, 5)
        self.gate, self.up = nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False)
        self.norm, self.bare = nn.LayerNorm(8), nn.LayerNorm(8, elementwise_affine=False)
        self.angles = badak.rand(17, 8)

    def forward(self, x):
        h = badak.cat([self.cls, self.patches(x).flatten(2).transpose(1, 2)], dim=1)
        h = self.bare(self.norm(h)) * self.weight
        h = h * self.angles.cos() + h.flip(-1) * self.angles.sin()  # rotary
        h = F.dropout(h, 0.25, training=True)
        h = h + F.silu(self.gate(h)) * self.up(h)  # a gate
        for curve in (F.gelu, lambda x: F.gelu(x, approximate="tanh"), badak.tanh, badak.sigmoid, badak.sin, badak.cos, badak.erf):
            h = self.bare(h + curve(3 * h))
        h = (h.square() + 1).sqrt().log().exp() / (h.square() + 1).rsqrt() - (1 - h.abs()) / 2 + 1 / (h.square() + 2)
        h = (h.square() + 1) ** 1.5 + badak.reciprocal(h.square() + 3) - (-h) / (h.square() + self.weight)
        h = self.bare(h / 10 + F.relu(h - 1))
        shares = (h @ h.transpose(-1, -2)).softmax(dim=-1)
        h = (shares @ h + h.mean(-1, keepdim=True)).masked_fill(h > 3, 0.5)
        return self.answer(h.sum(1) / 8 + h.mean(dim=1)).log_softmax(-1)


def cases():
    yield from MODELS.items()
    badak.manual_seed(1)
    yield "curves", (Curves(), badak.rand(1, 3, 16, 16), badak.tensor([2]))


CASES = dict(cases())


@pytest.fixture(scope="module")
def told():
    """{name of a model: [(row, forward steps, backward steps), ...]}, with all of their numbers, as they are."""
    found = {}
    for name, (model, batch, labels) in CASES.items():
        found[name] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rows, "FIRST", 10**9)
            patch.setattr(rows, "short", lambda x: x)
            patch.setattr(boxes, "forward_steps", lambda row, seen=found[name]: seen.append([row, forward_steps(row)]) or [])
            patch.setattr(boxes, "backward_steps", lambda row, seen=found[name]: seen[-1].append(backward_steps(row)) or [])
            badak.look(model, batch, labels=labels)
    return found


def judge(row, steps):
    """What a formula of this row may name."""
    run, size = row.run, max(row.y.size, 1)
    known = {name: x for name, x in zip(boxes.names_of(run), row.x) if x is not None}
    tables = {}
    for name, x in zip(boxes.names_of(run), run.inputs):
        if x is None or x.dtype.kind not in "fiu":
            continue
        if name == "ids" or (x.ndim == 2 and name == "w"):
            tables[name] = x.reshape(-1) if name == "ids" else x.astype(np.float64)
    known |= {name: x for name, x in run.attributes.items() if isinstance(x, int | float) and not isinstance(x, bool)}
    known |= {"C": row.x[0].size if row.x and row.x[0] is not None else size, "eps": run.attributes.get("eps", 1e-5), "y": row.y}
    if row.kind == "AddMM":
        tables["w"] = run.inputs[2].T.astype(np.float64)
    if row.kind == "Conv":
        tables["w"] = run.inputs[1].reshape(len(run.inputs[1]), -1).astype(np.float64)
    if row.kind == "Attention":
        tables |= {name: run.inputs[i][0, 0].astype(np.float64) for i, name in ((1, "k"), (2, "v"))}
    if row.kind == "MatMul":
        b = run.inputs[1]
        tables["b"] = b.reshape(-1, *b.shape[-2:])[0].astype(np.float64)
    if row.kind == "CrossEntropy":
        labels = run.inputs[1].reshape(-1)
        known |= {"M": (labels != -100).sum(), "onehot": np.eye(row.x[0].size)[labels[row.place if labels.size > 1 else 0]]}
    if row.kind in ("Mean", "Sum"):
        axis = run.attributes["axis"]
        axis = axis[0] if isinstance(axis, tuple) else axis
        x = np.moveaxis(run.inputs[0], axis, 0)
        tables["x"] = x.reshape(len(x), -1)[:, : row.y.size] if axis % x.ndim != x.ndim - 1 else row.x[0]
    if row.dy is not None:
        known["dy"] = row.dy
    for step in steps:
        known[step["name"]] = np.asarray(step["values"])
    return Judge(known, tables)


def shown(values):
    return np.asarray(values, np.float64).reshape(-1)


@pytest.mark.parametrize("name", CASES)
def test_a_formula_gives_the_numbers_that_stand_beside_it(name, told):
    __tracebackhide__ = True
    count = 0
    for row, forward, backward in told[name]:
        for at, step in enumerate([*forward, *backward]):
            if not step["formula"] or row.kind in UNTOLD:
                continue
            before = [*forward, *backward][:at]
            made = judge(row, before).evaluate(step["formula"])
            got = shown(step["values"])
            want = np.broadcast_to(made.x, got.shape if made.x.ndim == 0 else made.x.shape).reshape(-1)
            seen = np.isfinite(got)  # hidden scores
            where = f"{row.run.path} {row.kind}: {step['name']} = {step['formula']}"
            np.testing.assert_allclose(got[seen], want[seen], rtol=2e-3, atol=2e-5, err_msg=where)
            count += 1
    assert count > 40


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_of_the_steps_is_the_one_of_the_run(name, told):
    compared = set()
    for row, _, backward in told[name]:
        own = dict(zip((f"d{name}" for name in boxes.names_of(row.run)), row.dx))
        for step in backward:
            dx = own.get(step["name"])
            if dx is not None and dx.size == step["of"] and "part" not in step["why"]:
                where = f"{row.run.path} {row.kind}"
                np.testing.assert_allclose(shown(step["values"]), dx, rtol=2e-3, atol=1e-6, err_msg=where)
                compared.add(row.kind)
    norm = "RMSNorm" if name == "llama" else "LayerNorm"
    assert compared >= {"Linear", norm} | ({"Mul", "SiLU"} if name == "curves" else {"Attention"})


UNTOLD = {"Cat", "Stack", "Flip", "Index", "Contract", "Pad", "Select", "Gather"}


def test_every_operation_of_the_models_has_steps(told):
    from badak.inspect.visualize.steps.table import TOLD, pointwise

    rows_ = [row for rows_ in told.values() for row, *_ in rows_]
    kinds = {row.kind for row in rows_}
    assert {row.kind for row in rows_ if not pointwise.of_one(row)} - set(TOLD) <= UNTOLD
    assert {"Conv", "Mean", "Dropout", "MatMul", "Softmax", "LogSoftmax", "MaskedFill", "Mul", "SiLU", "GELU"} <= kinds


def test_a_rotation_and_a_gate_are_named(told):
    for name in ("llama", "curves"):
        roles = {row.role for row, *_ in told[name]}
        assert {"rotary", "gate"} <= roles, name
    assert not {"rotary", "gate"} & {row.role for row, *_ in told["bert"]}
