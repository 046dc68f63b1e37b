"""Mixed precision: autocast, and the scaling of losses."""

from badak.compat.torch.amp.autocast_mode import autocast as autocast
from badak.compat.torch.amp.autocast_mode import custom_bwd as custom_bwd
from badak.compat.torch.amp.autocast_mode import custom_fwd as custom_fwd
from badak.compat.torch.amp.autocast_mode import get_autocast_dtype as get_autocast_dtype
from badak.compat.torch.amp.autocast_mode import is_autocast_available as is_autocast_available
from badak.compat.torch.amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
from badak.compat.torch.amp.grad_scaler import GradScaler as GradScaler
