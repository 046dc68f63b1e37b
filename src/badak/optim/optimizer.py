"""Optimizer: groups of parameters with their settings, and what each parameter remembers between steps.

An optimizer of one's own derives from it, as in PyTorch:

    class Descent(Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, {"lr": lr})

        @badak.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.add_(p.grad, alpha=-group["lr"])
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ClassVar

import numpy as np

from badak.autograd.hooks import RemovableHandle, function
from badak.core import events
from badak.core.errors import ArgumentError, BadakError, tr, undefined, warn_once
from badak.core.modes import anywhere, modes
from badak.core.public_api.door import door
from badak.optim import private
from badak.optim.private import ParamsT as ParamsT
from badak.optim.settings import Check, check_implementation, check_settings, group_of, groups_of, settings_of
from badak.optim.settings import required as required
from badak.optim.state import OptimizerStateError, load_groups, load_state, pack
from badak.tensor import Tensor
from badak.tensor.dtypes import default_dtype, float64

__getattr__, __dir__ = door(__name__, like="badak.optim.private")  # PyTorch has those names here


class Optimizer:
    """The base of all optimizers.

    params: tensors, or (name, tensor) pairs, or dicts {"params": ..., setting: value} with settings of their own.
    defaults: {setting: value} for the groups that do not have it.

    `param_groups` is the list of groups, `state[p]` what parameter p remembers, `defaults` the default settings.
    Raises ArgumentError for no parameters, a non-leaf tensor or one in two groups, ArgumentTypeError for other kinds of params.
    """

    NUMBERS: ClassVar[dict[str, Any]] = {}  # {a 0-d tensor that is remembered next to "step": its first value, or its setting}

    _stepping = False
    _opt_called = False  # a step was made: schedules ask for it
    _stepped_without_gradient = False

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._hooks: dict[str, dict[int, Callable]] = {}
        self._memos: defaultdict[Any, dict[str, Any]] = defaultdict(dict)  # what kernels keep between two steps
        for group in groups_of(params, type(self).__name__):
            self.add_param_group(group)
        if anywhere.has_observers and modes.observer is not None:
            modes.observer.on_optimizer(self)

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if "step" in cls.__dict__:
            cls.step = _watched(cls.__dict__["step"])  # type: ignore[method-assign]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters from their gradients. `closure` computes the loss and its gradients again and returns it."""
        raise undefined(self, "def step(self, closure=None)")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients; with set_to_none=False fill them with zeros instead."""
        for p in self._parameters():
            if set_to_none:
                p._set_grad(None)
            elif (grad := p.grad) is not None:
                grad.zero_()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters to train: {"params": tensors, setting: value}; absent settings take the defaults."""
        self.param_groups.append(group_of(param_group, self.defaults, self.param_groups))

    def state_dict(self) -> dict[str, Any]:
        """{"state": {number: ...}, "param_groups": [...]}, parameters by number, in PyTorch's form."""
        for hook in self._hooked("state_dict pre"):
            hook(self)
        made = pack(self.state, self.param_groups)
        for hook in self._hooked("state_dict post"):
            made = hook(self, made) or made
        return made

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave, from badak or PyTorch; tensors are copied, in the parameters' dtypes.

        The groups must have the same sizes; parameters are matched by their order. Raises OptimizerStateError otherwise.
        """
        state_dict = dict(state_dict) if isinstance(state_dict, dict) else state_dict
        for hook in self._hooked("load_state_dict pre"):
            state_dict = hook(self, state_dict) or state_dict
        groups = load_groups(state_dict, self.param_groups, type(self).__name__)
        state = load_state(state_dict["state"], state_dict["param_groups"], groups, type(self).__name__, self.NUMBERS)
        self._check_loaded(state, groups)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._hooked("load_state_dict post"):
            hook(self)

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) before each step; args[0] is the optimizer; it may return new (args, kwargs)."""
        return self._register("step pre", hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) after each step."""
        return self._register("step post", hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer) before state_dict()."""
        return self._register("state_dict pre", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer, state_dict) after state_dict(); it may return another one."""
        return self._register("state_dict post", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer, state_dict) before load_state_dict(); it may return another one."""
        return self._register("load_state_dict pre", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer) after load_state_dict()."""
        return self._register("load_state_dict post", hook, prepend)

    def _register(self, moment: str, hook: Callable, prepend: bool = False) -> RemovableHandle:
        return RemovableHandle(self._hooks.setdefault(moment, {}), function(hook), prepend)

    def _hooked(self, moment: str) -> list[Callable]:
        """The hooks of one moment; none where a subclass has not called super().__init__ or came from a pickle."""
        return list(self.__dict__.get("_hooks", {}).get(moment, {}).values())

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("_hooks", {})
        self._memos = defaultdict(dict)
        for group in self.param_groups:  # an older file may lack a setting
            for name, value in self.defaults.items():
                group.setdefault(name, value)

    def __repr__(self) -> str:
        settings = [[f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"] for group in self.param_groups]
        groups = [f"\nParameter Group {i}\n{''.join(lines)}" for i, lines in enumerate(settings)]
        return f"{type(self).__name__} ({''.join(groups)})"

    # for replays (`badak.compile`)

    def _kept_step(self) -> Callable[[], bool] | None:
        """A function that prepares a step whose kernel calls are then played again, and says whether they still fit.

        Where they do not it must have changed nothing. None where a step is more than kernel calls: then it is called.
        """
        return None

    # for the optimizers of this package

    def _parameters(self) -> Iterator[Tensor]:
        return (p for group in self.param_groups for p in group["params"])

    def _changed(self, params: list[Tensor]) -> None:
        """Tell that a step has given these parameters other values."""
        by = f"{type(self).__name__}.step"
        for p in params:
            (p._version_counter or p._watch()).bump(by)

    def _check_loaded(self, state: dict[Any, Any], groups: list[dict[str, Any]]) -> None:
        """Raise OptimizerStateError where a loaded state and its groups are not ones that this optimizer can go on with."""

    def _warn_without_gradient(self) -> None:
        if self._stepped_without_gradient or any(p._grad is not None for p in self._parameters()):
            return
        self._stepped_without_gradient = True
        warn_once(
            ("step before backward", id(self)),
            "step() before backward(): no gradient present.",
            "call loss.backward() before optimizer.step(), and zero_grad() not in between",
            code=25,
        )


class Declared(Optimizer):
    """The base of one whose settings are the arguments of its `__init__`, which hands them over as `locals()`.

    They are checked wherever they come from; CHECKS has the checks of those that `settings.py` does not know.
    """

    CHECKS: ClassVar[dict[str, Check]] = {}
    ORDER: ClassVar[str] = ""  # of the settings in a group, as PyTorch prints it, where it is not that of `__init__`

    def __init__(self, params: Any, settings: dict[str, Any]) -> None:
        defaults = settings_of(settings)
        defaults = {name: defaults[name] for name in self.ORDER.split() or defaults}
        check_settings(type(self).__name__, defaults, self.CHECKS)
        check_implementation(type(self).__name__, defaults)
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        if isinstance(param_group, dict):
            self._check_group(param_group)
        super().add_param_group(param_group)

    def _check_group(self, group: dict[str, Any]) -> None:
        """Raise where a setting of the group is of another kind: ranges are checked where the optimizer is made, as in PyTorch."""
        settings = {name: value for name, value in group.items() if name in self.defaults}
        check_settings(type(self).__name__, settings, self.CHECKS, ranges=False)

    def _check_loaded(self, state: dict[Any, Any], groups: list[dict[str, Any]]) -> None:
        owner = type(self).__name__
        for at, group in enumerate(groups):
            try:
                self._check_group(group)
            except BadakError as error:
                cause = tr("{}.load_state_dict: param_groups[{}]: {}", owner, at, error.cause)
                raise OptimizerStateError(cause, "pass what optimizer.state_dict() gave") from None
            for p in group["params"]:
                if p in state and state[p] != {}:
                    self._check_memory(state[p], p, group)

    def _check_memory(self, memory: Any, p: Tensor, group: dict[str, Any]) -> None:
        """Raise where a file's memory of a parameter does not fit it."""


def loss_of(closure: Callable[[], Any] | None) -> Any:
    """What `closure` returns, computed with gradients recorded whatever the caller's mode is; None without one."""
    if closure is None:
        return None
    before, modes.grad = modes.grad, True
    try:
        return closure()
    finally:
        modes.grad = before


def begin_number(memory: dict[str, Any], name: str, start: Any) -> None:
    """Let memory[name] be a 0-d tensor, where nothing or, as in files from before PyTorch 1.12, a plain number is there."""
    if not isinstance(memory.get(name), Tensor):
        kind = np.float64 if default_dtype() is float64 else np.float32  # as in PyTorch
        with np.errstate(over="ignore"):  # a number of a file that is too large for float32 is infinite there, as in PyTorch
            memory[name] = Tensor._of(np.full((), start if memory.get(name) is None else memory[name], kind))


def count(counter: Any) -> int:
    """One more step in a counter."""
    steps = int(counter.item()) + 1
    counter.fill(steps)  # a third of the time that += 1 takes, 0.4 us for every parameter
    return steps


def _prepared(optimizer: Optimizer, *args: Any, **kwargs: Any) -> tuple[Callable[[], bool], list[Tensor]] | None:
    """How the next step without a closure goes on the same gradients; see `events.state`."""
    prepare = None if args or kwargs else optimizer._kept_step()
    return None if prepare is None else (prepare, list(optimizer._parameters()))


def _watched(step: Callable) -> Callable:
    """`step` with its hooks, and a word where there is no gradient at all; a step within a step runs bare."""

    @events.state(prepared=_prepared)
    @wraps(step)
    def watched(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if self._stepping:
            return step(self, *args, **kwargs)
        self._stepping = self._opt_called = True
        try:
            args = (self, *args)  # as hooks see them in PyTorch
            for hook in [*private.before.values(), *self._hooked("step pre")]:
                args, kwargs = _replaced(hook(self, args, kwargs), args, kwargs)
            if len(args) == 1 and not kwargs and "param_groups" in self.__dict__:
                self._warn_without_gradient()
            result = step(*args, **kwargs)
            for hook in [*self._hooked("step post"), *private.after.values()]:
                hook(self, args, kwargs)
            return result
        finally:
            self._stepping = False

    return watched


def is_step(effect: events.Effect, args: tuple) -> bool:
    """Whether an effect is the step() of an optimizer, and not one within it."""
    if effect.kind != "state" or not args or not isinstance(args[0], Optimizer):
        return False
    return effect.function.__name__ == "step" and not args[0]._stepping


def _replaced(answer: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    if answer is None:
        return args, kwargs
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ArgumentError(tr("step pre-hook: expected None or (args, kwargs); got {!r}", answer), "return None, or both")
    return answer
