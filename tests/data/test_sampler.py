"""Samplers and loaders without workers: the orders of PyTorch for the same seed."""

import itertools

import badak.utils.data as ours
import numpy as np
import pytest
import torch
import torch.utils.data as theirs

import badak
from badak.core.errors import ArgumentError, ArgumentTypeError, ShapeError


class Numbers:
    """0 .. n-1."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


# what: f(data tools, package) -> a loader
ORDERS = {
    "in order": lambda D, P: D.DataLoader(Numbers(10), 3),
    "shuffled": lambda D, P: D.DataLoader(Numbers(10), 3, True),
    "shuffled by a generator": lambda D, P: D.DataLoader(Numbers(10), 3, True, generator=P.Generator().manual_seed(5)),
    "without the last": lambda D, P: D.DataLoader(Numbers(10), 3, shuffle=True, drop_last=True),
    "one at a time": lambda D, P: D.DataLoader(Numbers(10)),
    "with replacement": lambda D, P: D.DataLoader(
        Numbers(10), 3, sampler=D.RandomSampler(Numbers(10), replacement=True, num_samples=70)
    ),
    "more samples than examples": lambda D, P: D.DataLoader(Numbers(10), 3, sampler=D.RandomSampler(Numbers(10), num_samples=25)),
    "sampler with a generator": lambda D, P: D.DataLoader(
        Numbers(10), 3, sampler=D.RandomSampler(Numbers(10), generator=P.Generator().manual_seed(6))
    ),
    "subset": lambda D, P: D.DataLoader(Numbers(10), 3, sampler=D.SubsetRandomSampler([3, 4, 5, 9])),
    "weighted": lambda D, P: D.DataLoader(Numbers(10), 3, sampler=D.WeightedRandomSampler([0.1, 0.2, 0.7], 8)),
    "weighted once each": lambda D, P: D.DataLoader(
        Numbers(10), 3, sampler=D.WeightedRandomSampler([0.1, 0.2, 0.7, 0.3], 3, replacement=False)
    ),
    "batch sampler": lambda D, P: D.DataLoader(Numbers(10), batch_sampler=D.BatchSampler(D.RandomSampler(Numbers(10)), 4, False)),
    "one of three": lambda D, P: D.DataLoader(Numbers(10), 3, sampler=D.distributed.DistributedSampler(Numbers(10), 3, 1, seed=4)),
    "one of three, equal shares": lambda D, P: D.DataLoader(
        Numbers(11), 3, sampler=D.distributed.DistributedSampler(Numbers(11), 3, 2, drop_last=True)
    ),
    "one of five over two": lambda D, P: D.DataLoader(Numbers(2), 3, sampler=D.distributed.DistributedSampler(Numbers(2), 5, 4)),
    "unshuffled share": lambda D, P: D.DataLoader(
        Numbers(10), 3, sampler=D.distributed.DistributedSampler(Numbers(10), 2, 1, shuffle=False)
    ),
}


@pytest.mark.parametrize("what", ORDERS)
def test_batches_come_in_the_order_of_torch(what):
    torch.manual_seed(3)
    badak.manual_seed(3)
    their_loader, our_loader = ORDERS[what](theirs, torch), ORDERS[what](ours, badak)
    assert len(their_loader) == len(our_loader)
    for _ in range(3):
        assert [batch.tolist() for batch in their_loader] == [batch.tolist() for batch in our_loader]
        assert np.array_equal(torch.get_rng_state().numpy(), badak.get_rng_state()._array)


def test_two_interleaved_iterations_draw_as_in_torch():
    torch.manual_seed(3)
    badak.manual_seed(3)
    seen = []
    for D in (theirs, ours):
        loader = D.DataLoader(Numbers(10), 3, shuffle=True)
        first, second = iter(loader), iter(loader)
        seen.append([next(one).tolist() for one in (first, second, second, first)])
    assert seen[0] == seen[1]


def test_ten_thousand_million_samples_need_no_list():
    sampler = ours.RandomSampler(Numbers(5), replacement=True, num_samples=int(1e10))
    assert len(sampler) == int(1e10)
    assert len(list(itertools.islice(sampler, 100))) == 100
    batch = next(iter(ours.DataLoader(Numbers(5), 4, sampler=sampler, pin_memory=True)))
    assert batch.shape == (4,)


def test_a_distributed_sampler_orders_each_epoch_anew():
    sampler = ours.DistributedSampler(Numbers(20), 2, 0)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first
    other = ours.DistributedSampler(Numbers(20), 2, 1)
    assert sorted(first + list(other)) == list(range(20))


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: ours.RandomSampler(Numbers(3), num_samples=0), ArgumentError, "num_samples should be a positive integer"),
        (lambda: ours.RandomSampler([]), ArgumentError, "num_samples=0"),
        (lambda: ours.RandomSampler(Numbers(3), replacement=1), ArgumentTypeError, "replacement should be a boolean"),
        (lambda: ours.WeightedRandomSampler([[1.0]], 1), ShapeError, "1d sequence"),
        (lambda: ours.BatchSampler(Numbers(3), 0, False), ArgumentError, "batch_size should be a positive integer"),
        (lambda: ours.BatchSampler(Numbers(3), 2, 1), ArgumentTypeError, "drop_last should be a boolean"),
        (lambda: ours.DistributedSampler(Numbers(3)), ArgumentError, "no process group"),
        (lambda: ours.DistributedSampler(Numbers(3), 2, 2), ArgumentError, "Invalid rank 2"),
        (lambda: ours.DistributedSampler(Numbers(3), 2, -1), ArgumentError, "Invalid rank -1"),
        (lambda: list(ours.Sampler()), NotImplementedError, "__iter__"),
    ],
)
def test_mistakes_are_named(call, error, text):
    with pytest.raises(error, match=text):
        call()
