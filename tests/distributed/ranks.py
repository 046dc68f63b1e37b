"""Real processes: badak's ranks by `badak launch` or MPI's own starter, and torch's over gloo."""

import io
import os
import socket
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import NamedTuple

from badak import kernels
from badak.cli import main

SRC = Path(__file__).resolve().parents[2] / "src"
PROGRAMS = Path(__file__).parent / "programs"
NO_PICTURES = Path(__file__).parent / "no_pictures"
LIMIT = 150  # seconds: a machine may be busy


class Done(NamedTuple):
    """What the ranks printed, and the exit code."""

    code: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """Few threads, reference kernels, no curves.png: these tests are about what goes between ranks."""
    path = os.pathsep.join(map(str, (SRC, NO_PICTURES)))
    return {**os.environ, "PYTHONPATH": path, "BADAK_KERNELS": "reference", "OMP_NUM_THREADS": "1", **more}


def _run(command: list[str], cwd, **more: str) -> Done:
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment(**more),
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=200)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        out, err = process.communicate()
        raise AssertionError(f"not done within {LIMIT} s: {command}\n{out}\n{err}") from None
    return Done(process.returncode, out, err)


def without_ranks(*command) -> Done:
    """badak ..., in this process: what ranks are compared with."""
    with kernels.use("reference"), redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main([str(word) for word in command])
    return Done(code, out.getvalue(), err.getvalue())


def launch(n: int, *command, cwd=None, options: tuple = (), **more: str) -> Done:
    """badak launch -n N ..."""
    return _run([sys.executable, "-m", "badak", "launch", "-n", str(n), *options, *map(str, command)], cwd, **more)


def mpirun(n: int, *command, cwd=None, **more: str) -> Done:
    """mpiexec -n N python ..."""
    starter = Path(sys.executable).parent / "mpiexec"
    return _run([str(starter), "-n", str(n), sys.executable, *map(str, command)], cwd, **more)


# PyTorch 2.13 can hang where a DDP ends: the end of its group holds Python's lock and waits for a thread that wants it.
DDP_STAYS = """
from torch.nn.parallel import DistributedDataParallel
begin, held = DistributedDataParallel.__init__, []
DistributedDataParallel.__init__ = lambda self, *args, **options: (begin(self, *args, **options), held.append(self))[0]
"""

FORKS = f"""
import os, runpy, sys
import torch._dynamo, torch.distributed
{DDP_STAYS}
count, sys.argv[:] = int(sys.argv[1]), sys.argv[2:]
started = []
for rank in range(count):
    if not (child := os.fork()):
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
        runpy.run_path(sys.argv[0], run_name="__main__")
        sys.stdout.flush()
        os._exit(0)
    started.append(child)
sys.exit(any([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in started]))
"""


def torch_ranks(n: int, *command, cwd=None) -> None:
    """The program under torch, over gloo; raises where it fails. Torch, and the compiler that its optimizers import, come once."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    env = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(n), "OMP_NUM_THREADS": "1"}
    line = [sys.executable, "-W", "ignore", "-c", FORKS, str(n), *map(str, command)]
    process = subprocess.Popen(line, cwd=cwd, env=env, start_new_session=True)
    try:
        code = process.wait(timeout=LIMIT)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
    assert code == 0
