"""The command line: what it prints, what it writes, and what it says where something is wrong."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import badak
from badak.cli import COMMANDS, commands, main
from badak.cli.options import FROM_DATA, NAMES
from badak.io.safetensors import load_file
from badak.io.sealed import seal, unseal
from badak.training.build import open_model, start
from badak.training.presets import PRESETS, SETUPS

QUICK = ["--d-model", "16", "--layers", "1"]
GPT = ["train", "gpt", "--preset", "sentences", "--epochs", "4", "--eval-every", "2", "--heads", "2", *QUICK]
BERT = ["train", "bert", "--epochs", "2", "--eval-every", "2", *QUICK]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def say(capsys, *arguments) -> str:
    """What a command prints, which must succeed."""
    code = main(list(arguments))
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


def elsewhere(**more) -> dict[str, str]:
    """The environment of a process that imports this badak from any folder."""
    return {**os.environ, "PYTHONPATH": str(Path(badak.__file__).parent.parent), **more}


def complaint(capsys, *arguments) -> list[str]:
    """The two lines on stderr of a command that must fail with code 2."""
    code = main(list(arguments))
    _, err = capsys.readouterr()
    lines = err.strip().split("\n")
    assert code == 2 and len(lines) == 2 and lines[0].startswith("error: ") and lines[1].startswith("fix: "), err
    return lines


@pytest.fixture
def digits(tmp_path):
    """A small MNIST in IDX files: bars whose place is their class."""
    random, folder = np.random.default_rng(0), tmp_path / "digits"
    folder.mkdir()
    for prefix, count in (("train", 96), ("t10k", 32)):
        labels = np.arange(count, dtype=np.uint8) % 10
        pictures = random.integers(0, 60, (count, 28, 28), dtype=np.uint8)
        for picture, label in zip(pictures, labels):
            picture[2 * label + 2 : 2 * label + 5] = 250
        head = b"\0\0\x08\x03" + b"".join(n.to_bytes(4, "big") for n in (count, 28, 28))
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(head + pictures.tobytes())
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + count.to_bytes(4, "big") + labels.tobytes())
    return folder


# ---------------------------------------------------------------------- the table


def test_help_names_every_command():
    done = CliRunner().invoke(commands, ["--help"])
    assert done.exit_code == 0 and all(name in done.output for name in COMMANDS)


@pytest.mark.slow
def test_a_command_is_imported_only_when_it_is_chosen():
    script = "import sys; from badak.cli import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=elsewhere())
    loaded = set(done.stdout.split("\n")[-2].split())
    assert not {"badak.training", "badak.models", "badak.generation", "badak.cli.train", "PIL", "tqdm", "numba"} & loaded


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    done = CliRunner().invoke(commands, [command, "--help"])
    assert done.exit_code == 0 and done.output.startswith("Usage: ")


@pytest.mark.parametrize("kind", SETUPS)
def test_every_setting_is_an_option_with_its_default(kind):
    output = " ".join(CliRunner().invoke(commands, ["train", kind, "--help"], terminal_width=200).output.split())
    setup = next(iter(PRESETS[kind].values()))
    for section in (setup.model, setup.train, setup.data):
        for name, value in vars(section).items():
            if name not in FROM_DATA:
                assert f"--{NAMES.get(name, name).replace('_', '-')}" in output
                assert isinstance(value, bool | str) or f"default {value:g}" in output
    assert "steps of linear warmup from 0 to --lr [>= 0; default" in output


@pytest.mark.slow
def test_the_version():
    done = subprocess.run([sys.executable, "-m", "badak", "--version"], capture_output=True, text=True, check=True, env=elsewhere())
    assert done.stdout.startswith("badak ")


def test_info_names_the_kernels(capsys):
    assert "kernels" in say(capsys, "info")


@pytest.mark.slow
def test_info_says_what_a_run_is(capsys, tmp_path):
    say(capsys, *GPT)
    said = dict(line.split("  ", 1) for line in say(capsys, "info", "runs/gpt").splitlines())
    said = {name: value.strip() for name, value in said.items()}
    rows = list(csv.DictReader((tmp_path / "runs" / "gpt" / "metrics.csv").read_text().split()))
    best = min(rows, key=lambda row: float(row["val_perplexity"]))
    numbers = sum(x.numel() for x in load_file("runs/gpt/model.safetensors").values())
    assert said["run"] == "runs/gpt" and said["task"] == "gpt"
    assert said["model"].startswith(f"{numbers:,} numbers; vocab_size ") and "d_model 16, heads 2" in said["model"]
    assert said["data"].startswith("corpus sentences, tokens words") and "epochs 4, batch_size 10" in said["train"]
    assert said["steps"] == "4, epoch 4 of 4"
    assert said["best"] == (
        f"perplexity {float(best['val_perplexity']):.4g} at step {best['step']}, val loss {float(best['val_loss']):.4f}"
    )


@pytest.mark.thin(3)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["config.json", "state.json", "model.safetensors", "optimizer.safetensors", "metrics.csv"])
def test_info_refuses_a_run_that_is_not_as_it_was_written(capsys, tmp_path, name):
    say(capsys, *GPT)
    path = tmp_path / "runs" / "gpt" / name
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    cause, fix = complaint(capsys, "info", "runs/gpt")
    assert cause.startswith(f"error: runs/gpt/{name}: damaged") and fix.startswith("fix: restore ")


@pytest.mark.slow
def test_info_of_a_run_that_saved_nothing_says_so(capsys, tmp_path):
    say(capsys, *GPT)
    for name in ("state.json", "model.safetensors", "optimizer.safetensors", "metrics.csv"):
        (tmp_path / "runs" / "gpt" / name).unlink()
    assert "none are saved yet; badak train gpt --resume runs/gpt begins" in say(capsys, "info", "runs/gpt")
    assert complaint(capsys, "info", "nowhere")[0] == "error: nowhere: not a run folder, it has no config.json"


# ---------------------------------------------------------------------- training and answering


def test_train_gpt_writes_a_run_folder_and_generate_reads_it(capsys, tmp_path):
    output = say(capsys, *GPT)
    assert "step      4" in output and "next: badak generate runs/gpt --prompt 'The quick' --temperature 0" in output
    run = tmp_path / "runs" / "gpt"
    assert {p.name for p in run.iterdir()} >= {
        "config.json",
        "model.safetensors",
        "optimizer.safetensors",
        "metrics.csv",
    }
    config = json.loads((run / "config.json").read_text())
    assert config["model"]["d_model"] == 16 and config["train"]["epochs"] == 4 and "fox" in config["vocabulary"]
    rows = list(csv.DictReader((run / "metrics.csv").read_text().split()))
    assert [row["step"] for row in rows] == ["2", "4"]
    text = say(capsys, "generate", "runs/gpt", "--prompt", "The quick", "--max-new-tokens", "5", "--temperature", "0")
    assert text.startswith("The quick") and len(text.split()) <= 7


@pytest.mark.slow
def test_precision_is_kept_with_the_run_and_chosen_anew_for_writing(capsys):
    say(capsys, *GPT, "--precision", "bf16", "--run", "r")
    assert "precision bf16" in say(capsys, "info", "r")
    assert {x.dtype for x in load_file("r/model.safetensors").values()} == {badak.float32}  # the master weights
    options = ["--prompt", "The quick", "--max-new-tokens", "5", "--temperature", "0"]
    assert say(capsys, "generate", "r", *options, "--precision", "bf16").startswith("The quick ")
    trained = open_model("r", "gpt", "bf16").model
    assert {p.dtype for p in trained.parameters()} == {badak.bfloat16}
    assert say(capsys, "generate", "r", *options, "--precision", "int8").startswith("The quick ")
    narrow = {type(module).__name__ for module in open_model("r", "gpt", "int8").model.modules()}
    assert "Int8Linear" in narrow and "Linear" not in narrow
    assert complaint(capsys, "train", "gpt", "--resume", "r", "--precision", "bf16") == [
        "error: --resume goes on with the settings of r; got --precision too",
        "fix: leave it out: with --resume only --epochs, --steps, --patience, --data may change",
    ]


@pytest.mark.slow
def test_the_curves_are_a_picture(capsys, tmp_path, pictures):
    pytest.importorskip("matplotlib")
    say(capsys, *BERT)
    with Image.open(tmp_path / "runs" / "bert" / "curves.png") as picture:
        assert picture.size[0] > 600


@pytest.mark.slow
def test_without_matplotlib_one_line_says_where_the_numbers_are(capsys, tmp_path, monkeypatch, pictures):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    output = say(capsys, *BERT)
    assert output.count("matplotlib") == 1 and "metrics.csv" in output
    assert not (tmp_path / "runs" / "bert" / "curves.png").exists()


@pytest.mark.slow
def test_a_second_run_gets_a_folder_of_its_own(capsys, tmp_path):
    say(capsys, *BERT)
    assert "run folder runs/bert-2" in say(capsys, *BERT)


@pytest.mark.slow
def test_train_gpt_on_a_file_learns_characters(capsys, tmp_path):
    (tmp_path / "text.txt").write_text("abc " * 200)
    options = ["--data", "text.txt", "--steps", "3", "--context", "8", "--batch-size", "2", "--run", "r"]
    output = say(capsys, "train", "gpt", *options, *QUICK)
    assert "5 distinct characters" in output and "a sample:" in output  # a, b, c, space, new line
    assert len(say(capsys, "generate", "r", "--prompt", "ab", "--max-new-tokens", "6").rstrip("\n")) <= 8


@pytest.mark.slow
def test_fill_mask_prints_the_sentence_and_five_words(capsys):
    say(capsys, *BERT)
    output = say(capsys, "fill-mask", "runs/bert", "Great minds [MASK] alike, but they also think differently")
    lines = output.strip().split("\n")
    assert lines[0].startswith("Great minds ") and lines[0].endswith(" alike, but they also think differently")
    assert len(lines) == 7 and all("%" in line for line in lines[2:])


@pytest.mark.slow
def test_train_classify_reads_idx_files_and_predict_ranks_the_classes(capsys, tmp_path, digits):
    options = ["--data", "digits", "--epochs", "12", "--batch-size", "16", "--lr", "0.01", "--warmup-steps", "5"]
    output = say(capsys, "train", "classify", *options, "--d-model", "16")
    assert float(output.split("accuracy")[-1].split()[0]) > 0.9
    picture = np.zeros((28, 28), np.uint8)
    picture[2 * 6 + 2 : 2 * 6 + 5] = 250
    Image.fromarray(picture).save("six.png")
    (found,) = (json.loads(line) for line in say(capsys, "predict", "runs/classify", "six.png", "--json").splitlines())
    assert found["file"] == "six.png" and found["label"] == next(iter(found["probabilities"])) and len(found["probabilities"]) == 10
    lines = say(capsys, "predict", "runs/classify", "six.png").strip().split("\n")
    assert lines[0] == "six.png: 6" and len(lines) == 12
    chances = [float(line.split()[1].rstrip("%")) for line in lines[2:]]
    assert chances == sorted(chances, reverse=True) and sum(chances) == pytest.approx(100, abs=0.1)


TEXT = ["train", "text", "--epochs", "5"]


@pytest.mark.slow
def test_predict_says_the_class_of_texts_and_the_words_that_mattered(capsys, tmp_path, monkeypatch):
    output = say(capsys, *TEXT)
    assert "next: badak predict runs/text '" in output
    lines = say(capsys, "predict", "runs/text", "영화가 너무나 지루해요").strip().split("\n")
    assert lines[0] == "영화가 너무나 지루해요: bad"
    assert [line.split()[0] for line in lines[2:4]] == ["bad", "good"]
    assert lines[5] == "the words that mattered: the probability of bad without each of them"
    assert lines[6].endswith("  without 지루해요") and len(lines) == 9
    (tmp_path / "many.txt").write_text("노래가 꽤 좋아요\n\n배우는 좀 별로예요\n", encoding="utf-8")
    of_file = say(capsys, "predict", "runs/text", "--file", "many.txt")
    rows = [line.split("\t") for line in of_file.strip().split("\n")]
    assert [(row[0], row[2], row[3].split(", ")[0]) for row in rows] == [
        ("good", "노래가 꽤 좋아요", "좋아요"), ("bad", "배우는 좀 별로예요", "별로예요"),
    ]  # fmt: skip
    assert say(capsys, "predict", "runs/text", rows[0][2], rows[1][2]) == of_file
    with (tmp_path / "many.txt").open(encoding="utf-8") as file:
        monkeypatch.setattr("sys.stdin", file)
        assert say(capsys, "predict", "runs/text") == of_file
    plain = say(capsys, "predict", "runs/text", "--words", "0", rows[0][2])
    assert "mattered" not in plain and plain.startswith("노래가 꽤 좋아요: good")


@pytest.mark.slow
def test_what_predict_cannot_judge(capsys, tmp_path, digits):
    say(capsys, *TEXT, "--epochs", "1", "--run", "t")
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "broken.txt").write_bytes(b"ab\n\xff")
    for arguments, cause, fix in [
        ([" "], "text 1 is empty", "give it a word, or leave it out"),
        (["a", "--file", "x"], "texts and --file too", "one of them"),
        (["--file", "empty.txt"], "empty.txt: no line has a text", "a text in each line"),
        (["--file", "none.txt"], "none.txt: no such file", ""),
        (["--file", "broken.txt"], "broken.txt: not UTF-8 text: byte 3 is 0xff", "save it as UTF-8"),
    ]:
        lines = complaint(capsys, "predict", "t", *arguments)
        assert lines[0] == f"error: {cause}" and fix in lines[1]
    say(capsys, *BERT, "--run", "b")
    assert "this needs one of badak train classify" in complaint(capsys, "predict", "b", "x")[0]
    options = ["--data", "digits", "--epochs", "1", "--d-model", "16", "--run", "c"]
    say(capsys, "train", "classify", *options)
    lines = complaint(capsys, "predict", "c", "--file", "many.txt")
    assert lines[0] == "error: c is a run of badak train classify: it reads pictures" and "badak predict c PICTURE.png" in lines[1]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path):
    environment = elsewhere(BADAK_KERNELS="reference", PYTHONUNBUFFERED="1")
    command = [sys.executable, "-m", "badak", *GPT, "--epochs", "100000", "--run", "r"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    for line in process.stdout:
        if line.startswith("step"):
            break
    process.send_signal(signal.SIGINT)
    output, problems = process.communicate(timeout=60)
    assert process.returncode == 130, problems  # so that `badak train ... && next` does not go on
    assert "stopped and saved; go on with: badak train gpt --resume r" in output
    assert "Traceback" not in problems
    saved = json.loads((tmp_path / "r" / "state.json").read_text())
    assert saved["step"] >= 2


@pytest.mark.slow
def test_resume_goes_on_to_the_end(capsys, tmp_path):
    assert main([*GPT, "--run", "whole"]) == 0
    _, experiment = start("parts", PRESETS["gpt"]["sentences"])
    (tmp_path / "parts" / "config.json").write_bytes((tmp_path / "whole" / "config.json").read_bytes())
    capsys.readouterr()
    assert "step      4" in say(capsys, "train", "gpt", "--resume", "parts")
    assert (tmp_path / "parts" / "model.safetensors").read_bytes() == (tmp_path / "whole" / "model.safetensors").read_bytes()


# ---------------------------------------------------------------------- mistakes: two lines, code 2, no traceback


@pytest.mark.parametrize(
    "arguments, cause, fix",
    [
        (["trian"], "No such command 'trian'", "badak --help"),
        (["train", "gtp"], "No such command 'gtp'", "badak train --help"),
        (["train", "gpt", "--layer", "3"], "No such option", "badak train gpt --help"),
        (["train", "gpt", "--layers", "three"], "'three' is not a valid integer", "badak train gpt --help"),
        (["train", "gpt", "--layers", "0"], "Invalid value for '--layers': 0 is not in the range x>=1.", ""),
        (["train", "gpt", "--dropout", "1"], "Invalid value for '--dropout': 1.0 is not in the range 0<=x<1.", ""),
        (["train", "gpt", "--vocab-size", "-3"], "Invalid value for '--vocab-size': -3 is not in the range x>=1.", ""),
        (["train", "gpt", "--heads", "3"], "d_model=64 is not divisible by heads=3", "heads in {1, 2, 4"),
        (["train", "gpt", "--lr", "nan"], "TrainConfig: expected lr to be a finite number", ""),
        (["train", "gpt", "--precision", "fp8"], "'fp8' is not one of 'float32', 'bf16'", "badak train gpt --help"),
        (["generate", "none", "--precision", "fp8"], "'fp8' is not one of 'float32', 'bf16', 'int8'", "badak generate --help"),
        (["train", "gpt", "--optimizer", "lion"], "'lion' is not one of", "--help"),
        (["train", "gpt", "--data", "none.txt"], "none.txt: no such file", ""),
        (["train", "classify", "--data", "none"], "none: no such folder", "put the four MNIST files"),
        (["train", "gpt", "--resume", "none"], "none: not a run folder", "runs/gpt"),
        (["predict", "none", "x.png"], "none: there is no such folder", "into a folder none"),
        (["predict"], "Missing argument 'RUN'", "badak predict --help"),
        (["predict", "none"], "none: there is no such folder", "into a folder none"),
        (["train", "text", "--data", "none.csv"], "none.csv: no such file", ""),
        (["train", "text", "--task", "words"], "'words' is not one of 'classification', 'regression'", "badak train text --help"),
        (["generate", "none"], "none: there is no such folder", "into a folder none"),
        (["generate", "none", "--top-p", "2"], "'--top-p': 2.0 is not in the range 0<x<=1.", "badak generate --help"),
    ],
)
def test_a_mistake_is_two_lines(capsys, arguments, cause, fix):
    lines = complaint(capsys, *arguments)
    assert cause in lines[0] and fix in lines[1]


def test_a_mistake_leaves_no_folder_behind(capsys, tmp_path):
    complaint(capsys, "train", "gpt", "--heads", "3")
    complaint(capsys, "train", "gpt", "--data", "none.txt")
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_folder_with_a_run_is_not_overwritten(capsys):
    say(capsys, *BERT, "--run", "r")
    lines = complaint(capsys, *BERT, "--run", "r")
    assert "r: there is a run in this folder already" in lines[0] and "--resume r" in lines[1]


@pytest.mark.slow
def test_resume_takes_no_other_settings(capsys):
    say(capsys, *BERT, "--run", "r")
    assert "got --lr too" in complaint(capsys, "train", "bert", "--resume", "r", "--lr", "0.1")[0]
    assert "r is a run of badak train bert" in complaint(capsys, "train", "gpt", "--resume", "r")[0]


@pytest.mark.slow
def test_a_run_of_another_kind_is_refused(capsys):
    say(capsys, *BERT, "--run", "r")
    lines = complaint(capsys, "generate", "r", "--prompt", "a")
    assert lines == ["error: r is a run of badak train bert; this needs one of badak train gpt", "fix: badak train gpt"]


@pytest.mark.thin(5)
@pytest.mark.slow
@pytest.mark.parametrize(
    "damage, cause",
    [
        (lambda config: b"{", "config.json: damaged, or not written by badak: it does not end with its checksum"),
        (lambda config: json.dumps(config).encode(), "config.json: damaged, or not written by badak"),
        (lambda config: seal(config).replace(b"0.3", b"0.4"), "config.json: damaged or edited: its SHA-256 differs"),
        (lambda config: seal({"model": {}}), "to be one of classify, gpt, bert, text, translate, own; got 'None'"),
        (lambda config: seal({**config, "experiment": "gtp"}), "got 'gtp'"),
        (lambda config: seal({**config, "experiment": []}), "got '[]'"),
        (lambda config: seal({**config, "modle": {}}), "config.json: unknown key 'modle'"),
        (lambda config: seal({**config, "model": {"layers": "two"}}), "expected model.layers to be an integer"),
        (lambda config: seal({**config, "vocabulary": config["vocabulary"][:-1]}), "tokens stand under vocabulary"),
        (lambda config: seal({**config, "vocabulary": config["vocabulary"][:1] * 2}), "stands there twice"),
        (
            lambda config: seal({**config, "vocabulary": config["vocabulary"][:5] + config["vocabulary"][:4:-1]}),
            "state.json: learned with other settings than config.json has",
        ),
    ],
)
def test_damaged_settings_are_named(capsys, tmp_path, damage, cause):
    say(capsys, *BERT, "--run", "r")
    path = tmp_path / "r" / "config.json"
    path.write_bytes(damage(unseal(path, "")))
    assert cause in complaint(capsys, "fill-mask", "r", "Great [MASK]")[0]


@pytest.mark.slow
def test_damaged_weights_are_named(capsys, tmp_path):
    say(capsys, *BERT, "--run", "r")
    path = tmp_path / "r" / "model.safetensors"
    whole = path.read_bytes()
    flipped = whole[:2000] + bytes([whole[2000] ^ 1]) + whole[2001:]
    for damaged in (whole[:-7], flipped):
        path.write_bytes(damaged)
        for asking in (["fill-mask", "r", "Great [MASK]"], ["train", "bert", "--resume", "r"], ["profile", "r"]):
            assert "r/model.safetensors: damaged, or of another step" in complaint(capsys, *asking)[0]
    path.unlink()
    assert "r/model.safetensors: no such file" in complaint(capsys, "fill-mask", "r", "Great [MASK]")[0]


@pytest.mark.slow
def test_a_sentence_that_cannot_be_filled_says_why(capsys):
    say(capsys, *BERT, "--run", "r")
    assert "the sentence has no [MASK]" in complaint(capsys, "fill-mask", "r", "Great minds")[0]
    lines = complaint(capsys, "fill-mask", "r", "GREAT [MASK]")
    assert lines == ["error: the model has never seen the word 'GREAT'", "fix: the model knows Great and great"]


@pytest.mark.slow
def test_a_prompt_of_unknown_characters_is_refused(capsys, tmp_path):
    (tmp_path / "text.txt").write_text("abc " * 200)
    say(capsys, "train", "gpt", "--data", "text.txt", "--steps", "1", "--context", "8", "--run", "r", *QUICK)
    assert "'é' (at character 2) is not among the 5 characters known" in complaint(capsys, "generate", "r", "--prompt", "abé")[0]


@pytest.mark.parametrize(
    "content, options, cause",
    [
        (b"", [], "the file has no text"),
        (b"\xff\xfe\x00", [], "not UTF-8 text"),
        (b"short", [], "a window needs 65"),
        (
            b"one two three four five\n",
            ["--lines", "--tokens", "words", "--context", "3"],
            "line 1 has 5 tokens, more than context=3",
        ),
    ],
)
def test_a_text_that_cannot_be_learned_says_why(capsys, tmp_path, content, options, cause):
    (tmp_path / "text.txt").write_bytes(content)
    assert cause in complaint(capsys, "train", "gpt", "--data", "text.txt", *options)[0]


@pytest.mark.slow
def test_pictures_and_idx_files_that_are_damaged_are_named(capsys, tmp_path, digits):
    say(capsys, "train", "classify", "--data", "digits", "--epochs", "1", "--d-model", "16", "--run", "r")
    (tmp_path / "x.png").write_bytes(b"no picture")
    assert "x.png: not a picture that can be read" in complaint(capsys, "predict", "r", "x.png")[0]
    path = digits / "train-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-1])
    assert "train-images-idx3-ubyte" in complaint(capsys, "train", "classify", "--data", "digits")[0]
