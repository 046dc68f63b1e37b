"""Functions whose slope depends on no tensor, made of operations that save some: a graph goes back through them more than once."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from badak.autograd.node import Node
from badak.tensor.tensor import Tensor


def once_more(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose results depend on its first argument only, and through which, as in PyTorch, a graph may go back again."""

    @wraps(function)
    def run(input: Tensor, *args: Any, **options: Any) -> Any:
        made = function(input, *args, **options)
        keep(made if isinstance(made, tuple) else (made,), input)
        return made

    return run


def keep(results: tuple[Tensor, ...], *inputs: Tensor) -> None:
    """What led from the inputs to these results keeps what it saved when a gradient has gone through: these are constants."""
    pending: list[Any] = [result._node for result in results if not any(result is each for each in inputs)]
    ends = {id(each._node) for each in inputs}
    while pending:
        node = pending.pop()
        if isinstance(node, Node) and id(node) not in ends and not node.keeps:
            node.keeps = True
            pending += [edge[0] for edge in node.edges if edge is not None]
