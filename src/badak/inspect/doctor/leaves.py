"""What a graph hangs on."""

from typing import Any

from badak.tensor.history import tensor_of


def leaves_of(node: Any) -> dict[int, Any]:
    """The leaves that a node depends on, by their id."""
    seen, pending, leaves = {id(node)}, [node], {}
    while pending:
        node = pending.pop()
        if not hasattr(node, "op"):
            tensor = tensor_of(node)
            if tensor is not None:
                leaves[id(tensor)] = tensor
            continue
        for edge in node.edges:
            if edge is not None and id(edge[0]) not in seen:
                seen.add(id(edge[0]))
                pending.append(edge[0])
    return leaves
