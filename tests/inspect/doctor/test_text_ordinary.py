"""What the text of ordinary scripts tells, each next to what looks like it and is right."""

# ruff: noqa: E501  (programs stand in one line)

import re
import subprocess
import sys

import pytest

from badak.inspect.doctor import source, text

WAIT = "best, bad = 9.0, 0\nfor epoch in epochs:\n    if loss < best:\n        best = loss\n{}    else:\n        bad += 1\n        if bad >= 5:\n            break\n"
MEANS = "criterion = nn.CrossEntropyLoss({})\ndef test(loader):\n    total = 0\n    for x, y in loader:\n        total += criterion(model(x), y).item(){}\n    return total / len(loader.dataset)\n"
PHASES = "for phase in ['train', 'val']:\n    for x, y in loaders[{}]:\n        f(x, y)\n"
PARTS = "train_data, val_data = data[:{}], data[{}:]\nf(train_data, val_data)\n"
EVALUATE = "def evaluate(model, loader):\n    return 1\ntest_acc = evaluate(model, {})\n"
PRINTED = (
    "def evaluate(model, loader):\n    return 1\nprint(f'train {{evaluate(model, train_loader)}} test {{evaluate(model, {})}}')\n"
)
KEPT = "train_x, val_x = x[:80], x[80:]\nwith torch.no_grad():\n    val_loss = f(model({}), 1)\nfit(train_x)\n"
AUGMENTED = (
    "class Cells(Dataset):\n    def __init__(self, augment=False):\n        self.augment = augment\n    def __getitem__(self, i):\n"
    "        return x.flip(0) if self.augment and torch.rand(1) < 0.5 else x\ntrain_set = Cells(augment=True)\nval_set = Cells({})\n"
)
COLUMNS = "X = np.column_stack([area, rooms, age])\nX_train = X[rows]\nm, s = X_train.mean({0}), X_train.std({0})\nX_train = (X_train - m) / s\n"
BEFORE = "X = np.column_stack([a, b, c])\nX_train, X_test = X[one], X[other]\nm, s = {0}.mean(axis=0), {0}.std(axis=0)\nX_train = (X_train - m) / s\nX_test = (X_test - m) / s\n"
BACK = "y_train, y_test = y[one], y[other]\nm, s = y_train.mean(), y_train.std()\ny_train = (y_train - m) / s\npred = model(x_test).numpy(){}\nmae = np.abs(pred - y_test).mean()\n"
HALF = "train_pred = net(a) * (hi - lo) + lo\ntest_pred = net(b) * (hi - lo){}\n"
SERIES = "def windows(data, n):\n    x = []\n    for i in range(9):\n        x.append(data[i : i + n])\n    return x\nseries = load()\nlo, hi = {0}.min(), {0}.max()\nscaled = (series - lo) / (hi - lo)\nx = windows(scaled, 3)\ntest_x = torch.Tensor(x[80:])\n"
ROWS = "trainX = torch.Tensor(x[:80])\ntrainY = torch.Tensor(y[{}])\ntestX = torch.Tensor(x[80:])\ntestY = torch.Tensor(y[80:])\n"
COPIES = "mixed = pairs[torch.randperm(len(pairs))]\nfor i in range(0, len(mixed), 8):\n    a, b = mixed[i : i + 8, 0], {}[i : i + 8, 1]\n"
ITEM = "class D(Dataset):\n    def __getitem__(self, i):\n        return self.x[i], self.y[{}]\n"
WITHIN = "def get(i):\n    words, tags = sentences[i]\n    return [a[w] for w in words], [b[t] for t in {}]\n"
POLE = (
    "reward = 0\nfor episode in episodes:\n    state = env.reset()\n    while True:\n        action = act(state)\n"
    "        observation, reward, done = env.step(action)\n        memory.push(state, action, observation)\n{}"
)
BATCH = (
    "reward = 0\ndef learn():\n    next_batch = torch.cat(batch.next_state)\n    done_batch = torch.cat(batch.done)\n"
    "    target = reward_batch + gamma * net({}).max(1).values * (1 - done_batch)\n    loss = f(q.gather(1, a), target)\n    loss.backward()\n"
)
VALUES = "reward = 0\nq.gather(1, a)\nv = target(next_states).{}\nexpected = r + gamma * v * (1 - done)\n"
RATE = "LambdaLR(optimizer, lambda step: {}0.5 * (1 + cos(step)))\n"
VAE = (
    "def loss_function(r, x, mu, logvar):\n    BCE = F.binary_cross_entropy(r, x{})\n"
    "    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())\n    return BCE + KLD\n"
)
PAIRS = "def forward(v, u, n):\n    pos_score = (v * u).sum(1)\n    neg_score = (v * n).sum(1)\n    return -(F.logsigmoid(pos_score) + F.logsigmoid({}neg_score)).mean()\n"
UNLIKELY = "def sgns_loss(v, u, n):\n    a = F.logsigmoid((v * u).sum(1))\n    b = F.logsigmoid(-(v * n).sum(1))\n    return {}(a + b).mean()\n"
DICE = "def dice_coeff(p, y):\n    return 2 * (p * y).sum() / (p.sum() + y.sum())\ndef seg_loss(p, y):\n    return bce(p, y) + {}dice_coeff(p, y)\n"
COUNTS = "counts = torch.bincount(y)\ncriterion = nn.CrossEntropyLoss(weight={})\n"
PLACE = "{} = torch.max(outputs, 1)\nright = (predicted == labels).sum()\n"
KEEP = "class Net(nn.Module):\n    pass\nmodel = Net()\n{}.load_state_dict(torch.load('best.pt'))\n"
SOFT = "d = target.state_dict()\nfor k in p:\n    d[k] = p[k] * t + d[k] * (1 - t)\n{}"
DROPS = "class Net(nn.Module):\n    def forward(self, x):\n        return F.dropout(x, 0.5{})\nmodel.eval()\n"
FIRST = "best_loss, first = 9.0, True\nif val_loss {} best_loss or first:\n    best_loss = val_loss\n"
END = "BOS, EOS = 1, 2\nids = [BOS] + words{}\nif token == EOS:\n    stop()\n"
FLIPS = "def augment(x):\n    return x.flip(-1) if torch.rand(1) < 0.5 else x\nout = model(augment(x_train))\nsaid = model({})\n"
CASES = [
    ("best", FIRST.format(">"), FIRST.format("<")),
    ("best", "best_loss = max(best_loss, val_loss)\n", "best_loss = min(best_loss, val_loss)\n"),
    ("best", "best_acc = min(best_acc, accuracy)\n", "best_acc = max(best_acc, accuracy)\n"),
    ("setting", END.format(""), END.format(" + [EOS]")),
    ("prepared", FLIPS.format("augment(x_test)"), FLIPS.format("x_test")),
    ("setting", WAIT.format(""), WAIT.format("        bad = 0\n")),
    ("read", MEANS.format("", ""), MEANS.format("", " * len(y)")),
    ("read", MEANS.format("", ""), MEANS.format("reduction='sum'", "")),
    ("chosen", PHASES.format("'train'"), PHASES.format("phase")),
    ("chosen", PARTS.replace("data[{}:]", "data[:{}]").format("n", "n"), PARTS.format("n", "n")),
    ("chosen", PARTS.format("80", "60"), PARTS.format("80", "80")),
    ("chosen", EVALUATE.format("train_loader"), EVALUATE.format("test_loader")),
    ("chosen", PRINTED.format("train_loader"), PRINTED.format("test_loader")),
    ("chosen", KEPT.format("prepared(train_x)"), KEPT.format("prepared(val_x)")),
    ("prepared", AUGMENTED.format("augment=True"), AUGMENTED.format("augment=False")),
    ("one", COLUMNS.format(""), COLUMNS.format("axis=0")),
    ("scaled", BEFORE.format("X"), BEFORE.format("X_train")),
    ("scaled", SERIES.format("series"), SERIES.format("series[:80]")),
    ("read", BACK.format(""), BACK.format(" * s + m")),
    ("read", HALF.format(""), HALF.format(" + lo")),
    ("apart", ROWS.format("1:81"), ROWS.format(":80")),
    ("apart", COPIES.format("pairs"), COPIES.format("mixed")),
    ("apart", ITEM.format("i - 1"), ITEM.format("i + 1")),
    ("apart", WITHIN.format("sorted(tags)"), WITHIN.format("tags")),
    ("apart", "d = TensorDataset(x, y[torch.randperm(n)])\n", "d = TensorDataset(x, null_y[torch.randperm(n)])\n"),
    ("twice", "center, context = b[:, 0], b[:, 0]\n", "center, context = b[:, 0], b[:, 1]\n"),
    ("returns", POLE.format(""), POLE.format("        state = observation\n")),
    ("returns", BATCH.format("state_batch"), BATCH.format("next_batch")),
    ("returns", VALUES.format("mean(1)"), VALUES.format("max(1).values")),
    ("formula", RATE.format("lr * "), RATE.format("")),
    ("formula", VAE.format(""), VAE.format(", reduction='sum'")),
    ("formula", PAIRS.format(""), PAIRS.format("-")),
    ("certain", UNLIKELY.format(""), UNLIKELY.format("-")),
    ("formula", DICE.format(""), DICE.format("1 - ")),
    ("favoured", COUNTS.format("counts / counts.sum()"), COUNTS.format("counts.sum() / counts")),
    ("read", PLACE.format("predicted, _"), PLACE.format("_, predicted")),
    ("setting", KEEP.format("Net()"), KEEP.format("model")),
    ("average", SOFT.format(""), SOFT.format("target.load_state_dict(d)\n")),
    ("drops", DROPS.format(""), DROPS.format(", self.training")),
]


@pytest.mark.parametrize(("kind", "wrong", "right"), CASES)
def test_a_line_tells(monkeypatch, kind, wrong, right):
    for program, kinds in ((wrong, {kind}), (right, set())):
        monkeypatch.setattr(source, "files", lambda program=program: [("program.py", program)])
        assert {each.kind for each in text.told()} == kinds


def said(program: str, folder) -> list[str]:
    """The codes that the command says of a program."""
    path = folder / "train.py"
    path.write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "badak", "doctor", path], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return re.findall(r"^BADAK-\d+", done.stdout, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "codes"), [(8, ["BADAK-223"]), (40, [])])
def test_a_table_however_it_was_made_is_scaled_by_columns(columns, codes, tmp_path):
    """What lies flat and has many columns is taken for pictures, which one number scales."""
    program = (
        "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
        f"data = torch.randn(256, {columns}) * torch.logspace(0, 3, {columns})\n"
        "y = torch.randn(256, 1)\n"
        "data = (data - data.mean()) / data.std()\n"
        f"model = nn.Linear({columns}, 1)\nopt = torch.optim.Adam(model.parameters(), 1e-3)\n"
        "for step in range(30):\n    i = step % 8 * 32\n    loss = nn.functional.mse_loss(model(data[i : i + 32]), y[i : i + 32])\n"
        "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
    )
    assert said(program, tmp_path) == codes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "codes"),
    [
        ("state = {k: v.clone() for k, v in model.state_dict().items()}\nmodel.load_state_dict(state)", ["BADAK-212"]),
        ("torch.save(model.state_dict(), 'w.pt')\nmodel.load_state_dict(torch.load('w.pt'))", ["BADAK-212"]),
        ("model.load_state_dict(torch.load('w.pt'))", []),
    ],
)
def test_weights_that_a_program_keeps_itself_are_no_body_of_others(end, codes, tmp_path):
    program = (
        "import torch\nfrom torch import nn\ntorch.manual_seed(0)\nx = torch.randn(512, 6)\ny = (x[:, 0] > 0).long()\n"
        "model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))\n"
        "opt = torch.optim.Adam(model[4].parameters(), 1e-3)\n"
        "for step in range(30):\n    i = step % 16 * 32\n    loss = nn.functional.cross_entropy(model(x[i : i + 32]), y[i : i + 32])\n"
        f"    opt.zero_grad()\n    loss.backward()\n    opt.step()\n{end}\n"
    )
    assert said(program, tmp_path) == codes
