"""PyTorch's `utils.data`: every name stands in `badak.data`."""

from badak.core.public_api import door as _door
from badak.data import BatchSampler as BatchSampler
from badak.data import ChainDataset as ChainDataset
from badak.data import ConcatDataset as ConcatDataset
from badak.data import DataLoader as DataLoader
from badak.data import Dataset as Dataset
from badak.data import DistributedSampler as DistributedSampler
from badak.data import IterableDataset as IterableDataset
from badak.data import RandomSampler as RandomSampler
from badak.data import Sampler as Sampler
from badak.data import SequentialSampler as SequentialSampler
from badak.data import StackDataset as StackDataset
from badak.data import Subset as Subset
from badak.data import SubsetRandomSampler as SubsetRandomSampler
from badak.data import TensorDataset as TensorDataset
from badak.data import WeightedRandomSampler as WeightedRandomSampler
from badak.data import default_collate as default_collate
from badak.data import default_convert as default_convert
from badak.data import get_worker_info as get_worker_info
from badak.data import random_split as random_split

__getattr__, __dir__ = _door("badak.utils.data")
