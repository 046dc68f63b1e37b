"""ZeRO, first stage: what an optimizer remembers of a parameter lies on one rank, which updates it and gives it to all."""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, StateError, expect_kind, tr
from badak.core.nests import changed
from badak.distributed.collectives import Steps, begin, flat, raw
from badak.distributed.group import ProcessGroup, chosen
from badak.distributed.objects import gather_object
from badak.optim import LBFGS, Optimizer
from badak.optim.state import load_groups, load_state, pack, refuse
from badak.tensor import Tensor

LARGE = 2**16  # bytes of a parameter that travels by itself, in its own memory; smaller ones go together
FEW = 4  # ranks
_OWN = ("params", "param_names")  # what the groups of a part do not share with the whole ones


class ZeroRedundancyOptimizer(Optimizer):
    """`optimizer_class` over several ranks: each remembers, and updates, a part of the parameters; then all have all of them.

    A parameter is never cut. Of each group the largest comes first, each to the rank that has the least so far. The updated values
    are those of the optimizer without ranks, bit for bit: what it does to a parameter must not depend on other parameters.

    params, defaults: as `optimizer_class` takes them. `optim` is this rank's own optimizer, `state` what it remembers.
    To save: consolidate_state_dict(to=0) on all ranks, then state_dict() on rank 0; every rank loads the whole of it.
    parameters_as_bucket_view is accepted: values are the same. A class may be any function that gives an optimizer.
    Raises ArgumentError for LBFGS and overlap_with_ddp, DistBackendError where ranks differ in parameters or learning rates.
    Source: Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", section 5.
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: Callable[..., Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        _check_class(optimizer_class)
        if overlap_with_ddp:
            cause = tr("ZeroRedundancyOptimizer: overlap_with_ddp=True is not there: ranks update when step() is called")
            raise ArgumentError(cause, "overlap_with_ddp=False, and step() after backward()")
        self.process_group: ProcessGroup = chosen(process_group)
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self.optim: Any = None
        self._loads = [0] * self.process_group.size()  # numbers on each rank
        self._owners: list[tuple[Tensor, int]] = []
        self._gathered: dict[int, Any] | None = None
        super().__init__(params, defaults)
        self.optim = optimizer_class([self._part(group) for group in self.param_groups], **defaults)
        if not isinstance(self.optim, Optimizer):
            cause = tr("ZeroRedundancyOptimizer: optimizer_class gave a {}, which is no optimizer", type(self.optim).__name__)
            raise ArgumentTypeError(cause, "a class such as badak.optim.AdamW, or a function that makes one")
        self.optim._stepped_without_gradient = True  # a part may have none; the whole asks
        self.defaults = dict(self.optim.defaults)
        self._tell(self.optim.param_groups, self.param_groups)
        self.state = self.optim.state
        self._agree()

    def _agree(self) -> None:
        """Raise DistBackendError where the parameters of another rank are not like ours."""
        shapes = repr([[(str(p._array.dtype), p._array.shape) for p in g["params"]] for g in self.param_groups])
        line = (
            f"ZeroRedundancyOptimizer of {type(self.optim).__name__} for {len(self._owners)} parameters in "
            f"{len(self.param_groups)} groups ({hashlib.sha256(shapes.encode()).hexdigest()[:8]})"
        )
        begin(self.process_group, line, _nothing(), async_op=False)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters to train, on every rank: {"params": tensors, setting: value}; absent settings take the defaults."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        owner = {}
        loads = list(self._loads)
        for p in sorted(group["params"], key=lambda p: -p._array.size):
            owner[id(p)] = loads.index(min(loads))
            loads[owner[id(p)]] += p._array.size
        before, self._owners = self._owners, [*self._owners, *((p, owner[id(p)]) for p in group["params"])]
        if self.optim is not None:
            try:
                self.optim.add_param_group(self._part(group))
            except Exception:
                self.param_groups.pop()
                self._owners = before
                raise
            self._tell(self.optim.param_groups, self.param_groups)
        self._loads = loads
        self._gathered = None

    def _part(self, group: dict[str, Any]) -> dict[str, Any]:
        """The group with this rank's parameters alone."""
        own = {id(p) for p, rank in self._owners if rank == self.process_group.rank()}
        settings = {name: value for name, value in group.items() if name not in _OWN}
        return {**settings, "params": [p for p in group["params"] if id(p) in own]}

    @staticmethod
    def _tell(source: list[dict[str, Any]], target: list[dict[str, Any]]) -> None:
        """Let the settings of `target` be those of `source`."""
        for one, other in zip(source, target):
            other.update({name: value for name, value in one.items() if name not in _OWN})

    def step(self, closure: Callable[[], Any] | None = None, **more: Any) -> Any:
        """Update this rank's part, then let all ranks have all parts; returns what `closure` returned."""
        self._tell(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(**more) if closure is None else self.optim.step(closure, **more)
        self._tell(self.optim.param_groups, self.param_groups)
        if self.process_group.size() > 1:
            rates = ", ".join(dict.fromkeys(f"{_number(group['lr']):.6g}" for group in self.param_groups if "lr" in group))
            line = f"{len(self._owners)} parameters after a step of {type(self.optim).__name__} with lr {rates or 'unsaid'}"
            begin(self.process_group, line, self._share(), async_op=False)
        return loss

    def _share(self) -> Steps:
        """Let every rank have what the others have updated."""
        group, own = self.process_group, self.process_group.rank()
        rows = [flat(p._array) for p, _ in self._owners]
        large, small = [], [[] for _ in range(group.size())]  # type: list[int], list[list[int]]
        for at, (_, rank) in enumerate(self._owners):
            (large if rows[at].nbytes >= LARGE else small[rank]).append(at)
        requests = [request for at in large for request in _to_all(group, raw(rows[at]), self._owners[at][1])]
        counts = [sum(rows[at].nbytes for at in each) for each in small]
        starts = np.cumsum([0, *counts]).tolist()
        made = np.empty(starts[-1], np.uint8)
        sent = np.concatenate([np.empty(0, np.uint8), *(raw(rows[at]) for at in small[own])])
        yield [*requests, group.comm.Iallgatherv(sent, [made, counts, starts[:-1], group.byte])]
        for start, each in zip(starts, small):
            for at in each:
                raw(rows[at])[...] = made[start : start + rows[at].nbytes]
                start += rows[at].nbytes
        others = [(p, rows[at]) for at, (p, rank) in enumerate(self._owners) if rank != own]
        for p, row in others:
            if not np.shares_memory(p._array, row):
                p._array[...] = row.reshape(p._array.shape)
        self._changed([p for p, _ in others])

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring what all ranks remember to rank `to` of the group, where state_dict() then gives it. All ranks call it."""
        size = self.process_group.size()
        if not isinstance(to, int) or not 0 <= to < size:
            raise ArgumentError(tr("consolidate_state_dict: to={} is no rank of a group of {}", to, size), f"0 to {size - 1}")
        self._gathered = self._collected(to)

    def _collected(self, to: int) -> dict[int, Any] | None:
        """What all ranks remember of their parameters, by the parameters' numbers, on one of them."""
        group = self.process_group
        arrays: list[np.ndarray] = []
        numbers = {id(p): number for number, (p, _) in enumerate(self._owners)}
        own = {numbers[id(p)]: changed(memory, Tensor, lambda x: _Hole.of(x, arrays)) for p, memory in self.state.items()}
        here = group.rank() == to
        skeletons: list[Any] = [None] * group.size()
        gather_object(own, skeletons if here else None, group=group, group_dst=to)
        found: dict[int, Any] = {}

        def data() -> Steps:
            if not here:
                yield [group.comm.Isend(raw(flat(x)), to) for x in arrays]
                return
            for rank, memories in enumerate(skeletons):
                rows: list[np.ndarray] = []
                filled = changed(memories, _Hole, partial(_Hole.filled, rows=rows))
                if rank == to:
                    for row, x in zip(rows, arrays):
                        row[...] = flat(x)
                else:
                    yield [group.comm.Irecv(raw(row), rank) for row in rows]
                found.update(filled)

        begin(group, f"ZeroRedundancyOptimizer.consolidate_state_dict(to={to})", data(), async_op=False)
        return dict(sorted(found.items())) if here else None

    def collected_state_dict(self, to: int = 0) -> dict[str, Any] | None:
        """consolidate_state_dict and state_dict in one, on all ranks; None but on rank `to`. Nothing of it is kept here."""
        self.consolidate_state_dict(to)
        made = None if self._gathered is None else self.state_dict()
        self._gathered = None
        return made

    def state_dict(self) -> dict[str, Any]:
        """What all ranks remembered at the last consolidate_state_dict, in the form of an optimizer without ranks."""
        for hook in self._hooked(tr("state_dict pre")):
            hook(self)
        if self._gathered is None:
            cause = tr("Optimizer state has not been consolidated on this rank.")
            raise StateError(cause, tr("consolidate_state_dict(to={}) on all ranks before", self.process_group.rank()))
        made = {**pack({}, self.param_groups), "state": dict(self._gathered)}
        for hook in self._hooked(tr("state_dict post")):
            made = hook(self, made) or made
        return made

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the whole state, of an optimizer with or without ranks: each rank its part; all check the whole."""
        state_dict = dict(state_dict) if isinstance(state_dict, dict) else state_dict
        for hook in self._hooked(tr("load_state_dict pre")):
            state_dict = hook(self, state_dict) or state_dict
        owner = type(self.optim).__name__
        groups = load_groups(state_dict, self.param_groups, owner)
        kept: dict[Any, Any] = {}
        memories = dict(state_dict["state"])
        ranks = {id(p): rank for p, rank in self._owners}
        for theirs, group in zip(state_dict["param_groups"], groups):
            for number, p in zip(theirs["params"], group["params"]):
                memory = {number: memories.pop(number)} if number in memories else {}
                alone = {**group, "params": [p]}
                found = load_state(memory, [{"params": [number]}], [alone], owner, self.optim.NUMBERS)
                self.optim._check_loaded(found, [alone])
                if ranks[id(p)] == self.process_group.rank():
                    kept.update(found)
        if memories:
            refuse(owner, tr("'state' has the memory of parameter {}, which is in no group", str(next(iter(memories)))[:40]))
        self.param_groups = groups
        state = load_state({}, [], [], owner)  # one that begins what is not there
        state.update(kept)
        self.optim.__setstate__({"state": state, "param_groups": [self._part(group) for group in groups]})
        self._tell(self.optim.param_groups, self.param_groups)
        self.state, self._gathered = self.optim.state, None
        for hook in self._hooked(tr("load_state_dict post")):
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "optim": self.optim}

    def __reduce_ex__(self, protocol: Any) -> Any:
        cause = tr("a ZeroRedundancyOptimizer cannot be copied or pickled: its memory lies on several ranks")
        raise StateError(cause, "consolidate_state_dict(), then state_dict()")


def _to_all(group: ProcessGroup, row: np.ndarray, root: int) -> list[Any]:
    """Requests by which the row of one rank goes to all; among few straight from rank to rank, in half of a broadcast's time."""
    if group.size() > FEW:
        return [group.comm.Ibcast(row, root)]
    if root != group.rank():
        return [group.comm.Irecv(row, root)]
    return [group.comm.Isend(row, other) for other in range(group.size()) if other != root]


class _Hole:
    """Where an array was taken out, to travel by itself."""

    def __init__(self, dtype: np.dtype, shape: tuple[int, ...]):
        self.dtype, self.shape = dtype, shape

    @classmethod
    def of(cls, x: Tensor, arrays: list[np.ndarray]) -> "_Hole":
        """That of a tensor, whose array goes to the list."""
        arrays.append(x._array)
        return cls(x._array.dtype, x._array.shape)

    def filled(self, rows: list[np.ndarray]) -> Tensor:
        """A new tensor in its place, whose memory as a row goes to the list."""
        array = np.empty(self.shape, self.dtype)
        rows.append(array.reshape(-1))
        return Tensor._of(array)


def _nothing() -> Steps:
    yield from ()


def _number(value: Any) -> float:
    return value.item() if isinstance(value, Tensor) else float(value)


def _check_class(optimizer_class: Any) -> None:
    expect_kind(
        optimizer_class,
        Callable,
        "ZeroRedundancyOptimizer: optimizer_class should be a class of optimizers; got {}",
        "optimizer_class=badak.optim.AdamW",
    )
    if isinstance(optimizer_class, type) and issubclass(optimizer_class, LBFGS | ZeroRedundancyOptimizer):
        cause = tr("ZeroRedundancyOptimizer: {} does not update each parameter by itself", optimizer_class.__name__)
        raise ArgumentError(cause, "optimizer_class=badak.optim.AdamW, or another that does")
