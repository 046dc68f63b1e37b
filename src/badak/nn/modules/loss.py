"""PyTorch's name for badak.nn.loss."""

from badak.nn.loss import BCELoss as BCELoss
from badak.nn.loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from badak.nn.loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from badak.nn.loss import CosineSimilarity as CosineSimilarity
from badak.nn.loss import CrossEntropyLoss as CrossEntropyLoss
from badak.nn.loss import HuberLoss as HuberLoss
from badak.nn.loss import KLDivLoss as KLDivLoss
from badak.nn.loss import L1Loss as L1Loss
from badak.nn.loss import MSELoss as MSELoss
from badak.nn.loss import NLLLoss as NLLLoss
from badak.nn.loss import SmoothL1Loss as SmoothL1Loss
from badak.nn.loss import _Loss as _Loss
from badak.nn.loss import _WeightedLoss as _WeightedLoss
