"""Weights for the exercises on encoder and decoder blocks, and badak's own layers that hold them."""

from typing import Any

from badak.autograd.grad_mode import no_grad
from badak.cli.course.trial import draw
from badak.tensor import Tensor, cat


def weights(C: int, norms: int, prefixes: tuple[str, ...] = ("",)) -> dict[str, Tensor]:
    """q, k, v, o (C, C) of each attention, up (2 C, C), down (C, 2 C), and scale and shift (C,) of each norm."""
    names = [f"{prefix}{name}" for prefix in prefixes for name in "qkvo"]
    made = {name: draw(C, C, seed=i + 1, scale=C**-0.5, grad=True) for i, name in enumerate(names)}
    made |= {"up": draw(2 * C, C, seed=20, scale=0.5, grad=True), "down": draw(C, 2 * C, seed=21, scale=0.5, grad=True)}
    for i in range(1, norms + 1):
        made |= {f"scale{i}": draw(C, seed=30 + i, grad=True), f"shift{i}": draw(C, seed=40 + i, grad=True)}
    return made


def functional(layer: Any, w: dict[str, Tensor], attentions: dict[str, str], *inputs: Tensor, **options: Any) -> Tensor:
    """badak's own layer, run with the weights `w` in the places of its own; the gradient goes to `w`."""
    for module, prefix in attentions.items():
        part = getattr(layer, module)
        _put(part, "in_proj_weight", cat([w[prefix + name] for name in "qkv"]))
        _put(part.out_proj, "weight", w[prefix + "o"])
    _put(layer.linear1, "weight", w["up"])
    _put(layer.linear2, "weight", w["down"])
    for i in (1, 2, 3):
        if f"scale{i}" in w:
            _put(getattr(layer, f"norm{i}"), "weight", w[f"scale{i}"])
            _put(getattr(layer, f"norm{i}"), "bias", w[f"shift{i}"])
    with no_grad():
        for name, each in layer.named_parameters():
            if name.endswith("bias"):
                each.zero_()
    return layer(*inputs, **options)


def _put(module: Any, name: str, value: Tensor) -> None:
    del module._parameters[name]
    object.__setattr__(module, name, value)
