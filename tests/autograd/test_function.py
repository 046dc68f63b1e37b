"""What a Function says of its tensors, against PyTorch: outputs without gradient, inputs changed in place, missing gradients."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError
from tests.compare import assert_close


def agree(program):
    """The program (of a library) gives the same numbers in both."""
    ours, theirs = program(badak), program(torch)
    assert len(ours) == len(theirs)
    for number, (found, expected) in enumerate(zip(ours, theirs)):
        if isinstance(expected, torch.Tensor):
            assert_close(found, expected, units=4, what=f"value {number}")
        else:
            assert found == expected, f"value {number}"


def function(lib, **methods):
    return type("F", (lib.autograd.Function,), {name: staticmethod(method) for name, method in methods.items()})


def test_an_output_that_is_marked_has_no_gradient():
    def program(lib):
        came = []

        def forward(ctx, x):
            order = x.argsort()
            largest = x.max()
            ctx.mark_non_differentiable(order, largest)
            ctx.save_for_backward(x)
            return x * x, order, largest

        def backward(ctx, dy, dorder, dlargest):
            came.append((dorder is None, dlargest is None, dlargest.tolist()))
            return 2 * ctx.saved_tensors[0] * dy

        x = lib.tensor([3.0, -1.0, 2.0], requires_grad=True)
        y, order, largest = function(lib, forward=forward, backward=backward).apply(x)
        (y.sum() + largest).backward()
        states = [(t.requires_grad, t.grad_fn is None, t.is_leaf) for t in (y, order, largest)]
        return [y, order, largest, x.grad, states, came]

    agree(program)


def test_an_input_that_is_marked_dirty_is_changed_with_its_history():
    def program(lib):
        def forward(ctx, x):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x

        F = function(lib, forward=forward, backward=lambda ctx, dy: 3 * dy)
        w = lib.tensor([1.0, 2.0], requires_grad=True)
        x = w * 2
        before = x._version
        y = F.apply(x)
        (y * y).sum().backward()
        return [y, x, w.grad, y is x, x.requires_grad, x._version > before]

    agree(program)


def test_what_was_saved_before_an_input_became_dirty_is_noticed():
    for lib in (torch, badak):
        F = function(lib, forward=lambda ctx, x: (x.mul_(3), ctx.mark_dirty(x))[0], backward=lambda ctx, dy: 3 * dy)
        w = lib.tensor([1.0, 2.0], requires_grad=True)
        x = w.exp()
        y = x.square()
        F.apply(x)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_a_leaf_that_requires_a_gradient_cannot_be_dirty():
    for lib in (torch, badak):
        F = function(lib, forward=lambda ctx, x: (x.mul_(3), ctx.mark_dirty(x))[0], backward=lambda ctx, dy: 3 * dy)
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            F.apply(lib.ones(2, requires_grad=True))


@pytest.mark.parametrize("materialize", [True, False])
def test_gradients_that_nothing_gave_are_zeros_or_none(materialize):
    def program(lib):
        came = []

        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        def backward(ctx, one, two):
            came.append([None if dy is None else dy.tolist() for dy in (one, two)])
            return (0 if one is None else 2 * one) + (0 if two is None else 3 * two)

        x = lib.tensor([1.0, 2.0], requires_grad=True)
        one, two = function(lib, forward=forward, backward=backward).apply(x)
        two.sum().backward()
        return [x.grad, came]

    agree(program)


def test_all_three_work_from_setup_context():
    def program(lib):
        came = []

        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1])
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(inputs[0])

        def backward(ctx, dy, _):
            came.append(dy is None)
            return None if dy is None else dy * ctx.saved_tensors[0]

        F = function(lib, forward=lambda x: (x * x / 2, x.sign()), setup_context=setup_context, backward=backward)
        x = lib.tensor([1.0, -2.0], requires_grad=True)
        y, sign = F.apply(x)
        y.sum().backward()
        return [y, sign, sign.requires_grad, x.grad, came]

    agree(program)


@pytest.mark.slow
def test_a_function_with_slopes_of_its_own_runs_forward_and_backward():
    def told(lib):
        class Cube(lib.autograd.Function):
            generate_vmap_rule = True

            @staticmethod
            def forward(x):
                return x**3, 3 * x**2

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.mark_non_differentiable(output[1])
                ctx.save_for_backward(output[1])
                ctx.save_for_forward(output[1])

            @staticmethod
            def backward(ctx, dy, _):
                return dy * ctx.saved_tensors[0]

            @staticmethod
            def jvp(ctx, dx):
                return dx * ctx.saved_tensors[0], None

        x, dx = lib.tensor([1.0, 2.0]), lib.tensor([1.0, 3.0])
        value, slope = lib.func.jvp(lambda x: Cube.apply(x)[0], (x,), (dx,))
        return [t.tolist() for t in (value, slope, lib.func.grad(lambda x: Cube.apply(x)[0].sum())(x))]

    assert told(badak) == told(torch)


def _scaled(lib, jvp_only: bool):
    """x y k and x + y, whose jvp and backward give different slopes, so that it shows which was called."""

    class Both(lib.autograd.Function):
        @staticmethod
        def forward(ctx, k, x, y):
            ctx.k = k
            assert ctx.saved_for_forward is None
            ctx.save_for_forward(x, y)
            ctx.save_for_backward(x)
            return x * y * k, x + y

        @staticmethod
        def jvp(ctx, k, dx, dy):
            x, y = ctx.saved_for_forward
            return (dx * y + dy * x) * ctx.k * 3, dx + dy

    if not jvp_only:

        def backward(ctx, da, db):
            (x,) = ctx.saved_tensors
            return None, da * x, db

        Both.backward = staticmethod(backward)
    return Both


@pytest.mark.parametrize("jvp_only", [False, True])
def test_a_jvp_of_its_own_gives_the_slopes(jvp_only):
    made = {}
    for lib in (badak, torch):
        kind, ad = _scaled(lib, jvp_only), lib.autograd.forward_ad
        for alone in (False, True):
            with ad.dual_level():
                x = ad.make_dual(lib.tensor([2.0, 3.0]), lib.tensor([1.0, 2.0]))
                y = lib.tensor([5.0, 7.0])
                y = y if alone else ad.make_dual(y, lib.tensor([3.0, 4.0]))
                a, b = kind.apply(10, x.sin(), y)
                made[lib, alone] = [ad.unpack_dual(z).tangent.tolist() for z in (a.exp2(), b)]
        x = lib.tensor([2.0, 3.0], requires_grad=True)
        a, _ = kind.apply(10, x, x.detach())
        if jvp_only:
            with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp method"):
                a.sum().backward()
        else:
            a.sum().backward()
            assert x.grad.tolist() == [2, 3]
    for alone in (False, True):
        for ours, theirs in zip(made[badak, alone], made[torch, alone]):
            np.testing.assert_allclose(ours, theirs, 1e-5)


def test_vjp_is_another_name_of_backward():
    for lib in (badak, torch):

        class Twice(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return 2 * x

            @staticmethod
            def vjp(ctx, dy):
                return 3 * dy

        x = lib.ones(1, requires_grad=True)
        Twice.apply(x).backward()
        assert x.grad.item() == 3


def test_outputs_that_are_no_tensors():
    for lib in (badak, torch):

        class Both(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return "said", 2 * x, None

            @staticmethod
            def backward(ctx, said, dy, nothing):
                assert said is None is nothing
                return 2 * dy

        x = lib.ones(1, requires_grad=True)
        Both.apply(x)[1].backward()
        assert x.grad.item() == 2


@pytest.mark.parametrize("change", ["itself", "a part", "its base", "handed through", "a hook's"])
def test_a_view_that_a_function_gave_is_not_changed_in_place(change):
    """The history of the view would take the place of the function's backward."""
    texts = []
    for lib in (torch, badak):

        class Flat(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x if change == "handed through" else x.view(-1)

            @staticmethod
            def backward(ctx, dy):
                return 3 * dy.view(2, 2)

        x = lib.ones(2, 2, requires_grad=True)
        b = x * 1
        y = Flat.apply(b)
        (y.clone().add_(1) * 2).sum().backward(retain_graph=True)
        assert x.grad.tolist() == [[6, 6], [6, 6]] and y.data_ptr() == b.data_ptr()
        if change == "a hook's":
            layer = lib.nn.Linear(2, 2)
            layer.register_full_backward_hook(lambda *told: None)
            y = layer(x)
        with pytest.raises(RuntimeError) as caught:
            if change == "its base":
                b.add_(1)
                (y * 2).sum()
            else:
                (y[0] if change == "a part" else y).add_(1)
        texts.append(str(caught.value).partition(" is a view and ")[2].partition(" This view was")[0])
    assert texts[0] == texts[1] != ""


def test_a_view_of_what_wants_no_gradient_is_not_given_one_in_place():
    for lib in (torch, badak):

        class Same(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.view_as(x)

            @staticmethod
            def backward(ctx, dy):
                return dy

        view = Same.apply(lib.ones(2))
        with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
            view.copy_(lib.ones(2, requires_grad=True) * 2)


def test_a_view_that_is_marked_dirty_changes_its_base_with_its_history():
    found = []
    for lib in (torch, badak):

        class Add(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.mark_dirty(x)
                return x.add_(y)

            @staticmethod
            def backward(ctx, dy):
                return dy, 3 * dy

        a, b = lib.ones(4, 4, requires_grad=True), lib.ones(2, 2, requires_grad=True)
        x = a.clone()
        seen = x[0]
        y = Add.apply(x.narrow(1, 2, 2).narrow(0, 0, 2), b)
        Add.apply(x.narrow(1, 0, 2).narrow(0, 0, 2), b * 2)
        weight = lib.arange(16.0).reshape(4, 4)
        ((x * weight).sum() + seen.sum() + (y * 10).sum()).backward()
        fresh = lib.zeros(2, 2)
        Add.apply(fresh[0], b[0])
        assert fresh.requires_grad and lib.autograd.grad(fresh.sum(), b)[0].tolist() == [[3, 3], [0, 0]]
        found.append((x.tolist(), a.grad.tolist(), b.grad.tolist()))
    assert found[0] == found[1]


def test_what_is_no_input_is_not_to_be_marked_dirty():
    for lib in (torch, badak):

        class Bad(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x * 2
                ctx.mark_dirty(y)
                return y

            @staticmethod
            def backward(ctx, dy):
                return dy

        with pytest.warns(UserWarning, match="received a tensor that was not an input. Only input Tensors"):
            Bad.apply(lib.ones(2, requires_grad=True))


def test_what_was_saved_has_a_deprecated_name_and_is_gone_after_the_backward():
    for lib in (torch, badak):

        class Keep(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x, None)
                return x * 2

            @staticmethod
            def backward(ctx, dy):
                with pytest.warns(Warning, match="'saved_variables' is deprecated; use 'saved_tensors'"):
                    assert ctx.saved_variables[0].tolist() == [1, 1]
                return 2 * dy

        y = Keep.apply(lib.ones(2, requires_grad=True))
        kept = y.grad_fn
        assert kept.saved_tensors[1] is None
        y.sum().backward()
        with pytest.raises(RuntimeError, match="after they have already been freed"):
            _ = kept.saved_tensors
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
        Keep()(lib.ones(2))


def test_a_jvp_that_gives_no_tensor_is_told():
    for answer, cause in ((3, "returned 3, not a tensor"), ((None, None), "expected 1 but got 2")):

        class Wrong(badak.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def jvp(ctx, dx, answer=answer):
                return answer

        ad = badak.autograd.forward_ad
        with ad.dual_level(), pytest.raises(BadakError, match=cause) as caught:
            ad.unpack_dual(Wrong.apply(ad.make_dual(badak.ones(2), badak.ones(2))))
        assert caught.value.fix == "one slope for each output"


@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_defaults_and_names_of_forward_reach_setup_context_as_inputs(lib):
    seen: list = []

    class Power(lib.autograd.Function):
        @staticmethod
        def forward(x, y=3):
            return 2 * x**y

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.y = inputs
            seen.append(ctx.y)
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensors
            return 2 * dy * ctx.y * x ** (ctx.y - 1), None

    x = lib.tensor(2.0, requires_grad=True)
    calls = (Power.apply(x), 24.0), (Power.apply(x, 2), 8.0), (Power.apply(x, y=2), 8.0), (Power.apply(y=1, x=x), 2.0)
    for made, gradient in calls:
        assert lib.autograd.grad(made, x)[0].item() == gradient
    assert seen == [3, 2, 2, 1]


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "no_grad"])
def test_an_input_that_forward_hands_out_is_not_the_output(recorded):
    def program(lib):
        def forward(ctx, x, z, marked):
            if marked:
                ctx.mark_non_differentiable(x)
            return x, z * 2

        F = function(lib, forward=forward, backward=lambda ctx, dx, dz: (dx, 2 * dz, None))
        found = []
        for x in (lib.ones(2), lib.ones(2, dtype=lib.int64), lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True) * 1):
            for marked in (False, True):
                with lib.set_grad_enabled(recorded):
                    y, w = F.apply(x, lib.ones(2, requires_grad=True), marked)
                    found += [y is x, y.data_ptr() == x.data_ptr(), y.requires_grad, x.requires_grad, w.requires_grad]
                    with lib.no_grad():
                        plain = F.apply(lib.ones(2), lib.ones(2), marked)[0].requires_grad_()
                        found.append(plain.requires_grad)
        return found

    agree(program)


def test_an_input_that_is_dirty_and_wants_no_gradient_keeps_its_history():
    def program(lib):
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            ctx.mark_non_differentiable(x)
            return x

        F = function(lib, forward=forward, backward=lambda ctx, dy: dy)
        x = lib.ones(2, requires_grad=True).clone()
        y = F.apply(x)
        plain = lib.ones(2)
        return [y, x, y is x, y.requires_grad, x.requires_grad, F.apply(plain) is plain]

    agree(program)


@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_what_is_marked_dirty_is_returned(lib):
    F = function(lib, forward=lambda ctx, x: (ctx.mark_dirty(x.mul_(2)), x.clone())[1], backward=lambda ctx, dy: 2 * dy)
    for x in (lib.ones(2), lib.ones(2, requires_grad=True).clone()):
        with pytest.raises(
            RuntimeError, match="Some elements marked as dirty during the forward method were not returned as output"
        ):
            F.apply(x)
