"""What the test files of PyTorch 1.13 import and neither PyTorch 2.13 nor badak has: a plugin of pytest, used alike for both.

With PyTorch it gives a few names back that were there in 1.13. Where badak stands in for torch it also lets `torch.testing._...`
be PyTorch's own files, from the folder that the environment variable TORCH_TESTING names (the testing folder of an installed
PyTorch): they are Python, and reach the library only through `import torch`. `tools/their_tests.py` loads it.
"""

import importlib
import importlib.util
import math
import os
import re
import signal
import sys
import unittest
from contextlib import suppress
from functools import reduce
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from tempfile import mkdtemp
from types import ModuleType, SimpleNamespace
from typing import Any
from zlib import crc32

import pytest

SECONDS = 20  # of the CPU's time that a test may take, and ten times as many on the clock
ALSO = (
    "torch.utils._import_utils",
    "torch.utils._mode_utils",
    "torch.masked._ops",
    "torch.masked._docs",
)  # of which the helpers take functions
EVERY = int(os.environ.get("TORCH_TESTS_EVERY", "1"))  # one test of so many is run, chosen by its name
WITHOUT = os.environ.get("TORCH_TESTS_WITHOUT", "")  # and none whose name this pattern is found in
FOLDER = os.environ.get("TORCH_TESTING", "")


class Helpers(MetaPathFinder):
    """Finds torch.testing._... in FOLDER, and what PyTorch's wheel brings of other projects beside it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not name.startswith(("torch.testing._", "torch._vendor")) and name not in ALSO:
            return None
        at = os.path.join(os.path.dirname(FOLDER), *name.split(".")[1:])
        if os.path.isdir(at):
            return importlib.util.spec_from_file_location(name, os.path.join(at, "__init__.py"), submodule_search_locations=[at])
        return importlib.util.spec_from_file_location(name, at + ".py") if os.path.isfile(at + ".py") else None


class Nothing(ModuleType):
    """A switch of PyTorch's compilers, devices or C++ that its helpers set or ask while they are imported: off, and empty."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__call__":
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> "Nothing":
        return self

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Any:
        return iter(())

    def __enter__(self) -> "Nothing":
        return self

    def __exit__(self, *error: object) -> None:
        return None


OFF = """
torch.backends.disable_global_flags torch.cpu.get_capabilities torch.cpu._is_avx2_supported torch._C._jit_set_profiling_executor
torch._C._get_graph_executor_optimize torch._C.ScriptFunction torch._C.ScriptMethod torch._C._get_cpu_capability
torch._C._DisableFuncTorch
""".split()
ABSENT = "complex32 quint8 qint8 qint32 quint4x2 quint2x4 float4_e2m1fn_x2".split()  # dtypes, which tests are made for
ZERO = "torch._C._len_torch_function_stack torch._C._get_torch_function_state".split()


def switches() -> None:
    """Give badak what PyTorch's helpers need while they are imported."""
    spread = ModuleType("torch.distributed.tensor")  # whose class they compare with, where there is torch.distributed
    spread.__dict__["DTensor"] = type("DTensor", (), {})
    sys.modules["torch.distributed.tensor"] = spread
    things: dict[str, Any] = {name: Nothing(name) for name in OFF} | {name: lambda: 0 for name in ZERO}
    things["torch._utils._is_privateuse1_backend_available"] = lambda: False
    files = {"get_file_path_2": os.path.join, "get_writable_path": lambda path: path if os.access(path, os.W_OK) else mkdtemp()}
    things["torch._utils_internal"] = SimpleNamespace(**files)
    things["torch._C._TorchFunctionState"] = SimpleNamespace(ENABLED=0)
    things |= {f"torch.sparse_{layout}": f"sparse_{layout}" for layout in ("coo", "csr", "csc", "bsr", "bsc")}
    things["torch._mkldnn"] = "mkldnn"
    things["torch._ops.HigherOrderOperator"] = type("HigherOrderOperator", (), {})  # which classes of tests derive from
    kernels = "unary binary 4inputs_with_extra_args binary_return_by_ref 2inputs_2outputs"  # of GPUs, compiled from text
    things |= {f"torch.jiterator_{name}": same for name in kernels.split()}
    things["torch.utils.deterministic"] = SimpleNamespace(fill_uninitialized_memory=True)  # which a guard of theirs sets
    things["torch.sparse"] = SimpleNamespace(check_sparse_tensor_invariants=Nothing("invariants"))
    for name, thing in things.items():
        space, _, last = name.rpartition(".")
        _give(reduce(getattr, space.split(".")[1:], importlib.import_module("torch")), **{last: thing})


def lenient() -> None:
    """Let badak give a placeholder to whatever is asked for while a file is imported, and a name to every dtype."""
    missing = importlib.import_module("badak.core.public_api.missing")
    wants = missing.wants_placeholder
    missing.wants_placeholder = lambda: wants() or importing()
    missing.Missing.__all__ = ("none",)  # of modules whose names they list, and make a test for each
    torch = importlib.import_module("torch")
    known = importlib.import_module("badak.tensor.dtypes")._names  # by which copy.deepcopy finds them
    for name in ABSENT:
        known[name] = torch.dtype(name, "complex" if "complex" in name else "other", 8)
        _give(torch, **{name: known[name]})
    torch.chalf = torch.complex32
    torch.library.CustomOpDef._opoverload = property(same)  # of operators that their samples define
    for name in ALSO:
        space, _, last = name.rpartition(".")
        setattr(importlib.import_module(space), last, importlib.import_module(name))


def importing() -> bool:
    """Whether an import waits for what runs now."""
    frame = sys._getframe(1)
    while frame is not None and "importlib" not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None


def same(thing: Any) -> Any:
    """A decorator that changes nothing."""
    return thing


def old_names() -> None:
    """Names of 1.13 that tests import, as they were."""
    six = ModuleType("torch._six")
    vars(six).update(inf=math.inf, nan=math.nan, string_classes=(str, bytes))
    sys.modules["torch._six"] = six
    utils, cuda, nn = (importlib.import_module(f"torch.testing._internal.common_{name}") for name in ("utils", "cuda", "nn"))
    _give(utils, skipIfMps=same)
    utils.open_source_signpost = lambda **options: None  # which tells PyTorch's makers of the run
    utils.TestCase.run = unittest.TestCase.run  # without the switches of compilers around each test
    _give(cuda, tf32_is_not_fp32=lambda: False, CUDA11OrLater=False, CUDA9=False)
    _give(importlib.import_module("torch.testing._internal.common_mkldnn"), bf32_on_and_off=lambda *bound: same)
    _give(nn, new_module_tests=nn.get_new_module_tests())
    creation = importlib.import_module("torch.testing._creation")
    torch = importlib.import_module("torch")
    pairs = {torch.float16: torch.complex32, torch.float32: torch.complex64, torch.float64: torch.complex128}
    _give(creation, float_to_corresponding_complex_type_map=pairs)
    proxies = ModuleType("test_proxy_tensor")  # a file of theirs that no longer imports; another takes its marks of failures
    vars(proxies).update(dict.fromkeys(("xfail", "skip"), lambda *said: None), skipOps=lambda *said: same)
    sys.modules["test_proxy_tensor"] = proxies
    data = importlib.import_module("torch.utils.data")
    _give(data, DataLoader2=data.DataLoader, communication=ModuleType("communication"))
    _give(torch._C, has_mkldnn=False)
    for name in ("_input_mask", "_output_mask", "_reduction_identity"):  # by which tests say what they expect
        _give(importlib.import_module("torch.masked"), **{name: getattr(importlib.import_module("torch.masked._ops"), name)})
    functional = importlib.import_module("torch.nn.utils.stateless")
    sys.modules["torch.nn.utils._stateless"] = functional
    called = importlib.import_module("torch.testing._internal.common_modules").MODULE_CLASS_NAMES
    called.update({layer: name.removeprefix("badak.") for layer, name in called.items()})  # in the names of tests
    with suppress(ImportError, AttributeError):
        samples = importlib.import_module("torch.testing._internal.common_methods_invocations")
        _give(samples, binary_ufuncs_and_refs=samples.binary_ufuncs)  # which has those of python_ref_db


def _give(module: Any, **names: Any) -> None:
    for name, thing in names.items():
        if name not in vars(module):
            setattr(module, name, thing)


TEXTS = {
    "test_nn.py": (b"def test_activations_bfloat16_cpu(", b"def test_activations_bfloat16_on_the_cpu("),
    "test_linalg.py": (b"super(self.__class__, self)", b"super()"),
    "test_masked.py": (b"{'layout': layout})", b"{'layout': layout}, lambda _: [])"),
    "test_spectral_ops.py": (b"from setuptools import distutils", b"import distutils.version"),
}


def adapted(loader: Any, path: str, read: Any = SourceFileLoader.get_data) -> bytes:
    """The bytes of a source file, with what 2.13's helpers refuse in it changed."""
    data = read(loader, path)
    return data.replace(*TEXTS[name]) if (name := os.path.basename(path)) in TEXTS else data


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep one test of EVERY, and none of WITHOUT."""
    asked = [item for item in items if not (WITHOUT and re.search(WITHOUT, item.name))]
    items[:] = [item for item in asked if crc32(item.name.encode()) % EVERY == 0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """End a test that takes too long: by the time that it computes, so that others on the machine count for little."""
    timers = {signal.ITIMER_PROF: (signal.SIGPROF, SECONDS), signal.ITIMER_REAL: (signal.SIGALRM, 10 * SECONDS)}
    for timer, (number, seconds) in timers.items():
        signal.signal(number, _late)
        signal.setitimer(timer, seconds)
    try:
        return (yield)
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)


def _late(*_: Any) -> None:
    raise TimeoutError(f"the test takes more than {SECONDS} s of the CPU")


SourceFileLoader.get_data = adapted  # type: ignore[method-assign]
if FOLDER:
    sys.meta_path.insert(0, Helpers())
    switches()
    lenient()
old_names()
