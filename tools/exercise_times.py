"""How long `badak learn check` takes for each exercise, with its own solution: `python tools/exercise_times.py`.

Each check is a process of its own, as a learner starts it. The exit code is 1 where one takes LIMIT seconds or more, or fails.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from badak.cli.course.course import COURSE
from badak.cli.course.exercise import HEAD

LIMIT = 10.0


def seconds_of(exercise, folder: Path) -> tuple[float, bool]:
    """(seconds that the check of the solution took, whether it was right)."""
    badak = [sys.executable, "-m", "badak", "learn"]
    number = f"{exercise.number:02}"
    subprocess.run([*badak, "start", "--dir", str(folder), number], check=True, capture_output=True)
    file = folder / exercise.file
    head = file.read_text(encoding="utf-8").partition(HEAD)[0]
    file.write_text(head + HEAD + exercise.solution, encoding="utf-8")
    begun = time.perf_counter()
    done = subprocess.run([*badak, "check", "--dir", str(folder), number], capture_output=True, text=True, check=False)
    return time.perf_counter() - begun, done.returncode == 0


def main() -> int:
    """Print a row for each exercise."""
    slow = 0
    with tempfile.TemporaryDirectory() as folder:
        for exercise in COURSE.values():
            seconds, right = seconds_of(exercise, Path(folder))
            slow += seconds >= LIMIT or not right
            print(f"{exercise.number:02}  {seconds:5.1f} s  {'right' if right else 'WRONG'}  {exercise.title}", flush=True)
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
