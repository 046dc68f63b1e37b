"""Traces of modules as people write them: the graph, its code, the results of both."""

import math

import torch
import torch.nn.functional as F
from torch import fx, nn

torch.manual_seed(0)


def show(title, module, *inputs, **options):
    print(f"--- {title}")
    traced = fx.symbolic_trace(module, **options)
    traced.graph.lint()
    print(traced.graph)
    print(traced.code)
    expected = module(*inputs)
    for result in (traced(*inputs), fx.Interpreter(traced).run(*inputs)):
        flat = lambda x: x if isinstance(x, torch.Tensor) else x[0]
        assert torch.equal(flat(result), flat(expected))
    return traced


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3)
        self.conv2 = nn.Conv2d(4, 8, 3)
        self.drop = nn.Dropout(0.25)
        self.fc = nn.Linear(8 * 2 * 2, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(self.drop(x), 1)
        return F.log_softmax(self.fc(x), dim=1)


show("1 a network for digits", Net().eval(), torch.randn(2, 1, 8, 8))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True))

    def forward(self, x):
        out = self.body(x)
        out += x
        return out.relu()


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3)
        self.blocks = nn.ModuleList([Block(4), Block(4)])
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.fc(self.pool(x).flatten(1))


show("2 residual blocks", ResNet().eval(), torch.randn(2, 3, 6, 6))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.size()
        q, k, v = self.qkv(x).split(width, dim=2)
        q = q.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        k = k.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        v = v.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        y = F.softmax(scores, dim=-1) @ v
        return self.proj(y.transpose(1, 2).contiguous().view(batch, length, width))


show("3 attention", Attention(8, 2), torch.randn(2, 5, 8))


class Gates(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 3))
        self.register_buffer("scale", torch.full((3,), 2.0))

    def forward(self, input, factor=0.5, *, shift=1):
        gate = torch.sigmoid(input @ self.weight.t() + self.scale)
        return {"gate": gate, "out": (1 - gate) * input**2 - factor * input[:, None, 0] + shift, "rest": [input[..., 1:], -gate]}


print("--- 4 parameters, buffers, a dict as result")
traced = fx.symbolic_trace(Gates())
print(traced.code)
print(traced(torch.ones(2, 3))["out"])


@fx.wrap
def pick(x, n):
    return x[:n] if n > 1 else x


def function(a, b):
    c = pick(a, 2)
    d = torch.where(c > 0, c, torch.zeros(1)).sum(dim=-1, keepdim=True)
    return torch.stack([d, torch.clamp(b, min=0.0)[:2, :1]], dim=1), a.shape[0] + 1


show("5 a wrapped function, a constant", function, torch.randn(3, 2), torch.randn(3, 2))


def switched(x, double: bool, bias=None):
    if double:
        x = x * 2
    return x if bias is None else x + bias


traced = fx.symbolic_trace(switched, concrete_args={"double": True, "bias": None})
print("--- 6 concrete arguments")
print(traced.code)
print(traced(torch.ones(2), True, None))
for name, call in (("control flow", lambda x: x if x.sum() > 0 else -x), ("a loop", lambda x: [row for row in x])):
    try:
        fx.symbolic_trace(call)
    except fx.proxy.TraceError:
        print("TraceError:", name)


class Starred(nn.Module):
    def forward(self, a, *xs, flag=2, **kw):
        return a * 2 + xs[1] * flag + kw["z"]


print("--- 7 a proxy for all of *args, and of **kwargs")
for name, call in (("function", lambda *x, **k: x[0] + k["a"]), ("module", Starred())):
    traced = fx.symbolic_trace(call)
    print(name, traced.code, [f"{node.op} {node} {node.target}" for node in traced.graph.nodes])
print(fx.symbolic_trace(lambda *x, **k: x[0] + k["a"])(1, 2, a=3))
