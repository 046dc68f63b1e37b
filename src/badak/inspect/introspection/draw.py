"""The graph that made a tensor, as a picture: `badak.draw(loss, model)`.

Operations are boxes, each under those that it depends on, with the shape of what it gives; leaves, which want a gradient, carry the
name of the parameter where the model is given. The layout is the usual one for layered graphs: a box stands as deep as the longest
way to it, long lines get a place in every layer, and boxes move to the middle of their neighbours (Sugiyama, Tagawa, Toda 1981).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from typing import Any

import numpy as np

from badak.autograd.engine import backpropagate
from badak.autograd.node import Leaf
from badak.core.errors import ArgumentTypeError, BadakError, GraphError, expect, tr
from badak.io.atomic import write_file
from badak.nn import Module
from badak.ops.op import Op
from badak.tensor import Tensor
from badak.tensor.history import tensor_of

MOST = 120  # boxes of a picture, unless more are asked for
HEIGHT, GAP, DEEP, LETTER = 36, 18, 64, 7.2  # of a box; between boxes; from layer to layer; a letter's width
_STYLE = """svg.badak{font:12px ui-monospace,monospace;background:#fff}.badak rect{fill:#eef3f8;stroke:#5b7a99}
.badak .leaf rect{fill:#fdf1dc;stroke:#b07d2b}.badak .result rect{stroke-width:2.5}.badak .more rect{fill:#fff;stroke-dasharray:4 3}
.badak text{text-anchor:middle;fill:#1b2733}.badak .shape{fill:#5b6b7a;font-size:11px}
.badak path{fill:none;stroke:#8295a8;stroke-width:1.3}.badak marker path{fill:#8295a8;stroke:none}
@media(prefers-color-scheme:dark){svg.badak{background:#161b22}.badak rect{fill:#1f2a36;stroke:#7d9cbb}.badak text{fill:#e6edf3}
.badak .leaf rect{fill:#3a2f18;stroke:#d9a441}.badak .more rect{fill:#161b22}.badak .shape{fill:#9fb0c0}}"""


@dataclass(eq=False)
class _Box:
    """One thing of the picture, or (without a name) the place where a long line crosses a layer."""

    name: str = ""
    shape: str = ""
    kind: str = ""
    layer: int = 0
    x: float = 0.0
    inputs: list["_Box"] = field(default_factory=list)
    users: list["_Box"] = field(default_factory=list)

    @property
    def width(self) -> float:
        return max(len(self.name), len(self.shape)) * LETTER + 18 if self.name else 4


class Drawing:
    """What `badak.draw` gives: `svg`, shown in notebooks, and `save(path)`; `boxes` are what it shows, `left_out` how many not."""

    def __init__(self, svg: str, boxes: int, left_out: int):
        self.svg, self.boxes, self.left_out = svg, boxes, left_out

    def save(self, path: str | PathLike) -> None:
        """Write the picture as a file that a browser opens."""
        write_file(path, lambda file: file.write(self.svg.encode()))

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        rest = f", {self.left_out} more left out" if self.left_out else ""
        return f"Drawing({self.boxes} boxes{rest}); save('graph.svg') writes it"


def draw(tensor: Tensor, model: Module | None = None, *, most: int = MOST) -> Drawing:
    """The operations that made `tensor`, as an SVG picture; `model` gives leaves the names of its parameters.

    The `most` newest operations are shown, and a box says how many stand before them. Shapes are found by a backward that leaves no
    gradient; where user code would run in it, or the graph was freed, only those of leaves are told. GraphError for a tensor
    without a graph, ArgumentTypeError for what is no tensor. PyTorch has no such function.

    Args:
        tensor: the end of the graph
        model: gives leaves the names of its parameters
        most: operations that are shown

    Returns: a `Drawing`, an SVG picture

    Example:
        >>> model = nn.Linear(2, 1)
        >>> "<svg" in badak.draw(model(badak.ones(2)), model).svg
        True
    """
    if not isinstance(tensor, Tensor):
        raise ArgumentTypeError(tr("draw: expected a Tensor; got {}", type(tensor).__name__), "badak.draw(loss)")
    if model is not None and not isinstance(model, Module):
        raise ArgumentTypeError(tr("draw: expected a Module as model; got {}", type(model).__name__), "badak.draw(loss, model)")
    expect(isinstance(most, int) and most > 0, "draw", "most of at least 1", "most=120", most=most)
    if tensor.grad_fn is None or not tensor.requires_grad:
        raise GraphError(
            "draw: this tensor has no graph: it is a leaf, or was computed without gradients",
            "draw what was computed from tensors that require a gradient, outside of no_grad()",
        )
    root = tensor._edge()[0]
    nodes = _reached(root)
    shown = sorted(nodes, key=lambda node: node.order, reverse=True)
    operations = [node for node in shown if not isinstance(node, Leaf)][:most]
    kept = {*operations, *(edge[0] for node in operations for edge in node.edges if edge and isinstance(edge[0], Leaf))}
    boxes = _boxes(kept, nodes, _shapes(tensor, nodes), _names(model))
    boxes[root].kind, boxes[root].shape = "result", str(tuple(tensor.shape))
    left = len(nodes) - len(kept)
    layers = _layers([*boxes.values()])
    return Drawing(_svg(layers, f"{left} of {len(nodes)} left out" if left else ""), len(kept), left)


def _reached(root: Any) -> dict[Any, None]:
    """All nodes and leaves that a node depends on, itself included."""
    found, pending = {root: None}, [root]
    while pending:
        for edge in pending.pop().edges:
            if edge is not None and edge[0] not in found:
                found[edge[0]] = None
                pending.append(edge[0])
    return found


def _names(model: Module | None) -> dict[int, str]:
    return {} if model is None else {id(p): name for name, p in model.named_parameters()}


def _shapes(tensor: Tensor, nodes: dict[Any, None]) -> dict[Any, str]:
    """Node -> the shape of its first output, which is that of its gradient."""
    targets = [(node, 0) for node in nodes if not isinstance(node, Leaf)]
    ours = all(isinstance(node.op, type) and issubclass(node.op, Op) and node.saved is not None for node, _ in targets)
    if not ours or any(node.hooks for node in nodes):
        return {}
    try:
        found = backpropagate([(tensor._edge(), np.ones_like(tensor._array))], retain_graph=True, targets=targets)
    except BadakError:  # what was saved has been overwritten since
        return {}
    return {node: str(tuple(dy.shape)) for (node, _), dy in zip(targets, found) if dy is not None}


def _boxes(kept: set, nodes: dict[Any, None], shapes: dict[Any, str], names: dict[int, str]) -> dict[Any, _Box]:
    """The boxes of the nodes that are shown, tied to each other; what they depend on besides becomes one box each."""
    boxes: dict[Any, _Box] = {}
    for node in sorted(kept, key=lambda node: node.order):
        leaf = tensor_of(node) if isinstance(node, Leaf) else None
        if isinstance(node, Leaf):
            name = names.get(id(leaf), "leaf") if leaf is not None else "leaf (gone)"
            boxes[node] = _Box(name, str(tuple(leaf.shape)) if leaf is not None else "", "leaf")
        else:
            boxes[node] = _Box(node.name, shapes.get(node, ""), "op")
    for node in kept:
        for edge in node.edges:
            if edge is not None and edge[0] in boxes:
                _tie(boxes[edge[0]], boxes[node])
    cut = [node for node in kept if any(edge is not None and edge[0] not in boxes for edge in node.edges)]
    for node in cut:
        more = _Box("... more before", "", "more")
        boxes[more] = more
        _tie(more, boxes[node])
    return boxes


def _tie(above: _Box, below: _Box) -> None:
    above.users.append(below)
    below.inputs.append(above)


def _layers(boxes: list[_Box]) -> list[list[_Box]]:
    """The boxes of each layer from left to right, with places for long lines."""
    pending, order = [box for box in boxes if not box.inputs], []
    waiting = {id(box): len(box.inputs) for box in boxes}
    while pending:
        box = pending.pop()
        order.append(box)
        for user in box.users:
            user.layer = max(user.layer, box.layer + 1)
            waiting[id(user)] -= 1
            if not waiting[id(user)]:
                pending.append(user)
    for box in order:
        if not box.inputs and box.users:  # what begins stands right above those who use it
            box.layer = min(user.layer for user in box.users) - 1
    layers: list[list[_Box]] = [[] for _ in range(max(box.layer for box in order) + 1)]
    for box in order:
        layers[box.layer].append(box)
    for box in order:
        for number, user in enumerate(box.users):
            box.users[number] = _bridge(box, user, layers)
    _place(layers)
    return layers


def _bridge(box: _Box, user: _Box, layers: list[list[_Box]]) -> _Box:
    """The first of the places that the line from a box to its user takes in the layers between them."""
    last, first = box, user
    for layer in range(box.layer + 1, user.layer):
        place = _Box(layer=layer, inputs=[last])
        layers[layer].append(place)
        if last is box:
            first = place
        else:
            last.users.append(place)
        last = place
    if last is not box:
        last.users.append(user)
        user.inputs[next(i for i, each in enumerate(user.inputs) if each is box)] = last
    return first


def _place(layers: list[list[_Box]]) -> None:
    """Give every box its x: near its neighbours, and clear of those next to it."""
    for layer in layers:
        _spread(layer)
    for turn in range(12):
        down = turn % 2 == 0
        for layer in layers if down else reversed(layers):
            for box in layer:
                near = box.inputs if down else box.users
                if near:
                    box.x = sum(each.x for each in near) / len(near)
            layer.sort(key=lambda box: box.x)
            _spread(layer)


def _spread(layer: list[_Box]) -> None:
    """Push boxes that overlap apart, around where they would like to be."""
    wished = [box.x for box in layer]
    end = -1e18
    for box in layer:
        box.x = max(box.x, end + box.width / 2)
        end = box.x + box.width / 2 + GAP
    drift = sum(box.x - x for box, x in zip(layer, wished)) / max(len(layer), 1)
    for box in layer:
        box.x -= drift


def _svg(layers: list[list[_Box]], note: str) -> str:
    left = min(box.x - box.width / 2 for layer in layers for box in layer) - 12
    right = max(box.x + box.width / 2 for layer in layers for box in layer) + 12
    width, height = right - left, len(layers) * DEEP + (24 if note else 0)
    lines = [path for layer in layers for box in layer if box.name for path in _lines(box)]
    shapes = [_rect(box) for layer in layers for box in layer if box.name]
    words = f"<text x='{(left + right) / 2:.0f}' y='{height - 8}'>{escape(note)}</text>" if note else ""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' class='badak' viewBox='{left:.0f} 0 {width:.0f} {height:.0f}' "
        f"width='{width:.0f}' height='{height:.0f}' role='img'><style>{_STYLE}</style><defs>"
        "<marker id='badak-end' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' orient='auto'>"
        "<path d='M0 0L8 4L0 8z'/></marker></defs>"
        f"{''.join(lines)}{''.join(shapes)}{words}</svg>"
    )


def _top(box: _Box) -> float:
    return box.layer * DEEP + (DEEP - HEIGHT) / 2


def _lines(box: _Box) -> Iterator[str]:
    """The lines from a box to those who use it, through their places in the layers between."""
    for user in box.users:
        x, y = box.x, _top(box) + HEIGHT
        path = f"M{x:.1f} {y:.1f}"
        while True:
            end = _top(user) + (0 if user.name else HEIGHT / 2)
            middle = (y + end) / 2
            path += f"C{x:.1f} {middle:.1f} {user.x:.1f} {middle:.1f} {user.x:.1f} {end:.1f}"
            if user.name:
                break
            x, y, user = user.x, end, user.users[0]
        yield f"<path d='{path}' marker-end='url(#badak-end)'/>"


def _rect(box: _Box) -> str:
    x, y = box.x - box.width / 2, _top(box)
    middle = y + (15 if box.shape else 22)
    shape = f"<text class='shape' x='{box.x:.1f}' y='{y + 29:.1f}'>{escape(box.shape)}</text>" if box.shape else ""
    return (
        f"<g class='{box.kind}'><rect x='{x:.1f}' y='{y:.1f}' width='{box.width:.1f}' height='{HEIGHT}' rx='5'/>"
        f"<text x='{box.x:.1f}' y='{middle:.1f}'>{escape(box.name)}</text>{shape}</g>"
    )
