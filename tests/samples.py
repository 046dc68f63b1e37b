"""One table drives the tests of every op: rows are collected from tests/sample_rows/*.py, each with `ROWS = [Sample(...), ...]`.

A row is one line for most ops:

    from tests.samples import EXTREME, Sample, bools, ints, uniform
    ROWS = [
        Sample(Exp, torch.exp, [(3, 4), (0, 5), (1,), ()], extremes=[EXTREME]),
        Sample(Log, torch.log, [(3, 4), (0,)], domain=(0.1, 4.0)),
        Sample(Add, torch.add, [((2, 3), (3,)), ((2, 1), (1, 4)), ((0, 3), (1, 3)), ((), (2,))]),
        Sample(Sum, lambda x, dim, keepdim: x.sum(dim, keepdim), [(2, 3, 5), (1, 0, 4)],
               dim=[0, -1, (0, 2)], keepdim=[False, True]),
        Sample(LayerNorm, lambda x, w, b, eps: F.layer_norm(x, x.shape[-1:], w, b, eps),
               [((7, 5), (5,), (5,)), ((0, 4), (4,), None)], eps=[1e-5, 1e-1]),
        Sample(Embedding, lambda w, ids: F.embedding(ids, w), [((10, 4), ints(10, 2, 7))]),
        Sample(View, lambda x, shape: x.reshape(shape), [case((2, 6), shape=(3, 4)), case((0, 2), shape=(2, 0))]),
    ]

`cases` is a list; each item holds the inputs of one call in the order of `Op.forward(save, *inputs)`:
    a shape         standard normal numbers of that shape (uniform in `domain=(low, high)` where the row gives one);
                    for an op with one input the item is the bare shape
    ints(n, *shape) integers 0..n-1     bools(*shape) booleans, none all False     uniform(low, high, *shape)    complexes(*shape)
    an array        these very values (floats are cast to the dtype under test)
    None            an optional input left out
    case(*inputs, **attributes)   the same with attributes of its own
Further keyword arguments are attributes, given to `Op.forward` and to the twin alike: a *list* means each value in turn
(all combinations), anything else is passed as it is.

    extremes    more cases, with extreme values (infinities, NaN, huge, tiny, ties), compared with the twin, gradients too
                unless `extremes_backward=False`; every element to its own last digits, but for `extremes_size`: how large
                the numbers are that cancel in one
    threads     cases big enough for a kernel to be split over threads; the results for 1, 2 and 4 must agree to the bit
    no_grad     positions of float inputs that have no gradient by design
    order       a function of PyTorch that says how results lie in memory, where the twin is a formula that lies otherwise
    by_rows     the reason why results are row-major where PyTorch's are not
    distinct    True: entries must differ, so no test repeats them along an axis
    of_memory   True: the op looks at memory itself, so equal values that lie otherwise give another result
    slack       factor on the derived tolerance, for an op that is ill-conditioned; say why in a comment

Every row is run by tests/test_samples.py with both backends.
"""

import importlib
import itertools
import pkgutil
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from badak.ops import mixed
from badak.ops.op import Op, Saved
from badak.ops.pointwise import Pointwise
from badak.ops.reduce import Reduction
from badak.ops.rows import Rows

DIFFERENTIABLE = "fc"  # the kinds of dtype that have gradients
EXTREME = np.array([0.0, -0.0, 1.0, -1.0, 1e-30, -1e-30, 88.0, -88.0, 1e4, -1e4, 1e30, -1e30, np.inf, -np.inf, np.nan])


@dataclass(frozen=True)
class Draw:
    """A recipe for one input: `make(rng)` gives the array."""

    make: Callable[[np.random.Generator], np.ndarray]


def ints(n: int, *shape: int) -> Draw:
    """int64 numbers 0..n-1."""
    return Draw(lambda rng: rng.integers(0, n, shape))


def bools(*shape: int, p: float = 0.7) -> Draw:
    """Booleans, True with probability p; the first of each last axis is True, so that no row is empty."""

    def make(rng: np.random.Generator) -> np.ndarray:
        keep = rng.random(shape) < p
        keep[..., :1] = True
        return keep

    return Draw(make)


def uniform(low: float, high: float, *shape: int) -> Draw:
    """Floats between low and high."""
    return Draw(lambda rng: rng.uniform(low, high, shape))


def complexes(*shape: int) -> Draw:
    """Complex numbers, both parts standard normal."""
    return Draw(lambda rng: rng.standard_normal(shape) + 1j * rng.standard_normal(shape))


@dataclass(frozen=True)
class Case:
    """The inputs of one call, not yet drawn, and the attributes that belong to them."""

    inputs: tuple[Any, ...]
    attributes: dict[str, Any] = field(default_factory=dict)


def case(*inputs: Any, **attributes: Any) -> Case:
    """Inputs with attributes of their own."""
    return Case(inputs, attributes)


class Sample:
    """A row of the table: see the module's docstring."""

    def __init__(
        self,
        op: type[Op],
        twin: Callable[..., Any],
        cases: list[Any],
        *,
        domain: tuple[float, float] | None = None,
        extremes: list[Any] = (),  # type: ignore[assignment]
        extremes_backward: bool = True,
        extremes_size: float = 0.0,
        threads: list[Any] = (),  # type: ignore[assignment]
        no_grad: tuple[int, ...] = (),
        slack: float = 1.0,
        order: Callable[..., Any] | None = None,
        by_rows: str | None = None,
        distinct: bool = False,
        of_memory: bool = False,
        **attributes: Any,
    ):
        self.op, self.twin, self.domain, self.no_grad, self.slack = op, twin, domain, no_grad, slack
        self.order, self.by_rows, self.distinct, self.of_memory = order, by_rows, distinct, of_memory
        self.attributes, self.extremes_backward, self.extremes_size = attributes, extremes_backward, extremes_size
        self._cases, self._extremes, self._threads = list(cases), list(extremes), list(threads)

    def __repr__(self) -> str:
        return self.op.__name__

    def cases(self) -> Iterator["Call"]:
        return self._calls(self._cases)

    def extremes(self) -> Iterator["Call"]:
        return self._calls(self._extremes)

    def threads(self) -> Iterator["Call"]:
        return self._calls(self._threads or self._cases[:1])

    def _calls(self, items: list[Any]) -> Iterator["Call"]:
        names = list(self.attributes)
        choices = [value if isinstance(value, list) else [value] for value in self.attributes.values()]
        for item, values in itertools.product(map(as_case, items), itertools.product(*choices)):
            yield Call(self, item, dict(zip(names, values)) | item.attributes)


def as_case(item: Any) -> Case:
    """An item of a row's list as a Case."""
    if isinstance(item, Case):
        inputs = item.inputs
        return Case(inputs, item.attributes)
    if isinstance(item, np.ndarray | Draw):
        return Case((item,))
    if all(isinstance(n, int) for n in item):
        return Case((tuple(item),))  # a bare shape: one input
    return Case(tuple(item))


class Call:
    """One call of an op: a case and its attributes; `arrays(dtype)` draws the inputs, the same ones every time."""

    def __init__(self, row: Sample, case: Case, attributes: dict[str, Any]):
        self.row, self.case, self.attributes = row, case, attributes

    def __repr__(self) -> str:
        inputs = ", ".join(repr(i) if isinstance(i, tuple) else type(i).__name__ for i in self.case.inputs)
        return f"{self.row.op.__name__}({inputs}, {self.attributes})"

    def arrays(self, dtype: type, seed: int = 0) -> list[np.ndarray | None]:
        rng = np.random.default_rng(zlib.crc32(repr(self).encode()) + seed)
        return [self._draw(spec, rng, dtype) for spec in self.case.inputs]

    def _draw(self, spec: Any, rng: np.random.Generator, dtype: type) -> np.ndarray | None:
        if spec is None:
            return None
        if isinstance(spec, Draw):
            values = spec.make(rng)
        elif isinstance(spec, np.ndarray):
            values = spec.copy()
        elif self.row.domain:
            values = rng.uniform(*self.row.domain, spec)
        else:
            values = rng.standard_normal(spec)
        values = np.asarray(values)
        return values if values.dtype.kind not in DIFFERENTIABLE else rounded(values, dtype)

    def needs(self, arrays: list[np.ndarray | None]) -> tuple[bool, ...]:
        """Which inputs want a gradient: the floats, but for the row's `no_grad`."""
        return tuple(a is not None and a.dtype.kind in DIFFERENTIABLE and i not in self.row.no_grad for i, a in enumerate(arrays))

    def forward(self, arrays, needs=None) -> tuple[Saved, tuple[np.ndarray, ...]]:
        """(saved, outputs) of badak's op."""
        save = Saved(self.needs(arrays) if needs is None else needs)
        y = self.row.op.forward(save, *arrays, **self.attributes)
        return save, y if isinstance(y, tuple) else (y,)

    def backward(self, saved: Saved, dys) -> tuple[np.ndarray | None, ...]:
        """One gradient for each input, None where there is none or none is wanted."""
        dxs = self.row.op.backward(saved, *dys)
        dxs = dxs if isinstance(dxs, tuple) else (dxs,)
        dxs = tuple(np.asarray(dx) if isinstance(dx, Rows) else dx for dx in dxs)
        return tuple(dx if wanted else None for dx, wanted in zip(dxs, saved.needs, strict=True))

    def cotangents(self, ys, ones: bool = False) -> list[np.ndarray | None]:
        """A random dy for each output that has a gradient, None for the others."""
        rng = np.random.default_rng(7)
        return [self._cotangent(y, rng, ones) if y.dtype.kind in DIFFERENTIABLE else None for y in ys]

    @staticmethod
    def _cotangent(y: np.ndarray, rng: np.random.Generator, ones: bool) -> np.ndarray:
        dy = np.ones(y.shape) if ones else rng.standard_normal(y.shape)
        if y.dtype.kind == "c":
            dy = dy + 1j * (0 * dy if ones else rng.standard_normal(y.shape))
        return rounded(np.asarray(dy), np.float64).astype(y.dtype)

    def both(self, dtype: type, ones: bool = False):
        """(outputs, gradients) of badak's op; gradients is None where no output is a float or nothing is wanted."""
        arrays = self.arrays(dtype)
        saved, ys = self.forward(arrays)
        dys = self.cotangents(ys, ones)
        if not any(saved.needs) or all(dy is None for dy in dys):
            return ys, None
        return ys, self.backward(saved, dys)

    def twin(self, dtype: type, ones: bool = False):
        """(outputs, gradients) of PyTorch's twin, as NumPy arrays, gradients in the order of the inputs."""
        arrays = self.arrays(dtype)
        needs = self.needs(arrays)
        tensors = [None if a is None else torch.from_numpy(a.copy()).requires_grad_(n) for a, n in zip(arrays, needs)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch's remarks on its own corner cases
            ys = self.row.twin(*tensors, **self.attributes)
        ys = tuple(ys) if isinstance(ys, tuple | list) else (ys,)
        arrays_y = [y.detach().resolve_conj().numpy() for y in ys]
        # by way of a flat array: NumPy gives an empty one strides of 0, which PyTorch's complex numbers refuse
        pairs = zip(ys, self.cotangents(arrays_y, ones))
        live = [(y, torch.from_numpy(dy).reshape(-1).view(dy.shape)) for y, dy in pairs if y.requires_grad]
        wanted = [t for t, n in zip(tensors, needs) if n]
        if not live or not wanted:
            return arrays_y, None
        outputs, dys = zip(*live)
        grads = iter(torch.autograd.grad(outputs, wanted, dys, allow_unused=True))
        found = [next(grads) if n else None for n in needs]
        return arrays_y, [None if g is None else g.detach().resolve_conj().numpy() for g in found]

    def units(self) -> float:
        """How many roundings a right answer may be off by (see compare.py), where all elements of an input are added up."""
        terms = max([a.size for a in self.arrays(np.float32) if a is not None], default=1)
        return (16 + 2 * terms**0.5) * self.row.slack


def rounded(values: np.ndarray, dtype: type) -> np.ndarray:
    """Floats (or complex numbers) rounded to float32 and given in `dtype`: the same numbers in both precisions."""
    narrow, wide = (np.complex64, np.result_type(dtype, np.complex64)) if values.dtype.kind == "c" else (np.float32, dtype)
    with np.errstate(over="ignore"):
        return np.asarray(values.astype(narrow), wide)


def rows() -> list[Sample]:
    """Every row of tests/sample_rows."""
    folder = Path(__file__).parent / "sample_rows"
    modules = [importlib.import_module(f"tests.sample_rows.{m.name}") for m in pkgutil.iter_modules([str(folder)])]
    return [row for module in modules for row in module.ROWS]


def all_ops() -> set[type[Op]]:
    """Every op that badak defines: the subclasses of Op after importing all of badak.ops.

    Without those of ops/mixed.py, which autocast runs in the place of others: tests/tensor/test_mixed.py has a table of its own.
    """
    for module in pkgutil.walk_packages(sys.modules["badak.ops"].__path__, "badak.ops."):
        importlib.import_module(module.name)
    found: set[type[Op]] = set()
    pending = [Op]
    while pending:
        for op in pending.pop().__subclasses__():
            if op not in found:
                found.add(op)
                pending.append(op)
    return {
        op
        for op in found
        if op.__module__.startswith("badak.ops") and op.__module__ != mixed.__name__ and op not in (Pointwise, Reduction)
    }
