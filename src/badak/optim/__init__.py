"""Optimizers: each is its equation, and remembers what PyTorch's remembers under the same names."""

from typing import Any as _Any

from badak.core.public_api import door as _door
from badak.core.public_api import guard_classes as _guard_classes
from badak.core.public_api.table import reach as _reach
from badak.optim import lr_scheduler as lr_scheduler
from badak.optim import swa_utils as swa_utils
from badak.optim.adadelta import Adadelta as Adadelta
from badak.optim.adafactor import Adafactor as Adafactor
from badak.optim.adagrad import Adagrad as Adagrad
from badak.optim.adam import Adam as Adam
from badak.optim.adamax import Adamax as Adamax
from badak.optim.adamw import AdamW as AdamW
from badak.optim.asgd import ASGD as ASGD
from badak.optim.lbfgs import LBFGS as LBFGS
from badak.optim.muon import Muon as Muon
from badak.optim.nadam import NAdam as NAdam
from badak.optim.optimizer import Optimizer as Optimizer
from badak.optim.radam import RAdam as RAdam
from badak.optim.rmsprop import RMSprop as RMSprop
from badak.optim.rprop import Rprop as Rprop
from badak.optim.sgd import SGD as SGD
from badak.optim.sparse_adam import SparseAdam as SparseAdam

_elsewhere, __dir__ = _door(__name__)


def __getattr__(name: str) -> _Any:
    """A name of PyTorch's that is not here, and what stands on ranks, above this package."""
    here = name != "ZeroRedundancyOptimizer"
    return _elsewhere(name) if here else _reach("badak.distributed.optim.ZeroRedundancyOptimizer")


_guard_classes(globals(), Optimizer, __name__)
