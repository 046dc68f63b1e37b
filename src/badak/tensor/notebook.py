"""How a tensor looks in a notebook: its kind in words, and its numbers as a table, cut where it is large."""

from html import escape
from typing import Any

import numpy as np

ROWS, COLUMNS = 12, 12  # of numbers shown; more than that are cut in the middle


def html_of(x: Any) -> str:
    """What stands in the cell of a notebook for a tensor."""
    about = [f"{type(x).__name__} <b>{escape(str(tuple(x.shape)))}</b> {escape(str(x.dtype))}"]
    about += ["requires_grad"] if x.requires_grad else []
    about += [f"made by {escape(x._node.name)}"] if x._node is not None else []
    head = f"<div style='font-family:monospace'>{', '.join(about)}"
    if x._described is not None or not x._array.size:
        return f"{head}: no values</div>"
    array = x._array.astype(np.float32) if x._array.dtype.kind == "V" else x._array
    *lead, rows, columns = (1, 1, *array.shape)[-max(2, array.ndim) :]
    first = array.reshape(*lead, rows, columns)[(0,) * len(lead)]
    tables = int(np.prod(lead))
    note = f"<div>[{', '.join(['0'] * len(lead))}], the first of {tables} such tables</div>" if tables > 1 else ""
    lines = [_row(first[i], columns) if i is not None else "<tr><td>⋮</td></tr>" for i in _cut(rows, ROWS)]
    return f"{head}{note}<table style='font-family:monospace'>{''.join(lines)}</table></div>"


def _row(values: np.ndarray, columns: int) -> str:
    cells = ["…" if j is None else _text(values[j]) for j in _cut(columns, COLUMNS)]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _text(value) -> str:
    return f"{value:.4g}" if value.dtype.kind in "fc" else str(value)


def _cut(size: int, most: int) -> list[int | None]:
    """The places that are shown, None for those left out between."""
    if size <= most:
        return list(range(size))
    return [*range(most // 2), None, *range(size - most // 2, size)]
