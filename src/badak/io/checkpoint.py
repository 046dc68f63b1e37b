"""The state of a run in a folder, so that a resumed run equals an uninterrupted one bit for bit.

    model.safetensors        the model's tensors, readable by any safetensors program
    optimizer.safetensors    every other tensor: moments, generator state, ...
    state.json               step, counters, settings; size and SHA-256 of the two files, and its own SHA-256

Two steps are never mixed. The tensors are first written next to the old ones, as `*.safetensors.new`; renaming `state.json`
into place is the one moment at which the new state begins to count; then the `.new` files take their names. Whenever that is
interrupted, `state.json` says by their hashes which files belong to it, and `load` finds them under either name.
No pickle is written or read, and no file is read whose hash is not the one that was written.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from badak.core.errors import FileError, tr
from badak.io import safetensors, values
from badak.io.atomic import as_path, make_folder, sync_folder, unwritable, write_file
from badak.io.sealed import mismatch, seal, unseal
from badak.tensor import Tensor

INDEX = "state.json"
MODEL = "model.safetensors"
OPTIMIZER = "optimizer.safetensors"
FORMAT = "badak checkpoint 2"
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Everything that a run needs to go on. Values are numbers, texts, lists, tuples, dicts and tensors, nested as needed."""

    step: int  # updates made so far
    model: Mapping[str, Tensor]  # a state_dict: the weights that answer
    trained: Any = None  # the weights that are being trained, by name, where the model's are others: an average, or the best so far
    average: Any = None  # the average of the trained weights, where `model` is neither of them
    best: Any = None  # which evaluation was the best one, and how long ago
    optimizer: Any = None  # an optimizer's state_dict
    scheduler: Any = None  # a schedule's state_dict
    generator: Any = None  # the random generator's state
    data: Any = None  # the position in the data
    counters: Mapping[str, Any] = field(default_factory=dict)  # tokens seen, best loss, ...
    origin: Mapping[str, Any] = field(default_factory=dict)  # what else the state belongs to: settings, data, history


PARTS = tuple(one.name for one in fields(Checkpoint) if one.name not in ("step", "model"))


def save(folder: str | os.PathLike, checkpoint: Checkpoint) -> None:
    """Make `checkpoint` the state of `folder` (made if absent), replacing the one before.

    Raises ArgumentError for a value that JSON cannot hold, FileError where the folder cannot be written.
    """
    folder = make_folder(folder)
    finish(folder)
    tensors: dict[str, Any] = {}
    state = {part: values.encode(getattr(checkpoint, part), tensors.__setitem__, part) for part in PARTS}
    step = {"step": str(checkpoint.step)}
    index = {
        "format": FORMAT,
        "step": checkpoint.step,
        "state": state,
        "files": {
            MODEL: _write_new(folder / MODEL, checkpoint.model, step),
            OPTIMIZER: _write_new(folder / OPTIMIZER, tensors, step),
        },
    }
    text = seal(index)
    write_file(folder / INDEX, lambda file: file.write(text))
    finish(folder)


def load(folder: str | os.PathLike) -> Checkpoint:
    """The state of `folder`, after checking that every file is the one that was written with it.

    Raises FileError naming the file that is absent, damaged or of another step.
    """
    return _with_index(as_path(folder), _load)


def load_model(folder: str | os.PathLike) -> tuple[dict[str, Tensor], Any]:
    """The model's tensors alone, and the origin, checked as `load` does."""
    return _with_index(as_path(folder), lambda place, index: (_tensors(place, MODEL, index), _decode(place, index, "origin", {})))


def read_step(folder: str | os.PathLike) -> int:
    """The step of the state of `folder`, 0 where there is none."""
    return _read_index(as_path(folder))["step"] if exists(folder) else 0


def exists(folder: str | os.PathLike) -> bool:
    """Whether `folder` holds a state, or a part of one: weights whose state.json is gone are not to be written over."""
    return any((as_path(folder) / name).exists() for name in (INDEX, MODEL, OPTIMIZER))


def _with_index(folder: Path, use: Callable[[Path, dict[str, Any]], _T]) -> _T:
    """use(folder, index), once more where a training saved another state in the meantime."""
    for _ in range(5):
        index = _read_index(folder)
        try:
            return use(folder, index)
        except FileError:
            if _read_index(folder) == index:
                raise
    return use(folder, _read_index(folder))


def _load(folder: Path, index: dict[str, Any]) -> Checkpoint:
    model, tensors = _tensors(folder, MODEL, index), _tensors(folder, OPTIMIZER, index)
    return Checkpoint(step=index["step"], model=model, **{part: _decode(folder, index, part, tensors) for part in PARTS})


def _decode(folder: Path, index: dict[str, Any], part: str, tensors: Mapping[str, Tensor]) -> Any:
    where = str(folder / INDEX)

    def get(name: str) -> Tensor:
        if name not in tensors:
            cause = tr("{}: names the tensor {!r}, which {} does not have", where, str(name)[:80], OPTIMIZER)
            raise FileError(cause, "restore both from one copy")
        return tensors[name]

    try:
        return values.decode(index["state"].get(part), get, where)
    except RecursionError as error:
        raise _broken(Path(where), tr("{} is nested too deeply", part)) from error


class _Hashed:
    """A file that remembers the SHA-256 and size of what was written to it."""

    def __init__(self, file: BinaryIO):
        self.file, self.sha256, self.bytes = file, hashlib.sha256(), 0

    def write(self, data) -> None:
        self.file.write(data)
        self.sha256.update(data)
        self.bytes += memoryview(data).nbytes


def _write_new(path: Path, tensors: Mapping[str, Any], metadata: dict[str, str]) -> dict[str, Any]:
    """Write `path` under its `.new` name; returns what the index says of it."""
    said: dict[str, Any] = {}

    def fill(file: BinaryIO) -> None:
        hashed = _Hashed(file)
        safetensors.write(hashed, tensors, metadata)  # type: ignore[arg-type]
        said.update(bytes=hashed.bytes, sha256=hashed.sha256.hexdigest())

    write_file(_new(path), fill)
    return said


def _new(path: Path) -> Path:
    return path.with_name(path.name + ".new")


def finish(folder: str | os.PathLike) -> None:
    """Give `.new` files that the index speaks of their names, and remove others: of a save that never counted."""
    folder = as_path(folder)
    waiting = [name for name in (MODEL, OPTIMIZER) if _new(folder / name).exists()]
    if not waiting:
        return
    index = _read_index(folder) if exists(folder) else None
    try:
        for name in waiting:
            if index is not None and mismatch(_new(folder / name), index["files"][name]) is None:
                os.replace(_new(folder / name), folder / name)
            else:
                _new(folder / name).unlink()
    except OSError as error:
        raise unwritable(folder, error) from error
    sync_folder(folder)


def _read_index(folder: Path) -> dict[str, Any]:
    path = folder / INDEX
    if not path.exists() and (folder / MODEL).exists():
        cause = tr("{}: no such file, but {} is there", path, MODEL)
        raise FileError(cause, "restore it from a copy, or move the weights to another folder to start again")
    index = unseal(path, tr("restore it from a copy, or start the run again"))
    if index.get("format") != FORMAT:
        raise _broken(path, tr("expected format {!r}; got {!r}", FORMAT, str(index.get("format"))[:80]))
    files = index.get("files")
    if type(index.get("step")) is not int or not isinstance(index.get("state"), dict) or not isinstance(files, dict):
        raise _broken(path, tr("expected a step, a state and a table of files"))
    for name in (MODEL, OPTIMIZER):
        said = files.get(name)
        if not isinstance(said, dict) or {key: type(value) for key, value in said.items()} != {"bytes": int, "sha256": str}:
            raise _broken(path, tr("expected bytes and sha256 of {}", name))
    if index["step"] < 0:
        raise _broken(path, tr("step {}", index["step"]))
    return index


def _tensors(folder: Path, name: str, index: dict[str, Any]) -> dict[str, Tensor]:
    """What stands in the file that belongs to the index: under its name, or under `.new` where a save was interrupted."""
    path, said = folder / name, index["files"][name]
    for candidate in (path, _new(path)):
        if candidate.is_file() and mismatch(candidate, said) is None:
            return safetensors.load_file(candidate)
    if not path.is_file():
        cause = tr("{}: no such file, but {} (step {}) needs it", path, INDEX, index["step"])
        raise FileError(cause, "restore the folder from a copy")
    cause = tr("{}: damaged, or of another step than {} (step {}): {}", path, INDEX, index["step"], mismatch(path, said))
    raise FileError(cause, tr("restore {} and {} from one copy of the folder", name, INDEX))


def _broken(path: Path, what: str) -> FileError:
    cause = tr("{}: damaged, or not a checkpoint of badak: {}", path, what)
    return FileError(cause, "restore it from a copy, or start the run again")
