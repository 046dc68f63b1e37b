"""Whether a loaded state is one that a schedule can go on with: each value is compared with the one that is there."""

import math
from collections import Counter
from typing import Any, NoReturn

from badak.core.errors import tr
from badak.core.public_api.homes import home
from badak.optim.settings import shown
from badak.optim.state import OptimizerStateError
from badak.tensor import Tensor

OF_ALL = ("last_epoch", "base_lrs", "_last_lr", "_step_count")  # what a user's schedule shares with ours
PER_GROUP = ("base_lrs", "_last_lr", "min_lrs")
OF_GROUPS = ("use_beta1", "cycle_momentum")  # what the groups of the optimizer have
POSITIVE = ("step_size", "factor", "start_factor", "T_max", "total_steps", "d_model", "warmup_steps")
LEAST = {"power": 0, "T_0": 1, "T_i": 1, "T_mult": 1}
LEAST |= {"last_epoch": -100}  # -1 before the first step, and one less for each SequentialLR around it
RATES, MOMENTA = ("initial_lr", "max_lr", "min_lr"), ("max_momentum", "base_momentum")
_MOST = 1_000_000  # times that a milestone may repeat: a list of them was given
CHOICES: dict[str, tuple[str, ...]] = {
    "mode": ("min", "max"),
    "threshold_mode": ("rel", "abs"),
    "_anneal_func_type": ("cos", "linear"),
}
CYCLES = ("triangular", "triangular2", "exp_range")  # the modes of CyclicLR
CHOICES |= {"start_lr": RATES, "end_lr": RATES, "start_momentum": MOMENTA, "end_momentum": MOMENTA}  # of a phase of OneCycleLR


def checked(schedule: Any, loaded: Any, needed: tuple[str, ...] = ("last_epoch",)) -> dict[str, Any]:
    """`loaded` as what the schedule's attributes become. Raises OptimizerStateError where it could not go on with them.

    Attributes that are not there yet pass: they are of another version, or of a schedule of one's own.
    """
    if not isinstance(loaded, dict):
        refuse(schedule, tr("expected a dict; got {}", type(loaded).__name__))
    own = schedule.__dict__
    for name in needed:
        if name in own and name not in loaded:
            refuse(schedule, tr("{!r} is missing", name))
    ours = home(type(schedule)).startswith("badak.")
    for name, value in loaded.items():
        if not isinstance(name, str) or name == "optimizer" or callable(getattr(type(schedule), name, None)):
            refuse(schedule, tr("{!r} is not part of a state", str(name)[:40]))
        if name in own and (ours or name in OF_ALL):
            _compare(schedule, name, own[name], value)
            if name == "_milestones" and len(value) != len(own[name]):
                refuse(schedule, tr("{!r} has {} values instead of {}", name, len(value), len(own[name])))
            if name in OF_GROUPS and value != own[name]:
                refuse(schedule, tr("{!r} is {}, but not for this optimizer", name, value))
            if name in PER_GROUP and len(value) != len(schedule.optimizer.param_groups):
                groups = len(schedule.optimizer.param_groups)
                refuse(schedule, tr("{!r} has {} values for {} groups", name, len(value), groups))
    return {name: Counter(value) if isinstance(own.get(name), Counter) else value for name, value in loaded.items()}


def refuse(schedule: Any, cause: str) -> NoReturn:
    """Raise the error of a state that does not fit."""
    fix = tr("pass what the same kind of schedule gave as state_dict()")
    raise OptimizerStateError(tr("{}.load_state_dict: {}", type(schedule).__name__, cause), fix)


def _compare(schedule: Any, name: str, mine: Any, value: Any) -> None:
    """Raise unless `value` can stand in the place of `mine`."""
    wanted = _wanted(name.rpartition("['")[2].removesuffix("']"), mine, value)
    if wanted:
        refuse(schedule, tr("{!r} should be {}; got {}", name, wanted, shown(value)))
    if isinstance(mine, Counter):
        for key, count in value.items():
            if type(key) is not int or type(count) is not int or not 0 < count < _MOST:
                refuse(schedule, tr("{!r} should count whole steps; got {}", name, shown(count if type(key) is int else key)))
    elif isinstance(mine, dict):
        for key, part in mine.items():
            if key not in value:
                refuse(schedule, tr("{!r} lacks {!r}", name, key))
            _compare(schedule, f"{name}[{key!r}]", part, value[key])
    elif isinstance(mine, list | tuple) and mine:
        for at, part in enumerate(value):
            _compare(schedule, f"{name}[{at}]", mine[0], part)


def _wanted(name: str, mine: Any, value: Any) -> str:
    """What `value` should have been; "" where it is."""
    if name in CHOICES:
        choices = CYCLES if mine in CYCLES else CHOICES[name]
        return "" if isinstance(value, str) and value in choices else " or ".join(map(repr, choices))
    if isinstance(mine, bool):
        return "" if isinstance(value, bool) else "True or False"
    if isinstance(mine, int | float | Tensor) or mine is None:
        found = value.item() if isinstance(value, Tensor) and value.numel() == 1 else value
        if isinstance(found, int | float) and (abs(found) < 2**63 or (isinstance(mine, float) and abs(found) == math.inf)):
            if name in POSITIVE and found <= 0:
                return "a number > 0"
            least = LEAST.get(name, -math.inf)
            return f"a number >= {least}" if found < least else ""
        return "" if mine is None and value is None else "a number"
    if isinstance(mine, str):
        return "" if isinstance(value, str) else "a string"
    if isinstance(mine, dict):
        return "" if isinstance(value, dict) else "a dict"
    if isinstance(mine, list | tuple):
        return "" if isinstance(value, list | tuple) and (value or not mine) else "a list that is not empty"
    return ""
