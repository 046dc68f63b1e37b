"""What PyTorch programs say to a machine that badak does not have: CUDA, mixed precision, compilers, many processes.

Accepted with the meaning it has on a CPU, and never pretended: `cuda.is_available()` is False, `compile(step)` saves Python,
a result that cannot be had is an error. `naming/table.py` says under which name of PyTorch each file here stands, so
`badak.cuda` is `face/cuda/`. `check.py` reads a program beforehand, `einops.py` is badak's word to einops.
"""

from badak.face import einops as einops
from badak.face.amp import autocast as autocast
from badak.face.amp import get_autocast_dtype as get_autocast_dtype
from badak.face.amp import is_autocast_enabled as is_autocast_enabled
from badak.face.compiler import compile as compile
from badak.face.devices import OutOfMemoryError as OutOfMemoryError
from badak.face.settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from badak.face.settings import get_default_device as get_default_device
from badak.face.settings import get_float32_matmul_precision as get_float32_matmul_precision
from badak.face.settings import get_num_interop_threads as get_num_interop_threads
from badak.face.settings import get_num_threads as get_num_threads
from badak.face.settings import (
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
)
from badak.face.settings import is_warn_always_enabled as is_warn_always_enabled
from badak.face.settings import set_default_device as set_default_device
from badak.face.settings import set_deterministic_debug_mode as set_deterministic_debug_mode
from badak.face.settings import set_float32_matmul_precision as set_float32_matmul_precision
from badak.face.settings import set_flush_denormal as set_flush_denormal
from badak.face.settings import set_num_interop_threads as set_num_interop_threads
from badak.face.settings import set_num_threads as set_num_threads
from badak.face.settings import set_warn_always as set_warn_always
from badak.face.settings import use_deterministic_algorithms as use_deterministic_algorithms
