"""What lies under a name may be no file at all: a pipe, a device, a socket, a folder, a link in a ring. No reader waits for it."""

import ast
import io
import os
import resource
import shutil
import signal
import socket
import sys
from pathlib import Path

import pytest

import badak
from badak import kernels
from badak.cli import main
from badak.core.errors import BadakError, FileError
from badak.data.files import read_text
from badak.data.tokens import TokenFile
from badak.generation.picture import read_picture
from badak.io import safetensors
from badak.io.atomic import read_small
from badak.training.metrics import measure, read_rows
from badak.training.run import Run
from tests import sources
from tests.io.mutations import folders, runs
from tests.io.mutations.readers import READERS
from tests.tiers import thinned

pytestmark = pytest.mark.skipif(os.name != "posix", reason="makes pipes and links")
SECONDS, ROOM = 30, 2 << 30
ODD = ("pipe", "link to a pipe", "device", "link to a device", "endless", "ring", "folder", "socket", "huge")


def put(kind: str, path: Path) -> None:
    """Lay it down under that name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.relpath(path))
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(1 << 40)  # which takes no room on the disk
    else:
        os.mkfifo(path.parent / ".pipe") if kind == "link to a pipe" else None
        ends = {"link to a pipe": ".pipe", "device": "/dev/tty", "link to a device": "/dev/zero", "endless": "/dev/zero"}
        path.symlink_to(ends.get(kind, path.name))


class Waited(BaseException):
    """It was waited for."""


@pytest.fixture
def bounded():
    """Within a test a reader has a time and a memory; both are far more than it needs."""

    def ring(*_):
        raise Waited

    before, (_, most) = signal.signal(signal.SIGALRM, ring), resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if sys.platform == "linux" else None
    resource.setrlimit(resource.RLIMIT_AS, (now + ROOM if now else most, most))
    signal.alarm(SECONDS)
    yield lambda: signal.alarm(SECONDS)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


READS = {
    "read_small": read_small, "text": read_text, "safetensors": safetensors.load_file,
    "metadata": safetensors.read_metadata, "pt": badak.load, "pt, all": lambda path: badak.load(path, weights_only=False),
    "pt, mapped": lambda path: badak.load(path, mmap=True), "picture": read_picture, "rows": read_rows, "row count": measure,
    **{name: READERS[name].read for name in ("idx", "config", "vocabulary")},
}  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in ODD if kind != "huge"])
@pytest.mark.parametrize("read", READS)
def test_what_is_no_file_is_refused_at_once(read, kind, tmp_path, monkeypatch, bounded):
    monkeypatch.chdir(tmp_path)
    put(kind, tmp_path / "x.json")
    with pytest.raises(BadakError) as refused:
        READS[read](tmp_path / "x.json")
    assert len(str(refused.value).splitlines()) == 2


def test_a_link_to_a_file_is_read(tmp_path):
    """As in the cache of the Hub, where every file is one."""
    (tmp_path / "blob").write_bytes(b"{}")
    (tmp_path / "x.json").symlink_to(tmp_path / "blob")
    assert read_small(tmp_path / "x.json") == b"{}"


def test_a_huge_file_of_tokens_is_not_read_to_its_end(tmp_path, bounded):
    unpack(folders.tokens()[0], tmp_path)
    for name in ("tokens.npy", "ends.npy"):
        os.truncate(tmp_path / name, 1 << 40)
        with pytest.raises(FileError, match=f"{name} has 1,099,511,627,776 bytes instead of"):
            TokenFile(tmp_path)
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        unpack(folders.tokens()[0], tmp_path)


def unpack(data: bytes, place: Path) -> None:
    for name, content in runs.unpacked(data).items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)


# --- folders that somebody else made, read by the commands


SIZES = ["--d-model", "8", "--heads", "1", "--layers", "1", "--context", "8", "--batch-size", "2"]
READING = {  # folder: (what is in it, the lines that read it)
    "run": (lambda: runs.texts()[0], ["generate @ The --new-tokens 2", "info @", "eval @", "summary @", "train gpt --resume @",
                                      "export @ out", "audit @"]),
    "guesser": (lambda: runs.holes()[0], ["fill-mask @ the[MASK]"]),
    "pictures": (lambda: runs.pictures()[0], ["predict @ x.png"]),
    "writer": (lambda: folders.writers()[0], ["generate @ to --new-tokens 2", "tokenize text.txt --tokenizer @ -o out"]),
    "reader": (lambda: folders.readers()[0], ["predict @ to"]),
    "sentences": (lambda: folders.readers()[1], ["embed @ to"]),
    "tokens": (lambda: folders.tokens()[0], [f"train gpt --data @ --steps 1 --run out {' '.join(SIZES)}"]),
}  # fmt: skip
PERHAPS = [  # names that are read where they are there
    "chat_template.jinja", "chat_template.json", "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt",
    "vocab.txt", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json", "preprocessor_config.json",
    "sentence_bert_config.json", "modules.json", "generation_config.json", "tokenizer.json", "model.safetensors.new",
    "optimizer.safetensors.new", "README.md", ".lock", "curves.png",
]  # fmt: skip


@pytest.mark.thin(4)
@pytest.mark.slow
@pytest.mark.parametrize("folder", READING)
@pytest.mark.parametrize("kind", ["pipe", "link to a device", "huge", "folder"])
def test_commands_wait_for_nothing_in_a_folder(folder, kind, tmp_path, monkeypatch, capsys, bounded):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Run, "draw", lambda run, log=None: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    Path("text.txt").write_text("to be or not to be\n" * 9)
    make, lines = READING[folder]
    data = make()
    for words in (line.split() for line in lines):
        for name in sorted({*runs.unpacked(data), *(thinned(PERHAPS, 5) if kind == "pipe" else [])}):
            for old in ("folder", "out"):
                shutil.rmtree(old, ignore_errors=True)
            unpack(data, Path("folder"))
            Path("folder", name).unlink(missing_ok=True)
            put(kind, Path("folder", name))
            bounded()
            with kernels.use("reference"):
                code = main([str(tmp_path / "folder") if word == "@" else word for word in words])
            said = capsys.readouterr().err
            assert code in (0, 1, 3) or said.splitlines()[-1].startswith("fix: ") and "Traceback" not in said, (words, name, said)
            assert "not enough memory" not in said, (words, name)


# --- and every other reader


OWNERS = {  # who reads by itself, and why
    "io/atomic.py": "it is the one place",
    "io/archive.py": "what was opened there, mapped",
    "data/tokens.py": "what was opened and hashed there, mapped",
    "io/gguf.py": "what was opened there, mapped",
    "tensor/storage.py": "from_file, whose file is the program's own",
    "compat/torch/check.py": "a program of the user's",
    "inspect/doctor/program.py": "a program of the user's",
    "inspect/profiling/profiled.py": "a program of the user's",
    "distributed/launch/starter.py": "the user's list of machines",
    "distributed/launch/agent.py": "files of the launcher's own folder, and of the system",
    "distributed/launch/spawned.py": "what its parent wrote",
    "distributed/heartbeat.py": "a file of the launcher's own folder",
    "compiler/memory.py": "files of the system", "core/machine.py": "files of the system",
    "inspect/profiling/machine.py": "files of the system",
    **dict.fromkeys(("inspect/visualize/page/page.py", "inspect/visualize/floors.py", "core/i18n/catalogue.py",
                     "core/public_api/table.py", "inspect/introspection/error_codes.py", "inspect/introspection/source.py",
                     "inspect/profiling/contest.py", "cli/serving/app.py"), "badak's own files"),
    "data/files.py": "`read_text`", "training/corpus.py": "`read_text`", "training/masked_lm.py": "`read_text`",
}  # fmt: skip
CALLS = {"read_text", "read_bytes", "memmap", "fromfile", "loadtxt", "safe_open"}


@pytest.mark.slow
def test_everything_is_read_in_one_place():
    """Who opens a file to read, anywhere else, would have to think of pipes and devices again."""
    found = set()
    for name, nodes in sources.nodes(rf"\b({'|'.join(CALLS)}|open)\("):
        if name.startswith("kernels/"):  # below io, with files of its own
            continue
        for node in nodes:
            if isinstance(node, ast.Call):
                method = isinstance(node.func, ast.Attribute)
                called = node.func.attr if method else getattr(node.func, "id", "")
                modes = [one.value for one in [*node.args[not method :], *(key.value for key in node.keywords)]
                         if isinstance(one, ast.Constant) and isinstance(one.value, str)]  # fmt: skip
                reads = any("r" in mode and set(mode) <= set("rbt+") for mode in modes)
                if method and called in CALLS or called == "open" and reads:
                    found.add(name)
    assert found <= set(OWNERS) | {"io/safetensors.py"}, found - set(OWNERS)
