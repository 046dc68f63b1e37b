"""What programs written for another library find here: `compat/torch/` for PyTorch's."""
