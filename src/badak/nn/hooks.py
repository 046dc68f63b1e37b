"""Hooks: functions of the user that run around a module's forward and backward.

    forward pre-hook      (module, args)                   -> None | new args
    forward hook          (module, args, output)           -> None | new output
    backward pre-hook     (module, grad_output)            -> None | new grad_output
    backward hook         (module, grad_input, grad_output) -> None | new grad_input

A module without hooks pays four dictionary tests per call and nothing else.
"""

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from badak.autograd import is_grad_enabled
from badak.autograd.hooks import RemovableHandle, function
from badak.core import events
from badak.core.errors import ArgumentTypeError, BadakWarning, GraphError, tr
from badak.core.nests import inside
from badak.nn.members import Members
from badak.ops.observe import Observe
from badak.tensor import Tensor, apply, zeros
from badak.tensor.apply import see_in_function

_TABLES = "forward", "forward_pre", "backward", "backward_pre"


class _Everywhere:
    """The hooks of all modules at once.

    The tables lie in `nn.module` under PyTorch's names, `_global_forward_hooks`: libraries look there, and some put others there.
    """

    def __init__(self) -> None:
        self.place: dict[str, Any] = {}
        self.with_kwargs: dict[int, bool] = {}  # True by the ids of the hooks that want keyword arguments
        self.always_called: dict[int, bool] = {}
        self.registration: dict[str, dict[int, Callable]] = {"module": {}, "parameter": {}, "buffer": {}}

    def move(self, place: dict[str, Any]) -> None:
        """Take the tables of this namespace from now on."""
        place.update({f"_global_{kind}_registration_hooks": table for kind, table in self.registration.items()})
        self.place = place
        events.for_all(place, *(f"_global_{name}_hooks" for name in _TABLES))

    forward = property(lambda self: self.place["_global_forward_hooks"])
    forward_pre = property(lambda self: self.place["_global_forward_pre_hooks"])
    backward = property(lambda self: self.place["_global_backward_hooks"])
    backward_pre = property(lambda self: self.place["_global_backward_pre_hooks"])


EVERYWHERE = _Everywhere()


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, args)` before each forward of every module; what it returns replaces the arguments."""
    return RemovableHandle(EVERYWHERE.forward_pre, function(hook))


def register_module_forward_hook(hook: Callable, *, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    """Run `hook(module, args, output)` after each forward of every module; what it returns replaces the output."""
    return RemovableHandle(
        EVERYWHERE.forward,
        function(hook),
        flags=_chosen((EVERYWHERE.with_kwargs, with_kwargs), (EVERYWHERE.always_called, always_call)),
    )


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, grad_output)` for every module when the gradients of its outputs are there."""
    return RemovableHandle(EVERYWHERE.backward_pre, function(hook))


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, grad_input, grad_output)` for every module when the gradients of its inputs are there."""
    return RemovableHandle(EVERYWHERE.backward, function(hook))


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """As `register_module_full_backward_hook`, and also where the output is a dict or a list, of its first tensor."""
    return RemovableHandle(EVERYWHERE.backward, _Older(function(hook)))


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, name, parameter)` when a parameter is registered by name; what it returns replaces the parameter."""
    return RemovableHandle(EVERYWHERE.registration["parameter"], function(hook))


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, name, buffer)` when a buffer is registered by name; what it returns replaces the buffer."""
    return RemovableHandle(EVERYWHERE.registration["buffer"], function(hook))


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, name, submodule)` when a module is registered by name; what it returns replaces the module."""
    return RemovableHandle(EVERYWHERE.registration["module"], function(hook))


def registered(kind: str, module: object, name: str, value: Any) -> Any:
    """What the hooks of a registration make of what is registered."""
    for hook in tuple(EVERYWHERE.registration[kind].values()):
        replaced = hook(module, name, value)
        value = value if replaced is None else replaced
    return value


class Hooks(Members):
    """The part of Module that registers hooks and runs them."""

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """Run `hook(module, args)` before each forward; what it returns replaces the arguments.

        with_kwargs: `hook(module, args, kwargs)`, which returns None or the pair (args, kwargs).
        """
        return RemovableHandle(
            self._forward_pre_hooks, function(hook), prepend, self, _chosen((self._forward_pre_hooks_with_kwargs, with_kwargs))
        )

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Run `hook(module, args, output)` after each forward; what it returns replaces the output.

        with_kwargs: `hook(module, args, kwargs, output)`. always_call: also after a forward that raised, with output None.
        """
        return RemovableHandle(
            self._forward_hooks,
            function(hook),
            prepend,
            self,
            _chosen((self._forward_hooks_with_kwargs, with_kwargs), (self._forward_hooks_always_called, always_call)),
        )

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Run `hook(module, grad_output)` when the gradients of the outputs are there; what it returns replaces them."""
        return RemovableHandle(self._backward_pre_hooks, function(hook), prepend, owner=self)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Run `hook(module, grad_input, grad_output)` when the gradients of the inputs are there.

        What it returns replaces grad_input. Both are tuples with one entry for each positional argument (output), None for
        what is no tensor or has no gradient. It also runs when no input needs a gradient, with Nones for grad_input.
        """
        return RemovableHandle(self._backward_hooks, function(hook), prepend, owner=self)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """As `register_full_backward_hook`, and also where the output is a dict or a list, of its first tensor.

        Parity: PyTorch keeps the older meaning here (the gradients of the last operation only), deprecated; not in badak.
        """
        return self.register_full_backward_hook(_Older(function(hook)))

    def _call_with_hooks(self, args: tuple, kwargs: dict) -> object:
        events.user_code(tr("{} has hooks", type(self).__name__))
        waiting = OrderedDict({**EVERYWHERE.forward, **self._forward_hooks})  # those that have not run yet
        try:
            args, kwargs = self._run_pre_hooks(args, kwargs)
            watched = self._backward_hooks or self._backward_pre_hooks or EVERYWHERE.backward or EVERYWHERE.backward_pre
            watch = BackwardWatch(self) if watched else None
            args = watch.inputs(args) if watch else args
            output = self.forward(*args, **kwargs)
            for key in list(waiting):
                replaced = self._run_forward_hook(key, waiting.pop(key), args, kwargs, output)
                output = output if replaced is None else replaced
            return watch.outputs(output) if watch else output
        except Exception:
            self._run_always_called(waiting, args, kwargs)
            raise

    def _run_pre_hooks(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        for key, hook in (*EVERYWHERE.forward_pre.items(), *self._forward_pre_hooks.items()):
            with_kwargs = key in self._forward_pre_hooks_with_kwargs
            replaced = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if replaced is None:
                continue
            if not with_kwargs:
                args = replaced if isinstance(replaced, tuple) else (replaced,)
            elif isinstance(replaced, tuple) and len(replaced) == 2:
                args, kwargs = replaced
            else:
                cause = tr("forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {!r}.", replaced)
                raise ArgumentTypeError(cause, "return args, kwargs")
        return args, kwargs

    def _run_always_called(self, waiting: OrderedDict, args: tuple, kwargs: dict) -> None:
        for key, hook in waiting.items():
            if key not in self._forward_hooks_always_called and key not in EVERYWHERE.always_called:
                continue
            try:
                self._run_forward_hook(key, hook, args, kwargs, None)
            except Exception as error:  # the error of the forward itself must not be hidden by this one
                warnings.warn(tr("forward hook with always_call=True raised as well: {}", error), BadakWarning, stacklevel=2)

    def _run_forward_hook(self, key: int, hook: Callable, args: tuple, kwargs: dict, output: object) -> object:
        with_kwargs = key in self._forward_hooks_with_kwargs or key in EVERYWHERE.with_kwargs
        return hook(self, args, kwargs, output) if with_kwargs else hook(self, args, output)


class _Older:
    """A hook of register_backward_hook."""

    def __init__(self, hook: Callable):
        self.hook = hook

    def __call__(self, *given: Any) -> Any:
        return self.hook(*given)


def _tell_of_older(args: tuple, output: object) -> None:
    """Warn, as PyTorch, where a hook of register_backward_hook gets other gradients there: those of the last operation alone."""
    outputs = output if isinstance(output, tuple) else (output,)
    if not all(isinstance(y, Tensor) for y in outputs):
        what = "non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors"
    elif not all(isinstance(x, Tensor) for x in args):
        what = "non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors"
    else:
        nodes = {y.grad_fn for y in outputs if y.grad_fn is not None}
        if len(nodes) > 1:
            what = "a non-full backward hook when outputs are generated by different autograd Nodes"
        elif nodes and {node for node, _ in nodes.pop().next_functions} != {x.grad_fn for x in args if x.grad_fn is not None}:
            what = "a non-full backward hook when the forward contains multiple autograd Nodes"
        else:
            return
    cause = (
        f"Using {what} is deprecated and will be removed in future versions. It gets the gradients of the "
        "module's inputs here, and in PyTorch those of its last operation. Please use register_full_backward_hook to get the "
        "documented behavior."
    )
    warnings.warn(cause, FutureWarning, stacklevel=5)


def _chosen(*tables: tuple[dict, bool]) -> tuple[dict, ...]:
    """The tables that are wanted."""
    return tuple(table for table, wanted in tables if wanted)


class BackwardWatch:
    """One call of one module, watched from both ends: its outputs see grad_output arrive, its inputs grad_input leave."""

    def __init__(self, module: Hooks) -> None:
        self._module = module
        self._grad_output: tuple | None = None
        self._inputs: tuple[int, ...] = ()  # the places of the arguments that need a gradient
        self._args: tuple = ()
        self._given: tuple = ()  # the arguments as forward sees them

    def inputs(self, args: tuple) -> tuple:
        """The arguments, those that need a gradient led through `Observe`."""
        observed, self._inputs = _observed(args, self._on_grad_input)
        self._given = observed
        self._args = tuple({"size": value.shape, "dtype": value.dtype} if isinstance(value, Tensor) else None for value in args)
        return observed

    def outputs(self, output: object) -> object:
        """The output, where it is a tensor or a tuple, led through `Observe`."""
        if any(type(hook) is _Older for hook in (*EVERYWHERE.backward.values(), *self._module._backward_hooks.values())):
            _tell_of_older(self._given, output)
        if not isinstance(output, Tensor | tuple):
            self._nested(output)
            return output
        if isinstance(output, tuple):
            observed, self._outputs = _observed(output, self._on_grad_output)
            self._output_count = len(output)
            return observed
        observed, self._outputs = _observed((output,), self._on_grad_output)
        self._output_count = 1
        return observed[0]

    def _nested(self, output: object) -> None:
        """Watch the first tensor of a dict or list for the hooks of register_backward_hook; say that others are not called."""
        module = self._module
        hooks = (*EVERYWHERE.backward.values(), *module._backward_hooks.values())
        if EVERYWHERE.backward_pre or module._backward_pre_hooks or not all(type(hook) is _Older for hook in hooks):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(output)}",
                UserWarning,
                stacklevel=4,
            )
            return
        first = next((x for x in inside(output, Tensor) if x.requires_grad), None)
        if first is not None:
            self._outputs, self._output_count = (0,), 1
            first.register_hook(lambda dy: self._on_grad_output((dy,))[0])

    def _on_grad_output(self, grads: tuple) -> tuple:
        grad_output = _spread(grads, self._outputs, self._output_count)
        for hook in (*EVERYWHERE.backward_pre.values(), *self._module._backward_pre_hooks.values()):
            replaced = hook(self._module, grad_output)
            if replaced is not None:
                grad_output = _as_tuple(replaced, self._output_count, tr("Backward pre hook"))
        self._grad_output = grad_output
        if not self._inputs:  # nothing will arrive at the inputs: tell the hooks now
            for hook in (*EVERYWHERE.backward.values(), *self._module._backward_hooks.values()):
                if _some(hook(self._module, (None,) * len(self._args), grad_output)):
                    cause = tr("backward hook for a module returned a gradient where no input requires gradient")
                    raise GraphError(cause, "return None from it")
        return tuple(grad_output[i] for i in self._outputs)

    def _on_grad_input(self, grads: tuple) -> tuple:
        if self._grad_output is None:  # a gradient that has not come through the output, as of a gradient
            return grads
        found = _spread(grads, self._inputs, len(self._args))
        grad_input = tuple(zeros(**told) if grad is None and told else grad for grad, told in zip(found, self._args))  # as PyTorch
        for hook in (*EVERYWHERE.backward.values(), *self._module._backward_hooks.values()):
            replaced = hook(self._module, grad_input, self._grad_output)
            if replaced is not None:
                grad_input = _as_tuple(replaced, len(self._args), tr("Backward hook"))
        self._grad_output = None
        return tuple(grad_input[i] for i in self._inputs)


def _some(returned: object) -> bool:
    return any(each is not None for each in (returned if isinstance(returned, tuple) else (returned,)))


def _observed(values: tuple, observer: Callable) -> tuple[tuple, tuple[int, ...]]:
    """`values` with those that require grad led through `Observe`, and the places of these."""
    places = tuple(i for i, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad)
    if not places or not is_grad_enabled():
        return values, ()

    def on_arrays(*dys) -> tuple:
        grads = observer(tuple(None if dy is None else Tensor._of(dy) for dy in dys))
        return tuple(None if grad is None else grad._array for grad in grads)

    on_arrays.of_tensors = observer  # type: ignore[attr-defined]
    seen = apply(Observe, *(values[i] for i in places), observer=on_arrays)
    changed = list(values)
    for slot, (i, tensor) in enumerate(zip(places, seen if isinstance(seen, tuple) else (seen,), strict=True)):
        see_in_function(tensor, values[i], "BackwardHookFunction", slot)
        changed[i] = tensor
    return tuple(changed) if type(values) is tuple else type(values)(*changed), places  # a named tuple stays one


def _spread(grads: tuple, places: tuple[int, ...], count: int) -> tuple:
    spread = [None] * count
    for i, grad in zip(places, grads, strict=True):
        spread[i] = grad
    return tuple(spread)


def _as_tuple(replaced: object, count: int, who: str) -> tuple:
    replaced = replaced if isinstance(replaced, tuple) else (replaced,)
    if len(replaced) != count:
        raise GraphError(tr("{} returned an invalid number of grad, got {}, but expected {}", who, len(replaced), count))
    return replaced
