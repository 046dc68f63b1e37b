"""Processes that compile ahead: the same bits, silence, and nobody who outlives the program."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.kernels.test_numba_jit import SRC, run
from tests.kernels.twin import fast_kernels

fast = fast_kernels()

from badak.kernels.numba.threadpool import background_compile as module  # noqa: E402

needs_two_cores = pytest.mark.skipif(module.cores() < 2, reason="on one core nothing is compiled next to the program")

USE = """
import sys, time
import numpy as np
from badak.kernels import numba as fast
from badak.kernels.numba.threadpool.background_compile import ahead
x = np.random.default_rng(0).standard_normal((70, 130)).astype(np.float32)
ahead.planned = [f"{name}:float32" for name in ("log_softmax_rows", "silu_block", "tanh_block")]
first = fast.relu(x)
for helper in ahead.helpers:
    with helper.changed:
        while helper.at is not None:
            helper.changed.wait()
print(len(ahead.helpers), *(each.tobytes().hex() for each in (first, fast.log_softmax(x), fast.silu(x), fast.tanh(x))))
"""


@pytest.mark.slow
def test_what_is_likely_is_there():
    """In a process of its own: other tests define kernels, too."""
    names = run("from badak.kernels import numba as fast; from badak.kernels.numba.threadpool.parallel import Kernel; "
                "print(*[kernel.function.__name__ for kernel in Kernel.all])")[0].split()  # fmt: skip
    assert len(set(names)) == len(names) > 50
    assert set(module.LIKELY) <= set(names)


@pytest.mark.slow
@needs_two_cores
def test_what_helpers_compile_has_the_same_bits_and_is_not_compiled_again(tmp_path, monkeypatch):
    alone, said_alone = run(USE, NUMBA_CACHE_DIR=str(tmp_path / "a"), BADAK_NUM_THREADS="1")
    helped, said = run(USE, NUMBA_CACHE_DIR=str(tmp_path / "b"), BADAK_NUM_THREADS="2")
    assert alone.split()[0] == "0" and "compiled 4 kernels" in said_alone
    assert helped.split()[0] == "1" and "compiled 1 kernel " in said and said.count("\n") == 2
    assert alone.split()[1:] == helped.split()[1:]
    loaded, nothing = run(USE, NUMBA_CACHE_DIR=str(tmp_path / "b"), BADAK_NUM_THREADS="2")
    assert loaded.split() == ["0", *alone.split()[1:]] and nothing == ""
    assert not list(tmp_path.rglob("*.partial"))
    monkeypatch.setattr(module, "FOLDER", tmp_path / "b")
    assert [module._on_disk(name) for name in ("silu_block", "silu", "gelu_block")] == [True, False, False]


LEAVE = """
import numpy as np
from badak.kernels import numba as fast
from badak.kernels.numba.threadpool.background_compile import ahead
fast.relu(np.ones(3, np.float32))
helper, = ahead.helpers
print(helper.process.pid, flush=True)
{end}
"""


@pytest.mark.thin(1)
@pytest.mark.slow
@needs_two_cores
@pytest.mark.skipif(sys.platform == "win32", reason="asks after a process as POSIX does")
@pytest.mark.parametrize("end", ["pass", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "raise KeyboardInterrupt"])
def test_no_helper_outlives_the_program(tmp_path, end):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "BADAK_"))}
    done = subprocess.run(
        [sys.executable, "-c", LEAVE.format(end=end)], capture_output=True, text=True, check=False,
        env={**kept, "PYTHONPATH": SRC, "NUMBA_CACHE_DIR": str(tmp_path), "BADAK_NUM_THREADS": "2"},
    )  # fmt: skip
    pid = int(done.stdout)
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            break
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
        if state.startswith("Z"):  # it has ended, nobody has asked for its code yet
            break
        time.sleep(0.1)
    else:
        os.kill(pid, signal.SIGKILL)
        pytest.fail("the helper is still there")


@pytest.fixture
def helpers(monkeypatch, tmp_path):
    """What would be started, from an empty cache, on four cores."""
    started = []
    monkeypatch.setattr(module, "_Helper", lambda names: started.append(names))
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(module, "cores", lambda: 4)
    monkeypatch.setattr(module.team, "size", 4)
    monkeypatch.setattr(module.atexit, "register", lambda end: None)
    return started


def test_the_kernels_are_shared_out_once(helpers):
    one = module._Ahead()
    one.start()
    one.start()
    assert len(helpers) == 3 and sorted(sum(helpers, [])) == sorted(f"{name}:float32" for name in module.LIKELY)


@pytest.mark.parametrize(
    "place, name, value",
    [(module, "FOLDER", None), (module.team, "size", 1), (module, "cores", lambda: 1), (sys, "executable", "")],
    ids=["no cache", "one thread", "one core", "no Python"],
)
def test_nobody_helps_where_it_cannot_pay(helpers, monkeypatch, place, name, value):
    monkeypatch.setattr(place, name, value)
    module._Ahead().start()
    assert helpers == []


def test_nobody_helps_where_the_likely_ones_are_on_disk_or_in_a_forked_child(helpers, tmp_path, monkeypatch):
    for name in module.LIKELY[2:]:
        (tmp_path / f"{name}-0.kernel").touch()
    module._Ahead().start()
    child = module._Ahead()
    monkeypatch.setattr(module, "ahead", child)
    module._forget()
    child.planned = ["a", "b", "c"]
    child.start()
    assert helpers == []


def test_a_system_without_processes_is_done_without(helpers, monkeypatch):
    def refuse(names):
        raise OSError("no more processes")

    monkeypatch.setattr(module, "_Helper", refuse)
    one = module._Ahead()
    one.start()
    one.leave(np.add, np.dtype(np.float32)) if one.helpers else None
    assert one.helpers == []


def test_a_helper_that_has_ended_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(module.sys, "executable", "/bin/true" if os.path.exists("/bin/true") else sys.executable)
    helper = module._Helper([])
    with helper.changed:
        while helper.at is not None:
            assert helper.changed.wait(10)
    helper.leave("x")
    helper.end()
