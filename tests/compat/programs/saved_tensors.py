import torch
from torch.autograd.function import once_differentiable
from torch.autograd.graph import (
    disable_saved_tensors_hooks,
    get_gradient_edge,
    register_multi_grad_hook,
    save_on_cpu,
    saved_tensors_hooks,
)

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
packed = []
with saved_tensors_hooks(lambda t: (packed.append(tuple(t.shape)), t.detach().clone())[1], lambda t: t * 1):
    y = (x.exp() * x).sum() + torch.nn.functional.softmax(x, 0)[0]
(g,) = torch.autograd.grad(y, x, create_graph=True)
print(g.detach().numpy().round(4).tolist(), len(packed) > 0)
print(torch.autograd.grad(g.sum(), x)[0].numpy().round(3).tolist())
with saved_tensors_hooks(lambda t: t, lambda t: t * 2):
    z = (x * x.detach()).sum()
z.backward()
print(x.grad.tolist())
x.grad = None
with save_on_cpu():
    torch.nn.functional.layer_norm(x * 2, (3,)).pow(2).sum().backward()
print([round(v, 4) + 0.0 for v in x.grad.tolist()])


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        return 2 * x * dy


print(torch.autograd.grad(Double.apply(x).sum(), x)[0].tolist())
(g,) = torch.autograd.grad(Double.apply(x).sum(), x, create_graph=True)
try:
    g.sum().backward()
except RuntimeError as e:
    print(str(e).splitlines()[0][:60])
with saved_tensors_hooks(lambda t: ("kept", t), lambda p: p[1] * 3):
    w = Double.apply(x).sum()
print(torch.autograd.grad(w, x)[0].tolist())
try:
    with disable_saved_tensors_hooks("not here"), saved_tensors_hooks(lambda t: t, lambda t: t):
        pass
except RuntimeError as e:
    print(str(e).splitlines()[0])
a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
seen = []
h = register_multi_grad_hook([a, b], lambda gs: seen.append([g.tolist() for g in gs]))
(a * 2 + b * 3).sum().backward()
h.remove()
(a + b).sum().backward()
print(seen)
print(get_gradient_edge(a).output_nr)
from torch import nn
from torch.nn.modules import module as M

log = []
m = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
hs = [
    M.register_module_forward_pre_hook(lambda m, a: log.append(("pre", type(m).__name__))),
    M.register_module_forward_hook(lambda m, a, o: log.append(("fwd", type(m).__name__))),
    M.register_module_full_backward_hook(lambda m, gi, go: log.append(("bwd", type(m).__name__))),
]
m(torch.ones(1, 2, requires_grad=True)).sum().backward()
for h in hs:
    h.remove()
m(torch.ones(1, 2))
print(log)
h = M.register_module_parameter_registration_hook(lambda m, n, p: log.append(n))
log.clear()
h2 = M.register_module_module_registration_hook(lambda m, n, p: log.append(n))
nn.Sequential(nn.Linear(2, 2))
h.remove()
h2.remove()
nn.Linear(1, 1)
print(log)
