"""Checks and common words of the optimizers' settings."""

from typing import Any

from badak.errors import ArgumentError, MissingError, warn_once
from badak.tensor import Tensor


def number(value: Any) -> float:
    """A setting as a Python number: settings may be one-element tensors."""
    return value.item() if isinstance(value, Tensor) else value


def check_lr(owner: str, lr: Any) -> None:
    """A learning rate: a number >= 0, or a tensor with one element."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ArgumentError(
            f"{owner}: Tensor lr must be 1-element; got shape {tuple(lr.shape)}",
            "use parameter groups for several learning rates",
        )
    at_least_zero(owner, lr=lr)


def at_least_zero(owner: str, **settings: Any) -> None:
    """Raise ArgumentError for a setting below zero or not a number."""
    for name, value in settings.items():
        if not number(value) >= 0.0:
            raise ArgumentError(
                f"{owner}: expected {name} >= 0; got {value}",
                f"{name}={abs(number(value)) if number(value) < 0 else 0.0}",
            )


def check_betas(owner: str, betas: Any) -> None:
    """Decay rates of the moments: each in [0, 1)."""
    for at, beta in enumerate(betas):
        if not 0.0 <= number(beta) < 1.0:
            raise ArgumentError(f"{owner}: expected 0 <= betas[{at}] < 1; got {beta}", "betas=(0.9, 0.999)")


def say_what_cannot_apply(
    owner: str,
    foreach: bool | None = None,
    fused: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
) -> None:
    """The switches that choose among PyTorch's implementations; badak has one, and it is fused.

    foreach and fused change no number there and nothing here. differentiable=True raises MissingError; capturable=True,
    which is about recording on a GPU, is told to be without effect.
    """
    if foreach and fused:
        raise ArgumentError(
            f"{owner}: `fused` and `foreach` cannot be `True` together",
            "leave both out: badak's update is always fused",
        )
    if differentiable:
        raise MissingError(
            f"{owner}: differentiable=True asks for gradients through the update, and badak has no second derivatives",
            "differentiable=False",
        )
    if capturable:
        warn_once(
            (owner, "capturable"),
            f"{owner}: capturable=True is about recording graphs on a GPU and has no effect on the CPU.",
            "leave it out",
        )
