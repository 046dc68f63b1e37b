import numpy as np

from badak.core.errors import tr
from badak.data import Subset, TensorDataset
from badak.inspect.doctor.augmented import asked, switched_on
from badak.inspect.doctor.diagnoses.data import SameBatch
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.given import Rows, shapes_of
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.whole import scaling
from badak.nn import Module

LEAST, EACH = 32, 8  # rows in all, and of each call
TIMES, WIDE = 2.0, 4  # spread of the one by the other; numbers of a row that move, at least
PICTURES = 1.9  # the same of pictures, which (x - 0.5) / 0.5 spreads twice as far
FAR = 10.0  # the same where fewer move
IDS = 256  # of a test
CLASSES = ("cross_entropy", "bce_with_logits", "bce")


class OtherData(Diagnosis):
    """What a model is tested with was prepared otherwise than what it learned from: not scaled, scaled twice, of unknown words."""

    code = "BADAK-257"
    title = "tested with data that was prepared otherwise"

    def look(self, visit: Visit) -> Findings:
        by_the_text = [*self.told(visit, "prepared")]
        yield from by_the_text
        if not by_the_text and (told := scaling(visit, "own")):
            fix = tr("prepare both alike, once, with the mean and the spread of the training data")
            yield self.found("", told[0], fix, learnt=told[1], tested=told[2])
            return
        yield from self.numbered_otherwise(visit)
        yield from self.begun_otherwise(visit)
        yield from self.other_numbers(visit)

    def other_numbers(self, visit: Visit) -> Findings:
        """Numbers, or ids, that lie elsewhere than those of the training."""
        given = visit.watch.given
        chosen = visit.watch.chosen  # what it sees hangs on what it does
        for (key, part, _), tested in given.tested.items():
            trained = given.trained.get((key, part)) or self.of_the_model(visit, key, part)
            if not trained or not tested or chosen:
                continue
            place = next((t.place for step in [*visit.steps, visit.watch.open] for t in step.tested), "")
            a, b = joined(trained, tested[0]), joined(tested, tested[0])
            if a is None or b is None or (part and a.dtype.kind == "f" and 2 * (b.std(axis=0) > 0).sum() < b.shape[1]):
                continue  # zeros may stand where nothing is known in a test
            if a.dtype.kind == "f":
                times = spread(a, b)
                if len(tested[0].shape) == 3 and (apart := shift(a, b)) > 1.0:
                    yield self.found(
                        place,
                        tr("the mean of the pictures of the test lies {:.2g} of their spread away from that of those "
                           "it was trained with ({} and {} pictures were looked at)", apart, len(b), len(a)),
                        tr("prepare both alike, once, with the mean and the spread of the training data"),
                        apart=apart,
                    )  # fmt: skip
                    return
                most = PICTURES if len(tested[0].shape) > 1 and min(tested[0].shape[-2:]) > WIDE else TIMES
                if times is not None and not 1 / most < times < most:
                    yield self.found(
                        place,
                        tr("what the model is tested with spreads {:.2g} times as far as what it was trained with, in the "
                           "median of {} numbers of a row ({} and {} rows were looked at)", times, a.shape[1], len(b),
                           len(a)),
                        tr("prepare both alike, once, with the mean and the spread of the training data"),
                        times=times,
                    )  # fmt: skip
                    return
            elif (share := most_frequent(b)) > 0.9 and most_frequent(a) < 0.5:
                yield self.found(
                    place,
                    tr("{:.0%} of the ids that the model is tested with are one id, and {:.0%} of those that it was trained with",
                       share, most_frequent(a)),
                    tr("make the ids of both by one vocabulary and one tokenizer"),
                    share=share,
                )  # fmt: skip
                return
            elif (share := most_frequent(a)) > 0.9 and most_frequent(b) < 0.5 and len(np.unique(a)) >= 8:
                yield self.found(
                    place,
                    tr("{:.0%} of the ids that the model is trained with are one id, and {:.0%} of those that it is tested with",
                       share, most_frequent(b)),
                    tr("make the ids of both by one vocabulary and one tokenizer; look at what hides words by chance"),
                    share=share,
                )  # fmt: skip
                return
            elif a.dtype.kind != "f" and renumbered(a, b) and not [*SameBatch().look(visit)]:
                yield self.found(
                    place,
                    tr("the ids of the test are as frequent as those that it was trained with, and are others: each word has "
                       "another number ({} and {} ids were looked at)", b.size, a.size),
                    tr("make the ids of both by one vocabulary and one tokenizer"),
                )  # fmt: skip
                return

    def of_the_model(self, visit: Visit, key: int, part: int) -> list[Rows]:
        """What the model was trained with of which the one that is tested is a copy: an average of its weights, say."""
        models = {id(m): m for m in [*visit.watch.called.values(), *visit.alive] if isinstance(m, Module)}
        copy = models.get(key)
        others = [k for k, p in visit.watch.given.trained if p == part and k != key and k in models]
        twins = [
            k for k in others if copy is not None and type(models[k]) is type(copy) and shapes_of(models[k]) == shapes_of(copy)
        ]
        still = copy is not None and not any(id(p) in visit.trained for p in copy.parameters())
        return visit.watch.given.trained[twins[0], part] if len(twins) == 1 and still else []

    def mirrored(self, visit: Visit) -> Findings:
        """A dataset of its own for tests mirrors pictures by chance, as that of the training does."""
        sets = {id(loader.dataset): loader.dataset for loader in visit.loaders}
        if len(sets) > 1 and visit.watch.given.tested and not any(isinstance(each, Subset) for each in sets.values()):
            if all(len(asked(each)) >= 3 for each in sets.values()):
                yield self.found(
                    next((t.place for step in [*visit.steps, visit.watch.open] for t in step.tested), ""),
                    tr(
                        "all {} datasets mirror pictures by chance, also that of the test, which is another one each time",
                        len(sets),
                    ),
                    tr("without chance in tests: the same picture each time"),
                )

    def switched_on(self, visit: Visit) -> Findings:
        """What the training changes by chance is changed in the test, too: a switch of its dataset is on."""
        sets = {id(loader.dataset): loader.dataset for loader in visit.loaders}
        alike = grouped(
            (f"{type(each).__module__}.{type(each).__qualname__}", each)
            for each in sets.values()
            if not isinstance(each, Subset | TensorDataset | list)
        )
        for several in alike.values() if visit.watch.given.tested else ():
            names = [switched_on(each) for each in several] if 1 < len(several) == len(sets) else [""]
            if names[0] and len({*names}) == 1:
                yield self.found(
                    next((t.place for step in [*visit.steps, visit.watch.open] for t in step.tested), ""),
                    tr("{} is True in all {} datasets: what the model is tested with is changed by chance", names[0], len(several)),
                    tr("without chance in tests: the same picture each time"),
                )
                return

    def numbered_otherwise(self, visit: Visit) -> Findings:
        """A model that has learnt is nearly always wrong in a test, in one way for each class: they have other numbers there."""
        steps = [*visit.steps, visit.watch.open]
        losses = [x for step in visit.steps for x in step.trained if x.kind in CLASSES and x.value is not None]
        by = grouped((model, (place, a, b)) for step in steps for model, place, a, b in step.guessed)
        for several in by.values() if losses and losses[-1].value < 0.7 * np.log(max(losses[-1].classes, 2)) else ():  # type: ignore[operator]
            places = grouped((place, (a, b)) for place, a, b in several)
            wrong = [(place, map_of(*map(np.concatenate, zip(*pairs)))) for place, pairs in places.items()]
            if all(each is not None for _, each in wrong):
                place, (share, pure) = wrong[0][0], wrong[0][1] or (0.0, 0.0)
                yield self.found(
                    place,
                    tr("{:.0%} of the answers of a test are right, and {:.0%} would be if the classes had other numbers", share,
                       pure),
                    tr("number the classes once, for the training and the test"),
                    right=share, otherwise=pure,
                )  # fmt: skip
                return

    def begun_otherwise(self, visit: Visit) -> Findings:
        """A text that is written begins with another id than all that were learnt."""
        given = visit.watch.given
        for key, firsts in given.singles.items():
            texts = given.learnt.get(key, [])
            learnt = np.concatenate(texts) if len(texts) > 4 else np.zeros(0)
            if len(learnt) >= 40 and np.ptp(learnt) == 0 and len({*firsts}) == 1 and firsts[0] != learnt[0]:
                yield self.found(
                    "",
                    tr("all {} texts that were learnt begin with {}, and what is written begins with {}", len(learnt),
                       int(learnt[0]), firsts[0]),
                    tr("begin with what the texts of the training begin with"),
                    learnt=int(learnt[0]), first=firsts[0],
                )  # fmt: skip
                return


def map_of(guesses: np.ndarray, labels: np.ndarray) -> tuple[float, float] | None:
    """How many classes are right, and how many were they numbered otherwise, where that is far more; else None."""
    kinds = [c for c in np.unique(guesses) if (guesses == c).sum() >= EACH]
    if len(guesses) < 2 * LEAST or len(kinds) < 2:
        return None
    meant = {}
    for c in kinds:
        values, counts = np.unique(labels[guesses == c], return_counts=True)
        meant[c] = values[counts.argmax()], counts.max()
    right, otherwise = float((guesses == labels).mean()), sum(n for _, n in meant.values()) / len(guesses)
    moved = sum(c != other for c, (other, _) in meant.items())
    alone = len({other for other, _ in meant.values()}) == len(kinds)
    return (right, otherwise) if alone and moved > 1 and otherwise > 0.6 and right < 0.5 * otherwise else None


def renumbered(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether ids are distributed alike but for their order: words keep how frequent they are, and not their numbers."""
    a, b = a[a != 0], b[b != 0]
    if min(a.size, b.size) < IDS:
        return False
    n = int(max(a.max(), b.max())) + 1
    if min(a.min(), b.min()) < 0 or n > 1 << 20:
        return False
    one, two, half, other = (np.bincount(x, minlength=n) / x.size for x in (a, b, a[: a.size // 2], a[a.size // 2 :]))
    far = float(np.abs(one - two).sum()) / 2
    alike = float(np.abs(np.sort(one) - np.sort(two)).sum()) / 2
    same = np.isin(np.unique(b), a).mean() > 0.8
    return bool(same) and far > 0.2 and alike < 0.4 * far and float(np.abs(half - other).sum()) / 2 < 0.3 * far


def joined(several: list[Rows], like: Rows) -> np.ndarray | None:
    """The rows of calls that are of one shape; texts may differ in length. None where there are too few."""
    ids = like.values.dtype.kind != "f"
    fits = [each for each in several if each.whole >= EACH and each.values.dtype.kind == like.values.dtype.kind]
    fits = [each for each in fits if (each.values.shape[1] >= WIDE if ids else each.shape == like.shape)]
    if sum(len(each.values) for each in fits) < LEAST:
        return None
    return np.concatenate([each.values.reshape(-1, 1) if ids else each.values for each in fits])


def spread(a: np.ndarray, b: np.ndarray) -> float | None:
    """How far numbers of b spread, by those of a, in the median: from row to row, or within a row, whichever is nearer to 1.

    A part of a series spreads less than the whole; a window of it spreads as far.
    """
    x, y = a.astype(np.float64), b.astype(np.float64)
    one, two = x.std(axis=0), y.std(axis=0)
    moves = one > 1e-9
    if not moves.any() or not np.isfinite(two).all() or not (inside := float(np.median(x.std(axis=1)))):
        return None
    ratios = float(np.median(two[moves] / one[moves])), float(np.median(y.std(axis=1))) / inside
    times = min(ratios, key=lambda t: abs(np.log(t + 1e-9)))
    return times if moves.sum() >= WIDE or not 1 / FAR < times < FAR or elsewhere(x[:, moves], y[:, moves]) else None


def elsewhere(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether each of a few columns of b lies 3 spreads away from where it lies in a, or spreads three times as far, or a third."""
    if not 1 < a.shape[1] < WIDE or min(len(a), len(b)) < 2 * LEAST:
        return False
    one, two = a.std(axis=0), b.std(axis=0) + 1e-12
    return bool(((abs(b.mean(axis=0) - a.mean(axis=0)) > 3 * one) | (abs(np.log(two / one)) > np.log(3))).all())


def shift(a: np.ndarray, b: np.ndarray) -> float:
    """How far the means of pictures lie from each other, by how far the numbers of the first spread; 0 where pictures differ so."""
    apart, each = abs(float(a.mean() - b.mean())), max(float(a.mean(axis=1).std()), float(b.mean(axis=1).std()))
    return apart / max(float(a.std()), 1e-12) if apart > 3 * each else 0.0


def most_frequent(ids: np.ndarray) -> float:
    """The share of the most frequent id; 0, which often fills texts up, is left out."""
    kinds, counts = np.unique(ids[ids != 0], return_counts=True)
    return float(counts.max() / counts.sum()) if len(kinds) else 0.0
