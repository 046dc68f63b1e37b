"""The process that runs a learner's program: `python -m badak.learn.worker NUMBER FILE RESULT SECONDS`.

The program may loop for ever, print, or end itself: the one who started this process reads RESULT, a JSON file.
"""

import dataclasses
import json
import os
import sys
import threading
import time
from types import ModuleType
from typing import Any

from badak.core.i18n import say
from badak.io.atomic import read_small, write_file
from badak.learn.check import Verdict, check, raised
from badak.learn.course import COURSE
from badak.learn.exercise import module

KEPT = 20  # printed lines that are shown


class Printed:
    """stdout or stderr of the program: what it prints, and at which of its lines."""

    def __init__(self, path: str, kept: list):
        self.path, self.kept, self.total = path, kept, 0

    def write(self, text: str) -> int:
        """Note the text."""
        if text.strip() and len(self.kept) < KEPT:
            frame: Any = sys._getframe(1)
            while frame is not None and frame.f_code.co_filename != self.path:
                frame = frame.f_back
            if frame is not None:
                self.kept.append((frame.f_lineno, text.strip()[:200]))
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""


def main(number: int, path: str, result: str, seconds: float) -> None:
    """Check the program and write the verdict."""
    exercise = COURSE[number]
    printed: list = []
    start, thread = time.perf_counter(), threading.main_thread().ident

    def write(verdict: Verdict) -> None:
        verdict.printed, verdict.seconds = printed, time.perf_counter() - start
        text = json.dumps(dataclasses.asdict(verdict)).encode()
        write_file(result, lambda file: file.write(text))

    def stop() -> None:
        frame, line = sys._current_frames().get(thread or 0), 0
        while frame is not None:
            if frame.f_code.co_filename == path:
                line = frame.f_lineno
                break
            frame = frame.f_back
        write(Verdict(False, say(f"not done after {seconds:g} seconds"), say("look for a loop that never ends at this line"), line))
        os._exit(0)

    clock = threading.Timer(seconds, stop)
    clock.daemon = True
    clock.start()
    sys.stdout = sys.stderr = Printed(path, printed)  # type: ignore[assignment]
    sys.argv = [path]
    write(opened(exercise, path))
    os._exit(0)  # whatever threads the program has started


def opened(exercise: Any, path: str) -> Verdict:
    """The verdict on the file."""
    try:
        program = module(read_small(path).decode(), "exercise", path)
    except SyntaxError as error:
        return Verdict(False, f"{type(error).__name__}: {error.msg}", say("Python cannot read this line"), error.lineno or 0)
    except UnicodeDecodeError:
        return Verdict(False, say("the file is not UTF-8"), say("save it as UTF-8 in your editor"))
    except BaseException as error:
        made = ModuleType("exercise")
        made.__file__ = path
        return raised(error, made)
    return check(exercise, program)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4]))
