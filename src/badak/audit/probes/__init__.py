"""The probes, one in each file, in the order in which they are asked."""

from badak.audit.probes.batch import BatchLeak
from badak.audit.probes.blind import BlindRows
from badak.audit.probes.cache import Cache
from badak.audit.probes.compiled import CompiledAlike
from badak.audit.probes.copies import Copies
from badak.audit.probes.future import FutureLeak
from badak.audit.probes.gradients import NoGradient
from badak.audit.probes.heads import Heads
from badak.audit.probes.modes import Modes
from badak.audit.probes.numbers import Numbers
from badak.audit.probes.optimizers import Optimizers
from badak.audit.probes.order import Order
from badak.audit.probes.padding import PaddingLeak
from badak.audit.probes.positions import Positions
from badak.audit.probes.residual import Residual
from badak.audit.probes.rotary import Rotary
from badak.audit.probes.shared import Shared
from badak.audit.probes.ties import Ties
from badak.audit.probes.tokens import Tokens

PROBES = (
    Numbers, BatchLeak, FutureLeak, PaddingLeak, Modes, BlindRows, NoGradient, Positions, Tokens, Cache, Order, Rotary, Heads,
    Residual, CompiledAlike, Optimizers, Ties, Copies, Shared,
)  # fmt: skip
