"""A profile as a table."""

from badak.core.i18n import padded, say
from badak.inspect.profiling.profile import BACKWARD, FORWARD, UPDATE, Profile, Row

HEADS = ("operation", "calls", "forward ms", "backward ms", "share", "MB", "GB/s")


def table(profile: Profile, top: int = 30) -> list[str]:
    """Lines: each operation per step, the dearest first, then the walk, the optimizer, the rest, and the sum."""
    steps, whole = max(profile.steps, 1), profile.seconds or 1e-12
    lines = [line_of(tuple(say(head) for head in HEADS))]
    operations = sorted(by_operation(profile).items(), key=lambda item: -(item[1][0].seconds + item[1][1].seconds))
    for name, (forward, backward) in operations[:top]:
        lines.append(line_of(cells(name, forward, backward, steps, whole)))
    others = [row for _, rows in operations[top:] for row in rows]
    if others:
        lines.append(line_of(cells(say("{} more", len(operations) - top), sum(others, Row()), Row(), steps, whole)))
    for (kind, name), row in sorted(profile.rows.items()):
        if kind == UPDATE:
            lines.append(line_of(part(f"{name}.step", row.seconds, row.calls, steps, whole)))
        elif kind not in (FORWARD, BACKWARD):
            lines.append(line_of(part(say("{}(): the walk itself", name), row.seconds, row.calls, steps, whole)))
    lines.append(line_of(part(say("the rest: Python"), profile.python, 0, steps, whole)))
    lines.append(line_of(part(say("a step"), profile.seconds, 0, steps, whole)))
    return lines


def by_operation(profile: Profile) -> dict[str, tuple[Row, Row]]:
    """Operation -> its forward and its backward row."""
    names = {name for kind, name in profile.rows if kind in (FORWARD, BACKWARD)}
    return {name: (profile.rows.get((FORWARD, name), Row()), profile.rows.get((BACKWARD, name), Row())) for name in names}


def cells(name: str, forward: Row, backward: Row, steps: int, whole: float) -> tuple[str, ...]:
    """The cells of one operation."""
    both = forward + backward
    return (
        name, f"{both.calls / steps:.4g}", f"{1e3 * forward.seconds / steps:.3f}", f"{1e3 * backward.seconds / steps:.3f}",
        f"{both.seconds / whole:.1%}", f"{both.bytes / steps / 1e6:.2f}",
        f"{both.bytes / both.seconds / 1e9:.1f}" if both.seconds else "",
    )  # fmt: skip


def part(name: str, seconds: float, calls: int, steps: int, whole: float) -> tuple[str, ...]:
    """The cells of what has no two directions."""
    often = f"{calls / steps:.4g}" if calls else ""
    return name, often, f"{1e3 * seconds / steps:.3f}", "", f"{seconds / whole:.1%}", "", ""


def line_of(cells: tuple[str, ...]) -> str:
    """One line of the table."""
    return padded(cells[0], 32) + "".join(padded(cell, 12, right=True) for cell in cells[1:])
