"""Nested tensors against PyTorch's: values, lengths and gradients."""

import copy
import warnings

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError, NotSupportedError, ShapeError

LENGTHS, WIDTH = (3, 1, 4), 6


def _numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _nested(lib, seed=0, shape=(WIDTH,), requires_grad=True):
    examples = [lib.from_numpy(_numbers(n, *shape, seed=seed + n)) for n in LENGTHS]
    return lib.nested.nested_tensor(examples, layout=lib.jagged, requires_grad=requires_grad)


def _dense(lib, *shape, seed=9):
    return lib.from_numpy(_numbers(*shape, seed=seed)).requires_grad_()


def _attention(lib, *qkv, **options):
    return lib.nn.functional.scaled_dot_product_attention(*qkv, **options)


def _heads(lib, x):
    return x.unflatten(-1, (2, 3)).transpose(1, 2)


# what PyTorch gives no gradient for, or (softmax of the ragged dim) another one than for each example
NO_GRADIENT = {
    "log_softmax",
    "softmax of the ragged dim",
    "sum of the ragged dim",
    "sum kept",
    "mean of the ragged dim",
    "sum of the last, kept",
    "max of the ragged dim",
    "sum of a transposed one",
    "split",
    "narrow",
    "select",
    "a padded one",
    "amax of the ragged dim",
}

# name: what is computed of a nested x (3, j, 6), and of each of its examples (n, 6)
EACH = {
    "log_softmax": (lambda lib, x: x.log_softmax(-1), lambda lib, e: e.log_softmax(-1)),
    "softmax of the ragged dim": (lambda lib, x: x.softmax(1), lambda lib, e: e.softmax(0)),
    "sum": (lambda lib, x: x.sum(1), lambda lib, e: e.sum(0)),
    "sum kept": (lambda lib, x: x.sum(1, keepdim=True), lambda lib, e: e.sum(0, keepdim=True)),
    "mean": (lambda lib, x: x.mean(1), lambda lib, e: e.mean(0)),
    "mean of both": (lambda lib, x: x.mean((1, 2)), lambda lib, e: e.mean()),
    "amax": (lambda lib, x: x.amax(1), lambda lib, e: e.amax(0)),
    "max": (lambda lib, x: x.max(1).values, lambda lib, e: e.max(0).values),
    "min": (lambda lib, x: x.min(1)[0], lambda lib, e: e.min(0)[0]),
    "prod": (lambda lib, x: x.prod(1), lambda lib, e: e.prod(0)),
    "sum of the last": (lambda lib, x: x.sum(-1, keepdim=True), lambda lib, e: e.sum(-1, keepdim=True)),
    "std": (lambda lib, x: x.std(-1), lambda lib, e: e.std(-1)),
    "logsumexp": (lambda lib, x: x.logsumexp(-1), lambda lib, e: e.logsumexp(-1)),
    "cumsum": (lambda lib, x: x.cumsum(1), lambda lib, e: e.cumsum(0)),
    "split": (lambda lib, x: x.split(4, -1)[1], lambda lib, e: e.split(4, -1)[1]),
    "narrow": (lambda lib, x: x.narrow(-1, 1, 3), lambda lib, e: e.narrow(-1, 1, 3)),
    "select": (lambda lib, x: x.select(-1, 2), lambda lib, e: e.select(-1, 2)),
    "transposed": (lambda lib, x: x.transpose(1, 2).sum(2), lambda lib, e: e.T.sum(1)),
    "gram": (lambda lib, x: x.transpose(1, 2) @ x, lambda lib, e: e.T @ e),
    "causal attention": (
        lambda lib, x: _attention(lib, *[_heads(lib, x)] * 3, is_causal=True).transpose(1, 2).flatten(2),
        lambda lib, e: _attention(lib, *[e.unflatten(-1, (2, 3)).transpose(0, 1)] * 3, is_causal=True).transpose(0, 1).flatten(1),
    ),
}

# name: what is computed of a nested x (3, j, 6), a plain w (6, 6), a nested z of the same lengths
CASES = {
    "add a number": lambda lib, x, w, z: x + 1,
    "number minus": lambda lib, x, w, z: 2 - x,
    "two nested": lambda lib, x, w, z: x * z,
    "a row": lambda lib, x, w, z: x + w[0],
    "a row from the left": lambda lib, x, w, z: w[0] * x,
    "for each example": lambda lib, x, w, z: x * w[:3].unsqueeze(1),
    "a padded one": lambda lib, x, w, z: x + w[:4].expand(3, 4, WIDTH),
    "where": lambda lib, x, w, z: lib.where(x > 0, x, z),
    "gelu": lambda lib, x, w, z: lib.nn.functional.gelu(x),
    "exp": lambda lib, x, w, z: x.exp(),
    "masked_fill": lambda lib, x, w, z: x.masked_fill(z > 0, 0.5),
    "linear": lambda lib, x, w, z: lib.nn.functional.linear(x, w, w[0]),
    "matmul": lambda lib, x, w, z: x @ w,
    "a matrix each": lambda lib, x, w, z: x @ w.expand(3, WIDTH, WIDTH),
    "layer_norm": lambda lib, x, w, z: lib.nn.functional.layer_norm(x, (WIDTH,), w[0], w[1]),
    "rms_norm": lambda lib, x, w, z: lib.nn.functional.rms_norm(x, (WIDTH,), w[0]),
    "softmax": lambda lib, x, w, z: x.softmax(-1),
    "log_softmax": lambda lib, x, w, z: lib.nn.functional.log_softmax(x, dim=2),
    "softmax of the ragged dim": lambda lib, x, w, z: lib.softmax(x, 1),
    "sum": lambda lib, x, w, z: x.sum(),
    "mean": lambda lib, x, w, z: x.mean(),
    "sum of the ragged dim": lambda lib, x, w, z: x.sum(1),
    "sum kept": lambda lib, x, w, z: x.sum(dim=1, keepdim=True),
    "mean of the ragged dim": lambda lib, x, w, z: lib.mean(x, dim=1),
    "mean of the last": lambda lib, x, w, z: x.mean(-1),
    "sum of the last, kept": lambda lib, x, w, z: x.sum(-1, keepdim=True),
    "amax of the ragged dim": lambda lib, x, w, z: x.amax(1),
    "max of the ragged dim": lambda lib, x, w, z: x.max(1)[0],
    "transpose": lambda lib, x, w, z: x.transpose(1, 2),
    "sum of a transposed one": lambda lib, x, w, z: x.transpose(1, 2).sum(2),
    "permute": lambda lib, x, w, z: x.unflatten(-1, (2, 3)).permute(0, 3, 1, 2),
    "view": lambda lib, x, w, z: x.view(3, -1, 2, 3),
    "view by its size": lambda lib, x, w, z: x.reshape(3, x.size(1), 3, 2),
    "unsqueeze": lambda lib, x, w, z: x.unsqueeze(-1),
    "chunk": lambda lib, x, w, z: x.chunk(2, -1)[1],
    "split": lambda lib, x, w, z: x.split(4, -1)[1],
    "narrow": lambda lib, x, w, z: x.narrow(-1, 1, 3),
    "select": lambda lib, x, w, z: x.select(-1, 2),
    "cat": lambda lib, x, w, z: lib.cat([x, z], -1),
    "unbind": lambda lib, x, w, z: x.unbind()[2] * 2,
    "one": lambda lib, x, w, z: x[1] * 3,
    "padded": lambda lib, x, w, z: lib.nested.to_padded_tensor(x, 0.5),
    "padded further": lambda lib, x, w, z: x.to_padded_tensor(0.5, (3, 7, WIDTH)),
    "values": lambda lib, x, w, z: x.values() * 2,
    "float64": lambda lib, x, w, z: x.double(),
    "attention": lambda lib, x, w, z: lib.nn.functional.scaled_dot_product_attention(
        _heads(lib, x), _heads(lib, z), _heads(lib, x @ w)
    ),
}  # fmt: skip


def _run(lib, case):
    x, w = _nested(lib), _dense(lib, WIDTH, WIDTH)
    under = _dense(lib, sum(LENGTHS), WIDTH, seed=50)
    z = lib.nested.nested_tensor_from_jagged(under, x.offsets())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = CASES[case](lib, x, w, z)
        values = y.values() if y.is_nested else y
        if case not in NO_GRADIENT:
            (values * _factors(lib, values.shape, values.dtype)).sum().backward()
    grads = [x.grad, under.grad, w.grad]
    shape = tuple(n if isinstance(n, int) else "j" for n in y.shape)
    return shape, values.detach().numpy(), [None if g is None else (g.values() if g.is_nested else g).numpy() for g in grads]


def _factors(lib, shape, dtype):
    return lib.arange(int(np.prod(shape)), dtype=dtype).reshape(tuple(shape)).cos()


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_are_those_of_pytorch(case):
    shape, values, grads = _run(badak, case)
    theirs = _run(torch, case)
    assert shape == theirs[0]
    np.testing.assert_allclose(values, theirs[1], rtol=2e-5, atol=2e-6)
    for ours, other in zip(grads, theirs[2]):
        assert (ours is None) == (other is None) or not np.any(other if ours is None else ours)
        if ours is not None and other is not None:
            np.testing.assert_allclose(ours, other, rtol=2e-5, atol=5e-6)


@pytest.mark.parametrize("case", EACH)
def test_gradients_are_those_of_each_example_in_pytorch(case):
    on_nested, on_each = EACH[case]
    x, leaf = _nested(badak), _nested(torch).values().detach().requires_grad_()
    y = on_nested(badak, x)
    made = [on_each(torch, each) for each in leaf.split(LENGTHS)]
    theirs = torch.cat(made) if y.is_nested else torch.stack(made)
    ours = y.values() if y.is_nested else y
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=2e-5, atol=2e-6)
    for lib, values in ((badak, ours), (torch, theirs)):
        (values * _factors(lib, values.shape, values.dtype)).sum().backward()
    np.testing.assert_allclose(x.grad.values().numpy(), leaf.grad.numpy(), rtol=2e-5, atol=5e-6)


def test_a_module_trains_on_nested_tensors_as_on_each_example():
    def model():
        badak.manual_seed(0)
        nn = badak.nn
        return nn.Sequential(nn.Embedding(10, 8), nn.LayerNorm(8), nn.Linear(8, 8), nn.GELU(), nn.Dropout(0.0), nn.Linear(8, 2))

    ids = [badak.tensor([1, 2, 3]), badak.tensor([4]), badak.tensor([5, 6])]
    one, other = model(), model()
    one(badak.nested.nested_tensor(ids, layout=badak.jagged)).mean(1).square().sum().backward()
    sum(other(each).mean(0).square().sum() for each in ids).backward()
    for p, q in zip(one.parameters(), other.parameters()):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-5, atol=1e-7)


def test_gradients_arrive_in_the_values_and_in_the_examples_it_is_made_of():
    values, offsets = badak.arange(5.0, requires_grad=True), badak.tensor([0, 2, 5])
    x = badak.nested.nested_tensor_from_jagged(values, offsets)
    assert not x.is_leaf and x.offsets() is offsets
    (x * x).sum().backward()
    assert values.grad.tolist() == [0, 2, 4, 6, 8]
    first, second = badak.ones(2, requires_grad=True), badak.ones(3, requires_grad=True)
    badak.nested.as_nested_tensor([first, second], layout=badak.jagged).sum(1)[1].backward()
    assert first.grad.tolist() == [0, 0] and second.grad.tolist() == [1, 1, 1]
    x = _nested(badak)
    (dx,) = badak.autograd.grad((x * x).sum(), x)
    assert dx.is_nested and badak.equal(dx.values(), 2 * x.values())


def test_an_example_may_be_empty():
    for lib in (badak, torch):
        values, offsets = lib.arange(1.0, 4.0).reshape(3, 1), lib.tensor([0, 2, 2, 3])
        x = lib.nested.nested_tensor_from_jagged(values, offsets)
        assert x.sum(1).tolist() == [[3], [0], [3]]
        assert [each.shape[0] for each in x.unbind()] == [2, 0, 1]


def test_what_it_says_of_itself():
    ours, theirs = _nested(badak), _nested(torch)
    for name in ("dim", "numel", "is_contiguous", "__len__", "lengths"):
        assert getattr(ours, name)() == getattr(theirs, name)(), name
    for name in ("is_nested", "requires_grad", "is_leaf", "ndim"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert str(ours.layout) == "badak.jagged" and ours.size(0) == 3 and ours.size(-1) == WIDTH
    assert ours.offsets().tolist() == theirs.offsets().tolist()
    assert ours.size(1) == (ours + 1).size(1) == ours.transpose(1, 2).size(2)
    ragged = repr(ours.size(1))
    start = f"NestedTensor(size=(3, {ragged}, 6), offsets=tensor([0, 3, 4, 8]), requires_grad=True, contiguous=True)"
    assert repr(ours) == start
    twin = copy.deepcopy(ours)
    assert twin.requires_grad and twin.shape == ours.shape and badak.equal(twin.values(), ours.values())


def test_in_place_changes_are_seen_by_whoever_holds_it():
    values = badak.ones(4)
    x = badak.nested.nested_tensor_from_jagged(values, lengths=badak.tensor([1, 3]))
    assert x.mul_(badak.tensor([[2.0], [3.0]])) is x
    assert values.tolist() == [2, 3, 3, 3]
    x += 1
    assert x.values().tolist() == [3, 4, 4, 4]


def test_masked_select_as_in_pytorch():
    x, mask = _numbers(3, 4), _numbers(3, 4, seed=1) > 0
    ours = badak.nested.masked_select(badak.tensor(x), badak.tensor(mask))
    theirs = torch.nested.masked_select(torch.tensor(x), torch.tensor(mask))
    assert ours.values().tolist() == theirs.values().tolist() and ours.offsets().tolist() == theirs.offsets().tolist()


def _attended(query, other):
    heads = [_heads(badak, each) for each in (query, query, other)]
    return badak.nn.functional.scaled_dot_product_attention(*heads)


REFUSED = {
    "other lengths": (ShapeError, lambda x: x + badak.nested.nested_tensor([badak.ones(2, 6)] * 3, layout=badak.jagged)),
    "a row too many": (ShapeError, lambda x: x + badak.ones(8, 6)),
    "sum over examples": (NotSupportedError, lambda x: x.sum(0)),
    "an unknown function": (NotSupportedError, lambda x: badak.fft.fft(x)),
    "conv": (NotSupportedError, lambda x: badak.nn.functional.conv1d(x, badak.ones(1, 1, 1))),
    "loss": (NotSupportedError, lambda x: badak.nn.functional.mse_loss(x, x)),
    "numpy": (NotSupportedError, lambda x: x.numpy()),
    "slices": (NotSupportedError, lambda x: x[:, 0]),
    "flatten": (NotSupportedError, lambda x: x.flatten()),
    "mixing view": (NotSupportedError, lambda x: x.transpose(1, 2).reshape(3, -1, 6)),
    "norm over the ragged dim": (NotSupportedError, lambda x: badak.nn.functional.layer_norm(x.transpose(1, 2), (4,))),
    "product": (NotSupportedError, lambda x: x @ x.transpose(1, 2)),
    "out": (NotSupportedError, lambda x: badak.exp(x, out=x)),
    "keys of other lengths": (
        ShapeError, lambda x: _attended(x, badak.nested.nested_tensor([badak.ones(2, 6)] * 3, layout=badak.jagged))
    ),
    "an attention module": (NotSupportedError, lambda x: badak.nn.MultiheadAttention(6, 2, batch_first=True)(x, x, x)),
    "save": (NotSupportedError, lambda x: badak.save(x, "/dev/null")),
    "two ragged dims": (
        NotSupportedError, lambda x: badak.nested.nested_tensor([badak.ones(2, 3), badak.ones(3, 2)], layout=badak.jagged)
    ),
    "strided": (NotSupportedError, lambda x: badak.nested.nested_tensor([badak.ones(2)])),
    "gaps": (
        NotSupportedError,
        lambda x: badak.nested.nested_tensor_from_jagged(badak.ones(4), badak.tensor([0, 2, 4]), badak.tensor([1, 2])),
    ),
    "wrong offsets": (ArgumentError, lambda x: badak.nested.nested_tensor_from_jagged(badak.ones(4), badak.tensor([0, 3, 2]))),
    "no examples": (ArgumentError, lambda x: badak.nested.nested_tensor([], layout=badak.jagged)),
    "its size as a number": (NotSupportedError, lambda x: range(x.size(1))),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_supported_says_so_in_two_lines(case):
    kind, does = REFUSED[case]
    with pytest.raises(kind) as caught:
        does(_nested(badak, requires_grad=False))
    assert caught.value.cause and caught.value.fix
