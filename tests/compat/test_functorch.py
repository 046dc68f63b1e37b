"""`functorch`, which PyTorch's wheel brings beside torch: the same program on both prints the same."""

import subprocess
import sys

import pytest

PROGRAM = """
import torch, functorch
from torch import nn
from functorch import FunctionalModule, combine_state_for_ensemble, grad, make_functional, make_functional_with_buffers, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
f, params = make_functional(model)
x = torch.randn(5, 3)
print([tuple(p.shape) for p in params], [p.requires_grad for p in params], isinstance(f, FunctionalModule))
print([f"{g.norm():.4f}" for g in vmap(grad(lambda p, x: f(p, x).sum()), (None, 0))(params, x)])
norm = nn.BatchNorm1d(3).eval()
f, params, buffers = make_functional_with_buffers(norm)
print(f(params, buffers, x)[0].detach(), len(buffers))
f, params, buffers = combine_state_for_ensemble([nn.Linear(3, 2) for _ in range(4)])
print(vmap(f, (0, 0, None))(params, buffers, x).shape, params[0].requires_grad)
try:
    make_functional(norm)
except Exception as error:
    print(str(error)[:40])
print(hasattr(functorch, "nope"), functorch.__version__[:6])
"""


def printed(*start):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", "\n".join([*start, PROGRAM])], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_modules_as_functions_by_their_old_names():
    assert printed("import badak.as_torch") == printed()


@pytest.mark.slow
def test_a_part_that_badak_has_not_stops_no_import():
    program = (
        "import badak.as_torch\nfrom functorch import dim\ntry:\n    dim.dims(2)\nexcept NotImplementedError as e:\n    print(e)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.startswith("torch.functorch.dim"), done.stderr
