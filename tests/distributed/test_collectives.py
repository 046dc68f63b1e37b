"""The collectives, in real processes: next to torch over gloo, next to NumPy, and in wrong hands."""

import json
import os
import pickle
import re

import numpy as np
import pytest

from tests.distributed.planting import goes_well, plan
from tests.distributed.ranks import PROGRAMS, SRC, launch, mpirun, torch_ranks

pytestmark = pytest.mark.slow


def test_random_collectives_give_the_bits_of_torch_over_gloo(tmp_path):
    ours, theirs = tmp_path / "badak", tmp_path / "torch"
    for folder in (ours, theirs):
        folder.mkdir()
    torch_ranks(2, PROGRAMS / "collectives.py", theirs, 150, 1)
    done = launch(2, PROGRAMS / "collectives.py", ours, 150, 1)
    assert done.code == 0, done.err
    for rank in range(2):
        a, b = (pickle.loads((folder / f"rank-{rank}.pickle").read_bytes()) for folder in (ours, theirs))
        assert len(a) == len(b) == 150
        for number, (left, right) in enumerate(zip(a, b)):
            assert [x[:2] for x in left] == [x[:2] for x in right], number
            for (_, _, mine), (_, _, judge) in zip(left, right):
                np.testing.assert_array_equal(mine, judge, err_msg=f"collective {number} on rank {rank}")


@pytest.mark.thin(1)
@pytest.mark.parametrize("ranks", [3, 4])
def test_random_collectives_on_random_groups_give_what_numpy_gives(ranks):
    done = launch(ranks, PROGRAMS / "against_numpy.py", 150, ranks)
    assert done.code == 0, done.err
    assert sorted(done.out.splitlines()) == [f"rank {r}: 150 as NumPy has them" for r in range(ranks)]


def test_ranks_need_not_agree_beforehand():
    done = launch(2, PROGRAMS / "against_numpy.py", 60, 5, BADAK_DIST_CHECK="0")
    assert done.code == 0, done.err


FIRST = "DistBackendError: collective no."
BOTH = {  # what both ranks are told
    "twice": "ArgumentError: trying to initialize the default process group twice!",
    "shape": f"{FIRST} 1 of the world is not the same on all ranks: all_reduce(SUM) of float32 (2,) on rank 0; "
    "all_reduce(SUM) of float32 (3,) on rank 1",
    "dtype": f"{FIRST} 2 of the world is not the same on all ranks: broadcast from rank 0 of float32 (2,) on rank 0; "
    "broadcast from rank 0 of float64 (2,) on rank 1",
    "kind": f"{FIRST} 3 of the world is not the same on all ranks: all_reduce(SUM) of float32 (1,) on rank 0; barrier on rank 1",
    "root": f"{FIRST} 4 of the world is not the same on all ranks: broadcast from rank 0 of float32 (1,) on rank 0; "
    "broadcast from rank 1 of float32 (1,) on rank 1",
    "op": f"{FIRST} 5 of the world is not the same on all ranks: all_reduce(MIN) of float32 (1,) on rank 0; "
    "all_reduce(MAX) of float32 (1,) on rank 1",
    "source": "ArgumentError: broadcast: src=7 is not in ProcessGroup(the world: ranks [0, 1]) / fix: one of [0, 1]",
    "number": "ArgumentTypeError: all_reduce: expected a tensor; got float / fix: torch.tensor(value), or the object collectives",
    "list": "ArgumentError: all_gather: a list of 1 tensors for 2 ranks / fix: one tensor for each rank",
    "band": "DTypeError: all_reduce: ReduceOp.BAND needs integers or bool; got float32 / fix: ReduceOp.SUM, MIN or MAX",
    "group": "ArgumentError: new_group: ranks [0, 5] are not all in a world of 2 / fix: 0 to 1",
    "groups": f"{FIRST} 6 of the world is not the same on all ranks: new_group of ranks [0] on rank 0; "
    "new_group of ranks [1] on rank 1",
    "split": f"{FIRST} 7 of the world does not fit together: all_to_all_single of float32 sends 1,3 takes 1,3 on rank 0; "
    "all_to_all_single of float32 sends 2,2 takes 1,3 on rank 1 / fix: "
    "what rank i sends to rank j must be what rank j takes from rank i",
    "works": "no error",
}
EACH = {  # (case, rank): what that one is told
    (
        "before",
        "?",
    ): "StateError: Default process group has not been initialized, please make sure to call init_process_group.",
    ("self", 0): "ArgumentError: send: dst=0 is this rank itself / fix: copy the tensor: y.copy_(x)",
    ("self", 1): "ArgumentError: send: dst=1 is this rank itself / fix: copy the tensor: y.copy_(x)",
    ("mail", 0): "no error",
    ("mail", 1): "DistBackendError: recv from rank 0: it has sent float32 (2,), this rank expects float32 (3,)",
    ("member", 0): "ArgumentError: rank 0 is not in this group / fix: call it only where get_rank(group) >= 0",
    ("late", 0): "DistBackendError: all_reduce(SUM) of float32 (2,), collective no. 1 of the group of ranks [0, 1]: "
    "rank 1 did not come to it within 1 s / fix: call it on every rank of the group, in the same order; ",
    ("broken", 0): "StateError: barrier, collective no. 2 of the group of ranks [0, 1]: the group has failed before: ",
    ("local", 0): "DistBackendError: new_group of ranks [0, 1]: rank 1 did not come to it within 1 s / fix: ",
    ("gone", 1): "DistBackendError: barrier, collective no. 12 of the world: rank 0 ended without coming to it / "
    "fix: call it on every rank of the group, in the same order",
}


def test_wrong_use_is_named_on_every_rank_and_nothing_hangs():
    done = mpirun(2, "-m", "badak", "run", PROGRAMS / "wrong_use.py")
    said = {}
    for line in done.out.splitlines():
        name, number, text = line.split(" ", 2)
        said[name, number[1:-1]] = text
    assert done.code == 0, done.err
    for name, text in BOTH.items():
        assert [said[name, rank].startswith(text) for rank in "01"] == [True, True], (
            name,
            said[name, "0"],
            said[name, "1"],
        )
    for (name, rank), text in EACH.items():
        assert said[name, str(rank)].startswith(text), (name, said[name, str(rank)])
    assert done.err.count("MPI does the work of backend 'nccl'") == 1


@pytest.mark.thin(2)
@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("how", [(), ("apart",), ("refused",)], ids=["one machine", "several", "no memory"])
def test_long_rows_go_in_pieces_and_give_what_numpy_gives(how, ranks):
    done = launch(ranks, PROGRAMS / "in_pieces.py", *how, "against_numpy.py", 60, ranks + 10)
    assert done.code == 0, done.err


def test_many_groups_and_worlds_sum_long_rows():
    done = launch(2, PROGRAMS / "many_groups.py")
    assert done.code == 0, done.err
    assert sorted(done.out.splitlines()) == [f"rank {rank}: 26 sums are right, 4 worlds share memory" for rank in range(2)]


def test_planted_mistakes_are_named_and_nothing_hangs():
    ranks, count = 3, 9
    done = launch(ranks, PROGRAMS / "planted.py", 20, count, PYTHONPATH=f"{SRC}{os.pathsep}{SRC.parent}")
    assert done.code == 0, done.err
    said = {(one["number"], one["rank"]): one["said"] for one in map(json.loads, done.out.splitlines())}
    assert len(said) == ranks * count
    wrong = 0
    for number in range(20, 20 + count):
        _, each, (mistake, culprit, _) = plan(number, ranks)
        told = [said[number, rank] for rank in range(ranks)]
        if goes_well(each):
            assert told == [""] * ranks, (number, mistake, culprit)
        else:
            wrong += 1
            named = [text for text in told if re.search(rf"\branks? (\d+, )*{culprit}\b", text)]
            assert named or mistake == "leave" and told[culprit].startswith("StateError"), (number, mistake, culprit, told)
    assert wrong >= count // 2


def test_gradients_go_through_collectives_as_in_torch(tmp_path):
    ours, theirs = tmp_path / "badak", tmp_path / "torch"
    for folder in (ours, theirs):
        folder.mkdir()
    torch_ranks(2, PROGRAMS / "differentiable.py", theirs)
    done = launch(2, PROGRAMS / "differentiable.py", ours)
    assert done.code == 0, done.err
    for rank in range(2):
        (mine, *said), (judge, *judged) = (pickle.loads((folder / f"rank-{rank}.pickle").read_bytes()) for folder in (ours, theirs))
        assert said == judged
        for a, b in zip(mine, judge, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
