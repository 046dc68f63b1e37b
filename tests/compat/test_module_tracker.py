"""ModuleTracker: what is at work in a forward and a backward, as PyTorch's says it."""

import pytest
import torch
from badak.utils.module_tracker import ModuleTracker
from torch.utils.module_tracker import ModuleTracker as Theirs

import badak


def told(lib, tracker_class) -> list:
    seen: list = []

    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append((sorted(tracker.parents), tracker.is_bw))
            return x * 2

        @staticmethod
        def backward(ctx, dy):
            seen.append((sorted(tracker.parents), tracker.is_bw))
            return dy * 2

    class Block(lib.nn.Module):
        def __init__(self, *parts):
            super().__init__()
            self.parts = lib.nn.ModuleList(parts)

        def forward(self, x, scale=None):
            for part in self.parts:
                x = part(x)
            return Double.apply(x), Double.apply(x) + 1

    class First(Block):
        def forward(self, x):
            return super().forward(x)[0]

    model = Block(First(lib.nn.Linear(2, 2)), First(lib.nn.ReLU(), First()))
    for _ in range(2):
        with tracker_class() as tracker:
            y, z = model(lib.ones(1, 2, requires_grad=True))
            (y + z).sum().backward()
            seen.append((sorted(tracker.parents), tracker.is_bw))
    model(lib.ones(1, 2))
    return seen


def test_it_says_what_pytorchs_says():
    mine = told(badak, ModuleTracker)
    assert mine == told(torch, Theirs)
    assert (["Block", "Block.parts.1", "Block.parts.1.parts.1", "Global"], True) in mine


@pytest.mark.parametrize("lib, tracker", [(badak, ModuleTracker), (torch, Theirs)], ids=["badak", "pytorch"])
def test_it_leaves_no_hooks(lib, tracker):
    with tracker() as found:
        pass
    lib.nn.Linear(1, 1)(lib.ones(1)).backward()
    assert found.parents == {"Global"} and not found.is_bw
