"""Probability distributions: draws, log-probabilities, entropies, moments. Draws are PyTorch's for the same seed, except where
gamma, Poisson or binomial numbers enter (`tensor/random_ops.py`): these come from NumPy's generators, seeded by badak's."""

from badak.core.public_api import door as _door
from badak.distributions import constraints as constraints
from badak.distributions import transforms as transforms
from badak.distributions.bernoulli import Bernoulli as Bernoulli
from badak.distributions.categorical import Categorical as Categorical
from badak.distributions.continuous import Cauchy as Cauchy
from badak.distributions.continuous import Laplace as Laplace
from badak.distributions.continuous import Normal as Normal
from badak.distributions.continuous import Uniform as Uniform
from badak.distributions.discrete import Binomial as Binomial
from badak.distributions.discrete import Geometric as Geometric
from badak.distributions.discrete import Multinomial as Multinomial
from badak.distributions.discrete import NegativeBinomial as NegativeBinomial
from badak.distributions.discrete import OneHotCategorical as OneHotCategorical
from badak.distributions.discrete import OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough
from badak.distributions.discrete import Poisson as Poisson
from badak.distributions.distribution import Distribution as Distribution
from badak.distributions.kl import kl_divergence as kl_divergence
from badak.distributions.kl import register_kl as register_kl
from badak.distributions.mixed import LowRankMultivariateNormal as LowRankMultivariateNormal
from badak.distributions.mixed import MixtureSameFamily as MixtureSameFamily
from badak.distributions.mixed import RelaxedBernoulli as RelaxedBernoulli
from badak.distributions.mixed import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from badak.distributions.multivariate import Independent as Independent
from badak.distributions.multivariate import MultivariateNormal as MultivariateNormal
from badak.distributions.positive import Beta as Beta
from badak.distributions.positive import Chi2 as Chi2
from badak.distributions.positive import Dirichlet as Dirichlet
from badak.distributions.positive import Exponential as Exponential
from badak.distributions.positive import Gamma as Gamma
from badak.distributions.positive import StudentT as StudentT
from badak.distributions.transformed import Gumbel as Gumbel
from badak.distributions.transformed import HalfCauchy as HalfCauchy
from badak.distributions.transformed import HalfNormal as HalfNormal
from badak.distributions.transformed import InverseGamma as InverseGamma
from badak.distributions.transformed import LogNormal as LogNormal
from badak.distributions.transformed import Pareto as Pareto
from badak.distributions.transformed import TransformedDistribution as TransformedDistribution
from badak.distributions.transformed import Weibull as Weibull
from badak.distributions.transforms import AbsTransform as AbsTransform
from badak.distributions.transforms import AffineTransform as AffineTransform
from badak.distributions.transforms import ComposeTransform as ComposeTransform
from badak.distributions.transforms import ExpTransform as ExpTransform
from badak.distributions.transforms import IndependentTransform as IndependentTransform
from badak.distributions.transforms import PowerTransform as PowerTransform
from badak.distributions.transforms import SigmoidTransform as SigmoidTransform
from badak.distributions.transforms import SoftmaxTransform as SoftmaxTransform
from badak.distributions.transforms import SoftplusTransform as SoftplusTransform
from badak.distributions.transforms import TanhTransform as TanhTransform
from badak.distributions.transforms import Transform as Transform
from badak.distributions.transforms import identity_transform as identity_transform

__getattr__ = _door(__name__)
