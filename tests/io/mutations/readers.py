"""Every reader of badak: valid files for it, what is changed in them, and how they are read."""

import dataclasses
import enum
import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

import numpy as np
from PIL import Image

import badak
from badak import nn
from badak.data.idx import read_idx
from badak.data.pieces import PieceVocabulary
from badak.data.text import CharVocabulary, Vocabulary, WordVocabulary
from badak.generation.picture import read_picture
from badak.io import safetensors
from badak.io.config import check, option, read_config, to_dict
from tests.io.attacks import objects  # noqa: F401  (its classes are in reach of the changed files)
from tests.io.mutations.changes import as_json, damaged, edited, reassembled
from tests.io.mutations.folders import FOLDERS
from tests.io.mutations.ggufs import GGUF
from tests.io.mutations.programs import invented, rewritten
from tests.io.mutations.runs import RUNS


class Reader(NamedTuple):
    """One reader: samples() gives its valid files, change(sample, chance) a changed one, read(path) its value."""

    samples: Callable[[], list[Any]]
    change: Callable[[Any, Random], bytes]
    read: Callable[[Path], Any]


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings as a run has them."""

    steps: int = option(2000, "updates", unit="steps", at_least=1)
    lr: float = option(1e-3, "learning rate", above=0.0)
    betas: tuple[float, float] = (0.9, 0.999)
    name: str | None = None
    sizes: tuple[int, ...] = (1, 2)
    words: list[str] = dataclasses.field(default_factory=lambda: ["a"])
    extra: dict[str, int] = dataclasses.field(default_factory=lambda: {"k": 1})
    kind: Literal["relu", "gelu"] = "gelu"
    data: Path | None = Path("a")
    more: "Settings | None" = None

    def __post_init__(self) -> None:
        check(self)


class Color(enum.Enum):
    """Stands in files of whole objects."""

    RED = 1


class Net(nn.Module):
    """A model of the program, saved whole."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.act, self.settings = nn.Sequential(nn.Linear(3, 2), nn.ReLU()), nn.functional.relu, Settings()


# .pt files


def _values() -> list[Any]:
    x = badak.arange(12.0).reshape(3, 4)
    return [
        {"w": x, "t": x.t(), "b": badak.tensor([True, False]), "i": badak.arange(3), "e": badak.zeros(0, 2)},
        {
            "state": {0: {"step": badak.tensor(3.0), "m": x}},
            "param_groups": [{"lr": 0.1, "betas": (0.9, 0.99), "params": [0]}],
        },
        nn.Linear(2, 2).state_dict(),
        [
            1,
            -5,
            2**70,
            0.5,
            "text",
            b"bytes",
            (1, (2, "a")),
            {1, 2},
            frozenset([3]),
            None,
            True,
            badak.float16,
            badak.Size([2, 3]),
        ],
        {
            "a": np.arange(6).reshape(2, 3),
            "s": np.float64(0.5),
            "u": np.array(["ab"]),
            "p": nn.Parameter(badak.ones(2)),
        },
    ]


def _saved(value: Any) -> bytes:
    file = io.BytesIO()
    badak.save(value, file)
    return file.getvalue()


def pickle_of(data: bytes) -> tuple[bytes, dict[str, bytes]]:
    """The pickle of a .pt file, and its other records."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    return records.pop("archive/data.pkl"), records


def packed(text: bytes, records: dict[str, bytes]) -> bytes:
    """A .pt file of a pickle and other records."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in {"archive/data.pkl": text, **records}.items():
            archive.writestr(name, data)
    return file.getvalue()


def _change_pickle(data: bytes, chance: Random) -> bytes:
    text, records = pickle_of(data)
    return packed(reassembled(text, chance) if chance.random() < 0.9 else damaged(text, chance), records)


def _programs(values: Callable[[], list[bytes]]) -> list[list[bytes]]:
    """Each file with all the others, which give it parts."""
    files = values()
    return [[one, *files] for one in files]


def _change_program(files: list[bytes], chance: Random) -> bytes:
    text, records = pickle_of(files[0])
    if chance.random() < 0.3:
        return packed(invented(chance), records)
    return packed(rewritten(text, pickle_of(chance.choice(files))[0], chance), records)


def _legacy() -> list[bytes]:
    import torch

    files = []
    for value in (
        {"a": torch.arange(6.0).reshape(2, 3), "n": {"lr": 0.1}},
        [torch.ones(2, dtype=torch.bool), "x", (1, 2)],
    ):
        file = io.BytesIO()
        torch.save(value, file, _use_new_zipfile_serialization=False)
        files.append(file.getvalue())
    return files


def _change_legacy(data: bytes, chance: Random) -> bytes:
    if chance.random() < 0.5:
        return damaged(data, chance)
    stop = data.index(b".", data.index(b"little_endian"))
    end = data.rindex(b"]q") - 2  # before the pickle of the keys
    return data[: stop + 1] + reassembled(data[stop + 1 : end], chance) + data[end:]


def _whole() -> list[bytes]:
    return [_saved(value) for value in (Net(), {"settings": Settings(), "color": Color.RED}, nn.TransformerEncoderLayer(4, 2, 8))]


def _load_strict(path: Path) -> Any:
    return badak.load(path)


def _load_loose(path: Path) -> Any:
    return badak.load(path, weights_only=False)


# safetensors


def _tensors() -> list[bytes]:
    w = badak.arange(6.0)
    return [
        safetensors.save(
            {"w": w.reshape(2, 3), "b": badak.tensor([True]), "h": badak.ones(2, dtype=badak.bfloat16)},
            {"format": "pt"},
        ),
        safetensors.save({"a": w, "tied": w, "e": badak.zeros(0, 3)}),
    ]


def _change_tensors(data: bytes, chance: Random) -> bytes:
    if chance.random() < 0.4:
        return damaged(data, chance)
    length = struct.unpack("<Q", data[:8])[0]
    header = as_json(edited(json.loads(data[8 : 8 + length]), chance), chance)
    return (
        struct.pack("<Q", len(header))
        + header
        + (data[8 + length :] if chance.random() < 0.9 else damaged(data[8 + length :], chance))
    )


# IDX and pictures


def _idx() -> list[bytes]:
    pictures = struct.pack(">BBBBIII", 0, 0, 8, 3, 2, 3, 4) + bytes(range(24))
    return [
        pictures,
        struct.pack(">BBBBI", 0, 0, 0x0D, 1, 5) + struct.pack(">5f", *range(5)),
        struct.pack(">BBBB", 0, 0, 9, 0) + b"\7",
    ]


def _change_gzip(data: bytes, chance: Random) -> bytes:
    if chance.random() < 0.5:
        return gzip.compress(damaged(data, chance), mtime=0)
    return damaged(gzip.compress(data, mtime=0), chance)


def _pictures() -> list[bytes]:
    ink = np.zeros((30, 20, 3), np.uint8)
    ink[5:25, 8:12] = 200
    files = []
    for name in ("PNG", "JPEG", "GIF", "BMP", "WEBP", "PNG"):
        file = io.BytesIO()
        picture = Image.fromarray(ink)
        (picture.convert("P") if len(files) == 5 else picture).save(file, name)
        files.append(file.getvalue())
    return files


def _change_picture(data: bytes, chance: Random) -> bytes:
    changed = damaged(data, chance)
    return _with_checksums(changed) if changed[:4] == b"\x89PNG" and chance.random() < 0.7 else changed


def _with_checksums(data: bytes) -> bytes:
    """A PNG file whose chunks have the checksums that belong to them, so that a decoder looks at what is in them."""
    out, at = data[:8], 8
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        body = data[at + 4 : at + 8 + length]
        out += data[at : at + 4] + body + zlib.crc32(body).to_bytes(4, "big")
        at += 12 + length
    return out + data[at:]


# JSON


def _change_json(value: Any, chance: Random) -> bytes:
    text = as_json(edited(value, chance) if chance.random() < 0.7 else value, chance)
    return text if chance.random() < 0.6 else damaged(text, chance)


def _vocabularies() -> list[Any]:
    return [
        CharVocabulary("abc").to_dict(),
        WordVocabulary.from_texts(["a b"]).to_dict(),
        PieceVocabulary.from_text("to be or not to be", 10).to_dict(),
    ]


def _read_vocabulary(path: Path) -> Vocabulary:
    for kind in (WordVocabulary, PieceVocabulary):
        try:
            return kind.load(path)
        except badak.core.errors.FileError:
            continue
    return CharVocabulary.load(path)


# traced programs


def _programs_of_jit() -> list[bytes]:
    badak.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2, 3), nn.GELU(), nn.LayerNorm(3)).eval()
    attention = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    found = []
    for module, x in ((net, badak.ones(2, 1, 4, 4)), (attention, badak.ones(2, 3, 4)), (nn.LSTM(2, 3), badak.ones(4, 2, 2))):
        file = io.BytesIO()
        badak.jit.trace(module, x).save(file)
        found.append(file.getvalue())
    return found


def _change_program_of_jit(data: bytes, chance: Random) -> bytes:
    if chance.random() < 0.2:
        return _change_tensors(data, chance)
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    program = json.loads(header["__metadata__"]["badak.program"])
    for _ in range(chance.randint(1, 3)):
        program = edited(program, chance)
    header["__metadata__"]["badak.program"] = as_json(program, chance).decode("utf-8", "surrogatepass")
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def _load_program(path: Path) -> Any:
    loaded = badak.jit.load(path)
    signature = loaded.__dict__["_signature"]
    sizes = [[3 if isinstance(n, str) else min(n, 9) for n in shape] for shape in signature.shapes]
    return loaded.run(*(badak.ones(shape, dtype=kind) for shape, kind in zip(sizes, signature.dtypes)))


READERS: dict[str, Reader] = {
    "jit": Reader(_programs_of_jit, _change_program_of_jit, _load_program),
    "pt": Reader(lambda: [_saved(value) for value in _values()], damaged, _load_strict),
    "pickle": Reader(lambda: [_saved(value) for value in _values()], _change_pickle, _load_strict),
    "legacy": Reader(_legacy, _change_legacy, _load_strict),
    "whole": Reader(_whole, _change_pickle, _load_loose),
    "opcodes": Reader(lambda: _programs(lambda: [_saved(value) for value in _values()]), _change_program, _load_strict),
    "opcodes-whole": Reader(lambda: _programs(_whole), _change_program, _load_loose),
    "safetensors": Reader(_tensors, _change_tensors, safetensors.load_file),
    "idx": Reader(_idx, damaged, read_idx),
    "gzip": Reader(_idx, _change_gzip, read_idx),
    "picture": Reader(_pictures, _change_picture, read_picture),
    "config": Reader(lambda: [to_dict(Settings(more=Settings()))], _change_json, lambda path: read_config(path, Settings)),
    "vocabulary": Reader(_vocabularies, _change_json, _read_vocabulary),
    **{name: Reader(*parts) for name, parts in (RUNS | FOLDERS | GGUF).items()},
}


def touch(value: Any, seen: set[int] | None = None) -> None:
    """Read every number of a value: memory that is not there would be found."""
    seen = set() if seen is None else seen
    waiting: Iterator | list = [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if issubclass(type(one), badak.Tensor):
            bytes(np.ascontiguousarray(one.detach()._array).reshape(-1).view(np.uint8)[:65536])
        elif type(one) is np.ndarray:
            one.tobytes()[:1]
        elif issubclass(type(one), dict):
            waiting += [*one.keys(), *one.values()]
        elif issubclass(type(one), (list, tuple, set, frozenset)):
            waiting += list(one)
        elif issubclass(type(one), nn.Module):
            waiting += [vars(one), one.state_dict()]
