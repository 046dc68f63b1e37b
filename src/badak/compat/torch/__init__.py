"""What PyTorch programs say to a machine that badak does not have: CUDA, mixed precision, compilers, many processes.

Accepted with the meaning it has on a CPU, and never pretended: `cuda.is_available()` is False, `compile(step)` saves Python,
a result that cannot be had is an error. `core/public_api/table.py` says under which name of PyTorch each file here stands, so
`badak.cuda` is `compat/torch/cuda/`. `check.py` reads a program beforehand, `einops.py` is badak's word to einops.
"""

from badak.compat.torch import einops as einops
from badak.compat.torch.amp import autocast as autocast
from badak.compat.torch.amp import get_autocast_dtype as get_autocast_dtype
from badak.compat.torch.amp import is_autocast_enabled as is_autocast_enabled
from badak.compat.torch.compiler import compile as compile
from badak.compat.torch.devices import OutOfMemoryError as OutOfMemoryError
from badak.compat.torch.devices import get_device_module as get_device_module
from badak.compat.torch.settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from badak.compat.torch.settings import get_default_device as get_default_device
from badak.compat.torch.settings import get_deterministic_debug_mode as get_deterministic_debug_mode
from badak.compat.torch.settings import get_float32_matmul_precision as get_float32_matmul_precision
from badak.compat.torch.settings import get_num_interop_threads as get_num_interop_threads
from badak.compat.torch.settings import get_num_threads as get_num_threads
from badak.compat.torch.settings import (
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
)
from badak.compat.torch.settings import is_warn_always_enabled as is_warn_always_enabled
from badak.compat.torch.settings import set_default_device as set_default_device
from badak.compat.torch.settings import set_deterministic_debug_mode as set_deterministic_debug_mode
from badak.compat.torch.settings import set_float32_matmul_precision as set_float32_matmul_precision
from badak.compat.torch.settings import set_flush_denormal as set_flush_denormal
from badak.compat.torch.settings import set_num_interop_threads as set_num_interop_threads
from badak.compat.torch.settings import set_num_threads as set_num_threads
from badak.compat.torch.settings import set_warn_always as set_warn_always
from badak.compat.torch.settings import use_deterministic_algorithms as use_deterministic_algorithms
