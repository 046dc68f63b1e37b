"""`torch.distributed.fsdp`: the words that settings of programs name. What would shard a model is not here, and says so."""

from enum import Enum, auto

from badak.core.public_api import door as _door


class ShardingStrategy(Enum):
    """What ranks would share of a model: parameters, gradients and the optimizer's state, the last two, or none.

    Example:
        >>> badak.distributed.fsdp.ShardingStrategy["FULL_SHARD"].value
        1
    """

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """When the parameters of the next layer would be fetched: before a layer's gradients are computed, or after.

    Example:
        >>> badak.distributed.fsdp.BackwardPrefetch.BACKWARD_POST.value
        2
    """

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class StateDictType(Enum):
    """What a state_dict of a sharded model would hold: whole parameters, flat shards of a rank, or shards.

    Example:
        >>> badak.distributed.fsdp.StateDictType.SHARDED_STATE_DICT.value
        3
    """

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class OptimStateKeyType(Enum):
    """Whether an optimizer's state would be kept by the names of parameters or by their numbers.

    Example:
        >>> badak.distributed.fsdp.OptimStateKeyType.PARAM_ID.value
        2
    """

    PARAM_NAME = auto()
    PARAM_ID = auto()


__getattr__, __dir__ = _door("badak.distributed.fsdp")
