"""A name of PyTorch that badak does not have stops no import and no definition; whoever uses it gets two lines."""

import pytest

pytestmark = pytest.mark.slow

LIBRARY = """
import contextlib
from dataclasses import dataclass
from typing import Generic, Optional, TypeVar

import torch
import torch.distributed.fsdp as fsdp
from torch import _assert_tensor_metadata
from torch.distributed.device_mesh import DeviceMesh

T = TypeVar("T")
TABLE = {torch.lobpcg: 1, "norm": torch.nn.Container, "inner": fsdp.wrap.policy}
REGISTERED = torch.distributed.rpc.register(3)
if torch.distributed.rpc.is_there():
    raise RuntimeError
NAMES = [name for name in torch.distributed.rpc.names]
def table():
    return {torch.lobpcg: 1}
TABLE |= table()
try:
    torch.lobpcg
except AttributeError:
    TABLE["own"] = True
with contextlib.suppress(AttributeError):
    torch.lobpcg
    raise RuntimeError

class Base(torch.nn.Container[int], Generic[T]):
    mesh: DeviceMesh
class Both(Base, torch.nn.Container):
    pass
@dataclass
class Settings:
    mesh: Optional[DeviceMesh] = None
Sharded = Optional[fsdp.FullyShardedDataParallel]
def annotated(x: DeviceMesh | None, y: Sharded = None, z: "torch.lobpcg" = None) -> fsdp.CPUOffload[int]:
    def inner(mesh: DeviceMesh["int"]): return 2
    return inner(1)
@torch.distributed.rpc.functions.async_execution
def plain(): "its text"
@torch.distributed.rpc.functions.async_execution(3)
def called(): pass
@torch.distributed.rpc.register
class Decorated: pass
"""

PROGRAM = LIBRARY + """
print(annotated(1), Settings().mesh, plain.__name__, plain.__doc__, NAMES, TABLE["own"], isinstance(3, torch.nn.Container))
print(hasattr(torch.nn, "Container"), getattr(torch, "lobpcg", 5), torch.__name__)
uses = (plain, called, Decorated, Base, Both, lambda: torch.lobpcg, lambda: TABLE["norm"](), lambda: TABLE["norm"].more,
        lambda: TABLE["norm"][0], lambda: bool(TABLE["norm"]), lambda: list(TABLE["norm"]), lambda: TABLE["norm"].__enter__())
for use in uses:
    try:
        print("no error", use())
    except AttributeError as error:
        cause, fix = str(error).splitlines()
        print(cause, fix[:5])
torch.lobpcg(3)
"""  # fmt: skip
ANSWERS = """2 None plain its text [] True False
False 5 torch
torch.distributed.rpc.functions.async_execution: badak does not have it fix: 
torch.distributed.rpc.functions.async_execution: badak does not have it fix: 
torch.distributed.rpc.register: badak does not have it fix: 
torch.nn.Container: badak does not have it fix: 
torch.nn.Container: badak does not have it fix: 
torch.lobpcg: badak does not have it fix: 
torch.nn.Container: badak does not have it fix: 
torch.nn.Container.more: badak does not have it fix: 
torch.nn.Container: badak does not have it fix: 
torch.nn.Container: badak does not have it fix: 
torch.nn.Container: badak does not have it fix: 
torch.nn.Container: badak does not have it fix: 
"""  # noqa: W291


def test_an_imported_library_stops_at_no_missing_name(python, program):
    program(PROGRAM.rpartition("\n")[0].rpartition("\n")[0], "library.py")
    done = python("-m", "badak", "run", program("import library\n"))
    assert done.out == ANSWERS, done.err


def test_a_program_defines_with_missing_names_and_stops_where_it_uses_one(python, program):
    text = PROGRAM.replace("REGISTERED = torch.distributed.rpc.register(3)\n", "")
    text = text.replace("if torch.distributed.rpc.is_there():\n    raise RuntimeError\n", "")
    text = text.replace("[name for name in torch.distributed.rpc.names]", "[]").replace("TABLE |= table()\n", "")
    done = python("-m", "badak", "run", program(text))
    assert done.out == ANSWERS, done.err
    assert done.err.rstrip().endswith("torch.lobpcg: badak does not have it\nfix: linalg.eigh")


@pytest.mark.parametrize("name", ["profiler", "futures", "types", "nn.parallel", "utils.hooks", "distributed"])
def test_a_file_that_stands_for_a_module_of_pytorch_answers_for_what_it_has_not(python, program, name):
    text = f"import torch.{name} as there\ntry:\n    print(there._no_such_name_of_pytorch)\nexcept AttributeError as error:\n"
    done = python("-m", "badak", "run", program(text + "    print(error.args[0].splitlines()[0])\n"))
    assert "badak does not have it" in done.out or "has no attribute" in done.out, done.err


QUESTIONS = """
import torch
def asks(x, layer):
    yield isinstance(layer, torch.distributed.fsdp.FSDPModule)
    yield isinstance(layer, (torch.nn.Linear, torch.distributed.fsdp.FSDPModule))
    yield issubclass(type(layer), torch.distributed.fsdp.FSDPModule)
    yield x.dtype in (torch.complex32, torch.bits8) or x.dtype == torch.complex32
    yield type(layer) is torch.ao.nn.quantized.dynamic.Linear
def uses():
    yield lambda: torch.distributed.fsdp.FSDPModule
    yield lambda: torch.lobpcg == 3
    yield lambda: torch.backends.quantized.no_such_engine != "none"
    yield lambda: torch.lobpcg(3) == 3
print(list(asks(torch.ones(1), torch.nn.Linear(1, 1))))
for use in uses():
    try:
        print("no error", use())
    except AttributeError:
        print("an error")
"""


def test_a_function_may_ask_whether_something_is_of_a_class_that_is_missing(python, program):
    done = python("-m", "badak", "run", program(QUESTIONS))
    assert done.out == "[False, True, False, False, False]\n" + 4 * "an error\n", done.err
