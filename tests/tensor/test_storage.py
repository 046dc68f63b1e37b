"""Storages next to PyTorch's: how much memory a tensor sees, where it begins, and who sees the same."""

import copy
import pickle

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import FileError


def sizes(library):
    """Bytes, and places seen from the first byte, of storages, of slices of them, and of tensors that see these."""
    m = library.arange(10.0)
    whole = m.untyped_storage()
    part = whole[8:24]
    n = library.empty([], dtype=m.dtype).set_(source=part)
    inner = n.untyped_storage()[4:8]
    told = [(s.nbytes(), s.data_ptr() - whole.data_ptr()) for s in (whole, part, n.untyped_storage(), inner, whole[:])]
    n[1] = 7.0
    views = [x.untyped_storage().nbytes() for x in (m[2:], m[::3], n[1:], n.view(2, 2).t())]
    return told, views, m.tolist(), n.tolist(), n.storage_offset(), len(whole[3:3])


def test_slices_of_storages_are_storages_of_their_own():
    assert sizes(badak) == sizes(torch)


@pytest.mark.parametrize("make", ["zeros(2, 3)", "zeros(0)", "zeros(2, 3, dtype=torch.int64)", "zeros(4, 4).t()"])
def test_the_storage_of_a_tensor_on_the_meta_device_has_a_size_and_no_place(make):
    told = []
    for library in (badak, torch):
        with library.device("meta"):
            x = eval(make.replace("torch.", "library."), {"library": library, "zeros": library.zeros})
        s = x.untyped_storage()
        told.append((s.nbytes(), len(s), s.data_ptr(), x.data_ptr(), str(s.device)))
    assert told[0] == told[1]


def test_bytes_of_the_meta_device_are_not_there():
    with pytest.raises(badak.core.errors.NoDataError, match="this storage has no bytes\nfix: "):
        badak.zeros(2, device="meta").untyped_storage().tolist()


def test_a_file_as_a_tensor(tmp_path):
    path = tmp_path / "numbers"
    for space in (badak, torch):
        path.write_bytes(np.arange(4, dtype=np.int32).tobytes())
        x = space.from_file(str(path), False, 3, dtype=space.int32)
        x[0] = 9
        assert x.tolist() == [9, 1, 2] and np.fromfile(path, np.int32).tolist() == [0, 1, 2, 3]
        y = space.from_file(str(path), shared=True, size=5, dtype=space.int32)
        y[0] = 7
        assert y.tolist() == [7, 1, 2, 3, 0] and np.fromfile(path, np.int32)[0] == 7
        with pytest.raises((OSError, RuntimeError)):
            space.from_file(str(tmp_path / "none"), False, 3)
    with pytest.raises(FileError, match="\\nfix: "):
        badak.from_file(path, False, 300)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64", "int8"])
def test_the_numbers_of_a_meta_tensor_say_that_they_are_on_meta(dtype):
    def shown(library):
        numbers = library.zeros(2, 3, dtype=getattr(library, dtype), device="meta").storage()
        text = repr(numbers).replace(library.__name__, "")
        return str(numbers.device), numbers.size(), numbers.nbytes(), numbers.data_ptr(), text

    assert shown(badak) == shown(torch)
    for library in (badak, torch):
        with pytest.raises(NotImplementedError, match="Not available for 'meta' device type"):
            library.zeros(2, device="meta").storage()[0]


def of_meta(library):
    """What the storages of the meta device do and refuse."""
    Storage = library.UntypedStorage  # noqa: N806
    make = lambda: library.zeros(2, 3, device="meta").untyped_storage()  # noqa: E731
    told = []
    for call in (
        make,
        lambda: Storage(6, device="meta"),
        lambda: Storage([1, 2], device="meta"),
        lambda: make().clone(),
        lambda: copy.copy(make()),
        lambda: copy.deepcopy(make()),
        lambda: make().fill_(1),
        lambda: make().copy_(Storage(24)),
        lambda: make().resize_(4),
        lambda: make().untyped(),
        lambda: make().cpu(),
        lambda: Storage(24).copy_(make()),
        lambda: make().tolist(),
        lambda: list(make()),
        lambda: make()[0],
        lambda: make()[1:3],
        lambda: make().pin_memory(),
        lambda: make().share_memory_(),
        lambda: library.zeros(2, device="meta").storage().cpu(),
    ):
        try:
            one = call()
            told.append((type(one) is Storage, str(one.device), one.nbytes()))
        except (RuntimeError, TypeError):
            told.append("refused")
    storage = make()
    storage[0] = 1
    return told, storage.is_shared(), storage.is_pinned(), storage.resizable(), repr(storage).replace(library.__name__, "")


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_a_storage_on_the_meta_device_is_of_the_one_class_and_copies_nothing_to_the_cpu():
    assert of_meta(badak) == of_meta(torch)
    with pytest.raises(badak.core.errors.NoDataError, match="^Cannot copy out of meta tensor; no data!\nfix: "):
        badak.zeros(2, device="meta").untyped_storage().cpu()


@pytest.mark.parametrize("library", [badak, torch])
def test_a_tensor_with_a_history_is_pickled_as_a_leaf(library):
    y = library.ones(2, requires_grad=True) * 2
    again = pickle.loads(pickle.dumps([y, y]))
    assert again[0].tolist() == [2, 2] and again[0].is_leaf and again[0].requires_grad
    with pytest.raises(RuntimeError, match="deepcopy protocol"):
        copy.deepcopy(y)


def shared(lib):
    """Which tensors change with another, after a deepcopy and by the old constructors; and whether a history stays."""
    a = lib.ones(2, 3)
    copies = copy.deepcopy([a, a.view(6), a.t(), a[1], a.untyped_storage()])
    copies[0].add_(1)
    found = [x.tolist() for x in copies[:4]] + [copies[4].data_ptr() == copies[0].data_ptr(), a.sum().item()]
    for make in (lib.Tensor, lib.FloatTensor, a.new):
        x = lib.zeros(2)
        make(x).fill_(3)
        found.append(x.tolist())
        y = lib.ones(2, requires_grad=True) * 2
        found.append(make(y).requires_grad)
    for make in (lib.DoubleTensor, lib.LongTensor, a.double().new):
        try:
            found.append(make(a).tolist())
        except TypeError:
            found.append("refused")
    return found


def test_tensors_share_memory_after_a_deepcopy_and_by_old_constructors_as_in_pytorch():
    assert shared(badak) == shared(torch)


def refused(lib, case):
    kind = lib.float64
    cases = {
        "words": lambda: "foo" in lib.arange(3),
        "a list": lambda: [1, 2] in lib.arange(3),
        "a number": lambda: 2 in lib.arange(3),
        "memory of another dtype": lambda: lib.ones(2).set_(lib.ones(2, dtype=kind).storage()).tolist(),
        "a matrix": lambda: lib.empty(3, 3, memory_format=lib.channels_last),
        "pictures": lambda: lib.empty(2, 3, 4, 5, memory_format=lib.channels_last).stride(),
    }
    try:
        return cases[case]()
    except (RuntimeError, TypeError):
        return "refused"


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("subject", ["words", "a list", "a number", "memory of another dtype", "a matrix", "pictures"])
def test_what_would_be_answered_by_chance_is_refused_as_in_pytorch(subject):
    assert refused(badak, subject) == refused(torch, subject)


def test_the_slope_of_infinite_samples_looks_at_its_neighbours_alone():
    x, inf = [2, -2, float("inf"), float("inf"), -float("inf"), 3, float("nan"), 1], float("inf")
    for spacing in (1.0, 0.5, [2.0]):
        mine, expected = (lib.gradient(lib.tensor(x), spacing=spacing)[0] for lib in (badak, torch))
        np.testing.assert_array_equal(mine.numpy(), expected.numpy())
    assert inf in mine.tolist()


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_a_number_tells_tensors_apart(lib):
    x = lib.nn.Linear(2, 2)
    assert x.weight._cdata == x.weight._cdata == next(x.parameters())._cdata != x.bias._cdata and isinstance(x.bias._cdata, int)


OLD_STORAGES = {
    "of the default dtype": lambda lib: [
        len(lib.Storage()),
        len(lib.Storage(3)),
        lib.Storage([1, 2.5]).tolist(),
        isinstance(lib.ones(2).storage(), lib.Storage),
        isinstance(lib.ones(2).double().storage(), lib.Storage),
        str(lib.Storage(1).dtype).rpartition(".")[2],
    ],
    "of numbers": lambda lib: lib.FloatStorage([1, 2.5, 3]).tolist(),
    "changed": lambda lib: (s := lib.LongStorage(5), s.fill_(0), s.__setitem__(slice(1, 3), 2), s.__setitem__(-1, 7), s.tolist())[
        -1
    ],
    "of bytes": lambda lib: [lib.IntStorage.from_buffer(b"\1\2\3\4", byte_order=order).tolist() for order in ("little", "big")],
    "untyped bytes": lambda lib: lib.UntypedStorage.from_buffer(b"\1\2\3\4", dtype=lib.int16, byte_order="big").tolist(),
    "typed": lambda lib: lib.TypedStorage([0, 2], dtype=lib.bool).tolist() + [lib.TypedStorage(3, dtype=lib.int16).nbytes()],
    "meta": lambda lib: lib.TypedStorage([1, 2], dtype=lib.float64, device="meta").nbytes(),
    "classes": lambda lib: [isinstance(lib.ones(2).storage(), kind) for kind in (lib.FloatStorage, lib.DoubleStorage)],
    "of a tensor": lambda lib: lib.ones(2).double().storage_type().__name__,
    "as a tensor": lambda lib: (x := lib.arange(3.0), lib.tensor(x.storage()).fill_(2), x.tolist())[-1],
    "bytes as a tensor": lambda lib: lib.as_tensor(lib.arange(3.0).untyped_storage()).tolist(),
    "copied": lambda lib: (s := lib.ByteStorage([1, 2]), s.clone().fill_(5), s.copy_(lib.ByteStorage([3, 4])), s.tolist())[-1],
    "bfloat16": lambda lib: lib.storage._dtype_to_storage_type_map()[lib.bfloat16],
}


@pytest.mark.parametrize("name", OLD_STORAGES)
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages_of_older_programs(name):
    assert OLD_STORAGES[name](badak) == OLD_STORAGES[name](torch)


OLD_REFUSALS = {
    "another dtype": lambda lib: lib.tensor(lib.arange(3.0).storage(), dtype=lib.int64),
    "set_ to another dtype": lambda lib: lib.zeros(2, dtype=lib.int64).set_(lib.arange(3.0).storage()),
    "set_ to a tensor of another dtype": lambda lib: lib.zeros(2, dtype=lib.int64).set_(lib.arange(3.0)),
    "a storage as a number": lambda lib: (s := lib.FloatStorage(2)).__setitem__(0, s),
    "two arguments": lambda lib: lib.FloatStorage(1, 2),
    "meta": lambda lib: lib.TypedStorage(2, dtype=lib.float64, device="meta")[0],
}


@pytest.mark.parametrize("name", OLD_REFUSALS)
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages_of_older_programs_refuse(name):
    for lib in (badak, torch):
        with pytest.raises(RuntimeError):
            OLD_REFUSALS[name](lib)


@pytest.mark.parametrize("wrong", [lambda: badak.TypedStorage(wrap_storage=3, dtype=badak.int8), lambda: badak.FloatStorage("ab")])
def test_storages_of_no_numbers_are_refused(wrong):
    with pytest.raises(badak.core.errors.ArgumentTypeError, match="expected .*; got .*\\nfix: "):
        wrong()


def test_indices_outside_a_storage_are_refused():
    with pytest.raises(IndexError, match="index 9 out of range for storage of size 5"):
        badak.FloatStorage(5)[9]
    with pytest.raises(ValueError, match="invalid byte_order 'x'"):
        badak.IntStorage.from_buffer(b"\1\2\3\4", byte_order="x")


def test_classes_of_dtypes_are_no_bases():
    for lib in (badak, torch):
        with pytest.raises(TypeError, match="FloatTensor' is not an acceptable base type"):
            type("Mine", (lib.FloatTensor,), {})


def test_a_buffer_holds_complete_numbers():
    for lib in (torch, badak):
        with pytest.raises(ValueError, match=r"buffer size \(3\) must be a multiple of element size \(4\)"):
            lib.FloatStorage.from_buffer(b"abc", byte_order="native")
