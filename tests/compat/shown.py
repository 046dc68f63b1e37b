"""What classes and objects say of themselves: run by `badak run` and by Python with PyTorch; prints one line of JSON."""

import copy
import importlib
import json
import pickle
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
SPACES = """torch torch.amp torch.autograd torch.distributions torch.fx torch.nn torch.nn.utils.parametrize
    torch.nn.utils.prune torch.nn.utils.rnn torch.optim torch.optim.lr_scheduler torch.utils.checkpoint torch.utils.data
    torch.utils.hooks""".split()


def marked(x):
    x.mark = [1]
    return x


def parameter():
    return nn.Parameter(torch.ones(2, 2))


x = torch.zeros(2, requires_grad=True)
OBJECTS = """
torch.float32, torch.half, torch.long, torch.bool, torch.bfloat16, torch.complex64, torch.uint16, torch.float8_e4m3fn
torch.Size([2]), torch.zeros(2, 3).shape[:1], torch.device("cpu"), torch.device("cuda", 1), torch.zeros(1).device
torch.strided, torch.contiguous_format, torch.finfo(torch.float32), torch.iinfo(torch.int32), torch.iinfo(torch.uint8)
torch.finfo(torch.complex64), torch.finfo(torch.complex128)
torch.zeros(2), torch.tensor(True), torch.empty(0, 3), torch.zeros(30, 30), torch.zeros(60), torch.ones(50), torch.arange(2000)
torch.tensor([10.0, 1.0]), torch.tensor([1e-8, 1e8]), torch.tensor([float("nan"), -1.0]), torch.tensor([0.1] * 40)
torch.tensor([1 + 2j] * 12), torch.zeros(40, dtype=torch.complex64), torch.arange(300).reshape(3, 100)
torch.zeros(2, device="meta"), x, x + 1, x * 2, x.sum(), x.relu(), x.exp(), torch.nn.functional.gelu(x), x.view(1, 2)
torch.nn.functional.mse_loss(x, torch.zeros(2)), torch.nn.functional.layer_norm(x, (2,)), x.mean(), x[0], x.clone()
torch.autograd.set_grad_enabled(True)
parameter(), nn.Parameter(torch.zeros(0)), nn.Linear(2, 3), nn.Sequential(nn.Linear(2, 3), nn.ReLU()), nn.ModuleDict()
nn.Conv2d(2, 3, 3, padding="same"), nn.LSTM(2, 3), nn.TransformerEncoderLayer(4, 2, 8), nn.ParameterList([parameter()])
x.untyped_storage(), repr(torch.zeros(2, device="meta").untyped_storage()), x.detach().sort(), torch.zeros(2).type(), x.layout
torch.distributions.Normal(0.0, 1.0), torch.optim.SGD([parameter()], lr=0.1), torch.Tensor, nn.Parameter, torch.FloatTensor
vars(parameter()), vars(marked(parameter())), vars(x + 1), vars(copy.copy(marked(parameter()))), dict(**vars(marked(x)))
vars(copy.deepcopy(marked(torch.zeros(2)))), vars(copy.deepcopy(marked(parameter()))), vars(torch.zeros(2))
vars(pickle.loads(pickle.dumps(marked(parameter())))), vars(pickle.loads(pickle.dumps(marked(torch.zeros(2)))))
"""


def whereabouts():
    """The module that each public class shows, and whether the class is found there."""
    found = {}
    for space in SPACES:
        for name, value in list(vars(importlib.import_module(space)).items()):
            if isinstance(value, type) and value.__name__ == name and name[0] != "_" and "._" not in value.__module__:
                there = getattr(importlib.import_module(value.__module__), name, None)
                found[f"{space}.{name}"] = [value.__module__, value.__qualname__, there is value]
    return found


def texts():
    """repr, str and the name of the type of each object; what a copy of it looks like."""
    found = []
    for line in OBJECTS.strip().splitlines():
        for thing in eval(f"[{line}]"):
            kind = "dict" if isinstance(thing, dict) else str(type(thing)) if not isinstance(thing, type) else "type"
            found.append([repr(thing), str(thing), kind])
    return found


def copies():
    """What copies keep."""
    owner = marked(parameter())
    owner.grad = torch.ones(2, 2)
    again = [copy.deepcopy(owner), copy.copy(owner), pickle.loads(pickle.dumps(owner))]
    vars(owner)["more"] = 2
    changed = [owner.more, sorted(vars(owner))]
    vars(owner).pop("mark")
    changed.append(vars(owner).pop("absent", 3))
    vars(owner).update(other=3)
    del owner.more
    like = copy.deepcopy(torch.arange(6.0).reshape(2, 3).t())
    return (
        [[repr(x), x.grad is None, hasattr(x, "mark"), x.requires_grad] for x in again],
        changed,
        vars(owner),
        like.stride(),
    )


print(json.dumps({"classes": whereabouts(), "texts": texts(), "copies": copies()}))
