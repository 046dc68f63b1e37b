"""Text files as they come: plain or gzip, alone or in folders, read a piece at a time."""

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from badak.core.errors import FileError, tr
from badak.core.public_api import guard_names as _guard_names
from badak.data import validation
from badak.io.atomic import as_path, open_file, unreadable

ENDINGS = (".txt", ".text", ".md")  # of the files that are taken from a folder, each also with .gz
BLOCK = 1 << 20  # bytes that are read at a time
FACTOR, SPARE = 200, 1 << 24  # bytes that a compressed file may become: for each of its own, and besides

_NO_TEXT = {  # how a file begins: what it is, and what to do with it
    b"BZh": ("compressed by bzip2", "bunzip2 --keep it, and give what comes out"),
    b"\xfd7zXZ": ("compressed by xz", "unxz --keep it, and give what comes out"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "unzstd it, and give what comes out"),
    b"PK\x03\x04": ("a zip file (as .docx and .epub are, too)", "unzip it, or save it as plain text"),
    b"%PDF": ("a PDF", "save it as plain text"),
    b"\xff\xfe": ("UTF-16", "save it as UTF-8"),
    b"\xfe\xff": ("UTF-16", "save it as UTF-8"),
}


def text_files(paths: Iterable[str | os.PathLike]) -> tuple[list[Path], int]:
    """The files themselves and, of folders, all text files within, sorted by name; and how many others were left out there.

    FileError for what is not there, and for a folder without a text file.
    """
    found: list[Path] = []
    left = 0
    for path in map(as_path, validation.several("text_files", paths, tr("a list of paths"), "text_files(['books'])")):
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(one for one in path.rglob("*") if one.is_file())
        texts = [one for one in inside if one.name.removesuffix(".gz").endswith(ENDINGS)]
        if not texts:
            endings = ", ".join(ENDINGS)
            cause = tr("{}: no file in it ends with {}, or one of these and .gz", path, endings)
            raise FileError(cause, "name the files one by one")
        left += len(inside) - len(texts)
        found += texts
    return found, left


def read_text(path: str | os.PathLike) -> str:
    """The text of a UTF-8 file, also a gzipped one; of a folder, that of its text files one after the other. Line ends are \\n.

    FileError where it is absent, damaged or not UTF-8: it names the file and the place.
    """
    files = text_files([path])[0]
    return "".join(piece for file in files for piece in read_pieces(file))


def read_pieces(path: str | os.PathLike) -> Iterator[str]:
    """The text of one file as it comes, in pieces of about a million characters."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    lines = io.IncrementalNewlineDecoder(None, translate=True)
    begun, position = b"", 0
    for block in _blocks(path):
        begun = begun or block[:8]
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            at = position - (len(error.object) - len(block)) + error.start
            where = (f"byte {at} is {error.object[error.start]:#04x}", "save it as UTF-8")
            what, fix = next((said for start, said in _NO_TEXT.items() if begun.startswith(start)), where)
            raise FileError(tr("{}: not UTF-8 text: {}", path, what), fix) from error
        position += len(block)
        text = lines.decode(text, final=not block)
        if text:
            yield text


def _blocks(path: str | os.PathLike) -> Iterator[bytes]:
    """The bytes of a file, unpacked where it is gzip; an empty block at its end."""
    try:
        with open_file(path) as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            source: Any = gzip.GzipFile(fileobj=file) if packed else file
            room = FACTOR * os.fstat(file.fileno()).st_size + SPARE
            while block := source.read(BLOCK):
                room -= len(block)
                if packed and room < 0:
                    cause = tr("{}: becomes more than {} times as large when it is unpacked", path, FACTOR)
                    raise FileError(cause, "gunzip --keep it yourself")
                yield block
            yield b""
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(tr("{}: a damaged gzip file ({})", path, error), "copy or download it again") from error
    except OSError as error:
        raise unreadable(path, error) from error


_guard_names(globals(), __name__)
