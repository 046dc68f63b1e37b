"""What may change in place after a product and before its backward: what no wanted gradient needs, as in PyTorch."""

import itertools

import pytest
import torch

import badak

PRODUCTS = {
    "mm": lambda lib, x, y: x @ y,
    "rows": lambda lib, x, y: x @ y[0],
    "bmm": lambda lib, x, y: lib.bmm(x[None], y[None]),
    "linear": lambda lib, x, y: lib.nn.functional.linear(x, y),
    "addmm": lambda lib, x, y: lib.addmm(lib.ones(2), x, y),
    "baddbmm": lambda lib, x, y: lib.baddbmm(lib.ones(1, 2, 2), x[None], y[None]),
    "dot": lambda lib, x, y: lib.dot(x[0], y[0]),
    "outer": lambda lib, x, y: lib.outer(x[0], y[0]),
    "tensordot": lambda lib, x, y: lib.tensordot(x, y, 1),
    "einsum": lambda lib, x, y: lib.einsum("ij,jk->ik", x, y),
    "einsum of three": lambda lib, x, y: lib.einsum("ij,jk,kl->il", lib.ones(2, 2), x, y),
    "multi_dot": lambda lib, x, y: lib.linalg.multi_dot([x, y, lib.ones(2, 2)]),
    "bilinear": lambda lib, x, y: lib.nn.functional.bilinear(x, lib.ones(2, 2), y[None]),
    "mul": lambda lib, x, y: x * y,
    "kl_div": lambda lib, x, y: lib.nn.functional.kl_div(x, y, reduction="sum"),
}


def outcome(lib, name: str, wanted: str, changed: int, autocast: bool):
    """The gradient of a factor's scale where input `changed` is overwritten before the backward, or "refused"."""
    scale = lib.tensor(2.0, requires_grad=True)
    factors = [lib.tensor([[0.5, 0.25], [1.0, 0.75]]), lib.tensor([[1.5, 0.5], [0.25, 2.0]])]
    for i in map(int, wanted):
        factors[i] = factors[i] * scale
    with lib.autocast("cpu", enabled=autocast):
        y = PRODUCTS[name](lib, *factors)
    with lib.no_grad():
        factors[changed].mul_(3)
    try:
        y.sum().backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
        return "refused"
    return round(scale.grad.item(), 4)


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_factor_may_change_where_no_gradient_needs_it(name):
    for wanted, changed in itertools.product(("0", "1", "01"), (0, 1)):
        assert outcome(badak, name, wanted, changed, False) == outcome(torch, name, wanted, changed, False), (wanted, changed)


@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_a_weight_of_rms_norm_may_change_where_its_gradient_alone_is_wanted(lib):
    x, w = lib.tensor([[0.5, 2.0], [1.0, 3.0]]), lib.ones(2, requires_grad=True)
    for wanted in (False, True):
        y = lib.nn.functional.rms_norm(x.requires_grad_(wanted), (2,), w * 1)
        z = lib.nn.functional.rms_norm(x, (2,), w)
        with lib.no_grad():
            w.mul_(2)
        y.sum().backward()
        if not wanted:
            z.sum().backward()
        else:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                z.sum().backward()


@pytest.mark.parametrize("name", ["mm", "linear", "addmm"])
def test_products_in_bfloat16_keep_for_the_wanted_gradients_alone(name):
    free = [outcome(badak, name, wanted, changed, True) != "refused" for wanted, changed in itertools.product("01", (0, 1))]
    assert free == [True, False, False, True]
