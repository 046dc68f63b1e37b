"""Count what readers make of changed files: `python -m tests.io.mutations --help`."""

import argparse
import multiprocessing
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.io.mutations.readers import READERS
from tests.io.mutations.worker import SECONDS, work

BATCH = 20_000  # files for one process
PATIENCE = 6 * SECONDS  # seconds without a further file after which a process counts as hung


def main(arguments: list[str] | None = None) -> int:
    """Run it; 1 where something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.io.mutations", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="files for each reader")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--reader", action="append", choices=list(READERS), help="may be repeated; all by default")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--keep", help="folder for the files that were wrong")
    options = parser.parse_args(arguments)
    if options.keep:
        Path(options.keep).mkdir(parents=True, exist_ok=True)
    total: Counter = Counter()
    for name in options.reader or READERS:
        begin = time.monotonic()
        counts, wrong = run(name, options.seed, options.first, options.first + options.count, options.keep)
        total += counts
        print(f"{name:12} {report(counts)}  {time.monotonic() - begin:7.1f} s", flush=True)
        print("".join(f"    {line}\n" for line in summary(wrong)), end="", flush=True)
    print(f"{'all':12} {report(total)}")
    return 1 if total["wrong"] else 0


def report(counts: Counter) -> str:
    """The counts as a row."""
    return "  ".join(f"{word} {counts[word]:9,}" for word in ("right", "refused", "wrong"))


def summary(wrong: list[str]) -> list[str]:
    """One line for each kind of wrong, with how often and an example."""
    kinds: dict[str, list[str]] = {}
    for line in wrong:
        kinds.setdefault(line.split(": ", 1)[1][:60] + line.rpartition(" at ")[2], []).append(line)
    return [f"{len(lines)} x {lines[0]}" for lines in sorted(kinds.values(), key=len, reverse=True)]


def run(name: str, seed: str, first: int, stop: int, keep: str | None = None) -> tuple[Counter, list[str]]:
    """Judge files of one reader in processes of their own; one that dies or hangs is a wrong file, and a new one goes on."""
    counts: Counter = Counter()
    wrong: list[str] = []
    context = multiprocessing.get_context("spawn" if "torch" in sys.modules else "fork")
    while first < stop:
        last = min(first + BATCH, stop)
        progress = context.Value("Q", first, lock=False)
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_child, args=(theirs, name, seed, first, last, progress, keep))
        process.start()
        theirs.close()
        found = _wait(ours, progress)
        process.join(1) if found else process.kill()
        if isinstance(found, str):
            raise AssertionError(f"{name}: no file could be judged\n{found}")
        if found:
            counts, wrong, first = counts + found[0], wrong + found[1], last
            continue
        process.join()
        at = progress.value
        counts["wrong"] += 1
        wrong.append(f"{name} {at}: the process died or hung (code {process.exitcode})")
        if at > first:  # what it had judged before
            again = run(name, seed, first, at, keep)
            counts, wrong = counts + again[0], wrong + again[1]
        first = at + 1
    return counts, wrong


def _child(pipe, *args) -> None:
    try:
        pipe.send(work(*args))
    except Exception:  # of the test: what a reader raises is judged
        pipe.send(traceback.format_exc())
    pipe.close()


def _wait(pipe, progress):
    """What the process sends; None where it dies, or says nothing of a further file for too long."""
    seen, since = progress.value, time.monotonic()
    while not pipe.poll(0.2):
        if progress.value != seen:
            seen, since = progress.value, time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            return None
    try:
        return pipe.recv()
    except EOFError:
        return None


if __name__ == "__main__":
    sys.exit(main())
