"""higher, perceiver-pytorch, pypose and torchjd, as their pages use them."""

import higher
import pypose as pp
import torch
import torch.nn.functional as F
from perceiver_pytorch import PerceiverIO
from torch import nn
from torchjd.aggregation import MGDA, Mean
from torchjd.autojac import jac_to_grad, mtl_backward


def show(name, *tensors):
    print(name, *(f"{tuple(x.shape)} {x.detach().sum():.5f} {x.detach().abs().max():.5f}" for x in tensors))


def learn_to_learn():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
    meta = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(3):
        meta.zero_grad()
        inner = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(2):
            w, x, y = torch.randn(3, 1), torch.randn(8, 3), torch.randn(8, 3)
            with higher.innerloop_ctx(net, inner, copy_initial_weights=False) as (fast, steps):
                for _ in range(3):
                    steps.step(F.mse_loss(fast(x), x @ w))
                loss = F.mse_loss(fast(y), y @ w)
                loss.backward()
        meta.step()
        show("higher", loss)
    show("recurrent", higher.monkeypatch(nn.LSTM(3, 4))(torch.randn(2, 1, 3))[0])


def attend():
    torch.manual_seed(1)
    model = PerceiverIO(
        dim=16, queries_dim=8, logits_dim=5, depth=2, num_latents=4, latent_dim=12, cross_heads=1, latent_heads=2,
        cross_dim_head=8, latent_dim_head=8,
    )  # fmt: skip
    y = model(torch.randn(2, 12, 16), mask=torch.rand(2, 12) > 0.2, queries=torch.randn(6, 8))
    y.pow(2).sum().backward()
    show("perceiver", y, model.latents.grad)


class Inverse(nn.Module):
    def __init__(self, *size):
        super().__init__()
        self.pose = pp.Parameter(pp.randn_SE3(*size))

    def forward(self, x):
        return (self.pose @ x).Log()


def turn():
    torch.manual_seed(2)
    r = pp.randn_so3(2, requires_grad=True)
    (r.Exp() @ torch.randn(3)).sum().backward()
    show("pypose", r.grad)
    net, x = Inverse(2, 2), pp.randn_SE3(2, 2)
    optimizer = pp.optim.LM(net, strategy=pp.optim.strategy.Adaptive(damping=1e-6))
    print(f"{optimizer.step(x):.4f}", type(net.pose).__name__, [name for name, _ in net.named_parameters()])
    net, x = Inverse(3), pp.randn_SE3(3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(x).tensor().pow(2).sum()
        loss.backward()
        optimizer.step()
        show("SGD", loss, net.pose.tensor())
    imu = pp.module.IMUPreintegrator(torch.zeros(3), pp.identity_SO3(), torch.zeros(3))
    state = imu(torch.full((1, 10, 1), 0.01), torch.randn(1, 10, 3) * 0.1, torch.randn(1, 10, 3))
    show("imu", state["pos"], state["rot"].tensor(), state["vel"])


def descend_together():
    for aggregator in (Mean(), MGDA()):
        torch.manual_seed(3)
        shared, one, two = nn.Sequential(nn.Linear(10, 5), nn.ReLU(), nn.Linear(5, 3), nn.ReLU()), nn.Linear(3, 1), nn.Linear(3, 1)
        optimizer = torch.optim.SGD([*shared.parameters(), *one.parameters(), *two.parameters()], lr=0.1)
        for _ in range(3):
            features = shared(torch.randn(16, 10))
            losses = [F.mse_loss(head(features), torch.randn(16, 1)) for head in (one, two)]
            mtl_backward(losses, features=features)
            jac_to_grad(shared.parameters(), aggregator)
            optimizer.step()
            optimizer.zero_grad()
            show(type(aggregator).__name__, *losses)


learn_to_learn()
attend()
turn()
descend_together()
