"""`torch.cuda` on a machine without a GPU: not available, no device, nothing allocated; seeds are accepted.

What only makes sense with a device raises NotSupportedError, at the place where it is called.
"""

from badak.compat.torch.cuda import amp as amp
from badak.compat.torch.cuda import nvtx as nvtx
from badak.compat.torch.devices import OutOfMemoryError as OutOfMemoryError
from badak.compat.torch.devices import nothing, refusing
from badak.tensor.dtypes import Device, check_device, cuda_as_cpu
from badak.tensor.legacy import TENSORS


def is_available() -> bool:
    """False: there is no GPU."""
    return False


is_initialized = is_tf32_supported = _is_in_bad_fork = is_available
_initialized = False


def device_count() -> int:
    """0."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no GPU that could."""
    return False


def get_arch_list() -> list[str]:
    """The empty list."""
    return []


def get_rng_state_all() -> list:
    """The states of all GPUs: the empty list."""
    return []


def _no_bytes(device=None) -> int:
    """0: nothing is allocated on a GPU."""
    return 0


def memory_stats(device: Device = None) -> dict[str, int]:
    """The empty dict."""
    return {}


class _Nowhere:
    """A context for the device that is not there: entering it does nothing."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class device(_Nowhere):  # noqa: N801  (PyTorch's name)
    """`with cuda.device(0):` does nothing."""


class stream(_Nowhere):  # noqa: N801
    """`with cuda.stream(s):` does nothing."""


memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = _no_bytes
memory_cached = max_memory_cached = _no_bytes
manual_seed = manual_seed_all = seed = seed_all = empty_cache = set_rng_state_all = nothing
reset_peak_memory_stats = reset_max_memory_allocated = reset_max_memory_cached = reset_accumulated_memory_stats = nothing

_REFUSED = """init current_device current_stream default_stream set_stream synchronize get_device_name get_device_capability
    get_device_properties get_rng_state set_rng_state initial_seed ipc_collect mem_get_info memory_summary
    set_per_process_memory_fraction utilization can_device_access_peer is_current_stream_capturing"""
globals().update((name, refusing(f"cuda.{name}")) for name in _REFUSED.split())
set_device = check_device if cuda_as_cpu else refusing("cuda.set_device")


class _OnGpu(type):
    """The classes of things on a GPU: nothing is an instance, and making one is an error."""

    def __call__(cls, *args, **kwargs):
        refusing(f"cuda.{cls.__name__}")()

    def __instancecheck__(cls, thing) -> bool:
        return False


def _on_gpu(name: str) -> type:
    return _OnGpu(name, (), {"__doc__": "A thing on a GPU: there is none."})


_CLASSES = ("Stream", "Event", "CUDAGraph", "ExternalStream", "StreamContext", "MemPool", "graph", *TENSORS)
globals().update((name, _on_gpu(name)) for name in _CLASSES)
default_generators: tuple = ()
