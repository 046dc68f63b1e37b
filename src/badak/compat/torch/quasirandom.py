"""`torch.quasirandom`: Sobol sequences, points that fill a cube more evenly than random ones."""

from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, NotSupportedError, tr
from badak.tensor import Generator, Tensor, get_default_dtype, randint, tensor
from badak.tensor.convert import cast


class SobolEngine:
    """Points of the Sobol sequence in [0, 1)^dimension, PyTorch's: the direction numbers are SciPy's, of Joe and Kuo.

        x[n] = x[n - 1] xor v[c],   c the place of the lowest bit that n - 1 has not

    Args:
        dimension: 1 to 21201
        scramble: mix the digits at random, and shift them
        seed: of the mixing

    Example:
        >>> badak.quasirandom.SobolEngine(2).draw(3).tolist()
        [[0.0, 0.0], [0.5, 0.5], [0.75, 0.25]]
    """

    MAXBIT, MAXDIM = 30, 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not isinstance(dimension, int) or not 1 <= dimension <= self.MAXDIM:
            cause = tr("Supported range of dimensionality for SobolEngine is [1, {}]; got {!r}", self.MAXDIM, dimension)
            raise ArgumentError(cause, "SobolEngine(2)")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self._directions, self._shift = _directions(dimension, self.MAXBIT), np.zeros(dimension, np.int64)
        if scramble:
            self._mix(None if seed is None else Generator().manual_seed(seed))
        self.reset()

    def _mix(self, generator: Generator | None) -> None:
        """Shift by random bits, and multiply the digits by a random triangular matrix of bits, from PyTorch's draws."""
        bits = self.MAXBIT
        powers = 1 << np.arange(bits, dtype=np.int64)
        self._shift = randint(2, (self.dimension, bits), generator=generator).numpy() @ powers
        lower = np.tril(randint(2, (self.dimension, bits, bits), generator=generator).numpy())
        lower[:, range(bits), range(bits)] = 1
        digits = self._directions[:, :, None] >> np.arange(bits - 1, -1, -1) & 1  # (D, number, digit), the highest first
        mixed = np.einsum("dpk,djk->djp", lower, digits) % 2
        self._directions = mixed @ powers[::-1]

    def reset(self) -> "SobolEngine":
        """Begin again."""
        self.num_generated, self._at = 0, self._shift.copy()
        return self

    def fast_forward(self, n: int) -> "SobolEngine":
        """Leave out n points."""
        self._points(n)
        return self

    def _points(self, n: Any) -> np.ndarray:
        """The next n points as integers (n, D)."""
        if not isinstance(n, int) or isinstance(n, bool) or n < 0:
            raise ArgumentError(tr("SobolEngine: expected a number of points, 0 or more; got {!r}", n), "engine.draw(8)")
        first = self.num_generated
        if first + n > 1 << self.MAXBIT:
            raise ArgumentError(tr("SobolEngine has {} points; asked for number {}", 1 << self.MAXBIT, first + n), "engine.reset()")
        begins = 0 if first else 1  # the first point is the shift itself
        numbers = np.arange(max(first - 1, 0), first + n - 1)
        lowest = np.log2((numbers + 1) & ~numbers).astype(np.int64)
        steps = np.concatenate([self._at[None], self._directions[:, lowest].T])
        points = np.bitwise_xor.accumulate(steps)
        self.num_generated += n
        if n:
            self._at = points[-1]
        return points[1 - begins :][:n]

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """The next n points.

        Args:
            n: how many
            out: where they are written
            dtype: theirs; the default float dtype unless given

        Returns: tensor (n, dimension)
        """
        made = tensor(self._points(n) / 2.0**self.MAXBIT)
        made = cast(made, dtype or get_default_dtype())
        return made if out is None else out.resize_as_(made).copy_(made)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """The next 2^m points; so many that all points so far are a power of 2."""
        total = self.num_generated + 2**m
        if total & (total - 1):
            cause = tr("The balance properties of Sobol' points require n to be a power of 2. {} points have been "
                       "previously generated, then: n={}+2**{}={}", self.num_generated, self.num_generated, m, total)  # fmt: skip
            raise ArgumentError(cause, f"engine.draw({2**m})")
        return self.draw(2**m, out, dtype)

    def __repr__(self) -> str:
        named = [f"dimension={self.dimension}"]
        named += ["scramble=True"] if self.scramble else []
        named += [f"seed={self.seed}"] if self.seed is not None else []
        return f"SobolEngine({', '.join(named)})"


def _directions(dimension: int, bits: int) -> np.ndarray:
    """Direction numbers (D, bits), the highest bit first."""
    try:
        from scipy.stats import qmc
    except ImportError:
        raise NotSupportedError("SobolEngine needs SciPy, which has its direction numbers", "pip install scipy") from None
    return qmc.Sobol(dimension, scramble=False, bits=bits)._sv.astype(np.int64)
