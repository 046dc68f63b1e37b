"""PyTorch's module of the samplers."""

from badak.data import BatchSampler as BatchSampler
from badak.data import RandomSampler as RandomSampler
from badak.data import Sampler as Sampler
from badak.data import SequentialSampler as SequentialSampler
from badak.data import SubsetRandomSampler as SubsetRandomSampler
from badak.data import WeightedRandomSampler as WeightedRandomSampler
