"""The bits of a result do not depend on the number of threads, and any thread or process may call a kernel."""

import importlib
import multiprocessing
import sys
import threading

import numpy as np
import pytest

from badak.core.errors import ArgumentError
from tests.kernels.twin import DTYPES, fast_kernels, normal

fast = fast_kernels()

from badak.kernels.numba._blocks import BLOCK  # noqa: E402
from badak.kernels.numba.codegen.atomics import atomic_add  # noqa: E402
from badak.kernels.numba.codegen.compile import compile_function  # noqa: E402
from badak.kernels.numba.threadpool import pool as teams  # noqa: E402


def results(dtype):
    """What every family of kernels gives for work that is big enough to be shared out, as named arrays."""
    x, dy = normal(0, 700, 130, dtype=dtype), normal(1, 700, 130, dtype=dtype)
    w, b = normal(2, 130, dtype=dtype), normal(3, 130, dtype=dtype)
    table, ids = normal(4, 130, 130, dtype=dtype), np.random.default_rng(5).integers(0, 130, 700)
    q, k, v = (normal(6 + i, 2, 2 + 2 * (i == 0), 150, 16, dtype=dtype) for i in range(3))
    y, mean, rstd = fast.layer_norm(x, w, b, 1e-5)
    root, rrms = fast.rms_norm(x, w, 1e-5)
    loss, lse = fast.cross_entropy(x, ids)
    out, out_lse, weights = fast.attention(q, k, v, causal=0, want_weights=True)
    return {
        "matmul": [fast.matmul(x.T, dy), fast.matmul(q, q.swapaxes(-1, -2))],
        "linear": [fast.linear(x, table, b), *fast.linear_backward(dy, x, table, (True,) * 3)],
        "layer_norm": [y, mean, rstd, *fast.layer_norm_backward(dy, x, w, mean, rstd, (True,) * 3)],
        "rms_norm": [root, rrms, *fast.rms_norm_backward(dy, x, w, rrms, (True,) * 2)],
        "softmax": [
            fast.softmax(x),
            fast.softmax_backward(dy, x),
            fast.log_softmax(x),
            fast.log_softmax_backward(dy, x),
        ],
        "gelu": [f for kind in ("none", "tanh") for f in (fast.gelu(x, kind), fast.gelu_backward(dy, x, kind))],
        "others": [
            fast.relu(x),
            fast.silu(x),
            fast.silu_backward(dy, x),
            fast.tanh(x),
            fast.sigmoid(x),
            fast.dropout(x, dy > 0, 0.1),
            fast.arithmetic(np.add, x, dy),
        ],
        "embedding": [fast.embedding(table, ids), fast.embedding_backward(dy, ids, 130)],
        "cross_entropy": [loss, lse, fast.cross_entropy_backward(loss, x, ids, lse, w * w, -100, 0.1)],
        "mse": [fast.mse(x, dy), fast.mse_backward(dy, x, y)],
        "attention": [
            out,
            out_lse,
            weights,
            *fast.attention_backward(out, weights, q, k, v, out_lse, None, None, 0, None, None, 0.0, (True, True, True, False))[:3],
        ],
    }


@pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
@pytest.mark.slow
def test_one_two_and_four_threads_give_the_same_bits(dtype, threads):
    with threads(1):
        expected = results(dtype)
    for count in (2, 4):
        for _ in range(3):  # which thread takes which block differs from run to run
            with threads(count):
                found = results(dtype)
            for name, arrays in expected.items():
                for one, other in zip(found[name], arrays, strict=True):
                    np.testing.assert_array_equal(one, other, err_msg=f"{name} on {count} threads")


def test_two_python_threads_may_call_kernels_at_once(threads):
    x = normal(0, 300, 700, dtype=np.float32)
    expected, wrong = fast.gelu(fast.matmul(x, x.T), "tanh"), []

    def work():
        for _ in range(30):
            if not np.array_equal(fast.gelu(fast.matmul(x, x.T), "tanh"), expected):
                wrong.append(1)

    with threads(4):
        team = [threading.Thread(target=work) for _ in range(3)]
        for one in team:
            one.start()
        for one in team:
            one.join()
    assert not wrong


def child(queue, x):
    queue.put(fast.gelu(x, "none"))


@pytest.mark.skipif(sys.platform != "linux", reason="forking is Linux's way of starting a worker")
def test_a_forked_worker_may_call_kernels(threads):
    x = normal(0, 300, 700, dtype=np.float32)
    with threads(4):
        expected = fast.gelu(x, "none")
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()
        worker = context.Process(target=child, args=(queue, x))
        worker.start()
        np.testing.assert_array_equal(queue.get(), expected)
        worker.join()
    assert worker.exitcode == 0


def test_the_number_of_threads_has_limits(threads):
    for count in (0, 10_000):
        with pytest.raises(ArgumentError, match=f"set_num_threads: expected 1 <= count <= 1024; got count={count}"):
            fast.set_num_threads(count)
    with threads(2):
        assert fast.get_num_threads() == 2


def add_to(address, value):
    atomic_add(address, value)


def inside_of_a_fork(pipe, x, calls, y):
    """What a worker does with kernels of its parent: on one thread, on two, and calls that its parent kept."""
    found = [fast.gelu(x, "none")]
    calls.play()
    found.append(y.copy())
    fast.set_num_threads(2)
    found.append(fast.gelu(x, "none"))
    y[...] = 0
    calls.play()
    pipe.send([*found, y])


@pytest.mark.skipif(sys.platform != "linux", reason="forking is Linux's way of starting a worker")
def test_a_fork_in_the_middle_of_a_job_leaves_a_team_that_works(threads):
    """Members may be counted, and another thread may have the team, at the moment of the fork: nobody will ever undo it."""
    x, y = normal(0, 300, 700, dtype=np.float32), np.zeros((300, 700), np.float32)
    with threads(2):
        expected = fast.gelu(x, "none")
        kernel = importlib.import_module("badak.kernels.numba.activation").gelu_block
        calls = fast.CallList([(kernel, -(-x.size // BLOCK), 10**6, (y.reshape(-1), x.reshape(-1)))])
        calls.play()
        np.testing.assert_array_equal(y, expected)
        y[...] = 0
        add = compile_function(add_to, "i i")
        counted = [teams.team.address + word for word in (teams._INSIDE, teams._SLEEPING)]
        context = multiprocessing.get_context("fork")
        receiver, sender = context.Pipe()
        worker = context.Process(target=inside_of_a_fork, args=(sender, x, calls, y))
        for address in counted:
            add(address, 100)
        worker.start()
        for address in counted:
            add(address, -100)
        came = receiver.poll(60)
        if not came:
            worker.kill()
        assert came
        for found in receiver.recv():
            np.testing.assert_array_equal(found, expected)
        worker.join()
