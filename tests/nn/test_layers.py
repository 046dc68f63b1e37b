"""Single layers: what does not follow from parity alone, positions, and what is said when something is wrong."""

import math

import numpy as np
import pytest
import torch

import badak
from badak import nn
from tests.parity.compare import DEEP, array, assert_same, assert_same_run, copy_state, draw, twins

SINGLE = 2.0**29  # roundings of float64 in one of float32, in which tables of sines are kept
BOTH_DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])


def test_hardsigmoid_agrees_with_pytorch():
    x = draw([(4, 6)], "float64")
    # PyTorch's gradient has 1/6 in float32, in float64 too
    assert_same_run(nn.Hardsigmoid(), torch.nn.Hardsigmoid(), x, SINGLE, "Hardsigmoid")


# ------------------------------------------------------------------ Embedding


def test_embedding_from_pretrained_is_frozen_and_shares_the_table():
    table = badak.ones(3, 2)
    embedding = nn.Embedding.from_pretrained(table, padding_idx=-1)
    assert not embedding.weight.requires_grad and embedding.padding_idx == 2
    table[0] = 5.0
    assert embedding(badak.tensor([0])).tolist() == [[5, 5]]
    assert nn.Embedding.from_pretrained(table, freeze=False).weight.requires_grad


@BOTH_DTYPES
def test_embedding_scales_down_the_rows_it_looks_up(dtype):
    theirs, ours = twins(lambda lib: lib.nn.Embedding(5, 3, max_norm=0.7, norm_type=1.5), dtype)
    copy_state(theirs, ours)
    ids = np.array([[0, 1], [1, 3]])
    assert_same(ours(badak.from_numpy(ids)), theirs(torch.from_numpy(ids)), DEEP, "rows")
    assert_same(ours.weight, theirs.weight, DEEP, "table")


def test_a_subclass_of_embedding_passes_its_arguments_on():
    class Positions(nn.Embedding):
        def __init__(self, d):
            super().__init__(3, d, padding_idx=0)

    assert repr(Positions(4)) == "Positions(3, 4, padding_idx=0)" and not Positions(4).weight[0].any()


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_what_embedding_refuses(lib):
    for call in (
        lambda: lib.nn.Embedding(3, 4, padding_idx=3),
        lambda: lib.nn.Embedding.from_pretrained(lib.ones(3)),
        lambda: lib.nn.Embedding(3, 4, _weight=lib.ones(3, 3)),
    ):
        with pytest.raises(AssertionError):
            call()
    with pytest.raises(IndexError):
        lib.nn.Embedding(3, 2)(lib.tensor([5]))


# ------------------------------------------------------------------ others


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_what_layers_refuse(lib):
    for error, call in [
        (ValueError, lambda: lib.nn.Dropout(2)),
        (ValueError, lambda: lib.nn.Dropout(-0.1)),
        (ValueError, lambda: lib.nn.GroupNorm(3, 4)),
        (AssertionError, lambda: lib.nn.Hardtanh(2, 1)),
        (TypeError, lambda: lib.nn.Unflatten(1, 3)),
        (RuntimeError, lambda: lib.nn.Linear(-1, 3)),
        (RuntimeError, lambda: lib.nn.Linear(2, 3)(lib.ones(4, 5))),
    ]:
        with pytest.raises(error):
            call()


def test_inplace_activations_write_into_their_input():
    x = badak.tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x and x.tolist() == [0, 2]


def test_dtype_of_a_layer_is_as_asked():
    assert nn.Linear(2, 3, dtype=badak.float64).weight.dtype == badak.float64
    assert nn.Transformer(8, 2, 1, 1, 8, dtype=badak.float64, device="cpu").decoder.norm.weight.dtype == badak.float64
    assert nn.MultiheadAttention(8, 2, dtype=badak.float64, add_bias_kv=True).bias_k.dtype == badak.float64


def test_older_names_of_the_limits_of_hardtanh():
    assert repr(nn.Hardtanh(min_value=-0.5, max_value=0.7)) == "Hardtanh(min_val=-0.5, max_val=0.7)"


def test_identity_takes_anything():
    x = badak.ones(1)
    assert nn.Identity(54, unused=True)(x) is x


def test_older_words_for_the_reduction():
    with pytest.warns(UserWarning):
        loss = nn.MSELoss(size_average=False)
    assert loss.reduction == "sum" and nn.L1Loss(reduce=False).reduction == "none"


def test_a_class_weight_moves_with_its_loss():
    loss = nn.CrossEntropyLoss(weight=badak.ones(3)).double()
    assert loss.weight.dtype == badak.float64


# ------------------------------------------------------------------ positions


def tutorial_table(length, width):
    table = np.zeros((length, width))
    for t in range(length):
        for c in range(width):
            angle = t / 10000 ** (2 * (c // 2) / width)
            table[t, c] = math.sin(angle) if c % 2 == 0 else math.cos(angle)
    return table


@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_sinusoids_are_those_of_the_paper_for_odd_widths_too(width):
    found = array(nn.PositionalEncoding(width, max_len=20, dtype=badak.float64).pe)
    np.testing.assert_allclose(found, tutorial_table(20, width), atol=1e-12)


@pytest.mark.parametrize("make", [nn.PositionalEncoding, nn.LearnedPositionalEncoding])
def test_positions_are_added_along_the_length(make):
    seq_first = make(6, dropout=0.0, max_len=9)
    batch_first = make(6, dropout=0.0, max_len=9, batch_first=True)
    batch_first.load_state_dict(seq_first.state_dict())
    x = badak.zeros(4, 3, 6)
    added = seq_first(x)
    assert (added[:, 0] == added[:, 2]).all() and not (added[0] == added[1]).all()
    assert (batch_first(x.transpose(0, 1)) == added.transpose(0, 1)).all()
    assert (seq_first(x[:, 0]) == added[:, 0]).all()
    with pytest.raises(IndexError, match="length 10 > max_positions 9"):
        seq_first(badak.zeros(10, 1, 6))


def test_learned_positions_learn_and_fixed_ones_take_no_room():
    learned = nn.LearnedPositionalEncoding(4, dropout=0.0, max_len=6)
    learned(badak.zeros(2, 3, 4)).sum().backward()
    assert learned.weight.grad.sum(1).tolist() == [12, 12, 0, 0, 0, 0]
    assert not nn.PositionalEncoding(4).state_dict() and not list(nn.PositionalEncoding(4).parameters())


def test_positions_drop_out_in_training_only():
    encoding = nn.PositionalEncoding(64, dropout=0.5)
    x = badak.ones(5, 1, 64)
    assert (encoding(x) == 0).any() and not (encoding.eval()(x) == 0).any()


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotated_products_depend_on_the_distance_only(interleaved):
    rotary = nn.RotaryEmbedding(8, max_len=32, interleaved=interleaved).double()
    q, k = (badak.from_numpy(np.random.default_rng(i).standard_normal(8)) for i in (0, 1))
    rows_q, rows_k = rotary(q.expand(20, 8)), rotary(k.expand(20, 8))
    scores = rows_q @ rows_k.T
    for distance in (0, 3, -5):
        line = array(scores.diagonal(distance))
        np.testing.assert_allclose(line, line[0], rtol=1e-6)
    assert_same(rotary(q.expand(3, 8), offset=5), rows_q[5:8], 18, "offset")
    assert_same(rows_q.norm(dim=-1), q.norm().expand(20), SINGLE, "length of the vectors")


def test_the_two_pairings_are_a_permutation_of_each_other():
    x = badak.from_numpy(np.random.default_rng(0).standard_normal((5, 8)).astype(np.float32))
    order = badak.tensor([0, 4, 1, 5, 2, 6, 3, 7])
    halves, pairs = nn.RotaryEmbedding(8), nn.RotaryEmbedding(8, interleaved=True)
    assert_same(halves(x)[:, order], pairs(x[:, order]), 18, "pairings")


def test_what_positions_refuse():
    with pytest.raises(ValueError, match="expected an even dim"):
        nn.RotaryEmbedding(7)
    with pytest.raises(IndexError, match="length 9 > max_positions 8"):
        nn.RotaryEmbedding(4, max_len=8)(badak.zeros(5, 4), offset=4)


# ------------------------------------------------------------------ utils


def test_parameters_travel_through_a_vector():
    theirs, ours = twins(lambda lib: lib.nn.Linear(2, 3), "float32")
    copy_state(theirs, ours)
    vector = nn.utils.parameters_to_vector(ours.parameters())
    assert_same(vector, torch.nn.utils.parameters_to_vector(theirs.parameters()), 0, "vector")
    nn.utils.vector_to_parameters(vector.detach() * 2, ours.parameters())
    assert_same(ours.weight, theirs.weight * 2, 0, "weight")


@pytest.mark.parametrize("options", [{}, {"batch_first": True, "padding_value": 3.0}, {"padding_side": "left"}], ids=str)
def test_sequences_are_padded_as_in_pytorch(options):
    made = []
    for lib in (badak, torch):
        rows = [lib.ones(length, 2) * length for length in (3, 1, 2)]
        made.append(lib.nn.utils.rnn.pad_sequence(rows, **options))
    assert_same(*made, 0, "padded")
    if options.get("padding_side") != "left":
        lengths = badak.tensor([3, 1, 2])
        back = nn.utils.rnn.unpad_sequence(made[0], lengths, batch_first=options.get("batch_first", False))
        assert [row.shape for row in back] == [(3, 2), (1, 2), (2, 2)]
