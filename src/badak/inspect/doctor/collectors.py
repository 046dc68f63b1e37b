"""What is measured at single operations while a training is watched. SENSES: the operation's name, and who looks at it."""

import gc
from math import isfinite
from typing import Any

import numpy as np

from badak.core.modes import modes
from badak.inspect.doctor import composed, layout, losses, parts, rewards
from badak.inspect.doctor.facts import Attended, Begun, Fed, Lookup, Picked, Rectified, Shaped, Step, Watch, Window
from badak.inspect.doctor.graph import behind, memory, of_edge
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.names import line
from badak.nn import Module, Parameter
from badak.tensor import Tensor

FIRST = 3  # steps in which attentions are looked at
LEAST_MASKED = 32  # half of the labels that a mask picks at least
SCALED = "clone cast scale div_by".split()  # scores stay scores
HIDDEN = -1e3  # a score that is at most this is hidden; masks of -1e4 are added to scores that may be above 0


def block_of_zeros(gradient: np.ndarray) -> tuple[int, int]:
    """The first and the last of rows whose gradient is 0, where they are a half, a third or a quarter of all and lie together."""
    n = len(gradient) if gradient.ndim > 1 else 0
    if n < 8:
        return 0, 0
    idle = np.flatnonzero(~gradient.reshape(n, -1).any(axis=1))
    together = len(idle) > 2 and idle[-1] - idle[0] == len(idle) - 1 and len(idle) * 4 >= n and n % len(idle) == 0
    return (int(idle[0]), int(idle[-1])) if together and len(idle) < n else (0, 0)


def blank_inputs(gradient: np.ndarray) -> tuple[int, int]:
    """The same of columns, or of the channels that a convolution reads; cheap where the first and the last have one."""
    if gradient.ndim < 2 or (gradient[:, 0].any() and gradient[:, -1].any()):
        return 0, 0
    return block_of_zeros(gradient.swapaxes(0, 1))


def still_there(steps: list[Step]) -> int:
    """How many steps there are whose graph is still there."""
    alive = sum(1 for each in steps if each.root is not None and each.root() is not None)
    if alive == len(steps):
        gc.collect()
        alive = sum(1 for each in steps if each.root() is not None)
    return alive


def part_given(watch: Watch, module: Module, args: tuple) -> None:
    """Note the column of data, if it is one, that a part of a model is given first."""
    calls = watch.parts_given.setdefault(id(module), [])
    x = args[0]._array if args and isinstance(args[0], Tensor) and args[0]._node is None else None
    column = x is not None and x.dtype.kind == "f" and x.ndim and x.size == len(x) > 3
    if len(calls) < 64:
        calls.append(x.reshape(-1) if x is not None and column else None)


def finite(x: np.ndarray) -> bool:
    """Whether the sum of the squares is a number, which costs a third of looking at each value. Large values count as infinite."""
    if x.dtype.char not in "fd" or not x.size:
        return True
    return isfinite(np.vdot(x, x))


def broken_from(arrays: Any, attributes: dict[str, Any], made: np.ndarray) -> str:
    """ "NaN" or "Inf" where finite numbers became that and it was not asked for, as masked_fill asks; else ""."""
    if np.isfinite(made).all() or any(isinstance(v, float) and not np.isfinite(v) for v in attributes.values()):
        return ""
    floats = [x for x in arrays if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    if np.isnan(made).any():
        return "" if any(np.isnan(x).any() for x in floats) else "NaN"
    return "" if any(not np.isfinite(x).all() for x in floats) else "Inf"


def blind(inputs: Any, arrays: Any) -> tuple[int, int, tuple[int, ...], str] | None:
    """(rows of -inf alone, rows, the first, the line that hid it) of scores that NaN was made of, or of 0 / 0."""
    x = arrays[0]
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f" or x.ndim < 2 or x.shape[-1] < 2:
        return None
    rows = np.isneginf(x).all(axis=-1)
    if not rows.any() and len(arrays) > 1 and isinstance(arrays[1], np.ndarray) and arrays[1].shape == (*x.shape[:-1], 1):
        rows = ((x == 0) & (arrays[1] == 0)).all(axis=-1)
    if not rows.any():
        return None
    node, found, left = inputs[0]._node, "", 8
    while node is not None and not found and left:
        found = node.line if node.name in ("masked_fill", "where", "add") else ""
        edge = next((edge for edge in node.edges if edge is not None), None)
        node, left = of_edge(edge), left - 1
    first = tuple(int(i) for i in np.argwhere(rows)[0])
    return int(rows.sum()), rows.size, first, found


def is_random(module: Module) -> bool:
    """Whether something in it behaves otherwise in training."""
    return any(
        (getattr(m, "p", 0) or 0) > 0 if "Dropout" in type(m).__name__ else
        (getattr(m, "dropout", 0) or 0) > 0 if isinstance(getattr(m, "dropout", 0), float) else
        "BatchNorm" in type(m).__name__
        for m in module.modules()
    )  # fmt: skip


def content(args: tuple, kwargs: dict, held: list) -> tuple:
    """(memory, shape, number made of the values) of each tensor that the program gave, 16 at most. held: keeps the first alive, so
    that others have other memory."""
    found = []
    for x in (*args, *kwargs.values()):
        if isinstance(x, Tensor) and x._node is None and x._array.size > 1 and not isinstance(x, Parameter):
            array = x._array
            if len(held) < 64:
                held.append(array)
            found.append((memory(array), array.shape, _digest(array)))
    return tuple(found[:16])


def _digest(x: np.ndarray) -> int:
    return hash(np.ascontiguousarray(x if x.size <= 65536 else x.reshape(-1)[:: x.size // 65536]).tobytes())


# ---------------------------------------------------------------- what goes in


def picked(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """Rows of data picked from more rows."""
    if inputs[0]._node is not None:
        losses.picked_logs(watch, op, saved, inputs, arrays, attributes, outputs)
    x, y, key = arrays[0], outputs[0]._array, attributes.get("key")
    rows = rows_in(key)
    if outputs[0]._node is not None and len(watch.open.chose) < 32 and rows is not None:
        watch.open.chose.append(rows.copy())
    if outputs[0]._node is None and x.ndim and y.ndim and x.shape[1:] == y.shape[1:]:
        drawn(watch, op, saved, inputs, arrays, attributes, outputs)
        watch.picked[memory(y)] = len(x)
        if len(watch.picked) > 64:
            del watch.picked[next(iter(watch.picked))]
        mask = key[0] if type(key) is tuple and len(key) == 1 else key
        if isinstance(mask, np.ndarray) and mask.dtype == bool and mask.ndim == 1 and len(watch.masked_from) < 64:
            watch._held.append(y)
            watch.masked_from[memory(y)] = x
            if x.dtype.kind in "iu" and 2 * mask.sum() >= LEAST_MASKED:
                watch.rows.masked(mask, x)
        if rows is not None and len(watch.open.picked) < 32:
            if modes.grad:
                watch.rows.picked(x, rows)
            elif id(x) in watch.rows.times:
                watch.rows.beside[id(x)] = watch.rows.beside.get(id(x), 0) + 1
            watch._held.append(y)
            both = (y, x) if x.dtype.kind == "f" and y.shape == x.shape and x.ndim > 1 else (None, None)
            watch.open.picked.append(
                Picked(memory(y), len(x), rows.copy(), memory(x), both[0], both[1], y if y.ndim == 1 else None)
            )


def sliced(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """Of data with one number for each row some rows, one after the other."""
    x, key = arrays[0], attributes.get("key")
    if x.ndim == 1 and outputs[0]._node is None and isinstance(key, slice) and modes.grad and len(watch.open.sliced) < 32:
        where, y = np.arange(len(x))[key], outputs[0]._array
        if 3 < len(where) < len(x):
            watch.open.sliced.append(Picked(memory(y), len(x), where, memory(x), values=y))


def rows_in(key: Any) -> np.ndarray | None:
    """The rows that an index names."""
    rows = key[0] if type(key) is tuple and len(key) == 1 else key
    return rows if isinstance(rows, np.ndarray) and rows.dtype.kind in "iu" and rows.ndim == 1 and len(rows) > 3 else None


def mixed_rows(watch: Watch, args: tuple) -> None:
    """Note where what a model is given is, row by row, a mixture of the rows of data and of the same rows in another order."""
    x: Any = next((x._array for x in args if isinstance(x, Tensor) and x._node is None and x._array.ndim > 1), None)
    for each in watch.open.picked if x is not None and x.dtype.kind == "f" and not watch.open.mixes else ():
        if each.made is None or each.made.shape != x.shape or not each.whole:
            continue
        moved = np.flatnonzero(each.rows != np.arange(len(each.rows)))[:4]
        a, b, y = (v[moved].reshape(len(moved), -1).astype(np.float64) for v in (each.base, each.made, x))
        far = np.square(a - b).sum(axis=1)
        if len(moved) and (far > 0).all():
            share = ((y - b) * (a - b)).sum(axis=1) / far
            rest = np.abs(y - b - share[:, None] * (a - b)).max()
            if rest < 1e-4 * np.abs(a - b).max() and ((share > 0.01) & (share < 0.99)).all():
                watch.open.mixes.append(each)


def turned(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """Rows of data in another order: moved on, or from the end."""
    x, y, axes = arrays[0], outputs[0]._array, attributes.get("axes")
    if modes.grad and not watch.stack and x.ndim > 1 and attributes.get("shifts") is None and len(watch.open.mirrored) < 64:
        if any(axis % x.ndim >= x.ndim - 2 for axis in axes or ()):
            kind = "graph" if outputs[0]._node is not None else "data" if x.dtype.kind == "f" else "labels"
            watch.open.mirrored.append((kind, line(), x.shape))
    along = tuple(axes or ()) == (0,) and len(x) > 3
    if along and outputs[0]._node is None and modes.grad and len(watch.open.picked) < 32:
        n, shifts = len(x), attributes.get("shifts")
        rows = np.arange(n)[::-1] if shifts is None else np.roll(np.arange(n), shifts[0])
        watch._held.append(y)
        watch.open.picked.append(Picked(memory(y), n, rows, memory(x)))


def stacked(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    whole = arrays[0].base
    if outputs[0]._node is None and isinstance(whole, np.ndarray) and arrays[0].size and all(x.base is whole for x in arrays):
        watch.picked[memory(outputs[0]._array)] = whole.size // arrays[0].size
    if not watch.stack and outputs[0]._node is None and arrays[0].ndim == 1:
        watch._held.append(outputs[0]._array)
        watch.rows.stacked(arrays, outputs[0]._array)


def drawn(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """Rows of a batch, as a loader puts them together."""
    if not watch.stack and outputs[0]._node is None and outputs[0]._array.ndim > 1:
        watch.rows.drawn = outputs[0]


def lookup(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    if modes.grad and len(watch.open.lookups) < 64:
        table, ids = arrays[0], arrays[1]
        module = watch.stack[-1] if watch.stack else None
        if watch.stack and outputs[0]._node is None:
            watch.frozen = watch.stack[0]
        watch.open.lookups.append(Lookup(ids.copy(), table.shape[0], module, id(outputs[0]._node)))


def token_by_token(lookups: list[Lookup]) -> list[Lookup]:
    """Of a table that is asked for one token of each row after the other: all of them, (T, B) and (B, T)."""
    by = grouped((id(each.module), each) for each in lookups)
    found = []
    for several in by.values():
        rows = {each.ids.shape for each in several}
        size = max(next(iter(rows)), default=0)
        last = several[-1] is lookups[-1]  # an encoder may be asked before, for the very text that is to be copied
        one = len(rows) == 1 and 1 < size == several[0].ids.size
        if last and one and len(several) > 2 and several[0].module is not None:
            text = np.stack([each.ids.reshape(-1) for each in several])  # labels may lie either way
            found += [Lookup(each, several[0].rows, several[0].module) for each in (text, np.ascontiguousarray(text.T))]
    return found


def fed(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    x = inputs[0]
    if not watch.looks_closely or not modes.grad or not watch.stack or x._requires_grad or x._node is not None:
        return
    if watch.frozen is not None or memory(x._array) in watch.computed:  # what frozen layers made is no data
        return
    watch.frozen = watch.stack[0] if outputs[0]._node is None else None
    array = arrays[0]
    if array.dtype.kind == "f" and array.size > 8 and len(watch.open.fed) < 16:
        some = array if array.size <= 65536 else array.reshape(-1)[:: array.size // 65536]
        numbers = float(some.mean()), float(some.std()), float(some.min()), float(some.max())
        watch.open.fed.append(Fed(watch.stack[-1], line(), *numbers))


# ---------------------------------------------------------------- inside


def rectifier(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    y = outputs[0]._array
    if not watch.looks_closely or not modes.grad or y.ndim < 2 or len(watch.open.rectified) > 64:
        return
    axis = 1 if y.ndim == 4 else y.ndim - 1  # channels of pictures, else the last
    rows = y.size // y.shape[axis]
    alive = (y > 0).any(axis=tuple(i for i in range(y.ndim) if i != axis))
    watch.open.rectified.append(Rectified(watch.stack[-1] if watch.stack else None, line(), alive, rows))


def attention(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    if watch.rounds >= FIRST or not modes.grad or len(watch.open.attended) > 64:
        return
    q, k, _, keep, bias, *_ = arrays
    T, S = q.shape[2], k.shape[2]
    added = bias is not None and bias.size > 1 and bool(((bias == 0) | (bias == 1)).all() and (bias == 1).any())
    seen: Any = None if keep is None else keep.copy()
    if bias is not None and (bias <= HIDDEN).any():
        seen = (bias > HIDDEN) if seen is None else seen & (bias > HIDDEN)
    if attributes.get("causal") is not None:
        causal = np.tril(np.ones((T, S), bool), attributes["causal"])
        seen = causal if seen is None else seen & causal
    head = k.shape[1] * 0  # the first head of the first row
    some = slice(None, None, max(1, T // 64))
    scale = attributes.get("scale") or q.shape[3] ** -0.5
    scores = (q[0, 0, some].astype(np.float32) @ k[0, head].astype(np.float32).T) * scale
    if bias is not None:
        scores = scores + np.broadcast_to(bias, (*q.shape[:3], S))[0, 0, some]
    if seen is not None:
        scores = np.where(np.broadcast_to(seen, (*q.shape[:3], S))[0, 0, some], scores, -np.inf)
    place, module = line(), watch.stack[-1] if watch.stack else None
    watch.open.attended.append(Attended(module, place, seen, _sharpness(_softmax(scores), scores > HIDDEN), added, (T, S)))
    if watch.looks_closely and getattr(module, "batch_first", True) is False and T == S:
        watch.open.shaped.append(Shaped("first", place, (T, len(q), q.shape[1] * q.shape[3]), ()))


def softmax(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    x = arrays[0]
    dim = attributes.get("dim", -1)
    if x.ndim == 2 and watch.stack and modes.grad and watch.rounds < FIRST and len(watch.open.pointed) < 64 and (x <= HIDDEN).any():
        watch.open.pointed.append(Attended(watch.stack[-1], line(), (x > HIDDEN)[:, None], 0.0, size=(1, x.shape[1])))
    last = dim in (-1, x.ndim - 1)
    if watch.stack and modes.grad and watch.rounds < FIRST and x.ndim > 1 and len(watch.open.filled) < 64:
        on_padding(watch, outputs[0]._array, dim % x.ndim)
    if x.ndim >= 2 and outputs[0]._node is not None and watch.rounds < FIRST:
        watch.across[id(outputs[0]._node)] = line(), dim, outputs[0]._array
    if watch.rounds >= FIRST or not modes.grad or x.ndim < 3 or not last or not watch.stack or len(watch.open.attended) > 64:
        return
    keep = x > HIDDEN
    some = x.reshape(-1, *x.shape[-2:])[0]
    weights = outputs[0]._array.reshape(-1, *x.shape[-2:])[0]
    seen = None if keep.all() else keep
    added = id(behind(inputs[0], SCALED)) in watch.masked
    learnt = outputs[0]._node is not None
    sharp = _sharpness(weights, some > HIDDEN)
    watch.open.attended.append(Attended(watch.stack[-1], line(), seen, sharp, added, x.shape[-2:], learnt))


def on_padding(watch: Watch, weights: np.ndarray, dim: int) -> None:
    """Note how much of weights over the places of a text goes to what fills it up, by the index that the table says is padding."""
    for lookup in watch.open.lookups[:4]:
        ids, filler = lookup.ids, getattr(lookup.module, "padding_idx", None)
        if filler is None or ids.ndim != 2 or len(ids) < 4 or (weights.shape[0], weights.shape[dim]) != ids.shape:
            continue
        if weights.size == ids.size and dim or weights.ndim == 3 and dim == 2:
            rows = weights.reshape(ids.shape) if weights.size == ids.size else weights.mean(axis=1)
            real = (ids != filler).any(axis=1)  # a row of nothing else, as of a turn that is none, has to weigh it
            share = rows[(ids == filler) & real[:, None]].sum() / max(int(real.sum()), 1)
            watch.open.filled.append((line(), float(share)))
            return


def dropped(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """Dropout, wherever it comes from."""
    if not watch.stack:
        return
    root, inner = watch.stack[0], watch.stack[-1]
    watch.random[id(root)] = root
    own = "Dropout" in type(inner).__name__
    if not modes.grad and not root.training and not inner.training and not own and len(watch.open.dropped) < 64:
        watch.open.dropped.append(line())


def recurrent(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """What a layer reads as (T, B, D)."""
    module = watch.stack[-1] if watch.stack else None
    said = getattr(module, "batch_first", None)  # none of a cell
    if watch.looks_closely and modes.grad and said is not None and attributes.get("lengths") is None:
        watch.open.shaped.append(Shaped("last" if said else "first", line(), arrays[0].shape, ()))
    windows(watch, arrays)
    first, w = arrays[1], arrays[-2]
    written = watch.open.written if outputs[0]._node is None else watch.open.begun
    if (written is not watch.open.begun or watch.looks_closely) and arrays[0].shape[0] == 1 and len(written) < 64:
        watch._held_now.append(first)
        written.append(Begun(line(), memory(w), memory(first) if first.any() else 0))


def windows(watch: Watch, arrays: list[np.ndarray]) -> None:
    """Several places that a layer reads: of which memory, and whether it begins with a state."""
    given = watch.given_now[0] if watch.given_now and modes.grad else None
    if len(arrays[0]) > 1 and len(watch.windows) < 256:
        at = (memory(given), given.shape, given.strides) if given is not None and given.ndim > 1 else (0, (), ())
        watch.windows.append(Window(line(), memory(arrays[-2]), modes.grad, bool(arrays[1].any()), len(arrays[0]), *at))


def _softmax(scores: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


def _sharpness(weights: np.ndarray, keep: np.ndarray) -> float:
    rows = keep.sum(axis=-1) >= 3
    return float((weights[rows].max(axis=-1) > 0.99).mean()) if rows.any() else 0.0


def look_at(watch: Watch, op, inputs, arrays, attributes, made) -> None:
    """Note the first operation that makes NaN, or Inf where none was meant, out of finite numbers."""
    kind = broken_from(arrays, attributes, made)
    if kind:
        place = line()
        watch.broken = op.name, place, kind, watch.open.number
        watch.blind = blind(inputs, arrays) if kind == "NaN" else None


SENSES = {
    **dict.fromkeys(losses.LOSSES, losses.loss),
    "embedding": lookup,
    "linear": fed,
    "addmm": fed,
    "conv": fed,
    **dict.fromkeys(("matmul", "contract"), layout.product),
    **dict.fromkeys(("view", "reshape"), layout.viewed),
    "expand": layout.stretched,
    "div": composed.share_of_both,
    "sub": composed.difference,
    "bce": composed.entropy,
    "where": composed.chosen,
    "sigmoid": composed.squashed,
    **dict.fromkeys(("roll", "flip"), turned),
    "stack": stacked,
    "mul": composed.product,
    "add": layout.added,
    "cat": layout.joined,
    "dropout": dropped,
    "index": picked,
    "select": sliced,
    **dict.fromkeys(("split", "unbind"), parts.cut_up),
    "gather": losses.picked_logs,
    "take_along": parts.put_in_order,
    "index_select": picked,
    **dict.fromkeys(("mean", "sum"), losses.scalar),
    **dict.fromkeys(("lstm", "gru", "rnn"), recurrent),
    "shift": losses.constant,
    "scale": rewards.scaled,
    "lerp_by": rewards.stays,
    "cast": parts.cast,
    "relu": rectifier,
    "attention": attention,
    "softmax": softmax,
    **dict.fromkeys(("log_softmax", "logsumexp"), losses.logarithm),
}
