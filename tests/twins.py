"""The same call in badak and in PyTorch: results, dtypes, names of errors, and gradients must agree."""

import numpy as np
import torch

import badak as bk
from tests.compare import assert_close, values


def floats(*shape, low=None, high=None, dtype=np.float32, grad=True):
    """Random numbers, normal or uniform between low and high; the same ones for the same arguments."""
    rng = np.random.default_rng(len(shape) * 1000 + sum(shape))
    values = rng.standard_normal(shape) if low is None else rng.uniform(low, high, shape)
    return bk.from_numpy(np.asarray(values, dtype)).requires_grad_(grad)


def whole(n, *shape, low=0, dtype=np.int64):
    """Random integers low..n-1."""
    rng = np.random.default_rng(n + len(shape) * 1000 + sum(shape))
    return bk.from_numpy(np.asarray(rng.integers(low, n, shape), dtype))


def flags(*shape):
    """Random booleans."""
    return bk.from_numpy(np.asarray(np.random.default_rng(sum(shape)).random(shape) < 0.5))


def to_torch(x):
    """The same thing in PyTorch: tensors, dtypes, and lists of them."""
    if isinstance(x, bk.Tensor):
        return torch.from_numpy(x.detach().numpy().copy()).requires_grad_(x.requires_grad)
    if isinstance(x, bk.dtype):
        return getattr(torch, x.name)
    if isinstance(x, list | tuple):
        return type(x)(map(to_torch, x))
    return x


def flat(result) -> list:
    """Nested tuples of results as one list."""
    if isinstance(result, list | tuple):
        return [part for item in result for part in flat(item)]
    return [result]


def outcome(function, args, named):
    """(result, None) or (None, error)."""
    try:
        return function(*args, **named), None
    except Exception as error:
        return None, error


def agree(ours, theirs, *args, **named) -> None:
    """ours(*args) against theirs(*the same in PyTorch): values, dtypes, shapes, gradients; or errors of a kind."""
    their_args, their_named = to_torch(args), {name: to_torch(value) for name, value in named.items()}
    y, error = outcome(ours, args, named)
    expected, their_error = outcome(theirs, their_args, their_named)
    if error is not None or their_error is not None:
        assert error is not None, f"PyTorch raises {their_error!r}; badak gives {y!r}"
        assert their_error is not None, f"badak raises {error!r}; PyTorch gives {expected!r}"
        assert isinstance(error, type(their_error)), f"badak raises {error!r}; PyTorch {their_error!r}"
        assert isinstance(error, bk.errors.BadakError), f"not explained: {error!r}"
        return
    ys, expecteds = flat(y), flat(expected)
    terms = max([x.numel() for x in flat(list(args)) if isinstance(x, bk.Tensor)], default=1)  # no sum is longer
    assert len(ys) == len(expecteds)
    for one, other in zip(ys, expecteds):
        same(one, other, terms)
    same_gradients(flat(list(args)), flat(list(their_args)), ys, expecteds, terms)


def same(y, expected, terms, kind=None) -> None:
    """kind: the dtype in which it was computed, where that is a narrower one."""
    if not isinstance(y, bk.Tensor):
        assert y == expected
        return
    assert values(y).dtype == values(expected).dtype
    if kind is not None and kind.itemsize < values(y).dtype.itemsize and values(y).dtype.kind == kind.kind:
        y, expected = values(y).astype(kind), values(expected).astype(kind)
    assert_close(y, expected, terms=max(terms, 1))


def same_gradients(inputs, their_inputs, ys, expecteds, terms) -> None:
    """The gradients of a random combination of the outputs."""
    rng = np.random.default_rng(5)
    pairs = [(y, t) for y, t in zip(ys, expecteds) if isinstance(t, torch.Tensor) and t.requires_grad]
    leaves = [(x, t) for x, t in zip(inputs, their_inputs) if isinstance(t, torch.Tensor) and t.requires_grad]
    if not pairs or not leaves:
        return
    dys = [np.asarray(rng.standard_normal(y.shape), y.detach().numpy().dtype) for y, _ in pairs]
    found = bk.autograd.grad([y for y, _ in pairs], [x for x, _ in leaves], [bk.from_numpy(dy) for dy in dys], allow_unused=True)
    theirs = [torch.from_numpy(dy) for dy in dys]
    try:
        wanted = torch.autograd.grad([t for _, t in pairs], [t for _, t in leaves], theirs, allow_unused=True)
    except RuntimeError as error:
        if "derivative" in str(error):
            return  # PyTorch has no gradient here, where badak's is 0
        raise
    for dx, expected in zip(found, wanted):
        if dx is None or expected is None:
            rest = expected if dx is None else dx
            assert rest is None or not rest.detach().numpy().any()
        else:
            same(dx, expected, terms, values(pairs[0][0]).dtype)


def agree_both(name, *args, **named) -> None:
    """The function of that name, and the method."""
    if hasattr(torch, name):
        agree(getattr(bk, name), getattr(torch, name), *args, **named)
    if isinstance(args[0], bk.Tensor) and hasattr(torch.Tensor, name):
        agree(getattr(bk.Tensor, name), getattr(torch.Tensor, name), *args, **named)
