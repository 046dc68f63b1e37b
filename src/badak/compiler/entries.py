"""What a recording consists of. Each entry can be done once more, on the same arrays: `entry.redo()`.

While the step is recorded, an entry whose kernel calls stand for it has a `Place` for each array that the step made, and keeps no
memory; `memory.settle` gives them arrays again.
"""

from functools import partial

import numpy as np

from badak.compiler.provenance import Place, arrays_in
from badak.core.errors import GraphError, tr
from badak.core.memory import holder_of
from badak.ops.op import Saved


class Entry:
    """One thing that the step did. `calls` holds the calls of kernels that do the same, None where only Python can."""

    calls: list | None = None
    stays = False  # whether its arrays stay where they are

    def kept_calls(self) -> list:
        """The calls of kernels that stand for it."""
        return self.calls or []

    def touched(self) -> list:
        """The arrays that `redo` works on."""
        return list(arrays_in(list(self.__dict__.values())))

    def move(self, moved) -> None:
        """Work on moved(array) in the place of every array; or of every `Place`, on what that gives."""
        self.calls = [(*call, each_array(arguments, moved)) for *call, arguments in self.calls or ()]

    def redo(self) -> None:
        """Do it once more, on the values that the arrays have now."""
        raise AssertionError("an Entry defines redo")


class Forward(Entry):
    """The forward of an operation; its results and what it saved go where they went the first time."""

    def __init__(self, op, saved, arrays, attributes, outputs):
        self.op, self.saved, self.arrays, self.attributes, self.outputs = op, saved, arrays, attributes, outputs

    def touched(self) -> list:
        return list(arrays_in([self.arrays, self.attributes, self.outputs, self.saved.__dict__]))

    def move(self, moved) -> None:
        super().move(moved)
        self.arrays, self.attributes = each_array(self.arrays, moved), each_array(self.attributes, moved)
        self.outputs, self.saved = each_array(self.outputs, moved), _saved(self.saved, moved)

    def redo(self) -> None:
        saved = Saved(self.saved.needs)
        made = self.op.forward(saved, *self.arrays, **self.attributes)
        _refresh(self.outputs, made if type(made) is tuple else (made,))
        mine = self.saved.__dict__
        for name, value in saved.__dict__.items():
            arrays = list(arrays_in(value))
            if arrays:
                _refresh(list(arrays_in(mine[name])), arrays)
            else:
                mine[name] = value


class Backward(Entry):
    """The backward of an operation."""

    def __init__(self, op, saved, dys, dxs):
        self.op, self.saved, self.dys, self.dxs = op, saved, dys, dxs

    def touched(self) -> list:
        return list(arrays_in([self.saved.__dict__, self.dys, self.dxs]))

    def move(self, moved) -> None:
        super().move(moved)
        self.saved, self.dys, self.dxs = _saved(self.saved, moved), each_array(self.dys, moved), each_array(self.dxs, moved)

    def redo(self) -> None:
        dxs = self.op.backward(self.saved, *self.dys)
        _refresh(self.dxs, dxs if type(dxs) is tuple else (dxs,))


class Sum(Entry):
    """out = a + b, of gradients that meet; out may be a."""

    def __init__(self, a, b, out):
        self.a, self.b, self.out = a, b, out

    def move(self, moved) -> None:
        super().move(moved)
        self.a, self.b, self.out = each_array([self.a, self.b, self.out], moved)

    def redo(self) -> None:
        np.add(self.a, self.b, out=self.out)


class Copy(Entry):
    """Write an array into another, whose memory may have a counter of changes."""

    def __init__(self, target, source, version=None, by=""):
        self.target, self.source, self.version, self.by = target, source, version, by

    def redo(self) -> None:
        self.target[...] = self.source
        if self.version is not None:
            self.version.bump(self.by)


class Grads(Entry):
    """Set the .grad of leaves: None, or the tensors that hold the gradients."""

    def __init__(self):
        self.pairs: list = []

    def touched(self) -> list:
        return [grad._array for _, grad in self.pairs if grad is not None]

    def redo(self) -> None:
        for leaf, grad in self.pairs:
            leaf._grad = grad


class Ufunc(Entry):
    """out = ufunc(*arrays), for a function of NumPy that warns of nothing on such arrays."""

    def __init__(self, ufunc, arrays, out):
        self.arrays, self.out = arrays, out
        self.redo = partial(ufunc, *arrays, out=out)  # type: ignore[method-assign]


class Call(Entry):
    """A function that works on tensors as it is: an optimizer's step, random numbers, a comparison."""

    stays = True  # what it names by an id may turn out to be wrong

    def __init__(self, function, args, kwargs, results):
        self.function, self.args, self.kwargs, self.results = function, args, kwargs, results

    def touched(self) -> list:
        return [*results_in([self.args, list(self.kwargs.values())]), *self.results]

    def redo(self) -> None:
        _refresh(self.results, results_in(self.function(*self.args, **self.kwargs)))


class Prepared(Call):
    """A call, as of an optimizer's step, as kernel calls, after `prepare` has set what changes from step to step."""

    def __init__(self, function, args, kwargs, results, prepare, calls):
        super().__init__(function, args, kwargs, results)
        self.prepare, self.kept = prepare, calls

    def kept_calls(self) -> list:
        return self.kept

    def touched(self) -> list:
        return [*super().touched(), *arrays_in([list(arguments) for *_, arguments in self.kept])]

    def player(self, play):
        """The step that plays its calls where they fit."""

        def step():
            if self.prepare():
                play()
            else:
                self.redo()

        return step


def each_array(value, moved):
    """A value of lists, tuples, dicts and slices with moved(array) in the place of every array or `Place`."""
    if isinstance(value, np.ndarray | Place):
        return moved(value)
    if type(value) in (list, tuple):
        return type(value)(each_array(part, moved) for part in value)
    if type(value) is dict:
        return {name: each_array(part, moved) for name, part in value.items()}
    if isinstance(value, slice):
        return slice(*[each_array(part, moved) for part in (value.start, value.stop, value.step)])
    return value


def _saved(saved, moved):
    """What a forward has saved, of its own: the program's is freed by the backward."""
    made = Saved(saved.needs)
    made.__dict__.update((name, each_array(value, moved)) for name, value in saved.__dict__.items())
    return made


def told_by(saved, python: bool):
    """What an operation saved. Numbers may depend on values where Python runs again; then they are saved again each time."""
    return list(arrays_in(saved.__dict__)) if python else saved.__dict__


def results_in(value) -> list:
    """The arrays that a function returned, as tensors or bare."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [array for part in value for array in results_in(part)]
    array = getattr(value, "_array", value)
    return [array] if isinstance(array, np.ndarray) else []


def _refresh(old, new) -> None:
    """Write new arrays over the old ones; those that are the same memory have their values already."""
    for target, source in zip(old, new, strict=True):
        if source is target or target is None or source is None:
            continue
        source = np.asarray(source)
        if source.shape != target.shape:
            raise GraphError(
                tr("a compiled step made an array of shape {} where it made {} when it was recorded", source.shape, target.shape),
                "leave operations whose shapes depend on values outside of the compiled step",
            )
        if not target.flags.writeable:  # one number seen as many: what is written is the number
            target, source = holder_of(target), holder_of(source)
        if source.ctypes.data != target.ctypes.data:
            np.copyto(target, source)
