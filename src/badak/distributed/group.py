"""Groups of ranks: the whole world, and parts of it."""

import os
import zlib
from collections import Counter, deque
from collections.abc import Sequence
from itertools import count
from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, StateError, expect_kind, tr, warn_once
from badak.data import sampler
from badak.distributed.clock import HALF_AN_HOUR
from badak.distributed.consistency_check import MANY, agreement, meeting
from badak.distributed.engine import engine, load_mpi
from badak.distributed.places import Place, place, refuse_one_of_many
from badak.distributed.shared import Shared, shared_memory
from badak.distributed.work import Work, _seconds, forget, start
from badak.tensor import device as as_device
from badak.tensor.dtypes import Device

WORLDS = 4  # that get shared memory
BACKENDS = ("mpi", "gloo", "nccl")


class ProcessGroup:
    """Some ranks that talk: `ranks` are their numbers in the world, `rank()` is our own among them.

    comm    carries data, talk the lines of `consistency_check.py`, mail what send and recv exchange; None in a group of one
    shared  memory that all its ranks can read: of the world, where it is on one machine, and was not made again many times
    key     what all its ranks know it by; the how-manieth group of these ranks it is says which of them is meant
    begun   how many collectives this rank has called
    """

    def __init__(self, ranks: list[int], own: int, comms: tuple[Any, Any, Any], seconds: float, called: str, backend: str) -> None:
        self.ranks, self._rank, self.seconds, self.called, self.backend = ranks, own, seconds, called, backend
        self.comm, self.talk, self.mail = comms
        self.sequence = self.begun = 0
        _alike[tuple(ranks)] += 1
        self.key = f"{zlib.crc32(repr(ranks).encode()):x}.{_alike[tuple(ranks)]}"
        self.tags = 32767  # the least number that MPI promises
        self.queue: deque[Work] = deque()
        self.receiving: Any = None  # see p2p.py
        self.sending: list[Work] = []
        self.byte = None if self.comm is None else engine().MPI.BYTE
        self.in_place = None if self.comm is None else engine().MPI.IN_PLACE
        self.shared: Shared | None = None
        self.broken = ""

    def rank(self) -> int:
        """Our number in this group."""
        return self._rank

    def size(self) -> int:
        """How many ranks it has."""
        return len(self.ranks)

    @property
    def group_name(self) -> str:
        """What it is called."""
        return self.called

    group_desc = group_name

    def name(self) -> str:
        """The word for who carries the data."""
        return self.backend

    def __repr__(self) -> str:
        return f"ProcessGroup({self.called}: ranks {self.ranks})"


class Backend(str):
    """The name of a backend, in small letters.

    Args:
        name: "gloo", "nccl", "mpi", "ucc" or another

    Example:
        >>> badak.distributed.Backend("GLOO") == badak.distributed.Backend.GLOO == "gloo"
        True
    """

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}

    def __new__(cls, name: str) -> "Backend":
        if not isinstance(name, str):
            raise ArgumentTypeError(tr("Backend constructor parameter must be string-ish; got {!r}", name), 'Backend("gloo")')
        return super().__new__(cls, name.lower())


NON_MEMBER = -100


class group:  # noqa: N801  (PyTorch's name)
    """WORLD: the group of all ranks; None before there is one."""

    WORLD: "ProcessGroup | None" = None


class GroupMember(group):
    """The same, and what stands for a group that a rank is not in."""

    NON_GROUP_MEMBER = NON_MEMBER


_made: list[ProcessGroup] = []
_alike: Counter[tuple[int, ...]] = Counter()
_worlds = count()
sampler.world = lambda: None if group.WORLD is None else (group.WORLD.size(), group.WORLD.rank())


def is_available() -> bool:
    """True: one process alone can form a group of one."""
    return True


def is_nccl_available() -> bool:
    """False: there is no GPU here. A program that asks for "nccl" regardless gets MPI."""
    return False


def is_mpi_available() -> bool:
    """Whether this process is one of several ranks: `badak launch` or `mpirun` has started it."""
    return place() is not None


is_gloo_available = is_available
is_ucc_available = is_xccl_available = is_nccl_available


def is_torchelastic_launched() -> bool:
    """Whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_initialized() -> bool:
    """Whether init_process_group was called."""
    return group.WORLD is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Form the group of all ranks that `badak launch` or `mpirun` has started; alone, a group of one.

    backend: "mpi"; "gloo" and "nccl" are accepted, and MPI does their work. timeout: how long a collective waits for the others.
    Raises ArgumentError where world_size or rank are not what the starter says, NotSupportedError without MPI.
    """
    if is_initialized():
        raise ArgumentError("trying to initialize the default process group twice!", "destroy_process_group() first")
    asked = _asked(backend)
    here = _place(int(world_size if world_size is not None else -1), int(rank if rank is not None else -1))
    seconds = _seconds(timeout, "init_process_group", HALF_AN_HOUR)
    if here.size == 1:
        group.WORLD = GroupMember.WORLD = ProcessGroup([0], 0, (None, None, None), seconds, "the world", asked or "gloo")
        return
    if asked in ("gloo", "nccl") and here.rank == 0:
        warn_once(("backend", asked), tr("init_process_group: MPI does the work of backend {!r}", asked), 'backend="mpi" says so')
    load_mpi(seconds)
    world = ProcessGroup(list(range(here.size)), here.rank, (None, None, None), seconds, "the world", asked or "mpi")
    _meet(world, seconds)
    group.WORLD = GroupMember.WORLD = world
    _made.append(world)


def _meet(world: ProcessGroup, seconds: float) -> None:
    """Give the world its communicators; all ranks are needed for that."""
    met = meeting(world.ranks, "init_process_group")

    def steps():
        if world.size() <= MANY:
            yield from met.steps()
        made = [engine().MPI.COMM_WORLD.Idup() for _ in range(3)]
        yield [request for _, request in made]
        world.comm, world.talk, world.mail = (comm for comm, _ in made)
        if next(_worlds) < WORLDS:
            world.shared = shared_memory(engine().MPI, world.comm)

    world.byte, world.in_place = engine().MPI.BYTE, engine().MPI.IN_PLACE
    start(world, Work(world, "init_process_group", steps(), met.absent), is_collective=False).wait(seconds)


def _asked(backend) -> str | None:
    """The backend's name, as "cpu:gloo,cuda:nccl" has it too."""
    if backend is None:
        return None
    expect_kind(backend, str, "init_process_group: backend should be a string; got {}", 'backend="mpi"')
    names = [part.split(":")[-1].lower() for part in backend.split(",")]
    unknown = [name for name in names if name not in BACKENDS]
    if unknown:
        raise ArgumentError(tr("init_process_group: there is no backend {!r}", unknown[0]), 'backend="mpi"')
    return names[0] if len(names) == 1 else backend


def _place(size: int, rank: int) -> Place:
    """Where we are, if that agrees with what the program says."""
    here = place() or Place(0, 1, 0, 1)
    if here.size == 1 and size < 1:
        refuse_one_of_many("init_process_group")
    wanted = size if size > 0 else int(os.environ.get("WORLD_SIZE", here.size))
    if wanted != here.size and here.size == 1:
        cause = tr("init_process_group: a world of {} ranks, but this process was started alone", wanted)
        raise ArgumentError(cause, tr("badak launch -n {} SCRIPT, or mpirun -n {} badak run SCRIPT", wanted, wanted))
    if wanted != here.size:
        cause = tr("init_process_group: a world of {} ranks, but {} were started", wanted, here.size)
        raise ArgumentError(cause, f"world_size={here.size}")
    if rank >= 0 and rank != here.rank:
        cause = tr("init_process_group: rank={}, but this process was started as rank {}", rank, here.rank)
        raise ArgumentError(cause, "leave rank out")
    return here


def destroy_process_group(group_: Any = None, **named: Any) -> None:
    """End a group; without one, all of them."""
    chosen = named.get("group", group_)
    gone = [chosen] if chosen is not None and chosen is not group.WORLD else list(_made)
    for one in gone:
        forget(one)
        if one in _made:
            _made.remove(one)
    if chosen is None or chosen is group.WORLD:
        group.WORLD = GroupMember.WORLD = None


def chosen(asked: Any = None) -> ProcessGroup:
    """The group that a call means. Raises StateError before init_process_group, ArgumentError for one we are not in."""
    world = group.WORLD
    if world is None:
        cause = tr("Default process group has not been initialized, please make sure to call init_process_group.")
        raise StateError(cause, "call it first, or ask is_initialized() before")
    if asked is None:
        return world
    if asked == NON_MEMBER:
        raise ArgumentError(tr("rank {} is not in this group", world.rank()), "call it only where get_rank(group) >= 0")
    expect_kind(asked, ProcessGroup, "group should be what new_group gave; got {}", "leave group out for all ranks")
    if asked is not world and asked.comm is not None and asked not in _made:
        raise StateError(tr("the group of ranks {} was destroyed", asked.ranks), "new_group(ranks)")
    return asked


def _rank_not_in_group(group) -> bool:
    """Whether this rank is none of the group's: what new_group gave says so."""
    return isinstance(group, int) and group == NON_MEMBER


def mine(asked: Any) -> ProcessGroup | None:
    """The group that is asked for; None where this rank is not in it, so that a collective does nothing here, as in PyTorch."""
    return None if _rank_not_in_group(asked) else chosen(asked)


def get_rank(group: Any = None) -> int:
    """Our number in the group; -1 where we are not in it."""
    found = mine(group)
    return -1 if found is None else found.rank()


def get_world_size(group: Any = None) -> int:
    """How many ranks the group has; -1 where we are not in it."""
    found = mine(group)
    return -1 if found is None else found.size()


def get_backend(group: Any = None) -> str:
    """The backend that the program asked for; MPI does the work."""
    return chosen(group).backend


def get_backend_config(group: Any = None) -> str:
    """The same, as PyTorch writes it."""
    return f"cpu:{get_backend(group)}"


def get_default_backend_for_device(device: Device) -> str:
    """The word that PyTorch has for a device: "gloo" for a CPU. Raises ArgumentError for a device that it does not know."""
    kind = as_device(device).type
    if kind not in Backend.default_device_backend_map:
        raise ArgumentError(tr("Default backend not registered for device : {}", device), '"cpu"')
    return Backend.default_device_backend_map[kind]


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Our number among the ranks of this machine."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    here = place()
    if here is not None:
        return here.local_rank
    if fallback_rank is None:
        raise StateError("LOCAL_RANK is not in the environment", "badak launch sets it; or give fallback_rank=0")
    return int(fallback_rank)


def get_process_group_ranks(group: Any = None) -> list[int]:
    """The numbers that its ranks have in the world."""
    return list(chosen(group).ranks)


def get_global_rank(group: Any, group_rank: int) -> int:
    """The number in the world of a rank of the group."""
    ranks = chosen(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ArgumentError(tr("Group rank {} is not part of group {}", group_rank, ranks), f"0 to {len(ranks) - 1}")
    return ranks[group_rank]


def get_group_rank(group: Any, global_rank: int) -> int:
    """The number in the group of a rank of the world."""
    ranks = chosen(group).ranks
    if global_rank not in ranks:
        raise ArgumentError(tr("Global rank {} is not part of group {}", global_rank, ranks), tr("one of {}", ranks))
    return ranks.index(global_rank)


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: Any = None,
    backend: Any = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: Any = None,
    **options: Any,
) -> Any:
    """A group of these ranks of the world. Every rank of the world calls it, also those that are not in it; they get
    GroupMember.NON_GROUP_MEMBER.

    use_local_synchronization=True: only its members call it.
    """
    world = chosen()
    members = sorted(range(world.size()) if ranks is None else {int(r) for r in ranks})
    if not members or members[0] < 0 or members[-1] >= world.size():
        cause = tr("new_group: ranks {} are not all in a world of {}", members, world.size())
        raise ArgumentError(cause, f"0 to {world.size() - 1}")
    if ranks is not None and len(members) != len(list(ranks)):
        raise ArgumentError(tr("new_group: a rank stands twice in {}", list(ranks)), "name each rank once")
    seconds = _seconds(timeout, "new_group", world.seconds)
    named = _asked(backend) or world.backend
    called = group_desc or f"the group of ranks {members}"
    if world.comm is None:
        return ProcessGroup(members, 0, (None, None, None), seconds, called, named)
    if not use_local_synchronization:
        _agree_on(world, f"new_group of ranks {members}")
    if world.rank() not in members:
        return NON_MEMBER
    if use_local_synchronization and len(members) <= MANY:
        met = meeting(members, "new_group")
        work = Work(world, f"new_group of ranks {members}", met.steps(), met.absent)
        start(world, work, is_collective=False).wait(seconds)
    inside, tag = world.comm.Get_group().Incl(members), zlib.crc32(repr(members).encode()) % world.tags
    comms = tuple(comm.Create_group(inside, tag) for comm in (world.comm, world.talk, world.mail))
    made = ProcessGroup(members, members.index(world.rank()), comms, seconds, called, named)
    _made.append(made)
    return made


def _agree_on(world: ProcessGroup, line: str) -> None:
    agreed = agreement(world, line)
    if agreed is not None:
        start(world, Work(world, line, agreed.steps(), agreed.absent)).wait()
    elif world.size() > 1:
        start(world, Work(world, line, iter([[world.comm.Ibarrier()]]))).wait()
