"""Run a program that was written for PyTorch: `import torch` gives badak, everything else is as `python program.py` has it."""

import io
import os
import runpy
import sys
import traceback
import warnings
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType

from badak.compat.torch.advice import advised
from badak.core.errors import PACKAGE, BadakError, FileError, NotSupportedError, tr
from badak.core.public_api.finder import stand_in_for_torch
from badak.distributed import engine as ranks

PROGRAM = "BADAK_RUN_PROGRAM"  # the environment variable that tells processes started afresh which script runs
_CHILDREN = os.path.join(PACKAGE, "compat", "torch", "children")
_RUNNERS = (PACKAGE, "<frozen runpy>", "<frozen importlib", runpy.__file__)


def run(program: str, arguments: list[str], is_module: bool = False) -> int:
    """Run a script, a folder with a __main__.py, or a module; the exit code. An error prints its traceback."""
    begin = prepared(program, arguments, is_module)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            begin()
        except SystemExit as end:
            if end.code:
                ranks.failed(end)
            raise
        except Exception as error:
            _report(advised(error) or error)
            ranks.failed(error)
            return 1
    return 0


def prepared(program: str, arguments: list[str], is_module: bool = False) -> Callable[[], object]:
    """What runs the program in this process, for which `import torch` gives badak from now on. Raises FileError for none."""
    if is_module and program in ("torch.distributed.run", "torch.distributed.launch"):
        raise NotSupportedError(tr("badak run: {} starts ranks of PyTorch's", program), "badak launch -n N SCRIPT [ARGS]")
    if os.path.isdir(program) and not is_module and not os.path.isfile(os.path.join(program, "__main__.py")):
        raise FileError(tr("badak run: {}: a folder without a __main__.py", program), "badak run FOLDER/SCRIPT.py")
    source = b"" if is_module or os.path.isdir(program) else source_of(program)
    stand_in_for_torch()
    ranks.announce()
    _tell_children()
    sys.argv = [program, *arguments]
    _begin_path(os.getcwd() if is_module else os.path.dirname(os.path.abspath(program)))
    if is_module:
        return lambda: runpy.run_module(program, run_name="__main__", alter_sys=True)
    if os.path.isdir(program):
        return lambda: runpy.run_path(program, run_name="__main__")
    return lambda: _run_source(source, program)


def _begin_path(folder: str) -> None:
    """Let imports look into `folder` first, in the place of what Python itself put there; under -P it puts nothing."""
    if sys.flags.safe_path:
        sys.path.insert(0, folder)
    else:
        sys.path[0] = folder


def _tell_children() -> None:
    """Let the Pythons that the program starts find badak under the name torch as well.

    Those of multiprocessing take over sys.path; here the module torch is there already, and nobody looks for it.
    """
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != _CHILDREN]
    os.environ["PYTHONPATH"] = os.pathsep.join([_CHILDREN, *paths])
    if _CHILDREN not in sys.path:
        sys.path.insert(1, _CHILDREN)


def source_of(path: str) -> bytes:
    """The bytes of a program. Raises FileError where there is none."""
    try:
        with io.open_code(os.path.abspath(path)) as file:
            return file.read()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise FileError(tr("badak run: {}: {}", path[:200], why), "badak run SCRIPT [ARGS]") from error


def _run_source(source: bytes, path: str) -> None:
    """Run a script as `__main__`. The spec names the module that a process started afresh runs in its place."""
    path = os.path.abspath(path)
    code = compile(source, path, "exec")
    os.environ[PROGRAM] = path
    main = ModuleType("__main__")
    main.__file__ = path
    main.__spec__ = ModuleSpec("badak.compat.torch.again", None, origin=path)
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _report(error: Exception) -> None:
    """Print an error as Python does, without the frames that only ran the program, and for badak's own also those inside."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_RUNNERS):
        trace = trace.tb_next
    if isinstance(error, BadakError):
        trace = _without_badak(trace)
    traceback.print_exception(type(error), error.with_traceback(trace), trace)


def _without_badak(trace: TracebackType | None) -> TracebackType | None:
    """The frames of a traceback that are the program's own."""
    frames = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
            frames.append(trace)
        trace = trace.tb_next
    kept = None
    for one in reversed(frames):
        kept = TracebackType(kept, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return kept


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    """A program's warnings look as Python prints them."""
    (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))
