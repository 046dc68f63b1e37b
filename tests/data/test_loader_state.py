"""A loader goes on in the middle of an epoch with exactly the batches that were left, and the run with the same numbers."""

import pytest

import badak
from badak.core.errors import StateError
from badak.data import DataLoader, IterableDataset, RandomSampler, TensorDataset
from badak.io import checkpoint
from tests.tiers import looped

N, BATCH, EPOCHS = 23, 3, 3
PER_EPOCH = -(-N // BATCH)


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(N))


def own():
    return badak.Generator().manual_seed(4)


LOADERS = {
    "in order": lambda **k: DataLoader(TensorDataset(badak.arange(N)), BATCH, **k),
    "shuffled": lambda **k: DataLoader(TensorDataset(badak.arange(N)), BATCH, shuffle=True, **k),
    "own generator": lambda **k: DataLoader(TensorDataset(badak.arange(N)), BATCH, shuffle=True, generator=own(), **k),
    "sampler's generator": lambda **k: DataLoader(
        TensorDataset(badak.arange(N)), BATCH, sampler=RandomSampler(range(N), True, N, generator=own()), **k
    ),
    "stream": lambda **k: DataLoader(Stream(), BATCH, **k),
}


def steps(loader):
    """(batch, what a model draws after it) over the epochs."""
    for _ in range(EPOCHS):
        for batch in loader:
            values = batch[0] if isinstance(batch, list) else batch
            yield values.tolist(), badak.rand(2).tolist()


def check_resuming(make, stop, **options):
    badak.manual_seed(8)
    whole = list(steps(make(**options)))
    badak.manual_seed(8)
    loader = make(**options)
    run = steps(loader)
    seen = [next(run) for _ in range(stop)]
    saved, state = loader.state_dict(), badak.get_rng_state()
    del run, loader
    badak.manual_seed(99)
    resumed = make(**options)
    resumed.load_state_dict(saved)
    badak.set_rng_state(state)
    again = steps(resumed)
    rest = [next(again) for _ in range(len(whole) - stop)]
    assert seen + rest == whole


@pytest.mark.parametrize("stop", [0, 1, PER_EPOCH - 1, PER_EPOCH, PER_EPOCH + 1, 2 * PER_EPOCH + 3])
@looped(kind=LOADERS)
def test_a_resumed_run_equals_an_uninterrupted_one(kind, stop):
    check_resuming(LOADERS[kind], stop)


@pytest.mark.thin(4)
@pytest.mark.slow
@pytest.mark.parametrize("stop", [1, PER_EPOCH + 2])
@pytest.mark.parametrize("options", [dict(num_workers=2), dict(num_workers=1, persistent_workers=True)])
@pytest.mark.parametrize("kind", ["shuffled", "own generator"])
def test_so_does_one_with_workers(kind, options, stop):
    check_resuming(LOADERS[kind], stop, **options)


def test_the_position_goes_through_a_checkpoint_file(tmp_path):
    loader = LOADERS["own generator"]()
    batches = iter(loader)
    next(batches)
    checkpoint.save(tmp_path, checkpoint.Checkpoint(step=1, model={}, data=loader.state_dict()))
    left = [batch[0].tolist() for batch in batches]
    again = LOADERS["own generator"]()
    again.load_state_dict(checkpoint.load(tmp_path).data)
    assert [batch[0].tolist() for batch in again] == left


def test_a_position_can_be_saved_again_before_it_is_used():
    loader = LOADERS["shuffled"]()
    next(iter(loader))
    state = loader.state_dict()
    other = LOADERS["shuffled"]()
    other.load_state_dict(state)
    assert other.state_dict()["batches"] == state["batches"] == 1


def test_a_position_of_another_loader_is_refused():
    with pytest.raises(StateError, match="load_state_dict: expected"):
        LOADERS["own generator"]().load_state_dict(LOADERS["shuffled"]().state_dict())
    with pytest.raises(StateError, match="load_state_dict: expected"):
        LOADERS["shuffled"]().load_state_dict({"batches": 3})


@pytest.mark.parametrize("name, workers", [*((name, 0) for name in LOADERS), ("shuffled", 2)])
def test_what_is_not_read_counts_as_given(name, workers):
    def epoch(loader):
        return [batch[0].tolist() if isinstance(batch, list) else batch.tolist() for batch in loader]

    def made():
        badak.manual_seed(3)
        return LOADERS[name](num_workers=workers)

    whole, loader = epoch(made()), made()
    reads = loader.unread()
    first = [next(reads) for _ in range(5)]
    state, left = loader.state_dict(), made()
    assert epoch([first[1]()]) == whole[1:2] and state["batches"] == 5
    left.load_state_dict(state)
    assert epoch(read() for read in left.unread()) == whole[5:] == epoch(read() for read in reads)
