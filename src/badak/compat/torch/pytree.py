"""`torch.utils._pytree`: containers in containers, their leaves, and the way back.

A node is an object of exactly one of the registered types, or a namedtuple; everything else is a leaf. What a type is made of
is registered once, with `register_pytree_node` (`tree_nodes.py`), and holds for the whole process.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from badak.compat.torch.tree_nodes import BUILTIN_TYPES as BUILTIN_TYPES
from badak.compat.torch.tree_nodes import SUPPORTED_NODES as SUPPORTED_NODES
from badak.compat.torch.tree_nodes import GetAttrKey as GetAttrKey
from badak.compat.torch.tree_nodes import MappingKey as MappingKey
from badak.compat.torch.tree_nodes import NodeDef as NodeDef
from badak.compat.torch.tree_nodes import SequenceKey as SequenceKey
from badak.compat.torch.tree_nodes import _deregister_pytree_node as _deregister_pytree_node
from badak.compat.torch.tree_nodes import _dict_flatten as _dict_flatten
from badak.compat.torch.tree_nodes import _dict_flatten_with_keys as _dict_flatten_with_keys
from badak.compat.torch.tree_nodes import _dict_unflatten as _dict_unflatten
from badak.compat.torch.tree_nodes import _get_node_type as _get_node_type
from badak.compat.torch.tree_nodes import _list_flatten as _list_flatten
from badak.compat.torch.tree_nodes import _list_flatten_with_keys as _list_flatten_with_keys
from badak.compat.torch.tree_nodes import _register_pytree_node as _register_pytree_node
from badak.compat.torch.tree_nodes import register_constant as register_constant
from badak.compat.torch.tree_nodes import register_dataclass as register_dataclass
from badak.compat.torch.tree_nodes import register_pytree_node as register_pytree_node
from badak.core.errors import ArgumentError, tr

Context = PyTree = Any


# ---------------------------------------------------------------------- specs


@dataclass(frozen=True)
class TreeSpec:
    """The shape of a tree: the type of a node, its keys or fields, and the specs of its children."""

    type: Any
    context: Any
    children_specs: list["TreeSpec"] = field(default_factory=list)

    @property
    def num_leaves(self) -> int:
        """How many leaves a tree of this shape has."""
        return 1 if self.is_leaf() else sum(child.num_leaves for child in self.children_specs)

    @property
    def num_nodes(self) -> int:
        """How many nodes and leaves it has."""
        return 1 + sum(child.num_nodes for child in self.children_specs)

    @property
    def num_children(self) -> int:
        """How many children its topmost node has."""
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        """Whether it is a single value."""
        return self.type is None

    def children(self) -> list["TreeSpec"]:
        """The specs of its children."""
        return list(self.children_specs)

    def child(self, index: int) -> "TreeSpec":
        """The spec of one child."""
        return self.children_specs[index]

    def unflatten(self, leaves: Iterable) -> Any:
        """The tree of this shape with these leaves."""
        return tree_unflatten(leaves, self)

    def flatten_up_to(self, tree: Any) -> list:
        """What lies in `tree` where this shape has leaves."""
        return _up_to(self, tree)

    def __repr__(self, indent: int = 0) -> str:
        if self.is_leaf():
            return "*"
        inner = (",\n" + " " * (indent + 2)).join(each.__repr__(indent + 2) for each in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inner}])"


def LeafSpec() -> TreeSpec:  # noqa: N802  (PyTorch's name)
    """The spec of a single value."""
    return TreeSpec(None, None)


_LEAF = TreeSpec(None, None)
treespec_leaf = LeafSpec


def _up_to(spec: TreeSpec, tree: Any) -> list:
    """What lies in `tree` at the leaves of `spec`; ArgumentError where the two are not alike."""
    if spec.is_leaf():
        return [tree]
    kind = _get_node_type(tree)
    if kind is not spec.type:
        raise ArgumentError(tr("Node type mismatch; expected {}, but got {}.", spec.type, type(tree)), "trees of one shape")
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    if len(children) != len(spec.children_specs):
        cause = tr("Node arity mismatch; expected {}, but got {}.", len(spec.children_specs), len(children))
        raise ArgumentError(cause, "trees of one shape")
    if isinstance(tree, dict):
        keys = spec.context[1] if kind is defaultdict else spec.context
        if set(tree) != set(keys):
            told = [("missing", set(keys) - set(tree)), ("extra", set(tree) - set(keys))]
            found = tr("").join(tr("; {} key(s): {}", word, some) for word, some in told if some)
            raise ArgumentError(tr("Node keys mismatch{}.", found), "trees of one shape")
        children = [tree[key] for key in keys]
    elif kind is not deque and context != spec.context:
        cause = tr("Node context mismatch for custom node type {}; expected {}, but got {}.", kind, spec.context, context)
        raise ArgumentError(cause, "trees of one shape")
    return [leaf for below, child in zip(spec.children_specs, children) for leaf in _up_to(below, child)]


# ---------------------------------------------------------------------- there and back


def tree_is_leaf(tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether it is no node."""
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


def tree_flatten(tree: Any, is_leaf: Callable | None = None) -> tuple[list, TreeSpec]:
    """The leaves in order, and the spec that puts them back together."""
    leaves: list = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list, is_leaf: Callable | None) -> TreeSpec:
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return _LEAF
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves: Iterable, treespec: TreeSpec) -> Any:
    """The tree of that shape with these leaves."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        cause = tr("treespec.unflatten(leaves): `leaves` has length {} but the spec refers to a pytree that holds {} items ({}).",
                   len(leaves), treespec.num_leaves, treespec)  # fmt: skip
        raise ArgumentError(cause, "as many leaves as tree_flatten gave")
    return _unflatten(iter(leaves), treespec)


def _unflatten(rest: Iterator, spec: TreeSpec) -> Any:
    if spec.is_leaf():
        return next(rest)
    return SUPPORTED_NODES[spec.type].unflatten_fn([_unflatten(rest, child) for child in spec.children_specs], spec.context)


def tree_iter(tree: Any, is_leaf: Callable | None = None) -> Iterator:
    """The leaves, one by one."""
    return iter(tree_leaves(tree, is_leaf))


def tree_leaves(tree: Any, is_leaf: Callable | None = None) -> list:
    """The leaves in order."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list:
    """The leaves of all arguments in order."""
    return [leaf for each in (*args, *kwargs.values()) for leaf in tree_leaves(each)]


def is_namedtuple_class(cls: Any) -> bool:
    """Whether it is a class that `collections.namedtuple` made, or derives from one."""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_namedtuple(obj: Any) -> bool:
    """Whether it is such a class, or an object of one."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether it is an object of such a class."""
    return is_namedtuple_class(type(obj))


def tree_structure(tree: Any, is_leaf: Callable | None = None) -> TreeSpec:
    """The spec."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """The tree with func(leaf, and what lies at that place in `rests`) in place of each leaf."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [_up_to(spec, rest) for rest in rests]
    return tree_unflatten([func(*parts) for parts in zip(leaves, *others)], spec)


def tree_map_(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """Call func for each leaf; the tree."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _chosen(type_or_types: Any) -> Callable[[Any], bool]:
    """What tells whether a leaf is meant, of a type, several, or a function that tells it."""
    if isinstance(type_or_types, type | tuple) or not callable(type_or_types):
        return lambda leaf: isinstance(leaf, type_or_types)
    return type_or_types


def map_only(type_or_types: Any, /) -> Callable[[Callable], Callable]:
    """A decorator: the function is applied to what is of that type, everything else stays."""
    meant = _chosen(type_or_types)
    return lambda func: lambda leaf: func(leaf) if meant(leaf) else leaf


def tree_map_only(type_or_types: Any, /, func: Callable, tree: Any, is_leaf: Callable | None = None) -> Any:
    """tree_map over the leaves of a type; the others stay."""
    return tree_map(map_only(type_or_types)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types: Any, /, func: Callable, tree: Any, is_leaf: Callable | None = None) -> Any:
    """Call func for each leaf of a type; the tree."""
    return tree_map_(map_only(type_or_types)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether pred holds for every leaf."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether pred holds for some leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(type_or_types: Any, /, pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether pred holds for every leaf of a type."""
    return all(pred(leaf) for leaf in filter(_chosen(type_or_types), tree_leaves(tree, is_leaf)))


def tree_any_only(type_or_types: Any, /, pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether pred holds for some leaf of a type."""
    return any(pred(leaf) for leaf in filter(_chosen(type_or_types), tree_leaves(tree, is_leaf)))


# ---------------------------------------------------------------------- with the way to each leaf


def tree_flatten_with_path(tree: Any, is_leaf: Callable | None = None) -> tuple[list[tuple[tuple, Any]], TreeSpec]:
    """([(path, leaf), ...], spec); a path is a tuple of keys."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: Callable | None = None) -> list[tuple[tuple, Any]]:
    """[(path, leaf), ...]."""
    return list(_paths((), tree, is_leaf))


def _paths(path: tuple, tree: Any, is_leaf: Callable | None) -> Iterator[tuple[tuple, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    keyed = SUPPORTED_NODES[_get_node_type(tree)].flatten_with_keys_fn
    if keyed is None:
        cause = tr("Did not find a flatten_with_keys_fn for type: {}.", type(tree))
        raise ArgumentError(cause, "register_pytree_node(..., flatten_with_keys_fn=...)")
    for key, child in keyed(tree)[0]:
        yield from _paths((*path, key), child, is_leaf)


def tree_map_with_path(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """tree_map whose func gets the path of the leaf first."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    others = [_up_to(spec, rest) for rest in rests]
    return tree_unflatten([func(path, leaf, *more) for (path, leaf), *more in zip(pairs, *others)], spec)


def keystr(kp: tuple) -> str:
    """A path as text: "['a'][0].x"."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: tuple) -> Any:
    """What lies in obj at that path."""
    for key in kp:
        obj = key.get(obj)
    return obj
