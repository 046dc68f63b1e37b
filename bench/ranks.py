"""Several ranks on this machine: sums, weak scaling, overlap, next to PyTorch over gloo. `python -m bench.ranks [PIECE ...]`

Pieces: sums | step W5 | step W7 | check | model | table. Each keeps what it found in bench/results/PROCESSOR/ranks.json; none: all
of them. A rank has one thread and a core of its own. Both libraries' ranks are there at once and are measured interleaved; who is
not measured sleeps.

    alone     a step of one rank, the other one sleeps             apart     two ranks at once, each for itself: the memory's bound
    shared    DistributedDataParallel: both, and their mean        late      the same, sums begun when backward is over
    sums      those sums alone, of gradients that are there        The least time of each is kept: others may compute here, too.
"""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict
from multiprocessing.connection import Listener
from pathlib import Path

from badak.inspect.profiling.machine import describe
from bench import ranks_model
from bench.places import keep, place
from bench.ranks_sums import SIZES
from bench.workloads import WORKLOADS, Workload, shrunk

ROOT = Path(__file__).resolve().parents[1]
ROUNDS, LIMIT = 9, 50.0  # of each library and mode; seconds, after which no round begins
MODES = {"badak": ("alone", "apart", "shared", "late", "sums"), "torch": ("alone", "apart", "shared")}


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def start(library: str, n: int, module: str, *words: str) -> list[subprocess.Popen]:
    """The processes of n ranks: MPI starts badak's."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "BADAK_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1"}
    env |= {"MASTER_PORT": str(free_port()), "WORLD_SIZE": str(n)}
    me = [sys.executable, "-m", module, library, *words]
    if library == "badak":
        env.pop("WORLD_SIZE")
        return [subprocess.Popen([str(Path(sys.executable).parent / "mpiexec"), "-n", str(n), *me], env=env, cwd=ROOT)]
    return [subprocess.Popen(me, env={**env, "RANK": str(rank)}, cwd=ROOT) for rank in range(n)]


class Pair:
    """The ranks of one library, and the lines to them."""

    def __init__(self, library: str, n: int = 2):
        self.library, self.times = library, {mode: [] for mode in MODES[library]}
        with Listener(("127.0.0.1", 0), authkey=b"bench") as door:
            self.processes = start(library, n, "bench.ranks_worker", str(door.address[1]))
            lines = [door.accept() for _ in range(n)]
        self.lines = [line for _, line in sorted(((line.recv(), line) for line in lines), key=lambda pair: pair[0])]

    def ask(self, asked, only: int | None = None) -> list:
        """What all ranks answer, or the first `only`."""
        lines = self.lines[:only]
        for line in lines:
            line.send(asked)
        return [line.recv() for line in lines]

    def round(self, mode: str, count: int) -> None:
        """Time some steps: of two ranks that of the slower one."""
        found = self.ask({"mode": mode, "count": count}, only=1 if mode == "alone" else None)
        self.times[mode] += [max(steps) for steps in zip(*found)]

    def close(self) -> None:
        """End them."""
        for line in self.lines:
            line.send(None)
        for process in self.processes:
            process.wait(timeout=30)


@contextmanager
def pairs(work: Workload, bucket_mb: float | None):
    """The ranks of all libraries with this work built, one library after the other."""
    found = []
    try:
        for library in MODES:
            found.append(Pair(library))
            found[-1].ask({"work": asdict(work), "bucket_mb": bucket_mb})
        yield found
    finally:
        for pair in found:
            pair.close()


def steps(work: Workload, rounds: int = ROUNDS, limit: float = LIMIT, bucket_mb: float | None = None) -> dict:
    """Seconds of a step of each library in each mode, the least, and what follows from them."""
    with pairs(work, bucket_mb) as both:
        for pair in both:
            for mode in ("shared", "shared", "shared", "alone"):  # a first step loads; torch cuts its buckets again after it
                pair.round(mode, 1)
        count = max(1, round(0.3 / both[0].times["alone"][-1]))
        for pair in both:
            pair.times = {mode: [] for mode in MODES[pair.library]}
        done, begin = 0, time.perf_counter()
        while done < rounds and time.perf_counter() - begin < limit:
            for pair in both:
                for mode in MODES[pair.library]:
                    pair.round(mode, count)
            done += 1
    times = {pair.library: {mode: min(found) for mode, found in pair.times.items()} for pair in both}
    return {"work": work.title, "steps": count * done, "seconds": times, **follows(times)}


def follows(times: dict[str, dict[str, float]]) -> dict[str, float]:
    """The figures: efficiency in weak scaling, its bound, what overlap hides, badak next to torch."""
    own = times["badak"]
    sums = own["late"] - own["apart"]
    return {
        "efficiency": own["alone"] / own["shared"],
        "bound": own["alone"] / own["apart"],
        "torch_efficiency": times["torch"]["alone"] / times["torch"]["shared"],
        "hidden": (own["late"] - own["shared"]) / sums if sums > 0 else 0.0,
        "beside_torch": times["torch"]["shared"] / own["shared"],
    }


def sums() -> dict:
    """Seconds of all_reduce for each size: badak's, badak's without agreement, mpi4py's, torch's over gloo."""
    found: dict = {str(size): {} for size in SIZES}
    for library in MODES:
        file = ROOT / f".ranks-{os.getpid()}-{library}.json"
        try:
            processes = start(library, 2, "bench.ranks_sums", str(file))
            assert [process.wait(timeout=80) for process in processes] == [0] * len(processes)
            for size, row in json.loads(file.read_text()).items():
                found[size] |= row
        finally:
            file.unlink(missing_ok=True)
    return found


def check(rounds: int = 6) -> dict:
    """The constants of the model, and steps of 1, 2 and 4 ranks to hold it to."""
    found: dict = {"cores": os.cpu_count(), "works": {}}
    for n in (2, 4):
        pair = Pair("badak", n)
        try:
            for name in ("W2", "W4"):
                pair.ask({"work": asdict(WORKLOADS[name]), "bucket_mb": None})
                modes = ("alone", "apart", "shared") if n == 2 else ("shared",)
                pair.times = {mode: [] for mode in modes}
                for _ in range(rounds):
                    for mode in modes:
                        pair.round(mode, 8)
                here = {mode: min(times) for mode, times in pair.times.items()}
                if n == 2:
                    bytes_, buckets = pair.ask({"size": True})[0]
                    found["works"][name] = {"bytes": bytes_, "buckets": buckets, "alone": here["alone"], "apart": here["apart"]}
                    found["works"][name] |= {"1": here["alone"], "2": here["shared"]}
                else:
                    found["works"][name]["4"] = here["shared"]
            if n == 2:
                rows = pair.ask({"sizes": [1, 2**20]})[0]
                b = 4 * 2**20 / max(rows[1] - rows[0], 1e-9)
                found["constants"] = {"a": rows[0] / 2, "b": b}
        finally:
            pair.close()
    return found


def note(piece: str, values: dict) -> None:
    """Keep what was found next to what is there."""
    path = place("ranks")
    document = json.loads(path.read_text()) if path.exists() else {}
    about = {**describe(1), "measured": time.strftime("%Y-%m-%d")}
    keep(path, {**document, piece: {**values, "machine": about}})


def main(words: list[str]) -> None:
    """The pieces that are asked for."""
    pieces = words or ["sums", "step", "W5", "step", "W7", "check", "model", "table"]
    while pieces:
        piece = pieces.pop(0)
        if piece == "sums":
            note(piece, sums())
        elif piece == "check":
            note(piece, check())
        elif piece == "model":
            ranks_model.draw()
        elif piece == "step":
            name = pieces.pop(0)
            work = shrunk(WORKLOADS[name[:-6]]) if name.endswith("-small") else WORKLOADS[name]
            found = steps(work)
            print(found, flush=True)
            if not name.endswith("-small"):
                note(f"step {name}", found)
        else:
            from bench.ranks_table import table

            print(table())


if __name__ == "__main__":
    main(sys.argv[1:])
