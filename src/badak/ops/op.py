"""An operation: its value and its gradient, both on arrays."""

import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from badak.core.errors import tr, warn_once
from badak.core.portable import PORTABLE
from badak.ops import batching

# (FLOPs of the forward, those of the backward for each input that wants a gradient)
Count = tuple[int, dict[int, int]]


class NotRecordable(Exception):
    """A backward does something to its arrays that no operation does."""


class Saved:
    """What a forward leaves for its backward, as attributes: `save.x = x` in forward, `saved.x` in backward.

    `needs` says which inputs want a gradient. Save inputs and outputs as the very array objects that came in or go out:
    their identity tells which of them must not change in place before the backward.
    """

    __slots__ = ("__dict__", "needs")
    last = False  # of an op that `overwrites`: True where nobody asks for what was saved after this backward

    if TYPE_CHECKING:  # the attributes that each Op gives it

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, needs: tuple[bool, ...] = ()) -> None:
        self.needs = needs


def _said_to_vary(name: str, portable: str, forward: Callable[..., Any]) -> Callable[..., Any]:
    """`forward`, which tells once that its bits depend on the kind of CPU, for an array that is not of the portable dtypes."""

    @wraps(forward)
    def telling(save: Saved, *arrays: Any, **attributes: Any) -> Any:
        for x in arrays:
            if x is not None and x.dtype.kind in "fc" and x.dtype.char not in portable:
                cause = tr("BADAK_PORTABLE: {} of {} has the same bits on x86, and others on AArch64", name, x.dtype)
                warn_once(("portable", name, x.dtype), cause, "leave it out where both must agree")
        return forward(save, *arrays, **attributes)

    return telling


class Op:
    """One differentiable operation. Subclasses give both formulas in their docstring, and two static methods:

        forward(save, *arrays, **attributes) -> array, or a tuple of arrays
        backward(saved, *dys)                -> one gradient for each input, None where there is none

    With one input, backward may return the array itself. With several outputs, backward gets one dy for each of them,
    None for an output that nothing depends on. No dy may be modified: others may hold it.
    """

    owns_grads = True  # False: backward may return what others hold, dy or a view, so that a leaf has to copy it
    capturable = False  # True: kernels alone make the values; what Python and NumPy do around them depends on shapes only
    steps = False  # True: a function of steps, whose slope is 0 (almost) everywhere
    ufunc: Any = None  # the function of NumPy that the forward is, if it is one without attributes
    view = False  # True: the output shares memory with input 0; so its numbers only move, and nothing of them is kept
    pieces = False  # True: its outputs are views that PyTorch lets nobody change in place where gradients are recorded
    pointwise = False  # True: y[i] depends on x[i] alone (`ops/pointwise.py`)
    apart = False  # True: PyTorch makes its outputs one by one, so that no hook of one hears of a gradient of another
    data_movement = False  # True: numbers go from place to place as they are, so that 16-bit floats need not become wider first
    supports_bf16 = False  # True: takes bfloat16 as it is, computes in float32 and rounds once; other 16-bit floats are made wider
    saves_no_tensors = False  # True: backward needs no array, so that a graph may go back through it more than once, as in PyTorch
    overwrites = ""  # what backward may write its first gradient over: saved by this name, where nobody else holds it
    again: tuple[str, ...] = ()  # what `save` calls inputs and attributes, of an op as cheap to compute as to read
    thins: Callable[..., bool] | None = None  # of `save`: whether input 0, called x, is better made again than kept
    kept_for: dict[int, int] = {}  # noqa: RUF012  {i: j}: input i is kept for the gradient of input j alone
    light_for: tuple[int, ...] = ()  # the inputs whose gradients need none, where those of the others do
    portable: str | None = None  # the characters of the dtypes that BADAK_PORTABLE=1 keeps on AArch64, "" none; None: all
    keeps_finite = False  # True: finite numbers stay finite, forward and backward, short of a sum of 1e38
    sized_by_values: Callable[..., bool] | None = None  # of the attributes: whether values, as of a mask, say how large y is
    flops: Callable[..., Count] | None = None  # of (inputs, outputs, attributes), as `flops_of_products`; None: there are none
    batching: Callable[..., Any] | None = None  # the rule of vmap; None: a loop (`batching.py`)
    sources: dict[str, tuple[Callable[..., Any], ...]] = {}  # noqa: RUF012  what forward and backward are made of, where declared
    value: Callable[..., Any] | None = None  # y of (arrays, attributes), of a declared one: the forward that keeps nothing
    name = "op"

    # Double backward runs `backward` on arrays that record what is done to them (`tensor/double_backward/`):

    double_backward: Callable[..., Any] | None = None  # runs in its place, where that writes into memory place by place
    saved_outputs: dict[str, int] = {"y": 0}  # noqa: RUF012  what `save` holds that is an output, and which
    saved_constants: tuple[str, ...] = ()  # arrays of `save` that the backward only looks at
    saved_functions: dict[str, Callable[..., Any]] = {}  # noqa: RUF012  what of `save` the forward computed of its inputs, and how

    def __init_subclass__(cls) -> None:
        if "backward" in cls.__dict__ and "double_backward" not in cls.__dict__:
            cls.double_backward = None
        if cls.view:
            cls.data_movement = cls.saves_no_tensors = True
        if cls.batching is None and "batching" not in cls.__dict__ and (rule := batching.derived(cls.forward)) is not None:
            cls.batching = staticmethod(rule)
        words = re.sub(r"(?<=[A-Za-z0-9])(?=[A-Z][a-z])", "_", cls.__name__)  # RMSNorm: rms_norm, ReLU: relu
        cls.name = cls.__dict__.get("name") or words.lower()
        if PORTABLE and cls.portable is not None and "forward" in cls.__dict__:
            cls.forward = staticmethod(_said_to_vary(cls.name, cls.portable, cls.forward))  # type: ignore[method-assign]
        if "forward" in cls.__dict__ and ("value" not in cls.__dict__ or PORTABLE):
            cls.value = None

    @staticmethod
    def forward(save: Any, *arrays: Any, **attributes: Any) -> Any:
        raise AssertionError("an Op defines forward")

    @staticmethod
    def backward(saved: Any, *dys: Any) -> Any:
        raise AssertionError("an Op defines backward")

    @classmethod
    def of(cls, *arrays: Any, **attributes: Any) -> Any:
        """The values alone, of arrays; recorded as one operation where the arrays record what is done to them."""
        record = next((x.run for x in arrays if hasattr(x, "run")), None)
        if record is not None:
            return record(cls, *arrays, **attributes)
        return cls.forward(Saved((False,) * len(arrays)), *arrays, **attributes)


def flops_of_products(first: int, second: int, inner: Callable[..., int]) -> Callable[..., Count]:
    """Op.flops of a product of the inputs `first` and `second` that sums `inner(inputs)` terms for each number of the result.

    Two for each product and sum, none for the rest: the field's convention, that of `torch.utils.flop_counter` too.
    """

    def count(inputs: Any, outputs: Any, attributes: Any) -> Count:
        flops = 2 * outputs[0].size * inner(inputs)
        return flops, {first: flops, second: flops}

    return staticmethod(count)
