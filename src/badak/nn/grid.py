"""A mask as a picture: a grid of queries and keys, in a terminal and in a notebook."""

from html import escape

from badak.core.errors import tr
from badak.tensor import Tensor

QUERIES, KEYS, GRIDS = 32, 64, 4  # shown at most; the rest is told in words
SEEN, HIDDEN = "■", "·"
_STYLE = {True: "background:#2c7fb8", False: "background:rgba(128,128,128,.18)"}  # apart for all eyes, in dark mode too


class Grid:
    """What `Mask.show()` gives: str() for a terminal, _repr_html_ for a notebook.

    A row is a query, a column a key; queries are the last of the keys' places. seen: booleans (T, S) or (B, H, T, S).
    """

    def __init__(self, title: str, seen: Tensor) -> None:
        self.title, self.seen = title, seen

    def __repr__(self) -> str:
        lines = [self._head()]
        for name, rows in self._grids():
            lines += [name] if name else []
            first = self.seen.shape[-1] - self.seen.shape[-2]
            width = len(str(self.seen.shape[-1]))
            lines += [f"{max(first, 0) + i:>{width}} {' '.join(SEEN if x else HIDDEN for x in row)}" for i, row in enumerate(rows)]
        return "\n".join(lines + self._notes())

    def _repr_html_(self) -> str:
        parts = [f"<div style='font-family:monospace;font-size:12px'>{escape(self._head())}"]
        for name, rows in self._grids():
            cells = "".join(f"<tr>{''.join(_cell(i, j, x) for j, x in enumerate(row))}</tr>" for i, row in enumerate(rows))
            parts.append(f"<div>{escape(name)}</div><table style='border-collapse:separate;border-spacing:1px'>{cells}</table>")
        return "".join([*parts, *(f"<div>{escape(note)}</div>" for note in self._notes()), "</div>"])

    def _head(self) -> str:
        T, S = self.seen.shape[-2:]
        return f"{self.title}: {T} queries (rows) of {S} keys (columns), {SEEN} seen"

    def _grids(self) -> list[tuple[str, list]]:
        """(name, rows) of each grid that is shown."""
        T, S = self.seen.shape[-2:]
        cut = self.seen[..., : min(T, QUERIES), : min(S, KEYS)]
        if cut.dim() == 2:
            return [("", cut.tolist())]
        B, H = cut.shape[:2]
        names = [(b, h) for b in range(B) for h in range(H)][:GRIDS]
        words = [" ".join([f"batch {b}"] * (B > 1) + [f"head {h}"] * (H > 1)) for b, h in names]
        return [(word, cut[b, h].tolist()) for word, (b, h) in zip(words, names)]

    def _notes(self) -> list[str]:
        """What the picture leaves out, and rows that see nothing."""
        *lead, T, S = self.seen.shape
        grids = lead[0] * lead[1] if lead else 1
        notes: list[str] = []
        if T > QUERIES or S > KEYS:
            notes.append(tr("... the first {} queries and {} keys are shown", min(T, QUERIES), min(S, KEYS)))
        if grids > GRIDS:
            notes.append(tr("... and {} more like these of the batch", grids - GRIDS))
        blind = int((~self.seen.any(dim=-1)).sum()) if S else 0
        if blind:
            notes.append(tr("{} of {} queries see no key: attention gives zeros there", blind, grids * T))
        return notes


def _cell(i: int, j: int, seen: bool) -> str:
    title = f"query {i}, key {j}: {'seen' if seen else 'hidden'}"
    return f"<td title='{title}' style='width:11px;height:11px;padding:0;{_STYLE[seen]}'></td>"
