"""The probes, one in each file, in the order in which they are asked."""

from badak.inspect.audit.probes.axis import Axis
from badak.inspect.audit.probes.batch import BatchLeak
from badak.inspect.audit.probes.blind import BlindRows
from badak.inspect.audit.probes.cache import Cache
from badak.inspect.audit.probes.compiled import CompiledAlike
from badak.inspect.audit.probes.copies import Copies
from badak.inspect.audit.probes.future import FutureLeak
from badak.inspect.audit.probes.gradients import NoGradient
from badak.inspect.audit.probes.heads import Heads
from badak.inspect.audit.probes.loss import Loss
from badak.inspect.audit.probes.modes import Modes
from badak.inspect.audit.probes.numbers import Numbers
from badak.inspect.audit.probes.optimizers import Optimizers
from badak.inspect.audit.probes.order import Order
from badak.inspect.audit.probes.padding import PaddingLeak
from badak.inspect.audit.probes.positions import Positions
from badak.inspect.audit.probes.residual import Residual
from badak.inspect.audit.probes.rotary import Rotary
from badak.inspect.audit.probes.scale import Scores
from badak.inspect.audit.probes.shared import Shared
from badak.inspect.audit.probes.straight import Straight
from badak.inspect.audit.probes.ties import Ties
from badak.inspect.audit.probes.tokens import Tokens

PROBES = (
    Numbers, BatchLeak, FutureLeak, PaddingLeak, Modes, BlindRows, NoGradient, Positions, Tokens, Cache, Rotary, Residual, Order,
    Heads, Axis, Scores, Straight, Loss, CompiledAlike, Optimizers, Ties, Copies, Shared,
)  # fmt: skip
