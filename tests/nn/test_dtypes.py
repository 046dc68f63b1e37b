"""Which dtypes the functions of nn take, and of which their results are: what PyTorch refuses is refused."""

import pytest
import torch

import badak

KINDS = "int64 int32 uint8 bool".split()
ONE = {  # of one input
    "threshold": lambda F, x: F.threshold(x, 0.5, 1),
    "max_pool1d": lambda F, x: F.max_pool1d(x[0], 2),
    "max_pool1d with places": lambda F, x: F.max_pool1d(x[0], 2, return_indices=True)[0],
    "max_pool2d": lambda F, x: F.max_pool2d(x, 2),
    "max_pool3d": lambda F, x: F.max_pool3d(x, 1),
    "avg_pool2d": lambda F, x: F.avg_pool2d(x, 2),
    "adaptive_max_pool1d": lambda F, x: F.adaptive_max_pool1d(x[0], 2),
    "adaptive_max_pool2d": lambda F, x: F.adaptive_max_pool2d(x, 2),
    "adaptive_max_pool3d": lambda F, x: F.adaptive_max_pool3d(x, 1),
    "nearest": lambda F, x: F.interpolate(x, scale_factor=2),
    "nearest-exact": lambda F, x: F.interpolate(x, scale_factor=2, mode="nearest-exact"),
    "unfold": lambda F, x: F.unfold(x, 2),
    "fold": lambda F, x: F.fold(x.reshape(1, 4, -1)[:, :, :9], (4, 4), 2),
    "linear": lambda F, x: F.linear(x, x.new_ones(3, 4)),
    "bilinear": lambda F, x: F.bilinear(x, x, x.new_ones(3, 4, 4)),
    "conv1d": lambda F, x: F.conv1d(x[0], x.new_ones(1, 4, 2)),
    "conv2d": lambda F, x: F.conv2d(x, x.new_ones(1, 4, 2, 2)),
    "conv_transpose1d": lambda F, x: F.conv_transpose1d(x[0], x.new_ones(4, 1, 2)),
    "conv_transpose2d": lambda F, x: F.conv_transpose2d(x, x.new_ones(4, 1, 2, 2)),
    "multi_margin_loss": lambda F, x: F.multi_margin_loss(x[0, 0], x.new_zeros(4).long()),
    "hinge_embedding_loss": lambda F, x: F.hinge_embedding_loss(x, x),
    "embedding_bag": lambda F, x: F.embedding_bag(x[0, 0].long().clamp(0, 3), x[0, 0]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ONE)
def test_integers_and_booleans_are_refused_where_pytorch_refuses_them(name, kind):
    def story(lib):
        x = lib.arange(64).reshape(1, 4, 4, 4) % (2 if kind == "bool" else 5)
        try:
            made = ONE[name](lib.nn.functional, x.to(getattr(lib, kind)))
        except (RuntimeError, TypeError):
            return "refused"
        return str(made.dtype).rpartition(".")[2], made.tolist()

    assert story(badak) == story(torch)


def test_gumbel_softmax_draws_floats():
    for lib in (torch, badak):
        with pytest.raises(RuntimeError):
            lib.nn.functional.gumbel_softmax(lib.ones(2, 3).long())


LOSSES = """mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div poisson_nll_loss
soft_margin_loss hinge_embedding_loss""".split()


@pytest.mark.filterwarnings("ignore:reduction.*divides")
@pytest.mark.parametrize("target", [*KINDS, "float64"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_of_pytorchs_dtype_for_every_dtype_of_targets(name, target):
    def story(lib):
        x = lib.tensor([[0.2, 0.7], [0.4, 0.3]])
        try:
            made = getattr(lib.nn.functional, name)(x, lib.tensor([[1, 0], [0, 1]]).to(getattr(lib, target)))
        except (RuntimeError, TypeError):
            return "refused"
        return str(made.dtype).rpartition(".")[2], round(made.item(), 5)

    assert story(badak) == story(torch)


@pytest.mark.parametrize("name", "smooth_l1_loss huber_loss binary_cross_entropy soft_margin_loss".split())
def test_complex_targets_are_refused(name):
    for lib in (torch, badak):
        with pytest.raises(RuntimeError):
            getattr(lib.nn.functional, name)(lib.ones(2), lib.ones(2).to(lib.complex64))
