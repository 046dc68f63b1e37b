"""Small models of timm do with badak what they did with PyTorch (recorded in expected.json by tools/world_tests.py)."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world.compare import differences
from tests.world.vision.families import MODELS
from tools.world_tests import page

HERE = Path(__file__).resolve().parent
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
EXPECTED.pop("versions")


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("timm", "torchvision"))),
    reason="timm or torchvision is not installed: pip install --no-deps timm torchvision",
)
def test_small_models_do_what_they_do_with_pytorch():
    command = [sys.executable, "-W", "ignore", "-m", "badak", "run", str(HERE / "steps.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = {kept.pop("model"): kept for kept in map(json.loads, done.stdout.splitlines())}
    assert list(found) == list(MODELS)
    assert {name: words for name, kept in found.items() if (words := differences(EXPECTED[name], kept))} == {}


def test_the_page_says_what_is_recorded():
    assert set(EXPECTED) == set(MODELS) and all(kept["compared"][1] == "equal" for kept in EXPECTED.values())
    assert (HERE.parents[2] / "docs" / "reference" / "huggingface-tests.md").read_text(encoding="utf-8") == page()
