"""How many planted faults the audit finds.

    python -m tests.inspect.audit.measure [--own] [--clients] [program ...] [--fault NAME] [--seed WORD] [-v]

A row for each program and fault: found or not, in the right module or not; and for each program as it is, what is found in it.
"""

import argparse
import json
import random
import subprocess
import sys
import zlib
from collections import defaultdict
from pathlib import Path

import badak
from badak.core.errors import BadakError
from tests.inspect.audit import clients
from tests.inspect.audit.foreign import lecture, library, llama_like, loss_only, nano, nano_writing, own_names, pairs_like
from tests.inspect.audit.foreign2 import (
    albert,
    forecaster,
    remembers,
    shorter,
    t5_like,
    text_net,
    tutorial,
    vit_like,
    window,
    zeros_at_first,
)  # fmt: skip
from tests.inspect.audit.plants import Map, judge
from tests.inspect.audit.programs import OWN, built
from tests.inspect.audit.switched import PLANTS as PLANTS

FOREIGN = [
    nano, nano_writing, lecture, loss_only, own_names, library, llama_like, pairs_like, t5_like, vit_like, forecaster, window,
    text_net, zeros_at_first, albert, tutorial, shorter, remembers,
]  # fmt: skip


def audited(program):
    """(probe, module) of each finding; a refusal counts as one of the probe "random"."""
    try:
        report = badak.audit(
            program.model,
            (program.args, program.kwargs),
            kind=program.said,
            optimizer=program.optimizers,
            loss=program.loss,
        )
    except BadakError as error:
        return [("random", error.cause.rsplit(" ", 1)[-1])], None, str(error)
    return [(f.probe, f.module) for f in report.findings], report, str(report)


def rows(make, name: str, faults=(), seed: str = "") -> list[dict]:
    """The program as it is, then with each fault; `seed` chooses other places for them."""
    found, report, text = audited(built(make))
    table = [{"program": name, "fault": "", "found": found, "text": text, "kind": report.kind if report else "refused"}]
    before = {(probe, module) for probe, module in found}
    for fault, plant in PLANTS.items():
        if faults and fault not in faults:
            continue
        program = built(make)
        planted = plant(program, Map(program), random.Random(zlib.crc32(f"{name} {fault}{seed}".encode())))
        if planted is None:
            continue
        found, _, text = audited(program)
        new = [pair for pair in found if pair not in before]
        hit, right = judge(planted, new)
        table.append(
            {"program": name, "fault": fault, "found": new, "hit": hit, "right": right, "where": planted.modules,
             "text": text}
        )  # fmt: skip
    return table


def of_client(name: str, faults, seed: str = "") -> list[dict]:
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-m", "tests.inspect.audit.clients", name, seed, *faults]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def table(all_rows: list[dict]) -> str:
    """Faults by programs: ok, where (found elsewhere), MISSED."""
    by: dict = defaultdict(dict)
    for row in all_rows:
        by[row["fault"]][row["program"]] = row
    programs = list(dict.fromkeys(row["program"] for row in all_rows))
    lines = []
    for fault, cells in by.items():
        if fault:
            rows = [cells[p] for p in programs if p in cells]
            bad = [r for r in rows if not r["right"]]
            hit, right = sum(r["hit"] for r in rows), sum(r["right"] for r in rows)
            lines.append(f"{fault:24} {len(rows):3} planted  {hit:3} found  {right:3} in the right module")
            for r in bad:
                lines.append(f"    {r['program']}: {'wrong place' if r['hit'] else 'MISSED'} {r['where']} {r['found']}")
    planted = [row for row in all_rows if row["fault"]]
    if planted:
        hit, right = (sum(row[k] for row in planted) for k in ("hit", "right"))
        lines.append(
            f"{'all':24} {len(planted):3} planted  {hit:3} found ({hit / len(planted):.1%})  "
            f"{right:3} in the right module ({right / len(planted):.1%})"
        )
    for row in all_rows:
        if not row["fault"]:
            lines.append(f"as it is: {row['program']:18} {row['kind']:16} {row['found'] or 'nothing found'}")
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """1 where more than 2 in 100 faults are missed; docs/how-to/audit.md says which those are, and what sound programs show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--own", action="store_true", help="all of badak's own")
    parser.add_argument("--foreign", action="store_true", help="those in other people's styles")
    parser.add_argument("--clients", action="store_true", help="all of others")
    parser.add_argument("--fault", action="append", default=[], choices=list(PLANTS))
    parser.add_argument("--seed", default="", help="a word that chooses other places")
    parser.add_argument("-v", dest="verbose", action="store_true", help="print every report")
    asked = parser.parse_args(words)
    own = [make for make in OWN if make.__name__ in asked.programs or asked.own]
    own += [make for make in FOREIGN if make.__name__ in asked.programs or asked.foreign]
    others = [name for name in clients.NAMES if name in asked.programs or asked.clients]
    if others and clients.why_absent():
        sys.exit(clients.why_absent())
    found = [row for make in own for row in rows(make, make.__name__, asked.fault, asked.seed)]
    for name in others:
        found += of_client(name, asked.fault, asked.seed)
    if asked.verbose:
        for row in found:
            print(f"--- {row['program']}: {row['fault'] or 'as it is'} {row.get('where', '')}\n{row['text']}")
    print(table(found))
    planted = [row["hit"] for row in found if row["fault"]]
    return int(sum(planted) < 0.98 * len(planted))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
