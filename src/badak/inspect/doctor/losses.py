"""What is measured of losses while a training is watched: named ones, those of several operations, picked logarithms, numbers
that are added."""

from typing import Any

import numpy as np

from badak.core.modes import modes
from badak.inspect.doctor import composed, layout, mixtures, rewards
from badak.inspect.doctor.facts import Loss, Turned, Watch
from badak.inspect.doctor.graph import behind, below, chain, first_of, from_node, memory, of_edge
from badak.inspect.doctor.names import line
from badak.tensor import Tensor

LOSSES = ("cross_entropy", "cross_entropy_soft", "nll", "bce_with_logits", "mse", "huber", "smooth_l1", "kl_div", "ctc_loss")
KINDS = {"huber": "difference", "smooth_l1": "difference"}
MANY = 65536  # labels of a step that are kept
ROWS = 256  # of logits, scores and units that are looked at
LAID = "linear addmm dropout relu gelu tanh layer_norm log_softmax".split()
THROUGH = "reshape clone cast index index_select masked_select cat stack write_view".split()  # rows stay rows


def square(x: np.ndarray) -> float:
    """The sum of the squares."""
    return float(np.vdot(x, x)) if x.dtype.kind == "f" and x.itemsize > 2 else float(np.square(x.astype(np.float64)).sum())


def origin(x: Tensor) -> tuple[str, str]:
    """The operation that made a tensor and its line, through views and copies."""
    return origin_of(behind(x, THROUGH))


def origin_of(node: Any) -> tuple[str, str]:
    return ("", "") if node is None else (node.name, node.line)


def loss(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    x, y = arrays[0], outputs[0]._array
    made_by, made_at = origin(inputs[0])
    classes = x.shape[-1] if x.ndim > 1 else 1
    seen = Loss(
        KINDS.get(op.name, op.name), line(), float(y) if y.size == 1 else None, len(x) if x.ndim else 1, classes,
        modes.grad and outputs[0]._node is not None, attributes.get("reduction", "mean") == "mean", made_by, made_at,
    )  # fmt: skip
    seen.labels_at = memory(arrays[1]) if len(arrays) > 1 and isinstance(arrays[1], np.ndarray) else 0
    if op.name == "cross_entropy" and x.ndim == 2 and x.size and x[0].min() >= 0 and x.shape[1] > 1:
        seen.simplex = bool((x >= 0).all() and np.allclose(x.sum(axis=1), 1, atol=1e-3))
    if op.name in ("cross_entropy", "nll") and x.ndim == 2 and x.size:
        seen.target, seen.ignored = arrays[1].copy(), attributes.get("ignore_index", -100)
        last = watch.open.lookups[-1].ids if watch.open.lookups else None
        if last is not None and last.size == max(last.shape, default=0) == len(x) and modes.grad:
            seen.read = last.reshape(-1)
        way = chain(inputs[0]._node, LAID)  # the layers behind what was laid flat keep its rows
        seen.axes = next((watch.flat[id(node)] for node in way if id(node) in watch.flat), ())
        seen.shut = shut(x, arrays[1], seen.ignored) if watch.open.number <= SHUT else 0.0
        seen.laid = laid_from(arrays[1]) or watch.laid.get(seen.labels_at, (None, ()))[1]
        if watch.open.number == 1:
            _measure(seen, op.name, x, arrays[1])
            seen.cosines = of_cosines(watch, inputs[0]._node)
    if op.name == "cross_entropy" and x.size:
        compares(watch, seen, x, arrays[1], inputs[0]._node)
    if op.name == "bce_with_logits" and x.size == len(x) > 1 and ((arrays[1] == 0) | (arrays[1] == 1)).all():
        seen.binary = arrays[1].ravel().copy()
    if op.name == "mse" and inputs[1]._node is not None:
        rewards.target(watch, inputs[0], inputs[1])
    if len(watch.optimizers) > 1 and inputs[0]._node is not None:
        seen.maker, seen.sign, seen.fake, seen.led = rewards.judged(watch, inputs[0]._node)
    if seen.value is None and seen.grad and y.size:
        seen.each = float(y.mean())
    if op.name == "ctc_loss":
        x = x.reshape(-1, classes)
        seen.rows = len(arrays[3])
        seen.blanks = blanks(arrays[1], arrays[3], attributes.get("blank", 0))
    logarithms = op.name in ("nll", "kl_div", "cross_entropy", "ctc_loss") and made_by in ("log_softmax", "log")
    if x.ndim == 2 and x.size and (logarithms or (op.name in ("mse", "cross_entropy") and made_by == "softmax")):
        with np.errstate(all="ignore"):
            some = x[:: max(1, len(x) // ROWS)].astype(np.float64)
            mass = (np.exp(some) if logarithms else some).sum(axis=1)
        seen.mass = float(mass.min()), float(mass.max())
    if op.name == "kl_div" and not attributes.get("log_target") and x.ndim == 2 and x.size:
        sums = arrays[1][:: max(1, len(x) // ROWS)].sum(axis=-1, dtype=np.float64)
        seen.label_mass = float(sums.min()), float(sums.max())
    if x.size and watch.looks_closely:
        seen.low, seen.high = float(x.min()), float(x.max())
    if made_by == "log_softmax":
        given_to_softmax(seen, inputs[0])
    weights = {"cross_entropy": 2, "nll": 2, "bce_with_logits": 3}.get(op.name, len(arrays))
    if seen.grad and inputs[1]._node is None:
        compared(watch, seen, *arrays[:2])
        seen.weights = arrays[weights].copy() if weights < len(arrays) and arrays[weights] is not None else None
    watch.open.losses.append(seen)
    if outputs[0]._node is not None:
        watch._losses[id(outputs[0]._node)] = outputs[0]._node, seen
        if op.name == "mse":
            watch.asked[id(outputs[0]._node)] = outputs[0]._node, seen


SHUT, FILLED = 3, -1e3  # steps; a logit that is at most this is hidden
LEAST_MISSING, FAR = 0.005, 2.0  # of the labels; how many times as far as the others spread


def marks(y: np.ndarray) -> float | None:
    """The number far from all others that many labels are, where those are nearly all different: it says that there is none."""
    if y.dtype.kind != "f" or y.size < 64 or not np.isfinite(y).all():
        return None
    values, counts = np.unique(y, return_counts=True)
    mark, rest = values[counts.argmax()], np.delete(values, counts.argmax())
    share = counts.max() / y.size
    if not LEAST_MISSING < share < 0.5 or counts.max() < 8 or len(rest) < 0.7 * (y.size - counts.max()):
        return None
    return float(mark) if np.abs(rest - mark).min() > FAR * rest.std() else None


def missing(seen: Loss, gradient: np.ndarray) -> None:
    """Which labels a loss has asked for, where some are a mark."""
    y = seen.labels
    if y is None or y.shape != gradient.shape:
        return
    pulled = gradient != 0
    if 8 < pulled.sum() < y.size and np.ptp(y[pulled]) == 0 and len(np.unique(y[~pulled])) > 8:
        seen.asked_one = float(y[pulled].flat[0])
    if (mark := marks(y)) is None:
        return
    seen.missing = mark, float(pulled[y == mark].mean()), float(pulled[y != mark].mean())


def blanks(targets: np.ndarray, lengths: np.ndarray, blank: int) -> int:
    """How many labels of ctc_loss are the blank, which stands between labels and is none."""
    if targets.ndim == 1:
        return int((targets == blank).sum())
    inside = np.arange(targets.shape[1]) < np.asarray(lengths)[:, None]
    return int(((targets == blank) & inside).sum())


def compared(watch: Watch, seen: Loss, x: np.ndarray, y: np.ndarray) -> None:
    """Note what the answers are compared with, which is data, and how large they are."""
    if y.size > MANY or not x.size:
        return
    mixtures.asked(watch, y)
    seen.labels = y.copy()
    seen.size = float(np.sqrt(square(x) / x.size))
    half = len(x) // 2 if x.ndim == y.ndim == 1 and len(x) == len(y) else 0
    if half > 3 and 2 * half == len(x) and y[0] == 1 and y[-1] == 0 and np.array_equal(x[:half], x[half:]):
        seen.halves = bool((y[:half] == 1).all() and (y[half:] == 0).all())
    seen.print = float(x.flat[0]) + 3.0 * float(x.flat[-1])
    seen.level = x.ndim == 2 and x.shape[1] > 1 and bool((x == x[:, :1]).all())
    if x.ndim and len(x) > 3 and y.shape[:1] == x.shape[:1]:
        seen.one_answer, seen.one_target = bool((x == x[:1]).all()), bool((y == y[:1]).all())
    y = watch.masked_from.get(seen.labels_at, y)
    seen.labels_at, seen.among = memory(y), len(y) if y.ndim else 0
    whole = y.base
    if isinstance(whole, np.ndarray) and whole.ndim == y.ndim and whole.shape[1:] == y.shape[1:] and len(whole) > len(y):
        seen.slice_of = len(whole), memory(whole)
    if y.ndim == 2 and y.shape[1] > 2 and y.dtype.kind == "f" and watch.looks_closely:
        watch.given.told.setdefault(seen.place, []).append(told(watch, y))
    watch.given.compared(seen.place, y, bool(watch.stack) and watch._outer.get(id(watch.stack[0]), (True, True))[0])


def told(watch: Watch, y: np.ndarray) -> str:
    """Where the numbers that are asked for, (B, T), stand in what the model, or a part of it step by step, was given; else ""."""
    if (y[:, 1:] == y[:, :-1]).all():
        return ""
    for x in watch.given_now[1:]:
        if x.ndim == 3 and x.shape[:2] == y.shape and x.shape[2] > 1 and (x == y[:, :, None]).all(axis=(0, 1)).any():
            return "next to"
    for calls in watch.parts_given.values():
        known = [(x, i) for i, x in enumerate(calls) if x is not None]
        if len(calls) == y.shape[1] and len(known) > 2 and all(len(x) == len(y) and (x == y[:, i]).all() for x, i in known):
            return "before"
    return ""


def picked_logs(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """The logarithms of the probabilities of what is asked for: labels of a loss that no operation is named for."""
    if outputs[0]._node is None or inputs[0]._node is None or not modes.grad or len(watch.open.losses) >= 64:
        return
    x, dim = arrays[0], attributes.get("dim")
    if op.name == "gather" and not watch.chosen:
        watch.chosen = arrays[1].tobytes() in watch.given.drawn
    made_by, made_at = origin(inputs[0])
    if op.name == "index":
        key = attributes.get("key")
        if x.ndim != 2 or type(key) is not tuple or len(key) != 2 or not all(isinstance(each, np.ndarray) for each in key):
            return
        rows, index, dim = *key, 1
        if rows.shape != index.shape or index.dtype.kind != "i" or not np.array_equal(rows.ravel(), np.arange(len(x))):
            return
    else:
        index = arrays[1]
        if x.ndim < 2 or index.ndim != x.ndim or index.shape[dim] != 1 or index.size * x.shape[dim] != x.size:
            return
    if made_by != "log_softmax" or x.shape[dim] < 2:
        return
    target = index.reshape(-1).copy()
    seen = Loss("picked", line(), None, len(target), x.shape[dim], True, True, made_by, made_at)
    seen.target = target
    x = np.moveaxis(x, dim, -1).reshape(-1, x.shape[dim])
    mass = np.exp(x[:: max(1, len(x) // ROWS)].astype(np.float64)).sum(axis=1)
    seen.mass = float(mass.min()), float(mass.max())
    given_to_softmax(seen, inputs[0])
    watch.open.losses.append(seen)
    if not watch.chosen:  # else it hangs on what it was worth
        seen.each, seen.sign = -float(outputs[0]._array.mean()), -1
        watch._losses[id(outputs[0]._node)] = outputs[0]._node, seen


def largest(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """The largest, along the classes, of what a softmax made along the rows: such as shares of experts."""
    known = watch.across.get(id(inputs[0]._node)) if inputs[0]._node is not None and arrays[0].ndim == 2 else None
    if known is not None and known[1] % 2 == 0 and attributes["dim"] % 2 == 1:
        layout.note_classes(watch, known, 1)


def given_to_softmax(seen: Loss, x: Tensor) -> None:
    """Note what log_softmax was given."""
    node = of_edge(behind(x, THROUGH).edges[0])
    if node is not None:
        seen.below_by, seen.below_at = origin_of(from_node(node, ()))


def logarithm(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """The logarithm of a softmax, or of a sum of exponentials, of what has gone through a softmax, or of rows times themselves."""
    if outputs[0]._node is not None and modes.grad and meets_itself(arrays[0]) and of_itself(inputs[0]._node):
        watch.open.with_itself.append(line())
    if outputs[0]._node is not None and inputs[0]._node is not None and len(watch.open.twice) < 64:
        made_by, made_at = origin(inputs[0])
        if made_by == "softmax":
            watch.open.twice.append((line(), made_at, "the logarithm of a softmax is taken of what softmax"))
    if outputs[0]._node is not None and watch.looks_closely:
        if op.name == "log_softmax":
            watch.log_shares[id(outputs[0]._node)] = outputs[0]._node, attributes.get("dim"), outputs[0]._array
        elif watch.log_shares:
            mixture(watch, inputs[0]._node, arrays[0].shape, attributes.get("axis"))


def mixture(watch: Watch, node: Any, shape: tuple[int, ...], dim: Any) -> None:
    """Logarithms of shares that a softmax made along another axis than the one that a mixture is summed up along."""
    axes = {each % len(shape) for each in (dim if isinstance(dim, tuple) else (dim,)) if isinstance(each, int)}
    for each in below(node) if node is not None and node.name == "add" else ():
        _, along, logs = watch.log_shares.get(id(from_node(each, ())), (None, None, None))
        if logs is not None and isinstance(along, int) and logs.ndim == len(shape) and axes and along % logs.ndim not in axes:
            sums = np.exp(logs).sum(axis=tuple(axes))
            watch.open.turned.append(Turned(line(), along, logs.shape, float(sums.min()), float(sums.max()), True))


def meets_itself(x: np.ndarray) -> bool:
    """Whether each row of a square is largest where it meets itself, and nothing of it is hidden."""
    if x.ndim != 2 or len(x) < 8 or x.shape[0] != x.shape[1] or not x.min() > FILLED:
        return False
    return bool((np.diagonal(x) >= x.max(axis=1) - 1e-5 * np.ptp(x)).all()) and np.ptp(x) > 0


def compares(watch: Watch, seen: Loss, x: np.ndarray, target: np.ndarray, node: Any) -> None:
    """Note what is odd of logits that say how alike rows are to others."""
    step = watch.open
    if meets_itself(x) and not (target == np.arange(len(x))).any():
        step.with_itself.append(seen.place)
    if of_others(x, target):
        step.of_others.append(seen.place)
    if seen.grad and (turned := turned_classes(x, target)) is not None:
        step.in_turn.append((seen.place, turned))
    by = from_node(node, (*THROUGH, "pow_by", "square", "sum")) if seen.grad and x.min() >= 0 else None
    by = from_node(first_of(by), ()) if by is not None and by.name in ("norm", "sqrt") else by
    step.farthest += [seen.place] * (by is not None and by.name == "sub")


def of_others(x: np.ndarray, target: np.ndarray) -> bool:
    """Whether the labels of a contrast, one row each, name rows that are as alike as any, and the rows' own halves are far more."""
    n = len(x)
    if (
        x.ndim != 2
        or x.shape[0] != x.shape[1]
        or n < 16
        or n % 2
        or len(np.unique(target)) < n - 2
        or not 0 <= target.min() <= target.max() < n
    ):
        return False
    seen = np.isfinite(x) & (x > FILLED)
    mean = np.where(seen, x, 0.0).sum(axis=1) / seen.sum(axis=1)
    spread = np.sqrt(np.where(seen, np.square(x - mean[:, None]), 0.0).sum(axis=1) / seen.sum(axis=1)) + 1e-12
    rows, half = np.arange(n), (np.arange(n) + n // 2) % n
    if (target == half).any() or (target == rows).any():
        return False
    asked, other = ((x[rows, at] - mean) / spread for at in (target, half))
    return bool(np.median(other) > 1.0 and np.median(asked) < 0.5)


def turned_classes(x: np.ndarray, target: np.ndarray) -> bool | None:
    """Of labels 0 to W - 1, each so many times, one after the other or in turn: whether the other order fits far better."""
    kinds = int(target.max(initial=0)) + 1
    if x.ndim != 2 or kinds < 3 or x.shape[1] != kinds or len(target) % kinds or len(target) < 2 * kinds:
        return None
    rows = np.arange(len(target))
    several = rows // (len(target) // kinds), rows % kinds
    own = [i for i, each in enumerate(several) if np.array_equal(each, target)]
    if not own:
        return None
    right, otherwise = (float((x.argmax(axis=1) == each).mean()) for each in (target, several[1 - own[0]]))
    return otherwise > right + 0.25


def of_itself(node: Any) -> bool:
    """Whether something is made of the products of rows with themselves."""
    node = from_node(node, ("scale", "div_by", "clone", "cast", "sub", "shift", "div", "mul"))
    if node is None or node.name not in ("matmul", "linear", "contract", "addmm"):
        return False
    sides = [from_node(each, ()) for each in below(node)]
    return len(sides) == 2 and sides[0] is sides[1] is not None


def laid_from(y: np.ndarray) -> tuple[int, ...]:
    """The shape (X, Y) of what labels are a flat view of, where all of it is laid out as it is in memory; else ()."""
    base = y.base
    if not isinstance(base, np.ndarray) or y.ndim != 1 or base.ndim != 2 or base.size != y.size:  # bytes, as a worker sends them
        return ()
    return base.shape if base.flags.c_contiguous else ()


def _measure(seen: Loss, kind: str, x: np.ndarray, target: np.ndarray) -> None:
    """What the loss is for some of the rows, whatever weights and reductions make of it."""
    rows = np.flatnonzero(target != seen.ignored)
    rows = rows[:: max(1, len(rows) // ROWS)]
    if not len(rows):
        return
    z = x[rows].astype(np.float64)
    top = z.max(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        seen.spread = float(z.std(axis=1).mean())
        total = np.log(np.exp(z - top).sum(axis=1)) + top[:, 0] if kind == "cross_entropy" else 0.0
        seen.nats = float((total - z[np.arange(len(rows)), target[rows]]).mean())


def shut(x: np.ndarray, target: np.ndarray, ignored: int) -> float:
    """How many rows of logits, as a share, hide the one that is asked for, and show another."""
    rows = np.flatnonzero((target != ignored) & (target >= 0) & (target < x.shape[1]))
    if not len(rows) or x.min() > FILLED:
        return 0.0
    return float(((x[rows, target[rows]] <= FILLED) & (x[rows].max(axis=1) > FILLED)).mean())


def of_cosines(watch: Watch, node: Any) -> bool:
    """Whether numbers are made, one by one, of products of rows of length 1: how far they spread is a temperature."""
    pending, left = [node], 32
    while pending and left:
        node, left = pending.pop(), left - 1
        if getattr(node, "name", "") in ("matmul", "linear", "addmm", "contract"):
            sides = [from_node(each, ("clone", "cast", "scale")) for each in below(node)]
            if len(sides) > 1 and all(each is not None and each.name == "div" for each in sides):
                return True
        else:
            pending += below(node)
    return False


def scalar(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """One number that is a mean, or a sum, may be a loss that no operation is named for."""
    if inputs[0]._node is not None:
        if watch.times and op.name == "sum":
            layout.summed(watch, inputs, attributes)
        composed.diverged(watch, inputs[0]._node, outputs[0], arrays[0].shape)
    if outputs[0]._array.ndim or outputs[0]._node is None or len(watch.open.scalars) + len(watch.open.losses) >= 64:
        return
    watch.open.ends.append(line())
    pair = composed.behind_loss(watch, inputs[0]._node)
    if pair is not None:
        x = pair.answers
        seen = Loss(pair.kind, line(), float(outputs[0]._array), len(x), x.shape[-1] if x.ndim > 1 else 1, True, op.name == "mean")
        seen.made_by, seen.made_at = origin_of(from_node(pair.made, (*THROUGH, "gather")))
        seen.labels_at = memory(pair.labels)
        seen.low, seen.high = (float(x.min()), float(x.max())) if x.size and watch.looks_closely else (0.0, 0.0)
        if len(watch.optimizers) > 1 and pair.made is not None:
            seen.maker, seen.sign, seen.fake, seen.led = rewards.judged(watch, pair.made)
        seen.pull = 0.0 if pair.kind == "difference" and np.array_equal(x, pair.labels) else None
        if pair.kind == "bce" and x.size == len(x) and ((pair.labels == 0) | (pair.labels == 1)).all():
            seen.binary = pair.labels.ravel().copy()
        compared(watch, seen, x, pair.labels)
        watch.asked[id(pair.node)] = pair.node, seen
        watch.open.losses.append(seen)
        watch._losses[id(outputs[0]._node)] = outputs[0]._node, seen
    elif op.name == "mean":
        seen = Loss("mean", line(), float(outputs[0]._array), len(arrays[0]) if arrays[0].ndim else 1, 1, True)
        if len(watch.optimizers) > 1:
            seen.maker, seen.sign, seen.fake, seen.led = rewards.judged(watch, inputs[0]._node)
        seen.made_by = "hinge" if rewards.is_hinge(inputs[0]._node) else ""
        watch.open.scalars.append(seen)
        watch._losses[id(outputs[0]._node)] = outputs[0]._node, seen


def constant(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """A number that has no gradient is added to one that has."""
    if outputs[0]._array.ndim or outputs[0]._node is None or len(watch.open.constants) >= 64:
        return
    if op.name == "shift":
        watch.open.constants.append((line(), float(attributes["c"]), outputs[0]._node))
    else:
        plain = [float(x._array) for x in inputs if x._node is None and not x._requires_grad]
        watch.open.constants += [(line(), c, outputs[0]._node) for c in plain]
