"""What can be seen of a program: a list of (where, value), values as plain data and arrays."""

import array
import collections
import hashlib
import io
import numbers
import random
import traceback
from dataclasses import dataclass, field
from types import FunctionType, MappingProxyType, ModuleType, SimpleNamespace

import numpy as np

from badak import bfloat16 as BFLOAT16


@dataclass(frozen=True)
class Seen:
    """A tensor as it was at one moment."""

    array: np.ndarray
    strides: tuple[int, ...]  # in elements, 0 where an axis of size 0 or 1 makes them mean nothing
    dtype: str
    wants: bool  # requires_grad
    leaf: bool

    def __repr__(self) -> str:
        values = np.array2string(self.array, precision=9, threshold=8, edgeitems=2).replace("\n", " ")
        return f"{self.dtype} {self.array.shape} strides {self.strides} requires_grad {self.wants} {values}"


def seen(x) -> Seen:
    """A tensor of either library."""
    if hasattr(x, "_array") and x.dtype is not BFLOAT16:
        array = x._array
        steps = (0 if 0 in array.shape or size == 1 else step // array.itemsize for size, step in zip(array.shape, array.strides))
        return Seen(np.array(array, order="C"), tuple(steps), array.dtype.name, bool(x.requires_grad), bool(x.is_leaf))
    values = x.detach()
    values = values.float() if str(x.dtype).endswith("bfloat16") else values
    shape = tuple(x.shape)
    strides = tuple(0 if 0 in shape or size == 1 else step for size, step in zip(shape, x.stride()))
    dtype = str(x.dtype).rpartition(".")[2]
    values = values.clone()  # memory that NumPy has seen is not resized, but PyTorch writes to it as if it were
    return Seen(np.array(values.numpy(), order="C"), strides, dtype, bool(x.requires_grad), bool(x.is_leaf))


@dataclass(frozen=True)
class Failure:
    """An error that a program met."""

    kind: str
    text: str
    line: int = field(compare=False)  # of the program, the innermost; 0 where it was replayed


class Record(list):
    """What was seen of a program, in order."""

    def __init__(self, lib):
        super().__init__()
        self.lib = lib
        self._inside: list[int] = []  # objects that are being told

    def error(self, where: str, error: Exception) -> None:
        """An error that was caught."""
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<program>"]
        self.append((where, Failure(type(error).__name__, str(error), lines[-1] if lines else 0)))

    def look(self, where: str, value, gradients: bool = True) -> None:
        """A value with all that hangs on it."""
        lib = self.lib
        if isinstance(value, lib.Tensor):
            self.append((where, seen(value)))
            if gradients and value.is_leaf:
                self.append((f"{where}.grad", None if value.grad is None else seen(value.grad)))
        elif isinstance(value, lib.nn.Module):
            self._module(where, value)
        elif isinstance(value, lib.optim.Optimizer):
            self.look(where, value.state_dict(), False)
        elif isinstance(value, lib.optim.lr_scheduler.LRScheduler):
            state = {name: part for name, part in value.state_dict().items() if not name.startswith("_")}
            self.look(where, {k: v for k, v in state.items() if isinstance(v, numbers.Number | list)})
        elif isinstance(value, dict | MappingProxyType | collections.ChainMap | collections.UserDict):
            for key, part in sorted(value.items(), key=lambda pair: str(pair[0])):
                self.look(f"{where}[{key!r}]", part, gradients)
        elif isinstance(value, tuple | list | collections.deque | array.array):
            self.append((where, (type(value).__name__, len(value))))
            for at, part in enumerate(value):
                self.look(f"{where}[{at}]", part, gradients)
        elif isinstance(value, set | frozenset):
            self.append((where, sorted(map(str, value))))
        elif isinstance(value, np.ndarray):
            self.append((where, value.tolist()))
        elif isinstance(value, io.StringIO):
            self.append((where, value.getvalue()))
        elif type(value).__name__ == "KeyValueCache":
            self.append((where, (len(value), value.max_length, value.length)))
        elif isinstance(value, str | numbers.Number | type(None)):
            self.append((where, value))
        else:
            self._own(where, value, gradients)

    def _own(self, where: str, value, gradients: bool) -> None:
        """What an object, a class or a function of the program holds."""
        kind = value if isinstance(value, type) else type(value)
        if isinstance(value, FunctionType) and value.__code__.co_filename == "<program>":
            held = [cell.cell_contents for cell in value.__closure__ or ()]
            parts = dict(enumerate([*held, *(value.__defaults__ or ())])) | vars(value)
        elif kind.__module__ == "program" or isinstance(value, SimpleNamespace):
            parts = dict(getattr(value, "__dict__", {}))
            parts |= {name: getattr(value, name) for name in getattr(kind, "__slots__", ()) if hasattr(value, name)}
            if isinstance(value, type) and issubclass(value, self.lib.nn.Module):
                return
        else:
            return
        if len(self._inside) < 5 and id(value) not in self._inside:  # what holds itself is told once
            self._inside.append(id(value))
            self.look(where, {name: part for name, part in parts.items() if not str(name).startswith("__")}, gradients)
            self._inside.pop()

    def _module(self, where: str, module) -> None:
        for name, parameter in module.named_parameters():
            self.look(f"{where}.{name}", parameter)
        for name, buffer in module.named_buffers():
            self.look(f"{where}.{name}", buffer)
        for name, part in module.named_modules():
            self.append((f"{where}.{name}.training", part.training))
            for own in ("scale", "calls", "kept", "seen", "on"):
                if own in part.__dict__:
                    self.look(f"{where}.{name}.{own}", part.__dict__[own])
            held = [own for own in part.__dict__ if own.startswith("held")]
            for own in held:
                self.look(f"{where}.{name}.{own}", part.__dict__[own])

    def look_around(self, where: str, names: dict) -> None:
        """Everything that a program has given a name."""
        for name, value in names.items():
            if not name.startswith("_") and not isinstance(value, ModuleType):
                try:
                    self.look(f"{where}: {name}", value)
                except Exception as error:  # a state that cannot be asked for
                    self.error(f"{where}: {name}", error)
        state = self.lib.get_rng_state().numpy().tobytes() if hasattr(self.lib, "kernels") else b"PyTorch's has another form"
        self.append((f"{where}: generator", state))
        drawn = hashlib.sha256(repr((random.getstate(), np.random.get_state()[1:])).encode()).digest()
        self.append((f"{where}: Python's and NumPy's random numbers", drawn))
        self.append((f"{where}: grad mode", self.lib.is_grad_enabled()))
