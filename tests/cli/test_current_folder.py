"""Commands import nothing from the current folder, and let no file there decide anything: a download may lie next to."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

import badak
from tests.io.mutations.folders import writers
from tests.io.mutations.runs import unpacked

pytestmark = pytest.mark.slow

SMALL = ["--steps", "1", "--d-model", "8", "--heads", "1", "--layers", "1"]
COMMANDS = {
    "help": ["--help"],
    "info": ["info"],
    "train, with its curves": ["train", "gpt", "--preset", "sentences", *SMALL, "--run", "r"],
    "generate": ["generate", "../run/r", "pulls", "--max-new-tokens", "3"],
    "tokenize": ["tokenize", "../text.txt", "-o", "../tokens", "--train", "bpe", "--vocab-size", "300"],
    "a mistake": ["predict", "nothing"],
    "summary": ["summary", "../run/r"],
    "look": ["look", "../run/r", "-o", "../look.html"],
    "about a run": ["info", "../run/r"],
    "source": ["source", "softmax", "--show"],
    "explain": ["explain", "shape"],
    "eval": ["eval", "../run/r"],
    "chat": ["chat", "../run/r", "--max-new-tokens", "3"],
    "export": ["export", "../run/r", "../exported"],
    "generate of a published folder": ["generate", "../published", "to", "--max-new-tokens", "3"],
    "audit": ["audit", "../run/r"],
    "profile": ["profile", "--steps", "2", "--skip", "0", "../run/r"],
    **{name: [name, "../program.py"] for name in ("run", "doctor")},
    "what a program lacks": ["run", "--check", "../program.py"],
    "summary of a program": ["summary", "../program.py"],
}


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A folder in which a module lies under every name that could be imported, and settings of libraries next to them."""
    place = tmp_path_factory.mktemp("beside")
    folder = place / "download"
    folder.mkdir()
    (place / "empty").mkdir()
    code = "import sys, runpy; print(' '.join(sys.modules))"
    known = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout.split()
    installed = {name for names in (importlib.metadata.packages_distributions(),) for name in names if name.isidentifier()}
    for name in (sys.stdlib_module_names | installed | {"badak", "yaml", "readline", "sitecustomize_of_nobody"}) - set(known):
        # what `python -m` itself imports before it has found badak is Python's to guard: python -P
        (folder / f"{name}.py").write_text(f"open({str(place / 'ran')!r}, 'a').write(__name__ + ' ')\nraise SystemExit(77)\n")
    (folder / "badak.py").unlink()
    (folder / ".numba_config.yaml").write_text("disable_jit: 1\nboundscheck: [\n")
    (folder / "matplotlibrc").write_bytes(b"text.usetex: True\nbackend: module://evil\n")
    (place / "text.txt").write_text("to be or not to be\n" * 50)
    (place / "program.py").write_text(
        "import torch\ntorch.manual_seed(0)\nx = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(x.parameters(), 0.1)\n"
        "for _ in range(6):\n    optimizer.zero_grad()\n    x(torch.ones(3, 2)).square().mean().backward()\n    optimizer.step()\n"
    )
    for name, content in unpacked(writers()[0]).items():  # with a tokenizer and a chat template
        (place / "published" / name).parent.mkdir(exist_ok=True)
        (place / "published" / name).write_bytes(content)
    (place / "run").mkdir()
    done = run([*COMMANDS["train, with its curves"]], place / "run")
    assert done.returncode == 0, done.stderr
    return place


def run(words, folder, safe=True):
    line = [sys.executable, *(["-P"] if safe else []), "-m", "badak", *words]
    source = str(Path(badak.__file__).parent.parent)  # and no "." in it
    environment = {**os.environ, "PYTHONPATH": source}
    return subprocess.run(
        line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    "name, safe", [*((name, True) for name in COMMANDS), *((name, False) for name in ("help", "tokenize"))]
)  # the command, and `python -m badak`
def test_no_module_beside_is_imported(name, safe, beside):
    for path in (beside / "tokens", beside / "exported", beside / "download" / "r"):
        if path.exists():
            path.rename(beside / f"old-{len(os.listdir(beside))}")
    done = run(COMMANDS[name], beside / "download", safe)
    assert not (beside / "ran").exists(), (beside / "ran").read_text()
    assert done.returncode == (2 if name == "a mistake" else 0), done.stderr
    assert "Traceback" not in done.stderr and "yaml" not in done.stderr
    if name.startswith("train"):
        assert (beside / "download" / "r" / "curves.png").is_file()


@pytest.mark.parametrize("safe", [True, False])
def test_a_program_still_finds_what_lies_beside_itself(safe, tmp_path):
    """As under python: a script's own folder is looked into first, and with -m the current one."""
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "mine.py").write_text("word = 'next to the script'\n")
    (tmp_path / "programs" / "train.py").write_text("import mine, torch\nprint(mine.word, torch.ones(1).item())\n")
    assert run(["run", "programs/train.py"], tmp_path, safe).stdout == "next to the script 1.0\n"
    assert run(["run", "-m", "train"], tmp_path / "programs", safe).stdout == "next to the script 1.0\n"
