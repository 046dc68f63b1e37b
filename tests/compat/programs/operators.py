"""Operators that a program registers by name."""

import torch
from torch.library import custom_op


def said(f):
    try:
        print(f())
    except Exception:
        print("raises")


@custom_op("mylib::scaled_sin", mutates_args=())
def scaled_sin(x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
    """scale sin x."""
    return torch.from_numpy(__import__("numpy").sin(x.detach().numpy())) * scale


@scaled_sin.register_fake
def _(x, scale=2.0):
    return torch.empty_like(x)


x = torch.linspace(0, 1, 4, requires_grad=True)
y = scaled_sin(x)
print(y.requires_grad, y.detach())
said(lambda: y.sum().backward())


def setup_context(ctx, inputs, output):
    x, scale = inputs
    ctx.save_for_backward(x)
    ctx.scale = scale


def backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return grad * x.cos() * ctx.scale, None


scaled_sin.register_autograd(backward, setup_context=setup_context)
scaled_sin(x, scale=3.0).sum().backward()
print(x.grad, torch.ops.mylib.scaled_sin(x.detach(), 1.0), torch.ops.mylib.scaled_sin.default(x).detach())
with torch.no_grad():
    print(scaled_sin(x).requires_grad)

torch.library.define("mylib::fill", "(Tensor x, Tensor(a!) y, *, int n=3) -> Tensor")


@torch.library.impl("mylib::fill", "cpu")
def fill(x, y, *, n=3):
    y.fill_(n)
    return x * n


z = torch.zeros(2)
print(torch.ops.mylib.fill(torch.ones(2), z), z, torch.ops.mylib.fill(torch.ones(2), z, n=5), z)
said(lambda: torch.ops.mylib.nothing)
said(lambda: torch.ops.nowhere.nothing(1))
print(hasattr(torch.ops, "mylib"), hasattr(torch.ops.mylib, "fill"), hasattr(torch.ops.mylib, "no"))
said(lambda: custom_op("no_namespace", lambda x: x, mutates_args=()))


@custom_op("mylib::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    """x itself, which is not allowed."""
    return x


said(lambda: same(torch.ones(1)))


@custom_op("mylib::two", mutates_args=())
def two(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A sum and a product."""
    return x + y, x * y


torch.library.register_autograd(
    "mylib::two",
    lambda ctx, a, b: (a + b * ctx.saved_tensors[1], a + b * ctx.saved_tensors[0]),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)
a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
s, p = two(a, b)
(s + 2 * p).backward()
print(s.item(), p.item(), a.grad, b.grad)
lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("halved(Tensor x) -> Tensor")
lib.impl("halved", lambda x: x / 2, "CompositeImplicitAutograd")
w = torch.ones(2, requires_grad=True)
torch.ops.mylib.halved(w).sum().backward()
print(w.grad)
