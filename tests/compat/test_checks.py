"""torch._check and its kin raise what they raise in PyTorch; small helpers answer as there."""

import pytest
import torch

import badak

CALLS = {
    "_check": [(True,), (False, lambda: "said"), (1,), (False, "said")],
    "_check_index": [(False, lambda: "said")],
    "_check_value": [(False, lambda: "said")],
    "_check_type": [(False, lambda: "said")],
    "_check_not_implemented": [(False, lambda: "said")],
    "_assert": [(True, "said"), (False, "said"), ([], "said")],
    "sym_int": [(2.7,), (-2.7,), (3,)],
    "sym_float": [(2,)],
    "sym_not": [(True,)],
    "sym_max": [(1, 2), (1, 0.5), (2.0, 1)],
    "sym_min": [(1, 2), (1, 1.5)],
    "sym_ite": [(True, 1, 2), (False, 1, 2)],
    "sym_sum": [([1, 2, 3],)],
    "typename": [(3,), (int,), (len,), ([1],)],
    "is_storage": [(3,)],
    "is_autocast_cpu_enabled": [()],
    "is_autocast_cache_enabled": [()],
    "is_anomaly_enabled": [()],
}


def outcome(function, args):
    try:
        return function(*args)
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_as_in_pytorch(name):
    for args in CALLS[name]:
        assert outcome(getattr(badak, name), args) == outcome(getattr(torch, name), args)


@pytest.mark.filterwarnings("ignore:_check_is_size")
def test_checks_of_tensors():
    for space in (badak, torch):
        space._check_tensor_all(space.tensor([True, True]))
        space._assert_async(space.ones(1))
        for call, args, error in [
            (space._check_tensor_all, (space.tensor([True, False]),), RuntimeError),
            (space._check_tensor_all, (space.ones(2),), TypeError),
            (space._check_tensor_all_with, (ValueError, space.tensor([False])), ValueError),
            (space._assert_async, (space.zeros(1),), RuntimeError),
            (space._assert_async, (space.zeros(2),), RuntimeError),
            (space._check_is_size, (-1,), RuntimeError),
        ]:
            with pytest.raises(error):
                call(*args)
        assert space.typename(space.ones(1)) == space.ones(1).type()
        assert space.is_storage(space.ones(1).untyped_storage())
