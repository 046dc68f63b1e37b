"""Watching a step: every operation, gradient and change becomes an entry.

The hooks stand where the work is done (`tensor/apply.py`, `graph/walk.py`, `tensor/inplace.py` ...) and reach the recorder
as `modes.tape`. What it cannot follow it refuses, with the reason; the step then runs as it is.
"""

from collections.abc import Iterator

import numpy as np

from badak import kernels
from badak.graph import modes
from badak.replay.entries import Backward, Call, Copy, Entry, Forward, Grads, Prepared, Sum, Ufunc, results_in
from badak.replay.native import Watch, native_calls, read_by, written_by
from badak.replay.origins import Origins, arrays_in, owner_of
from badak.replay.repeats import Repeats

LIVE_GRAPH = "its result still waits for backward(); compile the whole step, backward included"
CHANGED = "it changes one of its arguments"
MOST_BYTES = 1 << 29  # of memory that a recording holds: a larger step gains little, as its kernels take long


class Recorder:
    """One recording. `with recorder:` watches this thread; `entries` is what happened, `words` the same to be compared."""

    def __init__(self, arguments, first: bool = True):
        self.first = first  # of the two recordings: results then keep memory of their own, as one may yet be changed
        self.entries: list[Entry] = []
        self.words: list = []
        self.trouble = ""  # why this cannot be replayed
        self.leaves: dict = {}  # id: (leaf, its .grad when the step first touched it, whether it was read)
        self.changes: list[str] = []  # of memory, that nothing has explained yet
        self.changes_outside = False  # whether it writes into memory that was there before
        self.origins = Origins()
        self.repeats = Repeats(self.origins)
        self.watch = Watch()
        self._constants: dict = {}  # id of the owner: an array that was made from the code of the step alone
        self._python: set = set()  # ids of what operations saved whose forward needs Python
        for i, array in enumerate(arguments):
            self.origins.name(array, "argument", i)

    def __enter__(self) -> "Recorder":
        self._switch(self)
        self.watch.start()
        return self

    def __exit__(self, *error) -> None:
        self._switch(None)
        self.watch.stop()
        if self.changes:
            self.refuse(f"{self.changes[0]} changes memory directly")

    def _switch(self, tape) -> None:
        modes.tape = tape
        modes.look_again()

    def refuse(self, why: str) -> None:
        """This step cannot be replayed: stop watching, and let go of what was kept. The first reason stays."""
        if not self.trouble:
            self.trouble = why
            self._switch(None)
            self.watch.stop()
            self.entries, self.words, self.origins = [], [], Origins()

    def summary(self) -> tuple[list, list]:
        """What to compare the next recording with: the words, and what must live so that no id in them is given twice."""
        return self.words, self.origins.alive

    def compare(self, words: list) -> None:
        """Refuse where an earlier recording says something else."""
        if self.trouble or self.words == words:
            return
        where: tuple = next((two for one, two in zip(words, self.words) if one != two), ("its end",))
        at = where[1] if len(where) > 1 and isinstance(where[1], str) else where[0]
        self.refuse(f"two calls of it differ (at {at}: a number, a shape, or a tensor made outside of operations)")

    # ------------------------------------------------------------------ operations

    def ran(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        """An operation made the tensors `outputs`."""
        for x in inputs:
            if x is not None and self.origins.of(x._array)[0] == "outside":
                x._replayed = True
        calls, made = self.watch.take(), [y._array for y in outputs]
        if self.trouble or all(self.origins.knows(array) for array in made):
            return  # views: their memory is somebody's already
        if _sized_by_values(op, attributes):
            self.refuse(f"the shape of what {op.name} gives depends on values")
            return
        words = self.origins.describe((arrays, attributes))
        if True not in saved.needs:
            if before := self.repeats.seen((op.name, words), list(arrays_in([arrays, attributes])), made):
                for y, array in zip(outputs, before):
                    self._stand_for(y, array)
                self.words.append(("again", op.name, words))
                return
            if op.ufunc is not None and not attributes and made[0].dtype.kind in "iub":
                self._add(Ufunc(op.ufunc, arrays, made[0]), "forward", op.name, words, made)
                return
        entry = Forward(op, saved, arrays, attributes, made)
        self._find_calls(entry, op, calls, [arrays, attributes], [made, saved.__dict__])
        if entry.calls is None:
            self._python.add(id(saved))
        self._add(entry, "forward", op.name, words, made, _told(saved, entry.calls is None))

    def went_back(self, op, saved, dys, dxs) -> None:
        """A backward made the gradients `dxs`."""
        calls = self.watch.take()
        if self.trouble or all(dx is None or self.origins.knows(dx) for dx in dxs):
            return
        python = id(saved) in self._python
        words = self.origins.describe((_told(saved, python), dys))
        entry = Backward(op, saved, dys, dxs)
        if not python:  # else its numbers may depend on values
            self._find_calls(entry, op, calls, [saved.__dict__, dys], [dxs])
        self._add(entry, "backward", op.name, words, list(dxs))

    def add(self, held, owned: bool, dy):
        """held + dy, in held's memory where it is owned."""
        self.repeats.forget()
        self.watch.take()
        if owned:
            self._given_values([held])
        words = self.origins.describe((held, dy))
        if held.shape == dy.shape and held.dtype == dy.dtype:
            out = kernels.of(held).add(held, dy, held if owned else None)
        else:
            out = np.add(held, dy, out=held) if owned else np.asarray(held + dy)
        entry = Sum(held, dy, out)
        entry.calls = self.watch.take() or None
        self._add(entry, "sum", owned, words, [out])
        return out

    # ------------------------------------------------------------------ gradients of leaves

    def accumulate(self, leaf, dy, owned: bool) -> None:
        """As Tensor._accumulate: dy joins the leaf's .grad."""
        if dy.dtype != leaf._array.dtype:
            self.refuse("a gradient has another dtype than its parameter")
            dy, owned = dy.astype(leaf._array.dtype), True
        self._touch(leaf)
        words = self.origins.describe(dy)
        if leaf._grad is not None:
            self.add(leaf._grad._array, True, dy)
        elif owned and dy.flags.c_contiguous:
            self._set(leaf, leaf._of(dy))
        else:
            copy = np.array(dy, order="C")
            self._add(Copy(copy, dy), "copy", "", words, [copy])
            self._set(leaf, leaf._of(copy))
        self.words.append(("gradient", self.origins.describe(leaf._array), words))
        if leaf._backward_hooks_after:
            self.refuse("a parameter has a hook")
            for hook in tuple(leaf._backward_hooks_after.values()):
                hook(leaf)

    def set_grad(self, leaf, grad) -> None:
        """The leaf's .grad became None, or a tensor."""
        self._touch(leaf, read=False)
        if grad is not None:  # later gradients are added to it
            self._given_values([grad._array])
        self._set(leaf, grad)
        described = None if grad is None else self.origins.describe(grad._array)
        self.words.append(("grad", self.origins.describe(leaf._array), described))

    def read_grad(self, leaf) -> None:
        """The step looks at the leaf's .grad."""
        self._touch(leaf)

    def _touch(self, leaf, read: bool = True) -> None:
        if self.origins.of(leaf._array)[0] == "outside":
            self.leaves.setdefault(id(leaf), (leaf, leaf._grad, read))

    def _set(self, leaf, grad) -> None:
        leaf._grad = grad
        last = self.entries[-1] if self.entries else None
        if not isinstance(last, Grads):
            last = Grads()
            self.entries.append(last)
        last.pairs.append((leaf, grad))

    # ------------------------------------------------------------------ changes and calls

    def wrote(self, x, value, by: str) -> None:
        """x's memory was given the values of the array `value`, and x's counter was told."""
        self.changes.pop()
        self.watch.take()
        self._given_values([x._array])
        words = self.origins.describe((x._array, value))
        self._add(Copy(x._array, value, x._watch(), by), "write", by, words)

    def changed(self, by: str) -> None:
        """Some memory was changed."""
        self.changes.append(by)

    def live(self, function, args, kwargs):
        """Call the function unwatched, and have it called in every replay; `modes.live*` say what kinds there are."""
        args = tuple([list(x) if isinstance(x, Iterator) else x for x in args])  # an iterator could be read but once
        kwargs = {name: list(x) if isinstance(x, Iterator) else x for name, x in kwargs.items()}
        self.watch.take()
        self._switch(None)
        try:
            result = function(*args, **kwargs)
            prepare = args[0]._kept_step() if len(args) == 1 and not kwargs and hasattr(args[0], "_kept_step") else None
        finally:
            self._switch(None if self.trouble else self)
        calls, made = self.watch.take(), results_in(result)
        if kwargs.get("out") is not None:
            self.refuse("out= changes memory directly")
        if isinstance(result, int | float):
            self.refuse(f"it reads a value ({function.__name__})")
        if not self.trouble:
            self._note_live(function, args, kwargs, result, made, calls, prepare)
        return result

    def _note_live(self, function, args, kwargs, result, made, calls, prepare) -> None:
        if function.__dict__.get("in_place"):
            self._given_values([args[0]._array])
        words, read = self.origins.describe((args, kwargs)), results_in([args, list(kwargs.values())])
        entry: Entry = Call(function, args, kwargs, made)
        if getattr(function, "pure", False):
            if before := self.repeats.seen((function, words), read, made):
                self._stand_for(result, before[0])
                self.words.append(("again", function.__qualname__, words))
                return
            if function.ufunc is not None and len(read) == 2 and not kwargs and read[0].dtype == read[1].dtype:
                entry = Ufunc(function.ufunc, read, made[0])
        elif getattr(function, "by_kernels", False):
            self._given_values(list(written_by(calls)))
            if all(self.origins.knows(array) for array in read_by(calls)):
                entry.calls = calls or None
        elif getattr(function, "check", False):
            if self.repeats.seen((function, words), read, []) is not None:
                return  # the same values were looked at before
        else:
            self.repeats.forget()
            self.changes_outside = True  # for all that is known
            if prepare is not None and calls:
                entry = Prepared(function, args[0], prepare, calls)
        self._add(entry, "call", function.__qualname__, words, made)

    def constant(self, array) -> None:
        """An array that was made from the code of the step alone: it stays, if the next recording makes the same."""
        self._constants.setdefault(id(owner_of(array)), array)
        self.origins.name(array, "constant", array.dtype.str, array.shape, array.tobytes())

    def _given_values(self, arrays) -> None:
        """The step has written into these arrays."""
        self.repeats.changed(arrays, self.refuse)
        for array in arrays:
            kind, *rest = self.origins.of(array)
            if kind == "argument":
                self.refuse(CHANGED)
            if kind == "outside":
                self.changes_outside = True
            if kind == "constant" and not self.trouble:  # every replay begins with what the code says
                made = self._constants[id(owner_of(array))]
                self.entries.insert(0, Copy(made, np.frombuffer(rest[-1], made.dtype).reshape(made.shape)))
                self.origins.rename(array, "made", len(self.words), "constant")

    def _stand_for(self, y, array) -> None:
        """y is what was computed before, in this array."""
        if self.first:
            self.origins.name(y._array, *self.origins.of(array))
        else:
            y._array = array

    # ------------------------------------------------------------------

    def _find_calls(self, entry, op, calls, read, written) -> None:
        if calls and op.by_kernels:
            entry.calls = native_calls(calls, list(arrays_in(read)), list(arrays_in(written)), self.origins)

    def _add(self, entry: Entry, kind: str, name, words, *made) -> None:
        """Add an entry, name what it made, and write down what it was."""
        if self.trouble:
            return
        self.entries.append(entry)
        for place, array in enumerate(arrays_in(list(made))):
            self.origins.name(array, "made", len(self.words), place)
        self.words.append((kind, name, words, self.origins.describe(list(made))))
        if self.origins.bytes > MOST_BYTES:
            self.refuse(f"its results take more than {MOST_BYTES >> 20} MiB, which would be kept")


def _told(saved, python: bool):
    """What an operation saved. Numbers may depend on values where Python runs again; then they are saved anew each time."""
    return list(arrays_in(saved.__dict__)) if python else saved.__dict__


def _sized_by_values(op, attributes) -> bool:
    """Whether the size of the result depends on the values of a mask, or of counts."""
    if op.name == "index":
        return any(array.dtype.kind == "b" for array in arrays_in(attributes))
    if op.name == "repeat_interleave":
        return any(True for _ in arrays_in(attributes))
    return op.name == "masked_select"
