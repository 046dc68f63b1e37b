"""The gradient of a leaf lies in memory as the leaf does, where that fills its memory, as in PyTorch."""

import pytest
import torch

import badak

LEAVES = {
    "rows": lambda lib: lib.ones(3, 4, 2, 2),
    "turned": lambda lib: lib.ones(2, 2, 4, 3).permute(3, 2, 1, 0),
    "channels last": lambda lib: lib.ones(2, 3, 4, 5).contiguous(memory_format=lib.channels_last),
    "gaps": lambda lib: lib.ones(3, 4, 2, 8)[..., ::2],
    "turned gaps": lambda lib: lib.ones(8, 2, 4, 3)[::2].permute(3, 2, 1, 0),
    "expanded": lambda lib: lib.ones(3, 1, 1, 2).expand(3, 4, 2, 2),
}
USES = {
    "sum": lambda lib, x: x.sum(),
    "square": lambda lib, x: (x * x).sum(),
    "turned": lambda lib, x: (x.transpose(0, 1).contiguous() ** 2).sum(),
    "image": lambda lib, x: lib.nn.functional.interpolate(x, scale_factor=2, mode="bilinear").sum(),
    "smooth image": lambda lib, x: lib.nn.functional.interpolate(x, size=(1, 1), mode="bilinear", antialias=True).sum(),
    "twice": lambda lib, x: x.sum() + (x * 2).sum(),
}


def strides(lib, leaf, use, times=1):
    x = LEAVES[leaf](lib).detach().requires_grad_()
    for _ in range(times):
        USES[use](lib, x).backward()
    return x.grad.stride()


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("leaf", LEAVES)
def test_strides_are_pytorchs(leaf, use):
    assert strides(badak, leaf, use) == strides(torch, leaf, use)
    assert strides(badak, leaf, use, 2) == strides(torch, leaf, use, 2)


@pytest.mark.parametrize("leaf", ["turned", "channels last", "turned gaps"])
def test_a_compiled_step_gives_the_same(leaf):
    x = LEAVES[leaf](badak).detach().requires_grad_()
    known = {}

    @badak.compile
    def step(scale):
        x.grad = None
        (x * x * scale).sum().backward()

    for number in range(1, 5):
        step(badak.tensor(float(number)))
        known[number] = (x.grad.stride(), (x.grad - 2 * number * x).abs().max().item())
    assert set(known.values()) == {(strides(torch, leaf, "square"), 0.0)}
