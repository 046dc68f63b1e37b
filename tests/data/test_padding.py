"""Padding and bucketing: PyTorch's pad_sequence judges the one, what must hold of every epoch the other."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import badak
from badak.core.errors import BadakError
from badak.data import BucketBatchSampler, DataLoader, pad, padding_mask
from badak.tensor.random import Generator

ROWS = [[5, 6, 7], [8], [9, 10, 11, 12, 13]]


@pytest.mark.parametrize("left", [False, True])
def test_pad_is_pytorchs_pad_sequence(left):
    theirs = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row) for row in ROWS], batch_first=True, padding_value=-100, padding_side="left" if left else "right"
    )
    for rows in (ROWS, [np.array(row, np.int32) for row in ROWS], [badak.tensor(row) for row in ROWS]):
        made = pad(rows, -100, left=left)
        assert made.dtype == badak.int64
        np.testing.assert_array_equal(made.numpy(), theirs.numpy())


@pytest.mark.parametrize("multiple, T", [(1, 5), (4, 8), (5, 5), (8, 8)])
def test_lengths_are_rounded_up(multiple, T):
    for left in (False, True):
        made = pad(ROWS, 0, multiple, left).numpy()
        assert made.shape == (3, T)
        for row, full in zip(ROWS, made):
            assert (full[T - len(row) :] if left else full[: len(row)]).tolist() == row
            assert (full != 0).sum() == len(row)


def test_rows_may_be_empty():
    assert pad([[], [1]], 7).tolist() == [[7], [1]]
    assert pad([[], []], 7).shape == (2, 0)


def test_the_mask_says_where_padding_is():
    ids = pad(ROWS, 0)
    assert padding_mask(ids, 0).tolist() == [[False] * 3 + [True] * 2, [False] + [True] * 4, [False] * 5]


LENGTHS = st.lists(st.integers(1, 40), min_size=1, max_size=120)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(LENGTHS, st.integers(1, 9), st.integers(0, 3), st.booleans())
def test_an_epoch_is_every_example_once(lengths, size, seed, by_tokens):
    budget = {"tokens": 44 + 10 * size} if by_tokens else {"batch_size": size}
    order = BucketBatchSampler(lengths, multiple=4, generator=Generator().manual_seed(seed), **budget)
    for _ in range(2):
        epoch = list(order)
        assert len(epoch) == len(order)
        assert sorted(i for batch in epoch for i in batch) == list(range(len(lengths)))
        shapes = [pad([[1] * lengths[i] for i in batch], 0, 4).shape for batch in epoch]
        if by_tokens:
            assert all(B * T <= budget["tokens"] for B, T in shapes)
        assert len(set(shapes)) <= len({T for _, T in shapes}) + 1  # what a compiled step is made for
    longest_first = [max(lengths[i] for i in batch) for batch in BucketBatchSampler(lengths, shuffle=False, **budget)]
    assert longest_first == sorted(longest_first, reverse=True)


def test_little_is_padding_and_the_order_is_new_each_time():
    lengths = np.random.default_rng(0).integers(1, 100, 2_000)
    order = BucketBatchSampler(lengths, batch_size=20, generator=Generator().manual_seed(0))
    first, second = list(order), list(order)
    padded = sum(len(batch) * lengths[batch].max() for batch in first)
    assert padded < 1.02 * lengths.sum()
    assert first != second
    assert [set(batch) for batch in first] != [set(batch) for batch in second]
    falling = [lengths[batch].max() for batch in first]
    assert falling != sorted(falling, reverse=True)
    again = BucketBatchSampler(lengths, batch_size=20, generator=Generator().manual_seed(0))
    assert list(again) == first


@pytest.mark.parametrize("budget", [{"batch_size": 7}, {"tokens": 60}])
@pytest.mark.parametrize("seeded", [True, False])
@pytest.mark.parametrize("given", [0, 1, 5])
def test_a_loader_goes_on_in_the_middle_of_an_epoch(budget, seeded, given):
    lengths = [1 + i * 7 % 31 for i in range(90)]

    def made():
        generator = Generator().manual_seed(3) if seeded else None
        order = BucketBatchSampler(lengths, multiple=4, generator=generator, **budget)
        return DataLoader(range(90), batch_sampler=order, collate_fn=list)

    badak.manual_seed(5)
    loader = made()
    batches = iter(loader)
    for _ in range(given):
        next(batches)
    state, world = loader.state_dict(), badak.get_rng_state()
    rest = list(batches) + list(loader)
    badak.manual_seed(99)
    other = made()
    other.load_state_dict(state)
    badak.set_rng_state(world)
    assert list(other) + list(other) == rest


FINE = Generator().manual_seed(0)
WRONG = [
    (lambda: pad([], 0), "pad: expected one row or more; got none\nfix: pad([[1, 2], [3]], 0)"),
    (lambda: pad([[1]], 0, 0), "pad: expected a multiple of 1 or more; got 0\nfix: multiple=8"),
    (lambda: pad([[1], [1.5]], 0), "pad: expected rows of integers; row 1 is float64\nfix: the ids that a tokenizer gives"),
    (lambda: pad([[1], 3], 0), "pad: expected rows of one axis; row 1 has shape ()\nfix: pad([row, row, ...], value)"),
    (lambda: pad(["ab"], 0), "pad: expected rows of one axis; row 0 has shape ()\nfix: pad([row, row, ...], value)"),
    (
        lambda: padding_mask(badak.zeros(2, 3), 0),
        "padding_mask: expected ids, integers; got badak.float32\nfix: give the ids, not what was made of them",
    ),
    (
        lambda: BucketBatchSampler([1, 2]),
        "BucketBatchSampler: expected batch_size or tokens; got neither\nfix: batch_size=64, or tokens=4096",
    ),
    (
        lambda: BucketBatchSampler([1, 2], 2, 3),
        "BucketBatchSampler: expected batch_size or tokens; got both\nfix: batch_size=64, or tokens=4096",
    ),
    (
        lambda: BucketBatchSampler([1, 2], 0),
        "BucketBatchSampler: expected batch_size of 1 or more; got 0\nfix: batch_size=64",
    ),
    (
        lambda: BucketBatchSampler([1, 2], tokens=0),
        "BucketBatchSampler: expected tokens of 1 or more; got 0\nfix: tokens=64",
    ),
    (
        lambda: BucketBatchSampler([1, 0], 2),
        "BucketBatchSampler: expected lengths of 1 or more, an integer for each example; got 0 among them\n"
        "fix: [len(row) for row in rows], without empty rows",
    ),
    (
        lambda: BucketBatchSampler([], 2),
        "BucketBatchSampler: expected lengths of 1 or more, an integer for each example; got none\n"
        "fix: [len(row) for row in rows], without empty rows",
    ),
    (
        lambda: BucketBatchSampler([1.5], 2),
        "BucketBatchSampler: expected lengths of 1 or more, an integer for each example; got float64 (1,)\n"
        "fix: [len(row) for row in rows], without empty rows",
    ),
    (
        lambda: BucketBatchSampler([3, 61], tokens=60, multiple=4),
        "BucketBatchSampler: example 1 has 64 tokens with its padding, more than tokens=60\nfix: tokens=64 or more, or cut it",
    ),
]


@pytest.mark.parametrize("call, text", WRONG, ids=range(len(WRONG)))
def test_wrong_input_is_answered_in_two_lines(call, text):
    with pytest.raises(BadakError) as caught:
        call()
    assert str(caught.value) == text
