"""The generator of random numbers: PyTorch's on a CPU, so that one seed gives one run in both."""

import contextlib
import os
from typing import Any

import numpy as np

from badak.core.errors import ArgumentTypeError, IndexOutOfRangeError, package, tr
from badak.tensor import dtypes
from badak.tensor._sampling import STATE_BYTES, Source
from badak.tensor.dtypes import Device
from badak.tensor.tensor import Tensor

_FIRST_SEED = 67280421310721  # of a new torch.Generator()


class Generator(Source):
    """A stream of random numbers with its own seed and state; `manual_seed(s)` gives the numbers that PyTorch gives.

    Next to PyTorch's methods it has array-level ones (uniform, normal, bernoulli, integers, permutation, ...): NumPy arrays
    out, for code that has no use for tensors. A state is PyTorch's own: `torch.set_rng_state` takes it, and the other way.
    """

    def __init__(self, device: Device = "cpu") -> None:
        dtypes.check_device(device)
        super().__init__(_FIRST_SEED)

    @property
    def device(self) -> Any:
        """The CPU."""
        return dtypes.CPU

    def manual_seed(self, seed: float) -> "Generator":
        """Start again from `seed` in [-2^63, 2^64); a negative s counts as 2^64 + s. Only the low 32 bits matter.

        Raises IndexOutOfRangeError outside that range.
        """
        if not hasattr(seed, "__index__"):
            raise ArgumentTypeError(tr("manual_seed: expected an int; got {!r}", seed), "manual_seed(0)")
        number = seed.__index__()
        if not -(1 << 63) <= number < 1 << 64:
            cause = tr("manual_seed: expected -2^63 <= seed < 2^64; got seed={}", number)
            raise IndexOutOfRangeError(cause, "take the seed modulo 2^63")
        self.reseed(number % (1 << 64))
        return self

    def seed(self) -> int:
        """Start again from a seed of the operating system's randomness, and return that seed (53 bits)."""
        number = int.from_bytes(os.urandom(8), "little") & ((1 << 53) - 1)
        self.reseed(number)
        return number

    def initial_seed(self) -> int:
        """The seed that this stream was last started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """The whole state, uint8 (5056,)."""
        return Tensor._of(self.state())

    def set_state(self, new_state: Tensor) -> None:
        """Go on from a state of `get_state()`. Raises StateError where it is none."""
        self.restore(new_state._array if isinstance(new_state, Tensor) else np.asarray(new_state))

    def clone_state(self) -> "Generator":
        """A second generator that goes on from the same point."""
        copy = Generator()
        copy.restore(self.state())
        return copy

    def __repr__(self) -> str:
        return f"<{package()}.Generator device='cpu' seed={self._seed}>"

    def __reduce__(self):
        return _from_state, (self.state(),)

    def __deepcopy__(self, memo) -> "Generator":
        return self.clone_state()


def _from_state(state) -> Generator:
    generator = Generator()
    generator.restore(state)
    return generator


default_generator = Generator()
default_generator.seed()


def manual_seed(seed: float) -> Generator:
    """Start the default generator from `seed`; the numbers drawn then are PyTorch's for that seed. Returns the generator.

    Args:
        seed: an integer

    Returns: the default generator

    Example:
        >>> _ = badak.manual_seed(0)
        >>> a = badak.rand(2)
        >>> _ = badak.manual_seed(0)
        >>> bool((badak.rand(2) == a).all())
        True
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start the default generator from a seed that nobody knows, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator was last started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The default generator's state, uint8 (5056,)."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator go on from `new_state`."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Any = None, enabled: bool = True, _caller: str = "fork_rng", _devices_kw: str = "devices", device_type: str = "cpu"
) -> Any:
    """Within this block draw as you like: afterwards the default generator goes on as if nothing had been drawn."""
    state = default_generator.state() if enabled else None
    try:
        yield
    finally:
        if enabled:
            default_generator.restore(state)


__all__ = [
    "STATE_BYTES", "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed",
    "seed", "set_rng_state",
]  # fmt: skip
