"""Training runs with ZeroRedundancyOptimizer, the same program for torch over gloo and for badak over MPI: `zero.py FOLDER`.

Each rank writes its parameters after every one of them, those of the optimizer without ranks, and what was consolidated.
"""

import pickle
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
SHAPES = [(5, 7), (300, 80), (3,), (2, 3, 4), (1,), (64, 300), (), (11, 13)]  # some travel by themselves, some together


def parameters():
    """The same on every rank."""
    draw = np.random.default_rng(4)
    return [nn.Parameter(torch.tensor(draw.normal(0, 1, s).astype(np.float32))) for s in SHAPES]


def gradients(params, step, without=()):
    """The same on every rank, as after DistributedDataParallel."""
    draw = np.random.default_rng([5, step])
    for at, p in enumerate(params):
        g = torch.tensor(draw.normal(0, 1, tuple(p.shape)).astype(np.float32))
        p.grad = None if at in without else g


def two_groups(params, **own):
    """A group with settings of its own next to one with the defaults."""
    return [{"params": params[:3], **own}, {"params": params[3:]}]


def plain(x):
    """As NumPy has it."""
    return x.detach().numpy().copy() if isinstance(x, torch.Tensor) else x


def run(make, cls, *, without=(), schedule=False, added=False, resumed=False, **settings):
    """Six steps with ranks and without; the parameters of both, and the consolidated state."""
    made = {}
    for name in ("ranks", "alone"):
        params = parameters()
        groups = make(params[:-1] if added else params)
        if name == "ranks":
            opt = ZeroRedundancyOptimizer(groups, cls, **settings)
        else:
            opt = cls(groups, **settings)
        rate = torch.optim.lr_scheduler.StepLR(opt, 2, 0.5) if schedule else None
        for step in range(6):
            if added and step == 3:
                opt.add_param_group({"params": params[-1:], "lr": 0.003})
            if resumed and step == 3:
                if name == "ranks":
                    opt.consolidate_state_dict(to=size - 1)
                    saved = [opt.state_dict() if rank == size - 1 else None]
                    dist.broadcast_object_list(saved, src=size - 1)
                    opt = ZeroRedundancyOptimizer(make(params), cls, **settings)
                    opt.load_state_dict(saved[0])
                else:
                    saved, opt = [opt.state_dict()], cls(make(params), **settings)
                    opt.load_state_dict(saved[0])
            gradients(params, step, without)
            opt.step()
            if rate:
                rate.step()
        made[name] = [plain(p) for p in params]
        if name == "ranks":
            opt.consolidate_state_dict()
            state = opt.state_dict() if rank == 0 else {"state": {}, "param_groups": []}
        else:
            state = opt.state_dict()
        made[f"state of {name}"] = {n: {k: plain(v) for k, v in one.items()} for n, one in state["state"].items()}
        made[f"groups of {name}"] = [(g["params"], g["lr"], g.get("weight_decay")) for g in state["param_groups"]]
    return made


def with_ddp():
    """A model whose ranks have examples of their own."""
    made = {}
    for name in ("ranks", "alone"):
        torch.manual_seed(3)
        net = nn.Sequential(nn.Linear(6, 40), nn.Tanh(), nn.LayerNorm(40), nn.Linear(40, 4))
        draw = np.random.default_rng(8)
        with torch.no_grad():
            for p in net.parameters():
                p.copy_(torch.tensor(draw.normal(0, 0.3, tuple(p.shape)).astype(np.float32)))
        model = DDP(net)
        if name == "ranks":
            options = {"parameters_as_bucket_view": True, "lr": 0.01}
            opt = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, **options)
        else:
            opt = torch.optim.AdamW(model.parameters(), lr=0.01)
        for step in range(6):
            draw = np.random.default_rng([7, step, rank])
            x, y = torch.tensor(draw.normal(size=(5, 6)).astype(np.float32)), torch.tensor(draw.integers(0, 4, 5))

            def closure(model=model, opt=opt, x=x, y=y):
                opt.zero_grad()
                loss = nn.functional.cross_entropy(model(x), y)
                loss.backward()
                return loss

            opt.step(closure)
        made[name] = [plain(p) for p in net.parameters()]
    return made


O = torch.optim  # noqa: E741
results = {
    "SGD": run(lambda ps: ps, O.SGD, lr=0.1, momentum=0.9),
    "Adam": run(lambda ps: ps, O.Adam, lr=0.01),
    "AdamW": run(lambda ps: two_groups(ps, lr=0.1, weight_decay=0.0), O.AdamW, lr=0.01, amsgrad=True),
    "Adagrad": run(lambda ps: ps, O.Adagrad, lr=0.05),
    "RMSprop": run(lambda ps: two_groups(ps, lr=0.02), O.RMSprop, lr=0.01, momentum=0.5),
    "one number each": run(lambda ps: [{"params": ps[4:5]}, {"params": ps[6:7]}], O.Adam, without=(0, 1, 2, 3, 5, 7), lr=0.1),
    "no gradient": run(lambda ps: ps, O.AdamW, without=(1, 4), lr=0.01),
    "schedule": run(lambda ps: two_groups(ps, lr=0.1), O.SGD, schedule=True, lr=0.05, momentum=0.9, nesterov=True),
    "added": run(lambda ps: two_groups(ps, lr=0.02), O.Adam, added=True, lr=0.01),
    "resumed": run(lambda ps: two_groups(ps, lr=0.02), O.AdamW, resumed=True, lr=0.01),
    "DDP": with_ddp(),
}
for cls in (O.Adadelta, O.Adamax, O.ASGD, O.NAdam, O.RAdam, O.Rprop, O.Adafactor, O.Muon):
    results[f"bits of {cls.__name__}"] = run(lambda ps: [{"params": ps[:2]}, {"params": ps[7:]}], cls, lr=0.01)
Path(sys.argv[1], f"rank-{rank}.pickle").write_bytes(pickle.dumps(results))
