"""`torch.version`: the versions that a program asks for."""

from badak.core.public_api.version import version

cuda = hip = rocm = xpu = git_version = None
debug = False


def __getattr__(name: str) -> str:
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'torch.version' has no attribute '{name}'")
