"""Files: untrusted bytes in, named tensors and checked settings out. No pickle is ever executed."""

from badak.io import checkpoint as checkpoint
from badak.io import config as config
from badak.io import safetensors as safetensors
from badak.io import serialization as serialization
from badak.io.pt import load as load
from badak.io.pt import save as save
