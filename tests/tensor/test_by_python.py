"""Functions of Python on each number, in place: apply_, map_, map2_; and what a tensor says about itself, as in PyTorch."""

import pytest
import torch

import badak


def test_each_number_by_python():
    for space in (badak, torch):
        x = space.tensor([[1.0, 2.0], [3.0, 4.0]])
        view = x.t()[1]
        assert view.apply_(lambda value: value * 10) is view
        assert x.tolist() == [[1.0, 20.0], [3.0, 40.0]]
        assert x.map_(space.tensor([1.0, 2.0]), lambda a, b: a + b).tolist() == [[2.0, 22.0], [4.0, 42.0]]
        assert space.tensor([1, 2]).map2_(space.tensor([3, 4]), space.tensor([5, 6]), lambda a, b, c: a + b * c).tolist() == [
            16,
            26,
        ]


@pytest.mark.parametrize(
    "call, cause",
    [
        (lambda: badak.ones(2, requires_grad=True).apply_(abs), r"Can't call apply_\(\)"),
        (lambda: badak.ones(2).map_(badak.ones(2).long(), max), "one dtype; got Float and Long"),
        (lambda: badak.ones(2).map_(3, max), "expected a tensor; got int"),
        (lambda: badak.ones(2).apply_(3), "not callable"),
    ],
)
def test_wrong_calls(call, cause):
    with pytest.raises(Exception, match=cause) as caught:
        call()
    assert "\nfix: " in str(caught.value)


def test_what_it_says_about_itself():
    def said(space):
        x = space.ones(2, 3, 1).permute(2, 1, 0)
        flags = [x.is_neg(), x.is_distributed(), x.is_mkldnn, x.is_xla, x.is_vulkan, x.is_ipu, x.is_mtia, x.is_maia]
        return [*flags, x.dim_order(), x.is_set_to(x.detach()), x.is_set_to(x[:, :2]), x.const_data_ptr() == x.data_ptr()]

    assert said(badak) == said(torch)


@pytest.mark.parametrize("name", ["complex32", "quint8", "int4", "bits8", "float4_e2m1fn_x2"])
def test_a_dtype_that_has_only_a_name(name):
    kind = getattr(badak, name)
    assert kind.itemsize == getattr(torch, name).itemsize and repr(kind) == f"badak.{name}" and badak.float32 != kind
    with pytest.raises(NotImplementedError, match=f"badak.{name}: badak has the name of this dtype"):
        badak.zeros(2, dtype=kind)
    with pytest.raises(NotImplementedError):
        badak.ones(2).to(kind)


def test_a_context_that_decorates():
    from badak.autograd.grad_mode import _DecoratorContextManager

    class Counting(_DecoratorContextManager):
        entered = 0

        def __enter__(self):
            Counting.entered += 1

        def __exit__(self, *error):
            pass

    @Counting()
    def twice(x):
        return 2 * x

    @Counting()
    def counted():
        yield from (1, 2)

    assert twice(3) == 6 and list(counted()) == [1, 2] and Counting.entered == 4
