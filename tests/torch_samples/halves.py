"""float16 and bfloat16: next to PyTorch's float64 results of the same numbers, and no further off than PyTorch's own 16 bits.

badak computes in float32 and rounds once where PyTorch may round after every step, so the two may differ; both are held
against what they stand for.
"""

import copy

import numpy as np
import torch

import badak
from tests.torch_samples.exchange import flat, values

HALVES = {torch.bfloat16: torch.float64, torch.float16: torch.float64}
UNITS = {"bfloat16": 2.0**-7, "float16": 2.0**-10}  # between 1 and the next number
LARGEST = {"bfloat16": (2 - 2.0**-8) * 2.0**127, "float16": 65520.0}  # what rounds to infinity
SMALLEST = {"bfloat16": 2.0**-133, "float16": 2.0**-24}


def doubled(x):
    """The same arguments as float64, in tensors of their own; `x` may be nested."""
    if isinstance(x, torch.Tensor):
        y = x.detach().to(HALVES.get(x.dtype, x.dtype), copy=True)
        return y.requires_grad_(x.requires_grad)
    if isinstance(x, list | tuple) and not isinstance(x, torch.Size):
        return type(x)(map(doubled, x))
    if isinstance(x, dict):
        return {name: doubled(value) for name, value in x.items()}
    return HALVES.get(x, x) if isinstance(x, torch.dtype) else x


def doubled_module(module):
    """The module with the same numbers as float64."""
    return copy.deepcopy(module).double()


def agree(theirs, ours, exact, what: str, terms: int, roundings: int = 2) -> None:
    """Raise AssertionError unless `ours` has the dtypes and shapes of `theirs`, and is near `exact` after that many roundings."""
    theirs, ours, exact = flat(theirs), flat(ours), flat(exact)
    assert len(theirs) == len(ours), f"{what}: {len(ours)} results instead of {len(theirs)}"
    for i, (x, y, z) in enumerate(zip(theirs, ours, exact, strict=True)):
        if not isinstance(x, torch.Tensor):
            continue
        place, name = f"{what}[{i}]", str(x.dtype).split(".")[1]
        assert isinstance(y, badak.Tensor), f"{place}: {type(y).__name__} instead of a tensor"
        assert repr(y.dtype) == f"badak.{name}", f"{place}: dtype {y.dtype} instead of {name}"
        assert tuple(y.shape) == tuple(x.shape), f"{place}: shape {y.shape} instead of {x.shape}"
        if name in UNITS or x.is_floating_point():
            _near(*(values(t).astype(np.float64) for t in (x, y, z)), name, place, terms, roundings)
        elif not x.is_complex():
            assert np.array_equal(values(x), values(y)), f"{place}: other values"


def _near(x, y, z, name: str, place: str, terms: int, roundings: int) -> None:
    """Roundings to `name`, half a unit each, and float32 sums of `terms` numbers of z's size; or as near as PyTorch's worst.

    More than two roundings mean sums of rounded numbers, each off by a part of the typical size; the worst of two such sums of
    a few dozen numbers differ by a factor.
    """
    z = np.where(np.abs(z) >= LARGEST.get(name, np.inf), np.copysign(np.inf, z), z)
    with np.errstate(all="ignore"):
        size = np.abs(z[np.isfinite(z)])
        typical = np.sqrt(np.mean(size**2)) if size.size else 0.0
        off, theirs = np.abs(y - z), np.abs(x - z)
        unit = UNITS.get(name, 0.0) / 2
        allowed = unit * (2 * np.abs(z) if roundings == 2 else roundings**0.5 * (np.abs(z) + typical))
        allowed += 2.0**-23 * (16 + 8 * terms**0.5) * typical + SMALLEST.get(name, 1e-38)
    good = (off <= allowed) | (y == z) | (np.isnan(y) & np.isnan(z)) | (x == y) | (np.isnan(x) & np.isnan(y))
    good |= off <= np.max(theirs[np.isfinite(theirs)], initial=0) * (1 if roundings == 2 else 4)
    wrong = np.count_nonzero(~good)
    at = np.argmax(~good) if wrong else 0
    assert not wrong, f"{place}: {wrong} of {x.size} off, as {y.flat[at]:.7g} for {z.flat[at]:.9g} (PyTorch {x.flat[at]:.7g})"


def gradients(outputs, leaves, library, weights: list) -> list:
    """d(sum of weights * outputs) for the leaves; `weights` holds an array for each output that wants a gradient, else None."""
    total = None
    for y, w in zip(flat(outputs), weights, strict=True):
        if w is not None:
            part = (y * library.from_numpy(w.copy()).to(y.dtype)).to(library.float64).sum()
            total = part if total is None else total + part
    for leaf in leaves:
        leaf.grad = None
    total.backward()
    return [leaf.grad for leaf in leaves]


def drawn(outputs) -> list:
    """Weights for `gradients`, numbers of 16 bits."""
    rng = np.random.default_rng(7)
    drawn = [torch.from_numpy(np.asarray(rng.standard_normal(tuple(y.shape)), np.float32)) for y in flat(outputs)]
    wanted = [y.requires_grad and not y.is_complex() for y in flat(outputs)]
    return [w.to(y.dtype).float().numpy() if want else None for w, y, want in zip(drawn, flat(outputs), wanted)]


def tensors(x) -> list:
    """The tensors in nested containers."""
    return [t for t in flat(x) if isinstance(t, torch.Tensor)]


def agree_in_gradients(theirs, ours, exact, leaves: list[tuple], terms: int, roundings: int = 2) -> None:
    """The gradients of these outputs for the triples of leaves (PyTorch's, badak's, PyTorch's in float64)."""
    weights = drawn(theirs)
    if not leaves or all(w is None for w in weights):
        return
    try:
        expected = gradients(theirs, [a for a, _, _ in leaves], torch, weights)
    except RuntimeError:
        return  # PyTorch has no backward for it
    found = gradients(ours, [b for _, b, _ in leaves], badak, weights)
    meant = gradients(exact, [c for _, _, c in leaves], torch, weights)
    for i, (x, y, z) in enumerate(zip(expected, found, meant)):
        if x is None or y is None:
            there = x if y is None else y
            assert there is None or not values(there).any(), f"gradient {i} is {'missing' if y is None else 'too many'}"
        else:
            agree([x], [y], [x if z is None else z], f"gradient {i}", terms, roundings)
