"""A tensor's values in the words of Python and NumPy: item(), float(x), f"{x:.3f}", numpy(), ..."""

from numbers import Number
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, DeviceError, ExportError, GraphError, ShapeError, tr
from badak.core.modes import anywhere, modes
from badak.tensor.attributes import held_by
from badak.tensor.batched import Batched, no_number
from badak.tensor.history import History
from badak.tensor.notebook import html_of
from badak.tensor.printing import format_tensor
from badak.tensor.wrapped import is_wrapper


class Values(History):
    """The part of Tensor that hands its values out; its fields stand in `tensor.py`."""

    def _read(self, how: str) -> None:
        """Say that a value goes to Python, which a replay would not see."""
        events.read(how)
        if anywhere.casting and self._described is None and type(held_by(self).get("_array")) is Batched:
            raise no_number(how)

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The values as an ndarray that shares this tensor's memory; NumPy has no bfloat16 and no float8.

        Args:
            force: also where the tensor wants a gradient

        Returns: an array of the tensor's shape

        Raises:
            GraphError: for a tensor that wants a gradient, without force

        Example:
            >>> badak.ones(2).numpy()
            array([1., 1.], dtype=float32)
        """
        self._read("numpy")
        if is_wrapper(self):
            raise ArgumentTypeError(".numpy() is not supported for tensor subclasses.", "x.numpy() of what it wraps")
        if self.requires_grad and not force and modes.grad:
            cause = tr("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
            raise GraphError(cause, "tensor.detach().numpy()")
        if self._array.dtype.kind == "V":
            cause = tr("Got unsupported ScalarType {}", self.dtype.word)
            raise ArgumentTypeError(cause, "tensor.float().numpy(): NumPy has no such dtype")
        return self._array

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        array = self.numpy()
        return np.array(array, dtype=dtype, copy=copy)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        """What NumPy's functions give for a tensor: a tensor without history; yes and no are uint8, as in PyTorch."""
        return self._of(np.asarray(array.astype(np.uint8) if array.dtype == bool else array))

    def __dlpack__(self, *, stream=-1, max_version=None, dl_device=None, copy=None):
        if stream is not None and type(stream) is not int:
            raise ArgumentTypeError("stream must be ``int`` or ``none``", "stream=None")
        if stream not in (None, -1):
            raise ArgumentError("stream should be None on cpu.", "stream=None")
        for name, pair in (("max_version", max_version), ("dl_device", dl_device)):
            if pair is not None and not (isinstance(pair, tuple) and len(pair) == 2):
                raise ArgumentTypeError(
                    tr("DLPack: {} must be None or a tuple of two integers; got {!r}", name, pair), f"{name}=None"
                )
        if dl_device is not None and dl_device[0] != 1:
            raise DeviceError(tr("DLPack: tensors are exported on the CPU; got dl_device={}", dl_device), "dl_device=None")
        self._expect_exportable()
        if self._array.dtype.kind == "V":
            raise ExportError(tr("DLPack: NumPy has no {} to export", self.dtype), "tensor.float()")
        return self._array.__dlpack__(max_version=max_version, copy=copy)

    def _expect_exportable(self) -> None:
        if self.requires_grad and modes.grad:
            raise ExportError("Can't export tensors that require gradient, use tensor.detach()", "tensor.detach()")
        self._read("DLPack")

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def item(self) -> Any:
        """The one value as a Python number.

        Returns: int, float, complex or bool

        Raises:
            ArgumentError: for more than one value

        Example:
            >>> badak.tensor([2.5]).item()
            2.5
        """
        self._read("item")
        if self._array.size != 1:
            cause = tr(
                "a Tensor with {} elements cannot be converted to Scalar (its shape is {})", self._array.size, tuple(self.shape)
            )
            raise ShapeError(cause, "reduce it first, as in x.mean().item(), or use x.tolist()")
        return self._array.item()

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers.

        Returns: nested lists; a number for no axis

        Example:
            >>> badak.eye(2).tolist()
            [[1.0, 0.0], [0.0, 1.0]]
        """
        self._read("tolist")
        if is_wrapper(self):
            kind = type(self).__name__
            cause = tr(".tolist() is not supported for tensor subclasses, got {}", kind)
            raise ArgumentTypeError(cause, "x.tolist() of what it wraps")
        return self._array.tolist()

    def _number(self) -> Any:
        """The one value; of a wrapper, what its class answers."""
        return self.item() if is_wrapper(self) else self._array.item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    __long__ = __int__

    def __complex__(self) -> complex:
        return complex(self.item())

    def __bool__(self) -> bool:
        self._read("bool()")
        if self._array.size != 1:
            many = tr("no values") if self._array.size == 0 else tr("more than one value")
            cause = tr("Boolean value of Tensor with {} is ambiguous", many)
            raise ShapeError(cause, "use x.any() or x.all(), or x is None to test for absence")
        return bool(self._number())

    __nonzero__ = __bool__

    def __index__(self) -> int:
        self._read(tr("an index"))
        if self._array.size != 1 or self._array.dtype.kind not in "iub":
            cause = tr("only integer tensors of a single element can be converted to an index")
            raise ArgumentTypeError(cause, "x.item(), or x.long() first")
        return int(self._number())

    def __len__(self) -> int:
        if self.ndim == 0:
            raise ArgumentTypeError("len() of a 0-d tensor", "x.item() gives its value")
        return self.shape[0]

    def __iter__(self):
        if self.ndim == 0:
            raise ArgumentTypeError("iteration over a 0-d tensor", "x.item() gives its value")
        return iter(self.unbind(0))

    def __reversed__(self):
        return self.flip(0) if self.ndim else self

    def __contains__(self, value) -> bool:
        self._read("in")
        if is_wrapper(self):
            return bool((self == value).any())
        if isinstance(value, Values):
            value = value._array
        elif not isinstance(value, Number):
            cause = tr("Tensor.__contains__ only supports Tensor or scalar, but you passed in a {}.", type(value))
            raise ArgumentError(cause, "value in x.tolist()")
        return bool((self._array == value).any())

    def __format__(self, spec: str) -> str:
        if self._described is not None:
            return repr(self)
        self._read("format()")
        if self._array.ndim == 0:
            return format(self._array.item(), spec)
        if spec:
            cause = tr("unsupported format string passed to Tensor.__format__")
            raise ArgumentTypeError(cause, "format x.item(), or each of x.tolist()")
        return str(self)

    def __repr__(self, **options) -> str:
        if options.get("tensor_contents") is not None:  # PyTorch's word for what a class shows in the place of the numbers
            return format_tensor(self, options["tensor_contents"])
        if anywhere.casting and self._described is None and type(array := held_by(self).get("_array")) is Batched:
            return f"Batched({array.level.size} examples of {tuple(self.shape)}, {self.dtype})"
        if self._described is None:
            self._read("str()")
        return format_tensor(self)

    def _repr_html_(self) -> str:
        if self._described is None:
            self._read("_repr_html_()")
        return html_of(self)
