"""Communication hooks where PyTorch has no judge: gradients that only some ranks have, join, one rank, and wrong use."""

import sys

from badak.nn.parallel import DistributedDataParallel

import badak
from badak import distributed as dist
from badak import nn
from badak.distributed.algorithms.ddp_comm_hooks import default_hooks
from badak.distributed.futures import Future, collect_all, wait_all

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()


def told(name, call):
    """Print what a call gives, or its error, in one line."""
    try:
        text = call()
    except Exception as error:
        text = " / ".join(f"{type(error).__name__}: {error}".splitlines())
    sys.stdout.write(f"{name} | {rank} | {text}\n")  # at once, next to the other rank


class Two(nn.Module):
    """Two layers, the second on demand."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.never = nn.Linear(2, 1, bias=False), nn.Linear(1, 1, bias=False), nn.Linear(1, 1)
        with badak.no_grad():
            self.first.weight.fill_(1.0)
            self.second.weight.fill_(1.0)

    def forward(self, x, both):
        x = self.first(x)
        return self.second(x) if both else x


def some():
    """The gradients where only rank 0 uses the second layer."""
    model = DistributedDataParallel(Two())
    model.register_comm_hook(None, default_hooks.allreduce_hook)
    model(badak.ones(1, 2) * (rank + 1), rank == 0).sum().backward()
    net = model.module
    return net.first.weight.grad.tolist(), net.second.weight.grad.tolist(), net.never.weight.grad


def uneven():
    """Weights after join, where rank 0 has one batch and rank 1 two."""
    model = DistributedDataParallel(Two(), bucket_cap_mb=1e-6)
    model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    with model.join():
        for _ in range(1 + rank):
            model.zero_grad()
            model(badak.ones(1, 2), True).sum().backward()
            with badak.no_grad():
                model.module.first.weight -= 0.5 * model.module.first.weight.grad
    return model.module.first.weight.tolist()


def alone():
    """A group of one rank: the hook counts all the same."""
    groups = [dist.new_group([number]) for number in range(size)]
    model = DistributedDataParallel(Two(), process_group=groups[rank])
    model.register_comm_hook(2.0, lambda state, bucket: Future._of(lambda: bucket.buffer() * state, lambda: True))
    with model.join():
        model(badak.ones(1, 2), False).sum().backward()
    return model.module.first.weight.grad.tolist()


def hooked(hook, twice=False):
    """One backward with this hook."""
    model = DistributedDataParallel(Two())
    model.register_comm_hook(None, hook)
    if twice:
        model.register_comm_hook(None, hook)
    model(badak.ones(1, 2), True).sum().backward()


def given(value):
    """A hook that gives this."""

    def hook(state, bucket):
        done = Future()
        done.set_result(value(bucket))
        return done

    return hook


def futures():
    """What torch.futures promises."""
    first, second, seen = Future(), Future(), []
    after = first.then(lambda done: done.value() + 1)
    after.add_done_callback(lambda done: seen.append(done.value()))
    both = collect_all([first, second])
    before = (first.done(), after.done(), both.done())
    first.set_result(1)
    second.set_exception(ValueError("no"))
    return before, seen, after.wait(), wait_all([first, after]), [each.done() for each in both.wait()]


def failed():
    """An error in a callback comes with wait()."""
    first = Future()
    first.set_result(1)
    return first.then(lambda done: 1 / 0).wait()


told("some", some)
told("uneven", uneven)
told("alone", alone)
told("no function", lambda: hooked(3))
told("twice", lambda: hooked(default_hooks.allreduce_hook, twice=True))
told("no future", lambda: hooked(lambda state, bucket: bucket.buffer()))
told("no tensor", lambda: hooked(given(lambda bucket: 3)))
told("size", lambda: hooked(given(lambda bucket: bucket.buffer()[1:])))
told("buffer", lambda: hooked(lambda state, bucket: bucket.set_buffer(badak.ones(1))))
told("futures", futures)
told("failed", failed)
told("early", lambda: Future().value())
told("power", lambda: dist.algorithms.ddp_comm_hooks.powerSGD_hook)
