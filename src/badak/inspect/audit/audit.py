"""`badak.audit`: the door to the room. What is behind it is imported when it is first asked."""

from collections.abc import Callable, Iterable
from typing import Any

from badak.core.public_api.table import reach
from badak.inspect.audit.report import Audit
from badak.nn import Module
from badak.optim import Optimizer


def audit(
    model: Module,
    batch: Any,
    *,
    kind: str | None = None,
    pad: int | None = None,
    optimizer: Optimizer | Iterable[Optimizer] | None = None,
    loss: Callable[[Any], Any] | None = None,
    forwards: int = 12,
) -> Audit:
    """Look for bugs that no error tells of: does the model see the future, its padding, its neighbours; does all of it learn?

        report = badak.audit(model, ids)
        assert report.ok, report

    Gives an `Audit`: findings, ok, text by print, page by to_html(). The model is left exactly as it was: weights, modes,
    gradients, buffers, hooks and the random generators; also after an error.

    Raises ArgumentTypeError for what is no module and no batch, ArgumentError for a model without parameters, for one that does not
    take the batch, and for one that is random in eval mode. PyTorch has no such function.
    docs/how-to/audit.md says what each probe asks.

    Args:
        model: a module
        batch: what the model is called with: a tensor, a tuple of arguments, a dict of them by name, or the pair of both
        kind: "causal", "bidirectional", "encoder-decoder" or "image"; found by itself where it is None
        pad: id of padding; found in masks of the batch, padding_idx and attributes such as pad_id where it is None
        optimizer: one or several, to see whether every parameter is in one of them
        loss: function of what the model gives, to differentiate; else the outputs are summed with random weights
        forwards: most forwards that may be made; there is one backward. Probes that come too late say so

    Returns: an `Audit`

    Example:
        >>> model = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))
        >>> badak.audit(model, badak.randint(20, (2, 6)), kind="causal").ok
        False
    """
    ask_all = reach("badak.inspect.audit.questions.ask_all")
    return ask_all(model, batch, kind, pad, optimizer, loss, forwards)
