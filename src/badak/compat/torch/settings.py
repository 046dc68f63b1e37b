"""Settings of the whole program. Those that would trade digits for speed are remembered and change nothing here."""

import importlib
import os
from typing import Any

from badak import kernels
from badak.core import events
from badak.core.errors import ArgumentError, tr
from badak.tensor import device as Device
from badak.tensor.dtypes import check_device, entered
from badak.tensor.meta_storage import filled

_PRECISIONS = ("highest", "high", "medium")
_settings: dict[str, Any] = {
    "precision": "highest",
    "deterministic": False,
    "warn_only": False,
    "warn_always": False,
    "interop": 1,
}
events.for_all(globals(), "_settings")


def set_float32_matmul_precision(precision: str) -> None:
    """Remember "highest", "high" or "medium"; badak multiplies float32 in float32 whatever it says."""
    if precision not in _PRECISIONS:
        raise ArgumentError(tr("float32 matmul precision: expected one of {}; got {!r}", _PRECISIONS, precision), '"highest"')
    _settings["precision"] = precision


def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision was given; "highest" unless set."""
    return str(_settings["precision"])


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Remember the wish; badak is deterministic anyway: the same input gives the same bits on any number of threads.

    What empty() and its kin give is NaN then, or the largest integer, as in PyTorch.
    """
    _settings["deterministic"], _settings["warn_only"] = bool(mode), bool(warn_only)
    if mode and not filled:
        filled.append(_fills)


def _fills() -> bool:
    """Whether memory that nobody has written to is filled: torch.utils.deterministic.fill_uninitialized_memory."""
    return (
        bool(_settings["deterministic"]) and importlib.import_module("badak.compat.torch.deterministic").fill_uninitialized_memory
    )


def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms was given; False unless set."""
    return bool(_settings["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """The warn_only of use_deterministic_algorithms."""
    return bool(_settings["warn_only"])


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """use_deterministic_algorithms, said with 0, 1, 2 or "default", "warn", "error"."""
    level = {"default": 0, "warn": 1, "error": 2}.get(str(debug_mode), debug_mode)
    use_deterministic_algorithms(level in (1, 2), warn_only=level == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: use_deterministic_algorithms off, with a warning, with an error."""
    return int(bool(_settings["deterministic"])) * (1 if _settings["warn_only"] else 2)


def set_warn_always(b: bool, /) -> None:
    """Remember the wish; badak repeats a warning as Python's `warnings` is set."""
    _settings["warn_always"] = bool(b)


def is_warn_always_enabled() -> bool:
    """What set_warn_always was given; False unless set."""
    return bool(_settings["warn_always"])


def set_flush_denormal(mode: bool) -> bool:
    """False: badak leaves the CPU's treatment of denormal numbers as it is."""
    return False


def set_num_threads(n: int) -> None:
    """Let the Numba kernels use up to n threads; results do not change. More than there are cores counts as all of them.

    Args:
        n: threads, at least 1

    Raises:
        ArgumentError: for n below 1

    Example:
        >>> badak.set_num_threads(badak.get_num_threads())
    """
    if not isinstance(n, int) or n < 1:
        raise ArgumentError(tr("set_num_threads expects a positive integer; got {!r}", n), "set_num_threads(1)")
    fast = _fast()
    if fast is not None:
        fast.set_num_threads(min(n, max(os.cpu_count() or 1, fast.get_num_threads())))


def get_num_threads() -> int:
    """How many threads a kernel may use; the reference kernels leave it to NumPy and count as one."""
    fast = _fast()
    return fast.get_num_threads() if fast is not None else 1


def _fast():
    """The fast kernel set where it is in use, else None."""
    return importlib.import_module("badak.kernels.numba") if kernels.info()["kernels"] == "numba" else None


def set_num_interop_threads(n: int) -> None:
    """Remember n; badak runs one operation at a time."""
    _settings["interop"] = n


def get_num_interop_threads() -> int:
    """What set_num_interop_threads was given; 1 unless set."""
    return int(_settings["interop"])


def set_default_device(device: Any) -> None:
    """Make new tensors there: on the CPU, as always, or on the meta device. Raises NotSupportedError for any other."""
    wanted = Device("cpu" if device is None else device)
    if wanted.type != "meta":
        check_device(wanted)
    if _settings.get("device") in entered:
        entered.remove(_settings["device"])
    _settings["device"] = wanted
    entered.insert(0, wanted)


def get_default_device() -> Device:
    """Where new tensors are made: the CPU, unless a block or set_default_device says otherwise."""
    return entered[-1] if entered else Device("cpu")
