"""What a user may hand to an optimizer, brought into one form: dicts with a list of tensors and a value for every setting."""

import warnings
from typing import Any

from badak.errors import ArgumentError, BadakWarning, KindError
from badak.tensor import Tensor


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()  # as a default: every group must state this setting


def groups_of(params: Any, owner: str) -> list[dict[str, Any]]:
    """The groups in `params`: tensors, (name, tensor) pairs, or dicts. `owner` is the optimizer's name, for messages."""
    if isinstance(params, (Tensor, dict)):
        kind = "one dict" if isinstance(params, dict) else "one tensor"
        raise KindError(
            f"{owner}: params should be an iterable of tensors or dicts; got {kind}", f"{owner}([...]), with brackets"
        )
    why_empty = getattr(params, "why_empty", None)  # a model's listing of parameters can tell
    groups = list(params)
    if not groups:
        cause, fix = (
            why_empty()
            if why_empty
            else (
                f"no parameters: {owner} got an empty parameter list.",
                "pass model.parameters(); an iterator that was read once is empty, make it anew",
            )
        )
        raise ArgumentError(cause, fix)
    return groups if isinstance(groups[0], dict) else [{"params": groups}]


def group_of(group: Any, defaults: dict[str, Any], others: list[dict[str, Any]]) -> dict[str, Any]:
    """`group` itself, completed: "params" a list of leaf tensors, "param_names" if named, and every default."""
    if not isinstance(group, dict):
        raise KindError(f"param_group: expected a dict; got {type(group).__name__}", '{"params": [...], "lr": ...}')
    if "params" not in group:
        raise ArgumentError(
            f"param_group: expected the key 'params'; got {', '.join(map(repr, group)) or 'none'}",
            '{"params": [...], "lr": ...}',
        )
    params = _list_of(group["params"])
    names = [p[0] for p in params if isinstance(p, tuple)]
    if names and len(names) != len(params):
        raise ArgumentError(
            f"param_group: {len(names)} of {len(params)} parameters have names",
            "name all, as model.named_parameters() does, or none",
        )
    if others and bool(names) != ("param_names" in others[0]):
        with_names, without = ("this", "the others") if names else ("the others", "this")
        raise ArgumentError(
            f"param_group: {with_names} has names for its parameters, {without} not",
            "use named_parameters() in all groups, or in none",
        )
    if names:
        params = [p[1] for p in params]
        group["param_names"] = names
    group["params"] = params
    for p in params:
        _check(p, defaults)
    _complete(group, defaults)
    _check_repetition(params, others)
    return group


def _list_of(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, (set, frozenset)):
        raise KindError("param_group: a set of parameters has no order, so its state could not be saved", "a list")
    return list(params)


def _check(p: Any, defaults: dict[str, Any]) -> None:
    if not isinstance(p, Tensor):
        raise KindError(
            f"optimizer can only optimize Tensors; one of the params is {type(p).__name__}", "pass model.parameters()"
        )
    if not (p.is_leaf or p.retains_grad or defaults.get("differentiable")):
        raise ArgumentError(
            f"can't optimize a non-leaf Tensor: one of shape {tuple(p.shape)} was computed from others, "
            "and nothing keeps its value",
            "pass the leaf it was computed from, or x.detach().requires_grad_()",
        )


def _complete(group: dict[str, Any], defaults: dict[str, Any]) -> None:
    for name, value in defaults.items():
        if value is required and name not in group:
            raise ArgumentError(
                f"param_group: the setting '{name}' has no default and this group does not state it",
                f'"{name}": ... in the group',
            )
        group.setdefault(name, value)


def _check_repetition(params: list[Tensor], others: list[dict[str, Any]]) -> None:
    known = {id(p) for group in others for p in group["params"]}
    again = [p for p in params if id(p) in known]
    if again:
        raise ArgumentError(
            f"some parameters appear in more than one parameter group: {len(again)} of {len(params)}, the first of shape "
            f"{tuple(again[0].shape)}",
            "put each parameter into one group (tied weights count once)",
        )
    if len({id(p) for p in params}) < len(params):
        warnings.warn(
            "optimizer contains a parameter group with duplicate parameters: they are updated twice in a step\n"
            "fix: list each parameter once",
            BadakWarning,
            stacklevel=5,
        )
