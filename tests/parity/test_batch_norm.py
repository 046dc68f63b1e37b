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


SHAPES = [(4, 3), (300, 40), (5, 3, 4), (3, 2, 33), (4, 3, 5, 5), (2, 3, 40, 41), (2, 3, 2, 3, 4)]


def trained(lib, shape, dtype, affine, last, training=True):
    """y, gradients, second derivatives and statistics of a step."""
    rng = np.random.default_rng(len(shape))
    give = lambda *size: lib.from_numpy(rng.normal(size=size)).to(dtype=getattr(lib, dtype))
    x = give(*shape) * 3 + 20
    if last:
        x = x.contiguous(memory_format=lib.channels_last if x.dim() == 4 else lib.channels_last_3d)
    leaves = [x.requires_grad_()]
    parts = [give(shape[1]).requires_grad_() if wanted else None for wanted in affine]
    leaves += [part for part in parts if part is not None]
    mean, var = give(shape[1]) * 0, give(shape[1]) ** 2 + 0.5
    y = lib.nn.functional.batch_norm(x, mean, var, *parts, training, 0.3, 1e-3)
    first = lib.autograd.grad(y, leaves, give(*shape), create_graph=True)
    bent = [(g * give(*g.shape)).sum() for g in first if g.requires_grad and affine != (False, True)]  # which PyTorch refuses
    second = lib.autograd.grad(sum(bent), leaves, allow_unused=True) if bent else ()
    return y, *first, *(g for g in second if g is not None), mean, var


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("affine", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_both_derivatives_are_pytorchs(shape, affine, training):
    for last in {False, len(shape) > 3}:
        for dtype, units in (("float32", 4e3), ("float64", 4e3)):
            theirs, ours = (trained(lib, shape, dtype, affine, last, training) for lib in (torch, badak))
            assert type(ours[0].grad_fn).__name__ == type(theirs[0].grad_fn).__name__ == "NativeBatchNormBackward0"
            assert ours[0].stride() == theirs[0].stride()
            for a, b in zip(ours, theirs, strict=True):
                assert_close(a, b, units=units, size=float(b.detach().abs().max()), what=f"{shape} {affine} {last} {dtype}")


def test_a_large_mean_costs_the_variance_no_digits():
    values = RNG.normal(size=(64, 3, 100)) + 1000
    x = badak.from_numpy(values).float()
    _, mean, rstd = badak.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-8)
    exact = x.double().numpy()
    assert_close(mean, torch.from_numpy(exact.mean((0, 2))).float(), units=1)
    assert_close(rstd, torch.from_numpy(1 / np.sqrt(exact.var((0, 2)) + 1e-8)).float(), units=16)


def test_a_native_batch_norm_gives_what_it_normalised_by():
    for training in (True, False):
        found = []
        for lib in (torch, badak):
            x = lib.from_numpy(INPUTS["right"].copy()).requires_grad_()
            found.append(lib.native_batch_norm(x, lib.ones(3), None, lib.zeros(3), lib.ones(3), training, 0.1, 1e-5))
        for a, b in zip(*found[::-1]):
            assert a.requires_grad == b.requires_grad
            assert_close(a, b, units=8, size=1)


@pytest.mark.parametrize(
    "kinds", [("float64", "float32"), ("float32", "float64"), ("bfloat16", "float64"), ("float32", "bfloat16")]
)
@pytest.mark.parametrize("training", [True, False])
def test_dtypes_that_differ_are_refused(kinds, training):
    for lib in (torch, badak):
        x, mean, var = lib.ones(4, 3, dtype=getattr(lib, kinds[0])), *(lib.ones(3, dtype=getattr(lib, kinds[1])) for _ in "mv")
        with pytest.raises(RuntimeError, match="mixed dtype|expected scalar type"):
            lib.nn.functional.batch_norm(x, mean, var, mean, var, training)
        assert mean.float().tolist() == [1, 1, 1]


def test_statistics_that_want_a_gradient_get_it_in_evaluation():
    x, mean, var, w = (badak.from_numpy(RNG.uniform(1, 2, size)).requires_grad_() for size in ((4, 3, 5), 3, 3, 3))
    assert badak.autograd.gradcheck(
        lambda *given: badak.nn.functional.batch_norm(given[0], *given[1:3], given[3]), (x, mean, var, w)
    )


@pytest.mark.parametrize("shape", [(16, 20, 40, 41), (900, 70), (64, 130, 3)])
def test_the_bits_of_a_step_do_not_depend_on_the_number_of_threads(shape, threads):
    for dtype in ("float32", "bfloat16"):
        bits = []
        for count in (1, 2, 3):
            with threads(count):
                x = badak.from_numpy(np.random.default_rng(0).normal(size=shape)).to(dtype=getattr(badak, dtype)).requires_grad_()
                w = badak.linspace(0.5, 1.5, shape[1]).requires_grad_()
                y = badak.nn.functional.batch_norm(x, None, None, w, w, True)
                (y.float() ** 3).sum().backward()
                bits.append([a.detach().float().numpy().tobytes() for a in (y, x.grad, w.grad)])
        assert bits[0] == bits[1] == bits[2]


def test_a_compiled_step_has_the_bits_and_moves_the_statistics():
    for line in (False, True):
        results = []
        for compiled in (False, True):
            badak.manual_seed(0)
            nn = badak.nn
            net = (
                nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)) if line else nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
            )
            optimizer = badak.optim.SGD(net.parameters(), lr=0.1)

            def step(x, net=net, optimizer=optimizer):
                optimizer.zero_grad()
                loss = net(x).pow(3).mean()
                loss.backward()
                optimizer.step()
                return loss

            run = badak.compile(step) if compiled else step
            batches = badak.randn(6, 8, 3) if line else badak.randn(6, 4, 3, 6, 6)
            losses = [float(run(x)) for x in batches]
            assert not compiled or run.fallback_reason == ""
            results.append((losses, [value.tolist() for value in net.state_dict().values()]))
        assert results[0] == results[1]


@pytest.mark.parametrize("training", [True, False])
def test_examples_of_vmap_are_normalised_each_for_itself(training):
    x, w = RNG.normal(size=(2, 4, 3, 5)).astype("f"), RNG.normal(size=(2, 3)).astype("f")
    found = []
    for lib in (torch, badak):
        mean, var = lib.zeros(3) + 0.5, lib.ones(3) * 2

        def loss(x, w, lib=lib, mean=mean, var=var):
            kept = (None, None) if training else (mean, var)
            return (lib.nn.functional.batch_norm(x, *kept, w, None, training) ** 3).sum()

        given = lib.from_numpy(x), lib.from_numpy(w)
        found.append(lib.func.vmap(lib.func.grad(loss, argnums=(0, 1)))(*given))
        found[-1] += lib.func.vmap(lib.func.grad(loss, argnums=(0, 1)), in_dims=(0, None))(given[0], given[1][0])
    for a, b in zip(*found[::-1]):
        assert_close(a, b, units=64, size=float(b.detach().abs().max()))
