"""The bits that a kernel makes do not depend on where its arrays lie: apart, one next to the other, or one in the place of another.

LLVM has two loops for what may overlap, one of registers and one of single numbers: both must round alike.
"""

import numpy as np
import pytest

import badak.kernels.numba
from badak.kernels.numba.codegen.compile import JIT
from badak.kernels.numba.threadpool.parallel import Kernel

pytestmark = pytest.mark.skipif(not JIT, reason="without compiled code there is one loop")
FLAT = [
    k for k in Kernel.all
    if np.float32 in k.dtypes and k.signature[0] == "W1" and "R1" in k.signature and set(k.signature[1:]) <= {"R1", "f"}
]  # fmt: skip
SIZES = (1, 4, 7, 17, 33)


def made(kernel, given, gap):
    """What a kernel writes `gap` bytes behind the first array that it reads (0: over it), the others far away."""
    n = len(given[0])
    memory = np.zeros(1 << 14, np.uint8)
    start = -memory.ctypes.data % 64

    def place(at):
        return memory[start + at :][: 4 * n].view(np.float32)

    inputs = [place(4096 * i) for i in range(len(given))]
    for x, values in zip(inputs, given):
        x[:] = values
    arrays = iter(inputs)
    y = place(gap)
    kernel(1, 1.0, y, *(next(arrays) if word == "R1" else 0.7 for word in kernel.signature[1:]))
    return y.copy()


@pytest.mark.parametrize("kernel", FLAT, ids=lambda kernel: kernel.function.__name__)
def test_bits_do_not_depend_on_where_arrays_lie(kernel):
    rng = np.random.default_rng(0)
    for n in SIZES:
        for _ in range(20):
            given = [rng.standard_normal(n).astype(np.float32) for word in kernel.signature if word == "R1"]
            apart = made(kernel, given, 2048)
            for gap in (0, 4 * n, 64 * -(-4 * n // 64)):
                assert np.array_equal(made(kernel, given, gap), apart, equal_nan=True), (n, gap)


def test_there_are_such_kernels():
    assert len(FLAT) >= 15 and badak.kernels.numba.gelu
