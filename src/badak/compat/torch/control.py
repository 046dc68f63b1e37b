"""Control flow as functions: `torch.cond`."""

from collections.abc import Callable
from typing import Any

from badak.core.errors import ShapeError, expect_function, expect_kind, tr
from badak.tensor import Tensor


def cond(pred: Any, true_fn: Callable, false_fn: Callable, operands: Any = ()) -> Any:
    """true_fn(*operands) where pred is True, false_fn(*operands) elsewhere.

    Args:
        pred: a bool, or a tensor of one value
        true_fn: a function of the operands
        false_fn: another one
        operands: a tuple or a list of arguments

    Returns: what the function returns

    Raises:
        ShapeError: for a pred of more than one value

    Example:
        >>> badak.cond(badak.tensor(True), lambda x: x + 1, lambda x: x - 1, (badak.tensor(1.0),)).item()
        2.0
    """
    expect_function("cond", true_fn)
    expect_function("cond", false_fn)
    expect_kind(operands, tuple | list, "cond: expected a tuple or a list of operands; got {}", "operands=(x,)")
    expect_kind(pred, Tensor | bool | int | float, "cond: expected pred to be a bool or a tensor of one; got {}", "(x > 0).all()")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise ShapeError(tr("cond: expected pred to have one value; got shape {}", tuple(pred.shape)), "pred.all(), or badak.where")
    return (true_fn if bool(pred) else false_fn)(*operands)
