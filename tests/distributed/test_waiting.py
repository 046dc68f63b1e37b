"""Whoever waits for another rank has a time limit, sees that it has ended, and leaves the CPU to others meanwhile."""

import json
import re
from datetime import timedelta

import pytest

import badak
from badak import distributed as dist
from badak.core.errors import ArgumentError, ArgumentTypeError, StateError
from badak.distributed import heartbeat
from badak.distributed.launch import exit_status
from badak.distributed.work import _seconds
from tests.distributed.ranks import PROGRAMS, launch, mpirun
from tests.distributed.test_launch import rank, said


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize("how, check, guarded", [("late", "1", False), ("ended", "1", True), ("ended", "0", True)])
def test_every_way_to_wait_gives_up(how, check, guarded):
    words = [PROGRAMS / "waits.py", how]
    if guarded:
        done = launch(2, *words, BADAK_DIST_CHECK=check)
    else:
        done = mpirun(2, "-m", "badak", "run", *words, BADAK_DIST_CHECK=check)
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert len(lines) == (23 if how == "late" else 24), done.err
    why = "rank 1 ended without coming to it" if how == "ended" else r"rank 1 did not come to it within 0\.[36] s"
    longer = "" if how == "ended" else r"; a longer limit: init_process_group\(timeout=timedelta\(\.\.\.\)\)"
    for name, share, raised in lines:
        assert share < 0.5, name  # who spins computes all the time
        fix = "(call it on every rank|one send on the other).*"
        assert re.fullmatch(rf"DistBackendError: .*: {why}\nfix: {fix}{longer}", raised), name


@pytest.mark.slow
@pytest.mark.parametrize("slow", [0, 1])
def test_no_rank_is_killed_at_its_end_where_one_has_given_up_waiting(tmp_path, slow):
    """MPI cannot end properly then, and its starter must not take that for a crash."""
    program = tmp_path / "tardy.py"
    program.write_text(
        "import atexit, sys, time\n"
        "mine = []\n"
        "atexit.register(lambda: mine and (time.sleep(1.5), print('all done', flush=True)))\n"  # the very last
        "import badak, badak.distributed as dist\n"
        "from datetime import timedelta\n"
        "dist.init_process_group('mpi', timeout=timedelta(seconds=5))\n"
        f"mine += [1] * (dist.get_rank() == {slow})\n"
        "if dist.get_rank() == 0:\n"
        "    try:\n"
        "        dist.irecv(badak.zeros(3), 1).wait(timedelta(seconds=0.2))\n"
        "    except RuntimeError:\n"
        "        pass\n"
    )
    done = mpirun(2, program)
    assert (done.code, done.out) == (0, "all done\n"), done.err


@pytest.mark.slow
def test_what_an_ended_rank_has_sent_still_counts(tmp_path):
    program = tmp_path / "post.py"
    program.write_text(
        "import time, torch, torch.distributed as dist\n"
        "dist.init_process_group('mpi')\n"
        "if dist.get_rank() == 0:\n"
        "    time.sleep(1)\n"
        "    x = torch.zeros(3)\n"
        "    came = [dist.recv(x, None) for _ in range(3)]\n"
        "    dist.recv(x, 2)\n"
        "    print(sorted(came), x.tolist())\n"
        "else:\n"
        "    for _ in range(dist.get_rank()):\n"
        "        dist.send(torch.ones(3), 0)\n"
        "    if dist.get_rank() == 2:\n"
        "        time.sleep(2)\n"  # rank 1 has ended, and this one will come
        "        dist.send(torch.full((3,), 7.0), 0)\n"
    )
    done = launch(3, program)
    assert (done.code, done.out) == (0, "[1, 2, 2] [7.0, 7.0, 7.0]\n"), done.err


@pytest.mark.slow
def test_a_collective_that_a_rank_began_and_left_is_seen(tmp_path):
    program = tmp_path / "leaves.py"
    program.write_text(
        "import sys, torch, torch.distributed as dist\n"
        "dist.init_process_group('mpi')\n"
        "work = dist.all_reduce(torch.ones(2**22), async_op=True)\n"
        "if dist.get_rank() == 1:\n"
        "    sys.exit()\n"
        "work.wait()\n"
    )
    done = launch(2, program)
    assert done.code == 1 and "rank 1 ended without coming to it" in done.err, done.err


@pytest.mark.slow
def test_a_rank_that_leaves_at_the_end_without_a_word_is_no_failure(tmp_path):
    program = tmp_path / "exits.py"
    program.write_text(
        "import os, torch.distributed as dist\n"
        "dist.init_process_group('mpi')\n"
        "dist.barrier()\n"
        "print('done', dist.get_rank(), flush=True)\n"
        "if dist.get_rank() == 1:\n"
        "    os._exit(0)\n"
    )
    done = launch(2, program)
    assert done.code == 0 and sorted(done.out.split()) == ["0", "1", "done", "done"], done.err


@pytest.mark.slow
def test_the_start_of_mpi_has_a_time_limit(tmp_path):
    program = tmp_path / "late.py"
    program.write_text(
        "import os, time, badak\n"
        "if os.environ['PMI_RANK'] == '1':\n"
        "    time.sleep(100)\n"
        "badak.distributed.init_process_group('mpi', timeout=1)\n"
    )
    done = mpirun(2, program)
    assert done.code != 0
    assert done.err.startswith(
        "error: the start of MPI: some ranks did not come to it within 1 s\n"
        "fix: start all of them; a longer limit: init_process_group(timeout=timedelta(...))\n"
    )


@pytest.mark.slow
def test_ranks_that_wait_for_each_other_are_ended():
    done = launch(2, PROGRAMS / "fails.py", "other")
    assert done.code == 1
    assert "ranks wait for each other, and nobody would ever come: rank 0 (step 0) waits in all_reduce" in done.err
    assert "rank 1 (step 0) waits in recv from rank 0 of float32 (3,) for rank 0; all ranks are ended" in done.err


@pytest.mark.slow
def test_what_was_under_way_ends_with_its_group(tmp_path):
    program = tmp_path / "destroys.py"
    program.write_text(
        "import torch, torch.distributed as dist\n"
        "dist.init_process_group('mpi')\n"
        "group = dist.new_group([0, 1])\n"
        "other = 1 - dist.get_rank()\n"
        "receive = dist.irecv(torch.zeros(3), other, group)\n"
        "send = dist.isend(torch.full((2**20,), 5.0), other)\n"  # of the world: it arrives after the world is gone, too
        "kept = torch.zeros(2**20)\n"
        "dist.recv(kept, other)\n"
        "dist.destroy_process_group(group)\n"
        "try:\n"
        "    receive.wait()\n"
        "except dist.DistBackendError as error:\n"
        "    print(str(error).splitlines()[0], kept.sum().item())\n"
        "dist.destroy_process_group()\n"
        "send.wait()\n"
    )
    done = launch(2, program)
    assert done.code == 0, done.err
    line = "recv from rank {} of float32 (3,): its group was destroyed before it was done 5242880.0"
    assert sorted(done.out.splitlines()) == [line.format(0), line.format(1)]


def test_who_waits_for_any_of_several_is_stuck_when_all_are():
    waits = {"waits": 30.0, "of_any": True}
    assert said({0: rank(absent=[1, 2], **waits), 1: rank(waits=30.0, absent=[0]), 2: rank()}) == ""  # rank 2 may send yet
    assert said({0: rank(absent=[1, 2], **waits), 1: rank(end=0), 2: rank()}) == ""
    gone = said({0: rank(absent=[1, 2], **waits), 1: rank(end=0), 2: rank(end=0)})
    assert gone.startswith("rank 1, 2 has ended, and would have to come still: rank 0 (step 0) waits in barrier")
    assert said({0: rank(absent=[1, 2], **waits), 1: rank(waits=30.0, absent=[0]), 2: rank(end=0)}) != ""


def test_who_has_nothing_left_to_do_may_wait_for_long():
    waits = {"waits": 5000.0, "absent": [1], "what": exit_status.END}
    assert exit_status.END == heartbeat.END
    assert said({0: rank(**waits), 1: rank()}, hang=5) == ""
    assert said({0: rank(**waits), 1: rank(end=0)}, hang=5) == ""
    assert rank(**waits).is_done({1}) and not rank(**waits).is_done(set()) and rank(end=0).is_done(set())


@pytest.mark.parametrize("wrong", [float("nan"), -1, timedelta(seconds=-1)])
def test_a_limit_that_cannot_be(wrong):
    with pytest.raises(ArgumentError, match="init_process_group: expected timeout >= 0; got"):
        dist.init_process_group("mpi", timeout=wrong)


@pytest.mark.parametrize("wrong", ["5", True, [5]])
def test_a_limit_of_another_kind(wrong):
    with pytest.raises(ArgumentTypeError, match="init_process_group: expected timeout to be a datetime.timedelta, or seconds; got"):
        dist.init_process_group("mpi", timeout=wrong)


def test_limits():
    assert [_seconds(t, "wait", 9.0) for t in (None, 0, timedelta(0), 2, timedelta(minutes=1))] == [9.0, 9.0, 9.0, 2.0, 60.0]


def test_alone_nobody_can_send():
    dist.init_process_group("gloo", world_size=1, rank=0)
    try:
        with pytest.raises(ArgumentError, match="recv: from any rank, but ProcessGroup.* has no other one\nfix: more ranks"):
            dist.recv(badak.zeros(3))
    finally:
        dist.destroy_process_group()


def test_a_group_that_has_failed_takes_no_mail():
    dist.init_process_group("gloo", world_size=1, rank=0)
    try:
        group = dist.group.WORLD
        group.broken = "all_reduce: rank 1 did not come"
        with pytest.raises(StateError, match="barrier.*: the group has failed before: all_reduce: rank 1 did not come"):
            dist.barrier()
    finally:
        dist.destroy_process_group()
