"""A run's state: exact, whole, and never of two steps."""

import json
import math
import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from badak import optim
from badak.core.errors import ArgumentError, FileError
from badak.io import checkpoint as ours
from badak.io.sealed import seal, unseal
from badak.io.values import decode, encode
from badak.tensor import Tensor
from tests.optim.twins import both, run


def tensor(*values, dtype=np.float32) -> Tensor:
    return Tensor._of(np.array(values, dtype))


def some(step: int) -> ours.Checkpoint:
    """A state whose every part tells its step."""
    return ours.Checkpoint(
        step=step,
        model={"w": tensor(step, step)},
        optimizer={"state": {0: {"exp_avg": tensor(step)}}, "param_groups": [{"betas": (0.9, 0.95)}]},
        scheduler={"last_epoch": step, "milestones": Counter({3: 2}), "best": math.inf},
        generator=tensor(step, 7, dtype=np.uint8),
        data={"epoch": 1, "order": [2, 0, 1]},
        counters={"tokens": step * 10**12},
    )


def flat(c: ours.Checkpoint) -> dict:
    return {
        "step": c.step,
        "w": c.model["w"].tolist(),
        "exp_avg": c.optimizer["state"][0]["exp_avg"].tolist(),
        "betas": c.optimizer["param_groups"][0]["betas"],
        "scheduler": c.scheduler,
        "generator": c.generator.tolist(),
        "data": c.data,
        "counters": c.counters,
    }


def test_a_state_comes_back_exactly(tmp_path):
    ours.save(tmp_path / "run", some(12))
    loaded = ours.load(tmp_path / "run")
    assert flat(loaded) == flat(some(12))
    assert isinstance(loaded.scheduler["milestones"], Counter) and loaded.generator._array.dtype == np.uint8
    assert sorted(os.listdir(tmp_path / "run")) == ["model.safetensors", "optimizer.safetensors", "state.json"]


def test_the_last_state_counts(tmp_path):
    for step in (1, 2, 3):
        ours.save(tmp_path, some(step))
    assert flat(ours.load(tmp_path)) == flat(some(3))
    assert ours.exists(tmp_path) and not ours.exists(tmp_path / "nowhere")


@pytest.mark.parametrize("calls_before", range(9))
@pytest.mark.parametrize("operation", ["replace", "fsync"])
def test_a_crash_anywhere_leaves_one_whole_state(tmp_path, monkeypatch, operation, calls_before):
    """Stop the save of step 2 at each of its system calls in turn; then load, save step 3 and load again."""
    ours.save(tmp_path, some(1))
    honest, calls = getattr(os, operation), iter(range(100))

    def crash(*args):
        if next(calls) >= calls_before:
            raise KeyboardInterrupt
        return honest(*args)

    with monkeypatch.context() as patched:
        patched.setattr(os, operation, crash)
        try:
            ours.save(tmp_path, some(2))
        except KeyboardInterrupt:
            pass
    loaded = ours.load(tmp_path)
    assert loaded.step in (1, 2) and flat(loaded) == flat(some(loaded.step))
    with monkeypatch.context() as patched:  # a second crash on top, before step 3 counts
        patched.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ours.save(tmp_path, some(3))
    assert flat(ours.load(tmp_path)) == flat(loaded)
    ours.save(tmp_path, some(4))
    assert flat(ours.load(tmp_path)) == flat(some(4))
    assert sorted(os.listdir(tmp_path)) == ["model.safetensors", "optimizer.safetensors", "state.json"]


def test_files_of_two_steps_are_not_mixed(tmp_path):
    ours.save(tmp_path / "a", some(1))
    ours.save(tmp_path / "b", some(2))
    os.replace(tmp_path / "b" / "optimizer.safetensors", tmp_path / "a" / "optimizer.safetensors")
    with pytest.raises(
        FileError,
        match=r"optimizer\.safetensors: damaged, or of another step than state\.json \(step 1\): its SHA-256 differs",
    ):
        ours.load(tmp_path / "a")


@pytest.mark.parametrize("name", [ours.MODEL, ours.OPTIMIZER])
def test_each_damage_names_its_file(tmp_path, name):
    ours.save(tmp_path, some(5))
    path = tmp_path / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(
        FileError,
        match=rf"{name}: damaged, or of another step than state.json \(step 5\): "
        f"it has {len(whole) - 1} bytes instead of {len(whole)}",
    ):
        ours.load(tmp_path)
    path.write_bytes(whole[:-1] + b"\xff")
    with pytest.raises(FileError, match="its SHA-256 differs"):
        ours.load(tmp_path)
    path.unlink()
    with pytest.raises(FileError, match=rf"{name}: no such file, but state.json \(step 5\) needs it"):
        ours.load(tmp_path)


HASHES = {name: {"bytes": 1, "sha256": ""} for name in (ours.MODEL, ours.OPTIMIZER)}


@pytest.mark.parametrize(
    "table, cause",
    [
        ({"format": "other"}, "expected format 'badak checkpoint 2'; got 'other'"),
        ({"format": [1] * 1000}, "expected format 'badak checkpoint 2'; got '[1, 1,"),
        ({"step": 3}, "got 'None'"),
        ({"format": ours.FORMAT}, "expected a step, a state and a table of files"),
        ({"format": ours.FORMAT, "step": True, "state": {}, "files": {}}, "expected a step, a state and a table of files"),
        ({"format": ours.FORMAT, "step": 1, "state": {}, "files": {}}, "expected bytes and sha256 of model.safetensors"),
        ({"format": ours.FORMAT, "step": -1, "state": {}, "files": HASHES}, "step -1"),
    ],
)
def test_a_sound_file_that_is_no_index_is_named(tmp_path, table, cause):
    ours.save(tmp_path, some(5))
    (tmp_path / "state.json").write_bytes(seal(table))
    with pytest.raises(FileError) as caught:
        ours.load(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'state.json'}: damaged") and cause in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("load", [ours.load, ours.load_model, ours.read_step])
def test_every_byte_of_the_index_counts(tmp_path, load):
    """Flipped, cut off or added: no damage to state.json is read over."""
    ours.save(tmp_path, some(5))
    path = tmp_path / "state.json"
    whole = path.read_bytes()
    damaged = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
    damaged += [whole[:at] for at in range(0, len(whole), 7)] + [whole + b"\n", b"", b"[" * 100_000, b"{}", b"\xff"]
    for text in damaged:
        path.write_bytes(text)
        with pytest.raises(FileError, match=r"state\.json: damaged"):
            load(tmp_path)


def test_weights_without_their_index_are_not_taken_for_nothing(tmp_path):
    ours.save(tmp_path, some(5))
    (tmp_path / "state.json").unlink()
    assert ours.exists(tmp_path)
    with pytest.raises(FileError, match=r"state\.json: no such file, but model\.safetensors is there\nfix: restore it"):
        ours.load(tmp_path)


def test_a_reader_that_meets_a_save_reads_the_new_state(tmp_path, monkeypatch):
    ours.save(tmp_path, some(1))
    read, saved = ours._tensors, iter([True])

    def meanwhile(folder, name, index):
        if next(saved, False):
            ours.save(tmp_path, some(2))
        return read(folder, name, index)

    monkeypatch.setattr(ours, "_tensors", meanwhile)
    assert flat(ours.load(tmp_path)) == flat(some(2))


def test_an_absent_state_is_named(tmp_path):
    with pytest.raises(FileError, match="state.json: no such file"):
        ours.load(tmp_path)


@pytest.mark.parametrize(
    "tamper",
    [
        {"$tensor": "optimizer.nothing"},
        {"$what": 1},
        {"$tuple": 3},
        {"$pairs": [[1]]},
        {"$float": "x"},
        {"$pairs": [[[], 1]]},
    ],
)
def test_a_tampered_value_is_named(tmp_path, tamper):
    ours.save(tmp_path, some(5))
    index = unseal(tmp_path / "state.json", "")
    index["state"]["data"] = tamper
    (tmp_path / "state.json").write_bytes(seal(index))
    with pytest.raises(FileError, match="state.json"):
        ours.load(tmp_path)


def test_what_json_cannot_hold_is_named(tmp_path):
    with pytest.raises(ArgumentError, match="checkpoint: 'data.sampler' is a set, which JSON cannot hold"):
        ours.save(tmp_path, ours.Checkpoint(step=1, model={}, data={"sampler": {1}}))
    assert os.listdir(tmp_path) == []


def test_an_optimizer_and_its_schedule_resume_bit_for_bit(tmp_path):
    ours_, optimizer, theirs, twin = both("AdamW", "float32", groups=True, amsgrad=True)
    schedule = optim.lr_scheduler.OneCycleLR(optimizer, 0.1, 10)
    for step in range(4):
        run(ours_, optimizer, theirs, twin, [step])
        schedule.step()
    state = {
        "model": {str(n): p for n, p in enumerate(ours_)},
        "optimizer": optimizer.state_dict(),
        "scheduler": schedule.state_dict(),
    }
    ours.save(tmp_path, ours.Checkpoint(step=4, **state))
    loaded = ours.load(tmp_path)
    again = [loaded.model[str(n)].requires_grad_() for n in range(len(ours_))]
    resumed = optim.AdamW([{"params": again[:2], "lr": 0.03}, {"params": again[2:]}], amsgrad=True)
    following = optim.lr_scheduler.OneCycleLR(resumed, 0.1, 10)
    resumed.load_state_dict(loaded.optimizer)
    following.load_state_dict(loaded.scheduler)
    for step in range(4, 8):
        run(ours_, optimizer, theirs, twin, [step])
        schedule.step()
        run(again, resumed, theirs, twin, [step])
        following.step()
    for p, q in zip(ours_, again):
        np.testing.assert_array_equal(p._array, q._array)
    assert resumed.state_dict()["param_groups"] == optimizer.state_dict()["param_groups"]


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
keys = st.text() | st.integers() | st.booleans() | st.tuples(st.integers(), st.text())
nested = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(keys, inner), max_leaves=20
)


@pytest.mark.slow
@given(nested)
@settings(max_examples=100, deadline=None)
def test_values_survive_json_exactly(value):
    encoded = json.loads(json.dumps(encode(value, lambda *_: None, "value"), allow_nan=False))
    decoded = decode(encoded, lambda name: None, "state.json")
    assert decoded == value and repr(decoded) == repr(value)


def test_numpy_scalars_become_numbers_and_nan_survives():
    assert encode([np.int64(3), np.float32(0.5), np.bool_(True)], lambda *_: None, "x") == [3, 0.5, True]
    assert math.isnan(decode(encode(math.nan, lambda *_: None, "x"), lambda name: None, "f"))
