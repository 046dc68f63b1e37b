"""`torch.utils.deterministic`: whether use_deterministic_algorithms(True) fills memory that nobody has written to."""

from badak.core import events

fill_uninitialized_memory = True
events.for_all(globals(), "fill_uninitialized_memory")
