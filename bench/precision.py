"""Fewer bits than float32: what a user adds to the same program for it. With badak, `import torch` gives badak.

Training: the forward in autocast to bfloat16. Answering: the module in bfloat16, for a batch also autocast, or 8-bit weights.
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
    return model.bfloat16() if precision == "bf16" else torch.quantize(model, "int8")  # which badak alone has
