"""What is done to a model before it is asked, and taken back afterwards: no dropout, no zeros to hide behind."""

import numpy as np

from badak.autograd import no_grad
from badak.nn import Module
from badak.nn.conv import _ConvNd
from badak.nn.linear import Linear
from badak.tensor import Tensor


def wake(model: Module, rng: np.random.Generator) -> list[str]:
    """Give parameters that are zero throughout, and no biases, small random numbers: gates, adaptors, maps that start at zero.

    What stands behind them could not be told apart from nothing. Gives their names.
    """
    woken = []
    for name, p in model.named_parameters():
        if not p.requires_grad or not p.is_floating_point() or name.endswith("bias") or not p.numel() or np.any(p._array):
            continue
        size = 0.5 / np.sqrt(p.shape[-1]) if p.dim() > 1 else 0.1
        with no_grad():
            p.copy_(Tensor._of((rng.uniform(0.5, 1.5, p.shape) * rng.choice([-size, size], p.shape)).astype(p._array.dtype)))
        woken.append(name)
    return woken


def without_dropout(model: Module) -> list[tuple]:
    """Set every probability of dropout to 0: of the layers, and of attributes of theirs, and of their configurations, that are
    named so. Gives what puts them back."""
    undo: list[tuple] = []
    for module in model.modules():
        said = [value for name, value in vars(module).items() if "config" in name or name in ("cfg", "args", "hparams")]
        for attributes in (vars(module), *(each if isinstance(each, dict) else vars(each) for each in said if _plain(each))):
            of_class = {} if attributes is vars(module) else _of_class(said, attributes)
            for name, value in {**of_class, **attributes}.items():
                named = "drop" in name.lower() or name in ("p", "dr_rate")
                if named and isinstance(value, float) and 0 < value <= 1:
                    undo.append((attributes, name, attributes.get(name)))
                    attributes[name] = 0.0
    return undo


def put_back(undo: list[tuple]) -> None:
    """Take that back."""
    for attributes, name, value in undo:
        if value is None:  # it was the class that had it
            del attributes[name]
        else:
            attributes[name] = value


def _of_class(said: list, attributes: dict) -> dict:
    """What the class of a configuration has, and its object may not."""
    kind = next((type(each) for each in said if getattr(each, "__dict__", None) is attributes), object)
    return {name: value for each in reversed(kind.__mro__) for name, value in vars(each).items()}


def _plain(value: object) -> bool:
    """Whether a configuration is a dict, or an object that attributes can be written to."""
    return isinstance(value, dict) or hasattr(value, "__dict__") and not isinstance(value, type | Module)


def normalises_batches(module: Module) -> bool:
    """Whether a layer's train mode mixes the rows of a batch by design."""
    return hasattr(module, "running_mean") and hasattr(module, "track_running_stats") and "Batch" in type(module).__name__


def rows_in(model: Module, names: list[str]) -> list[str]:
    """Those of some parameters that may be learned queries: of several rows, and no weights of a map."""
    found = [(name, model.get_parameter(name), model.get_submodule(name.rpartition(".")[0])) for name in names]
    return [n for n, p, owner in found if p.dim() > 1 and p.shape[-2] > 1 and not isinstance(owner, Linear | _ConvNd)]
