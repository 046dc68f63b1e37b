"""Write what tiny models and the programs of tests/world/uses do with PyTorch, and docs/how-to/huggingface.md, how badak compares.

    python tools/world.py

Runs tests/world/record.py twice, with PyTorch and with `badak run`, so that it needs an environment with both, and with all
packages that the programs import.
"""

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
WORLD = HERE / "tests" / "world"
PAGE = HERE / "docs" / "how-to" / "huggingface.md"
EXPECTED, USES = WORLD / "expected.json", WORLD / "expected_uses.json"
PACKAGES = (
    "transformers", "tokenizers", "safetensors", "huggingface-hub", "accelerate", "sentence-transformers", "peft", "datasets",
    "numpy", "torch",
)  # fmt: skip
WAYS = ("greedy", "sampled", "beams")
INSTALL = """## Install

    pip install ".[fast,hf]"          # badak and transformers, no PyTorch

Some libraries ask pip for PyTorch, which badak stands in for; pip leaves it out with `--no-deps`, and what else they need is named:

    pip install --no-deps sentence-transformers timm torchvision accelerate peft
    pip install scikit-learn psutil

Then `badak run script.py` runs a program that imports them. Outside of `badak run` and `import badak.as_torch` there is no
torch, and they say so. [Another page](../reference/huggingface-tests.md) has the tests of einops, safetensors, x-transformers and
others, and small models of timm.
"""


def recorded(*runner: str) -> dict[str, dict]:
    """What record.py says about every model and every program."""
    from tests.world.compare import records
    from tests.world.models import MODELS
    from tests.world.uses import listed

    command = [sys.executable, "-W", "ignore", *runner, str(WORLD / "record.py"), *MODELS, *listed()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return records(done.stdout)


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


def program(name: str, expected: dict, found: dict) -> str:
    """The line of one program."""
    from tests.world.compare import differences
    from tests.world.uses import listed

    library, does, _ = listed()[name]
    return f"| {library} | {does} | {'; '.join(differences(expected, found)) or 'equal'} |"


def page(expected: dict[str, dict], found: dict[str, dict], known: dict[str, str]) -> str:
    """docs/how-to/huggingface.md"""
    rows = [row(name, expected[name], found[name]) for name in expected if "." not in name]
    programs = [program(name, expected[name], found[name]) for name in expected if "." in name]
    equal, alike = (sum(line.endswith("| equal |") for line in lines) for lines in (rows, programs))
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
    more = f"""
## What people do with them

Each line is a program in `tests/world/uses`, run both ways; all that it gives is compared: text, tokens, names and sizes
one by one, losses, scores and weights to 2e-5. **{alike} of {len(programs)} are equal.**

| library | what it does | compared |
| --- | --- | --- |
"""
    return text + "\n".join(rows) + "\n" + more + "\n".join(programs) + "\n"


def main() -> None:
    """Record both and write the two files."""
    sys.path.insert(0, str(HERE))
    expected, found, known = recorded(), recorded("-m", "badak", "run"), versions()
    lines = {name: f"{json.dumps(name)}: {json.dumps(kept)}" for name, kept in expected.items()}
    models = [f'"versions": {json.dumps(known)}', *(line for name, line in lines.items() if "." not in name)]
    EXPECTED.write_text("{" + ",\n".join(models) + "}\n", encoding="utf-8")
    USES.write_text("{" + ",\n".join(line for name, line in lines.items() if "." in name) + "}\n", encoding="utf-8")
    PAGE.write_text(page(expected, found, known), encoding="utf-8")


if __name__ == "__main__":
    main()
