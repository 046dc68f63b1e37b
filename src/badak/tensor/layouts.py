"""Layouts and memory formats: words for how a tensor lies in memory. badak's are strided, and every order is accepted."""


from badak.errors import package


class _Word:
    """One named word."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"{package()}.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(_Word):  # noqa: N801  (PyTorch's name)
    """How the values of a tensor are kept; badak has `strided` only."""


class memory_format(_Word):  # noqa: N801
    """In which order the dims of a dense tensor lie in memory. A hint about speed: badak keeps row-major order."""


strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
jagged = layout("jagged")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def in_rows(memory_format) -> bool:
    """Whether this format asks for a new order, which is row-major here; None and preserve_format keep the old one."""
    return memory_format is not None and memory_format is not preserve_format
