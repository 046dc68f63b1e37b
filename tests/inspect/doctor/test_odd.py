"""Settings in each other's place, words with one number, and what only looks like a mistake: a text asked for from its end."""

# ruff: noqa: E501  (programs stand in one line)

import sys

import pytest

import badak
from badak import nn, optim
from badak.inspect.doctor import source, text
from badak.nn import functional as F
from tests.inspect.doctor.test_classroom import mlp
from tests.inspect.doctor.test_quiet_faults import checked, codes

V, T, S = 19, 8, 8
NORMS = "class Net(nn.Module):\n    def __init__(self):\n        self.bn1, self.bn2 = nn.BatchNorm2d(8), nn.BatchNorm2d(8)\n    def forward(self, x):\n        x = self.bn1(self.conv1(x))\n        return self.{}(self.conv2(x))\n"
LOSSES = "losses = torch.zeros(n)\nfor k in range(n):\n    losses[{}] = f().item()\n"
PAIR = "def pair(digits):\n    {} = [1, *(ids[d] for d in reversed(digits))]\n    return [ids[d] for d in digits], 0\n"
OWN = "class Digits(Dataset):\n    pass\nx, v, y, w = train_test_split(a, b)\norder = np.random.permutation(len(x))\nx = x[order]\n{}data = Digits(x, y)\n"
LOADERS = "train_dl = DataLoader(pairs[:900], shuffle=True)\ntest_dl = DataLoader(pairs[{}])\n"
STATE = "class D(nn.Module):\n    def forward(self, tokens, state):\n        y, state = self.rnn(tokens, state)\n        return self.out(y), state\ndef greedy(model, src, state):\n    out, token = [], first\n    for _ in range(9):\n        logits, {} = model.decoder(token, state)\n        token = logits.argmax(-1)\n        out.append(token)\n"
SCALED = "x, x_test, y, y_test = train_test_split(a, b)\ny = s.fit_transform(y.reshape(-1, 1)).ravel()\ny_val = s.transform(v.reshape(-1, 1)).ravel()\npred = model(x_test)\n{}rmse = np.mean((pred - y_test) ** 2)\n"
ELBO = "BETA = 1.0\ndef elbo(z, x, mu, logvar):\n    rec = F.mse_loss(z, x{})\n    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())\n    return rec + BETA * kl\n"
UNION = "def {}(logits, y):\n    pred = logits > 0\n    union = pred.sum() + y.sum()\n    return (pred & y).sum(), union\n"
CUTS = "train_raw = series[:n]\nval_raw = series[n{} : m]\nfit(train_raw, val_raw)\n"
SPREAD = "series = load()\ntrain, test = series[:n], series[n:]\nmu, sd = {0}.mean(0), {0}.std(0)\ndef scaled(x):\n    return (x - mu) / sd\nfit(scaled(train), scaled(test))\n"
HALF = "threshold: float = {}\nloss = nn.BCEWithLogitsLoss()\ndef tags(scores, cfg):\n    return scores >= cfg.threshold\n"
MACRO = "def macro_f1(scores, truth):\n    pred = scores >= 0\n    tp = (pred & truth).sum()\n    fp = (pred & ~truth).sum()\n    fn = (~pred & truth).sum()\n    return {}tp / (2 * tp + fp + fn)\n"
FIRST = "similarity = queries @ gallery.T\nnearest = similarity.topk(k, dim=1{}).indices\nfound = labels[nearest]\n"
LONG = "class Net(nn.Module):\n    def __init__(self):\n        self.head = nn.Linear(8, 4)\n    def forward(self, x):\n        return F.normalize(self.head(x), dim={})\n"
DRAWS = "class Rows(Dataset):\n    def __getitem__(self, i):\n        np.random.seed({})\n        return np.random.rand(3)\n"
SIGNED = "def test(loader):\n    for x, y in loader:\n        error = (model(x) - y){} * sd\n        total += error.sum().item()\n"
CASES = [
    ("chosen", CUTS.format(" - 400"), CUTS.format(" - window")),
    ("scaled", SPREAD.format("series"), SPREAD.format("train")),
    ("read", HALF.format("0.5"), HALF.format("0.0")),
    ("read", MACRO.format(""), MACRO.format("2 * ")),
    ("formula", FIRST.format(", largest=False"), FIRST.format("")),
    ("rows", LONG.format("0"), LONG.format("1")),
    ("same", DRAWS.format("SEED"), DRAWS.format("SEED + i")),
    ("read", SIGNED.format(""), SIGNED.format(".abs()")),
    ("odd", "s = optim.lr_scheduler.StepLR(opt, 2, gamma=1.5)\ns.step()\n", "s = optim.lr_scheduler.StepLR(opt, 2, gamma=0.5)\ns.step()\n"),
    ("norm", NORMS.format("bn1"), NORMS.format("bn2")),
    ("setting", LOSSES.format("0"), LOSSES.format("k")),
    ("apart", PAIR.format("labels"), PAIR.format("tgt")),
    ("apart", OWN.format(""), OWN.format("y = y[order]\n")),
    ("chosen", LOADERS.format(":100"), LOADERS.format("900:")),
    ("state", STATE.format("_"), STATE.format("state")),
    ("read", SCALED.format(""), SCALED.format("pred = s.inverse_transform(pred)\n")),
    ("formula", ELBO.format(""), ELBO.format(", reduction='sum'")),
    ("read", UNION.format("iou"), UNION.format("dice")),
    ("odd", "f = nn.CrossEntropyLoss(label_smoothing=0.9)\n", "f = nn.CrossEntropyLoss(label_smoothing=0.1)\n"),
    ("odd", "if torch.rand(1).item() < 1.5:\n    x = x.flip(-1)\n", "if torch.rand(1).item() < 0.5:\n    x = x.flip(-1)\n"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "wrong", "right"), CASES)
def test_a_line_tells(monkeypatch, kind, wrong, right):
    for program, kinds in ((wrong, {kind}), (right, set())):
        monkeypatch.setattr(source, "files", lambda program=program: [("program.py", program)])
        assert {each.kind for each in text.told()} == kinds


LOWER = "for t in texts:\n    for w in t.split():\n        own_words[w] = len(own_words)\ndef ids(t):\n    return [own_words[w] for w in t.lower().split()]\n"


@pytest.mark.parametrize("word", ["Fine", "fine"])
def test_lower_is_told_where_a_word_has_a_capital_letter(monkeypatch, word):
    monkeypatch.setattr(source, "files", lambda: [("program.py", LOWER)])
    monkeypatch.setattr(sys.modules["__main__"], "own_words", {word: 0, "good": 1}, raising=False)
    assert [each.kind for each in text.told()] == ["prepared"] * (word == "Fine")


@pytest.mark.slow
def test_rules_look_at_a_text_once_and_not_once_for_each_line():
    lines = "e{0} = h(a{0})\nd{0} = g(e{0}) + {0}\nif d{0} == {0}:\n    f(d{0}, reward, gather(d{0}), env)\n"
    counted = []
    for n in (40, 160):
        tree = source.ast.parse("".join(lines.format(i) for i in range(n)))
        source.walk(tree), source.unparse(tree)
        calls = [0]
        sys.setprofile(lambda frame, event, arg, calls=calls: calls.__setitem__(0, calls[0] + (event in ("call", "c_call"))))
        try:
            for rule in (text.for_nobody, text.returns.returns, *text.columns.RULES, text.counts.counts):
                list(rule(tree))
        finally:
            sys.setprofile(None)
        counted.append(calls[0])
    assert counted[1] < 6 * counted[0], counted  # sixteen times, where each line asks all others


@pytest.mark.parametrize(("odd", "found"), [("betas", True), ("decay", True), ("", False)])
def test_settings_of_an_optimizer_in_each_others_place(odd, found):
    model = mlp()
    lines, matrices = ([p for p in model.parameters() if (p.ndim > 1) is how] for how in (False, True))
    first, last = (0.1, 0.0) if odd == "decay" else (0.0, 0.1)
    optimizer = optim.AdamW(
        [{"params": lines, "weight_decay": first}, {"params": matrices, "weight_decay": last}],
        lr=1e-3, betas=(0.999, 0.9) if odd == "betas" else (0.9, 0.999),
    )  # fmt: skip
    with badak.doctor(6, quiet=True) as checkup:
        for _ in range(6):
            optimizer.zero_grad()
            F.cross_entropy(model(badak.randn(16, 6)), badak.randint(4, (16,))).backward()
            optimizer.step()
    assert codes(checkup) == ["BADAK-268"] * found, checkup


@pytest.mark.parametrize("twice", [True, False])
def test_two_words_with_one_number(monkeypatch, twice):
    words = {f"word{i}": i for i in range(20)}
    words["word5"] = 4 if twice else 5
    monkeypatch.setattr(sys.modules["__main__"], "stoi", words, raising=False)
    model = mlp()
    found = checked(model, lambda step: F.cross_entropy(model(badak.randn(16, 6)), badak.randint(4, (16,))))
    assert codes(found) == ["BADAK-269"] * twice, found


@pytest.mark.parametrize("scale", [1 / 255, 1.0])
def test_data_that_was_divided_twice(scale):
    model = mlp()
    found = checked(model, lambda step: F.cross_entropy(model(badak.rand(16, 6) * scale), badak.randint(4, (16,))))
    assert codes(found) == ["BADAK-223"] * (scale < 1), found


class Translation(nn.Module):
    """A recurrent decoder that looks at a source as long as its own text."""

    def __init__(self):
        super().__init__()
        self.table, self.other, self.rnn = nn.Embedding(V, 16), nn.Embedding(V, 16), nn.GRU(16, 16, batch_first=True)
        self.drop, self.head = nn.Dropout(0.1), nn.Linear(32, V)

    def forward(self, src, tgt):
        memory, h = self.other(src), self.rnn(self.table(tgt))[0]
        weights = F.softmax(h @ memory.transpose(1, 2) / 4, dim=-1)
        return self.head(badak.cat([h, self.drop(weights @ memory)], -1))


@pytest.mark.parametrize("shifted", [True, False])
def test_an_attention_to_another_text_shows_no_future(shifted):
    model = Translation()

    def loss(step):
        src, tgt = badak.randint(V, (8, S)), badak.randint(V, (8, T + 1))
        given, asked = tgt[:, :-1], tgt[:, 1:] if shifted else tgt[:, :-1]
        return F.cross_entropy(model(src, given).reshape(-1, V), asked.reshape(-1))

    assert codes(checked(model, loss)) == ["BADAK-204"] * (not shifted)


@pytest.mark.parametrize("twice", [True, False])
def test_a_critic_with_dropout_is_asked_for_both_of_the_same_rows(twice):
    model = nn.Sequential(nn.Linear(6, 32), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(32, 1))

    def loss(step):
        real, fake = badak.randn(16, 6), badak.rand(16, 6)
        wrong = model(real) if twice else model(fake)
        ones, zeros = badak.ones(16, 1), badak.zeros(16, 1)
        return F.binary_cross_entropy_with_logits(model(real), ones) + F.binary_cross_entropy_with_logits(wrong, zeros)

    assert codes(checked(model, loss)) == ["BADAK-260"] * twice
