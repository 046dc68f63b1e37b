"""The loss of labels without places in time: numbers and gradients as in PyTorch, refusals, the derivative itself."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError
from tests.nn.twins import agree, normal

LABELS = [[1, 2, 2], [3, 1, 4], [2, 2, 2]]
PACKED = [1, 2, 2, 3, 1, 2, 2, 2]


def loss(lib, logits, targets, lengths, steps, reduction="none", zero_infinity=False, as_tensors=True):
    def ints(numbers):
        return lib.tensor(numbers) if as_tensors else tuple(numbers)

    return lib.nn.functional.ctc_loss(
        logits.log_softmax(-1), lib.tensor(targets), ints(steps), ints(lengths), 0, reduction, zero_infinity
    )


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("as_tensors", [True, False])
def test_loss_and_gradient_below_a_log_softmax_are_pytorchs(reduction, as_tensors):
    x = normal(1, 9, 3, 5)
    for targets, lengths, steps in ((LABELS, [3, 2, 3], [9, 8, 9]), (PACKED, [3, 2, 3], [9, 8, 9]), (LABELS, [0, 1, 3], [1, 9, 7])):
        agree(lambda lib, x: loss(lib, x, targets, lengths, steps, reduction, as_tensors=as_tensors), x)  # noqa: B023


def test_what_cannot_be_spelled_is_infinite_or_zero():
    x = normal(2, 4, 3, 5)  # "2 2 2" needs five steps
    agree(lambda lib, x: loss(lib, x, LABELS, [3, 2, 3], [4, 4, 4], "sum", zero_infinity=True), x)
    infinite = loss(badak, badak.tensor(x), LABELS, [3, 2, 3], [4, 4, 4])
    assert infinite.isinf().tolist() == [False, False, True] or infinite.isinf().tolist() == [True, False, True]


def test_one_row_without_a_batch():
    agree(lambda lib, x: lib.nn.functional.ctc_loss(x.log_softmax(-1), lib.tensor([1, 2]), (6,), (2,)), normal(3, 6, 4))
    layer = badak.nn.CTCLoss(blank=3)(badak.tensor(normal(3, 6, 4)), badak.tensor([1, 2]), badak.tensor(6), badak.tensor(2))
    twin = torch.nn.CTCLoss(blank=3)(torch.tensor(normal(3, 6, 4)), torch.tensor([1, 2]), torch.tensor(6), torch.tensor(2))
    np.testing.assert_allclose(layer.item(), twin.item(), rtol=1e-6)


def test_log_probs_have_their_own_derivative_which_is_not_what_pytorch_gives_them():
    """PyTorch's is larger by exp(log_probs), so that a log_softmax above gives the same."""
    logp = np.log(np.random.default_rng(0).dirichlet(np.ones(4), (6, 1)))
    grads = []
    for lib in (badak, torch):
        x = lib.tensor(logp, requires_grad=True)
        lib.nn.functional.ctc_loss(x, lib.tensor([[1, 2]]), (6,), (2,), reduction="sum").backward()
        grads.append(x.grad.numpy())
    np.testing.assert_allclose(grads[1] - grads[0], np.exp(logp), rtol=1e-9)
    np.testing.assert_allclose(grads[0].sum(-1), -1)  # at each step the way is somewhere


REFUSED = {
    "a length beyond the steps": (([[1, 2]], [2], [9]), "ctc_loss: Expected input_lengths to have value at most 6, but got"),
    "a label that is no class": (([[1, 7]], [2], [6]), "ctc_loss: targets[0, 1] = 7, but log_probs has 4 classes (valid 0..3)"),
    "lengths of another batch": (([[1, 2]], [2, 2], [6, 6]), "ctc_loss: input_lengths must be of size batch_size; got (2,) for"),
    "a row of another sum": (([1, 2, 3], [2], [6]), "ctc_loss: targets in one row must be of size sum(target_lengths) = 2; got 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name):
    (targets, lengths, steps), text = REFUSED[name]
    with pytest.raises(BadakError) as caught:
        loss(badak, badak.tensor(normal(0, 6, 1, 4)), targets, lengths, steps)
    assert str(caught.value).startswith(text) and "\nfix: " in str(caught.value)


def test_it_has_no_second_derivative_and_says_so():
    x = badak.tensor(normal(0, 6, 1, 4), requires_grad=True)
    with pytest.raises(BadakError, match="the gradient of ctc_loss cannot be differentiated again"):
        badak.autograd.grad(loss(badak, x, [[1, 2]], [2], [6]).sum(), x, create_graph=True)
