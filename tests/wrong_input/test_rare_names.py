"""What the rarer layers, losses and optimizers answer to what they cannot take: two lines, cause and fix."""

import copy
import pickle

import pytest

import badak
import badak.nn.functional as F
from badak import nn, optim
from badak.distributions import LowRankMultivariateNormal
from badak.optim import swa_utils

ones = badak.ones
UNSET = (
    "Attempted to use an uninitialized parameter or buffer, which has no values yet\n"
    "fix: call `forward` of the lazy module with a first input, which gives them"
)
WRONG = {
    "ctc_loss of four dims": (
        lambda: F.ctc_loss(ones(2, 2, 2, 2), ones(2, 3).long(), (5, 5), (3, 3)),
        "ctc_loss: expected log_probs (T, N, C) or (T, C); got (2, 2, 2, 2)\n"
        "fix: log_probs.transpose(0, 1) where the batch comes first",
    ),
    "ctc_loss of words": (
        lambda: F.ctc_loss(ones(5, 2, 4), "ab", (5, 5), (3, 3)),
        "ctc_loss: expected targets as Tensor or numbers; got str\nfix: one integer for each row of the batch",
    ),
    "grid_sample of nothing": (
        lambda: F.grid_sample(ones(1, 1, 0, 3), ones(1, 3, 3, 2)),
        "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes [1, 1, 0, 3]\n"
        "fix: at least one pixel: leave empty images out",
    ),
    "affine_grid to nothing": (
        lambda: F.affine_grid(ones(1, 2, 3), (1, 1, 0, 3)),
        "affine_grid: Expected non-zero, positive output size. Got [1, 1, 0, 3]\n"
        "fix: size (N, C, H, W) or (N, C, D, H, W), each 1 or more",
    ),
    "local_response_norm of no channel": (
        lambda: nn.LocalResponseNorm(0)(ones(1, 4, 2, 2)),
        "local_response_norm: size must be 1 or more; got 0\nfix: size=5 channels, as in the source",
    ),
    "channel_shuffle of two dims": (
        lambda: nn.ChannelShuffle(2)(ones(4, 2)),
        "channel_shuffle expects input with > 2 dims, but got input with sizes [4, 2]\n"
        "fix: x (N, C, L): x.unsqueeze(0) makes a batch of one",
    ),
    "fractional_max_pool2d to more than there is": (
        lambda: nn.FractionalMaxPool2d(3, output_size=9)(ones(1, 1, 4, 4)),
        "fractional_max_pool2d(): pool 3 with output size 9 is too large for an input of size 4\n"
        "fix: output_size + kernel_size - 1 is the input's size at most",
    ),
    "a covariance of other rows": (
        lambda: LowRankMultivariateNormal(ones(2), ones(3, 1), ones(2)),
        "cov_factor must be a batch of matrices with shape 2 x m\nfix: cov_factor (..., n, m) with loc (..., n)",
    ),
    "tensorinv of no square": (
        lambda: badak.linalg.tensorinv(ones(2, 3, 4)),
        "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got 4 != 6\n"
        "fix: A.reshape so that the first `ind` dims hold as many numbers as the others",
    ),
    "lu_solve with pivots of floats": (
        lambda: badak.linalg.lu_solve(ones(2, 2), ones(2), ones(2, 1)),
        "linalg.lu_solve: pivots should be a Tensor of int32; got badak.float32\nfix: both as lu_factor gave them",
    ),
    "an average of no model": (
        lambda: swa_utils.AveragedModel(3),
        "AveragedModel: expected a Module; got int\nfix: AveragedModel(model)",
    ),
    "a rate that is a word": (
        lambda: swa_utils.SWALR(optim.SGD([ones(1)], lr=0.1), swa_lr="x"),
        "SWALR: swa_lr must be a number, or one for each group; got 'x'\nfix: swa_lr=0.05",
    ),
    "skip_init of a number": (
        lambda: nn.utils.skip_init(3),
        "Expected a Module; got 3\nfix: skip_init(nn.Linear, 4, 8)",
    ),
    "autocast of no device": (
        lambda: badak.autocast(3),
        "Expected `device_type` of type `str`, got: `<class 'int'>`\nfix: autocast('cpu')",
    ),
    "fusing what does not follow": (
        lambda: nn.utils.fuse_linear_bn_eval(nn.Linear(2, 3).eval(), nn.BatchNorm1d(2).eval()),
        "To fuse, linear.out_features == bn.num_features or bn.num_features == 1\nfix: the BatchNorm1d that follows this layer",
    ),
    "a sum with a lazy weight": (lambda: nn.LazyLinear(3).weight + 1, UNSET),
    "the mean of a lazy buffer": (lambda: nn.LazyBatchNorm1d().running_mean.mean(), UNSET),
    "counting a lazy layer's numbers": (lambda: sum(p.numel() for p in nn.LazyLinear(3).parameters()), UNSET),
    "drawing a lazy weight": (lambda: nn.init.zeros_(nn.LazyLinear(3).weight), UNSET),
    "whether a lazy weight is true": (lambda: bool(nn.LazyLinear(3).weight), UNSET),
    "detaching a lazy weight": (lambda: nn.LazyLinear(3).weight.detach(), UNSET),
    "data for a lazy weight": (
        lambda: setattr(nn.LazyLinear(3).weight, "data", ones(3, 2)),
        "Attempted to give data to an uninitialized parameter or buffer\nfix: materialize(shape), then copy_",
    ),
    "loading a lazy layer into a whole one": (
        lambda: nn.Linear(4, 3).load_state_dict(nn.LazyLinear(3).state_dict()),
        "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when "
        "trying to load an uninitialized parameter into an initialized module.\n"
        "fix: call `forward` with a first input, which gives the shape",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_answer_has_a_cause_and_a_fix(name):
    run, text = WRONG[name]
    with pytest.raises(badak.core.errors.BadakError) as caught:
        run()
    assert str(caught.value) == text


def test_a_lazy_layer_may_be_moved_copied_and_pickled_before_its_first_input():
    x = ones(2, 4).double()
    for layer in (nn.LazyLinear(3).double(), nn.LazyLinear(3).to(badak.float64), nn.LazyLinear(3).to("cpu", badak.float64)):
        assert layer.weight.dtype is badak.float64 and layer.weight.data.numel() == 0
        for twin in (layer, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
            assert twin(x).dtype is badak.float64
            assert type(twin) is nn.Linear and twin.weight.shape == (3, 4) and not twin._forward_pre_hooks


def test_a_handle_that_was_pickled_takes_its_own_hook_away():
    layer = nn.Linear(2, 2)
    layer.handle = layer.register_forward_hook(_doubled)
    twin = pickle.loads(pickle.dumps(layer))
    other = twin.register_forward_hook(_doubled)
    assert other.id != twin.handle.id and len(twin._forward_hooks) == 2
    twin.handle.remove()
    assert list(twin._forward_hooks) == [other.id] and len(layer._forward_hooks) == 1


def _doubled(module, given, made):
    return 2 * made
