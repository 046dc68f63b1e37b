"""What a block gives, and whether what it was given is put next to it, where its name or its shape speaks of that."""

import re
from typing import Any

from badak.core.modes import modes
from badak.inspect.doctor.facts import Watch
from badak.inspect.doctor.graph import below, first_of
from badak.inspect.doctor.names import line
from badak.inspect.doctor.source import is_ours
from badak.nn import GroupNorm, LayerNorm, Linear, Module, RMSNorm, Sequential
from badak.tensor import Tensor

NAMED = re.compile(r"^Res(idual)?(Block|Unit|Layer|Conv|MLP|Linear|Cell)?\d?[dD]?$|Residual|ResBlock|ResUnit|Shortcut|SkipBlock")
SUMS = frozenset("add sub cat lerp stack mul where maximum".split())
MOST, FAR = 64, 400  # blocks of a step; operations of a block
FIRST = 2  # steps that are looked at


def is_block(module: Module) -> bool:
    """Whether a module is one that something goes around: by its name; or norm, wider layers, and back to the first size."""
    if NAMED.search(type(module).__name__) and is_ours(type(module)):
        return True
    parts = list(module._modules.values()) if isinstance(module, Sequential) else []
    layers = [each for each in parts if isinstance(each, Linear)]
    if len(layers) < 2 or not isinstance(parts[0], LayerNorm | RMSNorm | GroupNorm):
        return False
    return layers[-1].out_features == layers[0].in_features < layers[0].out_features and type(parts[-1]).__name__ in (
        "Linear",
        "Dropout",
    )


def entered(watch: Watch, module: Module, args: tuple) -> None:
    """A block is given something that has a graph."""
    known = watch.blocks.get(id(module))
    if known is None:
        known = watch.blocks[id(module)] = is_block(module)
    x = args[0] if known and len(args) == 1 else None
    if isinstance(x, Tensor) and x._node is not None and modes.grad and len(watch.around) < MOST:
        watch.around[id(module)] = x._node, None, type(module).__name__, ""


def left(watch: Watch, module: Module, y: Any) -> None:
    """It gives something: is what it was given in it, by another way than its own?"""
    known = watch.around.pop(id(module), None)
    if known is None or not isinstance(y, Tensor) or y._node is None:
        return
    if not joins(y._node, known[0]) and type(y) is Tensor:
        watch.around[id(y._node)] = known[0], y._node, known[2], line()


def joins(node: Any, lower: Any) -> bool:
    """Whether some operation between two takes what comes of the lower one by two ways."""
    reaches: dict[int, bool] = {id(lower): True}
    order: list[Any] = []
    pending, seen = [node], {id(node), id(lower)}
    while pending and len(order) < FAR:
        each = pending.pop()
        order.append(each)
        for x in below(each):
            if id(x) not in seen:
                seen.add(id(x))
                pending.append(x)
    if pending:
        return True  # too far to be sure
    for each in sorted(order, key=lambda n: n.order):
        ways = [reaches.get(id(edge[0]), False) for edge in each.edges if edge is not None]
        reaches[id(each)] = any(ways)
        if each.name in SUMS and sum(ways) > 1:
            return True
    return not reaches.get(id(node), False)


def added(watch: Watch, inputs: tuple) -> None:
    """A sum, or what is put side by side, outside of a block: with what the block was given."""
    nodes = [x._node for x in inputs if x is not None and x._node is not None]
    for node in nodes:
        known = watch.around.get(id(from_block(node)))
        if known is not None and len(nodes) > 1:
            watch.around.pop(id(known[1]))


def from_block(node: Any) -> Any:
    """The node through what only scales or drops."""
    while node is not None and (node.op.view or node.name in ("dropout", "scale", "mul", "clone", "cast")):
        node = first_of(node)
    return node
