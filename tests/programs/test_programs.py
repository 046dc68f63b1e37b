"""Random programs give the same bits in every way; and what compares them sees what it must."""

import datetime
import functools
import random
import re
from pathlib import Path

import numpy as np
import pytest

import badak
from tests.programs.effects import EFFECTS
from tests.programs.generate import generate
from tests.programs.judge import judge
from tests.programs.pockets import OF_FLAGS, OF_NUMBERS, PLACES
from tests.programs.run import Way
from tests.programs.shrink import shrunk
from tests.programs.source import parsed

pytest.importorskip("badak.kernels.numba", reason="the Numba kernels are an extra")
FOUND = sorted((Path(__file__).parent / "found").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_programs_that_once_differed(path):
    text = path.read_text(encoding="utf-8")
    verdict = judge(text, "KeyValueCache" not in text)
    assert verdict.differences == [] and verdict.broken == ""


def test_a_seed_is_a_program():
    assert all(str(generate(seed)[0]) == str(generate(seed)[0]) for seed in range(30))
    assert len({str(generate(seed)[0]) for seed in range(30)}) == 30


def test_programs_can_be_read_back():
    for seed in range(30):
        text = str(generate(seed)[0])
        assert str(parsed(text)) == text


SMALL = """
weight = draw(3, 2).requires_grad_()
kept = torch.zeros(3, 2)
log = collections.deque()
class Config:
    __slots__ = ("rate",)
config = Config()
config.rate = [0]
def helper(seen=[]):
    return seen
def step(x):
    y = (weight * x).tanh()
    y.sum().backward()
    kept.add_(1)
    return y.detach(), torch.rand(2)
step = compile(step)
for number in range(5):
    watch(step, draw(3, 2))
"""


def tampered(change):
    """A compile that is wrong: `change(result)` happens after each call from the fourth on."""

    def compiled(function):
        calls = [0]

        @functools.wraps(function)
        def called(*args):
            calls[0] += 1
            result = function(*args)
            return change(function, result) or result if calls[0] > 3 else result

        return called

    return compiled


def _weight(function):
    return function.__globals__["weight"]


WRONG = {
    "a bit": lambda f, r: (badak.from_numpy(np.nextafter(r[0].numpy(), 9, dtype=np.float32)), r[1]),
    "strides": lambda f, r: (r[0].T.contiguous().T, r[1]),
    "dtype": lambda f, r: (r[0].double(), r[1]),
    "a gradient more": lambda f, r: (r[0].requires_grad_(), r[1]),
    "no .grad": lambda f, r: setattr(_weight(f), "grad", None),
    "a wrong .grad": lambda f, r: _weight(f).grad.mul_(2) and None,
    "a parameter": lambda f, r: _weight(f).data.add_(1e-7) and None,
    "frozen": lambda f, r: _weight(f).requires_grad_(False) and None,
    "a kept tensor": lambda f, r: f.__globals__["kept"].add_(1) and None,
    "the generator": lambda f, r: badak.rand(1) and None,
    "another kind": lambda f, r: list(r),
    "a log": lambda f, r: f.__globals__["log"].append(1),
    "an object": lambda f, r: f.__globals__["config"].rate.append(1),
    "a class": lambda f, r: setattr(f.__globals__["Config"], "rate", None),
    "an attribute of a function": lambda f, r: setattr(f.__globals__["helper"], "calls", r),
    "the random numbers of Python": lambda f, r: random.random() and None,
    "the random numbers of NumPy": lambda f, r: np.random.seed(1),
    "an argument": lambda f, r: f.__globals__["kept"].sub_(1) and None,
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_seen(name, monkeypatch):
    monkeypatch.setattr(badak, "compile", tampered(WRONG[name]))
    verdict = judge(SMALL, ways={str(Way(compiled=True))})
    assert len(verdict.differences) == 1 and "call 4" in verdict.differences[0]


def test_what_is_right_is_not():
    verdict = judge(SMALL, pytorch=True)
    assert verdict.differences == [] and verdict.whys == ["replayed"]


@pytest.mark.slow
def test_numbers_that_are_off_by_more_than_rounding_are_seen():
    text = SMALL.replace("y.sum()", "(y * (1 + 1e-9 * (torch.__name__ == 'torch'))).sum()")
    found = judge(text, pytorch=True).differences
    assert len(found) == 1 and found[0].startswith("PyTorch, float64: call 1") and "numbers off by" in found[0]


def test_a_program_is_shrunk_to_what_matters():
    text = SMALL.replace("kept.add_(1)", "kept.add_(1)\n    z = x * 2\n    bad = torch.zeros(2)")
    small = str(shrunk(parsed(text), lambda text: "bad =" in text and "def step" in text))
    assert small == "def step(x):\n    bad = torch.zeros(2)\n"


@pytest.mark.slow
def test_every_family_is_drawn():
    """What the generator is for: layers, optimizers, schedules, changes, errors, threads, caches."""
    texts = "\n".join(str(generate(seed)[0]) for seed in range(1500))
    wanted = "Linear Embedding LayerNorm RMSNorm BatchNorm1d BatchNorm2d GroupNorm InstanceNorm1d Conv1d Conv2d ConvTranspose1d GRU( LSTM( RNN( GRUCell LSTMCell "
    wanted += "MultiheadAttention TransformerEncoderLayer TransformerDecoderLayer MaxPool AvgPool Dropout( Bilinear KeyValueCache SGD Adam( AdamW RMSprop Adagrad "
    wanted += "lr_scheduler clip_grad_norm_ clip_grad_value_ set_to_none .eval() requires_grad_(False) register_forward_hook hook.remove() rewind no_grad inference_mode "
    wanted += "together( in_turn( retain_graph load_state_dict .expand .transpose [::2] .half() zero_() copy_ manual_seed"
    wanted += " ValueError('stop x.chunk(2) HalfSquare.apply checkpoint( register_parametrization ModuleDict autocast Adamax Rprop ASGD NAdam RAdam Adadelta "
    wanted += "ChainedScheduler OneCycleLR SequentialLR retain_graph=True autograd.grad( torch.cat([input"
    assert [word for word in wanted.split() if word not in texts] == []
    done = [re.escape(text.splitlines()[0]) for _, text in EFFECTS]
    places = [re.escape(made.partition("{v}")[0].splitlines()[-1].strip()) for made, _, _ in PLACES + OF_NUMBERS + OF_FLAGS]
    patterns = [
        place.replace(r"\{n\}", r"(pocket|log)\d+").replace(r"\{N\}", r"(Pocket|Log)\d+").replace(r"\{h\}", ".+")
        for place in places + done
    ]
    patterns = [pattern.replace(r"\{\{", r"\{").replace(r"\}\}", r"\}") for pattern in patterns]
    assert [pattern for pattern in patterns if not re.search(pattern, texts)] == []


STATEFUL = [seed for seed in range(150) if re.search("pocket|log", str(generate(seed)[0]))][:12]
FITTED = [seed for seed in range(150) if "fit(" in str(generate(seed)[0])][:3]


@pytest.mark.parametrize("seed", STATEFUL + FITTED)
def test_state_in_python_is_seen(seed):
    """What the step reads in containers, objects, functions and iterators, and does besides: compiled as it is without."""
    program, _ = generate(seed)
    dtype = "float64" if seed % 4 == 3 else "float32"
    assert judge(str(program), ways={str(Way(compiled=True, dtype=dtype))}, dtype=dtype).differences == []


TODAY = int(datetime.date.today().strftime("%Y%m%d")) * 1000
SLOW = [pytest.param(part, marks=pytest.mark.slow) for part in range(1, 5)]  # make nightly runs 2,000 programs


@pytest.mark.slow
@pytest.mark.thin(1)
@pytest.mark.parametrize("part", [0, *SLOW])
def test_programs_of_today(part):
    """Other seeds each day: 12 in `make check`, 60 in `make test`; a failure names its seed, to be run and shrunk alone."""
    for seed in range(TODAY + 12 * part, TODAY + 12 * (part + 1)):
        program, _ = generate(seed)
        verdict = judge(str(program), False, "float64" if seed % 4 == 3 else "float32")
        assert verdict.differences == [], f"python -m tests.programs --seeds {seed}\n{program}"
