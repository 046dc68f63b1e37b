"""Probability distributions: draws, log-probabilities, entropies. Draws are PyTorch's for the same seed."""

from badak.distributions.bernoulli import Bernoulli as Bernoulli
from badak.distributions.categorical import Categorical as Categorical
from badak.distributions.continuous import Normal as Normal
from badak.distributions.continuous import Uniform as Uniform
from badak.distributions.distribution import Distribution as Distribution
from badak.distributions.kl import kl_divergence as kl_divergence
from badak.naming import door as _door

__getattr__ = _door(__name__)
