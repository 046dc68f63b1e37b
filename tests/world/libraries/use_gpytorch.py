"A small use of GPyTorch, printed: the same with PyTorch as with badak."

import gpytorch
import torch

torch.manual_seed(0)


def show(*values):
    for x in values:
        print([round(float(v), 4) + 0.0 for v in x.detach().double().flatten()[:8].tolist()] if isinstance(x, torch.Tensor) else x)


x = torch.linspace(0, 1, 20)
y = torch.sin(x * 6) + 0.1 * torch.randn(20)


class GP(gpytorch.models.ExactGP):
    def __init__(s, x, y, l):
        super().__init__(x, y, l)
        s.mean_module = gpytorch.means.ConstantMean()
        s.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(s, x):
        return gpytorch.distributions.MultivariateNormal(s.mean_module(x), s.covar_module(x))


l = gpytorch.likelihoods.GaussianLikelihood()
m = GP(x, y, l)
m.train()
l.train()
o = torch.optim.Adam(m.parameters(), 0.1)
mll = gpytorch.mlls.ExactMarginalLogLikelihood(l, m)
for _i in range(10):
    o.zero_grad()
    loss = -mll(m(x), y)
    loss.backward()
    o.step()
    show(loss)
m.eval()
l.eval()
with torch.no_grad():
    p = l(m(torch.tensor([0.25, 0.6])))
    show(p.mean, p.variance)
