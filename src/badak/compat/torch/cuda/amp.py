"""`torch.cuda.amp`: mixed precision for a GPU. There is none, so autocast and GradScaler are switched off, as on a CPU."""

from badak.compat.torch import amp
from badak.compat.torch.amp import custom_bwd as custom_bwd
from badak.compat.torch.amp import custom_fwd as custom_fwd
from badak.tensor.dtypes import dtype as DType  # noqa: N812


class autocast(amp.autocast):  # noqa: N801  (PyTorch's name)
    """amp.autocast("cuda", ...)."""

    def __init__(self, enabled: bool = True, dtype: DType | None = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """amp.GradScaler("cuda", ...)."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
