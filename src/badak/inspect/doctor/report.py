"""What the doctor has found: an object, a text of one screen at most, a page."""

from dataclasses import dataclass, field
from html import escape
from typing import Any

from badak.core.i18n import say, tr
from badak.inspect.audit.report import as_page, as_rows

HEADS = ("mistake", "place", "what was measured")
SHOWN = 6  # findings: each takes three or four lines of a screen


@dataclass(frozen=True)
class Finding:
    """One bug: its code, its title, file:line where there is one, what was measured, what helps."""

    code: str
    title: str
    place: str
    cause: str
    fix: str
    numbers: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        place = f"  {self.place}" if self.place else ""
        return f"{self.code} {say(self.title)}{place}\n  {say(self.cause)}\n  {say('fix:')} {say(self.fix)}"


@dataclass
class Checkup:
    """The result of `badak.doctor`.

    findings     what is wrong, causes before effects; `ok` is True where there is nothing
    steps        how many were watched
    losses       the loss of each of them, None where it had none
    verdict      what is said where nothing was found
    why          what there is to know of how it was watched
    seconds      what it took, the program's own work included
    """

    subject: str = ""
    findings: list[Finding] = field(default_factory=list)
    steps: int = 0
    losses: list[float | None] = field(default_factory=list)
    model: str = ""
    optimizer: str = ""
    why: list[str] = field(default_factory=list)
    seconds: float = 0.0
    verdict: str = ""

    @property
    def ok(self) -> bool:
        return not self.findings

    def head(self) -> list[str]:
        """What was watched."""
        losses = [loss for loss in self.losses if loss is not None]
        curve = tr("; loss {:.4g} -> {:.4g}", losses[0], losses[-1]) if losses else ""
        lines = [say("doctor of {}: {} steps in {:.1f} s", self.subject, self.steps, self.seconds) + say(curve)]
        known = [part for part in (self.model, self.optimizer) if part]
        return lines + (["; ".join(known)] if known else [])

    def __str__(self) -> str:
        parts = ["\n".join(self.head())]
        parts += [str(finding) for finding in self.findings[:SHOWN]] or [self.verdict or say("nothing found")]
        rest = [f"{f.code} {say(f.title)}" for f in self.findings[SHOWN:]]
        tail = [say("and {} more: {}", len(rest), ", ".join(rest))] if rest else []
        tail += [f"{say('note:')} {say(each)}" for each in self.why]
        return tr("\n\n").join([*parts, tr("\n").join(tail)]).rstrip()

    def __repr__(self) -> str:
        return f"Checkup({self.subject}: {len(self.findings)} findings in {self.steps} steps)"

    def to_html(self) -> str:
        """The same as one HTML page that needs nothing else."""
        return as_page(say("doctor of {}", self.subject), self._repr_html_())

    def _repr_html_(self) -> str:
        head = "".join(f"<p>{escape(line)}</p>" for line in self.head())
        word = say("{} found", len(self.findings)) if self.findings else self.verdict or say("nothing found")
        rows = as_rows(
            HEADS,
            [(f"{f.code} {say(f.title)}", f.place or "-", f.cause, f.numbers, f.fix) for f in self.findings],
        )
        tail = "".join(f"<li>{escape(say(each))}</li>" for each in self.why)
        return f"<section><h2>{word}</h2>{head}{rows}<ul>{tail}</ul></section>"
