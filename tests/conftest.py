"""What all tests share: enough threads to compare, quiet imports, warnings that speak again in every test."""

import gc
import os

os.environ.setdefault("NUMBA_NUM_THREADS", "4")  # before Numba is imported: 1 == 2 == 4 threads can be compared anywhere
os.environ.setdefault("BADAK_COMPILE_CHECK", "2")  # before badak is: every second replay is also run as it is, and compared

os.environ["BADAK_LANG"] = "en"  # texts are compared

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is: a name that is no folder asks no network

import signal
from contextlib import contextmanager

import pytest
import torch

from badak.compiler import process
from badak.training.run import Run
from tests import tiers

gc.disable()  # until the tests are collected: with 25,000 of them each look of the collector takes a quarter of a second
torch.set_num_threads(1)
for absent in (torch.cuda, torch.xpu, torch.mtia):  # each seed would be kept for them, with the whole stack as text: a millisecond
    absent.manual_seed_all = lambda seed: None
# A shell starts what runs in its background with Ctrl-C ignored, nohup with SIGHUP, and children inherit that; tests need them.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # not on Windows
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser):
    parser.addoption("--tier", choices=tiers.TIERS, default="test", help="which tests run: see tests/tiers.py")


def pytest_configure(config):
    tiers.chosen = config.getoption("tier")


def pytest_ignore_collect(collection_path, config):
    """A file of which no test is in this tier is not imported."""
    test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if test and not named(config) and tiers.left_out(collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, name, obj):
    """Of a test that is not in this tier no cases are made."""
    return (
        [] if name.startswith(("test", "Test")) and callable(obj) and not named(collector.config) and tiers.too_late(obj) else None
    )


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc):
    """Of a test with many cases only those of this tier are made."""
    yield
    if not named(metafunc.config) and metafunc._calls:
        metafunc._calls[:] = tiers.cases(metafunc.definition, metafunc._calls) or metafunc._calls[:1]


@pytest.hookimpl(tryfirst=True)  # what -k and -m leave out is left out of the tier's
def pytest_collection_modifyitems(config, items):
    if not named(config):
        items[:], others = tiers.split(items)
        config.hook.pytest_deselected(items=others)


def named(config) -> bool:
    """Whether single tests are asked for, which run in every tier."""
    return any("::" in word for word in config.args)


def pytest_collection_finish():
    """The tests themselves are never garbage. What compiled steps ask the collector for, they ask before."""
    process.codec_registries()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def small_heap():
    """What the tests of a file leave for good, such as imports, is never garbage: a look at all objects stays one at the test's."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def fresh_state():
    """Every test starts with the same numbers and hears every warning."""
    tiers.fresh()


@pytest.fixture(scope="session", autouse=True)
def drawing():
    """A picture of a training takes longer than most trainings here: where no test asks for `pictures`, nightly alone draws it."""
    draw, asked = Run.draw, []
    Run.draw = lambda run, log=print: draw(run, log) if asked or tiers.chosen == "nightly" else True
    yield asked
    Run.draw = draw


@pytest.fixture
def pictures(drawing):
    """The test looks at curves.png."""
    drawing.append(True)
    yield
    drawing.pop()


@pytest.fixture
def threads():
    """`with threads(n): ...` runs the compiled kernels on n threads."""
    fast = pytest.importorskip("badak.kernels.numba", reason="the Numba kernels are an extra")

    @contextmanager
    def on(count: int):
        before = fast.get_num_threads()
        fast.set_num_threads(count)
        try:
            yield
        finally:
            fast.set_num_threads(before)

    return on
