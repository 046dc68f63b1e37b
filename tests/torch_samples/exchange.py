"""Values from PyTorch to badak, and the comparison of what both make of them."""

import numpy as np
import torch

import badak

_ABSENT = ("torch.complex32", "torch.float8", "torch.q", "torch.uint16", "torch.uint32", "torch.uint64", "torch.bits")


class NotOurs(Exception):
    """An argument of a kind that badak does not claim to take: sparse, quantized, float8, a memory format ..."""


class Exchange:
    """PyTorch's arguments as badak's; `leaves` pairs the tensors of both that want a gradient."""

    def __init__(self):
        self._made: dict[int, tuple] = {}

    @property
    def leaves(self) -> list[tuple]:
        return [pair for pair in self._made.values() if pair[0].requires_grad and pair[0].is_leaf]

    def __call__(self, x):
        if isinstance(x, torch.Tensor):
            if id(x) not in self._made:
                self._made[id(x)] = (x, _tensor(x))
            return self._made[id(x)][1]
        if isinstance(x, torch.dtype):
            if str(x).startswith(_ABSENT):
                raise NotOurs(str(x))
            return getattr(badak, str(x).split(".")[1])
        if isinstance(x, torch.device):
            return "cpu"
        if isinstance(x, torch.memory_format | torch.layout | torch.Generator):
            raise NotOurs(type(x).__name__)
        if isinstance(x, torch.Size):
            return tuple(x)
        if isinstance(x, list | tuple):
            return type(x)(map(self, x))
        if isinstance(x, dict):
            return {name: self(value) for name, value in x.items()}
        return getattr(badak.nn.functional, x.__name__, x) if x in _FUNCTIONS else x


_FUNCTIONS = (torch.nn.functional.gelu, torch.nn.functional.relu)


def _tensor(x):
    if x.layout != torch.strided or x.is_quantized or str(x.dtype).startswith(_ABSENT):
        raise NotOurs(f"{x.layout} {x.dtype}")
    y = badak.from_numpy(values(x).copy("K"))
    if x.dtype == torch.bfloat16:
        y = y.to(badak.bfloat16)
    return y.requires_grad_() if x.requires_grad else y


def values(x) -> np.ndarray:
    """The numbers of a tensor of either library; bfloat16 as float32."""
    x = x.detach()
    if str(x.dtype).endswith("bfloat16"):
        x = x.float()
    if isinstance(x, torch.Tensor):
        x = x.resolve_conj().resolve_neg()
        return np.zeros(x.shape, values(x.new_zeros(())).dtype) if x._is_zerotensor() else x.numpy()
    return x.numpy()


def flat(x) -> list:
    """The leaves of nested containers."""
    if isinstance(x, list | tuple):
        return [leaf for part in x for leaf in flat(part)]
    if isinstance(x, dict):
        return [leaf for part in x.values() for leaf in flat(part)]
    return [] if x is None else [x]


def agree(theirs, ours, what: str, terms: int) -> None:
    """Raise AssertionError unless `ours` has the dtypes, shapes and values of `theirs`; sums had about `terms` terms."""
    theirs, ours = flat(theirs), flat(ours)
    assert len(theirs) == len(ours), f"{what}: {len(ours)} results instead of {len(theirs)}"
    for i, (x, y) in enumerate(zip(theirs, ours)):
        place = f"{what}[{i}]"
        if isinstance(x, torch.Tensor):
            assert isinstance(y, badak.Tensor), f"{place}: {type(y).__name__} instead of a tensor"
            names = [str(z.dtype).split(".")[-1] for z in (x, y)]
            assert names[0] == names[1], f"{place}: dtype {names[1]} instead of {names[0]}"
            _close(values(x), values(y), place, terms, {"bfloat16": 2**-8}.get(names[0]))
        elif isinstance(x, bool | int | float | complex):
            _close(np.asarray(x), np.asarray(y), place, terms)


def _close(x: np.ndarray, y: np.ndarray, place: str, terms: int, eps: float | None = None) -> None:
    """Element by element: each of K terms rounds once, so a sum is off by about sqrt(K) units of the size of its terms."""
    assert x.shape == y.shape, f"{place}: shape {y.shape} instead of {x.shape}"
    if x.dtype.kind not in "fc" or not x.size:
        assert np.array_equal(x, y), f"{place}: other values"
        return
    with np.errstate(all="ignore"):
        size = np.abs(x)[np.isfinite(x)]
        typical = np.sqrt(np.mean(np.square(size, dtype=np.float64))) if size.size else 0.0
        allowed = (eps or np.finfo(x.dtype).eps) * (256 + 64 * terms**0.5) * (np.abs(x) + max(typical, 1e-3))
        off = np.abs(x - y)
        same = (off <= allowed) | (x == y) | (np.isnan(x) & np.isnan(y))
        worst = np.max(np.where(same, 0, off / allowed))
    wrong = np.count_nonzero(~same)
    assert not wrong, f"{place}: {wrong} of {x.size} values differ, by up to {worst:.3g} times what rounding explains"


def agree_in_memory(theirs, ours) -> None:
    """Raise AssertionError unless the results lie in the same order in memory; axes of size 1 have none."""
    for i, (x, y) in enumerate(zip(flat(theirs), flat(ours))):
        if isinstance(x, torch.Tensor) and x.numel():
            one, two = ([step for step, n in zip(z.stride(), z.shape) if n > 1] for z in (x, y))
            assert one == two, f"strides[{i}]: {tuple(y.stride())} instead of {x.stride()}"


def gradients(outputs, leaves, library, seed: int) -> list | None:
    """d(sum of weights * outputs) for the leaves, with the same random weights in both libraries; None without a graph."""
    rng, total = np.random.default_rng(seed), None
    for y in flat(outputs):
        if not getattr(y, "requires_grad", False):
            continue
        if y.is_complex():
            y = library.view_as_real(y.resolve_conj() if library is torch else y)
        weights = library.from_numpy(np.asarray(rng.standard_normal(tuple(y.shape)))).to(y.dtype)
        part = (y * weights).sum()
        total = part if total is None else total + part
    if total is None:
        return None
    for leaf in leaves:
        leaf.grad = None  # several samples may hold the same tensor
    total.backward()
    return [leaf.grad for leaf in leaves]


def agree_in_gradients(theirs, ours, leaves, terms: int) -> None:
    """Both libraries' gradients of these outputs for the pairs `leaves`; an absent gradient and one of zeros are equal."""
    expected = gradients(theirs, [a for a, _ in leaves], torch, 7)
    if expected is None:
        return
    found = gradients(ours, [b for _, b in leaves], badak, 7)
    if found is None:  # nothing here depends on the leaves
        found = [None] * len(leaves)
    for i, (x, y) in enumerate(zip(expected, found)):
        if x is None or y is None:
            there = x if y is None else y
            assert there is None or not values(there).any(), f"gradient {i} is {'missing' if y is None else 'too many'}"
        else:
            agree([x], [y], f"gradient {i}", terms)
