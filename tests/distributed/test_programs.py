"""Programs that were written for several processes under PyTorch, as they are."""

import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch

from tests.distributed.ranks import DDP_STAYS, LIMIT, PROGRAMS, _run, environment, launch
from tests.inspect.audit.clients import MIRROR, why_absent

pytestmark = pytest.mark.slow

TUTORIAL = PROGRAMS / "tutorial.py"
TINY = (
    "--dtype=float32 --compile=False --eval_iters=1 --eval_interval=3 --log_interval=1 --block_size=16 --batch_size=2 --n_layer=1 "
    "--n_head=2 --n_embd=16 --max_iters=3 --lr_decay_iters=3 --warmup_iters=1 --dropout=0.0 --dataset=tiny "
    "--gradient_accumulation_steps=4 --always_save_checkpoint=True"
).split()

# The program under PyTorch, whose processes are forked: three would import it for some seconds each.
FORKED = f"""
import functools, runpy, sys
import torch._dynamo, torch.multiprocessing as mp
{DDP_STAYS}mp.spawn = functools.partial(mp.start_processes, start_method="fork")
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_spawned_processes_train_to_the_weights_of_torch(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
    done = _run([sys.executable, "-m", "badak", "run", str(TUTORIAL), str(ours)], tmp_path)
    assert (done.code, done.out) == (0, "trained\n"), done.err
    subprocess.run([sys.executable, "-c", FORKED, str(TUTORIAL), str(theirs)], env=environment(), check=True, timeout=LIMIT)
    mine, judge = (torch.load(folder / "model.pt") for folder in (ours, theirs))
    for name, value in judge.items():  # twelve steps of a few roundings of numbers below 1
        torch.testing.assert_close(mine[name], value, rtol=0, atol=1e-6)


def test_a_spawned_process_that_fails_ends_the_program(tmp_path):
    done = _run([sys.executable, "-m", "badak", "run", str(TUTORIAL), "fails"], tmp_path)
    assert done.code == 1 and done.out == ""
    assert "ended with ValueError: no such epoch (tutorial.py:" in done.err
    assert "ProcessRaisedException: multiprocessing.spawn: one of 2 processes has failed\n\n-- Process 1 terminated" in done.err
    assert done.err.endswith("ValueError: no such epoch\n\nfix: fix what is said above\n")


def test_spawned_processes_inherit_queues_and_need_not_be_waited_for(tmp_path):
    done = _run([sys.executable, "-m", "badak", "run", str(TUTORIAL.with_name("inherited.py"))], tmp_path)
    said = ["begun", False, [True, True], 2, [3.0, 3.0], [3.0, 3.0], [0, 0], 1, True, True, 1, 3]  # as PyTorch's prints
    assert done.out == f"{said}\n", done.err


def test_torchrun_names_its_stand_in(tmp_path):
    done = _run([sys.executable, "-m", "badak", "run", "-m", "torch.distributed.run", "--nproc_per_node=2", "x.py"], tmp_path)
    assert done.code == 2
    assert done.err == ("error: badak run: torch.distributed.run starts ranks of PyTorch's\nfix: badak launch -n N SCRIPT [ARGS]\n")


def clone(name: str, to) -> None:
    """A program of others, as it lies in the folder of clones."""
    if why_absent():
        pytest.skip(why_absent())
    shutil.copytree(f"{MIRROR}/{name}", to, ignore=shutil.ignore_patterns(".git", "assets"))


@pytest.mark.parametrize("ranks", [2, 4])
def test_nanogpt_trains_on_several_ranks(ranks, tmp_path):
    place = tmp_path / "nanoGPT"
    clone("karpathy+nanoGPT", place)
    data = place / "data" / "tiny"
    data.mkdir()
    tokens = np.random.default_rng(0).integers(0, 30, 2000).astype(np.uint16)
    for part in ("train", "val"):
        tokens.tofile(data / f"{part}.bin")
    (data / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 30}))
    done = launch(ranks, "train.py", *TINY, cwd=place, options=("--cuda-as-cpu",))
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines.count(f"tokens per iteration will be: {4 * 2 * 16}") == ranks
    assert [sum(line.startswith(f"iter {n}: loss ") for line in lines) for n in range(4)] == [1, 1, 1, 1], done.out
    assert "saving checkpoint to out" in done.out and (place / "out" / "ckpt.pt").exists()


def test_pytorchs_tutorial_goes_on_from_its_snapshot(tmp_path):
    place = tmp_path / "series"
    clone("pytorch+examples/distributed/ddp-tutorial-series", place)
    for epochs in (2, 3):
        done = launch(2, "multigpu_torchrun.py", epochs, 1, cwd=place, options=("--cuda-as-cpu",))
        assert done.code == 0, done.err
    assert done.out.count("Resuming training from snapshot at Epoch 1\n") == 2
    assert "Epoch 2 | Training snapshot saved at snapshot.pt\n" in done.out
