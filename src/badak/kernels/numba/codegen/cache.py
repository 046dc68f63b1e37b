"""Where compiled kernels are kept between processes, and how: a file that is not as it was written is never run."""

import hashlib
import os
import re
import sys
import time
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

from badak.core.i18n import say, tr
from badak.core.locking import HELD, lock_now

FOLDER = Path(__file__).parent.parent  # the folder of the Numba kernels
_HASH = 32  # bytes of SHA-256 before what a file holds
_HANGS = 120  # seconds after which a process that compiles a kernel is waited for no longer: one takes 0.3 to 12


def choose_folder(version):
    """NUMBA_CACHE_DIR where set, else the package's own folder where writable, else the user's cache folder.

    Where none can be written it is the package's own, if kernels are there (`badak warmup` in a container), else None.
    `version` names the compiler. The folder's name changes with it and with every source of the kernels but tables of contents.
    """
    asked = os.environ.get("NUMBA_CACHE_DIR")
    if asked:
        return Path(asked)
    own, users = own_folder(version), _users()
    for folder in (own, users and users / own.name):
        try:
            if folder is None:
                continue
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            _drop_stale(folder)
            return folder
    return own if own.is_dir() else None


def own_folder(version):
    """Within the package: kernels that were compiled when it was installed are here, where nobody may write later."""
    return FOLDER / "__pycache__" / f"jit-{source_stamp(version):08x}"


def shelf_of(folder, version):
    """The kernels of the chosen folder, and beneath them the package's own, unless NUMBA_CACHE_DIR names one folder for all."""
    return Shelf(folder, None if os.environ.get("NUMBA_CACHE_DIR") else own_folder(version))


def source_stamp(version):
    """A number that changes with the compiler and the sources of the Numba kernels."""
    stamp = zlib.crc32(version.encode())
    for path in sorted(FOLDER.rglob("*.py")):
        if path.name != "__init__.py":
            stamp = zlib.crc32(path.read_bytes(), stamp)
    return stamp


@cache
def parts_of(path):
    """The files that a kernel in the file `path` is compiled from: what its imports of kernels lead to, and what compiles it.

    A change in one of them, and in no other, makes it another kernel. Packages hold nothing to compile. A function that
    stands elsewhere, such as the update of an optimizer, is put into a kernel by the Numba kernels, by any of its files.
    """
    path = Path(path)
    found, wanted = set(), [path, *(FOLDER / "codegen" if FOLDER in path.parents else FOLDER).rglob("*.py")]
    while wanted:
        file = wanted.pop()
        if file not in found and file.name != "__init__.py":
            found.add(file)
            wanted += _imported(file.read_text(encoding="utf-8"), FOLDER.parent)
    return sorted(found)


_IMPORTS = re.compile(r"^ *(?:from|import) badak\.kernels\.([\w.]+)(?: import (\([^)]*\)|.*))?", re.MULTILINE)


def _imported(source, kernels):
    """The files of the folder `kernels` that a source imports modules or names from."""
    for module, names in _IMPORTS.findall(source):
        place = kernels / module.replace(".", "/")
        for path in (place, *(place / name for name in re.findall(r"\w+", names))):
            file = path.with_suffix(".py")
            if file.is_file():
                yield file


@cache
def sources_of(path):
    """A number that changes with the files that a kernel in the file `path` is compiled from."""
    stamp = 0
    for part in parts_of(path):
        stamp = zlib.crc32(part.read_bytes(), stamp)
    return stamp


def _users():
    """The user's cache folder; None for a user without a home."""
    asked = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return Path(asked or Path.home() / ".cache") / "badak"
    except RuntimeError:
        return None


def _drop_stale(folder):
    """Remove the caches of older sources that nothing was added to for a week."""
    for other in folder.parent.glob("jit-*"):
        try:
            if other != folder and time.time() - other.stat().st_mtime > 7 * 86400:
                for path in sorted(other.rglob("*"), reverse=True):
                    path.rmdir() if path.is_dir() else path.unlink()
                other.rmdir()
        except OSError:  # another process is at the same work
            continue


class Shelf:
    """Bytes by name in a folder, each with its SHA-256. Nothing that goes wrong here stops a program: it is said once.

    What is not there is looked for in `beneath`, which is never written.
    """

    def __init__(self, folder, beneath=None):
        self.folder, self.beneath, self._said = folder, beneath, set()
        self._making: dict[str, int] = {}  # what this process makes, with the open file that tells the others

    def get(self, name):
        """What was put there; None where there is nothing, or not what was put there."""
        try:
            data = (self.folder / name).read_bytes()
        except FileNotFoundError:
            return self.beneath and Shelf(self.beneath).get(name)
        except OSError as error:
            self.refuse(name, error.strerror)
            return None
        if hashlib.sha256(data[_HASH:]).digest() != data[:_HASH]:
            self.refuse(name, tr("it is damaged"))
            return None
        return data[_HASH:]

    def get_or_make(self, name):
        """As `get`, after a process that makes it now. Where it gives None, this one makes it, puts it here and says `made`."""
        data = self.get(name)
        if data is None and name not in self._making and self._is_made_elsewhere(name):
            data = self.get(name)
        return data

    def _is_made_elsewhere(self, name):
        """Wait while another process makes it. False where none did: then all others wait for this one."""
        end, kept = time.monotonic() + _HANGS, self.folder / name
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._mark(name), os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError:  # `put` will say it
            return False
        while not (locked := _locked(handle)) and not kept.exists() and time.monotonic() < end:
            time.sleep(0.02)
        if locked and not kept.exists():
            self._making[name] = handle
            return False
        os.close(handle)
        return True

    def made(self, name):
        """This process makes it no longer: it is there, or could not be made."""
        handle = self._making.pop(name, None)
        if handle is not None:
            with suppress(OSError):  # on Windows, where another process has it open
                self._mark(name).unlink()
            os.close(handle)

    def _mark(self, name):
        return self.folder / f"{name}.partial"

    def put(self, name, data):
        """Keep `data`: a reader finds all of it or nothing."""
        neighbour = self.folder / f"{name}.{os.getpid()}.partial"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                neighbour.unlink()
            with open(neighbour, "xb") as file:  # where nothing is: no link is followed
                file.write(hashlib.sha256(data).digest() + data)
            os.replace(neighbour, self.folder / name)
        except OSError as error:
            self._say("put", tr("kernels cannot be kept in {} ({}), each process compiles them again", self.folder, error.strerror))
        finally:
            with suppress(OSError):
                neighbour.unlink()

    def refuse(self, name, why):
        """Throw away what cannot be used."""
        with suppress(OSError):
            (self.folder / name).unlink()
        self._say("get", tr("a kept kernel cannot be used ({}) and is compiled again: {}", why, self.folder / name))

    def _say(self, kind, line):
        if kind not in self._said:
            self._said.add(kind)
            to_stderr(line)


def _locked(handle):
    """Whether this process has the lock of an open file, or its file system has no locks."""
    try:
        lock_now(handle)
    except OSError as error:
        return error.errno not in HELD
    return True


def to_stderr(line):
    """One line on stderr, where there is one."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"badak: {say(line)}\n")
        sys.stderr.flush()
