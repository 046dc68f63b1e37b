"""Rows that see nothing: queries from which the mask hides every key. They give zeros, NaN, or the mean of all."""

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.padding import nested_padding
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject


def ask(subject: Subject) -> list[Finding]:
    """Read off the attentions of the first forward. Queries that are padding may be blind: nobody asks for them."""
    if not subject.reference.attentions:
        raise NotApplicable(tr("no attention was seen"), moot=True)
    found, places = [], {}
    for seen in subject.reference.attentions:
        blind = real_queries(subject, seen.blind)
        if blind.any() and seen.path not in places:
            places[seen.path] = blind
    for path, blind in places.items():
        queries = sorted(set(np.nonzero(blind)[-1].tolist()))
        cause = tr("{} of {} queries see no key, the first at position {}", int(blind.sum()), blind.size, queries[0])
        fix = tr("let every query see itself at least: a mask with True on the diagonal, not tril(..., -1)")
        numbers = {"blind queries": int(blind.sum()), "of": blind.size, "first position": queries[0]}
        found.append(Finding("blind", path, cause, fix, numbers))
    return found


def real_queries(subject: Subject, blind: np.ndarray) -> np.ndarray:
    """Those of (B, ..., T) that are no padding, nor behind the end of a text that the model fills up to whole windows."""
    if subject.texts and blind.ndim == 3 and blind.shape[0] == subject.rows and subject.length() < blind.shape[1] != blind.shape[2]:
        padding = subject.padding.get(subject.kind.text, np.zeros((subject.rows, subject.length()), bool))
        behind = np.ones((subject.rows, blind.shape[1] - subject.length()), bool)
        return blind & ~np.concatenate([padding, behind], axis=1)[..., None]  # (B, T, H)
    for padding in subject.padding.values():
        if blind.ndim >= 2 and (blind.shape[0], blind.shape[-1]) == padding.shape:
            blind = blind & ~padding.reshape(padding.shape[0], *([1] * (blind.ndim - 2)), padding.shape[1])
        elif blind.ndim >= 2 and blind.shape[-1] == padding.shape[1] and blind.shape[0] == 1:
            blind = blind & ~padding.all(axis=0)
        elif blind.ndim == 3 and blind.shape[0] % padding.shape[0] == 0 and blind.shape[-1] == padding.shape[1]:
            blind = blind & ~np.repeat(padding, blind.shape[0] // padding.shape[0], axis=0)[:, None]
    for hidden in nested_padding(subject).values() if not subject.padding else ():  # (B, R, L), asked along either axis
        for x in (hidden, hidden.swapaxes(1, 2)):
            if blind.ndim == 4 and (*blind.shape[:2], blind.shape[-1]) == x.shape:
                blind = blind & ~x[:, :, None]
    return blind
