"""Wrong command lines: each option with values of each wrong kind gives two lines and code 2, or does what it says."""

import os
import shutil

import click
import numpy as np
import pytest
from PIL import Image

from badak import kernels
from badak.cli import COMMANDS, bench, commands, main
from badak.training.presets import PRESETS
from badak.training.run import Run
from tests.cli.test_measuring import fake

pytestmark = pytest.mark.slow

QUICK = {
    "gpt": {"--data": "text.txt", "--steps": "1", "--d-model": "8", "--heads": "1", "--layers": "1", "--context": "8",
            "--batch-size": "2"},
    "bert": {"--data": "text.txt", "--steps": "1", "--d-model": "8", "--heads": "1", "--layers": "1"},
    "classify": {"--data": "digits", "--steps": "1", "--d-model": "8", "--heads": "1"},
    "text": {"--data": "labelled.csv", "--steps": "1", "--d-model": "8", "--heads": "1", "--layers": "1", "--context": "8",
             "--vocab-size": "300", "--batch-size": "8"},
    "translate": {"--data": "pairs.tsv", "--steps": "1", "--d-model": "8", "--heads": "1", "--feedforward": "8",
                  "--vocab-size": "300", "--val-split": "0.1"},
}  # fmt: skip
PLACES = ["none", "folder", "binary", "empty", "a\0b", "x" * 5000, "", os.devnull, "special", "zipped.gz", "text.txt"]
FILES = ["none", "binary", "empty", os.devnull, "special", "zipped.gz", "text.txt"]  # which would be written to
WRONG = {
    "integer": ["-1", "0", "9" * 20, "9" * 5000, "nan", "1.5", "x", "", "1e3"],
    "float": ["nan", "inf", "-1", "x", "1e999", "", "1e30"],
    "choice": ["x", ""],
    "text": PLACES,
    "integer range": ["-1", "0", "nan", "1.5", "x", "", "9" * 5000],
    "float range": ["nan", "-1", "x", ""],
}
ENDLESS = {("--epochs", "9" * 20), ("--steps", "9" * 20), ("--max-new-tokens", "9" * 20)}  # what they ask for is possible


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a run of each kind, and files of many kinds that are wrong somewhere."""
    folder = tmp_path_factory.mktemp("place")
    before = os.getcwd()
    os.chdir(folder)
    with kernels.use("reference"), pytest.MonkeyPatch.context() as patched:
        patched.setattr(Run, "draw", lambda run, log=None: True)
        make_files(folder)
        for kind, options in QUICK.items():
            assert main(["train", kind, "--run", kind, *flat(options)]) == 0
        yield folder
    os.chdir(before)


def make_files(folder):
    (folder / "text.txt").write_text("the cat sat on the mat\n" * 40)
    (folder / "labelled.csv").write_text("text,label\n" + "the cat sat,good\nthe dog barked,bad\n" * 20)
    (folder / "pairs.tsv").write_text("".join(f"the cat {n}\ta hat {n}\n" for n in range(40)))
    (folder / "binary").write_bytes(bytes(range(256)) * 20)
    (folder / "empty").write_bytes(b"")
    (folder / "special").write_text("[MASK]\n")
    (folder / "zipped.gz").write_bytes(b"\x1f\x8b\x08\x00\xff")
    (folder / "folder").mkdir()
    (folder / "digits").mkdir()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 40), np.uint8)).save(folder / "x.png")
    for prefix, count in (("train", 20), ("t10k", 10)):
        head = b"\0\0\x08\x03" + b"".join(n.to_bytes(4, "big") for n in (count, 28, 28))
        (folder / f"digits/{prefix}-images-idx3-ubyte").write_bytes(head + bytes(count * 28 * 28))
        labels = b"\0\0\x08\x01" + count.to_bytes(4, "big") + bytes(n % 10 for n in range(count))
        (folder / f"digits/{prefix}-labels-idx1-ubyte").write_bytes(labels)


def flat(options):
    return [word for pair in options.items() for word in pair]


def judge(capsys, arguments):
    """Run it: code 0, or code 2 and two lines that fit on a screen."""
    code = main(arguments)
    err = capsys.readouterr().err
    lines = err.rstrip("\n").split("\n")
    right = code == 0 or (
        code == 2 and len(lines) == 2 and lines[0].startswith("error: ") and lines[1].startswith("fix: ") and len(err) < 1300
    )
    assert right, ([word[:60] for word in arguments], code, err[-800:])
    return code


def options_of(*names):
    """The options of a command by their kind of value."""
    command = commands
    for name in names:
        command = command.get_command(click.Context(command), name)
    return [(option.opts[0], option.type.name) for option in command.params if isinstance(option, click.Option)]


OPTIONS = [(kind, name, WRONG[type_]) for kind in PRESETS for name, type_ in options_of("train", kind) if type_ in WRONG]


@pytest.mark.thin(10)
@pytest.mark.parametrize("kind, name, values", OPTIONS, ids=[f"{kind}{name}" for kind, name, _ in OPTIONS])
def test_wrong_values_of_training(place, capsys, kind, name, values, tmp_path):
    refused = 0
    for number, value in enumerate(values):
        if (name, value) not in ENDLESS:
            options = {**QUICK[kind], "--run": str(tmp_path / str(number)), name: value}
            refused += judge(capsys, ["train", kind, *flat({name: value} if name == "--resume" else options)]) == 2
    shutil.rmtree(place / "none", ignore_errors=True)  # where `--run none` trained; no other test expects a run there
    shutil.rmtree(place / "folder")
    (place / "folder").mkdir()
    assert refused >= 1


def test_every_option_has_a_kind_of_value_that_is_tried():
    for kind in PRESETS:
        assert {type_ for _, type_ in options_of("train", kind)} <= {*WRONG, "boolean"}
    for name in set(COMMANDS) - {"train"}:
        assert {type_ for _, type_ in options_of(name)} <= {*WRONG, "boolean", "text"}, name


@pytest.mark.parametrize("name", ["generate", "translate", "fill-mask", "predict", "profile"])
def test_wrong_runs(place, capsys, name):
    more = {"generate": [], "translate": ["the cat"], "fill-mask": ["the [MASK]"], "predict": ["x.png"], "profile": []}[name]
    for run in [*PLACES, *QUICK]:
        runs = {"generate": ["gpt"], "translate": ["translate"], "fill-mask": ["bert"], "predict": ["classify", "text"]}
        mine = {**runs, "profile": [*QUICK, "empty", "special", os.devnull]}  # Python programs, all of these
        if run not in mine[name]:
            assert judge(capsys, [name, run, *more]) == 2


@pytest.mark.parametrize(
    "start",
    [["generate", "gpt", "--prompt", "the"], ["translate", "translate", "the cat"],
     ["fill-mask", "bert", "the [MASK]"], ["profile", "gpt"], ["bench"]],
    ids=lambda start: start[0],
)  # fmt: skip
def test_wrong_values_of_other_commands(place, capsys, start, monkeypatch):
    monkeypatch.setattr(bench, "compete", fake(1e-6))
    quick = {"generate": {"--max-new-tokens": "3"}, "profile": {"--steps": "1", "--skip": "0"}}.get(start[0], {})
    for name, type_ in options_of(start[0]):
        for value in WRONG.get(type_, []) if name != "--prompt" else ["", " ", "\0", "\udcff", "한", "é" * 500]:
            if (name, value) not in ENDLESS and not (start[0] == "bench" and type_ == "text" and value in FILES):
                judge(capsys, [*start, *flat({**quick, name: value})])


@pytest.mark.parametrize("sentence", ["", " ", "the", "\0", "\udcff [MASK]", "한 [MASK]", "[MASK] " * 100, "-x [MASK]"])
def test_wrong_sentences(place, capsys, sentence):
    assert judge(capsys, ["fill-mask", "bert", sentence]) == 2


@pytest.mark.parametrize("picture", PLACES)
def test_wrong_pictures(place, capsys, picture):
    assert judge(capsys, ["predict", "classify", picture]) == 2


@pytest.mark.parametrize("program", ["none", "folder", "binary", "text.txt", "a\0b", "", "x" * 5000])
def test_what_is_no_program(place, capsys, program):
    assert judge(capsys, ["profile", program]) == 2
    assert judge(capsys, ["run", "--check", program]) == 2
    if program not in ("binary", "text.txt"):  # Python itself says what is wrong with those
        assert judge(capsys, ["run", program]) == 2


@pytest.mark.parametrize(
    "line",
    ["info x", "warmup x", "info --x", "--x", "train --x", "run", "run --y", "run -m", "profile", "generate", "fill-mask",
     "fill-mask bert", "predict", "predict classify", "train x", "x", "bench x", "train gpt x"],
)  # fmt: skip
def test_wrong_words(place, capsys, line):
    assert judge(capsys, line.split()) == 2


@pytest.mark.parametrize("line", [[], ["train"]])
def test_a_group_alone_shows_its_help(capsys, line):
    assert main(line) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("Usage: badak") and "Commands:" in err and "error:" not in err
