"""The zip archive of a .pt file: named records of bytes, uncompressed.

    NAME/data.pkl           the pickle          NAME/byteorder        "little" or "big"
    NAME/data/0, 1, ...     the storages        NAME/version          "3"

Nothing is unpacked to the disk: a record's name is only ever looked up. A record must be stored as it is (a compressed one could
grow without limit), lie inside the file under the name and size that the archive's table gives it, share no byte with another
one, and have the CRC of that table (0 where its writer was told not to compute it). A record that is mapped is not read, so
its CRC is not checked.
"""

import io
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from badak.core.errors import ArgumentTypeError, FileError, tr
from badak.io.atomic import open_file, write_file
from badak.io.errors import damaged, line, reason

ALIGNMENT = 64  # bytes, so that storages can be mapped into memory
LOCAL_HEADER = 30
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same values always give the same bytes
LARGE = 1 << 31
BLOCK = 1 << 20


class Archive:
    """The records of an open zip file."""

    def __init__(self, file: BinaryIO, where: str, mapped: str | os.PathLike | None = None, any_records: bool = False) -> None:
        self.file, self.where, self.mapped = file, where, mapped
        try:
            with zipfile.ZipFile(file) as opened:
                entries = opened.infolist()
        except Exception as error:  # zipfile's parser raises whatever it stumbles over
            raise damaged(
                where, tr("its zip archive cannot be read; failed finding central directory ({}): is it cut short?", reason(error))
            ) from error
        file.seek(0, io.SEEK_END)
        self.size = file.tell()
        self.entries = {entry.filename: entry for entry in entries}
        if len(self.entries) < len(entries):
            raise damaged(where, tr("its archive names a record twice"))
        for entry in entries:
            self._check(entry)
        self.starts = self._starts(entries)
        self.prefix = entries[0].filename.partition("/")[0] + "/" if any_records and entries else self._prefix()

    def _prefix(self) -> str:
        if any(name.endswith("/constants.pkl") for name in self.entries):
            cause = tr("{}: a TorchScript archive (of torch.jit.save), which holds code", self.where)
            raise FileError(cause, "in PyTorch: torch.save(torch.jit.load(path).state_dict(), other_path)")
        found = [name for name in self.entries if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(found) != 1:
            raise damaged(self.where, tr("its archive has {} records 'NAME/data.pkl', not one", len(found)))
        return found[0].removesuffix("data.pkl")

    def __contains__(self, name: str) -> bool:
        return self.prefix + name in self.entries

    def bytes_of(self, name: str) -> int:
        """The size of a record."""
        return self._entry(name).file_size

    def read(self, name: str, may_map: bool = False) -> np.ndarray:
        """The bytes of a record as uint8, writable. may_map: mapped copy-on-write where the archive was opened so."""
        entry = self._entry(name)
        start = self.starts[entry.filename]
        if may_map and self.mapped is not None and entry.file_size and start % ALIGNMENT == 0:  # kernels want aligned numbers
            return np.asarray(np.memmap(self.mapped, np.uint8, "c", start, (entry.file_size,)))
        raw = np.empty(entry.file_size, np.uint8)
        self.file.seek(start)
        at = 0
        while at < raw.nbytes:  # a file without a buffer gives at most 2 GiB at once
            got = self.file.readinto(raw.data[at:])  # type: ignore[attr-defined]
            if not got:
                raise damaged(self.where, tr("its record '{}' is cut short", line(entry.filename)))
            at += got
        if entry.CRC and zlib.crc32(raw.data) != entry.CRC:
            raise damaged(self.where, tr("the bytes of its record '{}' have changed (their CRC differs)", line(entry.filename)))
        return raw

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = self.entries.get(self.prefix + name)
        if entry is None:
            raise damaged(self.where, tr("its archive has no record '{}'", line(self.prefix + name)))
        return entry

    def _check(self, entry: zipfile.ZipInfo) -> None:
        name = entry.filename
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
            cause = tr("{}: its record '{}' is compressed, which torch.save never does", self.where, line(name))
            raise FileError(cause, "unpack it and pack it again with: zip -0 -r")
        if entry.flag_bits & 1:
            raise damaged(self.where, tr("its record '{}' is encrypted", line(name)))
        if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/"):
            raise damaged(self.where, tr("its record '{}' is named outside the archive", line(name)))

    def _starts(self, entries: list[zipfile.ZipInfo]) -> dict[str, int]:
        """Where the bytes of each record begin. No two records share a byte."""
        end, starts = 0, {}
        for entry in sorted(entries, key=lambda entry: entry.header_offset):
            if entry.header_offset < end:
                raise damaged(self.where, tr("its record '{}' shares bytes with another one", line(entry.filename)))
            starts[entry.filename] = self._start(entry)
            end = starts[entry.filename] + entry.file_size
        return starts

    def _start(self, entry: zipfile.ZipInfo) -> int:
        """Where a record's bytes begin, from its local header, which must tell what the table tells."""
        name_shown = line(entry.filename)
        if not 0 <= entry.header_offset < self.size:
            raise damaged(self.where, tr("its record '{}' lies outside the file", name_shown))
        self.file.seek(entry.header_offset)
        header = self.file.read(LOCAL_HEADER)
        if len(header) < LOCAL_HEADER or header[:4] != b"PK\x03\x04":
            raise damaged(self.where, tr("its record '{}' is not where the archive says", name_shown))
        length, extra = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
        name = self.file.read(length)
        if name != entry.orig_filename.encode("utf-8" if entry.flag_bits & 0x800 else "cp437", "replace"):
            raise damaged(self.where, tr("its record '{}' has another name where it lies", name_shown))
        start = entry.header_offset + LOCAL_HEADER + length + extra
        if start + entry.file_size > self.size:
            raise damaged(self.where, tr("its record '{}' ends after the file does: it is cut short", name_shown))
        return start


def write_archive(file: BinaryIO, name: str, records: list[tuple[str, Callable[[Any], object], int]]) -> None:
    """Write records (name, fill(file), size in bytes) as an uncompressed archive, each aligned as PyTorch does."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for record, fill, size in records:
            entry = zipfile.ZipInfo(f"{name}/{record}", EPOCH)
            large = size >= LARGE
            begins = archive.start_dir + LOCAL_HEADER + len(entry.filename.encode()) + 4 + 20 * large
            padding = -begins % ALIGNMENT
            entry.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
            entry.file_size = size
            with archive.open(entry, "w", force_zip64=large) as target:
                fill(target)


def write_to(f: Any, write: Callable[[Any], object]) -> None:
    """Let `write(file)` fill a path, or a binary file, which need not be able to seek."""
    if isinstance(f, str | os.PathLike):
        write_file(f, write)
    elif hasattr(f, "write"):
        whole = io.BytesIO() if not getattr(f, "seekable", lambda: False)() else f
        write(whole)
        if whole is not f:
            f.write(whole.getbuffer())
        getattr(f, "flush", lambda: None)()  # a file of somebody's own may wait for it, as for PyTorch's
    else:
        cause = tr("save: expected 'f' to be a path or a file with a write method; got {}", type(f).__name__)
        raise ArgumentTypeError(cause, "badak.save(obj, 'model.pt')")


def record(name: str, data: bytes) -> tuple[str, Callable[[Any], object], int]:
    """A record of these bytes, as `write_archive` takes it."""
    return name, lambda file: file.write(data), len(data)


def zeros(size: int) -> Callable[[Any], object]:
    """What fills a record with so many bytes of 0."""

    def fill(file: Any) -> None:
        for at in range(0, size, BLOCK):
            file.write(bytes(min(BLOCK, size - at)))

    return fill


class PyTorchFileReader:
    """The records of an archive, by their names: `get_record("data.pkl")`.

    name_or_buffer: a path, or a binary file that can seek.
    """

    def __init__(self, name_or_buffer: Any) -> None:
        path = isinstance(name_or_buffer, str | os.PathLike)
        self._opened = open_file(name_or_buffer) if path else None
        where = str(name_or_buffer) if path else f"<{type(name_or_buffer).__name__}>"
        self._archive = Archive(self._opened or name_or_buffer, where, any_records=True)

    def get_record(self, name: str) -> bytes:
        """The bytes of a record."""
        return self._archive.read(name).tobytes()

    def has_record(self, name: str) -> bool:
        """Whether there is one of this name."""
        return name in self._archive

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return [name.removeprefix(self._archive.prefix) for name in self._archive.entries]

    def close(self) -> None:
        """Close the file, where it was opened here."""
        if self._opened is not None:
            self._opened.close()


class PyTorchFileWriter:
    """An archive that is written record by record: `write_record("data.pkl", text, len(text))`, `write_end_of_file()`.

    name_or_buffer: a path, or a binary file.
    """

    def __init__(self, name_or_buffer: Any) -> None:
        self._to, self._records = name_or_buffer, [record("version", b"3\n")]

    def write_record(self, name: str, data: Any, size: int) -> None:
        """Add the first `size` bytes of `data` under this name."""
        self._records.append(record(name, bytes(data[:size])))

    def write_end_of_file(self) -> None:
        """Write the file."""
        name = "archive" if hasattr(self._to, "write") else Path(self._to).name.partition(".")[0] or "archive"
        write_to(self._to, lambda file: write_archive(file, name, self._records))
