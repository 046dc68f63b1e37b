"""Communication hooks of DistributedDataParallel: the training runs of torch over gloo, and where it has none."""

import pickle

import numpy as np
import pytest

from badak.core.public_api.missing import missing
from tests.distributed.ranks import PROGRAMS, launch, torch_ranks

WITHIN = {"fp16": 2e-4, "bf16": 2e-3}  # four steps of 0.1 by gradients below 1, rounded to 2^-11 or 2^-8, perhaps another way


@pytest.mark.slow
def test_trainings_with_hooks_are_those_of_torch(tmp_path):
    ours, theirs = tmp_path / "badak", tmp_path / "torch"
    for folder in (ours, theirs):
        folder.mkdir()
    torch_ranks(2, PROGRAMS / "hooks.py", theirs)
    done = launch(2, PROGRAMS / "hooks.py", ours)
    assert done.code == 0, done.err
    for rank in range(2):
        (mine, seen), (judge, judged) = (pickle.loads((at / f"rank-{rank}.pickle").read_bytes()) for at in (ours, theirs))
        assert mine.keys() == judge.keys() and seen.pop("lasts") == judged.pop("lasts") == 4 and seen == judged
        for case, values in mine.items():
            for one, other in zip(values, judge[case]):
                np.testing.assert_allclose(one, other, rtol=0, atol=WITHIN.get(case[:4], 2e-6), err_msg=case)
        apart = [max(np.abs(a - b).max() for a, b in zip(mine["none"], mine[case])) for case in ("fp16", "bf16", "own", "doubled")]
        assert min(apart) > 1e-6  # each hook did something
        for case in ("fp16", "bf16"):
            assert all(np.array_equal(a, b) for a, b in zip(mine[case], mine[f"{case} wrapped"]))


SAID = {
    "some": "([[1.5, 1.5]], [[1.0]], None)",
    "uneven": "[[0.25, 0.25]]",
    "alone": "[[2.0, 2.0]]",
    "no function": "ArgumentTypeError: Communication hook must be callable; got int / fix: hook(state, bucket), a function",
    "twice": "StateError: register_comm_hook can only be called once. / "
    "fix: one hook that does both, or DistributedDataParallel again",
    "no future": "ArgumentTypeError: DistributedDataParallel: the communication hook gave a Tensor, not a future / "
    "fix: torch.distributed.",
    "no tensor": "ArgumentTypeError: DistributedDataParallel: the communication hook gave a int for a bucket / "
    "fix: a future of a tensor with the values of bucket.buffer()",
    "size": "ShapeError: DistributedDataParallel: the communication hook gave 4 values for a bucket of 5 / "
    "fix: as many as bucket.buffer() has",
    "buffer": "ShapeError: DistributedDataParallel: the communication hook gave 1 values for a bucket of 5 / fix: ",
    "futures": "((False, False, False), [2], 2, [1, 2], [True, True])",
    "failed": "ZeroDivisionError: division by zero",
    "early": "StateError: Future.value(): the value is not there yet / fix: wait() gives it when it is",
    "power": "MissingName: torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook: badak does not have it / "
    "fix: default_hooks.bf16_compress_hook: half of the bytes",
}


@pytest.mark.slow
def test_hooks_where_there_is_no_judge():
    done = launch(2, PROGRAMS / "hooks_ours.py")
    assert done.code == 0, done.err
    said = {tuple(line.split(" | ")[:2]): line.split(" | ")[2] for line in done.out.splitlines()}
    for name, text in SAID.items():
        for rank in "01":
            assert said[name, rank].startswith(text), (name, said[name, rank])


@pytest.mark.parametrize(
    "name, instead",
    [
        ("distributed.fsdp.FullyShardedDataParallel", "ZeroRedundancyOptimizer: each rank has the whole model"),
        ("distributed.tensor.parallel.parallelize_module", "no tensor lies on several"),
        ("distributed.tensor.DTensor", "no tensor lies on several"),
        ("distributed.init_device_mesh", "ranks share a batch, not a model"),
        ("distributed.pipelining.pipeline", "each rank has the whole model"),
        ("distributed.rpc.init_rpc", "the collectives on objects"),
        ("distributed.checkpoint.save", "consolidate_state_dict()"),
        ("distributed.algorithms.join.Join", "DistributedDataParallel.join()"),
    ],
)
def test_what_is_not_there_says_what_serves(name, instead):
    error = missing(name)
    assert error.cause == f"torch.{name}: badak does not have it" and error.fix.endswith(instead)
