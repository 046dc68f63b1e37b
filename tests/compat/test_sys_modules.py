"""Who looks for PyTorch's modules among those that are loaded finds them, as after `import torch`."""

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
import torch
for name in ("torch.nn", "torch.nn.init", "torch.nn.functional", "torch.optim", "torch.autograd", "torch.utils.data"):
    module = torch
    for part in name.split(".")[1:]:
        module = getattr(module, part)
    print(name, sys.modules[name] is module)
drawn = []
torch.nn.init.xavier_uniform_, before = (lambda x, gain=1: drawn.append(tuple(x.shape))), torch.nn.init.xavier_uniform_
sys.modules["torch.nn.init"].xavier_uniform_ = torch.nn.init.xavier_uniform_
torch.nn.MultiheadAttention(4, 2)
print(drawn)
"""


def test_loaded_modules_have_pytorchs_names_too(tmp_path, badak_run):
    (tmp_path / "look.py").write_text(PROGRAM)
    done = badak_run(tmp_path / "look.py")
    assert done.code == 0, done.err
    *names, drawn = done.out.splitlines()
    assert all(line.endswith(" True") for line in names) and len(names) == 6
    assert drawn == "[(12, 4)]"


def test_types_are_named_as_pytorchs(tmp_path, badak_run):
    (tmp_path / "names.py").write_text(
        "import pickle, torch\nx = torch.ones(2)\nprint(type(x), type(x.shape), type(x.dtype), type(x.device))\n"
        "print(b'torch' in pickle.dumps(x), pickle.loads(pickle.dumps(x)), pickle.loads(pickle.dumps(x.shape)))\n"
    )
    done = badak_run(tmp_path / "names.py")
    assert done.code == 0, done.err
    names = "<class 'torch.Tensor'> <class 'torch.Size'> <class 'torch.dtype'> <class 'torch.device'>"
    assert done.out == f"{names}\nFalse tensor([1., 1.]) torch.Size([2])\n"


NO_MODULES = """
import importlib
import torch
for name in ("torch.nn.Linear", "torch.nn.modules.activation.Tanh", "torch.nn.functional.relu", "torch.save"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        print(name)
"""


def test_a_class_or_a_function_is_no_module(tmp_path, badak_run):
    (tmp_path / "look.py").write_text(NO_MODULES)
    done = badak_run(tmp_path / "look.py")
    assert done.out.split() == ["torch.nn.Linear", "torch.nn.modules.activation.Tanh", "torch.nn.functional.relu", "torch.save"]


def test_dir_of_a_module_has_what_is_brought_when_it_is_asked_for(tmp_path, badak_run):
    (tmp_path / "look.py").write_text(
        "import importlib, torch\n"
        "for name in 'torch nn nn.functional utils utils.data distributions autograd compiler linalg masked'.split():\n"
        "    module = torch if name == 'torch' else importlib.import_module(f'torch.{name}')\n"
        "    for each in dir(module): getattr(module, each)\n"
        "print({'testing', 'func', 'cuda', 'linalg', 'fx', '__version__'} <= set(dir(torch)), 'parallel' in dir(torch.nn))\n"
        "print('normal' in dir(torch.distributions), 'UnknownLayer' in dir(torch.nn))\n"
    )
    done = badak_run(tmp_path / "look.py")
    assert done.code == 0, done.err
    assert done.out.split() == ["True", "True", "True", "False"]
