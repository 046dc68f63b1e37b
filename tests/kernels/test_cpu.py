"""BADAK_CPU: kernels as an older CPU would run them."""

import subprocess
import sys

import pytest

pytest.importorskip("numba", reason="what is compiled is limited")
from badak.kernels.numba.codegen.cpu import FEATURES, limited
from badak.kernels.numba.codegen.parts import parts_without_code

ADDED = {  # by level
    "sse2": ["sse2", "aes"],
    "avx2": ["avx", "fma", "avx2"],
    "avx512": ["avx512f", "avx512vl"],
    "avx512_vnni": ["avx512vnni", "avx512vbmi2"],
    "avx512_bf16": ["avx512bf16"],
    "amx": ["avxvnni", "avx512fp16", "amx-tile", "amx-bf16"],
}


@pytest.mark.parametrize("most", ADDED)
def test_a_level_holds_all_before_it_and_nothing_after(most):
    host = {name: True for level in ADDED.values() for name in level} | {"sse4a": False}
    on = [name for name, on in limited(host, most).items() if on]
    assert on == [name for level in list(ADDED)[: list(ADDED).index(most) + 1] for name in ADDED[level]]
    assert limited(host, most).keys() == host.keys()


LIMITED = """
import numba, numpy as np
if __import__("sys").argv[1:]:
    numba.njit(lambda x: x + 1)(1)
from badak.kernels.numba.codegen import compile, registers
from badak.kernels.numba.codegen.internals import target
print(registers.REGISTER, "+avx512f" in target()[2])
"""


def run(monkeypatch, *arguments):
    monkeypatch.setenv("BADAK_CPU", " AVX2 ")
    return subprocess.run([sys.executable, "-c", LIMITED, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_llvm_is_limited_and_so_are_registers(monkeypatch):
    done = run(monkeypatch)
    width, wide = done.stdout.split()
    assert int(width) <= 32 and wide == "False", done.stderr


@pytest.mark.slow
def test_a_limit_that_comes_too_late_is_an_error(monkeypatch):
    done = run(monkeypatch, "before")
    cause, fix = done.stderr.strip().split("\n")[-2:]
    assert cause.endswith("BADAK_CPU: Numba compiles for all that the CPU has since before badak; got ' AVX2 '")
    assert fix == "fix: import badak and call badak.kernels.use('numba') before anything else is compiled by Numba"


@pytest.mark.skipif(not FEATURES.get("avx512f"), reason="this CPU has no registers of 512 bits, or BADAK_CPU holds it to shorter")
def test_loops_of_kernels_use_whole_registers():
    import numba

    def doubled(y, x):
        for i in range(x.size):
            y[i] = 2 * x[i]

    compiled = numba.njit(doubled)
    with parts_without_code(doubled.__qualname__):
        compiled.compile(numba.types.void(*[numba.types.Array(numba.float32, 1, "C")] * 2))
    assert "zmm" in next(iter(compiled.inspect_asm().values()))
