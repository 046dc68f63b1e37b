"""The format of PyTorch before 1.6: several pickles, one after the other, then the bytes of the storages.

a magic number, the version 1001, {"little_endian": ...}, the object, the list of the storages' keys,
and for each key: how many numbers (int64), then the numbers
"""

import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from badak.core.errors import NotSupportedError, tr
from badak.io.errors import damaged, line, shown
from badak.io.pickler import Pickler
from badak.io.placing import Placing
from badak.io.storage import UNTYPED, Storage, described
from badak.io.unpickler import Unpickler
from badak.tensor import Tensor

MAGIC = 0x1950A86A20F9469CFC6C
VERSION = 1001
FIRST = b"\x8a\x0a" + MAGIC.to_bytes(10, "little")  # after the protocol, and the length of a frame


SYSTEM = {"protocol_version": VERSION, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}


def legacy_parts(obj: Any, placing: Placing) -> Iterator[Callable[[Any], object]]:
    """What writes a file of this format, part by part, into a file. `placing` has seen the object."""
    counts: dict[str, int] = {}

    def place(tensor: Tensor) -> tuple[str, str, int, int, tuple[int, ...]]:
        found = placing.place(tensor)
        if found[1] == UNTYPED:
            cause = tr("save: the format before PyTorch 1.6 has no {}", tensor.dtype.name)
            raise NotSupportedError(cause, "leave _use_new_zipfile_serialization out")
        counts[found[0]] = found[2]
        return found

    texts = [Pickler(place, (None,)).dump(part) for part in (MAGIC, VERSION, SYSTEM, obj)]
    yield lambda file: file.write(b"".join([*texts, Pickler(place).dump(list(counts))]))
    fills = {key: fill for key, fill, _ in placing.storages()}
    for key, count in counts.items():
        yield partial(_write_count, count)
        yield fills[key]


def _write_count(count: int, file: Any) -> None:
    file.write(count.to_bytes(8, "little"))


def is_legacy(first: bytes) -> bool:
    """Whether a file that begins with these bytes is of that format."""
    return first[:1] == b"\x80" and FIRST in first[:24]


def load_legacy(
    file: io.BytesIO, where: str, find: Callable, restore: Callable[[Storage], Storage], more: bool = False, encoding: str = "utf-8"
) -> Any:
    """The object in a file of the old format, which is read to its end; with `more`, something else may follow."""
    storages: dict[str, Storage] = {}
    parts: dict[str, Storage] = {}
    spare = [file.getbuffer().nbytes]

    def persistent(said: Any) -> Any:
        if encoding == "bytes" and type(said) is tuple:
            said = tuple(each.decode("ascii", "replace") if type(each) is bytes else each for each in said)
        dtype, key, location, count, part = described(said, where)
        if key not in storages:
            spare[0] -= count * dtype.itemsize
            if spare[0] < 0:
                raise damaged(where, tr("storage '{}' claims {:,} numbers, more than the file has", line(key), count))
            storages[key] = restore(Storage(np.empty(count * dtype.itemsize, np.uint8), dtype, location, where))
        if part is None:
            return storages[key]
        if part[0] not in parts:
            parts[part[0]] = _part(storages[key], dtype, *part[1:])
        return parts[part[0]]

    def refuse(*said: Any) -> Any:
        raise damaged(where, tr("a name or a storage outside the object"))

    magic, version, system = (Unpickler(file, where, refuse, refuse).load() for _ in range(3))
    if type(magic) is not int or magic != MAGIC or type(version) is not int or version != VERSION or type(system) is not dict:
        raise damaged(where, tr("version {} of the old format; badak reads {}", shown(version), VERSION))
    little = system.get("little_endian", True)
    if type(little) is not bool:
        raise damaged(where, tr("the byte order {}", shown(little)))
    reader = Unpickler(file, where, find, persistent)
    reader.encoding = encoding
    made = reader.load()
    first = min(reader.memo, default=0)  # 1 where Python 2 wrote it
    if first > 1 or list(reader.memo) != list(range(first, first + len(reader.memo))):  # Python numbers what it writes in turn
        raise damaged(where, tr("bytes are missing from its pickle: what it numbers is not numbered in turn"))
    keys = Unpickler(file, where, refuse, refuse).load()
    if type(keys) is not list or not all(type(key) is str for key in keys) or sorted(keys) != sorted(storages):
        raise damaged(where, tr("its table of storages is not that of its object"))
    for key in keys:
        _fill(file, storages[key], key, little, where)
    if not more and file.read(1):
        raise damaged(where, tr("bytes at its end belong to no storage"))
    return made


def _part(storage: Storage, dtype: Any, offset: int, count: int) -> Storage:
    """A part of a storage, which sees the same memory."""
    start, end = offset * dtype.itemsize, (offset + count) * dtype.itemsize
    if end > storage.raw.nbytes:
        raise damaged(storage.where, tr("a part of a storage ends at byte {:,} of {:,}", end, storage.raw.nbytes))
    made = Storage(storage.raw[start:end], dtype, storage.location, storage.where, storage.has_data)
    storage.when_filled.append(lambda: [finish() for finish in made.when_filled])
    return made


def _fill(file: io.BytesIO, storage: Storage, key: str, little: bool, where: str) -> None:
    count = int.from_bytes(file.read(8), "little" if little else "big")
    if count != storage.size():
        raise damaged(where, tr("storage '{}' has {:,} numbers, and its tensors speak of {:,}", line(key), count, storage.size()))
    if file.readinto(storage.raw.data) != storage.raw.nbytes:
        raise damaged(where, tr("storage '{}' is cut short", line(key)))
    if not little:
        swap(storage)
    storage.check()
    for finish in storage.when_filled:
        finish()


def swap(storage: Storage) -> None:
    """Turn the bytes of each number around, in place."""
    width = storage.dtype.itemsize // (2 if storage.dtype.is_complex else 1)
    if width > 1:
        storage.raw.view(f"u{width}").byteswap(inplace=True)
