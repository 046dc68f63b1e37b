"""A whole training run has the same bits on any number of threads, more than there are cores included."""

import pytest

from badak import kernels
from badak.training.build import start
from badak.training.loop import train
from badak.training.presets import PRESETS, change

pytestmark = pytest.mark.slow

SIZES = {"d_model": 64, "layers": 2, "heads": 4}
SETUPS = {  # wide enough that every kernel has several blocks to share out
    "gpt": change(
        change(PRESETS["gpt"]["sentences"], "model", {**SIZES, "context": 32, "dropout": 0.1}),
        "train",
        {"steps": 8, "batch_size": 10, "eval_every": 4, "optimizer": "adamw", "max_grad_norm": 1.0},
    ),
    "bert": change(change(PRESETS["bert"]["proverbs"], "model", SIZES), "train", {"steps": 8, "eval_every": 4}),
}
SETUPS["bert in bf16"] = change(SETUPS["bert"], "train", {"precision": "bf16"})


@pytest.mark.parametrize("name", SETUPS)
def test_one_two_and_four_threads_train_the_same_weights(tmp_path, name, threads):
    found = []
    for count in (1, 2, 4):
        with kernels.use("numba"), threads(count):
            run, experiment = start(tmp_path / str(count), SETUPS[name])
            assert train(experiment, SETUPS[name].train, run)
        found.append([(run.folder / file).read_bytes() for file in ("model.safetensors", "optimizer.safetensors")])
    assert found[0] == found[1] == found[2]
