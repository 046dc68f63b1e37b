"""The Mersenne Twister MT19937 as PyTorch's CPU generator uses it: one stream of 32-bit words and its 5056-byte state.

Source: Matsumoto & Nishimura, "Mersenne Twister", ACM TOMACS 8(1), 1998; the seeding is the 2002 `init_genrand`.
What is made of the words stands in `kernels/plain/random.py`.
"""

import threading

import numpy as np

from badak import kernels
from badak.errors import StateError
from badak.graph import effects

_WORDS = 624  # words of the twister's state
_LAYOUT = np.dtype(
    {
        # PyTorch's CPU generator state, as the bytes of `torch.get_rng_state()` lie in memory
        "names": ["seed", "left", "seeded", "next", "key", "cached", "has_cached"],
        "formats": ["<u8", "<i4", "<i4", "<u8", ("<u8", _WORDS), "<f8", "<i4"],
        "offsets": [0, 8, 12, 16, 24, 5024, 5040],
        "itemsize": 5056,
    }
)
STATE_BYTES = _LAYOUT.itemsize
_FLOATS = np.empty(0, np.float32)  # asks for the kernels of NumPy arrays


def _as_words(state):
    """What the kernels move on, uint32 (626,), of (anything, key, position, ...)."""
    words = np.zeros(_WORDS + 2, np.uint32)
    words[:_WORDS], words[_WORDS] = state[1], state[2]
    return words


class Twister:
    """A stream of 32-bit words seeded with the low 32 bits of `seed`, with the one normal number kept for the next call.

    `spare` is the second value of the last scalar Box-Muller pair (float64), or None.
    """

    def __init__(self, seed):
        self.reseed(seed)

    @effects.state
    def reseed(self, seed):
        """Start the stream of `seed` (any integer in [0, 2^64)) anew; the kept normal is forgotten."""
        self._seed = seed
        self.spare = None
        self._untouched = True
        self._words = _as_words(np.random.RandomState(seed & 0xFFFFFFFF).get_state())
        self._lock = threading.Lock()

    @effects.state(alone=True)
    def draw(self, kernel, n, *arguments):
        """What the kernel of this name makes of the next words: n numbers. One thread at a time."""
        self._untouched &= n == 0
        with self._lock:
            return getattr(kernels.of(_FLOATS), kernel)(self._words, n, *arguments)

    @effects.state
    def state(self):
        """The whole state as uint8 (5056,), the bytes that `torch.set_rng_state` takes."""
        position = int(self._words[_WORDS])
        record = np.zeros((), _LAYOUT)
        record["seed"] = self._seed
        record["left"] = _WORDS + 1 - position
        record["seeded"] = 1
        record["next"] = 0 if self._untouched else position  # as PyTorch notes a stream that nobody has drawn from
        record["key"] = self._words[:_WORDS]
        record["cached"] = 0.0 if self.spare is None else self.spare
        record["has_cached"] = self.spare is not None
        return np.frombuffer(record.tobytes(), np.uint8).copy()

    @effects.state
    def restore(self, state):
        """Take over `state`, uint8 (5056,), from `state()` or from PyTorch; StateError if it is none."""
        state = np.ascontiguousarray(state)
        if state.dtype != np.uint8 or state.shape != (STATE_BYTES,):
            raise StateError(
                f"set_state: expected a uint8 state of shape ({STATE_BYTES},); got {state.dtype} {state.shape}",
                fix="pass what get_state() or torch.get_rng_state() returned",
            )
        record = state.view(_LAYOUT)[0]
        left = int(record["left"])
        if not 1 <= left <= _WORDS or record["seeded"] != 1 or (record["key"] >> np.uint64(32)).any():
            raise StateError(
                f"set_state: these {STATE_BYTES} bytes are no MT19937 state (left={left}, seeded={record['seeded']})",
                fix="pass what get_state() or torch.get_rng_state() returned",
            )
        self._seed = int(record["seed"])
        self._untouched = left == 1 and record["next"] == 0
        self.spare = float(record["cached"]) if record["has_cached"] else None
        self._words = _as_words((None, record["key"], _WORDS + 1 - left))
