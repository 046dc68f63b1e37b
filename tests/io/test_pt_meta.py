"""badak.load to the meta device, and NumPy's arrays that a program vouches for, next to PyTorch."""

import io
import random

import numpy as np
import pytest
import torch

import badak

PLACES = ["meta", "device", {"cpu": "meta"}]


def saved(lib):
    file = io.BytesIO()
    shared = lib.arange(6).reshape(2, 3)
    wanted = lib.nn.Parameter(lib.ones(3, 4))
    lib.save({"w": wanted, "turned": shared.t(), "part": shared[1:], "half": lib.ones(2, dtype=lib.bfloat16)}, file)
    return file


def told(lib, where):
    file = saved(lib)
    file.seek(0)
    found = lib.load(file, map_location=lib.device("meta") if where == "device" else where, weights_only=True)
    shown = lambda x: (x.device.type, tuple(x.shape), x.stride(), str(x.dtype).partition(".")[2], x.requires_grad)
    return {name: (type(x).__name__, *shown(x)) for name, x in found.items()}


@pytest.mark.parametrize("where", PLACES, ids=str)
def test_tensors_on_the_meta_device_have_a_shape_and_no_memory(where):
    assert told(badak, where) == told(torch, where)


def test_a_file_that_lies_about_its_size_is_refused_for_the_meta_device_too():
    data = saved(badak).getvalue()
    with pytest.raises(RuntimeError):
        badak.load(io.BytesIO(data[: len(data) // 2]), map_location="meta")


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_states_of_random_generators_come_back_where_the_program_vouches_for_arrays(lib):
    states = {"python": random.getstate(), "numpy": np.random.get_state(), "cpu": lib.get_rng_state()}
    file = io.BytesIO()
    lib.save(states, file)
    file.seek(0)
    arrays = [np._core.multiarray._reconstruct, np.ndarray, np.dtype, type(np.dtype(np.uint32))]
    with lib.serialization.safe_globals(arrays):
        found = lib.load(file, weights_only=True)
    assert found["python"] == states["python"] and (found["numpy"][1] == states["numpy"][1]).all()
    np.random.set_state(found["numpy"])
    assert lib.equal(found["cpu"], states["cpu"])
