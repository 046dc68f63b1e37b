"""DistributedDataParallel in real processes: next to torch's over gloo, and where torch has none."""

import pickle

import numpy as np
import pytest

from tests.distributed.ranks import PROGRAMS, launch, torch_ranks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """What torch's ranks kept."""
    folder = tmp_path_factory.mktemp("torch")
    torch_ranks(2, PROGRAMS / "ddp.py", folder)
    return folder


@pytest.mark.thin(1)
@pytest.mark.parametrize(
    "by",
    [(), (PROGRAMS / "in_pieces.py",), (PROGRAMS / "in_pieces.py", "apart")],
    ids=["in buckets", "each gradient alone", "on several machines"],
)
def test_trainings_are_those_of_torch_over_gloo(by, theirs, tmp_path):
    ours = tmp_path
    done = launch(2, *by, PROGRAMS / "ddp.py", ours)
    assert done.code == 0, done.err
    results = [[pickle.loads((folder / f"rank-{r}.pickle").read_bytes()) for r in range(2)] for folder in (ours, theirs)]
    for rank, (mine, judge) in enumerate(zip(*results)):
        assert mine.keys() == judge.keys()
        for case, values in judge.items():
            assert mine[case].keys() == values.keys()
            for name, value in values.items():
                # six steps of some roundings of 6e-8 each, of values below 2; Adam may double them where gradients are small
                np.testing.assert_allclose(mine[case][name], value, rtol=0, atol=2e-6, err_msg=f"{case}: {name} on rank {rank}")
    for case in ("plain", "no_sync", "some unused", "uneven"):
        for name, value in results[0][0][case].items():
            assert value.tobytes() == results[0][1][case][name].tobytes(), f"{case}: {name} differs between ranks"


def test_means_are_right_in_each_kind_of_backward_and_when_compiled():
    done = launch(2, PROGRAMS / "ddp_ours.py")
    assert done.code == 0, done.err
    for rank in "01":
        said = dict(line[2:].split(": ", 1) for line in done.out.splitlines() if line[0] == rank)
        assert said.pop("other model").startswith("collective no. ") and len(said) == 21
        assert set(said.values()) == {"right", "True"}, said


@pytest.mark.thin(1)
@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_sync_batch_norm_is_batch_norm_of_the_whole_batch(ranks):
    done = launch(ranks, PROGRAMS / "sync_batch_norm.py")
    assert done.code == 0, done.err
    assert sorted(done.out.split("\n")[:-1]) == [f"rank {rank} agrees" for rank in range(ranks)]
