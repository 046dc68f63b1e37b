"""badak launch: what each rank finds, and how a failure ends all ranks."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from badak.distributed.launch.exit_status import START, Failure, Rank, Verdict
from tests.distributed.ranks import LIMIT, PROGRAMS, environment, launch, mpirun
from tests.distributed.small import arguments, processes, write_text
from tests.waiting import until

FAILS = PROGRAMS / "fails.py"


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    "how, said",
    [
        ("raise", r"rank 1 \(step 0\) ended with ValueError: no such token \(fails\.py:\d+\); all ranks are ended"),
        ("kill", r"rank 1 \(step 0\) was killed by SIGKILL \(9\); it had [\d.]+ GiB at most; all ranks are ended"),
        ("exit", r"rank 1 \(step 0\) ended with exit code 3; all ranks are ended"),
        (
            "memory",
            r"rank 1 \(step 0\) ended with OutOfMemoryError: .*Unable to allocate 4\.00 GiB.* \(fails\.py:\d+\); all ranks are ended",  # noqa: E501
        ),
        (
            "end",
            r"rank 0 \(step 0\) ended with DistBackendError: all_reduce\(SUM\) of float32 \(3,\), collective no\. 7 of the world: "
            r"rank 1 ended without coming to it \(fails\.py:\d+\); all ranks are ended",  # noqa: E501
        ),
        (
            "vanish",
            r"rank 1 has ended, and would have to come still: rank 0 \(step 0\) waits in all_reduce\(SUM\) of float32 \(3,\), "
            r"collective no\. 7 of the world for rank 1; all ranks are ended",
        ),
        (
            "stop",
            r"rank 1 \(step 0\) has given no sign of life for 2\d s: somebody has stopped it \(SIGSTOP\); all ranks are ended",
        ),
    ],
)
def test_a_rank_that_fails_ends_all_with_one_message(how, said):
    done = launch(2, FAILS, how)
    assert done.code == 1
    lines = [line for line in done.err.splitlines() if line.startswith("badak launch:")]
    assert len(lines) == 2 and re.fullmatch("badak launch: " + said, lines[1]), done.err
    assert len(re.findall("all ranks are ended\nfix: ", done.err)) == 1
    assert done.err.count("Traceback") == (how in ("raise", "memory", "end"))
    assert not processes(str(FAILS))


@pytest.mark.slow
def test_a_rank_that_does_not_come_is_named():
    done = launch(2, FAILS, "sleep", options=("--hang", "10"))  # the start of MPI takes some of it
    assert done.code == 1
    assert re.search(
        r"ranks 0 have waited \d+ s in all_reduce\(SUM\) of float32 \(3,\), collective no\. 7 of the world, "
        r"rank 1 did not come to it \(step 0\); all ranks are ended\nfix: call it on every rank",
        done.err,
    ), done.err


@pytest.mark.slow
def test_restarts_go_on_and_logs_are_kept(tmp_path):
    done = launch(2, FAILS, "kill", "once", options=("--restarts", "2", "--logs", tmp_path / "logs"))
    assert done.code == 0, done.err
    assert "starting again, 1 of 2 times" in done.err
    assert done.out == "rank 0 of 2 done: 256.0\n"
    assert (tmp_path / "logs" / "rank-0.log").read_text().endswith("rank 0 of 2 done: 256.0\n")
    assert (tmp_path / "logs" / "rank-1.log").read_text() == "rank 1 of 2 done: 256.0\n"


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("ending, code, said", [("SIGINT", 130, "Ctrl-C"), ("SIGTERM", 143, "SIGTERM"), ("SIGKILL", -9, "")])
def test_a_signal_to_the_launcher_ends_all(ending, code, said):
    line = [sys.executable, "-m", "badak", "launch", "-n", "2", str(FAILS), "forever"]
    launcher = subprocess.Popen(line, env=environment(), stderr=subprocess.PIPE, text=True, start_new_session=True)
    heard = [launcher.stderr.readline() for _ in range(3)]
    launcher.send_signal(getattr(signal, ending))
    _, rest = launcher.communicate(timeout=LIMIT)
    assert launcher.returncode == code, (heard, rest)
    assert rest.strip() == (said and f"badak launch: stopped by {said}; all ranks have ended")
    until(lambda: not processes(str(FAILS)))  # after SIGKILL they notice by themselves


@pytest.mark.slow
def test_a_training_that_is_asked_to_end_saves_and_goes_on(tmp_path):
    text, run = write_text(tmp_path), tmp_path / "run"
    line = [sys.executable, "-m", "badak", "launch", "-n", "2", *arguments(text, run, 4000)]
    launcher = subprocess.Popen(line, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (run / "state.json").exists() and launcher.poll() is None:
        time.sleep(0.01)
    launcher.send_signal(signal.SIGTERM)
    out, err = launcher.communicate(timeout=LIMIT)
    assert launcher.returncode == 143, err
    assert "stopped and saved; go on with: badak train gpt --resume" in out
    assert err.endswith("badak launch: stopped by SIGTERM; all ranks have ended\n")


def rank(ticks=9, waits=0.0, absent=(), end=None, **more) -> Rank:
    """A rank as its guard tells of it."""
    made = Rank(line=None, host="here", ticks=ticks, waits=waits, what="barrier", absent=list(absent), end=end)
    for name, value in more.items():
        setattr(made, name, value)
    return made


def said(ranks: dict[int, Rank], seconds: float = 0.0, hang: float = 0.0) -> str:
    """What is said of these ranks after some seconds; "" where nothing is wrong."""
    verdict, now = Verdict(hang, names_hosts=False), time.monotonic() + seconds
    try:
        verdict.look(now, ranks)
        verdict.look(now + 2, ranks)
    except Failure as failure:
        return failure.cause
    return ""


def test_what_counts_as_a_failure():
    assert said({0: rank(waits=500.0, absent=[1]), 1: rank()}) == ""  # rank 1 computes
    assert said({0: rank(waits=500.0), 1: rank(waits=500.0)}) == ""  # data is on its way
    assert said({0: rank(waits=500.0, absent=[1]), 1: rank(waits=5.0, absent=[0])}) == ""  # not long enough
    knot = said({0: rank(waits=30.0, absent=[1]), 1: rank(waits=30.0, absent=[2, 0]), 2: rank()})
    assert knot == (
        "ranks wait for each other, and nobody would ever come: rank 0 (step 0) waits in barrier for rank 1; "
        "rank 1 (step 0) waits in barrier for rank 2, 0"
    )
    assert said({0: rank(waits=30.0, absent=[1]), 1: rank(end=0)}).startswith("rank 1 has ended, and would have to come still: ")
    assert said({0: rank(end=0), 1: rank()}) == ""
    assert said({0: rank(end=-9), 1: rank(end=1, why="ValueError: x")}) == "rank 1 (step 0) ended with ValueError: x"
    late = time.monotonic() + START
    assert said({0: rank(ticks=0, heard=late), 1: rank(ticks=0, waits=1.0, heard=late)}, seconds=START - 5) == ""  # it is slow
    slow = {0: rank(ticks=0, heard=late), 1: rank(ticks=0, waits=99.0, heard=late)}
    assert said(slow, seconds=START + 1) == "rank 0 (step 0) has not come to the start of MPI within 121 s"
    assert said({0: rank(ticks=0, heard=late)}, seconds=START + 1) == ""  # one rank alone needs no MPI


@pytest.mark.slow
def test_under_mpirun_an_error_ends_all_ranks():
    done = mpirun(2, "-m", "badak", "run", FAILS, "raise")
    assert done.code == 1
    assert done.err.count("ValueError: no such token") == 1


@pytest.mark.slow
def test_a_program_that_is_not_there(badak):
    done = badak("launch", "-n", "2", "nowhere.py")
    assert done == (
        2,
        "",
        "error: badak launch: nowhere.py: there is no such file\nfix: badak launch -n 2 SCRIPT [ARGS]\n",
    )


@pytest.mark.slow
def test_a_host_file_that_is_not_there(badak):
    done = badak("launch", "-n", "2", "--hosts", "nowhere", FAILS, "none")
    assert done == (
        2,
        "",
        'error: badak launch: nowhere: there is no such host file\nfix: a file with lines like "node1:2"\n',
    )


@pytest.fixture
def badak():
    """badak(*arguments): the command line, in this process."""
    from click.testing import CliRunner  # noqa: F401  (its presence says that click is whole)

    from tests.distributed.ranks import _run

    def run(*arguments):
        import sys

        return _run([sys.executable, "-m", "badak", *map(str, arguments)], os.getcwd())

    return run


@pytest.mark.slow
def test_each_stream_of_the_first_rank_is_shown_to_its_end_and_kept(tmp_path):
    program = tmp_path / "says.py"
    program.write_text("import sys\nprint('line\\n' * 20_000 + 'last')\nsys.stderr.write('a complaint\\n')\n")
    done = launch(2, program, options=("--logs", tmp_path / "logs"))
    assert done.code == 0
    assert done.out == "line\n" * 20_000 + "last\n"
    assert done.err.splitlines()[-1] == "a complaint"
    assert sorted((tmp_path / "logs" / "rank-0.log").read_text().splitlines())[:2] == ["a complaint", "last"]
