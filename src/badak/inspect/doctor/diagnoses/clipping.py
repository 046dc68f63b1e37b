from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.grouping import grouped


class ClippedAway(Diagnosis):
    """A norm that clipping lets through so small that hardly anything is left of any gradient."""

    code = "BADAK-234"
    title = "clipping leaves nothing of the gradients"
    explains = ("BADAK-214",)
    most, share = 1e-2, 1e-3  # what is let through, and of what was there

    def look(self, visit: Visit) -> Findings:
        by = grouped((clip.place, clip) for step in visit.steps for clip in step.clips)
        for place, every in by.items():
            if len(every) >= 3 and all(
                clip.limit <= self.most * clip.scale and 0 < clip.limit < self.share * clip.before for clip in every
            ):
                least, limit, scale = min(clip.before for clip in every), every[0].limit, every[0].scale
                scaled = tr(", and they are still multiplied by {:.0f}", scale) if scale > 1 else ""
                yield self.found(
                    place,
                    tr("all {} times {:.3g} was let through of {:.3g} and more: less than "
                       "{:.0e} of the gradients is left{}", len(every), limit, least,
                       max(clip.limit / clip.before for clip in every), scaled),
                    tr("scaler.unscale_(optimizer) before clipping") if scale > 1 else
                    tr("max_norm=1.0, or what the norm usually is: clip_grad_norm_ returns it"),
                    limit=limit, before=least, times=len(every),
                )  # fmt: skip
                return


class ClippedEarly(Diagnosis):
    """Clipping comes before backward(): there is nothing to clip, and what backward() makes goes into the step as it is."""

    code = "BADAK-235"
    title = "gradients are clipped before there are any"

    def look(self, visit: Visit) -> Findings:
        every = [clip for step in visit.rounds for clip in step.clips]
        late = [clip for clip in every if clip.late]
        if len(late) >= 3 and len(late) == len(every):
            yield self.found(
                late[0].place,
                tr("all {} times clipping was called after the step that had used the gradients", len(late)),
                tr("loss.backward(), then clip_grad_norm_(model.parameters(), ...), then optimizer.step()"),
                times=len(late),
            )
            return
        rounds = [step for step in visit.rounds if step.clips and step.backs]
        within = [step for step in rounds if step.clips[-1].backs < len(step.backs)]
        if len(within) >= 3 and len(within) == len(rounds) and len(visit.watch.optimizers) == 1:
            yield self.found(
                within[0].clips[-1].place,
                tr("in all {} steps another backward() comes after clipping, and what it makes is not clipped", len(within)),
                "clip once, after the last backward() of a step: clip_grad_norm_(model.parameters(), ...), then optimizer.step()",
                times=len(within),
            )
            return
        early = [clip for clip in every if clip.early]
        if len(early) >= 3 and len(early) == len(every):
            yield self.found(
                early[0].place,
                tr("all {} times there was no gradient yet when clipping was called", len(early)),
                tr("loss.backward(), then clip_grad_norm_(model.parameters(), ...), then optimizer.step()"),
                times=len(early),
            )
