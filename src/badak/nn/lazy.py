"""Layers that learn their input's size from the first input: until then their parameters have no shape."""

from collections.abc import Sequence
from typing import Any

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, NotSupportedError, ShapeError, tr
from badak.nn.batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, _NormBase
from badak.nn.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, _ConvNd
from badak.nn.functional._common import tensor as needed
from badak.nn.linear import Linear
from badak.nn.module import Module
from badak.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from badak.tensor import int64, tensor
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812


class LazyModuleMixin(Module):
    """What makes a layer lazy: `initialize_parameters(input)` gives its parameters their shapes before the first forward.

    After that forward the layer is one of the class `cls_to_become`. A state_dict that is loaded gives the shapes, too. Make the
    optimizer after the first forward, or after loading.
    """

    cls_to_become: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _own_tensors(self):
        return [x for x in (*self._parameters.values(), *self._buffers.values()) if x is not None]

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(x) for x in self._own_tensors())

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters the shapes that fit the input."""
        cause = tr("initialize_parameters is not implemented for {}", type(self).__name__)
        raise NotSupportedError(cause, "def initialize_parameters(self, input): ...")

    def reset_parameters(self) -> None:
        """Draw the parameters again, once they have shapes."""
        if not self.has_uninitialized_params() and self._sized():
            super().reset_parameters()  # type: ignore[misc]

    def _sized(self) -> bool:
        return True

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        for name, value in self._own_state().items():
            destination[prefix + name] = value if is_lazy(value) or keep_vars else value.detach()

    def _lazy_load_hook(self, state_dict, prefix, *others) -> None:
        """Take the shapes of what is about to be loaded."""
        for name, value in (self._parameters | self._buffers).items():
            given = state_dict.get(prefix + name)
            if value is not None and given is not None and is_lazy(value) and not is_lazy(given):
                with no_grad():
                    value.materialize(given.shape)

    def _load_member(self, name, current, value, key, assign):
        if is_lazy(current) and is_lazy(value):  # neither has values yet
            return None
        return super()._load_member(name, current, value, key, assign)

    def _infer_parameters(self, module, args, kwargs=None) -> None:
        self.initialize_parameters(*args, **(kwargs or {}))
        if self.has_uninitialized_params():
            cause = tr("module {} has not been fully initialized", type(self).__name__)
            raise ShapeError(cause, "initialize_parameters must give every parameter its shape: weight.materialize(shape)")
        self._initialize_hook.remove()
        self._load_hook.remove()
        del self._initialize_hook, self._load_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become


def _given(x: Any, shape: tuple[int, ...]) -> None:
    """Let x, where it has no shape yet, have this one."""
    if is_lazy(x):
        x.materialize(shape)


class LazyLinear(LazyModuleMixin, Linear):
    """Linear whose in_features is the size of the first input's last axis."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Device = None, dtype: DType | None = None) -> None:
        super().__init__(0, 0, False)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _sized(self) -> bool:
        return self.in_features != 0

    def initialize_parameters(self, input: Any) -> None:
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = needed(input, type(self).__name__).shape[-1]
                _given(self.weight, (self.out_features, self.in_features))
                _given(self.bias, (self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:  # shapes came with a state_dict
            self.in_features = self.weight.shape[-1]


class _LazyConv(LazyModuleMixin, _ConvNd):
    def _without_shape(self, out_channels: int, bias: bool, device, dtype) -> None:
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _sized(self) -> bool:
        return self.in_channels != 0

    def initialize_parameters(self, input, *args, **kwargs) -> None:
        if self.has_uninitialized_params():
            self.in_channels = self._channels(input)
            if self.in_channels % self.groups:
                raise ArgumentError("in_channels must be divisible by groups", tr("groups=1; in_channels are {}", self.in_channels))
            pair = (self.in_channels, self.out_channels // self.groups)
            if not self.transposed:
                pair = (self.out_channels, self.in_channels // self.groups)
            with no_grad():
                _given(self.weight, (*pair, *self.kernel_size))
                _given(self.bias, (self.out_channels,))
                self.reset_parameters()
        if self.in_channels == 0:
            rows, columns = self.weight.shape[:2]
            self.in_channels = rows if self.transposed else columns * self.groups

    def _channels(self, input) -> int:
        if needed(input, type(self).__name__).dim() not in (self.axes + 1, self.axes + 2):
            cause = tr("Expected {}D (unbatched) or {}D (batched) input to {}, but got input of size: {}", self.axes + 1,
                       self.axes + 2, type(self).__name__, tuple(input.shape))  # fmt: skip
            raise ShapeError(cause, "(N, C, ...)")
        return input.shape[1] if input.dim() == self.axes + 2 else input.shape[0]


class _LazyPlain(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: str | int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._without_shape(out_channels, bias, device, dtype)


class _LazyTransposed(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: str | int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | Sequence[int] = 1,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._without_shape(out_channels, bias, device, dtype)


class LazyConv1d(_LazyPlain, Conv1d):
    """Conv1d whose in_channels are those of the first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyPlain, Conv2d):
    """Conv2d whose in_channels are those of the first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyPlain, Conv3d):
    """Conv3d whose in_channels are those of the first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):
    """ConvTranspose1d whose in_channels are those of the first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):
    """ConvTranspose2d whose in_channels are those of the first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):
    """ConvTranspose3d whose in_channels are those of the first input."""

    cls_to_become = ConvTranspose3d


class _LazyNorm(LazyModuleMixin, _NormBase):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: Any = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, dtype=int64)

    def _sized(self) -> bool:
        return self.num_features != 0

    def initialize_parameters(self, input) -> None:
        if self.has_uninitialized_params():
            self.num_features = needed(input, type(self).__name__).shape[1]
            with no_grad():
                for x in self._own_tensors():
                    _given(x, (self.num_features,))
                self.reset_parameters()
        if self.num_features == 0:
            known = (x.shape[0] for x in self._own_tensors() if x.dim())
            self.num_features = next(known, needed(input, type(self).__name__).shape[1])


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """BatchNorm1d whose num_features are the channels of the first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """BatchNorm2d whose num_features are the channels of the first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """BatchNorm3d whose num_features are the channels of the first input."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """InstanceNorm1d whose num_features are the channels of the first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """InstanceNorm2d whose num_features are the channels of the first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """InstanceNorm3d whose num_features are the channels of the first input."""

    cls_to_become = InstanceNorm3d
