"""An operation: its value and its gradient, both on arrays."""

import re
from typing import TYPE_CHECKING, Any


class Saved:
    """What a forward leaves for its backward, as attributes: `save.x = x` in forward, `saved.x` in backward.

    `needs` says which inputs want a gradient. Save inputs and outputs as the very array objects that came in or go out:
    their identity tells which of them must not change in place before the backward.
    """

    __slots__ = ("__dict__", "needs")

    if TYPE_CHECKING:  # the attributes that each Op gives it

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, needs: tuple[bool, ...] = ()):
        self.needs = needs


class Op:
    """One differentiable operation. Subclasses give both formulas in their docstring, and two static methods:

        forward(save, *arrays, **attributes) -> array, or a tuple of arrays
        backward(saved, *dys)                -> one gradient for each input, None where there is none

    With one input, backward may return the array itself. With several outputs, backward gets one dy for each of them,
    None for an output that nothing depends on. No dy may be modified: others may hold it.
    """

    owns_grads = True  # False: backward may return what others hold, dy or a view, so that a leaf has to copy it
    capturable = False  # True: kernels alone make the values; what Python and NumPy do around them depends on shapes only
    ufunc: Any = None  # the function of NumPy that the forward is, if it is one without attributes
    view = False  # True: the output shares memory with input 0
    pointwise = False  # True: y[i] depends on x[i] alone (`ops/pointwise.py`)
    data_movement = False  # True: numbers go from place to place as they are, so that floats of 16 bits need not become wider first
    supports_bf16 = (
        False  # True: takes bfloat16 as it is, computes in float32 and rounds once; other floats of 16 bits are made wider
    )
    saves_no_tensors = False  # True: backward needs no array, so that a graph may go back through it more than once, as in PyTorch
    name = "op"

    def __init_subclass__(cls) -> None:
        words = re.sub(r"(?<=[A-Za-z0-9])(?=[A-Z][a-z])", "_", cls.__name__)  # RMSNorm: rms_norm, ReLU: relu
        cls.name = cls.__dict__.get("name") or words.lower()

    @staticmethod
    def forward(save, *arrays, **attributes):
        raise AssertionError("an Op defines forward")

    @staticmethod
    def backward(saved, *dys):
        raise AssertionError("an Op defines backward")
