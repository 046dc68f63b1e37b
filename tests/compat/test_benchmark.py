"""torch.utils.benchmark: numbers that a clock of our own gives, tables as PyTorch draws them."""

import itertools

import pytest
import torch.utils.benchmark

import badak

LIBRARIES = (badak.utils.benchmark, torch.utils.benchmark)


def clock(step: float):
    """A clock that goes on by `step` seconds each time it is read."""
    ticks = itertools.count()
    return lambda: next(ticks) * step


def test_a_measurement_says_what_the_clock_says():
    for lib in LIBRARIES:
        made = lib.Timer("x + 1", globals={"x": 1}, timer=clock(2.0), label="add", sub_label="one", description="fast").timeit(4)
        assert (made.times, made.median, made.mean, made.number_per_run, made.raw_times) == ([0.5], 0.5, 0.5, 4, [2.0])
        assert (made.title, made.as_row_name, made.num_threads) == ("add: one", "one", 1)
        lines = repr(made).split("\n")
        assert lines[1:] == ["add: one", "fast", "  500.00 ms", "  1 measurement, 4 runs , 1 thread"]


def test_measurements_are_repeated_until_they_last():
    seen = []
    made = LIBRARIES[0].Timer("pass", timer=clock(0.01)).blocked_autorange(lambda n, t: seen.append(n), min_run_time=0.05)
    assert len(made.times) == len(seen) >= 5 and made.iqr < 1e-9 and made.meets_confidence()
    assert LIBRARIES[0].Timer("pass", timer=clock(0.01)).adaptive_autorange(min_run_time=0.01).median > 0


def _number(cell: str) -> str:
    return f"{float(cell):.1f}" if cell[:1].isdigit() and ":" not in cell else cell.replace(" threads", "").replace(" thread", "")


def test_a_table_is_pytorchs():
    tables = []
    for lib in LIBRARIES:
        results = [
            lib.Timer("pass", timer=clock(step), label="L", sub_label=row, description=column, num_threads=threads).timeit(1000)
            for step, row, column, threads in ((1, "a", "x", 1), (2, "a", "yy", 1), (3, "bb", "x", 1), (12, "bb", "yy", 2))
        ]
        table = lib.Compare(results[:2])
        table.extend_results(results[2:])
        cells = [[cell.strip(" -[]") for cell in line.split("|")] for line in str(table).split("\n") if line.strip()]
        tables.append([[_number(cell) for cell in line] for line in cells])
    assert tables[0] == tables[1]


def test_nonsense_is_refused():
    lib = badak.utils.benchmark
    for wrong in (
        lambda: lib.Timer(3), lambda: lib.Timer("x", language="c++"), lambda: lib.Timer("x", num_threads=0),
        lambda: lib.Timer("pass").timeit(0), lambda: lib.Compare([1]), lambda: lib.Timer("pass").repeat(),
    ):  # fmt: skip
        with pytest.raises(badak.core.errors.BadakError, match="\nfix: "):
            wrong()
