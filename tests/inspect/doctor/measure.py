"""How many planted faults the doctor finds: `python -m tests.inspect.doctor.measure [program ...]`, badak's and those of others.

A fault counts as found where its diagnosis is the only one; any other diagnosis is a false alarm.
"""

import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import badak
from badak.core.errors import BadakWarning, GraphError
from tests.inspect.doctor import clients
from tests.inspect.doctor.plants import PLANTS
from tests.inspect.doctor.programs import OWN, built


def rows(make) -> list[tuple[str, str, list[str]]]:
    """(fault, the code that was planted, the codes that were found); the training as it is has no fault and no code."""
    table = []
    for fault, plant in {"": lambda training: "", **PLANTS}.items():
        training = built(make)
        code = plant(training)
        if code is None:
            continue
        visit = badak.doctor(20, quiet=True)
        with suppress(GraphError), warnings.catch_warnings(), visit:
            warnings.simplefilter("ignore", BadakWarning)
            training.run(21)
        table.append((fault, code, [finding.code for finding in visit.checkup.findings]))
    return table


def main(asked: list[str]) -> int:
    """1 where a fault is missed or anything else is said."""
    planted = found = alarms = 0
    for make in OWN:
        if asked and make.__name__ not in asked:
            continue
        for fault, code, codes in rows(make):
            planted, found = planted + bool(code), found + (bool(code) and code in codes)
            alarms += len([each for each in codes if each != code])
            if codes != [code] * bool(code):
                print(f"{make.__name__}: {fault or 'as it is'}: planted {code or 'nothing'}, found {codes}")
    others = [name for name in (*clients.NAMES, *clients.SCRIPTS) if name in asked or not asked]
    for name in others if not clients.why_absent() else ():
        command = [sys.executable, "-m", "tests.inspect.doctor.clients", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3])
        print((done.stdout.strip().splitlines() or [done.stderr[-300:]])[-1][:200])
    print(f"{planted} planted, {found} found, {alarms} false alarms")
    return int(found < planted or alarms > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
