"""state_dict and load_state_dict: what a module remembers, by name.

Keys are paths: "layers.0.linear1.weight". A state_dict is an ordered dict with one attribute `_metadata`, which holds the
`_version` of every module by path, so that a later version of a layer can read what an earlier one wrote.
"""

import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from badak.autograd import no_grad
from badak.autograd.hooks import RemovableHandle, function
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, StateError, tr, warn
from badak.nn.errors import kind
from badak.nn.members import Members
from badak.nn.parameter import Parameter
from badak.nn.state_report import diagnose, other_weights
from badak.tensor import Tensor

EXTRA_STATE = "_extra_state"
_BY_POST_HOOK = "_from_public_api"  # PyTorch's mark of a hook of register_state_dict_post_hook


class _IncompatibleKeys(NamedTuple("IncompatibleKeys", [("missing_keys", list), ("unexpected_keys", list)])):
    """What `load_state_dict` gives back: the keys that did not match."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


class State(Members):
    """The part of Module that saves and loads."""

    _version = 1

    # Saving

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by path, sharing memory with the module.

        destination: the dict to fill, a new one by default. prefix: put before every key. keep_vars: the parameters
        themselves instead of detached tensors. Parity: the deprecated positional form is taken as well.
        """
        if args:
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])[:3]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()  # type: ignore[attr-defined]  # as PyTorch carries versions along
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, metadata)
            if replaced is not None and getattr(hook, _BY_POST_HOOK, False):
                raise ArgumentError("state_dict post-hook must return None", "change state_dict in place")
            destination = destination if replaced is None else replaced
        return destination

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        """Put what this module itself holds, without those below, into `destination`."""
        for name, value in self._own_state().items():
            destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def _own_state(self) -> dict[str, Tensor]:
        buffers = {name: b for name, b in self._buffers.items() if name not in self._non_persistent_buffers_set}
        return {name: value for name, value in (self._parameters | buffers).items() if value is not None}

    def get_extra_state(self) -> object:
        """Anything more that belongs into the state_dict; override it together with `set_extra_state`."""
        raise NotSupportedError(tr("{} has no get_extra_state", type(self).__name__), "define get_extra_state and set_extra_state")

    def set_extra_state(self, state: object) -> None:
        """Take back what `get_extra_state` gave."""
        raise NotSupportedError(tr("{} has no set_extra_state", type(self).__name__), "define get_extra_state and set_extra_state")

    # Loading

    def load_state_dict(
        self, state_dict: Mapping, strict: bool = True, assign: bool = False, *, strip_prefix: str = ""
    ) -> _IncompatibleKeys:
        """Copy the values of `state_dict` into this module, by key. Gives back the missing and the unexpected keys.

        strict: a missing or unexpected key is an error. assign: the module takes the given tensors themselves, with their
        dtype, instead of copying their values. strip_prefix (badak's own): taken off the keys that begin with it, for files
        that a wrapper wrote ("module."). Raises StateError with every problem at once and what it looks like.
        """
        if not isinstance(state_dict, Mapping):
            has = hasattr(state_dict, "state_dict")
            fix = tr("its state: other.state_dict()") if has else tr("what the file holds: load_state_dict(badak.load(path))")
            raise ArgumentTypeError(tr("Expected state_dict to be dict-like, got {}.", type(state_dict)), fix)
        metadata = getattr(state_dict, "_metadata", None)
        state = OrderedDict((key.removeprefix(strip_prefix), value) for key, value in state_dict.items())
        if wrong := other_weights(self, state):
            raise StateError(*wrong)
        missing: list[str] = []
        unexpected: list[str] = []
        problems: list[str] = []
        _load(self, state, "", metadata or {}, assign, (missing, unexpected, problems))
        if strict:
            if unexpected:
                problems.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
            if missing:
                problems.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if problems:
            lines = "\n\t".join(problems)
            cause = tr("Error(s) in loading state_dict for {}:\n\t{}", type(self).__name__, lines)
            seen, fix = diagnose(self, state, missing, unexpected)
            raise StateError(tr("\n").join([cause, *seen]), fix, code=27 if missing or unexpected else 26)
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) -> None:
        """Load what this module itself holds. The three lists take what went wrong; nothing is raised here."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = self._own_state()
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, current in own.items():
            if prefix + name in state_dict:
                problem = self._load_member(name, current, state_dict[prefix + name], prefix + name, assign)
                if problem:
                    error_msgs.append(problem)
            elif strict:
                missing_keys.append(prefix + name)
        self._load_extra_state(state_dict, prefix + EXTRA_STATE, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys.extend(self._keys_without_place(state_dict, prefix, own))

    def _load_member(self, name: str, current: Tensor, value: Any, key: str, assign: bool) -> str | None:
        """Give the member `name` its new value; the problem in words, or None."""
        if not isinstance(value, Tensor):
            wanted = "torch.Tensor or Tensor-like object from checkpoint"
            return f'While copying the parameter named "{key}", expected {wanted} but received {kind(value)}'
        if current.dim() == 0 and tuple(value.shape) == (1,):
            value = value[0]
        if value.shape != current.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
                f"the shape in current model is {current.shape}."
            )
        if current.is_meta and not value.is_meta and not assign:
            cause = tr(
                "for {}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which is a "
                "no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their corresponding key in "
                "the module instead of copying them in place?)",
                key,
            )
            warn(cause, tr("load_state_dict(state, assign=True)"), kind=UserWarning)
        try:
            with no_grad():
                self._assign_member(name, current, value) if assign else current.copy_(value)
        except Exception as error:
            return f'While copying the parameter named "{key}" of shape {current.shape}, an exception occurred: {error}.'
        return None

    def _assign_member(self, name: str, current: Tensor, value: Tensor) -> None:
        if isinstance(current, Parameter):
            if isinstance(value, Parameter):
                value.requires_grad_(current.requires_grad)
            else:
                value = Parameter(value, requires_grad=current.requires_grad)
        setattr(self, name, value)

    def _load_extra_state(self, state_dict, key: str, strict: bool, missing_keys: list, unexpected_keys: list) -> None:
        wanted = type(self).set_extra_state is not State.set_extra_state
        if wanted and key in state_dict:
            self.set_extra_state(state_dict[key])
        elif strict and wanted:
            missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _keys_without_place(self, state_dict, prefix: str, own: dict) -> list[str]:
        found = []
        for key in state_dict:
            if key.startswith(prefix) and key != prefix + EXTRA_STATE:
                name, dot, _ = key[len(prefix) :].partition(".")
                if name not in (self._modules if dot else own):
                    found.append(key)
        return found

    # Hooks of both

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Run `hook(module, prefix, keep_vars)` before `state_dict` collects."""
        return RemovableHandle(self._state_dict_pre_hooks, function(hook))

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Run `hook(module, state_dict, prefix, local_metadata)` after collecting; it may change the dict in place."""
        try:
            setattr(function(hook), _BY_POST_HOOK, True)
        except AttributeError:  # a bound method takes no attributes
            hook = partial(hook)
            setattr(hook, _BY_POST_HOOK, True)
        return RemovableHandle(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        """As `register_state_dict_post_hook`, but what the hook returns replaces the dict."""
        if getattr(hook, _BY_POST_HOOK, False):
            cause = (
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
            raise ArgumentError(cause, "another function, whose result replaces the state_dict")
        return RemovableHandle(self._state_dict_hooks, function(hook))

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Run `hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable, with_module: bool = False) -> RemovableHandle:
        """As `register_load_state_dict_pre_hook`; without `with_module`, the hook does not get the module."""
        hook = function(hook)
        return RemovableHandle(self._load_state_dict_pre_hooks, _WithModule(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Run `hook(module, incompatible_keys)` after loading; it may change the two lists in place."""
        return RemovableHandle(self._load_state_dict_post_hooks, function(hook))


class _WithModule:
    """A hook with its module as first argument; an object and not a closure, so that a copied module hooks the copy."""

    def __init__(self, hook: Callable, module: State):
        self.hook, self._module = hook, weakref.ref(module)

    @property
    def module(self) -> Any:
        return self._module()

    def __getstate__(self) -> tuple:
        return self.hook, self.module

    def __setstate__(self, state: tuple) -> None:
        self.hook, self._module = state[0], weakref.ref(state[1])

    def __call__(self, *args):
        return self.hook(self.module, *args)


def _load(module: State, state: Mapping, prefix: str, metadata: Mapping, assign: bool, problems: tuple) -> None:
    """Load `module` and all below it from the keys that begin with `prefix`."""
    local_metadata = dict(metadata.get(prefix[:-1], {}))
    if assign:
        local_metadata["assign_to_params_buffers"] = True
    missing, unexpected, errors = problems
    module._load_from_state_dict(state, prefix, local_metadata, True, missing, unexpected, errors)
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            _load(child, {k: v for k, v in state.items() if k.startswith(below)}, below, metadata, assign, problems)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, _IncompatibleKeys(missing, unexpected)) is not None:
            raise ArgumentError("load_state_dict post-hook must return None", "change the lists in place")


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)
