"""Data: datasets, the order in which they are read, and batches.

`dataset.py` what can be read, `sampler.py` in which order, `collate.py` how examples become a batch, `loader.py` the loop,
`workers.py` the processes that read ahead, `position.py` how a run goes on in the middle of an epoch.
`mnist.py`, `idx.py` and `text.py` are not imported here: who needs them names them.
"""

from .collate import default_collate as default_collate
from .collate import default_convert as default_convert
from .dataset import ChainDataset as ChainDataset
from .dataset import ConcatDataset as ConcatDataset
from .dataset import Dataset as Dataset
from .dataset import IterableDataset as IterableDataset
from .dataset import StackDataset as StackDataset
from .dataset import Subset as Subset
from .dataset import TensorDataset as TensorDataset
from .dataset import random_split as random_split
from .loader import DataLoader as DataLoader
from .sampler import BatchSampler as BatchSampler
from .sampler import DistributedSampler as DistributedSampler
from .sampler import RandomSampler as RandomSampler
from .sampler import Sampler as Sampler
from .sampler import SequentialSampler as SequentialSampler
from .sampler import SubsetRandomSampler as SubsetRandomSampler
from .sampler import WeightedRandomSampler as WeightedRandomSampler
from .workers import WorkerInfo as WorkerInfo
from .workers import get_worker_info as get_worker_info
