"""Fewer bits than float32: what a user adds to the same program for it. With badak, `import torch` gives badak.

Training: the forward in autocast to bfloat16, in both libraries. Answering: weights of 16 or 8 bits; of PyTorch's ways the
module in bfloat16, and for a batch also autocast.
"""

from contextlib import nullcontext

import torch


def casting(precision: str):
    """What the forward of a training step runs in."""
    return torch.autocast("cpu", dtype=torch.bfloat16) if precision == "bf16" else nullcontext()


def narrowed(model, precision: str):
    """The model with weights of so many bits, to answer."""
    if precision == "float32":
        return model
    if hasattr(torch, "quantize"):  # badak's
        return torch.quantize(model, "bfloat16" if precision == "bf16" else "int8")
    assert precision == "bf16", "PyTorch's weights of 8 bits are left to its users"
    return model.bfloat16()
