"""`ShapeProp`: run a graph, and note on each node the shape and dtype of its value."""

from typing import Any, NamedTuple

from badak.compat.torch.fx.interpreter import Interpreter
from badak.compat.torch.fx.node import Node, map_aggregate
from badak.tensor import Size, Tensor, dtype


class TensorMetadata(NamedTuple):
    """What is known of a tensor but its values."""

    shape: Size
    dtype: dtype
    requires_grad: bool
    stride: tuple[int, ...]


class ShapeProp(Interpreter):
    """`ShapeProp(graph_module).propagate(x)` leaves node.meta["tensor_meta"] and node.meta["type"]."""

    def run_node(self, n: Node) -> Any:
        """The value; what is known of it stays in the node's meta."""
        result = super().run_node(n)
        known = map_aggregate(result, lambda x: _known(x) if isinstance(x, Tensor) else x)
        if isinstance(result, Tensor | tuple | list):
            n.meta["tensor_meta"] = known
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run on these arguments."""
        return super().run(*args)


def _known(x: Tensor) -> TensorMetadata:
    return TensorMetadata(x.shape, x.dtype, x.requires_grad, x.stride())
