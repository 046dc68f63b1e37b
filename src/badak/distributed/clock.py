"""A time limit for the start of MPI, which waits for all ranks in C, where no Python of this process runs: another one keeps it.

Under `badak launch` the guards see to it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from badak.core.i18n import say
from badak.distributed import heartbeat

HALF_AN_HOUR = 1800.0  # seconds that ranks wait for others, as in PyTorch
_KEEPER = """
import os, select, signal, sys
if not select.select([0], [], [], float(sys.argv[2]))[0]:
    sys.stderr.write(sys.argv[3])
    os.kill(int(sys.argv[1]), signal.SIGKILL)
"""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """End this process, with two lines, where the block takes longer."""
    if heartbeat.is_open() or sys.platform == "win32" or seconds > 1e6:
        yield
        return
    cause = say("the start of MPI: some ranks did not come to it within {:g} s", seconds)
    fix = say("start all of them; a longer limit: init_process_group(timeout=timedelta(...))")
    said = f"{say('error:')} {cause}\n{say('fix:')} {fix}\n"
    line = [sys.executable, "-I", "-S", "-c", _KEEPER, str(os.getpid()), str(seconds), said]
    with subprocess.Popen(line, stdin=subprocess.PIPE):  # its end closes the pipe, at which the keeper ends
        yield
