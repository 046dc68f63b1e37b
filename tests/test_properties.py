"""What must hold for any input: hypothesis draws them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import badak
from badak import nn
from badak.nn import functional as F

settings.register_profile(
    "badak",
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("badak")

sizes = st.integers(1, 6)
seeds = st.integers(0, 2**16)
numbers = st.floats(-30.0, 30.0, width=32)
matrices = arrays(np.float32, st.tuples(sizes, sizes), elements=numbers)


def randn(seed: int, *shape: int):
    return badak.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def values(tensor) -> np.ndarray:
    return tensor.detach().numpy()


def close(a, b, scale: float = 1.0) -> None:
    np.testing.assert_allclose(values(a), values(b), rtol=0, atol=3e-6 * scale)


# ------------------------------------------------------------------ softmax and the loss


@given(matrices, st.floats(-100.0, 100.0, width=32))
def test_softmax_ignores_a_shift_of_its_input(x, shift):
    shifted = (x + np.float32(shift)).astype(np.float64)  # the shift itself rounds: compare what was really put in
    exact = badak.softmax(badak.from_numpy(shifted - shifted.max(-1, keepdims=True)), dim=-1)
    close(badak.softmax(badak.from_numpy(x + np.float32(shift)), dim=-1), exact.float())


@given(matrices)
def test_softmax_is_a_distribution(x):
    y = values(badak.softmax(badak.from_numpy(x), dim=-1))
    assert (y >= 0).all()
    np.testing.assert_allclose(y.sum(-1), 1.0, rtol=1e-6)


@given(matrices)
def test_log_softmax_is_the_logarithm_of_softmax(x):
    x = badak.from_numpy(x.astype(np.float64))
    np.testing.assert_allclose(values(F.log_softmax(x, dim=-1).exp()), values(F.softmax(x, dim=-1)), rtol=1e-12)


@given(matrices, seeds)
def test_cross_entropy_gradients_sum_to_zero_over_the_classes(x, seed):
    logits = badak.from_numpy(x.astype(np.float64)).requires_grad_()
    target = np.random.default_rng(seed).integers(0, x.shape[1], x.shape[0])
    loss = F.cross_entropy(logits, badak.from_numpy(target))
    loss.backward()
    assert loss.item() >= 0
    np.testing.assert_allclose(values(logits.grad).sum(-1), 0.0, atol=1e-14)


@given(matrices, st.floats(-10.0, 10.0, width=32), st.floats(0.5, 4.0, width=32))
def test_layer_norm_ignores_a_shift_and_a_scale_of_its_input(x, shift, scale):
    x = x.astype(np.float64) + np.random.default_rng(0).standard_normal(x.shape)
    x[:, 0] += 5.0 * (x.shape[1] > 1)  # away from constant rows, where eps decides
    if x.shape[1] > 1 and x.var(-1).min() < 1e-2:
        return
    plain = F.layer_norm(badak.from_numpy(x), (x.shape[1],), eps=0.0 if x.shape[1] > 1 else 1e-5)
    moved = F.layer_norm(badak.from_numpy(x * scale + shift), (x.shape[1],), eps=0.0 if x.shape[1] > 1 else 1e-5)
    np.testing.assert_allclose(values(plain), values(moved), atol=1e-9)


# ------------------------------------------------------------------ attention


@given(seeds, sizes, sizes, st.integers(1, 3))
def test_causal_attention_does_not_see_what_comes_later(seed, T, cut, heads):
    cut = min(cut, T)
    q, k, v = (randn(seed + i, 1, heads, T, 4) for i in range(3))
    whole = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    prefix = F.scaled_dot_product_attention(*(x[:, :, :cut] for x in (q, k, v)), is_causal=True)
    close(whole[:, :, :cut], prefix, 3)


@pytest.mark.slow
@given(seeds, st.integers(2, 7), st.data())
def test_changing_one_token_changes_nothing_before_it_by_a_bit(seed, T, data):
    from badak.models import GPT, GPTConfig

    at = data.draw(st.integers(0, T - 1))
    badak.manual_seed(seed)
    model = GPT(GPTConfig(vocab_size=9, context=8, d_model=16, heads=2, layers=2)).eval()
    ids = badak.randint(0, 9, (1, T))
    with badak.no_grad():
        before = values(model(ids)).copy()
        ids[0, at] = (int(ids[0, at]) + 1) % 9
        after = values(model(ids))
    np.testing.assert_array_equal(before[:, :at], after[:, :at])
    assert (before[:, at] != after[:, at]).any()


@given(seeds, sizes, st.integers(1, 4))
def test_padding_is_invisible(seed, S, extra):
    badak.manual_seed(seed)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    x = randn(seed, 2, S, 8)
    padded = badak.cat([x, 100.0 * randn(seed + 1, 2, extra, 8)], dim=1)
    hide = badak.arange(S + extra)[None, :].expand(2, S + extra) >= S
    close(layer(padded, src_key_padding_mask=hide)[:, :S], layer(x), 3)


@given(seeds, sizes, st.integers(1, 4))
def test_padding_gets_no_gradient_through_attention(seed, S, extra):
    badak.manual_seed(seed)
    layer = nn.MultiheadAttention(8, 2, batch_first=True)
    query, memory = randn(seed, 1, 3, 8), randn(seed + 1, 1, S + extra, 8).requires_grad_()
    hide = badak.arange(S + extra)[None, :] >= S
    layer(query, memory, memory, key_padding_mask=hide)[0].sum().backward()
    assert not values(memory.grad)[:, S:].any()


@given(seeds, st.integers(2, 6))
def test_an_encoder_without_positions_does_not_know_the_order(seed, T):
    badak.manual_seed(seed)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    x, order = randn(seed, 2, T, 8), np.random.default_rng(seed).permutation(T)
    shuffled = badak.from_numpy(np.ascontiguousarray(values(x)[:, order]))
    np.testing.assert_allclose(values(layer(shuffled)), values(layer(x))[:, order], atol=1e-5)


@given(seeds, sizes, sizes)
def test_true_means_hide_in_multihead_attention_and_attend_in_the_function(seed, T, S):
    keep = np.random.default_rng(seed).random((T, S)) < 0.6
    keep[:, 0] = True
    badak.manual_seed(seed)
    layer = nn.MultiheadAttention(4, 1, bias=False, batch_first=True)
    query, memory = randn(seed, 1, T, 4), randn(seed + 1, 1, S, 4)
    by_layer, _ = layer(query, memory, memory, attn_mask=badak.from_numpy(~keep))
    wq, wk, wv = layer.in_proj_weight.chunk(3)
    q, k, v = query @ wq.T, memory @ wk.T, memory @ wv.T
    by_function = F.scaled_dot_product_attention(q, k, v, attn_mask=badak.from_numpy(keep)) @ layer.out_proj.weight.T
    close(by_layer, by_function, 3)


@given(seeds, sizes, sizes)
def test_a_bool_mask_is_a_float_mask_of_minus_infinity(seed, T, S):
    keep = np.random.default_rng(seed).random((T, S)) < 0.6
    keep[:, -1] = True
    q, k, v = randn(seed, 1, 2, T, 4), randn(seed + 1, 1, 2, S, 4), randn(seed + 2, 1, 2, S, 4)
    bias = np.where(keep, 0.0, -np.inf).astype(np.float32)
    with_bool = F.scaled_dot_product_attention(q, k, v, attn_mask=badak.from_numpy(keep))
    with_float = F.scaled_dot_product_attention(q, k, v, attn_mask=badak.from_numpy(bias))
    close(with_bool, with_float, 3)


@pytest.mark.filterwarnings("ignore::badak.core.errors.BadakWarning")
@given(seeds, sizes, sizes)
def test_a_query_with_nothing_to_attend_to_gives_zeros_and_zero_gradients(seed, T, S):
    keep = np.random.default_rng(seed).random((T, S)) < 0.5
    keep[0] = False
    q, k, v = (randn(seed + i, 1, 1, n, 4).requires_grad_() for i, n in enumerate((T, S, S)))
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=badak.from_numpy(keep))
    y.sum().backward()
    assert not values(y)[0, 0, 0].any() and not values(q.grad)[0, 0, 0].any()
    assert all(np.isfinite(values(x.grad)).all() for x in (q, k, v))


@given(seeds, sizes)
def test_asking_for_the_weights_changes_no_output(seed, T):
    badak.manual_seed(seed)
    layer = nn.MultiheadAttention(8, 2, batch_first=True)
    x = randn(seed, 2, T, 8)
    with_weights, weights = layer(x, x, x)
    without, nothing = layer(x, x, x, need_weights=False)
    close(with_weights, without, 3)
    assert nothing is None
    np.testing.assert_allclose(values(weights).sum(-1), 1.0, rtol=1e-5)
