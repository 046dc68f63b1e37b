from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.diagnoses.moving import REWARDS
from badak.inspect.doctor.facts import Step
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.names import weights_of
from badak.inspect.doctor.source import own_text
from badak.inspect.doctor.text import weight_of

NUMBERS = {"mse", "difference"}
LOGARITHMS = ("kl_div", "nll")  # below 0 where they are given something else than logarithms and probabilities


class Maximised(Diagnosis):
    """backward() is called of a loss with its sign turned round, and the loss rises from step to step."""

    code = "BADAK-254"
    title = "the loss is maximised"
    explains = ("BADAK-213", "BADAK-219", "BADAK-220")

    def look(self, visit: Visit) -> Findings:
        yield from self.told(visit, "certain")
        yield from self._divergence(visit)
        yield from self._reward(visit)
        yield from self._unlikely(visit)
        yield from self._certain(visit)
        yield from self._likelihood(visit)
        yield from self._same_way(visit)
        for steps in visit.by_optimizer():
            rounds = [step for step in steps if step.fresh and (step.trained or step.scalars)]
            if len(rounds) >= 8:
                yield from self._turned(visit, rounds)

    def _turned(self, visit: Visit, rounds: list[Step]) -> Findings:
        """A loss that cannot be below 0 is made larger by the optimizer of the very model whose loss it is."""
        places: dict[str, list[tuple[float, float]]] = {}
        several = len(visit.watch.optimizers) > 1
        held = {id(p) for p in rounds[0].optimizer._parameters()}
        ways = [step.climbed for step in rounds if step.climbed is not None]
        uphill = len(ways) >= 3 and min(ways) > 0  # weights that the program writes itself go along their gradient
        for step in rounds:
            for loss in [*step.trained, *(each for each in step.scalars if each.made_by == "hinge")]:
                value = loss.each if loss.value is None else loss.value
                mine = not several or loss.maker is not None and any(id(p) in held for p in weights_of(loss.maker))
                way = -(loss.scale or 0.0) if uphill else loss.scale
                if way and value is not None and mine and not (way > 0 and loss.kind in LOGARITHMS):
                    places.setdefault(loss.place, []).append((way, value))
        for place, pairs in places.items():
            values = [value for _, value in pairs]
            sizes, quarter = [abs(value) for value in values], len(values) // 4
            rises = quarter and min(sizes[-quarter:]) > max(sizes[:quarter])  # -log p falls without end, too
            if len(pairs) >= len(rounds) - 1 and all(scale * value < 0 for scale, value in pairs) and rises:
                yield self.found(
                    place,
                    tr("in {} of {} steps this loss is made smaller with the wrong sign: it goes from "
                       "{:.3g} to {:.3g}", len(pairs), len(pairs), values[0], values[-1]),
                    "p -= rate * p.grad" if uphill else tr("loss.backward(), without the minus; optimizers go down"),
                    first=values[0], last=values[-1],
                )  # fmt: skip
                return

    def _reward(self, visit: Visit) -> Findings:
        """What a critic foretells of rewards is made smaller by the optimizer of an actor."""
        critics: dict[int, set[str]] = {}  # models (their id), and of what kind their own losses are
        for steps in visit.by_optimizer() if len(visit.watch.optimizers) > 1 and REWARDS.search(own_text()) else ():
            held = {id(p) for p in steps[0].optimizer._parameters()}
            for loss in (loss for step in steps for loss in step.trained if loss.maker is not None and loss.scale):
                if any(id(p) in held for p in weights_of(loss.maker)):
                    critics.setdefault(id(loss.maker), set()).add(loss.kind)
        for steps in visit.by_optimizer() if critics else ():
            held = {id(p) for p in steps[0].optimizer._parameters()}
            scalars = [loss for step in steps for loss in step.scalars if loss.maker is not None and loss.scale]
            own = [
                x
                for x in scalars
                if critics.get(id(x.maker), {""}) <= NUMBERS and not any(id(p) in held for p in weights_of(x.maker))
            ]
            if len(own) >= 5 and all((loss.scale or 0.0) * loss.sign > 0 for loss in own):
                yield self.found(
                    own[0].place,
                    tr("in all {} steps the optimizer makes what {} foretells of the rewards smaller, from {:.3g} to {:.3g}",
                       len(own), type(own[0].maker).__name__, own[0].value, own[-1].value),
                    tr("loss = -critic(state, actor(state)).mean(): rewards are to be large"),
                    steps=len(own),
                )  # fmt: skip
                return

    def _same_way(self, visit: Visit) -> Findings:
        """A generator and its critic move the critic's score of what was generated in one direction."""
        if len(visit.watch.optimizers) != 2:
            return
        ways: dict[tuple[int, bool], list[float]] = {}  # critic, whether it is its own step: the gradients of the score
        places: dict[int, str] = {}
        for step in (each for each in visit.steps if each.fresh):
            held = {id(p) for p in step.optimizer._parameters()}
            for loss in (each for each in step.scalars if each.maker is not None and each.scale):
                own = any(id(p) in held for p in weights_of(loss.maker))
                if (loss.fake or loss.led) if own else not loss.fake:  # of its own step what was generated; of the other's all
                    ways.setdefault((id(loss.maker), own), []).append(loss.scale * loss.sign)  # type: ignore[operator]
                    places.setdefault(id(loss.maker), "" if own else loss.place)
                    places[id(loss.maker)] = places[id(loss.maker)] if own else loss.place
        for critic, place in places.items():
            mine, other = ways.get((critic, True), []), ways.get((critic, False), [])
            if min(len(mine), len(other)) >= 3 and len({each > 0 for each in (*mine, *other)}) == 1:
                yield self.found(
                    place,
                    tr("the score of what is generated is moved in one direction by both optimizers, in {} and in {} steps: the "
                       "generator helps its critic", len(mine), len(other)),
                    tr("loss_g = -critic(generator(z)).mean(), where the critic makes that score small"),
                    steps=len(other),
                )  # fmt: skip
                return

    def _unlikely(self, visit: Visit) -> Findings:
        """What was rewarded is made less likely."""
        weighed = any(step.weighed for step in visit.steps)
        if not visit.watch.chosen and not weighed or not REWARDS.search(own_text()) and not visit.watch.ratios:
            return
        by = grouped((place, gradient) for step in visit.rounds for place, gradient in step.weighed)
        steps = {place: sum(any(at == place for at, _ in step.weighed) for step in visit.rounds) for place in by}
        for place, several in by.items():
            known = [each for each in several if each]
            if steps[place] < 3 or not known or not (sign := weight_of(place)):
                continue
            if all(each * sign > 0 for each in known):
                yield self.found(
                    place,
                    tr("in {} steps the logarithm of the probability of what was done, times what it was worth, is made smaller: "
                       "what is rewarded becomes less likely", steps[place]),
                    tr("loss = -(log_prob * advantage).mean()"),
                    steps=steps[place],
                )  # fmt: skip
                return

    def _certain(self, visit: Visit) -> Findings:
        """The entropy of a policy is made smaller: it stops trying things."""
        by = grouped(each for step in visit.rounds for each in step.uncertain)
        for place, pulls in by.items() if REWARDS.search(own_text()) else ():
            if len(pulls) >= 5 and min(pulls) > 0:
                yield self.found(
                    place,
                    tr("the entropy of what is done is made smaller, in all of {} gradients: the policy is taught to do always the "
                       "same", len(pulls)),
                    tr("loss = ... - weight * entropy"),
                    times=len(pulls),
                )  # fmt: skip
                return

    def _likelihood(self, visit: Visit) -> Findings:
        """Data, or what is made of it, becomes less likely under a distribution."""
        for steps in visit.by_optimizer() if not REWARDS.search(own_text()) else ():
            rounds = [step for step in steps if step.fresh]
            for place in dict.fromkeys(place for step in rounds for place, _ in step.likely):
                pulls = [pull for step in rounds for at, pull in step.likely if at == place]
                if len(pulls) >= 5 and len(pulls) >= len(rounds) - 1 and min(pulls) > 0:
                    yield self.found(
                        place,
                        tr("in all {} steps the logarithm of a likelihood is made smaller: what is there becomes less likely",
                           len(pulls)),
                        tr("loss = -distribution.log_prob(x).mean(), or -F.logsigmoid(score).mean()"),
                        steps=len(pulls),
                    )  # fmt: skip
                    return

    def _divergence(self, visit: Visit) -> Findings:
        """A divergence, which is 0 or more, is taken away from the loss."""
        pulled = [each for step in visit.rounds for each in step.divergences if each.pull]
        if len(pulled) >= 5 and all(each.pull < 0 for each in pulled):  # type: ignore[operator]
            yield self.found(
                pulled[0].place,
                tr("in all {} steps the divergence from the normal distribution is made larger, not smaller", len(pulled)),
                tr("kl = -0.5 * (1 + log_var - mean**2 - log_var.exp()).sum(), and loss = reconstruction + kl"),
                steps=len(pulled),
            )
