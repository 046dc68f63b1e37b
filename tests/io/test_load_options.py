"""What torch.serialization sets for all saves and loads, on both libraries."""

import io
import mmap
import zipfile

import pytest
import torch

import badak
from badak.io import options

both = pytest.mark.parametrize("t", [torch, badak], ids=["pytorch", "badak"])


def written(t, obj) -> bytes:
    file = io.BytesIO()
    t.save(obj, file)
    return file.getvalue()


def read(t, data: bytes, **named):
    return t.load(io.BytesIO(data), **named)


@both
def test_numbers_are_skipped(t):
    obj = {"a": t.ones(3), "b": t.arange(4)[1:]}
    full = written(t, obj)
    with t.serialization.skip_data():
        empty = written(t, obj)
        told = read(t, full)
    assert {name: x.tolist() for name, x in read(t, empty).items()} == {"a": [0, 0, 0], "b": [0, 0, 0]}
    assert {name: tuple(x.shape) for name, x in told.items()} == {"a": (3,), "b": (3,)}
    assert {name: x.tolist() for name, x in read(t, full).items()} == {"a": [1, 1, 1], "b": [1, 2, 3]}
    assert len(zipfile.ZipFile(io.BytesIO(empty)).infolist()) == len(zipfile.ZipFile(io.BytesIO(full)).infolist())


@both
def test_the_order_of_bytes_that_a_file_does_not_say_is_asked_for(t):
    whole, unsaid = io.BytesIO(written(t, t.arange(3, dtype=t.int32))), io.BytesIO()
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(unsaid, "w") as target:
        for entry in source.infolist():
            if not entry.filename.endswith("byteorder"):
                target.writestr(entry, source.read(entry))
    orders, set_order = t.serialization.LoadEndianness, t.serialization.set_default_load_endianness
    assert t.serialization.get_default_load_endianness() is None
    for order, expected in (
        (orders.BIG, [0, 1 << 24, 2 << 24]),
        (orders.LITTLE, [0, 1, 2]),
        (orders.NATIVE, [0, 1, 2]),
        (None, [0, 1, 2]),
    ):
        set_order(order)
        try:
            assert t.serialization.get_default_load_endianness() is order
            assert read(t, unsaid.getvalue()).tolist() == expected
            assert read(t, whole.getvalue()).tolist() == [0, 1, 2]
        finally:
            set_order(None)
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        set_order("big")


@both
def test_files_are_mapped_where_that_is_the_default(t, tmp_path):
    path, config = tmp_path / "x.pt", options if t is badak else __import__("torch.utils.serialization.config", fromlist=["load"])
    t.save(t.ones(3), path)
    config.load.mmap = True
    try:
        x = t.load(path)
        x[1] = 9
        with pytest.raises((ValueError, RuntimeError), match="f must be a "):
            read(t, path.read_bytes())
    finally:
        config.load.mmap = False
    assert (x.tolist(), t.load(path).tolist()) == ([1, 9, 1], [1, 1, 1])
    with t.serialization.set_default_mmap_options(mmap.MAP_PRIVATE):
        assert t.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    with pytest.raises(ValueError, match="expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got 77"):
        t.serialization.set_default_mmap_options(77)


def test_a_tensor_does_not_write_into_its_file():
    with pytest.raises(badak.core.errors.NotSupportedError, match="would leave it with a wrong CRC"):
        badak.serialization.set_default_mmap_options(mmap.MAP_SHARED)


@both
def test_a_checksum_may_be_left_out(t):
    assert t.serialization.get_crc32_options()
    t.serialization.set_crc32_options(False)
    try:
        data = written(t, t.ones(2))
        assert not t.serialization.get_crc32_options()
    finally:
        t.serialization.set_crc32_options(True)
    assert torch.load(io.BytesIO(data)).tolist() == badak.load(io.BytesIO(data)).tolist() == [1, 1]


@pytest.mark.filterwarnings("ignore")
@both
def test_the_environment_says_whether_files_hold_weights_only(t, monkeypatch):
    module = written(t, t.nn.Linear(2, 2))
    force, free = "TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"

    def told(**named):
        try:
            return type(read(t, module, **named)).__name__
        except Exception as error:
            return "both" if "but both were set" in str(error) else "refused"

    found = [told(), told(weights_only=False)]
    monkeypatch.setenv(free, "1")
    found += [told(), told(weights_only=True), told(weights_only=False)]
    monkeypatch.setenv(force, "yes")
    found.append(told())
    monkeypatch.delenv(free)
    found += [told(), told(weights_only=False)]
    monkeypatch.setenv(force, "0")
    found.append(told(weights_only=False))
    assert found == ["refused", "Linear", "Linear", "refused", "Linear", "both", "refused", "refused", "Linear"]
