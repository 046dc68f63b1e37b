"""Worker processes: the same batches in the same order, errors that say where, and no process left behind."""

import gc
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import badak.utils.data as ours
import numpy as np
import pytest
import torch
import torch.utils.data as theirs

import badak
from badak.core.errors import ArgumentError, ArgumentTypeError
from badak.data.workers import WorkerError
from tests.waiting import HANGS, until

FORKED = {"multiprocessing_context": "fork"}  # so that workers get what cannot be pickled, in Python 3.14, too
SOURCE = str(Path(badak.__file__).resolve().parent.parent)


class Numbers:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


class Draws(Numbers):
    """What the three generators of a worker draw."""

    def __init__(self, n, package):
        super().__init__(n)
        self.package = package

    def __getitem__(self, i):
        return np.array([random.random(), np.random.rand(), float(self.package.rand(()))])


class Broken(Numbers):
    def __init__(self, n, kind=ValueError):
        super().__init__(n)
        self.kind = kind

    def __getitem__(self, i):
        if i == 5:
            raise self.kind("no picture 5")
        return i


class Dies(Numbers):
    def __getitem__(self, i):
        if i == 5:
            os._exit(3)
        return i


class Sleeps(Numbers):
    def __getitem__(self, i):
        time.sleep(600)


class Parts:
    """Each worker reads its own part; the parts differ in length."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        me = theirs.get_worker_info() or ours.get_worker_info()
        return iter(range(self.n)) if me is None else iter(range(me.id * 100, me.id * 100 + self.n * (me.id + 1)))


class TheirParts(Parts, theirs.IterableDataset):
    pass


class OurParts(Parts, ours.IterableDataset):
    pass


def children() -> set[int]:
    return {process.pid for process in multiprocessing.active_children()}


@pytest.fixture(autouse=True)
def nobody_is_left_behind():
    before = children()
    yield
    gc.collect()  # a caught error holds its frames, and they the loader
    until(lambda: not children() - before)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"persistent_workers": True}, {"prefetch_factor": 1}])
def test_batches_come_in_the_order_of_torch(options):
    seen = []
    for D, package in ((theirs, torch), (ours, badak)):
        package.manual_seed(3)
        loader = D.DataLoader(Numbers(11), 2, shuffle=True, num_workers=2, **options)
        seen.append(([batch.tolist() for _ in range(2) for batch in loader], package.rand(2).tolist()))
        del loader
    assert seen[0] == seen[1]


@pytest.mark.slow
def test_workers_are_seeded_as_in_torch():
    seen = []
    for D, package in ((theirs, torch), (ours, badak)):
        package.manual_seed(3)
        seen.append([batch.tolist() for batch in D.DataLoader(Draws(4, package), 1, num_workers=2, **FORKED)])
    assert seen[0] == seen[1]


@pytest.mark.slow
def test_streams_are_read_by_each_worker_as_in_torch():
    seen = [[b.tolist() for b in D.DataLoader(kind(5), 2, num_workers=2)] for D, kind in ((theirs, TheirParts), (ours, OurParts))]
    assert seen[0] == seen[1] and sum(map(len, seen[1])) == 15
    assert [b.tolist() for b in ours.DataLoader(OurParts(5), 2, drop_last=True)] == [[0, 1], [2, 3]]
    single = ours.DataLoader(OurParts(3), None, num_workers=1)
    assert list(single) == [0, 1, 2]


@pytest.mark.slow
def test_without_order_every_batch_still_comes_once():
    batches = [b.tolist() for b in ours.DataLoader(Numbers(20), 3, num_workers=2, in_order=False)]
    assert sorted(sum(batches, [])) == list(range(20))


@pytest.mark.slow
def test_an_error_in_a_worker_is_raised_with_its_id_and_its_own_text():
    loader = ours.DataLoader(Broken(8), 2, num_workers=2)
    batches = iter(loader)
    assert [next(batches).tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="Caught ValueError in DataLoader worker process 0.\n.*") as caught:
        next(batches)
    assert "no picture 5" in str(caught.value) and "__getitem__" in str(caught.value)
    assert next(batches).tolist() == [6, 7]  # the others are read all the same


@pytest.mark.slow
def test_errors_of_odd_kinds_arrive_too():
    class TwoArguments(Exception):
        def __init__(self, one, two):
            pass

    for kind, expected in [(KeyError, KeyError), (lambda text: TwoArguments(text, 2), RuntimeError)]:
        with pytest.raises(expected, match="no picture 5|TwoArguments"):
            list(ours.DataLoader(Broken(8, kind), 2, num_workers=1, **FORKED))


@pytest.mark.slow
def test_a_result_that_cannot_be_sent_is_named():
    loader = ours.DataLoader(Numbers(2), collate_fn=lambda batch: lambda: 0, num_workers=1)
    with pytest.raises(Exception, match="(?i)pickle"):
        next(iter(loader))


def test_a_worker_that_dies_is_named():
    with pytest.raises(WorkerError, match=r"DataLoader worker 0 \(pid \d+\) ended with exit code 3") as caught:
        list(ours.DataLoader(Dies(8), 2, num_workers=1))
    assert isinstance(caught.value, RuntimeError) and "num_workers=0" in caught.value.fix


def test_a_worker_that_is_killed_is_named():
    before = children()
    batches = iter(ours.DataLoader(Sleeps(8), 2, num_workers=1))
    os.kill((children() - before).pop(), signal.SIGKILL)
    with pytest.raises(WorkerError, match="was killed by signal 9"):
        next(batches)


@pytest.mark.slow
def test_waiting_ends_after_the_timeout():
    with pytest.raises(RuntimeError, match="timed out after 0.2 seconds"):
        next(iter(ours.DataLoader(Sleeps(8), 2, num_workers=1, timeout=0.2)))


@pytest.mark.slow
def test_worker_init_fn_sees_the_worker():
    def tell(worker):
        info = ours.get_worker_info()
        assert info.id == worker and info.num_workers == 2 and info.seed % 2**63 > 0
        info.dataset.n = 40 + worker

    class Tells(Numbers):
        def __getitem__(self, i):
            return self.n

    batches = ours.DataLoader(Tells(4), 1, num_workers=2, worker_init_fn=tell, **FORKED)
    assert [b.item() for b in batches] == [40, 41, 40, 41]
    assert ours.get_worker_info() is None

    def fail(worker):
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        next(iter(ours.DataLoader(Numbers(4), num_workers=1, worker_init_fn=fail, **FORKED)))


def test_persistent_workers_are_kept_between_epochs_and_end_with_the_loader():
    before = children()
    loader = ours.DataLoader(Numbers(6), 2, num_workers=2, persistent_workers=True)
    list(loader)
    first = children() - before
    half = iter(loader)
    next(half)  # an epoch that is given up
    assert [b.tolist() for b in loader] == [[0, 1], [2, 3], [4, 5]]
    assert children() - before == first and len(first) == 2
    with pytest.raises(ArgumentError, match="one at a time"):
        next(half)
    del loader, half


@pytest.mark.slow
def test_an_iteration_that_is_given_up_leaves_no_worker():
    before = children()
    batches = iter(ours.DataLoader(Numbers(1000), 2, num_workers=2))
    next(batches)
    assert len(children() - before) == 2
    del batches
    assert not children() - before


@pytest.mark.slow
def test_spawned_workers_read_the_same():
    data = ours.TensorDataset(badak.arange(7))
    loader = ours.DataLoader(data, 2, num_workers=1, multiprocessing_context="spawn")
    assert [batch.tolist() for (batch,) in loader] == [[0, 1], [2, 3], [4, 5], [6]]


PROGRAM = """
    import sys, time, multiprocessing
    sys.path.insert(0, {source!r})
    import badak.utils.data as data

    class Slow:
        def __len__(self): return 10**6
        def __getitem__(self, i):
            time.sleep(0.02)
            return i

    if __name__ == "__main__":
        batches = iter(data.DataLoader(Slow(), 2, num_workers=2))
        next(batches)
        print(*[one.pid for one in multiprocessing.active_children()], flush=True)
        for batch in batches:
            pass
"""


def start_program(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(PROGRAM).format(source=SOURCE))
    program = subprocess.Popen(
        [sys.executable, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    return program, [int(pid) for pid in program.stdout.readline().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_its_program(tmp_path, number):
    program, workers = start_program(tmp_path)
    assert len(workers) == 2
    if number == signal.SIGINT:
        os.killpg(program.pid, number)  # Ctrl-C goes to all processes of the terminal
    else:
        program.kill()
    _, errors = program.communicate(timeout=HANGS)
    until(lambda: not any(map(is_alive, workers)))
    if number == signal.SIGINT:
        assert errors.count("Traceback") == 1 and errors.strip().endswith("KeyboardInterrupt")


@pytest.mark.parametrize(
    "options, error, text",
    [
        (dict(num_workers=-1), ArgumentError, "num_workers option should be non-negative"),
        (dict(timeout=-1), ArgumentError, "timeout option should be non-negative"),
        (dict(prefetch_factor=2), ArgumentError, "prefetch_factor option"),
        (dict(persistent_workers=True), ArgumentError, "persistent_workers option needs num_workers > 0"),
        (dict(multiprocessing_context="fork"), ArgumentError, "multi-process loading"),
        (dict(num_workers=1, multiprocessing_context="thread"), ArgumentError, "valid start method"),
        (dict(num_workers=1, multiprocessing_context=3), ArgumentTypeError, "context object"),
        (dict(shuffle=True, sampler=[1]), ArgumentError, "mutually exclusive with shuffle"),
        (dict(batch_sampler=[[1]], batch_size=2), ArgumentError, "batch_sampler option is mutually exclusive"),
        (dict(batch_size=None, drop_last=True), ArgumentError, "disables auto-batching"),
        (dict(batch_size=0), ArgumentError, "batch_size should be a positive integer"),
    ],
)
def test_mistakes_are_named(options, error, text):
    with pytest.raises(error, match=text):
        ours.DataLoader(Numbers(4), **options)


def test_what_libraries_ask_a_loader_for():
    from torch.utils.data._utils.worker import _generate_state as theirs

    from badak.data.workers import _generate_state

    for worker, seed in ((4, 13434589827475259383), (0, 7)):
        assert _generate_state(seed, worker) == theirs(seed, worker)
    loader = ours.DataLoader(Numbers(4), num_workers=1)
    assert loader._auto_collation and not ours.DataLoader(Numbers(4), batch_size=None)._auto_collation
    iteration = iter(loader)
    (worker,) = iteration._workers
    list(iteration)
    assert worker.exitcode == 0  # it can be asked after the end
    with pytest.raises(AssertionError, match="ChainDataset only supports IterableDataset"):
        list(ours.ChainDataset([Numbers(4)]))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_a_derived_loader_says_whether_it_collates(workers):
    """torchtuples hands whole batches of indices to its datasets in this way."""

    def batches(package):
        class Whole(package.DataLoader):
            _auto_collation = property(lambda self: False)
            _index_sampler = property(lambda self: self.batch_sampler)

        class OneByOne(package.DataLoader):
            _auto_collation = property(lambda self: False)

        kinds = (Whole, OneByOne)
        data = Numbers(7)
        return [list(kind(data, 3, collate_fn=str, num_workers=workers, **(FORKED if workers else {}))) for kind in kinds]

    assert batches(ours) == batches(theirs)


def test_a_stream_has_no_order_to_choose():
    for options in (dict(shuffle=True), dict(sampler=[1]), dict(batch_sampler=[[1]])):
        with pytest.raises(ArgumentError, match="DataLoader with IterableDataset"):
            ours.DataLoader(OurParts(3), **options)


def test_what_the_batches_depend_on_cannot_be_changed_later():
    loader = ours.DataLoader(Numbers(4))
    with pytest.raises(ArgumentError, match="batch_size attribute should not be set"):
        loader.batch_size = 3
    loader.num_workers = 0


@pytest.mark.parametrize("torch_like", [ours, theirs])
def test_more_workers_than_cores_are_warned_of_when_a_loader_is_made(torch_like, monkeypatch):
    module = torch_like.dataloader
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    for _ in range(2):
        with pytest.warns(UserWarning, match="This DataLoader will create 3 worker processes in total"):
            torch_like.DataLoader(Numbers(2), num_workers=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch_like.DataLoader(Numbers(2), num_workers=2)


@pytest.mark.slow
@pytest.mark.parametrize("torch_like", [ours, theirs])
def test_an_iteration_has_the_kinds_of_pytorch_and_is_not_pickled(torch_like):
    module = torch_like.dataloader

    class Loader(torch_like.DataLoader):
        begun = 0

        def _get_iterator(self):
            self.begun += 1
            return super()._get_iterator()

    loader, several = Loader(Numbers(2)), torch_like.DataLoader(Numbers(2), num_workers=1, **FORKED)
    kinds = module._SingleProcessDataLoaderIter, module._MultiProcessingDataLoaderIter, module._BaseDataLoaderIter
    assert [isinstance(iter(loader), kind) for kind in kinds] == [True, False, True] and loader.begun == 3
    assert [isinstance(iter(several), kind) for kind in kinds] == [False, True, True]
    with pytest.raises(NotImplementedError, match="cannot be pickled"):
        pickle.dumps(iter(loader))
    assert module.Dataset is torch_like.Dataset and module.get_worker_info is torch_like.get_worker_info


@pytest.mark.slow
@pytest.mark.parametrize("torch_like", [ours, theirs])
def test_a_derived_iteration_ends_the_workers_in_its_own_way(torch_like):
    ended = []

    class Iteration(torch_like.dataloader._MultiProcessingDataLoaderIter):
        def __init__(self, loader, name):
            super().__init__(loader)
            self.name = name

        def _shutdown_workers(self):
            ended.append(self.name)
            super()._shutdown_workers()

    loader = torch_like.DataLoader(Numbers(4), num_workers=1, **FORKED)
    begun = Iteration(loader, "given up")
    assert next(begun) == 0
    del begun
    assert list(Iteration(loader, "whole")) == [0, 1, 2, 3]
    assert ended == ["given up", "whole", "whole"]  # at its end, and when it is forgotten
