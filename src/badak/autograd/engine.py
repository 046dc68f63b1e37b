"""The walk from the outputs of a graph back to its leaves.

Iterative, so that a chain of 100,000 operations works. Nodes that a gradient has reached wait in a heap and are visited from
the newest to the oldest: an operation is always newer than what it depends on, so every gradient is complete when its turn
comes, and contributions are added in the same order every time, which makes the sums the same to the last bit. Leaves,
which lead nowhere, come last.
"""

from collections.abc import Callable
from contextlib import contextmanager
from functools import wraps
from heapq import heappop, heappush
from typing import Any

import numpy as np

from badak.autograd.node import Leaf, Node, now
from badak.core import events
from badak.core.errors import StateError, tr
from badak.core.modes import anywhere, modes
from badak.kernels import LARGE
from badak.kernels import of as kernels_of
from badak.kernels.reference._arrays import quiet
from badak.ops.rows import Rows


def under_way(walk: Callable) -> Callable:
    """A walk from roots to targets, which is known while it lasts."""

    @wraps(walk)
    def walking(roots, retain_graph: bool = False, targets=None, *rest):
        after: list[Callable] = []
        before, modes.walk = modes.walk, (now(), roots, targets, after)
        try:
            found = walk(roots, retain_graph, targets, *rest)
            for callback in after:  # one may queue another
                callback()
            return found
        finally:
            modes.walk = before

    return walking


def queue_callback(callback: Callable[[], Any]) -> None:
    """Call this function at the end of the backward under way."""
    if modes.walk is None:
        cause = tr("Final callbacks can only be installed during backward pass.")
        raise StateError(cause, "within a hook, or the backward of a Function")
    modes.walk[3].append(callback)


_plus = quiet(np.add)  # infinities add up in silence


def goes_through() -> set:
    """The nodes that the walk under way visits."""
    _, roots, targets, _ = modes.walk
    if targets is not None:
        goals, above = frontier(roots, targets)
        return goals | above
    seen = {node for (node, _), _ in roots}
    pending = list(seen)
    while pending:
        new = {edge[0] for edge in pending.pop().edges if edge is not None} - seen
        seen |= new
        pending += new
    return seen


@under_way
def backpropagate(roots: list, retain_graph: bool = False, targets: Any = None) -> Any:
    """Send each root's gradient back through the graph.

    roots     list of ((node, output number), gradient array)
    targets   None: every leaf accumulates. Or a list of (node, output number): nothing accumulates, and the gradients
              there are returned, in order, None where a target was not reached.
    """
    buffers: dict = {}  # what has come for each node
    heap: list = []  # (-order, node) of those that are no leaves
    for (node, slot), dy in roots:
        _add(buffers, heap, node, slot, dy, False)
    goals, above = (None, set()) if targets is None else frontier(roots, targets)
    found: dict = {}
    uses = _uses(roots) if modes.awaiting and goals is None else None
    while heap:
        node = heappop(heap)[1]
        gradients = buffers.pop(node)
        if node.hooks:
            _run_hooks(node, gradients)
        if goals is not None:
            if node in goals:
                found[node] = gradients
            if node not in above:
                continue
            with asked_for(node, goals, above):
                _step(node, gradients, buffers, heap, not retain_graph)
        else:
            _step(node, gradients, buffers, heap, not retain_graph)
        if not retain_graph:
            node.let_go()
        if uses is not None:
            _let_go(node, uses, buffers)
    for leaf in list(buffers):
        gradients = buffers.pop(leaf)
        if leaf.hooks:
            _run_hooks(leaf, gradients)
        if goals is None:
            leaf.accumulate(gradients[0], gradients[1])
        elif leaf in goals:
            found[leaf] = gradients
    return None if targets is None else [found[node][2 * slot] if node in found else None for node, slot in targets]


def _uses(roots) -> dict:
    """How many inputs of operations below the roots each leaf is."""
    uses: dict = {}
    seen = {node for (node, _), _ in roots}
    pending = list(seen)
    while pending:
        for edge in pending.pop().edges:
            if edge is None:
                continue
            if type(edge[0]) is Leaf:
                uses[edge[0]] = uses.get(edge[0], 0) + 1
            elif edge[0] not in seen:
                seen.add(edge[0])
                pending.append(edge[0])
    for (node, _), _ in roots:
        if type(node) is Leaf:
            uses.pop(node, None)  # it waits for the end
    return uses


def _let_go(node, uses, buffers) -> None:
    """Hand on the gradients of leaves that this node was the last to add to. Those that some node never reached wait."""
    for edge in node.edges:
        if edge is not None and type(edge[0]) is Leaf:
            leaf = edge[0]
            left = uses.get(leaf, 0) - 1
            uses[leaf] = left
            if left == 0 and leaf in buffers:
                gradients = buffers.pop(leaf)
                if leaf.hooks:
                    _run_hooks(leaf, gradients)
                leaf.accumulate(gradients[0], gradients[1])


def frontier(roots: list, targets: list) -> tuple:
    """The nodes of the targets, and those that lie on a way from a root to a target, strictly above it."""
    goals = {node for node, _ in targets}
    oldest = min((node.order for node in goals), default=0)  # what is older leads to none
    seen = {node for (node, _), _ in roots}
    pending = list(seen)
    while pending:
        for edge in pending.pop().edges:
            if edge is not None and edge[0] not in seen and edge[0].order >= oldest:
                seen.add(edge[0])
                pending.append(edge[0])
    above: set = set()
    for node in sorted(seen, key=lambda node: node.order):  # what a node depends on has been decided before it
        if any(edge is not None and (edge[0] in goals or edge[0] in above) for edge in node.edges):
            above.add(node)
    return goals, above


@contextmanager
def asked_for(node: Node, goals: set, above: set) -> Any:
    """A block in which the backward of an Op is asked for the gradients that lead to a target, and for no others."""
    saved, needs = node.saved, getattr(node.saved, "needs", None)
    if needs is None:  # a Function's, which is told what wanted gradients in the forward, as in PyTorch
        yield
        return
    saved.needs = tuple(
        [need and edge is not None and (edge[0] in goals or edge[0] in above) for need, edge in zip(needs, node.edges)]
    )
    try:
        yield
    finally:
        saved.needs = needs


def _run_hooks(node, gradients) -> None:
    events.user_code(tr("a gradient has a hook"))
    for slot, hooks in node.hooks.items():
        shown = gradients[2 * slot]
        if shown is None and getattr(node.op, "apart", False):
            continue
        for hook in list(hooks.values()):  # with None too, of an output that nothing depends on
            shown = hook(shown)
        if shown is not gradients[2 * slot]:  # a hook may have kept it: others are not to write there
            gradients[2 * slot], gradients[2 * slot + 1] = _array_of(shown), True


def _array_of(shown):
    if shown.is_sparse and type(rows := shown.as_rows()) is Rows:
        return rows
    return (shown.to_dense() if shown.is_sparse else shown)._array.copy(order="K")


def _step(node: Node, gradients, buffers, heap, last: bool) -> None:
    """Run one backward and pass its results on. last: the node will not be asked again."""
    if node.saved is None or node.watched:
        node.check()
    op = node.op
    observed = anywhere.has_observers and modes.observer is not None
    backward = modes.observer.on_backward_enter(node, op.backward) if observed else op.backward
    saved = node.saved
    if last and op.overwrites and not node.keeps and (not observed or modes.observer.lets_write_over(node)):
        saved.last = True
        node.let_go()  # before it: an interrupted one cannot be repeated
    dxs = backward(saved, gradients[0]) if node.slots == 1 else backward(saved, *gradients[::2])
    if type(dxs) is not tuple:
        dxs = (dxs,)
    if observed and modes.observer is not None:
        shown = tuple([None if dx is None else np.asarray(dx) for dx in dxs])
        dxs = tuple([dx if type(dx) is Rows else seen for dx, seen in zip(dxs, shown)])
        modes.observer.on_backward(node, gradients[::2], shown)
    for edge, dx in zip(node.edges, dxs, strict=True):
        if edge is not None and dx is not None:
            _add(buffers, heap, edge[0], edge[1], dx, op.owns_grads)


def _add(buffers, heap, node, slot: int, dy, owned: bool) -> None:
    """Add dy to what has come for (node, slot). A buffer is [gradient, owned] for each output, flat."""
    if type(dy) is not np.ndarray and (type(dy) is not Rows or type(node) is not Leaf):
        dy = np.asarray(dy)  # a NumPy scalar cannot be added to in place
    gradients = buffers.get(node)
    if gradients is None:
        gradients = buffers[node] = [None, False] * node.slots
        if type(node) is not Leaf:
            heappush(heap, (-node.order, node))
    held, owned_too = gradients[2 * slot], gradients[2 * slot + 1]
    if held is None:
        gradients[2 * slot], gradients[2 * slot + 1] = dy, owned
        return
    if type(held) is Rows or type(dy) is Rows:
        gradients[2 * slot], gradients[2 * slot + 1] = held + dy if type(held) is Rows else dy + held, True
        return
    if held.size >= LARGE or (anywhere.has_observers and modes.observer is not None):  # a recording replays kernels without Python
        gradients[2 * slot] = _sum(held, owned_too, dy, owned)
    elif owned_too:
        _plus(held, dy, held)
    elif held.flags.c_contiguous and dy.flags.c_contiguous:
        gradients[2 * slot] = np.asarray(_plus(held, dy))
    else:  # NumPy would decide otherwise in which order it lies
        gradients[2 * slot] = np.asarray(kernels_of(held).arithmetic(np.add, held, dy))
    gradients[2 * slot + 1] = True


def _sum(held, held_owned: bool, dy, dy_owned: bool):
    """held + dy by a kernel; large arrays in the memory of the one that nobody else holds: new memory costs half as much again.

    Who watches must not change where it lies: later sums over it would have other last bits.
    """
    if held_owned:
        out = held
    else:
        free = dy_owned and held.size >= LARGE
        out = dy if free and dy.dtype is held.dtype and dy.strides == held.strides and dy.shape == held.shape else None
    made = np.asarray(kernels_of(held).arithmetic(np.add, held, dy, out))
    if anywhere.has_observers and modes.observer is not None:
        modes.observer.on_grad_sum(held, dy, made)
    return made
