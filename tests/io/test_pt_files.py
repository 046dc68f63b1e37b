"""What files of tensors are read from and written to: files of somebody's own, archives record by record, parts of storages."""

import io
import sys
import types

import pytest
import torch

import badak
from badak.io.serialization import _open_zipfile_reader, _open_zipfile_writer, check_module_version_greater_or_equal


class Own:
    """A file of a program's own: what is called is written down."""

    def __init__(self, data: bytes, hidden: tuple = ()):
        self.calls, self._file, self._hidden = [], io.BytesIO(data), hidden

    def __getattr__(self, name):
        if name in self._hidden:
            raise AttributeError(name)
        self.calls.append(name)
        return getattr(self._file, name)


def saved(value, library=badak, **options) -> bytes:
    file = io.BytesIO()
    library.save(value, file, **options)
    return file.getvalue()


def test_tensors_are_read_where_they_stay_from_a_file_that_can():
    data = saved({"w": badak.arange(1000)})
    own = Own(data)
    assert badak.load(own)["w"].equal(badak.arange(1000)) and "readinto" in own.calls and own.tell() == len(data)
    plain = Own(data, hidden=("readinto",))
    assert badak.load(plain)["w"].equal(badak.arange(1000))


def test_a_file_that_gives_little_at_once_is_read_to_its_end():
    class Slow(io.BytesIO):
        def readinto(self, view):
            return super().readinto(view[:100])

    assert badak.load(Slow(saved(badak.arange(1000)))).equal(badak.arange(1000))


def test_what_cannot_seek_is_refused_in_pytorchs_words():
    for library in (torch, badak):
        with pytest.raises(AttributeError, match="You can only torch.load from a file that is seekable. Please pre-load"):
            library.load(Own(b"data", hidden=("seek", "tell")))


@pytest.mark.parametrize("name", ["dill", "cloudpickle"])
def test_modules_that_write_pickles_alike_are_taken(name):
    assert badak.load(io.BytesIO(saved(badak.ones(2))), pickle_module=types.ModuleType(name)).tolist() == [1, 1]


def test_records_of_an_archive(tmp_path):
    records = {"a": b"12", "c/d": b"", "e": b"345"}
    buffer = io.BytesIO()
    for to in (tmp_path / "some.pt", str(tmp_path / "other.pt"), buffer):
        with _open_zipfile_writer(to) as archive:
            for name, text in records.items():
                archive.write_record(name, text, len(text))
        for reader in (torch.serialization._open_zipfile_reader, _open_zipfile_reader):
            if to is buffer:
                buffer.seek(0)
            with reader(to if to is buffer else str(to)) as archive:
                assert {name: archive.get_record(name) for name in records} == records
                assert archive.has_record("a") and not archive.has_record("b") and set(records) < set(archive.get_all_records())


def test_a_version_is_compared_number_by_number():
    module = types.ModuleType("some")
    for module.__version__ in ("1.2.3", "1.10", "2", "0.9.9", "x.1"):
        found = []
        for library in (torch, badak):
            check = library.serialization.check_module_version_greater_or_equal
            try:
                found.append(check(module, (1, 2)))
            except RuntimeError as error:
                found.append(str(error).partition("\n")[0])
        assert found[0] == found[1], module.__version__
    assert check_module_version_greater_or_equal(module, (1,), error_if_malformed=False)
    assert check_module_version_greater_or_equal(sys.modules["numpy"], (1, 0))


PARTS = (  # [zeros(2).storage()[:1], its [1:]], written by PyTorch 0.3.1
    b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}q\x00(X\n\x00\x00\x00type_sizesq\x01}q\x02(X\x03"
    b"\x00\x00\x00intq\x03K\x04X\x05\x00\x00\x00shortq\x04K\x02X\x04\x00\x00\x00longq\x05K\x04uX\x10\x00\x00\x00protocol_versionq"
    b"\x06M\xe9\x03X\r\x00\x00\x00little_endianq\x07\x88u.\x80\x02(X\x07\x00\x00\x00storageq\x00ctorch\nFloatStorage\nq\x01X\x0e"
    b"\x00\x00\x0094279043900432q\x02X\x03\x00\x00\x00cpuq\x03K\x02X\x0e\x00\x00\x0094279029750368q\x04K\x00K\x01\x87q\x05tq\x06"
    b"Q(h\x00h\x01X\x0e\x00\x00\x0094279043900432q\x07h\x03K\x02X\x0e\x00\x00\x0094279029750432q\x08K\x01K\x01\x87q\ttq\nQ"
    b"\x86q\x0b.\x80\x02]q\x00X\x0e\x00\x00\x0094279043900432q\x01a.\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80?\x00\x00\x00@"
)


@pytest.mark.filterwarnings("ignore:TypedStorage")
def test_parts_of_a_storage_share_its_memory():
    for library in (torch, badak):
        first, second = library.load(io.BytesIO(PARTS))
        assert (list(first), list(second)) == ([1.0], [2.0]) and first.data_ptr() + 4 == second.data_ptr()


def test_a_part_lies_within_its_storage():
    with pytest.raises(badak.core.errors.FileError, match="a part of a storage ends at byte 12 of 8"):
        badak.load(io.BytesIO(PARTS.replace(b"K\x01K\x01\x87q\t", b"K\x02K\x01\x87q\t")))
