"""Elementwise: an optimizer that is a pure update and a table. Its file says what is its own, this one does everything else.

What a subclass states (`rmsprop.py` is an example):

    __init__    PyTorch's signature; it hands over its settings as `locals()`
    CHECKS      {setting: its check}, of those that `settings.py` does not know
    SLOTS       {what is remembered: its `Slot`}, in the order in which `update` takes it
    COUNTS      whether it remembers "step", a 0-d tensor
    NUMBERS     {another 0-d tensor that is remembered: its first value, or the setting that gives it}
    scalars     (group, step, *numbers) -> the numbers that `update` takes after the slots: what changes from step to step is
                made here; `numbers` are 0-d arrays, to which it gives the values that the next step takes
    update      (p, g, *slots, *scalars) -> (p, *slots), of one element; see `kernels/update.py`

From that come the groups with their checks, the state and its form in files, one call of a kernel for all parameters of a
group, and replays of that call (`badak.compile`).
"""

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import is_
from typing import Any, ClassVar

import numpy as np

from badak import kernels
from badak.autograd.grad_mode import enable_grad, no_grad
from badak.core.errors import NotSupportedError, tr
from badak.core.public_api import overriding
from badak.kernels.update import Update
from badak.optim import private
from badak.optim.optimizer import Declared, begin_number, count, loss_of
from badak.optim.settings import number
from badak.optim.state import check_memory
from badak.tensor import Tensor, view_as_complex, view_as_real
from badak.tensor.apply import wrapped_run
from badak.tensor.sparse.create import coalesce
from badak.tensor.sparse.layout import CooTensor
from badak.tensor.wrapped import is_wrapper


@dataclass(frozen=True)
class Slot:
    """Something that is remembered of each parameter: an array of its shape and dtype.

    when: the setting without which it is not needed, "" for none. start: the setting with its first value, "" for 0.
    late: a saved state may lack it, as a step that comes later begins it.
    """

    when: str = ""
    start: str = ""
    late: bool = False


class Elementwise(Declared):
    """The base of the optimizers that change every element by itself."""

    SLOTS: ClassVar[dict[str, Slot]] = {}
    COUNTS: ClassVar[bool] = True
    ADDS: ClassVar[bool] = False  # whether PyTorch's calls p.add_, which a program's own class of tensors may answer
    REMEMBERS_AT_ONCE: ClassVar[bool] = False  # from the start on, not from the first step
    UPDATE: ClassVar[Update]

    @staticmethod
    def scalars(group: dict[str, Any], step: int, *numbers: Any) -> tuple[float, ...]:
        """The numbers of a step, which counts from 1. Without COUNTS: 1 where a slot begins, else 2."""
        raise NotSupportedError("an Elementwise optimizer has no scalars()", "define scalars(group, step) in the class")

    update: ClassVar[Callable[..., tuple[Any, ...]]]

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if "update" in cls.__dict__:
            cls.UPDATE = Update(cls.__name__.lower(), cls.update, {name: bool(slot.when) for name, slot in cls.SLOTS.items()})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        if self.REMEMBERS_AT_ONCE:
            group = self.param_groups[-1]
            for p in group["params"]:
                self._begin(p, group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of every parameter that has a gradient; returns what `closure` returned."""
        loss = loss_of(closure)
        if CooTensor in overriding.active:
            self._step_sparse()
        if self.defaults.get("differentiable"):
            with enable_grad():
                self._step_recorded(lambda p, g: not g.is_sparse)
            return loss
        if wrapped_run:
            with no_grad():
                self._step_recorded(lambda p, g: is_wrapper(p) or is_wrapper(g))
        for batch in self._batches():
            scalars, arrays = batch.next_scalars(), batch.arrays
            adding = self._adding(batch.params)
            if adding:
                arrays = [a.copy() if p in adding else a for a, p in zip(arrays, batch.params)]
            kernels.of(arrays[0]).update_all(self.UPDATE, arrays, batch.grads, batch.columns, scalars, batch.memo)
            self._changed(batch.params)
            if adding:
                self._add(adding, zip(batch.params, arrays))
        return loss

    def _adding(self, params: list[Tensor]) -> set[Tensor]:
        """Those whose class has an add_ of its own: it is given what is added to them."""
        return {p for p in params if type(p).add_ is not Tensor.add_} if self.ADDS and overriding.active else set()

    @no_grad()
    def _add(self, adding: set[Tensor], new: Iterable[tuple[Tensor, Any]]) -> None:
        """Let those parameters add up to their new arrays."""
        for p, array in new:
            if p in adding:
                p.add_(Tensor._of(array.view(p._array.dtype).reshape(p.shape) - p._array))

    def _step_sparse(self) -> None:
        """The update of the parameters that have a sparse gradient, which is that of some rows."""
        for group in self.param_groups:
            for p in [p for p in group["params"] if p._grad is not None and p._grad.is_sparse]:
                if group.get("weight_decay"):
                    raise NotSupportedError("weight_decay option is not compatible with sparse gradients", "weight_decay=0")
                self._update_sparse(p, coalesce(p._grad), group)
                self._changed([p])

    def _step_recorded(self, chosen: Callable[[Tensor, Tensor], bool]) -> None:
        """The update of chosen parameters in operations, which are recorded and go to the classes of wrappers."""
        recorded = importlib.import_module("badak.tensor.double_backward.array")
        for group in self.param_groups:
            _refuse_slopes(type(self).__name__, group)
            for p in [p for p in group["params"] if p._grad is not None and chosen(p, p._grad)]:
                new = self._begin(p, group)
                state, names = self.state[p], self._slots(group)
                step = count(state["step"]._array) if self.COUNTS else 1 if new else 2
                _refuse_slopes(type(self).__name__, {name: state[name] for name in self.NUMBERS})
                scalars = self.scalars(group, step, *[state[name]._array for name in self.NUMBERS])
                held = [p, *[state[name] if name else None for name in names]]
                copies = [None if x is None else x.clone() for x in (p, p._grad, *held[1:])]  # of what changes below
                if p.is_complex():  # each part changes by itself
                    copies = [None if x is None else view_as_real(x) for x in copies]
                seen = [None if x is None else recorded.Recorded(x) for x in copies]
                for x, y in zip(held, self._recorded(new, *seen, *scalars)):
                    if x is not None:
                        made = recorded.tensor_of(y)
                        x.copy_(view_as_complex(made) if p.is_complex() else made)

    def _recorded(self, new: bool, *given: Any) -> tuple[Any, ...]:
        """What update gives, of recorded arrays. new: whether a slot has just begun."""
        return self.update(*given)

    def _update_sparse(self, p: Tensor, g: Any, group: dict[str, Any]) -> None:
        """Change p by a coalesced gradient."""
        cause = tr("{} does not support sparse gradients, please consider SparseAdam instead", type(self).__name__)
        raise NotSupportedError(cause, "optim.SparseAdam, SGD or Adagrad for tables with sparse=True")

    def _kept_step(self) -> Callable[[], bool] | None:
        if (
            type(self).step is not Elementwise.step
            or self.defaults.get("differentiable")
            or self._has_step_hooks()
            or self._adding([*self._parameters()])
        ):
            return None
        batches = list(self._batches())
        kept = [kernels.of(batch.arrays[0]).update_kept(batch.memo, batch.grads) for batch in batches]
        if None in kept:
            return None

        ready = self._ready()

        def prepare() -> bool:
            now = self._ready()
            if self._has_step_hooks() or len(now) != len(ready) or not all(map(is_, now, ready)):
                return False
            if not all(batch.stands() for batch in batches):
                return False
            for batch, set_scalars in zip(batches, kept):
                set_scalars(batch.next_scalars())
                self._changed(batch.params)
            return True

        return prepare

    def _has_step_hooks(self) -> bool:
        return bool(self._hooks.get("step pre") or self._hooks.get("step post") or private.before or private.after)

    def _ready(self) -> list[Any]:
        """The groups, each followed by its parameters that have gradients."""
        return [x for group in self.param_groups for x in (group, *[p for p in group["params"] if p._grad is not None])]

    def _batches(self) -> Iterator["_Batch"]:
        """The parameters that have gradients, those of one group and dtype together."""
        for at, group in enumerate(self.param_groups):
            ready = [p for p in group["params"] if p._grad is not None]
            if CooTensor in overriding.active:
                ready = [p for p in ready if not p._grad.is_sparse]
            if wrapped_run:
                ready = [p for p in ready if not is_wrapper(p) and not is_wrapper(p._grad)]
            kinds = {p._array.dtype.char for p in ready}
            for kind in kinds:
                batch = ready if len(kinds) == 1 else [p for p in ready if p._array.dtype.char == kind]
                yield _Batch(self, batch, group, self._memos[at, kind])

    def _slots(self, group: dict[str, Any]) -> list[str | None]:
        """The names of what this group's settings need, None in the place of what they do not."""
        return [name if not slot.when or group[slot.when] else None for name, slot in self.SLOTS.items()]

    def _begin(self, p: Tensor, group: dict[str, Any]) -> bool:
        """Begin what is missing in the memory of p; whether that were slots."""
        state = self.state[p]
        if self.COUNTS:
            begin_number(state, "step", 0)
        for name, start in self.NUMBERS.items():
            begin_number(state, name, number(group[start]) if isinstance(start, str) else start)
        missing = [name for name in self._slots(group) if name and state.get(name) is None]
        for name in missing:
            start = self.SLOTS[name].start
            value = number(group[start]) if start else 0
            begun = complex(value, value) if p._array.dtype.kind == "c" else value
            if wrapped_run and is_wrapper(p):
                state[name] = importlib.import_module("badak").zeros_like(p) + begun
            else:
                state[name] = Tensor._of(np.full_like(p._array, begun))
        return bool(missing)

    def _check_memory(self, memory: Any, p: Tensor, group: dict[str, Any]) -> None:
        own = type(self).step is Elementwise.step  # a step of a subclass may remember more
        needed = [name for name in self._slots(self.defaults | group) if name and not self.SLOTS[name].late]
        needed += ["step"] * self.COUNTS + [*self.NUMBERS]
        shapes = dict.fromkeys(self.SLOTS, tuple(p.shape))
        check_memory(type(self).__name__, memory, p, needed, shapes, self.NUMBERS, more=not own)


def _refuse_slopes(owner: str, group: dict[str, Any]) -> None:
    """Raise where a setting wants a gradient: the steps take numbers."""
    for name, value in group.items():
        if name != "params" and any(
            isinstance(x, Tensor) and x.requires_grad for x in (value if type(value) is tuple else (value,))
        ):
            cause = tr("{}: the setting '{}' wants a gradient, and an update takes its settings as numbers", owner, name)
            raise NotSupportedError(cause, tr("{}.detach()", name))


class _Batch:
    """Parameters of one group and dtype, and the arrays that their update takes. Making it changes nothing."""

    def __init__(self, optimizer: Elementwise, params: list[Tensor], group: dict[str, Any], memo: dict[str, Any]):
        self.optimizer, self.params, self.group, self.memo = optimizer, params, group, memo
        self.real = params[0]._array.dtype.kind != "c"
        self.arrays = self._seen([p._array for p in params])
        self.grads = self._seen([p._grad._array for p in params])  # type: ignore[union-attr]
        self.names = optimizer._slots(group)
        self.counters: list[Any] = []
        self.numbers: list[list[Any]] = []  # of each parameter
        self.columns: list[list[Any] | None] = []
        self.begun = self._look()

    def _seen(self, arrays: list[Any]) -> list[Any]:
        """The arrays as the update takes them: complex numbers as pairs of real ones, each changed by itself."""
        return arrays if self.real else [array[..., None].view(array.real.dtype) for array in arrays]

    def _look(self) -> bool:
        """Find the counters and slots; whether all are there."""
        optimizer, names = self.optimizer, self.names
        state, counts = optimizer.state, optimizer.COUNTS
        try:
            states = [state[p] for p in self.params] if counts or any(names) else []
            self.counters = [each["step"]._array for each in states] if counts else []
            self.numbers = [[each[name]._array for name in optimizer.NUMBERS] for each in states] if optimizer.NUMBERS else []
            self.columns = [self._seen([each[name]._array for each in states]) if name else None for name in names]
        except (KeyError, AttributeError):  # nothing there yet, or None or a number in its place
            return False
        return True

    def stands(self) -> bool:
        """Whether a call of the kernel that was kept of it still does its update: all arrays are the same ones."""
        params, arrays, grads, columns = self.params, self.arrays, self.grads, self.columns
        found = self.names == self.optimizer._slots(self.group) and self._look() and self.real
        now, self.columns = self.columns, columns
        return (
            found
            and all(map(is_, arrays, [p._array for p in params]))
            and all(map(is_, grads, [p._grad._array for p in params]))  # type: ignore[union-attr]
            and all(all(map(is_, one, two)) for one, two in zip(columns, now) if one and two)
        )

    def next_scalars(self) -> list[tuple[float, ...]]:
        """Count one more step, after beginning what is missing; the scalars of every parameter at its step."""
        optimizer, group = self.optimizer, self.group
        if optimizer.COUNTS:
            if not self.begun:
                self._begin()
            steps = list(map(count, self.counters))
        else:
            steps = [2] * len(self.params) if self.begun else [1 if new else 2 for new in self._begin()]
        try:
            if self.numbers:
                return [optimizer.scalars(group, step, *numbers) for step, numbers in zip(steps, self.numbers)]
            if steps.count(steps[0]) == len(steps):
                return [optimizer.scalars(group, steps[0])] * len(steps)
            of_step = {step: optimizer.scalars(group, step) for step in set(steps)}
            return [of_step[step] for step in steps]
        except (TypeError, ValueError, ArithmeticError):
            for counter in self.counters:
                counter.fill(counter.item() - 1)
            optimizer._check_group(group)
            raise

    def _begin(self) -> list[bool]:
        """Begin what is missing; whose slots were."""
        new = [self.optimizer._begin(p, self.group) for p in self.params]
        self.begun = self._look()
        return new
