"""Containers in containers, of registered types too."""

import dataclasses
from collections import defaultdict, deque, namedtuple

import torch.utils._pytree as P

t = {"b": [1, (2, 3)], "a": None}
l, s = P.tree_flatten(t)
print(l, s, repr(s), s.num_leaves, s.num_nodes, s.num_children, s.type, s.context)
print(P.tree_flatten_with_path(t))
print(P.keystr((P.SequenceKey(1), P.MappingKey("a"), P.GetAttrKey("x"))))
N = namedtuple("N", "x y")
print(P.tree_flatten(N(1, 2))[1], P.tree_flatten(deque([1, 2], maxlen=3)))


def e(f):
    try:
        print(f())
    except Exception as e:
        print(
            [c.__name__ for c in (ValueError, TypeError, RuntimeError) if isinstance(e, c)][0],
            str(e).split("\nfix")[0].split(". Please")[0].rstrip("."),
        )


e(lambda: P.register_pytree_node(list, None, None))
e(lambda: P.tree_unflatten([1], s))
e(lambda: P.tree_map(lambda a, b: (a, b), [1, 2], [1, 2, 3]))
e(lambda: P.tree_map(lambda a, b: (a, b), {"a": 1, "b": 2}, {"b": 1, "a": 3}))
e(lambda: P.tree_map(lambda a, b: (a, b), {"a": 1, "b": 2}, {"b": 1, "c": 3}))
e(lambda: P.tree_map(lambda a, b: (a, b), {"a": 1, "b": 2}, [1, 2]))
e(lambda: P.tree_map(lambda a, b: (a, b), [1, 2], [1, [2]]))


class C:
    def __init__(s, *v):
        s.v = v

    def __eq__(s, o):
        return s.v == o.v

    def __repr__(s):
        return f"C{s.v}"


P.register_pytree_node(C, lambda c: (list(c.v), "ctx"), lambda v, c: C(*v))
print(P.tree_map(lambda x: x * 2, {"z": C(1, [2])}), P.tree_flatten(C(1))[1])
e(lambda: P.tree_flatten_with_path(C(1)))


@dataclasses.dataclass
class D:
    x: int
    y: list


P.register_dataclass(D)
print(P.tree_flatten(D(1, [2, 3])), P.tree_map(lambda x: x + 1, D(1, [2])), P.tree_flatten_with_path(D(1, [2])))
e(lambda: P.tree_map(lambda a, b: (a, b), [1, 2], (1, 2)))
d = defaultdict(list, a=1)
print(P.tree_flatten(d), P.tree_unflatten([5], P.tree_structure(d)))
print(
    P.tree_map_only(int, lambda x: -x, [1, 2.0, "a", True]),
    P.tree_all(lambda x: x, []),
    P.tree_map_only(lambda x: x == 2, str, [1, 2]),
)
print(
    P.tree_flatten({"a": 1}) == P.tree_flatten({"a": 1}),
    P.tree_structure([1]) == P.tree_structure([2]),
    P.tree_structure([1]) == P.tree_structure((1,)),
)
print(
    P.tree_map_with_path(lambda p, x: (P.keystr(p), x), {"a": [1, {"q": 2}]}),
    P.key_get({"a": [1, 2]}, (P.MappingKey("a"), P.SequenceKey(1))),
)
print(
    P.tree_leaves([1, [2, 3]], is_leaf=lambda x: x == [2, 3]),
    P.tree_is_leaf(3),
    [k.__name__ for k in list(P.SUPPORTED_NODES)[:7]],
)
