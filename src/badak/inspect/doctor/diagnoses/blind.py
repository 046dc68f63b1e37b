from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit


class BlindRows(Diagnosis):
    """A mask hides every key from some query: its softmax divides 0 by 0, and one such row makes the whole loss NaN."""

    code = "BADAK-233"
    title = "a query sees nothing, and its softmax is NaN"
    explains = ("BADAK-213", "BADAK-214", "BADAK-215", "BADAK-216", "BADAK-217", "BADAK-218", "BADAK-219", "BADAK-220")

    def look(self, visit: Visit) -> Findings:
        watch = visit.watch
        if watch.blind is None or watch.broken is None or not (watch.broken_step or visit.error is not None):
            return
        rows, total, first, hidden_at = watch.blind
        operation, place, _, number = watch.broken
        yield self.found(
            place,
            tr("step {}: {} makes NaN of {:,} of {:,} rows of scores in which every key is hidden; the first "
               "is {}, hidden at {}", number, operation, rows, total, first, hidden_at or tr("a line of badak")),
            tr("let each query see one key, itself at least; or F.scaled_dot_product_attention, which gives zeros for such a row"),
            rows=rows, of=total, step=number,
        )  # fmt: skip
