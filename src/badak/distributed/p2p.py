"""From one rank to one other: send, recv and what belongs to them.

A message is two of MPI's: a line that says dtype and shape, then the values. So a receiver knows what it gets before it takes it.
"""

from typing import Any, NamedTuple

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, tr
from badak.distributed.collectives import array, flat, put, raw, says
from badak.distributed.consistency_check import BYTES, _packed, _unpacked
from badak.distributed.engine import engine
from badak.distributed.errors import DistBackendError
from badak.distributed.group import ProcessGroup, mine
from badak.distributed.work import Work, look_after, refuse_broken
from badak.tensor import Tensor

TAG = 2**20  # tags of a program are below it


class Receives:
    """The receives of a group that are under way: of those that could take the same message, the first one gets it."""

    def __init__(self) -> None:
        self.waiting: list[tuple[int, int, Work]] = []  # source (-1: any), tag, and the receive

    def __bool__(self) -> bool:
        return bool(self.waiting)

    def works(self) -> list[Work]:
        """Those receives."""
        return [work for _, _, work in self.waiting]

    def progress(self) -> None:
        """Let each of them look for its message, where no earlier one waits for the same."""
        left: list[tuple[int, int, Work]] = []
        for source, tag, work in self.waiting:
            taken = any(tag == t and -1 in (source, s) or (source, tag) == (s, t) for s, t, _ in left)
            if taken or not work.advance():
                left.append((source, tag, work))
        self.waiting = left


def _peer(group: ProcessGroup, rank, inside, where: str, name: str) -> int:
    number = int(inside) if inside is not None else group.ranks.index(int(rank)) if rank in group.ranks else -1
    if not 0 <= number < group.size():
        cause = tr("{}: {}={} is not in {}", where, name, rank if inside is None else inside, group)
        raise ArgumentError(cause, tr("one of {}", group.ranks))
    if number == group.rank():
        raise ArgumentError(tr("{}: {}={} is this rank itself", where, name, group.ranks[number]), "copy the tensor: y.copy_(x)")
    return number


def _tag(tag: int, where: str) -> int:
    if not 0 <= int(tag) < TAG:
        raise ArgumentError(tr("{}: expected 0 <= tag < {}; got {}", where, TAG, tag), "tag=0")
    return int(tag)


def isend(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> Work | None:
    """Begin to send a tensor to rank dst; it must not change until the handle is done."""
    if (group := mine(group)) is None:
        return None
    x, there, tag = array(tensor, "send"), _peer(group, dst, group_dst, "send", "dst"), _tag(tag, "send")
    events.user_code(tr("ranks talk to each other"))
    row, what = flat(x), tr("send to rank {} of {}", group.ranks[there], says(x))
    refuse_broken(group, what)
    posted = [group.mail.Isend(_packed(says(x)), there, tag), group.mail.Isend(raw(row), there, tag)]

    def steps():
        yield posted
        return row  # the memory that is sent lives until here

    work = Work(group, what, steps(), lambda: [group.ranks[there]])
    group.sending.append(work)
    look_after(group)
    return work


def irecv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> Work | None:
    """Begin to receive a tensor from rank src, or from any; it holds the values when the handle is done."""
    if (group := mine(group)) is None:
        return None
    x, tag = array(tensor, "recv"), _tag(tag, "recv")
    source = -1 if src is None and group_src is None else _peer(group, src, group_src, "recv", "src")
    events.user_code(tr("ranks talk to each other"))
    if group.receiving is None:
        group.receiving = Receives()
    others = [r for i, r in enumerate(group.ranks) if i != group.rank()] if source < 0 else [group.ranks[source]]
    if not others:
        raise ArgumentError(tr("recv: from any rank, but {} has no other one", group), "more ranks: badak launch -n 2 SCRIPT")
    what = tr("recv from {} of {}", tr("any rank") if source < 0 else tr("rank {}", group.ranks[source]), says(x))
    refuse_broken(group, what)
    work = Work(group, what, _take(group, tensor, x, source, tag), lambda: others, of_any=source < 0)
    group.receiving.waiting.append((source, tag, work))
    look_after(group)
    return work


def _take(group: ProcessGroup, tensor: Tensor, x: np.ndarray, source: int, tag: int):
    """Wait for the line, then take the values; gives the sender's rank in the world."""
    MPI = engine().MPI
    status = MPI.Status()
    while (message := group.mail.Improbe(MPI.ANY_SOURCE if source < 0 else source, tag, status)) is None:
        yield None  # nothing has come
    line = np.zeros(BYTES, np.uint8)
    yield [message.Irecv(line)]
    sender = status.source
    said = _unpacked(line)
    while (message := group.mail.Improbe(sender, tag, status)) is None:
        yield None
    made = np.empty(status.Get_count(MPI.BYTE), np.uint8)
    yield [message.Irecv(made)]
    if said != says(x) and (made.size != x.nbytes or said.split(" ")[0] != str(x.dtype)):
        cause = tr("recv from rank {}: it has sent {}, this rank expects {}", group.ranks[sender], said, says(x))
        raise DistBackendError(cause, "tensors of the same shape and dtype on both sides")
    put(tensor, made.view(x.dtype), "recv")
    return group.ranks[sender]


def send(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor to rank dst."""
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor from rank src, or from any; gives the number of the sender."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()


class P2POp(NamedTuple):
    """One of several sends and receives for `batch_isend_irecv`: op is isend or irecv."""

    op: object
    tensor: Tensor
    peer: int | None = None
    group: object = None
    tag: int = 0
    group_peer: int | None = None


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin all of them; their handles."""
    made = [one.op(one.tensor, one.peer, one.group, one.tag, one.group_peer) for one in p2p_op_list]  # type: ignore[operator]
    return [work for work in made if work is not None]
