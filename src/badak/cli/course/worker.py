"""The process that runs a learner's program: `python -m badak.cli.course.worker NUMBER FILE RESULT SECONDS`.

The program may loop for ever, print, or end itself: the one who started this process reads RESULT, a JSON file.
"""

import dataclasses
import json
import os
import sys
import threading
import time
import warnings
from types import ModuleType
from typing import Any

from badak.cli.course.check import Verdict, check, raised
from badak.cli.course.course import COURSE
from badak.cli.course.exercise import module
from badak.core.i18n import say, tr
from badak.io.atomic import read_small, write_file

KEPT = 20  # printed lines that are shown


class Printed:
    """stdout or stderr of the program: what it prints, and at which of its lines. One print is one row."""

    def __init__(self, path: str, kept: list):
        self.path, self.kept, self.begun = path, kept, False

    def write(self, text: str) -> int:
        """Note the text."""
        line = line_within(self.path)
        if line and (self.begun or (text.strip() and len(self.kept) < KEPT)):
            before = self.kept.pop()[1] if self.begun else ""
            self.kept.append((line, (before + text)[:200].strip("\n")))
            self.begun = not text.endswith("\n")
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""


def line_within(path: str) -> int:
    """The line of the program that the caller was called from, 0 where it was not."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != path:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0


def main(number: int, path: str, result: str, seconds: float) -> None:
    """Check the program and write the verdict."""
    exercise = COURSE[number]
    printed: list = []
    warned: dict = {}  # (line, text): each once
    start, thread = time.perf_counter(), threading.main_thread().ident

    def write(verdict: Verdict) -> None:
        verdict.printed, verdict.warned, verdict.seconds = printed, list(warned), time.perf_counter() - start
        text = json.dumps(dataclasses.asdict(verdict)).encode()
        write_file(result, lambda file: file.write(text))

    def stop() -> None:
        frame, line = sys._current_frames().get(thread or 0), 0
        while frame is not None:
            if frame.f_code.co_filename == path:
                line = frame.f_lineno
                break
            frame = frame.f_back
        write(
            Verdict(False, say("not done after {:g} seconds", seconds), say("look for a loop that never ends at this line"), line)
        )
        os._exit(0)

    clock = threading.Timer(seconds, stop)
    clock.daemon = True
    clock.start()
    sys.stdout = sys.stderr = Printed(path, printed)  # type: ignore[assignment]
    sys.argv = [path]
    warnings.showwarning = lambda message, *place: warned.setdefault((line_within(path), str(message)))
    write(opened(exercise, path))
    os._exit(0)  # whatever threads the program has started


def opened(exercise: Any, path: str) -> Verdict:
    """The verdict on the file."""
    try:
        program = module(text_of(read_small(path)), "exercise", path)
    except SyntaxError as error:
        indent = isinstance(error, IndentationError)
        fix = (
            tr("indent with four spaces a level, and no tabs")
            if indent
            else tr("a bracket, a quote or a colon, here or on the line above?")
        )
        return Verdict(False, f"{type(error).__name__}: {error.msg}", say(fix), error.lineno or 0)
    except UnicodeDecodeError:
        return Verdict(False, say("the file is not UTF-8"), say("save it as UTF-8 in your editor"))
    except BaseException as error:
        made = ModuleType("exercise")
        made.__file__ = path
        return raised(error, made)
    return check(exercise, program)


def text_of(data: bytes) -> str:
    """The text of a file, without the mark that some editors put first. UnicodeDecodeError: it is not UTF-8."""
    if (at := data.find(0)) >= 0:
        raise UnicodeDecodeError("utf-8", data, at, at + 1, "a zero byte")
    return data.decode("utf-8-sig")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4]))
