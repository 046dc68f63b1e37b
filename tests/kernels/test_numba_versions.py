"""Numba's private parts: one file names them, and kernels run with the oldest Numba and the newest that the requirement allows."""

import ast
import os
import re
import subprocess
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ADAPTER = ROOT / "src" / "badak" / "kernels" / "numba" / "codegen" / "internals.py"
(REQUIREMENT,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["fast"]
PUBLIC = {"numba", "numba.extending", "numba.types"}
PROGRAM = """
import numba, numpy as np
import badak
from badak import nn
from badak.nn import functional as F
badak.kernels.use("numba")

def losses(kernels):
    badak.kernels.use(kernels)
    badak.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.Embedding(11, 16), layer, nn.Linear(16, 11))
    optimizer = badak.optim.AdamW(model.parameters(), lr=1e-2)
    ids = badak.arange(24).reshape(2, 12) % 11
    found = []
    for _ in range(3):
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    half = badak.randn(8, 8).bfloat16()
    return [*found, (half @ half).float().sum().item(), badak.randn(9, 9).softmax(-1).logsumexp(0).sum().item()]

plain, fast = losses("reference"), losses("numba")
np.testing.assert_allclose(fast, plain, rtol=1e-3)
print(numba.__version__)
"""


def private_names() -> set[str]:
    """The attributes of Numba's objects that the adapter names."""
    names = {node.attr for node in ast.walk(ast.parse(ADAPTER.read_text())) if isinstance(node, ast.Attribute)}
    defined = {node.name for node in ast.walk(ast.parse(ADAPTER.read_text())) if isinstance(node, ast.FunctionDef)}
    return {name for name in names | defined if name[0] == "_" and name[1] != "_"}


@pytest.mark.thin(3)
@pytest.mark.slow
@pytest.mark.parametrize("folder", ["src", "tests", "bench", "tools", "examples"])
def test_one_file_names_private_parts_of_numba(folder):
    private = private_names()
    assert {"_rebuild", "_reduce", "_cache", "_config_fname", "_get_module_for_linking"} <= private
    for path in (ROOT / folder).rglob("*.py"):
        if path in (ADAPTER, Path(__file__)):
            continue
        of_kernels = ROOT / "src" / "badak" / "kernels" / "numba" in path.parents
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert all(name in PUBLIC for name in names if name and name.split(".")[0] == "numba"), (path, names)
            if (
                of_kernels
                and isinstance(node, ast.Attribute)
                and not (isinstance(node.value, ast.Name) and node.value.id == "self")
            ):
                assert node.attr not in private, (path, node.attr)


def versions() -> list[str]:
    """The oldest release that the requirement allows, and the requirement itself, of which pip takes the newest."""
    return [f"numba=={re.search(r'>=([0-9.]+)', REQUIREMENT)[1]}.0", REQUIREMENT]


def test_the_requirement_has_both_ends():
    assert re.fullmatch(r"numba>=\d+\.\d+,<\d+\.\d+", REQUIREMENT)


@pytest.mark.nightly
@pytest.mark.parametrize("version", versions())
def test_kernels_run_with_the_oldest_numba_and_the_newest(version, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [python, "-m", "pip", "install", "-q", version, "ml_dtypes", "safetensors", "click", "tqdm", "pillow", "pooch"]
    if subprocess.run(pip, capture_output=True, timeout=600, check=False).returncode:
        pytest.skip("pip reaches no registry")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([python, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr
    installed = tuple(map(int, done.stdout.split()[-1].split(".")[:2]))
    lowest, highest = (tuple(map(int, end.split("."))) for end in re.findall(r"\d+\.\d+", REQUIREMENT))
    assert lowest <= installed < highest
