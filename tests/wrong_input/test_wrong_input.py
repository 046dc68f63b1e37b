"""Every public name, called with wrong input of each kind: two lines, or a result; never a foreign exception.

The right calls are PyTorch's own samples; `spoil.py` makes one argument after another wrong. PyTorch's own wrong calls are
tried as well: what PyTorch refuses, badak does not take in silence, apart from the list of exceptions here.
"""

import contextlib
import gc
import warnings
import weakref

import pytest

import badak
from badak import optim
from badak.core.errors import BadakError
from tests.tiers import thinned
from tests.wrong_input import calls
from tests.wrong_input.spoil import spoiled

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

SILENT = {  # public names that take no tensor: settings, switches, files, other programs' doors
    *"autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache set_autocast_cache_enabled".split(),
    *"set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled".split(),
    "are_deterministic_algorithms_enabled", "audit", "compile", "fork_rng", "from_dlpack", "frombuffer",
    "get_autocast_cpu_dtype", "get_autocast_dtype", "from_file",
    "get_autocast_gpu_dtype", "is_anomaly_enabled", "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_storage",
    "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sum", "typename",
    "get_default_device", "get_default_dtype", "get_deterministic_debug_mode", "get_device_module", "get_float32_matmul_precision",
    "get_num_interop_threads", "get_num_threads",
    "get_rng_state", "info", "initial_seed", "is_autocast_enabled", "is_deterministic_algorithms_warn_only_enabled",
    "is_grad_enabled", "is_inference_mode_enabled", "is_tensor", "is_warn_always_enabled", "load", "look", "manual_seed",
    "doctor", "quantize", "save", "seed", "source",
    "set_default_device", "set_default_dtype", "set_default_tensor_type", "set_deterministic_debug_mode",
    "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads", "set_num_threads", "set_printoptions",
    "set_rng_state", "set_warn_always", "use_deterministic_algorithms",
}  # fmt: skip

NUMBER = "a number may stand in the place of a tensor"
COMPLETE = "the result is complete before it is written, so out= may share memory with an input"
ACCEPTED = {  # what PyTorch refuses and badak takes, because it has a meaning
    "index_select": "an out= whose numbers share memory is copied for badak, and then they do not",
    "kthvalue": "an out= whose numbers share memory is copied for badak, and then they do not",
    **dict.fromkeys(("atan2", "clamp_max", "clamp_min", "eq", "fmod", "ge", "gt", "le", "lt", "ne", "rsub"), NUMBER),
    **dict.fromkeys(("copysign", "gcd", "heaviside", "hypot", "igamma", "igammac", "lcm"), NUMBER),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), NUMBER),
    **dict.fromkeys(("bernoulli", "cat", "gather", "masked_select", "take"), COMPLETE),
    "complex": "out= takes a result of higher precision, as it does everywhere",
}  # fmt: skip


def names() -> list[str]:
    known = {*calls.sampled(), *calls.BY_HAND, *calls.ALIASES}
    also = {name.removeprefix("nn.functional.") for name in known} & set(calls.public())  # badak.conv1d is F.conv1d
    known |= also
    known |= {name for name in calls.public() if calls.plain(name) in known}  # acos_ is called as acos is
    return sorted(name for name in known if calls.find(name) is not None)


class Held:
    """What a caller has at hand: a batch that was too large, say."""


def complaint(function, args, kwargs) -> str:
    """What is wrong with the answer to this call, "" where nothing is."""
    held = [Held()]
    seen = weakref.ref(held[0])
    said = answer(function, args, kwargs, held.pop())
    return said or ("an exception that was caught keeps what its callers held" if seen() is not None else "")


def answer(function, args, kwargs, held: Held | None = None) -> str:
    """The same, without what stays of it; `held` lives until the answer is there."""
    try:
        function(*args, **kwargs)
    except BadakError as error:
        if error.fix is None or "\n" in error.cause or "\n" in error.fix:
            return f"no line of cause and one of fix: {error}"
    except Exception as error:
        lines = str(error).split("\n")  # Python's own class, but our two lines
        return "" if len(lines) == 2 and lines[1].startswith("fix: ") else f"{type(error).__name__}: {error}"
    return ""


def complaints(function, args, kwargs) -> list[str]:
    """The same for every way to spoil one argument."""
    found = []
    for place, value in enumerate(args):
        for how, wrong in spoiled(value):
            found.append((f"argument {place}: {how}", complaint(function, [*args[:place], wrong, *args[place + 1 :]], kwargs)))
    for name, value in kwargs.items():
        for how, wrong in spoiled(value):
            found.append((f"{name}: {how}", complaint(function, args, {**kwargs, name: wrong})))
    found.append(("nothing", complaint(function, [], {})))
    found.append(("an unknown name", complaint(function, args, {**kwargs, "nonsense": 1})))
    return [f"{how}: {what}" for how, what in found if what]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), badak.kernels.use("reference"):
        warnings.simplefilter("ignore")
        badak.manual_seed(0)
        gc.disable()
        yield
        gc.enable()


@pytest.mark.thin(45)
@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_wrong_input_is_answered_in_two_lines(name):
    tried = 0
    for function, args, kwargs in thinned(calls.calls(name), 1):
        with contextlib.suppress(BadakError):  # a sample that badak refuses is spoiled all the same
            function(*args, **kwargs)
        tried += 1
        assert complaints(function, args, kwargs) == []
    assert tried, "no call of it is known"


@pytest.mark.thin(130)
@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_what_pytorch_refuses_is_refused(name):
    taken = []
    for (function, args, kwargs), kind, said in calls.torch_refuses(name):
        answer = "taken"
        try:
            function(*args, **kwargs)
        except BadakError as error:
            answer = "" if error.fix and isinstance(error, kind) else f"{type(error).__name__}, not {kind.__name__}"
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        if answer:
            taken.append(f"{answer}; PyTorch says: {said}")
    assert taken == [] or name in ACCEPTED, taken
    assert taken or name not in ACCEPTED, "it is refused now: take it off the list"


@pytest.mark.thin(40)
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(calls.layers()))
def test_layers_answer_wrong_input_in_two_lines(name):
    for kind, built, options, used, named in calls.layer_calls(calls.layers()[name]):
        assert complaints(kind, built, options) == []
        layer = kind(*built, **options)
        assert complaints(layer, used, named) == []


def test_initialisers_answer_wrong_input_in_two_lines():
    for function, args, kwargs in calls.initialisers():
        assert complaints(function, args, kwargs) == [], function.__name__


@pytest.mark.parametrize(
    "kind",
    [
        optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop, optim.Adagrad, optim.Adadelta, optim.Adamax, optim.NAdam, optim.RAdam,
        optim.Rprop, optim.ASGD, optim.Adafactor, optim.LBFGS,
    ],
)  # fmt: skip
def test_optimizers_answer_wrong_input_in_two_lines(kind):
    options = {"lr": 0.1, "weight_decay": 0.1, "betas": (0.9, 0.9), "momentum": 0.9, "eps": 1e-8, "alpha": 0.9}
    options |= {
        "rho": 0.9,
        "etas": (0.5, 1.2),
        "step_sizes": (0.1, 1.0),
        "momentum_decay": 0.1,
        "lambd": 0.1,
        "t0": 1.0,
        "d": 1.0,
    }
    options |= {"eps": (None, 0.1)} if kind is optim.Adafactor else {}
    known = {name: value for name, value in options.items() if name in kind([badak.ones(2)]).defaults}
    assert complaints(kind, [[badak.ones(2)]], known) == []


def test_every_public_function_is_called():
    covered = {*names(), *SILENT}
    assert sorted(set(calls.public()) - covered) == []
    assert sorted(SILENT - set(calls.public())) == [], "not public any more"
