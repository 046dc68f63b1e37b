"""flex_attention and its masks, compared with PyTorch's: results, log-sum-exps, gradients, lists of blocks."""

import math
import warnings

import numpy as np
import pytest
import torch
import torch.nn.attention.flex_attention as theirs

import badak
import badak.compat.torch.flex_attention as ours
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, ShapeError

pytestmark = pytest.mark.slow
theirs._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True  # its arithmetic as it is written: else each mask is traced and compiled
B, H, T, S, D = 2, 4, 40, 56, 8
CAUSAL = lambda b, h, i, j: i >= j
BIAS = torch.randn(H, generator=torch.Generator().manual_seed(1))
TABLE = torch.randn(H, T + S, generator=torch.Generator().manual_seed(2))
DOCUMENT = torch.tensor([[0] * 15 + [1] * 25, [0] * 5 + [1] * 20 + [2] * 15])
OFFSETS = torch.tensor([[3, 9, 20, 1], [0, 40, 7, 30]])


def of(kind):
    """A function that gives this library's tensor of one of PyTorch's."""
    return (lambda x: x) if kind is theirs else (lambda x: badak.from_numpy(x.numpy()))


def score_mods(kind):
    as_own = of(kind)
    bias, table = as_own(BIAS), as_own(TABLE)
    where = torch.where if kind is theirs else badak.where
    return {
        "as it is": None,
        "alibi": lambda s, b, h, i, j: s - (i - j).abs() * bias[h],
        "table": lambda s, b, h, i, j: s + table[h, i + j],
        "rows of a table": lambda s, b, h, i, j: s + table[h][i],
        "soft cap": lambda s, b, h, i, j: 2 * (s / 2).tanh(),
        "hidden": lambda s, b, h, i, j: where(i >= j, s, -float("inf")),
    }


def mask_mods(kind):
    as_own = of(kind)
    document, offsets = as_own(DOCUMENT), as_own(OFFSETS)
    causal = lambda b, h, i, j: i >= j
    window = lambda b, h, i, j: (i - j).abs() <= 6
    return {
        "none": None,
        "causal": causal,
        "window": kind.and_masks(causal, window),
        "or": kind.or_masks(window, lambda b, h, i, j: j < 3),
        "documents": lambda b, h, i, j: document[b, i] == document[b, j.clamp(max=39)],
        "of each head": lambda b, h, i, j: j >= offsets[b, h],
        "of each head by rows": lambda b, h, i, j: j >= offsets[b][h],
        "blind rows": lambda b, h, i, j: (i >= j) & (i >= 20),
        "all": kind.noop_mask,
    }


def given(kind, groups):
    g = torch.Generator().manual_seed(0)
    tensors = [torch.randn(B, heads, n, D, generator=g) for heads, n in ((H, T), (groups, S), (groups, S))]
    return *(of(kind)(x).clone().requires_grad_() for x in tensors), of(kind)(torch.randn(B, H, T, D, generator=g))


def dense(q, k, v, score, mask):
    """(result, lse, largest scores) by PyTorch's operations, which have gradients: its flex_attention has none on a CPU."""
    from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex  # PyTorch's compiler: two seconds

    groups = H // k.shape[1]
    scores = q @ k.repeat_interleave(groups, 1).mT / math.sqrt(D)
    with TransformGetItemToIndex():
        if score is not None:
            scores = theirs._vmap_for_bhqkv(score, prefix=(0,))(scores, *map(torch.arange, (B, H, T, S)))
        if mask is not None:
            scores = scores.masked_fill(~theirs.create_mask(mask, B, H, T, S, device="cpu"), -math.inf)
    most = scores.amax(-1)
    blind = (scores == -math.inf).all(-1, keepdim=True)
    scores = scores.masked_fill(blind, 0.0)
    return scores.softmax(-1).masked_fill(blind, 0.0) @ v.repeat_interleave(groups, 1), scores.logsumexp(-1), most


def same(kinds, groups=H, blocks=16):
    """Whether results, lse, largest scores and gradients agree with PyTorch's, for a score and a mask of each library."""
    found = []
    for kind, (score, mask) in ((ours, kinds[0]), (theirs, kinds[1])):
        q, k, v, dout = given(kind, groups)
        listed = mask and kind.create_block_mask(mask, B, H, T, S, device="cpu", BLOCK_SIZE=blocks)
        asked = kind.AuxRequest(lse=True, max_scores=kind is ours)  # PyTorch has them on a GPU only
        with warnings.catch_warnings(), badak.no_grad() if kind is ours else torch.no_grad():
            warnings.simplefilter("ignore")  # PyTorch's: it is not compiled
            x = [x.detach() for x in (q, k, v)]
            plain = kind.flex_attention(*x, score, listed, enable_gqa=groups != H)
            out, more = kind.flex_attention(*x, score, listed, enable_gqa=groups != H, return_aux=asked)
        found.append([torch.from_numpy(x.numpy()) for x in (plain, out, more.lse)])
        if kind is ours:
            out, lse = kind.flex_attention(q, k, v, score, listed, enable_gqa=groups != H, return_lse=True)
            again = kind.flex_attention(q, k, v, score, listed, enable_gqa=groups != H)
            (again * dout).sum().backward()
            found[-1] += [torch.from_numpy(x.numpy().copy()) for x in (more.max_scores, q.grad, k.grad, v.grad)]
            q.grad = k.grad = v.grad = None
        else:
            out, lse, most = dense(q, k, v, score, mask)
            found[-1] += most.detach(), *torch.autograd.grad((out * dout).sum(), (q, k, v), retain_graph=True)
        seen = more.lse != -math.inf
        ((out * dout).sum() + lse[seen].sum()).backward()
        found[-1] += [torch.from_numpy(x.grad.numpy()) for x in (q, k, v)]
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=2e-4, atol=2e-5)


@pytest.mark.filterwarnings("ignore:.*no visible key")
@pytest.mark.parametrize("mask", mask_mods(ours))
def test_masks(mask):
    both = [(None, mask_mods(kind)[mask]) for kind in (ours, theirs)]
    same(both)
    same(both, groups=2, blocks=(8, 32))


@pytest.mark.parametrize("score", score_mods(ours))
def test_scores(score):
    for mask in ("none", "window", "blind rows"):
        same([(score_mods(kind)[score], mask_mods(kind)[mask]) for kind in (ours, theirs)])


def test_gradients_reach_a_table_that_is_learned():
    q, k, v, dout = given(ours, H)
    table = badak.from_numpy(TABLE.numpy()).clone().requires_grad_()
    (ours.flex_attention(q, k, v, lambda s, b, h, i, j: s + table[h, i + j]) * dout).sum().backward()
    q, k, v, dout = given(theirs, H)
    expected = TABLE.clone().requires_grad_()
    (dense(q, k, v, lambda s, b, h, i, j: s + expected[h, i + j], None)[0] * dout).sum().backward()
    torch.testing.assert_close(torch.from_numpy(table.grad.numpy()), expected.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("blocks", [16, (8, 32), 128])
@pytest.mark.parametrize("mask", [name for name in mask_mods(ours) if name != "none"])
def test_lists_of_blocks(mask, blocks):
    for apart in (True, False):
        a, b = (
            kind.create_block_mask(mask_mods(kind)[mask], B, H, T, S, device="cpu", BLOCK_SIZE=blocks, separate_full_blocks=apart)
            for kind in (ours, theirs)
        )
        assert a.shape == b.shape and a.BLOCK_SIZE == b.BLOCK_SIZE and a.sparsity() == pytest.approx(b.sparsity())
        names = [f"{full}{side}_{what}" for full in ("", "full_") for side in ("kv", "q") for what in ("num_blocks", "indices")]
        for x, y in [
            (a, b),
            (a[0], b[0]),
            (a[:, 1:3], b[:, 1:3]),
            (a[1, 2], b[1, 2]),
            (a[-1], b[-1]),
            *([(a._adjust(20, 30), b._adjust(20, 30))] if mask == "causal" else []),  # PyTorch's fails for most others
        ]:
            for name in names:
                one, other = getattr(x, name), getattr(y, name)
                assert (one is None) == (other is None), name
                if one is None:
                    continue
                assert tuple(one.shape) == tuple(other.shape) and str(one.dtype)[6:] == str(other.dtype)[6:], name
                if name.endswith("num_blocks"):
                    assert one.tolist() == other.tolist(), name
            assert x.to_dense().tolist() == y.to_dense().tolist() and x.seq_lengths == y.seq_lengths
        assert a.to_string().splitlines()[:3] == b.to_string().splitlines()[:3]
        theirs_said = repr(b).replace("torch.Size", "badak.Size").replace("<lambda>", a.mask_mod.__name__)
        assert repr(a).split("mask_mod=")[0] == theirs_said.split("mask_mod=")[0]
        assert (
            ours.create_mask(mask_mods(ours)[mask], B, H, T, S).tolist()
            == theirs.create_mask(mask_mods(theirs)[mask], B, H, T, S, device="cpu").tolist()
        )


def test_blocks_by_hand_are_all_that_is_seen():
    count = badak.tensor([[[1, 2]]], dtype=badak.int32)
    which = badak.tensor([[[[1, 0], [0, 1]]]], dtype=badak.int32)
    mask = ours.BlockMask.from_kv_blocks(count, which, BLOCK_SIZE=4)
    badak.manual_seed(0)
    q = badak.randn(1, 2, 8, D)
    keep = badak.tensor([[0, 1], [1, 1]]).bool().repeat_interleave(4, 0).repeat_interleave(4, 1)
    expected = badak.nn.functional.scaled_dot_product_attention(q, q, q, keep)
    badak.testing.assert_close(ours.flex_attention(q, q, q, block_mask=mask), expected)
    badak.testing.assert_close(ours.flex_attention(q, q, q, lambda s, b, h, i, j: s, mask), expected)
    whole = ours.BlockMask.from_kv_blocks(count * 0, which, count, which, BLOCK_SIZE=4, mask_mod=lambda b, h, i, j: i < 0)
    badak.testing.assert_close(ours.flex_attention(q, q, q, block_mask=whole), expected)  # whole blocks ask no mask_mod


def test_keys_that_no_block_sees_are_not_touched():
    q = badak.ones(1, 1, 256, D)
    k = q.clone()
    k[:, :, 128:] = math.nan
    mask = ours.create_block_mask(lambda b, h, i, j: j < 128, None, None, 256, 256)
    assert ours.flex_attention(q, k, q, block_mask=mask).isfinite().all()


def test_wrong_calls():
    q = badak.ones(2, 4, 8, D)
    mask = ours.create_block_mask(lambda b, h, i, j: i >= j, 2, 4, 8, 8)
    for error, words, call in [
        (ShapeError, "enable_gqa=True", lambda: ours.flex_attention(q, q[:, :2], q[:, :2])),
        (ShapeError, "expected .batch, heads", lambda: ours.flex_attention(q[0], q, q)),
        (ShapeError, "the block_mask is of .8, 8. queries", lambda: ours.flex_attention(q[:, :, :4], q, q, block_mask=mask)),
        (ShapeError, "2 batches, the query 1", lambda: ours.flex_attention(q[:1], q[:1], q[:1], block_mask=mask)),
        (ArgumentError, "block_mask is a Tensor", lambda: ours.flex_attention(q, q, q, block_mask=q)),
        (ArgumentError, "one floating dtype; query is badak.int64", lambda: ours.flex_attention(q.long(), q.long(), q.long())),
        (ArgumentError, "one floating dtype; key is ndarray", lambda: ours.flex_attention(q, q.numpy(), q)),
        (ShapeError, "there is no key", lambda: ours.flex_attention(q, q[:, :, :0], q[:, :, :0])),
        (ArgumentError, "a score_mod of five", lambda: ours.flex_attention(q, q, q, lambda s: s)),
        (ShapeError, "expected one number", lambda: ours.flex_attention(q, q, q, lambda s, b, h, i, j: s + badak.ones(3))),
        (ArgumentError, "return_aux is a bool", lambda: ours.flex_attention(q, q, q, return_aux=True)),
        (ArgumentError, "scale is a str", lambda: ours.flex_attention(q, q, q, scale="x")),
        (ArgumentError, "got BLOCK_SIZE=0", lambda: ours.create_block_mask(CAUSAL, 1, 1, 8, 8, BLOCK_SIZE=0)),
        (ArgumentError, "got BLOCK_SIZE=.1, 2, 3.", lambda: ours.create_block_mask(CAUSAL, 1, 1, 8, 8, BLOCK_SIZE=(1, 2, 3))),
        (ArgumentError, "Q_LEN=0", lambda: ours.create_block_mask(CAUSAL, 1, 1, 0, 8)),
        (ArgumentError, "numbered 0 to 1", lambda: ours.BlockMask.from_kv_blocks(*map(badak.tensor, ([[[1]]], [[[[-1, 0]]]])))),
        (ShapeError, "got NoneType", lambda: ours.BlockMask.from_kv_blocks(None, None)),
        (IndexError, "none is picked", lambda: mask[5]),
        (ArgumentTypeError, "and_masks: expected a function", lambda: ours.and_masks("x")),
        (ArgumentError, "at once", lambda: ours.flex_attention(q, q, q, return_lse=True, return_aux=ours.AuxRequest(lse=True))),
        (ArgumentError, "one of 2 arguments", lambda: ours.create_block_mask(lambda b, h: b, 1, 1, 8, 8)),
        (ArgumentError, "expected one boolean", lambda: ours.create_block_mask(lambda b, h, i, j: i - j, 1, 1, 8, 8)),
        (ArgumentError, "got a score_mod", lambda: ours.create_block_mask(lambda s, b, h, i, j: s, 1, 1, 8, 8)),
        (NotSupportedError, "has no mask_mod", lambda: ours.flex_attention(q[:1], q[:1], q[:1], block_mask=mask[:1])),
    ]:  # fmt: skip
        with pytest.raises(error, match=words) as told:
            call()
        assert str(told.value).count("\nfix: ") == 1


@pytest.mark.parametrize("corner", ["causal_upper_left", "causal_lower_right"])
def test_causal_masks_begin_in_their_corner(corner):
    from torch.nn.attention import bias as theirs

    from badak.compat.torch import causal_bias as mine

    q, k = (np.random.default_rng(n).standard_normal((2, n, 4)).astype(np.float32) for n in (3, 5))
    attend = lambda lib, mask: lib.nn.functional.scaled_dot_product_attention(*map(lib.tensor, (q, k, k)), mask)  # noqa: E731
    found, expected = attend(badak, getattr(mine, corner)(3, 5)), attend(torch, getattr(theirs, corner)(3, 5))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="only supports 2D tensors"):
        getattr(mine, corner)(3)
