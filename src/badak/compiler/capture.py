"""Watching a step: every operation, gradient and change becomes an entry of a recording.

The recorder is an observer of events (`core/events.py`). What it cannot follow it refuses, with the reason; the step then
runs as it is. Next to the entries it keeps a trace, which says what happened in a form that two recordings have in common.
"""

import weakref
from collections.abc import Iterator

import numpy as np

from badak import kernels
from badak.compiler.common_subexpressions import CommonSubexpressions
from badak.compiler.entries import Backward, Call, Copy, Entry, Forward, Grads, Prepared, Sum, Ufunc, results_in, told_by
from badak.compiler.frames import Frames, unseen
from badak.compiler.memory import Gradients, room_to_record
from badak.compiler.native import KernelLog, native_calls, read_by, reads_only
from badak.compiler.native import written_by as written_by_calls
from badak.compiler.overwritten import Overwritten
from badak.compiler.provenance import Provenance, Trace, arrays_in
from badak.compiler.snapshot import MOST
from badak.compiler.warmup import target_of, written_by
from badak.core import events
from badak.core.errors import GraphError, tr
from badak.core.events import Observer
from badak.core.memory import holder_of
from badak.kernels.memory_format import of_gradient
from badak.tensor import Tensor

WAITS = tr("its result still waits for backward(); compile the whole step, backward included")
CHANGED = tr("it changes one of its arguments")


class Recorder(Observer):
    """One recording. `with recorder:` watches this thread; `entries` is what happened, `trace` the same to be compared."""

    eager = True

    def __init__(self, arguments, surroundings, found: tuple[set, list, dict] | None = None, like=()):
        """found: what the first of two recordings has found out; like: its trace."""
        self.surroundings = surroundings
        repeated, kept, executed = found or (None, [], None)
        self.entries: list[Entry] = []
        self.trace: list = Trace(like)
        self.trouble = ""  # why this cannot be replayed
        self.leaves: dict = {}  # id: (leaf, its .grad when the step first touched it, whether it was read)
        self.tensors: dict = {}  # id: tensors from outside
        self.modules: dict = {}  # id: modules that were called, or asked for what they hold
        self.decided: dict = {}  # (id, name): (object, name, value when the step began) of what Python decides by
        self._changed: dict = {}  # (id, name): (object, value when the step began) of what it has changed
        self.written: dict = {}  # id: owner of memory from outside that it writes
        self.changed_arguments: set[int] = set()  # numbers of arguments that it writes
        self.stateful: dict = {}  # id: optimizers, schedules, generators, caches: what functions of state were called on
        self.origins = Provenance()
        self.room = room_to_record()
        self.repeats = CommonSubexpressions(self.origins, repeated)
        self.log = KernelLog()
        self.frames = Frames(self.refuse, executed)
        self.over = Overwritten(self.origins)
        self._constants: dict = {}  # id of the owner: an array that was made from the program's text alone
        self._views: list = []  # weak references to what view operations have made
        self._derived: dict = {}  # id: tensors that the step made on memory that was there before
        self.gradients = Gradients(self.origins, kept)
        self._python: set = set()  # ids of what operations saved whose forward needs Python
        self.arguments = arguments
        for i, array in enumerate(arguments):
            self.origins.mark(array, "argument", i)

    def __enter__(self) -> "Recorder":
        super().__enter__()
        self.log.start(self.frames.hidden)
        self.frames.start()
        return self

    def __exit__(self, *error) -> None:
        self.frames.stop()
        events.watch(self, False)
        self.log.stop()
        if not self.trouble and error[0] is None:
            self._compare_surroundings()

    def refuse(self, why: str) -> None:
        """This step cannot be replayed: stop watching, and let go of what was kept. The first reason stays."""
        if not self.trouble:
            self.trouble = why
            self.frames.stop()
            events.watch(self, False)
            self.log.stop()
            self.entries, self.trace, self.origins = [], [], Provenance()

    def compare(self, trace: list) -> None:
        """Refuse where an earlier recording says something else."""
        if self.trouble or self.trace == trace:
            return
        where: tuple = next((two for one, two in zip(trace, self.trace) if one != two), ("its end",))
        at = where[1] if len(where) > 1 and isinstance(where[1], str) else where[0]
        self.refuse(tr("two calls of it differ (at {}: a number, a shape, or a tensor made outside of operations)", at))

    # ------------------------------------------------------------------ operations

    @unseen
    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        for x in inputs:
            if x is not None:
                self._meet(x)
        calls, made = self.log.take(), [y._array for y in outputs]
        self._views += map(weakref.ref, outputs) if op.view else ()
        if self.trouble or all(self.origins.knows(array) for array in made):
            return  # views: their memory is somebody's already
        if op.sized_by_values is not None and op.sized_by_values(**attributes):
            self.refuse(tr("the shape of what {} gives depends on values", op.name))
            return
        what = self.origins.describe((arrays, attributes))
        if True not in saved.needs:
            if before := self.repeats.seen((op.name, what), list(arrays_in([arrays, attributes])), made):
                for y, one in zip(outputs, before):
                    self._stand_for(y, *one)
                self.trace.append(("repeat", op.name, what))
                return
            if op.ufunc is not None and not attributes and made[0].dtype.kind in "iub":
                self._add(Ufunc(op.ufunc, arrays, made[0]), "forward", op.name, what, made)
                return
        entry = Forward(op, saved, arrays, attributes, made)
        self._find_calls(entry, op, calls, [arrays, attributes], [made, saved.__dict__])
        if entry.calls is None:
            self._python.add(id(saved))
        self._add(entry, "forward", op.name, what, made, told_by(saved, entry.calls is None))

    def lets_write_over(self, node) -> bool:
        return not self.trouble and id(node.saved) not in self._python and self.over.lets(node, self.entries)

    @unseen
    def on_backward(self, node, dys, dxs) -> None:
        calls, saved = self.log.take(), self.over.saved_of(node)
        over = self.over.has(node.op, saved, dxs[0])
        if self.trouble or not over and all(dx is None or self.origins.knows(dx) for dx in dxs):
            return
        python = id(saved) in self._python
        what = self.origins.describe((told_by(saved, python), dys))
        entry = Backward(node.op, saved, dys, dxs)
        if over:
            self.repeats.changed([dxs[0]], self.refuse)
            entry.calls = self.over.tried(calls, list(arrays_in([saved.__dict__, dys])), dxs[0])
        elif not python:  # else its numbers may depend on values
            self._find_calls(entry, node.op, calls, [saved.__dict__, dys], [dxs])
        self._add(entry, "backward", node.op.name, what, list(dxs))

    @unseen
    def on_grad_sum(self, held, dy, out) -> None:
        self.repeats.forget()
        if out is held or out is dy:
            self._given_values([out])
        what = self.origins.describe((held, dy, out is held, out is dy))
        (entry := Sum(held, dy, out)).calls = self.log.take() or None
        self._add(entry, "sum", "sum", what, [out])

    # ------------------------------------------------------------------ gradients of leaves

    @unseen
    def on_accumulate(self, leaf, dy, owned: bool, proceed) -> None:
        if dy.dtype != leaf._array.dtype:
            self.refuse(tr("a gradient has another dtype than its parameter"))
            proceed(dy, owned)
            return
        self._touch(leaf)
        what = self.origins.describe(dy)
        if leaf._grad is not None:
            self._add_to(leaf._grad._array, dy)
        elif (copy := of_gradient(dy, leaf._array)) is dy and owned:
            self._set(leaf, leaf._of(self.gradients.keep(dy) if dy.flags.c_contiguous else dy))
        else:
            copy = dy.copy("K") if copy is dy else copy
            self._add(Copy(copy, dy), "copy", "", what, [copy])
            self._set(leaf, leaf._of(copy))
        self.trace.append(("gradient", self.origins.describe(leaf._array), what))
        if leaf._backward_hooks_after:
            self.refuse(tr("a parameter has a hook"))
            leaf._call_hooks_after()

    def _add_to(self, held, dy) -> None:
        self._compare_surroundings(held)
        self.log.take()
        if held.shape == dy.shape:
            kernels.of(held).arithmetic(np.add, held, dy, held)
        else:
            held += dy
        self.surroundings.look_again(held)
        self.on_grad_sum(held, dy, held)

    @unseen
    def on_grad_read(self, leaf) -> None:
        self._touch(leaf)

    @unseen
    def on_grad_set(self, leaf, grad) -> None:
        self._touch(leaf, read=False)
        if grad is not None:  # later gradients are added to it
            self._given_values([grad._array])
        self._set(leaf, grad)
        described = None if grad is None else self.origins.describe(grad._array)
        self.trace.append(("grad", self.origins.describe(leaf._array), described))

    def _touch(self, leaf, read: bool = True) -> None:
        if self.origins.is_outside(leaf._array):
            self.leaves.setdefault(id(leaf), (leaf, leaf._grad if read else None, read))
            self._meet(leaf)

    def _set(self, leaf, grad) -> None:
        leaf._grad = grad
        last = self.entries[-1] if self.entries else None
        if not isinstance(last, Grads):
            last = Grads()
            self.entries.append(last)
        last.pairs.append((leaf, grad))

    # ------------------------------------------------------------------ functions with a decorator of events

    @unseen
    def on_call(self, effect, args, kwargs, proceed):
        args = tuple([list(x) if isinstance(x, Iterator) else x for x in args])  # an iterator could be read but once
        kwargs = {name: list(x) if isinstance(x, Iterator) else x for name, x in kwargs.items()}
        target = target_of(effect, args)
        if effect.kind in ("writes", "state"):
            self._compare_surroundings(target)
        self.log.take()
        events.watch(self, False)
        try:
            result = proceed(*args, **kwargs)
            kept = effect.prepared and effect.prepared(*args, **kwargs)
        finally:
            if not self.trouble:
                events.watch(self)
        calls = self.log.take()
        if kwargs.get("out") is not None:
            self.refuse(tr("out= changes memory directly"))
        for x in args:
            if isinstance(x, Tensor):
                self._meet(x)
        if not self.trouble:
            if effect.kind in ("writes", "state"):
                for changed in (target, *(kept[1] if kept and kept[0] is None else ())):
                    self.surroundings.look_again(changed)
            getattr(self, f"_{effect.kind}")(effect, args, kwargs, result, calls, kept)
        return result

    def _pure(self, effect, args, kwargs, result, calls, kept) -> None:
        name, made = effect.function.__qualname__, results_in(result)
        what, read = self.origins.describe((args, kwargs)), results_in([args, list(kwargs.values())])
        before = self.repeats.seen((effect.function, what), read, made) if isinstance(result, Tensor) else None
        if before:
            self._stand_for(result, *before[0])
            self.trace.append(("repeat", name, what))
            return
        alike = len(read) == 2 and read[0].dtype == read[1].dtype and read[0].dtype.kind != "V"  # bfloat16's warn of a NaN
        if effect.ufunc is not None and alike and not kwargs:
            self._add(Ufunc(effect.ufunc, read, made[0]), "call", name, what, made)
        else:
            self._add(Call(effect.function, args, kwargs, made), "call", name, what, made)

    def _check(self, effect, args, kwargs, result, calls, kept) -> None:
        what, read = self.origins.describe((args, kwargs)), results_in([args, list(kwargs.values())])
        if self.repeats.seen((effect.function, what), read, []) is None:  # else the same values were looked at before
            self._add(Call(effect.function, args, kwargs, []), "call", effect.function.__qualname__, what, [])

    def _writes(self, effect, args, kwargs, result, calls, kept) -> None:
        self._given_values([args[0]._array])
        what, name = self.origins.describe((args, kwargs)), effect.function.__qualname__
        entry: Entry = Call(effect.function, args, kwargs, [])
        if effect.capturable:
            self._given_values(list(written_by_calls(calls)))
            if all(self.origins.knows(array) for array in read_by(calls)):
                entry.calls = calls or None
        elif name == "_put":
            entry = Copy(args[0]._array, args[1]._array, args[0]._watch(), args[2])
        self._add(entry, "call", name, what)

    def _state(self, effect, args, kwargs, result, calls, kept) -> None:
        what, name, made = self.origins.describe((args, kwargs)), effect.function.__qualname__, results_in(result)
        if args and not isinstance(args[0], Tensor | np.ndarray):
            self.stateful[id(args[0])] = args[0]
        if isinstance(result, int | float):
            self.refuse(tr("it reads a value ({})", name))
            return
        if not effect.alone:
            self.repeats.forget()
            self._wrote(written_by(effect, args, kwargs))
        if kept and kept[0] is None:
            entry: Entry = Call(effect.function, args, kwargs, made)
            entry.calls = calls if calls and reads_only(calls, [*kept[1], *results_in([args, list(kwargs.values())])]) else None
        elif kept and calls and all(map(self._pins_grad, kept[1])):
            entry = Prepared(effect.function, args, kwargs, made, kept[0], calls)
        else:
            entry = Call(effect.function, args, kwargs, made)
        self._add(entry, "call", name, what, made)

    def _pins_grad(self, leaf) -> bool:
        """Whether every replay finds the leaf's .grad in the same array: the step makes it, or the recording asks for it."""
        if leaf._grad is None:
            return True
        touched = self.leaves.get(id(leaf))
        return not self.origins.is_outside(leaf._grad._array) or bool(touched and touched[2])

    # ------------------------------------------------------------------ what is told

    def on_constant(self, array) -> None:
        self._constants.setdefault(id(holder_of(array)), array)
        self.origins.mark(array, "constant", array.dtype.str, array.shape, array.tobytes())

    def on_read(self, how: str) -> None:
        self.refuse(tr("it reads a value ({})", how))

    def on_write(self, by: str) -> None:
        self.refuse(tr("{} changes memory directly", by))

    def on_user_code(self, what: str) -> None:
        self.refuse(what)

    def on_module_access(self, module) -> None:
        if id(module) not in self.modules:
            self.modules[id(module)] = module
            self.trace.append(("module", id(module), module.training))

    def on_train_mode(self, module) -> None:
        self.refuse(tr("{} goes from training to evaluation, or back, while it runs", type(module).__name__))

    def on_redefine(self, thing, how: str) -> None:
        if self.surroundings.is_argument(thing):
            cause = tr("compile: {}: it is an argument of this call, too, whose twin the step works with", how)
            raise GraphError(cause, "give the step x.clone(), or do not compile a step that does this")
        if not isinstance(thing, Tensor) or (
            id(thing) not in self._derived and self.origins.of(thing._array)[0] in ("outside", "argument")
        ):
            self.refuse(tr("it changes more than values: {}", how))

    def on_memory_asked(self, x) -> None:
        if self.origins.of(x._array)[0] == "argument":
            raise GraphError(
                tr("compile: the step asks where the memory of an argument lies, or how often that was written, of its twin"),
                "give the step x.clone(), or do not compile a step that does this",
            )

    def on_alias(self, x, of) -> None:
        self._derived[id(x)] = x

    def aliases(self) -> list:
        """Tensors on memory of others that were made and are still there."""
        return [*(x for x in (reference() for reference in self._views) if x is not None), *self._derived.values()]

    def on_state_read(self, holder, name: str) -> None:
        value = self._changed.get((id(holder), name), (holder, getattr(holder, name)))[1]
        self.decided.setdefault((id(holder), name), (holder, name, value))

    def decides_by(self) -> list:
        """(object, name, value) of what Python decides by, or has changed of that."""
        return [*self.decided.values(), *((holder, name, value) for (_, name), (holder, value) in self._changed.items())]

    def on_state_write(self, holder, name: str) -> None:
        self._changed.setdefault((id(holder), name), (holder, getattr(holder, name)))

    def _meet(self, x) -> None:
        """A tensor is worked on that may be from outside."""
        if not self.trouble and self.origins.is_outside(x._array):
            self.tensors.setdefault(id(x), x)
            self.surroundings.note(x._array)

    def _compare_surroundings(self, only=None) -> None:
        if self.surroundings.too_many:
            self.refuse(tr("it can reach more than {:,} Python objects, which would all have to be compared", MOST))
        if not self.trouble and (changed := self.surroundings.changed(only)):
            self.refuse(changed)

    def _given_values(self, arrays) -> None:
        """The step has written into these arrays."""
        self.repeats.changed(arrays, self.refuse)
        for array in arrays:
            kind, *rest = self.origins.of(array)
            if kind == "argument":
                self.changed_arguments.add(rest[0])
            if kind == "outside":
                self._wrote([array])
            if kind == "constant" and not self.trouble:  # every replay begins with what the program says
                made = self._constants[id(holder_of(array))]
                self.entries.insert(0, Copy(made, np.frombuffer(rest[-1], made.dtype).reshape(made.shape)))
                self.origins.correct(array, "made", len(self.trace), "constant")

    def _wrote(self, arrays) -> None:
        for array in arrays:
            owner = holder_of(array)
            self.written[id(owner)] = owner

    def _stand_for(self, y, key, array) -> None:
        """y is what was computed before, in memory of this number; in this array, if it was kept."""
        if array is None:
            self.origins.stands_for(y._array, key)
        else:
            y._array = array

    def _find_calls(self, entry, op, calls, read, written) -> None:
        if calls and op.capturable:
            read, written = list(arrays_in(read)), list(arrays_in(written))
            entry.calls = native_calls(calls, read, written, self.origins, entry.redo)

    def _add(self, entry: Entry, kind: str, name, what, *made) -> None:
        """Add an entry, note where what it made comes from, and write down what it was."""
        if self.trouble:
            return
        self.entries.append(entry)
        for place, array in enumerate(arrays_in(list(made))):
            self.origins.mark(array, "made", len(self.trace), place)
        self.trace.append((kind, name, what, self.origins.describe(list(made))))
        if entry.calls is not None and not entry.stays:
            entry.move(self.origins.placed)
        else:
            self.gradients.let_stay(entry.touched())
        if self.origins.bytes > self.room:
            self.refuse(tr("its results take more than {} MiB at once", self.room >> 20))
