"""Layers as functions: PyTorch's names, positions and defaults. One family per file, each with a list of its own."""

from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.nn.functional.activation import *  # noqa: F403
from badak.nn.functional.attention import *  # noqa: F403
from badak.nn.functional.batch_norm import *  # noqa: F403
from badak.nn.functional.conv import *  # noqa: F403
from badak.nn.functional.ctc import *  # noqa: F403
from badak.nn.functional.dropout import *  # noqa: F403
from badak.nn.functional.embedding import *  # noqa: F403
from badak.nn.functional.embedding_bag import *  # noqa: F403
from badak.nn.functional.grid_sample import *  # noqa: F403
from badak.nn.functional.images import *  # noqa: F403
from badak.nn.functional.likelihood import *  # noqa: F403
from badak.nn.functional.linear import *  # noqa: F403
from badak.nn.functional.loss import *  # noqa: F403
from badak.nn.functional.lp_pooling import *  # noqa: F403
from badak.nn.functional.norm import *  # noqa: F403
from badak.nn.functional.pooling import *  # noqa: F403
from badak.nn.functional.vision import *  # noqa: F403
from badak.tensor.pad import pad as pad

__getattr__, __dir__ = _door(__name__)
_guard_names(globals(), __name__)
