"""The Transformer family: what does not follow from parity alone, and what is said when the shapes are wrong."""

import numpy as np
import pytest
import torch

import badak
from badak import nn
from badak.core.errors import BadakWarning
from tests.parity.compare import DEEP, array, assert_same, assert_same_run, copy_state, draw, twins

B, H, T, S, C = 3, 2, 5, 7, 8
SMALL = {"nhead": H, "dim_feedforward": 12}
WHOLE = {"d_model": C, "nhead": H, "num_encoder_layers": 2, "num_decoder_layers": 2, "dim_feedforward": 12}


def tensor(*shape, seed=0, dtype=np.float32):
    return badak.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def causal(length):
    return badak.ones(length, length, dtype=badak.bool).triu(1)


# ------------------------------------------------------------------ initialisation


@pytest.mark.parametrize(
    "make",
    [
        lambda lib: lib.nn.Transformer(**WHOLE),
        lambda lib: lib.nn.MultiheadAttention(C, H, kdim=3, vdim=5, add_bias_kv=True),
        lambda lib: lib.nn.TransformerEncoder(lib.nn.TransformerEncoderLayer(C, **SMALL), 2),
        lambda lib: lib.nn.TransformerDecoder(lib.nn.TransformerDecoderLayer(C, **SMALL), 2, lib.nn.LayerNorm(C)),
    ],
    ids=["Transformer", "MultiheadAttention", "TransformerEncoder", "TransformerDecoder"],
)
def test_the_same_seed_gives_pytorchs_weights_to_the_bit(make):
    theirs, ours = twins(make, "float32", seed=0)
    for (name, mine), (twin_name, twin) in zip(ours.state_dict().items(), theirs.state_dict().items()):
        assert name == twin_name
        if "bias_k" in name or "bias_v" in name:  # normal numbers go through cos and log, which round their own way
            assert_same(mine, twin, 18, name)
        else:
            np.testing.assert_array_equal(array(mine), array(twin), err_msg=name)


def layers_equal(stack):
    first, second = stack.layers
    return [bool((a == b).all()) for a, b in zip(first.parameters(), second.parameters())]


def test_layers_start_equal_unless_asked():
    encoder, decoder = nn.TransformerEncoderLayer(C, **SMALL), nn.TransformerDecoderLayer(C, **SMALL)
    assert all(layers_equal(nn.TransformerEncoder(encoder, 2))) and all(layers_equal(nn.TransformerDecoder(decoder, 2)))
    for stack in (
        nn.TransformerEncoder(encoder, 2, independent_init=True),
        nn.TransformerDecoder(decoder, 2, independent_init=True),
        nn.Transformer(**WHOLE, independent_init=True).encoder,
    ):
        weights = [name for name, _ in stack.layers[0].named_parameters()]
        differing = {name for name, equal in zip(weights, layers_equal(stack)) if not equal}
        assert {"self_attn.in_proj_weight", "self_attn.out_proj.weight", "linear1.weight", "linear1.bias"} <= differing
        assert "self_attn.out_proj.bias" not in differing  # it starts at 0
    first = nn.TransformerEncoder(encoder, 2, independent_init=True).layers[0]
    assert (first.linear1.weight == encoder.linear1.weight).all()


# ------------------------------------------------------------------ meaning


def test_the_future_is_hidden():
    model, x = nn.TransformerEncoder(nn.TransformerEncoderLayer(C, **SMALL), 2).eval(), tensor(T, B, C)
    changed = x.clone()
    changed[3:] += 1
    for options in ({"mask": causal(T)}, {"is_causal": True}, {"mask": causal(T), "is_causal": True}):
        y, twin = model(x, **options), model(changed, **options)
        assert (y[:3] == twin[:3]).all() and not (y[3:] == twin[3:]).any()


def test_padding_is_invisible():
    model, x = nn.TransformerEncoder(nn.TransformerEncoderLayer(C, **SMALL, batch_first=True), 2).eval(), tensor(B, S, C)
    hide = badak.zeros(B, S, dtype=badak.bool)
    hide[:, 4:] = True
    padded, short = model(x, src_key_padding_mask=hide), model(x[:, :4])
    assert_same(padded[:, :4], short, 18, "padded")


@pytest.mark.filterwarnings("ignore:.*no visible key:badak.core.errors.BadakWarning")
def test_a_query_that_sees_nothing_gives_the_bias_of_the_output_and_no_gradient():
    attention, x = nn.MultiheadAttention(C, H), tensor(T, B, C).requires_grad_()
    with badak.no_grad():
        attention.out_proj.bias.fill_(0.5)
    hide = badak.zeros(B, T, dtype=badak.bool)
    hide[1] = True
    for need_weights in (True, False):
        y, weights = attention(x, x, x, key_padding_mask=hide, need_weights=need_weights)
        assert (y[:, 1] == 0.5).all() and badak.isfinite(y).all()
        assert weights is None or not weights[1].any()
        x.grad = None
        y.sum().backward()
        assert not x.grad[:, 1].any() and badak.isfinite(x.grad).all()


def test_weights_asked_for_or_not_change_nothing():
    attention, x = nn.MultiheadAttention(C, H, dropout=0.3), tensor(T, B, C)
    for train in (True, False):
        attention.train(train)
        found = []
        for need_weights in (True, False):
            badak.manual_seed(3)
            found.append(attention(x, x, x, need_weights=need_weights, attn_mask=causal(T))[0])
        assert_same(*found, 18, "need_weights")


def test_added_keys_stay_visible_under_a_causal_mask():
    attention = nn.MultiheadAttention(C, H, add_bias_kv=True, add_zero_attn=True).eval()
    x = tensor(T, B, C)
    y, weights = attention(x, x, x, is_causal=True)
    assert weights.shape == (B, T, T + 2) and (weights[..., T:] > 0).all() and not weights[:, 0, 1:T].any()
    assert_same(y, attention(x, x, x, attn_mask=causal(T))[0], 18, "causal")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "module"])
def test_any_activation(activation, dtype):
    def make(lib):
        given = {"silu": lib.nn.functional.silu, "module": lib.nn.LeakyReLU(0.2)}.get(activation, activation)
        return lib.nn.TransformerEncoderLayer(C, **SMALL, activation=given)

    theirs, ours = twins(make, dtype)
    copy_state(theirs, ours)
    assert repr(ours) == repr(theirs)
    assert_same_run(ours, theirs, draw([(T, B, C)], dtype), DEEP, activation)


def test_custom_encoder_and_decoder_are_used():
    class Second(nn.Module):
        def forward(self, tgt, memory, **masks):
            return memory + tgt

    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(C, **SMALL), 1)
    model = nn.Transformer(C, H, custom_encoder=encoder, custom_decoder=Second())
    x = tensor(T, B, C)
    assert model.encoder is encoder
    badak.manual_seed(0)
    y = model(x, x)
    badak.manual_seed(0)
    assert (y == encoder(x) + x).all()


def test_blocks_may_be_overridden():
    class Watched(nn.TransformerEncoderLayer):
        def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
            self.seen = x.shape
            return super()._sa_block(x, attn_mask, key_padding_mask, is_causal=is_causal)

    layer = Watched(C, **SMALL)
    assert layer(tensor(T, B, C)).shape == layer.seen == (T, B, C)


@pytest.mark.parametrize("dtype", [None, "float64", "bool"])
def test_the_causal_mask_is_that_of_pytorch(dtype):
    made = [lib.nn.Transformer.generate_square_subsequent_mask(4, dtype=dtype and getattr(lib, dtype)) for lib in (badak, torch)]
    np.testing.assert_array_equal(*(array(mask) for mask in made))
    assert str(made[0].dtype)[6:] == str(made[1].dtype)[6:]


@pytest.mark.parametrize("mask", ["float", "bool"])
def test_a_causal_mask_is_recognised(mask):
    model, x = nn.TransformerEncoder(nn.TransformerEncoderLayer(C, **SMALL), 1).eval(), tensor(T, B, C)
    given = nn.Transformer.generate_square_subsequent_mask(T) if mask == "float" else causal(T)
    assert_same(model(x, mask=given), model(x, mask=given, is_causal=False), 18, "recognised")


def test_nested_tensor_options_change_nothing():
    layer, x = nn.TransformerEncoderLayer(C, **SMALL), tensor(T, B, C)
    encoder = nn.TransformerEncoder(layer, 1, None, False, False).eval()
    assert (encoder(x) == nn.TransformerEncoder(layer, 1).eval()(x)).all()


# ------------------------------------------------------------------ what is said


def text_of(call, *kinds):
    with pytest.raises(kinds or RuntimeError) as caught:
        call()
    return str(caught.value)


def test_heads_that_do_not_divide():
    text = text_of(lambda: nn.MultiheadAttention(10, 4), AssertionError)
    assert text == "embed_dim=10 is not divisible by num_heads=4\nfix: num_heads in {1, 2, 5, 10} or embed_dim 8 or 12"
    assert "must be greater than 0" in text_of(lambda: nn.MultiheadAttention(0, 4), ValueError)


def test_batch_first_forgotten():
    x = badak.zeros(2, 77, 8)
    text = text_of(lambda: nn.MultiheadAttention(8, 2)(x, x, x, attn_mask=causal(77)))
    assert text == (
        "query (2, 77, 8) is read as (length=2, batch=77) because batch_first=False, but attn_mask is 77x77\nfix: batch_first=True."
    )


def test_a_padding_mask_given_as_attention_mask():
    x = badak.zeros(2, 5, 8)
    text = text_of(lambda: nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x, attn_mask=badak.zeros(2, 5)))
    assert text == "attn_mask (2, 5) equals (batch=2, keys=5): a padding mask.\nfix: key_padding_mask=mask"


def test_memory_with_its_axes_in_another_order():
    text = text_of(lambda: nn.TransformerDecoderLayer(8, 2)(badak.zeros(2, 5, 8), badak.zeros(2, 7, 8)))
    assert "tgt (2, 5, 8) and memory (2, 7, 8) read as (length, batch, dim) have batch 5 vs 7" in text
    assert text.endswith("fix: batch_first=True")
    attention = nn.MultiheadAttention(8, 2)
    text = text_of(lambda: attention(badak.zeros(2, 5, 8), badak.zeros(2, 7, 8), badak.zeros(2, 7, 8)))
    assert "query (2, 5, 8) and key (2, 7, 8) read as (length, batch, dim) have batch 5 vs 7" in text


def test_source_and_target_that_do_not_fit():
    model = nn.Transformer(**WHOLE)
    assert "the batch number of src and tgt must be equal" in text_of(lambda: model(tensor(3, 2, C), tensor(3, 3, C)))
    assert "the feature number of src and tgt must be equal to d_model" in text_of(lambda: model(tensor(3, 2, 5), tensor(3, 2, C)))


X = (T, B, C)
WRONG = [
    ({"query": (2, 3, 4, 8)}, "query should be unbatched 2D or batched 3D tensor but received 4-D query tensor"),
    ({"key": (3, 8)}, "For batched (3-D) `query`, expected `key` and `value` to be 3-D but found 2-D and 3-D tensors respectively"),
    (
        {"query": (3, 8)},
        "For unbatched (2-D) `query`, expected `key` and `value` to be 2-D but found 3-D and 3-D tensors respectively",
    ),
    ({"query": (T, B, 9)}, "was expecting embedding dimension of 8, but got 9"),
    ({"value": (4, B, C)}, "key shape (5, 3, 8) does not match value shape (4, 3, 8)"),
    ({"key_padding_mask": (B, 4)}, "expected key_padding_mask of shape (batch, keys) = (3, 5), but got (3, 4)"),
    ({"key_padding_mask": (T, B)}, "batch_first=True if query (5, 3, 8) is (batch, length, dim), else mask.T"),
    ({"attn_mask": (2, 2)}, "The shape of the 2D attn_mask is (2, 2), but should be (queries, keys) = (5, 5)."),
    ({"attn_mask": (B, T, T)}, "mask.repeat_interleave(num_heads, dim=0)"),
    ({"attn_mask": (1, 1, T, T)}, "attn_mask must be None, 2-D or 3-D, found 4-D (1, 1, 5, 5)"),
]


@pytest.mark.parametrize("changed, words", WRONG)
def test_wrong_shapes_at_the_door_of_attention(changed, words):
    shapes = {"query": X, "key": X, "value": X, **changed}
    given = {name: badak.zeros(*shape) for name, shape in shapes.items()}
    assert words in text_of(lambda: nn.MultiheadAttention(C, H)(**given), AssertionError)


def test_integer_masks_are_refused():
    x = badak.zeros(*X)
    for name, shape in (("attn_mask", (T, T)), ("key_padding_mask", (B, T))):
        mask = badak.ones(*shape, dtype=badak.int64)
        text = text_of(lambda: nn.MultiheadAttention(C, H)(x, x, x, **{name: mask}), AssertionError)  # noqa: B023
        assert f"only bool and floating types of {name} are supported" in text


def test_an_unknown_activation():
    text = text_of(lambda: nn.TransformerEncoderLayer(C, H, activation="swish"))
    assert text.startswith("activation should be relu/gelu, not swish\nfix: any function of a tensor")


def test_a_batch_of_padding_only_is_warned_of():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(C, **SMALL), 1)
    with pytest.warns(BadakWarning, match=r"every position in this batch is padding \(src_key_padding_mask all True\)"):
        encoder(tensor(T, B, C), src_key_padding_mask=badak.ones(B, T, dtype=badak.bool))


def test_attention_is_given_three_tensors_and_the_rest_by_name():
    def seen(library):
        found = []
        layer = library.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
        for attention in (layer.self_attn, layer.multihead_attn):
            attention.register_forward_hook(lambda module, args, result: found.append(len(args)))
        layer(library.ones(1, 3, 8), library.ones(1, 4, 8))
        return found

    assert seen(badak) == seen(torch) == [3, 3]


def test_masks_are_merged_as_in_pytorch():
    rng = np.random.default_rng(0)
    one, each, padding = rng.integers(0, 2, (T, T)), rng.integers(0, 2, (B * H, T, T)), rng.integers(0, 2, (B, T))
    for attention, keys in ((one, padding), (each, padding), (one, None), (each, None), (None, padding), (None, None)):
        for kind in (np.bool_, np.int64, np.float32):
            made = []
            for lib in (badak, torch):
                masks = [None if mask is None else lib.from_numpy(mask.astype(kind)) for mask in (attention, keys)]
                made.append(lib.nn.MultiheadAttention(C, H).merge_masks(*masks, lib.zeros(B, T, C)))
            (ours, kind_of_ours), (theirs, kind_of_theirs) = made
            assert kind_of_ours == kind_of_theirs and (ours is None) == (theirs is None)
            if ours is not None:
                assert str(ours.dtype)[6:] == str(theirs.dtype)[6:] and ours.stride() == theirs.stride()
                assert array(ours).tolist() == theirs.tolist()
