"""What the text of scripts about texts and sequences tells, each next to what looks like it and is right."""

# ruff: noqa: E501  (programs stand in one line)

import pytest

from badak.inspect.doctor import source, text

GENERATE = "def generate(model, idx):\n    for _ in range(20):\n        logits = model({given})\n        probs = softmax(logits{place}, -1)\n        nxt = torch.multinomial(probs, 1)\n        idx = torch.cat((idx, nxt), 1)\n    return idx\n"
CHOSEN = "def greedy(self, ids, n):\n    while ids.shape[1] < n:\n        out = self.net({given})\n        token = out{place}.argmax(-1, keepdim=True)\n        ids = torch.cat([ids, token], dim=1)\n    return ids\n"
LETTERS = "class Net(nn.Module):\n    def forward(self, x, h=None):\n        y, h = self.rnn(x, h)\n        return self.out(y), h\ndef sample(model):\n    x, h, out = torch.tensor([[BOS]]), None, []\n    for _ in range(9):\n        logits, {state} = model({given})\n        ix = torch.multinomial(logits[0, -1].softmax(-1), 1).item()\n        out.append(ix)\n{again}    return out\n"
FED = "        x = torch.tensor([[ix]])\n"
FIRST = "def compose(model, ids):\n    for _ in range(9):\n        w = model(ids)[{}, 0].softmax(-1)\n        ids = torch.cat([ids, torch.multinomial(w, 1)[None]], dim=0)\n"
END = "BOS, EOS = 1, 2\nrows = [[BOS, *ids{}] for ids in data]\nfor _ in range(9):\n    if pick() == EOS:\n        break\n"
LAST = "@torch.no_grad()\ndef test(model, loader):\n    preds, labels = [], []\n    for x, y in loader:\n        {}\n    return f1(preds, labels)\n"
AGAIN = "def test(model, loader):\n{0}    for x, y in loader:\n{1}        right += (model(x).argmax(1) == y).sum().item()\n    return right / len(loader.dataset)\n"
SPLITS = "for split in ['train', 'val']:\n    losses[split] = f(get_batch({}))\n"
HELD = "train_names, val_names = names[n:], names[:n]\ndef validate():\n    return f(batches({}))\nfit(train_names)\n"
MADE = "train_rows, valid_rows = rows[:n], rows[n:]\nvalid_x = windows({})\nfit(windows(train_rows), valid_x)\n"
TWO = "test_good, test_bad = make(1), make(2)\nfor s in test_good:\n    f(s)\nfor s in {}:\n    g(s)\nprint(len(test_bad))\n"
FORCED = "class S(nn.Module):\n    def forward(self, src, tgt, teacher_forcing_ratio=0.5):\n        return src @ tgt\nmodel = S()\ndef evaluate():\n    model.eval()\n    with torch.no_grad():\n        return model(src, tgt{})\n"
BETTER = (
    "best_acc = 0\nfor epoch in epochs:\n    acc = f()\n    if acc > best_acc:\n        torch.save(model.state_dict(), 'm.pt')\n{}"
)
KEPT = "best_loss = 9.0\nfor epoch in range(3):\n    val_loss = f()\n    if best_loss > val_loss:\n        state = copy.deepcopy(model.state_dict())\n{}"
PREPARED = "def to_mono(x):\n    return x.mean(1)\ndef fit():\n    for x, y in train_loader:\n        x = {}(x)\n        loss = f(model(x), y)\n        loss.backward()\ndef test():\n    for x, y in test_loader:\n{}        p = model(x)\n"
ITSELF = "u = torch.cat([a, b, torch.abs({}), a * b], 1)\n"
PAIRS = "for t, p in zip({}, pred.tolist()):\n    m[t, p] += 1\n"
RIGHT = "acc = ({} == y).float().mean()\n"
LOSS = "loss = criterion({}, out)\n"
COUNTS = "def f(p, y):\n    tp = (p & y).sum()\n    fp = (p & {}).sum()\n    return tp, fp\n"
GROWN = "for x, y in loader:\n    tp += ((p == 1) & (y == 1)).sum()\n    fn += ((p == {}) & (y == 1)).sum()\n"
CLOCK = "df['hour_sin'] = np.sin(2 * np.pi * h / 24)\ndf['hour_cos'] = np.{}(2 * np.pi * h / 24)\n"
SHARES = "precision = tp / (tp + {})\nrecall = tp / (tp + {})\n"
NAMED = "precision = right / max(n_{}, 1)\n"
TUPLE = "precision, recall = n / (e - s), n / ({})\n"
VOCAB = "class Vocab:\n    def __init__(self, texts):\n        self.stoi = {{w: i for i, w in enumerate(sorted(set(texts)))}}\nvocab = Vocab([t for t, _ in train_rows])\nb = {}\n"
BUILD = "def build_vocab(texts):\n    v = {{}}\n    for t in texts:\n        v.setdefault(t, len(v))\n    return v\na = build_vocab(train_texts)\nb = {}\n"
STANDARD = "def normalize(x):\n    return (x - x.mean(0)) / x.std(0)\na = normalize(X_train)\nb = {}\n"
WORDS = "def encode(s):\n    return torch.tensor([vocab[w] for w in {}])\n"
CUT = (
    "for t in texts:\n    for w in t.lower().split():\n        vocab[w] = len(vocab)\nids = [vocab.get(w, 0) for w in {}.split()]\n"
)
TOKENS = (
    "counter = Counter(tok for t in texts for tok in tokenize(t))\ndef pipeline(t):\n    return [stoi.get(tok, 0) for tok in {}]\n"
)
HITS = "for c in range(3):\n    hits[c] += ({} == c).sum()\n"
PLACES = "def test():\n    right = n = 0\n    for x, y in data:\n        pred = model(x).argmax(2)\n        right += (pred == y){}.sum().item()\n        n += len(y)\n    return right / n\n"
TOKEN_MEANS = "criterion = nn.CrossEntropyLoss()\ndef test():\n    total, count = 0, 0\n    for x, y in data:\n        total += criterion(model(x), y).item(){}\n        count += y.numel()\n    return total / count\n"
WARM = "probs = F.softmax(logits {} temperature, dim=-1)\nf(probs)\n"
SHARP = "logits = logits {} temp\nnxt = torch.softmax(logits, -1)\n"
NEAR = "scores = q @ d.T\nranks = scores.argsort(dim=1{})\nhits = groups[ranks][:, :5]\n"
ASKED = "@torch.no_grad()\ndef recall(model, q, d):\n    a = model(encode(q))\n    b = model(encode({}))\n    return a @ b.T\n"
DICT = "data = {{'train': tokens[:n], 'val': tokens[{}]}}\n"
FIRSTS = "train_examples, eval_examples = examples[:700], examples[{}]\nf(train_examples, eval_examples)\n"
EACH = "import pandas as pd\ntrain_df, test_df = ((part - {0}.mean()) / {0}.std() for part in (train_df, test_df))\n"
UNITS = "COLUMNS = ['load', 'temp']\ntarget = values[i : i + 6, {}]\npred = pred * std['load'] + mean['load']\n"
SIDE = "preds, trues = predict(model)\ntrues = trues * s + m\n{}mae = (preds - trues).abs().mean()\n"
TURNED = "x = torch.tensor(frame.values{}, dtype=torch.float32)\n"
BATCH = "a = f([q for q, _ in batch])\nb = f([d for _, d in {}])\n"
ROLLED = "x = torch.tensor(eeg[i : i + 9])\ny = torch.tensor({}[i : i + 9])\n"
STILL = "for i in range(0, n, 5):\n    x = f(eeg[{}k])\n    y = f(stages[i : i + k])\n    rows.append((x, y))\n"
ROWS = "for batch, i in enumerate(range(0, n, bptt)):\n    data, y = get_batch(train_data, {})\n    f(model(data), y).backward()\n"
BAR = "bar = tqdm(range(0, n, size))\nfor start in bar:\n    batch = rows[{}:size]\n    f(batch).backward()\n"
MODEL = "class Net(nn.Module):\n    pass\nmodel = Net()\nf(model)\nbest_model = Net()\nbest_model.load_state_dict(torch.load('b.pt'))\n{}"
WEIGHTS = "counts = np.bincount(y)\nw = torch.tensor({})\ncriterion = nn.CrossEntropyLoss(weight=w)\n"
FACTOR = "opt = Adam(p, lr=0.002)\nsched = LambdaLR(opt, lambda s: {}min(s / 10, 1))\nsched.step()\n"
RANKED = "def ranking_loss(a, b):\n    scores = a @ {}.T\n    return f(scores, torch.arange(len(a)))\nloss = ranking_loss(x, y)\n"
MAXES = "pred = model(x).max(1)[{}]\nright = (pred == y).sum()\n"
BY_FUNCTION = "def n_right(p, y):\n    return p.eq(y).sum().item()\ndef test():\n    right = 0\n    for x, y in test_loader:\n        right += n_right(model(x).argmax(1), y)\n    return right / len(test_loader{})\n"
TAGS = "def read(notes):\n    for words, tags in notes:\n        yield [a[w] for w in words], [b[t] for t in {}]\n"
EPSILON = "EPSILON = 0.9\ndef act(x):\n    if np.random.uniform() < EPSILON:\n        return net(x).argmax()\n    return np.random.randint(2)\n"
PINBALL = "def pinball(p, y):\n    e = y - p\n    return torch.{}(q * e, (q - 1) * e).mean()\n"
QUANTILES = "def pinball_loss(p, y):\n    losses = []\n    for q in QUANTILES:\n        losses.append(f(p, y, q))\n    return {}\n"
REAL = "def test():\n    right = n = 0\n    for x, y in data:\n        p, real = g(x), y >= 0\n        right += (p[real] == y[real]).sum().item()\n        n += {}\n    return right / n\n"
BOTH = "valid_set = Windows(sales, a, b)\ntest_set = Windows(sales, {}, c)\nc = b\n"
INSIDE = "inside = ((y >= low) & (y {})).float().mean()\n"
GUESS = "guess = scores > 0.5\nacc = (guess == ({})).mean()\n"
STRAND = "loader = DataLoader(data)\nfor xb, yb in loader:\n    xb = xb.flip({})\n    f(xb, yb).backward()\n"
ONES = "n_pos = y.sum()\nloss_fn = nn.BCEWithLogitsLoss(pos_weight=torch.tensor({}))\n"
HALF = "loss_fn = nn.BCEWithLogitsLoss()\npred = (scores > {}).float()\n"
SIZES = "class D(nn.Module):\n    def forward(self, past, future):\n        return self.rnn(past[:, : future.size(1)]{})\n"
READ = "{}torch.load('m.pt'){}\n"
MEAN = "scale = sales.{}(axis=1)\nstd = sales.std()\n"
LINE = "class N(nn.Module):\n    def forward(self, x):\n        z = self.e(x) * 8 + 1; return self.h({})\n"
PART = "counts = {}torch.bincount(y, minlength=3).float()\ncriterion = nn.CrossEntropyLoss(weight=counts / counts.sum())\n"
CASES = [
    ("unread", LINE.format("x"), LINE.format("z")),
    ("favoured", PART.format(""), PART.format("1 / ")),
    ("formula", PINBALL.format("min"), PINBALL.format("max")),
    ("unlearnt", QUANTILES.format("losses[-1].mean()"), QUANTILES.format("torch.stack(losses).mean()")),
    ("read", REAL.format("y.numel()"), REAL.format("real.sum().item()")),
    ("chosen", BOTH.format("a").replace(", c)", ", b)"), BOTH.format("b")),
    ("twice", INSIDE.format(">= low"), INSIDE.format("<= high")),
    ("twice", GUESS.format("scores > 0.5"), GUESS.format("labels == 1")),
    ("apart", STRAND.format("0"), STRAND.format("1, 2")),
    ("favoured", ONES.format("n_pos / (n - n_pos)"), ONES.format("(n - n_pos) / n_pos")),
    ("read", HALF.format("0.5"), HALF.format("0")),
    ("unread", SIZES.format(""), SIZES.format(" + future")),
    ("setting", READ.format("", ""), READ.format("model.load_state_dict(", ")")),
    ("formula", MEAN.format("mean").replace("std = sales.std", "std = sales.mean"), MEAN.format("mean")),
    ("setting", GENERATE.format(given="idx[:, :block]", place="[:, -1]"), GENERATE.format(given="idx[:, -block:]", place="[:, -1]")),
    ("read", GENERATE.format(given="idx", place="[:, 0, :]"), GENERATE.format(given="idx", place="[:, -1, :]")),
    ("read", CHOSEN.format(given="ids", place="[:, 0]"), CHOSEN.format(given="ids", place="[:, -1]")),
    ("setting", CHOSEN.format(given="ids[:, :64]", place="[:, -1]"), CHOSEN.format(given="ids[:, -64:]", place="[:, -1]")),
    ("setting", LETTERS.format(state="h", given="x, h", again=""), LETTERS.format(state="h", given="x, h", again=FED)),
    ("state", LETTERS.format(state="_", given="x", again=FED), LETTERS.format(state="_", given="x", again="        x = encode(out)\n")),
    ("read", FIRST.format("0"), FIRST.format("-1")),
    ("setting", END.format(""), END.format(", EOS")),
    ("read", LAST.format("preds = model(x).argmax(1)"), LAST.format("preds.append(model(x).argmax(1))")),
    ("read", LAST.format("preds, labels = model(x), y"), LAST.format("p = model(x)\n        preds += p\n        labels += y")),
    ("read", AGAIN.format("", "        right = 0\n"), AGAIN.format("    right = 0\n", "")),
    ("chosen", SPLITS.format("'train'"), SPLITS.format("split")),
    ("chosen", HELD.format("train_names"), HELD.format("val_names")),
    ("chosen", MADE.format("train_rows[:9]"), MADE.format("valid_rows")),
    ("chosen", TWO.format("test_good"), TWO.format("test_bad")),
    ("read", FORCED.format(""), FORCED.format(", 0")),
    ("read", FORCED.format(""), FORCED.format(", teacher_forcing_ratio=0.0")),
    ("setting", BETTER.format(""), BETTER.format("        best_acc = acc\n")),
    ("setting", KEPT.format(""), KEPT.format("    best_loss = min(best_loss, val_loss)\n")),
    ("prepared", PREPARED.format("to_mono", ""), PREPARED.format("to_mono", "        x = to_mono(x)\n")),
    ("prepared", PREPARED.format("to_mono", ""), PREPARED.format("augment", "")),
    ("twice", ITSELF.format("a - a"), ITSELF.format("a - b")),
    ("twice", PAIRS.format("pred.tolist()"), PAIRS.format("y.tolist()")),
    ("twice", RIGHT.format("y"), RIGHT.format("pred")),
    ("twice", LOSS.format("out"), LOSS.format("target")),
    ("read", COUNTS.format("y"), COUNTS.format("~y")),
    ("read", GROWN.format("1"), GROWN.format("0")),
    ("twice", CLOCK.format("sin"), CLOCK.format("cos")),
    ("read", SHARES.format("fn", "fp"), SHARES.format("fp", "fn")),
    ("read", NAMED.format("gold"), NAMED.format("pred")),
    ("read", TUPLE.format("e - s"), TUPLE.format("f - s")),
    ("prepared", VOCAB.format("Vocab([t for t, _ in test_rows])"), VOCAB.format("vocab.stoi")),
    ("prepared", BUILD.format("build_vocab(val_texts)"), BUILD.format("build_vocab(other_texts)")),
    ("prepared", STANDARD.format("normalize(X_test)"), STANDARD.format("normalize(X_train)")),
    ("setting", WORDS.format("set(s)"), WORDS.format("s")),
    ("prepared", CUT.format("text"), CUT.format("text.lower()")),
    ("prepared", TOKENS.format("t.split()"), TOKENS.format("tokenize(t)")),
    ("read", HITS.format("pred"), HITS.format("pred[y == c]")),
    ("read", PLACES.format(""), PLACES.format(".all(dim=1)")),
    ("read", TOKEN_MEANS.format(""), TOKEN_MEANS.format(" * y.numel()")),
    ("formula", WARM.format("*"), WARM.format("/")),
    ("formula", SHARP.format("*"), SHARP.format("/")),
    ("formula", NEAR.format(""), NEAR.format(", descending=True")),
    ("twice", ASKED.format("q"), ASKED.format("d")),
    ("chosen", DICT.format(":m"), DICT.format("n:")),
    ("chosen", FIRSTS.format(":200"), FIRSTS.format("700:")),
    ("prepared", EACH.format("part"), EACH.format("train_df")),
    ("formula", UNITS.format("1"), UNITS.format("0")),
    ("read", SIDE.format(""), SIDE.format("preds = preds * s + m\n")),
    ("view", TURNED.format(".T.reshape(len(frame), -1)"), TURNED.format(".reshape(len(frame), -1)")),
    ("apart", BATCH.format("sorted(batch)"), BATCH.format("batch")),
    ("apart", BATCH.format("batch[::-1]"), BATCH.format("others[::-1]")),
    ("apart", ROLLED.format("np.roll(stages, 1)"), ROLLED.format("stages")),
    ("apart", STILL.format(":"), STILL.format("i : i + ")),
    ("same", ROWS.format("0"), ROWS.format("i")),
    ("same", BAR.format(""), BAR.format("start:start + ")),
    ("setting", MODEL.format(""), MODEL.format("best_model(x)\n")),
    ("favoured", WEIGHTS.format("counts / counts.sum() * 4"), WEIGHTS.format("counts.sum() / (4 * counts)")),
    ("formula", FACTOR.format("0.002 * "), FACTOR.format("")),
    ("unread", RANKED.format("a"), RANKED.format("b")),
    ("read", MAXES.format("0"), MAXES.format("1")),
    ("read", BY_FUNCTION.format(""), BY_FUNCTION.format(".dataset")),
    ("apart", TAGS.format("tags[::-1]"), TAGS.format("tags")),
    ("formula", EPSILON.replace("0.9", "0.1"), EPSILON),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "wrong", "right"), CASES)
def test_a_line_tells(monkeypatch, kind, wrong, right):
    for program, kinds in ((wrong, {kind}), (right, set())):
        monkeypatch.setattr(source, "files", lambda program=program: [("program.py", program)])
        assert {each.kind for each in text.told()} == kinds
