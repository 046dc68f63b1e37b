"""The meta device: shapes, dtypes and strides of tensors that have no memory."""

import copy
import pickle

import numpy
import torch
from torch import nn


def said(f):
    try:
        print(f())
    except Exception:
        print("raises")


def about(x):
    return tuple(x.shape), x.dtype, x.device, x.stride(), x.requires_grad


x = torch.empty(2, 3, device="meta")
print(x, torch.empty(2, dtype=torch.int64, device="meta"), nn.Parameter(x))
for f in (
    lambda: x.item(),
    lambda: x.tolist(),
    lambda: x.numpy(),
    lambda: x.cpu(),
    lambda: x.to("cpu"),
    lambda: bool(x[0, 0]),
    lambda: x.nonzero(),
    lambda: torch.zeros(2, 3).copy_(x),
    lambda: x + torch.ones(()),
    lambda: x[x > 0],
    lambda: x.copy_(torch.ones(3)),
    lambda: x.add_(torch.ones(2, 2, 3)),
    lambda: x.detach().is_meta,
    lambda: len(x),
    lambda: torch.equal(x, x),
    lambda: x.shape,
    lambda: x.dtype,
    lambda: x.device,
    lambda: x.stride(),
    lambda: x.t().stride(),
    lambda: x.t().is_contiguous(),
    lambda: x.numel(),
    lambda: x.dim(),
    lambda: x.ndim,
    lambda: x.element_size(),
    lambda: x.is_floating_point(),
    lambda: x @ x.t(),
    lambda: x.sum(),
    lambda: x.max(1),
    lambda: x.softmax(-1),
    lambda: torch.cat([x, x]),
    lambda: x.half(),
    lambda: x.long(),
    lambda: x.expand(4, 2, 3),
    lambda: x.view(-1),
    lambda: x.reshape(3, 2),
    lambda: x.permute(1, 0),
    lambda: x.unsqueeze(0),
    lambda: x[None, :, 1],
    lambda: x.topk(2),
    lambda: torch.zeros_like(x),
    lambda: torch.zeros_like(x, device="cpu"),
    lambda: x.new_zeros(3),
    lambda: torch.arange(4, device="meta"),
    lambda: torch.rand(2, device="meta"),
    lambda: torch.tensor([1, 2], device="meta"),
    lambda: torch.full((2,), 3, device="meta"),
    lambda: torch.ones(2).to("meta"),
    lambda: torch.ones(2).to(device="meta", dtype=torch.float64),
    lambda: torch.nn.functional.linear(x, torch.empty(4, 3, device="meta")),
    lambda: torch.where(x > 0, x, x),
    lambda: x.to(torch.float64),
    lambda: x.normal_(),
    lambda: x.zero_(),
    lambda: torch.linspace(0, 1, 3, device="meta"),
    lambda: torch.randperm(3, device="meta"),
    lambda: torch.tril(torch.ones(3, 3, device="meta")),
    lambda: copy.deepcopy(x),
    lambda: pickle.loads(pickle.dumps(x)),
    lambda: x.requires_grad,
    lambda: (nn.Parameter(x) * 2).requires_grad,
    lambda: x.squeeze_(),
    lambda: x.unsqueeze_(0).shape,
    lambda: list(x)[0],
    lambda: x.mean(dtype=torch.float64),
    lambda: x.argmax(-1),
    lambda: x.std(),
    lambda: torch.einsum("bij,bkj->bik", x, x),
    lambda: x.split(1, -1)[0],
    lambda: torch.stack([x, x]).transpose(0, 1),
    lambda: f"{x}",
    lambda: torch.Tensor.__add__(x, 1),
    lambda: nn.functional.scaled_dot_product_attention(*[torch.empty(1, 2, 3, 4, device="meta")] * 3),
    lambda: nn.functional.cross_entropy(torch.empty(4, 5, device="meta"), torch.zeros(4, dtype=torch.long, device="meta")),
    lambda: x.__setitem__(0, 3.0),
    lambda: x.masked_fill(x > 0, 1.0),
    lambda: torch.empty(10**12, device="meta").numel(),
    lambda: torch.empty(10**6, 10**6, device="meta").t().shape,
):
    said(f)
torch.manual_seed(0)
with torch.device("meta"):
    l = nn.Linear(3, 4)
    print(l.weight, l.bias.device)
    e = nn.Embedding(5, 6)
    n = nn.LayerNorm(6)
    seq = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    big = nn.Linear(100000, 100000)
    print(
        torch.zeros(2).device,
        torch.tensor(3).device,
        torch.arange(3).device,
        torch.from_numpy(numpy.ones(2)).device,
        torch.zeros_like(torch.empty(2, device="cpu")).device,
        torch.ones(2).cumsum(0).device,
    )
    enc = nn.TransformerEncoderLayer(8, 2, 16)
print(torch.rand(1), torch.get_default_device())
print(
    about(seq(torch.empty(5, 3, device="meta"))),
    enc(torch.empty(3, 2, 8, device="meta")).shape,
    about(e(torch.zeros(2, dtype=torch.long, device="meta"))),
    about(n(torch.empty(2, 6, device="meta"))),
)
print({k: (v.device, tuple(v.shape)) for k, v in seq.state_dict().items()}, sum(p.numel() for p in big.parameters()))
real = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
print(
    seq.load_state_dict(real.state_dict(), assign=True),
    seq[0].weight.device,
    torch.equal(seq(torch.ones(1, 3)), real(torch.ones(1, 3))),
    seq[0].weight.requires_grad,
    type(seq[0].weight).__name__,
)
m = nn.Linear(3, 2, device="meta").to_empty(device="cpu")
print(m.weight.device, m.weight.shape, type(m.weight).__name__, m.weight.requires_grad)
r = nn.Linear(2, 2).to("meta")
print(r.weight)
said(lambda: r.to("cpu"))
b = nn.BatchNorm1d(3, device="meta")
print(about(b(torch.empty(4, 3, device="meta"))), b.running_mean.device)
c = nn.Conv2d(3, 4, 3, device="meta")
print(c(torch.empty(2, 3, 8, 8, device="meta")).shape)
torch.set_default_device("meta")
print(torch.ones(2).device)
torch.set_default_device("cpu")
print(torch.ones(2).device)


class M(nn.Module):
    def __init__(s):
        super().__init__()
        s.w = nn.Parameter(torch.ones(3))
        s.register_buffer("f", 1.0 / (10000 ** (torch.arange(0, 6, 2).float() / 6)))
        s.l = nn.Linear(3, 3)
        nn.init.normal_(s.l.weight, std=0.02)

    def forward(s, x):
        return s.l(x) * s.w + s.f


with torch.device("meta"):
    m = M()
print(m.w.device, m.f.device, m.f.shape, about(m(torch.empty(2, 3, device="meta"))))
g = nn.LSTM(3, 4, device="meta")
print(g(torch.empty(5, 2, 3, device="meta"))[0].shape)
