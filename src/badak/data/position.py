"""Where a DataLoader stands, so that a run can go on in the middle of an epoch with exactly the batches that were left.

The order of an epoch is a function of the generators' states at its start. A position is therefore those states and the
number of batches given; to go on is to draw the order once more and to pass over what was given.
"""

from contextlib import contextmanager, nullcontext

from badak.errors import StateError
from badak.tensor import Tensor
from badak.tensor.random import default_generator

_KEYS = {"batches", "default", "generators", "crew_seed"}


class Position:
    """The position of one loader: its latest iteration, or the state that it was asked to go on from.

    It does not hold the loader itself: a cycle would keep the workers of a loader that nobody uses any more.
    """

    def __init__(self):
        self._latest: Start | None = None  # the iteration that counts, while it lasts
        self._resume: dict | None = None

    def start(self, loader) -> "Start":
        """Begin an iteration: from the loaded state if there is one, else from the first batch."""
        states = [generator.state() for generator in _generators(loader)]
        seed, resume = loader._crew_seed, self._resume
        if resume is None:
            self._latest = Start(self, default_generator.state(), states, seed, 0, replay=False)
        else:
            self._latest = Start(self, _array(resume["default"]), states, seed, resume["batches"], replay=True)
            self._resume = None
        return self._latest

    def state_dict(self, loader) -> dict:
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

    def load_state_dict(self, loader, state: dict) -> None:
        """Set the loader's generators back, and remember where the next iteration goes on."""
        generators = _generators(loader)
        if set(state) != _KEYS or len(state["generators"]) != len(generators):
            raise StateError(
                f"DataLoader.load_state_dict: expected {sorted(_KEYS)} with {len(generators)} generators; got {sorted(state)}"
                f" with {len(state.get('generators', ()))}",
                "a loader made with the same arguments as the one that was saved",
            )
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

    def __init__(self, position: Position, default, states, crew_seed, batches: int, replay: bool):
        self._position, self.default, self.states, self.crew_seed = position, default, states, crew_seed
        self.batches, self._replay = batches, replay

    def replaying(self):
        """While a resumed iteration draws its order again, the default generator stands where it stood at the start."""
        return _rewound(self.default) if self._replay else nullcontext()

    def advance(self) -> None:
        """One more batch was given."""
        self.batches += 1

    def finish(self) -> None:
        """There are no more batches."""
        self._position.finished(self)


def _generators(loader):
    """The generators that the order comes from, beside the default one; each once."""
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
