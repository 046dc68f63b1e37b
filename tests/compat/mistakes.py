"""Mistakes that people make, and what is said: `name | class: text`. Run with PyTorch it says what PyTorch says."""

import copy
import sys

import torch
from torch import nn

x, i = torch.ones(2, 3, requires_grad=True), torch.arange(3)
two = nn.Linear(2, 2)


def saved():
    a = torch.ones(3, requires_grad=True)
    b = a.exp()
    c = b * b
    b.add_(1)
    c.sum().backward()


def twice():
    loss = (x * x).sum()
    loss.backward()
    loss.backward()


MISTAKES = {
    "a mask of bytes": lambda: x.masked_fill(torch.ones(2, 3).byte(), 0.0),
    "one minus a bool mask": lambda: 1 - (i > 1),
    "bits of floats": lambda: (i > 1) & torch.ones(3),
    "the mean of integers": lambda: i.mean(),
    "a leaf changed in place": lambda: x.add_(1),
    "a saved tensor changed in place": saved,
    "view across a transpose": lambda: torch.ones(2, 3).t().view(6),
    "view to another size": lambda: torch.ones(6).view(4, 2),
    "one value in a format": lambda: f"{torch.tensor([1.5]):.3f}",
    "the truth of two values": lambda: bool(torch.ones(2)),
    "numpy() with a gradient": lambda: x.numpy(),
    "backward twice": twice,
    "backward of many values": lambda: (x * 2).backward(),
    "backward without a graph": lambda: torch.ones(1).backward(),
    "deepcopy of a result": lambda: copy.deepcopy(x * 2),
    "a tensor for a parameter": lambda: setattr(two, "weight", torch.ones(2, 2)),
    "a module before super().__init__()": lambda: type(
        "M", (nn.Module,), {"__init__": lambda s: setattr(s, "l", nn.Linear(1, 1))}
    )(),
    "an empty state_dict": lambda: two.load_state_dict({}),
    "an id outside the table": lambda: nn.Embedding(3, 2)(torch.tensor([5])),
    "matmul of two shapes": lambda: torch.ones(2, 3) @ torch.ones(2, 3),
    "adding two shapes": lambda: torch.ones(2, 3) + torch.ones(2, 4),
    "float times double": lambda: torch.ones(2, 2) @ torch.ones(2, 2).double(),
    "a layer on integers": lambda: nn.Linear(3, 1)(i),
    "float labels": lambda: nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([1.0, 2.0])),
    "heads that do not divide": lambda: nn.MultiheadAttention(10, 4),
    "no parameters": lambda: torch.optim.SGD([], 0.1),
    "cuda": lambda: torch.ones(1, device="cuda"),
    "an index by name": lambda: x["n"],
    "an index of half": lambda: x[0.5],
    "tensors of two lengths": lambda: torch.utils.data.TensorDataset(torch.ones(2), torch.ones(3)),
    "a schedule without a first rate": lambda: torch.optim.lr_scheduler.StepLR(torch.optim.SGD([x], 0.1), 2, last_epoch=3),
    "a digit in einsum": lambda: torch.einsum("i1->i", torch.ones(2, 2)),
    "one dot in einsum": lambda: torch.einsum("i.->i", torch.ones(2, 2)),
    "stft of what": lambda: torch.stft(torch.ones(16), 8),
    "the order of complex numbers": lambda: torch.ones(2, dtype=torch.cfloat) < 1,
    "the largest complex number": lambda: torch.ones(2, dtype=torch.cfloat).max(),
    "complex numbers between": lambda: torch.ones(2, dtype=torch.cfloat).clamp(0),
    "whole complex numbers": lambda: torch.ones(2, dtype=torch.cfloat).floor(),
    "what is left of complex numbers": lambda: torch.ones(2, dtype=torch.cfloat) % 2,
    "erf of complex numbers": lambda: torch.erf(torch.ones(2, dtype=torch.cfloat)),
    "softmax of complex numbers": lambda: torch.ones(2, dtype=torch.cfloat).softmax(0),
    "the gradient of many values": lambda: torch.func.grad(lambda a: a * 2)(torch.ones(2)),
    "examples of two numbers": lambda: torch.vmap(torch.add)(torch.ones(3), torch.ones(2)),
}
CLASSES = [RuntimeError, ValueError, TypeError, IndexError, AttributeError, NotImplementedError, AssertionError, KeyError]

for name, mistake in MISTAKES.items():
    try:
        mistake()
    except Exception as error:
        bases = " ".join(cls.__name__ for cls in CLASSES if isinstance(error, cls))
        lines = str(error).split("\n")
        kept = lines[:2] if "fix: " in str(error) else lines[:1]
        sys.stdout.write(f"{name} | {bases} | {type(error).__name__}: {' '.join(kept)}\n")
    else:
        sys.stdout.write(f"{name} | | nothing\n")
