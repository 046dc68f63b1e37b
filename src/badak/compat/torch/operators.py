"""`torch.ops`: operators that a program registered by name (`library.py`), called by that name.

An operator is a Python function here: its kernel for the CPU, with an autograd formula where one was registered. Kernels for
other devices, fake kernels and batching rules are kept, and not called: badak has no such device and traces nothing.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from badak.autograd import Function, no_grad
from badak.compat.torch.aten import OpOverloadPacket, packet
from badak.core.errors import ArgumentError, NotSupportedError, StateError, tr
from badak.core.modes import modes
from badak.core.nests import inside
from badak.core.public_api import MissingName
from badak.core.public_api.import_time import wants_placeholder
from badak.core.public_api.missing import Missing
from badak.tensor import Tensor

_ANY = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "default")
OPERATORS: dict[str, "Operator"] = {}


class Operator:
    """One operator "space::name": its parameters, its kernels by dispatch key, its autograd formula."""

    def __init__(self, name: str, parameters: inspect.Signature | None) -> None:
        self._qualname, self._parameters = name, parameters
        self._kernels: dict[str, Callable] = {}
        self._formula: tuple[Callable, Callable | None] | None = None

    __name__ = property(lambda self: self._qualname.partition("::")[2])
    default = property(lambda self: self)  # its only overload

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._qualname.replace('::', '.')}', overload='default')>"

    def _kernel(self) -> Callable:
        for key in ("CPU", *_ANY):
            if key in self._kernels:
                return self._kernels[key]
        has = ", ".join(self._kernels) or "none"
        cause = tr("Could not run '{}' with arguments from the 'CPU' backend; its kernels: {}", self._qualname, has)
        raise NotSupportedError(cause, "register one with torch.library.register_kernel(name, 'cpu')")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "Autograd" in self._kernels:
            return self._kernels["Autograd"](*args, **kwargs)
        if "CompositeImplicitAutograd" in self._kernels and "CPU" not in self._kernels:
            return self._kernels["CompositeImplicitAutograd"](*args, **kwargs)
        inputs = (*args, *kwargs.values())
        if modes.grad and any(x.requires_grad for x in inside(inputs, Tensor)):
            return self._recorded(args, kwargs)
        kernel = self._kernel()
        with no_grad():
            return self._checked(kernel(*args, **kwargs), inputs)

    def _checked(self, output: Any, inputs: Iterable) -> Any:
        """The output, which must be new tensors: an input handed on would have two histories."""
        given = {id(x) for x in inside(inputs, Tensor)}
        if any(id(y) in given for y in inside(output, Tensor)):
            cause = tr("{} (with implementation in {}): The output of this custom operator "
                       "must not also be an input to this custom operator", self._qualname, self._kernel().__module__)  # fmt: skip
            raise ArgumentError(cause, "return x.clone()")
        return output

    def _recorded(self, args: tuple, kwargs: dict) -> Any:
        """Run the kernel as an autograd function, whose arguments are all positional."""
        operator, kernel, named = self, self._kernel(), {}
        if self._parameters is not None:
            bound = self._parameters.bind(*args, **kwargs)
            bound.apply_defaults()
            args, named = bound.args, bound.kwargs
        elif kwargs:
            named = kwargs
        names = tuple(named)
        count = len(args)

        class Recorded(Function):
            @staticmethod
            def forward(ctx, *inputs):
                here, there = inputs[:count], dict(zip(names, inputs[count:]))
                output = operator._checked(kernel(*here, **there), inputs)
                setup = operator._formula[1] if operator._formula else None
                if setup is not None:
                    more = {"keyword_only_inputs": there} if there else {}
                    setup(ctx=ctx, inputs=here, output=output, **more)
                return output

            @staticmethod
            def backward(ctx, *grads):
                if operator._formula is None:
                    cause = tr("Trying to backward through {} but no autograd formula was registered.", operator._qualname)
                    raise StateError(cause, "torch.library.register_autograd(name, backward, setup_context=setup_context)")
                found = operator._formula[0](ctx, *grads)
                return (*(found if isinstance(found, tuple) else (found,)), *(None,) * len(names))

        return Recorded.apply(*args, *named.values())


_OF_PYTORCH = "_c10d_functional c10d_functional c10d inductor mkldnn prim prims quantized quantized_decomposed symm_mem".split()


class Namespace:
    """torch.ops.<namespace>."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "Operator | OpOverloadPacket | Missing":
        found = OPERATORS.get(f"{self._name}::{name}")
        if found is None and self._name == "aten" and not name.startswith("__"):
            return packet(name)
        if found is None and self._name in _OF_PYTORCH and wants_placeholder():
            return Missing(f"ops.{self._name}.{name}")
        if found is None:
            cause = tr("'_OpNamespace' '{}' object has no attribute '{}': no such operator is registered", self._name, name)
            raise MissingName(cause, "torch.library.custom_op registers one; PyTorch's own have their Python names only")
        return found

    def __dir__(self) -> list[str]:
        return [name.partition("::")[2] for name in OPERATORS if name.startswith(f"{self._name}::")]


class NoLibrary(NotSupportedError, OSError):
    """What PyTorch raises as an OSError where a file of compiled operators cannot be loaded."""


def load_library(path: Any) -> NoReturn:
    """Raises NoLibrary: badak loads no compiled operators."""
    raise NoLibrary(tr("torch.ops.load_library: badak loads no compiled operators ({})", path), "write them in Python")


def __getattr__(name: str) -> Namespace:
    """Any name is a namespace, perhaps one without operators."""
    if name.startswith("__"):
        raise AttributeError(name)
    return globals().setdefault(name, Namespace(name))
