"""PyTorch's module of the sampler that parts the data among processes."""

from badak.data import DistributedSampler as DistributedSampler
