"""A program from a seed."""

from tests.programs.drawing import Drawing
from tests.programs.events import arguments, event, guarded
from tests.programs.source import Block, parsed
from tests.programs.states import change, fitting, in_place, stateful
from tests.programs.steps import Steps, function, generation, training

DRAWN = ("rop", "rand", "bernoulli", "_layer=", "normal_", "uniform_", "exponential_", "rrelu", "Transformer")
STATE = (
    "Norm",
    "self.steps",
    "self.mean",
    "self.calls",
    "self.kept",
    "self.seen",
    "max_norm",
)  # what a forward changes


def generate(seed: int) -> tuple[Block, bool]:
    """(a program, whether it uses only names that PyTorch has)."""
    g, steps = Drawing(seed), Steps()
    g.program.add(f"torch.manual_seed({seed % 100})", "held = []", "unrelated = nn.Linear(2, 2)")
    if g.chance(0.06):
        _threads(g, steps)
        return g.program, not g.only_badak
    if g.chance(0.04):
        fitting(g, steps)
        return g.program, False
    for kind in _kinds(g):
        kind(g, steps)
    same = g.chance(0.5)  # as a training is: most calls alike
    loop = g.program.block(f"for number in range({g.number(6, 9)}):")
    moments = [] if g.chance(0.25) else sorted(g.number(1, 8) for _ in range(g.number(1, 4)))
    for moment in moments:
        if g.chance(0.6):
            guarded(g, loop.block(f"if number == {moment}:"), event(g, steps))
    if g.chance(0.15):
        guarded(g, loop.block(f"if number {g.one('> 3', '% 2', '% 3 == 0')}:"), event(g, steps))
    if steps.changes:
        _changes(g, steps, loop)
    for name, kinds in steps.calls:
        _calls(g, steps, loop, name, kinds, same)
    return g.program, not g.only_badak


def _kinds(g: Drawing) -> list:
    if g.chance(0.12):
        return [generation]
    if g.chance(0.5):
        return g.one([stateful], [stateful], [stateful], [stateful], [stateful, training], [stateful, in_place], [in_place])
    return g.one([function], [function, function], [training], [training], [training, function], [training, training])


def _changes(g: Drawing, steps: Steps, loop: Block) -> None:
    """What the program puts into places of Python between the calls: once, from then on, now and then, never."""
    for _ in range(g.one(0, 1, 1, 1, 2, 2, 3)):
        when = g.one("== 4", "== 4", "== 5", "== 3", "> 3", "> 4", "% 2", "% 3 == 2", "> 0")
        text = change(g, steps)
        inside = loop.block(f"if number {when}:").block("try:")
        inside.add(*parsed(text).items)
        loop.items[-1].block("except Exception as error:").add("note(error)")


def _calls(g: Drawing, steps: Steps, loop: Block, name: str, kinds, same: bool) -> None:
    """The calls of one function in one round."""
    if kinds == [] and g.chance(0.5):
        loop = loop.block(f"if number % {g.one(2, 3)} == 0:")
    names = [g.name(kind) for kind, _ in kinds]
    for argument, (_, made) in zip(names, kinds):
        loop.add(f"{argument} = {made}")
    if names and not same:
        for moment in g.random.sample(range(1, 8), g.number(1, 3)):
            found = arguments(g, steps, kinds, names, loop)
            if found != names:
                loop.block(f"if number {g.one('==', '==', '>', '==')} {moment}:").add(f"{', '.join(names)} = {', '.join(found)}")
    loop.add(f"result = watch({name}, {', '.join(names)})".replace(", )", ")"))
    if g.chance(0.3):
        inside = loop.block("if torch.is_tensor(result) and result.is_floating_point():")
        inside.add(
            g.one(
                "held.append(result)",
                "held.append(result.detach())",
                "result.detach().add_(1)",
                "held = [result.detach()]",
            )
        )


def _threads(g: Drawing, steps: Steps) -> None:
    """Two threads, each with a step of its own, or both with one that only reads; nothing that they share is drawn or changed."""
    training(g, steps)
    alone = [call for call in steps.calls if call[0].startswith("evaluate")]
    shared = alone and "train()" not in str(g.program) and g.chance(0.5)
    second = len(steps.calls)
    if not shared:
        training(g, steps)
    pairs = (alone[0], alone[0]) if shared else (steps.calls[0], steps.calls[second])
    for number, (name, kinds) in enumerate(pairs):
        body = g.program.block(f"def work{number}():")
        loop = body.block("for number in range(6):")
        loop.add(f"watch({', '.join([name, *(made for _, made in kinds)])})")
    drawn = any(word in str(g.program) for word in DRAWN)  # from one generator: then one after the other
    drawn = drawn or (shared and any(word in str(g.program) for word in STATE))
    g.program.add("in_turn(work0, work1)" if drawn else "together(work0, work1)")
