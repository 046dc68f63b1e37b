"""What can be profiled: a script, or a run of `badak train`."""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

from badak.core.errors import FileError, tr
from badak.inspect.profiling.profile import Enough, Profile
from badak.io.atomic import unreadable
from badak.training.build import resume
from badak.training.loop import update
from badak.training.train_state import TrainState


def profile_of(target: str, arguments: list[str], steps: int, skip: int, log: Callable[[str], None]) -> Profile:
    """The profile of `steps` updates of a script or run folder, `skip` before them left out. A run is not changed."""
    path = Path(target)
    if path.is_dir():
        return profile_run(path, steps, skip, log)
    if not path.is_file():
        raise FileError(
            tr("{}: neither a Python file nor a run folder", target), "badak profile train.py, or a folder of badak train"
        )
    return profile_script(path, arguments, steps, skip)


def profile_run(folder: Path, steps: int, skip: int, log: Callable[[str], None]) -> Profile:
    """Go on with a run for a few updates, in memory only."""
    run, experiment = resume(folder, log)
    learner = TrainState(experiment, run.setup.train)
    learner.restore(run)
    with Profile(skip) as profile:
        for _ in range(skip + steps):
            update(learner)
    return profile


def profile_script(path: Path, arguments: list[str], steps: int, skip: int) -> Profile:
    """Run a file as `python FILE ARGUMENTS` would, until it has made enough updates or ends."""
    check_program(path)
    before, sys.argv = sys.argv, [str(path), *arguments]
    sys.path.insert(0, str(path.parent.resolve()))
    profile = Profile(skip, steps)
    try:
        with profile:
            runpy.run_path(str(path), run_name="__main__")
    except (Enough, SystemExit):
        pass
    finally:
        sys.argv = before
        sys.path.pop(0)
    return profile


def check_program(path: Path) -> None:
    """Raise FileError where `path` cannot be run at all."""
    try:
        compile(path.read_bytes(), path, "exec", dont_inherit=True)
    except OSError as error:
        raise unreadable(path, error) from error
    except (SyntaxError, ValueError) as error:  # ValueError: a zero byte
        line = tr(", line {}", error.lineno) if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        fix = tr("badak profile train.py, or a folder of badak train")
        raise FileError(tr("{}: not a Python program: {}{}", path, what, line), fix) from error
