"""MNIST: 60,000 and 10,000 pictures of handwritten digits, 28 x 28, with their labels.

Source: LeCun, Bottou, Bengio, Haffner, "Gradient-based learning applied to document recognition", 1998.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pooch

from badak.core.errors import ArgumentError, FileError, tr
from badak.data.idx import read_idx
from badak.io.atomic import as_path
from badak.io.errors import shown
from badak.tensor import Tensor

_PREFIX = {"train": "train", "test": "t10k"}
_SHA256 = {
    "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}
MIRRORS = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
LARGEST = 1 << 28  # bytes of a file's values; as float32 they take four times that
_PLACES = ("", "MNIST/raw", "raw", "mnist")  # below the folder that the user names


def load_mnist(folder: str | os.PathLike | None, split: str, log: Callable[[str], None] | None = None) -> tuple[Tensor, Tensor]:
    """Pictures, float32 (N, 28, 28) in [0, 1], and labels, int64 (N,) in 0 .. 9, of split "train" or "test".

    From the IDX files (gz or not) in `folder`; where that is None, from the user's cache, into which they are downloaded
    once, with checksum, and `log` hears how far that is. Raises FileError with file and cause, and offline with the folder
    into which to put the files by hand.
    """
    if not isinstance(split, str) or split not in _PREFIX:
        raise ArgumentError(tr("load_mnist: expected split 'train' or 'test'; got {}", shown(split)), "load_mnist(folder, 'train')")
    names = [f"{_PREFIX[split]}-images-idx3-ubyte.gz", f"{_PREFIX[split]}-labels-idx1-ubyte.gz"]
    if folder is None:
        files = [_download(name, log or (lambda text: None)) for name in names]
    else:
        files = [_find(as_path(folder), name) for name in names]
    pictures, labels = (read_idx(file, LARGEST) for file in files)
    _check(pictures, labels, *files)
    shades = np.divide(pictures, np.float32(255), dtype=np.float32)
    return Tensor._of(shades), Tensor._of(labels.astype(np.int64))


def cache_folder() -> Path:
    """Where downloaded MNIST files lie: BADAK_CACHE/mnist where that variable is set, else below the user's cache folder."""
    try:
        folder = Path(os.environ.get("BADAK_CACHE") or pooch.os_cache("badak"))
    except RuntimeError:
        folder = Path("~")
    if folder.parts[:1] == ("~",):  # what is left of a home that there is not
        raise FileError("MNIST: this user has no home, so there is no place to keep it", "BADAK_CACHE=FOLDER names one")
    return folder / "mnist"


def _find(folder: Path, name: str) -> Path:
    plain = name.removesuffix(".gz")
    dotted = plain.replace("-idx", ".idx")  # as some archives name them
    for place in _PLACES:
        for candidate in (name, plain, f"{dotted}.gz", dotted):
            if (folder / place / candidate).is_file():
                return folder / place / candidate
    cause = tr("{}: no {} there, gzipped or not", folder, plain) if folder.is_dir() else tr("{}: no such folder", folder)
    raise FileError(cause, tr("put the four MNIST files ({}) into one folder and name it", ", ".join(_SHA256)))


def _check(pictures, labels, picture_file, label_file) -> None:
    if pictures.dtype != np.uint8 or pictures.ndim != 3 or pictures.shape[1:] != (28, 28):
        raise FileError(tr("{}: expected uint8 pictures (N, 28, 28); got {} {}", picture_file, pictures.dtype, pictures.shape),
                        "download the file again")  # fmt: skip
    if labels.dtype != np.uint8 or labels.shape != pictures.shape[:1]:
        raise FileError(tr("{}: expected uint8 labels ({},); got {} {}", label_file, len(pictures), labels.dtype, labels.shape),
                        "take pictures and labels from one source")  # fmt: skip
    if labels.size and labels.max() > 9:
        raise FileError(tr("{}: label {} is no digit", label_file, labels.max()), "download the file again")


class _Progress:
    """What pooch calls while it downloads: says so at every tenth."""

    def __init__(self, name: str, log: Callable[[str], None]):
        self.name, self.log, self.total, self.done, self.said = name, log, 0, 0, -1

    def update(self, size: int) -> None:
        self.done += size
        tenth = 10 * self.done // max(self.total, 1)
        if tenth > self.said:
            self.said = tenth
            self.log(tr("{}: {:.1f} of {:.1f} MB", self.name, self.done / 1000000.0, self.total / 1000000.0))

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        pass


def _download(name: str, log: Callable[[str], None]) -> Path:
    """The file in the cache, fetched from the first mirror that has it right."""
    folder, causes = cache_folder(), []
    pooch.get_logger().setLevel("ERROR")
    for mirror in MIRRORS:
        try:
            fetch = pooch.HTTPDownloader(progressbar=_Progress(name, log), timeout=30)
            return Path(pooch.retrieve(mirror + name, f"sha256:{_SHA256[name]}", name, folder, downloader=fetch))
        except Exception as error:  # requests' many, a wrong checksum, a full disk: the next mirror may do
            causes.append(f"{mirror} ({type(error).__name__})")
    cause = tr("MNIST could not be downloaded: {} from {}", name, ", ".join(causes))
    raise FileError(cause, tr("put the four files ({}) into {}, or name their folder with --data", ", ".join(_SHA256), folder))
