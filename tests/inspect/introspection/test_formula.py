"""Formulas as docstrings write them, as MathML."""

import importlib
import json
import pkgutil
from pathlib import Path

import pytest

import badak
from badak.inspect.introspection.formula import mathml, tree
from badak.inspect.visualize.floors import formulas
from badak.ops.op import Op
from badak.ops.pointwise import Pointwise

DRAWN = {
    "y = w h + b": "y = w h + b",
    "a/b c": "[a]/[b] c",
    "a b / c d": "[a b]/[c d]",
    "1/C sum_c (x[c] - mean)^2": "[1]/[C] ∑_c (x_c − mean)^2",
    "exp(s[j]) / sum_j exp(s[j])": "[exp (s_j)]/[∑_j exp (s_j)]",
    "1 / sqrt(var + eps)": "[1]/[√(var + ε)]",
    "(a + b) / (c d)": "[a + b]/[c d]",
    "dA = dout v^T": "dA = dout v^T",
    "tanh^2 u": "tanh^2 u",
    "d h[k] / d x[c] = rstd ([k = c] - 1/C)": "[d h_k]/[d x_c] = rstd ([k = c] − [1]/[C])",
    "q . k[j]": "q · k_j",
    "da = dy b*, db = -dy a*": "da = dy b^∗, db = − dy a^∗",
    "w[ids[t]]": "w_{ids_t}",
    "y = |x|": "y = |x|",
    "y = x Phi(x), Phi the normal distribution function": "y = x Φ (x), Φ the normal distribution function",
    "no formula at all (here": "no formula at all (here",
    "delta[i] =: 1e-5": "δ_i =: 1e-5",
}


def drawn(made):
    """MathML as a line that can be compared."""
    name, *parts = made
    name = name.partition(".")[0]
    if parts and isinstance(parts[0], str):
        return f" {parts[0]} " if parts[0] in ("=", "=:", "+", "−", "·") else parts[0].replace("\u00a0", " ")
    inner = [drawn(part) for part in parts]
    if name == "mspace":
        return " "
    if name in ("msub", "munder"):
        return f"{inner[0]}_{inner[1] if len(inner[1]) == 1 else '{' + inner[1] + '}'}" + (" " if name == "munder" else "")
    return {"mfrac": "[{0}]/[{1}]", "msup": "{0}^{1}", "msqrt": "√({0})"}.get(name, "{all}").format(*inner, all="".join(inner))


@pytest.mark.parametrize("text", DRAWN)
def test_a_formula_is_drawn_as_it_is_meant(text):
    made = drawn(mathml(tree(text))).replace("exp(", "exp (").replace("Φ(", "Φ (")
    assert " ".join(made.split()) == DRAWN[text]


def test_every_formula_of_every_operation_and_derivation_is_drawn():
    ops = importlib.import_module("badak.ops")
    folder = Path(ops.__file__).parent if getattr(ops, "__file__", None) else Path(badak.__file__).parent / "ops"
    for each in pkgutil.iter_modules([str(folder)]):
        importlib.import_module(f"badak.ops.{each.name}")
    count = 0
    for op in {each for base in (Op, Pointwise) for each in base.__subclasses__() if each.__module__.startswith("badak.ops")}:
        forward, backward, shapes = formulas(op)
        for line in filter(None, [*forward, *backward, shapes]):
            made = mathml(tree(line))
            json.dumps(made)
            assert every(made)
            count += 1
    assert count > 300


ELEMENTS = {"mrow", "mi", "mo", "mn", "mtext", "mspace", "mfrac", "msup", "msub", "munder", "msqrt"}


def every(made):
    """Whether a tree holds elements of MathML alone, each with as many parts as it must have."""
    name, *parts = made
    name = name.partition(".")[0]
    count = {"mfrac": 2, "msup": 2, "msub": 2, "munder": 2}.get(name, len(parts))
    return name in ELEMENTS and len(parts) == count and all(isinstance(part, str) or every(part) for part in parts)
