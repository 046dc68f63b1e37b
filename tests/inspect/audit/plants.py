"""Faults, and how each is planted into a model that is sound: the judge of `badak.audit`.

A plant takes a program that was built again, chooses a place in it by itself (with a seeded generator), spoils the program there,
and says what is to be found: by which probes, and in which module. `Map` looks for the places with means of its own, so that the
judge does not lean on what it judges.
"""

import inspect
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import badak
from badak import nn, optim
from badak.nn import functional as F
from badak.tensor import Tensor


@dataclass
class Program:
    """A model at work: what it is called with, what the loss is made of, who updates it."""

    model: Any
    args: tuple
    kwargs: dict = field(default_factory=dict)
    kind: str = "causal"  # what it really is: the audit is not told
    loss: Callable | None = None
    said: str | None = None  # what it is told where nothing shows the kind
    optimizers: list = field(default_factory=list)


@dataclass
class Planted:
    """What must be found: one of these probes, in one of these modules."""

    probes: set
    modules: list
    raises: bool = False  # the audit refuses the model, and says where


class Map:
    """The places of a model: which modules are called once, what they give, where masks are used."""

    def __init__(self, program: Program):
        self.outputs, self.calls, self.inputs = {}, {}, {}
        self.causal, self.padding = [], []  # modules in which scores are hidden so
        self.stack: list = []
        model = program.model
        training = {m: m.training for m in model.modules()}
        undo = []
        try:
            model.eval()
            with badak.no_grad(), patched(self._met):
                undo = [_wrapped(m, self._watch(name)) for name, m in model.named_modules()]
                model(*program.args, **program.kwargs)
        finally:
            for restore in undo:
                restore()
            for m, mode in training.items():
                m.training = mode

    def _watch(self, name: str):
        def forward(original, *args, **kwargs):
            self.stack.append(name)
            try:
                y = original(*args, **kwargs)
            finally:
                self.stack.pop()
            self.calls[name] = self.calls.get(name, 0) + 1
            self.outputs[name] = y
            self.inputs[name] = args
            return y

        return forward

    def _met(self, mask) -> Any:
        """Told of each mask (True = hide) over scores (..., T, S)."""
        name = self.stack[-1] if self.stack else ""
        full = mask.shape[-2] == mask.shape[-1] and mask.shape[-1] > 1
        if full and bool(mask[..., 0, -1].all()) and not bool(mask[..., -1, 0].all()):
            self.causal.append(name)
        elif name not in self.causal and bool(mask.any()) and not bool(mask.all()):  # behind a text nobody looks at its end
            self.padding.append(name)
        return mask


def _wrapped(module, forward) -> Callable[[], None]:
    """Let `forward(original, *args, **kwargs)` stand in for the module's own; gives what takes it out again."""
    original, own = module.forward, vars(module).get("forward")
    module.__dict__["forward"] = lambda *args, **kwargs: forward(original, *args, **kwargs)

    def restore():
        if own is None:
            module.__dict__.pop("forward", None)
        else:
            module.__dict__["forward"] = own

    return restore


def spoil(module, change: Callable[[Any], Any]) -> None:
    """Change what a module gives, for good."""
    original = module.forward
    module.__dict__["forward"] = lambda *args, **kwargs: change(original(*args, **kwargs))


# Masks: wherever scores are hidden, `told(hide)` gives the mask that is used.


class patched:
    """Within the block `told(hide)` has the say about each mask over scores; hide is True where nothing is seen."""

    def __init__(self, told):
        self.told = told

    def __enter__(self):
        self.kept = (
            Tensor.masked_fill,
            Tensor.masked_fill_,
            F.scaled_dot_product_attention,
            nn.MultiheadAttention.forward,
        )
        fill, fill_, attend, heads = self.kept
        told = self.told

        def masked_fill(x, mask, value):
            return fill(x, told(mask) if self._scores(x, mask) else mask, value)

        def masked_fill_(x, mask, value):
            return fill_(x, told(mask) if self._scores(x, mask) else mask, value)

        def sdpa(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, **more):
            T, S = q.shape[-2], k.shape[-2]
            if is_causal:
                attn_mask = badak.ones(T, S, dtype=badak.bool).tril()
            if attn_mask is not None and attn_mask.dtype == badak.bool:
                attn_mask = ~told(~attn_mask)
            return attend(q, k, v, attn_mask, dropout_p, False, **more)

        names = list(inspect.signature(heads).parameters)

        def mha(module, *args, **kwargs):
            given = dict(zip(names[1:], args)) | kwargs
            given.pop("is_causal", None)
            mask, padding = given.get("attn_mask"), given.get("key_padding_mask")
            if mask is not None:
                given["attn_mask"] = told(mask if mask.dtype == badak.bool else mask < -1e4)
            if padding is not None:
                given["key_padding_mask"] = told(padding[:, None].bool())[:, 0]
            return heads(module, **given)

        Tensor.masked_fill, Tensor.masked_fill_ = masked_fill, masked_fill_
        F.scaled_dot_product_attention, nn.MultiheadAttention.forward = sdpa, mha
        return self

    def __exit__(self, *error):
        Tensor.masked_fill, Tensor.masked_fill_ = self.kept[:2]
        F.scaled_dot_product_attention, nn.MultiheadAttention.forward = self.kept[2:]

    @staticmethod
    def _scores(x, mask) -> bool:
        return mask.dtype == badak.bool and x.dim() >= 3 and mask.dim() >= 2


def masks_in(module, told) -> None:
    """Let `told` have the say about the masks in this module, for good."""
    if isinstance(module, nn.MultiheadAttention):  # its forward was looked up before the block below

        def forward(*args, **kwargs):
            with patched(told):
                return nn.MultiheadAttention.forward(module, *args, **kwargs)

        module.__dict__["forward"] = forward
        return
    original = module.forward

    def forward(*args, **kwargs):
        with patched(told):
            return original(*args, **kwargs)

    module.__dict__["forward"] = forward


def square(mask) -> bool:
    return mask.shape[-2] == mask.shape[-1] and mask.shape[-1] > 1 and bool(mask[..., 0, -1].all())


# The plants. Each gives None where a program has no such place.

PLANTS: dict[str, Callable[[Program, Map, random.Random], Planted | None]] = {}


def plant(function):
    PLANTS[function.__name__.replace("_", " ")] = function
    return function


def sizes(program: Program) -> tuple[int, int, int, bool]:
    """B, S, T and whether the batch comes first; T is the length of the decoder's text."""
    tensors = [x for x in (*program.args, *program.kwargs.values()) if isinstance(x, Tensor)]
    first = not any(m.batch_first is False for m in program.model.modules() if isinstance(m, nn.MultiheadAttention))
    a, b = tensors[0].shape[:2] if first else tensors[0].shape[1::-1]
    text = tensors[1] if program.kind == "encoder-decoder" else tensors[0]
    return a, b, text.shape[1 if first else 0], first


def streams(program: Program, where: Map, side: str = "any", need=lambda module, name: True) -> list[str]:
    """Modules that are called once and give one (B, T, C); side "decoder": only on the way of what must be causal."""
    B, S, T, first = sizes(program)
    modules = dict(program.model.named_modules())
    lengths = {T} if side == "decoder" else {S, T}
    found = []
    for name, y in where.outputs.items():
        if name == "" or where.calls[name] != 1 or not isinstance(y, Tensor) or y.dim() != 3 or not y.is_floating_point():
            continue
        b, t = y.shape[:2] if first else y.shape[1::-1]
        if b != B or (t not in lengths and program.kind != "image") or "rop" in type(modules[name]).__name__:
            continue
        if "pos" in name.lower() and not isinstance(where.inputs[name][0] if where.inputs[name] else None, Tensor):
            continue
        if any("pos" in part.lower() for part in name.split(".")):
            continue
        if side == "decoder" and program.kind == "encoder-decoder":
            across = any(w in name for w in ("enc_dec", "dec_enc", "EncDec", "src_attn", "cross", "multihead_attn"))
            if across or not any(w in name for w in ("dec", "tgt", "trg")):
                continue
        if need(modules[name], name):
            found.append(name)
    return found


def chosen(names: list[str], rng: random.Random) -> str | None:
    return rng.choice(sorted(names)) if names else None


def axes(program: Program) -> tuple[int, int]:
    """The axes of batch and positions in a (B, T, C)."""
    return (0, 1) if sizes(program)[3] else (1, 0)


@plant
def mask_forgotten(program, where, rng):
    name = chosen(where.causal, rng)
    if name is None:
        return None
    masks_in(program.model.get_submodule(name), lambda hide: hide & False if square(hide) else hide)
    return Planted({"future"}, [name])


@plant
def mask_off_by_one(program, where, rng):
    name = chosen(where.causal, rng)
    if name is None:
        return None

    def later(hide):
        if not square(hide):
            return hide
        return hide & ~badak.ones(hide.shape[-2:], dtype=badak.bool).tril(1)

    masks_in(program.model.get_submodule(name), later)
    return Planted({"future"}, [name])


@plant
def mean_over_time(program, where, rng):
    if program.kind not in ("causal", "encoder-decoder"):
        return None
    name = chosen(streams(program, where, "decoder"), rng)
    if name is None:
        return None
    axis = axes(program)[1]
    spoil(program.model.get_submodule(name), lambda y: y + 0.1 * y.mean(axis, keepdim=True))
    return Planted({"future"}, [name])


@plant
def mean_over_batch(program, where, rng):
    name = chosen(streams(program, where), rng)
    if name is None:
        return None
    axis = axes(program)[0]
    spoil(program.model.get_submodule(name), lambda y: y + 0.1 * y.mean(axis, keepdim=True))
    return Planted({"batch"}, [name])


@plant
def padding_seen(program, where, rng):
    name = chosen(where.padding, rng)
    if name is None:
        return None
    masks_in(program.model.get_submodule(name), lambda hide: hide if square(hide) else hide & False)
    return Planted({"padding"}, [name])


@plant
def train_differs(program, where, rng):
    name = chosen(streams(program, where), rng)
    if name is None:
        return None
    module = program.model.get_submodule(name)
    spoil(module, lambda y: y * 1.02 if module.training else y)
    return Planted({"modes"}, [name])


@plant
def no_grad_differs(program, where, rng):
    name = chosen(streams(program, where), rng)
    if name is None:
        return None
    spoil(program.model.get_submodule(name), lambda y: y * 1.02 if badak.is_grad_enabled() else y)
    return Planted({"modes"}, [name])


@plant
def detached(program, where, rng):
    name = chosen(streams(program, where, need=lambda module, name: any(True for _ in module.parameters())), rng)
    if name is None:
        return None
    spoil(program.model.get_submodule(name), lambda y: y.detach())
    return Planted({"gradients"}, [name])


@plant
def left_out(program, where, rng):
    def same_shape(module, name):
        given = where.inputs[name]
        return (
            bool(given) and isinstance(given[0], Tensor) and given[0].shape == where.outputs[name].shape
            and any(True for _ in module.parameters())
        )  # fmt: skip

    name = chosen(streams(program, where, need=same_shape), rng)
    if name is None:
        return None
    module = program.model.get_submodule(name)
    module.__dict__["forward"] = lambda x, *args, **kwargs: x
    return Planted({"gradients"}, [name])


def parts(program) -> list[str]:
    """Modules that own parameters which nobody else has."""
    shared = {id(p) for n, p in program.model.named_parameters(remove_duplicate=False)}
    count = dict.fromkeys(shared, 0)
    for _, p in program.model.named_parameters(remove_duplicate=False):
        count[id(p)] += 1
    return [
        name for name, m in program.model.named_modules()
        if name and list(m.parameters()) and all(count[id(p)] == 1 for p in m.parameters())
    ]  # fmt: skip


@plant
def not_in_the_optimizer(program, where, rng):
    name = chosen(parts(program), rng)
    missing = {id(p) for p in program.model.get_submodule(name).parameters()}
    rest = [p for p in program.model.parameters() if id(p) not in missing]
    if not rest:
        return None
    program.optimizers = [optim.AdamW(rest, lr=1e-3)]
    return Planted({"optimizers"}, [name])


@plant
def in_two_optimizers(program, where, rng):
    name = chosen(parts(program), rng)
    program.optimizers = [
        optim.AdamW(program.model.parameters(), lr=1e-3),
        optim.SGD(program.model.get_submodule(name).parameters(), lr=0.1),
    ]
    return Planted({"optimizers"}, [name])


@plant
def tie_came_apart(program, where, rng):
    tables = [(n, m) for n, m in program.model.named_modules() if isinstance(m, nn.Embedding) and n in where.outputs]
    heads = [(n, m) for n, m in program.model.named_modules() if isinstance(m, nn.Linear)]
    pairs = [(a, b, t, h) for a, t in tables for b, h in heads if t.weight.shape == h.weight.shape]
    if not pairs:
        return None
    a, b, table, head = rng.choice(pairs)
    head.weight = nn.Parameter(table.weight.detach().clone())
    return Planted({"ties"}, [a, b])


@plant
def started_as_copies(program, where, rng):
    lists = [
        (name, m) for name, m in program.model.named_modules()
        if isinstance(m, nn.ModuleList | nn.Sequential) and len(m) > 1 and type(m[0]) is type(m[1])
        and any(p.dim() > 1 for p in m[0].parameters())
        and [p.shape for p in m[0].parameters()] == [p.shape for p in m[1].parameters()]
        and any(bool((p != q).any()) for p, q in zip(m[0].parameters(), m[1].parameters()) if p.dim() > 1)
    ]  # fmt: skip
    if not lists:
        return None
    name, layers = rng.choice(lists)
    layers[1].load_state_dict(layers[0].state_dict())
    return Planted({"copies"}, [f"{name}.0", f"{name}.1"])


@plant
def positions_forgotten(program, where, rng):
    names = [
        name for name, y in where.outputs.items()
        if isinstance(y, Tensor) and y.is_floating_point() and ("pos" in name.lower().replace("post", "") or "wpe" in name)
    ]  # fmt: skip
    name = min(names, key=len, default=None)
    if name is None:
        return None
    module = program.model.get_submodule(name)
    given = where.inputs[name][0]
    original = module.forward
    adds = given.is_floating_point() and given.shape == where.outputs[name].shape
    module.__dict__["forward"] = (lambda x, *a, **k: x) if adds else (lambda *a, **k: original(*a, **k) * 0.0)
    if program.kind == "causal" and not any(True for _ in module.parameters()):
        return None  # a causal model with several layers knows its positions without being told
    return Planted({"order", "gradients"}, [name])


def token_tables(program, where) -> list[str]:
    ids = {id(x) for x in (*program.args, *program.kwargs.values()) if isinstance(x, Tensor)}
    return [
        name for name, m in program.model.named_modules()
        if isinstance(m, nn.Embedding) and m.num_embeddings > 5 and name in where.inputs
        and not any(word in name for word in ("pos", "wpe", "seg", "bias", "place")) and where.inputs[name]
        and where.inputs[name][0].dim() == 2 and (ids and True)
    ]  # fmt: skip


@plant
def tokens_alike(program, where, rng):
    name = chosen(token_tables(program, where), rng)
    if name is None:
        return None
    table = program.model.get_submodule(name)
    with badak.no_grad():
        table.weight.copy_(table.weight[5:6].expand(*table.weight.shape).clone())
    return Planted({"tokens"}, [name])


@plant
def position_lost(program, where, rng):
    name = chosen(token_tables(program, where), rng)
    if name is None:
        return None
    axis = axes(program)[1]

    def without(y):
        if y.shape[axis] < 3:
            return y
        keep = badak.ones(y.shape[axis])
        keep[2] = 0.0
        return y * (keep[None, :, None] if axis == 1 else keep[:, None, None])

    spoil(program.model.get_submodule(name), without)
    return Planted({"positions"}, [name])


@plant
def blind_first_row(program, where, rng):
    name = chosen(where.causal, rng)
    if name is None:
        return None

    def more(hide):
        return hide | ~badak.ones(hide.shape[-2:], dtype=badak.bool).tril(-1) if square(hide) else hide

    masks_in(program.model.get_submodule(name), more)
    return Planted({"blind"}, [name])


@plant
def always_random(program, where, rng):
    name = chosen(streams(program, where), rng)
    if name is None:
        return None
    spoil(program.model.get_submodule(name), lambda y: F.dropout(y, 0.1, True))
    return Planted({"random"}, [name], raises=True)


def judge(planted: Planted, found: list[tuple[str, str]]) -> tuple[bool, bool]:
    """(found, in the right module), of (probe, module) pairs; one level above or anything inside counts as the place."""
    modules = [module for probe, module in found if probe in planted.probes]
    return bool(modules), any(near(module, right) for module in modules for right in planted.modules)


def near(module: str, right: str) -> bool:
    parent = right.rpartition(".")[0]
    return module == right or module.startswith(right + ".") or (module == parent and parent != "")
