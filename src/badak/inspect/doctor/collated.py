"""Whether what puts a batch together keeps the order: a row of it and its label are of one example."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from badak.inspect.doctor.tape import tensors
from badak.tensor import Tensor

LEAST, MOST = 4, 256  # examples of a batch


def in_order(examples: list, batch: Any) -> bool | None:
    """Whether labels lie in the order of the rows that they belong to; None where that cannot be told."""
    n = len(examples)
    if not LEAST <= n <= MOST or not all(isinstance(each, type(examples[0])) for each in examples):
        return None
    made = [x._array for x in tensors(batch) if x._node is None]
    if (told := texts_in_order(examples, made)) is not None:
        return told
    fields = list(fields_of(examples))
    answer = None
    for texts in (each for each in fields if any(len(x) > 1 for x in each)):
        for rows in (each for array in made if array.ndim >= 2 for each in (array, array.swapaxes(0, 1)) if len(each) == n):
            order = order_of(rows.reshape(n, -1), texts)
            for labels in (each for each in fields if order is not None and all(len(x) == 1 for x in each)):
                wanted, sorted_ones = np.concatenate(labels), np.sort(np.concatenate(labels))
                for y in (
                    y
                    for y in made
                    if y.size == n and len(np.unique(wanted)) > 1 and np.array_equal(np.sort(y.ravel()), sorted_ones)
                ):
                    if np.array_equal(y.ravel(), wanted[order]):
                        return True
                    answer = False
    return answer


def texts_in_order(examples: list, made: list[np.ndarray]) -> bool | None:
    """The same of words and labels, by how many words there are: whether ids end as their texts do."""
    parts = list(zip(*examples)) if isinstance(examples[0], (tuple, list)) else []
    words = next(([len(x.split()) for x in part] for part in parts if all(isinstance(x, str) for x in part)), [])
    labels = next((part for part in parts if all(type(x) is int for x in part)), None)
    ids = next((x for x in made if x.ndim == 2 and x.dtype.kind in "iu" and len(x) == len(examples)), None)
    if labels is None or ids is None or len(set(words)) < LEAST or len(set(labels)) < 2:
        return None
    filled = ids == ids[np.argmin(words), -1] if not (ids[:, -1] == 0).any() else ids == 0
    ends = ids.shape[1] - np.cumprod(filled[:, ::-1], axis=1).sum(axis=1)
    more = ends.max() - max(words)  # a start, an end
    if not np.array_equal(np.sort(ends), np.sort(words) + more):
        return None
    own = any(x.size == len(labels) and np.array_equal(x.ravel(), labels) for x in made)
    return bool(np.array_equal(ends, np.array(words) + more)) if own else None


def fields_of(examples: list) -> Iterator[list[np.ndarray]]:
    """Each part of the examples: flat numbers, one array of each example."""
    first = examples[0]
    keys = first.keys() if isinstance(first, dict) else range(len(first)) if isinstance(first, (tuple, list)) else ()
    for key in keys:
        try:
            values = [each[key] for each in examples]
        except (KeyError, IndexError):
            continue
        arrays = [x._array if isinstance(x, Tensor) else x for x in values]
        if all(isinstance(x, (np.ndarray, int, float, list, tuple)) for x in arrays):
            try:
                flat = [np.asarray(x).ravel() for x in arrays]
            except ValueError:
                continue
            if all(x.dtype.kind in "fiub" and len(x) for x in flat):
                yield flat


def order_of(rows: np.ndarray, texts: list[np.ndarray]) -> np.ndarray | None:
    """The example of each row, which begins with what the example holds; None where a row is of none, or of several."""
    found = []
    for row in rows:
        fits = [
            j for j, text in enumerate(texts) if len(text) <= len(row) and np.array_equal(row[: len(text)], text.astype(row.dtype))
        ]
        longest = [j for j in fits if len(texts[j]) == max(len(texts[k]) for k in fits)]
        if len(longest) != 1:
            return None
        found.append(longest[0])
    return np.array(found) if len(set(found)) == len(found) else None
