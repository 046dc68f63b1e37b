"""torch.jit.script: what a script computes, is and writes, next to PyTorch's."""

import copy
import io
import pickle
import warnings

import numpy as np
import pytest
import torch

import badak
from badak import jit, nn
from badak.core.errors import ArgumentTypeError, BadakError, NotSupportedError, ShapeError, StateError

pytestmark = pytest.mark.filterwarnings("ignore:.*jit.*deprecated")


def net(lib):
    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.ReLU(), lib.nn.BatchNorm1d(4))
            self.scale = 2

        @lib.jit.ignore
        def outside(self, x: lib.Tensor) -> lib.Tensor:
            return x if lib.jit.is_scripting() else x * 10

        @lib.jit.unused
        def never(self, x: lib.Tensor) -> lib.Tensor:
            return x

        @lib.jit.export
        def more(self, x):
            return x + self.scale

        def forward(self, x, never: bool = False):
            if never:
                return self.never(x)
            x = self.layers(x)
            if lib.jit.is_scripting():
                x = x + 100
            return self.outside(x) * self.scale

    return Net()


def twins():
    theirs, ours = net(torch), net(badak)
    ours.load_state_dict({key: badak.tensor(x.numpy()) for key, x in theirs.state_dict().items()})
    return torch.jit.script(theirs), jit.script(ours), ours


def saved(script):
    return jit.load(io.BytesIO(script.save_to_buffer()))


def test_a_script_is_what_pytorch_s_is():
    theirs, ours, original = twins()
    x = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    for mode in (True, False):
        a, b = theirs.train(mode)(torch.tensor(x)), ours.train(mode)(badak.tensor(x))
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-5)
    assert ours.more(badak.ones(1)).tolist() == theirs.more(torch.ones(1)).tolist()
    assert ours.outside(badak.ones(1)).tolist() == theirs.outside(torch.ones(1)).tolist() == [10.0]
    for run, one in ((theirs, torch.ones(2, 3)), (ours, badak.ones(2, 3))):
        with pytest.raises((StateError, torch.jit.Error), match="annotated to be ignored and cannot be run"):
            run(one, True)
    assert list(ours.state_dict()) == list(theirs.state_dict()) and ours.original_name == theirs.original_name == "Net"
    assert repr(ours) == repr(theirs) and "def forward" in ours.code
    assert isinstance(ours, jit.ScriptModule) and isinstance(ours.layers[0], jit.RecursiveScriptModule)
    assert jit.script(ours) is ours and original.training and original.layers[2].training and not ours.layers[2].training
    ours.scale = 7
    assert original.scale == 2 and ours.layers[0].weight is original.layers[0].weight and not jit.is_scripting()


def test_a_script_learns_and_is_copied():
    script = jit.script(nn.Linear(2, 1))
    script(badak.ones(3, 2)).sum().backward()
    assert script.weight.grad.tolist() == [[3.0, 3.0]]
    for twin in (copy.copy(script), copy.deepcopy(script)):
        assert badak.equal(twin(badak.ones(1, 2)), script(badak.ones(1, 2))) and type(twin) is type(script)
    assert copy.copy(script).weight is script.weight and copy.deepcopy(script).weight is not script.weight
    for write in (pickle.dumps, lambda x: badak.save(x, io.BytesIO())):
        with pytest.raises(StateError, match="cannot be pickled\nfix: "):
            write(script)


def test_a_file_of_a_script_is_what_it_computes():
    script = jit.script(net(badak)).eval()
    x, y = badak.randn(5, 3), badak.randn(9, 3)
    script(x)
    assert "aten::linear" in str(script.graph)
    loaded = saved(script)
    assert isinstance(loaded, jit.RecursiveScriptModule) and not loaded.training
    assert badak.equal(loaded(y), script(y))
    given = jit.script(nn.Linear(3, 2), example_inputs=[(x,)])
    assert badak.equal(saved(given)(y), given(y))

    @jit.script
    def program(a, b=2.0):
        """Words."""
        return a.softmax(-1) * b

    assert isinstance(program, jit.ScriptFunction) and (program.name, program.__doc__) == ("program", "Words.")
    assert badak.equal(program(x), x.softmax(-1) * 2) and program.qualified_name == "__torch__.program"
    loaded = saved(program)
    assert isinstance(loaded, jit.ScriptFunction) and badak.equal(loaded(y), program(y))


def test_names_of_the_module_are_not_taken_over():
    class Coder(nn.Module):
        def __init__(self):
            super().__init__()
            self.code = nn.Parameter(badak.ones(2))
            self.graph = [0]
            self.call = self.forward

        def save(self, x):
            return x + 1

        def forward(self, x):
            return self.save(x) * self.code + len(self.graph)

    script = jit.script(Coder())
    assert script(badak.ones(2)).tolist() == [3.0, 3.0] == script.call(badak.ones(2)).tolist()
    assert script.call.__self__ is script


def long(x):
    return x * 2 if x.shape[0] > 100 else x


def cut(x):
    return x * min(x.shape[0], 100)


def halves(x):
    n = x.shape[0] // 50
    return x + n


def bound_again(x, many=None):
    many = x.shape[0] and x.shape[0] - 100
    return x * 2 if many else x


def flagged(x, twice: bool = True):
    return x.t().t() * 2 if twice and x.dim() == 2 else x


@pytest.mark.parametrize("function", [long, cut, halves, bound_again])
def test_a_size_that_a_branch_depends_on_does_not_vary(function):
    script = jit.script(function)
    script(badak.ones(5, 2))
    loaded = saved(script)
    assert badak.equal(loaded(badak.ones(5, 2)), function(badak.ones(5, 2)))
    with pytest.raises(ShapeError, match="traced with x of shape"):
        loaded(badak.ones(200, 2))


def test_other_branches_leave_the_sizes_free():
    script = jit.script(flagged)
    script(badak.ones(5, 2))
    assert badak.equal(saved(script)(badak.ones(200, 2)), flagged(badak.ones(200, 2)))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jit.script(3), ArgumentTypeError, "expected a module or a function"),
        (lambda: jit.script(nn.Linear), StateError, "inherits from nn.Module"),
        (lambda: jit.script(nn.Linear(1, 1)).save("never.pt"), StateError, "was not called yet"),
        (lambda: jit.script(nn.Linear(1, 1)).graph, StateError, "was not called yet"),
        (lambda: jit.script(eval("lambda x: x")).code, NotSupportedError, "does not know the source"),
        (lambda: jit.freeze(nn.Linear(1, 1)), StateError, "expects a ScriptModule as input"),
        (lambda: jit.freeze(jit.script(nn.Linear(1, 1))), StateError, "modules in eval mode"),
        (lambda: jit.optimize_for_inference(nn.Linear(1, 1)), StateError, "expects a ScriptModule as input"),
    ],
)
def test_a_mistake_is_explained(call, error, words):
    with pytest.raises(error, match=words) as raised:
        call()
    assert "\nfix: " in str(raised.value)


def test_a_branch_on_data_and_a_draw_are_refused():
    for function, words in (
        (lambda x: x if x.sum() > 0 else -x, "a tensor goes to Python"),
        (nn.Dropout(), "draws random numbers"),
    ):
        script = jit.script(function)
        script(badak.ones(3))
        with pytest.raises(BadakError, match=words) as raised, warnings.catch_warnings():
            script.save(io.BytesIO())
        assert "\nfix: " in str(raised.value)


def test_a_frozen_script_computes_the_same():
    script = jit.script(nn.Linear(2, 1)).eval()
    x = badak.ones(3, 2)
    for made in (jit.freeze(script), jit.optimize_for_inference(jit.script(nn.Linear(2, 1))), jit.freeze(jit.trace(script, x))):
        assert not made.training and made(x).shape == (3, 1)
    assert badak.equal(jit.freeze(script)(x), script(x))
    assert jit.trace(script, x)(badak.ones(7, 2)).shape == (7, 1)


def refuses(x, k: int):
    if k == 0:
        raise ValueError("k is zero")
    assert k != 1, "k is one"
    return x.view(7) if k == 2 else x


def test_what_a_script_raises_itself_is_an_error_of_jit():
    for lib in (torch, badak):
        script, x = lib.jit.script(refuses), lib.ones(2)
        for k, words in enumerate(("ValueError: k is zero", "AssertionError: k is one")):
            with pytest.raises(lib.jit.Error, match=words) as caught:
                script(x, k)
            assert str(caught.value).startswith("The following operation failed in the TorchScript interpreter.")
        with pytest.raises(RuntimeError, match="shape '\\[7\\]' is invalid for input of size 2") as caught:
            script(x, 2)
        assert not isinstance(caught.value, lib.jit.Error) and lib.JITException is lib.jit.Error
    with pytest.raises(jit.Error) as caught:
        jit.script(refuses)(badak.ones(2), 0)
    assert isinstance(caught.value.__cause__, ValueError)
