"""Devices that are not there. Asking whether they are is answered; asking for work of them is an error."""

from collections.abc import Callable
from typing import Any, NoReturn

from badak.core.errors import DeviceError, tr
from badak.core.errors import OutOfMemoryError as OutOfMemoryError
from badak.core.public_api.door import Namespace
from badak.core.public_api.table import reach
from badak.tensor import device as Device


def refuse(name: str) -> NoReturn:
    """Raise: `name` needs a device that badak does not have."""
    raise DeviceError(tr("{}: badak computes on the CPU and has no such device", name), "ask is_available() before")


def nothing(*args: Any, **kwargs: Any) -> None:
    """Accept the call: without the device there is nothing to do."""


def refusing(name: str) -> Callable:
    """A function that raises as `refuse` does."""

    def refused(*args, **kwargs) -> NoReturn:
        refuse(name)

    return refused


def _absent(name: str, **more: object) -> Namespace:
    """The namespace of a device that is not there."""
    return Namespace(
        is_available=lambda: False,
        is_initialized=lambda: False,
        device_count=lambda: 0,
        manual_seed=nothing,
        manual_seed_all=nothing,
        seed=nothing,
        empty_cache=nothing,
        synchronize=refusing(f"{name}.synchronize"),
        **{call: refusing(f"{name}.{call}") for call in ("current_device", "set_device", "get_device_properties")},
        **more,
    )


mps = _absent("mps", current_allocated_memory=lambda: 0, driver_allocated_memory=lambda: 0)
xpu = _absent("xpu", is_bf16_supported=lambda: False)
accelerator = _absent(
    "accelerator",
    current_accelerator=lambda check_available=False: None,
    set_device_index=refusing("accelerator.set_device_index"),
    set_device_idx=refusing("accelerator.set_device_idx"),
    current_device_index=refusing("accelerator.current_device_index"),
)
cpu = Namespace(
    is_available=lambda: True, device_count=lambda: 1, current_device=lambda: "cpu", synchronize=nothing, set_device=nothing
)


def get_device_module(device: str | Device | None = None) -> Any:
    """torch.cpu, or that of the device of this name: `torch.get_device_module("cuda")` is torch.cuda.

    Raises:
        DeviceError: where there is no such module, and of anything but a device and its name
    """
    if not isinstance(device, str | Device | None):
        raise DeviceError(tr("Invalid value of device '{}', expect torch.device, str, or None", device), 'get_device_module("cpu")')
    return module_of("cpu" if device is None else Device(device).type)


def module_of(name: str) -> Any:
    """torch.cpu for "cpu"."""
    module = reach(f"badak.{name}")
    if module is None:
        raise DeviceError(tr("Device '{}' does not have a corresponding module registered as 'torch.{}'.", name, name), "'cpu'")
    return module
