"""`replace_pattern`: wherever a graph does what a pattern does, it does something else from then on."""

from typing import Any, NamedTuple

from badak.compat.torch.fx._symbolic_trace import symbolic_trace
from badak.compat.torch.fx.graph import Graph, _has
from badak.compat.torch.fx.graph_module import GraphModule, _copy_attr
from badak.compat.torch.fx.node import Node
from badak.core.errors import ArgumentError, expect_kind, tr
from badak.nn import Module


class Match(NamedTuple):
    """Where a pattern was found: the last node of the pattern, and the node of the graph for each of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace each subgraph that equals `pattern`, and that nobody else looks into, by `replacement`.

    Args:
        gm: the GraphModule, changed in place and recompiled
        pattern, replacement: functions or modules with the same arguments, or graphs

    Returns: list of Match, in the order of the graph

    Example:
        >>> from badak import fx
        >>> traced = fx.symbolic_trace(lambda x: badak.relu(x) + 1)
        >>> _ = fx.replace_pattern(traced, lambda x: badak.relu(x), lambda x: badak.tanh(x))
        >>> [node.name for node in traced.graph.nodes]
        ['x', 'tanh', 'add', 'output']
    """
    expect_kind(gm, GraphModule, "replace_pattern: expected a GraphModule; got {}", "fx.symbolic_trace(module)")
    before, after = _graph_of(pattern), _graph_of(replacement)
    wanted, given = ([node for node in graph.nodes if node.op == "placeholder"] for graph in (before, after))
    if len(wanted) != len(given):
        cause = tr("replace_pattern: pattern has {} arguments, replacement {}", len(wanted), len(given))
        raise ArgumentError(cause, "the same arguments for both")
    if isinstance(replacement, Module):
        for node in after.nodes:
            if node.op in ("call_module", "get_attr") and not _has(gm, node.target):
                _copy_attr(replacement, gm, node.target)
    root = before.output_node().args[0]
    if not isinstance(root, Node):
        raise ArgumentError("replace_pattern: expected a pattern that gives one value; it gives several", "one pattern for each")
    matches: list[Match] = []
    used: set[Node] = set()
    for node in reversed(gm.graph.nodes):  # a match that ends later comes first, as it may hold one that ends earlier
        found: dict[Node, Node] = {}
        if _equal(root, node, found) and not (inner := _inner(found)) & used and _is_closed(inner, node):
            used |= inner
            matches.insert(0, Match(root, found))
    new: dict[Node, Node] = {}
    for match in matches:
        values = dict(zip(given, (new.get(match.nodes_map[x], match.nodes_map[x]) for x in wanted if x in match.nodes_map)))
        old = match.nodes_map[root]
        with gm.graph.inserting_before(old):
            result = gm.graph.graph_copy(after, values)
        old.replace_all_uses_with(result)
        new[old] = result
        for node in reversed(gm.graph.nodes):
            if node in _inner(match.nodes_map) and not node.users:
                gm.graph.erase_node(node)
    gm.recompile()
    return matches


def _graph_of(a: Any) -> Graph:
    return a if isinstance(a, Graph) else a.graph if isinstance(a, GraphModule) else symbolic_trace(a).graph


def _equal(p: Any, g: Any, found: dict[Node, Node]) -> bool:
    """Whether g is what p is; `found` gets the nodes of g for those of p."""
    if isinstance(p, Node):
        if p in found:
            return found[p] is g
        if not isinstance(g, Node):
            return False
        if p.op != "placeholder":
            if p.op != g.op or p.target != g.target or p.kwargs.keys() != g.kwargs.keys():
                return False
            if not _equal(p.args, g.args, found) or not all(_equal(p.kwargs[name], g.kwargs[name], found) for name in p.kwargs):
                return False
        found[p] = g
        return True
    if isinstance(p, tuple | list):
        return isinstance(g, tuple | list) and len(p) == len(g) and all(_equal(a, b, found) for a, b in zip(p, g))
    return type(p) is type(g) and p == g


def _inner(found: dict[Node, Node]) -> set[Node]:
    return {g for p, g in found.items() if p.op not in ("placeholder", "get_attr")}


def _is_closed(inner: set[Node], anchor: Node) -> bool:
    """Whether nobody outside uses what is inside, but for the last node."""
    return all(user in inner for node in inner if node is not anchor for user in node.users)
