"""Where a tensor came from: its node in the graph, its gradient, and what an in-place change does to both."""

import importlib
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from badak.autograd.hooks import RemovableHandle, function
from badak.autograd.node import Leaf, Version
from badak.core import events
from badak.core.errors import ArgumentTypeError, DTypeError, GraphError, ShapeError, tr
from badak.core.modes import anywhere, modes
from badak.kernels.memory_format import of_gradient
from badak.ops.rows import Rows
from badak.tensor.attributes import held_by
from badak.tensor.backward import backward
from badak.tensor.batched import Batched
from badak.tensor.grad_fn import GradFn, grad_fn
from badak.tensor.properties import About
from badak.tensor.wrapped import is_wrapper

if TYPE_CHECKING:
    from badak.tensor.tensor import Tensor

if TYPE_CHECKING:
    from badak.tensor.tensor import Tensor


class History(About):
    """The part of Tensor that differentiation needs; its fields stand in `tensor.py`."""

    @property
    def requires_grad(self) -> bool:
        if self._whole is not None and self._made_at != self._whole._rebased:
            self._renew()
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self.requires_grad_(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Say that gradients with respect to this tensor are (not) wanted; in place.

        Args:
            requires_grad: whether gradients are wanted

        Returns: the tensor itself

        Example:
            >>> badak.ones(2).requires_grad_().requires_grad
            True
        """
        if type(requires_grad) is not bool:
            cause = tr("requires_grad_(): argument 'requires_grad' must be bool, not {}", type(requires_grad).__name__)
            raise ArgumentTypeError(cause, "requires_grad_(True) or requires_grad_(False)")
        if requires_grad and not self.is_floating_point() and not self.is_complex():
            cause = tr("only Tensors of floating point dtype can require gradients; this one is {}", self.dtype)
            raise DTypeError(cause, "x.float() first")
        if requires_grad and self._inference and not modes.inference:
            cause = tr("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
            raise GraphError(cause, "x.clone().requires_grad_()")
        if self._node is not None and not requires_grad:
            raise GraphError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
                "subgraph that doesn't require differentiation use var_no_grad = var.detach().",
                "x.detach()",
            )
        if anywhere.casting and self._described is None and type(array := held_by(self).get("_array")) is Batched:
            array.full.requires_grad_(requires_grad)
        elif self._requires_grad != bool(requires_grad):
            events.redefine(self, tr("requires_grad_ of a tensor"))
        self._requires_grad = bool(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        return not self.requires_grad or self._node is None

    @property
    def grad_fn(self) -> GradFn | None:
        return None if not self.requires_grad or self._node is None else grad_fn(self._node, self._of)

    @property
    def output_nr(self) -> int:
        return self._output_number

    def _edge(self):
        """(node, output number) that a gradient for this tensor goes to; None where none is wanted."""
        if self._whole is not None and self._made_at != self._whole._rebased:
            self._renew()
        if self._node is not None:
            return self._node, self._output_number
        if not self._requires_grad:
            return None
        if self._leaf_end is None:
            self._leaf_end = Leaf(_accumulator(weakref.ref(self))), 0
        return self._leaf_end

    def _renew(self) -> None:
        """Take the history again from the base, whose memory has been written to since this view was made."""
        base = self._whole
        assert base is not None
        before, modes.grad = modes.grad, True
        try:
            fresh = base._seen_again(self)
        finally:
            modes.grad = before
        self._made_at = base._rebased
        self._node, self._output_number, self._requires_grad = fresh._node, fresh._output_number, fresh._requires_grad
        if self._kept_by is not None:
            self._keep_here()

    def _watch(self) -> Version:
        """The counter of in-place changes, made when first asked for."""
        if self._version_counter is None:
            self._version_counter = Version() if self._whole is None else self._whole._watch()
        return self._version_counter

    _cdata = property(id)  # by which programs tell tensors apart

    @property
    def _version(self) -> int:
        events.memory_asked(self)
        if self._inference:
            raise GraphError("Inference tensors do not track version counter.", "x.clone(), whose changes are counted")
        return self._watch().count

    def _is_view(self) -> bool:
        return self._base is not None

    @property
    def _base(self) -> "Tensor | None":
        events.memory_asked(self)
        return None if self._inference else self._whole  # inference tensors are no views, as they count no changes

    @property
    def grad(self) -> "Tensor | None":
        if anywhere.has_observers and modes.observer is not None:
            modes.observer.on_grad_read(self)
        elif events.dependents.known:
            events.grad_handed_out(self)
        return self._grad

    @grad.setter
    def grad(self, value: "Tensor | None") -> None:
        if value is not None:
            if not isinstance(value, History):
                cause = tr("assigned grad expected to be a Tensor or None but got {}", type(value).__name__)
                raise ArgumentTypeError(cause, "x.grad = badak.tensor(...)")
            if value.shape != self.shape:
                raise ShapeError(
                    tr("assigned grad has data of a different size: {} for a tensor of {}", tuple(value.shape), tuple(self.shape)),
                    "give x.grad the shape of x",
                )
        self._set_grad(value)

    @grad.deleter
    def grad(self) -> None:
        self._set_grad(None)

    def _set_grad(self, value: "Tensor | None") -> None:
        self._grad = value
        if anywhere.has_observers and modes.observer is not None:
            modes.observer.on_grad_set(self, value)

    def _accumulate(self, dy, owned: bool) -> None:
        """Add dy to .grad; `owned` says that nobody else holds dy."""
        if type(dy) is not np.ndarray:
            self._take_recorded(dy)
        elif anywhere.has_observers and modes.observer is not None:
            modes.observer.on_accumulate(self, dy, owned, self._take_gradient)
        else:
            self._take_gradient(dy, owned)

    def _take_recorded(self, dy: "Tensor | Rows") -> None:
        """Add a gradient that has a history of its own, or one that names rows."""
        gradient = Rows.as_tensor(dy) if isinstance(dy, Rows) else dy
        self._set_grad(gradient if self._grad is None else self._grad + gradient)
        if self._backward_hooks_after:
            self._call_hooks_after()

    def _take_gradient(self, dy, owned: bool) -> None:
        if dy.dtype != self._array.dtype:
            dy, owned = dy.astype(self._array.dtype), True
        if self._grad is None:
            kept = of_gradient(dy, self._array)
            self._grad = self._of(kept if owned or kept is not dy else dy.copy("K"))
        elif self._grad.is_sparse:
            self._grad = self._of(dy) + self._grad
        else:
            self._grad._array += dy
        if self._backward_hooks_after:
            self._call_hooks_after()

    def _call_hooks_after(self) -> None:
        for hook in tuple((self._backward_hooks_after or {}).values()):
            if hook(self) is not None:
                raise GraphError("Tensor post accumulate grad hooks should return None.", "change p.grad in place, or set it")

    def backward(self, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None) -> None:
        """Add d self / d leaf to every leaf's .grad.

        Args:
            gradient: d loss / d self, of self's shape; may be left out for a single value, and is 1 then
            retain_graph: keep what was saved, so that backward may be called again
            create_graph: the gradients can be differentiated themselves; where an operation has no second derivative, it
                raises
            inputs: only these leaves accumulate

        Raises:
            GraphError: for a tensor without a graph, and for a second backward through one that is freed

        Example:
            >>> x = badak.tensor(3.0, requires_grad=True)
            >>> (x * x).backward()
            >>> x.grad.item()
            6.0
        """
        backward([self], [gradient], retain_graph, create_graph, inputs)

    def register_hook(self, hook: "Tensor | Callable") -> RemovableHandle:
        """Call hook(grad) when the gradient of this tensor is there; what it returns (not None) replaces it."""
        hook = function(hook)
        if type(self._array) is Batched:
            return importlib.import_module("badak.tensor.vmap").hook_on_all(self, hook)
        edge = self._edge()
        if edge is None:
            raise GraphError("cannot register a hook on a tensor that doesn't require gradient", "x.requires_grad_() first")

        return _hook_edge(edge, _TensorHook(hook, self._of), self)

    def register_post_accumulate_grad_hook(self, hook: "Tensor | int | Callable") -> RemovableHandle:
        """Call hook(self) each time this leaf's .grad has been added to."""
        if self._node is not None:
            raise GraphError("post accumulate grad hooks cannot be registered on non-leaf tensors", "register_hook(fn)")
        if self._backward_hooks_after is None:
            self._backward_hooks_after = {}
        return RemovableHandle(self._backward_hooks_after, function(hook), owner=self)

    def retain_grad(self) -> None:
        """Keep .grad for this tensor although it is no leaf."""
        edge = self._edge()
        if edge is None:
            raise GraphError("can't retain_grad on Tensor that has requires_grad=False", "x.requires_grad_() first")
        if self._node is not None and self._kept_by is None:
            self._keep_here()

    def _keep_here(self) -> None:
        """Keep the gradient that arrives at the history it has now, and no more that of an older one."""
        reference, token = weakref.ref(self), object()

        def keep(dy):
            tensor = reference()
            if dy is None or tensor is None or tensor._kept_by is not token:
                return
            if tensor._whole is None or tensor._made_at == tensor._whole._rebased:  # else a new history waits for who asks
                mine = dy if dy._node is not None else (dy if dy.is_sparse else tensor._of(dy._array)).clone()
                tensor._grad = mine if tensor._grad is None else tensor._grad + mine

        self._kept_by = token
        _hook_edge((self._node, self._output_number), _Keeper(keep, self._of), None)

    @property
    def retains_grad(self) -> bool:
        return self._kept_by is not None

    def detach(self) -> "Tensor":
        """The same memory without the history; an in-place change of one is seen by, and counted for, both.

        Returns: a tensor that wants no gradient

        Example:
            >>> badak.ones(2, requires_grad=True).detach().requires_grad
            False
        """
        if anywhere.casting and type(array := held_by(self).get("_array")) is Batched:
            return array.detached(self._of)
        twin = self._of(self._array)
        twin._version_counter, twin._inference = self._watch(), self._inference
        events.alias(twin, self)
        return twin

    def _as_it_was(self) -> "Tensor":
        """Another tensor in this one's place: the same memory, history and base."""
        other = self._of(self._array)
        other._node, other._output_number, other._requires_grad = self._node, self._output_number, self._requires_grad
        other._whole, other._view_steps, other._made_at = self._whole, self._view_steps, self._made_at
        other._version_counter = self._watch()
        return other

    def detach_(self) -> Any:
        """Forget the history, in place."""
        if self._whole is not None:
            raise GraphError("Can't detach views in-place. Use detach() instead.", "x = x.detach()")
        events.redefine(self, tr("detach_ of a tensor"))
        self._node, self._output_number, self._requires_grad = None, 0, False
        return self

    @property
    def data(self) -> "Tensor":
        """The same memory, without history and outside the count of in-place changes."""
        if self._described is not None:
            return self._like_meta(self._described)
        if is_wrapper(self):
            return self.detach()
        if anywhere.casting and type(array := held_by(self).get("_array")) is Batched:
            return array.detached(self._of)
        twin = self._of(self._array)
        events.alias(twin, self)
        return twin

    @data.setter
    def data(self, value: "Tensor") -> None:
        if not isinstance(value, History):
            cause = tr("Variable data has to be a tensor, but got {}", type(value).__name__)
            raise ArgumentTypeError(cause, "x.data = badak.tensor(...)")
        if self.requires_grad and not (value.is_floating_point() or value.is_complex()):
            cause = tr("data set to a tensor that requires gradients must be floating point or complex dtype; got {}", value.dtype)
            raise GraphError(cause, "x.data = data.to(x.dtype)")
        if is_wrapper(self) or is_wrapper(value):
            cause = tr("data of a wrapper: what it wraps stands in attributes, which x.data = y leaves as they are")
            raise GraphError(cause, "torch.utils.swap_tensors(x, y)")
        events.redefine(self, tr("other data of a tensor"))
        self._described = value._described
        if value._described is None:
            self._array = value._array
        else:
            held_by(self).pop("_array", None)


class _TensorHook:
    """A hook of tensors, as the walk over arrays calls it, and as the walk over tensors does."""

    def __init__(self, hook: Callable, tensor_of: Callable):
        self.hook, self._tensor_of = hook, tensor_of

    def __call__(self, gradient):
        """The tensor that comes after this hook: all hooks of a gradient see one, with what they set on it."""
        if type(gradient) is Rows:
            gradient = Rows.as_tensor(gradient)
        known = gradient is None or isinstance(gradient, History)
        return self.of_tensor(gradient if known else self._tensor_of(gradient))

    def of_tensor(self, given):
        changed = self.hook(given)
        if changed is None:
            return given
        if given is None:
            raise GraphError("can't replace a None gradient with a non-None value", "return None where the gradient is None")
        if not isinstance(changed, History):
            cause = tr("hook: expected Tensor, but got {}", type(changed).__name__)
            raise ArgumentTypeError(cause, "a hook returns a gradient, or None to keep it")
        if changed.shape != given.shape:
            cause = tr("hook has changed the size of value: {} for a gradient of {}", tuple(changed.shape), tuple(given.shape))
            raise ShapeError(cause, "return a gradient of the same shape")
        return changed if changed.dtype is given.dtype else changed.to(given.dtype)


class _Keeper(_TensorHook):
    """The hook of retain_grad, which sees what all others made of the gradient."""


def _hook_edge(edge, hook, owner) -> RemovableHandle:
    node, slot = edge
    if node.hooks is None:
        node.hooks = {}
    hooks = node.hooks.setdefault(slot, {})
    handle = RemovableHandle(hooks, hook, owner=owner)
    for key in [key for key, each in hooks.items() if type(each) is _Keeper]:
        hooks[key] = hooks.pop(key)
    return handle


def tensor_of(leaf: Leaf) -> "Tensor | None":
    """The tensor whose gradient arrives at a leaf; None where it is gone."""
    reference = getattr(leaf.accumulate, "reference", None)
    return reference and reference()


def _accumulator(reference):
    def accumulate(dy, owned: bool) -> None:
        tensor = reference()
        if tensor is not None and tensor._requires_grad:  # it may be frozen since the forward
            tensor._accumulate(dy, owned)

    accumulate.reference = reference
    return accumulate
