"""The walk of `autograd/engine.py` over tensors: same order, same sums, and everything on the way is recorded."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from heapq import heappop, heappush
from typing import Any

from badak.autograd.engine import asked_for, frontier, under_way
from badak.autograd.node import Leaf, Node
from badak.core import events
from badak.core.errors import GraphError, tr
from badak.ops.cast import Clone
from badak.ops.op import NotRecordable
from badak.tensor.double_backward.array import Recorded, run, tensor_of
from badak.tensor.double_backward.saved import SavedAgain
from badak.tensor.tensor import Tensor


def backpropagate(roots: list, retain_graph: bool, targets: list | None = None) -> tuple:
    """As graph.backpropagate, for gradients that are tensors: [((node, output number), tensor)], and targets likewise."""
    events.user_code(tr("create_graph=True was asked for"))
    return walk(roots, retain_graph, targets, _gradients)


def through(function: Callable, inputs: tuple, needs: Sequence[int], dys: tuple) -> tuple:
    """The gradients of the inputs by way of `function`, which says in operations what a forward computes of them."""
    own: list = [None if x is None else run(Clone, x) for x in inputs]  # the ends of this walk, though one input be made of another
    made = function(*own)
    roots = [(y.tensor._edge(), dy.tensor) for y, dy in zip(made, dys, strict=True) if dy is not None and y.tensor.requires_grad]
    wanted = [place for place, (x, need) in enumerate(zip(own, needs, strict=True)) if need and x.tensor.requires_grad]
    found = walk(roots, True, [own[place].tensor._edge() for place in wanted], _gradients)
    known = dict(zip(wanted, found, strict=True))
    return tuple(Recorded(known[place]) if known.get(place) is not None else None for place in range(len(own)))


@under_way
def walk(roots: list, retain_graph: bool, targets: list, of_node: Callable) -> Any:
    """The same. of_node(node, gradients): the gradients of its inputs."""
    waiting: dict = {}  # node: a gradient for each of its outputs, None where none has come
    heap: list = []
    for (node, slot), dy in roots:
        _add(waiting, heap, node, slot, dy)
    goals, above = (None, set()) if targets is None else frontier(roots, targets)
    found: dict = {}
    while heap:
        node = heappop(heap)[1]
        gradients = _hooked(node, waiting.pop(node))
        if goals is not None and node in goals:
            found[node] = gradients
        if goals is not None and node not in above:
            continue
        with asked_for(node, goals, above) if goals is not None else nullcontext():
            dxs = of_node(node, gradients)
        for edge, dx in zip(node.edges, dxs, strict=True):
            if edge is not None and dx is not None:
                _add(waiting, heap, edge[0], edge[1], dx)
        if not retain_graph:
            node.let_go()
    for leaf in list(waiting):
        gradients = _hooked(leaf, waiting.pop(leaf))
        if goals is None:
            leaf.accumulate(gradients[0], False)
        elif leaf in goals:
            found[leaf] = gradients
    return None if targets is None else [found[node][slot] if node in found else None for node, slot in targets]


def _add(waiting, heap, node, slot: int, dy: Tensor) -> None:
    if node not in waiting:
        waiting[node] = [None] * node.slots
        if type(node) is not Leaf:
            heappush(heap, (-node.order, node))
    held = waiting[node][slot]
    waiting[node][slot] = dy if held is None else held + dy


def _hooked(node, gradients):
    for slot, hooks in (node.hooks or {}).items():
        if gradients[slot] is None and getattr(node.op, "apart", False):
            continue
        for hook in list(hooks.values()):
            gradients[slot] = hook.of_tensor(gradients[slot])
    return gradients


def _gradients(node: Node, gradients) -> tuple:
    """The gradients of the inputs, tensors with a history."""
    node.check()
    op = node.op
    if hasattr(op, "around"):  # hooks of its grad_fn
        return op.around(partial(_gradients_of, node, op.inner), tuple(gradients))
    return _gradients_of(node, op, gradients)


def _gradients_of(node: Node, op, gradients) -> tuple:
    if hasattr(op, "of_tensors"):  # a Function: the user's backward works on tensors anyway
        return op.of_tensors(node.saved, *gradients)
    dys = [None if dy is None else Recorded(dy) for dy in gradients]
    try:
        made = (op.double_backward or op.backward)(SavedAgain(node), *dys)
        made = made if type(made) is tuple else (made,)
        if any(getattr(getattr(dx, "dtype", None), "kind", "O") not in "fcV" for dx in made if dx is not None):
            raise NotRecordable("a result that is no array")
    except (NotRecordable, TypeError, ValueError, AttributeError) as error:
        raise _no_second_derivative(node, error) from None
    return tuple(None if dx is None else tensor_of(dx) for dx in made)


def _no_second_derivative(node: Node, error: Exception) -> GraphError:
    cause = tr("create_graph=True: the gradient of {} cannot be differentiated again ({})", node.name, error)
    return GraphError(cause, "create_graph=False, or a Function of your own whose backward is made of operations that can")
