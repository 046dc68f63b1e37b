"""PyTorch's `utils.data`: every name stands in `badak.data`."""

from ...data import BatchSampler as BatchSampler
from ...data import ChainDataset as ChainDataset
from ...data import ConcatDataset as ConcatDataset
from ...data import DataLoader as DataLoader
from ...data import Dataset as Dataset
from ...data import DistributedSampler as DistributedSampler
from ...data import IterableDataset as IterableDataset
from ...data import RandomSampler as RandomSampler
from ...data import Sampler as Sampler
from ...data import SequentialSampler as SequentialSampler
from ...data import StackDataset as StackDataset
from ...data import Subset as Subset
from ...data import SubsetRandomSampler as SubsetRandomSampler
from ...data import TensorDataset as TensorDataset
from ...data import WeightedRandomSampler as WeightedRandomSampler
from ...data import default_collate as default_collate
from ...data import default_convert as default_convert
from ...data import get_worker_info as get_worker_info
from ...data import random_split as random_split
from ...naming import door as _door
from . import dataloader as dataloader
from . import dataset as dataset
from . import distributed as distributed
from . import sampler as sampler

__getattr__ = _door(__name__)
