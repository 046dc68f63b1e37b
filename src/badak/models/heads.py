"""The one rule between two sizes that every Transformer has."""

from badak.errors import ArgumentError


def check_heads(name: str, d_model: int, heads: int) -> None:
    """Refuse a width that its heads do not divide, and name the numbers of heads that would do."""
    if d_model % heads:
        divisors = [str(h) for h in range(1, min(d_model, 64) + 1) if d_model % h == 0]
        raise ArgumentError(
            f"{name}: d_model={d_model} is not divisible by heads={heads}", f"heads in {{{', '.join(divisors)}}}"
        )
