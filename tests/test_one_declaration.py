"""A pointwise operation is one row in one file: a copy of badak with one row more has all that follows from it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROW = """

Cubed = pointwise(
    "Cubed", "y = x^3;   dx = dy 3 x^2.", lambda x: x * x * x,
    lambda dy, x: dy * (3 * np.square(x)),
    public="cubed", samples=Samples((-2.0, 2.0)),
)  # fmt: skip
"""
PROGRAM = """
import numpy as np
import badak
from badak.ops.pointwise import DECLARED, formula_of

x = badak.tensor([1.0, -2.0, 3.0], requires_grad=True)
y = badak.cubed(x)
(dx,) = badak.autograd.grad(y.sum(), x, create_graph=True)
(ddx,) = badak.autograd.grad(dx.sum(), x)
assert y.tolist() == [1.0, -8.0, 27.0] and dx.tolist() == [3.0, 12.0, 27.0] and ddx.tolist() == [6.0, -12.0, 18.0]
assert x.cubed().tolist() == y.tolist() == badak.cubed(x.detach(), out=badak.empty(3)).tolist()
assert x.detach().clone().cubed_().tolist() == badak.cubed_(x.detach().clone()).tolist() == y.tolist()
assert badak.cubed(badak.tensor([2])).dtype == badak.float32
assert badak.cubed(badak.ones(2, dtype=badak.bfloat16)).dtype == badak.bfloat16
assert badak.cubed(badak.ones(2, 3, device="meta")).shape == (2, 3)
assert badak.func.vmap(badak.cubed)(badak.ones(2, 3)).tolist() == [[1.0] * 3] * 2
step = badak.compile(lambda x: badak.cubed(x))
assert all(step(badak.full((3,), float(n))).tolist() == [float(n**3)] * 3 for n in range(6)) and not step.fallback_reason
op = next(op for op in DECLARED.values() if op.__name__ == "Cubed")
assert formula_of(op, {})[:2] == ("x^3", "3 x^2")
assert "ops/special.py" in str(badak.source("cubed"))
import tools.api, tools.stubs
assert "`cubed`" in tools.api.page() and "def cubed(input, *, out=None) -> Tensor:" in tools.stubs.pointwise_stub()
print("all of it")
"""


@pytest.mark.slow
def test_a_pointwise_operation_changes_one_file(tmp_path):
    for folder in ("src", "tools", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", "img", "learn"))
    with (tmp_path / "src" / "badak" / "ops" / "special.py").open("a", encoding="utf-8") as file:
        file.write(ROW)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}{os.pathsep}{tmp_path}"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.strip() == "all of it", done.stderr
