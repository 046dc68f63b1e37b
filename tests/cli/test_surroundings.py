"""Other machines: encodings, names that are no text, no home, folders that cannot be written, variables with nonsense."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import badak
from badak import kernels
from badak.cli import main
from badak.cli.output import bar
from badak.core import errors
from badak.core.errors import ArgumentError
from badak.training import memory
from badak.training.build import build
from badak.training.presets import PRESETS, change
from badak.training.run import Run

QUICK = ["--steps", "1", "--d-model", "8", "--heads", "1", "--layers", "1"]
BERT = ["train", "bert", *QUICK]
WORDS = ["train", "gpt", "--data", "text.txt", "--tokens", "words", "--context", "4", *QUICK]


@pytest.fixture(autouse=True)
def quiet_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Run, "draw", lambda run, log=None: True)
    (tmp_path / "text.txt").write_text("바닥 위의 고양이가 잔다 — naïve\n" * 30, encoding="utf-8")
    with kernels.use("reference"):
        yield


def elsewhere(*arguments, code=None, **environment):
    """A process of its own: its code, stdout and stderr as bytes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BADAK_", "PYTHON"))}
    source = str(Path(badak.__file__).parent.parent)
    run = ["-c", code] if code else ["-m", "badak"]
    done = subprocess.run(
        [sys.executable, *run, *arguments], capture_output=True, check=False,
        env={**kept, "PYTHONPATH": source, "BADAK_KERNELS": "reference", **environment},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def stdout_in(monkeypatch):
    """Let stdout and stderr have an encoding; what was written."""

    def choose(encoding):
        streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2)]
        monkeypatch.setattr(sys, "stdout", streams[0])
        monkeypatch.setattr(sys, "stderr", streams[1])
        return lambda: [(stream.flush(), stream.buffer.getvalue())[1] for stream in streams]

    return choose


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp949", "cp1252", "utf-16", "utf-8"])
def test_every_command_prints_in_every_encoding(stdout_in, encoding):
    written = stdout_in(encoding)
    assert main([*WORDS, "--run", "r"]) == 0
    assert main([*BERT, "--data", "text.txt", "--run", "b"]) == 0
    assert main(["generate", "r", "--prompt", "바닥", "--max-new-tokens", "5"]) == 0
    assert main(["fill-mask", "b", "바닥 위의 [MASK] 잔다 — naïve"]) == 0
    assert main(["fill-mask", "b", "없는 [MASK]"]) == 2
    assert main(["info"]) == 0 and main(["--help"]) == 0
    out, err = written()
    assert b"error: " in err or encoding == "utf-16"
    assert sys.stdout.errors == "strict"  # as it was
    if encoding in ("utf-8", "cp949"):
        assert "바닥" in out.decode(encoding)


def test_bars_are_of_what_the_terminal_has(stdout_in):
    stdout_in("utf-8")
    assert bar(0.5) == "█" * 20
    stdout_in("cp1252")
    assert bar(0.5) == "#" * 20


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="names of files are text on Windows")
def test_names_that_are_no_text(capfdbinary):
    """A folder and a text whose names are not UTF-8: they work, and come out as they went in."""
    folder, text = os.fsdecode(b"r\xff \xe4"), os.fsdecode(b"\xe4.txt")
    try:
        os.rename("text.txt", text)
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    out = b""
    assert main(["train", "gpt", "--data", text, "--context", "4", *QUICK, "--run", folder]) == 0
    out = capfdbinary.readouterr().out
    assert b"next: badak generate 'r\xff \xe4' --prompt" in out
    assert main(["train", "gpt", "--resume", folder, "--steps", "2"]) == 0
    assert main(["generate", folder, "--max-new-tokens", "2"]) == 0
    assert main(["predict", folder, "x.png"]) == 2
    assert b"r\xff \xe4 is a run of badak train gpt" in capfdbinary.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="the shell of Windows has other quotes")
@pytest.mark.parametrize("folder", ["my run", "it's", "$HOME", "a;b", "r"])
def test_what_comes_next_can_be_typed(capsys, folder):
    assert main([*BERT, "--run", folder]) == 0
    hint = capsys.readouterr().out.rstrip("\n").split("\n")[-1]
    assert hint.startswith("next: badak fill-mask ")
    assert main(shlex.split(hint)[2:]) == 0
    assert errors.command("train", "bert", "--resume", folder) == Run.open(folder).resuming()
    assert shlex.split(Run.open(folder).resuming()) == ["badak", "train", "bert", "--resume", folder]


@pytest.mark.slow
def test_words_can_be_learned_as_a_stream(capsys):
    """There is no token for a new line to begin the sample with."""
    assert main([*WORDS, "--run", "r"]) == 0
    out, err = capsys.readouterr()
    assert "a sample:\n바닥 " in out and f"next: {errors.command('generate', 'r', '--prompt', '바닥')}" in out and err == ""
    assert main(["generate", "r"]) == 2
    assert "the prompt has no word" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a user without a home is a thing of Unix")
def test_a_user_without_a_home_and_without_a_name():
    code = """
import os, pwd, pathlib, sys
def nobody(uid): raise KeyError(uid)
pwd.getpwuid = nobody
os.environ.pop("HOME", None)
for name in ("XDG_CACHE_HOME",): os.environ.pop(name, None)
from badak.cli import main
assert main(["info"]) == 0
from badak.kernels.numba.codegen import cache
cache._users()
sys.exit(main(["train", "classify"]) if len(sys.argv) > 1 else 0)
"""
    found, out, err = elsewhere(code=code)
    assert found == 0, err
    found, _, err = elsewhere("train", code=code)
    assert found == 2 and err.count(b"\n") == 2 and b"fix: BADAK_CACHE=" in err, err
    assert not Path("~").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name, value", [("BADAK_KERNELS", "quick"), ("BADAK_NUM_THREADS", "99999"), ("BADAK_NUM_THREADS", "x"),
                                         ("BADAK_CPU", "quick")])  # fmt: skip
def test_variables_with_nonsense(name, value):
    pytest.importorskip("numba", reason="threads are those of the Numba kernels")
    found, _, err = elsewhere("info", **{"BADAK_KERNELS": "numba", name: value})
    lines = err.decode().strip().split("\n")
    assert found == 2 and len(lines) == 2 and lines[0].startswith(f"error: {name}: expected") and lines[1].startswith("fix: ")


@pytest.mark.slow
@pytest.mark.parametrize("name, value, cause, fix", [
    ("BADAK_DEBUG", "x\ny", "BADAK_DEBUG: expected 1 or 0; got 'x\\ny', which counts as 0", "BADAK_DEBUG=1, or leave it unset"),
    ("BADAK_DEBUG", "9" * 10_000, f"BADAK_DEBUG: expected 1 or 0; got '{'9' * 40}', which counts as 0", "BADAK_DEBUG=1, or"),
    ("BADAK_KERNEL", "plain", "BADAK_KERNEL: nothing reads this variable", "BADAK_KERNELS"),
    ("BADAK_THREADS", "2", "BADAK_THREADS: nothing reads this variable", "BADAK_NUM_THREADS"),
])  # fmt: skip
def test_variables_with_nonsense_that_an_import_reads_are_said_once(name, value, cause, fix):
    found, out, err = elsewhere("info", **{name: value})
    said = err.decode().strip().split("\n")
    assert found == 0 and out and len(said) == 2 and said[0] == f"badak: {cause}" and said[1].startswith(f"fix: {fix}")


@pytest.mark.thin(3)
@pytest.mark.slow
@pytest.mark.parametrize("value", ["1", "true", "ON", " yes ", "0", "off", ""])
def test_a_switch_takes_what_people_write(value):
    found, out, err = elsewhere("info", BADAK_DEBUG=value, BADAK_OF_ANOTHER_PROGRAM="x")
    assert found == 0 and not err
    code = "from badak.core.modes import modes; print(modes.debug)"
    assert elsewhere(code=code, BADAK_DEBUG=value)[1].decode().strip() == str(value.strip().lower() in ("1", "true", "on", "yes"))


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("value", ["x", "-1", "1.5", "9" * 10])
def test_a_check_of_replays_that_is_no_number_compiles_nothing(value):
    code = "import badak; badak.compile(abs)"
    found, _, err = elsewhere(code=code, BADAK_COMPILE_CHECK=value)
    cause, fix = err.decode().strip().split("\n")[-2:]
    assert found == 1 and f"BADAK_COMPILE_CHECK: expected an integer; got '{value}'" in cause
    assert fix == "fix: BADAK_COMPILE_CHECK=2 checks every second replay; or leave it unset"
    found, _, err = elsewhere("train", "bert", "--steps", "2", BADAK_COMPILE_CHECK=value)
    assert found == 2 and err.count(b"\n") == 2 and err.startswith(b"error: BADAK_COMPILE_CHECK: ")


@pytest.mark.parametrize("value", ["file", "file/below"])
def test_a_cache_for_data_that_cannot_be_a_folder(value, capsys, monkeypatch):
    Path("file").write_text("")
    monkeypatch.setenv("BADAK_CACHE", value)
    assert main(["train", "classify"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


@pytest.mark.slow
def test_no_place_for_temporary_files(monkeypatch, capsys):
    monkeypatch.setenv("TMPDIR", "/nowhere/at/all")
    assert main([*BERT, "--run", "r"]) == 0 and main(["train", "bert", "--resume", "r", "--steps", "2"]) == 0


@pytest.mark.parametrize("place", ["config.json", ".lock", "model.safetensors.new", "metrics.csv", "state.json"])
def test_a_place_that_cannot_be_written(capsys, place):
    """A folder stands where a file has to be: as good as a right that is missing, for any user."""
    assert main([*BERT, "--run", "r"]) == 0
    capsys.readouterr()
    path = Path("r") / place
    path.unlink(missing_ok=True)
    path.mkdir()
    assert main(["train", "bert", "--resume", "r", "--steps", "2"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="rights that the superuser does not have to ask for")
def test_a_folder_without_rights(capsys):
    Path("shut").mkdir(mode=0o500)
    assert main([*BERT, "--run", "shut/r"]) == 2
    assert "cannot be made (Permission denied)" in capsys.readouterr().err


# ---------------------------------------------------------------------- memory


@pytest.mark.parametrize("option", [["--d-model", "1000000"], ["--layers", "1000000000"], ["--context", "1" + 15 * "0"]])
def test_a_model_that_no_machine_holds_is_refused_before_it_is_made(capsys, option):
    assert main(["train", "gpt", *option]) == 2
    cause, fix = capsys.readouterr().err.strip().split("\n")
    assert " parameters and needs " in cause and "GB, weights, gradients and moments together; there are " in cause
    assert fix == "fix: a smaller --d-model, fewer layers, or a smaller --feedforward-ratio" and not Path("runs").exists()


def test_memory_that_runs_out_later_is_two_lines(capsys, monkeypatch):
    def full(*args):
        raise MemoryError("Unable to allocate 3.64 TiB")

    monkeypatch.setattr(badak.cli.importlib, "import_module", full)
    assert main(["info"]) == 2
    assert capsys.readouterr().err.startswith("error: not enough memory (Unable to allocate 3.64 TiB)\nfix: a smaller")


@pytest.mark.parametrize("kind", ["gpt", "bert"])
@pytest.mark.parametrize("sizes", [{"d_model": 64, "layers": 1}, {"d_model": 32, "layers": 3, "feedforward_ratio": 2}])
def test_weights_are_counted_as_they_are(kind, sizes):
    setup = change(PRESETS[kind]["sentences" if kind == "gpt" else "proverbs"], "model", sizes)
    experiment = build(setup)
    there = sum(p.numel() for p in experiment.model.parameters())
    assert 0.85 * there < memory.weights_of(experiment.setup) <= there


def test_memory_is_that_of_this_machine(monkeypatch):
    found = memory.machine_memory()
    assert found is None or 2**26 < found < 2**50
    monkeypatch.setattr(memory, "machine_memory", lambda: 1000)
    with pytest.raises(ArgumentError, match="there are 0.0 GB"):
        memory.expect_memory(PRESETS["gpt"]["topics"])
    monkeypatch.setattr(memory, "machine_memory", lambda: None)
    memory.expect_memory(PRESETS["gpt"]["topics"])


# ---------------------------------------------------------------------- signals


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_to_end_saves_and_says_how_to_go_on(tmp_path, name):
    source = str(Path(badak.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": source, "BADAK_KERNELS": "reference", "PYTHONUNBUFFERED": "1"}
    line = [sys.executable, "-m", "badak", *BERT, "--steps", "1000000", "--eval-every", "2", "--run", "my run"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    next(line for line in process.stdout if line.startswith("step"))
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 128 + getattr(signal, name) and "Traceback" not in err, err
    assert "stopped and saved; go on with: badak train bert --resume 'my run'" in out
    assert json.loads((tmp_path / "my run" / "state.json").read_text())["step"] >= 2
