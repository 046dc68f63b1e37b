import itertools
import re
import sys

import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.diagnoses.stacks import ends_of_stacks
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.names import assigned_at, is_read, names_of, never_called, weights_of
from badak.inspect.doctor.source import is_ours, named_line, own_text
from badak.nn import Conv1d, Conv2d, Conv3d, Linear, Module


class NeverLearns(Diagnosis):
    """A part that is used and in the optimizer, and whose gradient is 0, or whose loss is never differentiated."""

    code = "BADAK-217"
    title = "a part that never learns"

    def look(self, visit: Visit) -> Findings:
        still = visit.with_zero_gradient()
        if still and not visit.unrewarded():
            yield self.found(
                visit.steps[0].place,
                tr("the gradients of {} parameters are exactly 0 whenever they were measured ({})", len(still),
                   visit.names.few(still)),
                tr("look at what stands between it and the loss: a factor of 0, a mask that hides all, a unit that is dead"),
                parameters=len(still),
            )  # fmt: skip
        yield from self._rows(visit)
        yield from self._blank(visit)
        twice = [each for step in visit.rounds[:3] for each in step.shaped if each.kind == "twice"]
        if len({id(each) for each in twice}) >= 3 and all(any(x.kind == "twice" for x in step.shaped) for step in visit.rounds[:3]):
            yield self.found(
                twice[0].place,
                tr("{} is put next to the same numbers again, picked a second time, in each step that was looked at", twice[0].a),
                tr("look at the indices: hidden[-2] and hidden[-1] are the two directions of a layer that reads both ways"),
            )
        losses = grouped(
            ((loss.place, loss.kind), loss)
            for step in visit.rounds
            for loss in [*(loss for loss in step.trained if loss.kind != "picked"), *step.scalars]
        )
        apart = [*self._constant(visit, losses), *self._last_alone(visit)] or [*self._number(visit)]
        more = (
            self._beside(visit),
            self._in_part(visit),
            self._unread(visit, losses),
            self._divergence(visit),
            self._itself(losses),
            self._equal(visit),
            self._parts(visit),
            self.told(visit, "twice"),
            self.told(visit, "unlearnt"),
        )
        apart = apart or [found for several in more for found in several][:1]
        yield from apart
        lost = [p for p in visit.without_gradient().values() if visit.trained]
        lost = [] if ends_of_stacks(visit, lost) else lost
        known = {key: [loss.scale for loss in several] for key, several in losses.items() if key[1] != "mean"}
        idle = [key for key, scales in known.items() if len(scales) >= 3 and not any(scales)]
        if lost and idle and len(idle) < len(losses) and not apart:
            yield self.found(
                idle[0][0],
                tr("the loss is computed and never differentiated: {} parameters got no gradient in {} steps ({})", len(lost),
                   len(visit.steps), visit.names.few(lost)),
                tr("add it to the loss that backward() is called of"),
                parameters=len(lost),
            )  # fmt: skip
        elif lost and not still and not apart and len(visit.rounds) >= 10:
            yield self.found(
                visit.steps[0].place,
                tr("{} parameters got no gradient in {} steps ({}), though what they are in was called", len(lost),
                   len(visit.steps), visit.names.few(lost)),
                tr("use them in forward as tensors: .item(), float() and indices give numbers without a graph; or delete them"),
                parameters=len(lost),
            )  # fmt: skip

    def _rows(self, visit: Visit) -> Findings:
        """A part of what a layer makes, such as the keys of three, is never used."""
        by = grouped((key, size.idle) for step in visit.steps for key, size in step.sizes.items())
        for key, several in by.items():
            p, owner = visit.watch.reached.get(key), visit.names.owners.get(key)
            if p is not None and isinstance(owner, Linear) and len(several) >= 3 and several[0][1] and len(set(several)) == 1:
                first, last = several[0]
                yield self.found(
                    visit.steps[0].place,
                    tr("the gradients of rows {} to {} of {} of {}, are 0 "
                       "whenever they were measured: this part of what the layer gives is not used", first, last, len(p),
                       visit.names.parameters.get(key, "?")),
                    tr("look at where it is cut into parts, and at the indices of these"),
                    first=first, last=last,
                )  # fmt: skip
                return

    def _blank(self, visit: Visit) -> Findings:
        """A part of what a layer reads, such as the way around, is always 0."""
        by = grouped((key, size.blank) for step in visit.steps for key, size in step.sizes.items())
        data = {id(fed.module) for step in visit.steps for fed in step.fed}
        for key, several in by.items():
            owner = visit.names.owners.get(key)
            sound = not isinstance(owner, (Linear, Conv1d, Conv2d, Conv3d)) or id(owner) in data
            if key in visit.watch.reached and not sound and len(several) >= 3 and several[0][1] and len(set(several)) == 1:
                first, last = several[0]
                yield self.found(
                    visit.steps[0].place,
                    tr("what {} reads at {} to {} is 0 in all rows whenever it was measured: a part of what is put together "
                       "for it is not there", visit.names.parameters.get(key, "?"), first, last),
                    tr("look at what is joined before it: zeros in the place of what another layer gives"),
                    first=first, last=last,
                )  # fmt: skip
                return

    def _constant(self, visit: Visit, losses: dict[tuple, list]) -> Findings:
        """A number is added to the loss that is always the same share of another loss, which is never differentiated."""
        by = grouped((place, number) for step in visit.rounds for place, number, _ in step.constants)
        for (at, _), several in losses.items():
            values = np.array([np.nan if loss.value is None else loss.value for loss in several])
            if len(values) < 4 or any(loss.scale for loss in several) or not np.isfinite(values).all() or not all(values):
                continue
            if np.ptp(values) < 1e-3 * abs(values).max():
                continue
            for place, numbers in by.items():
                if len(numbers) != len(values):
                    continue
                share = np.array(numbers) / values
                if abs(share[0]) > 1e-6 and np.ptp(share) < 1e-3 * abs(share[0]):
                    yield self.found(
                        place,
                        tr("{:.3g} times the loss of {} is added as a number without a graph, {} times: nothing learns from it",
                           share[0], at, len(values)),
                        tr("add the loss itself, not its .item() or .detach()"),
                        share=float(share[0]),
                    )  # fmt: skip
                    return

    def _number(self, visit: Visit) -> Findings:
        """What backward() is called of has a part without a graph, which is another number in each step."""
        by = grouped(
            (place, number) for step in visit.rounds for place, number, went in step.constants if np.isfinite(number) and went
        )
        for place, numbers in by.items():
            least = min(len([s for s in steps if s.fresh]) for steps in visit.by_optimizer())
            if len(numbers) >= 4 and len(numbers) >= least - 1 and len(set(numbers)) > len(numbers) // 2:
                yield self.found(
                    place,
                    tr("a number without a graph is added to the loss, {} times, from {:.3g} to "
                       "{:.3g}: nothing learns from it", len(numbers), min(numbers), max(numbers)),
                    tr("compute it without .item(), .detach() and no_grad(); leave it out where it is only to be shown"),
                    least=min(numbers), most=max(numbers),
                )  # fmt: skip
                return

    def _in_part(self, visit: Visit) -> Findings:
        """Losses are added up, and backward() is called of one of them."""
        for steps in visit.by_optimizer():
            fresh = [step for step in steps if step.fresh]
            for place in dict.fromkeys(place for step in fresh for place in step.in_part):
                times = sum(1 for step in fresh if place in step.in_part)
                if times >= 4 and times >= 0.8 * len(fresh):
                    yield self.found(
                        place,
                        tr("in {} of {} steps this sum of losses is never differentiated, and some of its terms are: "
                           "nothing learns from the others", times, len(fresh)),
                        tr("call backward() of the sum"),
                        steps=times,
                    )  # fmt: skip
                    return

    def _beside(self, visit: Visit) -> Findings:
        """A term of the loss reaches weights of another optimizer, and none that this one moves, where another term does."""
        moved = {id(p) for step in visit.steps for p in step.optimizer._parameters()}
        for steps in visit.by_optimizer():
            known = [step for step in steps if step.terms]
            at = {id(step): i for i, step in enumerate(visit.steps)}
            with_it = [itertools.takewhile(lambda each: not each.fresh, visit.steps[at[id(step)] + 1 :]) for step in known]
            own = {id(p) for several in (known, *with_it) for step in several for p in step.optimizer._parameters()}
            lost = [[place for place, leaves in step.terms if leaves & moved and not leaves & own] for step in known]
            if known and all(lost) and all(len(each) < len(step.terms) for each, step in zip(lost, known)):
                yield self.found(
                    lost[0][0] or known[0].place,
                    tr("a term of the loss reaches none of the weights that the optimizer of this step moves, in {} steps: nothing "
                       "learns from it", len(known)),
                    tr("leave out .detach() on the way to it; or let its weights be in the optimizer"),
                    steps=len(known),
                )  # fmt: skip
                return

    def _divergence(self, visit: Visit) -> Findings:
        """How far a distribution is from the standard normal one is computed, and never differentiated."""
        rounds = [step for step in visit.rounds if step.backs]
        idle = [step for step in rounds if step.divergences and all(each.pull is None for each in step.divergences)]
        if len(idle) >= 4 and len(idle) >= len(rounds) - 1:
            yield self.found(
                idle[0].divergences[-1].place,
                tr("in {} of {} steps a divergence from the normal distribution is computed and never "
                   "differentiated: nothing keeps what is drawn near to it", len(idle), len(rounds)),
                tr("add it to the loss that backward() is called of: loss = reconstruction + beta * kl"),
                steps=len(idle),
            )  # fmt: skip

    def _equal(self, visit: Visit) -> Findings:
        """What is subtracted from each other was computed twice of the same: the difference is always 0."""
        rounds = visit.rounds
        for place in dict.fromkeys(place for step in rounds for place in step.equal):
            if (times := sum(place in step.equal for step in rounds)) >= max(5, len(rounds) - 1):
                yield self.found(
                    place,
                    tr(
                        "in {} steps the two that are subtracted here are one, number by number: something is compared with itself",
                        times,
                    ),
                    tr("look at what both are computed of"),
                    steps=times,
                )
                return

    def _itself(self, losses: dict[tuple, list]) -> Findings:
        """A loss that gives its answers no gradient: they are compared with themselves."""
        for (place, kind), several in losses.items():
            pulls = [loss.pull for loss in several if loss.scale and loss.pull is not None]
            if len(pulls) >= 3 and max(pulls) < 1e-6:
                yield self.found(
                    place,
                    tr("the gradient of this loss ({}) is 0 in all {} steps that were measured: answers are compared "
                       "with themselves", kind, len(pulls)),
                    tr("compare them with the data; what is made of the model's own answers tells it nothing"),
                    steps=len(pulls),
                )  # fmt: skip
                return

    def _parts(self, visit: Visit) -> Findings:
        """Of what channels are cut into, or a model gives for each row, one part never gets a gradient, and others do."""
        for steps in visit.by_optimizer():
            rounds = [step for step in steps if step.fresh]
            for place, i, of in dict.fromkeys(key for step in rounds for key in step.unused):
                seen = [step.unused[place, i, of] for step in rounds if (place, i, of) in step.unused]
                named = names_of(place)
                if len(seen) >= 4 and all(seen) and not (len(named) == of and named[i].startswith("_")):
                    yield self.found(
                        place,
                        tr("part {} of {} that channels are cut into here is never differentiated, in {} steps",
                           i + 1, of, len(seen)),
                        tr("look for the line that reads another part in its place"),
                        part=i + 1, of=of,
                    )  # fmt: skip
                    return
            for place, i in dict.fromkeys(each for step in rounds for each in step.idle if each[0]):
                times, named = sum((place, i) in step.idle for step in rounds), names_of(place)
                if times >= 5 and times >= len(rounds) - 1 and i < len(named) and not named[i].startswith("_"):
                    yield self.found(
                        place,
                        tr("{}, a number for each row, is computed in {} steps and never differentiated: nothing learns from it",
                           named[i], times),
                        tr("add it to the loss that backward() is called of"),
                        steps=times,
                    )  # fmt: skip
                    return

    def _unread(self, visit: Visit, losses: dict[tuple, list]) -> Findings:
        """A loss gets a name that the program never reads."""
        least = min((len(steps) for steps in visit.by_optimizer()), default=0)
        made = grouped((each, step) for step in visit.rounds for each in dict.fromkeys(step.ends))
        known = {place: several for (place, _), several in losses.items() if not any(loss.scale for loss in several)}
        for place, several in (
            known | {place: each for place, each in made.items() if place not in {key[0] for key in losses}}
        ).items():
            found = re.match(r"\s*(\w+) = ", named_line(place)) if len(several) >= max(4, 0.8 * least) else None
            if found and not is_read(found[1]):
                yield self.found(
                    place,
                    tr("{} is computed in {} steps, and nobody reads it: nothing learns from it", found[1], len(several)),
                    tr("add it to the loss that backward() is called of"),
                    steps=len(several),
                )
                return

    def never_called(self, visit: Visit) -> Findings:
        """A layer that a class of the program makes, and of which its text says nothing more."""
        watch = visit.watch
        used = {*watch.called, *watch.inside}
        for owner in (module for top in visit.names.tops for module in top.modules() if id(module) in used):
            if not is_ours(type(owner)) or len(visit.rounds) < 5:
                continue
            for name, module in owner._modules.items():
                own = weights_of(module) if module is not None and id(module) not in used else []
                idle = own and all(p.requires_grad and id(p) in visit.trained and id(p) not in watch.reached for p in own)
                idle = idle or (module is not None and is_ours(type(module)) and not weights_of(module) and id(module) not in used)
                called = {id(each) for each in module.modules()} & used if module is not None else set()
                if idle and not called and assigned_at(owner, name) and not is_read(name, begun=False):
                    yield self.found(
                        assigned_at(owner, name),
                        tr("{}.{} is made with {:,} weights, and nobody calls it", type(owner).__name__, name,
                           sum(p.numel() for p in own)),
                        tr("call self.{}(...) in forward, or leave it out", name),
                        weights=sum(p.numel() for p in own),
                    )  # fmt: skip
                    return

        names = dict(getattr(sys.modules.get("__main__"), "__dict__", {}))
        for name, module in {id(each): (key, each) for key, each in names.items() if isinstance(each, Module)}.values():
            own = weights_of(module) if id(module) not in used else []
            idle = own and all(p.requires_grad and id(p) in visit.trained and id(p) not in watch.reached for p in own)
            inside = {id(each) for each in module.modules()} & used
            said = re.search(rf"\b{name}\(|\b{name}\s*($|[\]),])", own_text(), re.MULTILINE)
            if idle and not inside and not said and len(visit.rounds) >= 10:
                yield self.found(
                    visit.steps[0].place,
                    tr("{} has {:,} weights in the optimizer, and nobody calls it", name, sum(p.numel() for p in own)),
                    tr("call {}(...), or leave it out", name),
                    weights=sum(p.numel() for p in own),
                )  # fmt: skip
                return

        for name, place in never_called():
            yield self.found(
                place,
                tr("{}() writes into tensors that a model or its copy has, and nobody calls it: they stay as they were made", name),
                tr("call {}() in each step, or leave it out", name),
            )
            return

    def _last_alone(self, visit: Visit) -> Findings:
        """Of several losses that a line makes in each step only the last one is differentiated."""
        places = grouped(
            (place, [bool(loss.scale) for loss in step.trained if loss.place == place])
            for step in visit.rounds
            for place in {loss.place for loss in step.trained}
        )
        for place, several in places.items():
            last = sum(several[0]) if several else 0
            if len(several) >= 3 and all(len(each) > 2 and last_alone(each) for each in several):
                yield self.found(
                    place,
                    tr("this line makes {} losses in a step, and only the last of them is differentiated", len(several[0]))
                    if last == 1
                    else tr(
                        "this line makes {} losses in a step, and only the last {} of them are differentiated",
                        len(several[0]),
                        last,
                    ),
                    tr("loss += ..., not loss = ...: add them all up, and call backward() of the sum"),
                    losses=len(several[0]),
                )
                return


def last_alone(went: list[bool]) -> bool:
    """Whether of the losses of a loop only those of its last round were differentiated."""
    last = sum(went)
    return 0 < last <= len(went) - last and all(went[-last:]) and not len(went) % last


class Vanishing(Diagnosis):
    """From layer to layer less comes back, until the first ones get nothing that float32 could tell from 0."""

    code = "BADAK-218"
    title = "vanishing gradients"
    least = 1e-7  # of the largest

    def look(self, visit: Visit) -> Findings:
        sizes = visit.relative_gradients()
        if len(sizes) < 4:
            return
        high, low = max(sizes, key=lambda key: sizes[key]), min(sizes, key=lambda key: sizes[key])
        if 0 < sizes[low] < self.least * sizes[high]:
            names = visit.names.parameters
            yield self.found(
                visit.steps[0].place,
                tr("the gradient of {} is {:.1e} of its weights, that of {} "
                   "{:.1e}", names.get(low, "?"), sizes[low], names.get(high, "?"), sizes[high]),
                tr("residual connections, a norm in each layer, ReLU or GELU in the place of sigmoid and tanh, other initial "
                   "weights"),
                least=sizes[low], most=sizes[high],
            )  # fmt: skip


class Exploding(Diagnosis):
    """From layer to layer more comes back, until one update destroys what there was."""

    code = "BADAK-219"
    title = "exploding gradients"
    explains = ("BADAK-210", "BADAK-213", "BADAK-220")
    most = 1e5  # times the weights

    def look(self, visit: Visit) -> Findings:
        sizes = visit.relative_gradients(first=True)
        summed = [loss.rows * loss.classes for step in visit.steps for loss in step.trained if not loss.mean]
        most = self.most * max(summed, default=1)  # a sum has the gradients of all that it is the sum of
        if not sizes:
            return
        high, low = max(sizes, key=lambda key: sizes[key]), min(sizes, key=lambda key: sizes[key])
        if sizes[high] > most:
            names = visit.names.parameters
            yield self.found(
                visit.steps[0].place,
                tr("the gradient of {} is {:.1e} times its weights, that of {} "
                   "{:.1e}", names.get(high, "?"), sizes[high], names.get(low, "?"), sizes[low]),
                tr("smaller initial weights or a norm in each layer; clip_grad_norm_(model.parameters(), 1.0) keeps the step "
                   "small"),
                least=sizes[low], most=sizes[high],
            )  # fmt: skip
