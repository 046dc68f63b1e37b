"""One step of each workload with the user's code of `models.py` and `writing.py`; with badak, `import torch` gives badak."""

import re
from contextlib import nullcontext

import numpy as np
import torch
from torch.nn import functional as F

from bench.models import MODELS
from bench.precision import casting, narrowed
from bench.workloads import BETAS, EPS, WEIGHT_DECAY, Workload, data, weights
from bench.writing import Writer, transpose_linears, write

NAMES_IN_LAYERS = [  # what the hand-written blocks call a weight, and what nn.Transformer* call it
    (r"^blocks\.", "blocks.layers."),
    (r"^(encoder|decoder)\.", r"transformer.\1.layers."),
    (r"^(encoder|decoder)_norm\.", r"transformer.\1.norm."),
    (r"attention\.qkv\.", "self_attn.in_proj_"),
    (r"attention\.out\.", "self_attn.out_proj."),
    (r"cross\.out\.", "multihead_attn.out_proj."),
    (r"\bup\.", "linear1."),
    (r"\bdown\.", "linear2."),
]


def named_for(way: str, found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The shared weights under the names of one way of writing the model."""
    if way != "layers":
        return found
    renamed = {}
    for name, value in found.items():
        if "cross.q." in name:
            name = name.replace("cross.q.", "multihead_attn.in_proj_")
            value = np.concatenate([value, found[name.replace("multihead_attn.in_proj_", "cross.kv.")]])
        elif "cross.kv." in name:
            continue
        for pattern, replacement in NAMES_IN_LAYERS:
            name = re.sub(pattern, replacement, name)
        renamed[name] = value
    return renamed


def load(model, work: Workload, way: str) -> None:
    """Give the model the shared weights; a name too many or too few is an error."""
    state = {name: torch.from_numpy(value) for name, value in named_for(way, weights(work)).items()}
    if hasattr(model, "head") and "head.weight" not in state:
        state["head.weight"] = state["token.weight"]
    model.load_state_dict(state)


def unchanged(function):
    """In place of torch.compile."""
    return function


class Training:
    """Forward, backward and AdamW."""

    def __init__(self, work: Workload, way: str, compiled=unchanged, precision: str = "float32", **adamw):
        model = MODELS[work.family](work, way)
        load(model, work, way)
        self.parameters = sum(p.numel() for p in model.parameters())
        self.batch = [torch.from_numpy(value) for value in data(work).values()]
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=work.lr, betas=BETAS, eps=EPS, weight_decay=WEIGHT_DECAY, **adamw)
        self.model, self.precision = compiled(model.train()), precision

    def step(self) -> float:
        self.optimizer.zero_grad(set_to_none=True)
        with casting(self.precision):
            loss = self.model(*self.batch)
        loss.backward()
        self.optimizer.step()
        return loss.item()


class Encoding:
    """A forward for a batch of sentences."""

    def __init__(self, work: Workload, way: str, compiled=unchanged, precision: str = "float32"):
        way, _, autocast = way.partition("+")
        model = MODELS[work.family](work, way)
        load(model, work, way)
        self.parameters = sum(p.numel() for p in model.parameters())
        self.batch = [torch.from_numpy(value) for value in data(work).values()]
        self.casting = casting(precision) if autocast else nullcontext()
        self.model = compiled(model.eval() if autocast else narrowed(model.eval(), precision))

    def step(self) -> float:
        with torch.inference_mode(), self.casting:
            return self.model(*self.batch)[:, 0].sum().item()


class Writing:
    """A prompt at once, then one token after the other."""

    def __init__(self, work: Workload, transposed: bool = False, precision: str = "float32"):
        self.model = Writer(work)
        load(self.model, work, "blocks")
        self.parameters = sum(p.numel() for p in self.model.parameters())
        if transposed:
            transpose_linears(self.model)
        self.model = narrowed(self.model, precision)
        self.prompt = torch.from_numpy(data(work)["x"])
        self.count = work.T - work.prompt

    def step(self) -> float:
        with torch.inference_mode():
            return fingerprint(write(self.model, self.prompt, self.count).numpy())


class Attending:
    """Causal attention alone, forward and backward."""

    def __init__(self, work: Workload):
        shape = (3, work.batch, work.heads, work.T, work.d // work.heads)
        values = np.random.default_rng(0).standard_normal(shape, np.float32)
        self.qkv = [torch.from_numpy(value).requires_grad_() for value in values]
        self.parameters = 0

    def step(self) -> float:
        for x in self.qkv:
            x.grad = None
        y = F.scaled_dot_product_attention(*self.qkv, is_causal=True).sum()
        y.backward()
        return y.item()


def fingerprint(tokens: np.ndarray) -> float:
    """One number for a text, so that two texts can be compared."""
    return float(np.dot(tokens.astype(np.int64) % 9973, np.arange(1, len(tokens) + 1)) % 1_000_003)


def build(work: Workload, variant: str, precision: str = "float32"):
    """The work of an eager peer. Variants: blocks, layers, products, transposed; +foreach for another AdamW, +autocast."""
    way, _, kind = variant.partition("+")
    if work.family == "write":
        return Writing(work, way == "transposed", precision)
    if work.family == "encode":
        return Encoding(work, variant, precision=precision)
    if work.family == "attention":
        return Attending(work)
    return Training(work, way, precision=precision, fused=kind != "foreach")
