"""Whether what puts a batch together keeps the order: a row of it and its label are of one example."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from badak.inspect.doctor.rows import bags
from badak.inspect.doctor.tape import tensors
from badak.tensor import Tensor

LEAST, MOST = 4, 256  # examples of a batch
FAR = 256  # numbers of an example that are compared


def in_order(examples: list, batch: Any) -> bool | None:
    """Whether labels lie in the order of the rows that they belong to; None where that cannot be told."""
    n = len(examples)
    if not LEAST <= n <= MOST or not all(isinstance(each, type(examples[0])) for each in examples):
        return None
    every = [x for x in tensors(batch) if x._node is None]
    made = [x._array for x in every]
    if (texts := bags(tuple(every), {})) is not None and len(texts) == n:
        made.append(texts)
    if (told := texts_in_order(examples, made)) is not None:
        return told
    fields, answers = list(fields_of(examples)), []
    orders = [order_in(made, each) for each in fields if any(len(x) > 1 for x in each)]
    known = [order for order in orders if order is not None]
    answers += [np.array_equal(known[0], order) for order in known[1:]]
    for labels in (*([x[0] for x in each] for each in fields if all(len(x) == 1 for x in each)), *said(examples)):
        found = [label_order(made, labels, order) for order in known[:1]]
        answers += [each for each in found if each is not None]
    if not answers and apart_by_twos(made, fields):
        return False
    return all(answers) if answers else None


def apart_by_twos(made: list[np.ndarray], fields: list[list[np.ndarray]]) -> bool:
    """Whether some row of one part is of no example that the same row of another part may be of; rows that are alike may be of
    several."""
    several = [found for each in fields if any(len(x) > 1 for x in each) and (found := owners_in(made, each)) is not None]
    return any(not all(a & b for a, b in zip(several[0], other)) for other in several[1:])


def owners_in(made: list[np.ndarray], texts: list[np.ndarray]) -> list[set[int]] | None:
    """The examples that each row of what was put together may be of; None where some row is of none."""
    n = len(texts)
    for rows in (each for array in made if array.ndim >= 2 for each in (array, array.swapaxes(0, 1)) if len(each) == n):
        flat = rows.reshape(n, -1)
        found = [{j for j, text in enumerate(texts) if begins_with(row, text[:FAR])} for row in flat]
        if all(found) and set().union(*found) == set(range(n)):
            return found
    return None


def order_in(made: list[np.ndarray], texts: list[np.ndarray]) -> np.ndarray | None:
    """The example of each row of what was put together, by what one part of the examples holds."""
    n = len(texts)
    both = (each for array in made if array.ndim >= 2 for each in (array, array.swapaxes(0, 1)) if len(each) == n)
    return next((order for rows in both if (order := order_of(rows.reshape(n, -1), texts)) is not None), None)


def label_order(made: list[np.ndarray], labels: list, order: np.ndarray) -> bool | None:
    """Whether labels lie in this order of the examples; None where none of what was put together are these labels."""
    wanted = np.unique(np.array(labels), return_inverse=True)[1] if isinstance(labels[0], str) else np.array(labels)
    plain = [] if isinstance(labels[0], str) else made
    same = [
        y.ravel() for y in plain if y.size == len(wanted) and np.array_equal(np.sort(y.ravel()), np.sort(wanted).astype(y.dtype))
    ]
    if same and len(set(labels)) > 1:
        return any(np.array_equal(y, wanted[order].astype(y.dtype)) for y in same)
    fits = [y.ravel() for y in made if y.size == len(wanted) and same_kinds(wanted, y.ravel())]
    if not fits or not 2 <= len(set(labels)) <= len(labels) // 2:  # else any order gives each its own name
        return None
    return any(renamed(wanted[order], y) for y in fits)


def said(examples: list) -> Iterator[list[str]]:
    """Labels that are said in a word: one part of the examples, of a few kinds."""
    parts = list(zip(*examples)) if isinstance(examples[0], (tuple, list)) else []
    parts = parts or [*zip(*(each.values() for each in examples))] if isinstance(examples[0], dict) else parts
    for part in parts:
        if all(isinstance(x, str) for x in part) and 2 <= len(set(part)) <= len(part) // 2:
            yield list(part)


def same_kinds(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two hold as many kinds, each as often as one of the other."""
    one, two = (np.sort(np.unique(x, return_counts=True)[1]) for x in (a, b))
    return np.array_equal(one, two)


def renamed(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two tell the same rows apart, whatever they call them."""
    return len(set(zip(a.tolist(), b.tolist()))) == len(np.unique(a)) == len(np.unique(b))


def texts_in_order(examples: list, made: list[np.ndarray]) -> bool | None:
    """The same of words and labels, or of words and words, by how many words there are: whether ids end as their texts do."""
    parts = list(zip(*examples)) if isinstance(examples[0], (tuple, list)) else []
    plain = [part for part in parts if all(type(x) in (int, str, float) for x in part)]
    parts = [tuple(" ".join(x) for x in part) if all(map(is_words, part)) else part for part in parts]
    texts = [part for part in parts if all(isinstance(x, str) for x in part) and len({len(x.split()) for x in part}) >= LEAST]
    labels = next((part for part in plain if not any(part is each for each in texts)), None)
    several = [x for x in made if x.ndim == 2 and x.dtype.kind in "iu"]
    both = [x for each in several for x in (each, each.T) if len(x) == len(examples)]
    told = [ends_as([len(x.split()) for x in part], both) for part in texts]
    known = [each for each in told if each is not None]
    if len(known) > 1 and (any(known) or labels is None):
        return len(set(known)) == 1
    if labels is None or not known or not 2 <= len(set(labels)) <= len(labels) // 2:
        return None
    kinds = np.unique(np.array(labels), return_inverse=True)[1]
    own = [y.ravel() for y in made if y.size == len(kinds) and same_kinds(kinds, y.ravel())]
    if not own:
        return None
    return any(renamed(kinds, y) for y in own) == known[0]


def is_words(x: Any) -> bool:
    """Whether something is the words of a text."""
    return isinstance(x, (list, tuple)) and bool(x) and all(isinstance(each, str) for each in x)


def ends_as(words: list[int], several: list[np.ndarray]) -> bool | None:
    """Whether texts of so many words end so in ids; None where none of these are those texts in some order."""
    answer = None
    for ids in several:
        filled = ids == ids[np.argmin(words), -1] if not (ids[:, -1] == 0).any() else ids == 0
        ends = ids.shape[1] - np.cumprod(filled[:, ::-1], axis=1).sum(axis=1)
        more = ends.max() - max(words)  # a start, an end
        if np.array_equal(ends, np.array(words) + more):
            return True
        if np.array_equal(np.sort(ends), np.sort(words) + more):
            answer = False
    return answer


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
    texts = [text[:FAR] for text in texts]
    for row in rows:
        fits = [j for j, text in enumerate(texts) if begins_with(row, text)]
        longest = [j for j in fits if len(texts[j]) == max(len(texts[k]) for k in fits)]
        if len(longest) != 1:
            return None
        found.append(longest[0])
    return np.array(found) if len(set(found)) == len(found) else None


def begins_with(row: np.ndarray, text: np.ndarray) -> bool:
    """Whether a row begins with what an example holds, or does so behind a start."""
    n, text = len(text), text.astype(row.dtype)
    return n <= len(row) and (np.array_equal(row[:n], text) or n > 1 and np.array_equal(row[1 : n + 1], text))


def apart(x: Any, names: dict[str, Any]) -> list[Any]:
    """What has a label, or a text of its own, for each of these texts or pictures, of what a function knows by name."""
    n = len(x)
    if n < 2 * LEAST or not all(is_part(each) for each in x):
        return []
    own = {id(each) for each in x} if isinstance(x, list) else set()
    others = [y for y in names.values() if isinstance(y, (list, np.ndarray)) and y is not x and len(y) == n]
    return [y for y in others if not own & {id(each) for each in y} and (is_labels(y) or varies(y))]


def is_part(x: Any) -> bool:
    """Whether something is a text or numbers alone, and no example with its label."""
    if isinstance(x, list):
        return len(x) != 2 and all(isinstance(each, (int, str)) for each in x)
    return isinstance(x, str) or (isinstance(x, (Tensor, np.ndarray)) and x.ndim > 0)


def is_labels(y: Any) -> bool:
    """Whether a list is a few kinds, many times each."""
    plain = isinstance(y, np.ndarray) and y.ndim == 1 or all(isinstance(each, (int, str)) for each in y)
    return plain and 2 <= len(set(y.tolist() if isinstance(y, np.ndarray) else y)) <= len(y) // 3


def varies(y: Any) -> bool:
    """Whether a list is texts of several lengths."""
    return all(isinstance(each, list) and is_part(each) for each in y) and len({len(each) for each in y}) > 1
