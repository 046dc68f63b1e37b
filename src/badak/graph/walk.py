"""The walk from the outputs of a graph back to its leaves.

Iterative, so that a chain of 100,000 operations works. Nodes are visited from the newest to the oldest: an operation is
always newer than what it depends on, so every gradient is complete when its turn comes, and contributions are added in
the same order every time, which makes the sums the same to the last bit.
"""

from operator import attrgetter

import numpy as np

from ..errors import GraphError
from .modes import modes
from .node import Leaf, Node

_newest_first = attrgetter("order")


def backpropagate(roots, retain_graph: bool = False, targets=None):
    """Send each root's gradient back through the graph.

    roots     list of ((node, output number), gradient array)
    targets   None: every leaf accumulates. Or a list of (node, output number): nothing accumulates, and the gradients
              there are returned, in order, None where a target was not reached.
    """
    buffers: dict[object, list] = {}
    for (node, slot), dy in roots:
        _add(buffers, node, slot, dy, False)
    wanted: dict = {(id(node), slot): None for node, slot in targets or ()}
    stops = _frontier(roots, targets)
    for node in _reachable(buffers, stops):
        gradients = buffers.pop(node, None)
        if gradients is None:
            continue
        if node.hooks:
            _run_hooks(node, gradients)
        if targets is not None:
            for slot in range(node.slots):
                if (id(node), slot) in wanted:
                    wanted[id(node), slot] = gradients[2 * slot]
            if type(node) is Leaf or (stops is not None and node not in stops):
                continue
        if type(node) is Leaf:
            node.accumulate(gradients[0], gradients[1])
        else:
            _step(node, gradients, buffers)
            if not retain_graph:
                node.saved = node.watched = None
    return None if targets is None else [wanted[id(node), slot] for node, slot in targets]


def _reachable(buffers, stops):
    """All nodes that a gradient can reach from the roots, newest first."""
    seen = set(buffers)
    pending = list(buffers)
    while pending:
        node = pending.pop()
        if stops is not None and node not in stops:
            continue  # only what leads to a target is walked
        for edge in node.edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                pending.append(edge[0])
    return sorted(seen, key=_newest_first, reverse=True)


def _frontier(roots, targets):
    """The nodes that lie on a way from a root to a target (strictly above it), or None where all are walked."""
    if targets is None:
        return None
    goals = {node for node, _ in targets}
    order = _reachable({node: None for (node, _), _ in roots}, None)
    above: set = set()
    for node in reversed(order):  # oldest first: what a node depends on has been decided before it
        if any(edge is not None and (edge[0] in goals or edge[0] in above) for edge in node.edges):
            above.add(node)
    return above


def _run_hooks(node, gradients) -> None:
    for slot, hooks in node.hooks.items():
        for hook in list(hooks):
            if gradients[2 * slot] is not None:
                changed = hook(gradients[2 * slot])
                if changed is not None:
                    gradients[2 * slot], gradients[2 * slot + 1] = changed, False


def _step(node: Node, gradients, buffers) -> None:
    """Run one backward and pass its results on."""
    node.check()
    dxs = node.op.backward(node.saved, *gradients[::2])
    if type(dxs) is not tuple:
        dxs = (dxs,)
    if modes.anomaly:
        _look_for_nonfinite(node, gradients[::2], dxs)
    fresh = node.op.fresh
    for edge, dx in zip(node.edges, dxs, strict=True):
        if edge is not None and dx is not None:
            _add(buffers, edge[0], edge[1], dx, fresh)


def _add(buffers, node, slot: int, dy, owned: bool) -> None:
    """Add dy to what has come for (node, slot). A buffer is [gradient, owned] for each output, flat."""
    if isinstance(dy, np.generic):
        dy = np.asarray(dy)  # a NumPy scalar cannot be added to in place
    gradients = buffers.get(node)
    if gradients is None:
        gradients = buffers[node] = [None, False] * node.slots
    held = gradients[2 * slot]
    if held is None:
        gradients[2 * slot], gradients[2 * slot + 1] = dy, owned
    elif gradients[2 * slot + 1]:
        held += dy
    else:
        gradients[2 * slot], gradients[2 * slot + 1] = np.asarray(held + dy), True


def _look_for_nonfinite(node, dys, dxs) -> None:
    for dx in dxs:
        if dx is not None and dx.dtype.kind in "fc" and not np.isfinite(dx).all():
            kind = "NaN" if np.isnan(dx).any() else "Inf"
            if all(dy is None or np.isfinite(dy).all() for dy in dys):
                raise GraphError(
                    f"the backward of {node._where()} is the first to make {kind} in a gradient "
                    f"({int((~np.isfinite(dx)).sum())} of {dx.size} values)",
                    "look at the input of that operation (a root or a logarithm at 0, a division by 0, an overflow)",
                )
            raise GraphError(
                f"the gradient that reaches {node._where()} already holds NaN or Inf",
                "look at the gradient given to backward()",
            )
