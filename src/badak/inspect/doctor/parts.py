"""What is measured of parts: those that a model gives, those that channels are cut into, and the places of padding."""

from typing import Any

import numpy as np

from badak.core.modes import modes
from badak.inspect.doctor import losses
from badak.inspect.doctor.facts import Cut, Picked, Read, Watch
from badak.inspect.doctor.graph import memory
from badak.inspect.doctor.names import line
from badak.inspect.doctor.tape import tensors
from badak.tensor import Tensor
from badak.tensor.of_values import OfValues


def gave_several(watch: Watch, several: list[Tensor]) -> None:
    """Note what a model gave: in a test, of all the tensors; in training, one number for each row next to others."""
    for i, y in enumerate(several if len(several) > 1 else ()):
        if y._node is None and not modes.grad and watch._caller is not None and len(watch.answers) < 256:
            watch.answers[memory(y._array)] = y, watch._caller
        elif y._node is not None and y.dim() == 1 and len(watch.gave) < 64 and any(x.dim() > 1 for x in several):
            watch.gave[id(y._node)] = y._node, line(), i
        elif y._node is not None and len(watch.gave) < 64:
            watch.gave[id(y._node)] = y._node, "", i


def cut_up(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """Channels are cut into parts."""
    x, axis = arrays[0], attributes.get("dim", attributes.get("axis", 0))
    node, channels = outputs[0]._node, x.ndim > 1 and axis % x.ndim == (1 if x.ndim == 4 else x.ndim - 1)
    if node is not None and modes.grad and channels and len(watch.parts) < 64:
        watch.parts[id(node)] = node, line()


def padded(watch: Watch, gradient: np.ndarray) -> None:
    """How many places of padding a gradient (B, T, C), or (T, B, C), reaches."""
    for each in watch.open.lookups[:4]:
        for ids in (each.ids, each.ids.T) if each.ids.ndim == 2 else ():
            pad = filler(each.ids, getattr(each.module, "padding_idx", None)) if ids.shape == gradient.shape[:2] else None
            if pad is not None and (ids == pad).sum() > len(ids):
                watch.open.padded = float(np.any(gradient, axis=-1)[ids == pad].mean())
                return


def filler(ids: np.ndarray, known: int | None) -> int | None:
    """The id that ends texts of other lengths, and stands nowhere else in them; None where there is none."""
    for text in (ids, ids.T):
        last = text[:, -1]
        for pad in np.unique(last):
            here = text == pad
            first = np.where(here.any(axis=1), here.argmax(axis=1), text.shape[1])
            ends = np.arange(text.shape[1]) >= first[:, None]
            several = int((here.sum(axis=1) >= (1 if pad == known else 2)).sum())
            if (here == ends).all() and several >= 2 and (len(np.unique(first)) >= 3 or pad == known) and first.min() > 0:
                return int(pad)
    return None


def came_out(watch: Watch, y: Any) -> None:
    """What the program called gave this."""
    if isinstance(y, OfValues):  # it has no array
        return
    if isinstance(y, Tensor) and y._node is None and len(watch.computed) < 256:
        watch.computed[memory(y._array)] = y
        if watch._caller is not None and not modes.grad:
            watch.answers[memory(y._array)] = y, watch._caller
    elif isinstance(y, tuple | list | dict) and not modes.grad and watch._caller is not None and len(watch.answers) < 256:
        watch.answers |= {memory(x._array): (x, watch._caller) for x in [*tensors(y)][:8]}
    if isinstance(y, Tensor) and y._node is not None and watch._caller is not None:
        watch._made[y._node] = watch._caller
        watch.heads.fakes[y._node] = watch.heads.fake, watch.heads.led


def put_in_order(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """The largest along an axis; or one number for each row, sorted: all are picked in that order."""
    losses.largest(watch, op, saved, inputs, arrays, attributes, outputs)
    (x, rows, *_), y = arrays, outputs[0]._array
    if x.ndim == 1 and len(rows) > 3 and outputs[0]._node is None and len(watch.open.picked) < 32:
        watch._held.append(y)
        watch.open.picked.append(Picked(memory(y), len(x), rows.copy(), memory(x), values=y, ordered=True))


def met(watch: Watch, op, arrays: list[np.ndarray], outputs) -> None:
    """What a model gave in a test, number by number, meets data that it should be; or a sigmoid makes shares of it."""
    if op.name == "sigmoid" and not modes.grad and len(watch.answers) < 256:
        if (known := watch.answers.get(memory(arrays[0]))) is not None:
            watch.answers[memory(outputs[0]._array)] = outputs[0], known[1]
            watch.squashed.add(memory(outputs[0]._array))
    if op.name in ("sub", "mse") and not modes.grad and len(arrays) > 1 and len(watch.met) < 64:
        for a, b in ((arrays[0], arrays[1]), (arrays[1], arrays[0])):
            _, module = watch.answers.get(memory(a), (None, None))
            if module is not None and a.size == b.size > 1 and b.dtype.kind == "f" and memory(b) not in watch.answers:
                watch.met.append((id(module), line(), a.ravel()[:NUMBERS].copy(), b.ravel()[:NUMBERS].copy()))
                return


NUMBERS = 4096  # of a test that are looked at


def read(watch: Watch, a: np.ndarray, limit: float | None, axis: int = 0) -> None:
    """What a model gave in a test is compared with a number, or its largest is looked for."""
    _, module = watch.answers.get(memory(a), (None, None))
    if module is not None and a.size and a.dtype.kind == "f" and len(watch.open.read) < 64:
        shares = memory(a) in watch.squashed
        watch.open.read.append(Read(id(module), line(), a.shape, limit, axis, float(a.min()), float(a.max()), shares))


def cast(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """What was decided in a test becomes numbers."""
    if watch.guesses and (known := watch.guesses.get(memory(arrays[0]))) is not None:
        watch.guesses[memory(outputs[0]._array)] = outputs[0], known[1]


def asked_for(watch: Watch, a: np.ndarray, smallest: bool, made_by: Any) -> None:
    """The largest, or the smallest, of what a model, or a layer of it, gave is looked for."""
    _, module = watch.answers.get(memory(a), (None, None))
    if module is None and watch.stack and made_by is not None and made_by.name in ("linear", "addmm"):
        module = watch.stack[0]
    if module is not None and len(watch.open.extremes) < 64:
        watch.open.extremes.append((module, smallest, a.shape[-1], line()))


def not_recorded(watch: Watch, inputs) -> None:
    """A parameter was used in training, and nothing was recorded: no_grad() in the midst of a forward."""
    root = watch.stack[0]
    if root.training and len(watch.open.cuts) < 64:
        for x in inputs:
            if x is not None and x._requires_grad and x._node is None and type(x).__name__ == "Parameter":
                whole = None if watch._recorded else root
                watch.open.cuts.append(Cut("no_grad()", line(), x._edge()[0], watch.stack[-1], whole))
                return
