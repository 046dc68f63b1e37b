"""`torch.utils.tensorboard`: of the package tensorboardX, which needs no PyTorch, or else badak's own over tensorboard."""

try:
    from tensorboardX import FileWriter as FileWriter
    from tensorboardX import SummaryWriter as SummaryWriter
except ImportError:
    try:
        from badak.compat.torch.event_files import FileWriter as FileWriter
        from badak.compat.torch.event_files import SummaryWriter as SummaryWriter
    except ImportError as error:  # without both the name is missing, as on PyTorch without tensorboard
        raise ModuleNotFoundError("No module named 'tensorboardX'", name=__name__) from error
