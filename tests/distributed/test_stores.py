"""Stores of keys and values: within a process, in a file that processes share, and at a socket."""

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest
import torch.distributed as theirs

import badak.distributed as ours
from badak.core.errors import BadakError, NotSupportedError

SOON = timedelta(seconds=0.2)
KINDS = {
    "hash": lambda path: ours.HashStore(),
    "file": lambda path: ours.FileStore(path / "store", 1),
    "tcp": lambda path: ours.TCPStore("localhost", 0, is_master=True),
    "part": lambda path: ours.PrefixStore("p", ours.PrefixStore("q", ours.HashStore())),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def late(store, call):
    """What a thread sees that waits for what comes later."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call(store)))
    thread.start()
    time.sleep(0.05)
    store.multi_set(["late", "later"], ["1", "2"])
    thread.join()
    return found


STORIES = {
    "set and get": lambda s: [s.set("a", "x"), s.get("a"), s.set("a", b"\xff\x00\n"), s.get("a"), s.set("", ""), s.get("")],
    "letters": lambda s: [s.set("k\u00e9y \u2713\n", "\u2713"), s.get("k\u00e9y \u2713\n"), s.list_keys()],
    "count": lambda s: [s.add("n", 2), s.add("n", -5), s.get("n"), s.set("n", "40"), s.add("n", 2)],
    "count text": lambda s: [s.set("a", "x"), s.add("a", 1)],
    "check": lambda s: [s.set("a", "x"), s.check(["a"]), s.check(["a", "q"]), s.check([])],
    "compare": lambda s: [
        s.compare_set("k", "", "v"), s.compare_set("k", "w", "u"), s.compare_set("k", "v", "u"), s.get("k"),
        s.compare_set("other", "some", "u"), s.check(["other"]),
    ],
    "delete": lambda s: [s.set("a", "x"), s.num_keys(), s.delete_key("a"), s.delete_key("a"), s.check(["a"]), s.num_keys()],
    "many": lambda s: [s.multi_set(["p", "q"], ["1", b"2"]), s.multi_get(["q", "p"]), sorted(s.list_keys()), s.num_keys()],
    "append": lambda s: [s.append("a", "xy"), s.append("a", b"z"), s.get("a")],
    "queue": lambda s: [
        s.queue_push("Q", "1"), s.queue_push("Q", "2"), s.queue_len("Q"), s.queue_pop("Q"), s.queue_pop("Q", False),
        s.queue_len("Q"), s.num_keys(),
    ],
    "empty queue": lambda s: s.queue_pop("Q", False),
    "queue that stays empty": lambda s: s.queue_pop("Q"),
    "wait": lambda s: [s.set("a", "x"), s.wait(["a"]), s.wait(["a"], SOON), s.wait([], SOON)],
    "wait for none": lambda s: s.wait(["a"], SOON),
    "get none": lambda s: s.get("a"),
    "get many of which one is none": lambda s: [s.set("a", "x"), s.multi_get(["a", "b"])],
    "wait for what comes": lambda s: late(s, lambda s: [s.get("late"), s.wait(["late", "later"]), s.multi_get(["later"])]),
    "no key": lambda s: s.set(3, "a"),
    "no value": lambda s: s.set("a", 3),
    "no number": lambda s: s.add("a", 2.5),
    "one key for many": lambda s: s.check("a"),
    "no time": lambda s: s.wait(["a"], 3),
    "timeout": lambda s: [s.timeout, s.set_timeout(timedelta(seconds=9)), s.timeout],
    "barrier": lambda s: s.barrier("all", 1),
    "barrier without others": lambda s: s.barrier("all", 2, SOON),
    "features": lambda s: [s.has_extended_api(), s.set("a", "x"), s.clone().get("a")],
}  # fmt: skip


def told(story, store):
    """What a story gives; of an error, whether its class is among the bases of the other's."""
    try:
        return story(store)
    except Exception as error:
        assert not isinstance(error, BadakError) or "\nfix: " in str(error)
        return [base.__name__ for base in type(error).__mro__]


@each_kind
@pytest.mark.parametrize("name", STORIES)
def test_stores_do_what_pytorchs_do(name, kind, tmp_path):
    reference, store = theirs.HashStore(), KINDS[kind](tmp_path)
    for each in (reference, store):
        each.set_timeout(SOON)
    expected, found = told(STORIES[name], reference), told(STORIES[name], store)
    if isinstance(expected, list) and expected[-1:] == ["object"]:
        assert isinstance(found, list) and expected[0] in found
    else:
        assert found == expected


def test_a_part_of_a_store_is_keys_with_a_prefix():
    whole = ours.HashStore()
    part = ours.PrefixStore("p", whole)
    whole.set("other", "1")
    part.set("x", "2")
    part.set_timeout(SOON)
    assert whole.get("p/x") == b"2" and part.list_keys() == ["x"] and part.underlying_store is whole and whole.timeout == SOON
    with pytest.raises(TypeError, match="PrefixStore: expected a store; got str\nfix: "):
        ours.PrefixStore("p", "q")


def test_a_store_alone_keeps_nothing():
    with pytest.raises(NotSupportedError, match="keeps nothing by itself\nfix: "):
        ours.Store().set("a", "b")
    with pytest.raises(ValueError, match="2 keys, but 1 values\nfix: "):
        ours.HashStore().multi_set(["a", "b"], ["1"])


WORKER = """
import sys, time
from datetime import timedelta
import badak.distributed as dist
kind, where, rank = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = dist.FileStore(where, 4) if kind == "file" else dist.TCPStore("localhost", int(where), is_master=False)
store.set_timeout(timedelta(seconds=60))
store.barrier("start", 4)
for turn in range(50):
    store.add("sum", rank)
    store.append("letters", str(rank))
    if rank == 0:
        store.queue_push("work", str(turn))
    elif rank == 1:
        assert store.queue_pop("work") == str(turn).encode()
store.set(f"done/{rank}", "x" * 100000)
store.wait([f"done/{other}" for other in range(4)])
print(store.get("sum").decode(), *(store.get("letters").decode().count(str(other)) for other in range(4)), store.queue_len("work"))
store.barrier("end", 4)
"""


def start(*arguments):
    environment = {**os.environ, "BADAK_KERNELS": "reference"}
    return subprocess.Popen([sys.executable, "-c", *map(str, arguments)], stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "tcp"])
def test_processes_lose_nothing_of_what_the_others_do(kind, tmp_path):
    master = ours.TCPStore("localhost", 0, is_master=True) if kind == "tcp" else None
    where = tmp_path / "store" if master is None else master.port
    workers = [start(WORKER, kind, where, rank) for rank in range(4)]
    assert [worker.communicate(timeout=120)[0] for worker in workers] == ["300 50 50 50 50 0\n"] * 4
    assert not (tmp_path / "store").exists()  # the last one took it along


def test_a_file_that_was_there_before_stays(tmp_path):
    path = tmp_path / "store"
    path.touch()
    stores = [ours.FileStore(path, 2), ours.FileStore(path, 2)]
    stores[0].set("a", "1")
    assert stores[1].get("a") == b"1"
    del stores
    gc.collect()
    assert path.exists()


def test_the_file_stays_until_all_have_gone(tmp_path):
    path = tmp_path / "store"
    first, second = ours.FileStore(path, 2), ours.FileStore(path, 2)
    first.set("a", "1")
    assert second.path == str(path) and second.get("a") == b"1"
    del first
    gc.collect()
    assert path.exists() and second.get("a") == b"1"
    del second
    gc.collect()
    assert not path.exists()
    kept = ours.FileStore(path)
    kept.set("a", "2")
    del kept
    gc.collect()
    assert ours.FileStore(path).get("a") == b"2"


def test_what_a_killed_process_had_half_written_is_cut_off(tmp_path):
    path = tmp_path / "store"
    store = ours.FileStore(path)
    store.set("a", "1")
    with path.open("ab") as file:
        file.write(b'["set", "a", "2')
    assert store.get("a") == b"1" and store.add("n", 1) == 1
    assert ours.FileStore(path).multi_get(["a", "n"]) == [b"1", b"1"]


def refused(call, words):
    with pytest.raises(ours.DistError, match=words) as raised:
        call()
    assert "\nfix: " in str(raised.value)


def test_files_that_cannot_be_a_store_are_refused(tmp_path):
    text = tmp_path / "text"
    text.write_text("hello\n")
    refused(lambda: ours.FileStore(text), "is no file of a store")
    assert text.read_text() == "hello\n"
    refused(lambda: ours.FileStore(tmp_path / "no" / "folder"), "cannot be opened: No such file")
    store = ours.FileStore(tmp_path / "store")
    store.set("a", "1")
    (tmp_path / "store").write_text("")
    refused(lambda: store.get("a"), "is another file than before")
    (tmp_path / "store").unlink()
    refused(lambda: store.set("a", "1"), "is another file than before")


HOLDER = """
import sys, time
from badak.core.locking import lock_now
file = open(sys.argv[1], "r+b")
lock_now(file.fileno())
print("held", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_lock_that_is_held_is_named_and_ends_with_its_process(tmp_path):
    store = ours.FileStore(tmp_path / "store")
    store.set_timeout(SOON)
    holder = start(HOLDER, tmp_path / "store")
    assert holder.stdout.readline() == "held\n"
    refused(lambda: store.set("a", "1"), "another process has held .* for 0.2 s")
    holder.send_signal(signal.SIGKILL)
    holder.communicate(timeout=30)
    store.set("a", "1")
    assert store.get("a") == b"1"


@pytest.mark.slow
def test_a_socket_that_nobody_answers_at_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(lambda: ours.TCPStore("localhost", port, is_master=True), f"cannot listen at localhost:{port}")
    refused(lambda: ours.TCPStore("localhost", port, timeout=SOON), "no answer from localhost:.* within 0.2 s")
    refused(lambda: ours.TCPStore("localhost", 0, 2, is_master=True, timeout=SOON), "1/2 clients joined")
    with pytest.raises(ValueError, match="port=0 is for the master alone\nfix: "):
        ours.TCPStore("localhost", 0)
    with pytest.raises(NotSupportedError, match="master_listen_fd"):
        ours.TCPStore("localhost", 0, is_master=True, master_listen_fd=3)
    with pytest.raises(TypeError, match="TCPStore: expected timeout to be a datetime.timedelta; got int\nfix: "):
        ours.TCPStore("localhost", 0, is_master=True, timeout=3)


def test_a_master_waits_for_those_that_it_counts_and_takes_the_store_along():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    found = []
    come = threading.Thread(target=lambda: found.append(ours.TCPStore("localhost", port, 2, is_master=False)))
    come.start()
    master = ours.TCPStore("localhost", port, 2, is_master=True, timeout=timedelta(seconds=30))
    come.join()
    master.set("a", "1")
    assert found[0].get("a") == b"1" and (found[0].host, found[0].port) == ("localhost", port)
    assert ours.TCPStore("localhost", port, is_master=True, multi_tenant=True).get("a") == b"1"
    del master
    gc.collect()
    time.sleep(0.1)
    refused(lambda: found[0].get("a"), "does not answer any more")


def test_a_stranger_at_the_socket_does_no_harm():
    store = ours.TCPStore("localhost", 0, is_master=True)
    for said in (b"GET / HTTP/1.1\r\n\r\n", b'["do", "_set"]\n', b'["set", 3]\n', b"[]\n", b'["__init__"]\n'):
        with socket.create_connection(("127.0.0.1", store.port)) as stranger:
            stranger.sendall(said)
            stranger.settimeout(5)
            assert stranger.recv(100) in (b"", b"null\n")
    store.set("a", "1")
    assert store.list_keys() == ["a"]


@pytest.mark.parametrize("said", [b"no json\n", b"[]\n", b'"get"\n', b'[["a"]]\n', b'["none such"]\n', b"[" * 100_000 + b"\n"])
def test_what_is_no_command_ends_its_own_connection_only(said, capfd):
    store = ours.TCPStore("127.0.0.1", 0, is_master=True)
    with socket.create_connection(("127.0.0.1", store.port)) as caller, caller.makefile("rb") as answers:
        caller.sendall(said)
        assert answers.read() == b""
    store.set("a", "1")
    assert store.get("a") == b"1" and capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "call",
    [
        lambda path: ours.FileStore(3),
        lambda path: ours.FileStore(path, "b"),
        lambda path: ours.FileStore(path),
        lambda path: ours.TCPStore("localhost", "x", is_master=True),
        lambda path: ours.TCPStore("localhost", 99_999, is_master=True),
        lambda path: ours.TCPStore(5, 0, is_master=True),
        lambda path: ours.TCPStore("localhost", 0, is_master=True, timeout=3),
        lambda path: ours.HashStore().multi_set("ab", ["1", "2"]),
        lambda path: ours.HashStore().set(1, "a"),
        lambda path: ours.HashStore().add("a", "x"),
        lambda path: ours.PrefixStore("a", "b"),
    ],
)
def test_wrong_arguments_are_two_lines(call, tmp_path):
    with pytest.raises(BadakError) as refused:
        call(tmp_path)
    assert len(str(refused.value).splitlines()) == 2


def test_a_file_of_another_kind_is_two_lines(tmp_path):
    for text in (b"hello\n", b"[" * 100_000 + b"\n", b'["set", ["a"], "b"]\n', b'["get", "a"]\n'):
        (tmp_path / "file").write_bytes(text)
        with pytest.raises(BadakError, match="is no file of a store\nfix: a path of its own"):
            ours.FileStore(tmp_path / "file")
