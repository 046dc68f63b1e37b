"""What is measured of noise: the shares of data and noise that are added up, and the spread that noise is multiplied by."""

from typing import Any, NamedTuple

import numpy as np

from badak.core.modes import modes
from badak.inspect.doctor.facts import Mixed, Watch
from badak.inspect.doctor.graph import behind, memory
from badak.inspect.doctor.names import line

MOST = 64  # of a step


class Part(NamedTuple):
    """Noise as it was drawn, or data, times a share."""

    made: np.ndarray  # which is kept, so that no other gets its memory
    noise: int  # the memory of the noise; 0 where it is data
    share: Any  # a number, or one for each row


def drawn(watch: Watch, x: Any) -> None:
    """Normal numbers were drawn."""
    if isinstance(x, np.ndarray) and x.ndim and modes.grad and len(watch.parts_of) < MOST:
        watch.parts_of[memory(x)] = Part(x, memory(x), 1.0)


def times(watch: Watch, arrays: Any, outputs: Any, by: float | None = None) -> None:
    """Something without a graph times what is one number for each row, or one for all."""
    y = outputs[0]._array
    if not watch.parts_of or outputs[0]._node is not None or len(watch.parts_of) >= MOST or not y.ndim:
        return
    x, share = (arrays[0], by) if by is not None else sorted(arrays[:2], key=np.size, reverse=True)
    noise = watch.parts_of.get(memory(x), Part(x, 0, 1.0))
    if x.shape == y.shape and np.size(share) in (1, len(y)) and np.size(noise.share) == 1:
        watch.parts_of[memory(y)] = Part(y, noise.noise, noise.share * np.asarray(share, np.float64).reshape(-1))


def added(watch: Watch, arrays: Any, outputs: Any) -> None:
    """A share of data and a share of noise are added up."""
    y = outputs[0]._array
    if not watch.parts_of or outputs[0]._node is not None or len(watch.mixed) >= MOST or not y.ndim:
        return
    if arrays[0].shape == arrays[1].shape:
        a, b = (watch.parts_of.get(memory(x), Part(x, 0, 1.0)) for x in arrays[:2])
        if bool(a.noise) != bool(b.noise):
            data, noise = (b, a) if a.noise else (a, b)
            keep, share = (np.broadcast_to(x.share, len(y)).astype(np.float64) for x in (data, noise))
            watch.mixed[memory(y)] = y, noise.noise, Mixed(line(), keep, share)


def asked(watch: Watch, labels: np.ndarray) -> None:
    """Labels that are the noise that data was mixed with, or the very mixture that the model was given."""
    for at, (made, noise, seen) in watch.mixed.items():
        own = memory(labels) in (noise, at) and labels.shape == made.shape
        if own and len(watch.open.mixed) < MOST and any(memory(x) == at for x in watch.given_now):
            ids = [x for x in watch.given_now if x.dtype.kind in "iu" and x.shape == (len(made),)]
            watch.open.mixed.append(seen._replace(times=ids[0].copy() if len(ids) == 1 else None, itself=memory(labels) == at))


def spread(watch: Watch, inputs: Any, arrays: Any) -> None:
    """Noise times exp(l), of a model: l, and the line."""
    for x, other in ((0, 1), (1, 0)) if watch.parts_of and len(inputs) == 2 else ():
        by = behind(inputs[x], ()) if inputs[x] is not None and inputs[x]._node is not None else None
        if by is not None and by.name == "exp" and by.edges[0] is not None and memory(arrays[other]) in watch.parts_of:
            watch.spreads[id(by.edges[0][0])] = by, line()
