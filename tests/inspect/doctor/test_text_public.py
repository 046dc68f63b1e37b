"""What public training scripts do and is right, in words of our own, each next to a mistake that looks like it."""

# ruff: noqa: E501  (programs stand in one line)

import pytest

from badak.inspect.doctor import source, text

SHARE = "for x, y in loader:\n    right = pred.argmax(1) == y\n    correct_pred = {}\n    accuracy = correct_pred.float().mean()\n"
SUMMED = "def test():\n    test_loss = 0\n    for x, y in test_loader:\n        test_loss += F.cross_entropy(model(x), y{}).item()\n    test_loss /= len(test_loader.dataset)\n"
ASKED = "@torch.no_grad()\ndef scores(model, loader):\n    a, b = loader\n    first = f1(b, model(a))\n{}    second = f1(b, model(a))\n    return first, second\n"
OF_EACH = "def counted(predicted, labels):\n    for c in range(9):\n        here, said = labels == c, predicted == c\n        hits = predicted[here] == labels[here]\n        tp = {}.sum()\n        fp = said.sum() - tp\n        keep(tp, fp)\n"
NEAR = "def forward(self, x, at):\n    d = square_distance(at, {})\n    return self.net(x[d.{}])\n"
WORDS = "for line in lines:\n    counter.update({}(line))\nclass Rows:\n    def __call__(self, line):\n        return [self.vocab[w] for w in self.{}(line)]\n"
DROPS = "class Net(nn.Module):\n    def forward(self, x):\n        if {}:\n            x = F.dropout(x, p=0.2)\n        return self.out(x)\nnet.eval()\n"
SIZES = "train_size = int(n * 0.7)\ntest_size = {}\nval_size = n - train_size - test_size\ntrain_rows, test_rows = rows[:train_size], rows[train_size : train_size + test_size]\n"
LOADED = "torch.save(net, 'net.pt')\nmodel = torch.load('net.pt')\ntorch.save(net.state_dict(), 'weights.pt')\n{}"
WIDTHS = "def make(widths):\n    {}\n    down = [layer(w) for w in widths]\n    up = [layer(w) for w in reversed(widths)]\n    return down, up\n"
LOGITS = "scale = {}\nsim = a @ b.T\nz = einsum('id,jd->ij', a, b) * scale\nloss = F.cross_entropy(z, labels)\n".replace(
    "scale", "temp"
)
STEP = "x = torch.sqrt(1 - {0}) * x + torch.sqrt({0}) * torch.randn_like(x)\n"
LATER = "def train(unet):\n    for x in data:\n        noise = torch.randn_like(x)\n        model_pred = unet(x + noise)\n        loss = F.mse_loss(model_pred, noise)\n        loss.backward()\n    model = copy(unet)\n    return model\n"
RATES = "groups = {}\noptimizer = SGD(groups, lr=lr)\nscheduler = LambdaLR(optimizer, lambda i: lr * (1 + 0.1 * i) ** -0.75)\nscheduler.step()\n"
BACK = "y_norm = (y - middle) / spread\nloss = f(net(x)[train_rows], y_norm[train_rows])\ntrain_y = y_norm[train_rows]\ndef test():\n    said = net(x)\n{}    val_error = (said[val_rows] - y[val_rows]).abs()\n"
GOAL = "while True:\n    state, goal = env.reset()\n    for i in range(9):\n        action = act(state, goal)\n        new_state, reward, done = env.step(action)\n{}"
KINDS = "labels = {}().fit_transform(labels)\ny_train, y_test = raw[a], raw[b]\ny_fit = labels\n"
TWO = "def parts(data):\n    val_data = data[rows]\n    return val_data\ndef series():\n    data = load()\n    data = (data - data.mean(0)) / data.std(0)\n    {}\n"
ORDER = "X, y = read()\nrows = np.random.permutation(len(y))\nX, y = X[rows], {}\ndata = TensorDataset(X, y)\nfit(data)\n"
FOLD = "folds = [f for f in split(x)]\ntrain_rows, valid_rows = {}\nf(train_rows, valid_rows)\n"
LINES = "for line in open(a):\n    items = line.split()\n    user, train_items = items[0], items[1:]\n    keep(train_items)\nfor line in open(b):\n{}    user, test_items = items[0], items[1:]\n    keep(test_items)\n"
HELD = "data.test_rows = rows[80:]\ntest_acc = f(net(x)[data.{}])\nnet.eval()\n"
BOXES = "grid = torch.stack([{}], dim=1)\n"
SHOWN = "# In[1]:\n\n\nx = net(a)\ny = net(a)\n{}\n# In[2]:\n\n\nprint(x)\n"
LOST = "class Net(nn.Module):\n    def forward(self, g, x):\n        {}\n        return self.out(x)\n"
IN_PLACE = "class Net(nn.Module):\n    def forward(self, x):\n        return x @ self.w\n    def learn(self):\n        w = self.w.detach()\n        {}\n"
SHOW = "class Meta(nn.Module):\n    def forward(self, x):\n        return self.net(x)\n    def tune(self, x, y):\n        z = self.net(x)\n        {}\n        return (z.argmax(1) == y).sum()\n"
COUNTED = "for {} in {}:\n    a, b = next(batches)\n    loss = f(net(a), b)\n    loss.backward()\n"
NAMED = "for {} in loader:\n    loss = f(net({}), y)\n    loss.backward()\n"
BASE = "class Task(nn.Module):\n    def forward(self, x, target):\n        {}\n"
ALIKE = "class A(nn.Module):\n    def forward(self, adj, old, s):\n        return (adj - s @ s.T).norm()\nclass B(nn.Module):\n    def forward(self, adj, old, s):\n        return {}\n"
GIVEN = "def kl_loss(said, x, mu, logvar):\n    return (mu ** 2 + logvar.exp() - logvar - 1).sum()\n{}\n"
TOPS = "def run(model, loader):\n    return 1, 2\nfor x, y in loader:\n    f(model(x), y).backward()\n    top1, top5 = run({})\n    best = top1\n"
KEEPS = (
    "def play():\n    state, r, done = env.step(a)\n    keep(s, a, r, {})\ndef learn():\n    y = r + gamma * v(state) * done_mask\n"
)
BATCHED = "def value():\n    s, a, r, d = zip(*batch)\n    return {} + gamma * v(s) * (1 - d)\ndef learn():\n    s, a, r, d, y = zip(*batch)\n    loss = f(q(s).gather(1, a), y + d)\n    loss.backward()\nenv.step(1)\n"
SUMS = "def learn(rows):\n    R = 0\n    for r, log_prob in {}:\n        R = r + gamma * R\n        loss = -log_prob * R\n        loss.backward()\nenv.step(1)\n"
WALKS = "while not done:\n    p = pi(s)\n    a = p.sample()\n    s_prime, r, done = env.step(a)\n    keep(r, p[a])\n{}"
METHOD = "{}\nfor x in loader:\n    loss = f(memory(x))\n    loss.backward()\n    memory.detach()\n"


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        ("read", "pred = model(x).argmax(1)\naccuracy = (pred & y).float().mean()", SHARE.format("pred.argmax(1) == y")),
        ("read", "def score(pred, y):\n    accuracy = pred.float().mean()\n    return accuracy", SHARE.format("torch.eq(pred.argmax(1), y)")),
        ("read", "pred, y = model(x).argmax(1), y\nacc = pred.sum() / len(y)", "acc = num_correct_preds.sum() / len(y)"),
        ("read", SUMMED.format(""), SUMMED.format(", size_average=False")),
        ("twice", ASKED.format(""), ASKED.format("    a, b = other\n")),
        ("twice", ASKED.format(""), ASKED.format("").replace("return", "assert first == second\n    return")),
        ("twice", ASKED.format(""), ASKED.format("    model.load(1)\n")),
        ("twice", ASKED.format(""), ASKED.format("").replace("f1(", "Index(")),
        ("read", "def counted(pred, y):\n    tp = (pred == y).sum()\n    return tp", OF_EACH.format("hits")),
        ("setting", NAMED.format("x, y", "x0"), NAMED.format("names, sizes, x", "x")),
        ("formula", LATER.replace("model_pred = unet", "model = unet\n        model_pred = unet"), LATER.replace("def train(unet):", "def train(unet, model):\n    model.eval()")),
        ("formula", RATES.format("net.parameters()"), "def made(net):\n    groups = net.groups(initial_lr=1.0)\n    optimizer = SGD(groups, lr=lr)\n    return optimizer\noptimizer = made(net)\n" + RATES.partition("\n")[2].partition("\n")[2]),
        ("setting", METHOD.format("memory = net(a)"), METHOD.format("memory = Memory(9).to(device)")),
        ("unread", GIVEN.format("kl_loss(a, b, c, d)"), GIVEN.format("metric = Loss(kl_loss)\nprint(kl_loss(a, b, c, d))")),
        ("unread", SHOW.format("loss = f_loss(z, y)").replace("return (z", "return loss_of(z"), SHOW.format("loss = F.cross_entropy(z, y)")),
        ("twice", NEAR.format("at", "mean(1)"), NEAR.format("at", "argsort()")),
        ("prepared", WORDS.format("cut", "split"), WORDS.format("cut", "cut")),
        ("chosen", "valid_set, test_set = Rows(x, 1, 2), Rows(x, 1, 2)", "valid_set, test_set = made(x, 1, 2)"),
        ("drops", DROPS.format("self.rate > 0"), DROPS.format("self.training and self.rate > 0")),
        ("chosen", "train_x, val_x = x[:9], x[9:]\ntest_z = f(train_x)", SIZES.format("int(n * 0.85) - train_size")),
        ("setting", LOADED.format("print(net(x))"), LOADED.format("net.load_state_dict(torch.load('weights.pt'))")),
        ("apart", WIDTHS.format(""), WIDTHS.format("widths = [8, 16]")),
        ("apart", WIDTHS.format(""), "class Net(nn.Module):\n    " + WIDTHS.format("").replace("\n", "\n    ").replace("make(", "__init__(self, ")),
        ("formula", LOGITS.format("0.07"), LOGITS.format("self.scale.exp()")),
        ("formula", STEP.format("alpha"), STEP.format("beta")),
        ("formula", LATER.replace("model_pred = unet", "model = unet\n        model_pred = unet"), LATER),
        ("formula", RATES.format("net.parameters()"), RATES.format("net.groups(initial_lr=1.0)")),
        ("prepared", BACK.format(""), BACK.format("    said *= spread\n    said += middle\n")),
        ("returns", GOAL.format(""), GOAL.format("        state = new_state\n")),
        ("read", KINDS.format("StandardScaler"), KINDS.format("LabelEncoder")),
        ("scaled", TWO.format("val_data = data[rows]"), TWO.format("return data")),
        ("apart", ORDER.format("y"), ORDER.format("y[rows]") + "def learn(x, y):\n    for i in range(9):\n        f(x[i], y[i])\n"),
        ("chosen", FOLD.format("folds[k], folds[k]"), FOLD.format("folds[k]")),
        ("chosen", LINES.format(""), LINES.format("    items = line.split()\n")),
        ("chosen", HELD.format("train_rows"), HELD.format("test_rows")),
        ("twice", BOXES.format("x, y, x"), BOXES.format("x, y, x, y")),
        ("setting", SHOWN.format("x == y\nprint(x)"), SHOWN.format("x == y")),
        ("setting", SHOWN.format("F.relu(x)\nprint(x)"), SHOWN.format("F.relu(x)")),
        ("unread", LOST.format("n = x.relu()"), LOST.format("n = g.num_nodes()")),
        ("unread", LOST.format("n = self.norm(x)"), LOST.format("n = x.to(self.device)")),
        ("unread", IN_PLACE.format("return 1"), IN_PLACE.format("w -= self.rate * self.w.grad")),
        ("unread", SHOW.format("loss = f_loss(z, y)").replace("return (z", "return loss_of(z"), SHOW.format("loss = f_loss(z, y)")),
        ("setting", COUNTED.format("x, y", "loader").replace("next(batches)", "x0, y"), COUNTED.format("i", "tqdm.trange(n_batches)")),
        ("setting", COUNTED.format("i, (x, y)", "counted(loader)").replace("next(batches)", "x0, y"), COUNTED.format("i, (x, y)", "counted(loader)").replace("next(batches)", "x, y")),
        ("setting", NAMED.format("x, y", "x0"), NAMED.format("names, x, y", "x")),
        ("unread", BASE.format("return self.net(x)"), BASE.format("raise NotImplementedError")),
        ("unread", ALIKE.format("old.sum() + s.sum() + adj.sum()").replace("B(", "C(").replace("old, s):\n        return o", "old, s, t):\n        return o"), ALIKE.format("-(s * s.log()).sum() + adj.sum()")),
        ("unread", GIVEN.format("kl_loss(a, b, c, d)"), GIVEN.format("metric = Loss(kl_loss)")),
        ("unread", TOPS.format("model, x"), TOPS.format("model, loader")),
        ("returns", KEEPS.format("done"), KEEPS.format("0.0 if done else 1.0")),
        ("returns", BATCHED.format("0"), BATCHED.format("r")),
        ("returns", SUMS.format("rows"), SUMS.format("rows[::-1]")),
        ("returns", WALKS.format(""), WALKS.format("    s = s_prime\n")),
        ("setting", METHOD.format("memory = net(a)"), METHOD.format("memory = Memory(9)")),
    ],
)  # fmt: skip
def test_a_line_tells(monkeypatch, kind, wrong, right):
    for program, kinds in ((wrong, {kind}), (right, set())):
        monkeypatch.setattr(source, "files", lambda program=program: [("program.py", program)])
        assert {each.kind for each in text.told()} == kinds
