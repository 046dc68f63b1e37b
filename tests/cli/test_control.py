"""What others wrote commands no terminal: control characters are shown as they are written in JSON, wherever they come from."""

import io
import json
import os
import sys
import unicodedata
import warnings

import pytest

from badak import models
from badak.cli import main
from badak.cli.output import any_text
from badak.core.errors import ArgumentError, BadakWarning, FileError, visible, warn_once
from badak.data.tokenizer import Tokenizer

ESCAPE = "\x1b]0;owned\x07"  # names the window; others write files, or type for the user
EVIL = f"{ESCAPE}\x9b31m\x1b[2J\r\x08\u202e"
CONTROL = [chr(n) for n in range(0x100) if unicodedata.category(chr(n)) == "Cc" and chr(n) not in "\n\t"]  # Unicode adds none


def harmless(text):
    return not any(unicodedata.category(one) == "Cc" and one not in "\n\t" or "\u202a" <= one <= "\u202e" for one in text)


@pytest.mark.slow
def test_each_control_character_is_shown_and_nothing_else_is_changed():
    for one in CONTROL:
        assert visible(f"a{one}b") == f"a\\u{ord(one):04x}b" and json.loads(f'"{visible(one)}"') == one
    kept = "two\nlines\tand 한국어 العربية नमस्ते 👩‍👩‍👧 \u200c\u200d\u00ad é"
    assert visible(kept) == kept
    assert visible("a\u202eb\u2066c") == "a\\u202eb\\u2066c"
    assert visible("".join(map(chr, range(0x110000)))).splitlines() == visible("".join(map(chr, range(0x110000)))).split("\n")


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_whatever_a_command_prints_goes_through_it(name, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    monkeypatch.setattr(sys, name, stream)
    with any_text():
        print("".join(CONTROL), file=getattr(sys, name))
        getattr(sys, name).write(f"\n{EVIL}")
    stream.write("\x1b")  # and nothing is left of that behind it
    stream.flush()
    said = stream.buffer.getvalue().decode()
    assert said.endswith("\x1b") and harmless(said[:-1]) and "\\u001b]0;owned\\u0007" in said


def test_a_bar_may_go_back_to_the_beginning_of_its_line_on_stderr_alone(monkeypatch):
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    with any_text():
        for stream in streams.values():
            stream.write("\r 50%")
            stream.write("\n\x1b[A")
            stream.write("\r\x1b[31m")
            stream.flush()
    assert streams["stderr"].buffer.getvalue() == b"\r 50%\n\x1b[A\r\\u001b[31m"
    assert harmless(streams["stdout"].buffer.getvalue().decode())


def test_errors_and_warnings_of_a_program_show_it_too():
    for error in (FileError(f"{EVIL}: no such file", EVIL), ArgumentError(EVIL)):
        assert harmless(str(error)) and harmless(repr(error.args[0]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_once(object(), EVIL, EVIL)
    assert caught and all(issubclass(one.category, BadakWarning) and harmless(str(one.message)) for one in caught)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder, and texts in it with commands to terminals."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_bytes(f"good {EVIL} bad {ESCAPE}\n".encode() * 60)
    rows = "".join(f"word{i}{ESCAPE}\t{'yes' if i % 2 else 'no'}{ESCAPE}\n" for i in range(40))
    (tmp_path / "rows.tsv").write_bytes(f"text\tlabel\n{rows}".encode())
    return tmp_path


def show(capfd, *arguments):
    """The exit code; what was printed is harmless."""
    code = main([*map(str, arguments)])
    said = capfd.readouterr()
    assert harmless(said.out) and harmless(said.err.replace("\r", "")), (arguments, said)
    return code, said.out + said.err


SMALL = ("--steps", 2, "--d-model", 8, "--heads", 1, "--layers", 1)
RUN = f"r{ESCAPE}"  # a run's name may hold them, too


@pytest.mark.slow
def test_generate_chat_info_summary_and_samples(folder, capfd, monkeypatch):
    code, said = show(capfd, "train", "gpt", "--data", "text.txt", *SMALL, "--context", 8, "--run", RUN)
    assert code == 0 and "\\u001b" in said  # the sample
    for words in (
        ["generate", RUN, "--max-new-tokens", 60],
        ["generate", RUN, "good", "--explain", "--max-new-tokens", 3],
        ["info", RUN],
        ["eval", RUN],
        ["summary", RUN],
        ["generate", RUN, EVIL],
        ["audit", RUN],
    ):
        code, said = show(capfd, *words)
        assert code in (0, 1, 2) and said
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"good {ESCAPE}\n/x{ESCAPE}\n"))
    assert show(capfd, "chat", RUN, "--max-new-tokens", 20)[0] == 0


@pytest.mark.slow
def test_the_card_of_a_model_that_is_exported(folder, capfd):
    """A file of text, which many show with cat."""
    (folder / f"t{ESCAPE}.txt").write_bytes((folder / "text.txt").read_bytes())
    assert show(capfd, "train", "gpt", "--data", f"t{ESCAPE}.txt", *SMALL, "--context", 8, "--run", RUN)[0] == 0
    assert show(capfd, "export", RUN, "out")[0] == 0
    card = (folder / "out" / "README.md").read_text()
    assert harmless(card) and "\\u001b]0;owned" in card


@pytest.mark.slow
def test_predict(folder, capfd):
    assert show(capfd, "train", "text", "--data", "rows.tsv", *SMALL, "--run", RUN)[0] == 0
    for words in (["word1"], [f"word1{ESCAPE}"], ["--file", "rows.tsv"], ["a", "b"]):
        code, said = show(capfd, "predict", RUN, *words)
        assert code == 0 and "\\u001b" in said


def test_labels_and_tokens_of_a_published_folder(folder, capfd):
    config = models.TextConfig(vocab_size=40, d_model=8, heads=1, layers=1, context=16, type_vocab_size=2)
    models.BERTClassifier(config).save_pretrained(folder / "m")
    Tokenizer.train_wordpiece(["good bad words"], 40).save(folder / "m")
    said = json.loads((folder / "m" / "config.json").read_text())
    said["id2label"] = {"0": EVIL, "1": ESCAPE}
    (folder / "m" / "config.json").write_text(json.dumps(said))
    assert "\\u001b" in show(capfd, "predict", folder / "m", "good")[1]
    said["model_type"] = EVIL
    (folder / "m" / "config.json").write_text(json.dumps(said))
    assert show(capfd, "generate", folder / "m")[0] == 2


TYPED = [
    ["info", EVIL], ["train", EVIL], [EVIL], ["generate", EVIL], ["predict", EVIL, EVIL], ["translate", EVIL, EVIL],
    ["explain", EVIL], ["train", "gpt", "--data", EVIL], ["run", EVIL], ["doctor", EVIL], ["look", EVIL], ["embed", EVIL, EVIL],
    ["tokenize", EVIL, "-o", EVIL, "--train", "bpe"], ["fill-mask", EVIL, EVIL], ["source", EVIL], ["audit", EVIL],
    ["generate", "--top-k", EVIL, "x"], ["eval", EVIL],
]  # fmt: skip


@pytest.mark.parametrize("words", TYPED)
def test_what_was_typed_is_shown_in_the_complaint(words, folder, capfd):
    code, said = show(capfd, *(word.replace("\0", "") for word in words))
    assert code and "error:" in said


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="opens a terminal")
def test_on_a_terminal_itself(folder, capfd):
    import pty
    import subprocess

    ours, theirs = pty.openpty()
    line = [sys.executable, "-P", "-m", "badak", "info", EVIL]
    process = subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while block := os.read(ours, 4096):
            said += block
    except OSError:  # the end of a terminal
        pass
    process.wait()
    os.close(ours)
    assert harmless(said.decode().replace("\r\n", "\n")) and b"error: " in said and b"\\u001b]0;owned" in said
