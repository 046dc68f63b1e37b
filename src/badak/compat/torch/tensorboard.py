"""`torch.utils.tensorboard`: the package tensorboardX, which writes the same files and needs no PyTorch, if it is installed."""

try:
    from tensorboardX import FileWriter as FileWriter
    from tensorboardX import SummaryWriter as SummaryWriter
except ImportError as error:  # without it the name is missing, as on PyTorch without tensorboard
    raise ModuleNotFoundError("No module named 'tensorboardX'", name=__name__) from error
