"""Attention as a function, against PyTorch; what it says of masks."""

import numpy as np
import pytest

import badak
from badak.core.errors import ArgumentError, BadakWarning, ShapeError
from badak.nn import functional as F
from tests.nn.twins import agree, normal

B, H, T, S, D, E = 2, 4, 3, 5, 6, 2


def keep_mask(*shape):
    keep = np.random.default_rng(3).random(shape) < 0.6
    keep[..., :1] = True
    return keep


def qkv(lead=(B, H), groups=None, key_lead=None):
    k_lead = key_lead if key_lead is not None else lead if groups is None else (*lead[:-1], groups)
    return normal(0, *lead, T, D), normal(1, *k_lead, S, D), normal(2, *k_lead, S, E)


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (2, 3, 2)])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_with_any_leading_axes(lead, causal):
    agree(lambda lib, q, k, v: lib.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal), *qkv(lead))


def test_leading_axes_broadcast():
    agree(lambda lib, q, k, v: lib.nn.functional.scaled_dot_product_attention(q, k, v), *qkv((2, 3), key_lead=(2, 1)))


@pytest.mark.parametrize("shape", [(T, S), (1, S), (B, 1, T, S), (B, 1, 1, S), (B, H, T, S), (H, T, S)])
def test_boolean_masks_let_the_true_through(shape):
    def both(lib, q, k, v, m):
        return lib.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=m)

    agree(both, *qkv(), keep_mask(*shape))


@pytest.mark.parametrize("shape", [(T, S), (B, 1, T, S), (B, H, T, S), (H, 1, S)])
def test_float_masks_are_added_and_have_a_gradient(shape):
    def both(lib, q, k, v, m):
        return lib.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=m)

    agree(both, *qkv(), normal(3, *shape))


def test_masks_for_more_leading_axes():
    def both(lib, q, k, v, m):
        return lib.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=m)

    agree(both, *qkv((2, 3, 2)), keep_mask(3, 1, T, S))
    agree(both, *qkv((3,)), keep_mask(3, T, S))


def test_shared_key_heads():
    def both(lib, q, k, v):
        return lib.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True, scale=0.3)

    agree(both, *qkv(groups=2))


def test_dropout_of_the_weights_is_pytorchs():
    def both(lib, q, k, v):
        lib.manual_seed(11)
        return lib.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.3)

    agree(both, *qkv())


def test_what_cannot_be_is_refused():
    q, k, v = map(badak.from_numpy, qkv())
    with pytest.raises(ArgumentError, match="attn_mask should not be set when is_causal=True"):
        F.scaled_dot_product_attention(q, k, v, attn_mask=badak.ones(T, S, dtype=badak.bool), is_causal=True)
    with pytest.raises(ShapeError, match="query has 4 heads, key 2 and value 2.*\nfix: enable_gqa=True"):
        F.scaled_dot_product_attention(q, k[:, :2], v[:, :2])
    with pytest.raises(ShapeError, match=r"mask \(2, 5\) does not broadcast to scores \(batch=2, heads=4, queries=3, keys=5\)\n"
                       r"fix: a padding mask: mask\[:, None, None, :\] of shape \(2, 1, 1, 5\)"):  # fmt: skip
        F.scaled_dot_product_attention(q, k, v, attn_mask=badak.ones(B, S, dtype=badak.bool))
    with pytest.raises(ShapeError, match="one D"):
        F.scaled_dot_product_attention(q, k[..., :3], v)


# ------------------------------------------------------------------ warnings


def said(action):
    with pytest.warns(BadakWarning) as caught:
        action()
    assert len(caught) == 1
    return str(caught[0].message)


def square(n=5, batch=2):
    return (badak.from_numpy(normal(0, batch, 2, n, 4)),) * 3


def test_a_float_mask_of_zeros_and_ones_is_noticed():
    mask = badak.ones(5, 5).tril()
    assert said(lambda: F.scaled_dot_product_attention(*square(), attn_mask=mask)) == (
        "attn_mask is float and holds only 0 and 1, so it would be *added* to the scores and hide nothing\n"
        "fix: attn_mask=(mask != 0) hides the zeros"
    )


def test_a_mask_of_the_wrong_polarity_is_noticed_once():
    hide = badak.ones(5, 5, dtype=badak.bool).triu(1)
    assert said(lambda: F.scaled_dot_product_attention(*square(), attn_mask=hide)) == (
        "attn_mask hides the diagonal for 5 of 5 queries and row 4 sees no key. In scaled_dot_product_attention True = keep; "
        "this looks like True = hide\nfix: attn_mask=~mask"
    )


def test_padding_lengths_read_as_positions_are_noticed():
    lengths = np.array([5, 3, 4, 2, 1])
    keep = badak.from_numpy(np.arange(5) < lengths[:, None])
    assert said(lambda: F.scaled_dot_product_attention(*square(5, 5), attn_mask=keep)) == (
        "mask (5, 5) is ambiguous: batch=5 and length=5. It is read as (queries, keys), and looks like (batch, keys)\n"
        "fix: mask[:, None, None, :] of shape (5, 1, 1, 5) for padding"
    )


def test_queries_that_see_nothing_are_counted_once_and_give_zeros():
    keep = np.ones((2, 1, 5, 5), bool)
    keep[1, 0, 2:4] = False
    q, k, v = square()
    text = said(lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=badak.from_numpy(keep)))
    assert text == (
        "2 of 10 rows have no visible key (first: batch 1, query 2). Output set to 0\nfix: drop empty sequences or keep one <bos>"
    )
    assert not F.scaled_dot_product_attention(q, k, v, attn_mask=badak.from_numpy(keep)).numpy()[1, :, 2:4].any()


def test_usual_masks_are_not_commented_on():
    causal = badak.ones(5, 5, dtype=badak.bool).tril()
    for mask in (
        causal,
        causal.float().log(),
        badak.zeros(5, 5),
        badak.ones(5, 5, dtype=badak.bool),
        badak.eye(5, dtype=badak.bool),
    ):
        F.scaled_dot_product_attention(*square(5, 5), attn_mask=mask)


# ------------------------------------------------------------------ multi-head

C = 8


def weights(separate=False, bias=True, extra=False):
    made = {"out": normal(9, C, C), "out_bias": normal(10, C)}
    if separate:
        made |= {"q": normal(5, C, C), "k": normal(6, C, 7), "v": normal(7, C, 6)}
    else:
        made |= {"in": normal(5, 3 * C, C)}
    if bias:
        made["in_bias"] = normal(8, 3 * C)
    if extra:
        made |= {"bias_k": normal(11, 1, 1, C), "bias_v": normal(12, 1, 1, C)}
    return made


def multi_head(names, add_zero_attn=False, dropout_p=0.0, **options):
    """A function of (lib, query, key, value, *weights)."""

    def call(lib, q, k, v, *tensors):
        w = dict(zip(names, tensors))
        given = {name: lib.from_numpy(value) for name, value in options.items() if isinstance(value, np.ndarray)}
        rest = {name: value for name, value in options.items() if not isinstance(value, np.ndarray)}
        lib.manual_seed(4)
        given = {n: m if m.dtype == lib.bool else m.to(q.dtype) for n, m in given.items()}
        return lib.nn.functional.multi_head_attention_forward(
            q, k, v, C, 2, w.get("in"), w.get("in_bias"), w.get("bias_k"), w.get("bias_v"), add_zero_attn, dropout_p,
            w["out"], w["out_bias"], use_separate_proj_weight="q" in w, q_proj_weight=w.get("q"), k_proj_weight=w.get("k"),
            v_proj_weight=w.get("v"), **given, **rest,
        )  # fmt: skip

    return call


def compare(made, inputs, **options):
    agree(multi_head(list(made), **options), *inputs, *made.values(), units=256)


def batch():
    return normal(0, T, B, C), normal(1, S, B, C), normal(2, S, B, C)


HIDE = ~keep_mask(T, S)
PADDING = ~keep_mask(B, S)
CASES = {
    "bare": {},
    "no weights": {"need_weights": False},
    "weights of every head": {"average_attn_weights": False},
    "boolean mask": {"attn_mask": HIDE},
    "float mask": {"attn_mask": normal(3, T, S)},
    "mask for every head": {"attn_mask": np.repeat(HIDE[None], B * 2, 0)},
    "padding": {"key_padding_mask": PADDING},
    "padding and mask": {"key_padding_mask": PADDING, "attn_mask": HIDE},
    "dropout": {"dropout_p": 0.4},
    "dropout without training": {"dropout_p": 0.4, "training": False},
    "zero key": {"add_zero_attn": True, "attn_mask": HIDE, "key_padding_mask": PADDING},
    "static key": {"static_k": normal(20, B * 2, 4, C // 2), "static_v": normal(21, B * 2, 4, C // 2)},
}


@pytest.mark.parametrize("name", CASES)
def test_multi_head_attention(name):
    both_masks = "padding and mask", "zero key"
    if name in both_masks:  # PyTorch: every query must see something
        assert (~(HIDE[None] | PADDING[:, None])).any(-1).all()
    compare(weights(), batch(), **CASES[name])


def test_multi_head_attention_with_separate_projections_and_other_sizes():
    inputs = normal(0, T, B, C), normal(1, S, B, 7), normal(2, S, B, 6)
    compare(weights(separate=True), inputs)
    compare(weights(separate=True, bias=False), inputs)


def test_multi_head_attention_with_one_more_key():
    compare(weights(extra=True), batch(), attn_mask=HIDE, key_padding_mask=PADDING)
    compare(weights(extra=True), batch(), add_zero_attn=True, attn_mask=normal(3, T, S))


def test_multi_head_attention_of_a_single_sequence():
    inputs = tuple(x[:, 0] for x in batch())
    compare(weights(), inputs)
    compare(weights(), inputs, key_padding_mask=PADDING[0], average_attn_weights=False)


def test_multi_head_attention_is_causal_with_or_without_a_mask():
    x = normal(0, T, B, C)
    hide = ~np.tri(T, dtype=bool)
    compare(weights(), (x, x, x), attn_mask=hide, is_causal=True)
    call = multi_head(list(weights()), is_causal=True)
    tensors = [badak.from_numpy(a) for a in (x, x, x, *weights().values())]
    with_mask = multi_head(list(weights()), attn_mask=hide)
    for found, expected in zip(call(badak, *tensors), with_mask(badak, *tensors)):
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


def refused(**options):
    tensors = [badak.from_numpy(a) for a in (*batch(), *weights().values())]
    with pytest.raises(AssertionError) as caught:
        multi_head(list(weights()), **options)(badak, *tensors)
    assert isinstance(caught.value, ShapeError)
    return str(caught.value)


def test_multi_head_attention_says_what_a_mask_looks_like():
    assert refused(attn_mask=PADDING) == (
        "attn_mask (2, 5) equals (batch=2, keys=5): a padding mask\n"
        "fix: key_padding_mask=mask, or for attention functions mask[:, None, None, :] of shape (2, 1, 1, 5)"
    )
    assert refused(attn_mask=np.zeros((2, 2), bool)).startswith("query is read as (length=3, batch=2) because batch_first=False")
    assert refused(attn_mask=np.zeros((4, 4), bool)).startswith("The shape of the 2D attn_mask is (4, 4), but should be (3, 5).")


def test_a_batch_of_padding_is_noticed_and_gives_the_bias_of_the_output():
    tensors = [badak.from_numpy(a) for a in (*batch(), *weights().values())]
    results = []
    text = said(lambda: results.append(multi_head(list(weights()), key_padding_mask=np.ones((B, S), bool))(badak, *tensors)))
    assert text == (
        "every position in this batch is padding (key_padding_mask all True). Output set to 0\n"
        "fix: check pad_id: key_padding_mask should be True only where ids == pad_id"
    )
    y, w = results[0]
    np.testing.assert_allclose(y.numpy(), np.broadcast_to(weights()["out_bias"], y.shape), rtol=1e-6)
    assert not w.numpy().any()


def test_the_inverted_causal_mask_is_noticed():
    x = normal(0, 5, B, C)
    tensors = [badak.from_numpy(a) for a in (x, x, x, *weights().values())]
    text = said(lambda: multi_head(list(weights()), attn_mask=np.tri(5, dtype=bool))(badak, *tensors))
    assert text == (
        "attn_mask hides the diagonal for 5 of 5 queries and row 4 sees no key. In MHA True = hide; "
        "this looks like True = keep\nfix: attn_mask=~mask"
    )
