"""What is measured of shapes: views that mix axes, columns that meet rows, tables along an axis, weights and their values."""

from typing import Any

import numpy as np

from badak.core.modes import modes
from badak.inspect.doctor import around, mixtures
from badak.inspect.doctor.facts import Fed, Shaped, Turned, Watch
from badak.inspect.doctor.graph import behind, from_node, memory, of_edge
from badak.inspect.doctor.names import line, within

MOST = 16  # of a kind in one step
FIRST = 3  # steps in which masks that are added are looked at
EMBEDDED = "dropout add scale cast".split()
WEIGHED = "dropout clone cast reshape".split()


def note(watch: Watch, kind: str, a: Any, b: Any, axis: int = 0) -> None:
    if len(watch.open.shaped) < MOST:
        watch.open.shaped.append(Shaped(kind, line(), tuple(a), tuple(b), axis))


def viewed(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """A view that gives the size of one axis to another: rows of different things are mixed."""
    a, b = arrays[0].shape, outputs[0]._array.shape
    ids = outputs[0]._node is None and arrays[0].dtype.kind in "iu"
    if ids and len(a) == 2 and b == (arrays[0].size,) and len(watch.laid) < MOST:
        watch.laid[memory(outputs[0]._array)] = outputs[0]._array, a
    if len(a) == 3 and b == (a[0] * a[1], a[2]) and outputs[0]._node is not None:
        watch.flat[id(outputs[0]._node)] = a[:2]
    pictures = len(a) == len(b) == 4 or (
        not watch.stack and len(a) == len(b) == 3 and arrays[0].dtype.kind in "fu" and _picture(a, b)
    )
    given = len(a) == len(b) == 3 and watch.stack and modes.grad and any(np.may_share_memory(arrays[0], x) for x in watch.given_now)
    if watch.looks_closely and (outputs[0]._node is not None or pictures or given) and (_mixes(a, b) or _picture(a, b)):
        note(watch, "view", a, b)


def interleaved(x: np.ndarray) -> bool:
    """Whether pictures (B, C, H, W) are far smoother when their numbers are read as (H, W, C): they were laid flat so."""
    if x.ndim != 4 or not 1 < x.shape[1] <= 4 < min(x.shape[2:]) or x.dtype.kind != "f" or not x.flags.c_contiguous:
        return False
    some = x[:16].astype(np.float64)
    n, c, h, w = some.shape
    other = some.reshape(n, h, w, c)
    across, down = np.abs(np.diff(some, axis=3)).mean(), np.abs(np.diff(some, axis=2)).mean()
    return np.abs(np.diff(other, axis=2)).mean() < 0.6 * across and np.abs(np.diff(other, axis=1)).mean() < 0.9 * down


def _picture(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """(H, W, C) as (C, H, W)."""
    return len(a) == len(b) == 3 and 1 < a[2] == b[0] <= 4 < min(a[:2]) and a[:2] == b[1:]


def _mixes(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    if len(a) == len(b) == 4 and a[0] == b[0] and 1 < a[3] == b[1] < a[1] and a[1:3] == b[2:]:  # (B, H, W, C) as (B, C, H, W)
        return True
    if len(a) == 4 and len(b) == 3 and a[0] == b[0] and a[3] == b[1] and a[1] * a[2] == b[2]:  # (B, C, H, W) as (B, W, C H)
        return b[1] not in (a[1], a[1] * a[2]) and min(a) > 1
    if len(a) == 3 and len(b) == 4:  # (B, T, H d) as (B, H, T, d)
        return a[0] == b[0] and a[1] == b[2] != b[1] and b[1] * b[3] == a[2] and min(*b[1:], a[1]) > 1
    if len(a) == 4 and len(b) == 3:  # (B, H, T, d) as (B, T, H d)
        return a[0] == b[0] and a[2] == b[1] != a[1] and a[1] * a[3] == b[2] and min(a[1:]) > 1
    if len(a) == len(b) == 3 and a[2] == b[2] and a[:2] == b[1::-1] and a[0] != a[1] and min(a) > 1:  # (B, T, C) as (T, B, C)
        return True
    if len(a) == len(b) == 3 and a[1] == b[1] > 1 and a[2] > b[2] > 1:  # (B, T, H d) as (B H, T, d)
        return a[0] < b[0] and b[0] % a[0] == 0
    if len(a) == len(b) == 3 and a[1] == b[1] > 1 and b[2] > a[2] > 1:  # (B H, T, d) as (B, T, H d)
        return a[0] > b[0] and a[0] % b[0] == 0
    if len(a) == len(b) == 3:  # (B, T, C) as (B, C, T)
        return a[0] == b[0] and a[1:] == b[:0:-1] and a[1] != a[2] and min(a[1:]) > 1
    if (
        len(a) in (3, 4)
        and len(b) == 2
        and b[1] == a[1] != a[-1]
        and len(set(a[1:])) == len(a[1:]) - (len(a) == 4 and a[2] == a[3])
    ):
        return b[0] * b[1] == np.prod(a) and min(a[1:]) > 1  # (B, C, T) as (B T, C), (B, C, H, W) as (B H W, C)
    if len(a) == 3 and len(b) == 2:  # (L, B, H) as (B, L H)
        return a[1] == b[0] != a[0] and a[0] * a[2] == b[1] and min(a) > 1
    return False


def stretched(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """A loss of (B, 1) and (B,): each prediction meets each label; or of (B, B), which the model made of such two, and (B,)."""
    if not watch.looks_closely or not modes.grad:
        return
    n = len(arrays[0]) if arrays[0].ndim else 0
    if op.name == "expand":
        before, watch.column = watch.column, None
        if outputs[0].shape == (arrays[0].size,) * 2:
            watch.column = arrays[0].shape, _of_model(inputs[0])
        sides: list[Any] = [before or ((n, n), True), watch.column]
    else:
        sides = [(x.shape, _of_model(y)) for x, y in zip(arrays[:2], inputs)]
    if n < 4 or None in sides or sides[0][1] == sides[1][1]:
        return
    shapes = dict(sides)
    if {*shapes} == {(n, 1), (n,)}:
        note(watch, "stretched", sides[0][0], sides[1][0])
    elif {*shapes} == {(n, n), (n,)} and shapes[n, n] and n in watch.crossed and len(watch.open.shaped) < MOST:
        watch.open.shaped.append(watch.crossed[n])


def crossed(watch: Watch, inputs: Any, arrays: Any) -> None:
    """Keep where (B, 1) and (B,), both of the model, become (B, B)."""
    n, shapes = len(arrays[0]) if arrays[0].ndim else 0, [x.shape for x in arrays[:2]]
    if n > 3 and modes.grad and {*shapes} == {(n, 1), (n,)} and all(x is not None and _of_model(x) for x in inputs[:2]):
        watch.crossed[n] = Shaped("stretched", line(), *shapes)


def _of_model(x: Any) -> bool:
    return x._node is not None or x._requires_grad


def note_fed(watch: Watch, x: np.ndarray) -> None:
    """Note numbers that go into a layer as they came."""
    if x.dtype.kind == "f" and x.size > 8 and len(watch.open.fed) < MOST:
        numbers = float(x.mean()), float(x.std()), float(x.min()), float(x.max())
        watch.open.fed.append(Fed(watch.stack[-1], line(), *numbers))


def note_classes(watch: Watch, known: tuple[str, int, np.ndarray], axis: int) -> None:
    """Note probabilities that a softmax made along another axis than that of the classes."""
    if len(watch.open.turned) < MOST:
        place, dim, made = known
        sums = made.sum(axis=axis)
        watch.open.turned.append(Turned(place, dim, made.shape, float(sums.min()), float(sums.max()), True))


def added(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """A table of the model is added to (X, Y, D) along one of the first two axes; or noise to data."""
    mixtures.added(watch, arrays, outputs)
    if watch.around:
        around.added(watch, inputs)
    crossed(watch, inputs, arrays)
    a, b = arrays[0], arrays[1]
    y, node = outputs[0]._array, outputs[0]._node
    if watch.loosened and node is not None and modes.grad:
        addend(watch, inputs, y, node)
    if node is not None and y.ndim >= 3 and watch.rounds < FIRST and watch.stack:
        plain = [x._array for x in inputs[:2] if not _of_model(x) and x._array.shape[-1:] == y.shape[-1:]]
        if any(x.size > 1 and x.dtype.kind == "f" and ((x == 0) | (x == 1)).all() and x.any() and not x.all() for x in plain):
            watch.masked[id(node)] = node
    if y.ndim and watch.stack and node is not None and modes.grad and watch.rounds < FIRST:
        lone = [x._node for x in inputs[:2] if x is not None and not x._array.ndim and x._node is not None]
        if any(each.name == "sum" for each in lone):
            note(watch, "lone", (), y.shape)
    if not watch.looks_closely or not modes.grad or y.ndim != 3 or not watch.stack:
        return
    for x, table, tensor in ((a, b, inputs[1]), (b, a, inputs[0])):
        X, Y, D = outputs[0].shape
        axis = {(X, 1, D): 0, (1, Y, D): 1, (Y, D): 1}.get(table.shape)
        if axis is not None and x.shape == (X, Y, D) and X > 1 and Y > 1 and _is_table(watch, tensor):
            note(watch, "varies", x.shape, table.shape, axis)


def addend(watch: Watch, inputs: tuple, y: np.ndarray, node: Any) -> None:
    """Note a sum, or a difference, with what was detached."""
    for x in inputs[:2] if watch.loosened and len(inputs) == 2 and y.size > 1 and len(watch.addends) < MOST else ():
        if x is not None and x._node is None and not x._requires_grad and memory(x._array) in watch.loosened and x.shape == y.shape:
            watch.addends[id(node)] = node, line(), float(x._array.mean())


def _is_table(watch: Watch, x: Any) -> bool:
    """Whether a tensor is some rows of a parameter, of a buffer, or of a table asked for 0, 1, 2, ..."""
    if x._node is None:
        own = {id(t): t for m in watch.stack for t in (*m._buffers.values(), *m._parameters.values()) if t is not None}
        return any(t is x or np.may_share_memory(t._array, x._array) for t in own.values())
    node = x._node
    while node is not None and node.op.view:
        edge = node.edges[0]
        if edge is not None and not hasattr(edge[0], "op"):
            return True
        node = edge[0] if edge is not None else None
    if node is None or node.name != "embedding":
        return False
    asked = [lookup.ids for lookup in watch.open.lookups[-2:]]
    return any((np.diff(ids.ravel()) == 1).all() for ids in asked if ids.size == np.prod(x.shape[:-1]))


def scaled(watch: Watch, inputs: Any, arrays: Any) -> None:
    """Numbers that the program gave a model, times a parameter of it."""
    for i in (0, 1):
        x, a, other = inputs[i], arrays[i], inputs[1 - i]
        plain = x is not None and other is not None and x._node is None and not x._requires_grad and other._node is None
        if plain and other._requires_grad and watch.stack and any(np.may_share_memory(a, each) for each in watch.given_now):
            note_fed(watch, a)


def joined(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """Data that goes into a layer next to what was computed; what is put before a text; and what is put next to itself."""
    y = outputs[0]._array
    if watch.around:
        around.added(watch, inputs)
    if watch.normed and y.ndim == 2 and attributes.get("axis", 0) in (0, -2):
        rows = [watch.normed.get(id(behind(x, ()))) if x is not None and x._node is not None else None for x in inputs]
        if rows[0] is not None and len({each and each[2] for each in rows}) == 1:
            watch.normed[id(outputs[0]._node)] = outputs[0]._node, *rows[0][1:3], y.shape
    if watch.answers and outputs[0]._node is None and not watch.stack and len(watch.answers) < 256:
        module = next((known[1] for x in arrays if (known := watch.answers.get(memory(x)))), None)
        if module is not None:  # of a test, batch by batch
            watch.answers[memory(y)] = outputs[0], module
    if modes.grad and watch.rounds < FIRST and watch.stack and y.ndim > 1 and attributes.get("axis", 0) in (-1, y.ndim - 1):
        parts = [(x._node, a) for x, a in zip(inputs, arrays) if x is not None and x._node is not None and 8 < a.size < 1 << 20]
        for i, (node, a) in enumerate(parts):
            if any(node is not other and np.array_equal(a, b) and np.ptp(a) > 0 for other, b in parts[:i]):
                note(watch, "twice", a.shape, y.shape)
    if modes.grad and outputs[0]._node is not None and outputs[0]._array.ndim == 3 and attributes.get("axis", 0) in (1, -2):
        behind_it = {id(behind(x, EMBEDDED)) for x in inputs[1:] if x is not None and x._node is not None}
        for lookup in watch.open.lookups:
            lookup.moved |= lookup.node in behind_it
    if not watch.looks_closely or not modes.grad or outputs[0]._node is None or not watch.stack:
        return
    for tensor, x in zip(inputs, arrays):
        if tensor is not None and tensor._node is None and not tensor._requires_grad:
            note_fed(watch, x)


# ---------------------------------------------------------------- weights and their values


def product(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """Weights times values: what was a softmax over another axis than this sums over."""
    if not watch.across and not watch.normed:
        return
    if op.name == "contract":
        for i, letters in enumerate((attributes["ta"], attributes["tb"])):
            summed = [n for n, c in enumerate(letters) if c not in attributes["ty"]]
            _along(watch, inputs[i], summed)
            _weighed(watch, inputs[i], arrays[i], summed)
        return
    if arrays[0].ndim == arrays[1].ndim == 2:
        _along(watch, inputs[0], [1])
        _along(watch, inputs[1], [0])
    _weighed(watch, inputs[0], arrays[0], [arrays[0].ndim - 1])
    _weighed(watch, inputs[1], arrays[1], [arrays[1].ndim - 2])


def normalised(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """Something by its norm along an axis."""
    node, y = outputs[0]._node, outputs[0]._array
    if watch.across and node is not None and len(inputs) > 1 and inputs[1] is not None:
        _again(watch, inputs, arrays)
    if node is None or not modes.grad or y.ndim != 2 or len(watch.normed) >= MOST or len(inputs) < 2 or inputs[1] is None:
        return
    by = behind(inputs[1], ("clamp", "shift", "expand", "clone", "cast"))
    if by is None or by.name not in ("norm", "sqrt"):
        return
    over = arrays[1] if by.name == "norm" else np.zeros(0)
    kept = [i for i, n in enumerate(over.shape) if n > 1 and over.strides[i]]  # along which the norms differ
    if over.ndim == 2 and len(kept) == 1 and min(y.shape) > 1:
        watch.normed[id(node)] = node, line(), 1 - kept[0], y.shape


def _again(watch: Watch, inputs: Any, arrays: Any) -> None:
    """What a softmax made by its sums along another axis, as a distribution of probabilities divides it."""
    made, by = behind(inputs[0], WEIGHED), behind(inputs[1], ("clone", "cast", "expand"))
    known = watch.across.get(id(made)) if made is not None else None
    edge = by.edges[0] if known is not None and by is not None and by.name == "sum" else None
    if known is None or edge is None or from_node(edge[0], WEIGHED) is not made or known[2].shape != arrays[0].shape:
        return
    last, dim = arrays[0].ndim - 1, known[1] % arrays[0].ndim
    if dim != last and known[2].shape[dim] > 1 and within("badak.distributions"):
        note_classes(watch, known, last)


def _along(watch: Watch, x: Any, summed: list[int]) -> None:
    """Note what has length 1 along another axis than a product sums over."""
    node = behind(x, ("clone", "cast", "scale", "div_by")) if x._node is not None else None
    known = watch.normed.get(id(node)) if node is not None else None
    turned = x._node is not None and x._array.shape != (known[3] if known else ())
    if known is None or len(summed) != 1 or len(x._array.shape) != 2:
        return
    axis = 1 - summed[0] if turned or transposed(x) else summed[0]
    if axis != known[2]:
        note(watch, "normed", known[3], (known[2],), known[2])
        watch.open.shaped[-1].place = known[1]


def apart(watch: Watch, inputs: Any, arrays: Any) -> None:
    """Rows (n, 1, D) and (1, m, D) whose distances are to come: what has length 1 along the rows."""
    if watch.normed and arrays[0].ndim == arrays[1].ndim == 3 and arrays[0].shape[1] == arrays[1].shape[0] == 1:
        known = watch.normed.get(id(behind(inputs[0], ()))) if inputs[0] is not None else None
        if known is not None and known[2] == 0 and known[3] == (len(arrays[0]), arrays[0].shape[2]):
            note(watch, "normed", known[3], (known[2],), known[2])
            watch.open.shaped[-1].place = known[1]


def transposed(x: Any) -> bool:
    """Whether the two axes of a matrix were swapped by a view since it was made."""
    node, times = x._node, 0
    while node is not None and node.op.view:
        times += node.name in ("transpose", "permute", "t", "mT")
        node = of_edge(node.edges[0])
    return times % 2 == 1


def multiplied(watch: Watch, inputs: Any, arrays: Any, y: np.ndarray, node: Any) -> None:
    """Weights that a softmax made times values, one by one: what they are summed over is still to come."""
    if watch.across and node is not None and y.ndim > 1:
        _hot(watch, inputs, arrays, node)
    for i, x in enumerate(inputs[:2] if watch.across and node is not None and y.ndim == 3 else ()):
        made = behind(x, WEIGHED) if x is not None and x._node is not None else None
        if made is not None and id(made) in watch.across and arrays[i].ndim == 3 and arrays[1 - i].shape == y.shape:
            watch.times[id(node)] = node, x, arrays[i], y.shape


def _hot(watch: Watch, inputs: Any, arrays: Any, node: Any) -> None:
    """What a softmax made times one-hot labels: both have the classes along one axis. What counts may be picked before that."""
    for x, other, a, t in ((0, 1, *arrays[:2]), (1, 0, *arrays[1::-1])):
        made = behind(inputs[x], WEIGHED) if inputs[x] is not None and inputs[x]._node is not None else None
        known = watch.across.get(id(made)) if made is not None else None
        if known is None or a.shape != known[2].shape or inputs[other] is None or inputs[other]._node is not None:
            continue
        dim, zeros_and_ones = known[1] % a.ndim, t.dtype.kind == "b" or (t.size and ((t == 0) | (t == 1)).all())
        if zeros_and_ones and t.size * max(a.shape) <= a.size * max(a.shape) and 1 in t.shape:
            watch.across[id(node)] = known  # a mask
        elif zeros_and_ones and t.shape == a.shape and t.shape[dim] > 1:
            sums = [t.sum(axis=i) for i in range(t.ndim)]
            hot = [i for i in range(1, t.ndim) if t.shape[i] > 1 and sums[i].max() == 1 and 2 * sums[i].sum() >= sums[i].size]
            if hot and dim not in hot:
                note_classes(watch, known, hot[0])


def summed(watch: Watch, inputs: Any, attributes: dict) -> None:
    """The sum of such products."""
    known, axis = watch.times.get(id(inputs[0]._node)), attributes.get("axis")
    if known is not None and axis is not None:
        _, x, weights, shape = known
        axes = [axis % len(shape)] if isinstance(axis, int) else [each % len(shape) for each in axis]
        if all(weights.shape[each] == shape[each] > 1 for each in axes):
            _weighed(watch, x, weights, axes)


def _dropped(x: Any) -> bool:
    node = behind(x, [name for name in WEIGHED if name != "dropout"])
    return node is not None and node.name == "dropout"


def _weighed(watch: Watch, x: Any, array: np.ndarray, summed: list[int]) -> None:
    node = behind(x, WEIGHED)
    known = watch.across.get(id(node)) if node is not None else None
    if known is None or not summed or summed[0] < 0:
        return
    place, dim, made = known
    shape = made.shape
    if shape == array.shape:  # dropout may have been at work since
        array = made
    elif array.size != made.size or sorted(set(shape) - {1}) != sorted(set(array.shape) - {1}) or _dropped(x):
        return
    if shape == array.shape and summed[0] != dim % len(shape):  # a mask may hide all that the wrong axis holds: NaN comes of it
        array = np.nan_to_num(array, nan=0.0)
    sums = array.sum(axis=tuple(summed))
    low, high = float(sums.min()), float(sums.max())
    if max(abs(low - 1), abs(high - 1)) > 0.02 and len(watch.open.turned) < MOST:
        watch.open.turned.append(Turned(place, dim, shape, low, high))
