"""Which kernel set is used, and what is said about it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from badak import kernels
from badak.core.errors import ArgumentError
from badak.kernels import reference

SRC = str(Path(kernels.__file__).resolve().parents[2])
X = np.zeros(3, np.float32)


def run(code: str, **environment: str) -> subprocess.CompletedProcess:
    environment = {"PYTHONPATH": SRC, "PATH": "", **environment}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


def test_use_holds_for_the_length_of_a_with_block():
    before = kernels.info()
    with kernels.use("reference") as chosen:
        assert chosen is reference is kernels.of(X)
        facts = kernels.info()
        assert (facts["kernels"], facts["reason"]) == ("reference", "kernels.use") and facts["products"] and facts["threads"]
    assert kernels.info() == before


def test_arrays_that_are_not_float32_or_float64_get_the_plain_kernels():
    assert kernels.of(np.zeros(3, np.int64)) is reference
    assert kernels.of(np.zeros(3, np.float16)) is reference  # an operation on 16-bit floats asks with their copies in float32
    assert kernels.of([1.0]) is reference


def test_an_unknown_set_is_refused_with_the_names_of_the_known():
    with pytest.raises(ArgumentError) as caught:
        kernels.use("cuda")
    assert str(caught.value) == ('kernels.use: expected reference or numba; got \'cuda\'\nfix: use("reference") or use("numba")')


@pytest.mark.slow
def test_a_bad_value_of_the_variable_is_refused_at_the_first_call():
    done = run("from badak import kernels; import numpy as np; kernels.of(np.zeros(3))", BADAK_KERNELS="turbo")
    assert "BADAK_KERNELS: expected reference or numba; got 'turbo'\nfix: BADAK_KERNELS=reference or numba" in done.stderr


@pytest.mark.slow
def test_the_variable_chooses_plain():
    done = run("from badak import kernels; print(kernels.info())", BADAK_KERNELS="reference")
    assert "'kernels': 'reference', 'reason': 'BADAK_KERNELS=reference'" in done.stdout
    assert done.stderr == ""


HIDE = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "numba":
            raise ModuleNotFoundError("No module named 'numba'")
sys.meta_path.insert(0, Hide())
from badak import kernels
import numpy as np
"""


@pytest.mark.slow
def test_without_numba_plain_is_taken_and_one_line_says_so():
    done = run(HIDE + "kernels.of(np.zeros(3)); kernels.of(np.zeros(3)); print(kernels.info()['kernels'])")
    assert done.stdout.strip() == "reference"
    assert done.stderr.count("\n") == 1
    assert 'pip install "badak[fast]"' in done.stderr


@pytest.mark.slow
def test_an_older_numba_is_named_and_plain_is_taken():
    done = run(
        "import numba; numba.__version__ = '0.62.1'\nimport numpy as np; from badak import kernels\n"
        "kernels.of(np.zeros(3)); print(kernels.info()['kernels'])"
    )
    assert done.stdout.strip() == "reference"
    assert "reference kernels of NumPy (Numba 0.62.1 is too old, 0.63 or newer is needed)" in done.stderr


@pytest.mark.slow
def test_asking_for_fast_without_numba_is_an_error_that_says_what_to_install():
    done = run(HIDE + "kernels.of(np.zeros(3))", BADAK_KERNELS="numba")
    assert "BADAK_KERNELS: the Numba kernels cannot be imported (No module named 'numba')" in done.stderr
    assert 'fix: pip install "badak[fast]", or choose "reference"' in done.stderr


@pytest.mark.slow
def test_importing_the_kernels_does_not_import_numba():
    done = run("import sys, badak.kernels; print('numba' in sys.modules)")
    assert done.stdout.strip() == "False"
