"""What a module holds. Every part of `Module` works on these dicts; `Module.__init__` makes them."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

MEMBERS = ("_parameters", "_buffers", "_modules")
HOOKS = (
    "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks",
    "_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs", "_forward_hooks_always_called",
    "_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip


class Members:
    """The attributes that every module has."""

    training: bool
    _parameters: dict[str, Any]  # Parameter or None by name
    _buffers: dict[str, Any]  # Tensor or None by name
    _modules: dict[str, Any]  # Module or None by name
    _non_persistent_buffers_set: set[str]  # the buffers that are not part of the state_dict
    _forward_pre_hooks: OrderedDict
    _forward_hooks: OrderedDict
    _forward_pre_hooks_with_kwargs: OrderedDict  # True by the ids of the hooks that want keyword arguments
    _forward_hooks_with_kwargs: OrderedDict
    _forward_hooks_always_called: OrderedDict  # True by the ids of those that run after an error, too
    _backward_pre_hooks: OrderedDict
    _backward_hooks: OrderedDict
    _state_dict_pre_hooks: OrderedDict
    _state_dict_hooks: OrderedDict
    _load_state_dict_pre_hooks: OrderedDict
    _load_state_dict_post_hooks: OrderedDict
    forward: Callable[..., Any]
