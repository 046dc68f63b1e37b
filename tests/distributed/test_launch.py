"""badak launch: what each rank finds, and how a failure ends all ranks."""

import os
import re

import pytest

from tests.distributed.ranks import PROGRAMS, launch, mpirun

FAILS = PROGRAMS / "fails.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    "how, said",
    [
        ("raise", r"rank 1 \(step 0\) ended with ValueError: no such token \(fails\.py:\d+\); all ranks are ended"),
        ("kill", r"rank 1 \(step 0\) was killed by SIGKILL \(9\); it had [\d.]+ GiB at most; all ranks are ended"),
        ("exit", r"rank 1 \(step 0\) ended with exit code 3; all ranks are ended"),
    ],
)
def test_a_rank_that_fails_ends_all_with_one_message(how, said):
    done = launch(2, FAILS, how)
    assert done.code == 1
    lines = [line for line in done.err.splitlines() if line.startswith("badak launch:")]
    assert len(lines) == 2 and re.fullmatch("badak launch: " + said, lines[1]), done.err
    assert done.err.count("fix: ") == 1
    assert "Traceback" not in done.err or (how == "raise" and done.err.count("Traceback") == 1)


@pytest.mark.slow
def test_a_rank_that_does_not_come_is_named():
    done = launch(2, FAILS, "sleep", options=("--hang", "2"))
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


@pytest.mark.slow
def test_under_mpirun_an_error_ends_all_ranks():
    done = mpirun(2, "-m", "badak", "run", FAILS, "raise")
    assert done.code == 1
    assert done.err.count("ValueError: no such token") == 1


def test_a_program_that_is_not_there(badak):
    done = badak("launch", "-n", "2", "nowhere.py")
    assert done == (
        2,
        "",
        "error: badak launch: nowhere.py: there is no such file\nfix: badak launch -n 2 SCRIPT [ARGS]\n",
    )


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
