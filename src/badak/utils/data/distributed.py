"""PyTorch's module of the sampler that parts the data among processes."""

from ...data import DistributedSampler as DistributedSampler
