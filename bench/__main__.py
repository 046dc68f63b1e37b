"""`python -m bench`: every workload with every peer, interleaved, as a table and as JSON. See README.md."""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from badak.core.errors import StateError
from badak.inspect.profiling.machine import available_gb, describe
from badak.inspect.profiling.peer import Peer, interleave
from bench import table
from bench.bounds import bound_ms
from bench.peers import PRECISIONS, Library, chosen, command, missing, precision_of
from bench.places import FEATURES, keep, place
from bench.rates import best, rates
from bench.workloads import WORKLOADS, Workload, parameter_count, shrunk


def options() -> argparse.Namespace:
    """What can be asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = lambda text: [part.strip() for part in text.split(",") if part.strip()]
    parser.add_argument("--only", type=names, default=[], help="workloads, e.g. W2,I1")
    parser.add_argument("--peers", type=names, default=[], help="beginnings of labels, e.g. badak,'torch blocks'")
    parser.add_argument("--precision", nargs="+", choices=PRECISIONS, default=list(PRECISIONS))
    parser.add_argument("--rounds", type=int, default=4, help="turns of each peer")
    parser.add_argument("--secs", type=float, default=0.8, help="seconds of one turn")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of each peer")
    parser.add_argument("--features", choices=FEATURES, help="the most that all may use of the CPU")
    parser.add_argument("--timeout", type=float, default=900, help="seconds that building and compiling may take")
    parser.add_argument("--tiny", action="store_true", help="shrink every workload, to try the machinery")
    parser.add_argument("--out", type=Path, help="the JSON file")
    parser.add_argument("--add", action="store_true", help="keep the other workloads that the file holds, measured alike")
    wanted = parser.parse_args()
    wanted.out = wanted.out or place("bench", wanted.features, wanted.threads)
    return wanted


def main() -> int:
    """Measure, write, print; 1 where two peers computed different things."""
    wanted = options()
    unknown = [name for name in wanted.only if name not in WORKLOADS]
    if unknown:
        sys.exit(f"no workload {', '.join(unknown)}; there are {', '.join(WORKLOADS)}")
    if not chosen(wanted.peers, wanted.precision):
        there = ", ".join(each.label for each in chosen([], wanted.precision))
        sys.exit(f"no peer begins with {', '.join(wanted.peers)}; there are {there}")
    if min(wanted.threads, wanted.rounds) < 1:
        sys.exit(f"expected --threads and --rounds of at least 1; got {wanted.threads} and {wanted.rounds}")
    os.environ.update(FEATURES.get(wanted.features, {}))
    document = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "machine": describe(wanted.threads),
        "settings": {"rounds": wanted.rounds, "seconds": wanted.secs, "tiny": wanted.tiny, "features": wanted.features},
        "workloads": {},
    }
    if wanted.add and wanted.out.exists():
        document = continued(document, json.loads(wanted.out.read_text(encoding="utf-8")))
    taken = [*document.get("rates_in_turn", []), measured_rates(wanted)]
    for name in wanted.only or WORKLOADS:
        work = shrunk(WORKLOADS[name]) if wanted.tiny else WORKLOADS[name]
        document["workloads"][name] = measure(work, wanted)
        taken.append(measured_rates(wanted))
        document["rates"], document["rates_in_turn"] = best(taken), taken
        for other, found in document["workloads"].items():  # the rates get surer with every workload
            sizes = shrunk(WORKLOADS[other]) if wanted.tiny else WORKLOADS[other]
            found["bound_ms"] = round(bound_ms(sizes, document["rates"] | found["rates"]), 4)
        keep(wanted.out, document)
    print(table.details(document), "\n")
    print(table.markdown(document))
    return 0 if all(row.agrees for each in PRECISIONS for row in table.rows_of(document, each)) else 1


def continued(document: dict, earlier: dict) -> dict:
    """A run that goes on with an earlier one: its workloads stay, and every date and commit is told. Both must be alike."""
    facts = ("cpu", "threads")
    for what, old, new in [
        ("settings", earlier["settings"], document["settings"]),
        *((fact, earlier["machine"].get(fact), document["machine"].get(fact)) for fact in facts),
    ]:
        if old != new:
            sys.exit(f"--add: the file was measured with other {what}: {old}, now {new}")
    told = {name: ", ".join(dict.fromkeys([*earlier[name].split(", "), document[name]])) for name in ("date", "commit")}
    return earlier | document | told | {"workloads": earlier["workloads"]}


def measured_rates(wanted: argparse.Namespace, **sizes: int) -> dict[str, float]:
    return rates(wanted.threads, repeats=2 if wanted.tiny else 15, **sizes)


def reading_rate(work: Workload, wanted: argparse.Namespace) -> dict[str, float]:
    """How fast as many bytes as this model has weights are read again and again: some of them may stay in a cache."""
    if work.family != "write":
        return {}
    return {"read_gb_s": measured_rates(wanted, floats=parameter_count(work))["read_gb_s"]}


def commit() -> str:
    """Which badak was measured."""
    done = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "an unknown commit"


def measure(work: Workload, wanted: argparse.Namespace) -> dict:
    """One workload: all its peers are built and compared, then they take turns."""
    peers: dict[str, Peer] = {}
    values: dict[str, list[float]] = {}
    absent: dict[str, str] = {}
    try:
        for library in chosen(wanted.peers, wanted.precision):
            if work.name not in library.workloads:
                continue
            say(f"{work.name}: {library.label}")
            peer = None
            try:
                peer = start(library, work, wanted)
                values[library.label] = peer.ask("steps", count=work.checked_steps if work.trains else 2)["values"]
                peers[library.label] = peer
            except StateError as error:
                absent[library.label] = error.cause
                if peer is not None:
                    peer.close()
        say(f"{work.name}: {len(peers)} peers interleaved")
        interleave(list(peers.values()), wanted.rounds, wanted.secs)
        peaks = {label: peer.ask("memory")["peak_mb"] for label, peer in peers.items()}
    finally:
        for peer in peers.values():
            peer.close()
    found = {
        label: peer.timing.as_dict()
        | {"peak_mb": round(peaks[label]), "values": values[label], "apart": apart(values, label, work)}
        for label, peer in peers.items()
    }
    return {
        "title": work.title, "parameters": parameter_count(work), "rates": reading_rate(work, wanted),
        "peers": found, "missing": absent,
    }  # fmt: skip


def start(library: Library, work: Workload, wanted: argparse.Namespace) -> Peer:
    """Its process with the work built; StateError where it cannot be."""
    if missing(library):
        raise StateError(f"{library.package} is not installed")
    need = 24 * parameter_count(work) / 2**30 + 1  # weights, gradients, moments, a copy, and a little
    if available_gb() < need:
        raise StateError(f"{need:.1f} GB of memory are needed, {available_gb():.1f} are free")
    peer = Peer(command(library), wanted.threads, wanted.timeout)
    try:
        held = peer.ask("build", work=asdict(work))["parameters"]
        if held != parameter_count(work):
            raise StateError(f"it holds {held:,} parameters, not {parameter_count(work):,}")
    except StateError:
        peer.close()
        raise
    return peer


def apart(values: dict[str, list[float]], label: str, work: Workload) -> float | None:
    """The largest difference between the losses of a peer and badak's; for a text, 0 where it is the same one.

    Badak's float32 is what all are compared with. A text of fewer bits may take another way at any token: it is not compared.
    """
    reference = next((found for name, found in values.items() if name.startswith("badak")), None)
    if reference is None or label == next(iter(values)) or (work.family == "write" and precision_of(label) != "float32"):
        return None
    return float(np.abs(np.subtract(values[label], reference)).max())


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
