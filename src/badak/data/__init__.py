"""Data: datasets, the order in which they are read, and batches.

`dataset.py` what can be read, `sampler.py` in which order, `collate.py` how examples become a batch, `loader.py` the loop,
`padding.py` rows of different lengths in one batch, `tokenizer.py` subwords (BPE, WordPiece), `pieces.py` frequent words and
characters,
`workers.py` the processes that read ahead, `loader_state.py` how a run goes on in the middle of an epoch.
`mnist.py`, `idx.py` and `text.py` are not imported here: who needs them names them.
"""

from badak.core.public_api import guard_names as _guard_names
from badak.core.public_api import guard_types as _guard_types
from badak.data.collate import default_collate as default_collate
from badak.data.collate import default_convert as default_convert
from badak.data.dataset import ChainDataset as ChainDataset
from badak.data.dataset import ConcatDataset as ConcatDataset
from badak.data.dataset import Dataset as Dataset
from badak.data.dataset import IterableDataset as IterableDataset
from badak.data.dataset import StackDataset as StackDataset
from badak.data.dataset import Subset as Subset
from badak.data.dataset import TensorDataset as TensorDataset
from badak.data.dataset import random_split as random_split
from badak.data.loader import DataLoader as DataLoader
from badak.data.padding import BucketBatchSampler as BucketBatchSampler
from badak.data.padding import pad as pad
from badak.data.padding import padding_mask as padding_mask
from badak.data.sampler import BatchSampler as BatchSampler
from badak.data.sampler import DistributedSampler as DistributedSampler
from badak.data.sampler import RandomSampler as RandomSampler
from badak.data.sampler import Sampler as Sampler
from badak.data.sampler import SequentialSampler as SequentialSampler
from badak.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from badak.data.sampler import WeightedRandomSampler as WeightedRandomSampler
from badak.data.workers import WorkerInfo as WorkerInfo
from badak.data.workers import get_worker_info as get_worker_info

_guard_types(globals(), __name__)
_guard_names(globals(), __name__)
