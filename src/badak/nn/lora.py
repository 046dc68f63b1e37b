"""LoRA: a large matrix stays as it is, and two small ones next to it learn.

    y = W x + b + (alpha / r) B A x           A (r, inputs), B (outputs, r)

    dB = (alpha / r) dyᵀ (A x)ᵀ,  dA = (alpha / r) Bᵀ dyᵀ x,  nothing for W and b

B begins at zero, so that the model begins as it was. Source: Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models",
section 4; names and first values as in the library peft.
"""

import math
from collections.abc import Mapping, Sequence

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, StateError, tr
from badak.nn import functional as F
from badak.nn import init
from badak.nn.attention import MultiheadAttention
from badak.nn.dropout import Dropout
from badak.nn.linear import Linear
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.nn.quantized import BlockLinear, InBlocks
from badak.tensor import Tensor, empty, float32, zeros


class LoRALinear(Module):
    """A Linear that learns no more, its weights whole or in blocks, and what is added to it: scale = alpha / rank."""

    def __init__(self, base: Linear, rank: int, alpha: float, dropout: float = 0.0) -> None:
        super().__init__()
        kind = float32 if isinstance(base, BlockLinear) else base.weight.dtype
        where = {"dtype": kind, "device": base.weight.device}
        self.base, self.scale, self.drop = base, alpha / rank, Dropout(dropout)
        self.lora_a = Parameter(empty(rank, base.in_features, **where))
        self.lora_b = Parameter(zeros(base.out_features, rank, **where))
        init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + F.linear(F.linear(self.drop(x), self.lora_a), self.lora_b) * self.scale

    @no_grad()
    def merged(self) -> Linear:
        """The Linear with what was learned added to its weights, which are whole from then on."""
        if isinstance(self.base, BlockLinear):
            self.base = self.base.whole()
        self.base.weight.add_(self.lora_b @ self.lora_a, alpha=self.scale)
        return self.base


def add_lora(
    model: Module, rank: int, alpha: float | None = None, targets: Sequence[str] | None = None, dropout: float = 0.0
) -> list[str]:
    """Put LoRA next to the Linear layers of `model`, in place, and let nothing else learn; the names of the layers.

    Layers may have weights in blocks (`badak.quantize(model, "q4")` first): those stay as they are, and gradients go through them
    (Dettmers et al. 2023, "QLoRA").

    alpha: twice the rank unless told. targets: names of layers, or the ends of names ("qkv", "attention.out"); without it all
    Linear layers but those that MultiheadAttention reads itself. Raises ArgumentError for a target that there is not.
    """
    if type(rank) is not int or rank < 1:
        raise ArgumentError(tr("add_lora: expected a rank of 1 or more; got {!r}", rank), "add_lora(model, rank=8)")
    inside = {f"{name}.out_proj" for name, part in model.named_modules() if isinstance(part, MultiheadAttention)}
    linear = {
        name: part for name, part in model.named_modules()
        if isinstance(part, Linear)
    }  # fmt: skip
    names = [name for name in linear if name not in inside] if targets is None else _named(linear, targets)
    hidden = next((name for name in names if name in inside), None)
    if hidden is not None or not names or "" in names:
        what = tr("{} is read by MultiheadAttention itself", hidden) if hidden else tr("the model has no Linear layer inside of it")
        raise ArgumentError(tr("add_lora: {}", what), "targets=[...] with names of other Linear layers")
    for p in model.parameters():
        p.requires_grad_(False)
    for name in names:
        _replace(model, name, LoRALinear(linear[name], rank, 2 * rank if alpha is None else alpha, dropout))
    return names


def merge_lora(model: Module) -> Module:
    """Add what LoRA has learned to the weights, in place: the same model to rounding, without adapters, and all of it can learn.

    Weights in blocks become whole, also where no adapters are.
    """
    for name, part in list(model.named_modules()):
        if isinstance(part, LoRALinear):
            _replace(model, name, part.merged())
    for name, part in list(model.named_modules()):
        if isinstance(part, InBlocks):
            _replace(model, name, part.whole())
    for p in model.parameters():
        p.requires_grad_(True)
    return model


def lora_state_dict(model: Module) -> dict[str, Tensor]:
    """The adapters alone: what has to be kept next to the model that they were added to."""
    return {name: x for name, x in model.state_dict().items() if name.rpartition(".")[2] in ("lora_a", "lora_b")}


def load_lora(model: Module, state: Mapping[str, Tensor]) -> None:
    """Give the adapters of `model` the values of `lora_state_dict`. Raises StateError where they are not those of such a model."""
    wanted = {name: tuple(x.shape) for name, x in lora_state_dict(model).items()}
    given = {name: tuple(getattr(x, "shape", ())) for name, x in state.items()}
    wrong = sorted(name for name in {*wanted, *given} if wanted.get(name) != given.get(name))
    if wrong or not wanted:
        name = wrong[0] if wrong else "lora_a"
        what = tr("{} is {}, and {} in the model", name, given.get(name, "absent"), wanted.get(name, "absent"))
        raise StateError(tr("load_lora: not the adapters of this model: {}", what), "add_lora with the rank and targets of then")
    model.load_state_dict(dict(state), strict=False)


def _named(linear: Mapping[str, Linear], targets: Sequence[str]) -> list[str]:
    """The layers that the targets speak of, in the order of the model."""
    asked = [targets] if isinstance(targets, str) else list(targets)
    for target in asked:
        if not any(_speaks_of(target, name) for name in linear):
            ends = ", ".join(dict.fromkeys(name.rpartition(".")[2] for name in linear))
            raise ArgumentError(tr("add_lora: no Linear layer is called {!r:.60}", target), tr("one of {}", ends))
    return [name for name in linear if any(_speaks_of(target, name) for target in asked)]


def _speaks_of(target: str, name: str) -> bool:
    return name == target or name.endswith(f".{target}")


def _replace(model: Module, name: str, new: Module) -> None:
    parent, _, last = name.rpartition(".")
    setattr(model.get_submodule(parent), last, new)
