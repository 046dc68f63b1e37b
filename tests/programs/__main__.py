"""The command line: see the package."""

import argparse
import collections
import json
import subprocess
import sys
import time
from pathlib import Path

from tests.programs.generate import generate
from tests.programs.judge import judge
from tests.programs.shrink import shrunk
from tests.programs.source import parsed


def main() -> int:
    """Run what is asked for; 1 where a program differs."""
    ask = argparse.ArgumentParser(prog="python -m tests.programs", description="Random programs, run in every way.")
    ask.add_argument("--seeds", help="from:to")
    ask.add_argument("--file", type=Path, help="a program that was written down")
    ask.add_argument("--show", type=int, help="print the program of this seed")
    ask.add_argument("--jobs", type=int, default=1)
    ask.add_argument("--no-shrink", action="store_true")
    ask.add_argument("--report", type=Path, help="write what was found of each program here, as lines of JSON")
    ask.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    asked = ask.parse_args()
    if asked.show is not None:
        print(generate(asked.show)[0])
        return 0
    if asked.file:
        return _one(asked.file.read_text(encoding="utf-8"), not asked.no_shrink)
    first, _, last = asked.seeds.partition(":")
    seeds = range(int(first), int(last or int(first) + 1))
    if asked.worker:
        for seed in seeds:
            print(json.dumps(_found(seed)), flush=True)
        return 0
    return _all(seeds, asked)


def _found(seed: int) -> dict:
    program, pytorch = generate(seed)
    started = time.perf_counter()
    verdict = judge(str(program), pytorch, _dtype(seed))
    seconds = time.perf_counter() - started
    facts = dict(seed=seed, differences=verdict.differences, whys=verdict.whys, errors=verdict.errors)
    return facts | dict(foreign=sorted(verdict.foreign), broken=verdict.broken, seconds=round(seconds, 3))


def _dtype(seed: int) -> str:
    return "float64" if seed % 4 == 3 else "float32"


def _all(seeds: range, asked) -> int:
    found = []
    for facts in _workers(seeds, asked.jobs):
        found.append(facts)
        for text in facts["differences"]:
            print(f"{facts['seed']}: {text[:400]}", flush=True)
        if asked.report:
            with asked.report.open("a", encoding="utf-8") as file:
                file.write(json.dumps(facts) + "\n")
    print(summary(found))
    different = [facts["seed"] for facts in found if facts["differences"]]
    for seed in [] if asked.no_shrink else different[:20]:
        print(f"\n# seed {seed}")
        program, pytorch = generate(seed)
        _shrink_and_print(program, pytorch, _dtype(seed))
    return 1 if different else 0


def _workers(seeds: range, jobs: int):
    """What was found of each seed, by processes of their own: a crash is a finding too."""
    chunks = [range(at, min(at + 25, seeds.stop)) for at in range(seeds.start, seeds.stop, 25)]
    running: dict = {}
    while chunks or running:
        while chunks and len(running) < jobs:
            chunk = chunks.pop(0)
            command = [sys.executable, "-m", "tests.programs", "--worker", "--seeds", f"{chunk.start}:{chunk.stop}"]
            running[subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)] = chunk
        process, chunk = next(iter(running.items()))
        del running[process]
        try:
            output, errors = process.communicate(timeout=60 + 10 * len(chunk))
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            errors = "it takes too long"
        lines = [json.loads(line) for line in output.splitlines()]
        yield from lines
        if len(lines) < len(chunk):
            seed = chunk[len(lines)]
            what = f"crash: code {process.returncode}: {errors.strip()[-300:]}"
            yield dict(seed=seed, differences=[what], whys=[], errors=0, foreign=[], broken="", seconds=0)
            if seed + 1 < chunk.stop:
                chunks.insert(0, range(seed + 1, chunk.stop))


def summary(found: list[dict]) -> str:
    """A table of what was found."""
    different = [facts for facts in found if facts["differences"]]
    ways = collections.Counter(way for facts in different for way in {text.split(": ")[0] for text in facts["differences"]})
    whys = collections.Counter(why or "not replayed, without a reason" for facts in found for why in facts["whys"])
    lines = [f"{len(found)} programs: {len(found) - len(different)} the same in every way, {len(different)} different"]
    lines += [f"  {count:6}  {way}" for way, count in ways.most_common()]
    lines += [
        f"{sum(whys.values())} compiled functions:",
        *(f"  {count:6}  {why}" for why, count in whys.most_common(40)),
    ]
    lines += [f"{sum(facts['errors'] for facts in found)} errors caught, {sum(bool(f['broken']) for f in found)} programs broken"]
    foreign = collections.Counter(text for facts in found for text in facts["foreign"])
    lines += [
        f"{len(foreign)} kinds of errors without a fix:",
        *(f"  {count:6}  {text}" for text, count in foreign.most_common(25)),
    ]
    return "\n".join(lines)


def _one(text: str, shrink: bool) -> int:
    pytorch = "Cache" not in text
    verdict = judge(text, pytorch)
    print(*verdict.differences, sep="\n")
    print("compiled functions:", verdict.whys)
    if verdict.differences and shrink:
        _shrink_and_print(parsed(text), pytorch, "float32")
    return 1 if verdict.differences else 0


def _shrink_and_print(program, pytorch: bool, dtype: str) -> None:
    verdict = judge(str(program), pytorch, dtype)
    if not verdict.differences:
        print("# alone it does not differ")
        return
    way = verdict.differences[0].split(": ")[0]

    def differs(text: str) -> bool:
        other = judge(text, pytorch, dtype, {way})
        return bool(other.differences) and (bool(verdict.broken) or not other.broken)

    program = shrunk(program, differs)
    print(program, *(f"# {line}" for line in judge(str(program), pytorch, dtype).differences), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
