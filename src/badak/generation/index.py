"""Vectors of texts, kept in a folder to be searched later.

    index.json              which model made them, what the texts are and where they stand; it carries its own SHA-256
    vectors-....safetensors the vectors (N, C), float32; index.json has its size and SHA-256

The name of the vectors' file has their hash in it, and index.json is written after it: whenever that is interrupted, the index
before is whole. Nothing is read that is not as it was written, and nothing searched with another model than the one that made it.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, FileError, tr
from badak.generation.embed import nearest
from badak.io import safetensors
from badak.io.atomic import as_path, make_folder, write_file
from badak.io.errors import shown
from badak.io.sealed import mismatch, seal, unseal
from badak.tensor import from_numpy

INDEX_FILE, INDEX_FORMAT = "index.json", "badak index 1"
AGAIN = tr("make it again: badak embed MODEL --in PATH --save INDEX")


@dataclass(frozen=True)
class Index:
    """Texts, where each stands, and their vectors (N, C); model: the fingerprint of the encoder; precision: of its weights."""

    places: list[str]
    texts: list[str]
    vectors: np.ndarray
    model: str
    precision: str = "float32"

    def search(self, query: np.ndarray, top: int = 5) -> list[tuple[str, str, float]]:
        """The `top` texts that are nearest to a vector (C,), as (place, text, cosine), the nearest first."""
        return [(self.places[row], self.texts[row], cosine) for row, cosine in nearest(query, self.vectors, top)]

    def save(self, folder: str | os.PathLike) -> None:
        """Write the index into `folder`, in place of one that is there. A folder that holds something else is refused."""
        place = as_path(folder)
        expect_free(place)
        data = safetensors.save({"vectors": from_numpy(np.ascontiguousarray(self.vectors, np.float32))})
        digest = hashlib.sha256(data).hexdigest()
        name = f"vectors-{digest[:16]}.safetensors"
        make_folder(place)
        write_file(place / name, lambda file: file.write(data))
        said = seal({
            "format": INDEX_FORMAT, "model": self.model, "precision": self.precision,
            "vectors": {"file": name, "bytes": len(data), "sha256": digest, "shape": list(self.vectors.shape)},
            "places": self.places, "texts": self.texts,
        })  # fmt: skip
        write_file(place / INDEX_FILE, lambda file: file.write(said))
        for old in place.glob("vectors-*.safetensors"):
            if old.name != name:
                old.unlink(missing_ok=True)

    @classmethod
    def load(cls, folder: str | os.PathLike, model: str = "") -> "Index":
        """The index of a folder. model: the fingerprint of the encoder to search with.

        Raises FileError for what is damaged or no index, ArgumentError for one that another model made.
        """
        place = as_path(folder)
        if not (place / INDEX_FILE).is_file():
            raise FileError(tr("{}: no index of badak embed, it has no {}", folder, INDEX_FILE), AGAIN)
        said = unseal(place / INDEX_FILE, AGAIN)
        _expect(place / INDEX_FILE, said)
        if model and said["model"] != model:
            raise ArgumentError(
                tr("{}: made by another model: its fingerprint is {}, that of this one {}", folder, said["model"][:12], model[:12]),
                "the model that made it, or make it again with this one",
            )
        return cls(said["places"], said["texts"], _vectors(place, said["vectors"]), said["model"], said["precision"])


def expect_free(place: Path) -> None:
    """Refuse a folder that holds something else than an index; before the work of hours is begun."""
    if place.exists() and not place.is_dir():
        raise FileError(tr("{}: is a file", place), "the name of a folder for the index")
    if place.is_dir() and any(place.iterdir()) and not (place / INDEX_FILE).is_file():
        raise FileError(tr("{}: holds other files than an index", place), "a new folder, or the one of an index to replace")
    if (place / INDEX_FILE).is_file() and unseal(place / INDEX_FILE, tr("another folder")).get("format") != INDEX_FORMAT:
        raise FileError(tr("{}: is no index of badak embed", place / INDEX_FILE), "another folder")


def _expect(path: Path, said: dict[str, Any]) -> None:
    """Raise FileError where index.json does not say what `save` writes."""
    if said.get("format") != INDEX_FORMAT:
        raise FileError(tr("{}: expected format {!r}; got {}", path, INDEX_FORMAT, shown(said.get("format"))), AGAIN)
    about = said.get("vectors")
    kinds = {"file": str, "bytes": int, "sha256": str, "shape": list}
    if not isinstance(about, dict) or {name: type(one) for name, one in about.items()} != kinds:
        raise FileError(tr("{}: vectors is {}", path, shown(about)), AGAIN)
    texts, places, shape = said.get("texts"), said.get("places"), about["shape"]
    is_text = all(isinstance(some, list) and all(isinstance(one, str) for one in some) for some in (texts, places))
    if not is_text or [type(one) for one in shape] != [int, int] or not len(texts) == len(places) == shape[0]:  # type: ignore[arg-type]
        raise FileError(tr("{}: texts, places and vectors are not of one number", path), AGAIN)
    if not isinstance(said.get("model"), str) or not isinstance(said.get("precision"), str):
        raise FileError(tr("{}: does not say by which model", path), AGAIN)
    if Path(about["file"]).name != about["file"] or not about["file"].startswith("vectors-"):
        raise FileError(tr("{}: names {}, which is no file of this folder", path, shown(about["file"])), AGAIN)


def _vectors(place: Path, about: dict[str, Any]) -> np.ndarray:
    path = place / about["file"]
    if mismatch(path, about) is not None:
        raise FileError(tr("{}: damaged, or of another index: its size or SHA-256 differs from {}", path, INDEX_FILE), AGAIN)
    found = safetensors.load_file(path).get("vectors")
    if found is None or list(found.shape) != about["shape"] or found.numpy().dtype != np.float32:
        raise FileError(tr("{}: not the vectors that {} speaks of", path, INDEX_FILE), AGAIN)
    return found.numpy()
