"""Ctrl-C ends every command with code 130, also in the middle of its work: `badak ... && next` does not go on."""

import shutil
import signal
import subprocess
import sys

import pytest

from badak import kernels
from badak.cli import COMMANDS, main
from badak.training.run import Run
from tests.cli.test_wrong_lines import QUICK, flat, make_files
from tests.io.mutations.folders import readers, writers
from tests.io.mutations.runs import unpacked

pytestmark = pytest.mark.slow
TENSORS = ("tensor/apply.py", "apply")  # what everything goes through that computes
ENDLESS = ["--steps", "1000000"]
LINES = {  # the words, and the function in which Ctrl-C comes
    **{f"train {kind}": (["train", kind, "--run", "new", *flat({**options, "--steps": "1000000"})], TENSORS)
       for kind, options in QUICK.items()},
    **{f"resume {kind}": (["train", kind, "--resume", kind, *ENDLESS], TENSORS) for kind in QUICK},
    "eval": (["eval", "gpt"], TENSORS), "eval of labels": (["eval", "text"], TENSORS),
    "predict": (["predict", "text", "the cat"], TENSORS), "predict a picture": (["predict", "classify", "x.png"], TENSORS),
    "predict into a file": (["predict", "text", "--file", "labelled.csv", "-o", "new.json"], TENSORS),
    "generate": (["generate", "gpt", "the", "--max-new-tokens", "9"], TENSORS),
    "generate, published": (["generate", "writer", "to", "--max-new-tokens", "9"], TENSORS),
    "translate": (["translate", "translate", "the cat"], TENSORS), "fill-mask": (["fill-mask", "bert", "the [MASK]"], TENSORS),
    "embed": (["embed", "sentences", "--in", "text.txt", "--by", "lines", "--save", "new"], TENSORS),
    "tokenize": (["tokenize", "text.txt", "-o", "new", "--train", "bpe", "--vocab-size", "300"], ("data/tokens.py", "_write_ids")),
    "export": (["export", "gpt", "new"], ("models/folder.py", "write_folder")),
    "quantize": (["quantize", "gpt"], TENSORS),
    "audit": (["audit", "gpt"], TENSORS), "look": (["look", "gpt", "-o", "new"], TENSORS),
    "profile": (["profile", "gpt", "--steps", "3", "--skip", "0"], TENSORS),
}  # fmt: skip
PROGRAMS = ["run", "doctor", "summary", "audit", "profile"]
AT_ONCE = {"explain", "info", "source"}  # they only print
ELSEWHERE = {
    "launch",
    "serve",
    "bench",
    "warmup",
    "chat",
    "learn",
    "path",
}  # test_launch.py, test_serve.py, test_path.py; of processes; of a terminal


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a run of each kind, published models, and files to work on."""
    folder = tmp_path_factory.mktemp("place")
    with pytest.MonkeyPatch.context() as patched, kernels.use("reference"):
        patched.chdir(folder)
        patched.setattr(Run, "draw", lambda run, log=None: True)
        make_files(folder)
        for name, data in (("writer", writers()[0]), ("sentences", readers()[1])):
            for file, content in unpacked(data).items():
                (folder / name / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / name / file).write_bytes(content)
        for kind, options in QUICK.items():
            assert main(["train", kind, "--run", kind, *flat(options)]) == 0
        yield folder


def test_every_command_is_tried():
    assert {words[0] for words, _ in LINES.values()} | {*PROGRAMS} | AT_ONCE | ELSEWHERE == set(COMMANDS)


@pytest.mark.parametrize("name", LINES)
def test_ctrl_c_in_the_middle_ends_with_130(place, name, monkeypatch, capsys):
    words, (file, function) = LINES[name]
    came = []

    def watch(frame, event, _):
        if event == "call" and frame.f_code.co_name == function and frame.f_code.co_filename.endswith(file):
            sys.setprofile(None)
            came.append(name)
            signal.raise_signal(signal.SIGINT)

    shutil.rmtree("new", ignore_errors=True)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.setprofile(watch)
    try:
        code = main(words)
    finally:
        sys.setprofile(None)
        signal.signal(signal.SIGINT, before)
    said = capsys.readouterr().err
    assert came and code == 130 and "Traceback" not in said, (code, said)
    if "train" not in words:  # which saves first
        assert said.rstrip().endswith("error: stopped")
        assert name == "tokenize" or not list(place.glob("new*"))  # a folder of tokens says that it is not finished


@pytest.mark.thin(3)
@pytest.mark.parametrize("command", PROGRAMS)
def test_ctrl_c_in_a_program_ends_with_130(command, tmp_path):
    """Python itself ends a program so: by the signal, which a shell shows as 130."""
    program = "import torch, signal\ntorch.ones(2) + 1\nsignal.raise_signal(signal.SIGINT)\nprint('on')\n"
    (tmp_path / "program.py").write_text(program)
    line = [sys.executable, "-P", "-m", "badak", command, "program.py"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in (130, -signal.SIGINT) and "on" not in done.stdout.split(), done.stderr
