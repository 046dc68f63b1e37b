"""The course: its exercises in their order, and a learner's folder with the files and the progress."""

import dataclasses
import difflib
import hashlib
import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any

from badak.cli.course import exercises
from badak.cli.course.exercise import Exercise
from badak.core.errors import ArgumentError, FileError, tr
from badak.io.atomic import make_folder, read_small, write_file

FOLDER = "badak-course"
PROGRESS = "progress.json"


def _course() -> dict[int, Exercise]:
    """Every module of `exercises/` by the number in its name."""
    found = {}
    for each in sorted(info.name for info in pkgutil.iter_modules(exercises.__path__)):
        if each[:1] == "e" and each[1:3].isdigit():
            number, name = int(each[1:3]), each[4:]
            made = importlib.import_module(f"{exercises.__name__}.{each}").EXERCISE
            found[number] = dataclasses.replace(made, number=number, name=name, function=made.function or name)
    return found


COURSE = _course()


def exercise_of(word: str) -> Exercise:
    """The exercise that was meant by "03", "3" or "attention"."""
    for each in COURSE.values():
        if word.lower() == each.name or (word.isdecimal() and int(word) == each.number):
            return each
    near = difflib.get_close_matches(word.lower(), [each.name for each in COURSE.values()], n=1)
    cause = tr("learn: no exercise is called {}", word[:40])
    raise ArgumentError(cause, tr("did you mean {}?", near[0]) if near else "badak learn lists them")


class Folder:
    """A learner's folder: one file for each exercise that was started, and `progress.json`."""

    def __init__(self, path: str | Path = FOLDER):
        self.path = Path(path)
        self.progress: dict[str, dict[str, Any]] = {}
        if self.path.exists() and not self.path.is_dir():
            raise FileError(tr("{}: not a folder", self.path), "choose another folder")
        file = self.path / PROGRESS
        if file.is_file():
            data = read_small(file)
            try:
                found = json.loads(data.decode())
                self.progress = {f"{int(key):02}": _facts(row) for key, row in found.items()}
            except (ValueError, TypeError, AttributeError):
                cause = tr("{}: not the progress of a course", file)
                raise FileError(cause, "remove it: the files of the exercises stay") from None

    def file(self, exercise: Exercise) -> Path:
        """Where the learner's program for an exercise is."""
        return self.path / exercise.file

    def note(self, exercise: Exercise, **facts: Any) -> None:
        """Remember something of an exercise."""
        row = self.progress.setdefault(f"{exercise.number:02}", {})
        row.update(facts)
        make_folder(self.path)
        text = json.dumps(dict(sorted(self.progress.items())), indent=1, sort_keys=True).encode()
        write_file(self.path / PROGRESS, lambda file: file.write(text))

    def of(self, exercise: Exercise) -> dict[str, Any]:
        """What is known of an exercise."""
        return self.progress.get(f"{exercise.number:02}", {})

    def start(self, exercise: Exercise, force: bool = False) -> Path:
        """Write the file of an exercise. A file that is there stays, unless `force`."""
        file = self.file(exercise)
        if file.is_file() and not force:
            cause = tr("{} is there already", file)
            raise FileError(cause, tr("badak learn check {:02}, or --force to begin again", exercise.number))
        make_folder(self.path)
        text = exercise.template().encode()
        write_file(file, lambda stream: stream.write(text))
        return file

    def started(self, exercise: Exercise) -> Path:
        """The file of an exercise; FileError where there is none."""
        file = self.file(exercise)
        if file.is_dir():
            raise FileError(tr("{}: a folder", file), "remove it or give it another name")
        if not file.is_file():
            raise FileError(tr("{}: no such file", file), tr("badak learn start {:02}", exercise.number))
        return file

    def is_done(self, exercise: Exercise) -> bool:
        """Whether the file as it is now has passed its check."""
        file, passed = self.file(exercise), self.of(exercise).get("passed")
        return bool(passed) and file.is_file() and passed == hash_of(file)


def _facts(row: Any) -> dict[str, Any]:
    """A row of the progress; ValueError where a value is not of its kind."""
    for key, value in dict(row).items():
        kind = str if key in ("passed", "when") else int
        if type(value) is not kind or (isinstance(value, int) and value < 0):
            raise ValueError(key)
    return dict(row)


def hash_of(file: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(read_small(file)).hexdigest()
