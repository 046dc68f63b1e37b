"""What a step does besides computing: logs, counters, iterators, in the step or in what it calls."""

from tests.programs.drawing import Drawing
from tests.programs.source import Block, parsed

# how it is made, what is done in the step; {n}: a name, {h}: a tensor of the step
EFFECTS = [
    ("{n} = []", "{n}.append(1)"),
    ("{n} = []", "{n}.append({h})"),
    ("{n} = []", "{n}.append(tuple({h}.shape))"),
    ("{n} = []", "{n}.append({h}.detach())"),
    ("{n} = []", "{n}.append(float({h}.detach().sum()))"),
    ("{n} = []", "if len({n}) < 5:\n    {n}.append(1)"),
    ("{n} = [0]", "{n}[0] += 1"),
    ("{n} = [0]", "{n}[0] += 1\nif {n}[0] == 5:\n    {h} = {h} * 2"),
    ("{n} = {{}}", "{n}['n'] = {n}.get('n', 0) + 1"),
    ("{n} = {{}}", "{n}.setdefault('seen', []).append({h}.dim())"),
    ("{n} = {{}}", "{n}['last'] = {h}.detach()"),
    ("{n} = collections.Counter()", "{n}['step'] += 1"),
    ("{n} = collections.deque(maxlen=3)", "{n}.append(len({n}))"),
    ("{n} = set()", "{n}.add(len({n}))"),
    ("{n} = types.SimpleNamespace(count=0, last=None)", "{n}.count += 1"),
    ("{n} = types.SimpleNamespace(count=0, last=None)", "{n}.last = {h}.detach()"),
    ("class {N}:\n    def __init__(self):\n        self.lines = []\n    def write(self, line):\n        self.lines.append(line)\n{n} = {N}()", "{n}.write('a step')"),
    ("class {N}:\n    count = 0\n{n} = {N}()", "{N}.count += 1"),
    ("class {N}:\n    __slots__ = ('count',)\n{n} = {N}()\n{n}.count = 0", "{n}.count += 1\n{h} = {h} * (1 if {n}.count < 5 else 2)"),
    ("def {n}():\n    {n}.count += 1\n{n}.count = 0", "{n}()"),
    ("def {n}(seen=[]):\n    seen.append(1)\n    return len(seen)", "{n}()"),
    ("def {n}_made():\n    count = 0\n    def called():\n        nonlocal count\n        count += 1\n        return count\n    return called\n{n} = {n}_made()", "{h} = {h} * (0.5 if {n}() % 2 else 1.0)"),
    ("{n} = io.StringIO()", "{n}.write('a')"),
    ("{n} = itertools.count()\n{n}_seen = []", "{n}_seen[:] = [next({n})]"),
    ("{n} = iter(range(1000))\n{n}_seen = {{}}", "{n}_seen['last'] = next({n}, None)"),
    ("{n} = [0]", "random.random()"),
    ("{n} = [0]", "np.random.rand()"),
    ("{n} = array.array('d', [0])", "{n}[0] += 1"),
    ("{n} = np.zeros(2)", "{n}[0] += 1"),
    ("{n} = list(range(50))", "{n}.pop()"),
    ("{n} = list(range(50))", "{h} = {h} * (1 + {n}.pop() % 2)"),
]  # fmt: skip


def effect(g: Drawing, body: Block, at: int, h: str) -> None:
    """Something that is done besides, at this place of a body; what it needs is made in the program, before that body."""
    made, done = g.one(*EFFECTS)
    name = g.name("log")
    names = dict(n=name, N=name.capitalize(), h=h)
    place = next(
        (i for i, item in enumerate(g.program.items) if item is body or (isinstance(item, Block) and body in item.items)),
        len(g.program.items),
    )
    g.program.items[place:place] = parsed(made.format(**names)).items
    body.items[at:at] = parsed(done.format(**names)).items
