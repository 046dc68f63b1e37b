"""Where a DataLoader stands, so that a run can go on in the middle of an epoch with exactly the batches that were left.

The order of an epoch is a function of the generators' states at its start. A position is therefore those states and the
number of batches given; to go on is to draw the order once more and to pass over what was given.
"""

from collections.abc import Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from badak.core.errors import StateError, tr
from badak.data.dataset import IterableDataset
from badak.tensor import Tensor
from badak.tensor.random import Generator, default_generator

_KEYS = {"batches", "default", "generators", "crew_seed"}


class Position:
    """The position of one loader: its latest iteration, or the state that it was asked to go on from.

    It does not hold the loader itself: a cycle would keep the workers of a loader that nobody uses any more.
    """

    def __init__(self) -> None:
        self._latest: Start | None = None  # the iteration that counts, while it lasts
        self._resume: dict | None = None

    def start(self, loader: Any) -> "Start":
        """Begin an iteration: from the loaded state if there is one, else from the first batch."""
        states = [generator.state() for generator in _generators(loader)]
        seed, resume = loader._crew_seed, self._resume
        if resume is None:
            self._latest = Start(self, default_generator.state(), states, seed, 0, replay=False)
        else:
            self._latest = Start(self, _array(resume["default"]), states, seed, resume["batches"], replay=True)
            self._resume = None
        return self._latest

    def state_dict(self, loader: Any) -> dict:
        """Batches given; at the start of the epoch: the generators' states, and the seed of workers that lived on from before.

        Between epochs, where no order has been drawn, "default" is None.
        """
        if self._resume is not None:
            return dict(self._resume)
        latest = self._latest
        if latest is None:
            states = [generator.state() for generator in _generators(loader)]
            latest = Start(self, None, states, loader._crew_seed, 0, replay=False)
        return {
            "batches": latest.batches,
            "default": None if latest.default is None else Tensor._of(latest.default.copy()),
            "generators": [Tensor._of(state.copy()) for state in latest.states],
            "crew_seed": latest.crew_seed,
        }

    def load_state_dict(self, loader: Any, state: dict) -> None:
        """Set the loader's generators back, and remember where the next iteration goes on. Raises StateError, nothing changed,
        where `state` is not a position of such a loader."""
        generators = _generators(loader)
        _check(loader, state, len(generators))
        for generator, saved in zip(generators, state["generators"]):
            generator.restore(_array(saved))
        loader._crew_seed = state["crew_seed"]
        self._latest = None
        self._resume = None if state["default"] is None else dict(state)

    def finished(self, start: "Start") -> None:
        """An iteration has come to its end."""
        if self._latest is start:
            self._latest = None


class Start:
    """The start of one iteration and how far it has come: the generators' states then, the batches given since."""

    def __init__(self, position: Position, default: Any, states: Sequence, crew_seed: Any, batches: int, replay: bool) -> None:
        self._position, self.default, self.states, self.crew_seed = position, default, states, crew_seed
        self.batches, self._replay = batches, replay

    def replaying(self) -> Any:
        """While a resumed iteration draws its order again, the default generator stands where it stood at the start."""
        return _rewound(self.default) if self._replay else nullcontext()

    def advance(self) -> None:
        """One more batch was given."""
        self.batches += 1

    def finish(self) -> None:
        """There are no more batches."""
        self._position.finished(self)


def _check(loader, state, generators: int) -> None:
    where, fix = "DataLoader.load_state_dict", tr("a state of a loader made with the same arguments")
    if not isinstance(state, dict) or set(state) != _KEYS:
        kind = sorted(map(str, state))[:8] if isinstance(state, dict) else type(state).__name__
        raise StateError(tr("{}: expected {}; got {}", where, sorted(_KEYS), kind), fix)
    states, batches, seed = state["generators"], state["batches"], state["crew_seed"]
    if not isinstance(states, (list, tuple)) or len(states) != generators:
        found = len(states) if isinstance(states, (list, tuple)) else type(states).__name__
        raise StateError(tr("{}: expected the states of {} generators; got {}", where, generators, found), fix)
    most = 2**63 if isinstance(loader.dataset, IterableDataset) else len(loader)
    if type(batches) is not int or not 0 <= batches <= (most if state["default"] is not None else 0):
        raise StateError(tr("{}: expected batches from 0 to {}, 0 between epochs; got {}", where, most, str(batches)[:40]), fix)
    if seed is not None and (type(seed) is not int or not -(2**63) <= seed < 2**64):
        raise StateError(tr("{}: expected a crew_seed of 64 bits or None; got {}", where, str(seed)[:40]), fix)
    for saved in states if state["default"] is None else (*states, state["default"]):
        if not isinstance(saved, (Tensor, np.ndarray)):
            raise StateError(tr("{}: expected generator states; got {}", where, type(saved).__name__), fix)
        Generator().restore(_array(saved))  # complains of what is none


def _generators(loader):
    """The generators that the order comes from, next to the default one; each once."""
    found = []
    for holder in (loader, loader.sampler, loader.batch_sampler, getattr(loader.batch_sampler, "sampler", None)):
        generator = getattr(holder, "generator", None)
        if generator is not None and generator is not default_generator and generator not in found:
            found.append(generator)
    return found


@contextmanager
def _rewound(state):
    now = default_generator.state()
    default_generator.restore(state)
    try:
        yield
    finally:
        default_generator.restore(now)


def _array(state):
    return state._array if isinstance(state, Tensor) else state
