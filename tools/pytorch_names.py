"""Write core/public_api/pytorch.txt, the public names of PyTorch, from the one installed: `python tools/pytorch_names.py`.

badak knows by it what it does not have: a name of this list is answered with a sentence, any other with "no attribute".
"""

import importlib
import inspect
import pkgutil
import sys
import warnings
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "src/badak/core/public_api/pytorch.txt"
NAMESPACES = """torch torch.Tensor torch.amp torch.autograd torch.autograd.functional torch.autograd.profiler torch.backends.cuda
    torch.backends.cudnn torch.compiler torch.cuda torch.cuda.amp torch.distributed torch.distributed.fsdp torch.distributions
    torch.export torch.fft torch.func torch.fx torch.hub torch.jit torch.library torch.linalg torch.mps torch.multiprocessing
    torch.nested torch.nn torch.nn.attention torch.nn.functional torch.nn.init torch.nn.modules torch.nn.parallel
    torch.nn.utils torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.utils.rnn
    torch.onnx torch.optim torch.optim.lr_scheduler torch.optim.swa_utils torch.profiler torch.random torch.serialization
    torch.sparse torch.special torch.testing torch.utils torch.utils.benchmark torch.utils.checkpoint torch.utils.data
    torch.utils.data.distributed torch.utils.dlpack torch.utils.tensorboard torch.xpu""".split()
HOMES = """torch torch.amp torch.autograd torch.autograd.graph torch.cuda.amp torch.distributions torch.fx torch.nn torch.optim
    torch.optim.lr_scheduler torch.optim.swa_utils torch.profiler torch.utils.data""".split()
# whose classes say, under badak run, where PyTorch defines them
FOREIGN = {
    "typing",
    "typing_extensions",
    "collections",
    "collections.abc",
    "functools",
    "enum",
    "warnings",
    "contextlib",
}


def thing_at(dotted: str) -> object:
    """The module or class of that name; an empty stand-in where a third package is missing."""
    if dotted == "torch.Tensor":
        return importlib.import_module("torch").Tensor
    try:
        return importlib.import_module(dotted)
    except ImportError:
        return object


def private_names_of(thing: object) -> list[str]:
    """What begins with one underscore in a namespace: libraries mention some, and must not stop there."""
    return sorted(name for name in dir(thing) if name[0] == "_" != name[1:2] and not inspect.ismodule(getattr(thing, name, None)))


def names_of(thing: object) -> list[str]:
    """What a namespace offers: its __all__, and what is public in it and neither a module nor a word of typing."""
    offered = getattr(thing, "__all__", []) if inspect.ismodule(thing) and thing.__name__ != "torch" else []
    found = [
        name
        for name in dir(thing)
        if not inspect.ismodule(getattr(thing, name, None)) and getattr(getattr(thing, name, None), "__module__", "") not in FOREIGN
    ]
    return sorted(name for name in {*offered, *found} if not name.startswith("_"))


def homes(space: str) -> list[str]:
    """A line for each module that defines public classes of a namespace: `torch.nn < torch.nn.modules.linear: Linear ...`."""
    found: dict[str, list[str]] = {}
    for name, value in sorted(vars(importlib.import_module(space)).items()):
        module = getattr(value, "__module__", "")
        if isinstance(value, type) and name == value.__name__ and name[0] != "_" and "._" not in module:
            if module.startswith("torch.") and module != space:
                found.setdefault(module, []).append(name)
    return [f"{space} < {module}: {' '.join(names)}" for module, names in sorted(found.items())]


def modules() -> list[str]:
    """The modules of the first level, and the public ones of the second."""
    import torch

    found = []
    for first in pkgutil.iter_modules(torch.__path__):
        found.append(first.name)
        if first.ispkg and not first.name.startswith("_"):
            below = pkgutil.iter_modules([str(Path(torch.__path__[0]) / first.name)])
            found += [f"{first.name}.{second.name}" for second in below if not second.name.startswith("_")]
    return sorted([*found, "classes", "ops"])  # two that are objects


def page() -> str:
    """The whole list: one line for each namespace, and one for the modules."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = [f"{dotted}: {' '.join(names_of(thing_at(dotted)))}" for dotted in NAMESPACES]
        lines += [f"private {dotted}: {' '.join(private_names_of(thing_at(dotted)))}" for dotted in NAMESPACES]
        lines += [line for space in HOMES for line in homes(space)]
    release = torch.__version__.partition("+")[0]
    return "\n".join([f"# PyTorch {release}; written by tools/pytorch_names.py", f"modules: {' '.join(modules())}", *lines, ""])


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else f"{PAGE.name} is out of date")
    PAGE.write_text(page(), encoding="utf-8")
