"""What is called in PyTorch is called here, and what is a module there is none of its functions here: all names in reach."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

THEIRS = """
import importlib, inspect, json, sys, types, warnings
warnings.simplefilter("ignore")
import torch, torch.distributed, torch.optim.swa_utils, torch.utils.checkpoint, torch.nn.utils.parametrize
found, seen = {}, set()
def kind(x):
    return "module" if isinstance(x, types.ModuleType) else "called" if callable(x) else "value"
def walk(path, thing):
    seen.add(id(thing))
    for name in dir(thing):
        value = getattr(thing, name, None)
        if name[0] == "_" or isinstance(value, types.ModuleType) and not value.__name__.startswith("torch"):
            continue
        found[f"{path}.{name}"] = kind(value)
        if isinstance(value, types.ModuleType) and id(value) not in seen and path.count(".") < 5:
            walk(f"{path}.{name}", value)
walk("torch", torch)
classes = "Tensor Size dtype device Generator nn.Module nn.Parameter optim.Optimizer optim.Adam utils.data.DataLoader"
for dotted in [*classes.split(), "optim.lr_scheduler.ReduceLROnPlateau"]:
    space, _, name = dotted.rpartition(".")
    kept = getattr(importlib.import_module(f"torch.{space}".rstrip(".")), name)
    found |= {f"torch.{dotted}.{each}": kind(getattr(kept, each)) for each in dir(kept) if each[0] != "_"}
modules = [name for name in sys.modules if name.startswith("torch.") and "._" not in name]
print(json.dumps([found, modules]))
"""
OURS = """
import functools, importlib, json, sys, types, warnings
warnings.simplefilter("ignore")
import badak.as_torch, torch
from badak.core.public_api.missing import Missing
found, modules = json.load(open(sys.argv[1]))
def kind(x):
    return "module" if isinstance(x, types.ModuleType) else "called" if callable(x) else "value"
def compare():
    other, known = {}, 0
    for name, wanted in found.items():
        try:
            value = functools.reduce(getattr, name.split(".")[1:], torch)
        except Exception:
            continue
        if not isinstance(value, Missing):
            known += 1
            if kind(value) != wanted and "called" in (kind(value), wanted):
                other[name] = [wanted, kind(value)]
    return other, known
first = compare()
for name in modules:
    try:
        importlib.import_module(name)
    except Exception:
        pass
print(json.dumps([first, compare()]))
"""
OTHERWISE = {  # name: why it is another kind of thing here
    **dict.fromkeys(("torch.distributed.GroupMember", "torch.distributed.group"), "an object whose WORLD is read"),
    **dict.fromkeys(("torch.distributed.reduce_op", "torch.types.Device", "torch.types.Number"), "of older programs"),
}
OWN = ("torch.fx.", "torch.jit.annotations.")  # what a tracer and a compiler look at, with nothing behind it


def test_a_name_is_called_here_as_it_is_called_in_pytorch(python, tmp_path):
    theirs = subprocess.run([sys.executable, "-c", THEIRS], capture_output=True, text=True, check=True)  # the real torch
    page = tmp_path / "theirs.json"
    page.write_text(theirs.stdout.strip().splitlines()[-1])
    done = python("-c", OURS, str(page))
    for other, known in json.loads(done.out.strip().splitlines()[-1]):
        assert known > 2500, (known, done.err)
        assert not {name: kinds for name, kinds in other.items() if name not in OTHERWISE and not name.startswith(OWN)}


def test_importing_a_module_does_not_hide_the_function_of_its_name(python):
    code = """
import badak.as_torch
import torch.autograd.gradcheck, torch.autograd.variable
from torch.autograd.gradcheck import gradcheck
import torch
x = torch.ones(2, dtype=torch.double, requires_grad=True)
print(torch.autograd.gradcheck is gradcheck, callable(torch.autograd.variable), gradcheck(torch.sin, (x,)))
"""
    done = python("-c", code)
    assert done.out == "True True True\n", done.err
