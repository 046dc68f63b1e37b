"""Where two records of a program differ."""

from dataclasses import dataclass, field, replace

import numpy as np

from tests.programs.record import Failure, Record, Seen
from tests.programs.run import Run, Way

DEEP = 1 << 14  # roundings of the largest value: what a program of a hundred operations may be off by, 4e-12 in float64
SPREAD = 256  # times what roundings make of it, where that was measured: PyTorch adds K terms one by one, off by up to K roundings
NUDGES = 3
RUNAWAY = 1e12


@dataclass
class Verdict:
    """What was found of a program."""

    differences: list[str] = field(default_factory=list)  # "WAY: where: this, that"
    whys: list[str] = field(default_factory=list)  # of its compiled functions
    errors: int = 0  # that the program caught
    foreign: set[str] = field(default_factory=set)  # errors without a fix
    broken: str = ""  # the program itself ended with an error

    @property
    def ways(self) -> set[str]:
        """In which ways it differs."""
        return {text.split(": ")[0] for text in self.differences}


def bits(x) -> bytes:
    """The bits of an array, those of a NaN apart."""
    if x.dtype.kind in "fc":
        x = np.where(np.isnan(x), np.nan, x)
    return x.tobytes()


def same(a, b) -> str:
    """ "" where two values are equal to the bit; else what differs."""
    if not (isinstance(a, Seen) and isinstance(b, Seen)):
        return "" if type(a) is type(b) and (a == b or (a != a and b != b)) else "values"
    for name in ("dtype", "strides", "wants", "leaf"):
        if getattr(a, name) != getattr(b, name):
            return name
    return "" if a.array.shape == b.array.shape and bits(a.array) == bits(b.array) else "bits"


def first_difference(a: Record, b: Record, compare) -> str:
    """Where two records differ first."""
    for (where, x), (other, y) in zip(a, b):
        if isinstance(compare, Close) and compare.parted(x, y):
            return ""
        if where != other:
            return f"{where}: there it is {other}"
        if what := compare(where, x, y):
            return f"{where}: {what}: {x!r} against {y!r}"
        if isinstance(compare, Close) and runs_away(y):
            return ""
    return "" if len(a) == len(b) else f"the end: {len(a)} against {len(b)} entries"


def runs_away(x) -> bool:
    """Whether numbers have grown so large, as by a gradient that is climbed, that what follows are roundings."""
    if not isinstance(x, Seen) or x.array.dtype.kind not in "fc":
        return False
    size = np.abs(x.array).astype(np.float64)
    return bool(np.any((size > RUNAWAY) & np.isfinite(size)))


class Close:
    """Equality within rounding. What a program does to a rounding is measured: by runs whose inputs are off by one."""

    def __init__(self, text: str, ways: tuple[Way, Way], strides: bool, messages: bool):
        half, single = ("half()" in text or "float16" in text), ("float()" in text or "float32" in text)
        self.eps = float(np.finfo("float16" if half else "float32" if single else ways[0].dtype).eps)
        self.text, self.ways, self.strides, self.messages = text, ways, strides, messages
        self._spread: dict | None = None

    def __call__(self, where, a, b) -> str:
        if isinstance(a, Seen) and isinstance(b, Seen):
            return self._tensors(where, a, b)
        if isinstance(a, Failure) and isinstance(b, Failure) and not self.messages:
            return ""
        if isinstance(a, float) and isinstance(b, float):
            return self._numbers(where, np.array(a), np.array(b))
        if isinstance(a, bytes) or (isinstance(a, int) and isinstance(b, int) and a == b):
            return ""  # the state of a generator
        return "" if a == b else "values"

    def parted(self, x, y) -> bool:
        """Whether PyTorch (x) and badak (y) do other things from here on, for a reason that is known."""
        if self.messages:
            return False
        if isinstance(x, Failure) and isinstance(y, Failure):  # PyTorch's leaves some gradients of a backward behind
            line = self.text.splitlines()[y.line - 1] if y.line else ""
            return x.line != y.line or "backward(" in line or "autograd.grad(" in line
        if isinstance(x, Failure) or isinstance(y, Failure):
            return isinstance(x, Failure) or y.kind in ("GraphError", "MissingName")
        # the mean over no label at all: NaN in PyTorch, 0 with a warning in badak
        return "ignore_index" in self.text and isinstance(x, Seen) and x.array.ndim == 0 and x.array != x.array and y.array == 0

    def _tensors(self, where, a: Seen, b: Seen) -> str:
        names = ("dtype", "wants", "leaf") + (("strides",) if self.strides else ())
        for name in names if not where.endswith("['step']") else ():
            if getattr(a, name) != getattr(b, name):
                return name
        if a.array.shape != b.array.shape:
            return "shape"
        if a.array.dtype.kind not in "fc":
            return "" if np.array_equal(a.array, b.array) else self._numbers(where, a.array * 1.0, b.array * 1.0)
        return self._numbers(where, a.array, b.array)

    def _numbers(self, where, a, b) -> str:
        if a.tobytes() == b.tobytes():
            return ""
        finite = np.isfinite(b)
        if np.array_equal(np.isfinite(a), finite):
            size = np.abs(b[finite]).max(initial=0.0)
            gap = np.abs(a[finite] - b[finite]).max(initial=0.0)
            if gap <= DEEP * self.eps * max(size, 1.0) and np.array_equal(a[~finite], b[~finite], equal_nan=True):
                return ""
        spread = self.measured().get(where)
        if spread is None or spread.shape != a.shape or not np.all(np.isfinite(spread)):
            return ""  # a rounding decides what the program does
        if not np.array_equal(np.isfinite(a), finite) or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return "infinite or not a number"
        gap, most = np.abs(a[finite] - b[finite]).max(initial=0.0), spread.max(initial=0.0)
        return "" if gap <= SPREAD * most else f"numbers off by {gap:.3g}, a rounding makes {most:.3g}"

    def measured(self) -> dict:
        """By place: how far its values lie apart when what goes into the program is off by a rounding or two, in either way."""
        if self._spread is None:
            self._spread = {}
            for way in self.ways:
                base = {where: x for where, x in Run(self.text, way).record if isinstance(x, Seen | float)}
                for nudge in range(1, NUDGES + 1):
                    other = dict(Run(self.text, replace(way, nudge=nudge)).record)
                    for where, x in base.items():
                        self._spread[where] = _wider(self._spread.get(where), x, other.get(where))
        return self._spread


def _wider(spread, x, y):
    """The larger of a spread and the distance of two values; infinite where the two are not alike."""
    x, y = (getattr(z, "array", z) for z in (x, y))
    spread = np.zeros(np.shape(x)) if spread is None else spread
    if y is None or np.shape(spread) != np.shape(x) or np.shape(x) != np.shape(y) or isinstance(y, str | bytes | Failure):
        return np.full(np.shape(x), np.inf)
    with np.errstate(all="ignore"):
        gap = np.abs(np.asarray(x, np.float64) - np.asarray(y, np.float64))
    same_place = np.isnan(x) & np.isnan(y) | (np.asarray(x) == np.asarray(y))
    return np.fmax(spread, np.where(same_place, 0.0, np.where(np.isnan(gap), np.inf, gap)))


OTHER_RULES = "float()", "double()", "half()", "float64"  # badak computes where PyTorch wants one dtype
BITS = [Way(compiled=True), Way(threads=3), Way(compiled=True, threads=3)]


def judge(text: str, pytorch: bool = False, dtype: str = "float32", ways=None) -> Verdict:
    """Run a program in every way, and compare."""
    verdict = Verdict()
    eager = Run(text, Way(dtype=dtype))
    record = eager.record
    _errors(verdict, record)
    for way in BITS:
        way = replace(way, dtype=dtype)
        if ways is not None and str(way) not in ways:
            continue
        run = Run(text, way)
        if found := first_difference(record, run.record, lambda where, a, b: same(a, b)):
            verdict.differences.append(f"{way}: {found}")
        if way.compiled:
            verdict.whys += run.whys if way.threads == 1 else []
    pytorch = pytorch and not any(word in text for word in OTHER_RULES)
    for way, messages, wanted in (
        (Way(kernels="reference", dtype="float64"), True, True),
        (Way(torch=True, dtype="float64"), False, pytorch),
    ):
        if not wanted or (ways is not None and str(way) not in ways):
            continue
        base = record if dtype == "float64" else Run(text, Way(dtype="float64")).record
        compare = Close(text, (way, Way(dtype="float64")), strides=messages, messages=messages)
        if found := first_difference(Run(text, way).record, base, compare):
            verdict.differences.append(f"{way}: {found}")
    return verdict


def _errors(verdict: Verdict, record: Record) -> None:
    for where, value in record:
        if isinstance(value, Failure):
            verdict.errors += 1
            if where == "the program":
                verdict.broken = f"{value.kind}: {value.text}"
            if "\nfix: " not in value.text:
                verdict.foreign.add(f"{value.kind}: {value.text[:160]}")
