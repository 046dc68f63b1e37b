import re
from collections import Counter
from dataclasses import replace

import numpy as np

from badak.core.errors import tr
from badak.data import DataLoader
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.diagnoses.moving import REWARDS
from badak.inspect.doctor.facts import Call, Fed, Lookup, Step
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.report import Finding
from badak.inspect.doctor.source import own_text
from badak.inspect.doctor.whole import unlike_columns

LEAST = 5  # steps
WIDE = 16  # rows of a table that is asked for one of them alone


class SameIds(Diagnosis):
    """The texts are one token over and over, or all rows are one text: what prepares them lost the rest."""

    code = "BADAK-221"
    title = "the ids are always the same"
    explains = ("BADAK-222", "BADAK-238", "BADAK-260")

    def look(self, visit: Visit) -> Findings:
        yield from self.told(visit, "time")
        yield from self.one_number(visit)
        yield from self.one_plane(visit)
        yield from self.one_view(visit)
        yield from self.one_column(visit)
        yield from self.paired_with_itself(visit)
        texts = [text for step in visit.steps if (text := _text(step)) is not None]
        if len(texts) < max(LEAST, len(visit.steps) // 2):
            return
        place = next((call.place for step in visit.steps for call in step.calls), "")
        if (one := self.one_row(visit)) is not None:
            yield one
            return
        tokens = np.unique(np.concatenate([np.unique(text.ids) for text in texts]))
        count = sum(text.ids.size for text in texts)
        real = tokens[tokens != 0] if len(tokens) == 2 and all(map(_filled, texts)) else tokens
        if len(real) == 1 and count >= 64:
            yield self.found(
                place,
                tr("all {:,} ids of {} batches are {}, of {} that the table has", count, len(texts), real[0], texts[0].rows)
                if len(tokens) == 1 else
                tr("all {:,} ids of {} batches are {} or padding, of {} that the table has", count, len(texts), real[0],
                   texts[0].rows),
                tr("look at the tokenizer and at what fills texts up"),
                ids=count,
            )  # fmt: skip
        elif count >= 256 and (share := _most(texts)) >= MOST:
            yield self.found(
                place,
                tr("{:.0%} of {:,} ids of {} batches are one, and of the {} that the table has {} were asked for", share, count,
                   len(texts), texts[0].rows, len(tokens)),
                tr("look at the tokenizer: words, or letters, that the vocabulary does not know"),
                share=share,
            )  # fmt: skip
        elif any(all(_one_text(ids) for ids in each) for each in ([t.ids for t in texts], [t.ids.T for t in texts])):
            yield self.found(
                place,
                tr("in all {} batches, {} at first, all rows are one and the same text", len(texts), texts[0].ids.shape),
                tr("look at the index in Dataset.__getitem__, and at what makes the batch"),
                batches=len(texts),
            )

    def paired_with_itself(self, visit: Visit) -> Findings:
        """Of the ids that a model is given for each row two are one, in every row of every call."""
        for calls, equal in visit.watch.given.paired.values():
            if calls == equal >= LEAST:
                place = next((call.place for step in visit.steps for call in step.calls), "")
                yield self.found(
                    place,
                    tr("two of the ids that the model is given for each row are the same in all rows of {} calls", calls),
                    tr("give it the other one of each pair"),
                    calls=calls,
                )  # fmt: skip
                return

    def one_number(self, visit: Visit) -> Findings:
        """What a model is given is one number, over and over."""
        for call in {id(call.module): call for step in visit.steps for call in step.calls if call.grad}.values():
            every = visit.watch.given.trained.get((id(call.module), 0), [])
            values = [each.values for each in every if each.values.dtype.kind == "f" and each.leads]
            count = sum(each.size for each in values)
            first = values[0].flat[0] if count else 0.0
            others = [kept for (module, i), kept in visit.watch.given.trained.items() if module == id(call.module) and i]
            begins = first == 0 and any(each.values.dtype.kind == "f" and each.values.any() for kept in others for each in kept)
            if begins:  # the state that a recurrent model begins with, next to what it reads
                continue
            if len(values) == len(every) >= LEAST and count >= 256 and all((each == first).all() for each in values):
                yield self.found(
                    call.place,
                    tr("all {:,} numbers that {} is given in {} calls are {:.3g}", count, type(call.module).__name__, len(values),
                       float(first)),
                    tr("look at what makes the data: noise of 0, a mask that hides all, a cast to integers"),
                    numbers=count,
                )  # fmt: skip
                return
            alike = [each for each in values if len(each) >= 8 and each.shape[1] >= 4 and len(np.unique(each[:8], axis=0)) <= 2]
            kinds = np.unique(np.concatenate([each[:8] for each in alike]), axis=0) if len(alike) == len(every) >= LEAST else ()
            if len(values) == len(every) >= LEAST and all_near(values):
                alike, kinds = values, values[0][:1]
            if 0 < len(kinds) <= 2:
                yield self.found(
                    call.place,
                    tr("in all {} batches the rows that {} is given are one and the same", len(alike), type(call.module).__name__)
                    + (", or its mirror" if len(kinds) > 1 else ""),
                    tr("look at the index in Dataset.__getitem__, and at what makes the batch"),
                    batches=len(alike),
                )
                return

    def one_column(self, visit: Visit) -> Findings:
        """All columns that a model is given are one: noise, say, that was drawn once for each row and laid over all."""
        for call in {id(call.module): call for step in visit.steps for call in step.calls if call.grad}.values():
            every = visit.watch.given.trained.get((id(call.module), 0), [])
            plain = [x.values for x in every if x.values.dtype.kind == "f" and len(x.shape) == 1 and x.values.shape[1] > 2]
            if len(plain) == len(every) >= LEAST and all((x == x[:, :1]).all() and np.ptp(x) for x in plain):
                yield self.found(
                    call.place,
                    tr("all {} columns that {} is given are one and the same, in all {} batches", plain[0].shape[1],
                       type(call.module).__name__, len(plain)),
                    tr("look at what makes them: expand() lays one number over all columns, and draws nothing"),
                    columns=plain[0].shape[1],
                )  # fmt: skip
                return

    def one_plane(self, visit: Visit) -> Findings:
        """One of the few channels of the pictures that a model is given is 0 in all of them, and no other is."""
        for call in {id(call.module): call for step in visit.steps for call in step.calls if call.grad}.values():
            every = visit.watch.given.trained.get((id(call.module), 0), [])
            shapes = {each.shape for each in every if each.values.shape[1] == np.prod(each.shape) and each.values.dtype.kind == "f"}
            shape = next(iter(shapes), ())
            if len(shapes) != 1 or len(every) < LEAST or len(shape) != 3 or not 1 < shape[0] <= 4 or min(shape[1:]) < 4:
                continue
            planes = np.concatenate([each.values.reshape(-1, *shape) for each in every])
            empty = [c for c in range(shape[0]) if not planes[:, c].any()]
            if len(empty) == 1 and len(planes) >= 128:
                yield self.found(
                    call.place,
                    tr("channel {} of {} of all {:,} pictures that {} is given is 0", empty[0], shape[0], len(planes),
                       type(call.module).__name__),
                    tr("look at what fills the channels"),
                    channel=empty[0],
                )  # fmt: skip
                return

    def one_view(self, visit: Visit) -> Findings:
        """A model is called twice in each step, and given the same numbers, made twice: two views that do not differ."""
        rounds = [step for step in visit.rounds if any(call.grad for call in step.calls)]
        alike = [found for step in rounds if (found := twins(step, visit)) is not None]
        if len(alike) >= LEAST and len(alike) >= 0.8 * len(rounds) and not REWARDS.search(own_text()):
            yield self.found(
                alike[0].place,
                tr("in {} of {} steps {} is given two batches of the same numbers, made twice: two views that do not differ",
                   len(alike), len(rounds), type(alike[0].module).__name__),
                tr("look at what changes them by chance: crops, noise, words left out"),
                steps=len(alike),
            )  # fmt: skip

    def one_row(self, visit: Visit) -> Finding | None:
        """One id for each row, and all of them the same, of a table that has more: whose it is was lost."""
        by = grouped((id(lookup.module), lookup) for step in visit.steps for lookup in step.lookups if lookup.module is not None)
        for several in by.values():
            first = several[0].ids.reshape(-1)[:1]
            rows = [lookup.ids for lookup in several if lookup.ids.size == len(lookup.ids) >= LEAST]
            if len(rows) < len(several) or len(rows) < LEAST or several[0].rows < WIDE or any((ids != first).any() for ids in rows):
                continue
            count = sum(map(len, rows))
            if count >= 64:
                place = next((call.place for step in visit.steps for call in step.calls), "")
                return self.found(
                    place,
                    tr("all {:,} ids that {} was asked for are {}, of {} that it has", count, visit.names.of(several[0].module),
                       first[0], several[0].rows),
                    tr("look at what makes the ids: a column of another name, a cast, a factor of 0"),
                    ids=count,
                )  # fmt: skip
        return None


def twins(step: Step, visit: Visit) -> Call | None:
    """A call that is given the numbers of another call of the same model, which lie elsewhere in memory, and were not picked there:
    who picks the same rows twice means it. In a contrast, whose labels are the rows' own places, they may be the very same, where
    no dropout was at work."""
    contrast = any(
        loss.target is not None and np.array_equal(np.sort(loss.target.ravel()), np.arange(loss.rows)) for loss in step.trained
    )
    picked = {each.memory for each in step.picked}
    calls = [call for call in step.calls if call.grad and call.alone and len(call.content) == 1]
    calls = [call for call in calls if call.content[0][0] not in picked] if len(step.backs) == 1 else []
    for i, call in enumerate(calls):
        for other in calls[:i]:
            (at, *what), (elsewhere, *same) = call.content[0], other.content[0]
            apart = at != elsewhere or contrast and id(call.module) not in visit.watch.random
            if other.module is call.module and what == same and apart and len(what[0]) > 1:
                return call
    return None


MOST = 0.85  # of the ids


def _most(texts: list[Lookup]) -> float:
    """The share of the most frequent id, zeros apart, where hardly any other of the table is ever asked for; else 0."""
    ids = np.concatenate([text.ids.ravel() for text in texts])
    kinds, counts = np.unique(ids[ids != 0], return_counts=True)
    few = texts[0].rows >= WIDE and 1 < len(kinds) <= max(2, texts[0].rows // 8)
    return float(counts.max() / counts.sum()) if few and counts.sum() >= 64 else 0.0


def _one_text(ids: np.ndarray) -> bool:
    return ids.ndim == 2 and min(ids.shape) >= 4 and bool((ids == ids[:1]).all())


def _filled(text: Lookup) -> bool:
    """Whether zeros stand at the ends of rows alone: padding."""
    if text.ids.ndim == 1:  # of several texts, laid flat
        return text.rows >= LEAST
    return text.ids.ndim == 2 and not (np.diff((text.ids == 0).astype(int), axis=1) < 0).any() and text.rows >= LEAST


def _text(step: Step) -> Lookup | None:
    """What was looked up in the largest table, positions apart; laid flat, where it was asked several times."""
    found = [x for x in step.lookups if x.ids.size > 1 and not _counts(x.ids)]
    first = max(found, key=lambda x: x.rows, default=None)
    several = [x.ids for x in found if first is not None and x.module is first.module]
    return replace(first, ids=np.concatenate([ids.ravel() for ids in several])) if first and len(several) > 1 else first


def _counts(ids: np.ndarray) -> bool:
    rows = [ids.reshape(-1, ids.shape[-1])] + [ids.T] * (ids.ndim == 2)
    return any(each.shape[1] > 1 and bool((np.diff(each, axis=1) == 1).all()) for each in rows)


class SameBatch(Diagnosis):
    """Each step gets the same numbers, made again: next(iter(loader)) begins again, or a seed is set in the loop."""

    code = "BADAK-222"
    title = "every batch is the same"

    def look(self, visit: Visit) -> Findings:
        if (again := visit.watch.rows.again()) is not None:
            drawn, different, there = again
            yield self.found(
                next((call.place for step in visit.steps for call in step.calls if call.grad), ""),
                tr("of {:,} rows that there are the same {} come again and again, {} times in all", there, different, drawn),
                tr("look at what chooses the rows: torch.randperm(n), randint(n, (size,))"),
                rows=different, drawn=drawn,
            )  # fmt: skip
            return
        yield from self.told(visit, "same")
        yield from self.newest(visit)
        yield from self.seeds(visit)
        for steps in visit.by_optimizer():
            calls = [next((c for c in step.calls if c.grad and c.content), None) for step in steps]
            found = self._judged(visit, [call for call in calls if call is not None], len(steps))
            if found is not None:
                yield found
                return
        yield from self.one_noise(visit)

    def newest(self, visit: Visit) -> Findings:
        """A training by rewards is given, step after step, what was kept last, or first, of all that was kept."""
        slides = visit.watch.rows.slides
        if slides >= LEAST and 2 * slides >= len(visit.rounds) - 1 and REWARDS.search(own_text()):
            yield self.found(
                next((call.place for step in visit.steps for call in step.calls if call.grad), ""),
                tr("{} of {} steps are given the rows of the step before, in their order, all or all but a few", slides,
                   len(visit.rounds)),
                tr("rows by chance of all that is kept: random.sample(memory, size)"),
                steps=slides,
            )  # fmt: skip

    def one_noise(self, visit: Visit) -> Findings:
        """What makes something for a critic is given the same numbers in each step, and the critic other data."""
        calls = [call for step in visit.steps for call in step.calls if call.grad and call.content]
        for maker, takers in visit.watch.heads.takers.items():
            lines = grouped((call.place, call) for call in calls if id(call.module) == maker)
            alike = [own for own in lines.values() if len(own) >= LEAST and len({call.content[0][1:] for call in own}) == 1]
            several = {call.content[0][1:] for call in calls if id(call.module) in takers & visit.watch.heads.plain}
            for own in alike[:1] if len(several) >= LEAST else ():
                yield self.found(
                    own[0].place,
                    tr("in {} steps {} was given the same numbers, and what judges it other data each time", len(own),
                       type(own[0].module).__name__),
                    tr("draw the noise in the loop: z = torch.randn(n, size)"),
                    steps=len(own),
                )  # fmt: skip
                return

    def seeds(self, visit: Visit) -> Findings:
        """One line sets the same seed again while one optimizer goes on: each epoch draws the numbers of the first."""
        by = grouped(((place, seed), made) for place, seed, made in visit.watch.seeds)
        one = len({id(step.optimizer) for step in visit.steps}) == 1 and not re.search(r"fork_rng|set_rng_state", own_text())
        for (place, _), after in by.items():
            if one and len({*after}) > 1 and after[-1] > after[0] and len(visit.steps) > 4:
                yield self.found(
                    place,
                    tr("the same seed is set again after {} steps: the order of rows, dropout and noise repeat", after[-1]),
                    tr("set the seed once, before the training"),
                    times=len(after),
                )
                return

    def _judged(self, visit: Visit, given: list[Call], steps: int) -> Finding | None:
        if len(given) < max(LEAST, steps):
            return None
        values = Counter(tuple(x[1:] for x in call.content) for call in given)
        most, count = values.most_common(1)[0]
        same = [call for call in given if tuple(x[1:] for x in call.content) == most]
        places = {tuple(x[0] for x in call.content) for call in same}
        few = len(values) <= 3 and 4 * len(values) <= len(given) and min(values.values()) > 3 and not visit.loaders
        few = few and sum(step.seeded for step in visit.steps) >= len(given) - 1
        if (count < max(LEAST, 0.8 * len(given)) and not few) or len(places) < 2 or not _had_more(visit, same):
            return None
        return self.found(
            given[0].place,
            tr("in {} of {} steps {} was given the same numbers, made again each time", len(given) if few else count, len(given),
               type(given[0].module).__name__),
            tr(
                "for batch in loader:, not next(iter(loader)); no manual_seed() in the loop; where it is meant, make the batch once"
            ),
            steps=len(given),
        )  # fmt: skip


def _had_more(visit: Visit, same: list[Call]) -> bool:
    """Whether there was other data to give: all rows at once, made again in each step, are no bug."""
    sizes = {n for x in same[0].content for n in x[1]}
    loaders = [each for each in visit.loaders if each.batch_size in (None, *sizes)]
    if any(batches(loader) <= 1 for loader in loaders):
        return False
    rows = max((x[1][0] for x in same[0].content if x[1]), default=0)
    return (
        any(step.seeded for step in visit.steps[1:])
        or bool(loaders)  # which may have made these
        or any(call.whole >= 2 * rows > 0 for call in same)
    )


def batches(loader: DataLoader) -> float:
    try:
        size = loader.batch_size or len(loader.dataset)  # a sampler may draw rows again and again
        return min(len(loader), -(-len(loader.dataset) // size))
    except TypeError:
        return float("inf")


TINY = 0.02  # the largest number of all that a first layer is given


class NotNormalised(Diagnosis):
    """Numbers as they are measured, 0 to 255 say, go into a first layer whose weights expect a spread of about 1."""

    code = "BADAK-223"
    title = "data that is not normalised"
    explains = ("BADAK-210", "BADAK-213", "BADAK-216", "BADAK-218", "BADAK-219", "BADAK-220", "BADAK-248", "BADAK-257")

    def look(self, visit: Visit) -> Findings:
        yield from self.by_one_number(visit)
        by = grouped(((id(fed.module), fed.place), fed) for step in [*visit.steps, visit.watch.open] for fed in step.fed)
        for several in by.values():
            if len(several) > 2 and all(max(-fed.low, fed.high) < TINY for fed in several) and several[0].high > several[0].low:
                fix = tr("divide once: data that is 0 to 1 already is not to be divided by 255")
                yield self.measured(visit, several[0], fix)
                return
            wild = [fed for fed in several if max(-fed.low, fed.high) > 30 and (fed.std > 10 or abs(fed.mean) > 10)]
            least = 1 if visit.error is not None else 2
            if len(wild) >= least and 2 * len(wild) >= len(several) and min(fed.low for fed in wild) > -1e4:
                fix = tr("x / 255 for pictures, (x - mean) / std of the training data for the rest")
                yield self.measured(visit, wild[0], fix)
                return

    def measured(self, visit: Visit, fed: Fed, fix: str) -> Finding:
        """What is to be said of numbers that go into a layer."""
        cause = tr("what goes into {} has values {:.3g} to {:.3g}, mean {:.3g}, standard deviation {:.3g}",
                   visit.names.of(fed.module) or tr("the first layer"), fed.low, fed.high, fed.mean, fed.std)  # fmt: skip
        return self.found(fed.place, cause, fix, low=fed.low, high=fed.high, mean=fed.mean, std=fed.std)

    def by_one_number(self, visit: Visit) -> Findings:
        """Columns of different units are scaled by one mean and one spread of them all."""
        for low, high in unlike_columns(visit):
            yield self.found(
                "",
                tr("one mean and one spread scale all columns, which still spread {:.2g} to {:.2g}", low, high),
                tr("the mean and the spread of each column: x.mean(axis=0), x.std(axis=0)"),
            )
            return


def all_near(several: list[np.ndarray]) -> bool:
    """Whether rows are one but for rounding, as a mixture of a row with itself is."""
    first = several[0][:1]
    if any(len(each) < 8 or each.shape[1:] != first.shape[1:] for each in several) or first.size < 4 or not np.ptp(first) > 0:
        return False
    return all(float(abs(each[:8] - first).max()) <= 2e-6 * float(np.ptp(first)) for each in several)
