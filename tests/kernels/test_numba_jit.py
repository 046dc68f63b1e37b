"""Compiling: what is said about it, where it is kept, and that every kernel is also plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from badak import kernels
from tests.kernels.twin import fast_kernels

fast = fast_kernels()

SRC = str(Path(kernels.__file__).resolve().parents[2])
SMALL = "import numpy as np; from badak.kernels import numba as fast\n"
SMALL += "fast.relu(np.ones(3, np.float32)); fast.relu(np.ones(9, np.float32))"


def run(code, **environment):
    """A fresh process with a home of its own, one thread unless told: (stdout, stderr) of `code`, which must succeed.

    With one thread no helper compiles ahead what nobody here calls.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "BADAK_", "XDG_"))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "PYTHONPATH": SRC, "BADAK_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("code", [SMALL, "import badak; badak.distributions.Gamma(badak.ones(2), badak.ones(2)).sample()"])
def test_compiling_is_said_once_and_a_second_process_loads_in_silence(tmp_path, code):
    _, first = run(code, NUMBA_CACHE_DIR=str(tmp_path), LOCAL_RANK="0")
    lines = first.splitlines()
    assert len(lines) == 2
    assert lines[0] == (
        f"badak: compiling the kernels in use once for this CPU (cached in {tmp_path}; BADAK_KERNELS=reference to skip)"
    )
    assert lines[1].startswith("badak: compiled 1 kernel in ")
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path))[1] == ""


@pytest.mark.slow
def test_of_the_ranks_of_a_machine_the_first_one_alone_says_it(tmp_path):
    """That it does is asked above."""
    assert run(SMALL, NUMBA_CACHE_DIR=str(tmp_path), LOCAL_RANK="1")[1] == ""
    assert list(tmp_path.glob("relu_block*"))


@pytest.mark.slow
def test_a_process_that_compiles_and_one_that_loads_get_the_same_bits(tmp_path):
    code = """
import sys
import numpy as np
from badak.kernels import numba as fast
x = np.random.default_rng(0).standard_normal((70, 130)).astype(np.float32)
print(fast.log_softmax(x).tobytes().hex(), *(each.tobytes().hex() for each in fast.cross_entropy(x, np.arange(70))))
print("numba.np.npyimpl" in sys.modules)
"""
    compiling, loading = (run(code, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    bits, knows = compiling[0].splitlines()
    assert loading[0].splitlines() == [bits, "False"] and "compiled" in compiling[1] and loading[1] == ""
    assert knows == "True"  # what compiling takes, and loading does not: 0.2 s of a process


@pytest.mark.slow
def test_the_cache_is_the_users_where_the_package_cannot_be_written_to(tmp_path):
    code = f"""
import os, pathlib
mkdir = pathlib.Path.mkdir
def refuse(self, *args, **options):
    if "__pycache__" in self.parts: raise PermissionError(13, "read-only")
    return mkdir(self, *args, **options)
pathlib.Path.mkdir = refuse
{SMALL}
print(fast.describe()["cache"])
"""
    out, _ = run(code, XDG_CACHE_HOME=str(tmp_path))
    place = Path(out.strip())
    assert place.parent == tmp_path / "badak"
    assert list(place.glob("*.kernel")) or list(Path(SRC).glob(f"badak/kernels/numba/__pycache__/{place.name}/*"))


def test_the_fast_set_describes_itself():
    about = fast.describe()
    assert about["set"] == "numba"
    assert about["products"].startswith("badak's own")
    assert about["threads"] == fast.get_num_threads()
    assert about["threading_layer"] == "badak's own team"


EVERY_KERNEL_UNCOMPILED = """
import numpy as np
import pytest
import badak
from badak.kernels import numba as fast, reference as plain
from badak.kernels.numba.codegen import compile
from badak.kernels.update import Update
assert not compile.JIT
rng = np.random.default_rng(0)
for dtype in (np.float32, np.float64):
    def normal(*shape): return rng.standard_normal(shape).astype(dtype)
    def agree(name, *arguments, **options):
        found, expected = getattr(fast, name)(*arguments, **options), getattr(plain, name)(*arguments, **options)
        both = zip(found, expected) if isinstance(found, tuple) else [(found, expected)]
        for one, other in both:
            if one is not None or other is not None:
                assert one.dtype == other.dtype, name
                np.testing.assert_allclose(one, other, rtol=1e-3 if dtype == np.float32 else 1e-9, atol=1e-5, err_msg=name)
        return expected
    x, dy, w, b, ids = normal(3, 5), normal(3, 5), normal(5), normal(5), np.array([1, 0, 1])
    for kind in ("none", "tanh"):
        agree("gelu", x, kind); agree("gelu_backward", dy, x, kind)
    for name in ("relu", "silu", "tanh", "sigmoid", "softmax", "log_softmax"): agree(name, x)
    for name in ("relu", "silu", "tanh", "sigmoid", "softmax", "log_softmax"): agree(name + "_backward", dy, x)
    agree("cumsum", x); agree("exp", x); agree("log", abs(x))
    agree("mse", x, dy); agree("mse_backward", dy, x, dy); agree("dropout", x, dy > 0, 0.2)
    _, mean, rstd = agree("layer_norm", x, w, b, 1e-5); agree("layer_norm_backward", dy, x, w, mean, rstd, (1, 1, 1))
    _, rstd = agree("rms_norm", x, w, 1e-5); agree("rms_norm_backward", dy, x, w, rstd, (1, 1))
    agree("matmul", normal(2, 3, 4), normal(2, 4, 2)); agree("matmul", x, w[:, None])
    agree("linear", x, normal(2, 5), normal(2)); agree("linear_backward", normal(3, 2), x, normal(2, 5), (1, 1, 1))
    agree("embedding", x, ids); agree("embedding_backward", dy, ids, 4)
    _, lse = agree("cross_entropy", x, ids, None, -100, 0.1)
    agree("cross_entropy_backward", normal(3), x, ids, lse, None, -100, 0.1)
    q, k, v = normal(1, 2, 3, 4), normal(1, 1, 3, 4), normal(1, 1, 3, 4)
    options = dict(keep=np.tri(3, dtype=bool)[::-1], bias=normal(3, 3), causal=1, drop=normal(1, 2, 3, 3) > 0, p=0.5)
    out, lse, weights = agree("attention", q, k, v, want_weights=True, **options)
    agree("attention_backward", out, weights, q, k, v, lse, options["keep"], options["bias"], 1, None,
          options["drop"], 0.5, (1, 1, 1, 1))
    state = [normal(3, 5) ** 2 + 1 for _ in range(5)]; state[1] /= 10; state[3] += 9; twin = [s.copy() for s in state]
    for kernels, s in ((fast, state), (plain, twin)):
        for update in Update.all:
            columns, numbers = [[a] for a in s[2 : 2 + len(update.slots)]], [0.5 + i / 100 for i in range(len(update.scalars))]
            kernels.update_all(update, [s[0]], [s[1]], columns, [tuple(numbers)], {})
        grads = [s[1], s[2]]; norm = kernels.norm_all(grads, 2.0, {}); kernels.norm_all(grads, float("inf"), {})
        kernels.shrink_all(grads, norm, 1.0, {}); kernels.limit_all(grads, -0.3, 0.3)
    np.testing.assert_allclose(state, twin, rtol=1e-4)
    def draw(name, n, *arguments):
        state = np.r_[words, np.uint32(623), np.uint32(0)]
        found, expected = (getattr(kernels, name)(state.copy(), n, *arguments) for kernels in (fast, plain))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=name)
    words = rng.integers(0, 2**32, 624, np.uint32)
    draw("random_words", 9); draw("random_uniform", 9, dtype, -0.3, 0.7); draw("random_normal", 33, dtype, 0.3, 0.7)
    draw("random_bernoulli", 9, 0.3); draw("random_permutation", 9); draw("random_pairs", 9)
    draw("random_integers", 9, -3, 10); draw("random_integers", 9, -3, 2**40)
    agree("c_function", normal(9).astype(np.float64), "exp"); agree("scaled", normal(9).astype(np.float64), 0.3, 0.7)
"""


@pytest.mark.slow
def test_every_kernel_runs_without_the_compiler():
    run(EVERY_KERNEL_UNCOMPILED, NUMBA_DISABLE_JIT="1")


def test_the_rounded_instructions_mean_in_python_what_they_do_compiled():
    from badak.kernels.numba.codegen import floats

    assert floats.fma(2.0, 3.0, 4.0) == 10.0
    assert [floats.pow2(np.float32(n)) for n in (-127, -126, 0, 127)] == [0.0, 2.0**-126, 1.0, 2.0**127]
    assert np.isnan(floats.largest(np.float32(np.nan), np.float32(1)))
    assert floats.rint(np.float32(2.5)) == 2.0


@pytest.mark.slow
def test_a_program_that_logs_at_debug_gets_no_bytecodes(tmp_path):
    code = f"import logging; logging.basicConfig(level=logging.DEBUG); {SMALL}"
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path))[1].count("\n") == 2


@pytest.mark.slow
def test_linear_algebra_of_scipy_is_loaded_by_programs_that_ask_numba_for_it():
    code = f"""
import sys
{SMALL}
print("scipy.linalg" in sys.modules)
import numba
print(numba.njit(lambda a, b: np.dot(a, b))(np.eye(2), np.eye(2)).tolist(), "scipy.linalg" in sys.modules)
"""
    assert run(code)[0].splitlines() == ["False", "[[1.0, 0.0], [0.0, 1.0]] True"]
