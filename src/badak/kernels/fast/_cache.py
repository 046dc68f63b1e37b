"""Where compiled kernels are kept between processes."""

import os
import time
import zlib
from pathlib import Path


def choose_folder(version):
    """NUMBA_CACHE_DIR where set, else the package's own folder where writable, else the user's cache folder, else None.

    `version` names the compiler. Numba only watches the file that a kernel stands in, so the folder's name changes with
    every source of the fast set but the table of contents.
    """
    asked = os.environ.get("NUMBA_CACHE_DIR")
    if asked:
        return Path(asked)
    stamp = zlib.crc32(version.encode())
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")) + sorted(Path(__file__).parent.glob("_[!_]*.py")):
        stamp = zlib.crc32(path.read_bytes(), stamp)
    own = Path(__file__).parent / "__pycache__"
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache")
    for folder in (own / f"jit-{stamp:08x}", home / "badak" / f"jit-{stamp:08x}"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            _drop_stale(folder)
            return folder
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
