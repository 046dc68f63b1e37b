"""`torch.__config__`: what computes, as text."""

from badak import kernels
from badak.compat.torch.settings import get_num_interop_threads, get_num_threads
from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.core.public_api.version import BADAK


def show() -> str:
    """badak's version and what its kernels are, a line each."""
    lines = [f"badak built with:\n  - badak {BADAK}", *(f"  - {name}: {value}" for name, value in kernels.info().items())]
    return "\n".join(lines) + "\n"


def parallel_info() -> str:
    """How many threads compute, and whose they are."""
    return (
        f"ATen/Parallel:\n\tat::get_num_threads() : {get_num_threads()}\n"
        f"\tat::get_num_interop_threads() : {get_num_interop_threads()}\n"
        f"ATen parallel backend: {kernels.info().get('threading', 'NumPy')}\n"
    )


_guard_names(globals(), "badak.__config__")
__getattr__, __dir__ = _door("badak.__config__")
