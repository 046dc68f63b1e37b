"""PyTorch's module of the datasets."""

from ...data import ChainDataset as ChainDataset
from ...data import ConcatDataset as ConcatDataset
from ...data import Dataset as Dataset
from ...data import IterableDataset as IterableDataset
from ...data import StackDataset as StackDataset
from ...data import Subset as Subset
from ...data import TensorDataset as TensorDataset
from ...data import random_split as random_split
