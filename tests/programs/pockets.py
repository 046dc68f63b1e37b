"""What a step can read from Python: values in containers, objects, functions and iterators, how it reads them, and what changes them.

A pocket is one place of the program that holds a value: a number, a flag, a layer, a tensor, a function, a word. A step takes it out
by an expression; statements put another value in, between the calls or in them.
"""

from dataclasses import dataclass, field

from tests.programs.drawing import Drawing
from tests.programs.source import Block, parsed


@dataclass
class Pocket:
    """A place of the program: its name, its kind of value, the expression that reads it, statements that change it."""

    name: str
    kind: str
    read: str
    writes: list[str] = field(default_factory=list)


# how it is made; how it is read, one of; how it is changed, one of. {n}: its name, {v}: a value
PLACES: list[tuple[str, list[str], list[str]]] = [
    ("{n} = {v}", ["{n}", "globals()['{n}']"], ["{n} = {v}", "globals()['{n}'] = {v}"]),
    ("{n} = [{v}]", ["{n}[0]", "{n}[-1]", "next(iter({n}))"], ["{n}[0] = {v}", "{n} = [{v}]", "{n}[:] = [{v}]", "{n}.insert(0, {v})"]),
    ("{n} = [{{'a': [0, {v}]}}]", ["{n}[0]['a'][1]"], ["{n}[0]['a'][1] = {v}", "{n}[0]['a'] = [0, {v}]", "{n}[0] = {{'a': [0, {v}]}}"]),
    ("{n} = ([{v}],)", ["{n}[0][0]"], ["{n}[0][0] = {v}", "{n} = ([{v}],)"]),
    ("{n} = {{'a': {v}}}", ["{n}['a']", "{n}.get('a')", "list({n}.values())[0]", "dict({n})['a']"], ["{n}['a'] = {v}", "{n}.update(a={v})", "{n} = {{'a': {v}}}"]),
    ("{n} = collections.deque([{v}], 3)", ["{n}[-1]"], ["{n}.append({v})", "{n}[-1] = {v}"]),
    ("{n} = collections.OrderedDict(a={v})", ["{n}['a']", "next(reversed({n}.values()))"], ["{n}['a'] = {v}", "{n}['b'] = {v}"]),
    ("{n} = collections.defaultdict(int, a={v})", ["{n}['a']"], ["{n}['a'] = {v}"]),
    ("{n} = collections.ChainMap({{}}, {{'a': {v}}})", ["{n}['a']"], ["{n}['a'] = {v}", "{n}.maps[1]['a'] = {v}"]),
    ("{n} = collections.UserDict(a={v})", ["{n}['a']"], ["{n}['a'] = {v}", "{n}.data['a'] = {v}"]),
    ("{n}_own = {{'a': {v}}}\n{n} = types.MappingProxyType({n}_own)", ["{n}['a']"], ["{n}_own['a'] = {v}"]),
    ("{n} = types.SimpleNamespace(a={v})", ["{n}.a", "getattr({n}, 'a')", "vars({n})['a']"], ["{n}.a = {v}", "vars({n})['a'] = {v}", "{n} = types.SimpleNamespace(a={v})", "setattr({n}, 'a', {v})"]),
    ("{n} = types.SimpleNamespace(train=types.SimpleNamespace(loss={{'w': {v}}}))", ["{n}.train.loss['w']", "operator.attrgetter('train.loss')({n})['w']"], ["{n}.train.loss['w'] = {v}", "{n}.train.loss = {{'w': {v}}}", "{n}.train = types.SimpleNamespace(loss={{'w': {v}}})"]),
    ("@dataclasses.dataclass\nclass {N}:\n    a: object = None\n    b: int = 0\n{n} = {N}({v})", ["{n}.a", "dataclasses.asdict({n})['b'] or {n}.a"], ["{n}.a = {v}", "{n} = {N}({v})", "{n} = dataclasses.replace({n}, a={v})"]),
    ("@dataclasses.dataclass(frozen=True)\nclass {N}:\n    a: object = None\n{n} = [{N}({v})]", ["{n}[0].a"], ["{n}[0] = dataclasses.replace({n}[0], a={v})", "object.__setattr__({n}[0], 'a', {v})"]),
    ("{N} = collections.namedtuple('{N}', 'a b')\n{n} = {N}({v}, 0)", ["{n}.a", "{n}[0]"], ["{n} = {n}._replace(a={v})"]),
    ("class {N}:\n    __slots__ = ('a',)\n{n} = {N}()\n{n}.a = {v}", ["{n}.a"], ["{n}.a = {v}"]),
    ("class {N}:\n    @property\n    def a(self):\n        return self._a\n{n} = {N}()\n{n}._a = {v}", ["{n}.a"], ["{n}._a = {v}", "{N}.a = property(lambda self: {v})"]),
    ("class {N}:\n    a = {v}\n{n} = {N}()", ["{n}.a", "{N}.a", "type({n}).a"], ["{N}.a = {v}", "{n}.a = {v}"]),
    ("class {N}Base:\n    a = {v}\nclass {N}({N}Base):\n    pass\n{n} = {N}()", ["{n}.a", "{N}.a", "super({N}, {n}).a"], ["{N}Base.a = {v}", "{N}.a = {v}"]),
    ("class {N}:\n    def __init__(self):\n        self.a = {v}\n    def get(self):\n        return self.a\n{n} = {N}()", ["{n}.get()", "{N}.get({n})"], ["{n}.a = {v}", "{n}.get = lambda: {v}", "{N}.get = lambda self: {v}"]),
    ("class {N}:\n    a = [{v}]\n    @classmethod\n    def get(cls):\n        return cls.a[0]\n{n} = {N}()", ["{n}.get()", "{N}.get()"], ["{N}.a[0] = {v}", "{N}.a = [{v}]"]),
    ("class {N}:\n    def __init__(self):\n        self.held = {{'a': {v}}}\n    def __getattr__(self, name):\n        return self.__dict__['held'][name]\n{n} = {N}()", ["{n}.a"], ["{n}.held['a'] = {v}", "{n}.a = {v}"]),
    ("class {N}:\n    def __init__(self):\n        self.held = [{v}]\n    def __getitem__(self, at):\n        return self.held[at]\n{n} = {N}()", ["{n}[0]"], ["{n}.held[0] = {v}", "{n}.held = [{v}]"]),
    ("class {N}:\n    def __init__(self):\n        self.held = [{v}]\n    def __call__(self):\n        return self.held[-1]\n{n} = {N}()", ["{n}()"], ["{n}.held.append({v})", "{N}.__call__ = lambda self: {v}"]),
    ("class {N}:\n    def __get__(self, owner, kind):\n        return owner.held\nclass {N}Owner:\n    a = {N}()\n{n} = {N}Owner()\n{n}.held = {v}", ["{n}.a"], ["{n}.held = {v}"]),
    ("def {n}():\n    return {v}", ["{n}()"], ["{n} = lambda: {v}", "{n}.__code__ = (lambda: {v}).__code__"]),
    ("def {n}(box=[{v}]):\n    return box[0]", ["{n}()"], ["{n}.__defaults__[0][0] = {v}", "{n}.__defaults__ = ([{v}],)"]),
    ("def {n}(*, a={v}):\n    return a", ["{n}()"], ["{n}.__kwdefaults__['a'] = {v}", "{n}.__kwdefaults__ = {{'a': {v}}}"]),
    ("def {n}():\n    return {n}.a\n{n}.a = {v}", ["{n}()", "{n}.a"], ["{n}.a = {v}"]),
    ("def {n}_made(a):\n    def get():\n        return a\n    def put(value):\n        nonlocal a\n        a = value\n    return get, put\n{n}, {n}_put = {n}_made({v})", ["{n}()"], ["{n}_put({v})", "{n}.__closure__[0].cell_contents = {v}", "{n}, {n}_put = {n}_made({v})"]),
    ("{n} = functools.partial(lambda a: a, a={v})", ["{n}()"], ["{n}.keywords['a'] = {v}", "{n} = functools.partial(lambda a: a, a={v})"]),
    ("{n}_box = [{v}]\n{n} = functools.partial(operator.getitem, {n}_box)", ["{n}(0)"], ["{n}_box[0] = {v}"]),
    ("{n}_box = [{v}]\n{n} = {n}_box.__getitem__", ["{n}(0)"], ["{n}_box[0] = {v}"]),
    ("{n}_box = [{v}]\n@functools.lru_cache\ndef {n}():\n    return {n}_box[0]", ["{n}()"], ["{n}_box[0] = {v}\n{n}.cache_clear()", "{n}_box[0] = {v}"]),
    ("{n} = contextvars.ContextVar('{n}', default={v})", ["{n}.get()"], ["{n}.set({v})"]),
    ("{n} = enum.Enum('{N}', dict(A='a', B='b'))\n{n}_table = {{{n}.A: {v}}}", ["{n}_table[{n}.A]"], ["{n}_table[{n}.A] = {v}"]),
    ("{n} = {{'a': {v}}}\n{n}_copy = copy.copy({n})", ["{n}_copy['a']"], ["{n}_copy['a'] = {v}", "{n}['a'] = {v}"]),
    ("{n} = types.ModuleType('{n}')\n{n}.a = {v}", ["{n}.a"], ["{n}.a = {v}"]),
    ("{n} = type('{N}', (), dict(a={v}))", ["{n}.a", "{n}().a"], ["{n}.a = {v}"]),
    ("class {N}(dict):\n    __getattr__ = dict.__getitem__\n{n} = {N}(a={v})", ["{n}.a"], ["{n}['a'] = {v}", "{n} = {N}(a={v})"]),
    ("class {N}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.held = [{v}]\n    def forward(self):\n        return self.held[0]\n{n} = {N}()", ["{n}()", "{n}.held[0]"], ["{n}.held[0] = {v}", "{n}.forward = lambda: {v}", "{N}.forward = lambda self: {v}"]),
]  # fmt: skip
OF_NUMBERS: list[tuple[str, list[str], list[str]]] = [
    ("{n} = np.array([{v}, 0.0])", ["float({n}[0])"], ["{n}[0] = {v}"]),
    ("{n} = itertools.cycle([{v}, 2.0, {v}])", ["next({n})"], []),
    ("{n} = itertools.count(1)", ["next({n})"], []),
    ("{n} = (k * 0.5 for k in range(1000))", ["next({n})"], []),
    ("{n} = iter([0.5] * 500)", ["next({n})"], []),
    ("{n} = 0.5", ["random.random()", "random.uniform(0.5, 2)", "random.choice([0.5, 2.0])", "np.random.rand()", "float(np.random.normal())"], []),
    ("{n} = random.Random(3)", ["{n}.random()"], ["{n}.seed(4)"]),
    ("{n} = np.random.default_rng(3)", ["float({n}.random())"], []),
]  # fmt: skip
OF_FLAGS: list[tuple[str, list[str], list[str]]] = [
    ("{n} = 0.5", ["(random.random() < {n})", "(np.random.rand() < {n})", "(random.randint(0, 1) == 1)"], ["{n} = 0.9", "{n} = 0.0", "random.seed(5)", "np.random.seed(5)"]),
    ("{n} = {{'a', 'b'}}", ["('c' in {n})", "(len({n}) > 2)"], ["{n}.add('c')", "{n}.discard('c')"]),
    ("{n} = itertools.cycle([True, True, False])", ["next({n})"], []),
]  # fmt: skip
NUMBERS = ["0.5", "1.0", "2.0", "3", "-0.5", "0.25", "1"]
SCHEDULES = ["0.1 * number", "0.5 ** number", "1 + number % 3", "min(number, 4) / 4", "2.0 if number > 4 else 0.5"]
FUNCTIONS = ["torch.tanh", "torch.relu", "F.silu", "(lambda h: h * 2)", "torch.sigmoid"]
USES = {
    "number": ["{h} = {h} * {r}", "{h} = {h} * {r}", "{h} = {h} + {r}", "{h} = {h} * {h}.detach() * {r}", "for _ in range(int({r})):\n    {h} = {h}.tanh()",
               "{h} = {h}.clamp(max={r})", "{h} = {h} / (1 + abs({r}))", "if {r} > 1:\n    {h} = {h}.tanh()", "{h} = [{h} * {r} for _ in range(2)][-1]",
               "{h} = (lambda h: h * {r})({h})", "{h} = F.dropout({h}, min(abs({r}), 1) * 0.3)", "{h} = {h} * torch.tensor(float({r}))"],
    "flag": ["if {r}:\n    {h} = {h}.tanh()", "{h} = {h}.relu() if {r} else {h} * 0.5", "{h} = ({h} * 2, {h})[bool({r})]", "{h} = {h} * 2 if not {r} else {h}",
             "{h} = {h}.detach() if {r} and {h}.dim() > 9 else {h} + 1", "while {r}:\n    {h} = {h} + 1\n    break"],
    "layer": ["{h} = {r}({h})", "{h} = {h} + {r}({h})", "{h} = {r}({h}).tanh()"],
    "tensor": ["{h} = {h} + {r}", "{h} = {h} * {r}", "{h} = {h} - {r}.sum()"],
    "function": ["{h} = {r}({h})", "{h} = {h} + {r}({h})", "{h} = list(map({r}, [{h}]))[0]"],
    "word": ["{h} = getattr(torch, {r})({h})", "{h} = {h}.tanh() if {r} == 'tanh' else {h} * 2", "{h} = {{'tanh': torch.tanh, 'sigmoid': torch.sigmoid}}[{r}]({h})"],
}  # fmt: skip


def pocket(g: Drawing, size: int | None) -> Pocket:
    """A new place, made in the program. size: of the last axis of what it is used on, None where that is a number."""
    kind = g.one("number", "number", "number", "flag", "flag", "function", "word", *(("layer", "tensor") if size else ()))
    name = g.name("pocket")
    places = [(PLACES, len(PLACES))] + ([(OF_NUMBERS, 5)] if kind == "number" else [(OF_FLAGS, 5)] if kind == "flag" else [])
    made, reads, writes = g.one(*g.random.choices([p for p, _ in places], [n for _, n in places])[0])
    values, later = _values(g, kind, name, size)
    if kind == "function" and (
        "class" in made or "type(" in made
    ):  # PyTorch's are no methods where a class holds them, badak's are
        g.only_badak = True
    names = dict(n=name, N=name.capitalize())
    g.program.add(*parsed(made.format(v=values[0], **names)).items)
    read = g.one(*reads).format(**names)
    changes = [text.format(v=g.one(*later), **names) for text in writes for _ in range(2)]
    if kind == "flag" and writes is not None and "next" not in read and "random" not in read and len(writes) and "set" not in made:
        changes += [text.format(v=f"not {read}", **names) for text in writes if "lambda" not in text]
    return Pocket(name, kind, read, changes)


def _values(g: Drawing, kind: str, name: str, size: int | None) -> tuple[list[str], list[str]]:
    """(what it holds first, what it may hold later), as expressions; what they need is made in the program."""
    if kind == "number":
        numbers = g.random.sample(NUMBERS, 3)
        return numbers, [*numbers[1:], g.one(*SCHEDULES)]
    if kind == "flag":
        first = g.one("True", "False")
        return [first], ["False" if first == "True" else "True", "number % 2 == 0", "number > 4"]
    if kind == "function":
        functions = g.random.sample(FUNCTIONS, 3)
        return functions, functions[1:]
    if kind == "word":
        return ["'tanh'"], ["'sigmoid'", "('tanh', 'sigmoid')[number % 2]"]
    of = f"{name}_of"
    made = f"nn.Linear({size}, {size})" if kind == "layer" else f"draw({size})"
    wants = ".requires_grad_()" if kind == "tensor" and g.chance(0.4) else ""
    g.program.add(f"{of} = [{made}{wants}, {made}{wants}]")
    other = "nn.Identity()" if kind == "layer" else f"{of}[0] * 2"
    return [f"{of}[0]"], [f"{of}[1]", f"{of}[number % 2]", other]


def use(g: Drawing, body: Block, at: int, h: str, place: Pocket) -> None:
    """Statements at this place of a body, which take the value out and compute with it: there, or in something that the body calls."""
    text = g.one(*USES[place.kind])
    name = g.name("helper")
    how = g.random.choices(["there", "alias", "function", "object", "decorated", "module", "gradient"], [6, 1, 2, 2, 1, 1, 1])[0]
    if how == "gradient" and place.kind != "number":
        how = "object"
    if how == "there":
        lines = text.format(h=h, r=place.read)
    elif how == "alias":
        lines = f"{name} = {place.read}\n" + text.format(h=h, r=name)
    else:
        inner, lines = _helpers(how, name, place.read), f"{h} = {name}({h})"
        given = text.format(h="h", r=place.read).splitlines()
        source = [part for line in inner for part in ([line.partition("USE")[0] + t for t in given] if "USE" in line else [line])]
        g.program.items[_before(g, body) : _before(g, body)] = parsed("\n".join(source)).items
    body.items[at:at] = parsed(lines).items


def _before(g: Drawing, body: Block) -> int:
    """Where a definition goes that a body needs: before the block that holds it, or at the end."""
    for at, item in enumerate(g.program.items):
        if isinstance(item, Block) and (item is body or body in item.items):
            return at
    return len(g.program.items)


def _helpers(how: str, name: str, read: str) -> list[str]:
    """The source of something that is called with h; USE stands for the statements."""
    function = ["def forward(self, h):", "    USE", "    return h"]
    if how == "function":
        return [f"def {name}(h):", "    USE", "    return h"]
    if how == "object":
        return [
            f"class {name.capitalize()}:",
            "    def __call__(self, h):",
            "        USE",
            "        return h",
            f"{name} = {name.capitalize()}()",
        ]
    if how == "module":
        lines = [
            f"class {name.capitalize()}(nn.Module):",
            *(f"    {line}" for line in function),
            f"{name}_list = [{name.capitalize()}()]",
        ]
        return [*lines, f"def {name}(h):", f"    for part in {name}_list:", "        h = part(h)", "    return h"]
    if how == "decorated":
        lines = [
            f"def {name}_around(f):",
            "    @functools.wraps(f)",
            "    def called(h):",
            "        return f(h) + 0.5",
            "    return called",
        ]
        return [*lines, f"@{name}_around", f"def {name}(h):", "    USE", "    return h"]
    lines = [
        f"class {name.capitalize()}(torch.autograd.Function):",
        "    @staticmethod",
        "    def forward(ctx, h):",
        f"        return h * {read}",
    ]
    return [
        *lines,
        "    @staticmethod",
        "    def backward(ctx, dy):",
        f"        return dy * {read}",
        f"{name} = {name.capitalize()}.apply",
    ]
