"""What the text of a program tells by itself, each next to what looks like it and is right."""

import re
from pathlib import Path

import pytest

from badak.inspect.doctor import names, source, text
from tests.tiers import thinned


def told(monkeypatch, program: str) -> list[str]:
    monkeypatch.setattr(source, "files", lambda: [("program.py", program)])
    return [each.kind for each in text.told()]


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        ("setting", "model.eval", "model.eval()"),
        ("setting", "optimizer.zero_grad\nloss.backward()", "optimizer.zero_grad()\nloss.backward()"),
        ("setting", "F.relu(h)", "h = F.relu(h)"),
        ("setting", "h.detach()", "h.detach_()"),
        ("setting", "torch.bmm(a, b).transpose(1, 2)", "x = torch.bmm(a, b).transpose(1, 2)"),
        ("setting", "drop = nn.Dropout(0.1)\ndrop(x)", "drop = nn.Dropout(0.1)\nx = drop(x)"),
        ("setting", "act = nn.ReLU()\nact(x)", "act = nn.ReLU(inplace=True)\nact(x)"),
        ("setting", "for i in range(len(layers)):\n    x = layers[0](x)", "for i in range(len(layers)):\n    x = layers[i](x)"),
        ("setting", "for t in range(x.size(1)):\n    h = cell(x[:, 0], h)", "for t in range(x.size(1)):\n    h = cell(x[:, t], h)"),
        ("read", "right += (a == b).sum().item()\nprint(right / len(test_loader))",
         "right += (a == b).sum().item()\nprint(right / len(test_loader.dataset))"),
        ("read", "right += (a == b).float().mean()\nprint(right / len(test_loader.dataset))",
         "right += (a == b).float().mean()\nprint(right / len(test_loader))"),
        ("chosen", "for e in range(9):\n    val_loss = test()\n    if train_loss < best:\n        best = train_loss\n"
                   "        kept = copy(model.state_dict())",
         "for e in range(9):\n    val_loss = test()\n    if val_loss < best:\n        best = val_loss\n"
         "        kept = copy(model.state_dict())"),
        ("prepared", "a = scaler.fit_transform(X_train)\nb = scaler.fit_transform(X_test)",
         "a = scaler.fit_transform(X_train)\nb = scaler.transform(X_test)\nnearest.fit(X_test)\n"
         "temperature_scaler.fit(z_val, y_val)"),
        ("prepared", "a = StandardScaler().fit(X_train)\nb = StandardScaler().fit_transform(X_test)",
         "s = StandardScaler().fit(X_train)\nb = s.transform(X_test)"),
        ("prepared", "X_test = (X_test - X_test.mean(0)) / X_test.std(0)", "X_test = (X_test - X_test.mean(1)) / X_test.std(1)"),
        ("prepared", "parts = {'train': a, 'test': b}\nsets = {k: Scaler().fit(x[i]).transform(x[i]) for k, i in parts.items()}",
         "parts = {'train': a, 'test': b}\nsets = {k: scaler.transform(x[i]) for k, i in parts.items()}"),
        ("read", "right += (a == b).sum().item()\nprint(right / len(range(0, n, 60)))",
         "right += (a == b).sum().item()\nprint(right / len(x))"),
    ],
)  # fmt: skip
def test_a_line_tells(monkeypatch, kind, wrong, right):
    assert told(monkeypatch, wrong) == [kind]
    assert told(monkeypatch, right) == []


def test_loops_that_repeat_on_purpose_are_right(monkeypatch):
    assert not told(monkeypatch, "for epoch in range(10):\n    x = rows[0]\n    y = layer(x)")
    assert not told(monkeypatch, "for _ in range(len(layers)):\n    x = layers[0](x)")


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("loss = -(log_probs * advantage).mean()", 1),
        ("pg = -mb_advantages * ratio", -1),
        ("loss = (logp * advantages.flatten().detach()).mean()", 1),
        ("loss.append(-log_prob * R)", 1),
        ("loss = (log_probs * something).mean()", 0),
    ],
)
def test_the_weight_of_a_logarithm(monkeypatch, line, sign):
    monkeypatch.setattr(source, "files", lambda: [("program.py", line)])
    assert text.weight_of("program.py:1") == sign


@pytest.mark.parametrize(
    ("program", "again"),
    [
        ("opt = torch.optim.Adam(teacher.parameters())\nopt = torch.optim.SGD(student.parameters(), lr=0.1)", True),
        ("def train(net):\n    opt = optim.Adam(net.parameters())\ntrain(a)\ntrain(b)", True),
        ("opt = optim.Adam(net.parameters())", False),
    ],
)
def test_a_second_training_is_waited_for(monkeypatch, program, again):
    monkeypatch.setattr(source, "files", lambda: [("program.py", program)])
    assert names.trains_again() == again


def test_data_for_tests_that_is_only_prepared(monkeypatch):
    monkeypatch.setattr(source, "files", lambda: [("program.py", "X_test = load()\nX_test = (X_test - mean) / std\nfit(X)")])
    assert names.held_back() == ["X_test"]
    monkeypatch.setattr(source, "files", lambda: [("program.py", "X_test = load()\nX_test = (X_test - mean) / std\ntest(X_test)")])
    assert names.held_back() == []


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("for p in body.parameters():\n    p.requires_grad == False", "for p in body.parameters():\n    p.requires_grad = False"),
        ("schedule = StepLR(optimizer, 3)", "schedule = StepLR(optimizer, 3)\nschedule.step()"),
        ("self.sched = optim.lr_scheduler.CosineAnnealingLR(o, 9)", "sched = CosineAnnealingLR(o, 9)\ntrain(model, sched)"),
        ("def forward(self, x):\n    h = self.norm(x)\n    return self.out(x)",
         "def forward(self, x):\n    h = self.norm(x)\n    return self.out(h)"),
        ("def forward(self, x):\n    h = self.one(x)\n    h = self.two(x)\n    return h",
         "def forward(self, x):\n    h = self.one(x)\n    h = self.two(h)\n    return h"),
        ("for x, y in loader:\n    right += hits(x, y)\n    return right",
         "for x, y in loader:\n    right += hits(x, y)\nreturn_(right)"),
        ("for xb, yb in train_loader:\n    loss(model(X), Y).backward()",
         "for xb, yb in train_loader:\n    loss(model(xb), Y).backward()"),
    ],
)  # fmt: skip
def test_a_line_does_nothing(monkeypatch, wrong, right):
    assert told(monkeypatch, wrong) in (["setting"], ["unread"])
    assert told(monkeypatch, right) == []


def test_branches_and_first_examples_are_right(monkeypatch):
    assert not told(monkeypatch, "def forward(self, x):\n    h = self.a(x)\n    if self.deep:\n        h = self.b(x)\n    return h")
    assert not told(monkeypatch, "def first(loader):\n    for x, y in loader:\n        x = x + 1\n        return x")


PAIRED = "x, y = table()\n{}\nfor rows in order.split(8):\n    loss = criterion(model(x[rows]), y[rows])"
SCALED = "x = table()\n{}\nx_train, x_test = x[:800], x[800:]"
GAE = """rewards = []
def gae(rewards, values, dones):
    out, running = [0] * T, 0.0
    for t in {}:
        delta = rewards[t] + GAMMA * values[{}] * {} - values[t]
        running = delta + GAMMA * LAM * running
        out[t] = running
    return out
gae(rewards, values, dones)"""
ROLLOUT = """states, actions = [], []
for t in range(T):
    action = policy(obs)
    {}
    actions.append(action)"""
FOLDS = """class Net: pass
{1}
for fold in range(5):
{0}
    opt = Adam(model.parameters())
    for x, y in rows[fold]:
        loss(model(x), y).backward()
"""
FLAT = "s, a = torch.stack(states), torch.stack(actions)\nloss = f(model({}), {})"
WALK = """while not done:
    action = act(state)
    next_state, reward, done = env.step(action)
    {}"""
LEARN = """rewards = []
def learn(batch):
    s, a, r, after, done = batch
    loss = (net(s) - r - gamma * {}).pow(2).mean()
    loss.backward()"""
BEST = "for epoch in range(9):\n    val = test()\n    if {}:\n        best = val\n"
LOSSES = (
    "def test():\n    total = 0.0\n    for x, y in data:\n        total += criterion(model(x), y).item()\n    return total / n\n"
)


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        ("apart", PAIRED.format("y = y[rng.permutation(len(y))]"), PAIRED.format("p = rng.permutation(len(y))\nx, y = x[p], y[p]")),
        ("apart", PAIRED.format("p = torch.randperm(9)\nx = x[p]"), PAIRED.format("p = torch.randperm(9)\nx = x[p]\ny = y[p]")),
        ("apart", PAIRED.format("y = np.log(rng.permutation(y))"), PAIRED.format("y = np.log(y)\norder = rng.permutation(len(y))")),
        ("apart", PAIRED.format("rng.shuffle(y)"), PAIRED.format("order = np.arange(len(y))\nrng.shuffle(order)")),
        ("apart", "order = torch.randperm(n)\nrows = order[i : i + 8]\na, b = x[rows], y[i : i + 8]",
         "order = torch.randperm(n)\nrows = order[i : i + 8]\na, b = x[rows], y[rows]"),
        ("scaled", SCALED.format("x = (x - x.mean(0)) / x.std(0)"), SCALED.format("x = (x - x[:800].mean(0)) / x[:800].std(0)")),
        ("scaled", SCALED.format("x = StandardScaler().fit_transform(x)"),
         SCALED.format("x = StandardScaler().fit(x[:800]).transform(x)")),
        ("scaled", SCALED.format("mu, sd = x.mean(axis=0), x.std(axis=0)\nx = torch.tensor((x - mu) / sd)"),
         SCALED.format("mu, sd = x.mean(axis=1), x.std(axis=1)\nx = torch.tensor((x - mu) / sd)")),
        ("scaled", "def standard(z):\n    return (z - z.mean(0)) / z.std(0)\n" + SCALED.format("x = standard(x)"),
         SCALED.format("print(x.mean(0), x.std(0))")),
        ("returns", GAE.format("range(T)", "t + 1", "(1 - dones[t])"), GAE.format("reversed(range(T))", "t + 1", "(1 - dones[t])")),
        ("returns", GAE.format("reversed(range(T))", "t", "(1 - dones[t])"),
         GAE.format("range(T - 1, -1, -1)", "t + 1", "(1 - dones[t])")),
        ("returns", GAE.format("reversed(range(T))", "t + 1", "1.0"),
         GAE.format("reversed(range(T))", "t + 1", "(1.0 - dones[t])")),
        ("returns", ROLLOUT.format("obs, reward, done = env.step(action)\n    states.append(obs)"),
         ROLLOUT.format("states.append(obs)\n    obs, reward, done = env.step(action)")),
        ("returns", "rewards = []\nbuffer.push(state, action, reward, state, done)",
         "rewards = []\nbuffer.push(state, action, reward, after, done)"),
        ("returns", "rewards = []\n" + WALK.format("pass"), "rewards = []\n" + WALK.format("state = next_state")),
        ("returns", "rewards = []\nt = r + gamma * q * dones", "rewards = []\nt = r + gamma * q * (1 - dones)"),
        ("returns", LEARN.format("q"), LEARN.format("q * (1 - done)")),
        ("returns", "rewards = []\nepsilon = 1.0\na = act(state, epsilon)",
         "rewards = []\nepsilon = 1.0\na = act(state, epsilon)\nepsilon *= 0.9"),
        ("apart", "rewards = []\nloss = -(logp * adv[torch.randperm(n)]).mean()",
         "rewards = []\nloss = -(logp[i] * adv[i]).mean()"),
        ("chosen", FOLDS.format("", "model = Net()"), FOLDS.format("    model = Net()", "")),
        ("flat", FLAT.format("s.transpose(0, 1).flatten(0, 1)", "a.flatten()"), FLAT.format("s.flatten(0, 1)", "a.flatten()")),
        ("best", LOSSES + BEST.format("val > best"), LOSSES + BEST.format("val < best")),
        ("best", BEST.format("best > accuracy").replace("= val", "= accuracy"),
         BEST.format("best < accuracy").replace("= val", "= accuracy")),
        ("plateau", "plan = ReduceLROnPlateau(optimizer, mode='max')\nplan.step(val_loss)",
         "plan = ReduceLROnPlateau(optimizer, mode='max')\nplan.step(val_acc)"),
        ("plateau", "plan = ReduceLROnPlateau(optimizer)\nplan.step(val_acc)",
         "plan = ReduceLROnPlateau(optimizer)\nplan.step(-val_acc)"),
        ("same", "for i in range(0, n, 8):\n    loss(x[rows[:8]]).backward()",
         "for i in range(0, n, 8):\n    loss(x[rows[i:]]).backward()"),
        ("prepared", "z = (x - mu) / sd\na = z[:800]\na_test = x[800:]", "z = (x - mu) / sd\na = z[:800]\na_test = z[800:]"),
        ("twice", "loss = f(a, b) + f(a, b)", "loss = f(a, b) + f(b, a)"),
        ("twice", "h = torch.cat([self.up(b), self.up(b)], dim=1)", "h = torch.cat([self.up(b), self.up(a)], dim=1)"),
        ("twice", "x = np.stack([day, day], axis=1)", "x = np.stack([day, hour], axis=1)\ny = torch.cat([y, y])"),
        ("setting", "e = [table(x[:, 0]) for i, table in enumerate(tables)]",
         "e = [table(x[:, i]) for i, table in enumerate(tables)]"),
    ],
)  # fmt: skip
def test_what_is_done_to_tables_rewards_and_bests(monkeypatch, kind, wrong, right):
    assert told(monkeypatch, wrong) == [kind]
    assert told(monkeypatch, right) == []


EPSILON = """
if random.random() {} epsilon:
    action = env.action_space.sample()
else:
    action = q(state).argmax().item()
"""
KL = "kl = -0.5 * torch.sum(1 + logvar {} mu.pow(2) - logvar.exp())"
TRIPLET = "d_pos = F.pairwise_distance(a, p)\nd_neg = F.pairwise_distance(a, n)\nloss = F.relu({} + margin).mean()"
PPO = "surr1 = ratio * adv\nsurr2 = torch.clamp(ratio, 0.8, 1.2) * adv\nloss = -torch.{}(surr1, surr2).mean()"
MIXED = "x = lam * x + (1 - lam) * x[other]\nloss = lam * f(z, a) + {} * f(z, b)"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("x = (x - std) / mean", "x = (x - mean) / std"),
        ("y = out * mean + std", "y = out * std + mean"),
        ("mean, std = x.std(0), x.mean(0)", "mean, std = x.mean(0), x.std(0)"),
        ("std = torch.exp(logvar)", "std = torch.exp(0.5 * logvar)"),
        ("scores = q @ k.transpose(-2, -1) * math.sqrt(d)", "scores = q @ k.transpose(-2, -1) / math.sqrt(d)"),
        ("sim = a @ b.T\nlogits = sim * temperature", "sim = a @ b.T\nlogits = sim * temperature.exp() / temperature"),
        ("scores = q @ k.T * d ** 0.5", "scores = q @ k.T * d ** -0.5"),
        (KL.format("+"), KL.format("-")),
        (TRIPLET.format("d_neg - d_pos"), TRIPLET.format("d_pos - d_neg")),
        ("loss = -F.logsigmoid(neg_score - pos_score).mean()", "loss = -F.logsigmoid(pos_score - neg_score).mean()"),
        ("pos, neg = sim[0], sim[1]\nloss = F.relu(pos - neg + 0.2)", "pos, neg = sim[0], sim[1]\nloss = F.relu(neg - pos + 0.2)"),
        (PPO.format("max"), PPO.format("min")),
        ("x = (1 - a).sqrt() * x0 + a.sqrt() * noise", "x = a.sqrt() * x0 + (1 - a).sqrt() * noise"),
        ("guess = logits.argmin(-1)", "nearest = distances.argmin(-1)"),
        (MIXED.format("lam"), MIXED.format("(1 - lam)")),
        (EPSILON.format(">"), EPSILON.format("<")),
    ],
)
def test_a_formula_that_is_not_what_its_names_say(monkeypatch, wrong, right):
    assert told(monkeypatch, wrong) == ["formula"]
    assert told(monkeypatch, right) == []


def test_the_end_of_early_stopping_is_looked_up_where_it_is_called(monkeypatch):
    stopper = """
class Stop:
    def __call__(self, value):
        if value {} self.best:
            self.best = value
stop = Stop()
"""
    loop = "loss, days = test()\nstop(loss)"
    assert told(monkeypatch, stopper.format(">") + loop) == ["best"]
    assert told(monkeypatch, stopper.format("<") + loop) == []
    assert told(monkeypatch, stopper.format(">") + "stop(bonus)") == []


def test_a_store_of_states_need_not_move_on(monkeypatch):
    kept = "obs[t] = next_obs\n    action = act(next_obs)\n    next_obs, reward, done = env.step(action)"
    assert not told(monkeypatch, f"rewards = []\nfor t in range(T):\n    {kept}")


def test_rows_that_do_not_belong_together_may_be_in_two_orders(monkeypatch):
    unpaired = "a, b = horses(), zebras()\na, b = a[torch.randperm(9)], b[torch.randperm(9)]\nloss = f(a[:4]) + f(b[4:])"
    assert not told(monkeypatch, unpaired)
    control = "x, y = table()\ny_null = rng.permutation(y)\nfit(x[rows], y_null[rows])"
    assert not told(monkeypatch, control)


@pytest.mark.slow
def test_no_sound_program_of_the_classroom_is_told_anything(monkeypatch):
    folder = Path(__file__).parent
    programs = [path for part in ("sound", "heldout", "classroom") for path in sorted((folder / part).glob("*.py"))]
    said = {path.stem: told(monkeypatch, path.read_text(encoding="utf-8")) for path in thinned(programs, 110)}
    assert len(programs) > 200 and not {name: kinds for name, kinds in said.items() if kinds}


def test_what_is_told_is_said_by_a_diagnosis():
    folder = Path(text.__file__).parent
    kinds = {
        kind for path in folder.glob("*.py") for kind in re.findall(r'(?:Told|rule)\(\s*"(\w+)"', path.read_text(encoding="utf-8"))
    }
    every = "".join(path.read_text(encoding="utf-8") for path in [*folder.glob("diagnoses/*.py"), folder / "session.py"])
    assert len(kinds) > 10 and not {kind for kind in kinds if f'"{kind}")' not in every}
