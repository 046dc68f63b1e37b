"""Futures in one process, as PyTorch has them."""

import pytest
import torch

import badak.distributed.futures as ours


@pytest.mark.parametrize("futures", [ours, torch.futures])
def test_a_long_chain_of_futures_comes_to_its_end(futures):
    begin = futures.Future()
    begin.set_result(0)
    last = begin
    for step in range(2000):
        value = futures.Future()
        value.set_result(step)
        both = futures.collect_all([last, value])
        last = both.then(lambda given: sum(each.wait() for each in given.wait()))
    assert last.wait() == sum(range(2000))


@pytest.mark.parametrize("futures", [ours, torch.futures])
def test_all_of_them_wait_for_the_last(futures):
    first, second, told = futures.Future(), futures.Future(), []
    both = futures.collect_all([first, second]).then(lambda given: told.append([each.wait() for each in given.wait()]))
    first.set_result(1)
    assert not told and not both.done()
    second.set_result(2)
    assert told == [[1, 2]] and both.done()
    assert futures.collect_all([]).wait() == []
