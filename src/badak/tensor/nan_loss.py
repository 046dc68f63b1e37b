"""A loss that is NaN: what its graph still holds tells where the first NaN stands. Read only then, and said once."""

from typing import Any

import numpy as np

from badak.autograd.node import Leaf
from badak.core.errors import tr, warn_once
from badak.tensor.history import tensor_of

_KEY = "a loss that is NaN"


def warn_of_nan(root: Any) -> None:
    """Warn of the earliest NaN behind the node `root`: in a leaf, in what an operation gave, or in what went into it."""
    for node in sorted(_behind(root), key=lambda node: node.order):
        if isinstance(node, Leaf):
            held = getattr(tensor_of(node), "_array", None)
            if _broken(held):
                _of_leaf(held)
                return
            continue
        for name, held in vars(node.saved).items() if node.saved is not None else ():
            if _broken(held):
                _of_operation(node, name, held)
                return
    where = root._where()
    _tell_of(tr("the loss is NaN, and nothing that was kept for backward is: {} or an operation just before it made it", where))


def _of_leaf(held) -> None:
    warn_once(
        _KEY,
        tr("the loss is NaN: a parameter of shape {} holds {} NaN before this step", held.shape, int(np.isnan(held).sum())),
        "a smaller learning rate, or nn.utils.clip_grad_norm_ before step(); look for NaN in the data, too: x.isnan().any()",
        code=35,
    )


def _of_operation(node, name: str, held) -> None:
    nan = np.isnan(held)
    if name == "y" and node.name in ("softmax", "log_softmax"):
        rows = nan.any(axis=node.saved.dim)
        warn_once(
            _KEY,
            tr("the loss is NaN: {} gave NaN for {} of {} rows. A row whose scores are all -inf has no softmax", node._where(),
               int(rows.sum()), rows.size),
            "leave a key visible in each row, or F.scaled_dot_product_attention(q, k, v, attn_mask=keep), which gives such rows 0",
            code=35,
        )  # fmt: skip
    elif name == "y":
        _tell_of(tr("the loss is NaN: the first NaN that is kept for backward stands in what {} gave", node._where()))
    elif all(edge is None or isinstance(edge[0], Leaf) for edge in node.edges):
        cause = tr("the loss is NaN: what went into {} held {} NaN of {} numbers already", node._where(), int(nan.sum()), held.size)
        warn_once(_KEY, cause, "look for NaN in the data: x.isnan().any()", code=35)
    else:
        _tell_of(tr("the loss is NaN: the first NaN that is kept for backward stands in what went into {}", node._where()))


def _tell_of(cause: str) -> None:
    fix = tr("badak.autograd.set_detect_anomaly(True) stops where it is made: a logarithm of 0, 0 / 0, an overflow")
    warn_once(_KEY, cause, fix, code=35)


def _broken(held) -> bool:
    return type(held) is np.ndarray and held.dtype.kind in "fcV" and bool((held != held).any())


def _behind(root) -> set:
    """All nodes and leaves that a node depends on, and itself."""
    seen, pending = {root}, [root]
    while pending:
        for edge in pending.pop().edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                pending.append(edge[0])
    return seen
