"""PyTorch's module of the loader."""

from badak.data import DataLoader as DataLoader
from badak.data import default_collate as default_collate
from badak.data import default_convert as default_convert
from badak.data import get_worker_info as get_worker_info
