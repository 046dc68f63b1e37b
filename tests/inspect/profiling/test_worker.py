"""Processes that take turns: what they answer, and what is said when they cannot."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from badak.core.errors import StateError
from badak.inspect.profiling.machine import available_gb, describe, environment, peak_mb
from badak.inspect.profiling.peer import Peer, interleave
from badak.inspect.profiling.timing import Timing, repeat

COUNTER = """
import os, sys
from badak.inspect.profiling.worker import serve

class Counter:
    parameters = 7
    def __init__(self, start):
        print("a library that talks")
        self.count = start
    def step(self):
        if self.count < 0:
            raise ValueError("below zero\\nand more")
        if self.count > 100:
            sys.exit("too far")
        self.count += 1
        return self.count

serve(Counter)
"""


@pytest.fixture
def counter():
    with Peer([sys.executable, "-c", textwrap.dedent(COUNTER)], threads=1, timeout=60) as peer:
        yield peer


@pytest.mark.slow
def test_a_worker_builds_steps_and_measures(counter):
    assert counter.ask("build", work=5)["parameters"] == 7
    assert counter.ask("steps", count=3)["values"] == [6, 7, 8]
    counter.measure(0.0)
    (taken,) = counter.timing.rounds
    assert len(taken) == 3 and counter.timing.median >= 0
    assert counter.ask("memory")["peak_mb"] > 1 or not os.path.exists("/proc")


@pytest.mark.slow
def test_an_error_in_the_work_is_told_in_one_line_and_the_worker_lives_on(counter):
    counter.ask("build", work=-1)
    with pytest.raises(StateError, match="^ValueError: below zero$"):
        counter.ask("steps", count=1)
    assert counter.ask("build", work=0)["parameters"] == 7


@pytest.mark.slow
def test_the_last_words_of_a_worker_that_ended_are_told(counter):
    counter.ask("build", work=101)
    with pytest.raises(StateError, match="too far"):
        counter.ask("steps", count=1)


def test_a_worker_that_does_not_answer_is_an_error(counter):
    counter.timeout = 0.0
    with pytest.raises(StateError, match="no answer to build within 0 s"):
        counter.ask("build", work=0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no way to freeze a process here")
def test_a_worker_is_frozen_between_questions(counter):
    counter.ask("build", work=0)
    os.waitpid(counter._process.pid, os.WUNTRACED)  # returns because it stopped
    assert counter.ask("steps", count=1)["values"] == [1]


PARENT = """
import os, signal, sys
from badak.inspect.profiling.peer import Peer

peer = Peer([sys.executable, "-c", sys.argv[1]], threads=1, timeout=60)
peer.ask("build", work=0)
os.waitpid(peer._process.pid, os.WUNTRACED)  # returns because it is frozen
print(peer._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc"), reason="looks for the process in /proc")
def test_a_frozen_worker_does_not_outlive_its_parent():
    command = [sys.executable, "-c", PARENT, textwrap.dedent(COUNTER)]
    worker = int(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    for _ in range(100):
        status = Path(f"/proc/{worker}/status")
        if not status.exists() or "State:\tZ" in status.read_text():
            return
        time.sleep(0.1)
    os.kill(worker, signal.SIGKILL)
    pytest.fail("it is still there")


def test_peers_take_turns():
    turns = []

    class Recorder:
        def __init__(self, name):
            self.name = name

        def measure(self, seconds):
            turns.append((self.name, seconds))

    interleave([Recorder("a"), Recorder("b")], rounds=2, seconds=0.5)
    assert turns == [("a", 0.5), ("b", 0.5)] * 2


def test_a_measurement_has_at_least_three_steps_and_ends():
    ms, value = repeat(lambda: 4.5, 0.0)
    assert len(ms) == 3 and value == 4.5
    assert len(repeat(lambda: 0.0, 60.0, at_most=10)[0]) == 10


def test_a_timing_tells_median_spread_and_who_disturbed():
    timing = Timing([[1.0, 2.0, 3.0], [4.0, 5.0]], foreign=0.5, seconds=2.0)
    told = timing.as_dict()
    assert told["ms"] == 3.0 and told["steps"] == 5 and told["rounds"] == [2.0, 4.5] and told["foreign_cores"] == 0.25
    assert timing.spread == pytest.approx((4.6 - 1.4) / 3)


def test_the_machine_is_described_in_what_json_can_hold():
    told = json.loads(json.dumps(describe(3)))
    assert told["threads"] == 3 and told["cpu"] and told["numpy"] and "numba" in told
    assert describe()["threads"] == os.cpu_count()
    assert environment(3)["OMP_NUM_THREADS"] == environment(3)["BADAK_NUM_THREADS"] == "3"
    assert available_gb() > 0 and peak_mb() >= 0
