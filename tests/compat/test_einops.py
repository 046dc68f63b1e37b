"""einops, unmodified, with badak's tensors: imported before badak or after, and its layers under `badak run`."""

import pytest

pytest.importorskip("einops")

FUNCTIONS = """
from einops import einsum, pack, rearrange, reduce, repeat
x = badak.arange(24.0).reshape(2, 3, 4)
print(tuple(rearrange(x, "b h c -> b (c h)").shape), reduce(x, "b h c -> b", "mean").tolist())
print(tuple(repeat(x, "b h c -> b h c k", k=2).shape), tuple(einsum(x, x, "b h c, b k c -> b h k").shape))
print(tuple(pack([x, x], "b * c")[0].shape), reduce(x, "b h c -> c", "max").tolist())
"""
EXPECTED = """(2, 12) [5.5, 17.5]
(2, 3, 4, 2) (2, 3, 3)
(2, 6, 4) [20.0, 21.0, 22.0, 23.0]
"""


@pytest.mark.slow
@pytest.mark.parametrize("imports", ["import einops, badak", "import badak", "import einops.einops\nimport badak"])
def test_its_functions_take_badaks_tensors(imports, python):
    done = python("-c", imports + FUNCTIONS)
    assert done.out == EXPECTED, done.err


@pytest.mark.slow
def test_its_functions_and_layers_work_under_badak_run(badak_run, program):
    text = (
        """
import torch as badak
from einops.layers.torch import EinMix, Rearrange, Reduce
"""
        + FUNCTIONS
        + """
net = badak.nn.Sequential(
    Rearrange("b (h c) -> b h c", h=2), Reduce("b h c -> b c", "max"),
    EinMix("b c -> b d", weight_shape="c d", bias_shape="d", c=3, d=5))
net(badak.ones(4, 6)).sum().backward()
print(net[2].weight.grad.tolist()[0], net[0])
"""
    )
    done = badak_run(program(text))
    assert done.out == EXPECTED + "[4.0, 4.0, 4.0, 4.0, 4.0] Rearrange('b (h c) -> b h c', h=2)\n", done.err


def test_gradients_go_through_it():
    import einops

    import badak

    x = badak.arange(6.0).reshape(2, 3).requires_grad_()
    (einops.rearrange(x, "a b -> b a") ** 2).sum().backward()
    assert x.grad.tolist() == [[0, 2, 4], [6, 8, 10]]
