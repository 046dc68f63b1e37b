"""PyTorch's module of the datasets."""

from badak.data import ChainDataset as ChainDataset
from badak.data import ConcatDataset as ConcatDataset
from badak.data import Dataset as Dataset
from badak.data import IterableDataset as IterableDataset
from badak.data import StackDataset as StackDataset
from badak.data import Subset as Subset
from badak.data import TensorDataset as TensorDataset
from badak.data import random_split as random_split
