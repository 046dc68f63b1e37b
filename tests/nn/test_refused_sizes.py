"""What PyTorch refuses, though a result could be computed: the same exceptions in the same words."""

import pytest
import torch

import badak

CALLS = {
    "a norm of one value": lambda lib: lib.nn.functional.group_norm(lib.ones(1, 4), 4),
    "reflected, no channels": lambda lib: lib.nn.functional.pad(lib.ones(3, 0, 10), (2, 2), mode="reflect"),
    "replicated, no channels": lambda lib: lib.nn.functional.pad(lib.ones(0, 10, 10), (1, 1, 1, 1), mode="replicate"),
    "windows of no channels": lambda lib: lib.nn.functional.unfold(lib.ones(3, 0, 3, 4), (2, 3)),
    "a lazy layer shared": lambda lib: lib.nn.LazyLinear(3).share_memory(),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_is_refused_in_pytorchs_words(name):
    with pytest.raises((RuntimeError, ValueError)) as theirs:
        CALLS[name](torch)
    with pytest.raises(type(theirs.value)) as ours:
        CALLS[name](badak)
    words = str(theirs.value).partition(", got")[0].partition(" [")[0]
    assert str(ours.value).startswith(words[:60])


def test_a_function_has_backward_or_vjp():
    for lib in (torch, badak):

        class Both(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, dy):
                return dy

            @staticmethod
            def vjp(ctx, dy):
                return dy

        with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp' for a custom Function is not allowed"):
            Both.apply(lib.ones(1, requires_grad=True)).sum().backward()
