"""MNIST: the real files, files that are not, and no network."""

import gzip
import struct

import numpy as np
import pytest

import badak
from badak.core.errors import ArgumentError, FileError
from badak.data import mnist
from tests.real_data import real_data


def write(folder, name, array):
    folder.mkdir(parents=True, exist_ok=True)
    content = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.astype(np.uint8).tobytes()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)


PICTURES, LABELS = np.arange(3 * 784).reshape(3, 28, 28) % 256, np.array([3, 0, 9])


@pytest.mark.slow
@pytest.mark.parametrize("split, count, first", [("train", 60_000, [5, 0, 4, 1, 9]), ("test", 10_000, [7, 2, 1, 0, 4])])
def test_the_real_files_are_read(split, count, first):
    pictures, labels = mnist.load_mnist(real_data("mnist"), split)
    assert pictures.shape == (count, 28, 28) and pictures.dtype == badak.float32
    assert labels.shape == (count,) and labels.dtype == badak.int64 and labels[:5].tolist() == first
    assert pictures.min() == 0 and pictures.max() == 1
    mean = {"train": 0.1306604762738429, "test": 0.13251460696903547}[split]
    assert abs(pictures.mean().item() - mean) < 1e-5


@pytest.mark.parametrize("place", ["", "MNIST/raw", "raw"])
@pytest.mark.parametrize(
    "names",
    [
        ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
        ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
        ("train-images.idx3-ubyte", "train-labels.idx1-ubyte"),
    ],
)
def test_the_files_are_found_under_their_usual_names(tmp_path, names, place):
    write(tmp_path / place, names[0], PICTURES)
    write(tmp_path / place, names[1], LABELS)
    pictures, labels = mnist.load_mnist(str(tmp_path), "train")
    assert np.array_equal(pictures._array, PICTURES.astype(np.float32) / np.float32(255)) and labels.tolist() == [3, 0, 9]


@pytest.mark.parametrize(
    "pictures, labels, cause",
    [
        (np.zeros((3, 28, 27)), LABELS, r"train-images.*expected uint8 pictures \(N, 28, 28\); got uint8 \(3, 28, 27\)"),
        (np.zeros(784), LABELS, "train-images.*expected uint8 pictures"),
        (PICTURES, np.zeros(4), r"train-labels.*expected uint8 labels \(3,\); got uint8 \(4,\)"),
        (PICTURES, np.array([1, 2, 10]), "train-labels.*label 10 is no digit"),
    ],
)
def test_files_that_are_not_mnist_are_named(tmp_path, pictures, labels, cause):
    write(tmp_path, "train-images-idx3-ubyte", pictures)
    write(tmp_path, "train-labels-idx1-ubyte", labels)
    with pytest.raises(FileError, match=cause):
        mnist.load_mnist(tmp_path, "train")


def test_a_folder_without_the_files_is_named(tmp_path):
    with pytest.raises(FileError, match="no train-images-idx3-ubyte there") as caught:
        mnist.load_mnist(tmp_path, "train")
    assert "t10k-labels-idx1-ubyte.gz" in caught.value.fix
    with pytest.raises(FileError, match="no such folder"):
        mnist.load_mnist(tmp_path / "absent", "train")
    with pytest.raises(ArgumentError, match="'train' or 'test'"):
        mnist.load_mnist(tmp_path, "valid")


def test_without_a_network_the_error_says_where_to_put_the_files(tmp_path, monkeypatch):
    monkeypatch.setenv("BADAK_CACHE", str(tmp_path))
    monkeypatch.setattr(mnist, "MIRRORS", ("http://127.0.0.1:9/", "http://localhost:9/"))
    with pytest.raises(FileError, match="MNIST could not be downloaded") as caught:
        mnist.load_mnist(None, "test")
    assert "127.0.0.1" in caught.value.cause and "localhost" in caught.value.cause
    assert str(tmp_path / "mnist") in caught.value.fix and "train-images-idx3-ubyte.gz" in caught.value.fix


def test_a_download_is_checked_and_kept(tmp_path, monkeypatch):
    source = real_data("mnist")
    said, fetched = [], []

    class FromDisk:
        def __init__(self, progressbar, timeout):
            self.progressbar = progressbar

        def __call__(self, url, output_file, pooch):
            fetched.append(url)
            content = (source / url.rsplit("/", 1)[1]).read_bytes()
            wrong = url.startswith("http://wrong")
            with open(output_file, "wb") as file:
                file.write(content[:100] if wrong else content)
            self.progressbar.total = len(content)
            self.progressbar.update(len(content))

    monkeypatch.setenv("BADAK_CACHE", str(tmp_path))
    monkeypatch.setattr(mnist, "MIRRORS", ("http://wrong/", "http://right/"))
    monkeypatch.setattr(mnist.pooch, "HTTPDownloader", FromDisk)
    _, labels = mnist.load_mnist(None, "test", said.append)
    assert labels[:3].tolist() == [7, 2, 1]
    assert [url.split("/")[2] for url in fetched] == ["wrong", "right"] * 2  # a wrong checksum: the next mirror
    assert any("t10k-images-idx3-ubyte.gz" in text and "MB" in text for text in said)
    mnist.load_mnist(None, "test", said.append)
    assert len(fetched) == 4  # downloaded once
