"""`torch.profiler`: a program may mark what it wants to have measured. The marks do nothing, and say so when asked.

badak's operations are measured from outside: `badak profile program.py`.
"""

from enum import Enum
from typing import Any, NoReturn

from badak.core.errors import NotSupportedError


class ProfilerActivity(Enum):
    """What could be measured."""

    CPU, CUDA, XPU, MTIA, PrivateUse1 = range(5)


class ProfilerAction(Enum):
    """What a schedule says of one step."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


class record_function:  # noqa: N801  (PyTorch's name)
    """A named block, or function."""

    def __init__(self, name: str, args: str | None = None):
        self.name, self.args = name, args

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def __call__(self, function):
        return function


class profile(record_function):  # noqa: N801
    """A block to be measured: it runs. Asking for the measurements raises NotSupportedError."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__("profile")

    def step(self) -> None:
        """The next step of a schedule."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""

    def key_averages(self, *args, **kwargs) -> NoReturn:
        """Raises: the program did not measure itself."""
        raise NotSupportedError("profiler: a program does not measure its own operations here", "badak profile program.py")

    events = export_chrome_trace = export_stacks = key_averages
    total_average = table = self_cpu_time_total = key_averages


def schedule(*, wait: int = 0, warmup: int = 0, active: int = 1, repeat: int = 0, skip_first: int = 0, **options):
    """The function from a step's number to what is done in it: nothing."""
    return lambda step: ProfilerAction.NONE


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False):
    """A function that would write a trace."""
    return lambda profiler: None


def supported_activities() -> set:
    """The empty set."""
    return set()


emit_nvtx = emit_itt = profile
