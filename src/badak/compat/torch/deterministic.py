"""`torch.utils.deterministic`: whether use_deterministic_algorithms(True) fills memory that nobody has written to."""

fill_uninitialized_memory = True
