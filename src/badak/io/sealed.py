"""JSON that carries its own checksum: a byte that changed is noticed, wherever it stands.

{
 "step": 12,
 "sha256": "..."        of all bytes before it
}
"""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from badak.core.errors import FileError, tr
from badak.io.atomic import open_file, read_small, unreadable
from badak.io.errors import reason

_MARK, _END = b',\n "sha256": "', b'"\n}\n'
_SURROGATE = re.compile("[\ud800-\udfff]")  # of a path that is not UTF-8


def seal(table: dict[str, Any]) -> bytes:
    """The table as JSON (UTF-8), its checksum the last key."""
    text = json.dumps(table, indent=1, ensure_ascii=False, allow_nan=False)
    text = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    body = text.removesuffix("\n}").encode() + _MARK
    return body + hashlib.sha256(body).hexdigest().encode() + _END


def unseal(path: str | os.PathLike, fix: str) -> dict[str, Any]:
    """The table that `seal` wrote to `path`. Raises FileError, with `fix`, for anything else."""
    data = read_small(path)
    body, mark, end = data.rpartition(_MARK)
    if not mark or not end.endswith(_END):
        raise FileError(tr("{}: damaged, or not written by badak: it does not end with its checksum", path), fix)
    if hashlib.sha256(body + mark).hexdigest().encode() != end.removesuffix(_END):
        raise FileError(tr("{}: damaged or edited: its SHA-256 differs", path), fix)
    try:
        table = json.loads(body + b"\n}")
    except (ValueError, RecursionError) as error:
        raise FileError(tr("{}: damaged: not JSON ({})", path, reason(error)), fix) from error
    if not isinstance(table, dict):
        raise FileError(tr("{}: damaged: not a table", path), fix)
    return table


def mismatch(path: Path, said: dict[str, Any]) -> str | None:
    """How a file differs from the bytes and the sha256 that sealed JSON says of it; None where it is the one."""
    try:
        size = path.stat().st_size
        if size != said["bytes"]:
            return tr("it has {} bytes instead of {}", size, said["bytes"])
        with open_file(path) as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == said["sha256"]
    except OSError as error:
        raise unreadable(path, error) from error
    return None if same else tr("its SHA-256 differs")
