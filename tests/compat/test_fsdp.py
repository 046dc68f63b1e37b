"""What programs name of torch.distributed.fsdp in their settings: PyTorch's words; what would shard says that it is not here."""

import pytest
import torch.distributed.fsdp as theirs

from badak.core.public_api.missing import MissingName
from badak.distributed import fsdp as ours

pytestmark = pytest.mark.slow  # the import of what it compares with takes a second

PROGRAM = """
import copy, enum, pickle
from dataclasses import dataclass
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy
from torch.distributed.fsdp.api import ShardingStrategy as there, FullStateDictConfig

@dataclass
class Config:
    sharding: ShardingStrategy = ShardingStrategy.FULL_SHARD

print(there is ShardingStrategy, issubclass(ShardingStrategy, enum.Enum), Config().sharding)
print(pickle.loads(pickle.dumps(Config())), isinstance(1, FSDP))
"""


@pytest.mark.parametrize("name", "ShardingStrategy BackwardPrefetch StateDictType OptimStateKeyType".split())
def test_words_and_numbers(name):
    assert [(each.name, each.value) for each in getattr(ours, name)] == [(each.name, each.value) for each in getattr(theirs, name)]


def test_what_would_shard_complains():
    with pytest.raises(MissingName, match="torch.distributed.fsdp.FullyShardedDataParallel: badak does not have it\nfix: Distr"):
        ours.FullyShardedDataParallel  # noqa: B018


@pytest.mark.slow
def test_a_program_keeps_them_in_its_settings(tmp_path, badak_run):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = badak_run(tmp_path / "program.py")
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "True True ShardingStrategy.FULL_SHARD",
        "Config(sharding=<ShardingStrategy.FULL_SHARD: 1>) False",
    ]
