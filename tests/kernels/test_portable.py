"""BADAK_PORTABLE=1: the same bits whatever the CPU has. BADAK_CPU stands in for other CPUs; tools/on_arm.sh asks AArch64."""

import os
import pickle
import platform
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba", reason="BADAK_PORTABLE is about compiled kernels")
from tests.samples import rows

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "how-to" / "same-bits.md"
ON_X86 = platform.machine().lower() in ("x86_64", "amd64")
OF_THIS_PROCESS = ("BADAK_CPU", "BADAK_KERNELS", "BADAK_PORTABLE")


def run(*arguments, **variables):
    """A Python with these variables; its standard output."""
    env = {name: value for name, value in os.environ.items() if name not in OF_THIS_PROCESS} | {"BADAK_PORTABLE": "1"} | variables
    return subprocess.run([sys.executable, *map(str, arguments)], env=env, capture_output=True, text=True, check=False)


def calls():
    """Every call of the table of samples that another process can make: label, operation, arrays, needs, attributes."""
    found = []
    for row in rows():
        for number, call in enumerate([*row.cases(), *row.extremes(), *row.threads()]):
            for dtype in (np.float32, np.float64):
                arrays = call.arrays(dtype)
                op = row.op
                made = (f"{op.__name__} {number} {np.dtype(dtype)}", op.__module__, op.__qualname__, arrays, call.needs(arrays))
                if b"tests." not in pickle.dumps((arrays, call.attributes)):  # a function of the tests
                    found.append((*made, call.attributes))
    return found


def write_calls(path):
    """The file of calls: `python -m tests.kernels.test_portable FILE` writes it for other machines."""
    Path(path).write_bytes(pickle.dumps(calls()))


@pytest.mark.nightly
def test_every_operation_has_the_same_bits_with_the_oldest_instructions(tmp_path):
    write_calls(tmp_path / "calls")
    found = {}
    for name, variables in {"all": {}, "sse2": {"BADAK_CPU": "sse2"}, "one thread": {"BADAK_NUM_THREADS": "1"}}.items():
        done = run(HERE / "portable_worker.py", tmp_path / "calls", tmp_path / name, **variables)
        assert done.returncode == 0, done.stderr[-2000:]
        found[name] = (tmp_path / name).read_text().splitlines()
    assert len(found["all"]) > 3_000
    for name in ("sse2", "one thread"):
        assert [pair for pair in zip(found["all"], found[name], strict=True) if pair[0] != pair[1]] == []


@pytest.mark.parametrize("cpu", ["", pytest.param("sse2", marks=pytest.mark.nightly)])
def test_the_training_run_of_the_page_has_the_published_bits(tmp_path, cpu):
    page = PAGE.read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (printed,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    (tmp_path / "same_bits.py").write_text(program)
    done = run(tmp_path / "same_bits.py", **({"BADAK_CPU": cpu} if cpu else {}))
    assert done.stdout == printed, done.stderr[-2000:]


@pytest.mark.parametrize(
    ("program", "variables", "said"),
    [
        pytest.param(
            "import numpy, badak",
            {},
            "BADAK_PORTABLE: NumPy was imported before badak, and computes as this CPU does it\nfix: import",
            marks=pytest.mark.skipif(not ON_X86, reason="NumPy is held to AVX2 on x86 alone"),
        ),
        (
            "import badak; badak.kernels.active()",
            {"BADAK_KERNELS": "reference"},
            "BADAK_KERNELS: the reference kernels multiply by",
        ),
        (
            "import badak; badak.fft.fft(badak.ones(4))",
            {},
            "fft of complex64 has the same bits on x86, and others on AArch64\nfix: leave it out",
        ),
        (
            "import badak; badak.nn.functional.gelu(badak.ones(2).double())",
            {},
            "gelu of float64 has the same bits on x86",
        ),
    ],
)
def test_what_it_cannot_hold_is_said(program, variables, said):
    held = run("-c", program, **variables)
    assert said in held.stderr


if __name__ == "__main__":
    write_calls(sys.argv[1])
