"""What this rank is doing, where `badak launch` can read it: a little shared memory between a rank and its guard.

Without a guard (BADAK_BOARD is not set) nothing is written.
"""

import mmap
import os
import struct
import sys
import threading
import time
import traceback

from badak.core.errors import PACKAGE

SIZE = 512
_HEAD = struct.Struct("<QQdI")  # ticks, steps, since when it waits (0: it does not), length of the text
TEXT = 400
MANY = 64  # ranks that are named
END = "the end of the program"  # what a rank waits in that has nothing left to do
_memory: mmap.mmap | None = None
_state = [0, 0, 0.0]
_what = b""  # "1,2 barrier": the ranks that it waits for, as far as it knows them, and in which operation; "1|2": one is enough


def open_board() -> None:
    """Begin to write, where a guard has given a place."""
    global _memory
    path = os.environ.get("BADAK_BOARD")
    if path and _memory is None:
        with open(path, "r+b") as file:
            _memory = mmap.mmap(file.fileno(), SIZE)
        _speak_in_lines()


def _speak_in_lines() -> None:
    """Write whole lines: ranks share their streams, and with PYTHONUNBUFFERED the end of a line is written by itself."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, write_through=False)


def live() -> None:
    """Give a sign of life each half second from now on: MPI has begun; before, it may hold Python still."""
    if _memory is not None and not _state[0]:
        goes_on()
        threading.Thread(target=_tick, name="badak-board", daemon=True).start()


def is_open() -> bool:
    """Whether a guard watches this rank."""
    return _memory is not None


def _tick() -> None:
    while True:
        _state[0] += 1
        _write()
        time.sleep(0.5)


def _write() -> None:
    if _memory is not None:
        text = _what[:TEXT]
        _memory[: _HEAD.size + len(text)] = _HEAD.pack(_state[0], _state[1], _state[2], len(text)) + text


def waits(what: str) -> None:
    """This rank waits for others, in this operation."""
    if _memory is not None:
        global _what
        _state[2], _what = time.time(), f" {what}".encode()
        _write()


def waits_for(what: str, ranks: list[int], of_any: bool = False) -> None:
    """It waits for these ranks still, or one of them: what they have to do is not done, be it only to say that they come."""
    if _memory is not None:
        global _what
        _state[2] = _state[2] or time.time()
        if of_any and len(ranks) > MANY:  # a part of them would look like all
            ranks = []
        _what = f"{('|' if of_any else ',').join(map(str, ranks[:MANY]))} {what}".encode()
        _write()


def goes_on() -> None:
    """It waits no more."""
    if _memory is not None:
        _state[2] = 0.0
        _write()


def stepped() -> None:
    """It has made one more step."""
    if _memory is not None:
        _state[1] += 1
        _write()


def last_words(error: BaseException) -> None:
    """An error ends this rank: tell the guard which, and where in the program."""
    path = os.environ.get("BADAK_BOARD")
    if not path or isinstance(error, SystemExit):
        return
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(PACKAGE) and not frame.filename.startswith("<")]
    if own and f"{os.sep}click{os.sep}" in own[-1].filename:  # a command of badak: no program of the user's
        own = []
    where = f" ({os.path.basename(own[-1].filename)}:{own[-1].lineno})" if own else ""
    said = (str(error).splitlines() or [""])[0]
    with open(path + ".error", "w", encoding="utf-8", errors="replace") as file:
        file.write(f"{type(error).__name__}: {said[:500]}{where}")
