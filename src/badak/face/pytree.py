"""`torch.utils._pytree`: containers in containers, their leaves, and the way back."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TreeSpec:
    """The shape of a tree: the type of a node, its keys or fields, and the specs of its children."""

    type: Any
    context: Any
    children_specs: list["TreeSpec"] = field(default_factory=list)

    @property
    def num_leaves(self) -> int:
        """How many leaves a tree of this shape has."""
        return 1 if self.type is None else sum(child.num_leaves for child in self.children_specs)

    def is_leaf(self) -> bool:
        """Whether it is a single value."""
        return self.type is None


def LeafSpec() -> TreeSpec:  # noqa: N802  (PyTorch's name)
    """The spec of a single value."""
    return TreeSpec(None, None)


def _parts(tree: Any) -> tuple[Any, Any, list] | None:
    """Type, keys and children of a container; None for a leaf."""
    kind = type(tree)
    if kind in (list, tuple):
        return kind, None, list(tree)
    if kind in (dict, OrderedDict, defaultdict):
        return kind, (list(tree), getattr(tree, "default_factory", None)), list(tree.values())
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return kind, tree._fields, list(tree)
    return None


def _build(kind: Any, context: Any, children: list) -> Any:
    if kind in (list, tuple):
        return kind(children)
    if kind is defaultdict:
        return defaultdict(context[1], zip(context[0], children))
    if kind in (dict, OrderedDict):
        return kind(zip(context[0], children))
    return kind(*children)


def tree_flatten(tree: Any, is_leaf: Callable | None = None) -> tuple[list, TreeSpec]:
    """The leaves in order, and the spec that puts them back together."""
    parts = None if is_leaf is not None and is_leaf(tree) else _parts(tree)
    if parts is None:
        return [tree], LeafSpec()
    leaves, specs = [], []
    for child in parts[2]:
        below, spec = tree_flatten(child, is_leaf)
        leaves += below
        specs.append(spec)
    return leaves, TreeSpec(parts[0], parts[1], specs)


def tree_unflatten(leaves, treespec: TreeSpec) -> Any:
    """The tree of that shape with these leaves."""
    rest = iter(leaves)

    def built(spec: TreeSpec) -> Any:
        return (
            next(rest) if spec.is_leaf() else _build(spec.type, spec.context, [built(s) for s in spec.children_specs])
        )

    return built(treespec)


def tree_leaves(tree: Any, is_leaf: Callable | None = None) -> list:
    """The leaves in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable | None = None) -> TreeSpec:
    """The spec."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """The tree with func(leaf, and the leaves at that place in `rests`) in place of each leaf."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_leaves(rest, is_leaf) for rest in rests]
    return tree_unflatten([func(*parts) for parts in zip(leaves, *others)], spec)


def tree_map_(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """Call func for each leaf; the tree."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(type_or_types, func: Callable, tree: Any, is_leaf: Callable | None = None) -> Any:
    """tree_map over the leaves of a type; the others stay."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, type_or_types) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred: Callable, tree: Any) -> bool:
    """Whether pred holds for every leaf."""
    return all(pred(leaf) for leaf in tree_leaves(tree))


def tree_any(pred: Callable, tree: Any) -> bool:
    """Whether pred holds for some leaf."""
    return any(pred(leaf) for leaf in tree_leaves(tree))
