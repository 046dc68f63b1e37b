"""`python -m bench.world`: programs that others wrote for PyTorch, with PyTorch and with badak, interleaved. See README.md.

Each program of `world_works` runs in four processes, PyTorch and badak on 1 and on all threads; what they compute is compared. Then
come the seconds from the start of a process to its first answer, and the MiB that each installation takes. Two interpreters
may be given, so that badak runs where no PyTorch is installed:

    python -m bench.world --torch-python A/bin/python --badak-python B/bin/python
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import numpy as np

from badak.core.errors import StateError
from badak.inspect.profiling.machine import describe, environment
from badak.inspect.profiling.peer import Peer, interleave
from bench.__main__ import commit, say
from bench.places import keep, place
from bench.world_table import markdown
from bench.world_works import WORKS

LIBRARIES = ("badak", "torch")
SAME = {"minilm": 1e-5, "gpt2": 0.0, "bert": 1e-4, "vit": 1e-4, "llama": 1e-4,
        "lightning": 1e-3, "unet": 1e-4, "clip": 1e-4}  # fmt: skip  # how far the two may be apart
CHECKED = {"bert": 3, "llama": 3}  # steps that are compared, where one is not enough
FIRST = {"minilm": "the first sentence's vector, MiniLM", "gpt2": "the first token, GPT-2 (124 M parameters)"}
HERE = Path(__file__).parent


def options() -> argparse.Namespace:
    """What can be asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.world", description=__doc__)
    names = lambda text: [part.strip() for part in text.split(",") if part.strip()]
    parser.add_argument("--only", type=names, default=list(WORKS), help=f"some of {','.join(WORKS)}; or 'first' alone")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each process")
    parser.add_argument("--secs", type=float, default=1.5, help="seconds of one turn")
    parser.add_argument("--threads", type=names, default=sorted({"1", str(os.cpu_count() or 1)}), help="e.g. 1,2")
    parser.add_argument("--starts", type=int, default=5, help="how often the first answer is waited for; 0: not at all")
    parser.add_argument("--torch-python", default=sys.executable, help="an interpreter that has PyTorch")
    parser.add_argument("--badak-python", default=sys.executable, help="an interpreter that need not have it")
    parser.add_argument("--tiny", action="store_true", help="shrink every program, to try the machinery")
    parser.add_argument("--out", type=Path, default=place("world"), help="the JSON file")
    wanted = parser.parse_args()
    for name in [each for each in wanted.only if each not in (*WORKS, "first")]:
        parser.error(f"--only: no program {name}\nfix: some of {', '.join(WORKS)}; or first")
    for python in (wanted.torch_python, wanted.badak_python):
        if not shutil.which(python):
            parser.error(f"{python} is no interpreter\nfix: the path of a Python, such as .venv/bin/python")
    return wanted


def main() -> int:
    """Measure, write, print; 1 where the two computed different things."""
    wanted = options()
    pythons = {library: getattr(wanted, f"{library}_python") for library in LIBRARIES}
    document = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "commit": commit(), "machine": describe(),
        "settings": {"rounds": wanted.rounds, "seconds": wanted.secs, "tiny": wanted.tiny},
        "installed": {library: json.loads(asked(python, "installed", library)) for library, python in pythons.items()},
        "workloads": {}, "first": {},
    }  # fmt: skip
    for name in [each for each in WORKS if each in wanted.only]:
        document["workloads"][name] = measure(name, wanted, pythons)
        keep(wanted.out, document)
    if wanted.starts:
        document["first"] = first_answers(wanted, pythons)
    keep(wanted.out, document)
    print(markdown(document))
    return 0 if all(found["agrees"] for found in document["workloads"].values()) else 1


def measure(name: str, wanted: argparse.Namespace, pythons: dict[str, str]) -> dict:
    """One program in all its processes: built, compared, then interleaved."""
    peers: dict[str, Peer] = {}
    try:
        found, values, parameters = {}, {}, set()
        for threads in map(int, wanted.threads):
            for library in LIBRARIES:
                say(f"{name}: {library}, {threads} threads")
                peer = Peer([pythons[library], "-m", "bench.world_works", library], threads)
                label = f"{library} {threads}"
                peers[label] = peer
                parameters.add(peer.ask("build", work={"name": name, "tiny": wanted.tiny})["parameters"])
                values[label] = peer.ask("steps", count=CHECKED.get(name, 1))["values"]
        say(f"{name}: {len(peers)} processes interleaved")
        interleave(list(peers.values()), wanted.rounds, wanted.secs)
        for label, peer in peers.items():
            peak = round(peer.ask("memory")["peak_mb"])
            found[label] = {**peer.timing.as_dict(), "values": values[label], "peak_mb": peak}
    finally:
        for peer in peers.values():
            peer.close()
    if len(parameters) != 1:
        raise StateError(f"{name}: the libraries hold {sorted(parameters)} parameters")
    apart = float(np.ptp(np.array(list(values.values())), axis=0).max())
    return {"title": WORKS[name][0], "parameters": parameters.pop(), "peers": found, "apart": apart,
            "agrees": apart <= SAME[name]}  # fmt: skip


def first_answers(wanted: argparse.Namespace, pythons: dict[str, str]) -> dict:
    """Seconds and MiB from the start of a process to its first answer, weights read from safetensors; interleaved."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        asked(pythons["torch"], "save", folder, str(int(wanted.tiny)))
        for name in [each for each in FIRST if each in wanted.only or "first" in wanted.only]:
            say(f"first answer: {name}")
            taken: dict[str, list[tuple[float, float, str]]] = {library: [] for library in LIBRARIES}
            for _ in range(wanted.starts + 1):  # the first only fills the caches of the system
                for library in LIBRARIES:
                    taken[library].append(first_answer(pythons[library], library, name, folder))
            answers = {library: runs[-1][2] for library, runs in taken.items()}
            if len(set(answers.values())) != 1:
                raise StateError(f"{name}: the first answers differ: {answers}")
            found[name] = {
                library: {"seconds": round(float(np.median([run[0] for run in runs[1:]])), 3),
                          "best": round(min(run[0] for run in runs[1:]), 3),
                          "worst": round(max(run[0] for run in runs[1:]), 3),
                          "peak_mb": round(max(run[1] for run in runs[1:]))}
                for library, runs in taken.items()
            }  # fmt: skip
            found[name]["title"] = FIRST[name]
    return found


def first_answer(python: str, library: str, name: str, folder: str) -> tuple[float, float, str]:
    """Seconds until the answer has been read, the peak of the process in MiB, the answer."""
    run = ["-m", "badak", "run"] if library == "badak" else []
    command = [python, *run, str(HERE / "world_first.py"), name, folder]
    start = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(os.cpu_count() or 1)) as process:
        assert process.stdout is not None
        answer = process.stdout.readline().strip()
        seconds = perf_counter() - start
        peak = process.stdout.readline()
    if process.returncode:
        raise StateError(f"{name}: the process of {library} ended with code {process.returncode}")
    return seconds, float(peak), answer


def asked(python: str, *question: str) -> str:
    """What `world_setup` says in an interpreter."""
    command = [python, "-m", "bench.world_setup", *question]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
