"""Elementwise non-linearities."""

from badak import kernels
from badak.core.errors import ArgumentError
from badak.ops._complex import analytic
from badak.ops.op import Op


class GELU(Op):
    """y = x Phi(x), Phi the normal distribution function;   dx = dy (Phi(x) + x phi(x)).

    approximate="tanh" takes x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) and its own derivative instead.
    """

    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save, x, approximate="none"):
        if approximate not in ("none", "tanh"):
            raise ArgumentError(f"gelu: expected approximate 'none' or 'tanh'; got {approximate!r}", "approximate='none'")
        save.x, save.approximate = x, approximate
        return kernels.of(x).gelu(x, approximate)

    @staticmethod
    def backward(saved, dy):
        return kernels.of(dy).gelu_backward(dy, saved.x, saved.approximate)


class ReLU(Op):
    """y = max(x, 0);   dx = dy where y > 0, else 0."""

    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save, x):
        save.y = y = kernels.of(x).relu(x)
        return y

    @staticmethod
    def backward(saved, dy):
        return kernels.of(dy).relu_backward(dy, saved.y)


class SiLU(Op):
    """y = x s, s = 1 / (1 + exp(-x));   dx = dy s (1 + x (1 - s))."""

    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save, x):
        save.x = x
        return kernels.of(x).silu(x)

    @staticmethod
    def backward(saved, dy):
        return kernels.of(dy).silu_backward(dy, saved.x)


class Tanh(Op):
    """y = tanh(x);   dx = dy (1 - y^2)."""

    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save, x):
        save.y = y = kernels.of(x).tanh(x)
        return y

    @staticmethod
    @analytic
    def backward(saved, dy):
        return kernels.of(dy).tanh_backward(dy, saved.y)


class Sigmoid(Op):
    """y = 1 / (1 + exp(-x));   dx = dy y (1 - y)."""

    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save, x):
        save.y = y = kernels.of(x).sigmoid(x)
        return y

    @staticmethod
    @analytic
    def backward(saved, dy):
        return kernels.of(dy).sigmoid_backward(dy, saved.y)
