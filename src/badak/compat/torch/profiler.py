"""`torch.profiler`: a program measures its own operations, and sums them up or writes a trace.

    with profile(record_shapes=True) as measured:
        with record_function("forward"):
            loss = model(x).sum()
        loss.backward()
    print(measured.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
    measured.export_chrome_trace("trace.json")         # chrome://tracing or ui.perfetto.dev

Operations have badak's names ("aten::linear"), those of the backward that of their grad_fn ("LinearBackward0"). While a profiler
records, compiled steps run as they are written. From outside, and without changing the program: `badak profile program.py`.
"""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import wraps
from time import perf_counter_ns, time_ns
from typing import Any, NoReturn

from badak.compat.torch.profiler_events import EventList, FunctionEvent, FunctionEventAvg, Range
from badak.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    NotSupportedError,
    StateError,
    expect_function,
    expect_kind,
    tr,
    warn_once,
)
from badak.core.events import Observer
from badak.core.modes import modes
from badak.io.atomic import make_folder
from badak.optim.optimizer import is_step
from badak.tensor.grad_fn import name_of

__all__ = [
    "EventList", "FunctionEvent", "FunctionEventAvg", "ProfilerAction", "ProfilerActivity", "Range", "emit_itt", "emit_nvtx",
    "kineto_available", "profile", "record_function", "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(Enum):
    """What could be measured. Here it is the CPU."""

    CPU, CUDA, XPU, MTIA, PrivateUse1 = range(5)


class ProfilerAction(Enum):
    """What a schedule says of one step."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class _Recorder(Observer):
    """Writes down what runs, in the order in which it began."""

    eager = True

    def __init__(self, shapes: bool, flops: bool) -> None:
        self.shapes, self.flops = shapes, flops
        self.events = EventList()
        self.thread = threading.get_ident()  # the one whose operations it is told of
        self._stack: list[FunctionEvent] = []

    @contextmanager
    def block(self, name: str, kind: str) -> Iterator[FunctionEvent]:
        """What runs within is one event."""
        event = FunctionEvent(name, self._stack[-1] if self._stack else None, kind)
        self.events.append(event)
        self._stack.append(event)
        try:
            yield event
        finally:
            event.end_ns = perf_counter_ns()
            self._stack.remove(event)

    def on_op_enter(self, op, forward: Callable) -> Callable:
        return self._timed(f"aten::{op.name}", forward)

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        if not (self.shapes or self.flops and op.flops):
            return
        event = next((each for each in reversed(self.events) if each.name == f"aten::{op.name}" and each.kind == "cpu_op"), None)
        if event is not None and self.shapes:
            event.input_shapes = [[] if x is None else list(x.shape) for x in arrays]
        if event is not None and self.flops and op.flops:
            event.flops = op.flops(arrays, [y._array for y in outputs], attributes)[0]

    def on_backward_enter(self, node, backward: Callable) -> Callable:
        return self._timed(name_of(node), backward)

    def on_call(self, effect, args, kwargs, proceed: Callable) -> Any:
        if not is_step(effect, args):
            return proceed(*args, **kwargs)
        with self.block(f"Optimizer.step#{type(args[0]).__name__}.step", "user_annotation"):
            return proceed(*args, **kwargs)

    def _timed(self, name: str, function: Callable) -> Callable:
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.block(name, "cpu_op"):
                return function(*args, **kwargs)

        return timed


_recording: list[_Recorder] = []  # those that are on, of all threads


class record_function:  # noqa: N801  (PyTorch's name)
    """A block, or a function, that is an event with this name."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._blocks: list = []

    def __enter__(self) -> "record_function":
        here = threading.get_ident()
        self._blocks = [each.block(self.name, "user_annotation") for each in _recording if each.thread == here]
        for block in self._blocks:
            block.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        for block in reversed(self._blocks):
            block.__exit__(None, None, None)

    def __call__(self, function: Callable) -> Callable:
        @wraps(function)
        def named(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return function(*args, **kwargs)

        return named


class profile:  # noqa: N801
    """Records what runs within `with profile() as measured:`, or between start() and stop().

    Args:
        enabled: False records nothing
        activities: ProfilerActivity.CPU; others are not there
        schedule: a function from a step's number to a ProfilerAction; step() goes on to the next one
        on_trace_ready: called with the profiler when a part that was recorded is complete
        record_shapes: keep the shapes of inputs
        with_flops: count FLOPs of forwards
        profile_memory, with_stack, with_modules: not measured; a warning says so
        acc_events: of a schedule that comes back, keep the events of all parts, not of the last alone
        the others: what PyTorch's say to CUDA or to Kineto; an `execution_trace_observer` is refused

    Parity: events have badak's names of operations, not those of PyTorch's kernels.

    Example:
        >>> with badak.profiler.profile() as measured:
        ...     y = badak.ones(2, 3) @ badak.ones(3, 2)
        >>> [row.count for row in measured.key_averages() if row.key == "matmul"]
        [1]
    """

    def __init__(
        self, enabled: bool = True, *, activities: Iterable | None = None, schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[["profile"], Any] | None = None, record_shapes: bool = False, profile_memory: bool = False,
        with_stack: bool = False, with_flops: bool = False, with_modules: bool = False, experimental_config: Any = None,
        execution_trace_observer: Any = None, acc_events: bool = False, use_cuda: bool | None = None, use_device: str | None = None,
        use_kineto: bool = False, use_cpu: bool = True, custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None, activity_filters: dict | None = None,
    ) -> None:  # fmt: skip
        if execution_trace_observer is not None:
            raise NotSupportedError(tr("profile: execution traces are not recorded"), "export_chrome_trace(path)")
        for name, asked in {"profile_memory": profile_memory, "with_stack": with_stack, "with_modules": with_modules}.items():
            if asked:
                fix = tr("badak profile program.py, or badak.summary(model, batch)")
                warn_once(tr("profiler {}", name), tr("profile: {} is not measured", name), fix)
        for name, function in {"schedule": schedule, "on_trace_ready": on_trace_ready}.items():
            if function is not None:
                expect_function(f"profile: {name}", function)
        if activities is not None and not isinstance(activities, Iterable):
            raise ArgumentTypeError(tr("profile: expected activities; got {}", type(activities).__name__), "[ProfilerActivity.CPU]")
        self.enabled, self.schedule, self.on_trace_ready = enabled, schedule, on_trace_ready
        self.activities = set(activities or supported_activities())
        self.record_shapes, self.with_flops, self.acc_events = record_shapes, with_flops, acc_events
        self._metadata: dict[str, Any] = {}
        self.step_num = 0
        self.current_action = ProfilerAction.NONE
        self._recorder: _Recorder | None = None
        self._step_block: Any = None
        self._events: EventList | None = None

    def __enter__(self) -> "profile":
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with step 0."""
        if self.enabled:
            self._take(self._action())

    def step(self) -> None:
        """The next step of the schedule begins."""
        if not self.enabled:
            return
        self._end_step()
        before = self.current_action
        self.step_num += 1
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._finish()
        self._take(self._action())

    def stop(self) -> None:
        """End; what is being recorded is complete."""
        self._end_step()
        if self.current_action in RECORDING:
            self._finish()
        self.current_action = ProfilerAction.NONE

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self.schedule is None else self.schedule(self.step_num)

    def _take(self, action: ProfilerAction) -> None:
        self.current_action = action
        if action in RECORDING and self._recorder is None:
            self._recorder = _Recorder(self.record_shapes, self.with_flops)
            self._recorder.__enter__()
            _recording.append(self._recorder)
        if self._recorder is not None and self.schedule is not None:
            self._step_block = self._recorder.block("ProfilerStep*", "user_annotation")
            self._step_block.__enter__().trace_name = f"ProfilerStep#{self.step_num}"

    def _end_step(self) -> None:
        if self._step_block is not None:
            self._step_block.__exit__(None, None, None)
            self._step_block = None

    def _finish(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        _recording.remove(recorder)
        recorder.__exit__(None, None, None)
        kept = self._events if self.acc_events else None
        self._events = EventList([*(kept or ()), *recorder.events])
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def events(self) -> EventList:
        """What ran, in the order in which it began. Raises StateError before anything was recorded."""
        if self._events is None:
            raise StateError("profile: nothing was recorded yet", "ask after the block, or in on_trace_ready")
        return self._events

    @property
    def function_events(self) -> EventList:
        """The same."""
        return self.events()

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The sums by name, or by name and shapes of the inputs."""
        return self.events().key_averages(group_by_input_shape)

    def total_average(self) -> FunctionEventAvg:
        """The sum of all."""
        return self.events().total_average()

    def table(self, *args: Any, **options: Any) -> str:
        """The sums by name as text: see EventList.table."""
        return self.key_averages().table(*args, **options)

    @property
    def self_cpu_time_total(self) -> float:
        """us of all events."""
        return self.events().self_cpu_time_total

    def export_chrome_trace(self, path: str | os.PathLike) -> None:
        """Write a trace for chrome://tracing or ui.perfetto.dev."""
        self.events().export_chrome_trace(path, self._metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> NoReturn:
        """Raises NotSupportedError: which line called what is not recorded."""
        raise NotSupportedError("profile: stacks are not recorded", "export_chrome_trace(path), or python -m cProfile")

    def add_metadata(self, key: str, value: str) -> None:
        """An entry next to the events of the trace."""
        for each in (key, value):
            expect_kind(each, str, "profile: expected texts as metadata; got {}", 'add_metadata("model", "small")')
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """The same of a value that is written as JSON."""
        self.add_metadata(key, value)
        try:
            self._metadata[key] = json.loads(value)
        except ValueError as error:
            raise ArgumentError(tr("profile: the value is not JSON: {}", error), "json.dumps(value)") from None


def _profiler_enabled() -> bool:
    """Whether what runs is written down."""
    return any(isinstance(each, _Recorder) for each in modes.observers)


def schedule(
    *, wait: int = 0, warmup: int = 0, active: int = 1, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """The function from a step's number to what is done in it: wait, warm up, record, again and again; repeat 0: without end."""
    numbers = (wait, warmup, active, repeat, skip_first, skip_first_wait)
    if any(type(number) is not int for number in numbers) or min(numbers) < 0 or active == 0:
        raise ArgumentError("Invalid profiler schedule arguments", "schedule(wait=1, warmup=1, active=3)")

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        length = wait + warmup + active
        if repeat and step >= repeat * length:
            return ProfilerAction.NONE
        at = step % length
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == length - 1 else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False) -> Callable[[profile], None]:
    """on_trace_ready that writes each trace into this folder."""

    def write(profiler: profile) -> None:
        folder = make_folder(dir_name)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        profiler.export_chrome_trace(folder / f"{worker}.{time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}")

    return write


def supported_activities() -> set[ProfilerActivity]:
    """The CPU."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Whether `profile` measures."""
    return True


class emit_nvtx(record_function):  # noqa: N801
    """Marks for NVIDIA's profiler: nobody sees them."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        super().__init__("emit_nvtx")


emit_itt = emit_nvtx
