"""The probes, one in each file, in the order in which they are asked: {name: its `ask`, which gives findings}."""

from badak.core.public_api.table import reach

ORDER = (
    "numbers", "batch", "future", "padding", "modes", "blind", "gradients", "positions", "tokens", "cache", "rotary", "residual",
    "order", "heads", "axis", "scale", "straight", "loss", "compiled", "optimizers", "ties", "copies", "shared",
)  # fmt: skip
PROBES = {name: reach(f"badak.inspect.audit.probes.{name}.ask") for name in ORDER}
