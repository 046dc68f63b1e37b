"""Questions of the graph that a training records: what a node was made by, what it hangs on; and whose memory an array sees."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from badak.tensor.history import tensor_of


def memory(x: np.ndarray) -> int:
    return x.__array_interface__["data"][0]


def of_edge(edge: Any) -> Any:
    """The node that an edge leads to; None where it leads to a leaf, or nowhere."""
    return edge[0] if edge is not None and hasattr(edge[0], "op") else None


def below(node: Any) -> list[Any]:
    """The nodes that a node was made by."""
    return [each for edge in getattr(node, "edges", ()) if (each := of_edge(edge)) is not None]


def first_of(node: Any) -> Any:
    """The node that its first input with a graph was made by."""
    return next(iter(below(node)), None)


def chain(node: Any, names: Iterable[str], most: int = 10) -> Iterator[Any]:
    """A node, and what its first inputs were made by, on through views and operations of these names."""
    for _ in range(most):
        if node is None:
            return
        yield node
        node = first_of(node) if node.op.view or node.name in names else None


def behind(x: Any, names: Any) -> Any:
    """The node that made a tensor, through views and operations of these names."""
    return from_node(x._node, names)


def from_node(node: Any, names: Any) -> Any:
    """The same from a node, itself at first."""
    while node is not None and (node.op.view or node.name in names):
        node = of_edge(node.edges[-1 if node.name == "write_view" else 0])  # what was written, not what lay there
    return node


def hangs_on(node: Any, root: Any) -> bool:
    """Whether a node was made of another one, or is it."""
    return any(each is root for each in all_below(node))


def leaves_of(node: Any) -> dict[int, Any]:
    """The leaves that a node depends on, by their id."""
    tensors = (tensor_of(each) for each in all_below(node) if not hasattr(each, "op"))
    return {id(tensor): tensor for tensor in tensors if tensor is not None}


def all_below(node: Any) -> Iterator[Any]:
    """A node, and all nodes and leaves that it hangs on, each once."""
    seen, pending = {id(node)}, [node]
    while pending:
        each = pending.pop()
        yield each
        for edge in getattr(each, "edges", ()):
            if edge is not None and id(edge[0]) not in seen:
                seen.add(id(edge[0]))
                pending.append(edge[0])
