"""Module: the base class of every layer and model.

A module is an object whose attributes it sorts as they are assigned: parameters, buffers and other modules go into three
dicts of their own (and are found again by `__getattr__`), everything else stays an ordinary attribute. All the rest of
what a module can do is walking over these three dicts:

    tree.py     what is there: parameters(), named_modules(), get_submodule() ...
    moving.py   its dtype: to(), double() ...
    state.py    its memory: state_dict(), load_state_dict()
    hooks.py    who watches: register_forward_hook() ...
"""

from collections import OrderedDict
from collections.abc import Callable
from inspect import signature
from types import FunctionType
from typing import TYPE_CHECKING, Any

from badak.compiler import Compiled
from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, NoDataError, NotSupportedError, StateError, tr
from badak.core.modes import anywhere, modes
from badak.core.public_api.door import door
from badak.core.public_api.explain import AS_IT_IS, FOREIGN, explain
from badak.core.public_api.homes import home
from badak.core.public_api.missing import AbsentName
from badak.nn.errors import ModuleAttributeError, ModuleNameError, kind
from badak.nn.hooks import EVERYWHERE, Hooks, registered
from badak.nn.members import HOOKS, MEMBERS
from badak.nn.moving import Moving
from badak.nn.notebook import html_of
from badak.nn.parameter import Buffer, Parameter
from badak.nn.state import EXTRA_STATE as _EXTRA_STATE_KEY_SUFFIX  # noqa: F401  (a name that PyTorch has in this file)
from badak.nn.state import State
from badak.tensor import Tensor, meta

_global_forward_hooks: dict[int, Callable] = {}
_global_forward_pre_hooks: dict[int, Callable] = {}
_global_backward_hooks: dict[int, Callable] = {}
_global_backward_pre_hooks: dict[int, Callable] = {}
EVERYWHERE.move(globals())
__getattr__, __dir__ = door("badak.nn.modules.module", like="badak.nn.hooks")


class Module(Moving, State, Hooks):
    """What layers and models derive from: assign parameters and modules to attributes, define `forward`.

        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 1)

            def forward(self, x):
                return self.second(self.first(x).relu())

    `training` says whether layers such as Dropout behave as in training; `train()` and `eval()` set it.
    """

    _bookkeeping = frozenset((*HOOKS, *MEMBERS, "_non_persistent_buffers_set", "training"))
    dump_patches = False
    call_super_init = False  # True: Module.__init__ calls, with its arguments, that of the class that stands behind it

    def __init_subclass__(cls, **options: Any) -> None:
        """A function of badak's among the attributes, `act = badak.tanh`, takes no self, as PyTorch's, which are built in."""
        super().__init_subclass__(**options)
        for name, value in list(vars(cls).items()):
            if type(value) is FunctionType and "." not in value.__qualname__ and hasattr(value, "__explained__"):
                setattr(cls, name, staticmethod(value))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            cause = tr("{}: Module.__init__() takes no arguments, got {}", type(self).__name__, args or kwargs)
            raise ArgumentTypeError(cause, "super().__init__() without arguments")
        attributes = self.__dict__
        attributes["training"] = True
        attributes["_non_persistent_buffers_set"] = set()
        for name in MEMBERS:
            attributes[name] = {}
        for name in HOOKS:
            attributes[name] = OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        observer = modes.observer if anywhere.has_observers else None
        if observer is not None:
            observer.on_module_access(self)
            if (answer := observer.on_module_call(self, args, kwargs)) is not NotImplemented:
                return answer
            observer.on_module_enter(self, args, kwargs)
        own = self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks
        hooked = own or _global_forward_hooks or _global_forward_pre_hooks or _global_backward_hooks or _global_backward_pre_hooks
        try:
            output = self._call_with_hooks(args, kwargs) if hooked else self.forward(*args, **kwargs)
        except BaseException as error:
            output = AS_IT_IS
            if type(error) is NoDataError and not hooked and home(type(self)).startswith("badak."):
                output = meta.forward(self, args, kwargs)
            if output is AS_IT_IS:
                if observer is not None:
                    observer.on_module_exit(self, None, error)
                if not hooked and isinstance(error, FOREIGN):
                    _explain(self, error, args, kwargs)
                raise
        if observer is not None:
            observer.on_module_exit(self, output)
        return output

    if TYPE_CHECKING:
        forward: Callable[..., Any]  # of a subclass: with arguments of its own
    else:

        def forward(self, *input: Any) -> object:
            """What the module computes; every subclass defines it."""
            ours = home(type(self)).startswith("badak.")
            fix = tr("call the layers in it, each by itself: x = layers[0](x)") if ours else tr("def forward(self, x): ...")
            raise NotSupportedError(tr('Module [{}] is missing the required "forward" function', type(self).__name__), fix)

    # Attributes

    def __getattr__(self, name: str):
        # Reached only when ordinary look-up has failed. Every use of a parameter or a child comes this way.
        if anywhere.has_observers and modes.observer is not None:
            modes.observer.on_module_access(self)
            if (answer := modes.observer.on_member(self, name)) is not NotImplemented:
                return answer
        own = self.__dict__
        if "_modules" in own:  # False before Module.__init__
            if name in (held := own["_modules"]):
                return held[name]
            if name in (held := own["_parameters"]):
                return held[name]
            if name in (held := own["_buffers"]):
                return held[name]
        raise AbsentName(f"'{type(self).__name__}' object has no attribute '{name}'", name, self)

    def _held(self, one: str, other: str) -> tuple:
        """Two parameters, sooner than as attributes one by one: 0.1 us against 0.9."""
        own = self._parameters
        try:
            return own[one], own[other]
        except KeyError:  # no parameter any more, but computed again for each call, as by weight_norm
            return getattr(self, one), getattr(self, other)

    def __setattr__(self, name: str, value: object) -> None:
        if name not in self.__dict__ or self.__dict__[name] is not value:  # train() in a loop changes nothing
            if name == "training":
                events.train_mode(self)
            else:
                events.redefine(self, lambda: tr("{}.{} was set", type(self).__name__, name))
        if isinstance(value, Parameter):
            self._need_init("parameters")
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._need_init("module")
            self._forget(name, keep="_modules")
            self._modules[name] = registered("module", self, name, value)
        elif isinstance(value, Buffer):
            self._need_init("buffer")
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, *self._said_of(value))
        else:
            self._assign_plain(name, value)

    def _assign_plain(self, name: str, value: object) -> None:
        """Assign what is none of the three kinds: None or a tensor may take the place of a member of that name."""
        attributes = self.__dict__
        if name in attributes.get("_parameters", ()):
            if value is not None:
                cause = tr("cannot assign '{}' as parameter '{}' (badak.nn.Parameter or None expected)", kind(value), name)
                fix = tr("nn.Parameter(value), or {}.data.copy_(value) to keep the parameter and change its values", name)
                raise ArgumentTypeError(cause, fix)
            self._parameters[name] = None
        elif name in attributes.get("_modules", ()):
            if value is not None:
                cause = tr("cannot assign '{}' as child module '{}' (badak.nn.Module or None expected)", kind(value), name)
                raise ArgumentTypeError(cause, tr("del the module first: del module.{}", name))
            self._modules[name] = None
        elif name in attributes.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise ArgumentTypeError(tr("cannot assign '{}' as buffer '{}' (badak.Tensor or None expected)", kind(value), name))
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        events.redefine(self, tr("{}.{} was deleted", type(self).__name__, name))
        for members in MEMBERS:
            if name in self.__dict__.get(members, ()):
                del self.__dict__[members][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        own = self.__dict__  # without tables before Module.__init__
        held = (name for table in MEMBERS for name in own.get(table, ()))
        names = {*dir(type(self)), *own, *held}
        return sorted(name for name in names if not name[0].isdigit())

    def __getstate__(self) -> dict:
        state = dict(self.__dict__)
        if isinstance(state.get("forward"), Compiled):  # a copy is not compiled, as in PyTorch
            del state["forward"]
        return state

    def __setstate__(self, state: dict) -> None:
        Module.__init__(self)
        self.__dict__.update(state)

    def _replicate_for_data_parallel(self) -> "Module":
        """A module over the same members, whose tables can be changed without this one's."""
        replica = object.__new__(type(self))
        replica.__dict__.update(self.__dict__)
        for name in MEMBERS:
            replica.__dict__[name] = {} if name == "_parameters" else dict(self.__dict__[name])
        replica.__dict__["_is_replica"] = True
        return replica

    def _need_init(self, what: str) -> None:
        if "_modules" not in self.__dict__:
            cause = tr("cannot assign {} before Module.__init__() call", what)
            raise ModuleAttributeError(cause, tr("super().__init__() first in {}.__init__", type(self).__name__))

    def _forget(self, name: str, keep: str) -> None:
        """Take `name` out of everything but the dict `keep`, before it is assigned there."""
        self.__dict__.pop(name, None)
        for members in MEMBERS:
            if members != keep:
                self.__dict__[members].pop(name, None)
        if keep != "_buffers":
            self._non_persistent_buffers_set.discard(name)

    # Registering by name

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Make `param` a parameter under `name`; None keeps the name free for one."""
        self._check_name(name, "parameter", "_parameters")
        if param is not None and not isinstance(param, Parameter):
            cause = tr("cannot assign '{}' object to parameter '{}' (badak.nn.Parameter or None required)", kind(param), name)
            raise ArgumentTypeError(cause, "nn.Parameter(tensor)")
        self._parameters[name] = registered("parameter", self, name, param)

    def _said_of(self, buffer: Any) -> tuple[bool, ...]:
        """Whether the buffer is persistent, where register_buffer takes that: a program's own may not."""
        own = type(self).register_buffer
        if own is Module.register_buffer or "persistent" in signature(own).parameters:
            return (buffer.persistent,)
        if not buffer.persistent:
            cause = tr("Registering a non-persistent buffer on a Module subclass that implements register_buffer() without the "
                       "persistent argument is not allowed ({})", type(self).__name__)  # fmt: skip
            raise StateError(cause, "def register_buffer(self, name, tensor, persistent=True)")
        return ()

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make `tensor` a buffer under `name`: moved with the module, not trained; `persistent`: part of its state_dict."""
        self._check_name(name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            cause = tr("cannot assign '{}' object to buffer '{}' (badak.Tensor or None required)", kind(tensor), name)
            raise ArgumentTypeError(cause)
        self._buffers[name] = registered("buffer", self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: "Module | None") -> None:
        """Make `module` a child under `name`."""
        if module is not None and not isinstance(module, Module):
            raise ArgumentTypeError(tr("{} is not a Module subclass", kind(module)))
        self._check_name(name, "module", "_modules")
        self._modules[name] = registered("module", self, name, module)

    def register_module(self, name: str, module: "Module | None") -> None:
        """As `add_module`."""
        self.add_module(name, module)

    def _check_name(self, name: str, what: str, members: str) -> None:
        events.redefine(self, lambda: tr("{}.{} was registered", type(self).__name__, name))
        self._need_init(what)
        if not isinstance(name, str):
            raise ArgumentTypeError(tr("{} name should be a string. Got {}", what, kind(name)))
        if "." in name:
            raise ModuleNameError(tr('{} name can\'t contain ".", got: {}', what, name), "dots join the names of a path")
        if name == "":
            raise ModuleNameError(tr('{} name can\'t be empty string ""', what))
        if hasattr(self, name) and name not in self.__dict__[members]:
            raise ModuleNameError(tr("attribute '{}' already exists", name), tr("another name, or del module.{} first", name))

    # The whole tree at once

    def apply(self, fn: Callable[["Module"], None]) -> "Module":
        """Call `fn` on every module below and then on this one; gives back this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> "Module":
        """Set `training` to `mode` here and below."""
        if not isinstance(mode, bool):
            raise ArgumentError(tr("training mode is expected to be boolean, got {!r}", mode))
        if mode:
            for module in self.modules():
                module._expect_trainable(self)  # before anything is changed
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def _expect_trainable(self, model: "Module") -> None:
        """Raise where this module is for answering only."""

    def eval(self) -> "Module":
        """As `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> "Module":
        """Switch training of every parameter on or off (freezing)."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget every parameter's gradient, or fill it with zeros."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif (grad := parameter.grad) is not None:
                parameter.grad = grad.detach().zero_()

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Replay calls of this module that need no gradient, from the fourth of a kind on; see `badak.compile`."""
        if not isinstance(self.__dict__.get("forward"), Compiled):
            self.__dict__["forward"] = Compiled(self.forward, strict=kwargs.get("fullgraph", False), told=False)

    @property
    def _compiled_call_impl(self) -> Compiled | None:
        """What `compile` made, by which programs ask whether they called it."""
        made = self.__dict__.get("forward")
        return made if isinstance(made, Compiled) else None

    # Its printed form

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the parentheses when the module is printed, besides its children."""
        return ""

    def __repr__(self) -> str:
        children = [f"({name}): {indent(repr(module))}" for name, module in self._modules.items()]
        return framed(self._get_name(), self.extra_repr(), children)

    def _repr_html_(self) -> str:
        return html_of(self)


class Shown(Module):
    """A module that is printed with some of its attributes."""

    _shown: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)


def indent(text: str) -> str:
    """All lines but the first moved in by two."""
    return text.replace("\n", "\n  ")


def _addindent(s_: str, numSpaces: int) -> str:  # noqa: N803  (PyTorch's names)
    """The same by `numSpaces`, as PyTorch calls it."""
    return s_.replace("\n", "\n" + " " * numSpaces)


def framed(name: str, extra: str, children: list[str]) -> str:
    """Name(extra), or one line for each part where there are several."""
    lines = (extra.split("\n") if extra else []) + children
    if extra and len(lines) == 1:
        return f"{name}({extra})"
    return f"{name}(" + ("\n  " + "\n  ".join(lines) + "\n" if lines else "") + ")"


def _explain(module: Module, error: BaseException, args, kwargs) -> None:
    """Say in two lines why the forward of one of our own layers failed, where no check foresaw it."""
    if home(type(module)).startswith("badak."):
        explain(error, module.forward, type(module).__name__, args, kwargs, "badak.nn")
