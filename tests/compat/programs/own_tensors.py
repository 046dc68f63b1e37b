import torch
from torch import nn
from torch.overrides import TorchFunctionMode

torch.manual_seed(0)


class Named(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        made = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(made, cls):
            made.label = "result"
        return made


x = torch.arange(1.0, 5.0).reshape(2, 2).as_subclass(Named)
x.label = "given"
plain = torch.Tensor.as_subclass(x, torch.Tensor)
print(type(plain).__name__, hasattr(plain, "label"), x[0].label)
i = torch.arange(4).as_subclass(Named)
Named.calls.clear()
for made in (x + 1, 1 - x, 2 / x, x // 2, x % 2, x**2, 2**x, x < 1, x >= 1, x == 1, ~i, i & 1, i << 1, x[0], -x, x @ x):
    pass
print(Named.calls)


class Circle(torch.Tensor):
    """Angles: what is added to them stays within a turn."""

    @staticmethod
    def __new__(cls, data, requires_grad=False):
        return torch.Tensor._make_subclass(cls, data, requires_grad)

    def add_(self, other, *, alpha=1):
        plain = torch.Tensor.as_subclass(self, torch.Tensor)
        return self.copy_(torch.remainder(plain + alpha * other, 6.0))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.angle = nn.Parameter(Circle(torch.tensor([0.5, 5.5])))
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self):
        return ((torch.Tensor.as_subclass(self.angle, torch.Tensor) * self.scale) * torch.tensor([3.0, -4.0])).sum()


for options in ({}, {"momentum": 0.9}, {"weight_decay": 0.1}):
    model = Model()
    print([(name, type(p).__name__, isinstance(p, nn.Parameter)) for name, p in model.named_parameters()])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, **options)
    for _ in range(3):
        optimizer.zero_grad()
        model().backward()
        optimizer.step()
        print([round(a, 4) for p in model.parameters() for a in p.tolist()])


class Watch(TorchFunctionMode):
    def __init__(self):
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


with Watch() as watch:
    a = torch.ones(2, 3)
    b = torch.cat([a, torch.zeros(1, 3), torch.full((1, 3), 2.0)])
    torch.randn(2), torch.arange(3), torch.tensor([1.0]), torch.eye(2), torch.linspace(0, 1, 2), torch.randint(0, 2, (2,))
print(watch.seen, b.shape)

y = torch.relu(nn.Linear(3, 4)(torch.ones(2, 3)))
w = torch.eye(8).view(8, 2, 4)
layer = nn.GRU(4, 2)
out = layer(y[None])[0]
g = torch.vmap(lambda dy: torch.autograd.grad(out, list(layer.parameters()), dy), chunk_size=4)(torch.eye(4).view(4, 1, 2, 2))
print([tuple(each.shape) for each in g], [round(each.sum().item(), 4) for each in g])

torch.library.impl("own::twice", ["CPU"])(lambda t: t * 2)
torch.library.define("own::twice", "(Tensor t) -> Tensor")
print(torch.ops.own.twice(torch.ones(2)))


class Kept(torch.Tensor):
    pass


x = torch.rand(2, 3, 4).as_subclass(Kept)
for layer in (nn.LSTM(4, 2), nn.GRU(4, 2), nn.RNN(4, 2)):
    print(type(layer)(4, 2).mode, [type(made).__name__ for made in (layer(x)[0], *layer(x)[1])])
for layer in (nn.LSTMCell(4, 2), nn.GRUCell(4, 2), nn.RNNCell(4, 2)):
    print(type(layer).__name__, [type(made).__name__ for made in layer(x[0])])
print([type(made).__name__ for made in nn.MultiheadAttention(4, 2)(x, x, x)])
with Watch() as watch:
    nn.GRU(4, 2)(x), nn.MultiheadAttention(4, 2)(x, x, x)
print([name for name in watch.seen if name in ("gru", "multi_head_attention_forward")])
print(type(nn.Parameter.__torch_function__(torch.exp, (), (x,))).__name__)
