"""The files of a model's folder: tensors in safetensors files, or in PyTorch's .bin, and tables next to them."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from badak.core.errors import FileError, tr
from badak.io import config, pt, safetensors
from badak.io.atomic import make_folder, write_file
from badak.io.errors import line, shown
from badak.tensor import Tensor

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
OLD_WEIGHTS, OLD_INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"
BESIDE = ("*.json", "*.txt", "*.jinja", "*.spm")  # settings, tokenizers, chat templates
SHARD = 5_000_000_000  # bytes of a file at most


def read_tensors(place: Path) -> dict[str, Tensor]:
    """All tensors of a folder, by their names there: one safetensors file, several with an index, or PyTorch's .bin."""
    for name, index, read in ((WEIGHTS, INDEX, safetensors.load_file), (OLD_WEIGHTS, OLD_INDEX, _read_bin)):
        if (place / name).is_file():
            return read(place / name)
        if (place / index).is_file():
            tensors: dict[str, Tensor] = {}
            for file in _shards(place / index):
                if not (place / file).is_file():
                    cause = tr("{}: is missing, and {} names it", place / file, index)
                    raise FileError(cause, "copy or download the whole folder again")
                tensors.update(read(place / file))
            return tensors
    raise FileError(tr("{}: no {} and no {}", place, WEIGHTS, OLD_WEIGHTS), "copy or download the whole folder again")


def _shards(index: Path) -> list[str]:
    """The files that an index names, each of them next to it."""
    read = config.read_json(index)
    table = read.get("weight_map") if isinstance(read, dict) else None
    if not isinstance(table, dict) or not all(isinstance(file, str) for file in table.values()):
        raise FileError(tr("{}: expected weight_map, a table of tensors and files", index), "copy or download it again")
    files = sorted(set(table.values()))
    outside = next((file for file in files if Path(file).name != file or file in ("", ".", "..")), None)
    if outside is not None:
        raise FileError(tr("{}: names {}, which is no file of this folder", index, shown(outside)), "copy or download it again")
    return files


def _read_bin(path: Path) -> dict[str, Tensor]:
    read = pt.load(path, weights_only=True)
    if not isinstance(read, dict) or not all(isinstance(name, str) and isinstance(x, Tensor) for name, x in read.items()):
        raise FileError(tr("{}: expected a table of tensors; got {}", path, type(read).__name__), "copy or download it again")
    for name, x in read.items():
        if x.numel() * x.element_size() > x.untyped_storage().nbytes():
            raise FileError(tr("{}: {} says the same numbers again and again", path, line(name)), "copy or download it again")
    return dict(read)


def json_bytes(said: Any) -> bytes:
    return (json.dumps(said, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def write_folder(place: Path, files: Mapping[str, bytes], tensors: dict[str, Tensor], shard: int) -> None:
    for name, data in files.items():
        make_folder(place, os.path.dirname(name))
        write_file(place / name, lambda file, data=data: file.write(data))  # type: ignore[misc]
    _write_tensors(place, tensors, shard)


def _write_tensors(place: Path, tensors: dict[str, Tensor], shard: int) -> None:
    parts: list[dict[str, Tensor]] = [{}]
    room = shard
    for name, x in tensors.items():
        size = x.numel() * x.element_size()
        if parts[-1] and size > room:
            parts.append({})
            room = shard
        parts[-1][name], room = x, room - size
    single = len(parts) == 1
    files = [WEIGHTS if single else f"model-{at:05}-of-{len(parts):05}.safetensors" for at in range(1, len(parts) + 1)]
    for file, part in zip(files, parts):
        safetensors.save_file(part, place / file, {"format": "pt"})
    if not single:
        size = sum(x.numel() * x.element_size() for x in tensors.values())
        table = {name: file for file, part in zip(files, parts) for name in part}
        index = json_bytes({"metadata": {"total_size": size}, "weight_map": table})
        write_file(place / INDEX, lambda file: file.write(index))
    for old in {WEIGHTS, INDEX} - {*files, *([] if single else [INDEX])}:  # what an earlier save left would be read first
        (place / old).unlink(missing_ok=True)
