"""Runs the check of a learner's file in a process of its own, with a time limit."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from badak.cli.course.check import Verdict
from badak.cli.course.exercise import Exercise
from badak.core.errors import FileError
from badak.core.i18n import say
from badak.io.atomic import read_small

SECONDS = 30.0  # for one check
GRACE = 20.0  # behind them: the start of Python, and a program that holds the interpreter


def run(exercise: Exercise, file: Path, seconds: float = SECONDS) -> Verdict:
    """The verdict on `file`. Nothing that the program does to its process reaches this one.

    Args:
        exercise: of the course
        file: the learner's program
        seconds: time limit of the check

    Returns: a `Verdict`
    """
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [
            sys.executable,
            "-P",
            "-m",
            "badak.cli.course.worker",
            str(exercise.number),
            str(file.resolve()),
            str(result),
            str(seconds),
        ]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=os.environ | {"BADAK_KERNELS": "reference", "BADAK_PORTABLE": "0"},
                timeout=seconds + GRACE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Verdict(False, say("not done after {:g} seconds", seconds), say("look for a loop that never ends"))
        try:
            found = json.loads(read_small(result).decode())
        except (FileError, ValueError):
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            return Verdict(
                False,
                say(f"the program ended its process (code {done.returncode}) {' '.join(last)}".rstrip()),
                say("look for os._exit, os.kill or a crash"),
            )
    return Verdict(**found)
