"""Install a wheel into empty environments and use it, with and without extras: `python tools/try_wheel.py dist [EXTRA ...]`.

Each environment trains for some steps and answers from the run; it prints what was installed, in MB, and the seconds of an import.
"""

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

SETS = ("", "fast", "all")
TRAIN = ["train", "gpt", "--preset", "sentences", "--steps", "20", "--seed", "1"]


def run(*command: str | Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a command of the environment prints; its error ends this program."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BADAK_"))}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=clean | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


def tried(wheel: Path, extras: str, folder: Path) -> str:
    """A line about the wheel with these extras."""
    place = folder / "venv"
    venv.create(place, with_pip=True, clear=True)
    python = next(path for path in (place / "bin" / "python", place / "Scripts" / "python.exe") if path.exists())
    empty = size(place)
    run(python, "-m", "pip", "install", "-q", f"{wheel}[{extras}]" if extras else wheel, folder=folder)
    megabytes = (size(place) - empty) / 1e6
    run(python, "-c", "import badak", folder=folder)
    begin = time.perf_counter()
    run(python, "-c", "import badak", folder=folder)
    seconds = time.perf_counter() - begin
    trained = run(python, "-m", "badak", *TRAIN, "--run", "run", folder=folder)
    written = run(python, "-m", "badak", "generate", "run", "--prompt", "The", folder=folder)
    hints = [(done.stdout + done.stderr).count("badak[fast]") for done in (trained, written)]
    if hints != ([0, 0] if extras else [1, 1]):
        sys.exit(f"[{extras}] says {hints} times how to become fast\n{trained.stderr}{written.stderr}")
    version = run(python, "--version", folder=folder).stdout.strip()
    return f"{version}  badak[{extras}]  {megabytes:.0f} MB  import {seconds:.2f} s  trains and answers"


def size(folder: Path) -> int:
    """Bytes of all its files, without compiled Python."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def main(dist: Path, sets: list[str]) -> None:
    """Try each set of extras."""
    wheel = next(dist.resolve().glob("*.whl"))
    for extras in sets or SETS:
        with tempfile.TemporaryDirectory() as folder:
            print(tried(wheel, extras, Path(folder)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
