"""Names that badak does not have: an error where they are used, not where they are imported; hasattr says False."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import badak
from badak import nn
from badak.core.public_api import MissingName, is_pytorch
from badak.core.public_api.table import ASK, INSTEAD, PLACES, listed_spaces, names_of, reach
from tools import pytorch_names


def test_a_name_of_pytorch_is_missing_with_a_word_about_what_to_use():
    with pytest.raises(MissingName, match="torch.lobpcg: badak does not have it\nfix: .*linalg.eigh"):
        badak.lobpcg  # noqa: B018
    with pytest.raises(MissingName, match="torch.Tensor.q_scale: badak does not have it\nfix: "):
        badak.ones(1).q_scale  # noqa: B018


def test_a_missing_name_is_all_that_programs_catch():
    for kind in (AttributeError, NotImplementedError, RuntimeError):
        with pytest.raises(kind):
            badak.lobpcg  # noqa: B018


def test_hasattr_says_no():
    assert not hasattr(badak, "lobpcg")
    assert not hasattr(nn, "Container")
    assert not hasattr(badak.ones(1), "q_scale")
    assert getattr(badak.sparse, "spsolve", None) is None


@pytest.mark.parametrize("thing, text", [(badak, "module 'badak'"), (nn, "module 'badak.nn'"), (badak.ones(1), "'Tensor' object")])
def test_any_other_name_is_pythons_own_error(thing, text):
    with pytest.raises(AttributeError, match=f"{text} has no attribute 'no_such_name'") as caught:
        thing.no_such_name  # noqa: B018
    assert not isinstance(caught.value, MissingName)


def test_advice_and_places_are_about_names_of_pytorch():
    assert not [name for name in INSTEAD if not is_pytorch(name)]
    assert not [name for name in PLACES if not is_pytorch(name.removeprefix("badak."))]
    optional = {"badak.compat.torch.tensorboard", "badak.compat.torch.event_files"}
    assert {there for there in PLACES.values() if reach(there) is None} <= optional
    assert "docs/reference/coming-from-pytorch.md" in ASK


IMPORTS = """
import sys; sys.modules['tensorboard'] = None  # as where it is not installed
import badak.as_torch
import torch, torch.onnx
from torch.utils.bundled_inputs import InflatableArg
from torch.sparse import spsolve
from torch.utils.tensorboard import SummaryWriter
from torch.nn import TransformerEncoder, Container
from torch.utils.data import DFIterDataPipe
import torch.distributed.fsdp as fsdp
"""


@pytest.mark.slow
def test_an_import_of_a_missing_name_succeeds_and_its_use_fails(python):
    code = (
        IMPORTS
        + """
for use in (lambda: InflatableArg(), lambda: torch.lobpcg(1), lambda: SummaryWriter("runs"),
            lambda: Container(1, 2),
            lambda: DFIterDataPipe[0], lambda: fsdp.FullyShardedDataParallel, lambda: list(spsolve)):
    try:
        use()
    except AttributeError as error:
        print(type(error).__name__, error.args[0].split(":")[0])
"""
    )
    names = "utils.bundled_inputs.InflatableArg lobpcg utils.tensorboard.SummaryWriter nn.Container utils.data.DFIterDataPipe"
    names += " distributed.fsdp.FullyShardedDataParallel sparse.spsolve"
    done = python("-c", code)
    assert done.out.splitlines() == [f"MissingName torch.{name}" for name in names.split()], done.err


@pytest.mark.slow
def test_private_names_that_are_alike_are_imported_together(python):
    """A name of PyTorch is no other one misspelt, though a placeholder with a name like it stands there already."""
    asked = {space: sorted(names_of(space, private=True)) for space in listed_spaces() if space != "Tensor"}
    lines = [f"from torch.{space} import {', '.join(names)}".replace(". ", " ") for space, names in asked.items() if names]
    done = python("-c", "\n".join(["import badak.as_torch", *lines]))
    assert len(lines) > 30 and not done.err


@pytest.mark.slow
def test_a_missing_name_can_stand_in_annotations_and_be_asked_for_and_be_derived_from(python):
    code = (
        IMPORTS
        + """
def f(x: InflatableArg | None = None) -> "InflatableArg": return x
class Mine(InflatableArg):
    def trace(self): return 1
print(isinstance(1, InflatableArg), isinstance(torch.ones(1), (torch.nn.Linear, Container)))
print(issubclass(int, InflatableArg))
print(repr(__import__("copy").deepcopy([Container])))
try:
    Mine()
except AttributeError as error:
    print(error.args[0].split(":")[0])
"""
    )
    done = python("-c", code)
    assert (
        done.out == "False False\nFalse\n[<torch.nn.Container, which badak does not have>]\n"
        "torch.utils.bundled_inputs.InflatableArg\n"
    ), done.err


@pytest.mark.slow
def test_an_import_in_a_try_fails_so_that_the_program_does_its_other_thing(python, program):
    text = """
import torch
try:
    from torch.utils.model_zoo import load_url as load_state_dict_from_url
except ImportError:
    load_state_dict_from_url = "own"
def later():
    try:
        import torch.utils.tensorboard
        return True
    except ModuleNotFoundError as error:
        return str(error)
try:
    from torch.nn import Container
    print("imported")
except ImportError:
    print("not there")
print(load_state_dict_from_url, later())
"""
    done = python("-m", "badak", "run", program("import sys; sys.modules['tensorboard'] = None\n" + text))
    assert done.out == "not there\nown No module named 'torch.utils.tensorboard'\n", done.err


@pytest.mark.slow
def test_a_typing_mistake_in_an_import_is_pythons_own_error(python):
    done = python("-c", "import badak.as_torch\nimport torch.nnn")
    assert "No module named 'torch.nnn'" in done.err
    done = python("-c", "import badak.as_torch\nfrom torch.nn import Lineal")
    assert "cannot import name 'Lineal'" in done.err


def test_the_list_of_pytorchs_names_is_that_of_the_one_installed():
    torch = pytest.importorskip("torch")
    recorded = pytorch_names.PAGE.read_text(encoding="utf-8")
    if f"PyTorch {torch.__version__.partition('+')[0]};" not in recorded:
        pytest.skip("another PyTorch is installed")
    assert is_pytorch("nn.Linear") and is_pytorch("Tensor.abs") and not is_pytorch("nn.Lineal")
    assert pytorch_names.names_of(torch.nn.functional) == sorted(
        next(line for line in recorded.splitlines() if line.startswith("torch.nn.functional: ")).split()[1:]
    )


@pytest.mark.slow
def test_tensorboard_is_tensorboardx_where_that_is_installed(python, program):
    program("class SummaryWriter: pass\nclass FileWriter: pass\n", "tensorboardX.py")
    code = "import badak.as_torch\nfrom torch.utils.tensorboard import SummaryWriter\nprint(SummaryWriter.__module__)"
    assert python("-c", code).out == "tensorboardX\n"


@pytest.mark.slow
def test_names_are_found_for_imports_only_where_badak_stands_in_for_torch(python):
    code = """
import sys
before = list(sys.meta_path)
import badak
added = [type(finder).__name__ for finder in sys.meta_path if finder not in before]
import badak.as_torch
print(added, [type(finder).__name__ for finder in sys.meta_path if finder not in before])
"""
    done = python("-c", code)
    assert done.out == "['EinopsFinder'] ['TorchFinder', 'EinopsFinder', 'BadakFinder']\n", done.err


@pytest.mark.slow
def test_layers_and_data_stand_where_programs_look_for_them(python):
    code = """
import badak.as_torch
import torch.nn.modules.linear as linear, torch.nn.modules.utils
from torch.nn.modules.activation import MultiheadAttention
from torch.nn.modules.module import Module, RemovableHandle, _IncompatibleKeys
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.loss import _Loss, _WeightedLoss
from torch.nn.modules.rnn import RNNBase
from torch.nn.modules import Linear
from torch.utils.data.dataloader import DataLoader, default_collate
from torch.utils.data.dataset import Dataset
from torch.utils.data.distributed import DistributedSampler
from torch.utils.data.sampler import Sampler
from torch.utils.hooks import RemovableHandle as Handle
import torch._dynamo
import torch._inductor.config as config
nn = torch.nn
print(linear.Linear is nn.Linear is Linear is nn.modules.Linear, MultiheadAttention is nn.MultiheadAttention)
print(DataLoader is torch.utils.data.DataLoader, Handle is RemovableHandle, nn.modules.utils._pair(1), Module is nn.Module)
"""
    done = python("-c", code)
    assert done.out == "True True\nTrue True (1, 1) True\n", done.err


@pytest.mark.slow
def test_what_is_tried_again_and_again_is_looked_for_once(python):
    code = """
import badak.as_torch
from badak.core.public_api.finder import _known_as
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
import torch
print(is_traceable_wrapper_subclass(torch.ones(1)))
looks = []
for _ in range(3):
    try:
        from torch.distributed.no_such_room import Nothing
    except ImportError:
        looks.append(_known_as.cache_info().misses)
print(looks[0] > 0, looks[0] == looks[2])
"""
    done = python("-c", code)
    assert done.out == "False\nTrue True\n", done.err


@pytest.mark.parametrize(
    "space", ["nn", "nn.functional", "utils.data", "optim.lr_scheduler", "distributions", "cuda", "autograd.function"]
)
@pytest.mark.slow
def test_a_star_brings_the_names_of_pytorch_and_no_placeholder(space):
    program = f"from torch.{space} import *\nfrom badak.core.public_api.missing import Missing\n"
    program += "print(*(k for k, v in list(globals().items()) if isinstance(v, Missing) and k != 'Missing'))\nprint(*globals())"
    done = subprocess.run([sys.executable, "-c", f"import badak.as_torch\n{program}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    placeholders, names = done.stdout.splitlines()
    wanted = {"nn": "Linear", "nn.functional": "relu", "utils.data": "DataLoader", "optim.lr_scheduler": "StepLR",
              "distributions": "Normal", "cuda": "is_available", "autograd.function": "Function"}  # fmt: skip
    assert placeholders == "" and wanted[space] in names.split()
    assert "np" not in names.split() and "events" not in names.split()


def modules_of_both() -> list[str]:
    """The modules of badak that PyTorch has in the same place, those of packages first."""
    ours, theirs = (Path(lib.__file__).parent for lib in (badak, torch))
    files = (path.relative_to(ours).with_suffix("") for path in ours.rglob("*.py"))
    names = {file.parent if file.name == "__init__" else file for file in files} - {Path()}
    there = [name for name in names if (theirs / name).with_suffix(".py").exists() or (theirs / name / "__init__.py").exists()]
    return sorted(".".join(name.parts) for name in there)


@pytest.mark.slow
def test_modules_that_nothing_has_imported_come_from_their_packages(python):
    """`from torch.distributed import nn` gives what `import torch.distributed.nn` does, and no placeholder."""
    pairs = [f"torch.{name}".rpartition(".") for name in modules_of_both()]
    lines = [f"from {room} import {name} as it\nprint(type(it).__name__)" for room, _, name in pairs]
    done = python("-c", "\n".join(["import badak.as_torch", *lines]))
    found = dict(zip(pairs, done.out.split(), strict=True))
    assert len(found) > 60 and set(found.values()) == {"module", "function"}, done.err
