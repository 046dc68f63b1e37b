import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.diagnoses.labels import laid_out, next_token
from badak.inspect.doctor.facts import Step
from badak.inspect.doctor.grouping import grouped


def batch_axis(step: Step, shape: tuple[int, ...]) -> int | None:
    """Which of the first two axes is the batch, by the labels of a step: 0, 1, None where they do not tell."""
    found = set()
    texts = [lookup.ids for lookup in step.lookups if lookup.ids.shape == shape[:2]]
    for loss in step.trained if shape[0] != shape[1] else ():
        if loss.rows in shape[:2] and loss.rows > 1:
            found.add(shape.index(loss.rows))
        for ids in texts:
            laid = laid_out(ids, loss.target) if loss.target is not None else ()
            found |= {int(turned) for text, target, turned in laid if next_token(text, target, loss.ignored)}
    if not found and shape[0] != shape[1]:
        found |= {i for ids in texts for i in (0, 1) if filled_up(ids, 1 - i) and not filled_up(ids, i)}
    return found.pop() if len(found) == 1 else None


def filled_up(ids: np.ndarray, along: int) -> bool:
    """Whether zeros stand at the ends of texts, which go along an axis, and nowhere else."""
    empty = (ids == 0).astype(int)
    return bool(empty.any()) and not (np.diff(empty, axis=along) < 0).any()


class ViewForTranspose(Diagnosis):
    """view() changes the shape and moves nothing: what looks like heads, or like channels, is mixed of several tokens."""

    code = "BADAK-240"
    title = "a view where axes were to be swapped"

    def look(self, visit: Visit) -> Findings:
        yield from self.told(visit, "view")
        said = set()
        steps = [step for step in visit.rounds if step.shaped]
        for shaped in (each for step in steps for each in step.shaped if each.kind == "view"):
            once = len(shaped.a) == len(shaped.b) == 4 or shaped.a[:2] == shaped.b[1:]  # data is laid out once
            if shaped.place not in said and (len(steps) >= 2 or once):
                said.add(shaped.place)
                yield self.found(
                    shaped.place,
                    tr("{} is viewed as {}: no number moves, so that a row of the one is made of several rows of the other",
                       shaped.a, shaped.b),
                    tr("x.view(B, T, H, D).transpose(1, 2) for heads, transpose(1, 2) before they are joined; x.transpose(1, 2)"),
                )  # fmt: skip


class Stretched(Diagnosis):
    """Predictions (B, 1) and labels (B,) are stretched to (B, B): each prediction is asked for the labels of all rows."""

    code = "BADAK-241"
    title = "predictions and labels are stretched to (B, B)"
    explains = ("BADAK-260", "BADAK-261")

    def look(self, visit: Visit) -> Findings:
        by = grouped((shaped.place, shaped) for step in visit.rounds for shaped in step.shaped if shaped.kind == "stretched")
        for place, several in by.items():
            a, b = several[0].a, several[0].b
            n = max(*a, *b)
            if len(several) >= 2:
                yield self.found(
                    place,
                    tr("{} and {} meet and become ({}, {}): each of {} predictions is compared with all {} labels, "
                       "and the mean of the labels is learnt", a, b, n, n, n, n),
                    tr("prediction.squeeze(-1), or target.unsqueeze(-1)"),
                    rows=n,
                )  # fmt: skip


class BatchPositions(Diagnosis):
    """Positions go along the rows of the batch: all tokens of a text get the same one."""

    code = "BADAK-242"
    title = "positions along the batch"

    def look(self, visit: Visit) -> Findings:
        seen = [(step, each) for step in visit.rounds for each in step.shaped if each.kind == "varies"]
        wrong = [each for step, each in seen if batch_axis(step, each.a) == each.axis]
        if len(wrong) >= 2:
            a, b = wrong[0].a, wrong[0].b
            yield self.found(
                wrong[0].place,
                tr("a table {} is added to {}, whose axis {} is the batch: each text gets one row of it, whatever the "
                   "place of a token", b, a, wrong[0].axis),
                tr("pe[:, :T] for (B, T, D), pe[:T, None] for (T, B, D)"),
                axis=wrong[0].axis,
            )  # fmt: skip


class BatchFirst(Diagnosis):
    """A layer that reads (T, B, D) is given (B, T, D): it goes from text to text as if they were tokens."""

    code = "BADAK-243"
    title = "batch_first is forgotten"

    def look(self, visit: Visit) -> Findings:
        yield from self.not_first(visit)
        seen = [(step, each) for step in visit.rounds for each in step.shaped if each.kind == "first"]
        wrong = [each for step, each in seen if min(each.a[:2]) > 1 and batch_axis(step, each.a) == 0]
        told = any(batch_axis(step, each.a) is not None for step, each in seen)
        if not told and (as_many_texts(visit, [each.a for _, each in seen]) or labels_of_batches(visit, seen)):
            wrong = [each for _, each in seen]
        if len(wrong) >= 2 and len(wrong) == len(seen):
            T, B = wrong[0].a[:2]
            yield self.found(
                wrong[0].place,
                tr("a layer without batch_first is given {} and reads {} tokens of {} texts; by the labels it is "
                   "{} texts of {} tokens", wrong[0].a, T, B, T, B),
                tr("batch_first=True in the layer"),
            )  # fmt: skip

    def not_first(self, visit: Visit) -> Findings:
        """The other way round: batch_first=True, and the texts lie one next to the other."""
        seen = [(batch_axis(step, each.a), each) for step in visit.rounds for each in step.shaped if each.kind == "last"]
        if len(seen) >= 3 and all(axis == 0 and min(each.a[:2]) > 1 for axis, each in seen):
            B, T = seen[0][1].a[:2]
            yield self.found(
                seen[0][1].place,
                tr("a layer with batch_first=True is given {} and reads {} tokens of {} texts; by the labels it is {} texts of {} "
                   "tokens", (T, B, *seen[0][1].a[2:]), B, T, B, T),
                tr("batch_first=False, or (B, T) from the start"),
            )  # fmt: skip


def labels_of_batches(visit: Visit, seen: list) -> bool:
    """Whether the labels of each step were (B, T) before they were laid flat, B of a loader, as what the layer is given."""
    sizes = {each.batch_size for each in visit.loaders}
    return all(
        any(loss.laid == each.a[:2] for loss in step.trained) and each.a[0] in sizes and each.a[1] not in sizes
        for step, each in seen
    )


def as_many_texts(visit: Visit, shapes: list[tuple[int, ...]]) -> bool:
    """Whether the first axis has one size, that of the loaders' batches, and the second one another from step to step: texts."""
    first, second = {shape[0] for shape in shapes}, {shape[1] for shape in shapes}
    batches = any(each.batch_size in first for each in visit.loaders) or not visit.loaders and len(shapes) > 5
    return len(shapes) > 2 and len(first) == 1 and len(second) > 1 and batches
