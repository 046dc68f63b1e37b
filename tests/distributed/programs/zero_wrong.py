"""What people do wrong with ZeroRedundancyOptimizer: each case prints what this rank was told."""

import copy
import sys

import badak
from badak import distributed as dist
from badak.optim import LBFGS, Adam, ZeroRedundancyOptimizer

assert ZeroRedundancyOptimizer is dist.optim.ZeroRedundancyOptimizer
rank = "?"


def told(name, call):
    """Print the error of a call, in one line."""
    try:
        call()
        text = "no error"
    except Exception as error:
        text = " / ".join(f"{type(error).__name__}: {error}".splitlines())
    sys.stdout.write(f"{name} | {rank} | {text}\n")  # at once, next to the other rank


def step(opt):
    """One with gradients of 1."""
    for group in opt.param_groups:
        for p in group["params"]:
            p.grad = badak.ones_like(p)
    opt.step()


def loaded(state, groups=None):
    """The optimizer with this state."""
    opt.load_state_dict({"state": state, "param_groups": [{"lr": 0.1, "params": [0, 1]}] if groups is None else groups})


ps = [badak.zeros(3, requires_grad=True), badak.zeros(2, 2, requires_grad=True)]
told("before", lambda: ZeroRedundancyOptimizer(ps, Adam))
dist.init_process_group("mpi")
rank = dist.get_rank()
told("class", lambda: ZeroRedundancyOptimizer(ps, "Adam"))
told("LBFGS", lambda: ZeroRedundancyOptimizer(ps, LBFGS))
told("no optimizer", lambda: ZeroRedundancyOptimizer(ps, lambda groups: []))
told("overlap", lambda: ZeroRedundancyOptimizer(ps, Adam, overlap_with_ddp=True))
told("empty", lambda: ZeroRedundancyOptimizer([], Adam))
told("setting", lambda: ZeroRedundancyOptimizer(ps, Adam, lr=-1))
opt = ZeroRedundancyOptimizer(ps[:1], Adam)
told("group", lambda: opt.add_param_group({"params": ps[1:], "betas": (2, 2)}))
step(opt)
opt.add_param_group({"params": ps[1:]})
told("after", lambda: step(opt))
told("parameters", lambda: ZeroRedundancyOptimizer(ps[rank : rank + 1], Adam))
opt = ZeroRedundancyOptimizer(ps, Adam, lr=0.1 + 0.1 * rank)
told("rate", lambda: step(opt))
opt.param_groups[0]["lr"] = 0.1
told("early", opt.state_dict)
told("to", lambda: opt.consolidate_state_dict(2))
told("copy", lambda: copy.deepcopy(opt))
half = {"step": badak.tensor(1.0), "exp_avg": badak.zeros(3)}
told("foreign", lambda: loaded({0: half}))  # rank 1 has that parameter
told("stranger", lambda: loaded({7: {}}))
told("groups", lambda: loaded({}, []))
told("works", lambda: step(opt))
