"""The printed form of models is PyTorch's to the letter."""

from collections import OrderedDict

import pytest
import torch

import badak

MODELS = {
    "folded list": lambda nn: nn.ModuleList([nn.Linear(2, 2)] * 3 + [nn.ReLU()] + [nn.Sequential(nn.Tanh(), nn.Tanh())] * 2),
    "nested": lambda nn: nn.Sequential(
        OrderedDict(a=nn.ModuleDict({"x": nn.ModuleList([nn.ReLU(), nn.ReLU()])}), b=nn.Sequential())
    ),
    "encoder": lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 3, nn.LayerNorm(4)),
    "decoder": lambda nn: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, activation=nn.GELU()), 2),
    "attention": lambda nn: nn.MultiheadAttention(4, 2, bias=False, add_bias_kv=True),
    "embedding": lambda nn: nn.Embedding(3, 4, padding_idx=-1, max_norm=2, norm_type=3, scale_grad_by_freq=True, sparse=True),
    "inplace": lambda nn: nn.Sequential(
        nn.ReLU(True), nn.SiLU(True), nn.Mish(True), nn.ReLU6(True), nn.Hardswish(True), nn.ELU(2, True), nn.LeakyReLU(0.2, True),
        nn.Hardtanh(-2, 2, True), nn.Threshold(1, 2, True), nn.Dropout(0.2, True), nn.CELU(2, True), nn.SELU(True),
    ),
    "plain": lambda nn: nn.Sequential(
        nn.ReLU(), nn.GELU("tanh"), nn.Softmax(), nn.LogSoftmax(1), nn.Softplus(), nn.LogSigmoid(), nn.GLU(), nn.PReLU(3),
        nn.Softmin(1), nn.Softsign(), nn.Tanhshrink(), nn.Softshrink(), nn.Hardshrink(), nn.Hardsigmoid(), nn.Softmax2d(),
        nn.Flatten(), nn.Unflatten(1, (2, 3)), nn.Bilinear(2, 3, 4), nn.Identity(3), nn.GroupNorm(2, 4), nn.RMSNorm((2, 3)),
        nn.LayerNorm(3, bias=False), nn.LayerNorm((2, 3), elementwise_affine=False), nn.CrossEntropyLoss(), nn.CosineSimilarity(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_models_print_as_in_pytorch(name):
    assert repr(MODELS[name](badak.nn)) == repr(MODELS[name](torch.nn))


@pytest.mark.parametrize("lines", ["", "one=1", "one=1\ntwo=2"])
@pytest.mark.parametrize("children", [0, 1])
def test_extra_repr_stands_where_pytorch_puts_it(lines, children):
    def make(nn):
        class Special(nn.Module):
            def extra_repr(self):
                return lines

        module = Special()
        if children:
            module.inner = nn.Sequential(nn.ReLU())
        return nn.Sequential(module)

    assert repr(make(badak.nn)) == repr(make(torch.nn))


def test_a_parameter_prints_as_in_pytorch():
    def text(lib):
        make = lib.nn.Parameter
        return repr(make(lib.ones(2))), repr(make(lib.ones(1), requires_grad=False)), str(make())

    assert text(badak) == text(torch)
