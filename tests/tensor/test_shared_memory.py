"""Memory that several processes see. tests/compat/programs/shared_memory.py compares programs with PyTorch's."""

import gc
import os

import numpy as np
import pytest

import badak
from badak import nn
from badak.compat.torch import multiprocessing
from badak.core import memory
from badak.core.errors import ArgumentError, ArgumentTypeError, NoDataError, NotSupportedError, StateError
from badak.generation.reader import _weights_of

pytestmark = pytest.mark.skipif(not memory.CAN_SHARE, reason="badak shares memory on Linux only")
context = multiprocessing.get_context("fork")


def in_another_process(call, *args):
    worker = context.Process(target=call, args=args)
    worker.start()
    worker.join()
    assert worker.exitcode == 0


def send_and_end(queue):
    queue.put(badak.ones(3))
    queue.close()
    queue.join_thread()


def test_a_tensor_whose_sender_has_ended_is_two_lines():
    queue = context.Queue()
    in_another_process(send_and_end, queue)
    with pytest.raises(StateError) as refused:
        queue.get()
    assert str(refused.value).splitlines() == [
        "a tensor in shared memory came from a process that has ended, or is not of this machine and user",
        "fix: let the sender live until its tensors have arrived; or send x.clone(), a copy",
    ]


def test_files_are_closed_with_the_memory():
    x = badak.zeros(4).share_memory_()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        badak.zeros(4).share_memory_()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before
    assert x.is_shared()


def test_a_system_without_files_left_is_two_lines(monkeypatch):
    monkeypatch.setattr(memory.os, "memfd_create", lambda name: os.open("/none/such", os.O_RDWR))
    with pytest.raises(StateError, match="share_memory_: the system gives no 16 bytes of shared memory"):
        badak.zeros(4).share_memory_()


def test_other_systems_are_two_lines_and_are_sent_copies(monkeypatch):
    monkeypatch.setattr(memory, "CAN_SHARE", False)
    monkeypatch.setattr(multiprocessing, "CAN_SHARE", False)
    with pytest.raises(NotSupportedError, match="on Linux only"):
        badak.zeros(4).share_memory_()
    queue, x = context.SimpleQueue(), badak.zeros(2)
    queue.put(x)
    y = queue.get()
    y[0] = 1
    assert x.tolist() == [0, 0]


def test_nothing_to_share_is_two_lines():
    with pytest.raises(NoDataError, match="Cannot copy out of meta tensor; no data!"):
        badak.empty(2, device="meta").share_memory_()


def test_the_file_of_a_shared_tensor_is_shared(tmp_path):
    (tmp_path / "numbers").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    x = badak.from_file(str(tmp_path / "numbers"), shared=True, size=4)
    in_another_process(x.fill_, 3.0)
    assert x.is_shared() and x.tolist() == [3, 3, 3, 3] == np.fromfile(tmp_path / "numbers", np.float32).tolist()
    assert not badak.from_file(str(tmp_path / "numbers"), shared=False, size=4).is_shared()


def fill(model):
    with badak.no_grad():
        model.weight.fill_(2.0)


@pytest.mark.parametrize("compiled_first", [False, True])
def test_a_compiled_model_sees_what_another_process_writes(compiled_first):
    model = nn.Linear(3, 2, bias=False)
    step, x = badak.compile(model), badak.ones(1, 3)
    if compiled_first:
        for _ in range(3):
            step(x)
    model.share_memory()
    for _ in range(3):
        step(x)
    in_another_process(fill, model)
    assert step(x).tolist() == [[6.0, 6.0]]


def test_weights_that_others_may_write_are_never_known_to_be_the_same():
    model = nn.Linear(3, 2)
    assert _weights_of(model) == _weights_of(model)
    assert _weights_of(model.share_memory()) != _weights_of(model)


@pytest.mark.parametrize("make", [lambda x: x, lambda x: x[1:], lambda x: x.t(), lambda x: x.untyped_storage()])
def test_all_that_see_the_memory_move_with_it(make):
    x = badak.arange(6.0).reshape(2, 3)
    seen = [x, x[1], x.t(), x[:, 1:], nn.Parameter(x), x.detach()]
    expected = [each.tolist() for each in seen]
    make(x).share_memory_()
    assert [each.tolist() for each in seen] == expected and all(each.is_shared() for each in seen)
    badak.no_grad()(x.fill_)(9)
    assert all(set(np.ravel(each.tolist())) == {9.0} for each in seen)


def test_a_gradient_and_an_optimizer_go_on():
    model, twin = nn.Linear(3, 2), nn.Linear(3, 2)
    twin.load_state_dict(model.state_dict())
    for each in (model, twin):
        optimizer = badak.optim.AdamW(each.parameters(), lr=0.1)
        for step in range(4):
            optimizer.zero_grad()
            each(badak.ones(2, 3)).square().sum().backward()
            if step == 1 and each is model:
                each.share_memory()
                assert each.weight.grad.is_shared()
            optimizer.step()
    assert badak.equal(model.weight, twin.weight)


@pytest.mark.parametrize("strategy", ["x", 3])
def test_a_strategy_that_is_none_is_two_lines(strategy):
    with pytest.raises(ArgumentError, match="is none of the strategies\nfix: 'file_descriptor' or 'file_system'"):
        multiprocessing.set_sharing_strategy(strategy)


def test_a_number_of_processes_that_is_none_is_two_lines():
    with pytest.raises(ArgumentTypeError, match="expected nprocs, a number of processes; got 'a'\nfix: nprocs=2"):
        multiprocessing.spawn(print, nprocs="a")
