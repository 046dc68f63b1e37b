"""`torch.backends`: which libraries compute. Their flags can be set and read, and change nothing."""

from contextlib import contextmanager
from typing import Any

from badak.core.public_api.door import Namespace


class Flags(Namespace):
    """Flags and functions of one backend. `with backend.flags(name=value):` sets some for a block."""

    @contextmanager
    def flags(self, **values: Any) -> Any:
        """Set flags for the length of a block."""
        before = {name: getattr(self, name, None) for name in values}
        self.__dict__.update(values)
        try:
            yield
        finally:
            self.__dict__.update(before)


def _no(*args, **kwargs) -> bool:
    return False


flags_frozen = _no  # the flags may be set outside of `with flags():`


def disable_global_flags() -> None:
    """In PyTorch flags can then be set by `with flags():` only."""


class _Attention:
    """Which attention kernels may run: remembered. badak has one, which gives the same result as all of them."""

    def __init__(self) -> None:
        self.allowed = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}

    @contextmanager
    def sdp_kernel(self, enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
        """A block in which only these may run."""
        before = dict(self.allowed)
        self.allowed.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
        try:
            yield
        finally:
            self.allowed = before

    def functions(self) -> dict:
        """enable_x_sdp(bool) and x_sdp_enabled() for each kind."""
        made: dict = {"sdp_kernel": self.sdp_kernel}
        for kind in self.allowed:
            made[f"enable_{kind}_sdp"] = lambda enabled, kind=kind: self.allowed.update({kind: bool(enabled)})
            made[f"{kind}_sdp_enabled"] = lambda kind=kind: self.allowed[kind]
        return made


cudnn = Flags(
    enabled=True,
    benchmark=False,
    benchmark_limit=10,
    deterministic=False,
    allow_tf32=True,
    is_available=_no,
    version=lambda: None,
    conv=Flags(fp32_precision="none"),
    rnn=Flags(fp32_precision="none"),
)
cuda = Flags(
    matmul=Flags(
        allow_tf32=False,
        allow_fp16_reduced_precision_reduction=True,
        allow_bf16_reduced_precision_reduction=True,
        fp32_precision="none",
    ),
    cufft_plan_cache=Flags(size=0, max_size=0),
    is_built=_no,
    preferred_linalg_library=lambda backend=None: "default",
    preferred_blas_library=lambda backend=None: "default",
    **_Attention().functions(),
)
mps = Flags(is_available=_no, is_built=_no, is_macos_or_newer=_no)
mkl = Flags(is_available=_no)
mkldnn = Flags(enabled=True, is_available=_no)
openmp = Flags(is_available=_no)
quantized = Flags(engine="none", supported_engines=["none"])
opt_einsum = Flags(enabled=False, strategy=None, is_available=_no)
cpu = Flags(get_cpu_capability=lambda: "DEFAULT")
xnnpack = Flags(enabled=False)
nnpack = Flags(enabled=False, is_available=_no, set_flags=lambda _enabled: (False,))
fp32_precision = "none"
