"""Probability distributions: draws, log-probabilities, entropies. Draws are PyTorch's for the same seed."""

from ..naming import door as _door
from .bernoulli import Bernoulli as Bernoulli
from .categorical import Categorical as Categorical
from .continuous import Normal as Normal
from .continuous import Uniform as Uniform
from .distribution import Distribution as Distribution
from .kl import kl_divergence as kl_divergence

__getattr__ = _door(__name__)
