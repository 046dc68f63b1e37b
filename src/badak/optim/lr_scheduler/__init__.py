"""Schedules of the learning rate, with PyTorch's names, values and states."""

from badak.core.public_api import door as _door
from badak.core.public_api import guard_classes as _guard_classes
from badak.optim.lr_scheduler.base import LRScheduler as LRScheduler
from badak.optim.lr_scheduler.base import _LRScheduler as _LRScheduler
from badak.optim.lr_scheduler.compose import ChainedScheduler as ChainedScheduler
from badak.optim.lr_scheduler.compose import SequentialLR as SequentialLR
from badak.optim.lr_scheduler.cosine import CosineAnnealingLR as CosineAnnealingLR
from badak.optim.lr_scheduler.cosine import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from badak.optim.lr_scheduler.cyclic import CyclicLR as CyclicLR
from badak.optim.lr_scheduler.decay import ConstantLR as ConstantLR
from badak.optim.lr_scheduler.decay import ExponentialLR as ExponentialLR
from badak.optim.lr_scheduler.decay import LinearLR as LinearLR
from badak.optim.lr_scheduler.decay import MultiStepLR as MultiStepLR
from badak.optim.lr_scheduler.decay import PolynomialLR as PolynomialLR
from badak.optim.lr_scheduler.decay import StepLR as StepLR
from badak.optim.lr_scheduler.function import LambdaLR as LambdaLR
from badak.optim.lr_scheduler.function import MultiplicativeLR as MultiplicativeLR
from badak.optim.lr_scheduler.function import NoamLR as NoamLR
from badak.optim.lr_scheduler.onecycle import OneCycleLR as OneCycleLR
from badak.optim.lr_scheduler.plateau import ReduceLROnPlateau as ReduceLROnPlateau

__getattr__, __dir__ = _door(__name__)
_guard_classes(globals(), LRScheduler, __name__)
