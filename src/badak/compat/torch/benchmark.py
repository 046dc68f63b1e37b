"""`torch.utils.benchmark`: how long a statement takes, measured until the median holds, and tables that compare."""

import statistics
import sys
import timeit
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

from badak.compat.torch.settings import get_num_threads, set_num_threads
from badak.core.errors import ArgumentError, ArgumentTypeError, expect_kind, tr

__all__ = ["Compare", "Measurement", "Timer"]

UNITS = (("ns", "nanoseconds", 1e-9), ("us", "microseconds", 1e-6), ("ms", "milliseconds", 1e-3), ("s", "seconds", 1.0))


class Measurement:
    """Times of one statement, in seconds a run: `times`, `median`, `mean`, `iqr`; `raw_times` are those of number_per_run runs."""

    def __init__(self, number_per_run: int, raw_times: list[float], task_spec: dict[str, Any], metadata: Any = None) -> None:
        self.number_per_run, self.raw_times, self.task_spec, self.metadata = number_per_run, raw_times, task_spec, metadata

    times = property(lambda self: [t / self.number_per_run for t in self.raw_times])
    median = property(lambda self: statistics.median(self.times))
    mean = property(lambda self: statistics.fmean(self.times))
    num_threads = property(lambda self: self.task_spec["num_threads"])
    env = property(lambda self: self.task_spec["env"])
    as_row_name = property(lambda self: self.task_spec["sub_label"] or self.task_spec["stmt"] or "[Unknown]")
    has_warnings = property(lambda self: len(self.times) > 1 and not self.meets_confidence())

    @property
    def iqr(self) -> float:
        """The distance between the quartiles."""
        return self._quartiles()[1] - self._quartiles()[0]

    def _quartiles(self) -> tuple[float, float]:
        times = self.times
        if len(times) < 2:
            return times[0], times[0]
        low, _, high = statistics.quantiles(times, n=4, method="inclusive")
        return low, high

    @property
    def title(self) -> str:
        """Label and sub-label."""
        parts = [self.task_spec["label"] or self.task_spec["stmt"], self.task_spec["sub_label"]]
        return ": ".join(part for part in parts if part)

    def meets_confidence(self, threshold: float = 0.2) -> bool:
        """Whether the quartiles lie within this part of the median."""
        return self.iqr / self.median < threshold

    def __repr__(self) -> str:
        short, _, scale = unit_of(self.median)
        low, high = self._quartiles()
        lines = [object.__repr__(self), self.title, self.task_spec["description"]]
        if self.task_spec["setup"] != "pass":
            lines.append(f"setup: {self.task_spec['setup']}")
        lines.append(f"  {'Median: ' if len(self.times) > 1 else ''}{self.median / scale:.2f} {short}")
        if len(self.times) > 1:
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {short} ({low / scale:.2f} to {high / scale:.2f})")
        count, threads = len(self.raw_times), self.num_threads
        lines.append(
            f"  {count} measurement{'s' * (count > 1)}, {self.number_per_run} runs {'per measurement, ' if count > 1 else ', '}"
            f"{threads} thread{'s' * (threads > 1)}"
        )
        return "\n".join(line for line in lines if line)


def unit_of(seconds: float) -> tuple[str, str, float]:
    """The largest unit in which it is at least 1."""
    return next((unit for unit in reversed(UNITS) if seconds >= unit[2]), UNITS[0])


class Timer:
    """Measures a statement, with `num_threads` threads and warm caches.

    Args:
        stmt: what is measured, as text
        setup: what runs before each measurement
        global_setup: refused but for "": for C++
        timer: a clock, in seconds
        globals: the names that the statement sees
        label, sub_label, description, env: what `Compare` puts into tables
        num_threads: threads of the kernels meanwhile
        language: "python"

    Example:
        >>> badak.utils.benchmark.Timer("x + x", globals={"x": badak.ones(3)}).timeit(10).number_per_run
        10
    """

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", global_setup: str = "", timer: Callable[[], float] = perf_counter,
        globals: dict[str, Any] | None = None, label: str | None = None, sub_label: str | None = None,  # noqa: A002
        description: str | None = None, env: str | None = None, num_threads: int = 1, language: Any = "python",
    ) -> None:  # fmt: skip
        if not isinstance(stmt, str) or not isinstance(setup, str):
            cause = tr("Timer: expected stmt and setup as text; got {}", type(stmt).__name__)
            raise ArgumentTypeError(cause, 'Timer("f(x)", globals=...)')
        if global_setup or str(language).lower() not in ("python", "py", "language.python"):
            raise ArgumentError("Timer: badak measures Python, not C++", 'language="python"')
        if not isinstance(num_threads, int) or num_threads < 1:
            raise ArgumentError(tr("Timer: expected num_threads >= 1; got {!r}", num_threads), "num_threads=1")
        self._threads = num_threads
        self._spec: dict[str, Any] = {
            "stmt": stmt, "setup": setup, "label": label, "sub_label": sub_label, "description": description, "env": env,
            "num_threads": num_threads,
        }  # fmt: skip
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))

    def _time(self, number: int) -> float:
        before = get_num_threads()
        set_num_threads(self._threads)
        try:
            return self._timer.timeit(number)
        finally:
            set_num_threads(before)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One measurement of so many runs, after a few to warm up."""
        if not isinstance(number, int) or number < 1:
            raise ArgumentError(tr("Timer.timeit: expected number >= 1; got {!r}", number), "number=1000")
        self._time(max(number // 100, 2))
        return Measurement(number, [self._time(number)], self._spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Refused, as in PyTorch: use blocked_autorange."""
        raise ArgumentError("Timer.repeat: see `Timer.blocked_autorange`", "blocked_autorange(min_run_time=1)")

    def _runs(self, least: float) -> int:
        """How many runs take `least` seconds, a power of ten."""
        number = 1
        while self._time(number) < least and number < 10**9:
            number *= 10
        return number

    def blocked_autorange(self, callback: Callable | None = None, min_run_time: float = 0.2) -> Measurement:
        """Measurements of equal size until they have taken min_run_time seconds together."""
        number = self._runs(min_run_time / 1000)
        times: list[float] = []
        while sum(times) < min_run_time or not times:
            times.append(self._time(number))
            if callback:
                callback(number, times[-1])
        return Measurement(number, times, self._spec)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback: Callable | None = None
    ) -> Measurement:
        """Measurements until the quartiles lie within `threshold` of the median, at most max_run_time seconds."""
        number = self._runs(min_run_time / 1000)
        times: list[float] = []
        while True:
            times.append(self._time(number))
            if callback:
                callback(number, times[-1])
            made = Measurement(number, times, self._spec)
            enough = sum(times) >= min_run_time and len(times) > 3
            if sum(times) >= max_run_time or (enough and made.meets_confidence(threshold)):
                return made


class Compare:
    """Measurements as a table for each label: a row for each sub-label, a column for each description."""

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._digits: int | None = None
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        results = list(results)
        for each in results:
            expect_kind(each, Measurement, "Compare: expected Measurements; got {}", "timer.timeit()")
        self._results += results

    def trim_significant_figures(self) -> None:
        """Show two significant figures."""
        self._digits = 2

    def colorize(self, rowwise: bool = False) -> None:
        """Accepted; tables have no colors."""

    def highlight_warnings(self) -> None:
        """Accepted; see Measurement.has_warnings."""

    def print(self) -> None:
        """Print the tables."""
        sys.stdout.write(f"{self}\n")

    def __str__(self) -> str:
        labels = list(dict.fromkeys(each.task_spec["label"] or each.task_spec["stmt"] for each in self._results))
        return "\n".join(self._table(label) for label in labels)

    def _table(self, label: str) -> str:
        chosen = [each for each in self._results if (each.task_spec["label"] or each.task_spec["stmt"]) == label]
        short, word, scale = unit_of(min(each.median for each in chosen))
        columns = list(dict.fromkeys(each.task_spec["description"] or "" for each in chosen))
        threads = sorted({each.num_threads for each in chosen})
        blocks: list[list[list[str]]] = []
        for count in threads:
            rows = list(dict.fromkeys(each.as_row_name for each in chosen if each.num_threads == count))
            blocks.append(
                [[f"      {row}", *(self._cell(chosen, count, row, column, scale) for column in columns)] for row in rows]
            )
        every = [["", *columns], *(line for block in blocks for line in block)]
        widths = [max(len(line[i]) for line in every) for i in range(len(columns) + 1)]
        heads = [f"{count} threads: " for count in threads]
        widths[0] = max(widths[0], max(map(len, heads)) - 1)

        def written(line: list[str]) -> str:
            first = line[0].ljust(widths[0])
            return "  |  ".join([first, *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))])

        top = written(["", *columns])
        lines = [f"[{f' {label} '.center(len(top), '-')}]", top]
        for head, block in zip(heads, blocks):
            lines += [head.ljust(len(top) + 2, "-"), *map(written, block)]
        return "\n".join([*lines, "", f"Times are in {word} ({short}).", ""])

    def _cell(self, chosen: list[Measurement], threads: int, row: str, column: str, scale: float) -> str:
        found = [each for each in chosen if (each.num_threads, each.as_row_name) == (threads, row)]
        found = [each for each in found if (each.task_spec["description"] or "") == column]
        if not found:
            return ""
        value = statistics.median([t for each in found for t in each.times]) / scale
        return f"{float(f'{value:.{self._digits}g}'):g}" if self._digits else f"{value:.1f}"
