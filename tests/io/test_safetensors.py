"""Named tensors to bytes and back; damaged files; the format's own library as a twin."""

import hashlib
import os

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from badak.core.errors import ArgumentError, DTypeError, FileError
from badak.io import safetensors as ours
from badak.tensor import Tensor
from tests.io.attacks.tensors import TENSORS, WHOLE, build

DTYPES = [
    np.bool_,
    np.uint8,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.float16,
    np.float32,
    np.float64,
    np.complex64,
    ml_dtypes.bfloat16,
]
NAMES = (
    st.text(max_size=12)
    .filter(lambda name: name != "__metadata__")
    .filter(lambda name: not any(0xD800 <= ord(c) < 0xE000 for c in name))
)


@st.composite
def arrays(draw):
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    raw = draw(hnp.arrays(np.uint8, (*shape, dtype.itemsize), elements=st.integers(0, 1) if dtype.kind == "b" else None))
    array = np.ascontiguousarray(raw).reshape(-1).view(dtype).reshape(shape)
    return array.T if draw(st.booleans()) else array


def bits(array) -> bytes:
    return np.ascontiguousarray(array).tobytes()


@pytest.mark.slow
@given(st.dictionaries(NAMES, arrays(), max_size=5), st.dictionaries(NAMES, NAMES, max_size=3))
@settings(max_examples=150, deadline=None)
def test_what_is_saved_is_loaded_bit_for_bit(tensors, metadata):
    metadata.pop(ours.TIED, None)
    loaded = ours.load(ours.save(tensors, metadata))
    assert loaded.keys() == tensors.keys()
    for name, array in tensors.items():
        assert loaded[name]._array.dtype == array.dtype and loaded[name]._array.shape == array.shape
        assert bits(loaded[name]._array) == bits(array)


@pytest.mark.slow
@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_random_bytes_are_refused_with_a_word(data):
    with pytest.raises(FileError, match="^safetensors data: damaged, or not a safetensors file: "):
        ours.load(data)


@pytest.mark.slow
@given(st.integers(0, 200), st.binary(min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_a_damaged_byte_is_refused_or_stays_within_the_values(at, patch):
    whole = ours.save({"w": np.arange(6.0).reshape(2, 3), "b": np.arange(3, dtype=np.int32)}, {"note": "x"})
    damaged = whole[:at] + patch + whole[at + len(patch) :]
    try:
        loaded = ours.load(damaged)
    except FileError:
        return
    assert all(isinstance(tensor, Tensor) for tensor in loaded.values())


@pytest.mark.parametrize("name", TENSORS)
def test_a_file_that_lies_is_refused_by_name_and_cause(name, tmp_path):
    data, cause = TENSORS[name]
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    for read, where in ((ours.load_file, str(path)), (ours.load, "safetensors data")):
        with pytest.raises(FileError) as caught:
            read(path if read is ours.load_file else data)
        text = str(caught.value)
        assert text.startswith(f"{where}: damaged, or not a safetensors file: ") and cause in text and "\nfix: " in text


def test_what_only_the_library_objects_to_is_refused_too(monkeypatch):
    def refuse(data):
        raise safetensors.SafetensorError("a rule of tomorrow")

    monkeypatch.setattr(ours.library, "deserialize", refuse)
    with pytest.raises(FileError, match="a rule of tomorrow"):
        ours.load(build(WHOLE))


def test_an_absent_file_a_folder_and_a_forbidden_one_are_named(tmp_path):
    with pytest.raises(FileError, match="nothing.safetensors: no such file"):
        ours.load_file(tmp_path / "nothing.safetensors")
    with pytest.raises(FileError, match="cannot be read"):
        ours.load_file(tmp_path)
    with pytest.raises(FileError, match="cannot be written"):
        ours.save_file({}, tmp_path / "nowhere" / "x.safetensors")


def test_the_library_reads_what_we_write(tmp_path):
    tensors = {
        "w": np.arange(6, dtype=np.float32).reshape(2, 3).T,
        "ids": np.arange(3),
        "half": np.ones(2, np.float16),
        "0-d": np.array(3.5),
    }
    ours.save_file(tensors, tmp_path / "x.safetensors", {"format": "pt"})
    for name, array in safetensors.numpy.load_file(tmp_path / "x.safetensors").items():
        np.testing.assert_array_equal(array, tensors[name])
    assert torch.equal(
        safetensors.torch.load_file(tmp_path / "x.safetensors")["w"], torch.tensor(np.ascontiguousarray(tensors["w"]))
    )


def test_we_read_what_the_library_writes(tmp_path):
    theirs = {
        "w": torch.arange(6, dtype=torch.bfloat16).reshape(2, 3),
        "mask": torch.tensor([True, False]),
        "x": torch.tensor(2.5, dtype=torch.float64),
    }
    safetensors.torch.save_file(theirs, tmp_path / "x.safetensors", {"format": "pt"})
    loaded = ours.load_file(tmp_path / "x.safetensors")
    assert loaded["w"]._array.dtype == ml_dtypes.bfloat16 and loaded["x"]._array.shape == ()
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(loaded[name]._array.astype(np.float64), tensor.double().numpy())
    assert ours.read_metadata(tmp_path / "x.safetensors") == {"format": "pt"}


def test_our_bytes_are_the_librarys_bytes():
    tensors = {
        name: np.ones(3, name) for name in ("float32", "int64", "bool", "float16", "uint8", "float64", "int32", "int8", "int16")
    }
    assert ours.save(tensors) == safetensors.numpy.save(tensors)
    assert ours.save({}) == safetensors.numpy.save({})


def test_the_same_tensors_give_the_same_bytes():
    metadata = {letter: letter for letter in "fedcba"}
    tensors = {"b": np.ones(2), "a": np.zeros(3)}
    assert ours.save(tensors, metadata) == ours.save(dict(reversed(tensors.items())), dict(reversed(metadata.items())))


def test_tied_weights_are_stored_once_and_come_back_as_one():
    w = Tensor._of(np.ones((100, 10), np.float32))
    view = Tensor._of(w._array[:])
    data = ours.save({"wte.weight": w, "lm_head.weight": view, "other": np.ones((100, 10), np.float32)})
    assert len(data) < 2.2 * w._array.nbytes
    loaded = ours.load(data)
    assert loaded["lm_head.weight"] is loaded["wte.weight"] and loaded["other"] is not loaded["wte.weight"]
    assert sorted(safetensors.numpy.load(data)) == ["other", "wte.weight"]


def test_a_transposed_view_is_not_a_tie():
    w = np.arange(9.0).reshape(3, 3)
    loaded = ours.load(ours.save({"a": w, "b": w.T}))
    np.testing.assert_array_equal(loaded["b"]._array, w.T)


def test_what_is_loaded_can_be_written_to():
    array = ours.load(ours.save({"w": np.ones(3)}))["w"]._array
    array += 1
    assert array.flags.owndata or array.base is not None


def test_big_endian_arrays_are_turned_round():
    np.testing.assert_array_equal(
        ours.load(ours.save({"w": np.arange(3, dtype=">f4")}))["w"]._array, np.arange(3, dtype=np.float32)
    )


@pytest.mark.parametrize(
    "tensors, metadata, error, text",
    [
        ({1: np.ones(1)}, None, ArgumentError, "expected names that are strings"),
        ({"__metadata__": np.ones(1)}, None, ArgumentError, "not '__metadata__'"),
        ({"w": [1.0]}, None, ArgumentError, "'w' is a list"),
        ({"w": np.ones(1)}, {"step": 3}, ArgumentError, "expected metadata of strings"),
        (
            {"w": np.ones(1, np.complex128)},
            None,
            DTypeError,
            "'w' is complex128, which the safetensors format does not have",
        ),
        ({"w": np.array(["a"])}, None, TypeError, "dtype"),
    ],
)
def test_what_cannot_be_saved_is_named(tensors, metadata, error, text):
    with pytest.raises(error, match=text):
        ours.save(tensors, metadata)


def test_a_failed_save_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "x.safetensors"
    ours.save_file({"w": np.ones(3)}, path)
    before = hashlib.sha256(path.read_bytes()).digest()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="x.safetensors: cannot be written \\(No space left on device\\)"):
        ours.save_file({"w": np.zeros(3)}, path)
    assert hashlib.sha256(path.read_bytes()).digest() == before and os.listdir(tmp_path) == ["x.safetensors"]
