"""What listens while ranks run, who is heard there, and what is imported from the folder in which one stands."""

import ipaddress
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from badak.core.errors import NotSupportedError
from badak.distributed.launch import launcher
from badak.distributed.launch.launcher import Order
from badak.distributed.launch.listener import PATIENCE, STRANGERS, Caller, Listener
from badak.distributed.launch.local import Meeting
from badak.io import worker
from tests.distributed.ranks import LIMIT, _run, environment
from tests.tiers import thinned
from tests.waiting import until

GUARD = Path(launcher.__file__).with_name("agent.py")
TOKEN = "0123456789abcdef" * 2


def family(top: int) -> set[int]:
    """A process and all that it has started."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):  # it has ended
            continue
    found = {top}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def listening(processes: set[int]) -> list[str]:
    """The addresses at which these processes wait for connections."""
    sockets = set()
    for process in processes:
        for file in Path(f"/proc/{process}/fd").glob("*"):
            try:
                sockets.add(os.readlink(file))
            except OSError:
                continue
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:] if Path(table).exists() else []:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                raw = bytes.fromhex(words[1].partition(":")[0])
                found.append(str(ipaddress.ip_address(b"".join(raw[i : i + 4][::-1] for i in range(0, len(raw), 4)))))
    return found


def outer(addresses: list[str]) -> list[str]:
    return [address for address in addresses if not ipaddress.ip_address(address).is_loopback]


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="sockets are listed by Linux's /proc")
def test_the_list_of_sockets_finds_an_open_door():
    with socket.create_server(("0.0.0.0", 0)), socket.create_server(("127.0.0.1", 0)):
        assert set(listening({os.getpid()})) >= {"0.0.0.0", "127.0.0.1"}
        assert "0.0.0.0" in outer(listening({os.getpid()}))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="sockets are listed by Linux's /proc")
@pytest.mark.parametrize("how", ["launch", "spawn", "netmod of libfabric"])
def test_ranks_of_one_machine_open_no_door_to_others(how, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, time, torch, torch.distributed as dist, torch.multiprocessing as mp\n"
        "def main(rank):\n"
        "    dist.init_process_group('mpi')\n"
        "    for size in (3, 2**20):\n"
        "        dist.all_reduce(torch.ones(size))\n"
        "    dist.new_group([0, 1])\n"
        "    sys.stdout.write('works\\n')\n"
        "    sys.stdout.flush()\n"
        "    time.sleep(300)\n"
        "if __name__ == '__main__':\n"
        "    mp.spawn(main, nprocs=2) if sys.argv[1:] else main(0)\n"
    )
    line = ["run", str(program), "spawn"] if how == "spawn" else ["launch", "-n", "2", str(program)]
    more = {"MPIR_CVAR_CH4_NETMOD": "ofi"} if how.startswith("netmod") else {}
    process = subprocess.Popen(
        [sys.executable, "-m", "badak", *line], env=environment(**more), stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert [process.stdout.readline() for _ in range(2)] == ["works\n"] * 2
        everybody = family(process.pid)
        assert len(everybody) >= 5  # the launcher, two guards and two ranks
        assert outer(listening(everybody)) == []
    finally:
        process.terminate()
        process.communicate(timeout=LIMIT)


# ---------------------------------------------------------------- who is heard


@pytest.fixture
def listener(monkeypatch):
    """A listener for two ranks; a thread of it that ends with an error fails the test."""
    errors = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    made = Listener("127.0.0.1", TOKEN, 2)
    made.thread.start()
    yield made
    made.close()
    assert not errors


@pytest.fixture
def call(listener):
    """call(*sent): a connection over which that was sent, as far as it was taken; closed after the test."""
    made = []

    def dial(*sent: bytes) -> socket.socket:
        made.append(socket.create_connection(("127.0.0.1", listener.port), timeout=20))
        try:
            for part in sent:
                made[-1].sendall(part)
        except ConnectionError:  # it was sent away in the middle
            pass
        return made[-1]

    yield dial
    for line in made:
        line.close()


def is_closed(line: socket.socket) -> bool:
    """Whether the other side ends the connection: waits for it."""
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def heard(listener: Listener, number: int):
    """What is known of this rank, when it has called."""
    until(lambda: number in listener.ranks)
    return listener.ranks[number]


HELLO = b'{"rank": 0, "host": "here"}\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        TOKEN.encode()[:-1] + b"x" + HELLO,
        HELLO,
        b'{"hello": "no"}\n',
        b"\xff\xfe\x00\x00" * 20,
        TOKEN.encode() + b"no JSON\n",
        TOKEN.encode() + b"[" * 60_000 + b"\n",
        TOKEN.encode() + b'"rank"\n',
        TOKEN.encode() + b'{"rank": 2, "host": "here"}\n',
        TOKEN.encode() + b'{"rank": -1, "host": "here"}\n',
        TOKEN.encode() + b'{"rank": true, "host": "here"}\n',
        TOKEN.encode() + b'{"rank": 0}\n',
        TOKEN.encode() + b"x" * 200_000,
    ],
)
def test_who_says_something_else_is_sent_away(listener, call, sent):
    assert is_closed(call(sent))
    assert listener.ranks == {}
    call(TOKEN.encode()[:5], TOKEN.encode()[5:] + HELLO[:9], HELLO[9:])
    assert heard(listener, 0).host == "here"
    assert is_closed(call(TOKEN.encode() + HELLO))  # the number is taken


@pytest.mark.slow
def test_many_who_say_nothing_cost_little_and_keep_nobody_away(listener, call):
    threads = threading.active_count()
    idle = [call() for _ in range(4 * STRANGERS)]
    call(TOKEN.encode() + HELLO)
    assert heard(listener, 0).host == "here"
    assert threading.active_count() == threads
    assert len(listener.callers) <= STRANGERS + 2
    assert all(is_closed(line) for line in idle[:STRANGERS])


@pytest.mark.slow
def test_a_stranger_has_a_time_limit(listener, call):
    idle = call(TOKEN.encode()[:3])
    while not listener.callers:
        time.sleep(0.005)
    caller: Caller = next(iter(listener.callers.values()))
    caller.since -= PATIENCE
    assert is_closed(idle)


@pytest.mark.slow
def test_a_guard_that_is_gone_is_lost_and_what_it_said_is_noted(listener, call):
    line = call(TOKEN.encode() + HELLO, b'{"ticks": 3, "steps": 7, "waits": 0.5, "what": "barrier", "absent": [1]}\n')
    rank = heard(listener, 0)
    while rank.steps != 7:
        time.sleep(0.005)
    assert not rank.is_over
    line.close()
    while not rank.lost:
        time.sleep(0.005)


# ---------------------------------------------------------------- the guard


@pytest.mark.parametrize("script", [GUARD, Path(worker.__file__)], ids=lambda path: path.stem)
def test_who_watches_over_another_process_imports_pythons_own_library_alone(script):
    """There is one for each rank: with badak in it, it would take as long to start as the rank, and as much memory."""
    code = (
        f"import sys; sys.path.insert(0, {str(script.parent)!r}); before = set(sys.modules); import {script.stem}\n"
        "print(*{name.partition('.')[0] for name in sys.modules.keys() - before} - sys.stdlib_module_names)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [script.stem]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["reset", "closed", "nobody there"])
def test_a_guard_without_its_launcher_ends_quietly(ending, tmp_path):
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    env = environment(BADAK_LAUNCHER=f"127.0.0.1:{port}:{TOKEN}", TMPDIR=str(tmp_path))
    if ending == "nobody there":
        server.close()
    program = "import os, time; print(os.getpid(), flush=True); time.sleep(300)"
    line = [sys.executable, "-P", str(GUARD), sys.executable, "-c", program]
    guard = subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if ending == "nobody there":
        out, err = guard.communicate(timeout=LIMIT)
        assert (
            out == ""
            and err.startswith("badak launch: ")
            and err.endswith(
                f"does not reach 127.0.0.1:{port} (Connection refused)\n"
                "fix: each host must be able to open a connection to the one that launches\n"
            )
        )
    else:
        rank = int(guard.stdout.readline())
        caller, _ = server.accept()
        said = b""
        while said.count(b"\n") < 2:
            said += caller.recv(4096)
        assert said.startswith(TOKEN.encode()) and json.loads(said[len(TOKEN) :].split(b"\n")[0])["rank"] == 0
        if ending == "reset":
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        caller.close()
        _, err = guard.communicate(timeout=LIMIT)
        assert err == ""
        assert not Path(f"/proc/{rank}").exists()
        server.close()
    assert guard.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_windows_has_no_ranks(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(NotSupportedError) as error:
        launcher.launch(Order(["true"], 2))
    assert str(error.value) == (
        "badak launch: several ranks run on Linux and macOS; on Windows nobody has run them\n"
        "fix: the Windows Subsystem for Linux (WSL); or one process: badak run SCRIPT"
    )


@pytest.mark.slow
def test_the_launcher_can_be_asked_for_where_a_system_lacks_what_guards_need():
    code = "import sys; sys.modules['resource'] = None; import badak.distributed.launch"
    assert subprocess.run([sys.executable, "-c", code], env=environment()).returncode == 0


def test_what_mpi_asks_at_its_start():
    meeting = Meeting([None, None])  # type: ignore[list-item]
    ask = meeting.replies
    assert ask(0, "cmd=init pmi_version=1 pmi_subversion=1") == [(0, "response_to_init pmi_version=1 pmi_subversion=1 rc=0")]
    assert ask(1, "cmd=get_my_kvsname") != Meeting([None]).replies(0, "cmd=get_my_kvsname")  # type: ignore[list-item]
    assert ask(1, "cmd=put kvsname=x key=a value=b=c#") == [(1, "put_result rc=0 msg=success")]
    assert ask(0, "cmd=get kvsname=x key=a") == [(0, "get_result rc=0 msg=success value=b=c#")]
    assert ask(0, "cmd=get kvsname=x key=z")[0][1].startswith("get_result rc=-1 ")
    assert ask(0, "cmd=barrier_in") == []
    assert ask(1, "cmd=barrier_in") == [(0, "barrier_out rc=0"), (1, "barrier_out rc=0")]
    assert ask(1, "cmd=barrier_in") == []
    meeting.gone.add(0)
    assert meeting.all_came() == [(1, "barrier_out rc=0")] and meeting.all_came() == []
    assert ask(0, "mcmd=spawn") == [] and ask(0, "endcmd")[0][1].startswith("spawn_result rc=-1")
    assert ask(0, "cmd=lookup_name service=x")[0][1].startswith("lookup_result rc=-1")


@pytest.mark.slow
@pytest.mark.parametrize("asked", [True, False])
def test_the_end_of_mpi_does_not_wait_for_a_rank_that_left_without_it(asked):
    ours, theirs = zip(*(socket.socketpair() for _ in range(2)))
    thread = threading.Thread(target=Meeting(list(ours)).run)
    thread.start()
    for line in theirs if asked else theirs[1:]:
        line.settimeout(20)
        line.sendall(b"cmd=init pmi_version=1 pmi_subversion=1\n")
        assert line.recv(200).startswith(b"cmd=response_to_init ")
    theirs[0].close()
    theirs[1].sendall(b"cmd=barrier_in\n")  # the first: nobody has met at the start
    theirs[1].settimeout(20 if asked else 0.2)
    if asked:
        assert theirs[1].recv(200) == b"cmd=barrier_out rc=0\n"
    else:
        with pytest.raises(TimeoutError):
            theirs[1].recv(200)
    theirs[1].close()
    thread.join(20)
    assert not thread.is_alive()


# ---------------------------------------------------------------- what is imported


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("way", ["script", "module", "spawn", "train"])
def test_nothing_is_imported_from_the_folder_in_which_one_stands(way, tmp_path):
    for name in ("threading", "json", "select", "click", "numpy", "mpi4py", "tempfile"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\nraise SystemExit(9)\n")
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "beside.py").write_text("said = 'beside'\n")
    (folder / "program.py").write_text(
        "import beside, sys, torch.distributed as dist, torch.multiprocessing as mp\n"
        "def main(rank):\n"
        "    dist.init_process_group('mpi')\n"
        "    sys.stdout.write(beside.said + '\\n')\n"
        "if __name__ == '__main__':\n"
        "    mp.spawn(main, nprocs=2) if sys.argv[1:] else main(0)\n"
    )
    (tmp_path / "text.txt").write_text("one and two are three\n" * 40)
    line = {
        "script": ["launch", "-n", "2", "programs/program.py"],
        "module": ["launch", "-n", "2", "-m", "program"],  # of the user's own folder, as in python -m
        "spawn": ["run", "programs/program.py", "spawn"],
        "train": ["train", "gpt", "--ranks", "2", "--data", "text.txt", "--run", "run", "--steps", "1", "--layers", "1",
                  "--heads", "1", "--d-model", "8", "--context", "8", "--batch-size", "2"],
    }[way]  # fmt: skip
    cwd = folder if way == "module" else tmp_path
    done = _run([sys.executable, "-P", "-m", "badak", *line], cwd)
    assert done.code == 0, done.err
    assert way == "train" or done.out == "beside\n" * 2
    assert not (tmp_path / "ran").exists()


# ---------------------------------------------------------------- where the ranks' logs go


THESIS = b"the only copy of a thesis\n"
LAUNCH = [sys.executable, "-m", "badak", "launch", "-n", "2"]


def lay(kind: str, path: Path, thesis: Path) -> None:
    """Something else under the name of a log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    {"link": lambda: path.symlink_to(thesis), "dangling link": lambda: path.symlink_to(thesis.with_name("new")),
     "hard link": lambda: os.link(thesis, path), "pipe": lambda: os.mkfifo(path), "folder": path.mkdir,
     "link to a device": lambda: path.symlink_to("/dev/null")}[kind]()  # fmt: skip


@pytest.fixture
def thesis(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_bytes(THESIS)
    return tmp_path / "home" / "thesis.txt"


def untouched(thesis: Path) -> bool:
    return thesis.read_bytes() == THESIS and [one.name for one in thesis.parent.iterdir()] == [thesis.name]


def logged(path: Path) -> subprocess.CompletedProcess:
    """A guard that has something to add to its log."""
    code = f"import sys; sys.path.insert(0, {str(GUARD.parent)!r}); import agent; agent.log_file({str(path)!r}).write(b'said')"
    return subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["link", "dangling link", "hard link", "pipe", "folder", "link to a device"])
def test_a_guard_writes_its_log_through_nothing(kind, tmp_path, thesis):
    """Also where it lies on another machine, or was put there when the launcher had looked."""
    path = tmp_path / "logs" / "rank-1.log"
    lay(kind, path, thesis)
    done = logged(path)
    assert untouched(thesis)
    if kind == "hard link":  # a copy of a run: both keep what they have
        assert done.returncode == 0 and path.read_bytes() == THESIS + b"said"
        assert [one.name for one in path.parent.iterdir()] == [path.name]
    else:
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 2 and "\nfix: " in done.stderr, done.stderr


@pytest.mark.slow
def test_a_guard_takes_no_link_for_the_folder_of_logs(tmp_path, thesis):
    (tmp_path / "logs").symlink_to(thesis.parent)
    done = logged(tmp_path / "logs" / "rank-0.log")
    assert done.returncode == 1 and "it is a link" in done.stderr and untouched(thesis)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ranks", "ranks/rank-0.log", "ranks/rank-1.log"])
def test_a_link_in_a_run_folder_destroys_no_other_file(name, tmp_path, thesis):
    """`badak train --ranks` keeps its logs in the run folder, which may be somebody else's."""
    link = tmp_path / "run" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(thesis.parent if name == "ranks" else thesis)
    (tmp_path / "text.txt").write_text("one and two are three\n" * 40)
    line = ["train", "gpt", "--ranks", "2", "--data", "text.txt", "--run", "run", "--steps", "1", "--layers", "1", "--heads", "1",
            "--d-model", "8", "--context", "8", "--batch-size", "2"]  # fmt: skip
    done = _run([sys.executable, "-m", "badak", *line], tmp_path)
    assert done.code == 2 and untouched(thesis), done.err
    assert done.err.splitlines()[-1].startswith("fix: remove") and "nothing is written through it" in done.err


@pytest.mark.slow
def test_who_names_a_link_as_the_folder_of_logs_gets_them_there(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "logs").symlink_to(tmp_path / "disk")
    (tmp_path / "program.py").write_text("print('hello')\n")
    done = _run([*LAUNCH, "--logs", "logs", "program.py"], tmp_path)
    assert done.code == 0, done.err
    assert [(tmp_path / "disk" / f"rank-{number}.log").read_text() for number in (0, 1)] == ["hello\n"] * 2


@pytest.mark.slow
def test_a_file_with_the_name_of_a_command_is_not_run_in_its_place(tmp_path):
    for name in thinned(["translate", "train", "eval", "generate"], 1):
        (tmp_path / name).write_text("open('ran', 'a').write('x')\n")
        assert _run([*LAUNCH, name, "--help"], tmp_path).code == 0
    assert not (tmp_path / "ran").exists()
    (tmp_path / "eval").write_text("print('hello')\n")
    assert _run([*LAUNCH, "./eval"], tmp_path).out == "hello\n" * 2
