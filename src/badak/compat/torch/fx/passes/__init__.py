"""`torch.fx.passes`: what walks over graphs."""

from badak.compat.torch.fx.passes import shape_prop as shape_prop
