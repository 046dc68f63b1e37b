"""PyTorch's name for badak.nn.transformer."""

from badak.nn.transformer import Transformer as Transformer
from badak.nn.transformer import TransformerDecoder as TransformerDecoder
from badak.nn.transformer import TransformerDecoderLayer as TransformerDecoderLayer
from badak.nn.transformer import TransformerEncoder as TransformerEncoder
from badak.nn.transformer import TransformerEncoderLayer as TransformerEncoderLayer
