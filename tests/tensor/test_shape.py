"""Views, joins, repetitions and paddings against PyTorch; views share memory."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import badak as bk
from badak.core.errors import ArgumentError, ArgumentTypeError, IndexOutOfRangeError, ShapeError
from badak.ops.op import Saved
from badak.ops.shape import Unbind
from tests.twins import agree, agree_both, flags, floats, whole


def by_method(name, *args, **named):
    """The same method call on both sides, on a contiguous and on a transposed tensor."""
    for x, *rest in (args, (args[0].detach().transpose(0, -1).contiguous().requires_grad_(), *args[1:])):
        agree(lambda x, *a: getattr(x, name)(*a, **named), lambda x, *a: getattr(x, name)(*a, **named), x, *rest)


@pytest.mark.parametrize("shape", [(3, 8), (-1,), ((4, 6),), ([2, -1],), (2, 2), (5, -1), (24,), (2, 3, 2, 2)], ids=str)
def test_view_and_reshape(shape):
    by_method("view", floats(2, 3, 4), *shape)
    by_method("reshape", floats(2, 3, 4), *shape)
    turned = lambda x, *s: x.transpose(0, 2).reshape(*s)
    agree(turned, turned, floats(2, 3, 4), *shape)


def test_view_refuses_memory_that_does_not_allow_it():
    with pytest.raises(ShapeError, match=r"view size is not compatible .* Use .reshape\(...\) instead"):
        floats(2, 3).t().view(6)
    with pytest.raises(ShapeError, match=r"shape '\[2, 2\]' is invalid for input of size 3"):
        floats(3).view(2, 2)
    agree(lambda x: x.transpose(1, 2).view(2, 4, 3), lambda x: x.transpose(1, 2).view(2, 4, 3), floats(2, 3, 4))


def test_views_share_memory_and_copies_do_not():
    x = bk.zeros(2, 3)
    for view in (
        x.view(6),
        x.t(),
        x[0],
        x[:, 1:],
        x.unsqueeze(0),
        x.reshape(3, 2),
        x.expand(4, 2, 3),
        x.diagonal(),
        x.split(1)[0],
        x.unbind(1)[2],
    ):
        assert np.shares_memory(view.numpy(), x.numpy())
    for copy in (x.t().reshape(6), x.flip(0), x.repeat(1, 1), bk.cat([x]), x.tril(), x[[0]], x.clone()):
        assert not np.shares_memory(copy.numpy(), x.numpy())
    x.diagonal().fill_(1.0)
    assert x.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_order_of_dims():
    by_method("transpose", floats(2, 3, 4), 0, -1)
    by_method("permute", floats(2, 3, 4), 2, 0, -2)
    agree_both("permute", floats(2, 3, 4), (2, 0, 1))
    agree_both("movedim", floats(2, 3, 4), 0, 2)
    agree_both("movedim", floats(2, 3, 4), (0, 1), (2, 0))
    agree_both("swapaxes", floats(2, 3), 0, 1)
    for x in (floats(2, 3), floats(3)):
        agree_both("t", x)
    agree(lambda x: x.mT, lambda x: x.mT, floats(2, 3, 4))
    agree(lambda x: x.T, lambda x: x.T, floats(2, 3))


def test_order_of_dims_that_makes_no_sense():
    with pytest.raises(IndexOutOfRangeError, match=r"expected to be in range of \[-2, 1\], but got 4"):
        floats(2, 3).transpose(0, 4)
    with pytest.raises(ArgumentError, match="duplicate dims"):
        floats(2, 3).permute(0, 0)
    with pytest.raises(ShapeError, match="number of dimensions"):
        floats(2, 3).permute(0)
    with pytest.raises(ShapeError, match="<= 2 dimensions"):
        floats(2, 2, 2).t()


@pytest.mark.parametrize("dim", [0, -1, 1, 2, 3, -4])
def test_dims_of_size_one(dim):
    agree_both("unsqueeze", floats(2, 3), dim)
    agree_both("squeeze", floats(2, 1, 3), dim)


def test_flattening():
    for x, args in (
        (floats(2, 3, 4), ()),
        (floats(2, 3, 4), (1,)),
        (floats(2, 3, 4), (0, 1)),
        (floats(), ()),
        (floats(2, 3), (1, 0)),
    ):
        agree_both("flatten", x, *args)
    agree_both("squeeze", floats(1, 2, 1))
    agree_both("squeeze", floats(1, 2, 1), (0, 2))
    agree_both("unflatten", floats(2, 6), 1, (2, -1))
    agree_both("ravel", floats(2, 3))


def test_expanding():
    for shape in ((2, 3), (4, 2, 3), (-1, 3), (2, 4), (0, 2, 1)):
        agree(lambda x, *s: x.expand(*s), lambda x, *s: x.expand(*s), floats(2, 1), *shape)
    agree_both("expand_as", floats(1, 3), floats(2, 3))
    agree_both("broadcast_to", floats(3), (2, 3))
    agree_both("broadcast_tensors", floats(3), floats(2, 1))
    with pytest.raises(ShapeError, match=r"The expanded size of the tensor \(4\) must match the existing size \(3\)"):
        floats(3).expand(2, 4)


@pytest.mark.parametrize("dim", [0, 1])
def test_pieces(dim):
    x = floats(4, 5)
    agree_both("split", x, 2, dim)
    agree_both("split", x, [1, 2, x.shape[dim] - 3], dim=dim)
    agree_both("chunk", x, 3, dim=dim)
    agree_both("unbind", x, dim)
    agree_both("tensor_split", x, 3, dim=dim)
    agree_both("tensor_split", x, [1, 3], dim=dim)


def test_pieces_at_the_edges():
    for name, x, arg in (
        ("split", floats(4), 0),
        ("split", floats(4), [1, 1]),
        ("chunk", floats(5), 7),
        ("chunk", floats(5), 0),
        ("split", floats(0, 2), 2),
    ):
        agree_both(name, x, arg)
    agree(lambda x: x.split(2)[1], lambda x: x.split(2)[1], floats(5))
    agree(lambda x: x.unbind(1)[0], lambda x: x.unbind(1)[0], floats(2, 3))


@pytest.mark.parametrize("order", [(2, 0, 3, 1, 4), (2, 1, 0, 3, 4), (0, 1, 2, 3, 4)], ids=str)
@pytest.mark.parametrize("missing", [(), (1,)], ids=["all pieces", "one missing"])
def test_the_gradient_of_unbind_lies_in_memory_as_its_input_does(order, missing):
    x = np.arange(2 * 5 * 3 * 4 * 6, dtype=np.float32).reshape(2, 5, 3, 4, 6).transpose(order)
    axis, saved = order.index(2), Saved((True,))
    pieces = Unbind.forward(saved, x, axis)
    dys = [None if k in missing else np.ascontiguousarray(piece) for k, piece in enumerate(pieces)]
    dx = Unbind.backward(saved, *dys)
    assert dx.strides == x.strides
    expected = x.copy()
    for k in missing:
        expected[(slice(None),) * axis + (k,)] = 0
    np.testing.assert_array_equal(dx, expected)


def test_diagonals_and_windows():
    for args in ((), (1,), (-2,), (5,)):
        agree_both("diagonal", floats(3, 4), *args)
    agree_both("diagonal", floats(2, 3, 4), 1, 1, 2)
    for shape, args in (((2, 7), (1, 3, 2)), ((7,), (0, 3, 1)), ((3,), (0, 4, 1)), ((7,), (0, -1, 1)), ((7,), (0, 1, -1))):
        agree_both("unfold", floats(*shape), *args)
    for shape, args in (((3,), ()), ((3,), (1,)), ((3, 4), ()), ((3, 4), (-1,))):
        agree_both("diag", floats(*shape), *args)
    for args in ((), (-1,), (1, 0, 2)):
        agree_both("diag_embed", floats(2, 3), *args)


def test_joining():
    for xs, dim in (
        ([floats(2, 3), floats(1, 3)], 0),
        ((floats(2, 3), floats(2, 1)), -1),
        ([floats(2), whole(3, 2)], 0),
        ([floats(0), floats(2, 3)], 0),
    ):
        agree_both("cat", xs, dim)
    for xs, dim in (([floats(2, 3), floats(2, 3)], -1), ([floats(), floats()], 0), ([whole(3, 2), floats(2)], 1)):
        agree_both("stack", xs, dim)
    for name in ("hstack", "vstack", "dstack", "column_stack"):
        agree_both(name, [floats(3), floats(3)])
        agree_both(name, [floats(2, 3), floats(2, 3)])


def test_what_does_not_join():
    with pytest.raises(ShapeError, match="Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4"):
        bk.cat([floats(2, 3), floats(3, 4)])
    with pytest.raises(ShapeError, match="same number of dimensions: got 2 and 1"):
        bk.cat([floats(2, 3), floats(2)])
    with pytest.raises(ShapeError, match="stack expects each tensor to be equal size"):
        bk.stack([floats(2), floats(3)])
    with pytest.raises(ArgumentTypeError, match="must be tuple of Tensors, not Tensor"):
        bk.cat(floats(2))


def test_turning_and_repeating():
    agree(lambda x: x.flip(0, 1), lambda x: x.flip(0, 1), floats(2, 3))
    agree_both("flip", floats(2, 3), [1])
    for args in ((1, 0), ((1, -2), (0, 1)), (2,), (1, -1), ((1, 2),), ((1,), ())):
        agree_both("roll", floats(2, 3), *args)
    for times in ((2, 1, 3), ([2, 1],), (0, 2), (2,)):
        agree(lambda x, *t: x.repeat(*t), lambda x, *t: x.repeat(*t), floats(2, 3), *times)
    agree_both("tile", floats(2, 3), (2,))
    for args in ((2,), (2, 1), (bk.tensor([1, 0, 2]), 1)):
        agree_both("repeat_interleave", floats(2, 3), *args)


@pytest.mark.parametrize("diagonal", [-1, 0, 2])
def test_triangles(diagonal):
    for name in ("tril", "triu"):
        agree_both(name, floats(2, 3, 4), diagonal)
        agree_both(name, flags(3, 3), diagonal=diagonal)
        agree_both(name, floats(3), diagonal)


def test_padding():
    for sizes in ((1, 2), (1, 2, 3, 0), (-1, 1), (0, 0, -1, -1)):
        agree(bk.pad, F.pad, floats(2, 3, 4), sizes)
        agree(bk.pad, F.pad, floats(2, 3, 4), sizes, value=2.5)
    for mode in ("reflect", "replicate", "circular"):
        agree(bk.pad, F.pad, floats(2, 3, 4), (2, 1), mode)
        agree(bk.pad, F.pad, floats(1, 2, 3, 4), (1, 1, 2, 0), mode=mode)
    with pytest.raises(ShapeError, match="for a size of 4"):
        bk.pad(floats(2, 3, 4), (4, 1), "reflect")


def test_grids():
    agree_both("meshgrid", whole(3, 3), whole(3, 2), indexing="ij")
    agree_both("meshgrid", whole(3, 3), whole(3, 2), whole(3, 4), indexing="xy")
    agree_both("cartesian_prod", whole(3, 3), whole(3, 2))
    agree_both("combinations", whole(9, 4))
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        for x in (floats(), floats(3), floats(2, 3)):
            agree_both(name, x)


def test_complex_numbers_as_rotary_positions_use_them():
    def turn(lib):
        def apply(x, t):
            turned = lib.view_as_complex(x) * lib.polar(lib.ones_like(t), t)
            return lib.view_as_real(turned).flatten(1)

        return apply

    agree(turn(bk), turn(torch), floats(3, 2), floats(3))
    for f in (
        lambda lib: lambda x: lib.view_as_complex(x).abs(),
        lambda lib: lambda x: lib.view_as_complex(x).real * lib.view_as_complex(x).imag,
        lambda lib: lambda x: lib.view_as_real(lib.view_as_complex(x) / lib.view_as_complex(x.flip(0))),
        lambda lib: lambda x: lib.view_as_real(lib.view_as_complex(x).exp()),
    ):
        agree(f(bk), f(torch), floats(3, 2))


@pytest.mark.parametrize("dims", [(0, 2), (-2,), (), (0, 1, 2, 3), ((0, 2),)], ids=str)
@pytest.mark.parametrize("name", ["squeeze", "squeeze_", "count_nonzero"])
def test_dims_one_after_the_other_as_arguments_of_their_own(name, dims):
    theirs = getattr(torch.ones(1, 2, 1, 3), name)(*dims)
    ours = getattr(bk.ones(1, 2, 1, 3), name)(*dims)
    assert ours.tolist() == theirs.tolist()


def test_sizes_one_after_the_other_as_arguments_of_their_own():
    x = bk.ones(2, 1)
    assert x.broadcast_to(4, 2, 3).shape == x.broadcast_to((4, 2, 3)).shape == bk.broadcast_to(x, size=[4, 2, 3]).shape


@pytest.mark.parametrize("library", [bk, torch])
def test_a_size_is_of_integers(library):
    sizes = library.Size([library.tensor(3), np.int64(2), True, 4])
    assert sizes == (3, 2, 1, 4) and all(isinstance(size, int | np.integer) for size in sizes)
    assert [type(size) for size in (sizes[1:], sizes + (1,), sizes * 2)] == [library.Size] * 3
    for wrong in ((1.5,), ("a",), (library.tensor(2.0),), (None,)):
        with pytest.raises(TypeError, match=r"Size\(\) takes an iterable of 'int' \(item 0 is '\w+'\)"):
            library.Size(wrong)
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        library.Size(3)


@pytest.mark.parametrize("dims", [0, -1, (0,), ()], ids=str)
def test_flip_of_a_single_number_is_that_number(dims):
    assert bk.tensor(3.0).flip(dims).tolist() == torch.tensor(3.0).flip(dims).tolist() == 3.0


def test_pieces_may_begin_before_the_last_one_ends():
    for ends in [(0, 9, 0, 10, -3), (5, 2), (-1, 20)]:
        ours, theirs = ([part.tolist() for part in lib.tensor_split(lib.arange(10), ends)] for lib in (bk, torch))
        assert ours == theirs


REFUSED = {
    "fliplr": lambda lib: lib.fliplr(lib.ones(3)),
    "flipud": lambda lib: lib.flipud(lib.ones(())),
    "other numbers of dims": lambda lib: lib.ones(2, 3, 4).movedim((0, 1), (1,)),
    "a dim twice": lambda lib: lib.ones(2, 3, 4).movedim((0, 0), (1, 0)),
    "tensor_split of a number": lambda lib: lib.ones(()).tensor_split(2),
    "tensor_split at floats": lambda lib: lib.ones(4).tensor_split(lib.tensor([2.0])),
    "-1 beside 0": lambda lib: lib.ones(0).view(-1, 0),
    "larger: a size": lambda lib: lib.ones(2, 3).view(lib.float64),
    "larger: no dim": lambda lib: lib.ones(()).view(lib.float64),
    "larger: an offset": lambda lib: lib.ones(4, 4)[:, 1:3].view(lib.float64),
    "larger: a step": lambda lib: lib.ones(4, 3)[:, :2].view(lib.float64),
    "larger: the last step": lambda lib: lib.ones(4, 4).t().view(lib.float64),
    "pairs: sizes": lambda lib: lib.view_as_complex(lib.ones(2, 3)),
    "pairs: integers": lambda lib: lib.view_as_complex(lib.ones(2, 2).long()),
    "pairs: the last step": lambda lib: lib.view_as_complex(lib.ones(2, 2).t()),
    "pairs: a step": lambda lib: lib.view_as_complex(lib.ones(2, 3)[:, :2]),
    "pairs: an offset": lambda lib: lib.view_as_complex(lib.ones(2, 4)[:, 1:3]),
    "imag": lambda lib: lib.imag(lib.ones(2)),
    "view_as_real": lambda lib: lib.view_as_real(lib.ones(2)),
    "nonzero into floats": lambda lib: lib.nonzero(lib.ones(2), out=lib.empty(0)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_have_pytorchs_words_and_kind(name):
    with pytest.raises(RuntimeError) as theirs:
        REFUSED[name](torch)
    with pytest.raises(RuntimeError) as ours:
        REFUSED[name](bk)
    assert str(theirs.value).rstrip(".").split(" Got ")[0] in str(ours.value)


NEW_DIMS = {
    "in front": lambda x: x[None],
    "behind": lambda x: x[..., None],
    "expand": lambda x: x.expand(1, 1, *x.shape),
    "of turned rows": lambda x: x.reshape(2, 3).t()[:, None],
    "of nothing": lambda x: x[:0].reshape(2, 0, 3),
    "a single number": lambda x: x[0][None],
}


@pytest.mark.parametrize("name", NEW_DIMS)
def test_steps_along_new_dims(name):
    ours, theirs = (NEW_DIMS[name](lib.arange(6.0)) for lib in (bk, torch))
    assert ours.stride() == theirs.stride()


def test_an_order_of_another_rank_is_not_the_order_of_a_tensor():
    assert not bk.ones(2, 3, 4, 5).is_contiguous(memory_format=bk.channels_last_3d)
    assert not bk.ones(3).is_contiguous(memory_format=bk.channels_last)


@pytest.mark.parametrize("lib", [bk, torch])
def test_what_cannot_be_repeated(lib):
    for call in (
        lambda: lib.repeat_interleave(lib.arange(4.0)),
        lambda: lib.repeat_interleave(lib.arange(4).reshape(2, 2)),
        lambda: lib.repeat_interleave(lib.tensor([1, -1])),
        lambda: lib.repeat_interleave(lib.ones(2, 3), lib.tensor([1, -1]), 0),
        lambda: lib.repeat_interleave(lib.ones(2, 3), -1),
        lambda: lib.repeat_interleave(lib.ones(2, 3), lib.tensor([1.0, 2.0]), 0),
        lambda: lib.repeat_interleave(lib.ones(2, 3), 2, 0, output_size=3),
    ):
        with pytest.raises(RuntimeError):
            call()
    assert bk.repeat_interleave(bk.ones(2, 3), 2, 0, output_size=4).shape == (4, 3)


@pytest.mark.parametrize("kind", [float, int, bool, complex])
def test_view_takes_pythons_types_as_dtypes(kind):
    for t in (torch, bk):
        x = t.ones(4, 4).view(kind)
        assert (x.dtype, x.shape[0]) == (t.tensor([kind(1)]).to(kind).dtype, 4)
