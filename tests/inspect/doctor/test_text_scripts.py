"""What the text of scripts tells that stand outside of functions, each next to what looks like it and is right."""

# ruff: noqa: E501  (programs stand in one line)

import pytest

from badak.inspect.doctor import source, text

NET = "class Net(nn.Module):\n    pass\n"
BEST = "best_rmse = {}\nfor epoch in range(3):\n    rmse = (se / n) ** 0.5\n    if rmse < best_rmse:\n        best_rmse = rmse\n"
RETURNS = "reward = 0\nreturns, g = [], 0.0\nfor r in {}:\n    g = r + gamma * g\n    returns.{}\n"
KEPT = "reward = 0\nmemory.append((s, a, r, s2, float(done)))\nS, A, R, S2, E = map(torch.tensor, zip(*rows))\ngoal = R + gamma * target(S2).max(1).values{}\nf(q(S).gather(1, A), goal).backward()\n"
STEP = "reward = 0\nobs, total = env.reset(), 0\nwhile not done:\n    a = policy(obs)\n    obs2, r, done = env.step(a)\n    {}total = total + r\n"
GAE = "reward = 0\nfollowing = 0.0\nfor t in reversed(range(9)):\n    delta = rewards[t] + gamma * following - values[t]\n{}"
FOLLOWS = "reward = 0\ntarget.load_state_dict(q.state_dict())\nfor step in range(99):\n    v = target(next_states).max(1).values\n    goal = r + gamma * v * (1 - done)\n{}"
ACTS = (
    "reward = 0\nmemory.append((s, a, r, s2, done))\nv = target(s2).max(1).{}\ngoal = r + gamma * v * (1 - done)\nq.gather(1, a)\n"
)
WRITES = "class Net(nn.Module):\n    def forward(self, x, state=None):\n        y, state = self.gru(x, state)\n        return y, state\nwhile len(said) < 9:\n    token = torch.multinomial(probs, 1)\n    said += letters[token.item()]\n    logits, state = model(token{})\n    probs = logits.softmax(-1)\n"
ORDER = "order = rng.permutation(9)\nx, y = load()\nx{} = x[order]{}\nx_train, x_val = x[:6], x[6:]\ny_train, y_val = y[:6], y[6:]\nd = TensorDataset(torch.tensor(x_train), torch.tensor(y_train))\n"
WHOLE = "x = load()\nx = x[order]\norder = rng.permutation(9)\nx_train, x_val = x[:6], x[6:]\nm, s = {0}.mean(0), {0}.std(0)\nx_train = (x_train - m) / s\nx_val = (x_val - m) / s\n"
OVERLAP = "def dice(p, y):\n    return 2 * (p * y).sum() / (p.sum() + y.sum())\nloss = bce(p, y) + {}dice(p, y)\n"
UNION = "for x, y in loader:\n    inter += (pred & truth).sum().item()\n    union += {}.sum().item()\nprint('IoU', {} / union)\n"
UNITS = "series = load()\nscaled = (series - mean) / std\nx, y = windows(scaled)\npred = model(x) * std + mean\ntruth = y{}\nrmse = ((pred - truth) ** 2).mean().sqrt()\n"
LIFTED = "y = (rent - m) / s\nerrors = (model(x) - y).abs() * s{}\n"
NOISY = "bars = torch.cumprod(alphas, 0)\nfor x in loader:\n    noise = torch.randn_like(x)\n    a = {}[t]\n    xt = a.sqrt() * x + (1 - a).sqrt() * noise\n"
ROOTS = "bars = torch.cumprod(alphas, 0)\nfor x in loader:\n    noise = torch.randn_like(x)\n    a = bars[t]\n    xt = a{0} * x + (1 - a){0} * noise\n"
CLEAN = "a = torch.cumprod(b, 0)\ndef generate(model):\n    for i in {}:\n        t = torch.full((9,), i)\n        x = x - model(x, t) * a[i].sqrt()\n"
PRIOR = "z = mu + torch.randn_like(std) * (0.5 * logvar).exp()\nout = vae.decode(z)\nmade = vae.decode(torch.{}(8, 3))\n"
TWICE = "p = F.softmax(logits, dim=-1)\nq = F.softmax({}, dim=-1)\n"
ANEW = NET + "{0}for epoch in range(9):\n{1}    for x, y in loader:\n        f(model(x), y).backward()\n"
MAKES = "model = Net()\n{0}opt = Adam(model.parameters())\n"
ITEM = "class D(Dataset):\n    def __getitem__(self, i):\n        x = self.x[i]{}\n        x += torch.randn(3)\n        return x\n"
PART = "dev = train[{}]\nfor epoch in epochs:\n    fit(train)\n"
MARGIN = "loss = (same * d.pow(2) + (1 - same) * F.relu({}).pow(2)).mean()\n"
TOLD = "def batch(rows):\n    ids = torch.zeros(len(rows), 9)\n    for i, (words, _) in enumerate(rows):\n        ids[i] = number(words)\n    kinds = [k for _, k in rows]\n    {}\n    return ids, torch.tensor(kinds)\n"
ROWS = "def part(rows):\n    x = (table[rows] - m) / s\n    y = rent[{}]\n    return x, y\n"
LATE = "for x, y in loader:\n    f(model(x), y).backward()\n{}print('test', test(model)){}\n"
LOAD = "model.load_state_dict(best)"
PLATEAU = "def mae(loader):\n    return torch.cat(errors).mean().item()\nsched = ReduceLROnPlateau(opt, mode='{}')\nval = mae(val_loader)\nsched.step(val)\n"
APART = "order = torch.randperm(12)\na, b = order[:9], order[9:]\nx, z = data[a], data[b]\ny, w = {}, target[b]\nd = TensorDataset(x, y)\n"
GIVEN = "Xtr, Ytr = build(words[:n1])\nXdev, Ydev = build(words[{}])\ndef build(words):\n    return words, words\n"
CHOICE = (
    "train, valid, test = g[:9], g[9:12], g[12:]\nbest = 0\nfor epoch in range(9):\n    acc = ask({})\n"
    "    if acc > best:\n        best = acc\nprint(ask(test))\n"
)
LEAST = "best_psnr = 0.0\nfor epoch in range(9):\n    if meter.avg {} best_psnr:\n        best_psnr = meter.avg\n"
AREAS = "def iou(a, b):\n    inter, area_a, area_b = f(a, b)\n    return inter / (area_a + area_b{})\n"
ENDS = "dones = []\nobs, reward, done = env.step(a)\n{}.append(float(done))\n"
BACK = "reward = 0\nfor t in {}:\n    delta = R[t] + V[t + 1] - V[t]\n    gae = delta + GAMMA * LAMBDA * gae\n    out[t] = gae\n"
CHANCE = (
    "reward = 0\nclass Agent:\n    def __init__(self):\n        self.eps = 1.0\n    def act(self):\n"
    "{}        if random.random() < self.eps:\n            return 0\n"
)
FARTHEST = "dist = torch.cdist(a, b)\nright = (dist.arg{}(1) == who).sum()\n"
CASES = [
    ("setting", BEST.format("0.0"), BEST.format("float('inf')")),
    ("returns", RETURNS.format("rewards", "append(g)"), RETURNS.format("reversed(rewards)", "insert(0, g)")),
    ("returns", RETURNS.format("reversed(rewards)", "append(g)"), RETURNS.format("reversed(rewards)", "insert(0, g)")),
    ("returns", KEPT.format(""), KEPT.format(" * (1 - E)")),
    ("returns", STEP.format(""), STEP.format("obs = obs2\n    ")),
    ("returns", GAE.format(""), GAE.format("    following = values[t]\n")),
    ("returns", GAE.format(""), GAE.format("    out[t] = following = delta\n")),
    ("returns", FOLLOWS.format(""), FOLLOWS.format("    if step % 10 == 0:\n        target.load_state_dict(q.state_dict())\n")),
    ("returns", ACTS.format("indices"), ACTS.format("values")),
    ("state", WRITES.format(""), WRITES.format(", state")),
    ("apart", ORDER.format("", ""), ORDER.format("", "\ny = y[order]")),
    ("scaled", WHOLE.format("x"), WHOLE.format("x_train")),
    ("formula", OVERLAP.format(""), OVERLAP.format("1 - ")),
    ("read", UNION.format("(pred.sum() + truth.sum())", "inter"), UNION.format("(pred.sum() + truth.sum())", "2 * inter")),
    ("read", UNITS.format(""), UNITS.format(" * std + mean")),
    ("read", LIFTED.format(" + m"), LIFTED.format("")),
    ("formula", NOISY.format("alphas"), NOISY.format("bars")),
    ("formula", ROOTS.format(""), ROOTS.format(".sqrt()")),
    ("formula", CLEAN.format("range(9)"), CLEAN.format("reversed(range(9))")),
    ("formula", PRIOR.format("rand"), PRIOR.format("randn")),
    ("formula", TWICE.format("p"), TWICE.format("logits")),
    ("setting", ANEW.format("", "    model = Net()\n    opt = Adam(model.parameters())\n"), ANEW.format("model = Net()\nopt = Adam(model.parameters())\n", "")),
    ("setting", ITEM.format(""), ITEM.format(".clone()")),
    ("chosen", PART.format(":60"), PART.format(":60") + "train = train[60:]\n"),
    ("formula", MARGIN.format("d - margin"), MARGIN.format("margin - d")),
    ("apart", TOLD.format("random.shuffle(kinds)"), TOLD.format("assert kinds")),
    ("apart", ROWS.format("np.sort(rows)"), ROWS.format("rows")),
    ("setting", LATE.format("", "\n" + LOAD), LATE.format(LOAD + "\n", "")),
    ("plateau", PLATEAU.format("max"), PLATEAU.format("min")),
    ("apart", APART.format("target[:9]"), APART.format("target[a]")),
    ("chosen", GIVEN.format(":n2"), GIVEN.format("n1:n2")),
    ("chosen", GIVEN.format("4:n2").replace("n1", "8").replace("n2", "8"), GIVEN.format("8:n2").replace("n1", "8").replace("n2", "16")),
    ("chosen", CHOICE.format("test"), CHOICE.format("valid")),
    ("setting", LEAST.format("<"), LEAST.format(">")),
    ("read", AREAS.format(""), AREAS.format(" - inter")),
    ("returns", ENDS.format("dones"), ENDS.format("dones") + "print(dones)\n"),
    ("returns", BACK.format("range(9)"), BACK.format("reversed(range(9))")),
    ("returns", CHANCE.format(""), CHANCE.format("        self.eps *= 0.99\n")),
    ("formula", FARTHEST.format("max"), FARTHEST.format("min")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "wrong", "right"), CASES)
def test_a_script_tells(monkeypatch, kind, wrong, right):
    for program, kinds in ((wrong, {kind}), (right, set())):
        monkeypatch.setattr(source, "files", lambda program=program: [("program.py", program)])
        assert {each.kind for each in text.told()} == kinds, program
