"""Functions of one or two complex tensors: PyTorch's numbers, or an error; never a part of the number, or its real half."""

import warnings

import numpy as np
import pytest
import torch

import badak
import badak.nn.functional as F

VALUES = np.array([[1 + 1j, 0.3 - 2j], [0.5 + 0.1j, -1j]], np.complex64)
MORE = {  # of which PyTorch has no kernel; each of them is defined for complex numbers
    "cdist", "pdist", "isin", "nanmean", "nansum", "unique_consecutive", "dropout", "dropout1d", "dropout2d", "dropout3d", "abs_",
    "absolute_", "glu", "huber_loss", "smooth_l1_loss", "column_stack", "chain_matmul", "multi_dot",
}  # fmt: skip
ELSE = {  # VALUES are no factor or Hermitian matrix; drawn; no functions of numbers
    "cholesky_inverse", "cholesky_ex", "pca_lowrank", "svd_lowrank", "from_numpy", "sparse_coo_tensor", "pin_memory",
    "sum_to_size", "from_file", "sym_sum", "to_sparse", "to_sparse_coo", "to_sparse_csc", "to_sparse_csr",
}  # fmt: skip
PLACES = {
    "torch": (torch, badak), "special": (torch.special, badak.special), "linalg": (torch.linalg, badak.linalg),
    "F": (torch.nn.functional, F), "Tensor": (torch.Tensor, badak.Tensor),
}  # fmt: skip


def names(place: str) -> list[str]:
    theirs, ours = PLACES[place]
    left_out = ("rand", "empty", "normal", "bernoulli", "resize", "new_", "gumbel", "set_", "use_", "init", "manual",
                "uniform")  # fmt: skip
    found = [name for name in dir(theirs) if not name.startswith(("_", *left_out)) and hasattr(ours, name) and name not in ELSE]
    return [name for name in found if callable(getattr(theirs, name)) and not isinstance(getattr(theirs, name), type)]


def answer(function, library, count: int):
    """What it gives for so many tensors: arrays, "an error", or None where that is no tensor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = function(*(library.tensor(VALUES.copy()) for _ in range(count)))
        except Exception:
            return "an error"
    made = made if isinstance(made, (tuple, list)) else [made]
    return [np.asarray(x.detach().tolist()) for x in made] if all(isinstance(x, library.Tensor) for x in made) else None


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_complex_number_is_never_cut_in_half(place):
    theirs, ours = PLACES[place]
    asked, other = 0, []
    for name in names(place):
        for count in (1, 2):
            expected, got = answer(getattr(theirs, name), torch, count), answer(getattr(ours, name), badak, count)
            if expected is None or got is None or got == "an error":
                continue
            asked += 1
            if expected == "an error":
                if name not in MORE and count == 1:
                    other.append(f"{name}: PyTorch refuses it")
            elif not all(a.shape == b.shape and np.allclose(a, b, 1e-4, 1e-5, equal_nan=True) for a, b in zip(expected, got)):
                other.append(f"{name}({count} tensors)")
    assert asked > {"special": 3, "linalg": 15, "F": 10}.get(place, 60)
    assert not other


@pytest.mark.parametrize("name", ["clamp", "clamp_min", "clamp_max", "clip", "maximum", "minimum", "polar", "atan2"])
def test_two_complex_tensors_have_no_order(name):
    x = badak.tensor(VALUES)
    with pytest.raises((RuntimeError, NotImplementedError)):
        getattr(badak, name)(x, x)


@pytest.mark.parametrize("name", ["mse_loss", "kl_div", "binary_cross_entropy_with_logits", "cosine_similarity"])
def test_losses_that_are_defined_for_real_numbers(name):
    x = badak.tensor(VALUES)
    with pytest.raises(RuntimeError, match="expected real numbers; got badak.complex64\nfix: x.real"):
        getattr(F, name)(x, x)


def test_nan_to_num_takes_the_parts_apart():
    values = np.array([complex("nan+infj"), complex("-inf+2j"), 1 + 1j], np.complex64)
    expected = torch.nan_to_num(torch.tensor(values), posinf=9.0)
    assert np.array_equal(badak.nan_to_num(badak.tensor(values), posinf=9.0).numpy(), expected.numpy())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.layer_norm(x, (2,)),
        lambda x: F.group_norm(x, 1),
        lambda x: F.local_response_norm(x[None], 2),
        lambda x: F.max_pool1d(x[None], 2),
        lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
        lambda x: x.softmax(-1),
        lambda x: F.log_softmax(x, -1),
        lambda x: F.relu(x),
    ],
)
def test_layers_that_compare_or_square_take_real_numbers(call):
    with pytest.raises((RuntimeError, NotImplementedError), match="\nfix: "):
        call(badak.tensor(VALUES))
