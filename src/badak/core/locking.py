"""A lock on an open file, which the operating system takes back when its process ends, however it ends."""

import errno
import os
import sys

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_BYTE = 1 << 30  # the byte that Windows locks: far behind the text, which others may read
HELD = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}


def lock_now(handle: int) -> None:
    """Lock an open file until it is closed. Raises OSError, with a number of HELD where somebody else has the lock."""
    if sys.platform == "win32":
        os.lseek(handle, _BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
