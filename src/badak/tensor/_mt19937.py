"""The Mersenne Twister MT19937 as PyTorch's CPU generator uses it: one stream of 32-bit words and its 5056-byte state.

Source: Matsumoto & Nishimura, "Mersenne Twister", ACM TOMACS 8(1), 1998; the seeding is the 2002 `init_genrand`.
The words come from NumPy's `RandomState`, whose streams are frozen by NumPy's compatibility policy (NEP 19).
"""

import numpy as np

from ..errors import StateError

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


class Twister:
    """A stream of 32-bit words seeded with the low 32 bits of `seed`, with the one normal number kept for the next call.

    `spare` is the second value of the last scalar Box-Muller pair (float64), or None.
    """

    def __init__(self, seed):
        self.reseed(seed)

    def reseed(self, seed):
        """Start the stream of `seed` (any integer in [0, 2^64)) anew; the kept normal is forgotten."""
        self._seed = seed
        self.spare = None
        self._untouched = True
        self._words = np.random.RandomState(seed & 0xFFFFFFFF)

    def words32(self, n):
        """The next n words, uint32 (n,)."""
        self._untouched &= n == 0
        return self._words.randint(0, 1 << 32, n, dtype=np.uint32)

    def words64(self, n):
        """The next 2 n words as n numbers (first << 32) | second, uint64 (n,)."""
        self._untouched &= n == 0
        return self._words.randint(0, 1 << 64, n, dtype=np.uint64)

    def state(self):
        """The whole state as uint8 (5056,), the bytes that `torch.set_rng_state` takes."""
        _, key, position, _, _ = self._words.get_state()
        record = np.zeros((), _LAYOUT)
        record["seed"] = self._seed
        record["left"] = _WORDS + 1 - position
        record["seeded"] = 1
        record["next"] = 0 if self._untouched else position  # as PyTorch notes a stream that nobody has drawn from
        record["key"] = key
        record["cached"] = 0.0 if self.spare is None else self.spare
        record["has_cached"] = self.spare is not None
        return np.frombuffer(record.tobytes(), np.uint8).copy()

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
        self._words.set_state(("MT19937", record["key"].astype(np.uint32), _WORDS + 1 - left, 0, 0.0))
