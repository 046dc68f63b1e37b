"""Faults that a program's own switches plant: what `plants.py` cannot spoil from outside."""

import random

import badak
from badak import nn
from tests.inspect.audit.foreign import Part
from tests.inspect.audit.plants import PLANTS, Map, Planted, Program, chosen, plant, spoil, streams


def switch(name: str, probes: set, words: tuple = ()) -> None:
    """A plant that switches off one of `words` (its own name, unless given) in one module that has it."""

    def planted(program: Program, where: Map, rng: random.Random) -> Planted | None:
        of = [(path, word) for path, m in program.model.named_modules() if isinstance(m, Part)
              for word in (words or (name,)) if word in m.switches]  # fmt: skip
        if not of:
            return None
        path, word = rng.choice(of)
        program.model.get_submodule(path).off = frozenset({word})
        return Planted(probes, [path])

    PLANTS[name] = planted


switch("residual left out", {"residual"}, ("residual attn", "residual mlp", "residual cross"))
switch("positions left out", {"order"}, ("positions",))
switch("positions along the batch", {"order", "batch"})
switch("half rotary", {"rotary"})
switch("wrong pairing", {"rotary"})
switch("keys not turned", {"rotary"})
switch("grouped heads", {"heads"}, ("grouped heads", "grouped keys only"))
switch("cache positions", {"cache"})


@plant
def layer_used_twice(program, where, rng):
    lists = [
        (name, m) for name, m in program.model.named_modules()
        if isinstance(m, nn.ModuleList | nn.Sequential) and len(m) > 1 and type(m[0]) is type(m[1])
        and any(p.dim() > 1 for p in m[0].parameters()) and any(True for _ in m[0].children())
        and [p.shape for p in m[0].parameters()] == [p.shape for p in m[1].parameters()]
    ]  # fmt: skip
    if not lists:
        return None
    name, layers = rng.choice(lists)
    layers[1] = layers[0]
    program.optimizers = [badak.optim.AdamW(program.model.parameters())]
    return Planted({"shared"}, [name, f"{name}.0", f"{name}.1"])


@plant
def not_a_number(program, where, rng):
    name = chosen(streams(program, where), rng)
    if name is None:
        return None
    spoil(program.model.get_submodule(name), lambda y: y - y.amax() + (y * 0.0 - 1.0).sqrt())
    return Planted({"numbers"}, [name])
