"""Watching a step: every operation, gradient and change becomes an entry.

The hooks stand where the work is done (`tensor/apply.py`, `graph/walk.py`, `tensor/inplace.py` ...) and reach the recorder
as `modes.tape`. What the recorder cannot follow it refuses, with the reason; the step then goes on as it is.
"""

import numpy as np

from .. import kernels
from ..graph import modes
from .entries import Backward, Call, Copy, Entry, Forward, Grads, Sum, results_in
from .native import Watch, native_calls, read_by, written_by
from .origins import Origins, arrays_in
from .repeats import Repeats


class Recorder:
    """One recording. `with recorder:` watches this thread; `entries` is what happened, `words` the same to be compared."""

    def __init__(self, arguments):
        self.entries: list[Entry] = []
        self.words: list = []
        self.trouble = ""  # why this cannot be replayed
        self.outside: dict = {}  # id: (tensor, its array) of tensors from outside that operations read
        self.leaves: dict = {}  # id: (leaf, its .grad when the step first touched it)
        self.changes = 0  # of memory that nothing explained yet
        self.origins = Origins()
        self.watch = Watch()
        self.repeats = Repeats(self.origins)
        self._python: set = set()  # ids of what operations saved whose forward needs Python
        for i, array in enumerate(arguments):
            self.origins.name(array, "argument", i)

    def __enter__(self) -> "Recorder":
        modes.tape = self
        modes.look_again()
        self.watch.start()
        return self

    def __exit__(self, *error) -> None:
        modes.tape = None
        modes.look_again()
        self.watch.stop()
        if self.changes:
            self.refuse(f"{self._changed_by} changes memory directly")

    def refuse(self, why: str) -> None:
        """This step cannot be replayed; the first reason stays."""
        self.trouble = self.trouble or why

    # ------------------------------------------------------------------ from the hooks

    def ran(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        """An operation made the tensors `outputs`."""
        calls = self.watch.take()
        for x in inputs:
            if x is not None and not self.origins.knows(x._array):
                self.outside.setdefault(id(x), (x, x._array))
        words = self.origins.describe((arrays, attributes))
        made = [y._array for y in outputs]
        if all(self.origins.knows(array) for array in made):
            return  # views: their memory is somebody's already
        if True not in saved.needs:
            before = self.repeats.seen((op.name, words), list(arrays_in([arrays, attributes])), made)
            if before is not None:
                for y, array in zip(outputs, before):
                    y._array = array
                self.words.append(("again", op.name, words))
                return
        entry = Forward(op, saved, arrays, attributes, made)
        self._keep(entry, op, (arrays, attributes), (made, saved.__dict__), calls)
        if entry.calls is None:
            self._python.add(id(saved))
        self._note("forward", op.name, words, made, _told(saved, entry.calls is None))

    def went_back(self, op, saved, dys, dxs) -> None:
        """A backward made the gradients `dxs`."""
        calls = self.watch.take()
        python = id(saved) in self._python
        words = self.origins.describe((_told(saved, python), dys))
        if all(dx is None or self.origins.knows(dx) for dx in dxs):
            return
        entry = Backward(op, saved, dys, dxs)
        self._keep(entry, op, (saved.__dict__, dys), (dxs,), None if python else calls)
        self._note("backward", op.name, words, list(dxs))

    def add(self, held, owned: bool, dy):
        """held + dy, in held's memory where it is owned."""
        self.repeats.forget()
        self.watch.take()
        words = self.origins.describe((held, dy))
        if held.shape == dy.shape and held.dtype == dy.dtype:
            out = kernels.of(held).add(held, dy, held if owned else None)
        else:
            out = np.add(held, dy, out=held) if owned else np.asarray(held + dy)
        entry = Sum(held, dy, out)
        entry.calls = self.watch.take() or None
        self.entries.append(entry)
        self._note("sum", owned, words, [out])
        return out

    def accumulate(self, leaf, dy, owned: bool) -> None:
        """As Tensor._accumulate: dy joins the leaf's .grad."""
        if dy.dtype != leaf._array.dtype or leaf._backward_hooks_after:
            self.refuse("a gradient of another dtype, or a hook on it,")
        self._touch(leaf)
        words = self.origins.describe(dy)
        if leaf._grad is None:
            if not (owned and dy.flags.c_contiguous):
                source, dy = dy, np.array(dy, order="C")
                self.entries.append(Copy(dy, source))
            self._set(leaf, leaf._of(dy))
        else:
            self.add(leaf._grad._array, True, dy)
        self._note("gradient", id(leaf), words, [leaf._grad._array])

    def set_grad(self, leaf, grad) -> None:
        """The leaf's .grad becomes None, or a tensor."""
        self._touch(leaf, read=False)
        self._set(leaf, grad)
        self.words.append(("grad", id(leaf), None if grad is None else self.origins.describe(grad._array)))

    def wrote(self, x, value, by: str) -> None:
        """x's memory was given the values of `value`, an array; x's counter has been or will be bumped once for it."""
        self.changes -= 1
        self.watch.take()
        if not self.origins.knows(x._array):
            self.outside.setdefault(id(x), (x, x._array))
        self.words.append(("write", self.origins.describe((x._array, value))))
        if self.origins.of(x._array)[0] == "argument":
            self.refuse(f"{by} changes an argument of the step")
        self.repeats.changed([x._array], self.refuse)
        self.entries.append(Copy(x._array, value, x._watch(), by))

    def changed(self, by: str) -> None:
        """Some memory was changed."""
        self.changes += 1
        self._changed_by = by

    def live(self, function, args, kwargs):
        """Call the function unwatched, and have it called in every replay."""
        self.watch.take()
        modes.tape = None
        modes.look_again()
        try:
            result = function(*args, **kwargs)
        finally:
            modes.tape = self
            modes.look_again()
        calls, made = self.watch.take(), results_in(result)
        if isinstance(result, int | float):
            self.refuse(f"it reads a value ({function.__name__})")
        for x in (*args, *kwargs.values()):
            if isinstance(getattr(x, "_array", None), np.ndarray) and not self.origins.knows(x._array):
                self.outside.setdefault(id(x), (x, x._array))
        words = self.origins.describe((args, kwargs))
        if getattr(function, "pure", False):
            before = self.repeats.seen((function, words), results_in([args, kwargs]), made)
            if before is not None:
                result._array = before[0]
                self.words.append(("again", function.__qualname__, words))
                return result
        elif getattr(function, "by_kernels", False):
            self.repeats.changed(written_by(calls), self.refuse)
        else:
            self.repeats.forget()
        entry = Call(function, args, kwargs, made)
        if getattr(function, "by_kernels", False) and all(self.origins.knows(array) for array in read_by(calls)):
            entry.calls = calls or None
        self.entries.append(entry)
        self._note("call", getattr(function, "__qualname__", ""), words, made)
        return result

    def constant(self, array) -> None:
        """An array that was made from the code of the step alone: it stays, if the next recording makes the same."""
        self.origins.name(array, "constant", array.dtype.str, array.shape, array.tobytes())

    # ------------------------------------------------------------------

    def _touch(self, leaf, read: bool = True) -> None:
        if id(leaf) not in self.leaves:
            self.leaves[id(leaf)] = leaf, leaf._grad, read
            if read and leaf._grad is not None:
                self.origins.of(leaf._grad._array)

    def _set(self, leaf, grad) -> None:
        leaf._grad = grad
        if not (self.entries and type(self.entries[-1]) is Grads):
            self.entries.append(Grads())
        self.entries[-1].pairs.append((leaf, grad))

    def _keep(self, entry, op, read, written, calls) -> None:
        """Add an entry, with the calls of kernels that can stand for it."""
        if calls and op.by_kernels:
            entry.calls = native_calls(calls, list(arrays_in(list(read))), list(arrays_in(list(written))), self.origins)
        self.entries.append(entry)

    def _note(self, kind: str, name, words, *made) -> None:
        """Name what an entry made, and write down what it was."""
        number = len(self.entries)
        for place, array in enumerate(arrays_in(list(made))):
            self.origins.name(array, "made", number, place)
        self.words.append((kind, name, words, self.origins.describe(list(made))))


def _told(saved, python: bool):
    """What an operation saved. Numbers may depend on values where Python runs again; then they are saved anew each time."""
    return list(arrays_in(saved.__dict__)) if python else saved.__dict__
