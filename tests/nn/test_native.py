"""Functions that stand in torch as well as in torch.nn.functional: torch's order of arguments there, and its numbers."""

import inspect

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError
from tests.nn.twins import agree, normal

SHARED = sorted(
    name
    for name in vars(torch.nn.functional)
    if not name.startswith("_") and callable(getattr(torch, name, None)) and callable(getattr(badak, name, None))
)
# names whose first arguments agree, and that take words of NumPy's, or what PyTorch's overloads take, besides
WIDER = {"relu", "relu_", "sigmoid", "tanh", "softmax", "log_softmax", "celu", "selu", "threshold", "Tensor"}


def expected(name: str) -> list[str]:
    """The positional arguments of PyTorch's first overload."""
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    arguments = schemas[0].arguments if schemas else []
    return ["input" if a.name == "self" else a.name for a in arguments if not a.kwarg_only and a.name != "generator"]


@pytest.mark.parametrize("name", [name for name in SHARED if name not in WIDER])
def test_arguments_stand_where_torch_has_them(name):
    wanted, function = expected(name), getattr(badak, name)
    found = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert found[: len(wanted)] == wanted or not wanted


POSITIONAL = {
    "batch_norm": (lambda lib, x, w, b: lib.batch_norm(x, w, b, None, None, True, 0.1, 1e-5, False), (5, 3), (3,), (3,)),
    "batch_norm evaluated": (
        lambda lib, x, w, b: lib.batch_norm(x, w, b, x[0].detach() * 0, x[0].detach() * 0 + 1, False, 0.1, 1e-5, False),
        (5, 3), (3,), (3,),
    ),
    "instance_norm": (lambda lib, x, w, b: lib.instance_norm(x, w, b, None, None, True, 0.1, 1e-5, False), (2, 3, 5), (3,), (3,)),
    "layer_norm": (lambda lib, x, w, b: lib.layer_norm(x, (3,), w, b, 1e-4, False), (5, 3), (3,), (3,)),
    "group_norm": (lambda lib, x, w, b: lib.group_norm(x, 2, w, b, 1e-4, False), (5, 4, 2), (4,), (4,)),
    "embedding": (lambda lib, w: lib.embedding(w, lib.tensor([[0, 2], [1, 2]]), 2, False, False), (4, 3)),
    "dropout": (lambda lib, x: (lib.manual_seed(0), lib.dropout(x, 0.5, True))[1], (40,)),
    "alpha_dropout": (lambda lib, x: (lib.manual_seed(0), lib.alpha_dropout(x, 0.5, True))[1], (40,)),
    "binary_cross_entropy_with_logits": (
        lambda lib, x, y, w: lib.binary_cross_entropy_with_logits(x, y.sigmoid().detach(), None, w.exp().detach(), 2),
        (3, 4), (3, 4), (4,),
    ),
    "cosine_embedding_loss": (
        lambda lib, x, y: lib.cosine_embedding_loss(x, y, lib.ones(3, dtype=x.dtype), 0.1, 0), (3, 4), (3, 4),
    ),
    "hinge_embedding_loss": (lambda lib, x: lib.hinge_embedding_loss(x, lib.ones_like(x), 0.5, 2), (3, 4)),
    "kl_div": (lambda lib, x, y: lib.kl_div(x, y.detach(), 2, log_target=True), (3, 4), (3, 4)),
    "margin_ranking_loss": (lambda lib, x, y: lib.margin_ranking_loss(x, y, lib.ones_like(x), 0.5, 0), (3,), (3,)),
    "poisson_nll_loss": (lambda lib, x, y: lib.poisson_nll_loss(x, y.exp().detach(), True, True, 1e-8, 1), (3, 4), (3, 4)),
    "triplet_margin_loss": (
        lambda lib, x, y, z: lib.triplet_margin_loss(x, y, z, 1.0, 2.0, 1e-6, True, 2), (3, 4), (3, 4), (3, 4),
    ),
    "adaptive_max_pool1d": (lambda lib, x: lib.adaptive_max_pool1d(x, 2)[0], (2, 3, 5)),
    "max_pool1d_with_indices": (lambda lib, x: lib.max_pool1d_with_indices(x, 2, 1)[0], (2, 3, 5)),
}  # fmt: skip


@pytest.mark.parametrize("name", POSITIONAL)
def test_values_and_gradients_are_those_of_torch(name):
    call, *shapes = POSITIONAL[name]
    agree(call, *(normal(seed, *shape) for seed, shape in enumerate(shapes)), units=256)


def test_forms_in_place():
    for name in ("dropout_", "alpha_dropout_", "feature_alpha_dropout_"):
        found = []
        for lib in (badak, torch):
            lib.manual_seed(1)
            x = lib.from_numpy(normal(0, 4, 6, 3))
            assert getattr(lib, name)(x, 0.5, True) is x
            found.append(x.numpy())
        np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-6)


def test_a_word_for_a_number_is_refused():
    with pytest.raises(BadakError, match="kl_div: expected reduction 0"):
        badak.kl_div(badak.ones(2), badak.ones(2), "sum")
