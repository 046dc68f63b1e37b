"""What a user may hand to an optimizer: settings, and groups of parameters, which are brought into one form.

Each check of a setting is a function (owner, name, value) that raises where the value has no meaning. A group becomes a dict
with a list of tensors and a value for every setting.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, expect_kind, tr, warn, warn_once
from badak.nn.tree import listed, why_empty
from badak.tensor import Tensor

Check = Callable[[str, str, Any], None]


def number(value: Any, owner: str = "optimizer", name: str = "a setting") -> float:
    """A setting as a Python number: settings may be one-element tensors."""
    if type(value) is float or type(value) is int:
        return value
    if isinstance(value, Tensor) and value.numel() != 1:
        cause = tr("{}: Tensor {} must be 1-element; got shape {}", owner, name, tuple(value.shape))
        raise ArgumentError(cause, "use parameter groups for several learning rates")
    found = value.item() if isinstance(value, Tensor | np.generic) else value
    if not isinstance(found, int | float):
        raise ArgumentTypeError(tr("{}: {} should be a number; got {}", owner, name, shown(value)), "a number, such as 0.1")
    return found


def settings_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """The settings among the `locals()` of an optimizer's `__init__`."""
    return {name: value for name, value in arguments.items() if name not in ("self", "params", "__class__")}


def check_settings(owner: str, settings: dict[str, Any], checks: dict[str, Check], ranges: bool = True) -> None:
    """Check every setting that has a check. Not `ranges`: a rate may lie below 0, as schedules and groups of one's own set it."""
    for name, value in settings.items():
        check = checks.get(name) or CHECKS.get(name)
        if check:
            (a_number if check is at_least_zero and not ranges else check)(owner, name, value)


def a_number(owner: str, name: str, value: Any) -> None:
    """A real number, or a tensor with one."""
    found = number(value, owner, name)
    if found != found or (isinstance(found, int) and abs(found) >= 2**63):
        raise ArgumentError(tr("{}: expected a number as {}; got {}", owner, name, shown(value)), f"{name}=0.1")


def at_least_zero(owner: str, name: str, value: Any) -> None:
    """A number >= 0."""
    if not (found := number(value, owner, name)) >= 0.0:
        usable = abs(found) if found < 0 else 0.0
        raise ArgumentError(tr("{}: Invalid {}: {}; expected {} >= 0", owner, words_of(name), value, name), f"{name}={usable}")
    a_number(owner, name, value)


def words_of(name: str) -> str:
    """What PyTorch calls a setting where it refuses a value: programs match on it."""
    return {"lr": "learning rate", "eps": "epsilon value"}.get(name, f"{name} value")


def a_fraction(owner: str, name: str, value: Any) -> None:
    """A number in [0, 1]."""
    if not 0.0 <= number(value, owner, name) <= 1.0:
        raise ArgumentError(tr("{}: Invalid {}: {}; expected 0 <= {} <= 1", owner, words_of(name), value, name), f"{name}=0.9")


def a_count(owner: str, name: str, value: Any) -> None:
    """An integer >= 0."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ArgumentTypeError(tr("{}: {} should be an integer; got {}", owner, name, shown(value)), f"{name}=5")
    if value < 0:
        raise ArgumentError(tr("{}: expected {} >= 0; got {}", owner, name, value), f"{name}={-value}")


def two_numbers(owner: str, name: str, value: Any) -> None:
    """A pair of numbers."""
    _a_pair(owner, name, value, "(0.5, 1.2)")
    for at, each in enumerate(value):
        a_number(owner, f"{name}[{at}]", each)


def two_decay_rates(owner: str, name: str, value: Any) -> None:
    """Two decay rates of moments, each in [0, 1)."""
    _a_pair(owner, name, value, "(0.9, 0.999)")
    for at, beta in enumerate(value):
        if not 0.0 <= number(beta, owner, f"{name}[{at}]") < 1.0:
            cause = tr("{}: Invalid beta parameter at index {}: {}; expected 0 <= {}[{}] < 1", owner, at, beta, name, at)
            raise ArgumentError(cause, f"{name}=(0.9, 0.999)")


def _a_pair(owner: str, name: str, value: Any, example: str) -> None:
    if not isinstance(value, list | tuple):
        raise ArgumentTypeError(tr("{}: {} should be two numbers; got {}", owner, name, shown(value)), f"{name}={example}")
    if len(value) != 2:
        raise ArgumentError(tr("{}: {} should be two numbers; got {}", owner, name, len(value)), f"{name}={example}")


def a_switch(owner: str, name: str, value: Any) -> None:
    """True or False; 0 and 1 as in PyTorch."""
    if not (isinstance(value, bool | np.bool_) or (type(value) is int and value in (0, 1))):
        raise ArgumentTypeError(tr("{}: {} should be True or False; got {}", owner, name, shown(value)), f"{name}=True")


CHECKS: dict[str, Check] = {  # of a setting that means the same in every optimizer that has it
    "lr": at_least_zero,
    "betas": two_decay_rates,
    "eps": at_least_zero,
    "weight_decay": at_least_zero,
    "momentum": at_least_zero,
    "nesterov": a_switch,
    "amsgrad": a_switch,
    "maximize": a_switch,
    "decoupled_weight_decay": a_switch,
}


def check_implementation(owner: str, settings: dict[str, Any]) -> None:
    """The switches that choose among PyTorch's implementations; badak has one, and it is fused.

    foreach and fused change no number there and nothing here. capturable=True, which is about recording on a GPU, is told to
    be without effect.
    """
    if settings.get("foreach") and settings.get("fused"):
        fix = tr("leave both out: badak's update is always fused")
        raise ArgumentError(tr("{}: `fused` and `foreach` cannot be `True` together", owner), fix)
    if settings.get("capturable"):
        cause = tr("{}: capturable=True is about recording graphs on a GPU and has no effect on the CPU.", owner)
        warn_once((owner, "capturable"), cause, "leave it out")


def shown(value: Any) -> str:
    """A value in a message: itself where it is short."""
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype}"
    short = isinstance(value, str | int | float | complex | None) and len(repr(value)) < 40
    return repr(value) if short else f"a {type(value).__name__}"


# ---------------------------------------------------------------- groups


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()  # as a default: every group must state this setting


def groups_of(params: Any, owner: str) -> list[dict[str, Any]]:
    """The groups in `params`: tensors, (name, tensor) pairs, or dicts. `owner` is the optimizer's name, for messages."""
    if isinstance(params, dict) and "params" not in params and any(isinstance(x, Tensor) for x in params.values()):
        raise ArgumentTypeError(tr("{}: params is a dict of tensors by name", owner), "model.parameters()")
    if not isinstance(params, Tensor) and not hasattr(type(params), "__iter__") and callable(params):
        if hasattr(params, "parameters"):
            cause = tr("{}: params is the module {} itself", owner, type(params).__name__)
            raise ArgumentTypeError(cause, "its parameters: model.parameters()")
        raise ArgumentTypeError(tr("{}: params is a function that was not called", owner), "model.parameters(), with parentheses")
    if isinstance(params, (Tensor, dict)):
        kind = tr("one dict") if isinstance(params, dict) else tr("one tensor")
        cause = tr("{}: params should be an iterable of tensors or dicts; got {}", owner, kind)
        raise ArgumentTypeError(cause, tr("{}([...]), with brackets", owner))
    model = listed(params)
    groups = list(params)
    if not groups and model is not None:
        raise ArgumentError(*why_empty(model), code=18)
    if not groups:
        cause = tr("no parameters: {} got an empty parameter list.", owner)
        raise ArgumentError(cause, "pass model.parameters(); an iterator that was read once is empty, make it again", code=18)
    return groups if isinstance(groups[0], dict) else [{"params": groups}]


def group_of(group: Any, defaults: dict[str, Any], others: list[dict[str, Any]]) -> dict[str, Any]:
    """`group` itself, completed: "params" a list of leaf tensors, "param_names" if named, and every default."""
    expect_kind(group, dict, "param_group: expected a dict; got {}", '{"params": [...], "lr": ...}')
    if "params" not in group:
        cause = tr("param_group: expected the key 'params'; got {}", ", ".join(map(repr, group)) or "none")
        raise ArgumentError(cause, '{"params": [...], "lr": ...}')
    params = _list_of(group["params"])
    names = [p[0] for p in params if isinstance(p, tuple)]
    if names and len(names) != len(params):
        cause = tr("param_group: {} of {} parameters have names", len(names), len(params))
        raise ArgumentError(cause, "name all, as model.named_parameters() does, or none")
    if others and bool(names) != ("param_names" in others[0]):
        with_names, without = ("this", tr("the others")) if names else (tr("the others"), "this")
        cause = tr("param_group: {} has names for its parameters, {} not", with_names, without)
        raise ArgumentError(cause, "use named_parameters() in all groups, or in none")
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
        raise ArgumentTypeError("param_group: a set of parameters has no order, so its state could not be saved", "a list")
    return list(params)


def _check(p: Any, defaults: dict[str, Any]) -> None:
    expect_kind(p, Tensor, "optimizer can only optimize Tensors; one of the params is {}", "pass model.parameters()")
    if not (p.is_leaf or p.retains_grad or defaults.get("differentiable")):
        cause = tr("can't optimize a non-leaf Tensor: one of shape {} was computed from others, and nothing keeps its value",
                   tuple(p.shape))  # fmt: skip
        raise ArgumentError(cause, "pass the leaf it was computed from, or x.detach().requires_grad_()")


def _complete(group: dict[str, Any], defaults: dict[str, Any]) -> None:
    for name, value in defaults.items():
        if value is required and name not in group:
            cause = tr("param_group: the setting '{}' has no default and this group does not state it", name)
            raise ArgumentError(cause, tr('"{}": ... in the group', name))
        group.setdefault(name, value)


def _check_repetition(params: list[Tensor], others: list[dict[str, Any]]) -> None:
    known = {id(p) for group in others for p in group["params"]}
    again = [p for p in params if id(p) in known]
    if again:
        cause = tr("some parameters appear in more than one parameter group: {} of {}, the first of shape {}", len(again),
                   len(params), tuple(again[0].shape))  # fmt: skip
        raise ArgumentError(cause, "put each parameter into one group (tied weights count once)")
    if len({id(p) for p in params}) < len(params):
        cause = tr("optimizer contains a parameter group with duplicate parameters: they are updated twice in a step")
        warn(cause, tr("list each parameter once"))
