"""Normalisation by the statistics of a batch, remembered for evaluation."""

from collections.abc import Callable
from typing import Any

from badak.autograd import no_grad
from badak.core.errors import ShapeError, tr
from badak.nn import functional as F
from badak.nn import init
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Tensor, cat, empty, int64, ones, tensor, zeros
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812

# asked for the sum over the ranks of a process group, gives it, or None where there is one rank; badak.distributed sets it
over_ranks: Callable[[Any], Callable[[Tensor], Tensor] | None] = lambda process_group: None


class _NormBase(Module):
    """Weight and bias of each channel, and running statistics: (1 - momentum) old + momentum new at each step of training."""

    _version = 2
    dims: tuple[int, ...] = ()
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(empty(num_features, device=device, dtype=dtype)) if wanted else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", ones(num_features, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batch seen."""
        if self.track_running_stats:
            self.running_mean.zero_()  # type: ignore[union-attr]
            self.running_var.fill_(1)  # type: ignore[union-attr]
            self.num_batches_tracked.zero_()  # type: ignore[union-attr]

    def reset_parameters(self) -> None:
        """Weight to 1, bias to 0, and the running statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self.dims:
            wanted = " or ".join(f"{n}D" for n in self.dims)
            raise ShapeError(tr("expected {} input (got {}D input)", wanted, input.dim()), "(N, C, ...)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) -> None:
        key = f"{prefix}num_batches_tracked"
        if (local_metadata.get("version") or 0) < 2 and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked if self.num_batches_tracked is not None else tensor(0)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the plain mean of all batches so far
                momentum = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        kept = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if kept else None,
            self.running_var if kept else None,
            self.weight,
            self.bias,
            by_batch,
            momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """y = w (x - mean) / sqrt(var + eps) + b for each channel of x (N, C) or (N, C, L), over all else.

    Training takes mean and biased var of the batch, evaluation those remembered. momentum None: the plain mean of all batches.
    Source: Ioffe, Szegedy 2015, "Batch normalization".

    Args:
        num_features: channels C
        eps: added to the variance
        momentum: weight of the new batch in the running mean; None for the plain mean of all batches
        affine: whether w and b are learned
        track_running_stats: whether mean and variance are remembered for evaluation
        device, dtype: of parameters and buffers
        bias: whether there is a b (with affine)

    Returns: module; `forward` keeps the shape

    Raises:
        ArgumentError: from `forward` in training, for one value a channel

    Example:
        >>> tuple(nn.BatchNorm1d(3)(badak.randn(4, 3)).shape)
        (4, 3)
    """

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """As BatchNorm1d, x (N, C, H, W).

    Args:
        num_features: channels C
        eps: added to the variance
        momentum: weight of the new batch in the running mean; None for the plain mean of all batches
        affine: whether w and b are learned
        track_running_stats: whether mean and variance are remembered for evaluation
        device, dtype: of parameters and buffers
        bias: whether there is a b (with affine)

    Returns: module; `forward` keeps the shape (N, C, H, W)

    Example:
        >>> tuple(nn.BatchNorm2d(3)(badak.randn(2, 3, 4, 4)).shape)
        (2, 3, 4, 4)
    """

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """As BatchNorm1d, x (N, C, D, H, W)."""

    dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """BatchNorm of any shape (N, C, ...), by the statistics of the batches of all ranks of a process group, the world unless said.

    Ranks may have batches of different sizes; each calls it equally often. With one rank it is BatchNorm.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Device = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ShapeError(tr("expected at least 2D input (got {}D input)", input.dim()), "(N, C, ...)")

    def forward(self, input: Tensor) -> Tensor:
        total = over_ranks(self.process_group) if self.training else None
        if total is None:
            return super().forward(input)
        self._check_input_dim(input)
        dims = (0, *range(2, input.dim()))
        shape = (1, -1, *(1 for _ in input.shape[2:]))
        x = input.float() if input.dtype.itemsize < 4 else input
        rows = input.numel() // input.shape[1]  # what a mean of this rank goes over
        sums = total(cat([x.sum(dims), x.new_tensor([rows])]))  # (C + 1)
        n, mean = sums[-1].detach(), sums[:-1] / sums[-1].detach()
        centered = x - mean.view(shape)
        var = total(centered.square().sum(dims)) / n
        self._remember(mean, var, float(n))
        y = centered * (var + self.eps).rsqrt().view(shape)
        if self.weight is not None:
            y = y * self.weight.view(shape)
        if self.bias is not None:
            y = y + self.bias.view(shape)
        return y.to(input.dtype)

    @no_grad()
    def _remember(self, mean: Tensor, var: Tensor, n: float) -> None:
        """Move the running statistics towards those of a batch of n rows on all ranks."""
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.num_batches_tracked.add_(1)
        momentum = 1.0 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), momentum)
        self.running_var.lerp_((var * (n / max(n - 1, 1))).to(self.running_var.dtype), momentum)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """`module` with a SyncBatchNorm of the same parameters in the place of each BatchNorm."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group)
            made._parameters.update(module._parameters)
            made._buffers.update(module._buffers)
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        lone = input.dim() == self.dims[0]
        x = input.unsqueeze(0) if lone else input
        by_input = self.training or not self.track_running_stats
        y = F.instance_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, by_input, self.momentum or 0.0, self.eps
        )
        return y.squeeze(0) if lone else y


class InstanceNorm1d(_InstanceNorm):
    """As BatchNorm1d for each sequence of x (N, C, L) or (C, L) by itself. Source: Ulyanov et al. 2016."""

    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """As BatchNorm2d for each image of x (N, C, H, W) or (C, H, W) by itself."""

    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """As BatchNorm3d for each volume of x (N, C, D, H, W) or (C, D, H, W) by itself."""

    dims = (4, 5)
