"""In-place twins: the same tensor comes back changed, with the history and the refusals of PyTorch."""

import operator
import random

import pytest
import torch

import badak as bk
from badak.core.errors import DTypeError, GraphError, ShapeError
from tests.twins import agree, flags, floats, to_torch, whole

POSITIVE = {"low": 0.2, "high": 2.0}
ONCE = bk.tensor([[2, 0], [1, 2], [0, 1], [2, 1]])
CALLS = [
    ("add_", floats(3), floats(3)),
    ("add_", floats(2, 3), 2.0),
    ("add_", whole(3, 3), whole(3, 3)),
    ("sub_", floats(2, 3), floats(3)),
    ("mul_", floats(3), 2),
    ("mul_", floats(2, 3), floats(3)),
    ("div_", floats(3), floats(3)),
    ("pow_", floats(3, **POSITIVE), 2),
    ("remainder_", floats(3), 2.0),
    ("addcmul_", floats(3), floats(3), floats(3)),
    ("addcdiv_", floats(3), floats(3), floats(3)),
    ("lerp_", floats(3), floats(3), 0.3),
    ("neg_", floats(3)),
    ("exp_", floats(3)),
    ("expm1_", floats(3)),
    ("log_", floats(3, **POSITIVE)),
    ("log1p_", floats(3, **POSITIVE)),
    ("sqrt_", floats(3, **POSITIVE)),
    ("rsqrt_", floats(3, **POSITIVE)),
    ("reciprocal_", floats(3, **POSITIVE)),
    ("abs_", floats(3)),
    ("sin_", floats(3)),
    ("cos_", floats(3)),
    ("tanh_", floats(3)),
    ("sigmoid_", floats(3)),
    ("relu_", floats(3)),
    ("clamp_", floats(3), -0.5, 0.5),
    ("masked_fill_", floats(2, 3), flags(3), -1.0),
    ("masked_scatter_", floats(2, 3), flags(2, 3), floats(6)),
    ("fill_", floats(3), 2.0),
    ("zero_", floats(3)),
    ("copy_", floats(2, 3), floats(3)),
    ("scatter_", floats(4, 3), 1, ONCE, 1.0),
    ("scatter_", floats(4, 3), 1, ONCE, floats(4, 2)),
    ("scatter_add_", floats(4, 3), 1, ONCE, floats(4, 2)),
    ("index_fill_", floats(4, 3), 0, bk.tensor([1]), 2.0),
    ("index_copy_", floats(4, 3), 0, bk.tensor([1, 0]), floats(2, 3)),
    ("index_add_", floats(4, 3), 0, bk.tensor([1, 1]), floats(2, 3)),
    ("triu_", floats(3, 3), 1),
    ("tril_", floats(3, 3)),
    ("cumsum_", floats(2, 3), 1),
    ("fill_diagonal_", floats(3, 3), 7.0),
    ("fill_diagonal_", floats(7, 3), 7.0),
    ("fill_diagonal_", floats(3, 7), 7.0, True),
    ("fill_diagonal_", floats(8, 3), 7.0, True),
    ("fill_diagonal_", floats(3, 3, 3), 7.0),
    ("fill_diagonal_", floats(2, 2, 2, 2), 7.0, True),
    ("index_copy_", floats(1).reshape(()), 0, bk.tensor([0]), bk.tensor(5.0)),
    ("index_copy_", floats(4), 0, bk.tensor([2]), bk.tensor(5.0)),
    ("unsqueeze_", floats(3, 3), 0),
    ("squeeze_", floats(3, 1, 3)),
    ("t_", floats(2, 3)),
    ("transpose_", floats(3, 2, 3), 0, 1),
    ("swapdims_", floats(3, 2, 3), 0, -1),
    ("as_strided_", floats(4), (2, 2), (1, 1)),
    ("logical_not_", flags(3)),
    ("addmm_", floats(2, 4), floats(2, 3), floats(3, 4)),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0]}-{len(call)}")
def test_in_place_twin(call):
    name, x, *args = call

    def changed(x, *args):
        y = x * 1 if x.requires_grad else x.clone()
        assert getattr(y, name)(*args) is y
        return y

    agree(changed, changed, x, *args)


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow", "ifloordiv", "imod"])
def test_augmented_operators_change_the_tensor_itself(name):
    def changed(x, y):
        z = x * 1
        assert getattr(operator, name)(z, y) is z
        return z

    for other in (2, floats(3, **POSITIVE)):
        agree(changed, changed, floats(2, 3, **POSITIVE), other)


@pytest.mark.parametrize("name", ["iand", "ior", "ixor"])
def test_augmented_masks(name):
    changed = lambda x, y: getattr(operator, name)(x.clone(), y)
    agree(changed, changed, flags(3), flags(2, 3)[0])


def test_old_forms_with_the_number_first():
    x, t = floats(3, grad=False), floats(3, grad=False)
    expected = x.numpy() + 0.5 * t.numpy()
    assert x.clone().add_(0.5, t).tolist() == pytest.approx(expected.tolist())
    expected = x.numpy() + 0.5 * t.numpy() ** 2
    assert x.clone().addcmul_(0.5, t, t).tolist() == pytest.approx(expected.tolist())
    assert x.clone().addcdiv_(0.5, t, t).tolist() == pytest.approx((x.numpy() + 0.5).tolist())


def test_a_float_does_not_go_into_an_integer_tensor():
    with pytest.raises(DTypeError, match="result type badak.float32 can't be cast to the desired output type badak.int64"):
        whole(3, 3).add_(1.5)
    with pytest.raises(DTypeError):
        whole(3, 3).div_(2)


def test_the_result_must_have_the_shape_of_the_tensor():
    with pytest.raises(ShapeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
        floats(3, grad=False).add_(floats(2, 3, grad=False))


def test_a_leaf_that_wants_a_gradient_is_not_changed():
    for change in (lambda x: x.add_(1.0), lambda x: x.mul_(2.0), lambda x: x.zero_(), lambda x: x.__iadd__(1.0)):
        with pytest.raises(GraphError, match="a leaf Variable that requires grad"):
            change(floats(3))
    x = floats(3)
    with bk.no_grad():
        x.add_(1.0)
    assert x.is_leaf and x.requires_grad


def test_a_saved_value_that_changes_is_noticed():
    x = floats(3)
    y = x * 1
    z = y.square()
    y.add_(1.0)
    with pytest.raises(GraphError, match="modified by an inplace operation"):
        z.sum().backward()


def test_resize_takes_values_in_their_order_in_memory_as_pytorch_does():
    for size in [(6,), (2, 2), (3, 2), (2, 3)]:
        ours, theirs = (lib.arange(6).reshape(2, 3).t().resize_(*size) for lib in (bk, torch))
        assert ours.tolist() == theirs.tolist() and ours.stride() == theirs.stride()


def test_resize_keeps_what_fits():
    x = bk.arange(6).resize_(2, 2)
    assert x.tolist() == [[0, 1], [2, 3]] and to_torch(x).shape == (2, 2)


RESIZED = {
    "of a view": lambda lib, x: x[2:6].resize_(2),
    "over gaps": lambda lib, x: x[2:10:2].resize_(2, 2),
    "into what follows": lambda lib, x: x[2:4].resize_(2, 3),
    "channels last": lambda lib, x: x[2:].resize_((1, 2, 2, 1), memory_format=lib.channels_last),
    "to nothing": lambda lib, x: x[2:].resize_(0),
}


@pytest.mark.parametrize("name", RESIZED)
def test_a_resized_tensor_stays_in_its_memory(name):
    seen = []
    for lib in (bk, torch):
        x = lib.arange(12.0)
        y = RESIZED[name](lib, x)
        seen.append((y.tolist(), y.stride(), y.fill_(7) is y, x.tolist()))
    assert seen[0] == seen[1]


def test_resize_as_keeps_channels_last_where_it_is_asked_to_keep_the_format():
    for format in ("preserve_format", "contiguous_format"):
        strides = []
        for lib in (bk, torch):
            template = lib.ones(2, 3, 4, 5).to(memory_format=lib.channels_last)
            strides.append(lib.arange(120.0).resize_as_(template, memory_format=getattr(lib, format)).stride())
        assert strides[0] == strides[1]
    for lib in (bk, torch):
        with pytest.raises(RuntimeError, match="Unsupported memory format"):
            lib.ones(6).resize_((2, 3), memory_format=lib.preserve_format)


@pytest.mark.parametrize("size", [(-1,), (-1, 2), (2, -2)])
def test_resize_refuses_sizes_below_zero(size):
    with pytest.raises(RuntimeError):
        torch.ones(3, 4).resize_(size)
    with pytest.raises(ShapeError, match="expected sizes of at least 0"):
        bk.ones(3, 4).resize_(size)


def test_resize_refuses_more_numbers_than_there_are_addresses():
    with pytest.raises(ShapeError, match="Storage size calculation overflowed with sizes=.*\nfix: smaller sizes"):
        bk.empty(()).resize_(2, 4, 2**30, 2**29)


OVERWRITTEN = {  # everything that was there is gone
    "copy_": lambda lib, y: y.copy_(lib.ones(3)),
    "copy_ of one row": lambda lib, y: y.copy_(lib.ones(1)),
    "copy_ of another dtype": lambda lib, y: y.copy_(lib.arange(3)),
    "fill_": lambda lib, y: y.fill_(2),
    "fill_ with a tensor": lambda lib, y: y.fill_(lib.tensor(2.0)),
    "zero_": lambda lib, y: y.zero_(),
    "setitem": lambda lib, y: y.__setitem__(..., 2.0),
    "setitem by a mask": lambda lib, y: y.__setitem__(y > -100, 2.0),
    "a view": lambda lib, y: y.view(3).copy_(lib.ones(3)),
    "a part": lambda lib, y: y[1:].normal_(),
    "normal_": lambda lib, y: y.normal_(),
    "uniform_": lambda lib, y: y.uniform_(),
    "log_normal_": lambda lib, y: y.log_normal_(),
    "exponential_": lambda lib, y: y.exponential_(),
    "cauchy_": lambda lib, y: y.cauchy_(),
    "geometric_": lambda lib, y: y.geometric_(0.5),
    "random_": lambda lib, y: y.random_(0, 5),
    "bernoulli_": lambda lib, y: y.bernoulli_(0.5),
    "bernoulli_ of a tensor": lambda lib, y: y.bernoulli_(lib.full((3,), 0.5)),
    "eq_": lambda lib, y: y.eq_(1.0),
    "sign_": lambda lib, y: y.sign_(),
    "round_": lambda lib, y: y.round_(),
    "mul_": lambda lib, y: y.mul_(0),
    "sub_": lambda lib, y: y.sub_(y),
}


@pytest.mark.parametrize("name", OVERWRITTEN)
def test_what_is_overwritten_gets_a_gradient_of_0_and_not_none(name):
    """A weight whose gradient is 0 still decays and has momentum; one without gradient is left alone."""
    found = []
    for lib in (torch, bk):
        w = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = w * 2
        seen = y.view(3)
        OVERWRITTEN[name](lib, y)
        wanted = y.requires_grad, seen.requires_grad
        (y * 3).sum().backward()
        found.append((wanted, w.grad.tolist()))
    assert found[0] == found[1]


def test_what_requires_a_gradient_cannot_be_resized():
    with pytest.raises(GraphError, match="cannot resize variables that require grad\nfix: x.detach"):
        bk.ones(3, requires_grad=True).resize_(2)


SEVERAL = {
    "unbind": lambda x: x.unbind()[0],
    "split": lambda x: x.split(2)[1],
    "chunk": lambda x: x.chunk(2)[0],
    "a view of a piece": lambda x: x.split(2)[0][0],
    "iter": lambda x: next(iter(x)),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_one_of_several_views_is_not_changed_while_gradients_are_recorded(name):
    words = "This view is the output of a function that returns multiple views"
    for lib in (torch, bk):
        x = lib.ones(4, 4, requires_grad=True).clone()
        with pytest.raises(RuntimeError, match=words):
            SEVERAL[name](x).mul_(2)
        with pytest.raises(RuntimeError, match=words):
            SEVERAL[name](lib.ones(4, 4)).mul_(lib.ones((), requires_grad=True))
        piece = SEVERAL[name](x)
        x.mul_(2)
        with pytest.raises(RuntimeError, match=words):
            piece.sum()
        with lib.no_grad():
            SEVERAL[name](x).mul_(2)
        SEVERAL[name](lib.ones(4, 4)).mul_(2)


@pytest.mark.parametrize("cut", ["unsafe_chunk", "unsafe_split", "tensor_split"])
def test_unsafe_pieces_and_slices_may_be_changed(cut):
    found = []
    for lib in (torch, bk):
        x = lib.arange(8.0).reshape(4, 2).requires_grad_()
        y = x * 1
        getattr(lib, cut)(y, 2)[1].mul_(3)
        if cut == "tensor_split":  # which changes y as well
            (y**2).sum().backward()
        found.append((y.tolist(), x.grad if x.grad is None else x.grad.tolist()))
    assert found[0] == found[1]


BY_PLACE = {
    "index_copy_": lambda x, index, part: x.index_copy_(0, index, part),
    "index_add_": lambda x, index, part: x.index_add_(0, index, part),
    "index_put_": lambda x, index, part: x.index_put_((index,), part),
    "index_reduce_": lambda x, index, part: x.index_reduce_(0, index, part, "amax"),
    "put_": lambda x, index, part: x.put_(index, part),
    "scatter_": lambda x, index, part: x.scatter_(0, index, part),
    "scatter_add_": lambda x, index, part: x.scatter_add_(0, index, part),
    "scatter_reduce_": lambda x, index, part: x.scatter_reduce_(0, index, part, "sum"),
}


@pytest.mark.parametrize("name", BY_PLACE)
@pytest.mark.filterwarnings("ignore:index_reduce:UserWarning")
def test_what_is_written_by_place_does_not_lie_where_it_is_written(name):
    for lib in (torch, bk):
        x, index = lib.arange(6), lib.tensor([2, 1, 0])
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
            BY_PLACE[name](x, index, x[:3])
        with pytest.raises(
            RuntimeError, match="some elements of the input tensor and the written-to tensor refer to a single memory"
        ):
            BY_PLACE[name](index, index, lib.tensor([5, 6, 7]))
        assert BY_PLACE[name](x, index, x[:3].clone()) is x


def test_rows_are_copied_from_between_those_that_are_written():
    for rows in (3, 3000):
        whole = bk.arange(8.0 * rows).reshape(2 * rows, 4)
        expected = whole.clone()
        expected[0::2].index_copy_(0, bk.arange(rows).flip(0), whole[0::2].clone())
        whole[0::2].index_copy_(0, bk.arange(rows).flip(0), whole[0::2])
        assert bk.equal(whole, expected)


_VIEWS = """.unsqueeze(0) .transpose(0,-1) [0] [-1] .reshape(-1) .flatten() [...,:1] [::2] .squeeze() .view(-1) .detach()""".split()
_SHAPES = ".unsqueeze_(0) .unsqueeze_(-1) .squeeze_() .squeeze_(0) .transpose_(0,-1) .swapaxes_(0,-1) .t_()".split()
_WRITES = ".mul_(2) .add_(w[0]) .add_(1) .zero_() .copy_(w[1]*3)".split()


def _changes(seed):
    """Lines that make views of a tensor, write to them, use them, and change the shapes of all in place."""
    draw = random.Random(seed)
    order, start = draw.choice([(0, 1, 2), (2, 0, 1), (1, 2, 0)]), draw.choice(["x * 2", "(x * 2).detach()"])
    yield f"x = lib.arange(24.0).reshape(2, 3, 4).permute({order}).clone().requires_grad_()"
    yield f"w, t = lib.arange(4.0).requires_grad_(), [{start}]; t[0] = {start}"
    for _ in range(draw.randint(3, 9)):
        place = f"t[{draw.randint(0, 99)} % len(t)]"
        match draw.choice(["view", "view", "shape", "shape", "shape", "write", "write", "use"]):
            case "view":
                yield f"t.append({place}{draw.choice(_VIEWS)})"
            case "shape":
                yield place + draw.choice(_SHAPES)
            case "write":
                yield place + draw.choice(_WRITES)
            case "use":
                yield f"total = total + ({place} * {place}).sum()"
    yield "total = total + sum((a * lib.arange(float(a.numel())).reshape(a.shape)).sum() for a in t)"


def _after_each(lib, lines):
    """What is seen after each line: an error, or shapes, values and who requires a gradient; at the end the gradients."""
    names = {"lib": lib, "total": lib.zeros(())}
    for line in lines:
        try:
            exec(line, names)
        except (RuntimeError, IndexError, ValueError):
            yield "an error"
        yield [(tuple(a.shape), a.tolist(), a.requires_grad, a._is_view()) for a in names.get("t", [])]
    try:
        if names["total"].requires_grad:
            names["total"].backward()
        yield [None if names[each].grad is None else names[each].grad.tolist() for each in "xw"]
    except RuntimeError:
        yield "an error"


@pytest.mark.parametrize("seed", range(300))
def test_views_of_tensors_that_take_another_shape_in_place(seed):
    lines = list(_changes(seed))
    for theirs, ours in zip(_after_each(torch, lines), _after_each(bk, lines), strict=False):
        if "an error" in (theirs, ours):  # PyTorch refuses views that it has lost sight of
            assert theirs == "an error" or ours != "an error"
            return
        assert ours == theirs


def test_a_shape_is_not_changed_in_place_where_the_gradient_would_not_fit():
    y = bk.ones(3, 1, requires_grad=True) * 2
    with bk.no_grad(), pytest.raises(GraphError, match=r"squeeze_ of a tensor with a history under no_grad\(\)"):
        y.squeeze_()
    with pytest.raises(GraphError, match="view of another dtype was made before the tensor that it sees took another shape"):
        z = bk.ones(2, 2, dtype=bk.complex64, requires_grad=True) * 2
        parts = bk.view_as_real(z)
        z.t_()
        z.mul_(2)
        parts.sum().backward()


def test_shapes_on_the_meta_device_change_in_place_as_often_as_asked():
    x = bk.empty(2, 3, device="meta", requires_grad=True) * 2
    x.t_().unsqueeze_(0).mul_(2)
    assert x.shape == (1, 3, 2) and x.requires_grad


@pytest.mark.parametrize("change", ["mul_(2)", "t_()", "[0].mul_(2)", "[0][0].zero_()", "__setitem__(0, 1.0)", "_base.mul_(2)"])
def test_a_leaf_that_is_a_view_of_numbers_is_not_changed(change):
    for lib in (torch, bk):
        x = lib.arange(6.0).reshape(2, 3).requires_grad_()
        change = change if change[0] == "[" else "." + change.removeprefix(".")
        if "_base" in change:
            eval("x" + change)
            assert x.is_leaf and x.tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
        else:
            with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
                eval("x" + change)
            assert x.is_leaf and x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_what_changes_a_shape_in_place_says_what_it_takes():
    with pytest.raises(TypeError, match=r"unsqueeze_\(\): argument 'dim' must be int, not str"):
        bk.ones(2).unsqueeze_("a")
    with pytest.raises(TypeError, match=r"transpose_\(\): missing a required argument: 'dim1'"):
        bk.ones(2, 2).transpose_(0)


SHARED = {
    "add_": lambda a, b: a.add_(b), "sub_": lambda a, b: a.sub_(b), "mul_": lambda a, b: a.mul_(b),
    "addcmul_": lambda a, b: a.addcmul_(b, b), "lerp_": lambda a, b: a.lerp_(b, 0.5), "copy_": lambda a, b: a.copy_(b),
    "index_add_": lambda a, b: a.index_add_(0, a.long() * 0, b), "atan2_": lambda a, b: a.atan2_(b),
    "+=": lambda a, b: a.__iadd__(b), "set": lambda a, b: a.__setitem__(slice(None), b),
}  # fmt: skip
PLACES = {
    "later": (slice(0, 9), slice(1, 10)), "earlier": (slice(1, 10), slice(0, 9)), "same": (slice(0, 9), slice(0, 9)),
    "apart": (slice(0, 9), slice(9, 18)),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", SHARED)
def test_operands_that_share_a_part_of_the_memory_are_refused_as_in_pytorch(name, place):
    def story(lib):
        whole = lib.arange(18.0)
        here, there = PLACES[place]
        try:
            if name == "set":
                whole[here] = whole[there]
            else:
                SHARED[name](whole[here], whole[there])
        except RuntimeError as error:
            assert "refer to a single memory location" in str(error)
            return "refused"
        return [round(value, 4) for value in whole.tolist()]

    assert story(bk) == story(torch)


OF_ITS_OWN = {
    "number": lambda x: x.__setitem__(slice(None), x[1, 1]), "row": lambda x: x.__setitem__(slice(None), x[1]),
    "rows": lambda x: x.__setitem__(slice(None), x[1:2]), "column": lambda x: x.__setitem__(slice(None), x[:, 1:2]),
    "same row": lambda x: x.__setitem__(1, x[1][None]), "where": lambda x: x.__setitem__(x > 2, x[1, 1]),
    "masked_fill_": lambda x: x.masked_fill_(x > 2, x[1, 1]), "index_fill_": lambda x: x.index_fill_(0, x[0].long() - 1, x[1, 1]),
    "whole": lambda x: x.__setitem__(slice(None), x), "rows of it": lambda x: x.__setitem__(slice(1, 3), x[0]),
    "copy_": lambda x: x.copy_(x[1]), "sub_": lambda x: x.sub_(x[1]), "fill_": lambda x: x.fill_(x[1, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ITS_OWN)
def test_a_part_of_a_tensor_is_stretched_over_the_tensor_as_in_pytorch(name):
    def story(lib):
        x = lib.arange(1.0, 10.0).reshape(3, 3)
        try:
            OF_ITS_OWN[name](x)
        except RuntimeError as error:
            assert "refer to a single memory location" in str(error)
            return "refused"
        return x.tolist()

    assert story(bk) == story(torch)


def test_entries_that_share_a_place_are_filled_together():
    for lib in (torch, bk):
        base = lib.ones(2, 1, 3)
        x = base.expand(2, 4, 3)
        x.zero_()
        x[0].fill_(2.0)
        x[:, :, 1].fill_(5.0)
        assert base.tolist() == [[[2.0, 5.0, 2.0]], [[0.0, 5.0, 0.0]]]
        with pytest.raises(RuntimeError, match="single memory location"):
            x.add_(1)
