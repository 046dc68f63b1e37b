"""Tiny models, and programs that use them, do with badak what they did with PyTorch (recorded by tools/world.py)."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world.compare import differences, records
from tests.world.models import MODELS
from tests.world.uses import listed

HERE = Path(__file__).resolve().parent
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
VERSIONS = EXPECTED.pop("versions")
USES = json.loads((HERE / "expected_uses.json").read_text(encoding="utf-8"))
PAGE = (HERE.parents[1] / "docs" / "how-to" / "huggingface.md").read_text(encoding="utf-8")
SHORT = "gpt2 bert llama t5 vit pipelines.text_generation text.masked_words checkpoints.sharded".split()
FILES = sorted({name.partition(".")[0] for name in listed()})

needs_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason='transformers is not installed: pip install "badak[hf]"'
)


def recorded(names):
    """What record.py says with badak, by name."""
    command = [sys.executable, "-W", "ignore", "-m", "badak", "run", str(HERE / "record.py"), *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return records(done.stdout)


def told(found):
    """The differences of each model that has any."""
    expected = EXPECTED | USES
    return {name: words for name, kept in found.items() if (words := differences(expected[name], kept))}


@pytest.mark.slow
@needs_transformers
def test_a_few_models_do_what_they_do_with_pytorch():
    found = recorded(SHORT)
    assert list(found) == SHORT and not told(found)


@needs_transformers
@pytest.mark.nightly
def test_all_models_do_what_they_do_with_pytorch():
    names = [name for name in MODELS if name not in SHORT]
    assert not told(recorded(names))


@pytest.mark.thin(2)
@needs_transformers
@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_programs_do_what_they_do_with_pytorch(file):
    names = [name for name in listed() if name.startswith(f"{file}.")]
    for package in listed()[names[0]][2]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f'{package} is not installed: pip install "badak[libraries]"')
    found = recorded(names)
    assert list(found) == names and not told(found)


def test_the_page_tells_of_every_program():
    assert set(USES) == set(listed())
    for library, does, _ in listed().values():
        assert f"| {library} | {does} | equal |" in PAGE


def test_the_page_tells_of_every_model():
    table = PAGE.partition("| library |")[0]
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in table.splitlines() if line.startswith("| ")}
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


def test_the_comparison_of_programs_finds_what_differs():
    kept = {"a": [1, "text", 2.5, None], "b": {"c": True, "d": [1.0, 2.0]}}
    for path, values in {
        "a": ([1, "text", 2.6, None], [1, "text", 2.5], [1.0, "text", 2.5, None], ["1", "text", 2.5, None]),
        "b": ({"c": True}, {"c": 1, "d": [1.0, 2.0]}, {"d": [1.0, 2.0], "c": True}, {"c": True, "d": [1.0, 2.1]}),
    }.items():
        for value in values:
            assert differences({"gives": kept}, {"gives": kept | {path: value}})
    assert differences({"gives": kept}, {"error": "TypeError: no"})
    assert not differences({"gives": kept}, {"gives": kept | {"a": [1, "text", 2.50001, None]}})
