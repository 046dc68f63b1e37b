"""Kill a random rank of a training at a random moment: does `badak launch --restarts` end with the bits of an undisturbed run?

    python -m tests.distributed.kills 30 [--seed 0] [--ranks 2] [--json FILE]

Each kill has a number; the seed and it decide the moment and the rank. Moments: while the ranks start, while they train, while a
checkpoint is written, between two checkpoints, and while they end. The times in metrics.csv are not compared, all else is.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tests.distributed.ranks import LIMIT, environment, launch
from tests.distributed.small import arguments, processes, state, write_text

STEPS = 24
MOMENTS = ("starting", "training", "saving", "saved", "ending", "any")


class Kills:
    """One undisturbed run of `ranks` ranks, and disturbed ones next to it."""

    def __init__(self, folder: Path, ranks: int):
        self.folder, self.ranks = folder, ranks
        self.text = write_text(folder)
        began = time.monotonic()
        done = launch(ranks, *arguments(self.text, folder / "alone", STEPS))
        assert done.code == 0, done.err
        self.seconds, self.wanted = time.monotonic() - began, state(folder / "alone")

    def one(self, seed: int, number: int) -> dict[str, Any]:
        """Kill once, and see how the run ends; again, earlier, where the run had ended before its moment came."""
        for pick in (1.0, 0.7, 0.4, 0.1):
            found = self._once(seed, number, pick)
            if found["killed_at_step"] is not None or not found["right"]:
                break
        return found

    def _once(self, seed: int, number: int, part: float) -> dict[str, Any]:
        """One run. `right` says whether all is as it should be."""
        chance = random.Random(1000 * seed + number)
        moment, rank, run = MOMENTS[number % len(MOMENTS)], chance.randrange(self.ranks), self.folder / f"run-{number}"
        pick = part * chance.random()
        line = ["-m", "badak", "launch", "-n", str(self.ranks), "--restarts", "2", *arguments(self.text, run, STEPS)]
        began = time.monotonic()
        with open(self.folder / "said", "w+") as said:
            launcher = subprocess.Popen(
                [sys.executable, *line], env=environment(), stdout=said, stderr=said, start_new_session=True
            )
            try:
                killed = self._kill(launcher, run, moment, rank, pick)
                code: int | None = launcher.wait(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                left = list(processes(run).values())
                if launcher.poll() is None:
                    os.killpg(launcher.pid, signal.SIGKILL)
            said.seek(0)
            text = said.read()
        equal = code == 0 and state(run) == self.wanted
        found = {
            "number": number, "moment": moment, "rank": rank, "killed_at_step": killed, "code": code,
            "restarts": text.count("starting again"), "equal": equal, "left": len(left),
            "seconds": round(time.monotonic() - began, 1),
        }  # fmt: skip
        found["right"] = equal and not left
        if not found["right"]:
            found["said"] = text[-2000:]
        shutil.rmtree(run, ignore_errors=True)
        return found

    def _kill(self, launcher: subprocess.Popen, run: Path, moment: str, rank: int, pick: float) -> int | None:
        """Wait for the moment and kill; the step that was saved then, None where the run had ended before."""
        row = 1 + int(pick * (STEPS // 2 - 1))  # how many rows of metrics.csv there are then
        waits: dict[str, Callable[[], object]] = {
            "starting": lambda: True,
            "training": lambda: rows(run) >= row,
            "saving": lambda: rows(run) >= row and any(run.glob("*.new*")),
            "saved": lambda: rows(run) >= row and (run / "state.json").exists(),
            "ending": lambda: rows(run) > STEPS // 2,
            "any": lambda: True,
        }
        pid = 0
        while launcher.poll() is None and not (pid and waits[moment]()):
            pid = pid or processes(run).get(rank, 0)
            time.sleep(0.002)
        time.sleep(pick * {"any": self.seconds, "starting": 1.0, "ending": 0.2, "saving": 0.004}.get(moment, 0.02))
        try:
            os.kill(pid or 2**22 + 1, signal.SIGKILL)
        except ProcessLookupError:
            return None
        return 2 * max(0, rows(run) - 1)


def rows(run: Path) -> int:
    """Lines of metrics.csv, its first one included."""
    try:
        return (run / "metrics.csv").read_bytes().count(b"\n")
    except OSError:
        return 0


@click.command()
@click.argument("kills", type=int)
@click.option("--seed", default=0)
@click.option("--ranks", default=2)
@click.option("--first", default=0, help="number of the first kill, to go on")
@click.option("--json", "path", type=click.Path(path_type=Path))
def command(kills: int, seed: int, ranks: int, first: int, path: Path | None) -> None:
    """Kill so often, and say how each run ended."""
    with tempfile.TemporaryDirectory(prefix="badak-kills-") as folder:
        all_ = Kills(Path(folder), ranks)
        found = []
        for number in range(first, first + kills):
            found.append(all_.one(seed, number))
            click.echo(json.dumps(found[-1]))
            if path:
                path.write_text(json.dumps({"seed": seed, "ranks": ranks, "steps": STEPS, "kills": found}, indent=1) + "\n")
    click.echo(f"{sum(one['right'] for one in found)} of {kills} ended with the bits of the undisturbed run")
    sys.exit(not all(one["right"] for one in found))


if __name__ == "__main__":
    command()
