"""Losses as functions, against PyTorch."""

import itertools

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError, BadakWarning, DTypeError, IndexOutOfRangeError, ShapeError
from badak.nn import functional as F
from tests.compare import assert_close
from tests.nn.twins import agree, normal
from tests.tiers import looped

REDUCTIONS = pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
WEIGHT = np.array([0.5, 2.0, 1.0, 0.25, 3.0], np.float32)


def labels(*shape, classes=5, ignored=False):
    target = np.random.default_rng(1).integers(0, classes, shape)
    if ignored and target.size > 1:
        target.flat[1] = -100
    return np.asarray(target)


# ------------------------------------------------------------------ cross entropy


@REDUCTIONS
@looped(shape=[(5,), (7, 5), (3, 5, 4), (2, 5, 3, 2)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy_of_class_ids(shape, weighted, smoothing, reduction):
    target = labels(*shape[:1], *shape[2:], ignored=True) if len(shape) > 1 else labels()

    def both(lib, x):
        weight = lib.from_numpy(WEIGHT).to(x.dtype) if weighted else None
        return lib.nn.functional.cross_entropy(x, lib.from_numpy(target), weight, reduction=reduction, label_smoothing=smoothing)

    agree(both, normal(0, *shape))


@REDUCTIONS
@pytest.mark.parametrize("shape", [(5,), (7, 5), (3, 5, 4)])
def test_cross_entropy_of_probabilities(shape, reduction):
    target = np.abs(normal(1, *shape))
    agree(
        lambda lib, x, t: lib.nn.functional.cross_entropy(x, t, reduction=reduction, label_smoothing=0.1),
        normal(0, *shape),
        target,
    )


def test_classes_are_axis_1_whatever_the_sizes():
    x, target = normal(0, 2, 5, 5), labels(2, 5)
    agree(lambda lib, x, t: lib.nn.functional.cross_entropy(x, t), x, target)


def test_another_ignore_index():
    agree(lambda lib, x, t: lib.nn.functional.cross_entropy(x, t, ignore_index=2), normal(0, 7, 5), labels(7))


@pytest.mark.parametrize(
    "old, meant", [((True, None), "mean"), ((False, None), "sum"), ((None, False), "none"), ((False, True), "sum")]
)
def test_the_older_words_for_a_reduction(old, meant):
    x, t = badak.from_numpy(normal(0, 4, 5)), badak.from_numpy(labels(4))
    with pytest.warns(BadakWarning, match=f"here they mean reduction='{meant}'"):
        found = F.cross_entropy(x, t, size_average=old[0], reduce=old[1])
    np.testing.assert_array_equal(found.numpy(), F.cross_entropy(x, t, reduction=meant).numpy())


def test_a_batch_without_labels_costs_nothing_and_says_so():
    x = badak.from_numpy(normal(0, 4, 5)).requires_grad_()
    with pytest.warns(BadakWarning) as caught:
        loss = F.cross_entropy(x, badak.full((4,), -100))
    assert str(caught[0].message) == (
        "cross_entropy: no label to learn from in this batch (all == ignore_index=-100); the loss is 0\n"
        "fix: check truncation/masking"
    )
    loss.backward()
    assert loss.item() == 0 and not x.grad.numpy().any()


def test_a_label_out_of_range_is_named_with_its_place():
    with pytest.raises(IndexOutOfRangeError) as caught:
        F.cross_entropy(badak.zeros(4, 3), badak.tensor([0, 1, 2, 3]))
    assert str(caught.value) == (
        "target[3] = 3 but logits have 3 classes (valid 0..2, ignore_index=-100). Target 3 is out of bounds; "
        "1 of 4 labels affected\nfix: labels from 0, or Linear(..., 4)"
    )
    with pytest.raises(IndexError, match="target\\[0\\] = -1 .*\nfix: labels from 0, or ignore_index=-1"):
        F.cross_entropy(badak.zeros(2, 3), badak.tensor([-1, 1]))


def test_a_label_of_a_grid_is_named_with_its_place_there():
    target = badak.zeros(2, 5, dtype=badak.int64)
    target[1, 2] = 9
    for loss in (F.cross_entropy, F.nll_loss):
        with pytest.raises(IndexOutOfRangeError, match=r"^target\[1, 2\] = 9 but logits have 4 classes"):
            loss(badak.zeros(2, 4, 5), target)


def test_logits_of_every_position_are_flattened_by_the_caller():
    with pytest.raises(ShapeError, match=r"fix: logits.flatten\(0, 2\) and target.flatten\(\), or logits.movedim"):
        F.cross_entropy(badak.zeros(2, 3, 4, 5), badak.zeros(2, 3, 4, dtype=badak.int64))


def test_axes_that_do_not_fit_are_named():
    with pytest.raises(ShapeError) as caught:
        F.cross_entropy(badak.zeros(2, 5, 7), badak.zeros(2, 4, dtype=badak.int64))
    assert str(caught.value) == (
        "cross_entropy: Expected target size [2, 7], got [2, 4]: logits (2, 5, 7) are read as (batch, classes, d1), "
        "target is (2, 4)\nfix: a target of shape (2, 7)"
    )
    with pytest.raises(ValueError, match="batch_size 2 of the logits against 3 labels"):
        F.cross_entropy(badak.zeros(2, 5), badak.zeros(3, dtype=badak.int64))
    with pytest.raises(DTypeError, match="expected class ids of dtype int64; got float32\nfix: target.long()"):
        F.cross_entropy(badak.zeros(2, 5), badak.zeros(2))


@pytest.mark.parametrize("detached", [False, True])
def test_probabilities_in_place_of_logits_are_noticed(detached):
    y = F.softmax(badak.from_numpy(normal(0, 4, 5)).requires_grad_(), dim=-1)
    y = y.detach() if detached else y
    with pytest.warns(
        BadakWarning,
        match="cross_entropy received probabilities \\(rows sum to 1, .* it takes the softmax itself\nfix: pass logits",
    ):
        F.cross_entropy(y, badak.from_numpy(labels(4)))


def test_logits_that_only_look_a_little_like_probabilities_are_not():
    for x in (np.eye(3), np.full((3, 3), 0.5), np.array([[0.5, 0.5, 0.0], [1.0, 2.0, 3.0]]), -np.eye(3)):
        if not np.allclose(x.sum(1), 1):
            F.cross_entropy(badak.from_numpy(x), badak.zeros(len(x), dtype=badak.int64))


@REDUCTIONS
@pytest.mark.parametrize("shape", [(7, 5), (3, 5, 4)])
@pytest.mark.parametrize("weighted", [False, True])
def test_nll_loss(shape, weighted, reduction):
    target = labels(*shape[:1], *shape[2:], ignored=True)

    def both(lib, x):
        weight = lib.from_numpy(WEIGHT).to(x.dtype) if weighted else None
        return lib.nn.functional.nll_loss(x, lib.from_numpy(target), weight, reduction=reduction)

    agree(both, normal(0, *shape))


# ------------------------------------------------------------------ other losses


@pytest.mark.parametrize("reduction", ["mean", "sum", "none", "batchmean"])
@pytest.mark.parametrize("log_target", [False, True])
@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
def test_kl_div(reduction, log_target):
    target = normal(1, 3, 4) if log_target else np.abs(normal(1, 3, 4)) + 0.1
    agree(
        lambda lib, x, t: lib.nn.functional.kl_div(x, t, reduction=reduction, log_target=log_target),
        normal(0, 3, 4),
        target,
    )


@REDUCTIONS
@pytest.mark.parametrize("name, options", [
    ("mse_loss", {}), ("l1_loss", {}), ("smooth_l1_loss", {}), ("smooth_l1_loss", {"beta": 0.5}), ("smooth_l1_loss", {"beta": 0.0}),
    ("huber_loss", {}), ("huber_loss", {"delta": 0.3}),
])  # fmt: skip
def test_loss_of_two_tensors(name, options, reduction):
    agree(
        lambda lib, x, t: getattr(lib.nn.functional, name)(x, t, reduction=reduction, **options),
        normal(0, 3, 4),
        normal(1, 3, 4),
    )


@REDUCTIONS
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss"])
def test_loss_with_weights(name, reduction):
    def both(lib, x, t, w):
        return getattr(lib.nn.functional, name)(x, t, reduction=reduction, weight=w.detach())

    agree(both, normal(0, 3, 4), normal(1, 3, 4), np.abs(normal(2, 3, 4)))


def test_a_target_that_must_be_stretched_is_noticed():
    x, t = badak.zeros(3, 1), badak.ones(3)
    with pytest.warns(BadakWarning, match="Using a target size .*\nfix: target.view\\(\\(3, 1\\)\\)"):
        assert tuple(F.mse_loss(x, t, reduction="none").shape) == (3, 3)


@REDUCTIONS
@pytest.mark.parametrize("weighted", [False, True])
def test_binary_cross_entropy(weighted, reduction):
    x, t = (np.random.default_rng(i).random((3, 4)).astype(np.float32) for i in range(2))

    def both(lib, x, t):
        weight = lib.from_numpy(np.abs(normal(2, 3, 4))).to(x.dtype) if weighted else None
        return lib.nn.functional.binary_cross_entropy(x, t, weight, reduction=reduction)

    agree(both, x, t, units=256)


@pytest.mark.parametrize("target", [0.0, 1.0, 0.25])
def test_binary_cross_entropy_of_what_is_certain_has_a_finite_gradient(target):
    def slopes(lib):
        x = lib.tensor([0.0, 1.0, 0.5, 1e-30, 1 - 1e-7], requires_grad=True)
        z = lib.tensor([200.0, -200.0, 0.0], requires_grad=True)
        loss = lib.nn.functional.binary_cross_entropy
        loss(x, lib.full((5,), target), reduction="sum").backward()
        loss(lib.sigmoid(z), lib.full((3,), target)).backward()
        return [*x.grad.tolist(), *z.grad.tolist()]

    np.testing.assert_allclose(slopes(badak), slopes(torch), rtol=1e-5)


def test_binary_cross_entropy_refuses_logits():
    with pytest.raises(ArgumentError, match="between 0 and 1.*\nfix: binary_cross_entropy_with_logits takes logits"):
        F.binary_cross_entropy(badak.tensor([2.0]), badak.tensor([1.0]))


@REDUCTIONS
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_binary_cross_entropy_with_logits(weighted, positive, reduction):
    x, t = normal(0, 3, 4), np.random.default_rng(1).random((3, 4)).astype(np.float32)

    def both(lib, x, t):
        weight = lib.from_numpy(np.abs(normal(2, 3, 1))).to(x.dtype) if weighted else None
        pos_weight = lib.from_numpy(np.abs(normal(3, 4))).to(x.dtype) if positive else None
        function = lib.nn.functional.binary_cross_entropy_with_logits
        return function(x, t, weight, reduction=reduction, pos_weight=pos_weight)

    agree(both, x, t)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cosine_similarity(dim):
    agree(lambda lib, a, b: lib.nn.functional.cosine_similarity(a, b, dim), normal(0, 3, 4), normal(1, 3, 4))


def test_cosine_similarity_of_two_dtypes():
    for first, second in [("int8", "float32"), ("int64", "float16"), ("float32", "float64")]:
        found = []
        for lib in (badak, torch):
            x, y = lib.arange(1, 5).to(getattr(lib, first)), lib.arange(2, 6).to(getattr(lib, second))
            y = lib.nn.functional.cosine_similarity(x, y, dim=-1)
            found.append((str(y.dtype).partition(".")[2], y.item()))
        assert found[0][0] == found[1][0] and found[0][1] == pytest.approx(found[1][1], rel=2e-3)
    for lib in (badak, torch):
        with pytest.raises(RuntimeError, match="expected common dtype to be floating point, yet common dtype is"):
            lib.nn.functional.cosine_similarity(lib.ones(2).long(), lib.ones(2).long(), dim=0)


@pytest.mark.parametrize("name", ["multi_margin_loss", "multilabel_margin_loss"])
@pytest.mark.parametrize("shape", [(0,), (10, 0), (2, 3, 4)])
def test_margins_of_no_classes_are_refused(name, shape):
    for lib in (badak, torch):
        with pytest.raises(RuntimeError, match="Expected non-empty vector or matrix with optional 0-dim batch size, but got"):
            getattr(lib.nn.functional, name)(lib.ones(shape), lib.ones(shape).long())


def test_pairwise_distance():
    agree(lambda lib, a, b: lib.nn.functional.pairwise_distance(a, b, 2.0), normal(0, 3, 4), normal(1, 3, 4))


@REDUCTIONS
def test_losses_with_signs_as_targets(reduction):
    sign = np.array([1, -1, 1, -1])
    a, b = normal(0, 4, 3), normal(1, 4, 3)

    def cosine(lib, a, b, s):
        return lib.nn.functional.cosine_embedding_loss(a, b, s, 0.1, reduction=reduction)

    agree(cosine, a, b, sign)
    agree(
        lambda lib, a, b, s: lib.nn.functional.margin_ranking_loss(a, b, s, 0.1, reduction=reduction),
        a[:, 0],
        b[:, 0],
        sign,
    )
    agree(lambda lib, a, s: lib.nn.functional.hinge_embedding_loss(a, s, reduction=reduction), a[:, 0], sign)
    agree(lambda lib, a, s: lib.nn.functional.soft_margin_loss(a, s, reduction=reduction), a[:, 0], sign)


@pytest.mark.parametrize("swap", [False, True])
def test_triplet_margin_loss(swap):
    agree(
        lambda lib, a, p, n: lib.nn.functional.triplet_margin_loss(a, p, n, swap=swap),
        *(normal(i, 4, 3) for i in range(3)),
    )


def test_an_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="'average' is not a valid value for reduction"):
        F.mse_loss(badak.ones(2), badak.ones(2), reduction="average")
    with pytest.raises(ValueError, match="'average' is not a valid value for reduction"):
        F.l1_loss(badak.ones(2), badak.ones(2), reduction="average")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reduction", ["none", "mean", "sum", "batchmean"])
@pytest.mark.parametrize("shapes", [((5, 2, 6), (1, 5, 2, 6)), ((2, 6), (5, 2, 6)), ((5, 1), (5, 3)), ((3,), (4, 3)), ((), (3,))])
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div"])
def test_a_target_that_stretches_the_input_counts_as_in_pytorch(name, shapes, reduction):
    """What a reduction divides by is a matter of the input as it was given."""
    rng = np.random.default_rng(0)
    arrays, found = [rng.standard_normal(shape) for shape in shapes], []
    for lib in (torch, badak):
        x, target = (lib.from_numpy(np.array(a)) for a in arrays)
        x.requires_grad_()
        try:
            y = getattr(lib.nn.functional, name)(x, target.sigmoid(), reduction=reduction)
            y.sum().backward()
            found.append((y.detach().numpy(), x.grad.numpy()))
        except Exception:
            found.append(None)
    if found[0] is None or found[1] is None:
        assert found[0] is found[1] or (reduction == "batchmean" and name != "kl_div")
        return
    for mine, expected in zip(found[1], found[0]):
        assert_close(mine, expected, terms=60)


OF_TWO = (
    "binary_cross_entropy binary_cross_entropy_with_logits hinge_embedding_loss soft_margin_loss poisson_nll_loss multi_margin_loss"
)
OF_TWO += " multilabel_margin_loss multilabel_soft_margin_loss nll_loss cross_entropy pairwise_distance cosine_similarity"
OF_THREE = "cosine_embedding_loss margin_ranking_loss triplet_margin_loss triplet_margin_with_distance_loss gaussian_nll_loss"
SHAPES = [(), (1,), (3,), (4,), (4, 3), (4, 1), (3, 1), (1, 4), (1, 4, 3)]


def _made(lib, name, shapes):
    """What a loss makes of inputs of these shapes, "refused" where it raises."""
    rng, given = np.random.default_rng(0), []
    for shape in shapes:
        given.append(lib.tensor(rng.uniform(0.1, 0.9, shape)))
    if name in ("nll_loss", "cross_entropy", "multi_margin_loss", "multilabel_margin_loss"):
        given[1] = lib.zeros(shapes[1], dtype=lib.int64)
    reduction = {} if name in ("pairwise_distance", "cosine_similarity") else {"reduction": "none"}
    try:
        return getattr(lib.nn.functional, name)(*given, **reduction).numpy()
    except (ValueError, RuntimeError, IndexError):
        return "refused"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*OF_TWO.split(), *OF_THREE.split()])
def test_shapes_that_do_not_fit_are_refused_as_in_pytorch(name):
    """Nothing is stretched in silence over an axis that it does not have."""
    other = []
    for shapes in itertools.product(SHAPES, repeat=3 if name in OF_THREE.split() else 2):
        expected, mine = _made(torch, name, shapes), _made(badak, name, shapes)
        if isinstance(expected, str) or isinstance(mine, str) or mine.shape != expected.shape:
            if not (isinstance(expected, str) and isinstance(mine, str)) and (name, shapes) != ("cross_entropy", ((1,), (1,))):
                other.append((shapes, *(x if isinstance(x, str) else x.shape for x in (expected, mine))))
        else:
            assert_close(mine, expected, terms=20)
    assert not other


OPTIONS = [
    {}, {"chunking_method": "aspect_ratio:2"}, {"chunking_method": None, "batch_chunk_size": 3},
    {"chunking_method": "aspect_ratio:0"}, {"chunking_method": "auto:1"}, {"acc_policy": "x"}, {"batch_chunk_size": 0},
    {"acc_dtype": "int32"}, {"acc_dtype": "float32"},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_of_linear_cross_entropy_are_checked_as_pytorchs(options):
    told = []
    for lib in (badak, torch):
        given = {key: getattr(lib, value) if key == "acc_dtype" else value for key, value in options.items()}
        try:
            told.append(repr(lib.nn.LinearCrossEntropyOptions(**given)).replace("badak.", "torch."))
        except ValueError as error:
            told.append(str(error).splitlines()[0][:24])
    assert told[0] == told[1]


@pytest.mark.parametrize("lib", [badak, torch])
def test_kl_div_says_that_its_mean_is_not_the_divergence(lib):
    p = lib.ones(2, 2) / 2
    with pytest.warns(UserWarning, match="reduction: 'mean' divides the total loss by both the batch size and the support size"):
        lib.nn.functional.kl_div(p.log(), p)
    lib.nn.functional.kl_div(p.log(), p, reduction="batchmean")  # a warning would be an error


@pytest.mark.parametrize("goal", ["ids", "probabilities", "ids of a wrong size"])
def test_label_smoothing_is_a_part_of_a_whole(goal):
    for lib, functional in ((torch, torch.nn.functional), (badak, F)):
        target = {"ids": lib.tensor([0, 1, 2]), "probabilities": lib.rand(3, 4)}.get(goal, lib.arange(4))
        with pytest.raises(RuntimeError, match=r"label_smoothing must be between 0\.0 and 1\.0\. Got: "):
            functional.cross_entropy(lib.rand(3, 4), target, label_smoothing=1.2)


INF = float("inf")
AT_THE_EDGE = {  # what a mask leaves out has the gradient 0, whatever arrives there
    "clamp": lambda lib, F, x: x.clamp(-1, 2),
    "clamp(min)": lambda lib, F, x: x.clamp(min=0),
    "clamp(max)": lambda lib, F, x: x.clamp(max=0),
    "clamp by tensors": lambda lib, F, x: lib.clamp(x, lib.zeros_like(x), lib.ones_like(x)),
    "fmax": lambda lib, F, x: lib.fmax(x, lib.zeros_like(x)),
    "fmin": lambda lib, F, x: lib.fmin(x, lib.zeros_like(x)),
    "maximum": lambda lib, F, x: lib.maximum(x, lib.zeros_like(x)),
    "relu": lambda lib, F, x: F.relu(x),
    "where": lambda lib, F, x: lib.where(x > 0, x, lib.zeros_like(x)),
    "root of what is clamped": lambda lib, F, x: (1 - x**2).clamp(min=0).sqrt(),
    "log of what is clamped": lambda lib, F, x: x.clamp(min=0).log(),
    "logaddexp": lambda lib, F, x: lib.logaddexp(x, lib.zeros_like(x)),
    "softplus": lambda lib, F, x: F.softplus(x),
    "logsigmoid": lambda lib, F, x: F.logsigmoid(x),
    "smooth_l1_loss": lambda lib, F, x: F.smooth_l1_loss(x, lib.zeros_like(x), reduction="none"),
    "huber_loss": lambda lib, F, x: F.huber_loss(x, lib.zeros_like(x), reduction="none"),
    "hinge_embedding_loss": lambda lib, F, x: F.hinge_embedding_loss(x, -lib.ones_like(x), reduction="none"),
    "multi_margin_loss": lambda lib, F, x: F.multi_margin_loss(x.reshape(1, -1), lib.tensor([3])),
    "multilabel_margin_loss": lambda lib, F, x: F.multilabel_margin_loss(x, lib.tensor([3, 5] + [-1] * (len(x) - 2))),
}


@pytest.mark.parametrize(
    ("name", "arriving"),
    [(name, dy) for name in AT_THE_EDGE for dy in ([1.0, 0.0] if "margin" in name else [1.0, 0.0, INF, float("nan")])],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_at_the_edge_are_those_of_pytorch(name, dtype, arriving):
    found = []
    numbers = [-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0]
    endless = [] if "margin" in name or "of what" in name else [INF, -INF]
    for lib in (torch, badak):
        x = lib.tensor(numbers + endless, dtype=getattr(lib, dtype), requires_grad=True)
        y = AT_THE_EDGE[name](lib, lib.nn.functional, x)
        y.backward(lib.full_like(y, arriving))
        found.append(x.grad.tolist())
    assert found[1] == pytest.approx(found[0], rel=1e-5, nan_ok=True)
