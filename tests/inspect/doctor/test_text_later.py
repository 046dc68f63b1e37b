"""More of what the text of a program tells by itself, each next to what looks like it and is right."""

import pytest

from badak.inspect.doctor import source, text

REPLAY = (
    "memory.append((state, action, reward, next_state, done))\n"
    "def learn():\n    s, a, r, s2, d = zip(*batch)\n    r, d = torch.tensor(r), torch.tensor(d)\n"
    "    target = {}\n    loss = f(q(s, a), target)\n    loss.backward()\n"
)
ROLL = (
    "S, A, D, E = [], [], [], []\nfor t in range(n):\n    a = policy(s).sample()\n    s2, r, d = env.step(a)\n"
    "    {}\nlearn(S, A, D)\n"
)
MATRIX = (
    "def score(y, pred):\n    for t, p in zip(y, pred.argmax(1)):\n        m[t, p] += 1\n    {0} = m.diag() / m.sum({1})\n"
    "    return {0}.mean()\n"
)
BEST = "val_dl, test_dl = DataLoader(a), DataLoader(b)\nfor e in range(9):\n    v = run({})\n    if v < best:\n        best = v\n"
TRIPLET = "def triplet(a, p, n):\n    dp = (a - p).norm(dim=1)\n    dn = (a - n).norm(dim=1)\n    return F.relu({} + 0.4)\n"
TEACHER = (
    "class Net(nn.Module):\n    pass\n"
    "def train(net):\n    opt = Adam(net.parameters())\n    loss.backward()\n"
    "teacher, student = Net(), Net()\nwith torch.no_grad():\n    t = teacher(x)\ns = student(x)\n"
)
ACT = "def act(s, eps):\n    if random.random() {} eps:\n        return net(s).argmax().item()\n    return random.randrange(3)\n"
GCN = (
    "class Conv(nn.Module):\n    def forward(self, x, adj):\n        return {}\n"
    "class Net(nn.Module):\n    def forward(self, x, adj):\n        return self.conv(x, adj)\n"
)
STATE = (
    "class Net(nn.Module):\n    def forward(self, x):\n        out, h = self.encoder(x)\n{}        return self.decoder(out, h)\n"
)
SPLIT = (
    "def parts(X, rng):\n    order = rng.permutation(len(X))\n    train, test = order[:80], order[80:]\n"
    "    X = (X - X{0}.mean(axis=0)) / X{0}.std(axis=0)\n"
    "    sets = {{}}\n    for name, rows in (('train', train), ('test', test)):\n        sets[name] = X[rows]\n    return sets\n"
)


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        ("returns", REPLAY.format("r + gamma * v(s2)"), REPLAY.format("r + gamma * v(s2) * (1 - d)")),
        ("returns", ROLL.format("S.append(s2); A.append(a); D.append(d); E.append(d)\n    s = s2"),
         ROLL.format("S.append(s); A.append(a); D.append(d)\n    s = s2")),
        ("returns", ROLL.format("S.append(s); A.append(a); E.append(d)\n    s = s2"),
         ROLL.format("S.append(s); A.append(a); D.append(d)\n    s = s2")),
        ("returns", "o, r, d = env.step(a)\nfor r, d in zip(R, D):\n    total = r + gamma * d * total",
         "o, r, d = env.step(a)\nfor r, d in zip(R, D):\n    total = r + gamma * (1 - d) * total"),
        ("chosen", BEST.format("test_dl"), BEST.format("val_dl") + "run(test_dl)\n"),
        ("chosen", "p, t = collect(net, test_dl)\nthreshold = max(grid, key=lambda c: f1(p > c, t))",
         "p, t = collect(net, val_dl)\nthreshold = max(grid, key=lambda c: f1(p > c, t))"),
        ("read", MATRIX.format("recall", 0), MATRIX.format("recall", 1)),
        ("read", MATRIX.format("precision", 1), MATRIX.format("precision", 0)),
        ("read", "def iou(a, b):\n    return inter(a, b) / (area(a) + area(b))",
         "def iou(a, b):\n    return inter(a, b) / (area(a) + area(b) - inter(a, b))"),
        ("formula", TRIPLET.format("dn - dp"), TRIPLET.format("dp - dn")),
        ("setting", TEACHER, TEACHER + "train(teacher)\n"),
        ("returns", REPLAY.format("gamma * v(s2) * (1 - d)"), REPLAY.format("r + gamma * v(s2) * (1 - d)")),
        ("formula", ACT.format("<"), ACT.format(">")),
        ("returns", "reward = 1\nSTART = 1.0\neps = START\nif random.random() > eps:\n    act()",
         "reward = 1\nSTART = 1.0\neps = START * decay\nif random.random() > eps:\n    act()"),
        ("formula", "def dice_loss(p, y):\n    return (2 * (p * y).sum() / (p.sum() + y.sum())).mean()",
         "def dice_loss(p, y):\n    return 1 - (2 * (p * y).sum() / (p.sum() + y.sum())).mean()"),
        ("formula", "step = self.decoder(x)\na = step.argmin(1)\nout = self.decoder(y)\nb = out.argmax(1)",
         "step = self.decoder(x)\na = step.argmax(1)\nd = torch.cdist(x, y)\nb = d.argmin(1)"),
        ("unlearnt", "for x in loader:\n    dice = dice_loss(x)\n    loss = f(x)\n    loss.backward()",
         "for x in loader:\n    dice = dice_loss(x)\n    loss = f(x) + dice\n    loss.backward()"),
        ("unread", GCN.format("x @ self.w"), GCN.format("adj @ x @ self.w")),
        ("unread", STATE.format("        h = torch.zeros_like(h)\n"), STATE.format("        h = torch.tanh(h)\n")),
        ("unread", "class V(nn.Module):\n    def forward(self, x):\n        return self.draw(x)\n    def draw(self, mu):\n"
                   "        eps = torch.randn_like(mu)\n        return mu",
         "class V(nn.Module):\n    def forward(self, x):\n        return self.draw(x)\n    def draw(self, mu):\n"
         "        eps = torch.randn_like(mu)\n        return mu + eps"),
        ("view", "table = np.stack([a, b, c]).reshape(n, 3)", "table = np.stack([a, b, c], axis=1).reshape(n, 3)"),
        ("view", "cols = np.concatenate([a, b])\nx = np.reshape(cols, (-1, 2))",
         "cols = np.concatenate([a, b])\nx = cols.reshape(2, -1).T"),
        ("apart", "data = TensorDataset(x[rows], y[np.sort(rows)])\nf = data", "data = TensorDataset(x[rows], y[rows])\nf = data"),
        ("setting", "for v1, v2 in loader:\n    loss = f(net(v1), net(v1))\n    loss.backward()",
         "for v1, v2 in loader:\n    loss = f(net(v1), net(v2))\n    loss.backward()\nfor x, y in loader:\n    f(x).backward()"),
        ("scaled", SPLIT.format(""), SPLIT.format("[train]")),
    ],
)  # fmt: skip
def test_a_line_tells(monkeypatch, kind, wrong, right):
    for program, kinds in ((wrong, {kind}), (right, set())):
        monkeypatch.setattr(source, "files", lambda program=program: [("program.py", program)])
        assert {each.kind for each in text.told()} == kinds


def test_a_baseline_may_have_the_arguments_of_another_model(monkeypatch):
    program = (
        GCN.format("adj @ x @ self.w") + "class MLP(nn.Module):\n    def forward(self, x, adj):\n        return self.layers(x)\n"
    )
    monkeypatch.setattr(source, "files", lambda: [("program.py", program)])
    assert not text.told()
