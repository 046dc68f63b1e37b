"""One process that reads changed files under limits and judges each."""

import gzip
import json
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from badak.core.errors import BadakError
from badak.io import limited
from tests.io.mutations.readers import READERS, Reader, touch

MEMORY = 2 << 30  # bytes that a reader may take
SECONDS = 10  # of the CPU, for one file
LONGEST = 2000  # letters of a message, the file's name included
FORBIDDEN = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "subprocess.Popen",
    "socket.",
    "ctypes.dlopen",
    "pty.spawn",
    "shutil.",
)
ALLOWED = ("/sys/fs/cgroup/memory.max",)  # how much memory there is
watching: list[Any] = []  # [the file that may be opened], while a reader is at work


class Hang(BaseException):
    """A file took too long."""


class Reached(BaseException):
    """A reader did what no file may make it do."""


def _hang(*_: Any) -> None:
    raise Hang


def _audit(event: str, args: tuple) -> None:
    if not watching or event == "sys._getframe" or not event.startswith(("open", *FORBIDDEN)) or _in_limited():
        return
    if event.startswith(FORBIDDEN):
        raise Reached(f"{event} {args!r}")
    if (
        event == "open"
        and isinstance(args[0], str)
        and not args[0].startswith((watching[0], sys.prefix, sys.base_prefix, *ALLOWED))
    ):
        if not args[0].endswith((".py", ".pyc", ".so")):
            raise Reached(f"opened {args[0]!r}")


def _in_limited() -> bool:
    """Whether it is `limited` that does this: it may start its process."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != limited.__file__:
        frame = frame.f_back
    return frame is not None


def limit() -> None:
    """Put limits on this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    signal.signal(signal.SIGPROF, _hang)
    sys.addaudithook(_audit)


def judge(reader: Reader, path: Path) -> tuple[str, str]:
    """("right" | "refused" | "wrong", what happened) for the file at `path`."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    watching[:] = [str(path.parent)]
    try:
        touch(reader.read(path))
        return "right", ""
    except BadakError as error:
        watching.clear()
        return _judge_error(error)
    except Hang:
        return "wrong", f"took more than {SECONDS} s"
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        watching.clear()
        where = traceback.extract_tb(error.__traceback__)[-1]
        return "wrong", f"{type(error).__name__}: {str(error)[:200]!r} at {Path(where.filename).name}:{where.lineno}"
    finally:
        watching.clear()
        signal.setitimer(signal.ITIMER_PROF, 0)


def _judge_error(error: BadakError) -> tuple[str, str]:
    text, chain = str(error), [error]  # type: tuple[str, list[BaseException]]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    if any(isinstance(cause, MemoryError) for cause in chain):
        return "wrong", f"memory beyond {MEMORY:,} bytes: {text[:200]!r}"
    if text.count("\n") != 1 or "\nfix: " not in text or len(text) > LONGEST or not text.replace("\n", "").isprintable():
        return "wrong", f"no error of two short lines: {text[:300]!r}"
    return "refused", text


def work(name: str, seed: str, first: int, stop: int, progress: Any, keep: str | None) -> tuple[Counter, list[str]]:
    """Judge the files from number `first` to `stop` of a reader; `progress.value` is the number of the one at hand."""
    warnings.simplefilter("ignore")
    reader, counts, wrong = READERS[name], Counter(), []
    samples = reader.samples()
    with place(name) as path:
        limit()
        for number in range(first, stop):
            progress.value = number
            chance = Random(f"{seed} {name} {number}")
            data = reader.change(samples[chance.randrange(len(samples))], chance)
            path.write_bytes(data)
            verdict, what = judge(reader, path)
            counts[verdict] += 1
            if verdict == "wrong":
                wrong.append(f"{name} {number}: {what}")
                if keep:
                    (Path(keep) / f"{name}-{number}").write_bytes(data)
    return counts, wrong


@contextmanager
def place(name: str) -> Iterator[Path]:
    """A path for the files of a reader, after it has read what is valid: what it imports, it has imported then."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        path = Path(folder) / "file.gz" if name == "gzip" else Path(folder) / "file"
        for sample in READERS[name].samples():
            path.write_bytes(unchanged(READERS[name], sample))
            touch(READERS[name].read(path))
        yield path


def judge_all(name: str, files: dict[str, bytes]) -> Iterator[tuple[str, str, str]]:
    """(name of the file, verdict, what was said) of files of one reader, under the limits."""
    with place(name) as path:
        limit()
        for label, data in files.items():
            path.write_bytes(data)
            yield (label, *judge(READERS[name], path))


def unchanged(reader: Reader, sample: Any) -> bytes:
    """A sample as the file that it is."""
    if reader is READERS["gzip"]:
        return gzip.compress(sample)
    if isinstance(sample, list):  # of files, the first with what gives it parts
        return sample[0]
    return sample if isinstance(sample, bytes) else json.dumps(sample).encode()
