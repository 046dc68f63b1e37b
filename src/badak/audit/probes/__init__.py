"""The probes, one in each file, in the order in which they are asked."""

from badak.audit.probes.batch import BatchLeak
from badak.audit.probes.blind import BlindRows
from badak.audit.probes.cache import Cache
from badak.audit.probes.compiled import CompiledAlike
from badak.audit.probes.copies import Copies
from badak.audit.probes.future import FutureLeak
from badak.audit.probes.gradients import NoGradient
from badak.audit.probes.modes import Modes
from badak.audit.probes.optimizers import Optimizers
from badak.audit.probes.order import Order
from badak.audit.probes.padding import PaddingLeak
from badak.audit.probes.positions import Positions
from badak.audit.probes.ties import Ties
from badak.audit.probes.tokens import Tokens

PROBES = (
    BatchLeak, FutureLeak, PaddingLeak, Modes, BlindRows, NoGradient, Positions, Tokens, Cache, Order,
    CompiledAlike, Optimizers, Ties, Copies,
)  # fmt: skip
