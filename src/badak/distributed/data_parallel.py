"""DistributedDataParallel: the same model on every rank, each with examples of its own, and the mean of their gradients."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, StateError, tr
from badak.core.modes import modes
from badak.distributed.collectives import begin, flat, raw
from badak.distributed.group import chosen, is_initialized
from badak.distributed.group import group as groups
from badak.distributed.reducer import Reducer
from badak.nn import Module
from badak.tensor import Tensor

MEGABYTE = 2**20


class DistributedDataParallel(Module):
    """`module` on every rank of a group. After backward() each parameter's .grad is the mean over the ranks.

    The first rank's parameters and buffers go to all when it is made; its buffers again before each forward that trains, unless
    broadcast_buffers=False. Sums begin while backward goes on, in buckets of bucket_cap_mb megabytes (25 if None). A parameter
    that no rank has a gradient for keeps none; one that some rank has a gradient for counts as zeros on the others, with or
    without find_unused_parameters. device_ids, dim, gradient_as_bucket_view, static_graph and the like are accepted.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: Any = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        **options: Any,
    ) -> None:
        if process_group is None and not is_initialized():
            fix = tr("call it before, with world_size=1 where there is one process; or use the model without the wrapper")
            raise ArgumentError("Default process group has not been initialized, please make sure to call init_process_group.", fix)
        super().__init__()
        own = self.__dict__
        own["process_group"] = chosen(process_group)
        self.module, self.device_ids, self.device = module, device_ids, None
        self.broadcast_buffers, self.find_unused_parameters, self.static_graph = (
            broadcast_buffers,
            find_unused_parameters,
            static_graph,
        )
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        ignored = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        params = [p for name, p in module.named_parameters() if p.requires_grad and name not in ignored]
        own["_kept"] = [b for name, b in module.named_buffers() if name not in ignored]
        if not params:
            cause = tr("DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient.")
            raise ArgumentError(cause, "use the module without the wrapper")
        own["_joining"] = None
        most = MEGABYTE * (25 if bucket_cap_mb is None else bucket_cap_mb)
        own["_reducer"], own["_make_reducer"] = None, partial(Reducer, params, self.process_group, most)
        if self.process_group.size() > 1:
            if init_sync:
                self._same_shapes([p for name, p in module.named_parameters() if name not in ignored])
                self._from_first([*(p for name, p in module.named_parameters() if name not in ignored), *self._kept])
            own["_reducer"] = self._make_reducer()

    def _same_shapes(self, params: list[Tensor]) -> None:
        """Raise DistBackendError where the model of another rank has other parameters."""
        shapes = repr([(str(p._array.dtype), p._array.shape) for p in params])
        numbers, digest = sum(p._array.size for p in params), hashlib.sha256(shapes.encode()).hexdigest()[:8]
        line = f"DistributedDataParallel of {len(params)} parameters with {numbers} numbers ({digest})"
        begin(self.process_group, line, iter(()), async_op=False)  # type: ignore[arg-type]

    def _from_first(self, tensors: list[Tensor], root: int = 0) -> None:
        """Give these tensors the values of the first rank, those of one dtype in one message."""
        group = self.process_group
        if group.size() == 1:
            return
        for kind in sorted({str(x._array.dtype) for x in tensors}):
            some = [x for x in tensors if str(x._array.dtype) == kind]
            row = np.concatenate([flat(x._array) for x in some])

            def data(row=row, some=some):
                yield [group.comm.Ibcast(raw(row), root)]
                if group.rank() != root:
                    for x, values in zip(some, np.split(row, np.cumsum([x._array.size for x in some])[:-1])):
                        x._array[...] = values.reshape(x._array.shape)
                        x._watch().bump("DistributedDataParallel")

            begin(
                group,
                f"broadcast of {len(some)} tensors from rank {group.ranks[root]}, {kind} ({row.size},)",
                data(),
                async_op=False,
            )

    def forward(self, *inputs: Any, **kwargs: Any) -> Tensor:
        """module(*inputs, **kwargs)."""
        reducer = self._reducer
        if modes.grad:
            self.require_forward_param_sync = self.require_backward_grad_sync
        if reducer is not None and modes.grad:
            events.user_code(tr("ranks talk to each other"))
            root = 0 if self._joining is None else self._joining.here(self.require_backward_grad_sync)
            if self.require_backward_grad_sync and self.broadcast_buffers and self._kept:
                self._from_first(self._kept, root)
            reducer.expect(self.require_backward_grad_sync)
        return self.module(*inputs, **kwargs)

    @property
    def reducer(self) -> Any:
        """What shares gradients: `prepare_for_backward([])` lets the next backward do so, whatever the last forward said."""
        return self._reducer or SimpleNamespace(prepare_for_backward=lambda outputs: None, _rebuild_buckets=lambda: False)

    def _get_ddp_logging_data(self) -> dict:
        """What PyTorch tells of its buckets, for libraries that look whether the graph could be said to be static: nothing."""
        return {}

    @contextmanager
    def no_sync(self) -> Any:
        """Within the block gradients stay on their rank and add up; the next backward of a forward outside of it shares the sum."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextmanager
    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Iterator[Any]:
        """Ranks with fewer batches than others take part in the others' sums, with zeros, until all are done.

        The mean is over all ranks; with divide_by_initial_world_size=False over those that still have batches. At the end all
        have the parameters and buffers of a rank that was last. throw_on_early_termination: raise on all ranks when one is done.
        """
        if self._reducer is None or self.process_group.size() == 1 or not enable:
            yield self
            return
        joining = _Joining(self, divide_by_initial_world_size, throw_on_early_termination)
        self.__dict__["_joining"] = joining
        try:
            yield self
            joining.stay()
        finally:
            self.__dict__["_joining"] = None
            self._reducer.divisor = None

    def register_comm_hook(self, state: Any, hook: Any) -> None:
        """From now on hook(state, bucket) makes of each bucket of gradients what it becomes, and gives a future of it.

        bucket: a GradBucket. Ready-made hooks: torch.distributed.algorithms.ddp_comm_hooks.default_hooks.
        """
        if not callable(hook):
            cause = tr("Communication hook must be callable; got {}", type(hook).__name__)
            raise ArgumentTypeError(cause, "hook(state, bucket), a function")
        if self._make_reducer is None:
            raise StateError("register_comm_hook: this model was copied or pickled", "DistributedDataParallel(model.module)")
        if self._reducer is None:  # alone: the hook counts all the same
            self.__dict__["_reducer"] = self._make_reducer()
        if self._reducer.hook is not None:
            cause = tr("register_comm_hook can only be called once.")
            raise StateError(cause, "one hook that does both, or DistributedDataParallel again")
        self._reducer.use(partial(hook, state))

    def __getstate__(self):
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("_reducer", "_make_reducer", "process_group", "_joining")
        }

    def __setstate__(self, state) -> None:
        self.__dict__.update(state, _reducer=None, _make_reducer=None, process_group=groups.WORLD, _joining=None)


class _Joining:
    """Who still has batches. Before each forward the ranks tell each other: 2 with a sum to come, 1 without, 0 no batch left."""

    def __init__(self, model: DistributedDataParallel, by_all: bool, throw: bool):
        self.model, self.by_all, self.throw, self.last = model, by_all, throw, 0

    def _tell(self, mine: int) -> np.ndarray:
        group = self.model.process_group
        own = np.array([mine], np.int64)
        made = np.empty(group.size(), np.int64)

        def data():
            yield [group.comm.Iallgather(raw(own), raw(made))]

        begin(group, "DistributedDataParallel.join", data(), async_op=False)
        if self.throw and not made.all():
            cause = tr("DistributedDataParallel.join: a rank has no batch left, and throw_on_early_termination=True was asked for")
            raise ArgumentError(cause, "the same number of batches on every rank, or throw_on_early_termination=False")
        there = np.flatnonzero(made)
        if there.size:
            self.last = int(there[0])
            self.model._reducer.divisor = None if self.by_all else int(there.size)
        return made

    def here(self, shares: bool) -> int:
        """This rank has a batch; which rank's buffers count."""
        self._tell(2 if shares else 1)
        return self.last

    def stay(self) -> None:
        """This rank has no batch left: take part until nobody has one."""
        model = self.model
        while (others := self._tell(0)).any():
            if others.max() == 2:
                if model.broadcast_buffers and model._kept:
                    model._from_first(model._kept, self.last)
                model._reducer.shadow()
        model._from_first([*model.module.parameters(), *model._kept], self.last)
