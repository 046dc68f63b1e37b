"""What a node has saved, as programs see it: grad_fn._raw_saved_..., hooks of its own, words at the end of a backward."""

import gc
import weakref

import pytest
import torch

import badak

LIBRARIES = (torch, badak)
POWERS = {
    "exp": (lambda x: x.exp(), "result"),
    "x * x": (lambda x: x * x, "self"),
    "x^3": (lambda x: x**3, "self"),
    "sigmoid": (lambda x: x.sigmoid(), "result"),
}


@pytest.mark.parametrize("name", POWERS)
@pytest.mark.parametrize("leaf", [True, False])
def test_hooks_of_one_saved_tensor(name, leaf):
    found = []
    for lib in LIBRARIES:
        start = lib.tensor([0.5, 1.5], requires_grad=True)
        x = start if leaf else start + 1
        function, word = POWERS[name]
        y = function(x)
        getattr(y.grad_fn, f"_raw_saved_{word}").register_hooks(lambda x: 2 * x, lambda x: x + 1)
        seen = getattr(y.grad_fn, f"_saved_{word}")
        (first,) = lib.autograd.grad(y.sum(), start, create_graph=True)
        (second,) = lib.autograd.grad(first.sum(), start)
        found.append([each.tolist() for each in (seen, first, second)] + [seen.requires_grad, type(seen.grad_fn).__name__])
    assert found[0][-2:] == found[1][-2:]
    for theirs, mine in zip(found[0][:-2], found[1][:-2]):
        assert mine == pytest.approx(theirs, rel=1e-6)


def test_hooks_of_what_a_function_has_saved():
    for lib in LIBRARIES:

        class Cube(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x, None)
                return x**3

            @staticmethod
            def backward(ctx, dy):
                return 3 * ctx.saved_tensors[0] ** 2 * dy

        x = lib.tensor([1.0, 2.0], requires_grad=True)
        y = Cube.apply(x)
        first, nothing = y.grad_fn._raw_saved_tensors
        first.register_hooks(lambda x: x.tolist(), lib.tensor)
        with pytest.raises(RuntimeError, match="have already been set"):
            first.register_hooks(lambda x: x, lambda x: x)
        with pytest.raises(RuntimeError, match="None is forbidden"):
            nothing.register_hooks(lambda x: x, lambda x: x)
        with pytest.raises(TypeError, match="incompatible function arguments"):
            nothing.register_hooks(lambda x: x)
        y.sum().backward()
        assert x.grad.tolist() == [3, 12]


def test_what_a_hook_may_not_do():
    for lib in LIBRARIES:
        y = lib.ones(2, requires_grad=True).exp()
        with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"):
            y.grad_fn._raw_saved_result.register_hooks(lambda x: x.add_(1), lambda x: x)
        y = lib.ones(2, requires_grad=True).exp()
        y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: 3)
        with pytest.raises(TypeError, match="Output of saved tensor unpack_hook expected to be a Tensor"):
            y.sum().backward()
        with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python is forbidden"):
            lib.autograd.SavedTensor()
        with lib.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x), pytest.raises(RuntimeError, match="no hooks here"):
            with lib.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
                pass


def test_a_tensor_that_was_packed_may_be_changed_and_one_that_is_seen_may_not():
    for lib, fails in ((torch, False), (badak, True)):  # which PyTorch does not notice
        for pack, seen in ((lambda x: x.clone(), False), (lambda x: x, True)):
            start = lib.tensor([1.0, 2.0], requires_grad=True)
            x = start * 1
            y = x.square()
            y.grad_fn._raw_saved_self.register_hooks(pack, lambda x: x)
            with lib.no_grad():
                x.zero_()
            if seen and fails:
                with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                    y.sum().backward()
            else:
                y.sum().backward()
                assert start.grad.tolist() == ([0, 0] if seen else [2, 4])


@pytest.mark.parametrize("lib", LIBRARIES)
def test_words_at_the_end_of_a_backward(lib):
    said = []
    engine = lib.autograd.Variable._execution_engine

    class Tell(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, dy):
            said.append("backward")
            engine.queue_callback(lambda: (said.append("first"), engine.queue_callback(lambda: said.append("second"))))
            return dy

    x = lib.ones(2, requires_grad=True)
    x.register_hook(lambda dx: said.append("leaf"))
    Tell.apply(x).sum().backward()
    assert said == ["backward", "leaf", "first", "second"]
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        engine.queue_callback(said.clear)


def test_classes_of_nodes_and_what_is_kept_with_one():
    class Kept:
        pass

    for lib in LIBRARIES:
        x = lib.ones(2, requires_grad=True)
        y = x * 2
        assert isinstance(y.grad_fn.next_functions[0][0], lib._C._functions.AccumulateGrad)
        assert not isinstance(y.grad_fn, lib._C._functions.AccumulateGrad)
        y.grad_fn.metadata["kept"] = kept = Kept()
        reference = weakref.ref(kept)
        del kept
        gc.collect()
        assert y.grad_fn.metadata["kept"] is reference()
        tensor = lib._C._WeakTensorRef(y)
        assert not tensor.expired()
        del y
        gc.collect()
        assert tensor.expired() and reference() is None


OF_NUMBERS = [lambda x: x + 5, lambda x: 5 - x, lambda x: 2 * x, lambda x: x / 2, lambda x: x**2, lambda x: x * x, lambda x: -x]


@pytest.mark.parametrize("function", OF_NUMBERS)
def test_a_number_is_an_end_of_its_own(function):
    found = []
    for lib in LIBRARIES:
        node = function(lib.ones(2, requires_grad=True)).grad_fn
        found.append((type(node).__name__, [(type(end).__name__, number) for end, number in node.next_functions]))
    assert found[0] == found[1]


@pytest.mark.parametrize("inner", [True, False])
def test_hooks_of_what_is_saved_and_a_checkpoint(inner):
    for lib in LIBRARIES:
        hooks = lambda lib=lib: lib.autograd.graph.save_on_cpu()
        checkpoint = lambda f, x, lib=lib: lib.utils.checkpoint.checkpoint(f, x, use_reentrant=False)

        def within(x, hooks=hooks):
            with hooks():
                return x.pow(3).exp()

        x = lib.tensor([0.5, 1.0], requires_grad=True)
        if inner:
            y = checkpoint(within, x * 1).pow(2)
        else:
            with hooks():
                y = checkpoint(lambda x: x.pow(3).exp(), x * 1).pow(2)
        y.sum().backward()
        assert x.grad.tolist() == pytest.approx((6 * x**2 * (2 * x**3).exp()).tolist())
