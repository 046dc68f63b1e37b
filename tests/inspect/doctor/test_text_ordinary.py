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


EPOCHS = "{0}for epoch in range(9):\n{1}    for x, y in loader:\n        total += f(x, y).item()\n    print(total / len(loader))\n"
LAST = (
    "def test(loader):\n    hits = 0\n    for x, y in loader:\n        hits {} (model(x).argmax(1) == y).sum()\n    return hits\n"
)
BESTS = "best = 0.0\nfor epoch in range(9):\n    if iou > best:\n{}        torch.save(net.state_dict(), 'best.pt')\n"
STATE = "best_state = copy.deepcopy(net.state_dict())\n{}"
LOADED = "weights = torch.load('best.pt')\n{}"
CYCLE = (
    "sched = OneCycleLR(opt, max_lr=1.0, epochs=9, steps_per_epoch=len(loader))\nfor epoch in range(9):\n    for x, y in loader:\n"
    "        f(x, y).backward()\n{}sched.step()\n"
)
TOTAL = (
    "total = {}len(loader)\nsched = LambdaLR(opt, lambda s: 1 - s / total)\nfor epoch in range(9):\n    for x in loader:\n"
    "        f(x).backward()\n        sched.step()\n"
)
TEACH = "class Net(nn.Module):\n    pass\nteacher, student = Net(), Net()\n{}distil(student, teacher(x))\n"
RATIOS = "tp = ((pred == 1) & (y == 1)).sum()\nfp = ((pred == 1) & (y == 0)).sum()\nfn = ((pred == 0) & (y == 1)).sum()\nprecision = tp / {}\n"
MATRIX = "def mean_iou(cm):\n    inter = cm.diag().float()\n    union = cm.sum(0) + cm.sum(1){}\n    iou = inter / union.clamp(min=1)\n    return iou.mean()\n"
FOLD = (
    "class Net(nn.Module):\n    pass\n{0}for fold in range(3):\n{1}    for x, y in data[fold]:\n        f(model(x), y).backward()\n"
    "        opt.step()\n    model.load_state_dict(stopper.state)\n    stopper = 1\n"
)
MADE = "model = Net()\nopt = optim.Adam(model.parameters())\n"
PARTS_OF = "{0}for fold in range(3):\n{1}    train, held = x[part != fold], x[part == fold]\n"
SUM_OF = "for fold in range(3):\n    p += predict(model, x){}\nright = p > 0.5\n"
LOADERS = "d = {{'train': DataLoader(sets['train']), 'val': DataLoader(sets['{}'])}}\n"
CHOSEN = "val_idx, test_idx = idx[900:1150], idx[{}:]\n"
KINDS = "class Flowers(Dataset):\n    pass\ntrain = Flowers(['rose', 'lily', 'iris'])\nval = Flowers([{}])\n"
PLAYED = (
    "train_pairs = [(u, s) for u, h in enumerate(plays) for s in h{}]\ntest_pairs = [(u, h[-1]) for u, h in enumerate(plays)]\n"
)
LIMIT = "threshold = max(grid, key=lambda t: f1({0}_scores, {0}_truth, t))\n"
RANKS = "def auc(y, p):\n    ranks = {}(p) + 1\n    return ranks[y == 1].sum()\n"
PLACES = "rank = (scores {} scores[0]).sum()\nhit = rank < 10\n"
SORTED = "def ap(scores, truth):\n    order = scores.argsort({})\n    hits = truth[order].cumsum(0)\n    return hits / torch.arange(1, 9)\n"
FRAME = "train_df, test_df = df.iloc[:9], df.iloc[9:]\nmu, sd = {0}[NUM].mean(), {0}[NUM].std()\n"
GIVEN = "def tensors(frame, mu, sd):\n    return (frame - mu) / sd\na = tensors(tr, m, s)\nb = tensors(va, {})\n"
CODES = "df['a'], kinds = pd.factorize(df['a'])\n{}"
REFIT = "x_tr, x_te = Scaler().fit(x[:9])(x[:9]), {}(x[9:])\n"
UNDONE = "y = np.log1p(price)\npred = np.{}(model(x))\n"
INVERSE = "y_train = y_scaler.fit_transform(y[rows])\npred_log = {}\npred_price = np.expm1(pred_log)\n"
AVERAGE = "class EMA:\n    def __init__(self, model, decay):\n        self.decay = decay\n    def update(self, p):\n        self.avg = {} * self.avg + {} * p\nema = EMA(model, 0.99)\n"
NOISES = "alphas_cumprod = torch.cumprod({}, dim=0)\n"
DENOISE = "a = torch.cumprod(b, 0)\ndef generate(model):\n    for t in {}:\n        x = step(model(x, t), t, x)\n"
TIMES = "a = torch.cumprod(b, 0)\nfor x in loader:\n    t = torch.{}\n    f(model(x, t)).backward()\n"
FORETOLD = "for x in loader:\n    noise = torch.randn(x.shape)\n    noisy = x + noise\n    noise_pred = model(noisy)\n    loss = F.mse_loss(noise_pred, {})\n"
NOISY = "for x in loader:\n    noisy = x + torch.randn_like(x)\n    out = model(noisy)\n    loss = mse(out, {})\n"
JUDGED = "class D(nn.Module):\n    pass\nd = D()\na = d(made, wanted)\nb = d(made.detach(), {})\n"
WITHIN_F = "def kd(s, t, T):\n    return F.kl_div(F.log_softmax({}, dim=1), F.softmax(t / T, dim=1))\n"
SAMPLER = "counts = torch.bincount(y)\nsampler = WeightedRandomSampler(({}counts.float())[y], 9)\n"
MIXED = "def mixup(x, y):\n    index = torch.randperm(9)\n    return lam * x + (1 - lam) * x[index], y, y[{}]\n"
BOTH = (
    "def mixup(x, y):\n    return x, y, y\nfor x, y in loader:\n    x, y_a, y_b = mixup(x, y)\n    f(model(x), y_a{}).backward()\n"
)
CROP = "def crop(x):\n    top, left = torch.randint(0, 5, (2,)).tolist()\n    return x[top : top + 9, {0} : {0} + 9]\n"
SHAPE = "def augment(x):\n    x = x * 2\n    return {}0.1 * torch.randn_like(x)\ny = augment(z)\n"
LOSS_OF = "def contrast_loss(z1, z2):\n    return F.cross_entropy(torch.cat([z1, {}]) @ z1.T, rows)\n"
RETURNS = "reward = 0\nfor r in reversed(rewards):\n    R = r + gamma * R\n    out.append(R)\n{}"
ACTION = "reward = 0\naction = dist.sample()\nlog_prob = dist.log_prob({})\n"
GREEDY = "reward = 0\ndist = Categorical(logits=logits)\naction = {}\nlog_prob = dist.log_prob(action)\n"
OVERLAPS = "class DiceLoss(nn.Module):\n    def forward(self, p, y):\n        dice = 2 * (p * y).sum() / (p.sum() + y.sum())\n        return {}dice.mean()\n"
SHUFFLED = "class D(Dataset):\n    def __init__(self):\n        rng.shuffle(self.{})\n    def __getitem__(self, i):\n        x = self.images[i]\n        return x, self.tags[i]\n"
COUNTED = "criterion = nn.MSELoss()\ndef test(loader):\n    total, n = 0, 0\n    for x, y in loader:\n        total += criterion(model(x), y).item(){}\n        n += {}\n    return total / n\n"
FOCAL = "ce_of = nn.BCEWithLogitsLoss()\ndef focal_loss(p, y):\n    ce = ce_of(p, y)\n    return {}((1 - ce) ** 2 * ce).mean()\n"
THROWN = "first = 1\nfor {} in train_loader:\n    f(model({})).backward()\n"
CASES += [
    ("certain", FOCAL.format("-"), FOCAL.format("")),
    ("setting", THROWN.format("_", "first"), THROWN.format("x", "x")),
    ("apart", BOTH.replace("return x, y, y", "return x, y, y[torch.randperm(9)]").format(""), BOTH.format(", y_b")),
    ("read", EPOCHS.format("total = 0\n", ""), EPOCHS.format("", "    total = 0\n")),
    ("read", LAST.format("="), LAST.format("+=")),
    ("setting", BESTS.format(""), BESTS.format("        best = iou\n")),
    ("setting", STATE.format(""), STATE.format("net.load_state_dict(best_state)\n")),
    ("setting", LOADED.format(""), LOADED.format("net.load_state_dict(weights)\n")),
    ("setting", CYCLE.format("    "), CYCLE.format("        ")),
    ("plateau", TOTAL.format(""), TOTAL.format("9 * ")),
    ("setting", TEACH.format(""), TEACH.format("fit(teacher.parameters())\n")),
    ("read", RATIOS.format("(tp + fn)"), RATIOS.format("max(1, (tp + fp))")),
    ("read", MATRIX.format(""), MATRIX.format(" - cm.diag()")),
    ("chosen", FOLD.format(MADE, ""), FOLD.format("", "    model = Net()\n    opt = optim.Adam(model.parameters())\n")),
    (
        "chosen",
        PARTS_OF.format("", "    part = np.random.permutation(n) % 3\n"),
        PARTS_OF.format("part = np.random.permutation(n) % 3\n", ""),
    ),
    ("read", SUM_OF.format(""), SUM_OF.format(" / 3")),
    ("chosen", LOADERS.format("train"), LOADERS.format("val")),
    ("chosen", CHOSEN.format("1000"), CHOSEN.format("1150")),
    ("prepared", KINDS.format("'iris', 'lily', 'rose'"), KINDS.format("'rose', 'lily', 'iris'")),
    ("chosen", PLAYED.format(""), PLAYED.format("[:-1]")),
    ("chosen", LIMIT.format("test"), LIMIT.format("val")),
    (
        "read",
        RANKS.format("np.argsort"),
        "def auc(y, p):\n    ranks = np.argsort(np.argsort(p)) + 1\n    return ranks[y == 1].sum()\n",
    ),
    ("read", PLACES.format("<"), PLACES.format(">")),
    ("read", SORTED.format(""), SORTED.format("descending=True")),
    ("read", "mae = (guess - y).float().mean()\n", "mae = (guess - y).abs().float().mean()\n"),
    ("twice", "NUM = ['age', 'age', 'fare']\nx = df[NUM]\n", "NUM = ['age', 'size', 'fare']\nx = df[NUM]\n"),
    ("scaled", FRAME.format("df"), FRAME.format("train_df")),
    ("prepared", GIVEN.format("va.mean(), va.std()"), GIVEN.format("m, s")),
    (
        "prepared",
        CODES.format("test['a'] = pd.factorize(test['a'])[0]\n"),
        CODES.format("test['a'] = kinds.get_indexer(test['a'])\n"),
    ),
    ("prepared", REFIT.format("Scaler().fit(x[9:])"), REFIT.format("scaler")),
    ("read", UNDONE.replace("np.{}", "10 ** ").format(), UNDONE.format("expm1")),
    ("read", INVERSE.format("model(x)"), INVERSE.format("y_scaler.inverse_transform(model(x))")),
    ("average", AVERAGE.format("self.decay", "self.decay"), AVERAGE.format("self.decay", "(1 - self.decay)")),
    (
        "average",
        AVERAGE.format("(1 - self.decay)", "self.decay"),
        AVERAGE.replace("0.99", "0.01").format("(1 - self.decay)", "self.decay"),
    ),
    ("formula", NOISES.format("betas"), NOISES.format("1 - betas")),
    ("formula", DENOISE.format("range(50)"), DENOISE.format("reversed(range(50))")),
    ("time", TIMES.format("full((9,), 49)"), TIMES.format("randint(0, 50, (9,))")),
    ("formula", FORETOLD.format("x"), FORETOLD.format("noise")),
    ("formula", NOISY.format("noisy"), NOISY.format("x")),
    ("formula", JUDGED.format("labels"), JUDGED.format("wanted")),
    ("formula", WITHIN_F.format("s * T"), WITHIN_F.format("s / T")),
    ("formula", WITHIN_F.format("s"), WITHIN_F.format("s / T")),
    ("favoured", SAMPLER.format(""), SAMPLER.format("1.0 / ")),
    ("apart", MIXED.format("torch.randperm(9)"), MIXED.format("index")),
    ("apart", SHUFFLED.format("tags"), SHUFFLED.format("seeds")),
    ("unread", BOTH.format(""), BOTH.format(", y_b")),
    ("unread", CROP.format("top"), CROP.format("left")),
    ("unread", SHAPE.format(""), SHAPE.format("x + ")),
    ("unread", LOSS_OF.format("z1"), LOSS_OF.format("z2")),
    ("returns", RETURNS.format(""), RETURNS.format("out.reverse()\n")),
    ("returns", ACTION.format("dist.sample()"), ACTION.format("action")),
    ("returns", GREEDY.format("logits.argmax()"), GREEDY.format("dist.sample()")),
    ("formula", OVERLAPS.format(""), OVERLAPS.format("1 - ")),
    ("read", COUNTED.format(" * len(x)", "1"), COUNTED.format("", "1")),
    ("read", COUNTED.format("", "len(x)"), COUNTED.format(" * len(x)", "len(x)")),
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begin", "end", "codes"),
    [("net.eval()", "net.eval()", ["BADAK-207"]), ("", "net.eval()", []), ("net.eval()", "", [])],
)
def test_a_model_that_is_in_eval_mode_before_its_training_and_set_to_it_again_for_its_test(begin, end, codes, tmp_path):
    program = (
        "import torch\nfrom torch import nn\ntorch.manual_seed(0)\nx = torch.randn(512, 6)\ny = (x[:, 0] > 0).long()\n"
        "net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))\n"
        f"opt = torch.optim.Adam(net.parameters(), 1e-3)\n{begin}\n"
        "for step in range(30):\n    rows = torch.randint(400, (32,))\n    loss = nn.functional.cross_entropy(net(x[rows]), y[rows])\n"
        f"    opt.zero_grad()\n    loss.backward()\n    opt.step()\n{end}\n"
        "with torch.no_grad():\n    print((net(x[400:]).argmax(1) == y[400:]).float().mean())\n"
    )
    assert [code for code in said(program, tmp_path) if code == "BADAK-207"] == codes
