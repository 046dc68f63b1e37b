"""Optimizers: each is its equation, and remembers what PyTorch's remembers under the same names."""

from badak.naming import door as _door
from badak.naming import guard_classes as _guard_classes
from badak.optim import lr_scheduler as lr_scheduler
from badak.optim.adagrad import Adagrad as Adagrad
from badak.optim.adam import Adam as Adam
from badak.optim.adamw import AdamW as AdamW
from badak.optim.optimizer import Optimizer as Optimizer
from badak.optim.rmsprop import RMSprop as RMSprop
from badak.optim.sgd import SGD as SGD

__getattr__ = _door(__name__)
_guard_classes(globals(), Optimizer, __name__)
