"""optim_db: the optimizers of torch.optim with every option."""

import numpy as np
import pytest
import torch

import badak
from badak.errors import BadakError
from tests.torch_samples import reasons
from tests.torch_samples.exchange import Exchange, NotOurs, agree

STEPS = 6


def run(info, options: dict, dtype: str) -> bool:
    """The same gradients for the same parameters: parameters, options and names of the state must agree after STEPS."""
    rng, kind = np.random.default_rng(1), getattr(torch, dtype)
    theirs = [torch.nn.Parameter(torch.from_numpy(rng.standard_normal(s)).to(kind)) for s in ((10, 5), (7,), (1,))]
    ours = [badak.nn.Parameter(badak.from_numpy(p.detach().numpy().copy())) for p in theirs]
    try:
        named = Exchange()(options)
        expected = info.optim_cls(theirs, **options)
    except NotOurs:
        return False
    found = getattr(badak.optim, info.optim_cls.__name__)(ours, **named)
    for _ in range(STEPS):
        for p, q in zip(theirs, ours):
            p.grad = torch.from_numpy(rng.standard_normal(tuple(p.shape))).to(kind)
            q.grad = badak.from_numpy(p.grad.numpy().copy())
        expected.step()
        found.step()
    agree(theirs, ours, "parameter", STEPS)
    a, b = expected.state_dict(), found.state_dict()
    assert set(a["param_groups"][0]) == set(b["param_groups"][0]), "other options"
    assert {k: set(v) for k, v in a["state"].items()} == {k: set(v) for k, v in b["state"].items()}, "another state"
    return True


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
