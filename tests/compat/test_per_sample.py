"""call_for_per_sample_grads: the gradient of each example, next to PyTorch's and to one backward for each."""

import numpy as np
import pytest
import torch
import torch.nn.utils._per_sample_grad

import badak
from badak import nn
from badak.core.errors import BadakError, NotSupportedError

LAYERS = {
    "linear": (lambda lib: lib.nn.Linear(4, 3), (5, 4)),
    "mlp": (lambda lib: lib.nn.Sequential(lib.nn.Linear(4, 3), lib.nn.Tanh(), lib.nn.Linear(3, 2)), (5, 4)),
    "conv": (lambda lib: lib.nn.Conv2d(2, 3, 3, padding=1), (4, 2, 5, 5)),
    "group_norm": (lambda lib: lib.nn.GroupNorm(2, 4), (3, 4, 5)),
    "layer_norm": (lambda lib: lib.nn.LayerNorm(4), (3, 2, 4)),
}


def call_of(lib):
    return lib.nn.utils._per_sample_grad.call_for_per_sample_grads


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("name", LAYERS)
def test_it_is_pytorch_s(name, reduction):
    make, shape = LAYERS[name]
    theirs, ours = make(torch), make(badak)
    ours.load_state_dict({key: badak.tensor(x.numpy()) for key, x in theirs.state_dict().items()})
    data = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for lib, model in ((torch, theirs), (badak, ours)):
        model.weighed = call_of(lib)(model, loss_reduction=reduction)(lib.tensor(data))
        ((model.weighed**2).sum() / (len(data) if reduction == "mean" else 1)).backward()
    np.testing.assert_allclose(ours.weighed.detach().numpy(), theirs.weighed.detach().numpy(), rtol=1e-5, atol=1e-6)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert a.grad is None and b.grad is None
        np.testing.assert_allclose(a.grad_sample.numpy(), b.grad_sample.numpy(), rtol=1e-4, atol=1e-5)


def test_a_model_that_pytorch_s_does_not_know_has_the_gradients_of_its_examples():
    model = nn.TransformerEncoderLayer(8, 2, 16, 0.0)
    x = badak.randn(5, 3, 8)
    frozen = model.linear1.bias.requires_grad_(False)
    call_of(badak)(model, batch_first=False)(x).square().sum().backward()
    samples = {name: p.grad_sample for name, p in model.named_parameters() if p is not frozen}
    for i in range(3):
        model.zero_grad()
        model(x[:, i : i + 1]).square().sum().backward()
        for name, p in model.named_parameters():
            if p is not frozen:
                assert badak.allclose(samples[name][i], p.grad, atol=1e-4), name
    assert not hasattr(frozen, "grad_sample")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda lib: call_of(lib)(lib.nn.Linear(1, 1), loss_reduction="none"),
            "Expected loss_reduction argument",
        ),
        (lambda lib: call_of(lib)(3), "Module passed must be nn.Module, got int"),
        (lambda lib: call_of(lib)(lib.nn.Linear(1, 1), batch_size=0), "Batch size must be positive, got 0"),
        (lambda lib: call_of(lib)(lib.nn.Linear(1, 1), batch_size="a"), "Batch size passed must be None or an integer, got str"),
        (lambda lib: call_of(lib)(lib.nn.Linear(1, 1))(3), "Unable to find a tensor in the passed args and kwargs"),
        (lambda lib: call_of(lib)(lib.nn.Bilinear(1, 1, 1))(lib.ones(2, 1), lib.ones(3, 1)), "one input with batch size 2 and one"),
    ],
)
def test_a_mistake_has_pytorch_s_words(call, words):
    for lib, error in ((torch, RuntimeError), (badak, BadakError)):
        with pytest.raises(error, match=words):
            call(lib)


def test_what_would_be_wrong_is_refused():
    with pytest.raises(NotSupportedError, match="batch norm mixes the examples\nfix: "):
        call_of(badak)(nn.BatchNorm1d(2))
    with pytest.raises(NotSupportedError, match="no axis of examples\nfix: "):
        call_of(badak)(nn.Sequential(nn.Linear(2, 2), nn.Flatten(0)))(badak.ones(3, 2))
    model = nn.Linear(2, 1)
    call_of(badak)(model)(badak.ones(2, 2)).sum().backward()
    with pytest.raises(BadakError, match="has a grad_sample already"):
        call_of(badak)(model)
