"""Calls that PyTorch refuses: without a size, with tensors of two devices. And what it fills new memory with."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentTypeError, DeviceError

WITHOUT_SIZES = [
    lambda lib: lib.zeros(),
    lambda lib: lib.ones(dtype=lib.int64),
    lambda lib: lib.empty(),
    lambda lib: lib.rand(),
    lambda lib: lib.randn(),
    lambda lib: lib.ones(1).new_zeros(),
    lambda lib: lib.ones(1).view(),
    lambda lib: lib.tensor(1.0).expand(),
    lambda lib: lib.ones(2).sum_to_size(),
    lambda lib: lib.ones(2).resize_(),
]


@pytest.mark.parametrize("call", WITHOUT_SIZES)
def test_a_call_without_a_size_is_refused(call):
    for lib in (badak, torch):
        with pytest.raises(TypeError):
            call(lib)
    with pytest.raises(ArgumentTypeError, match="missing 1 required positional argument"):
        call(badak)


def test_no_size_is_one():
    for lib in (badak, torch):
        assert [tuple(x.shape) for x in (lib.zeros(()), lib.rand(size=()), lib.tensor(1.0).view(()), lib.Tensor())] == [
            (),
            (),
            (),
            (0,),
        ]


MIXED = {
    "taken": [
        lambda lib, m, c: m * 2,
        lambda lib, m, c: m + lib.tensor(1.0),
        lambda lib, m, c: m[lib.tensor([0])],
        lambda lib, m, c: lib.mm(m, c),
        lambda lib, m, c: lib.nn.functional.embedding(lib.tensor([0]), m),
        lambda lib, m, c: lib.nn.Embedding(3, 2, device="meta")(lib.tensor([0])),
    ],
    "refused": [
        lambda lib, m, c: m + c,
        lambda lib, m, c: c * m,
        lambda lib, m, c: lib.cat([m, c]),
        lambda lib, m, c: lib.where(c > 0, m, c),
        lambda lib, m, c: m == c,
        lambda lib, m, c: lib.nn.functional.mse_loss(m, c),
        lambda lib, m, c: lib.nn.Linear(2, 2, device="meta")(c),
        lambda lib, m, c: lib.nn.Linear(2, 2)(m),
    ],
}


@pytest.mark.parametrize("place", range(6))
def test_what_meta_tensors_take_of_real_ones(place):
    shapes = [tuple(MIXED["taken"][place](lib, lib.ones(2, 2, device="meta"), lib.ones(2, 2)).shape) for lib in (badak, torch)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("place", range(8))
def test_devices_that_do_not_mix(place):
    for lib in (badak, torch):
        with pytest.raises((RuntimeError, DeviceError)):
            MIXED["refused"][place](lib, lib.ones(2, 2, device="meta"), lib.ones(2, 2))


def test_new_memory_is_filled_where_a_program_wants_to_be_deterministic():
    for lib in (badak, torch):
        lib.use_deterministic_algorithms(True)
        try:
            made = [lib.empty(2), lib.empty_like(lib.ones(2)), lib.ones(2).new_empty(2), lib.empty_strided((2,), (1,))]
            assert all(np.isnan(x.numpy()).all() for x in made)
            assert lib.empty(1, dtype=lib.int32).tolist() == [2**31 - 1] and lib.empty(1, dtype=lib.bool).tolist() == [True]
            assert np.isnan(lib.ones(1).resize_(3).numpy()).tolist() == [False, True, True]
            lib.utils.deterministic.fill_uninitialized_memory = False
            lib.empty(2)
        finally:
            lib.utils.deterministic.fill_uninitialized_memory = True
            lib.use_deterministic_algorithms(False)


def test_what_a_function_marks_as_dirty_counts_as_changed():
    for lib in (badak, torch):

        class Same(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                ctx.mark_dirty(x)
                return x

            @staticmethod
            def backward(ctx, dy):
                return dy * ctx.saved_tensors[0]

        plain, x = lib.ones(2), lib.full((2,), 3.0, requires_grad=True)
        Same.apply(plain)
        y = x * 1
        before = y._version
        Same.apply(y).sum().backward()
        assert (plain._version, y._version - before, x.grad.tolist()) == (1, 1, [3.0, 3.0])


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_the_mean_of_integers_in_a_pool(axes):
    found = []
    for lib in (badak, torch):
        x = (lib.arange(4**axes) - 7).reshape(1, 1, *[4] * axes)
        pool = getattr(lib.nn.functional, f"avg_pool{axes}d")
        found.append((pool(x, 2, 2, 1, True).flatten().tolist(), pool(x, 2, 2, 1, False, False).flatten().tolist()))
    assert found[0] == found[1]


DEVICES = (
    "cpu cpu:0 cpu:1 cuda:1 meta meta:0 mps cpu:-1 cuda:2_ cuda:_2 cuda:2_2 cuda:2. cuda: cuda:2cuda:3 cpu:00 cuda:01 :1 CPU gpu"
)


@pytest.mark.parametrize("name", ["", *DEVICES.split()])
def test_the_name_of_a_device_is_read_as_by_pytorch(name):
    found: dict = {badak: [], torch: []}
    for lib in found:
        for each in ((name.replace("_", " "),), (name.replace("_", " "), 2), ("cpu", -2)):
            try:
                found[lib].append(str(lib.device(*each)))
            except RuntimeError:
                found[lib].append("refused")
    assert found[badak] == found[torch]


SMALL = {  # numbers that do not fit into the dtype: how they are cut, or that they are refused
    "lib.add(x, x, alpha=-1)", "lib.add(x, x, alpha=300)", "lib.sub(x, x, alpha=-2)", "x.char().add(x.char(), alpha=200)",
    "x.index_add(0, i, x[:2], alpha=-1)", "x.index_add(0, i, x[:2], alpha=300)", "x.clone().add_(x, alpha=-3)",
    "x.add(x.long(), alpha=300)",
    "lib.arange(4.).scatter(0, lib.zeros(0, 4).long(), lib.zeros(0, 4))", "lib.arange(4.).new(size=(2, 3)).shape",
    "lib.arange(4.).scatter_add(0, lib.zeros(0, 4).long(), lib.zeros(0, 4))", "lib.arange(3).apply_(lambda k: 'text')",
}  # fmt: skip


@pytest.mark.parametrize("expression", sorted(SMALL))
def test_numbers_that_do_not_fit_are_cut_or_refused_as_by_pytorch(expression):
    found = []
    for lib in (badak, torch):
        names = {"lib": lib, "x": lib.arange(1, 5, dtype=lib.uint8), "i": lib.tensor([0, 1])}
        try:
            made = eval(expression, names)
            found.append(made.tolist() if isinstance(made, lib.Tensor) else tuple(made))
        except (RuntimeError, TypeError):
            found.append("refused")
    assert found[0] == found[1]
