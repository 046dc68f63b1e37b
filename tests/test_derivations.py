"""The five derivations in docs/explanation/derivations: their formulas are run, against differences and against the kernels."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from badak.kernels import reference

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "derivations"
ROOT = FOLDER.parents[2]
rng = np.random.default_rng(0)
INPUTS = {
    "layer_norm": [rng.standard_normal((4, 6)), rng.standard_normal(6), rng.standard_normal(6)],
    "softmax": [rng.standard_normal((4, 6))],
    "attention": [rng.standard_normal((4, 3)), rng.standard_normal((5, 3)), rng.standard_normal((5, 2))],
    "cross_entropy": [rng.standard_normal((4, 6)), np.array([0, 5, 2, 2])],
    "gelu": [rng.standard_normal((4, 6))],
}


def formulas(name: str) -> dict:
    """What the page's block of Python defines."""
    code = re.search(r"```python\n(.*?)```", (FOLDER / f"{name}.md").read_text(encoding="utf-8"), re.DOTALL).group(1)
    defined = {"np": np, "math": math}
    exec(code, defined)
    return defined


def kernel(name: str, dy, inputs):
    """(output, gradients) of the plain kernel."""
    if name == "layer_norm":
        y, mean, rstd = reference.layer_norm(*inputs, 1e-5)
        return y, reference.layer_norm_backward(dy, *inputs[:2], mean, rstd, (True, True, True))
    if name == "softmax":
        y = reference.softmax(*inputs)
        return y, (reference.softmax_backward(dy, y),)
    if name == "attention":
        q, k, v = (x[None, None] for x in inputs)
        y, lse, _ = reference.attention(q, k, v)
        gradients = reference.attention_backward(
            dy[None, None], None, q, k, v, lse, None, None, None, None, None, 0.0, (True, True, True, False)
        )
        return y[0, 0], tuple(dx[0, 0] for dx in gradients[:3])
    if name == "cross_entropy":
        loss, lse = reference.cross_entropy(*inputs)
        return loss, (reference.cross_entropy_backward(dy, *inputs, lse, None, -100, 0.0),)
    return reference.gelu(*inputs, "none"), (reference.gelu_backward(dy, *inputs, "none"),)


@pytest.mark.parametrize("name", INPUTS)
def test_the_derived_backward_is_the_derivative(name):
    page, inputs = formulas(name), INPUTS[name]
    dy = rng.standard_normal(page["forward"](*inputs).shape)
    for number, dx in enumerate(page["backward"](dy, *inputs)):
        direction, h = rng.standard_normal(dx.shape), 1e-5
        ends = [page["forward"](*[x + s * h * direction if i == number else x for i, x in enumerate(inputs)]) for s in (1, -1)]
        assert (dx * direction).sum() == pytest.approx(((ends[0] - ends[1]) * dy).sum() / (2 * h), rel=1e-7)


@pytest.mark.parametrize("name", INPUTS)
def test_the_kernel_computes_what_the_page_derives(name):
    page, inputs = formulas(name), INPUTS[name]
    expected = page["forward"](*inputs)
    dy = rng.standard_normal(expected.shape)
    y, gradients = kernel(name, dy, inputs)
    np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-14)
    for dx, derived in zip(gradients, page["backward"](dy, *inputs)):
        np.testing.assert_allclose(dx, derived, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name", INPUTS)
def test_the_files_that_a_page_names_are_there(name):
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:kernels|ops)/[\w/]+\.py)`", text)
    assert named and not [path for path in named if not (ROOT / "src/badak" / path).exists()]
