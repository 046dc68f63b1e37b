"""MaskedTensor prints what PyTorch's prints: functions, views, reductions, gradients, and refusals of the same kind."""

import warnings

import pytest
import torch

import badak
from badak.compat.torch import masked_tensor as ours

DATA = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
MASK = [[True, False, True], [False, False, True]]
CALLS = """
repr(x) | x.get_data() | x.get_mask() | x.to_tensor(-1) | x.exp() | t.sqrt(x) | -x | abs(x) | x + 1 | 2 * x | x * x | x - d
d / x | x**2 | x > 2 | x < 3 | x == x | x + m.masked_tensor(d, ~k) | x.sum() | x.mean() | x.amax() | x.amin() | x.prod()
x.argmax() | x.var() | x.std() | t.sum(x, dim=1) | t.mean(x, dim=0) | x.amax(0, keepdim=True) | x.argmin(1) | x.prod(1)
t.var(x, dim=1) | (x > -1).all() | x[0] | x[:, 1:] | x[0, 1] | x[0, 0] | x[t.tensor([1, 0])] | x.t() | x.view(3, 2)
x.reshape(6) | x.unsqueeze(0) | t.cat([x, x]) | t.stack([x, x]) | x[0].expand(2, 3) | x.clone() | x.detach()
x.to(t.float64) | x @ x.t() | x.softmax(1) | x.log_softmax(1) | t.where(k, x, x * 2) | x.T | m.MaskedTensor(d, k.float())
m.MaskedTensor(d, k[0]) | m.MaskedTensor([1], k) | m.masked_tensor(t.tensor([1, 20]), t.tensor([True, False]))
m.is_masked_tensor(x) | m.is_masked_tensor(d) | isinstance(x, t.Tensor) | slope(m.masked_tensor(d, k, requires_grad=True))
"""


def slope(x):
    (x * 2).sum().backward()
    return x.grad


def said(library, masked, call):
    """What a call prints, or of which kind its error is."""
    d, k = library.tensor(DATA), library.tensor(MASK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = {"x": masked.masked_tensor(d, k), "d": d, "k": k, "t": library, "m": masked, "slope": slope}
        try:
            return repr(eval(call, names))
        except TypeError:
            return "TypeError"
        except ValueError:
            return "ValueError"


@pytest.mark.parametrize("call", [call.strip() for line in CALLS.strip().splitlines() for call in line.split("|")])
def test_a_masked_tensor_does_as_that_of_pytorch(call):
    class Masked:
        MaskedTensor, masked_tensor = ours.MaskedTensor, ours.masked_tensor
        is_masked_tensor = staticmethod(badak.compat.torch.masked.is_masked_tensor)

    assert said(badak, Masked, call) == said(torch, torch.masked, call)


def test_gradients_go_back_to_the_data():
    found = []
    for library, make in ((badak, ours.as_masked_tensor), (torch, torch.masked.as_masked_tensor)):
        d = library.tensor(DATA, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (make(d, library.tensor(MASK)) ** 2).mean().backward()
            found.append((d.grad.to_tensor(0) if library is torch else d.grad).tolist())
    assert found[0] == found[1]


def test_a_plain_tensor_takes_over_the_data():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, plain = ours.masked_tensor(badak.ones(2), badak.tensor([True, False])), badak.zeros(2)
        plain[:] = plain + x
    assert type(plain) is badak.Tensor and plain.tolist() == [1.0, 1.0]


def test_masks_must_be_the_same():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, y = (ours.masked_tensor(badak.ones(2), badak.tensor(mask)) for mask in ([True, False], [True, True]))
    with pytest.raises(ValueError, match="Input masks must match"):
        x + y
