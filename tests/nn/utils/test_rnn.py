"""Packed sequences and recurrent layers over them, against PyTorch."""

import numpy as np
import pytest
import torch

import badak
from badak import nn
from tests.parity.compare import DEEP, assert_same, copy_state, twins

LENGTHS = [2, 5, 3]
RAGGED = [np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32) for n in LENGTHS]


def padded(lib):
    return lib.nn.utils.rnn.pad_sequence([lib.from_numpy(x.copy()) for x in RAGGED])


@pytest.mark.parametrize("batch_first", [False, True])
def test_packing_is_that_of_pytorch_and_comes_undone(batch_first):
    made = []
    for lib in (badak, torch):
        x = padded(lib)
        x = x.transpose(0, 1) if batch_first else x
        rnn = lib.nn.utils.rnn
        packed = rnn.pack_padded_sequence(x, lib.tensor(LENGTHS), batch_first=batch_first, enforce_sorted=False)
        back, lengths = rnn.pad_packed_sequence(packed, batch_first=batch_first, padding_value=-1.0, total_length=6)
        made.append([*packed, back, lengths])
    for found, expected in zip(*made):
        assert_same(found, expected, 0)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("lengths", [LENGTHS, sorted(LENGTHS, reverse=True)], ids=["unsorted", "sorted"])
def test_what_is_padded_lies_as_in_pytorch(batch_first, lengths):
    """So that view(-1), which moves nothing, can follow."""
    made = []
    for lib in (badak, torch):
        rnn = lib.nn.utils.rnn
        x = rnn.pad_sequence([lib.ones(n, 4) for n in lengths], batch_first=batch_first)
        packed = rnn.pack_padded_sequence(x, lengths, batch_first, enforce_sorted=lengths is not LENGTHS)
        made.append([x.stride(), rnn.pad_packed_sequence(packed, batch_first)[0].stride()])
    assert made[0] == made[1]


def test_sequences_pack_and_unpack():
    sequences = [badak.ones(n, 2) * n for n in (4, 2, 1)]
    packed = nn.utils.rnn.pack_sequence(sequences)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1] and packed.sorted_indices is None
    for found, expected in zip(nn.utils.rnn.unpack_sequence(packed), sequences):
        assert found.tolist() == expected.tolist()
    assert packed.double().data.dtype == packed.to(badak.float64).data.dtype == badak.float64


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True, "dropout": 0.4}], ids=str)
@pytest.mark.parametrize("with_state", [False, True])
def test_layers_over_packed_sequences_agree_with_pytorch(name, options, with_state):
    theirs, ours = twins(lambda lib: getattr(lib.nn, name)(4, 6, **options), "float32")
    copy_state(theirs, ours)
    made = []
    for lib, model in ((badak, ours), (torch, theirs)):
        x = padded(lib).requires_grad_()
        state = None
        if with_state:
            shape = (options.get("num_layers", 1) * (2 if options else 1), 3, 6)
            state = lib.from_numpy(np.random.default_rng(9).standard_normal(shape).astype(np.float32))
            state = (state, state * 2) if name == "LSTM" else state
        lib.manual_seed(5)
        packed = lib.nn.utils.rnn.pack_padded_sequence(x, LENGTHS, enforce_sorted=False)
        y, last = model(packed, state)
        parts = [lib.nn.utils.rnn.pad_packed_sequence(y)[0], *(last if name == "LSTM" else [last])]
        sum((part * part).sum() for part in parts).backward()
        made.append([*parts, x.grad, *(p.grad for p in model.parameters())])
    for found, expected in zip(*made):
        assert_same(found, expected, DEEP)


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_nothing_cannot_be_packed(lib, lengths):
    with pytest.raises(RuntimeError, match="Cannot pack empty tensors"):
        lib.nn.utils.rnn.pack_padded_sequence(lib.ones(0, len(lengths)), lengths)


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_what_packing_and_recurrent_layers_refuse(lib):
    rnn = lib.nn.utils.rnn
    for call in (
        lambda: rnn.pack_padded_sequence(lib.ones(3, 2, 1), [1, 3]),
        lambda: rnn.pack_padded_sequence(lib.ones(3, 2, 1), [3, 0]),
        lambda: rnn.pack_padded_sequence(lib.ones(3, 2, 1), [3]),
        lambda: lib.nn.GRU(4, 6)(lib.ones(3, 2, 5)),
        lambda: lib.nn.GRU(4, 6)(lib.ones(3, 2, 4), lib.ones(1, 3, 6)),
        lambda: lib.nn.LSTM(4, 6, dropout=2.0),
        lambda: lib.nn.RNN(4, 6, nonlinearity="gelu"),
    ):
        with pytest.raises((RuntimeError, ValueError)):
            call()


def test_a_state_carried_over_equals_one_pass():
    badak.manual_seed(0)
    layer, x = nn.LSTM(3, 5, num_layers=2), badak.randn(7, 2, 3)
    whole, (h, c) = layer(x)
    first, state = layer(x[:4])
    second, (h2, c2) = layer(x[4:], state)
    assert_same(badak.cat([first, second]), whole.detach().numpy(), 18)
    assert_same(c2, c.detach().numpy(), 18)
    assert layer.all_weights[1][0] is layer.weight_ih_l1 and layer.flatten_parameters() is None


def test_dropout_of_a_single_layer_warns():
    with pytest.warns(UserWarning, match="expects num_layers greater than 1"):
        nn.GRU(3, 4, dropout=0.5)


def test_a_packed_sequence_in_another_dtype():
    for lib in (badak, torch):
        packed = lib.nn.utils.rnn.pack_sequence([lib.ones(3), lib.ones(2)])
        for name, dtype in (("short", lib.int16), ("char", lib.int8), ("byte", lib.uint8), ("double", lib.float64)):
            assert getattr(packed, name)().data.dtype == dtype
        assert packed.to(lib.float32) is packed.float() is packed.cpu() is packed and not packed.is_pinned()
