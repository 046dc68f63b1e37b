"""A training of seconds that several ranks make together, and what is left of it."""

import hashlib
from pathlib import Path

from safetensors.numpy import load_file

SIZES = "--layers 1 --heads 2 --d-model 16 --context 16 --vocab-size 40 --schedule constant".split()
WAY = "--batch-size 4 --grad-accum-steps 4 --eval-every 2 --dropout 0.2 --max-grad-norm 1 --warmup-steps 2".split()


def write_text(folder: Path) -> Path:
    """A text of so many batches that the last update of an epoch has fewer."""
    path = folder / "text.txt"
    path.write_text("\n".join(f"{i} times {i} is {i * i}, and a little more than {i}." for i in range(28)), encoding="utf-8")
    return path


def arguments(text: Path, run: Path, steps: int) -> list[str]:
    """A training of a GPT of a few numbers."""
    return ["train", "gpt", "--data", str(text), "--run", str(run), "--steps", str(steps), *SIZES, *WAY]


def state(run: Path) -> list[str]:
    """Hashes of the weights and the moments, and the rows of metrics.csv without their times."""
    made = []
    for name in ("model", "optimizer"):
        tensors = load_file(run / f"{name}.safetensors")
        made.append(hashlib.sha256(b"".join(key.encode() + tensors[key].tobytes() for key in sorted(tensors))).hexdigest())
    return made + [",".join(line.split(",")[:8]) for line in (run / "metrics.csv").read_text().splitlines()]


def processes(run: Path | str) -> dict[int, int]:
    """The ranks of this program, or of a training in this folder: {number: process}."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().decode().split("\0")
            if words[1:4] == ["-P", "-m", "badak"] and words[4] in ("train", "run") and str(run) in words:
                around = (place / "environ").read_bytes().decode(errors="replace").split("\0")
                found[next(int(line[5:]) for line in around if line.startswith("RANK="))] = int(place.name)
        except (OSError, StopIteration, IndexError):  # it ended in the meantime, or begins
            continue
    return found
