"""How a tensor prints: PyTorch's form, to the character where one was checked.

A number's width is that of the widest one; floats print with 4 digits, or in scientific notation where the range asks for
it; more than 1,000 values are summarised to the 3 at each edge.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import GraphError
from badak.core.public_api.overriding import is_own
from badak.tensor.dtypes import bool_, default_dtype, int64

_PREFIX = "tensor("


@dataclass
class PrintOptions:
    """What set_printoptions sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = PrintOptions()
_PROFILES = {"default": PrintOptions(), "short": PrintOptions(precision=2, edgeitems=2), "full": PrintOptions(threshold=math.inf)}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: Any = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print: digits, values before summarising, values kept at each edge, line width, scientific or not."""
    events.setting("set_printoptions")
    if profile is not None:
        OPTIONS.__dict__.update(_PROFILES[profile].__dict__)
    given = dict(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth)
    OPTIONS.__dict__.update({name: value for name, value in given.items() if value is not None})
    OPTIONS.sci_mode = sci_mode


class Formatter:
    """Writes one number of an array, in the width that the array needs."""

    def __init__(self, values: np.ndarray) -> None:
        self.floating = values.dtype.kind not in "iub"
        self.whole, self.scientific = True, False
        self.width = 1
        if not self.floating:
            self.width = max((len(str(value)) for value in values.ravel().tolist()), default=1)
            return
        finite = values[np.isfinite(values) & (values != 0)].astype(np.float64)
        if finite.size == 0:
            return
        magnitude = np.abs(finite)
        low, high = float(magnitude.min()), float(magnitude.max())
        self.whole = bool((finite == np.ceil(finite)).all())
        if self.whole:
            self.scientific = high / low > 1000.0 or high > 1.0e8
        else:
            self.scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
        if OPTIONS.sci_mode is not None:
            self.scientific = OPTIONS.sci_mode
        if self.whole and not self.scientific:
            self.width = max(len(f"{value:.0f}") for value in finite.tolist()) + 1
        else:
            self.width = max(len(self._plain(value)) for value in finite.tolist())

    def _plain(self, value: float) -> str:
        return f"{value:.{OPTIONS.precision}{'e' if self.scientific else 'f'}}"

    def __call__(self, value: float) -> str:
        if not self.floating:
            text = str(value)
        elif self.scientific or not self.whole:
            text = self._plain(value)
        else:
            text = f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return text.rjust(self.width)


def _summarised(array: np.ndarray) -> np.ndarray:
    """The values at the edges, which alone decide the format of a long tensor."""
    edge = OPTIONS.edgeitems
    for axis in range(array.ndim):
        if array.shape[axis] > 2 * edge:
            ends = np.r_[0:edge, array.shape[axis] - edge : array.shape[axis]]
            array = np.take(array, ends, axis)
    return array


def _row(array: np.ndarray, indent: int, summarise: bool, write) -> str:
    values = array.tolist()
    if summarise and len(values) > 2 * OPTIONS.edgeitems:
        edge = OPTIONS.edgeitems
        words = [write(v) for v in values[:edge]] + [" ..."] + [write(v) for v in values[-edge:]]
    else:
        words = [write(v) for v in values]
    per_line = max(1, (OPTIONS.linewidth - indent) // (write.width + 2))
    lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _block(array: np.ndarray, indent: int, summarise: bool, write) -> str:
    if array.ndim == 0:
        return write(array.item())
    if array.ndim == 1:
        return _row(array, indent, summarise, write)
    edge = OPTIONS.edgeitems
    if summarise and array.shape[0] > 2 * edge:
        parts = [_block(a, indent + 1, summarise, write) for a in array[:edge]] + ["..."]
        parts += [_block(a, indent + 1, summarise, write) for a in array[-edge:]]
    else:
        parts = [_block(a, indent + 1, summarise, write) for a in array]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _complex_writer(values: np.ndarray):
    real, imaginary = Formatter(values.real), Formatter(values.imag)

    def write(z) -> str:
        text = imaginary(z.imag).lstrip()
        return f"{real(z.real)}{'' if text[0] in '+-' else '+'}{text}j"

    write.width = real.width + imaginary.width + 1  # type: ignore[attr-defined]
    return write


def format_tensor(x: Any, contents: str | None = None) -> str:
    """`tensor([...], dtype=..., requires_grad=True)`: the dtype is left out where it is the default.

    A class that a program derives has its own name in the place of "tensor", and may say what stands for the numbers: `contents`.
    """
    if is_own(type(x)):
        return _written(x, _PREFIX, contents)
    text = _written(x, f"{type(x).__name__}(", contents)
    return f"Parameter({text})" if getattr(x, "_is_param", False) else text


def _written(x, prefix: str, contents: str | None) -> str:
    """The values and the notes after them, behind `prefix`."""
    if x._described is not None and contents is None:
        return _without_values(x, prefix)
    notes = []
    if contents is None and x.numel() == 0:
        if x.dim() != 1:
            notes.append(f"size={tuple(x.shape)}")
        plain = x.dtype is default_dtype()
    else:
        plain = _is_plain(x.dtype)
    if not plain:
        notes.append(f"dtype={x.dtype}")
    text = _numbers(x._array, len(prefix)) if contents is None else contents
    return _with_notes(prefix + text, notes + _history(x), len(prefix)) + ")"


def format_sparse(x: Any) -> str:
    """`tensor(indices=tensor(...), values=tensor(...), size=..., nnz=..., layout=...)`."""
    lines = []
    for name, part in (*x.parts().items(), ("values", x._entries)):
        start = f"{name}=tensor("
        empty = f", size={tuple(part.shape)}" if part.numel() == 0 else ""
        lines.append(f"{start}{_numbers(part._array, len(_PREFIX) + len(start))}{empty})")
    notes = [f"size={tuple(x.shape)}", f"nnz={x._entries.shape[0]}"]
    if not _is_plain(x.dtype):
        notes.append(f"dtype={x.dtype}")
    notes += [f"layout={x.layout}", *_history(x)]
    return _with_notes(_PREFIX + (",\n" + " " * len(_PREFIX)).join(lines), notes, len(_PREFIX), x.is_sparse) + ")"


def _numbers(array: np.ndarray, indent: int) -> str:
    if array.size == 0:
        return "[]"
    if array.dtype.kind == "V":
        array = array.astype(np.float32)
    summarise = array.size > OPTIONS.threshold
    shown = _summarised(array) if summarise else array
    write = _complex_writer(shown) if array.dtype.kind == "c" else Formatter(shown)
    return _block(array, indent, summarise, write)


def _is_plain(dtype) -> bool:
    """Whether the dtype is one that numbers have where none is asked for."""
    return dtype in (default_dtype(), bool_, int64) or (dtype.is_complex and dtype.to_real() is default_dtype())


def _history(x) -> list[str]:
    try:
        node = x.grad_fn
    except GraphError:  # one of several pieces, whose base was changed: it can be printed, not used
        return ["grad_fn=<Invalid>"]
    if node is not None:
        return [f"grad_fn=<{type(node).__name__}>"]
    return ["requires_grad=True"] if x.requires_grad else []


def _without_values(x, prefix: str) -> str:
    """A tensor on the meta device."""
    notes = ["...", "device='meta'", f"size={tuple(x.shape)}"]
    if x.dtype is not default_dtype():
        notes.append(f"dtype={x.dtype}")
    if x.requires_grad:
        notes.append("requires_grad=True")
    return f"{prefix}{', '.join(notes)})"


def _with_notes(text: str, notes: list[str], indent: int, new_line: bool = False) -> str:
    """Append the notes, on the last line where they fit, each on a new line where they do not; the first on one where asked."""
    width = len(text) - text.rfind("\n") + 1  # as PyTorch counts: two columns stay free on the last line of the numbers
    for note in notes:
        if new_line or width + len(note) + 2 > OPTIONS.linewidth:
            new_line = False
            text += ",\n" + " " * indent + note
            width = indent + len(note)
        else:
            text += ", " + note
            width += len(note) + 2
    return text
