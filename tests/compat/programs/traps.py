"""What public Transformer code leans on, one fact a line: `name | value`. Run with PyTorch it says what PyTorch does."""

import copy
import inspect
import math

import numpy as np
import torch
from torch import nn

FACTS = {}
x = torch.ones(2, 3, requires_grad=True)
i = torch.arange(3)
mask = torch.tensor([True, False, True])


def fact(function):
    FACTS[function.__doc__] = function
    return function


def facts(**lines):
    for name, function in lines.items():
        FACTS[name.replace("_", " ")] = function


def kind(t):
    return t.dtype, tuple(t.shape), t.requires_grad


def raised(function, kind=Exception):
    """What function gives, or that it raises an error which is a `kind`."""
    try:
        return function()
    except kind as error:
        return "raises " + getattr(kind, "__name__", "an error") if kind is not Exception else f"{type(error).__name__}: {error}"


facts(
    feature_sdpa=lambda: hasattr(nn.functional, "scaled_dot_product_attention"),
    feature_fused=lambda: "fused" in inspect.signature(torch.optim.AdamW).parameters,
    feature_cuda=lambda: (torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.is_bf16_supported()),
    feature_mps=lambda: (hasattr(torch.backends, "mps"), torch.backends.mps.is_available()),
    feature_version=lambda: (torch.__version__ >= "2.0", torch.__version__ >= "2.8", torch.__version__ < "2.10"),
    feature_cuda_version=lambda: torch.version.cuda,
    feature_unknown=lambda: (hasattr(torch, "no_such_name"), hasattr(nn, "NoSuchLayer")),
    arange_times_float=lambda: kind(torch.arange(0, 8, 2) * -(math.log(1e4) / 8)),
    int_divided=lambda: kind(i / 2),
    int_floor_divided=lambda: kind(i // 2),
    rpow=lambda: kind(10000 ** (torch.arange(0, 4, 2) / 4)),
    pow_of_float=lambda: kind(torch.pow(10000.0, i)),
    one_over=lambda: kind(1 / (i + 1)),
    one_minus_float=lambda: (1 - torch.ones(2)).tolist(),
    one_minus_bool=lambda: raised(lambda: 1 - mask, RuntimeError),
    tensor_by_numpy_scalar=lambda: (kind(x / np.sqrt(4)), kind(np.float64(2.0) * x), kind(np.float32(2) * i)),
    constructors=lambda: [kind(torch.tensor(v))[:2] for v in ([1, 2], [1.0], [True], np.float64(1), np.ones(2), 3)],
    legacy=lambda: [kind(t)[:2] for t in (torch.FloatTensor([64]), torch.FloatTensor(np.ones(2)), torch.LongTensor(([1], [2])))],
    legacy_sizes=lambda: (
        tuple(torch.Tensor(2, 3).shape),
        tuple(torch.Tensor([2, 3]).shape),
        torch.Tensor([2, 3]).tolist(),
    ),
    masks_of_two_types=lambda: [(mask & torch.ones(3, dtype=d)).dtype for d in (torch.uint8, torch.int32, torch.bool)],
    bool_arithmetic=lambda: [(mask + torch.ones(3, dtype=d)).dtype for d in (torch.bool, torch.uint8, torch.int64)],
    bool_sum=lambda: kind(mask.sum())[:2],
    uint8_mask=lambda: raised(lambda: torch.ones(3).masked_fill(mask.byte(), 0.0), RuntimeError),
    uint8_index=lambda: torch.ones(3)[mask.byte()].shape,
    outer=lambda: kind(torch.outer(i, torch.ones(2))),
    all_hidden=lambda: torch.softmax(torch.full((2,), float("-inf")), 0).isnan().all().item(),
    log_of_tril=lambda: torch.log(torch.tril(torch.ones(2, 2))).tolist(),
    int_mean=lambda: raised(lambda: i.mean(), RuntimeError),
    std_of_one=lambda: str(torch.ones(1).std()),
)


@fact
def leaf_in_place():
    "in place on a leaf"
    return raised(lambda: x.add_(1), RuntimeError)


@fact
def saved_in_place():
    "in place on a saved tensor"
    a = torch.ones(3, requires_grad=True)
    b = a.exp()
    c = b * b
    b.add_(1)
    return raised(lambda: c.sum().backward(), RuntimeError)


@fact
def legal_in_place():
    "in place where it is legal"
    w = torch.ones(3, requires_grad=True)
    y = nn.functional.linear(torch.ones(2, 3), w.expand(4, 3))
    y += 1
    y *= 0.5
    y -= 1e4 * (1 - torch.ones(2, 4))
    y.masked_fill_(torch.zeros(2, 4).bool(), -1e9)
    y.sum().backward()
    return w.grad.tolist()


@fact
def slices():
    "writes to slices"
    pe = torch.zeros(4, 6)
    position, div = torch.arange(4.0).unsqueeze(1), torch.tensor([1.0, 0.1, 0.01])
    pe[:, 0::2] = torch.sin(position * div)
    pe[:, 1::2] = torch.cos(position * div)
    pe[2, 3] = 7
    logits = torch.tensor([[1.0, 3.0, 2.0]])
    logits[logits < torch.topk(logits, 2)[0][:, [-1]]] = -float("inf")
    return pe.sum().item().__round__(4), logits.tolist(), torch.zeros(3).index_fill_(0, torch.tensor(1), 2.0).tolist()


@fact
def flags():
    "requires_grad of views and buffers"
    pe, t = torch.zeros(1, 4, 2), torch.zeros(2) > 1
    t.requires_grad = False
    return pe[:, :2].requires_grad_(False).requires_grad, t.requires_grad, x.data.add_(0).requires_grad


facts(
    old_add_=lambda: (
        torch.ones(2).add_(0.5, torch.ones(2)).tolist(),
        torch.ones(2).add_(torch.ones(2), alpha=-2).tolist(),
    ),
    old_addcmul_=lambda: torch.ones(2).addcmul_(0.5, torch.ones(2), torch.ones(2)).tolist(),
)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False), nn.Linear(4, 5, bias=False)
        self.a.weight = self.b.weight
        self.c.weight = self.a.weight
        self.register_buffer("mask", torch.tril(torch.ones(2, 2)))
        self.register_buffer("cache", None, persistent=False)
        self.plain, self.f = torch.ones(2), lambda y: self.b(y)
        self.parts = nn.ModuleDict(dict(wte=nn.Identity()))

    def forward(self, *args, query, key=None):
        return self.f(query)


@fact
def modules():
    "a module with everything"
    m = Shared()
    m.device = "cpu"
    twin = copy.deepcopy(m)
    return (
        len(list(m.parameters())),
        sorted(m.state_dict()),
        m.parts.wte is m.parts["wte"],
        twin.a.weight is twin.c.weight,
        twin.a.weight is m.a.weight,
        tuple(m(query=torch.ones(1, 4)).shape),
        [type(child).__name__ for child in m.double().children()],
        m.plain.dtype,
    )


@fact
def subclasses():
    "subclasses of layers"

    class Tokens(nn.Embedding):
        def __init__(self, d):
            super().__init__(3, d, padding_idx=0)

    class Half(nn.LayerNorm):
        def forward(self, y):
            return super().forward(y.float()).type(y.dtype)

    seen = []
    net = nn.Sequential(Tokens(4), Half(4))
    net.apply(lambda m: seen.append(type(m).__name__))
    return seen, net(torch.tensor([[0, 2]])).shape, net[0].weight[0].tolist()


facts(
    tensor_for_parameter=lambda: raised(lambda: setattr(nn.Linear(2, 2), "weight", torch.ones(2, 2)), TypeError),
    module_too_early=lambda: raised(
        lambda: type("M", (nn.Module,), {"__init__": lambda s: setattr(s, "l", nn.Linear(1, 1))})(), AttributeError
    ),
    unknown_attribute=lambda: raised(lambda: nn.Linear(2, 2).foo, AttributeError),
    from_pretrained=lambda: nn.Embedding.from_pretrained(torch.ones(2, 3)).weight.requires_grad,
    parameter_list=lambda: len(nn.ParameterList([nn.Parameter(torch.ones(1))]).append(None)),
    init_of_data=lambda: (lambda l: (nn.init.constant_(l.weight.data, 3.0), l.weight.tolist())[1])(nn.Linear(1, 2)),
    vector_xavier=lambda: raised(lambda: nn.init.xavier_uniform_(torch.ones(3)), ValueError),
    losses=lambda: [
        round(f.item(), 5)
        for f in (
            nn.NLLLoss(ignore_index=0)(torch.log_softmax(torch.arange(12.0).view(1, 4, 3), 1), torch.tensor([[0, 2, 3]])),
            nn.KLDivLoss(reduction="batchmean")(torch.log(torch.full((2, 3), 1 / 3)), torch.eye(3)[:2]),
            nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=-100)(torch.eye(3), torch.tensor([0, 1, -100])),
            nn.CrossEntropyLoss(reduction="none")(torch.arange(6.0).view(1, 3, 2), torch.tensor([[0, 2]])).sum(),
        )
    ],
    scatter_int=lambda: torch.zeros(2, 3).scatter(1, torch.tensor([[0], [1]]), 1).tolist(),
    empty_nonzero=lambda: torch.ones(3, 2).index_fill_(0, torch.nonzero(i > 5).squeeze(), 0.0).sum().item(),
)


@fact
def protocols():
    "tensors as Python numbers"
    t = torch.tensor(3)
    return (
        "%d" % t,
        "%.2f%%" % torch.tensor(2.5),
        f"{torch.tensor(1.5):.4f}",
        [1, 2, 3, 4][t],
        list(range(t)),
        np.arange(10)[t : t + 3].tolist(),
        float(torch.tensor([1.5])),
        max(0, t).item(),
        bool(torch.tensor(2) in i),
        raised(lambda: f"{torch.tensor([1.5]):.3f}", TypeError),
    )


@fact
def sizes():
    "shapes"
    s = x.size()
    picked = torch.tensor([[1.0, 3.0], [5.0, 2.0]]).max(1)
    return (
        s,
        type(s[:-1]).__name__,
        s[:-1] + (-1, 2),
        x.view(*s, -1).shape,
        x.detach().view([3, 2]).shape,
        torch.ones(2).repeat([2, 1]).shape,
        s == (2, 3),
        picked.values.tolist(),
        picked.indices.tolist(),
        picked[1].dtype,
    )


facts(
    devices=lambda: (
        str(torch.device("cuda:0")),
        torch.device("cuda:1").index,
        torch.device("cpu") == "cpu",
        repr(x.device),
    ),
    no_gpu=lambda: raised(lambda: torch.zeros(1).to("cuda"), (RuntimeError, AssertionError)),
    seeds_of_gpus=lambda: (torch.cuda.manual_seed(1), torch.cuda.manual_seed_all(1), torch.cuda.empty_cache()),
    types=lambda: (torch.ones(2).type(), torch.ones(2).type(torch.ByteTensor).dtype, torch.ones(2).type_as(i).dtype),
    prints=lambda: [str(t) for t in (torch.tensor([[1.0, 2.5], [3.0, -4.0]]), i, mask, torch.tensor(1.5), x * 2)],
    layers=lambda: [repr(m) for m in (nn.Linear(2, 3), nn.LayerNorm(4), nn.GELU(), nn.MultiheadAttention(4, 2), nn.Dropout(0.1))],
)


@fact
def optimizers():
    "optimizers and schedules"

    class Half(torch.optim.lr_scheduler._LRScheduler):
        def get_lr(self):
            return [base * 0.5**self.last_epoch for base in self.base_lrs]

    class Plain(torch.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, dict(lr=lr))

        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    if len(self.state[p]) == 0:
                        self.state[p]["step"] = 0
                    self.state[p]["step"] += 1
                    p.data.add_(p.grad, alpha=-group["lr"])

    p = nn.Parameter(torch.ones(2))
    o = Plain([p], 0.1)
    s = Half(o)
    (p * p).sum().backward()
    o.step()
    s.step()
    o.zero_grad()
    first = torch.optim.lr_scheduler.LambdaLR(torch.optim.SGD([p], 0.1), lambda step: 0.5).get_last_lr()
    return p.tolist(), o.param_groups[0]["lr"], p.grad, first, raised(lambda: torch.optim.SGD([], 0.1), ValueError)


@fact
def loaders():
    "data loading"
    rows = torch.utils.data.TensorDataset(torch.arange(6), torch.arange(6.0))
    endless = torch.utils.data.RandomSampler(rows, replacement=True, num_samples=int(1e10))
    torch.manual_seed(0)
    batch = next(iter(torch.utils.data.DataLoader(rows, batch_size=4, sampler=endless, pin_memory=True)))
    g = torch.Generator().manual_seed(1)
    return [part.tolist() for part in batch], torch.randperm(4, generator=g).tolist(), torch.randint(9, (3,)).tolist()


@fact
def random_numbers():
    "random numbers of a seed"
    torch.manual_seed(1337)
    drop = nn.Dropout(0.5)(torch.ones(8)).tolist()
    return drop, torch.rand(2).tolist(), torch.randn(3).tolist(), torch.multinomial(torch.ones(5), 3).tolist()


@fact
def amp():
    "mixed precision that is switched off"
    scaler = torch.cuda.amp.GradScaler(enabled=False)
    p = nn.Parameter(torch.ones(1))
    o = torch.optim.SGD([p], 0.5)
    with torch.amp.autocast(device_type="cpu", enabled=False):
        loss = (p * p).sum()
    scaler.scale(loss).backward()
    scaler.unscale_(o)
    scaler.step(o)
    scaler.update()
    return p.item(), scaler.get_scale(), scaler.state_dict()


@fact
def graph_mistakes():
    "mistakes with graphs"
    loss = (x * x).sum()
    loss.backward()
    return (
        raised(lambda: loss.backward(), RuntimeError),
        raised(lambda: (x * 2).backward(), RuntimeError),
        raised(lambda: torch.ones(1).backward(), RuntimeError),
        raised(lambda: x.numpy(), RuntimeError),
        raised(lambda: copy.deepcopy(x * 2), RuntimeError),
    )


for name, function in FACTS.items():
    print(name, "|", raised(function))
