"""Every layer against PyTorch's: same seed same weights, same printed form, outputs and all gradients, with dropout too."""

import inspect
import math

import numpy as np
import pytest
import torch

import badak
from tests.nn.test_rare_layers import LAYERS as RARE
from tests.parity.compare import DEEP, assert_same, assert_same_run, assert_same_state, copy_state, draw, twins
from tests.parity.face_layers import FACE
from tests.parity.window_layers import MORE
from tests.samples import ints, uniform
from tests.tiers import looped

OLD = pytest.mark.filterwarnings("ignore:`NLLLoss2d` has been deprecated")
both_dtypes = looped(dtype=["float32", "float64"])
X = (4, 6)  # rows, channels

# name, constructor arguments, keyword arguments, inputs
LAYERS = [
    ("Linear", (6, 3), {}, [X]),
    ("Linear", (6, 3), {"bias": False}, [(2, 5, 6)]),
    ("Embedding", (10, 6), {}, [ints(10, 3, 4)]),
    ("Embedding", (10, 6), {"padding_idx": 0}, [ints(10, 3, 4)]),
    ("Embedding", (10, 6), {"scale_grad_by_freq": True}, [ints(4, 3, 4)]),
    ("LayerNorm", (6,), {}, [X]),
    ("LayerNorm", ((4, 6),), {"eps": 1e-2, "bias": False}, [(3, 4, 6)]),
    ("LayerNorm", (6,), {"elementwise_affine": False}, [X]),
    ("RMSNorm", (6,), {}, [X]),
    ("RMSNorm", (6,), {"eps": 1e-3, "elementwise_affine": False}, [X]),
    ("Dropout", (), {"p": 0.3}, [X]),
    ("Dropout", (), {"p": 0.0}, [X]),
    ("ReLU", (), {}, [X]),
    ("GELU", (), {}, [X]),
    ("GELU", (), {"approximate": "tanh"}, [X]),
    ("SiLU", (), {}, [X]),
    ("Tanh", (), {}, [X]),
    ("Sigmoid", (), {}, [X]),
    ("LeakyReLU", (), {"negative_slope": 0.2}, [X]),
    ("ELU", (), {"alpha": 0.7}, [X]),
    ("Softplus", (), {}, [X]),
    ("Mish", (), {}, [X]),
    ("Hardswish", (), {}, [X]),
    ("ReLU6", (), {}, [X]),
    ("LogSigmoid", (), {}, [X]),
    ("GLU", (), {}, [X]),
    ("PReLU", (), {}, [X]),
    ("Softmax", (), {"dim": -1}, [X]),
    ("Softmax", (), {"dim": 0}, [X]),
    ("LogSoftmax", (), {"dim": -1}, [X]),
    ("Identity", (), {}, [X]),
    ("Flatten", (), {}, [(2, 3, 4)]),
    ("Unflatten", (1, (2, 3)), {}, [X]),
    ("CrossEntropyLoss", (), {}, [X, ints(6, 4)]),
    ("CrossEntropyLoss", (), {"ignore_index": 2, "label_smoothing": 0.1}, [X, ints(6, 4)]),
    ("CrossEntropyLoss", (), {"reduction": "sum"}, [(4, 6, 3), ints(6, 4, 3)]),
    ("CrossEntropyLoss", (), {"reduction": "none"}, [(4, 6, 3), ints(6, 4, 3)]),
    ("CrossEntropyLoss", (), {"label_smoothing": 0.2}, [X, uniform(0.0, 1.0, 4, 6)]),
    ("NLLLoss", (), {}, [X, ints(6, 4)]),
    ("NLLLoss", (), {"reduction": "none", "ignore_index": 1}, [(4, 6, 3), ints(6, 4, 3)]),
    ("KLDivLoss", (), {"reduction": "batchmean"}, [X, uniform(0.1, 1.0, 4, 6)]),
    ("KLDivLoss", (), {"reduction": "sum", "log_target": True}, [X, X]),
    ("MSELoss", (), {}, [X, X]),
    ("MSELoss", (), {"reduction": "sum"}, [X, X]),
    ("L1Loss", (), {}, [X, X]),
    ("SmoothL1Loss", (), {"beta": 0.5}, [X, X]),
    ("HuberLoss", (), {"delta": 0.5}, [X, X]),
    ("BCEWithLogitsLoss", (), {}, [X, uniform(0.0, 1.0, 4, 6)]),
    ("BCELoss", (), {}, [uniform(0.05, 0.95, 4, 6), uniform(0.0, 1.0, 4, 6)]),
    ("Bilinear", (3, 4, 2), {}, [(5, 3), (5, 4)]),
    ("Bilinear", (3, 4, 2), {"bias": False}, [(2, 5, 3), (2, 5, 4)]),
    ("GroupNorm", (2, 6), {}, [(3, 6, 4)]),
    ("GroupNorm", (3, 6), {"affine": False}, [(3, 6, 5)]),
    ("GroupNorm", (3, 6), {"bias": False, "eps": 1e-2}, [(3, 6, 2, 2)]),
    ("Dropout1d", (), {"p": 0.4}, [(3, 4, 5)]),
    ("Dropout2d", (), {"p": 0.4}, [(3, 4, 5, 2)]),
    ("SELU", (), {}, [(4, 6)]),
    ("CELU", (), {"alpha": 0.5}, [(4, 6)]),
    ("Hardtanh", (), {"min_val": -0.5, "max_val": 0.7}, [(4, 6)]),
    ("Threshold", (0.1, 20.0), {}, [(4, 6)]),
    ("Softshrink", (), {}, [(4, 6)]),
    ("Hardshrink", (0.3,), {}, [(4, 6)]),
    ("Softsign", (), {}, [(4, 6)]),
    ("Tanhshrink", (), {}, [(4, 6)]),
    ("Softmin", (), {"dim": -1}, [(4, 6)]),
    ("Softmax2d", (), {}, [(2, 3, 4, 5)]),
    ("PReLU", (6,), {}, [(4, 6)]),
    ("CosineEmbeddingLoss", (), {"margin": 0.2}, [(4, 6), (4, 6), np.array([1, -1, 1, -1])]),
    ("CosineSimilarity", (), {"dim": 0}, [(4, 6), (4, 6)]),
    ("HuberLoss", ("sum", 0.3), {}, [(4, 6), (4, 6)]),
]
LAYERS = [row for row in LAYERS + FACE + MORE if hasattr(badak.nn, row[0])]

TRANSFORMER = {"nhead": 2, "dim_feedforward": 12}
FAMILY = [
    ("TransformerEncoderLayer", (8,), TRANSFORMER, [(5, 3, 8)]),
    ("TransformerEncoderLayer", (8,), {**TRANSFORMER, "norm_first": True, "batch_first": True}, [(3, 5, 8)]),
    ("TransformerEncoderLayer", (8,), {**TRANSFORMER, "activation": "gelu", "bias": False}, [(5, 8)]),
    ("TransformerDecoderLayer", (8,), TRANSFORMER, [(5, 3, 8), (7, 3, 8)]),
    ("TransformerDecoderLayer", (8,), {**TRANSFORMER, "norm_first": True, "batch_first": True}, [(3, 5, 8), (3, 7, 8)]),
    ("TransformerDecoderLayer", (8,), {**TRANSFORMER, "bias": False, "layer_norm_eps": 1e-2}, [(5, 8), (7, 8)]),
]
WHOLE = [
    {"d_model": 8, "nhead": 2, "num_encoder_layers": 2, "num_decoder_layers": 2, "dim_feedforward": 12},
    {
        "d_model": 8,
        "nhead": 4,
        "num_encoder_layers": 1,
        "num_decoder_layers": 1,
        "dim_feedforward": 12,
        "norm_first": True,
    },
    {
        "d_model": 8,
        "nhead": 2,
        "num_encoder_layers": 1,
        "num_decoder_layers": 1,
        "dim_feedforward": 12,
        "activation": "gelu",
        "bias": False,
    },
]


def label(value) -> str:
    return "" if isinstance(value, list) else str(value).replace("'", "")


@OLD
@pytest.mark.parametrize("name, args, options, specs", LAYERS + FAMILY, ids=label)
@both_dtypes
@looped(training=[True, False])
def test_layer_agrees_with_pytorch(name, args, options, specs, dtype, training):
    theirs, ours = twins(lambda lib: getattr(lib.nn, name)(*args, **options).train(training), dtype)
    assert_same_state(ours, theirs, 18, f"{name} from the same seed")
    copy_state(theirs, ours)
    assert_same_run(ours, theirs, draw(specs, dtype), DEEP, name)


@OLD
@pytest.mark.parametrize("name, args, options, specs", LAYERS + FAMILY, ids=label)
def test_layer_prints_as_in_pytorch(name, args, options, specs):
    assert repr(getattr(badak.nn, name)(*args, **options)) == repr(getattr(torch.nn, name)(*args, **options))


@pytest.mark.parametrize("options", WHOLE, ids=label)
@both_dtypes
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_transformer_agrees_with_pytorch(options, dtype, training):
    theirs, ours = twins(lambda lib: lib.nn.Transformer(**options).train(training), dtype)
    assert_same_state(ours, theirs, 18, "Transformer from the same seed")
    copy_state(theirs, ours)
    assert_same_run(ours, theirs, draw([(6, 3, 8), (5, 3, 8)], dtype), DEEP, "Transformer")


def test_transformer_prints_as_in_pytorch():
    assert repr(badak.nn.Transformer(**WHOLE[0])) == repr(torch.nn.Transformer(**WHOLE[0]))


# ------------------------------------------------------------------ attention and its masks

B, H, T, S, C = 3, 2, 5, 7, 8
rng = np.random.default_rng(0)
PADDING = np.arange(S)[None, :] >= np.array([7, 4, 1])[:, None]  # (B, S), True = hide
BOOL = np.triu(np.ones((T, S), bool), k=2)
FLOAT = rng.standard_normal((T, S))
PER_HEAD = rng.random((B * H, T, S)) < 0.3
PER_HEAD[..., 0] = False
MASKS = {
    "no mask": {},
    "padding": {"key_padding_mask": PADDING},
    "bool": {"attn_mask": BOOL},
    "float": {"attn_mask": FLOAT},
    "bool and padding": {"attn_mask": BOOL, "key_padding_mask": PADDING},
    "float and padding": {"attn_mask": FLOAT, "key_padding_mask": np.where(PADDING, -np.inf, 0.0)},
    "per head": {"attn_mask": PER_HEAD},
    "weights per head": {"average_attn_weights": False},
    "no weights": {"need_weights": False, "attn_mask": BOOL},
    "no weights, padding": {"need_weights": False, "key_padding_mask": PADDING},
}
CONSTRUCTORS = [
    {},
    {"bias": False, "batch_first": True},
    {"kdim": 6, "vdim": 10},
    {"add_bias_kv": True},
    {"add_zero_attn": True, "batch_first": True},
    {"add_bias_kv": True, "add_zero_attn": True, "dropout": 0.3},
    {"dropout": 0.2, "batch_first": True},
]


def masks_of(lib, masks, dtype):
    def convert(value):
        if not isinstance(value, np.ndarray):
            return value
        return lib.from_numpy(value.astype(dtype) if value.dtype.kind == "f" else value.copy())

    return {name: convert(value) for name, value in masks.items()}


@pytest.mark.filterwarnings("ignore::badak.core.errors.BadakWarning")
@pytest.mark.parametrize("options", CONSTRUCTORS, ids=label)
@pytest.mark.parametrize("masks", MASKS.values(), ids=list(MASKS))
@both_dtypes
@looped(training=[True, False])
def test_multihead_attention_agrees_with_pytorch(options, masks, dtype, training):
    theirs, ours = twins(lambda lib: lib.nn.MultiheadAttention(C, H, **options).train(training), dtype)
    assert_same_state(ours, theirs, 18, "MultiheadAttention from the same seed")
    copy_state(theirs, ours)
    shapes = [(T, B, C), (S, B, options.get("kdim", C)), (S, B, options.get("vdim", C))]
    if options.get("batch_first"):
        shapes = [(shape[1], shape[0], shape[2]) for shape in shapes]
    arrays = draw(shapes, dtype)
    assert_same_run(
        _Call(ours, masks_of(badak, masks, dtype)),
        _Call(theirs, masks_of(torch, masks, dtype)),
        arrays,
        DEEP,
        "attention",
    )


class _Call:
    """A module with keyword arguments bound."""

    def __init__(self, module, options):
        self.module, self.options = module, options

    def __call__(self, *inputs):
        return self.module(*inputs, **self.options)

    def named_parameters(self):
        return self.module.named_parameters()


@both_dtypes
def test_self_attention_without_a_batch(dtype):
    theirs, ours = twins(lambda lib: lib.nn.MultiheadAttention(C, H), dtype)
    copy_state(theirs, ours)
    arrays = draw([(T, C)], dtype)
    assert_same_run(_Self(ours), _Self(theirs), arrays, DEEP, "unbatched self-attention")


class _Self(_Call):
    def __init__(self, module):
        super().__init__(module, {})

    def __call__(self, x):
        return self.module(x, x, x)


@both_dtypes
@pytest.mark.parametrize("batch_first", [False, True])
def test_encoder_and_decoder_with_every_mask(dtype, batch_first):
    options = {"d_model": C, "nhead": H, "num_encoder_layers": 2, "num_decoder_layers": 2, "dim_feedforward": 12}
    theirs, ours = twins(lambda lib: lib.nn.Transformer(**options, batch_first=batch_first), dtype)
    copy_state(theirs, ours)
    padding = PADDING[:, :T].copy()
    padding[:, 0] = False
    masks = {
        "tgt_mask": np.triu(np.ones((T, T), bool), k=1),
        "src_key_padding_mask": PADDING,
        "tgt_key_padding_mask": padding,
        "memory_key_padding_mask": PADDING,
    }
    shapes = [(B, S, C), (B, T, C)] if batch_first else [(S, B, C), (T, B, C)]
    assert_same_run(
        _Call(ours, masks_of(badak, masks, dtype)),
        _Call(theirs, masks_of(torch, masks, dtype)),
        draw(shapes, dtype),
        DEEP,
        "masks",
    )


@both_dtypes
@pytest.mark.parametrize(
    "masks",
    [{}, {"is_causal": True}, {"attn_mask": BOOL}, {"attn_mask": FLOAT}, {"scale": 0.3}, {"dropout_p": 0.4}],
    ids=label,
)
def test_scaled_dot_product_attention_agrees_with_pytorch(dtype, masks):
    keep = {name: ~value if isinstance(value, np.ndarray) and value.dtype == bool else value for name, value in masks.items()}

    def call(lib):
        return lambda q, k, v: lib.nn.functional.scaled_dot_product_attention(q, k, v, **masks_of(lib, keep, dtype))

    arrays = draw([(B, H, T, 4), (B, H, S, 4), (B, H, S, 6)], dtype)
    assert_same_run(call(badak), call(torch), arrays, DEEP, "scaled_dot_product_attention")


@both_dtypes
def test_grouped_queries_agree_with_pytorch(dtype):
    def call(lib):
        return lambda q, k, v: lib.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)

    arrays = draw([(B, 4, T, 4), (B, 2, S, 4), (B, 2, S, 4)], dtype)
    assert_same_run(call(badak), call(torch), arrays, DEEP, "grouped queries")


def test_a_class_weighted_loss_agrees_with_pytorch():
    weight, target = np.array([0.2, 1.0, 3.0]), np.array([0, 1, 2, 1])
    for name in ("CrossEntropyLoss", "NLLLoss"):
        for options in ({}, {"reduction": "sum"}, {"ignore_index": 1}):
            made = [
                getattr(lib.nn, name)(weight=lib.from_numpy(weight.copy()), **options)(
                    lib.from_numpy(np.log(np.arange(1.0, 13.0).reshape(4, 3))), lib.from_numpy(target.copy())
                )
                for lib in (badak, torch)
            ]
            assert_same(*made, 18, f"{name} {options}")


# ------------------------------------------------------------------ what nn.init draws

INITS = [
    ("uniform_", {"a": -2.0, "b": 3.0}),
    ("normal_", {"mean": 1.0, "std": 0.3}),
    ("trunc_normal_", {"std": 0.5}),
    ("constant_", {"val": 0.7}),
    ("ones_", {}),
    ("zeros_", {}),
    ("eye_", {}),
    ("xavier_uniform_", {"gain": 1.5}),
    ("xavier_normal_", {}),
    ("kaiming_uniform_", {"a": math.sqrt(5)}),
    ("kaiming_normal_", {"mode": "fan_out", "nonlinearity": "relu"}),
    ("orthogonal_", {}),
    ("sparse_", {"sparsity": 0.5}),
]


@pytest.mark.parametrize("name, options", INITS, ids=label)
def test_init_draws_the_numbers_of_pytorch(name, options):
    made = []
    for lib in (badak, torch):
        lib.manual_seed(1)
        made.append(getattr(lib.nn.init, name)(lib.empty(20, 16), **options))
    assert_same(*made, DEEP if name == "orthogonal_" else 4, name)


@pytest.mark.parametrize("nonlinearity", ["linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu"])
def test_gains_are_those_of_pytorch(nonlinearity):
    assert badak.nn.init.calculate_gain(nonlinearity) == torch.nn.init.calculate_gain(nonlinearity)


def test_every_public_layer_that_pytorch_has_too_is_held_against_it():
    tested = {row[0] for row in LAYERS + FAMILY} | {
        "Module", "Parameter", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Buffer",
        "MultiheadAttention", "Transformer", "TransformerEncoder", "TransformerDecoder",
        "Hardsigmoid",  # to float32 only, in tests/nn: PyTorch's gradient has 1/6 in float32
        "CTCLoss",  # below a log_softmax, in tests/nn/test_ctc.py: PyTorch's gradient is right only there
        "AdaptiveLogSoftmaxWithLoss",  # takes a target with its input: tests/nn/test_adaptive.py
        "CrossMapLRN2d",  # forward only, in tests/nn/test_rare_layers.py: PyTorch's gradient shifts the channels
        "RNNBase", "RNNCellBase",  # RNN, GRU, LSTM and their cells have the forward
        "UninitializedBuffer", "UninitializedParameter",  # what lazy layers hold before they have a shape
    } | {name.split()[0] for name in RARE}  # fmt: skip
    shared = {
        name
        for name, thing in vars(badak.nn).items()
        if inspect.isclass(thing) and not name.startswith("_") and inspect.isclass(getattr(torch.nn, name, None))
    }
    assert not (missing := sorted(shared - tested)), f"add a row for {missing}"
