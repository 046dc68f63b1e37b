"""docs/reference/huggingface-tests.md: other projects' tests on badak as `tools/their_tests.py --record` counted them.

python tools/world_tests.py              write the page from what is recorded
python tools/world_tests.py --models     run the models first, with PyTorch and with `badak run`: needs torch and timm
"""

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
WORLD = HERE / "tests" / "world"
PAGE, MODELS, TESTS = (
    HERE / "docs" / "reference" / "huggingface-tests.md",
    WORLD / "vision" / "expected.json",
    WORLD / "their_tests.json",
)


def run(*runner: str) -> dict[str, dict]:
    """What tests/world/vision/steps.py says about each model."""
    command = [sys.executable, "-W", "ignore", *runner, str(WORLD / "vision" / "steps.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {kept.pop("model"): kept for kept in map(json.loads, done.stdout.splitlines())}


def models() -> None:
    """Record the models with PyTorch, and how badak compares."""
    sys.path.insert(0, str(HERE))
    from tests.world.compare import differences, same_bits

    expected, found = run(), run("-m", "badak", "run")
    for name, kept in expected.items():
        bits = "same bits" if same_bits(kept, found[name]) else "same but for last bits"
        kept["compared"] = [bits, "; ".join(differences(kept, found[name])) or "equal"]
    versions = {name: importlib.metadata.version(name).partition("+")[0] for name in ("timm", "numpy", "torch")}
    lines = [f"{json.dumps(name)}: {json.dumps(kept)}" for name, kept in expected.items()]
    MODELS.write_text('{"versions": ' + json.dumps(versions) + ",\n" + ",\n".join(lines) + "}\n", encoding="utf-8")


def missing(kept: dict) -> str:
    """What is said of a suite, and the causes of the tests that pass on PyTorch alone, with how many they stop."""
    causes = [f"{count} x `{cause}`" for cause, count in kept.get("causes", {}).items()]
    return "; ".join(filter(None, [kept.get("why", ""), *causes])) or "-"


def page() -> str:
    """The page, from the two files."""
    known, small = json.loads(TESTS.read_text(encoding="utf-8")), json.loads(MODELS.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {number}" for name, number in small.pop("versions").items())
    suites = "\n".join(
        f"| {name} | {kept['commit']} | {kept['date']} | {kept['torch']} | {kept['badak']} | {missing(kept)} |"
        for name, kept in known.items()
    )
    rows = "\n".join(
        f"| {name} | {kept['compared'][0]} | {kept['losses'][0]:.5f} | {kept['losses'][2]:.5f} | {kept['compared'][1]} |"
        for name, kept in small.items()
    )
    return f"""# Other projects' tests, and timm, on badak

Written by `tools/world_tests.py`.

The tests of these projects were run as they are, by `badak run -m pytest`, and next to it with PyTorch 2.13. For the rows of
2026-11-27 PyTorch was installed next to badak, for the others it was not. `python tools/their_tests.py einops FOLDER` does it again
for a clone; the tool says which files of tests are run. Tests that need a GPU or a download are skipped or fail on both sides and
are not counted.

| project | commit | run on | pass on PyTorch | pass on badak | what is missing |
| --- | --- | --- | --- | --- | --- |
{suites}

## timm

A small model of each family, drawn from seed 0, was run twice from one program (`tests/world/vision/steps.py`). Compared are
the bits of the weights that are drawn, the loss and every gradient of the first step, the losses of three AdamW steps with dropout
and stochastic depth, and the scores after the weights went through a safetensors file. Versions: {versions}.

| family | weights | first loss | third loss | compared |
| --- | --- | --- | --- | --- |
{rows}
"""


if __name__ == "__main__":
    if "--models" in sys.argv:
        models()
    PAGE.write_text(page(), encoding="utf-8")
