"""badak's command line, whose process is killed in the middle of its second save, in its first life: `dies_saving.py WHEN ...`.

WHEN: "write", half of a file is there; "rename", the new state counts, and its files have their old names still.
"""

import os
import signal
import sys

from badak.cli import main
from badak.io import checkpoint

when, saves = sys.argv[1], 0
write, rename, save = checkpoint._Hashed.write, os.replace, checkpoint.save


def counted(*args):
    """One more save."""
    global saves
    saves += 1
    return save(*args)


def half(self, data):
    """The first half of it, and then nothing more."""
    if when == "write" and saves == 2 and len(data) > 64 and self.bytes > 1000:
        write(self, data[: len(data) // 2])
        self.file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, data)


def renamed(source, target):
    """The name of the index is the last one."""
    rename(source, target)
    if when == "rename" and saves == 2 and str(target).endswith(checkpoint.INDEX):
        os.kill(os.getpid(), signal.SIGKILL)


if os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0":
    checkpoint.save, checkpoint._Hashed.write, os.replace = counted, half, renamed
sys.exit(main(sys.argv[2:]))
