"""`torch.fx`: badak does not trace programs; the mark that keeps a function out of a trace is accepted."""


def wrap(fn_or_name):
    """The function or name itself."""
    return fn_or_name
