"""Reverse mode as PyTorch does it. Most tests run the same lines on both, so that what they ask is PyTorch's behaviour."""

import copy
import gc
import importlib
import math
import threading
import warnings
import weakref

import numpy as np
import pytest
import torch

import badak
from badak import nn
from badak.core import errors, events
from badak.nn import functional as F

both = pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])


def leaf(lib, values, dtype="float64"):
    return lib.tensor(values, dtype=getattr(lib, dtype), requires_grad=True)


def values(tensor):
    return np.asarray(tensor.detach().numpy())


# ------------------------------------------------------------------ the walk


@pytest.mark.slow
def test_a_chain_of_100_000_nodes_is_walked_without_recursion():
    x = leaf(badak, 1.0)
    y = x
    for _ in range(100_000):
        y = y + 1e-5
    y.backward()
    assert x.grad.item() == 1.0
    del y
    gc.collect()


@pytest.mark.slow
def test_a_long_chain_is_freed_without_recursion():
    x = leaf(badak, 1.0)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    seen = weakref.ref(y)
    del y
    assert seen() is None


@both
def test_a_tensor_used_twice_gets_the_sum_of_both_gradients(lib):
    x = leaf(lib, [2.0, 3.0])
    (x * x + x.exp() * x).sum().backward()
    expected = 2 * values(x) + np.exp(values(x)) * (1 + values(x))
    np.testing.assert_allclose(values(x.grad), expected, rtol=1e-15)


@both
def test_gradients_add_up_over_backward_calls(lib):
    x = leaf(lib, [1.0, 2.0])
    for _ in range(3):
        (x * 2).sum().backward()
    np.testing.assert_array_equal(values(x.grad), [6.0, 6.0])


@both
def test_diamonds_and_unused_branches(lib):
    x, unused = leaf(lib, 3.0), leaf(lib, 1.0)
    a, b = x * 2, x * 3
    other = unused * x  # not part of the loss
    (a * b).backward()
    assert x.grad.item() == 36.0 and unused.grad is None and other.requires_grad


@pytest.mark.parametrize("size", [100, 70_000])  # the sums of large arrays are made in memory that is ours already
def test_sums_of_gradients_leave_alone_what_others_hold(size):
    x = badak.tensor(np.random.default_rng(0).standard_normal(size), dtype=badak.float32, requires_grad=True)
    given, a = badak.ones(size), x * 1.0
    held = []
    b = a + 0.0
    b.register_hook(held.append)
    (b + a * 2.0 + a * 3.0 + b.exp() + b).backward(given)
    expected = 1 + 2 + 3 + np.exp(values(x)) + 1
    np.testing.assert_allclose(values(x.grad), expected, rtol=1e-6)
    np.testing.assert_array_equal(values(given), 1)
    np.testing.assert_allclose(np.asarray(held[0]), expected - 5, rtol=1e-6)


GRADIENTS = {  # by how the gradient of h (B, C, H, W) lies in memory
    "row-major": lambda h: h * 2.0,
    "turned": lambda h: h.permute(3, 2, 1, 0).contiguous() * 2.0,
    "a view": lambda h: h.transpose(0, 1),
    "channels-last": lambda h: h.permute(0, 2, 3, 1).contiguous(),
    "with gaps": lambda h: badak.cat([h, h.detach()], 3),
    "a turned view with gaps": lambda h: badak.cat([h, h.detach()], 3).transpose(0, 1).contiguous(),
    "cut out": lambda h: F.pad(h, (1, 1)),
    "expanded": lambda h: h.sum(),
    "expanded inside": lambda h: h.sum(1),
}


@pytest.mark.parametrize("size", [3, 24])  # below and above the size from which on kernels add
@pytest.mark.parametrize("first", GRADIENTS)
@pytest.mark.parametrize("second", GRADIENTS)
def test_the_sum_of_two_gradients_lies_the_same_whoever_watches(first, second, size):
    rng = np.random.default_rng(0)
    shape = (size, size - 1, size + 1, size // 2 + 1)
    x = badak.from_numpy(rng.standard_normal(shape).astype(np.float32))
    found = []

    def step(x):
        h = x.detach().requires_grad_() * 1.0
        h.register_hook(lambda dh: found.append((dh.stride(), dh.sum((0, 2, 3)).numpy().tobytes())))
        outs = [GRADIENTS[first](h), GRADIENTS[second](h)]
        sum((out * out.detach()).sum() for out in outs).backward()

    def watched(x):
        watcher = events.Observer()
        events.watch(watcher)
        try:
            step(x)
        finally:
            events.watch(watcher, False)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for run in (step, watched, badak.compile(step)):
            run(x)
    assert found[0] == found[1] == found[2]


def test_the_same_graph_gives_the_same_bits_every_time():
    def gradient():
        x = badak.tensor(np.random.default_rng(0).standard_normal((50, 40)), dtype=badak.float32, requires_grad=True)
        parts = [(x * k).tanh() for k in range(1, 8)]
        sum(part.sum() for part in parts).backward()
        return values(x.grad).tobytes()

    assert gradient() == gradient()


GONE_THROUGH_TWICE = {
    "remainder": lambda lib, x: x % 2,
    "remainder of a tensor": lambda lib, x: lib.remainder(x, lib.ones(4)),
    "fmod": lambda lib, x: lib.fmod(x, 2),
    "frac": lambda lib, x: lib.frac(x),
    "as_strided": lambda lib, x: lib.as_strided(x, (2, 2), (1, 1)),
    "addcmul": lambda lib, x: lib.addcmul(x, lib.ones(4), lib.ones(4)),
    "scatter_add": lambda lib, x: x.scatter_add(0, lib.tensor([0, 1]), lib.ones(2)),
    "index_add": lambda lib, x: x.index_add(0, lib.tensor([0, 1]), lib.ones(2)),
    "a product": lambda lib, x: x * lib.ones(4),
    "remainder of both": lambda lib, x: lib.remainder(x, x + 1),
    "addcmul of three": lambda lib, x: lib.addcmul(x, x, lib.ones(4)),
    "addcdiv": lambda lib, x: lib.addcdiv(x, lib.ones(4), lib.ones(4)),
    "exp": lambda lib, x: x.exp(),
}


@pytest.mark.parametrize("name", GONE_THROUGH_TWICE)
def test_a_graph_is_gone_through_twice_where_pytorch_goes_twice(name):
    """Where no gradient needs a tensor that was saved: the same gradient once more."""

    def told(lib):
        x = lib.tensor([0.3, 1.2, 2.5, 3.1], requires_grad=True)
        loss = GONE_THROUGH_TWICE[name](lib, x).sum()
        loss.backward()
        try:
            loss.backward()
        except RuntimeError:
            return "refused"
        return x.grad.tolist()

    assert told(badak) == told(torch)


@both
def test_saved_values_are_freed_by_backward_and_a_second_call_says_so(lib):
    x = leaf(lib, [1.0, 2.0])
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


@both
def test_retain_graph_keeps_the_graph(lib):
    x = leaf(lib, [1.0, 2.0])
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_array_equal(values(x.grad), [4.0, 8.0])


@both
def test_backward_wants_a_gradient_for_more_than_one_value(lib):
    x = leaf(lib, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()
    (x * 2).backward(lib.tensor([1.0, 10.0], dtype=lib.float64))
    np.testing.assert_array_equal(values(x.grad), [2.0, 20.0])


@both
def test_a_gradient_of_the_wrong_shape_is_refused(lib):
    x = leaf(lib, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(lib.ones(3, dtype=lib.float64))


@both
def test_backward_of_something_without_history_is_refused(lib):
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        lib.ones(1).backward()


@both
def test_inputs_limits_who_accumulates(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    (x * w).sum().backward(inputs=[w])
    assert x.grad is None
    np.testing.assert_array_equal(values(w.grad), [1.0, 2.0])


# ------------------------------------------------------------------ autograd.grad


@both
def test_grad_returns_gradients_and_accumulates_nothing(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    dx, dw = lib.autograd.grad((x * w).sum(), (x, w))
    np.testing.assert_array_equal(values(dx), [3.0, 4.0])
    np.testing.assert_array_equal(values(dw), [1.0, 2.0])
    assert x.grad is None and w.grad is None


@both
def test_grad_reaches_a_tensor_in_the_middle(lib):
    x = leaf(lib, [1.0, 2.0])
    middle = x * 3
    (dmiddle,) = lib.autograd.grad((middle * middle).sum(), middle)
    np.testing.assert_array_equal(values(dmiddle), [6.0, 12.0])


@both
def test_grad_of_a_middle_and_a_leaf_below_it_at_once(lib):
    x = leaf(lib, [1.0, 2.0])
    middle = x * 3
    dmiddle, dx = lib.autograd.grad((middle * middle).sum(), [middle, x])
    np.testing.assert_array_equal(values(dmiddle), [6.0, 12.0])
    np.testing.assert_array_equal(values(dx), [18.0, 36.0])


@both
def test_grad_of_something_unused_is_refused_or_none(lib):
    x, unused = leaf(lib, [1.0]), leaf(lib, [1.0])
    with pytest.raises(RuntimeError, match="appears to not have been used"):
        lib.autograd.grad((x * 2).sum(), [x, unused])
    dx, nothing = lib.autograd.grad((x * 2).sum(), [x, unused], allow_unused=True)
    assert nothing is None and dx.item() == 2.0


@both
def test_grad_takes_grad_outputs(lib):
    x = leaf(lib, [1.0, 2.0])
    (dx,) = lib.autograd.grad(x * x, x, grad_outputs=lib.tensor([1.0, 3.0], dtype=lib.float64))
    np.testing.assert_array_equal(values(dx), [2.0, 12.0])


# ------------------------------------------------------------------ modes


@both
def test_no_grad_records_nothing_and_nests(lib):
    x = leaf(lib, [1.0])
    with lib.no_grad():
        assert not lib.is_grad_enabled() and not (x * 2).requires_grad
        with lib.enable_grad():
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad
    assert lib.is_grad_enabled() and (x * 2).requires_grad


@both
def test_no_grad_is_a_decorator_and_survives_an_exception(lib):
    x = leaf(lib, [1.0])

    @lib.no_grad()
    def double(t):
        return t * 2

    assert not double(x).requires_grad
    with pytest.raises(KeyError), lib.no_grad():
        raise KeyError
    assert lib.is_grad_enabled()


@both
def test_set_grad_enabled(lib):
    x = leaf(lib, [1.0])
    with lib.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    with lib.set_grad_enabled(True):
        assert (x * 2).requires_grad


@both
def test_what_inference_mode_makes_never_joins_a_graph(lib):
    x = leaf(lib, [1.0])
    with lib.inference_mode():
        y = x * 2
        assert lib.is_inference_mode_enabled()
    assert y.is_inference() and not y.requires_grad
    with pytest.raises(RuntimeError, match="[Ii]nference"):
        (x * y).sum().backward()


def test_modes_belong_to_a_thread():
    seen = []
    with badak.no_grad():
        worker = threading.Thread(target=lambda: seen.append(badak.is_grad_enabled()))
        worker.start()
        worker.join()
    assert seen == [True]


# ------------------------------------------------------------------ leaves, detach, requires_grad


@both
def test_leaves_and_grad_fn(lib):
    x = leaf(lib, [1.0])
    y = x * 2
    assert x.is_leaf and x.grad_fn is None and x.requires_grad
    assert not y.is_leaf and y.grad_fn is not None and y.requires_grad
    assert y.detach().is_leaf and not y.detach().requires_grad


@both
def test_detach_shares_memory_and_cuts_the_graph(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x * 3
    cut = y.detach()
    (y.sum() + (cut * x).sum()).backward()
    np.testing.assert_array_equal(values(x.grad), 3 + values(cut))
    cut[0] = 7.0
    assert y[0].item() == 7.0


@both
def test_only_floats_can_require_gradients(lib):
    with pytest.raises(RuntimeError, match="floating point"):
        lib.tensor([1, 2]).requires_grad_()


@both
def test_numpy_of_something_that_requires_grad_is_refused(lib):
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        leaf(lib, [1.0]).numpy()


@both
def test_requires_grad_of_a_computed_tensor_cannot_be_taken_away(lib):
    y = leaf(lib, [1.0]) * 2
    with pytest.raises(RuntimeError, match="leaf variables"):
        y.requires_grad = False


@both
def test_grad_of_the_wrong_shape_cannot_be_assigned(lib):
    x = leaf(lib, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="size"):
        x.grad = lib.ones(3, dtype=lib.float64)


@both
def test_deepcopy_is_for_leaves(lib):
    x = leaf(lib, [1.0])
    twin = copy.deepcopy(x)
    assert twin.requires_grad and twin is not x
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)


# ------------------------------------------------------------------ hooks


@both
def test_a_hook_sees_the_gradient_and_may_replace_it(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x * 2
    seen = []
    y.register_hook(lambda dy: seen.append(values(dy)))
    y.register_hook(lambda dy: dy * 10)
    y.sum().backward()
    np.testing.assert_array_equal(seen[0], [1.0, 1.0])
    np.testing.assert_array_equal(values(x.grad), [20.0, 20.0])


@both
def test_a_hook_on_a_leaf_and_its_removal(lib):
    x = leaf(lib, [1.0])
    handle = x.register_hook(lambda dx: dx * 5)
    (x * 2).sum().backward()
    assert x.grad.item() == 10.0
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.item() == 12.0


@both
def test_a_hook_sees_the_whole_gradient_of_a_shared_tensor(lib):
    x = leaf(lib, [1.0])
    y = x * 2
    seen = []
    y.register_hook(lambda dy: seen.append(dy.item()))
    (y * 3 + y * 4).sum().backward()
    assert seen == [7.0]


@both
def test_a_hook_needs_something_that_requires_grad(lib):
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        lib.ones(1).register_hook(lambda dy: dy)


@both
def test_retain_grad_keeps_a_middle_gradient(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    np.testing.assert_array_equal(values(y.grad), 2 * values(y))
    assert y.retains_grad


@both
def test_hooks_after_accumulation_see_the_leaf(lib):
    x = leaf(lib, [1.0])
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.item()))
    (x * 3).sum().backward()
    assert seen == [3.0]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("outer", [False, True], ids=["under no_grad", "with gradients"])
@both
def test_hooks_run_in_the_mode_of_the_backward(lib, outer, create_graph):
    modes = {}

    def told(name):
        return lambda *seen: modes.update({name: lib.is_grad_enabled()})

    x = leaf(lib, [1.0, 2.0])
    layer = lib.nn.Linear(2, 1).double()
    layer.register_full_backward_pre_hook(told("module before"))
    layer.register_full_backward_hook(told("module"))
    y = x * 2
    x.register_hook(told("leaf"))
    y.register_hook(told("tensor"))
    x.register_post_accumulate_grad_hook(told("accumulated"))
    z = (layer(y) + (y * y).sum()).sum()
    z.grad_fn.register_prehook(told("node before"))
    z.grad_fn.register_hook(told("node"))
    with lib.set_grad_enabled(outer), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a gradient with a history refers to its tensor
        z.backward(create_graph=create_graph, inputs=[x] if outer and not create_graph else None)
        assert lib.is_grad_enabled() is outer
    assert len(modes) == 7 and set(modes.values()) == {create_graph}


@both
def test_a_leaf_may_be_changed_in_a_hook_after_accumulation(lib):
    x = leaf(lib, [1.0, 2.0])
    x.register_post_accumulate_grad_hook(lambda p: (p.sub_(p.grad), None)[1])
    (x * x).sum().backward()
    assert x.tolist() == [-1.0, -2.0] and x.is_leaf


@both
def test_a_hook_of_a_grad_fn_takes_part_in_the_second_derivative(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x * x * x
    y.grad_fn.register_prehook(lambda dys: (dys[0] * x,))
    y.grad_fn.register_hook(lambda dxs, dys: tuple(None if dx is None else dx * 2 for dx in dxs))
    (first,) = lib.autograd.grad(y.sum(), x, create_graph=True)  # 2 x 3 x^2
    (second,) = lib.autograd.grad(first.sum(), x)
    assert first.tolist() == [6.0, 48.0] and second.tolist() == [18.0, 72.0]


@pytest.mark.parametrize("answer, words", [
    (lambda dys: dys[0], "expected tuple, but hook returned 'Tensor'"),
    (lambda dys: [*dys], "expected tuple, but hook returned 'list'"),
    (lambda dys: False, "expected tuple, but hook returned 'bool'"),
    (lambda dys: (1.0,), "expected Variable, but hook returned 'float'"),
])  # fmt: skip
@both
def test_a_hook_of_a_grad_fn_returns_a_tuple_of_tensors(lib, answer, words):
    y = leaf(lib, [1.0]).exp()
    y.grad_fn.register_prehook(answer)
    with pytest.raises(TypeError, match=words):
        y.backward()


# ------------------------------------------------------------------ in-place changes


@both
def test_an_overwritten_output_that_its_backward_needs_raises(lib):
    y = leaf(lib, [1.0, 2.0]).exp()
    y += 1
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.sum().backward()


@both
def test_an_overwritten_input_that_a_backward_needs_raises(lib):
    x = leaf(lib, [1.0, 2.0]) * 1.0
    y = x * x
    x.mul_(2)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.sum().backward()


@both
def test_an_overwrite_through_a_view_or_a_detached_twin_is_noticed(lib):
    for see in (lambda t: t[0], lambda t: t.detach(), lambda t: t.view(2)[1:]):
        y = leaf(lib, [1.0, 2.0]).exp()
        loss = y.sum()
        with lib.no_grad():
            see(y).zero_()
        with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
            loss.backward()


@both
def test_an_overwrite_that_no_backward_needs_is_fine(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x + 1  # add needs no values
    y += 1
    y *= 3
    y.sum().backward()
    np.testing.assert_array_equal(values(x.grad), [3.0, 3.0])


@both
def test_an_overwrite_whose_result_is_not_in_the_graph_is_not_an_error(lib):
    x = leaf(lib, [1.0, 2.0])
    output = x * 2
    output += output
    output.sum().backward()
    np.testing.assert_array_equal(values(x.grad), [4.0, 4.0])


@both
def test_data_escapes_the_count(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x.exp()
    y.data.zero_()
    y.sum().backward()
    np.testing.assert_array_equal(values(x.grad), [0.0, 0.0])


@both
def test_a_leaf_that_requires_grad_cannot_change_in_place(lib):
    x = leaf(lib, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x += 1
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0] = 1.0
    with lib.no_grad():
        x += 1
    np.testing.assert_array_equal(values(x), [2.0, 3.0])


@both
def test_writes_into_slices_carry_gradients(lib):
    x, w = leaf(lib, [1.0, 2.0, 3.0]), leaf(lib, [5.0])
    y = x * 2
    y[1:2] = w * 3
    (y * lib.tensor([1.0, 10.0, 100.0], dtype=lib.float64)).sum().backward()
    np.testing.assert_array_equal(values(x.grad), [2.0, 0.0, 200.0])
    np.testing.assert_array_equal(values(w.grad), [30.0])


@both
def test_a_view_made_before_a_write_sees_the_new_history(lib):
    x, w = leaf(lib, [[1.0, 2.0], [3.0, 4.0]]), leaf(lib, [5.0, 6.0])
    y = x * 1.0
    row = y[0]
    y[0] = w * 2
    row.sum().backward()
    assert x.grad is None or not values(x.grad).any()
    np.testing.assert_array_equal(values(w.grad), [2.0, 2.0])


@both
def test_writing_to_a_view_changes_the_history_of_its_base(lib):
    x, w = leaf(lib, [[1.0, 2.0], [3.0, 4.0]]), leaf(lib, [5.0, 6.0])
    y = x * 1.0
    column = y.t()[1]
    column.mul_(w)
    (y * y).sum().backward()
    expected = 2 * values(x).copy()
    expected[:, 1] = 2 * values(x)[:, 1] * values(w) ** 2
    np.testing.assert_allclose(values(x.grad), expected, rtol=1e-15)
    np.testing.assert_allclose(values(w.grad), 2 * values(w) * values(x)[:, 1] ** 2, rtol=1e-15)


@both
def test_an_empty_buffer_filled_with_tracked_values_has_a_history(lib):
    w = leaf(lib, [1.0, 2.0])
    buffer = lib.zeros(2, 2, dtype=lib.float64)
    buffer[0] = w * 3
    buffer[1, 0] = w[0] * 5
    buffer.sum().backward()
    np.testing.assert_array_equal(values(w.grad), [8.0, 3.0])


@both
def test_masked_fill_in_place_stops_gradients_there(lib):
    x = leaf(lib, [1.0, 2.0, 3.0])
    y = x * 2
    y.masked_fill_(lib.tensor([True, False, True]), -1.0)
    y.sum().backward()
    np.testing.assert_array_equal(values(y), [-1.0, 4.0, -1.0])
    np.testing.assert_array_equal(values(x.grad), [0.0, 2.0, 0.0])


def test_debug_mode_names_the_users_lines(monkeypatch):
    from badak.core import events
    from badak.core.modes import modes

    monkeypatch.setattr(modes, "debug", True)
    events.watch(events.DEBUG)
    try:
        y = leaf(badak, [1.0, 2.0]).exp()
        y += 1
        with pytest.raises(errors.GraphError, match=r"exp \(test_graph.py:\d+\).*at test_graph.py:\d+"):
            y.sum().backward()
    finally:
        events.watch(events.DEBUG, False)


def test_how_many_observers_there_are_is_known_without_asking_each_thread():
    from badak.core import events
    from badak.core.modes import anywhere

    before = anywhere.observers, anywhere.has_observers
    events.watch(events.DEBUG)
    events.watch(events.DEBUG)  # twice is once
    with badak.inference_mode():
        assert (anywhere.observers, anywhere.has_observers) == (before[0] + 2, before[1] + 1)
        events.watch(events.DEBUG, False)
        events.watch(events.DEBUG, False)
        assert (anywhere.observers, anywhere.has_observers) == (before[0] + 1, before[1])
    assert (anywhere.observers, anywhere.has_observers) == before


# ------------------------------------------------------------------ anomaly mode


def test_anomaly_mode_names_the_first_operation_forward():
    x = leaf(badak, [0.0, 1.0])
    with badak.autograd.detect_anomaly(), pytest.raises(errors.GraphError, match="log .*first operation to make Inf"):
        x.log()


def test_anomaly_mode_names_the_softmax_of_a_row_that_is_hidden():
    scores = leaf(badak, [[0.0, 1.0], [2.0, 3.0]]).masked_fill(badak.tensor([[False, False], [True, True]]), -math.inf)
    with badak.autograd.detect_anomaly(), pytest.raises(errors.GraphError, match="softmax .*make NaN .2 of 4 values., from inputs"):
        scores.softmax(dim=-1)


def test_anomaly_mode_names_the_first_operation_backward():
    x = leaf(badak, [0.0, 1.0])
    with badak.autograd.detect_anomaly():
        y = x.sqrt().sum()
        with pytest.raises(errors.GraphError, match="backward of sqrt.*first to make Inf"):
            y.backward()


def test_anomaly_mode_is_silent_about_finite_numbers_and_about_masks():
    x = leaf(badak, [1.0, 2.0])
    with badak.autograd.detect_anomaly():
        scores = x.masked_fill(badak.tensor([False, True]), float("-inf"))
        badak.softmax(scores, dim=-1).sum().backward()
    assert np.isfinite(values(x.grad)).all()


# ------------------------------------------------------------------ Function


def scaled(lib):
    class Scale(lib.autograd.Function):
        """y = k x, with a gradient that is deliberately 100 k dy."""

        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            ctx.k = k
            return x * k

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensors
            assert x.shape == dy.shape
            return dy * ctx.k * 100, None

    return Scale


@both
def test_a_function_of_the_user_takes_part_in_the_graph(lib):
    x = leaf(lib, [1.0, 2.0])
    y = scaled(lib).apply(x * 2, 3.0)
    y.sum().backward()
    np.testing.assert_array_equal(values(y), [6.0, 12.0])
    np.testing.assert_array_equal(values(x.grad), [600.0, 600.0])


@both
def test_a_function_with_two_outputs(lib):
    class Split(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, da, db):
            return da * 2 + db * 3

    x = leaf(lib, [1.0, 2.0])
    a, b = Split.apply(x)
    (a.sum() + 10 * b.sum()).backward()
    np.testing.assert_array_equal(values(x.grad), [32.0, 32.0])


@both
def test_ctx_knows_which_inputs_want_gradients(lib):
    seen = []

    class Product(lib.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, dy):
            seen.append(ctx.needs_input_grad)
            a, b = ctx.saved_tensors
            return dy * b, None

    a = leaf(lib, [2.0])
    Product.apply(a, lib.tensor([3.0], dtype=lib.float64)).sum().backward()
    assert seen == [(True, False)] and a.grad.item() == 3.0
    lib.autograd.grad(Product.apply(a, leaf(lib, [3.0])).sum(), a)
    assert seen[1:] == [(True, True)]


def test_only_the_gradients_that_are_asked_for_are_computed():
    from badak.utils.flop_counter import FlopCounterMode

    model, x = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), badak.randn(3, 4, requires_grad=True)
    weight, first, second = model[2].weight, 2 * 3 * 4 * 8, 2 * 3 * 8 * 2  # FLOPs of the two layers
    y = None
    for inputs, more in (([x], first + second), ([weight], second), ([x, weight], first + 2 * second)):
        with FlopCounterMode(display=False) as counter:
            y = model(x).sum()
            badak.autograd.grad(y, inputs, retain_graph=True)
        assert counter.get_total_flops() == first + second + more
    with FlopCounterMode(display=False) as counter:  # the graph is as it was
        y.backward()
    assert counter.get_total_flops() == 2 * (first + second)


@both
def test_a_function_under_no_grad_records_nothing(lib):
    with lib.no_grad():
        assert not scaled(lib).apply(leaf(lib, [1.0]), 2.0).requires_grad


@both
def test_a_changed_saved_tensor_of_a_function_raises(lib):
    x = leaf(lib, [1.0, 2.0]) * 1.0
    y = scaled(lib).apply(x, 2.0)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_names_of_operations_read_as_pytorchs():
    from badak import ops

    named = {
        "ReLU": "relu",
        "SiLU": "silu",
        "RMSNorm": "rms_norm",
        "KLDiv": "kl_div",
        "BCEWithLogits": "bce_with_logits",
    }
    named |= {"MatMul": "matmul", "CumSum": "cumsum", "LayerNorm": "layer_norm", "LogSumExp": "logsumexp", "SVD": "svd"}
    found = {op.__name__: op.name for op in _all_ops(ops)}
    assert {name: found[name] for name in named} == named


def _all_ops(ops, seen=None):
    from badak.ops.op import Op

    waiting = Op.__subclasses__()
    while waiting:
        op = waiting.pop()
        waiting += op.__subclasses__()
        if op.__module__.startswith("badak.ops"):
            yield op


def test_what_a_hook_keeps_is_not_written_to_later():
    """The gradients of q, k and v are pieces of that of the projection, which the second backward adds to."""
    kept = []
    x = badak.randn(2, 5, 24, requires_grad=True)
    for _ in range(2):
        q, k, v = x.split(8, dim=2)
        q.register_hook(kept.append)
        heads = [part.view(2, 5, 2, 4).transpose(1, 2) for part in (q, k, v)]
        badak.nn.functional.scaled_dot_product_attention(*heads).square().sum().backward()
    assert badak.equal(kept[0], kept[1])
    assert badak.allclose(x.grad[..., :8], kept[0] + kept[1])


@pytest.mark.parametrize(
    "register",
    [
        lambda: badak.ones(2, requires_grad=True).register_hook,
        lambda: badak.ones(2, requires_grad=True).register_post_accumulate_grad_hook,
        lambda: badak.nn.Linear(2, 2).register_forward_pre_hook,
        lambda: badak.nn.Linear(2, 2).register_forward_hook,
        lambda: badak.nn.Linear(2, 2).register_full_backward_hook,
        lambda: badak.nn.Linear(2, 2).register_state_dict_pre_hook,
        lambda: badak.nn.Linear(2, 2).register_load_state_dict_post_hook,
        lambda: badak.optim.SGD([badak.ones(2, requires_grad=True)]).register_step_pre_hook,
    ],
)
def test_a_hook_is_a_function_and_its_handle_is_one_class(register):
    handle = register()(print)
    assert type(handle) is badak.utils.hooks.RemovableHandle
    with handle:
        assert list(handle._hooks) == [handle.id]
    handle.remove()
    assert not handle._hooks
    with pytest.raises(TypeError, match=r"hook: expected a function; got int\nfix: pass the function itself, without calling it"):
        register()(1)


def test_a_step_is_recorded_anew_when_a_hook_comes_or_goes():
    layer, seen = badak.nn.Linear(2, 2), []
    step = badak.compile(layer)
    x = badak.ones(3, 2)
    for _ in range(4):
        step(x)
    handle = layer.register_forward_hook(lambda module, args, output: seen.append(1))
    step(x)
    assert seen == [1]
    for _ in range(4):
        step(x)
    seen.clear()
    handle.remove()
    for _ in range(5):
        step(x)
    assert not seen


@pytest.mark.filterwarnings("ignore:the loss is NaN")
@pytest.mark.parametrize("values", [[1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [np.nan, np.nan, np.nan], [np.nan, 1.0, 2.0], [3.0]])
@pytest.mark.parametrize("name", ["min", "max", "median", "nanmedian"])
def test_one_value_of_all_gives_its_gradient_to_all_that_equal_it(name, values):
    found = []
    for lib in (badak, torch):
        x = lib.tensor(values, requires_grad=True)
        y = getattr(lib, name)(x)
        y.backward()
        found.append([y.item(), *x.grad.tolist()])
    np.testing.assert_allclose(*found, equal_nan=True)


def _later_leaf(lib):
    x = lib.zeros(2, 3)
    view = x[:]
    x.requires_grad_()
    view.add_(1)


def _without_history(lib):
    x = lib.zeros(2, requires_grad=True) * 2
    with lib.no_grad():
        view = x[:]
    view.add_(1)


def _whole_numbers(lib):
    x = lib.tensor(1.0, requires_grad=True)
    x.data = lib.tensor(3)


def _changing_hook(lib):
    def pack(x):
        x += 1
        return x

    with lib.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        lib.zeros(2, requires_grad=True).exp()


@pytest.mark.parametrize(
    "mistake, text",
    [
        (_later_leaf, "a view of a leaf Variable that requires grad is being used in an in-place operation"),
        (_without_history, "A view was created in no_grad mode and is being modified inplace with grad mode enabled"),
        (_whole_numbers, "must be floating point or complex dtype"),
        (_changing_hook, "A saved tensor pack hook is modifying its input in place"),
    ],
)
def test_what_would_be_lost_by_the_graph_is_refused(mistake, text):
    for lib in (badak, torch):
        with pytest.raises(RuntimeError, match=text):
            mistake(lib)


# ------------------------------------------------------------------ what is kept of a tensor that is no leaf


def _triple(lib):
    class Triple(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx, dy):
            return dy * 3

    return Triple.apply


RETAINED = {  # what happens to y, or to its view v, between retain_grad and backward; the loss
    "a later hook": lambda lib, y, v: (y.register_hook(lambda g: g * 10), y.sum())[1],
    "in place": lambda lib, y, v: y.mul_(3).mul_(3).sum(),
    "an item": lambda lib, y, v: (y.__setitem__(0, 5.0), y.sum())[1],
    "its view": lambda lib, y, v: (v.mul_(3), (y * 2).sum())[1],
    "its base": lambda lib, y, v: (y.mul_(3), (v * 2).sum())[1],
    "a Function": lambda lib, y, v: (_triple(lib)(y), y.sum())[1],
    "used before": lambda lib, y, v: ((y * 1) + y.mul_(3)).sum(),
}


@pytest.mark.parametrize("way", RETAINED)
def test_retain_grad_keeps_the_gradient_of_what_the_tensor_is_at_last(way):
    kept = []
    for lib in (torch, badak):
        x = leaf(lib, [1.0, 2.0, 3.0])
        y = x * 2
        v = y[:2]
        y.retain_grad()
        v.retain_grad()
        RETAINED[way](lib, y, v).backward()
        kept.append([None if t.grad is None else t.grad.tolist() for t in (x, y, v)])
    assert kept[0] == kept[1]


@both
def test_a_hook_after_accumulation_gives_nothing_back(lib):
    x = leaf(lib, [1.0])
    x.register_post_accumulate_grad_hook(lambda p: p * 2)
    with pytest.raises(RuntimeError, match="Tensor post accumulate grad hooks should return None"):
        x.sum().backward()


# ------------------------------------------------------------------ what is saved may change where it is a copy


def _own_exp(lib):
    class Exp(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx, dy):
            return dy * ctx.saved_tensors[0].exp()

    return Exp.apply


SAVING = {"input": lambda lib: lambda x: x**2, "output": lambda lib: lambda x: x.exp(), "Function": _own_exp}


@both
@pytest.mark.parametrize("saving", SAVING)
@pytest.mark.parametrize("block", ["allow_mutation_on_saved_tensors", "saved_tensors_hooks"])
def test_what_a_block_has_copied_may_be_changed(lib, saving, block):
    copies = [lambda t: t.clone(), lambda t: t] if block == "saved_tensors_hooks" else []
    x = leaf(lib, [1.0, 2.0])
    with getattr(lib.autograd.graph, block)(*copies):
        y = x.clone()
        z = SAVING[saving](lib)(y)
        loss = z.sum()
        y.sub_(1)
        z.sub_(1)
        loss.backward()
    expected = 2 * values(x) if saving == "input" else np.exp(values(x))
    np.testing.assert_allclose(values(x.grad), expected, rtol=1e-6)


@both
def test_saved_copies_end_with_their_block(lib):
    allow = lib.autograd.graph.allow_mutation_on_saved_tensors
    x = leaf(lib, [1.0])
    with allow():
        loss = x.exp().sum()
        with pytest.raises(RuntimeError, match="cannot be nested"), allow():
            pass
    with pytest.raises(AssertionError, match="Trying to backward outside of the 'allow_mutation_on_saved_tensors'"):
        loss.backward()


def test_what_pack_hands_through_is_still_watched():
    x = leaf(badak, [1.0])
    with badak.autograd.graph.saved_tensors_hooks(lambda t: (t, 1), lambda pair: pair[0]):
        y = x.clone()
        z = (y * y).sum()
    y.zero_()
    with pytest.raises(errors.GraphError, match="modified by an inplace operation"):
        z.backward()


@both
def test_an_edge_of_the_graph_stands_for_its_tensor(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x * 2
    edges = [lib.autograd.graph.get_gradient_edge(t) for t in (x, y)]
    del y
    assert (edges[1].node.name(), edges[1].output_nr) == ("MulBackward0", 0)
    z = (x * 3).sum()
    assert lib.autograd.grad(z, edges[0])[0].tolist() == [3, 3]
    y = x * 2
    edge = lib.autograd.graph.get_gradient_edge(y)
    assert [g.tolist() for g in lib.autograd.grad(y.exp().log().sum(), [edge, x])] == [[1, 1], [2, 2]]
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        lib.autograd.grad((x * 3).sum(), edges[1])
    assert lib.autograd.grad((x * 3).sum(), edges[1], allow_unused=True) == (None,)


@both
def test_a_backward_goes_to_edges_of_the_graph(lib):
    x, y = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    edge_of = lib.autograd.graph.get_gradient_edge
    z = x * y
    lib.autograd.backward((z * z).sum(), inputs=[edge_of(x)])
    assert (x.grad.tolist(), y.grad) == ([18.0, 64.0], None)
    z = x * y
    (z * z).sum().backward(inputs=edge_of(z), retain_graph=True)  # no leaf
    assert (x.grad.tolist(), y.grad, z.is_leaf) == ([18.0, 64.0], None, False)
    lib.autograd.backward(z.sum(), inputs=(edge_of(z), y))
    assert y.grad.tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        lib.autograd.grad((x * 2).sum(), (x, edge_of(y)), allow_unused=True, materialize_grads=True)


@both
def test_a_gradient_is_a_tensor_that_is_complex_where_its_output_is(lib):
    x = leaf(lib, [1.0, 2.0])
    for given in ([1.0, 1.0], 2.0, (1.0, 1.0)):
        with pytest.raises(TypeError, match="gradients can be either Tensors or None|not iterable"):
            (x * 2).backward(given)
    with pytest.raises(RuntimeError, match="both grad_output and output are required to have the same dtype"):
        (x * 2).backward(lib.tensor([1 + 1j, 1j]))
    with pytest.raises(RuntimeError, match="both grad_output and output are required to have the same dtype"):
        lib.autograd.grad(x * 1j, x, lib.ones(2))
    assert x.grad is None


@both
def test_pytorchs_inner_switch_records_or_not(lib):
    if lib is badak:
        assert badak._disable_dynamo(len)([1]) == 1
    inner = importlib.import_module("badak.compat.torch.core") if lib is badak else torch._C
    inner._set_grad_enabled(False)
    try:
        assert not lib.is_grad_enabled() and not (leaf(lib, [1.0]) * 2).requires_grad
    finally:
        inner._set_grad_enabled(True)
    assert lib.is_grad_enabled()


@both
def test_what_is_said_of_threads_is_remembered(lib):
    autograd, x = lib.autograd, leaf(lib, [1.0])
    with autograd.set_multithreading_enabled(False):
        assert not autograd.is_multithreading_enabled()
        (x * 2).backward()
    assert autograd.is_multithreading_enabled() and x.grad.item() == 2
    assert isinstance((x * 2).grad_fn, autograd.graph.Node) and not isinstance(x, autograd.graph.Node)


@both
def test_a_gradient_of_a_class_of_the_program_is_taken_by_its_values(lib):
    class Labelled(lib.Tensor):
        def to(self, *args, **options):
            raise AssertionError("the walk asked the program")

        def clone(self, *args, **options):
            raise AssertionError("the walk asked the program")

    x = leaf(lib, [1.0, 2.0])
    y = x**3
    ones = lib.ones(2, dtype=lib.float64).as_subclass(Labelled)
    for graph in (False, True):
        (dx,) = lib.autograd.grad(y, x, ones, create_graph=graph, retain_graph=True)
        np.testing.assert_allclose(values(dx), [3, 12])
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda dy: dy.as_subclass(Labelled))
    y.sum().backward()
    assert type(y.grad) is lib.Tensor and y.grad.tolist() == [1, 1]


HEARD = {
    "unbind": lambda lib, x: x.unbind(),
    "split": lambda lib, x: x.split(2),
    "tensor_split": lambda lib, x: x.tensor_split(2),
    "svd": lambda lib, x: lib.linalg.svd(x[:2, :2])[:2],
    "LSTMCell": lambda lib, x: lib.nn.LSTMCell(3, 2)(x),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", HEARD)
def test_a_hook_hears_of_no_gradient_as_pytorchs_does(name, create_graph):
    heard = []
    for lib in (torch, badak):
        x = lib.tensor([[1.0, 2, 3], [3, 1, 0], [0, 1, 2], [5, 1, 1]], requires_grad=True)
        first, second = HEARD[name](lib, x)[:2]
        told: list = []
        first.register_hook(told.append)
        if first.dim():
            first.retain_grad()
        if name == "svd" and create_graph:
            continue  # which has no second derivative here
        lib.autograd.grad(second.sum(), x, create_graph=create_graph)
        heard.append((told, None if first.grad is None else first.grad.tolist()))
    assert not heard or heard[0] == heard[1]


def test_a_hook_cannot_make_a_gradient_of_none():
    first, second, *_ = badak.ones(3, requires_grad=True).unbind()
    first.register_hook(lambda dy: badak.ones(()))
    with pytest.raises(errors.GraphError, match="can't replace a None gradient with a non-None value"):
        second.backward()


@pytest.mark.parametrize("mode", ["all", "any"])
def test_a_hook_of_several_gradients_is_called_once_for_each_backward_as_pytorchs(mode):
    told = []
    for lib in (badak, torch):
        a, b, c = (lib.ones(2, requires_grad=True) for _ in range(3))
        x = a * 2
        heard: list = []
        tell = lambda gs, heard=heard: heard.append([g is None or g.tolist() for g in ([gs] if mode == "any" else gs)])
        handle = lib.autograd.graph.register_multi_grad_hook((a, b, x), tell, mode=mode)
        (a * b).sum().backward()  # reaches two of three
        (x * b * c).sum().backward(retain_graph=True)
        c.sum().backward()
        x.sum().backward()
        handle.remove()
        a.sum().backward()
        told.append(heard)
    if mode == "all":
        assert told[0] == told[1]
    assert len(told[0]) == len(told[1]) == 3


@pytest.mark.parametrize("again", [True, False])
def test_zeros_in_place_of_no_gradient_can_be_differentiated_where_the_others_can(again):
    for lib in (torch, badak):
        x, y = (lib.ones(2, requires_grad=True) for _ in range(2))
        dx, dy = lib.autograd.grad((x * x).sum(), (x, y), create_graph=again, materialize_grads=True)
        assert dx.requires_grad is dy.requires_grad is again and dy.tolist() == [0.0, 0.0]


@both
@pytest.mark.parametrize("end", ["close", "throw", "collected"])
def test_a_generator_that_is_ended_is_ended_in_its_own_grad_mode(lib, end):
    seen = []

    @lib.no_grad()
    def numbers():
        try:
            yield 1
        finally:
            seen.append(lib.is_grad_enabled())

    running = numbers()
    next(running)
    if end == "close":
        running.close()
    elif end == "throw":
        with pytest.raises(KeyError):
            running.throw(KeyError)
    del running
    assert seen == [False] and lib.is_grad_enabled()


@both
@pytest.mark.parametrize("change", ["requires_grad_(False)", "detach_()", "requires_grad_(False).requires_grad_()"])
def test_a_leaf_that_is_frozen_between_forward_and_backward_gets_no_gradient(lib, change):
    w, v = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    loss = (w * v).sum()
    eval("w." + change)
    loss.backward()
    assert v.grad.tolist() == [1.0, 2.0]
    assert (w.grad is None) != w.requires_grad


def end_story(lib):
    """What hooks at the end of a path see and change, in which order, with .grad as it is then."""
    told: list = []
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    end = x.expand_as(x).grad_fn.next_functions[0][0]
    x.register_hook(lambda dy: (told.append(("tensor", dy.tolist())), dy - 2)[1])
    before = end.register_prehook(lambda dys: (told.append(("before", [dy.tolist() for dy in dys])), (dys[0] * 5,))[1])
    x.register_post_accumulate_grad_hook(lambda x: told.append(("post", x.grad.tolist())))
    after = end.register_hook(lambda none, dys: told.append(("after", none, dys[0].tolist(), x.grad.tolist())))
    for inputs in (None, [x]):
        (x * x).sum().backward(inputs=inputs)
        told.append(x.grad.tolist())
    told.append([dx.tolist() for dx in lib.autograd.grad((x * x).sum(), x)])
    before.remove()
    after.remove()
    (x * 3).sum().backward(create_graph=True)
    handle = end.register_hook(lambda none, dys: told.append(dys[0].requires_grad))
    (x**3).sum().backward(create_graph=True)
    handle.remove()
    told.append(x.grad.tolist())
    return told, end.variable is x


@pytest.mark.filterwarnings("ignore:Using backward")
def test_hooks_at_the_end_of_a_path_run_around_its_addition_to_grad():
    assert end_story(badak) == end_story(torch)


def test_gradients_that_are_reduced_by_hooks_at_the_ends_of_paths():
    """As programs for several processes do it: each gradient is scaled as soon as it has arrived."""

    def trained(lib):
        lib.manual_seed(0)
        model, ends, order = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.Linear(3, 1)), [], []
        for name, p in model.named_parameters():
            with lib.no_grad():
                p.copy_(lib.arange(p.numel()).reshape(p.shape) / 7)
            end = p.expand_as(p).grad_fn.next_functions[0][0]
            end.register_hook(lambda *_, name=name, p=p: (order.append(name), p.grad.mul_(0.5)) and None)
            ends.append(end)
        model(lib.ones(4, 2)).mean().backward()
        return sorted(order), [p.grad.tolist() for p in model.parameters()]

    assert trained(badak) == trained(torch)


def test_inputs_of_backward_that_want_no_gradient_are_refused():
    for lib in (torch, badak):
        with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
            lib.ones(2, requires_grad=True).sum().backward(inputs=[lib.ones(2)])
