"""No .pt file runs code, reaches outside its bytes, or ends in anything but a FileError that names file and cause."""

import io
import pickle
import random
import warnings

import pytest
import torch

import badak
from badak.core.errors import BadakError, FileError
from tests.io.attacks.pickles import ARCHIVES, CALLS, HARM, LIES, NUMBERS, WRAPS, Reduces, archive, harm, tensor, whole


def refused(data: bytes, tmp_path, **options) -> str:
    path = tmp_path / "attack.pt"
    path.write_bytes(data)
    with pytest.raises(FileError) as caught:
        badak.load(path, **options)
    text = str(caught.value)
    assert str(path) in text and "\nfix: " in text and text.count("\n") == 1
    assert not (tmp_path / HARM).exists()
    return text


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("wrap", WRAPS.values(), ids=list(WRAPS))
@pytest.mark.parametrize("name", CALLS)
def test_no_function_is_called(name, wrap, weights_only, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert name in refused(archive(wrap(CALLS[name]), NUMBERS), tmp_path, weights_only=weights_only)


@pytest.mark.parametrize("name", CALLS)
def test_a_forged_mark_of_badak_opens_no_door(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import json
    import subprocess  # noqa: F401  (imported by the program, as the mark demands)

    data = archive(whole(CALLS[name]), {".badak/classes": json.dumps([name]).encode()})
    assert name in refused(data, tmp_path, weights_only=False)


@pytest.mark.parametrize("name", ["subprocess.Popen", "io.FileIO", "tests.io.attacks.pickles.harm", "badak.io.pt.load"])
def test_nor_for_instances(name, tmp_path):
    import json

    module, _, last = name.rpartition(".")
    body = whole(f"c{module}\n{last}\n)".encode() + b"\x81}b")
    assert name in refused(archive(body, {".badak/classes": json.dumps([name]).encode()}), tmp_path, weights_only=False)


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_what_pickle_itself_makes_of_a_harmful_object(protocol, zipped, tmp_path):
    file = io.BytesIO()
    value = {"weights": torch.ones(2), "x": [Reduces(harm, "now")]}
    torch.save(value, file, pickle_protocol=protocol, _use_new_zipfile_serialization=zipped)
    assert "tests.io.attacks.pickles.harm" in refused(file.getvalue(), tmp_path, weights_only=False)


@pytest.mark.parametrize("body, says", LIES.values(), ids=list(LIES))
def test_a_lying_pickle_is_refused(body, says, tmp_path):
    data = archive(whole(body), NUMBERS)
    if says is None:
        badak.load(io.BytesIO(data))
    else:
        assert says in refused(data, tmp_path)


def test_a_table_keeps_its_methods():
    body, _ = LIES["method of a table hidden"]
    assert callable(badak.load(io.BytesIO(archive(whole(body)))).items)


@pytest.mark.parametrize("data, says", ARCHIVES.values(), ids=list(ARCHIVES))
def test_a_wrong_archive_is_refused(data, says, tmp_path):
    assert says in refused(data, tmp_path)


def test_a_name_that_stands_twice(tmp_path):
    import zipfile

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in (whole(b"N"), whole(b"\x88")):
            made.writestr("archive/data.pkl", text)
    assert "names a record twice" in refused(file.getvalue(), tmp_path)


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_a_file_cut_short_anywhere_is_refused(zipped, tmp_path):
    file = io.BytesIO()
    torch.save({"a": torch.arange(10.0), "b": [1, 2, "x"]}, file, _use_new_zipfile_serialization=zipped)
    data = file.getvalue()
    for length in range(0, len(data), max(1, len(data) // 150)):
        with pytest.raises(FileError):
            badak.load(io.BytesIO(data[:length]))


def test_the_old_format_is_held_to_its_size(tmp_path):
    file = io.BytesIO()
    torch.save(torch.arange(10.0), file, _use_new_zipfile_serialization=False)
    data = file.getvalue()
    many = data.replace(b"K\x0aNt", b"J\xff\xff\xff\x7fNt")
    assert many != data and "more than the file has" in refused(many, tmp_path)
    fewer = data.replace(b"K\x0aNt", b"K\x0bNt")
    assert "has 10 numbers, and its tensors speak of 11" in refused(fewer, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_any_change_of_a_byte_ends_in_a_value_or_a_complaint(zipped):
    file = io.BytesIO()
    state = {"a": torch.arange(10.0).view(2, 5), "n": {"lr": 0.1, "betas": (0.9, 0.99)}, "s": {1}, "i": torch.ones(2, 2).t()}
    torch.serialization.set_crc32_options(False)
    try:
        torch.save(state, file, _use_new_zipfile_serialization=zipped)
    finally:
        torch.serialization.set_crc32_options(True)
    data, chance = file.getvalue(), random.Random(0)
    for _ in range(400):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 5))):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            patch.setattr(pickle, "loads", harm)
            try:
                badak.load(io.BytesIO(bytes(changed)))
            except BadakError:
                pass


def test_a_key_of_the_memo_costs_nothing():
    assert badak.load(io.BytesIO(archive(whole(tensor() + b"r\xff\xff\xff\xff"), NUMBERS))).shape == (2, 3)
