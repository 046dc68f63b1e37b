"""Tensor: an array, and where it came from.

What a tensor can *do* stands in the files beside this one, one family each; `methods.py` is the table of contents that
binds them here. What this file holds is what a tensor *is*:

    _array      the ndarray with the values (also for 0-d)
    _node       the graph.Node that made it, _slot which of its outputs; None for a leaf
    _version    counts in-place changes; shared by all tensors that see the same memory
    _base       for a view: the tensor whose memory it sees, _steps the view operations that lead there

Attributes that most tensors never use have their default on the class, so that making one costs little.
"""

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, DTypeError, GraphError, KindError, RangeError, ShapeError
from ..graph import Leaf, Version, backpropagate, modes
from . import dtype as dtypes
from .printing import format_tensor


class Tensor:
    """An n-dimensional array that can be differentiated through, with PyTorch's face.

    `Tensor(2, 3)` makes an uninitialised float32 tensor of that shape, `Tensor([2, 3])` one of those values (PyTorch's
    legacy constructor); `badak.tensor(data)` is the usual way in.
    """

    _requires_grad = False
    _grad: "Tensor | None" = None
    _node: Any = None
    _slot = 0
    _leaf: Leaf | None = None
    _version: Version | None = None
    _base: "Tensor | None" = None
    _steps: tuple = ()
    _rebased = 0  # how often the history of this memory has been rewritten, and, for a view,
    _made_at = 0  # which rewriting its own history belongs to
    _retains = False
    _inference = False
    _backward_hooks_after: list | None = None
    __array_priority__ = 1000  # NumPy on the left defers to us

    def __init__(self, *data, device=None):
        dtypes.check_device(device)
        if len(data) == 1 and not isinstance(data[0], int):
            values = data[0]._array if isinstance(data[0], Tensor) else data[0]
            if isinstance(values, dtypes.Size):
                values = np.empty(values, np.float32)
            self._array = np.array(values, dtypes.default_dtype().numpy)
        else:
            self._array = np.empty(data, dtypes.default_dtype().numpy)

    @classmethod
    def _of(cls, array, kind=None) -> "Tensor":
        """A tensor around this very array, with no history."""
        tensor = object.__new__(kind or Tensor)
        tensor._array = array if isinstance(array, np.ndarray) else np.asarray(array)
        return tensor

    # ------------------------------------------------------------------ what it is

    @property
    def shape(self) -> dtypes.Size:
        return dtypes.Size(self._array.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes.of_numpy(self._array.dtype)

    @property
    def device(self) -> dtypes.device:
        return dtypes.CPU

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def itemsize(self) -> int:
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    is_cuda = is_mps = is_sparse = is_quantized = is_meta = is_nested = False
    is_cpu = True
    layout = "strided"

    def size(self, dim: int | None = None):
        """The shape, or the size of one dim."""
        if dim is None:
            return dtypes.Size(self._array.shape)
        shape = self._array.shape
        if not -len(shape) <= dim < len(shape):
            raise dim_error(dim, len(shape))
        return shape[dim]

    def dim(self) -> int:
        return self._array.ndim

    ndimension = dim

    def numel(self) -> int:
        return self._array.size

    nelement = numel

    def element_size(self) -> int:
        return self._array.itemsize

    def stride(self, dim: int | None = None):
        """Steps between neighbours along each dim, in elements."""
        strides = tuple(step // self._array.itemsize for step in self._array.strides)
        return strides if dim is None else strides[dim]

    def storage_offset(self) -> int:
        """Elements between the start of the memory that is seen and this tensor's first one."""
        memory = self._array if self._array.base is None else self._array.base
        if not isinstance(memory, np.ndarray):
            return 0
        return (self._array.ctypes.data - memory.ctypes.data) // self._array.itemsize

    def data_ptr(self) -> int:
        return self._array.ctypes.data

    def is_contiguous(self, memory_format=None) -> bool:
        return self._array.flags.c_contiguous

    def is_floating_point(self) -> bool:
        return self._array.dtype.kind == "f" or self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self._array.dtype.kind == "c"

    def is_signed(self) -> bool:
        return self.dtype.is_signed

    def is_inference(self) -> bool:
        return self._inference

    def get_device(self) -> int:
        return -1

    def is_shared(self) -> bool:
        return False

    def is_pinned(self) -> bool:
        return False

    def pin_memory(self, device=None) -> "Tensor":
        return self

    def share_memory_(self) -> "Tensor":
        return self

    # ------------------------------------------------------------------ values for Python and NumPy

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The values as an ndarray that shares this tensor's memory."""
        if self.requires_grad and not force:
            raise GraphError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
                "tensor.detach().numpy()",
            )
        return self._array

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        array = self.numpy()
        return np.array(array, dtype=dtype, copy=copy)

    def __dlpack__(self, **options):
        if self.requires_grad:
            raise GraphError("Can't export tensors that require gradient, use tensor.detach()", "tensor.detach()")
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def item(self):
        """The one value as a Python number."""
        if self._array.size != 1:
            raise ShapeError(
                f"a Tensor with {self._array.size} elements cannot be converted to Scalar (its shape is {tuple(self.shape)})",
                "reduce it first, as in x.mean().item(), or use x.tolist()",
            )
        return self._array.item()

    def tolist(self):
        """The values as nested lists of Python numbers."""
        return self._array.tolist()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __bool__(self) -> bool:
        if self._array.size != 1:
            many = "no values" if self._array.size == 0 else "more than one value"
            raise ShapeError(
                f"Boolean value of Tensor with {many} is ambiguous",
                "use x.any() or x.all(), or x is None to test for absence",
            )
        return bool(self._array.item())

    def __index__(self) -> int:
        if self._array.size != 1 or self._array.dtype.kind not in "iub":
            raise KindError("only integer tensors of a single element can be converted to an index", "x.item(), or x.long() first")
        return int(self._array.item())

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise KindError("len() of a 0-d tensor", "x.item() gives its value")
        return len(self._array)

    def __iter__(self):
        if self._array.ndim == 0:
            raise KindError("iteration over a 0-d tensor", "x.item() gives its value")
        return iter(self.unbind(0))

    def __contains__(self, value) -> bool:
        if isinstance(value, Tensor):
            value = value._array
        return bool((self._array == value).any())

    def __format__(self, spec: str) -> str:
        if self._array.ndim == 0:
            return format(self._array.item(), spec)
        if spec:
            raise KindError("unsupported format string passed to Tensor.__format__", "format x.item(), or each of x.tolist()")
        return str(self)

    def __repr__(self, *, tensor_contents=None) -> str:
        return format_tensor(self)

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo):
        if self._node is not None:
            raise GraphError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.",
                "copy x.detach() instead",
            )
        if id(self) in memo:
            return memo[id(self)]
        twin = Tensor._of(self._array.copy(), type(self))
        twin._requires_grad = self._requires_grad
        if self._grad is not None:
            twin._grad = Tensor._of(self._grad._array.copy())
        for name, value in self.__dict__.items():
            if not name.startswith("_"):
                setattr(twin, name, value)
        memo[id(self)] = twin
        return twin

    def __reduce_ex__(self, protocol):
        if self._node is not None:
            raise GraphError("a tensor that has a history cannot be pickled", "pickle x.detach()")
        return _rebuild, (type(self), self._array, self._requires_grad)

    # ------------------------------------------------------------------ where it came from

    @property
    def requires_grad(self) -> bool:
        if self._base is not None and self._made_at != self._base._rebased:
            self._renew()
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self.requires_grad_(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        """Say that gradients with respect to this tensor are (not) wanted; in place."""
        if requires_grad and not self.is_floating_point() and not self.is_complex():
            raise DTypeError(
                f"only Tensors of floating point dtype can require gradients; this one is {self.dtype}", "x.float() first"
            )
        if self._node is not None and not requires_grad:
            raise GraphError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
                "subgraph that doesn't require differentiation use var_no_grad = var.detach().", "x.detach()"
            )
        self._requires_grad = bool(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        return not self.requires_grad or self._node is None

    @property
    def grad_fn(self):
        if not self.requires_grad:
            return None
        return self._node

    @property
    def output_nr(self) -> int:
        return self._slot

    def _edge(self):
        """(node, output number) that a gradient for this tensor goes to; None where none is wanted."""
        if self._base is not None and self._made_at != self._base._rebased:
            self._renew()
        if self._node is not None:
            return self._node, self._slot
        if not self._requires_grad:
            return None
        if self._leaf is None:
            self._leaf = Leaf(_accumulator(weakref.ref(self)))
        return self._leaf, 0

    def _renew(self) -> None:
        """Take the history anew from the base, whose memory has been written to since this view was made."""
        base = self._base
        self._made_at = base._rebased
        before, modes.grad = modes.grad, True
        try:
            fresh = base._replay(self._steps)
        finally:
            modes.grad = before
        self._node, self._slot, self._requires_grad = fresh._node, fresh._slot, fresh._requires_grad

    def _watch(self) -> Version:
        """The counter of in-place changes, made when first asked for."""
        if self._version is None:
            self._version = Version() if self._base is None else self._base._watch()
        return self._version

    @property
    def version_count(self) -> int:
        return self._watch().count

    # ------------------------------------------------------------------ gradients

    @property
    def grad(self) -> "Tensor | None":
        return self._grad

    @grad.setter
    def grad(self, value: "Tensor | None") -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise KindError(f"assigned grad expected to be a Tensor or None but got {type(value).__name__}", None)
            if value._array.shape != self._array.shape:
                raise ShapeError(
                    f"assigned grad has data of a different size: {tuple(value.shape)} for a tensor of {tuple(self.shape)}", None
                )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def _accumulate(self, dy, owned: bool) -> None:
        """Add dy to .grad; `owned` says that nobody else holds dy."""
        if dy.dtype != self._array.dtype:
            dy, owned = dy.astype(self._array.dtype), True
        if self._grad is None:
            keep = owned and dy.flags.c_contiguous
            self._grad = Tensor._of(dy if keep else np.array(dy, order="C"))
        else:
            self._grad._array += dy
        for hook in self._backward_hooks_after or ():
            hook(self)

    def backward(self, gradient=None, retain_graph=None, create_graph: bool = False, inputs=None) -> None:
        """Add d self / d leaf to every leaf's .grad.

        gradient       d loss / d self, of self's shape; may be left out for a single value, and is 1 then
        retain_graph   keep what was saved, so that backward may be called again
        create_graph   not supported (there are no second derivatives): True raises
        inputs         only these leaves accumulate
        """
        backward([self], [gradient], retain_graph, create_graph, inputs)

    def register_hook(self, hook):
        """Call hook(grad) when the gradient of this tensor is there; what it returns (not None) replaces it."""
        edge = self._edge()
        if edge is None:
            raise GraphError("cannot register a hook on a tensor that doesn't require gradient", "x.requires_grad_() first")

        def on_array(array):
            changed = hook(Tensor._of(array))
            return None if changed is None else changed._array

        return _Handle(edge, on_array)

    def register_post_accumulate_grad_hook(self, hook):
        """Call hook(self) each time this leaf's .grad has been added to."""
        if self._node is not None:
            raise GraphError("post accumulate grad hooks cannot be registered on non-leaf tensors", "register_hook(fn)")
        if self._backward_hooks_after is None:
            self._backward_hooks_after = []
        self._backward_hooks_after.append(hook)
        return _ListHandle(self._backward_hooks_after, hook)

    def retain_grad(self) -> None:
        """Keep .grad for this tensor although it is no leaf."""
        edge = self._edge()
        if edge is None:
            raise GraphError("can't retain_grad on Tensor that has requires_grad=False", "x.requires_grad_() first")
        if self._node is None or self._retains:
            return
        self._retains = True
        reference = weakref.ref(self)

        def keep(array):
            tensor = reference()
            if tensor is not None:
                tensor._grad = Tensor._of(array.copy() if tensor._grad is None else tensor._grad._array + array)

        _Handle(edge, keep)

    @property
    def retains_grad(self) -> bool:
        return self._retains

    # ------------------------------------------------------------------ without history

    def detach(self) -> "Tensor":
        """The same memory without the history; an in-place change of one is seen by, and counted for, both."""
        twin = Tensor._of(self._array)
        twin._version = self._watch()
        return twin

    def detach_(self) -> "Tensor":
        """Forget the history, in place."""
        if self._base is not None:
            raise GraphError("Can't detach views in-place. Use detach() instead.", "x = x.detach()")
        self._node, self._slot, self._requires_grad = None, 0, False
        return self

    @property
    def data(self) -> "Tensor":
        """The same memory, without history and outside the count of in-place changes."""
        return Tensor._of(self._array)

    @data.setter
    def data(self, value: "Tensor") -> None:
        if not isinstance(value, Tensor):
            raise KindError(f"Variable data has to be a tensor, but got {type(value).__name__}", None)
        self._array = value._array

    if TYPE_CHECKING:  # the methods that methods.py binds

        def __getattr__(self, name: str) -> Any: ...


class _Handle:
    """Takes a gradient hook away again: handle.remove(), or leaving `with handle:`."""

    def __init__(self, edge, hook):
        node, slot = edge
        if node.hooks is None:
            node.hooks = {}
        self._hooks, self._hook = node.hooks.setdefault(slot, []), hook
        self._hooks.append(hook)

    def remove(self) -> None:
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        self.remove()


class _ListHandle(_Handle):
    """The same for hooks that are kept in a list of their own."""

    def __init__(self, hooks, hook):
        self._hooks, self._hook = hooks, hook


def _accumulator(reference):
    def accumulate(dy, owned: bool) -> None:
        tensor = reference()
        if tensor is not None:
            tensor._accumulate(dy, owned)

    return accumulate


def _rebuild(kind, array, requires_grad: bool) -> Tensor:
    tensor = Tensor._of(array, kind)
    tensor._requires_grad = requires_grad
    return tensor


def dim_error(dim: int, ndim: int) -> RangeError:
    """The complaint about a dim that a tensor does not have."""
    low, high = (-ndim, ndim - 1) if ndim else (-1, 0)
    return RangeError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})", None)


def backward(outputs, gradients, retain_graph=None, create_graph: bool = False, inputs=None) -> None:
    """Add the gradients of all `outputs` to the leaves they depend on (to `inputs` only, if given)."""
    roots = [root(y, dy) for y, dy in zip(outputs, gradients, strict=True)]
    refuse_create_graph(create_graph)
    if inputs is None:
        backpropagate(roots, bool(retain_graph))
        return
    inputs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if not inputs:
        raise ArgumentError("'inputs' argument to backward() cannot be empty.", "leave inputs out to reach every leaf")
    found = backpropagate(roots, bool(retain_graph), [x._edge() for x in inputs])
    for x, dx in zip(inputs, found, strict=True):
        if dx is not None:
            x._accumulate(dx, False)


def refuse_create_graph(create_graph: bool) -> None:
    if create_graph:
        raise GraphError(
            "create_graph=True asks for derivatives of derivatives; badak's backward works on arrays and records no graph",
            "create_graph=False; for a Hessian-vector product take finite differences of two backward passes",
        )


def root(y: Tensor, dy):
    """(edge, gradient array) to start a walk from."""
    edge = y._edge()
    if edge is None:
        why = "was computed under no_grad()" if not modes.grad else "was computed under no_grad() or from detached data"
        raise GraphError(
            f"element 0 of tensors does not require grad and does not have a grad_fn: the tensor of shape {tuple(y.shape)} {why}",
            "compute the loss outside no_grad(), from parameters with requires_grad=True, and without .detach() or .item() on the way",
        )
    if dy is None:
        if y._array.size != 1:
            raise GraphError(
                f"grad can be implicitly created only for scalar outputs; this one has shape {tuple(y.shape)}",
                "reduce it (loss.mean()), or pass backward(gradient=...) of that shape",
            )
        return edge, np.ones_like(y._array)
    array = dy._array if isinstance(dy, Tensor) else np.asarray(dy)
    if array.shape != y._array.shape:
        raise ShapeError(
            f"Mismatch in shape: grad_output[0] has a shape of {array.shape} and output[0] has a shape of {y._array.shape}.", None
        )
    return edge, array.astype(y._array.dtype, copy=False)
