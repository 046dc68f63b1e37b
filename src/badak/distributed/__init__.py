"""`torch.distributed`: ranks that compute together, over MPI. One rank alone is a group of one and needs no MPI.

engine.py             MPI itself
group.py              who belongs together
collectives.py        what all ranks of a group do with tensors; exchange.py: each with each; objects.py: with other objects
p2p.py         from one rank to one other
consistency_check.py  before they do it, they compare what they are about to do
work.py               an operation under way, and how long it waits
sums.py               in which order values are added
reducer.py            the sums of DistributedDataParallel; grad_bucket.py, algorithms/: what a hook makes of them
summed.py             a sum that gradients go through, for SyncBatchNorm
stores/               keys and values that processes share without MPI: in a file, or over a socket
optim/                optimizers whose memory lies on several ranks
heartbeat.py          what a rank is doing, for `badak launch`
"""

from types import SimpleNamespace as _SimpleNamespace

from badak.core.public_api import door as _door
from badak.distributed.collectives import all_gather as all_gather
from badak.distributed.collectives import all_gather_into_tensor as all_gather_into_tensor
from badak.distributed.collectives import all_reduce as all_reduce
from badak.distributed.collectives import all_reduce_coalesced as all_reduce_coalesced
from badak.distributed.collectives import barrier as barrier
from badak.distributed.collectives import broadcast as broadcast
from badak.distributed.collectives import gather as gather
from badak.distributed.collectives import monitored_barrier as monitored_barrier
from badak.distributed.collectives import reduce as reduce
from badak.distributed.collectives import reduce_scatter as reduce_scatter
from badak.distributed.collectives import reduce_scatter_tensor as reduce_scatter_tensor
from badak.distributed.collectives import scatter as scatter
from badak.distributed.constants import default_pg_timeout as default_pg_timeout
from badak.distributed.errors import DistBackendError as DistBackendError
from badak.distributed.errors import DistError as DistError
from badak.distributed.errors import DistNetworkError as DistNetworkError
from badak.distributed.errors import DistStoreError as DistStoreError
from badak.distributed.errors import QueueEmptyError as QueueEmptyError
from badak.distributed.exchange import all_to_all as all_to_all
from badak.distributed.exchange import all_to_all_single as all_to_all_single
from badak.distributed.grad_bucket import GradBucket as GradBucket
from badak.distributed.group import Backend as Backend
from badak.distributed.group import GroupMember as GroupMember
from badak.distributed.group import ProcessGroup as ProcessGroup
from badak.distributed.group import _rank_not_in_group as _rank_not_in_group
from badak.distributed.group import destroy_process_group as destroy_process_group
from badak.distributed.group import get_backend as get_backend
from badak.distributed.group import get_backend_config as get_backend_config
from badak.distributed.group import get_default_backend_for_device as get_default_backend_for_device
from badak.distributed.group import get_global_rank as get_global_rank
from badak.distributed.group import get_group_rank as get_group_rank
from badak.distributed.group import get_node_local_rank as get_node_local_rank
from badak.distributed.group import get_process_group_ranks as get_process_group_ranks
from badak.distributed.group import get_rank as get_rank
from badak.distributed.group import get_world_size as get_world_size
from badak.distributed.group import group as group
from badak.distributed.group import init_process_group as init_process_group
from badak.distributed.group import is_available as is_available
from badak.distributed.group import is_gloo_available as is_gloo_available
from badak.distributed.group import is_initialized as is_initialized
from badak.distributed.group import is_mpi_available as is_mpi_available
from badak.distributed.group import is_nccl_available as is_nccl_available
from badak.distributed.group import is_torchelastic_launched as is_torchelastic_launched
from badak.distributed.group import is_ucc_available as is_ucc_available
from badak.distributed.group import new_group as new_group
from badak.distributed.objects import all_gather_object as all_gather_object
from badak.distributed.objects import broadcast_object_list as broadcast_object_list
from badak.distributed.objects import gather_object as gather_object
from badak.distributed.objects import scatter_object_list as scatter_object_list
from badak.distributed.p2p import P2POp as P2POp
from badak.distributed.p2p import batch_isend_irecv as batch_isend_irecv
from badak.distributed.p2p import irecv as irecv
from badak.distributed.p2p import isend as isend
from badak.distributed.p2p import recv as recv
from badak.distributed.p2p import send as send
from badak.distributed.stores.file_store import FileStore as FileStore
from badak.distributed.stores.store import HashStore as HashStore
from badak.distributed.stores.store import PrefixStore as PrefixStore
from badak.distributed.stores.store import Store as Store
from badak.distributed.stores.tcp_store import TCPStore as TCPStore
from badak.distributed.summed import summed as _summed
from badak.distributed.sums import ReduceOp as ReduceOp
from badak.distributed.work import Work as Work
from badak.nn import batch_norm as _batch_norm

_batch_norm.over_ranks = _summed
reduce_op = _SimpleNamespace(**ReduceOp.__members__)
all_gather_single, reduce_scatter_single = (
    all_gather_into_tensor,
    reduce_scatter_tensor,
)  # their names from PyTorch 2.13 on

__getattr__, __dir__ = _door("badak.distributed")
