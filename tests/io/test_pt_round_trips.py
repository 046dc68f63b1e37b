"""Random values through files: what badak writes, badak and PyTorch read; what PyTorch writes, badak reads."""

import io
from collections import Counter, OrderedDict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import badak
from badak.core.errors import NotSupportedError
from badak.io import storage
from badak.tensor import dtypes

NAMES = {True: [dtype.name for dtype in dtypes.ALL], False: [dtype.name for dtype in storage.NAMES]}  # by format, new or old
KEYS = st.one_of(
    st.text(max_size=8),
    st.integers(-(2**70), 2**70),
    st.booleans(),
    st.none(),
    st.tuples(st.integers(0, 9), st.text(max_size=3)),
)


def tensors(library, zipped: bool):
    """Tensors of every dtype that the format has, of up to three dims, contiguous or not."""

    def make(name, shape, turned, seed):
        x = (np.random.default_rng(seed).random(shape) * 200 - 50).clip(0 if name == "uint8" else None)
        made = library.tensor(x.tolist(), dtype=library.float64).reshape(shape).to(getattr(library, name))
        return made.transpose(0, -1) if turned and shape else made

    shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)
    return st.builds(make, st.sampled_from(NAMES[zipped]), shapes, st.booleans(), st.integers(0, 99))


def plain(strict: bool):
    """Values without parts; strict: those that torch.load takes with weights_only=True."""
    numbers = st.one_of(st.integers(-(2**80), 2**80), st.floats(), st.complex_numbers(max_magnitude=1e9), st.booleans(), st.none())
    arrays = st.sampled_from(["f4", "<i8", ">i2", "?", "c16", "U3", "S2"]).map(lambda code: np.arange(3).astype(code))
    scalars = st.sampled_from(["f4", "i8", "?", "c16"]).map(lambda code: np.ones(1, code)[0])
    texts = st.one_of(st.text(max_size=20), st.binary(max_size=20), st.binary(max_size=9).map(bytearray))
    return st.one_of(numbers, texts) if strict else st.one_of(numbers, texts, arrays, scalars)


def values(library, strict: bool, zipped: bool):
    """Values in values."""
    sets = st.sets(KEYS, max_size=3)
    return st.recursive(
        st.one_of(plain(strict), tensors(library, zipped), sets if strict else st.one_of(sets, sets.map(frozenset))),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.lists(inner, max_size=4).map(tuple), st.dictionaries(KEYS, inner, max_size=3),
            st.dictionaries(st.text(max_size=3), inner, max_size=3).map(OrderedDict), st.text(max_size=9).map(Counter),
        ),
        max_leaves=8,
    )  # fmt: skip


def same(ours, theirs) -> bool:
    """Whether two values are the same, of the same kinds; tensors of the two libraries by dtype, strides and numbers."""
    if isinstance(ours, badak.Tensor):
        alike = tuple(ours.shape) == tuple(theirs.shape) and str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
        strides = not ours.numel() or tuple(ours.stride()) == tuple(theirs.stride())
        return alike and strides and repr(ours.tolist()) == repr(theirs.tolist())
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, np.ndarray | np.generic):
        return ours.dtype.newbyteorder("=") == theirs.dtype.newbyteorder("=") and np.array_equal(ours, theirs)
    if isinstance(ours, dict):
        return list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return ours == theirs or repr(ours) == repr(theirs)  # not a number is not equal to itself


def through(save, load, value, **options):
    file = io.BytesIO()
    save(value, file)
    file.seek(0)
    return load(file, **options)


both_formats = pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])


def saved_as(zipped):
    return lambda value, file: badak.save(value, file, _use_new_zipfile_serialization=zipped)


@pytest.mark.slow
@both_formats
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_what_badak_saves_badak_loads(zipped, data):
    value = data.draw(values(badak, False, zipped))
    assert same(through(saved_as(zipped), badak.load, value), value)


@pytest.mark.slow
@both_formats
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_what_badak_saves_torch_loads(zipped, data):
    value = data.draw(values(badak, True, zipped))
    assert same(value, through(saved_as(zipped), torch.load, value, weights_only=True))


@pytest.mark.slow
@both_formats
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_what_torch_saves_badak_loads(zipped, data):
    value = data.draw(values(torch, False, zipped))

    def save(value, file):
        torch.save(value, file, _use_new_zipfile_serialization=zipped)

    assert same(through(save, badak.load, value), value)


@pytest.mark.parametrize("name", sorted({*NAMES[True]} - {*NAMES[False]}))
def test_the_old_format_refuses_dtypes_that_torch_cannot_read_from_it(name):
    """PyTorch writes them there too, and then fails to read its own file."""
    file = io.BytesIO()
    torch.save(torch.zeros(2).to(getattr(torch, name)), file, _use_new_zipfile_serialization=False)
    file.seek(0)
    with pytest.raises(AttributeError):
        torch.load(file)
    with pytest.raises(NotSupportedError, match=f"the format before PyTorch 1.6 has no {name}\nfix: leave"):
        badak.save(badak.zeros(2).to(getattr(badak, name)), file, _use_new_zipfile_serialization=False)


@pytest.mark.parametrize("name", ["모델.pt", "a b.pt", "x.y.z", "é.pt"])
def test_names_of_files_in_other_letters(name, tmp_path):
    torch.save({"w": torch.ones(2)}, tmp_path / name)
    assert badak.load(tmp_path / name)["w"].tolist() == [1, 1]
    badak.save({"w": badak.ones(2)}, tmp_path / name)
    assert torch.load(tmp_path / name, weights_only=True)["w"].tolist() == badak.load(tmp_path / name)["w"].tolist() == [1, 1]


LAZY = {  # PyTorch stores these as the numbers they see, and notes that they are meant otherwise
    "conjugate": lambda x: x.conj(),
    "part of a conjugate": lambda x: x.conj()[1:].T,
    "negative": lambda x: x.conj().imag,
    "conjugate parameter": lambda x: torch.nn.Parameter(x.conj()),
    "conjugate that is trained": lambda x: x.conj().detach().requires_grad_(),
}


@both_formats
@pytest.mark.parametrize("name", LAZY)
def test_what_torch_stores_without_its_sign_has_it_in_badak(name, zipped, tmp_path):
    x = LAZY[name](torch.tensor([[1 + 2j, 3 - 1j], [2j, -4 + 0j]]))
    torch.save({"x": x}, tmp_path / "x.pt", _use_new_zipfile_serialization=zipped)
    loaded = badak.load(tmp_path / "x.pt")["x"]
    assert loaded.tolist() == x.tolist() and loaded.requires_grad == x.requires_grad


def test_a_tensor_with_metadata_that_nobody_knows_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(torch._utils, "get_tensor_metadata", lambda tensor: {"backend": True})
    torch.save(torch.ones(2), tmp_path / "x.pt")
    with pytest.raises(badak.core.errors.FileError, match="metadata of a tensor that are unknown"):
        badak.load(tmp_path / "x.pt")
