"A small use of Pyro, printed: the same with PyTorch as with badak."

import pyro
import pyro.distributions as D
import torch
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal

torch.manual_seed(0)


def show(*values):
    for x in values:
        print([round(float(v), 4) + 0.0 for v in x.detach().double().flatten()[:8].tolist()] if isinstance(x, torch.Tensor) else x)


pyro.set_rng_seed(0)
data = torch.randn(20) + 3


def model():
    mu = pyro.sample("mu", D.Normal(0.0, 5.0))
    s = pyro.sample("s", D.LogNormal(0.0, 1.0))
    with pyro.plate("d", 20):
        pyro.sample("x", D.Normal(mu, s), obs=data)


g = AutoNormal(model)
svi = SVI(model, g, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
for _i in range(10):
    show(round(svi.step(), 3))
k = MCMC(NUTS(model), num_samples=5, warmup_steps=5, disable_progbar=True)
k.run()
show(k.get_samples()["mu"])
