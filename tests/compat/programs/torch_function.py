import torch
from torch.overrides import TorchFunctionMode, has_torch_function, is_tensor_like


class Sub(torch.Tensor):
    pass


class Log(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in (torch.matmul, torch.Tensor.matmul, torch.add, torch.Tensor.add, torch.stack):
            return ("duck", func.__name__, len(args))
        return NotImplemented


x = torch.arange(6.0).reshape(2, 3).as_subclass(Sub)
print(
    type(x).__name__,
    type(x + 1).__name__,
    type(torch.exp(x)).__name__,
    type(x.sum(0)).__name__,
    type(x[0]).__name__,
    type(x.max(0)).__name__,
    type(x.max(0).values).__name__,
)
y = torch.ones(3, requires_grad=True).as_subclass(Log)
z = (y * 2).exp().sum()
print(sorted(set(Log.calls)))
torch.Tensor.backward(z) if 0 else z.backward()
d = Duck()
t = torch.ones(2, 2)
print(torch.matmul(t, d), torch.matmul(d, t), t @ d, t + d, torch.stack([t, d]))
try:
    torch.exp(d)
except TypeError:
    print("TypeError")


class M(TorchFunctionMode):
    def __init__(s):
        s.seen = []

    def __torch_function__(s, func, types, args=(), kwargs=None):
        s.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


with M() as m:
    torch.add(t, 1)
    torch.nn.functional.relu(t)
    t.mul(2)
print(m.seen, has_torch_function([t]), has_torch_function([d]), is_tensor_like(d))
p = torch.nn.Parameter(torch.ones(2))
print(type(p * 2).__name__)
s = torch.Tensor._make_subclass(Sub, torch.ones(2), True)
print(type(s).__name__, s.requires_grad, s.is_leaf)


class Keep(Sub):
    def __new__(cls, x, extra):
        o = torch.Tensor._make_subclass(cls, x)
        o.extra = extra
        return o

    def __init__(self, x, extra):
        pass


k = Keep(torch.ones(2), 5)
print(k.extra, type(k + 1).__name__, torch.equal(k, torch.ones(2)))
