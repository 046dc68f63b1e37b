"""A Function within vmap, its gradients and slopes, against PyTorch: with a rule that is made, and with one of its own."""

from functools import partial

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import GraphError

RNG = np.random.default_rng(0)
X, W = (RNG.standard_normal(shape).astype(np.float32) for shape in ((3, 2), (2,)))


def functions(lib):
    class Made(lib.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, w, k):
            return k * x * w, x + w, (x > 0).to(x.dtype)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs[:2])
            ctx.save_for_forward(*inputs[:2])
            ctx.mark_non_differentiable(output[2])
            ctx.k, ctx.sign = inputs[2], output[2]

        @staticmethod
        def backward(ctx, dy, dz, nothing):
            x, w = ctx.saved_tensors
            return ctx.k * dy * w + dz, ctx.k * dy * x + dz, None

        @staticmethod
        def jvp(ctx, dx, dw, dk):
            x, w = ctx.saved_for_forward
            return ctx.k * (dx * w + dw * x), dx + dw, None

    class Own(Made):
        generate_vmap_rule = False

        @staticmethod
        def vmap(info, dims, x, w, k):
            assert info.randomness == "error"
            x, w = (a.expand(info.batch_size, *a.shape) if d is None else a.movedim(d, 0) for a, d in zip((x, w), dims))
            return Own.apply(x, w, k), 0

    class Clamp(lib.autograd.Function):  # its backward gives what is broadcast, and None for a gradient that has not come
        generate_vmap_rule = True

        @staticmethod
        def forward(x, w):
            return x.clamp(min=0) * w, x * 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs, output[0])
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx, dy, none):
            x, w, y = ctx.saved_tensors
            assert none is None
            return dy * w * (x > 0), (dy * x.clamp(min=0)).sum(0, keepdim=True)

    return Made, Own, Clamp


def one(function, k=2.0):
    def of(x, w):
        y, z, _ = function.apply(x, w, k)
        return (y * z).sum()

    return of


CASES = {
    "gradient": lambda f, f_: f.vmap(f.grad(f_, (0, 1)), (0, None)),
    "of all": lambda f, f_: f.grad(lambda x, w: f.vmap(f_, (0, None))(x, w).sum(), (0, 1)),
    "hessian": lambda f, f_: f.vmap(f.hessian(f_, (0, 1)), (0, None)),
    "slope": lambda f, f_: lambda x, w: f.vmap(lambda x: f.jvp(lambda x: f_(x, w), (x,), (x,))[1])(x),
    "forward": lambda f, f_: f.vmap(f.jacfwd(f_, 1), (0, None)),
    "nested": lambda f, f_: lambda x, w: f.vmap(f.vmap(f.grad(f_, 1)), (0, None))(x, w),
    "other dims": lambda f, f_: lambda x, w: f.vmap(f.grad(f_), (1, None), 1)(x.T, w),
}


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_gradients_go_through(name, own):
    found = []
    for lib in (torch, badak):
        made = CASES[name](lib.func, one(functions(lib)[own]))(lib.tensor(X), lib.tensor(W))
        found.append([leaf.numpy() for leaf in lib.utils._pytree.tree_flatten(made)[0]])
    assert len(found[0]) == len(found[1])
    for theirs, ours in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("at", [0, 1])
def test_gradients_of_what_is_broadcast_and_of_leaves(at):
    found = []
    for lib in (torch, badak):
        clamp = functions(lib)[2]
        x, w = lib.tensor(X, requires_grad=True), lib.tensor(W[:1], requires_grad=True)
        lib.func.vmap(partial(lambda x, clamp, w: clamp.apply(x, w)[0], clamp=clamp, w=w), at, at)(x).square().sum().backward()
        found.append((x.grad.numpy(), w.grad.numpy()))
    for theirs, ours in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_two_rules_and_half_an_answer_are_refused():
    made, own, _ = functions(badak)
    x, w = badak.tensor(X), badak.tensor(W)
    both = type("Both", (own,), {"generate_vmap_rule": True})
    half = type("Half", (made,), {"generate_vmap_rule": False, "vmap": staticmethod(lambda info, dims, *args: args[0])})
    for function, cause in ((both, "Both: generate_vmap_rule=True, and it has a vmap"), (half, "return a tuple of two")):
        with pytest.raises(GraphError, match=cause):
            badak.func.vmap(lambda x, f=function: f.apply(x, w, 1.0)[0])(x)


def test_hooks_of_tensors_see_the_gradient_of_one_example():
    found = []
    for lib in (torch, badak):
        shapes = []

        def tripled(x, shapes=shapes):
            y = x * 2
            y.register_hook(lambda dy: (shapes.append(tuple(dy.shape)), dy * 3)[1])
            y.register_hook(lambda dy: None)
            return y.square().sum()

        f, x = lib.func, lib.tensor(X)
        made = [f.vmap(f.grad(tripled))(x), f.vmap(f.vmap(f.grad(tripled)))(x)]
        found.append(([each.numpy() for each in made], shapes))
    for theirs, ours in zip(found[0][0], found[1][0]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert found[0][1] == found[1][1]


def test_a_backward_runs_once_for_the_gradients_of_all_examples():
    answers = []
    for lib in (torch, badak):
        calls = []

        class Counted(lib.autograd.Function):
            generate_vmap_rule = True

            @staticmethod
            def forward(x):
                return x * 2

            @staticmethod
            def setup_context(ctx, inputs, output):
                pass

            @staticmethod
            def backward(ctx, dy):
                calls.append(tuple(dy.shape))  # noqa: B023
                return dy * 2

        x = lib.arange(3.0).requires_grad_()
        y = Counted.apply(x).exp()
        found = lib.vmap(lambda dy: lib.autograd.grad(y, x, dy, retain_graph=True)[0])(lib.eye(3))  # noqa: B023
        rows = lib.autograd.grad(y, x, lib.eye(3), retain_graph=True, is_grads_batched=True)[0]
        answers.append((calls, found.tolist(), rows.tolist(), found.requires_grad))
    assert answers[0][0] == answers[1][0] == [(3,), (3,)] and answers[0][3] == answers[1][3]
    np.testing.assert_allclose(answers[1][1], answers[0][1], rtol=1e-6)
    np.testing.assert_allclose(answers[1][2], answers[0][2], rtol=1e-6)


def test_a_rule_of_its_own_runs_outside_of_its_vmap():
    answers = []
    for lib in (torch, badak):
        weight = lib.arange(6.0).reshape(3, 2)

        class Summed(lib.autograd.Function):
            @staticmethod
            def forward(x):
                return x.sum()

            @staticmethod
            def setup_context(ctx, inputs, output):
                pass

            @staticmethod
            def vmap(info, in_dims, x):
                slope = lib.vmap(lambda row: lib.func.grad(lambda w: (row @ w.t()).square().sum())(weight))(x)  # noqa: B023
                return slope.sum(0), None

        outside = []
        lib.vmap(lambda x: (outside.append(Summed.apply(x)), (x * 2).sum())[1])(lib.ones(4, 2))  # noqa: B023
        answers.append((outside[0] + 1).tolist())  # it has no examples, and outlives the vmap
    assert answers[0] == answers[1]


def test_a_linear_within_three_vmaps():
    answers = []
    for lib in (torch, badak):
        x, w, b = (lib.arange(float(n)).reshape(shape) for n, shape in ((96, (2, 3, 4, 4)), (24, (3, 2, 4)), (6, (3, 2))))
        linear = lib.nn.functional.linear
        shared = lib.vmap(lambda rows: lib.vmap(lib.vmap(linear, (0, None, None)), (0, 0, 0))(rows, w, b))(x)  # noqa: B023
        own = lib.vmap(lambda rows, w: lib.vmap(linear, (0, 0, 0))(rows, w, b), (0, 0))(x, lib.stack([w, -w]))  # noqa: B023
        answers.append((shared.tolist(), own.tolist()))
    assert answers[0] == answers[1]
