"""PyTorch's place for these names; they stand in badak.nn.pooling."""

from badak.nn.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from badak.nn.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from badak.nn.pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from badak.nn.pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from badak.nn.pooling import AvgPool1d as AvgPool1d
from badak.nn.pooling import AvgPool2d as AvgPool2d
from badak.nn.pooling import MaxPool1d as MaxPool1d
from badak.nn.pooling import MaxPool2d as MaxPool2d
