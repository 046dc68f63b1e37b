"""Write tests/world/expected.json, what tiny models of transformers do with PyTorch, and docs/world.md, how badak compares.

    python tools/world.py

Runs tests/world/record.py twice, with PyTorch and with `badak run`, so that it needs an environment with both, and transformers.
"""

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
WORLD = HERE / "tests" / "world"
PAGE = HERE / "docs" / "world.md"
EXPECTED = WORLD / "expected.json"
PACKAGES = ("transformers", "tokenizers", "safetensors", "huggingface-hub", "accelerate", "numpy", "torch")
WAYS = ("greedy", "sampled", "beams")
INSTALL = """## Install

    pip install ".[fast,world]"          # badak and transformers, no PyTorch

Some libraries ask pip for PyTorch, which badak stands in for; pip leaves it out with `--no-deps`, and what else they need is named:

    pip install --no-deps sentence-transformers timm torchvision accelerate peft
    pip install scikit-learn psutil

Then `badak run script.py` runs a program that imports them. Outside of `badak run` and `import badak.as_torch` there is no torch,
and they say so.
"""


def recorded(*runner: str) -> dict[str, dict]:
    """What record.py says about every model."""
    command = [sys.executable, "-W", "ignore", *runner, str(WORLD / "record.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {kept.pop("model"): kept for kept in map(json.loads, done.stdout.splitlines())}


def versions() -> dict[str, str]:
    """The packages that took part; of PyTorch the number alone."""
    return {name: importlib.metadata.version(name).partition("+")[0] for name in PACKAGES}


def row(name: str, expected: dict, found: dict) -> str:
    """The line of one model."""
    from tests.world.compare import differences, same_bits
    from tests.world.models import MODELS

    told = differences(expected, found)
    if "error" in found or "error" in expected:
        return f"| {name} | {MODELS[name][2]} | | | | | {told[0]} |"
    bits = "same bits" if same_bits(expected, found) else "same but for last bits"
    wrote = ", ".join(way for way in WAYS if way in expected) or "-"
    rest = "; ".join(told) or "equal"
    return f"| {name} | {MODELS[name][2]} | {bits} | {found['losses'][0]:.5f} | {found['losses'][2]:.5f} | {wrote} | {rest} |"


def page(expected: dict[str, dict], found: dict[str, dict], known: dict[str, str]) -> str:
    """docs/world.md"""
    rows = [row(name, expected[name], found[name]) for name in expected]
    equal = sum(line.endswith("| equal |") for line in rows)
    text = f"""# The world on badak

Written by `tools/world.py`; a test keeps it true.

Hugging Face's libraries run on badak as they are, without PyTorch: `badak run script.py`, or `import badak.as_torch` as the first
line.

{INSTALL}
## Models

A tiny model of each architecture, drawn from seed 0, was run twice from one program (`tests/world/record.py`): by PyTorch,
and by `badak run`. Compared are the bits of the weights that are drawn, the loss and every gradient of the first step (to
2e-4 of the model's longest), the losses of three AdamW steps with dropout (to 2e-5), the tokens that are written, greedily, drawn
and by beams (every one), and the scores after `save_pretrained` and `from_pretrained` (every bit).

**{equal} of {len(rows)} are equal.** Versions: {", ".join(f"{name} {number}" for name, number in known.items())}.

| architecture | model | weights | first loss | third loss | writes | compared |
| --- | --- | --- | --- | --- | --- | --- |
"""
    return text + "\n".join(rows) + "\n"


def main() -> None:
    """Record both and write the two files."""
    sys.path.insert(0, str(HERE))
    expected, found, known = recorded(), recorded("-m", "badak", "run"), versions()
    lines = [f"{json.dumps(name)}: {json.dumps(kept)}" for name, kept in expected.items()]
    EXPECTED.write_text('{"versions": ' + json.dumps(known) + ",\n" + ",\n".join(lines) + "}\n", encoding="utf-8")
    PAGE.write_text(page(expected, found, known), encoding="utf-8")


if __name__ == "__main__":
    main()
