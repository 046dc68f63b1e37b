"""Layers that module_db does not know, against PyTorch: numbers, text, random numbers, state_dicts; layers fused and lazy."""

import copy

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError
from tests.nn.twins import normal
from tests.tiers import looped

LAYERS = {
    "RReLU": (lambda nn: nn.RReLU(0.1, 0.4), (3, 5)),
    "RReLU in place": (lambda nn: nn.Sequential(nn.Linear(5, 5), nn.RReLU(inplace=True)), (3, 5)),
    "ChannelShuffle": (lambda nn: nn.ChannelShuffle(3), (2, 6, 4)),
    "FeatureAlphaDropout": (lambda nn: nn.FeatureAlphaDropout(0.3), (3, 4, 5)),
    "UpsamplingNearest2d": (lambda nn: nn.UpsamplingNearest2d(scale_factor=2), (1, 2, 3, 4)),
    "UpsamplingBilinear2d": (lambda nn: nn.UpsamplingBilinear2d(size=(5, 7)), (1, 2, 3, 4)),
    "LocalResponseNorm": (lambda nn: nn.LocalResponseNorm(3, 0.1, 0.5, 2.0), (2, 5, 3)),
    "LazyLinear": (lambda nn: nn.LazyLinear(4), (2, 3)),
    "LazyLinear without bias": (lambda nn: nn.LazyLinear(4, bias=False), (2, 3)),
    "LazyConv2d": (lambda nn: nn.LazyConv2d(4, 3, padding=1, groups=2), (2, 6, 5, 5)),
    "LazyConv1d": (lambda nn: nn.LazyConv1d(4, 3, stride=2), (2, 3, 7)),
    "LazyConv3d": (lambda nn: nn.LazyConv3d(4, 2, bias=False), (2, 3, 3, 4, 3)),
    "LazyConvTranspose1d": (lambda nn: nn.LazyConvTranspose1d(4, 3, stride=2), (2, 3, 5)),
    "LazyConvTranspose2d": (lambda nn: nn.LazyConvTranspose2d(4, 3, groups=2, padding=1), (2, 6, 4, 3)),
    "LazyConvTranspose3d": (lambda nn: nn.LazyConvTranspose3d(4, 2), (2, 3, 2, 3, 2)),
    "LazyBatchNorm3d": (lambda nn: nn.LazyBatchNorm3d(eps=1e-2), (2, 3, 2, 3, 2)),
    "LazyInstanceNorm2d": (lambda nn: nn.LazyInstanceNorm2d(affine=True), (2, 3, 4, 3)),
    "LazyInstanceNorm3d": (lambda nn: nn.LazyInstanceNorm3d(), (2, 3, 2, 3, 2)),
    "LazyBatchNorm1d": (lambda nn: nn.LazyBatchNorm1d(), (5, 3)),
    "LazyBatchNorm2d": (lambda nn: nn.LazyBatchNorm2d(affine=False, momentum=0.3), (2, 3, 4, 4)),
    "LazyInstanceNorm1d": (lambda nn: nn.LazyInstanceNorm1d(affine=True, track_running_stats=True), (2, 3, 4)),
}  # fmt: skip


def run(lib, name, training):
    make, shape = LAYERS[name]
    lib.manual_seed(1)
    layer = make(lib.nn).train(training)
    first = repr(layer)
    x = lib.from_numpy(normal(0, *shape)).requires_grad_()
    lib.manual_seed(2)
    y = layer(x)
    y.square().sum().backward()
    state = {key: value.numpy() for key, value in layer.state_dict().items()}
    grads = [x.grad.numpy(), *(p.grad.numpy() for p in layer.parameters())]
    return (first, repr(layer), type(layer).__name__), y.detach().numpy(), grads, state


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@looped(training=[True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_pytorchs(name, training):
    ours, theirs = run(badak, name, training), run(torch, name, training)
    assert ours[0] == theirs[0] and list(ours[3]) == list(theirs[3])
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-5, atol=1e-5)
    for mine, other in zip([*ours[2], *ours[3].values()], [*theirs[2], *theirs[3].values()], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)


def test_a_lazy_layer_takes_its_shape_from_a_state_dict_and_can_be_copied():
    layer = badak.nn.LazyLinear(3)
    twin = copy.deepcopy(layer)
    assert twin.has_uninitialized_params() and badak.nn.parameter.is_lazy(twin.weight)
    twin.load_state_dict(badak.nn.Linear(4, 3).state_dict())
    assert twin.weight.shape == (3, 4) and twin(badak.ones(2, 4)).shape == (2, 3)
    assert type(twin) is badak.nn.Linear and twin.in_features == 4
    with pytest.raises(BadakError, match="Can't access the shape of an uninitialized parameter or buffer"):
        layer.weight.shape  # noqa: B018
    optimizer = badak.optim.SGD(layer.parameters(), lr=0.1)
    layer(badak.ones(2, 5)).sum().backward()
    optimizer.step()
    assert layer.weight.grad.shape == (3, 5)


def test_a_loss_with_a_distance_of_ones_own_and_an_older_name():
    for lib in (badak, torch):
        distance = lambda a, b: (a - b).abs().sum(-1)  # noqa: E731
        loss = lib.nn.TripletMarginWithDistanceLoss(distance_function=distance, margin=0.5, swap=True)
        a, b, c = (lib.from_numpy(normal(seed, 4, 3)) for seed in range(3))
        found = loss(a, b, c).item()
        assert found == pytest.approx(
            torch.nn.functional.triplet_margin_with_distance_loss(
                *(torch.from_numpy(normal(seed, 4, 3)) for seed in range(3)), distance_function=distance, margin=0.5, swap=True
            ).item()
        )


def trained(lib, layer, shape):
    norm = (lib.nn.BatchNorm1d if len(shape) < 4 else lib.nn.BatchNorm2d)(4)
    with lib.no_grad():
        for p in [*layer.parameters(), *norm.parameters()]:
            p.copy_(lib.from_numpy(np.linspace(-1, 2, p.numel()).astype("f").reshape(tuple(p.shape))))
    net = lib.nn.Sequential(layer, norm)
    net(lib.from_numpy(normal(3, *shape)))
    return layer.eval(), norm.eval(), net.eval()


@pytest.mark.parametrize("kind", ["Linear", "Conv2d", "ConvTranspose2d", "without bias"])
def test_a_batch_norm_is_taken_into_the_layer_before_it(kind):
    shape = (5, 3) if kind == "Linear" else (2, 3, 5, 5)
    ys = []
    for lib in (badak, torch):
        nn, utils = lib.nn, lib.nn.utils
        layer = {
            "Linear": lambda nn: nn.Linear(3, 4), "Conv2d": lambda nn: nn.Conv2d(3, 4, 2),
            "ConvTranspose2d": lambda nn: nn.ConvTranspose2d(3, 4, 2), "without bias": lambda nn: nn.Conv2d(3, 4, 2, bias=False),
        }[kind](nn)  # fmt: skip
        layer, norm, net = trained(lib, layer, shape)
        fused = (
            utils.fuse_linear_bn_eval(layer, norm)
            if kind == "Linear"
            else utils.fuse_conv_bn_eval(layer, norm, transpose=kind == "ConvTranspose2d")
        )
        x = lib.from_numpy(normal(4, *shape))
        np.testing.assert_allclose(fused(x).detach().numpy(), net(x).detach().numpy(), rtol=1e-4, atol=1e-4)
        ys.append(fused.weight.detach().numpy())
    np.testing.assert_allclose(*ys, rtol=1e-5)
    with pytest.raises(BadakError, match="Fusion only for eval!"):
        badak.nn.utils.fuse_conv_bn_eval(badak.nn.Conv2d(1, 1, 1), badak.nn.BatchNorm2d(1))


def test_a_layer_without_first_values():
    layer = badak.nn.utils.skip_init(badak.nn.Linear, 3, 4, bias=False)
    assert layer.weight.shape == (4, 3) and layer.weight.device.type == "cpu" and layer.bias is None
    state = badak.get_rng_state()
    badak.nn.utils.skip_init(badak.nn.Conv2d, 3, 4, 2)
    assert badak.equal(state, badak.get_rng_state())


REFUSED = {
    "shuffle": (lambda F: F.channel_shuffle(badak.ones(1, 5, 2), 2), "Number of channels must be divisible by groups. Got 5"),
    "response": (lambda F: F.local_response_norm(badak.ones(2, 2), 2), "Expected 3D or higher dimensionality input (got 2"),
    "map of three dims": (lambda F: badak.nn.CrossMapLRN2d(2)(badak.ones(2, 2, 2)), "CrossMapLRN2d: Expected input to be 4D"),
    "map of no channel": (lambda F: badak.nn.CrossMapLRN2d(0)(badak.ones(1, 2, 2, 2)), "CrossMapLRN2d: size must be 1 or more"),
    "slopes": (lambda F: F.rrelu(badak.ones(2), 0.5, 0.1), "rrelu: lower bound must not be greater than the upper bound"),
    "features": (lambda F: F.feature_alpha_dropout(badak.ones(2), 0.5, True), "Feature dropout requires at least 2 dim"),
    "labels": (lambda F: F.multilabel_margin_loss(badak.ones(2, 3), badak.ones(2, 2).long()), "multilabel_margin_loss: expected"),
    "pairs": (lambda F: F.pdist(badak.ones(2)), "pdist only supports 2D tensors, got: 1D"),
    "pool": (lambda F: F.fractional_max_pool2d(badak.ones(1, 1, 4, 4), 2), "fractional_max_pool2d requires specifying either"),
    "ratio": (lambda F: badak.nn.FractionalMaxPool2d(2, output_ratio=2.0), "output_ratio must be between 0 and 1 (got 2.0)"),
    "large pool": (lambda F: F.fractional_max_pool2d(badak.ones(1, 1, 4, 4), 3, 4), "fractional_max_pool2d(): pool 3 with output"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name):
    call, text = REFUSED[name]
    with pytest.raises(BadakError) as caught:
        call(badak.nn.functional)
    assert str(caught.value).startswith(text) and "\nfix: " in str(caught.value)


@pytest.mark.filterwarnings("ignore:input.s size at dim=1 does not match num_features")
@pytest.mark.parametrize("name", ["LazyBatchNorm1d", "LazyBatchNorm3d", "LazyInstanceNorm2d"])
def test_a_lazy_norm_without_any_numbers_takes_its_channels_from_the_input(name):
    x = normal(0, 3, 4, *(5,) * {"1": 1, "2": 2, "3": 3}[name[-2]])
    ys = []
    for lib in (badak, torch):
        layer = getattr(lib.nn, name)(affine=False, track_running_stats=False)
        ys.append(layer(lib.from_numpy(x)).numpy())
        assert type(layer) is getattr(lib.nn, name.removeprefix("Lazy"))
        if lib is badak:
            assert layer.num_features == 4
    np.testing.assert_allclose(*ys, rtol=1e-4, atol=1e-5)


@looped(size=range(1, 7), channels=range(1, 8))
def test_cross_map_response_is_that_of_pytorch_and_its_gradient_the_derivative(size, channels):
    """PyTorch's own gradient sums other channels than its forward, and fails for size 1."""
    x = normal(0, 2, channels, 3, 2)
    ours, theirs = (lib.nn.CrossMapLRN2d(size, 0.3, 0.6, 1.5) for lib in (badak, torch))
    assert repr(ours) == repr(theirs)
    np.testing.assert_allclose(ours(badak.tensor(x)).numpy(), theirs(torch.tensor(x)).numpy(), rtol=1e-5)
    one = badak.tensor(x[:1, :, :1, :1], dtype=badak.float64).requires_grad_()
    assert badak.autograd.gradcheck(ours, (one,))


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
@pytest.mark.filterwarnings("ignore:.*jit.*deprecated")
def test_a_layer_without_values_is_loaded_and_scripted_as_in_pytorch():
    for lib in (torch, badak):
        layer = lib.nn.LazyLinear(3)
        layer.load_state_dict(lib.nn.LazyLinear(3).state_dict())
        assert layer.has_uninitialized_params()
        with pytest.raises(RuntimeError, match="has uninitialized parameters weight.* forget to run a forward pass"):
            lib.jit.script(layer)


@pytest.mark.parametrize(
    "axes, shape", [(2, (2, 3, 4, 4)), (2, (3, 4, 4)), (3, (3, 4, 4, 4)), (2, (0, 3, 4, 4)), (3, (0, 2, 4, 4, 4))]
)
def test_fractional_pooling_to_nothing_and_of_nothing(axes, shape):
    for size in ((0,) * axes, (1,) + (0,) * (axes - 1), (2,) * axes):
        made = [getattr(t.nn.functional, f"fractional_max_pool{axes}d")(t.ones(shape), 2, size) for t in (torch, badak)]
        assert tuple(made[1].shape) == tuple(made[0].shape)
    with pytest.raises(RuntimeError, match="Expected input to have non-zero size for non-batch dimensions"):
        getattr(badak.nn.functional, f"fractional_max_pool{axes}d")(badak.ones(1, 0, *(4,) * axes), 2, 1)


@pytest.mark.parametrize("name", ["adaptive_avg_pool", "adaptive_max_pool"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_adaptive_pooling_of_no_channels(name, axes):
    for shape in ((0, *(4,) * axes), (0, 3, *(4,) * axes)):
        made = [getattr(t.nn.functional, f"{name}{axes}d")(t.ones(shape), 2) for t in (torch, badak)]
        assert tuple(made[1].shape) == tuple(made[0].shape)
