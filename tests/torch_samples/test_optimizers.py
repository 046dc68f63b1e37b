"""optim_db: the optimizers of torch.optim with every option."""

from functools import partial

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError
from tests.torch_samples import reasons
from tests.torch_samples.exchange import Exchange, NotOurs, agree

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

STEPS = 6


def run(info, options: dict, dtype: str) -> bool:
    """The same gradients for the same parameters: parameters, options and names of the state must agree after STEPS."""
    rng, kind, name = np.random.default_rng(1), getattr(torch, dtype), info.optim_cls.__name__
    shapes = ((10, 5), (3, 7)) if name == "Muon" else ((10, 5), (7,), (1,))
    theirs = [torch.nn.Parameter(torch.from_numpy(rng.standard_normal(s)).to(kind)) for s in shapes]
    ours = [badak.nn.Parameter(badak.from_numpy(p.detach().numpy().copy())) for p in theirs]
    try:
        named = Exchange()(options)
        expected = info.optim_cls(theirs, **options)
    except NotOurs:
        return False
    found = getattr(badak.optim, name)(ours, **named)
    for _ in range(STEPS):
        for p, q in zip(theirs, ours):
            p.grad = torch.from_numpy(rng.standard_normal(tuple(p.shape))).to(kind)
            q.grad = badak.from_numpy(p.grad.numpy().copy())
            if info.only_supports_sparse_grads:
                p.grad, q.grad = p.grad.to_sparse(1), q.grad.to_sparse(1)
        for optimizer, params in ((expected, theirs), (found, ours)):
            optimizer.step(*[partial(bowl, params)] if name == "LBFGS" else [])
    agree(theirs, ours, "parameter", STEPS)
    a, b = expected.state_dict(), found.state_dict()
    assert set(a["param_groups"][0]) == set(b["param_groups"][0]), "other options"
    assert {k: set(v) for k, v in a["state"].items()} == {k: set(v) for k, v in b["state"].items()}, "another state"
    return True


def bowl(params):
    """A loss for an optimizer that computes it itself, and its gradients."""
    for p in params:
        p.grad = None
    loss = sum(((p - at) ** 2).sum() for at, p in enumerate(params))
    loss.backward()
    return loss


@pytest.mark.slow
def test_optimizers_agree_with_pytorch_on_pytorchs_samples():
    from torch.testing._internal.common_optimizers import optim_db

    problems, agreed = [], 0
    for info in optim_db:
        name = info.optim_cls.__name__
        if not hasattr(badak.optim, name):
            continue
        wrong = []
        for dtype in ("float64", "float32"):
            for sample in info.optim_inputs_func(device="cpu", dtype=getattr(torch, dtype)):
                try:
                    agreed += run(info, dict(sample.kwargs), dtype)
                except (BadakError, AssertionError) as problem:
                    wrong.append(f"{str(problem).split(chr(10))[0]} <- {sample.kwargs} ({dtype})")
        problems += reasons.unexplained(reasons.OPTIMIZERS, name, wrong)
    assert not problems, "\n" + "\n".join(problems)
    assert agreed > 50
