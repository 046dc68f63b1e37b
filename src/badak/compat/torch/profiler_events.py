"""What `torch.profiler` has recorded: events, sums of them, tables and traces."""

import gzip
import json
import os
import threading
from pathlib import Path
from time import perf_counter_ns
from typing import Any, NamedTuple

from badak.core.errors import ArgumentError, tr
from badak.io.atomic import write_file


class Range(NamedTuple):
    """When it began and ended, in us."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it took."""
        return self.end - self.start


class FunctionEvent:
    """One run of an operation, or of a block with a name. Times are in us."""

    def __init__(self, name: str, parent: "FunctionEvent | None", kind: str) -> None:
        self.name, self.cpu_parent, self.kind = name, parent, kind
        self.cpu_children: list[FunctionEvent] = []
        self.input_shapes: list[list[int]] = []
        self.flops = 0
        self.count = 1
        self.trace_name = ""  # where a trace calls it otherwise
        self.thread = threading.get_native_id()
        self.is_user_annotation = kind == "user_annotation"
        if parent is not None:
            parent.cpu_children.append(self)
        self.start_ns = self.end_ns = perf_counter_ns()

    @property
    def key(self) -> str:
        """Its name."""
        return self.name

    @property
    def time_range(self) -> Range:
        """When it began and ended."""
        return Range(self.start_ns / 1000, self.end_ns / 1000)

    @property
    def cpu_time_total(self) -> float:
        """How long it took."""
        return (self.end_ns - self.start_ns) / 1000

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        """The same without what ran within it."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    def __repr__(self) -> str:
        times = f"cpu_time={self.cpu_time_total:.3f}us self_cpu_time={self.self_cpu_time_total:.3f}us"
        return f"<FunctionEvent name={self.name} {times}>"


class FunctionEventAvg:
    """All runs with one name (and, where asked, of inputs of the same shapes)."""

    def __init__(self, key: str, input_shapes: list[list[int]], is_user_annotation: bool = False) -> None:
        self.key, self.input_shapes, self.is_user_annotation = key, input_shapes, is_user_annotation
        self.count, self.flops = 0, 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0

    def add(self, event: FunctionEvent) -> None:
        """One run more."""
        self.count += 1
        self.flops += event.flops
        self.self_cpu_time_total += event.self_cpu_time_total
        above = event.cpu_parent
        while above is not None and above.name != event.name:
            above = above.cpu_parent
        if above is None:  # its time is not that of another run of the same name already
            self.cpu_time_total += event.cpu_time_total

    @property
    def cpu_time(self) -> float:
        """us for each run."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total:.3f}us cpu_time={self.cpu_time:.3f}us>"


class EventList(list):
    """Runs, or sums of them."""

    @property
    def self_cpu_time_total(self) -> float:
        """us of all of them."""
        return sum(each.self_cpu_time_total for each in self)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> "EventList":
        """The sums by name, or by name and shapes of the inputs."""
        sums: dict[tuple, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shape else []
            key = event.name, repr(shapes), event.is_user_annotation
            if key not in sums:
                sums[key] = FunctionEventAvg(event.name, shapes, event.is_user_annotation)
            sums[key].add(event)
        return EventList(sums.values())

    def total_average(self) -> FunctionEventAvg:
        """The sum of all."""
        whole = FunctionEventAvg("Total", [])
        for event in self:
            whole.count += event.count
            whole.flops += event.flops
            whole.self_cpu_time_total += event.self_cpu_time_total
        whole.cpu_time_total = whole.self_cpu_time_total
        return whole

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75, max_name_column_width: int = 55,
        max_shapes_column_width: int = 80, header: str | None = None, top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:  # fmt: skip
        """The sums as text. sort_by: "cpu_time", "cpu_time_total", "self_cpu_time_total" or "count"; row_limit -1: all."""
        known = ("cpu_time", "cpu_time_total", "self_cpu_time_total", "count", "flops")
        if sort_by is not None and sort_by not in known:
            cause = tr("table: expected sort_by of {}; got {!r}", ", ".join(known), sort_by)
            raise ArgumentError(cause, "sort_by='self_cpu_time_total'")
        rows = self if sort_by is None else sorted(self, key=lambda each: getattr(each, sort_by), reverse=True)
        if top_level_events_only:
            rows = [each for each in rows if getattr(each, "cpu_parent", None) is None]
        whole = self.self_cpu_time_total
        heads = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
        with_shapes, with_flops = any(each.input_shapes for each in self), any(each.flops for each in self)
        heads += ["Input Shapes"] * with_shapes + ["FLOPs"] * with_flops
        lines = [heads]
        for each in rows if row_limit < 0 else rows[:row_limit]:
            cells = [_cut(each.key, max_name_column_width), _share(each.self_cpu_time_total, whole)]
            cells += [_time(each.self_cpu_time_total, time_unit), _share(each.cpu_time_total, whole)]
            cells += [_time(each.cpu_time_total, time_unit), _time(each.cpu_time, time_unit), str(each.count)]
            cells += [_cut(str(each.input_shapes), max_shapes_column_width)] * with_shapes + [f"{each.flops:,}"] * with_flops
            lines.append(cells)
        widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
        rule = "  ".join("-" * width for width in widths)
        texts = ["  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths)) for line in lines]
        above = [header] if header is not None else []
        return "\n".join([*above, rule, texts[0], rule, *texts[1:], rule, f"Self CPU time total: {_time(whole, time_unit)}", ""])

    def export_chrome_trace(self, path: str | os.PathLike, metadata: dict[str, Any] | None = None) -> None:
        """Write the runs as JSON for chrome://tracing or ui.perfetto.dev; a name that ends in .gz is packed."""
        rows = [
            {
                "ph": "X", "cat": event.kind, "name": event.trace_name or event.name, "pid": os.getpid(), "tid": event.thread,
                "ts": event.start_ns / 1000, "dur": event.cpu_time_total,
                "args": {"Input Dims": event.input_shapes} if event.input_shapes else {},
            }
            for event in self
        ]  # fmt: skip
        text = json.dumps({"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": rows} | (metadata or {})).encode()
        data = gzip.compress(text) if str(path).endswith(".gz") else text
        write_file(Path(path), lambda file: file.write(data))


def _cut(text: str, width: int | None) -> str:
    return text if not width or len(text) <= width else text[: width - 3] + "..."


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.2%}" if whole else "NaN"


def _time(us: float, unit: str | None) -> str:
    unit = unit or ("s" if us >= 1e6 else "ms" if us >= 1e3 else "us")
    return f"{us / {'s': 1e6, 'ms': 1e3, 'us': 1.0}[unit]:.3f}{unit}"
