"""A summary for a lecturer: which exercises were done, with the programs themselves, and a hash over all of it.

The hash shows that a file was not changed since it was written. It is no signature: whoever changes the file can compute it
again, and a program may be somebody else's. What the programs do shows only when they are checked again (`again`).
"""

import hashlib
import json
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from badak.cli.course.check import Verdict
from badak.cli.course.course import COURSE, Folder
from badak.cli.course.run import run
from badak.core.errors import FileError, tr
from badak.core.public_api.version import version
from badak.io.atomic import new_file, read_small

FORMAT = "badak learn report 1"
COUNTS = ("attempts", "hints", "solution")
KINDS = {"exercise": str, "name": str, "done": bool, "when": str, "program": str, **dict.fromkeys(COUNTS, int)}  # of a row


def report(folder: Folder, name: str) -> dict[str, Any]:
    """The summary of a learner's folder.

    Args:
        folder: of the learner
        name: of the learner, as the lecturer knows it

    Returns: what `json.dump` takes, with "sha256" over the rest
    """
    rows = []
    for exercise in COURSE.values():
        file = folder.file(exercise)
        if file.is_file():
            known = folder.of(exercise)
            rows.append({
                "exercise": f"{exercise.number:02}", "name": exercise.name, "done": folder.is_done(exercise),
                "when": known.get("when", ""), "program": read_small(file).decode("utf-8", "replace"),
                **{key: known.get(key, 0) for key in COUNTS},
            })  # fmt: skip
    made = {"format": FORMAT, "badak": version(), "name": name, "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "exercises": len(COURSE), "done": sum(row["done"] for row in rows), "rows": rows}  # fmt: skip
    return made | {"sha256": sealed(made)}


def sealed(made: dict[str, Any]) -> str:
    """SHA-256 over a report without its hash."""
    rest = {key: value for key, value in made.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def read(path: str | Path) -> dict[str, Any]:
    """A report from a file.

    Raises:
        FileError: it is no report, or it was changed after it was written
    """
    file = Path(path)
    data = read_small(file)
    try:
        made = json.loads(data.decode("utf-8-sig"))
    except ValueError:
        made = None
    kind = made.get("format") if isinstance(made, dict) else None
    if isinstance(kind, str) and kind != FORMAT and kind.startswith(FORMAT.rpartition(" ")[0]):
        cause = tr("{}: {}, and this badak reads {}", file, kind, FORMAT)
        raise FileError(cause, tr("verify it with the badak that wrote it: {}", made.get("badak")))
    if kind != FORMAT:
        raise FileError(tr("{}: not a report of badak learn", file), "badak learn report writes one")
    if made.get("sha256") != sealed(made):
        cause = tr("{}: changed after it was written: its hash differs", file)
        raise FileError(cause, "ask for the file that badak learn report wrote")
    what = forged(made)
    if what:
        cause = tr("{}: written by somebody else than badak learn: {}", file, what)
        raise FileError(cause, "ask for the file that badak learn report wrote")
    return made


def forged(made: dict[str, Any]) -> str:
    """What no report of badak has in it, though its hash is right; "" where nothing is. A sentence in English."""
    rows = made.get("rows")
    if any(not isinstance(made.get(key), str) for key in ("badak", "name", "written")) or not isinstance(rows, list):
        return tr("fields are missing")
    for row in rows:
        if not isinstance(row, dict) or any(type(row.get(key)) is not kind for key, kind in KINDS.items()):
            return tr("a row lacks fields")
        if min(row[key] for key in COUNTS) < 0 or (row["done"] and not row["attempts"]):
            return tr("exercise {} has counts that cannot be", row["exercise"])
    numbers = [row["exercise"] for row in rows]
    course = [f"{number:02}" for number in COURSE] if made["badak"] == version() else filter(str.isdecimal, numbers)
    if numbers != sorted({*numbers} & {*course}):
        return tr("its exercises are not those of the course, each once")
    if made.get("done") != sum(row["done"] for row in rows):
        return tr("its sum is not that of its rows")
    return ""


def again(made: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Verdict]]:
    """Each row with the verdict of a new check of its program on this machine. The programs are run: they are other people's."""
    with tempfile.TemporaryDirectory() as folder:
        for row in made["rows"]:
            exercise = COURSE.get(int(row["exercise"]))
            if exercise is not None:
                file = Path(folder) / exercise.file
                with new_file(file) as stream:
                    stream.write(row["program"].encode("utf-8", "replace"))
                yield row, run(exercise, file)
