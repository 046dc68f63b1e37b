"""Flows of zuko, manifolds of geoopt, torchsde's integrators, kornia's pictures, e3nn's products of tensors."""

import geoopt
import kornia as K
import torch
import torchsde
import zuko
from e3nn import o3


def show(name, *numbers):
    print(name, *(f"{float(number):.4g}" for number in numbers))


torch.manual_seed(0)
x, c = torch.randn(5, 3), torch.randn(5, 2)
for family in ("MAF", "NSF", "NICE", "GF"):
    torch.manual_seed(1)
    options = {"hidden_features": (16,)} if family in ("MAF", "NSF") else {}
    flow = getattr(zuko.flows, family)(3, 2, transforms=2, **options)
    loss = -flow(c).log_prob(x).mean()
    loss.backward()
    show(family, loss, sum(p.grad.abs().sum() for p in flow.parameters() if p.grad is not None))

ball = geoopt.PoincareBall(c=1.0)
a, b = ball.expmap0(torch.randn(2, 3) * 0.1)
show("distance", ball.dist(a, b), *ball.mobius_add(a, b))
start = torch.linalg.qr(torch.randn(5, 3))[0]
turn = geoopt.ManifoldParameter(start, manifold=geoopt.Stiefel())
optimizer, matrix = geoopt.optim.RiemannianAdam([turn], lr=1e-2), torch.randn(5, 5)
for _ in range(4):
    optimizer.zero_grad()
    loss = (turn.T @ matrix @ turn).trace()
    loss.backward()
    optimizer.step()
show("trace", loss, (turn.T @ turn).detach().trace())


class Process(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.drift, self.noise = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return torch.sigmoid(self.noise(y))


process = Process()
motion = torchsde.BrownianInterval(t0=0.0, t1=1.0, size=(3, 2), entropy=5)
ys = torchsde.sdeint_adjoint(process, torch.ones(3, 2), torch.linspace(0, 1, 3), bm=motion, dt=0.1, method="milstein")
ys.sum().backward()
show("process", *ys[-1].flatten(), process.drift.weight.grad.sum())

picture = torch.rand(1, 3, 16, 16, generator=torch.Generator().manual_seed(2))
show("blur", K.filters.gaussian_blur2d(picture, (3, 3), (1.0, 1.0)).sum(), K.filters.sobel(picture).sum())
show("turned", K.geometry.rotate(picture, torch.tensor([30.0])).sum(), K.filters.median_blur(picture, (3, 3)).sum())
show("opened", K.morphology.dilation(picture, torch.ones(3, 3)).sum(), K.enhance.equalize(picture).sum())

irreps = o3.Irreps("4x0e + 2x1o")
rows = irreps.randn(5, -1)
product = o3.FullyConnectedTensorProduct(irreps, irreps, "2x0e + 1x1o")
made = product(rows, rows)
made.sum().backward()
show("product", made.sum(), product.weight.grad.abs().sum(), o3.wigner_3j(1, 1, 1).abs().sum())
