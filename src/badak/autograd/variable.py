"""Variable: what a tensor with a gradient was called before tensors had one themselves."""

from types import SimpleNamespace
from typing import Any

from badak.autograd.engine import queue_callback
from badak.core.errors import ArgumentError
from badak.tensor import Tensor


class _AnyTensor(type):
    def __instancecheck__(cls, x) -> bool:
        return isinstance(x, Tensor)


class Variable(metaclass=_AnyTensor):
    """Variable(x, requires_grad): x itself, as a leaf. PyTorch's old name; every tensor is an instance of it."""

    _execution_engine = SimpleNamespace(queue_callback=queue_callback)  # PyTorch's way to a word at the end of a backward

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: bool = False):
        return data.detach().requires_grad_() if requires_grad else data


def variable(*args: Any, **kwargs: Any) -> Any:
    """PyTorch's oldest name of `tensor`, which raises there, too."""
    raise ArgumentError("autograd.variable(...) is deprecated", "badak.tensor(data)")
