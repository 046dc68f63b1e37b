"""Entries of an expanded tensor share places; a part of it whose entries do not is written to, as in PyTorch."""

import pytest
import torch

import badak


def _whole(x):
    x[0] = 1


def _place(x):
    x[0].fill_(2)


def _column(x):
    x[:, 1] = 3


def _twice(x):
    x[0][:, 1].mul_(4).add_(1)


def _other(x):
    x[0, :, 1].copy_(x[0, :, 2] + 5)


def _zero(x):
    x[0, :, 1].zero_()


def _diagonal(x):
    x.diagonal().sub_(1)


CASES = [
    ((1,), (3,), _whole), ((1,), (3,), _place), ((2, 1), (2, 3), _column), ((1, 2, 1), (2, 2, 3), _twice),
    ((1, 2, 1), (2, 2, 3), _other), ((1, 2, 1), (2, 2, 3), _zero), ((3, 1), (3, 3), _diagonal),
]  # fmt: skip


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("small, large, write", CASES)
def test_a_part_is_written(small, large, write, graph):
    found = []
    for library in (badak, torch):
        leaf = library.arange(1.0, 1.0 + library.ones(small).numel()).reshape(small).requires_grad_(graph)
        base = leaf * 2
        x = base.expand(large)
        write(x)
        if graph:
            (x * x).sum().backward()
        found.append((x.tolist(), base.tolist(), leaf.grad.tolist() if graph else None))
    assert found[0] == found[1]


@pytest.mark.parametrize("write", [lambda x: x.mul_(1), lambda x: x.__setitem__(slice(0, 2), 1), lambda x: x[:2].add_(1)])
def test_a_part_that_shares_a_place_is_refused(write):
    for library in (badak, torch):
        x = library.zeros(1).expand(3)
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"):
            write(x)
        assert not x.any()


def test_a_write_of_a_value_with_a_history_reaches_the_base():
    found = []
    for library in (badak, torch):
        w = library.tensor(3.0, requires_grad=True)
        base = library.zeros(2, 1)
        x = base.expand(2, 4)
        x[:, 1] = w
        (x * library.arange(4.0)).sum().backward()
        found.append((base.tolist(), base.requires_grad, w.grad.item()))
    assert found[0] == found[1]


def test_what_only_reads_stays_read_only():
    y = badak.zeros(3)._neg_view()
    for part in (y[0], y[1:]):
        with pytest.raises(RuntimeError, match="may only be read"):
            part.fill_(1)
