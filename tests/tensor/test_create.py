"""New tensors: PyTorch's values, shapes and dtypes from the same call."""

from array import array

import numpy as np
import pytest
import torch

import badak
from badak.core import errors

CALLS = [
    ("tensor", ([1, 2],), {}), ("tensor", ([1.0, 2],), {}), ("tensor", ([True],), {}), ("tensor", (np.float64(1.0),), {}),
    ("tensor", ([[1, 2], [3, 4]],), {}), ("tensor", ([],), {}), ("tensor", (3 + 4j,), {}), ("tensor", (np.ones(2),), {}),
    ("tensor", ([np.float32(1), np.float32(2)],), {}), ("arange", (5,), {}), ("arange", (1, 5, 2), {}),
    ("arange", (0.0, 4, 2.0), {}), ("arange", (5, -1, -1.0), {}), ("arange", (0,), {}), ("arange", (1, 2, 0.25), {}),
    ("linspace", (0, 1, 7), {}), ("linspace", (0, 1, 1000), {}), ("linspace", (-3, 10, 777), {}), ("linspace", (0, 1, 1), {}),
    ("logspace", (0, 2, 5), {}), ("logspace", (-3, 2, 77), {}), ("eye", (3,), {}), ("eye", (2, 3), {}),
    ("tril_indices", (3, 4), {}), ("triu_indices", (3, 3), {"offset": 1}), ("zeros", (2, 3), {}), ("zeros", ([2, 3],), {}),
    ("ones", ((2, 3),), {}), ("ones", (), {"size": (2,)}), ("full", ((2, 2), 1.5), {}), ("full", ((2,), 7), {}),
    ("full", ((), True), {}), ("FloatTensor", ([64],), {}), ("LongTensor", (([1, 2], [3, 4]),), {}),
]  # fmt: skip


@pytest.mark.parametrize("name, args, options", CALLS, ids=lambda value: str(value)[:30])
def test_the_same_call_makes_the_same_tensor(name, args, options):
    expected, made = getattr(torch, name)(*args, **options), getattr(badak, name)(*args, **options)
    assert made.dtype.name == str(expected.dtype).removeprefix("torch.")
    assert tuple(made.shape) == tuple(expected.shape)
    np.testing.assert_array_equal(made.numpy(), expected.numpy())


def test_from_numpy_shares_memory_and_tensor_copies():
    array = np.zeros(3, np.float32)
    shared, copied = badak.from_numpy(array), badak.tensor(array)
    array[0] = 1
    assert shared[0].item() == 1 and copied[0].item() == 0


def test_dlpack_carries_a_real_torch_tensor_both_ways_without_a_copy():
    theirs = torch.zeros(3)
    ours = badak.from_dlpack(theirs)
    ours[1] = 5
    assert theirs[1].item() == 5
    assert torch.from_dlpack(ours).data_ptr() == theirs.data_ptr()


@pytest.mark.parametrize(
    "action, words",
    [
        (lambda: badak.tensor([[1, 2], [3]]), "ragged"),
        (lambda: badak.tensor("abc"), "expected numbers"),
        (lambda: badak.tensor([1, "a"]), "expected numbers"),
        (lambda: badak.tensor([1, None]), "expected numbers"),
        (lambda: badak.zeros(2, -1), "negative dimension"),
        (lambda: badak.zeros(2.5), "shape of ints"),
        (lambda: badak.zeros(2, foo=1), "foo"),
        (lambda: badak.zeros(2, device="cuda"), "badak computes on the CPU"),
        (lambda: badak.arange(0, 5, 0), "nonzero"),
        (lambda: badak.arange(5, 0), "inconsistent"),
        (lambda: badak.from_numpy([1]), "np.ndarray"),
        (lambda: badak.from_numpy(np.zeros(3)[::-1]), "negative"),
    ],
)
def test_what_cannot_be_made_is_explained(action, words):
    with pytest.raises(errors.BadakError, match=words) as caught:
        action()
    assert caught.value.fix


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_a_legacy_constructor_stays_on_the_cpu_within_another_device(lib):
    with lib.device("meta"):
        made = [lib.FloatTensor(1, 2), lib.FloatTensor(), lib.LongTensor([1]), lib.Tensor(2), lib.Tensor([1.0]), lib.ones(2)]
    assert [x.device.type for x in made] == [*["cpu"] * 5, "meta"]


def test_new_takes_a_size_as_sizes_and_a_tuple_as_data():
    for m in (torch, badak):
        x = m.ones(4, 3)
        assert tuple(x.new(x.shape).shape) == (4, 3)
        assert x.new((4, 3)).tolist() == [4, 3] and tuple(x.new(4, 3).shape) == (4, 3)


BUFFERS = [bytearray(b"ab"), bytearray(), [bytearray(b"ab"), bytearray(b"cd")], memoryview(b"ab"), array("i", [1, -2])]
BUFFERS += [array("Q", [1]), array("d", [0.5]), memoryview(array("f", [1.5]))]


@pytest.mark.parametrize("data", BUFFERS, ids=lambda data: type(data).__name__)
@pytest.mark.parametrize("options", [{}, {"dtype": "float32"}])
def test_buffers_of_python_are_sequences_of_numbers(data, options):
    for name in ("tensor", "as_tensor"):
        made, judge = (getattr(lib, name)(data, **{k: getattr(lib, v) for k, v in options.items()}) for lib in (badak, torch))
        assert str(made.dtype).partition(".")[2] == str(judge.dtype).partition(".")[2] and made.tolist() == judge.tolist()


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_truths_are_not_counted(lib):
    for call in (
        lambda: lib.arange(2, dtype=lib.bool),
        lambda: lib.linspace(0, 1, 2, dtype=lib.bool),
        lambda: lib.logspace(0, 1, 2, dtype=lib.bool),
    ):
        with pytest.raises(NotImplementedError):
            call()
    assert lib.linspace(5, 10, 1, dtype=lib.bool).tolist() == [True]


def test_a_tensor_in_a_list_is_one_number():
    for items in (
        lambda t: [t([1.0]), t([[2.0]])], lambda t: [3.0, t([2.0])], lambda t: [[t([1])], [t(2.0)]], lambda t: [t([1.0])],
    ):  # fmt: skip
        ours, theirs = (lib.tensor(items(lib.tensor)) for lib in (badak, torch))
        assert tuple(ours.shape) == tuple(theirs.shape) and ours.tolist() == theirs.tolist()
    for lib in (badak, torch):
        for wrong in ([lib.ones(2), lib.ones(2)], [1.0, lib.ones(2)], [lib.ones(0)]):
            with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
                lib.tensor(wrong)


def test_an_unknown_keyword_is_refused():
    """out= where a shape, dtype or place comes from elsewhere; sizes given twice; a word that nobody knows."""
    x, there = badak.zeros(2), badak.zeros(2)
    calls = [
        *(lambda f=f: f(x, out=there) for f in (badak.zeros_like, badak.ones_like, badak.empty_like)),
        *(lambda f=f: f((2,), out=there) for f in (x.new_zeros, x.new_ones, x.new_empty)),
        lambda: badak.full_like(x, 1.0, out=there),
        lambda: x.new_full((2,), 1.0, out=there),
        lambda: badak.empty_strided((2,), (1,), out=there),
        lambda: badak.empty_permuted((2,), (0,), out=there),
        lambda: badak.tril_indices(1, 1, out=there),
        lambda: badak.zeros(2, size=(3,)),
        lambda: badak.rand(2, size=(3,)),
        lambda: badak.randn(2, wide=True),
        lambda: badak.reshape(x, (2,), out=there),
        lambda: x.reshape((2,), shape=(1, 2)),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"keyword argument '(out|size|wide|shape)'|several values for the argument 'size'"):
            call()
    assert x.reshape(shape=(1, 2)).shape == (1, 2) and badak.rand(size=(3,)).shape == (3,)


def test_limits_of_another_kind_of_dtype_are_a_type_error():
    for kind in ("float32", "bfloat16", "bool", "complex64"):
        with pytest.raises(TypeError):
            torch.iinfo(getattr(torch, kind))
        with pytest.raises(TypeError, match="expected an integer dtype"):
            badak.iinfo(getattr(badak, kind))
    assert badak.finfo(badak.complex32).eps == torch.finfo(torch.complex32).eps


def test_out_says_the_dtype():
    calls = [
        lambda t, **how: t.zeros(2, **how), lambda t, **how: t.ones(2, **how), lambda t, **how: t.empty(2, **how),
        lambda t, **how: t.full((2,), 1.5, **how), lambda t, **how: t.arange(2, **how), lambda t, **how: t.linspace(0, 1, 2, **how),
        lambda t, **how: t.rand(2, **how), lambda t, **how: t.randn(2, **how), lambda t, **how: t.randint(3, (2,), **how),
        lambda t, **how: t.randperm(2, **how), lambda t, **how: t.logspace(0, 1, 2, **how),
    ]  # fmt: skip
    for at, call in enumerate(calls):
        made = []
        for t in (badak, torch):
            with pytest.raises((RuntimeError, TypeError), match=r"dtype \w+ does not match dtype of out parameter \(Double\)"):
                call(t, dtype=t.int64 if at == 8 else t.float32, out=t.empty(2, dtype=t.float64))
            t.manual_seed(0)
            made.append(call(t, out=t.empty(2, dtype=t.float64)).tolist())
        assert made[0] == made[1] or at == 2
    assert badak.full((2,), 1.5, out=badak.empty(2, dtype=badak.int64)).tolist() == [1, 1]
    with pytest.raises(TypeError):
        badak.rand(2, out=badak.empty(2, dtype=badak.int64))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors_of_one_float_stand_for_numbers(dtype):
    def made(lib):
        kind = {"dtype": getattr(lib, dtype)}
        a, b = lib.tensor(-3.3, **kind), lib.tensor(7.1)
        return [
            *(lib.linspace(a, b, n, **kind) for n in (0, 1, 2, 6)), lib.linspace(a, 2, 5),
            lib.full((2, 3), a), lib.full((2,), a, dtype=lib.int64), lib.full((2,), a, requires_grad=True),
            lib.full_like(lib.ones(2, **kind), a), lib.ones(2).new_full((3,), a),
        ]  # fmt: skip

    for ours, theirs in zip(made(badak), made(torch), strict=True):
        assert str(ours.dtype)[6:] == str(theirs.dtype)[6:] and ours.requires_grad == theirs.requires_grad
        np.testing.assert_array_equal(ours.detach().numpy(), theirs.detach().numpy())
    powers = [lib.logspace(0, lib.tensor(-3.3), 4, dtype=getattr(lib, dtype)).numpy() for lib in (badak, torch)]
    np.testing.assert_array_max_ulp(*powers, maxulp=1)  # NumPy's power has other last digits with AVX-512


def test_too_large_a_number_becomes_infinite_without_a_warning():
    for lib in (badak, torch):
        assert lib.tensor([1e300, -1e300]).tolist() == [float("inf"), -float("inf")]
        assert lib.as_tensor(np.array([1e300]), dtype=lib.float16).tolist() == [float("inf")]


SEQUENCES = {
    "arange": lambda lib, out: lib.arange(0, 4, out=out),
    "linspace": lambda lib, out: lib.linspace(0, 3, 4, out=out),
    "logspace": lambda lib, out: lib.logspace(0, 3, 4, out=out),
    "range": lambda lib, out: lib.range(0, 3, out=out),
}


@pytest.mark.filterwarnings("ignore:range is deprecated", "ignore:torch.range is deprecated")
@pytest.mark.parametrize("make", SEQUENCES.values(), ids=SEQUENCES)
def test_a_sequence_goes_into_memory_of_its_size_in_any_shape(make):
    found = []
    for lib in (badak, torch):
        x = lib.zeros(2, 3)
        y = make(lib, x.narrow(1, 1, 2))
        found.append((x.tolist(), y.tolist()))
    assert found[0] == found[1]
    with pytest.raises(RuntimeError, match="unsupported operation: more than one element of the written-to tensor"):
        make(badak, badak.rand(1).expand(4))


def test_out_that_several_entries_share_is_refused():
    for call in (
        lambda out: badak.add(badak.ones(4), 1, out=out),
        lambda out: badak.ones(4, out=out),
        lambda out: badak.cat([badak.ones(4)], out=out),
        lambda out: badak.sort(badak.ones(4), out=(out, badak.arange(4))),
    ):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"):
            call(badak.rand(1).expand(4))


@pytest.mark.parametrize("count, offset", [(0, 0), (-1, 8), (-1, -4), (3, 0), (-1, 2), (2, 4), (-1, 9)])
def test_a_buffer_that_does_not_hold_what_is_asked_for(count, offset):
    for lib in (badak, torch):
        with pytest.raises(ValueError) as caught:
            lib.frombuffer(bytearray(8), dtype=lib.float32, count=count, offset=offset)
        if lib is badak:
            said = str(caught.value)
        else:
            assert str(caught.value).split("(")[0] in said
    for lib in (badak, torch):
        with pytest.raises(ValueError, match="must not be 0"):
            lib.frombuffer(bytearray(0), dtype=lib.float32)


def test_empty_vectors_join_along_any_dim():
    for lib in (badak, torch):
        nothing, x = lib.zeros(0), lib.ones(2, 3)
        for dim in (0, 1, -1):
            assert lib.cat([nothing, nothing], dim).shape == (0,)
            assert lib.cat([nothing, x], dim).shape == lib.cat([x, nothing], dim).shape == (2, 3)


def test_asarray_shares_memory_or_says_that_it_cannot():
    for lib in (badak, torch):
        memory = bytearray(8)
        for buffer in (memory, memoryview(memory)):
            x = lib.asarray(buffer, dtype=lib.int32)
            assert x.shape == (2,) and lib.asarray(buffer).dtype == lib.float32
            memory[0] = 7
            assert x[0] == 7 and lib.asarray(buffer, dtype=lib.int32, copy=True)[0] == 7
            memory[0] = 0
        assert lib.asarray(np.arange(3), copy=False).tolist() == [0, 1, 2]
        for wrong in ({"obj": [1, 2]}, {"obj": np.arange(3), "dtype": lib.float32}, {"obj": lib.arange(3), "dtype": lib.float32}):
            with pytest.raises(ValueError):
                lib.asarray(copy=False, **wrong)


def test_dlpack_copies_where_that_is_asked_and_shares_what_may_be_written():
    for lib in (torch, badak):
        x = lib.arange(6.0).reshape(2, 3).t()
        shared, own = lib.from_dlpack(x, device="cpu", copy=False), lib.from_dlpack(x, copy=True)
        shared.add_(1)
        assert x[0, 0] == 1 and own[0, 0] == 0 and own.stride() == (1, 3)
    theirs = torch.ones(2)
    badak.from_dlpack(torch.utils.dlpack.to_dlpack(theirs)).mul_(2)  # a capsule of the protocol before versions
    assert theirs.tolist() == [2, 2]
    half = badak.ones(2, dtype=badak.bfloat16)
    assert badak.from_dlpack(half).data_ptr() == half.data_ptr() != badak.from_dlpack(half, copy=True).data_ptr()


def test_dlpack_says_what_cannot_be_shared():
    locked = np.arange(3.0)
    locked.flags.writeable = False
    assert badak.from_dlpack(locked, copy=True).add_(1).tolist() == [1, 2, 3]
    with pytest.raises(errors.GraphError, match="memory that may only be read"):
        badak.from_dlpack(locked).add_(1)
    with pytest.raises(errors.GraphError, match="more than one element"):
        badak.zeros(1).expand(3).add_(1)
    for call in (
        lambda: badak.from_dlpack(torch.ones(2).bfloat16()),
        lambda: np.from_dlpack(badak.ones(2).bfloat16()),
        lambda: np.from_dlpack(badak.ones(2, requires_grad=True)),
        lambda: badak.from_dlpack(badak.ones(2, dtype=badak.bfloat16, requires_grad=True)),
    ):
        with pytest.raises(errors.ExportError) as caught:
            call()
        assert isinstance(caught.value, BufferError) and caught.value.fix
    for call in (lambda: badak.from_dlpack(np.ones(2), device="cuda"), lambda: badak.ones(2).__dlpack__(dl_device=(2, 0))):
        with pytest.raises(errors.DeviceError):
            call()
    for pair in ({"dl_device": 3}, {"max_version": "x"}):
        with pytest.raises(errors.ArgumentTypeError, match="a tuple of two integers"):
            badak.ones(2).__dlpack__(**pair)
    with pytest.raises(errors.ArgumentTypeError, match="copy"):
        badak.from_dlpack(np.ones(2), copy="x")


def test_an_unknown_device_is_answered_with_the_known_ones_as_libraries_read_them():
    known = []
    for lib in (torch, badak):
        with pytest.raises(RuntimeError) as caught:
            lib.device("notadevice")
        known.append(str(caught.value).splitlines()[0])
    assert known[0] == known[1]


@pytest.mark.parametrize("dtype", [None, "complex64", "complex128"])
@pytest.mark.parametrize("ends", [(0, 1 + 2j), (1j, 2), (0.5, 3), (-1 - 1j, 1 + 1j)])
def test_complex_numbers_evenly_spaced(ends, dtype):
    if dtype is None and not any(isinstance(end, complex) for end in ends):
        return
    for name in ("linspace", "logspace"):
        for steps in (0, 1, 5):
            theirs, ours = (getattr(t, name)(*ends, steps, dtype=dtype and getattr(t, dtype)) for t in (torch, badak))
            assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-6 if theirs.dtype is torch.complex64 else 1e-13)
    with pytest.raises(RuntimeError, match="can't be safely cast"):
        badak.linspace(0, 1j, 3, dtype=badak.float32)
    with pytest.raises(RuntimeError, match="can't be safely cast"):
        badak.linspace(0, 1j, 3, out=badak.empty(0))


class Speaks:
    """An array that has DLPack's protocol and no other."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **asked):
        return self.x.__dlpack__(**asked)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("t", [torch, badak])
def test_an_array_that_speaks_dlpack_and_a_capsule_are_taken(t):
    x = t.arange(3.0)
    for shared in (t.as_tensor(Speaks(x)), t.asarray(Speaks(x)), t.asarray(t.utils.dlpack.to_dlpack(x), copy=False)):
        assert shared.data_ptr() == x.data_ptr()
    copied = t.tensor(Speaks(x), dtype=t.float64)
    assert (copied.tolist(), copied.dtype) == ([0, 1, 2], t.float64)
    assert t.tensor(Speaks(x)).data_ptr() != x.data_ptr()


@pytest.mark.parametrize("t", [torch, badak])
def test_limits_of_one_dtype_are_equal(t):
    assert t.finfo(t.float16) == t.finfo(t.float16) != t.finfo(t.float32) == t.finfo()
    assert t.iinfo(t.int8) == t.iinfo(t.int8) != t.iinfo(t.uint8)


@pytest.mark.parametrize("t", [torch, badak])
@pytest.mark.parametrize("name", ["from_numpy", "as_tensor", "asarray"])
def test_memory_is_shared_with_arrays_that_go_forwards_by_whole_entries(t, name):
    share = getattr(t, name)
    with pytest.raises((ValueError, RuntimeError), match="At least one stride in the given numpy array is negative"):
        share(np.arange(4.0)[::-1])
    with pytest.raises((ValueError, RuntimeError), match="strides not a multiple of the element byte size"):
        share(np.lib.stride_tricks.as_strided(np.arange(4.0), (2,), (3,)))
    array = np.arange(6.0).reshape(2, 3).T
    share(array)[0, 1] = 9.0
    assert array[0, 1] == 9.0
