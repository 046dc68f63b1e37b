"""`torch.ops.aten`: PyTorch's own operators by the names of its C++ code, for programs that keep them in tables.

Called, one is the public function of that name: `torch.ops.aten.clone.default(x)`.
"""

import sys
from collections.abc import Callable
from typing import Any

from badak.core.errors import NotSupportedError, tr
from badak.tensor import Tensor


class OpOverloadPacket:
    """aten.add: an operation, whatever it is called with."""

    def __init__(self, name: str, namespace: str = "aten") -> None:
        self.__name__, self._namespace = name, namespace
        self._qualified_op_name = f"{namespace}::{name}"

    def __getattr__(self, name: str) -> "OpOverload":
        if name.startswith("_"):
            raise AttributeError(name)
        return OpOverload(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        badak = sys.modules["badak"]
        places = (badak, badak.nn.functional, Tensor)
        function = next((getattr(place, self.__name__) for place in places if hasattr(place, self.__name__)), None)
        if function is None:
            raise NotSupportedError(tr("torch.ops.{}: badak has no such function", self), "call the public function")
        return function(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverloadPacket) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class OpOverload:
    """aten.add.Tensor: what a mode is given. Calling it does what would have been done."""

    def __init__(self, packet: OpOverloadPacket, overload: str, run: Callable | None = None) -> None:
        self.overloadpacket = self._overloadpacket = packet
        self._overloadname, self._run = overload, run
        self.namespace = packet._namespace
        self.__name__ = f"{packet.__name__}.{overload}"

    def name(self) -> str:
        """ "aten::add.Tensor"."""
        suffix = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.overloadpacket._qualified_op_name}{suffix}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return (self._run or self.overloadpacket)(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverload) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))
