"""Nothing that badak writes goes through a link, or into another folder: whatever lies in a folder that somebody else made."""

import ast
import os
import subprocess
import sys

import numpy as np
import pytest

import badak
from badak import nn
from badak.cli import main
from badak.core.errors import FileError
from badak.data.text import CharVocabulary
from badak.data.tokenizer import Tokenizer
from badak.data.tokens import write_tokens
from badak.io import checkpoint, safetensors
from badak.io.atomic import append_to, make_folder, new_file, read_small, write_file
from badak.io.checkpoint import Checkpoint
from badak.io.config import write_config
from badak.io.lock import locked
from badak.models import BERTConfig, SentenceConfig, SentenceEncoder
from badak.training.build import start
from badak.training.metrics import Row, write_row
from badak.training.presets import PRESETS, change
from tests import sources

pytestmark = pytest.mark.skipif(os.name != "posix", reason="makes links")
OURS = b"the only copy of a thesis\n"
ROW = Row(1, 0.1, 0.1, 1.0, 0.5, 1.0, 0.5, 2.7, 3.0, 4.0)
TRAIN = ["train", "gpt", "--preset", "sentences", "--steps", "1", "--d-model", "8", "--heads", "1", "--layers", "1"]
SENTENCES = SentenceConfig(vocab_size=20, d_model=8, heads=1, layers=1, context=8)


@pytest.fixture
def thesis(tmp_path):
    """A file, and a folder, that nobody may touch."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_bytes(OURS)
    return tmp_path / "home" / "thesis.txt"


def untouched(thesis):
    assert thesis.read_bytes() == OURS and [path.name for path in thesis.parent.iterdir()] == [thesis.name]


def vocabulary(path):
    CharVocabulary("abc").save(path)


def sentence_encoder(place):
    SentenceEncoder(SENTENCES).save_pretrained(place, shard=1000)


WRITERS = {  # what it is given, and the names that it writes there
    "write_file": lambda place: write_file(place / "x", lambda file: file.write(b"1")),
    "append": lambda place: append_to(place / "x", b"1"),
    "metrics": lambda place: write_row(place / "metrics.csv", ROW),
    "config": lambda place: write_config(place / "x.json", BERTConfig()),
    "vocabulary": lambda place: vocabulary(place / "x.json"),
    "safetensors": lambda place: safetensors.save_file({"a": badak.ones(2)}, place / "x.safetensors"),
    "save": lambda place: badak.save({"a": badak.ones(2)}, place / "x.pt"),
    "checkpoint": lambda place: checkpoint.save(place, Checkpoint(step=1, model=nn.Linear(1, 1).state_dict())),
    "tokenizer": lambda place: Tokenizer.train_bpe(["abc"], 300).save(place),
    "drawing": lambda place: badak.draw((badak.ones(2, requires_grad=True) * 2).sum()).save(place / "x.svg"),
    "model": sentence_encoder,
}


def names_of(write, tmp_path):
    """What a writer writes into an empty folder, in folders too."""
    place = tmp_path / "plain"
    place.mkdir()
    write(place)
    return [path.relative_to(place) for path in sorted(place.rglob("*"))]


@pytest.mark.parametrize("kind", ["link", "dangling link", "link to a folder", "hard link"])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_link_under_any_name_leads_nowhere(writer, kind, tmp_path, thesis):
    for name in names_of(WRITERS[writer], tmp_path):
        is_folder = (tmp_path / "plain" / name).is_dir()
        place = tmp_path / f"{name}".replace("/", "-")
        (place / name).parent.mkdir(parents=True)
        if kind == "hard link":
            if is_folder:
                continue
            os.link(thesis, place / name)
        else:
            target = {"link": thesis, "dangling link": thesis.with_name("new.txt"), "link to a folder": thesis.parent}[kind]
            (place / name).symlink_to(target)
        try:
            WRITERS[writer](place)
        except badak.core.errors.BadakError as error:
            assert len(str(error).splitlines()) == 2
        untouched(thesis)


@pytest.mark.thin(8)
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        ".lock",
        "metrics.csv",
        "state.json",
        "model.safetensors",
        "model.safetensors.new",
        "optimizer.safetensors",
        "config.json",
        "curves.png",
        "tokenizer.json",
        ".state.json.1.partial",
    ],
)
@pytest.mark.parametrize("resume", [True, False])
def test_a_link_in_a_run_folder_destroys_no_other_file(name, resume, tmp_path, thesis, monkeypatch, capsys, pictures):
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "r"
    if resume:
        assert main([*TRAIN, "--run", "r"]) == 0
        (run / name).unlink(missing_ok=True)
    else:
        run.mkdir()
    (run / name).symlink_to(thesis)
    code = main(["train", "gpt", "--resume", "r", "--steps", "2"] if resume else [*TRAIN, "--run", "r"])
    said = capsys.readouterr().err
    assert code in (0, 2) and "Traceback" not in said
    untouched(thesis)
    if name == ".lock":
        assert code == 2 and f"{name}: is a link, and nothing is written through it\nfix: remove it" in said


def test_tokens_go_through_no_link(tmp_path, thesis):
    made = Tokenizer.train_bpe(["abc"], 300)
    write_tokens(tmp_path / "t", [["abc"]], made)
    for name in ("tokens.npy", "ends.npy", "tokenizer.json"):
        (tmp_path / "t" / name).unlink()
        (tmp_path / "t" / name).symlink_to(thesis)
        write_tokens(tmp_path / "t", [["cba"]], made)
        untouched(thesis)


@pytest.mark.parametrize("before", [OURS, b"", b"12\n", b"123456789\n", b"4242                \n", b"12", b"12\n13\n", b"\0" * 99])
def test_the_lock_cuts_nothing_off(before, tmp_path):
    path = tmp_path / ".lock"
    path.write_bytes(before)
    with locked(path, "here", "wait"):
        pass
    assert len(path.read_bytes()) >= len(before)
    if not before.replace(b" ", b"")[:-1].isdigit():
        assert path.read_bytes() == before or not before


def test_a_file_with_two_names_keeps_what_it_had_under_the_other(tmp_path):
    (tmp_path / "metrics.csv").write_bytes(b"a\n")
    os.link(tmp_path / "metrics.csv", tmp_path / "copy.csv")
    append_to(tmp_path / "metrics.csv", b"b\n")
    append_to(tmp_path / "metrics.csv", b"c\n")
    assert (tmp_path / "copy.csv").read_bytes() == b"a\n" and (tmp_path / "metrics.csv").read_bytes() == b"a\nb\nc\n"


WRITES = [lambda path: write_file(path, lambda file: file.write(b"1")), lambda path: append_to(path, b"1")]


@pytest.mark.parametrize("write", WRITES)
def test_pipes_and_folders_are_refused_at_once(write, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "to a pipe").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "folder", "to a pipe"):
        with pytest.raises(FileError, match="\nfix: "):
            write(tmp_path / name)
    with pytest.raises(FileError), locked(tmp_path / "pipe", "here", "wait"):
        pass


def test_a_name_that_another_process_left_is_taken_anew(tmp_path, thesis):
    """Two containers have the same numbers of processes; and somebody may put a link there."""
    neighbour = tmp_path / f".x.{os.getpid()}.partial"
    for put in (lambda: neighbour.symlink_to(thesis), lambda: neighbour.write_bytes(b"half")):
        put()
        with new_file(tmp_path / "x") as file:
            file.write(b"whole")
        assert (tmp_path / "x").read_bytes() == b"whole" and not os.path.lexists(neighbour)
        untouched(thesis)


def test_a_folder_that_the_user_names_may_be_a_link_but_none_within(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "runs").symlink_to(tmp_path / "disk")
    assert make_folder(tmp_path / "runs").is_dir()
    (tmp_path / "disk" / "in").symlink_to(tmp_path)
    with pytest.raises(FileError, match="is a link to another folder, and nothing is written through it\nfix: remove the link"):
        make_folder(tmp_path / "runs", "in")


def test_a_file_of_settings_has_a_largest_size(tmp_path, monkeypatch):
    monkeypatch.setattr("badak.io.atomic.SMALL", 1 << 20)
    (tmp_path / "x").write_bytes(bytes((1 << 20) + 1))
    with pytest.raises(FileError, match="more than 1 MiB, and no such file is so large\nfix: "):
        read_small(tmp_path / "x")


OWNERS = {  # the files that write by themselves, and why
    "io/atomic.py": "it is the one place",
    "io/lock.py": "the lock",
    "io/whole.py": "a folder that was not there before, next to its place, renamed",
    "kernels/numba/codegen/cache.py": "below io; makes each file again",
    "compat/torch/hub.py": "a file with a name of chance, renamed",
    "tensor/storage.py": "from_file, whose file is the program's own",
    "io/archive.py": "within a zip file",
    "distributed/heartbeat.py": "a file of the launcher's own folder",
    **dict.fromkeys((f"distributed/launch/{name}.py" for name in ("agent", "launcher", "spawned", "starter")), "logs and orders"),
    "inspect/profiling/worker.py": "a pipe",
    "cli/help.py": "click's word for what it prints",
}
CALLS = {"write_text", "write_bytes", "NamedTemporaryFile", "tofile", "copyfile", "makedirs", "mkdir", "memmap"}


@pytest.mark.slow
def test_everything_is_written_in_one_place():
    """Who opens a file to write, anywhere else, would have to think of links again."""
    found = set()
    for name, nodes in sources.nodes(rf"\b({'|'.join(CALLS)}|open|fdopen)\("):
        for node in nodes:
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                texts = [one.value for one in [*node.args, *(key.value for key in node.keywords)] if isinstance(one, ast.Constant)]
                writes = any(isinstance(one, str) and set(one) <= set("rwabtx+") and set(one) & set("wax+") for one in texts)
                if called in CALLS or called in ("open", "fdopen") and writes:
                    found.add(name)
    reading = {"data/tokens.py", "io/gguf.py"}  # np.memmap in mode "r" or "c"
    assert found - reading <= set(OWNERS), found - reading - set(OWNERS)


@pytest.mark.slow
def test_a_training_writes_into_its_folder_alone(tmp_path):
    """What a whole training opens to write, as the system sees it: the run folder, and the kernels' cache."""
    (tmp_path / "cache").mkdir()
    program = tmp_path / "watch.py"
    program.write_text(
        "import os, sys\n"
        "def watch(event, args):\n"
        "    if event == 'open' and isinstance(args[0], (str, bytes)) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):\n"
        "        sys.__stderr__.write(f'WROTE {os.path.abspath(os.fsdecode(args[0]))}\\n')\n"
        "sys.addaudithook(watch)\n"
        "from badak.cli import main\n"
        f"sys.exit(main({[*TRAIN, '--run', 'r']!r}))\n"
    )
    environment = {
        **os.environ,
        "BADAK_KERNELS": "reference",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLCONFIGDIR": str(tmp_path / "cache"),
    }
    done = subprocess.run([sys.executable, program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    wrote = {line.split(" ", 1)[1] for line in done.stderr.splitlines() if line.startswith("WROTE ")}
    inside = (str(tmp_path / "r") + "/", str(tmp_path / "cache") + "/", "/dev/")
    assert wrote and all(path.startswith(inside) for path in wrote), [path for path in wrote if not path.startswith(inside)]


@pytest.mark.parametrize("preset", ["sentences"])
def test_what_is_saved_can_still_be_read(preset, tmp_path):
    """The ways around links change nothing for those who have none."""
    setup = change(PRESETS["gpt"][preset], "model", {"d_model": 8, "heads": 1, "layers": 1})
    run, _ = start(tmp_path / "r", setup)
    write_row(run.folder / "metrics.csv", ROW)
    write_row(run.folder / "metrics.csv", ROW)
    assert run.rows() == [ROW, ROW]
    assert np.array_equal(safetensors.load(safetensors.save({"a": badak.ones(2)}))["a"].numpy(), [1, 1])
