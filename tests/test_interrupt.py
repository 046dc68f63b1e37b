"""Signals at bad moments."""

import signal
import threading

import pytest

from badak.core.signals import ENDINGS, interruptible, uninterrupted


@pytest.mark.parametrize("number", ENDINGS)
def test_the_first_signal_asks_and_the_second_acts(number):
    heard = []
    before = signal.signal(number, lambda number, frame: heard.append(number))
    try:
        with interruptible() as request:
            assert not request.asked
            signal.raise_signal(number)
            assert request.asked and not heard
            signal.raise_signal(number)
            assert heard == [number]
        signal.raise_signal(number)
        assert heard == [number, number]
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("block", [interruptible, uninterrupted])
@pytest.mark.parametrize("number", ENDINGS)
def test_an_ignored_signal_stays_ignored(number, block):
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with block():
            assert signal.getsignal(number) is signal.SIG_IGN
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_a_signal_in_work_that_is_not_cut_acts_at_its_end():
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done.append(1)
    assert done == [1] and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_blocks_within_blocks():
    with interruptible() as request, uninterrupted():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
        assert not request.asked
    assert request.asked


def test_another_thread_hears_no_signals_and_is_left_alone():
    found = []

    def work():
        with interruptible() as request, uninterrupted():
            found.append(request.asked)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]
