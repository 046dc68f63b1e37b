"""Convolution, pooling and changes of size as functions, against PyTorch; and what they refuse."""

import itertools
import warnings

import numpy as np
import pytest
import torch

import badak
from badak import nn
from tests.nn.twins import agree, normal
from tests.parity.compare import DEEP, assert_same

X1, X2 = normal(0, 2, 4, 9), normal(1, 2, 4, 6, 7)
CALLS = {
    "conv1d same, even": (lambda lib, x, w: lib.nn.functional.conv1d(x, w, padding="same"), [X1, normal(2, 3, 4, 4)]),
    "conv1d no batch": (lambda lib, x, w: lib.nn.functional.conv1d(x, w, stride=(2,)), [X1[0], normal(2, 3, 4, 4)]),
    "conv_tbc": (
        lambda lib, x, w, b: lib.nn.functional.conv_tbc(x, w, b, 1),
        [normal(0, 5, 2, 4), normal(1, 3, 4, 6), normal(2, 6)]),
    "conv2d": (
        lambda lib, x, w, b: lib.nn.functional.conv2d(x, w, b, (2, 1), (0, 2), (1, 2), 2),
        [X2, normal(3, 6, 2, 3, 2), normal(4, 6)],
    ),
    "conv2d valid": (lambda lib, x, w: lib.nn.functional.conv2d(x, w, padding="valid"), [X2, normal(3, 6, 4, 3, 2)]),
    "conv3d": (lambda lib, x, w: lib.nn.functional.conv3d(x, w), [normal(5, 1, 2, 3, 3, 3), normal(6, 2, 2, 2, 2, 2)]),
    "conv_transpose1d": (
        lambda lib, x, w: lib.nn.functional.conv_transpose1d(x, w, None, 3, 1, 2), [X1, normal(7, 4, 3, 4)],
    ),
    "conv_transpose2d": (
        lambda lib, x, w: lib.nn.functional.conv_transpose2d(x, w, dilation=2, groups=2), [X2, normal(8, 4, 3, 2, 2)],
    ),
    "max_pool with places": (lambda lib, x: lib.nn.functional.max_pool2d(x, 2, return_indices=True), [X2]),
    "max_pool no batch": (lambda lib, x: lib.nn.functional.max_pool2d(x, 3, 2, 1, ceil_mode=True), [X2[0]]),
    "avg_pool1d": (lambda lib, x: lib.nn.functional.avg_pool1d(x, 4, 3, 1, True, False), [X1]),
    "adaptive": (lambda lib, x: lib.nn.functional.adaptive_avg_pool2d(x, (4, 3)), [X2]),
    "adaptive larger": (lambda lib, x: lib.nn.functional.adaptive_avg_pool1d(x, 13), [X1]),
    "unfold": (lambda lib, x: lib.nn.functional.unfold(x, (2, 3), (2, 1), (1, 0), (1, 2)), [X2]),
    "fold of unfold": (
        lambda lib, x: lib.nn.functional.fold(lib.nn.functional.unfold(x, 3, padding=1), (6, 7), 3, padding=1), [X2],
    ),
    "shuffled pixels": (lambda lib, x: lib.nn.functional.pixel_shuffle(x, 2), [X2]),
    "batch_norm by batch": (lambda lib, x: lib.nn.functional.batch_norm(x, None, None, training=True), [X2]),
    "instance_norm": (lambda lib, x, w, b: lib.nn.functional.instance_norm(x, weight=w, bias=b), [X2, normal(3, 4), normal(4, 4)]),
    **{
        f"interpolate {mode} {size} {scale} {align}": (
            lambda lib, x, m=mode, s=size, f=scale, a=align: lib.nn.functional.interpolate(x, s, f, m, align_corners=a), [x],
        )
        for mode, size, scale, align, x in [
            ("nearest", 5, None, None, X1), ("nearest", None, 1.7, None, X2), ("nearest-exact", (9, 4), None, None, X2),
            ("linear", None, 2.3, False, X1), ("bilinear", (11, 3), None, True, X2), ("bilinear", None, (0.6, 2), False, X2),
            ("bicubic", (9, 5), None, False, X2), ("bicubic", (9, 1), None, True, X2), ("area", 4, None, None, X1),
            ("trilinear", (3, 4, 5), None, False, normal(9, 1, 2, 4, 3, 3)),
        ]
    },
    **{
        f"interpolate smoothly {mode} {size} {scale} {align}": (
            lambda lib, x, m=mode, s=size, f=scale, a=align: lib.nn.functional.interpolate(
                x, s, f, m, align_corners=a, antialias=True
            ),
            [X2],
        )
        for mode in ("bilinear", "bicubic")
        for size, scale, align in [((2, 3), None, False), ((13, 2), None, True), ((1, 9), None, None), (None, 0.4, False)]
    },
}  # fmt: skip


@pytest.mark.parametrize("call, arrays", CALLS.values(), ids=list(CALLS))
def test_values_and_gradients_are_those_of_pytorch(call, arrays):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's remark on even kernels
        agree(call, *arrays)


@pytest.mark.parametrize("channels", [3, 5])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_bytes_are_interpolated_in_whole_numbers_as_in_pytorch(mode, channels):
    x = np.random.default_rng(0).integers(0, 256, (2, channels, 17, 23), np.uint8)
    for size in ((10, 9), (40, 31), (17, 2)):
        for options in ({}, {"align_corners": True}, {"antialias": True}):
            ours, theirs = (
                lib.nn.functional.interpolate(lib.from_numpy(x), size, mode=mode, **options).numpy() for lib in (badak, torch)
            )
            assert ours.dtype == np.uint8 and np.array_equal(ours, theirs)


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_what_is_refused(lib):
    F, ones = lib.nn.functional, lib.ones
    for call in (
        lambda: F.conv1d(ones(2, 3, 5), ones(4, 2, 3)),
        lambda: F.conv1d(ones(2, 3, 2), ones(4, 3, 3)),
        lambda: F.conv2d(ones(2, 3), ones(4, 3, 1, 1)),
        lambda: F.conv2d(ones(1, 3, 4, 4), ones(4, 3, 1, 1), stride=2, padding="same"),
        lambda: F.conv1d(ones(1, 3, 4), ones(4, 3, 1), ones(4, dtype=lib.float64)),
        lambda: F.conv1d(ones(1, 3, 4), ones(4, 3, 1), ones(1)),
        lambda: F.conv2d(ones(1, 3, 4, 4), ones(4, 3, 1, 1), ones(4, 1)),
        lambda: F.conv1d(ones(1, 3, 4), ones(1, 3, 1), ones(5)),
        lambda: F.conv_transpose1d(ones(1, 3, 4), ones(3, 2, 2), ones(1)),
        lambda: F.conv_transpose1d(ones(1, 3, 4), ones(3, 2, 2), output_padding=1),
        lambda: F.max_pool2d(ones(1, 3, 4, 4), 2, padding=2),
        lambda: F.max_pool2d(ones(1, 3, 2, 2), 4),
        lambda: F.max_pool2d(ones(1, 3, 4, 4), 0),
        lambda: F.avg_pool2d(ones(1, 3, 4, 4), 2, stride=0),
        lambda: F.fold(ones(1, 8, 5), (3, 3), 2),
        lambda: F.pixel_shuffle(ones(1, 3, 2, 2), 2),
        lambda: F.batch_norm(ones(1, 3), None, None, training=True),
        lambda: lib.nn.BatchNorm2d(3)(ones(2, 3)),
        lambda: F.interpolate(ones(1, 3, 4)),
        lambda: F.interpolate(ones(1, 3, 4), 3, 2.0),
        lambda: F.interpolate(ones(1, 3, 4, 4), 3, antialias=True),
        lambda: F.interpolate(ones(1, 3, 4), 3, mode="linear", antialias=True),
        lambda: F.interpolate(ones(1, 3, 4), 3, align_corners=True),
        lambda: F.interpolate(ones(1, 3, 4), 3, mode="bilinear"),
        lambda: F.interpolate(ones(1, 3, 4, 4, dtype=lib.int32), 3, mode="bilinear"),
        lambda: F.interpolate(ones(1, 3, 4, dtype=lib.uint8), 3, mode="linear"),
        lambda: F.pad(ones(1, 3, 4), (1, 1), mode="reflect", value=1.0),
        lambda: lib.nn.Conv1d(3, 4, 2, groups=2),
        lambda: lib.nn.Conv1d(3, 4, 2, padding="full"),
        lambda: lib.nn.Conv1d(3, 4, 2, padding_mode="mirror"),
        lambda: lib.nn.Conv2d(3, 4, 2, stride=2, padding="same"),
        lambda: lib.nn.ConvTranspose2d(3, 4, 2, padding_mode="reflect"),
        lambda: lib.nn.ConvTranspose1d(3, 4, 2)(ones(1, 3, 4), output_size=[9]),
    ):
        with pytest.raises((RuntimeError, ValueError, NotImplementedError)):
            call()


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_an_unknown_way_to_pad_is_not_implemented(lib):
    with pytest.raises(NotImplementedError):
        lib.nn.functional.pad(lib.ones(1, 3, 4), (1, 1), mode="typo")


def test_a_wrong_number_of_channels_is_said_as_in_pytorch():
    said = r"expected input\[2, 5, 3\] to have 3 channels, but got 5 channels instead\nfix: in_channels=5"
    with pytest.raises(RuntimeError, match=said):
        nn.Conv1d(3, 4, 1)(badak.ones(2, 5, 3))


def test_patches_by_convolution_and_by_reshaping_are_one():
    x, layer = badak.from_numpy(X2[:, :3, :6, :6].copy()), nn.Conv2d(3, 5, 3, stride=3)
    patches = x.reshape(2, 3, 2, 3, 2, 3).permute(0, 2, 4, 1, 3, 5).reshape(2, 4, 27)
    by_hand = nn.functional.linear(patches, layer.weight.reshape(5, 27), layer.bias)
    assert_same(layer(x).flatten(2).transpose(1, 2), by_hand.detach().numpy(), DEEP)


def test_a_transposed_convolution_of_a_wanted_size():
    for lib in (badak, torch):
        layer = lib.nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)
        assert tuple(layer(lib.ones(1, 2, 4, 4), output_size=[8, 7]).shape) == (1, 3, 8, 7)


# batch norm


@pytest.mark.parametrize("options", [{}, {"momentum": None}, {"momentum": 0.3, "affine": False}], ids=str)
def test_running_statistics_are_those_of_pytorch(options):
    found = []
    for lib in (badak, torch):
        layer = lib.nn.BatchNorm2d(4, **options)
        for seed in range(3):
            layer(lib.from_numpy(normal(seed, 2, 4, 6, 7)))
        layer.eval()
        y = layer(lib.from_numpy(X2))
        found.append([*layer.state_dict().values(), y])
        assert layer.state_dict()._metadata[""] == {"version": 2}
    for ours, theirs in zip(*found, strict=True):
        assert_same(ours, theirs, DEEP)
    assert found[0][-2].item() == 3


def test_statistics_can_be_forgotten_and_older_states_loaded():
    layer = nn.BatchNorm1d(2)
    layer(badak.from_numpy(normal(0, 5, 2)))
    layer.reset_running_stats()
    assert layer.running_mean.tolist() == [0, 0] and layer.num_batches_tracked.item() == 0
    state = dict(layer.state_dict())
    del state["num_batches_tracked"]
    assert layer.load_state_dict(state).missing_keys == []


def test_instance_norm_tracks_when_asked():
    found = []
    for lib in (badak, torch):
        layer = lib.nn.InstanceNorm1d(4, track_running_stats=True)
        layer(lib.from_numpy(X1))
        found.append([layer.running_mean, layer.running_var, layer.eval()(lib.from_numpy(X1))])
    for ours, theirs in zip(*found):
        assert_same(ours, theirs, DEEP)


@pytest.mark.slow
def test_a_small_image_classifier_learns_as_in_pytorch():
    losses = []
    for lib in (badak, torch):
        lib.manual_seed(0)
        model = lib.nn.Sequential(
            lib.nn.Conv2d(1, 4, 3, padding=1), lib.nn.BatchNorm2d(4), lib.nn.ReLU(), lib.nn.MaxPool2d(2),
            lib.nn.Conv2d(4, 8, 3), lib.nn.ReLU(), lib.nn.AdaptiveAvgPool2d(1), lib.nn.Flatten(), lib.nn.Linear(8, 3),
        )  # fmt: skip
        optimizer = lib.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        x = lib.from_numpy(np.random.default_rng(0).standard_normal((12, 1, 8, 8)).astype(np.float32))
        target, run = lib.arange(12) % 3, []
        for _ in range(5):
            loss = lib.nn.functional.cross_entropy(model(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run.append(loss.item())
        losses.append(run)
    np.testing.assert_allclose(losses[0], losses[1], rtol=2e-5)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("pads", [(-3, -2), (-2, -2), (-5, 2), (5, 4), (3, 6), (4, 0), (-1, 3)])
def test_a_padding_that_leaves_less_than_nothing_is_refused_as_in_pytorch(mode, pads):
    found = []
    for lib in (torch, badak):
        try:
            found.append(lib.nn.functional.pad(lib.arange(4.0).reshape(1, 1, 4), pads, mode=mode).tolist())
        except (ValueError, RuntimeError):
            found.append("refused")
    assert found[0] == found[1] or (mode, pads) == ("circular", (-5, 2))  # for which PyTorch shows memory that it never wrote


def test_a_padding_that_is_not_zeros_goes_around_one_to_three_dims_behind_the_channels():
    for dims, numbers in itertools.product(range(1, 6), (2, 4, 6)):
        for mode in ("reflect", "replicate", "circular"):
            found = []
            for lib in (torch, badak):
                try:
                    found.append(tuple(lib.nn.functional.pad(lib.ones(*[3] * dims), (1,) * numbers, mode=mode).shape))
                except (NotImplementedError, ValueError, RuntimeError):
                    found.append("refused")
            assert found[0] == found[1], (dims, numbers, mode)


@pytest.mark.parametrize(
    "shape, words",
    [((1, 5, 9), "be divisible by the product of kernel_size"), ((1, 6, 10), "match the calculated number of sliding")],
)
def test_columns_of_another_size_are_refused_in_pytorchs_words(shape, words):
    for lib in (torch, badak):
        with pytest.raises(RuntimeError, match=words):
            lib.nn.functional.fold(lib.rand(*shape), output_size=(4, 5), kernel_size=(2, 3))


def test_a_window_that_is_too_large_is_refused_in_pytorchs_words():
    for lib in (torch, badak):
        F = lib.nn.functional
        for call in (lambda: F.unfold(lib.rand(1, 2, 2, 2), (2, 3)), lambda: F.fold(lib.rand(1, 12, 1), (1, 1), (2, 3))):  # noqa: B023
            with pytest.raises(RuntimeError, match="(?s)sliding blocks"):
                call()
    with pytest.raises(RuntimeError, match=r"\(1, 0\), but its components must be at least one"):
        badak.nn.functional.unfold(badak.rand(1, 2, 2, 2), (2, 3))


@pytest.mark.parametrize("lib", [badak, torch])
def test_windows_that_are_empty_stand_still_or_begin_inside(lib):
    x, f = lib.ones(1, 2, 4, 4), lib.nn.functional
    calls = [
        lambda: f.conv2d(x, lib.ones(1, 2, 0, 0), padding=1),
        lambda: f.conv_transpose2d(x, lib.ones(2, 1, 0, 0)),
    ]
    for wrong in ({"padding": -1}, {"stride": 0}, {"dilation": 0}):
        calls += [
            lambda wrong=wrong: f.conv2d(x, lib.ones(1, 2, 2, 2), **wrong),
            lambda wrong=wrong: f.conv_transpose2d(x, lib.ones(2, 1, 2, 2), **wrong),
            lambda wrong=wrong: f.unfold(x, 2, **wrong),
            lambda wrong=wrong: f.fold(lib.ones(1, 4, 9), 4, 2, **wrong),
        ]
    for call in calls:
        with pytest.raises(RuntimeError):
            call()
