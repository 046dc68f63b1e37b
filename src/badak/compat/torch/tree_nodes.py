"""What containers are made of: the registered types of `pytree.py`, and the keys that lead into them."""

from collections import OrderedDict, defaultdict, deque, namedtuple  # which stands in specs for every class that it makes
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, NamedTuple

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, tr


class SequenceKey(NamedTuple):
    """The way to item `idx` of a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """That item."""
        return sequence[self.idx]


class MappingKey(NamedTuple):
    """The way to the value at `key` of a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """That value."""
        return mapping[self.key]


class GetAttrKey(NamedTuple):
    """The way to the attribute `name`."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """That attribute."""
        return getattr(obj, self.name)


class NodeDef(NamedTuple):
    """What a registered type is made of."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list, Any]]
    unflatten_fn: Callable[[Iterable, Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list, Any]] | None = None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
events.for_all(globals(), "SUPPORTED_NODES")


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list, Any]],
    unflatten_fn: Callable[[Iterable, Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable | None = None,
    from_dumpable_context: Callable | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list, Any]] | None = None,
) -> None:
    """From now on objects of exactly this type are nodes: flatten_fn gives (children, context), unflatten_fn takes them back.

    The names and functions for writing specs to files are accepted; badak writes none.
    """
    if cls in SUPPORTED_NODES:
        raise ArgumentError(tr("{} is already registered as pytree node.", cls), "register a type once, where it is defined")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


def _register_pytree_node(cls: type, flatten_fn, unflatten_fn, to_str_fn=None, maybe_from_str_fn=None, **named) -> None:
    register_pytree_node(cls, flatten_fn, unflatten_fn, **named)


def _deregister_pytree_node(cls: type) -> None:
    del SUPPORTED_NODES[cls]


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """From now on objects of this dataclass are nodes, whose children are its fields. Dropped ones take their defaults."""
    dropped = set(drop_field_names or ())
    if field_names is None:
        if not is_dataclass(cls):
            raise ArgumentError(tr("register_dataclass: {} is no dataclass", cls), "name the attributes with field_names=")
        field_names = [one.name for one in fields(cls) if one.init and one.name not in dropped]
        without = [one for one in fields(cls) if one.name in dropped]
        if any(one.default is MISSING and one.default_factory is MISSING for one in without):
            raise ArgumentError("register_dataclass: a dropped field has no default", "give it one")
    names = list(field_names)

    def flatten(obj: Any) -> tuple[list, list]:
        pairs, context = flatten_with_keys(obj)
        return [value for _, value in pairs], context

    def flatten_with_keys(obj: Any) -> tuple[list, list]:  # a field that is None is no child
        there = [name for name in names if getattr(obj, name) is not None]
        pairs = [(GetAttrKey(name), getattr(obj, name)) for name in there]
        return pairs, [there, [name for name in names if name not in there]]

    def unflatten(values: Iterable, context: list) -> Any:
        return cls(**dict(zip(context[0], values)), **dict.fromkeys(context[1]))

    register_pytree_node(cls, flatten, unflatten, flatten_with_keys_fn=flatten_with_keys)


def register_constant(cls: type) -> None:
    """From now on objects of this type are nodes without children: what they are stands in the spec, which compares them."""
    if cls.__eq__ is object.__eq__ or cls.__hash__ is None:
        what = "__eq__" if cls.__eq__ is object.__eq__ else "__hash__"
        raise ArgumentTypeError(
            tr("register_constant(cls) expects `cls` to have a non-default `{}` implementation; {} has none", what, cls.__name__),
            "a frozen dataclass has both",
        )

    def flatten(obj: Any) -> tuple[list, Any]:
        return [], obj

    register_pytree_node(cls, flatten, lambda _, context: context, flatten_with_keys_fn=flatten)


# ---------------------------------------------------------------------- Python's own containers


def _list_flatten(d: Any) -> tuple[list, None]:
    return list(d), None


def _list_flatten_with_keys(d: Any) -> tuple[list, None]:
    return [(SequenceKey(i), value) for i, value in enumerate(d)], None


def _dict_flatten(d: Any) -> tuple[list, list]:
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: Any) -> tuple[list, list]:
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _dict_unflatten(values: Iterable, context: list) -> dict:
    return dict(zip(context, values))


def _defaultdict_flatten(d: Any) -> tuple[list, list]:
    return list(d.values()), [d.default_factory, list(d)]


def _namedtuple_flatten(d: Any) -> tuple[list, type]:
    return list(d), type(d)


def _deque_flatten(d: deque) -> tuple[list, int | None]:
    return list(d), d.maxlen


register_pytree_node(tuple, _list_flatten, lambda v, _: tuple(v), flatten_with_keys_fn=_list_flatten_with_keys)
register_pytree_node(list, _list_flatten, lambda v, _: list(v), flatten_with_keys_fn=_list_flatten_with_keys)
register_pytree_node(dict, _dict_flatten, _dict_unflatten, flatten_with_keys_fn=_dict_flatten_with_keys)
SUPPORTED_NODES[namedtuple] = NodeDef(
    namedtuple,
    _namedtuple_flatten,
    lambda v, kind: kind(*v),
    lambda d: ([(GetAttrKey(name), value) for name, value in zip(d._fields, d)], type(d)),
)
register_pytree_node(
    OrderedDict, _dict_flatten, lambda v, keys: OrderedDict(zip(keys, v)), flatten_with_keys_fn=_dict_flatten_with_keys
)
register_pytree_node(
    defaultdict,
    _defaultdict_flatten,
    lambda v, context: defaultdict(context[0], zip(context[1], v)),
    flatten_with_keys_fn=lambda d: (_dict_flatten_with_keys(d)[0], _defaultdict_flatten(d)[1]),
)
register_pytree_node(
    deque,
    _deque_flatten,
    lambda v, maxlen: deque(v, maxlen=maxlen),
    flatten_with_keys_fn=lambda d: (_list_flatten_with_keys(d)[0], d.maxlen),
)
BUILTIN_TYPES = frozenset(SUPPORTED_NODES)


def _get_node_type(tree: Any) -> Any:
    kind = type(tree)
    if kind not in SUPPORTED_NODES and isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return namedtuple
    return kind
