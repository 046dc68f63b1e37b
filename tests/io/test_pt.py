"""badak.save and badak.load: round trips, both ways with PyTorch, what is shared stays shared, what is refused is named."""

import argparse
import collections
import dataclasses
import enum
import io
import pathlib
import pickle
import types

import numpy as np
import pytest
import torch

import badak
from badak import nn
from badak.core.errors import ArgumentError, FileError, NotSupportedError
from badak.tensor import dtypes
from tests.io.attacks.pickles import archive, tensor, whole
from tests.tiers import looped

DTYPES = [dtype.name for dtype in dtypes.ALL]


def written(value, save=badak.save, **options) -> io.BytesIO:
    file = io.BytesIO()
    save(value, file, **options)
    file.seek(0)
    return file


def again(value, **options):
    return badak.load(written(value), **options)


def by_torch(value, **options):
    return torch.load(written(value), weights_only=True, **options)


@dataclasses.dataclass
class Config:
    width: int = 3
    names: list = dataclasses.field(default_factory=list)


class Color(enum.Enum):
    RED = 1


class Slotted:
    __slots__ = ("a",)

    def __init__(self):
        self.a = 5


class Own:
    def __setstate__(self, state):
        raise AssertionError("code of a class was run")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.act, self.config = nn.Linear(3, 2), nn.functional.relu, Config(4)
        self.register_buffer("mask", badak.ones(2), persistent=False)

    def forward(self, x):
        return self.act(self.inner(x)) * self.mask


PLAIN = [
    None, True, False, 0, 255, 256, -1, 2**31 - 1, -(2**31), 2**31, 2**63, -(2**200), 0.1, float("inf"), "", "text", "é\ud800",
    b"", b"\x00\xff", bytearray(b"x\xfe"), 1 + 2j, (), (1,), (1, 2, 3, 4), [], [1, [2, (3,)]], {}, {"a": {1: (2, None)}},
    set(), {1, 2}, collections.OrderedDict(a=1), collections.Counter("aab"), badak.Size([2, 3]), badak.float16,
    badak.device("cpu"), badak.device("cuda:1"), list(range(2500)), {n: str(n) for n in range(2500)},
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: repr(value)[:30])
def test_plain_values_come_back(value):
    found = again({"value": value})["value"]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("value", PLAIN[:-4], ids=lambda value: repr(value)[:30])
def test_plain_values_reach_pytorch(value):
    found = by_torch({"value": value})["value"]
    if type(value) in (badak.Size, badak.dtype):
        assert repr(found) == repr(value).replace("badak", "torch")
    else:
        assert found == value and type(found) is type(value)


EXTRA = [frozenset([1, (2, 3)]), collections.deque([1, 2], 5), range(3), slice(1, None), collections.defaultdict(list, a=[1])]


@pytest.mark.parametrize("value", EXTRA, ids=lambda value: type(value).__name__)
def test_containers_that_pytorch_refuses_come_back_too(value):
    found = again(value)
    assert found == value and type(found) is type(value)


@pytest.mark.slow
@looped(dtype=DTYPES)
@looped(shape=[(), (0,), (0, 4), (1,), (5,), (3, 4, 2)])
def test_tensors_of_every_dtype_come_back_in_both_libraries(dtype, shape):
    x = (badak.rand(shape) * 100).to(getattr(badak, dtype))
    found, theirs = again(x), by_torch(x)
    assert found.dtype is x.dtype and found.tolist() == x.tolist() == theirs.tolist()
    assert found.stride() == x.stride() and tuple(theirs.shape) == shape and str(theirs.dtype) == f"torch.{x.dtype.name}"


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_format_before_pytorch_1_6_is_written(dtype, tmp_path):
    x = (badak.rand(4, 3) * 100).to(getattr(badak, dtype))
    value = {"x": x, "t": x.t(), "row": x[1], "none": x[:0], "big": 1 << 70}
    if x.dtype.name.startswith(("float8", "uint16", "uint32", "uint64")):  # PyTorch cannot read its own
        with pytest.raises(badak.core.errors.NotSupportedError, match=f"no {x.dtype.name}\nfix: leave _use_new_zipfile"):
            badak.save(value, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
        return
    badak.save(value, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    theirs = torch.load(tmp_path / "old.pt", weights_only=True)
    assert all(theirs[name].tolist() == value[name].tolist() for name in ("x", "t", "row", "none")) and theirs["big"] == 1 << 70
    theirs["x"][1, 0] = 0 if theirs["x"][1, 0] == 1 else 1
    assert theirs["row"][0] == theirs["x"][1, 0] == theirs["t"][0, 1]


@looped(dtype=DTYPES)
@looped(zipped=[True, False])
def test_tensors_of_pytorch_are_read(dtype, zipped):
    x = (torch.rand(4, 3) * 100).to(getattr(torch, dtype))
    value = {"x": x, "t": x.t(), "row": x[1], "number": x[0, 0], "none": x[:0]}
    found = badak.load(written(value, torch.save, _use_new_zipfile_serialization=zipped))
    for name, theirs in value.items():
        assert found[name].tolist() == theirs.tolist() and (name == "none" or found[name].stride() == theirs.stride())
    found["x"][1, 0] = 7
    assert found["row"][0].item() == found["t"][0, 1].item() == found["x"][1, 0].item() != x[1, 0].item() or dtype == "bool"


def test_shared_memory_is_stored_once_and_stays_shared():
    x = badak.arange(1000.0).reshape(10, 100)
    value = {"x": x, "same": x, "t": x.t(), "part": x[2:4, ::3], "flat": x.view(-1)}
    file = written(value)
    assert len(file.getvalue()) < 4000 + 2500
    found = badak.load(file)
    assert found["same"] is found["x"]
    found["x"][2, 3] = -1
    assert found["part"][0, 1] == found["t"][3, 2] == found["flat"][203] == -1
    theirs = torch.load(written(value), weights_only=True)
    theirs["x"][2, 3] = -1
    assert theirs["part"][0, 1] == theirs["t"][3, 2] == theirs["flat"][203] == -1


def test_of_a_large_memory_only_what_is_seen_is_stored():
    x = badak.arange(100_000.0)
    file = written(x[500:510])
    assert len(file.getvalue()) < 3000 and badak.load(file).tolist() == list(range(500, 510))


def test_expanded_and_reversed_memory():
    row = badak.arange(3.0)
    wide = again(row.expand(1000, 3))
    assert wide.shape == (1000, 3) and wide.stride() == (0, 1)
    backwards = badak.Tensor._of(np.arange(6.0)[::-1])
    assert again(backwards).tolist() == by_torch(backwards).tolist() == [5, 4, 3, 2, 1, 0]


def test_parts_of_complex_memory():
    z = badak.complex(badak.arange(3.0), badak.ones(3))
    found = again({"real": badak.view_as_real(z)[:, 0], "imag": badak.view_as_real(z)[:, 1]})
    assert found["imag"].tolist() == [1, 1, 1] and found["real"].tolist() == [0, 1, 2]
    for lib in (badak, torch):
        whole = lib.complex(lib.arange(3.0), lib.ones(3))
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            lib.save([whole, lib.view_as_real(whole)], io.BytesIO())


def test_several_values_of_the_old_format_in_one_file():
    file = io.BytesIO(b"head")
    file.seek(4)
    for value in (badak.ones(2), badak.zeros(3)):
        badak.save(value, file, _use_new_zipfile_serialization=False)
    for lib in (badak, torch):
        file.seek(4)
        assert [lib.load(file).tolist(), lib.load(file).tolist(), file.read()] == [[1, 1], [0, 0, 0], b""]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("zipped", [True, False])
def test_storages_and_tensors_without_memory(zipped):
    part = badak.arange(6.0)
    small = badak.tensor([3, 4], dtype=badak.uint8)
    large = badak.empty(100000, 200000, device="meta", dtype=badak.float16).t()
    value = {"whole": part.storage(), "part": part[2:4], "bytes": small.untyped_storage(), "meta": large, "p": nn.Parameter(large)}
    file = io.BytesIO()
    badak.save(value, file, _use_new_zipfile_serialization=zipped)
    assert file.tell() < 10_000
    for lib in (badak, torch):
        file.seek(0)
        found = lib.load(file)
        assert isinstance(found["whole"], lib.storage.TypedStorage) and found["whole"].tolist() == part.tolist()
        found["part"][0] = 7
        assert found["whole"][2] == 7 and found["bytes"].tolist() == [3, 4]
        for name, kind in (("meta", lib.Tensor), ("p", lib.nn.Parameter)):
            assert type(found[name]) is kind and found[name].is_meta and found[name].stride() == (1, 200000)
    file = io.BytesIO()
    there = torch.empty(2, 3, device="meta").t()
    torch.save([there, torch.ones(3).storage()], file)
    file.seek(0)
    meta, storage = badak.load(file)
    assert meta.is_meta and meta.shape == (3, 2) and meta.stride() == (1, 3) and storage.tolist() == [1, 1, 1]


def test_circular_and_repeated_values():
    inner = [1]
    value = {"a": inner, "b": inner, "me": None}
    value["me"] = value
    for found in (again(value), by_torch(value)):
        assert found["a"] is found["b"] and found["me"] is found
    loop = ([],)
    loop[0].append(loop)
    found = again(loop)
    assert found[0][0] is found


def test_parameters_and_what_wants_a_gradient():
    parameter, leaf, made = nn.Parameter(badak.ones(2)), badak.ones(2, requires_grad=True), nn.Parameter(badak.ones(2)) * 2
    value = {"p": parameter, "q": nn.Parameter(badak.ones(2), requires_grad=False), "leaf": leaf, "made": made}
    for found, kind in ((again(value), nn.Parameter), (by_torch(value), torch.nn.Parameter)):
        assert type(found["p"]) is type(found["q"]) is kind and found["p"].requires_grad and not found["q"].requires_grad
        assert found["leaf"].requires_grad and type(found["leaf"]) is not kind and found["made"].is_leaf


def test_a_training_state_travels_to_pytorch_and_back():
    def step(lib, state=None):
        lib.manual_seed(0)
        model = lib.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
        optimizer = lib.optim.AdamW(model.parameters(), lr=0.01, eps=0.1)  # little noise of small gradients
        if state is not None:
            model.load_state_dict(state["model"])
            optimizer.load_state_dict(state["optimizer"])
        lib.manual_seed(1)
        model(lib.randn(5, 3, 8)).square().sum().backward()
        optimizer.step()
        return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "rng": lib.get_rng_state()}

    ours, theirs = step(badak), step(torch)
    for state in (again(ours), by_torch(ours), badak.load(written(theirs, torch.save))):
        assert list(state["model"]) == list(theirs["model"]) and state["epoch"] == 3
        assert state["model"]._metadata == theirs["model"]._metadata
    resumed = step(badak, badak.load(written(theirs, torch.save)))
    expected = step(torch, by_torch(again(ours)))
    for name, value in expected["model"].items():
        np.testing.assert_allclose(resumed["model"][name].numpy(), value.numpy(), atol=2e-6)


@pytest.mark.parametrize("save", [badak.save, torch.save], ids=["badak", "torch"])
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_numpy_scalars_and_arrays(save, protocol):
    arrays = [np.arange(6).reshape(2, 3), np.arange(6.0)[::-1], np.zeros((0, 2)), np.array(["a", "bcd"]), np.array([b"x"]),
              np.arange(3, dtype=">i4"), np.ones((2, 2), order="F"), np.array(True), np.array([1j])]  # fmt: skip
    scalars = [np.float64(0.1), np.float32(0.1), np.int64(-3), np.bool_(True)]
    found = badak.load(written({"arrays": arrays, "scalars": scalars}, save, pickle_protocol=protocol))
    for ours, expected in zip(found["arrays"], arrays):
        np.testing.assert_array_equal(ours, expected)
        assert ours.dtype == expected.dtype.newbyteorder("=")  # as NumPy itself does up to protocol 4
    for ours, expected in zip(found["scalars"], scalars):
        assert ours == expected and type(ours) is type(expected)


def test_data_classes_of_the_standard_library_need_weights_only_false():
    value = {"args": argparse.Namespace(lr=0.1, name="x"), "more": types.SimpleNamespace(a=1), "path": pathlib.Path("a/b")}
    for file in (written(value), written(value, torch.save)):
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
            badak.load(file)
        file.seek(0)
        found = badak.load(file, weights_only=False)
        assert found["args"] == value["args"] and found["more"] == value["more"] and str(found["path"]) == "a/b"


# whole objects


def test_a_whole_module_comes_back_where_its_classes_are_imported():
    model = Net()
    file = written(model)
    with pytest.raises(FileError, match=r"it names .*\.Net.*\nfix: .*weights_only=False"):
        badak.load(file)
    file.seek(0)
    found = badak.load(file, weights_only=False)
    assert type(found) is Net and found.config == Config(4) and found.act is nn.functional.relu
    x = badak.randn(5, 3)
    assert (found(x) == model(x)).all() and list(found.state_dict()) == list(model.state_dict())


def test_whole_objects_of_plain_classes():
    value = {"config": Config(7, ["a"]), "color": Color.RED, "slots": Slotted()}
    found = again(value, weights_only=False)
    assert found["config"] == value["config"] and found["color"] is Color.RED and found["slots"].a == 5


def test_a_class_that_would_run_code_of_its_own_is_refused():
    own = Own()
    own.a = 1
    with pytest.raises(FileError, match="it has a __setstate__ of its own, which could run"):
        again(own, weights_only=False)


def test_a_class_that_is_gone_is_refused_by_name(monkeypatch):
    file = written(Config())
    monkeypatch.delitem(globals(), "Config")
    with pytest.raises(FileError, match=r"Config \(the program has not imported it\)"):
        badak.load(file, weights_only=False)


@pytest.mark.parametrize("weights_only", [None, True, False])
def test_a_whole_module_of_pytorch_is_refused_with_the_reason(weights_only):
    file = written(torch.nn.Linear(2, 3), torch.save)
    with pytest.raises(FileError, match=r"whole module .*torch\.nn\.modules\.linear\.Linear.*\nfix: .*state_dict"):
        badak.load(file, weights_only=weights_only)


def test_classes_that_the_user_vouches_for():
    file = written({"config": Config(5)}, torch.save)
    with badak.serialization.safe_globals([Config]):
        assert badak.load(file)["config"] == Config(5) and badak.serialization.get_safe_globals() == [Config]
    assert not badak.serialization.get_safe_globals()
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Config"):
        badak.load(file)


def test_what_cannot_be_saved_is_named_with_its_place():
    def local():
        pass

    class Local:
        pass

    for value, place in (
        ({"model": [1, lambda x: x]}, r"\['model'\]\[1\]: it is a lambda"),
        ({"a": {"f": local}}, r"\['a'\]\['f'\]: it is defined inside a function"),
        ((Local(),), r"\[0\]: it is defined inside a function"),
        ({"file": io.StringIO}, None),
        ({"generator": (n for n in ())}, r"\['generator'\]: it is a generator"),
    ):
        if place is None:
            continue
        with pytest.raises(ArgumentError, match=place) as caught:
            badak.save(value, io.BytesIO())
        assert isinstance(caught.value, pickle.PicklingError | AttributeError)


# files


def test_a_path_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "state.pt"
    badak.save({"a": 1}, path)
    with pytest.raises(ArgumentError):
        badak.save({"a": badak.ones(1000), "b": lambda: 0}, path)
    assert badak.load(path) == badak.load(str(path)) == {"a": 1}
    assert [one.name for one in tmp_path.iterdir()] == ["state.pt"]
    with pytest.raises(FileError, match="cannot be written"):
        badak.save(1, tmp_path / "absent" / "state.pt")


def test_the_same_values_give_the_same_bytes():
    model = Net()
    assert written(model).getvalue() == written(model).getvalue()


def test_mapped_tensors_see_the_file_and_leave_it_alone(tmp_path):
    path = tmp_path / "x.pt"
    badak.save({"x": badak.arange(6.0), "e": badak.zeros(0)}, path)
    found = badak.load(path, mmap=True)
    found["x"][0] = 9
    assert found["x"].tolist() == [9, 1, 2, 3, 4, 5] and badak.load(path)["x"].tolist() == [0, 1, 2, 3, 4, 5]
    assert torch.load(path, mmap=True, weights_only=True)["x"].tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="f must be a file name"):
        badak.load(io.BytesIO(path.read_bytes()), mmap=True)


@pytest.mark.parametrize("mmap", [False, True])
def test_mapped_numbers_have_no_checksum_and_all_else_has_one(tmp_path, mmap):
    path = tmp_path / "x.pt"
    badak.save({"weight": badak.arange(6.0)}, path)
    data = path.read_bytes()
    numbers = np.arange(6, dtype="<f4").tobytes()
    assert data.count(numbers) == 1 and data.count(b"weight") == 1
    path.write_bytes(data.replace(numbers, numbers[::-1]))
    if mmap:
        assert badak.load(path, mmap=True)["weight"].numpy().tobytes() == numbers[::-1]
    else:
        with pytest.raises(FileError, match=r"data/0' have changed \(their CRC differs\)"):
            badak.load(path)
    path.write_bytes(data.replace(b"weight", b"height"))
    with pytest.raises(FileError, match=r"data.pkl' have changed \(their CRC differs\)\nfix: "):
        badak.load(path, mmap=mmap)


def test_an_absent_file_is_a_file_not_found_error():
    with pytest.raises(FileNotFoundError, match="nowhere.pt: no such file\nfix: ") as caught:
        badak.load("nowhere.pt")
    assert isinstance(caught.value, FileError)


def test_where_tensors_come_to():
    x = badak.ones(2)
    seen = []
    for where in (None, "cpu", badak.device("cpu"), {"cuda:0": "cpu"}, lambda storage, location: seen.append(location),
                  lambda storage, location: storage.cpu()):  # fmt: skip
        assert again(x, map_location=where).tolist() == [1, 1]
    assert seen == ["cpu"]
    for where in ("cuda", {"cpu": "cuda:1"}, lambda storage, location: storage.cuda(0)):
        with pytest.raises(NotSupportedError, match="cuda"):
            again(x, map_location=where)


def test_tensors_saved_on_a_gpu_come_to_the_cpu():
    file = written(torch.ones(3), torch.save)
    elsewhere = io.BytesIO(file.getvalue().replace(b"X\x03\x00\x00\x00cpu", b"X\x03\x00\x00\x00gpu"))
    with pytest.raises(FileError, match="CRC"):
        badak.load(elsewhere)


def test_files_of_the_other_byte_order():
    data = np.arange(6, dtype=">f4").tobytes()
    found = badak.load(io.BytesIO(archive(whole(tensor()), {"data/0": data, "byteorder": b"big"})))
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_file_without_checksums_is_read():
    torch.serialization.set_crc32_options(False)
    try:
        file = written({"x": torch.arange(3.0)}, torch.save)
    finally:
        torch.serialization.set_crc32_options(True)
    assert badak.load(file)["x"].tolist() == [0, 1, 2]


def test_unseekable_and_wrong_targets():
    class Pipe:
        def __init__(self):
            self.data = b""

        def write(self, data):
            self.data += bytes(data)

    pipe = Pipe()
    badak.save([1], pipe)
    assert badak.load(io.BytesIO(pipe.data)) == [1]
    with pytest.raises(TypeError):
        badak.save([1], 5)
    with pytest.raises(TypeError):
        badak.load(5)
    with pytest.raises(TypeError, match="opened as text"):
        badak.load(io.StringIO("x"))


def test_einops_style_use_of_the_arguments():
    assert again({"a": 1}, map_location="cpu", pickle_module=pickle, encoding="latin1") == {"a": 1}


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, 4, 8, 24, 60])
def test_a_file_of_the_old_format_with_bytes_cut_out_is_never_a_part_of_what_it_held(length):
    """At the end of a pickle there is one value, and none below it; and what it numbers is numbered in turn."""
    whole = {"model": {"w": torch.arange(3.0), "n": {"lr": 0.1, "x": [1, 2]}}, "step": 5, "rest": ("a", {"b": [3]})}
    file = io.BytesIO()
    torch.save(whole, file, _use_new_zipfile_serialization=False)
    data, refused = file.getvalue(), 0
    assert badak.load(io.BytesIO(data))["rest"] == whole["rest"]
    for at in range(len(data) - length):
        try:
            got = badak.load(io.BytesIO(data[:at] + data[at + length :]))
        except FileError as error:
            assert len(str(error).splitlines()) == 2
            refused += 1
        else:  # a letter of a text, an item of a list: nothing in the file tells of that
            assert {len(key) for key in got} == {5, 4} and len(got) == 3 or length == 1, (at, got)
    assert refused > 0.9 * (len(data) - length)


@pytest.mark.parametrize("library", [badak, torch])
def test_a_file_of_ones_own_is_flushed(library):
    class Upload:
        data, whole = b"", None

        def write(self, part):
            self.data += bytes(part)
            return len(part)

        def flush(self):
            self.whole = self.data

    sent = Upload()
    library.save({"x": library.ones(2)}, sent)
    assert sent.whole and badak.load(io.BytesIO(sent.whole))["x"].tolist() == [1, 1]


def test_a_file_of_python_2_numbers_from_1():
    file = (
        b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}q\x01(U\x10protocol_versionq\x02M\xe9\x03U\n"
        b"type_sizesq\x03}q\x04(U\x03intq\x05K\x04U\x05shortq\x06K\x02U\x04longq\x07K\x04uU\rlittle_endianq\x08\x88u."
        b"\x80\x02]q\x01(U\x02\xc5\xbcctorch._utils\n_rebuild_tensor_v2\nq\x02((U\x07storageq\x03ctorch\nFloatStorage\nq\x04U\x01aq\x05"
        b"U\x03cpuq\x06\x8a\x01\x01NtQK\x00K\x01\x85K\x01\x85\x89NtRq\x07K\x02e.\x80\x02]q\x01U\x01aq\x02a."
        b"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80?"
    )
    for library in (badak, torch):
        assert library.load(io.BytesIO(file)) == ["\u017c", library.ones(1), 2]
        assert library.load(io.BytesIO(file), weights_only=False, encoding="latin1") == ["\u00c5\u00bc", library.ones(1), 2]
        assert library.load(io.BytesIO(file), weights_only=False, encoding="bytes")[0] == "\u017c".encode()
    with pytest.raises(NotImplementedError, match="encoding='idna'"):
        badak.load(io.BytesIO(file), encoding="idna")


@pytest.mark.parametrize("other", [3, "pickle", io])
def test_another_pickle_module_is_refused(other):
    with pytest.raises(NotImplementedError, match="not with .*\nfix: leave pickle_module out"):
        badak.load(io.BytesIO(), pickle_module=other)


def test_a_pickle_module_is_asked_for_more_than_weights_as_in_pytorch():
    for lib in (badak, torch):
        file = written(lib.nn.Linear(2, 2), lib.save)
        assert lib.load(file, pickle_module=pickle).weight.shape == (2, 2)
        file.seek(0)
        with pytest.raises(pickle.UnpicklingError):
            lib.load(file)
        file.seek(0)
        with pytest.raises(pickle.UnpicklingError):
            lib.load(file, pickle_module=None, weights_only=True)


def test_an_archive_is_known_by_how_it_begins():
    for lib in (torch, badak):
        file = io.BytesIO()
        lib.save(lib.ones(2), file)
        for content, known in ((file.getvalue(), True), (b"PK\x05\x06" + bytes(100), False), (b"", False)):
            given = io.BytesIO(content)
            assert lib.serialization._is_zipfile(given) is known and given.tell() == 0
