"""Running statistics after inputs that do not fit: an error leaves them as PyTorch's error does."""

import numpy as np
import pytest
import torch

import badak
from tests.compare import assert_close

pytestmark = pytest.mark.filterwarnings("ignore:input's size at dim=1 does not match")  # PyTorch's, before its error
RNG = np.random.default_rng(0)
INPUTS = {
    "right": RNG.normal(size=(4, 3, 5)).astype("f"),
    "integers": RNG.integers(0, 4, (4, 3, 5)),
    "truth values": RNG.normal(size=(4, 3, 5)) > 0,
    "complex": RNG.normal(size=(4, 3, 5)).astype("F"),
    "too few channels": RNG.normal(size=(4, 2, 5)).astype("f"),
    "one channel": RNG.normal(size=(4, 1, 5)).astype("f"),
    "one value per channel": RNG.normal(size=(1, 3, 1)).astype("f"),
    "no position": np.zeros((4, 3, 0), "f"),
    "too few axes": RNG.normal(size=3).astype("f"),
    "too many axes": RNG.normal(size=(4, 3, 2, 2)).astype("f"),
    "not a number": np.full((4, 3, 5), np.nan, "f"),
}
LAYERS = {
    "batch": lambda nn: nn.BatchNorm1d(3),
    "batch, mean of all": lambda nn: nn.BatchNorm1d(3, momentum=None),
    "batch, no weights": lambda nn: nn.BatchNorm1d(3, affine=False),
    "instance": lambda nn: nn.InstanceNorm1d(3, affine=True, track_running_stats=True),
    "instance, no weights": lambda nn: nn.InstanceNorm1d(3, track_running_stats=True),
}
SPOILS = {
    "weight": lambda m, lib: setattr(m, "weight", lib.nn.Parameter(lib.ones(2))),
    "bias": lambda m, lib: setattr(m, "bias", lib.nn.Parameter(lib.ones(4))),
    "mean": lambda m, lib: setattr(m, "running_mean", lib.zeros(2)),
    "variance": lambda m, lib: setattr(m, "running_var", lib.zeros(2)),
    "no mean": lambda m, lib: setattr(m, "running_mean", None),
    "no variance": lambda m, lib: setattr(m, "running_var", None),
    "no count": lambda m, lib: setattr(m, "num_batches_tracked", None),
    "evaluation": lambda m, lib: m.eval(),
}


def after(lib, layer, values, spoil=lambda m, lib: None):
    """(what came out, or the error's text; the statistics afterwards)."""
    model = LAYERS[layer](lib.nn)
    spoil(model, lib)
    try:
        result = model(lib.from_numpy(values.copy())).detach().numpy()
    except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
        result = str(error)
    return result, {k: v for k, v in model.state_dict().items() if k.startswith(("running", "num"))}


def compared(layer, values, *spoil):
    expected, statistics = after(torch, layer, values, *spoil)
    found, mine = after(badak, layer, values, *spoil)
    assert isinstance(found, str) == isinstance(expected, str), (found, expected)
    assert "\nfix: " in found if isinstance(found, str) else found.dtype == expected.dtype
    assert mine.keys() == statistics.keys()
    for name in statistics:
        assert_close(mine[name], statistics[name], terms=values.size, what=name)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", INPUTS)
def test_inputs_that_do_not_fit_leave_the_statistics(layer, name):
    compared(layer, INPUTS[name])


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", SPOILS)
def test_parts_that_do_not_fit_leave_the_statistics(layer, name):
    if "no weights" not in layer or name not in ("weight", "bias"):
        compared(layer, INPUTS["right"], SPOILS[name])


def test_nothing_moves_towards_the_statistics_of_no_image():
    for layer in LAYERS:
        result, statistics = after(badak, layer, np.zeros((0, 3, 5), "f"))
        assert result.shape == (0, 3, 5)
        assert statistics["running_mean"].tolist() == [0, 0, 0] and statistics["running_var"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_inputs_are_computed_in_full_and_stay_half(layer, dtype):
    results = []
    for lib in (torch, badak):
        model = LAYERS[layer](lib.nn)
        results.append(model(lib.from_numpy(INPUTS["right"]).to(getattr(lib, dtype))))
        results.append(model.running_var)
    assert str(results[2].dtype) == f"badak.{dtype}"
    spacing = 2.0**-8 if dtype == "bfloat16" else 2.0**-11
    assert_close(results[2].float(), results[0].float(), units=4 * spacing / np.finfo("f").eps, size=1)
    assert_close(results[3], results[1], units=8 * spacing / np.finfo("f").eps, size=1)


def test_the_channels_are_named():
    with pytest.raises(badak.core.errors.ShapeError) as caught:
        badak.nn.BatchNorm1d(3)(badak.ones(4, 2, 5))
    assert str(caught.value) == (
        "batch_norm: running_mean should contain 2 elements not 3: x has 2 channels\n"
        "fix: running_mean of shape (2,), or x of shape (N, 3, ...)"
    )
    with pytest.raises(badak.core.errors.ArgumentTypeError, match="batch_norm: expected floats; got badak.int64\nfix: x.float()"):
        badak.nn.BatchNorm1d(3)(badak.ones(4, 3, 5, dtype=badak.int64))
