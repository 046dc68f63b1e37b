"""`badak.doctor`: the door to the room. What is behind it is imported when it is first asked."""

from typing import TYPE_CHECKING, Any, TextIO

from badak.core.public_api.table import reach

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit


def doctor(steps: int = 20, *, file: TextIO | None = None, quiet: bool = False) -> "Visit":
    """Watch the first steps of a training, then say what is wrong with it, with file and line, number and fix.

        with badak.doctor() as checkup:
            train()
        assert checkup.ok, checkup

    Gives a context. `as checkup` is the report: findings, ok, text by print, page by to_html(); it is complete when the steps are
    over, or at the end of the block. No number that the program computes is changed. `badak doctor train.py` does the same for a
    program. What compiles itself runs as it is while it is watched. docs/how-to/doctor.md lists the diagnoses.

    Raises ArgumentError for steps below 1. PyTorch has no such function.

    Args:
        steps: calls of optimizer.step() that are watched; after them the program runs as if nobody had looked
        file: where the report is written as soon as they are over; sys.stderr where it is None
        quiet: do not write it

    Returns: a context manager

    Example:
        >>> model = nn.Linear(4, 2)
        >>> optimizer = optim.SGD(model.parameters(), lr=0.1)
        >>> with badak.doctor(steps=3, quiet=True) as checkup:
        ...     for _ in range(3):  # nobody clears the gradients
        ...         F.cross_entropy(model(badak.randn(8, 4)), badak.randint(2, (8,))).backward()
        ...         optimizer.step()
        >>> [finding.code for finding in checkup.findings]
        ['BADAK-201']
    """
    found: Any = reach("badak.inspect.doctor.session")
    return found.Visit(steps, file, quiet)
