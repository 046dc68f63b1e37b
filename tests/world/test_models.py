"""Tiny models of transformers do with badak what they did with PyTorch (recorded in expected.json by tools/world.py)."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world.compare import differences
from tests.world.models import MODELS

HERE = Path(__file__).resolve().parent
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
VERSIONS = EXPECTED.pop("versions")
PAGE = (HERE.parents[1] / "docs" / "world.md").read_text(encoding="utf-8")
SHORT = "gpt2 bert llama t5 vit".split()

needs_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason='transformers is not installed: pip install "badak[world]"'
)


def recorded(names):
    """What record.py says with badak, by name."""
    command = [sys.executable, "-W", "ignore", "-m", "badak", "run", str(HERE / "record.py"), *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return {kept.pop("model"): kept for kept in map(json.loads, done.stdout.splitlines())}


def told(found):
    """The differences of each model that has any."""
    return {name: words for name, kept in found.items() if (words := differences(EXPECTED[name], kept))}


@needs_transformers
def test_a_few_models_do_what_they_do_with_pytorch():
    found = recorded(SHORT)
    assert list(found) == SHORT and not told(found)


@needs_transformers
@pytest.mark.slow
def test_all_models_do_what_they_do_with_pytorch():
    names = [name for name in MODELS if name not in SHORT]
    assert not told(recorded(names))


def test_the_page_tells_of_every_model():
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in PAGE.splitlines() if line.startswith("| ")}
    assert set(EXPECTED) == set(MODELS) == set(lines) - {"architecture", "---"}
    assert all(lines[name].endswith("| equal |") for name in MODELS)
    assert f"**{len(MODELS)} of {len(MODELS)} are equal.**" in PAGE
    assert f"transformers {VERSIONS['transformers']}" in PAGE


def test_the_comparison_finds_what_differs():
    kept = EXPECTED["gpt2"]
    name = next(iter(kept["gradients"]))
    longer = {**kept["gradients"], name: [2 * number for number in kept["gradients"][name]]}
    for change in (
        {"weights": ["0", kept["weights"][1] * 1.01, kept["weights"][2]]},
        {"losses": [kept["losses"][0], kept["losses"][1], kept["losses"][2] + 1e-3]},
        {"gradients": longer},
        {"greedy": [[1, 2, 3]]},
        {"beams": None},
        {"again": False},
        {"error": "TypeError: no"},
    ):
        assert differences(kept, kept | change)
    assert not differences(kept, json.loads(json.dumps(kept)))
