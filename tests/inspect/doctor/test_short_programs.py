"""Short programs for PyTorch, which run there too: nothing is said of them, and each mistake that is written into them is found."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
BY_HAND = """
import torch
import torch.nn.functional as F
torch.manual_seed(0)
w1, b1 = (torch.randn(8, 24) * 0.3).requires_grad_(), torch.zeros(24, requires_grad=True)
w2, b2 = (torch.randn(24, 4) * 0.1).requires_grad_(), torch.zeros(4, requires_grad=True)
weights = [w1, b1, w2, b2]
y = torch.randint(0, 4, (600,))
x = torch.randn(4, 8)[y] + 0.5 * torch.randn(600, 8)
for epoch in range(3):
    for rows in torch.randperm(600).split(30):
        logits = torch.relu(x[rows] @ w1 + b1) @ w2 + b2
        loss = F.cross_entropy(logits, y[rows])
        loss.backward()
        with torch.no_grad():
            for p in weights:
                p -= 0.1 * p.grad
                p.grad = None
"""
OF_A_MODULE = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 4))
y = torch.randint(0, 4, (600,))
x = torch.randn(4, 8)[y] + 0.5 * torch.randn(600, 8)
class Descent:
    def __init__(self, params, lr):
        self.params, self.lr = list(params), lr
    def step(self):
        for p in self.params:
            p.data = p.data - self.lr * p.grad
    def zero_grad(self):
        for p in self.params:
            p.grad = None
opt = Descent(net.parameters(), 0.1)
for step in range(30):
    rows = torch.randint(0, 600, (40,))
    loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
GRAPH = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(1)
n = 120
kind = torch.arange(n) % 3
near = torch.triu((torch.rand(n, n) < torch.where(kind[:, None] == kind, 0.2, 0.03)).float(), 1)
near = near + near.t() + torch.eye(n)
near = near / near.sum(1, keepdim=True)
x = F.one_hot(kind, 3).float() + torch.randn(n, 3)
order = torch.randperm(n)
train_mask, val_mask, test_mask = (torch.zeros(n, dtype=torch.bool) for _ in range(3))
train_mask[order[:40]] = True
val_mask[order[40:80]] = True
test_mask[order[80:]] = True
a, b = nn.Linear(3, 16), nn.Linear(16, 3)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 16), nn.Linear(16, 3)
    def forward(self, x, near):
        return near @ self.b(F.relu(near @ self.a(x)))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.02)
best_val = best_test = 0
for epoch in range(25):
    opt.zero_grad()
    out = net(x, near)
    loss = F.cross_entropy(out[train_mask], kind[train_mask])
    loss.backward()
    opt.step()
    with torch.no_grad():
        pred = net(x, near).argmax(1)
    val = (pred[val_mask] == kind[val_mask]).float().mean().item()
    if val > best_val:
        best_val = val
        best_test = (pred[test_mask] == kind[test_mask]).float().mean().item()
"""
STREAM = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(2)
text = torch.cumsum(torch.randint(1, 4, (4000,)), 0) % 17
train_text, val_text = text[:3000], text[3000:]
def batches(t):
    return t[: len(t) // 8 * 8].view(8, -1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.rnn, self.head = nn.Embedding(17, 16), nn.GRU(16, 24, batch_first=True), nn.Linear(24, 17)
    def forward(self, x, state):
        out, state = self.rnn(self.table(x), state)
        return self.head(out), state
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
def evaluate():
    data, state, losses = batches(val_text), torch.zeros(1, 8, 24), []
    with torch.no_grad():
        for i in range(0, data.size(1) - 1, 15):
            y = data[:, i + 1 : i + 16]
            out, state = net(data[:, i : i + 15][:, : y.size(1)], state)
            losses.append(F.cross_entropy(out.flatten(0, 1), y.flatten()).item())
    return sum(losses) / len(losses)
data = batches(train_text)
for epoch in range(2):
    state = torch.zeros(1, 8, 24)
    for i in range(0, data.size(1) - 16, 15):
        y = data[:, i + 1 : i + 16]
        state = state.detach()
        out, state = net(data[:, i : i + 15], state)
        loss = F.cross_entropy(out.flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(evaluate())
"""
RATINGS = """
import torch
from torch import nn
torch.manual_seed(3)
users, items = torch.randint(0, 40, (1500,)), torch.randint(0, 50, (1500,))
ratings = (torch.randn(40, 3)[users] * torch.randn(50, 3)[items]).sum(1)
class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.u, self.i = nn.Embedding(40, 6), nn.Embedding(50, 6)
    def forward(self, u, i):
        return (self.u(u) * self.i(i)).sum(1)
model, criterion, best = Factors(), nn.MSELoss(), float("inf")
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for rows in torch.randperm(1200).split(100):
        loss = criterion(model(users[rows], items[rows]), ratings[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        val = criterion(model(users[1200:], items[1200:]), ratings[1200:]).item()
    if val < best:
        best = val
        torch.save(model.state_dict(), "best.pt")
model.load_state_dict(torch.load("best.pt"))
"""
TWO_TRAININGS = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(4)
y = torch.randint(0, 6, (600,))
x = torch.randn(6, 10)[y] + 0.7 * torch.randn(600, 10)
class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(10, 32), nn.Linear(32, 16)
    def forward(self, x):
        return F.relu(self.two(F.relu(self.one(x))))
class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body, self.head = Body(), nn.Linear(16, classes)
    def forward(self, x):
        return self.head(self.body(x))
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.answer = Body(), nn.Linear(16, 2)
    def forward(self, x):
        return self.answer(self.body(x))
def train(model, params, y):
    opt = torch.optim.Adam(params, lr=5e-3)
    for rows in torch.randperm(600).split(25):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
first, second = Model(6), Other()
train(first, first.parameters(), y)
state = {name: p for name, p in first.state_dict().items() if name.startswith("body.")}
second.load_state_dict(state, strict=False)
second.body.requires_grad_(False)
train(second, second.answer.parameters(), y % 2)
"""
PRICES = """
import torch
from torch import nn
torch.manual_seed(5)
x = torch.randn(600, 6)
price = 40 * x @ torch.randn(6) + 300 + torch.randn(600)
mean, std = price[:500].mean(), price[:500].std()
y = (price - mean) / std
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.price, self.kind = nn.Sequential(nn.Linear(6, 24), nn.ReLU()), nn.Linear(24, 1), nn.Linear(24, 2)
    def forward(self, x):
        h = self.body(x)
        return self.price(h).squeeze(-1), self.kind(h)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(3):
    for rows in torch.randperm(500).split(50):
        answer, logits = net(x[rows])
        loss = nn.functional.mse_loss(answer, y[rows]) + nn.functional.cross_entropy(logits, (x[rows, 0] > 0).long())
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        answer, _ = net(x[500:])
        print(((answer * std + mean - price[500:]) ** 2).mean().sqrt())
"""
MIXTURE = """
import torch
from torch import nn
torch.manual_seed(6)
y = torch.rand(400, 1) * 4 - 2
x = torch.sin(2 * y) + 0.1 * torch.randn(400, 1)
body = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 9))
opt = torch.optim.Adam(body.parameters(), lr=5e-3)
for step in range(25):
    rows = torch.randint(0, 400, (50,))
    shares, mu, log_sigma = body(x[rows]).chunk(3, dim=-1)
    logs = torch.log_softmax(shares, -1)
    each = -0.5 * ((y[rows] - mu) / log_sigma.exp()) ** 2 - log_sigma
    loss = -torch.logsumexp(logs + each, -1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
SIGNALS = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(7)
labels = torch.randint(0, 3, (500,))
signals = torch.randn(3, 24)[labels] + 0.3 * torch.randn(500, 24)
train_part, test_part = slice(0, 400), slice(400, 500)
class Signals(Dataset):
    def __init__(self, part, noisy):
        self.x, self.y, self.noisy = signals[part], labels[part], noisy
    def __len__(self):
        return len(self.y)
    def __getitem__(self, i):
        x = self.x[i]
        return (x * (0.9 + 0.2 * torch.rand(())) if self.noisy else x), self.y[i]
net = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
train_loader = DataLoader(Signals(train_part, True), batch_size=40, shuffle=True)
test_loader = DataLoader(Signals(test_part, False), batch_size=50)
for epoch in range(3):
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(sum((net(x).argmax(1) == y).sum().item() for x, y in test_loader) / 100)
"""
PAIRS = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(8)
pairs = torch.randint(0, 5, (900, 1)) * 6 + torch.randint(0, 6, (900, 2))
class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Embedding(30, 8), nn.Embedding(30, 8)
    def forward(self, c, o, drawn):
        v = self.one(c)
        p = (v * self.other(o)).sum(-1)
        n = torch.bmm(self.other(drawn), v.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(p) + F.logsigmoid(-n).sum(1)).mean()
model = Words()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for rows in torch.randperm(900).split(40):
    loss = model(pairs[rows, 0], pairs[rows, 1], torch.randint(0, 30, (len(rows), 4)))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
PROGRAMS = {
    "by hand": BY_HAND, "of a module": OF_A_MODULE, "graph": GRAPH, "stream": STREAM, "ratings": RATINGS, "two": TWO_TRAININGS,
    "prices": PRICES, "mixture": MIXTURE, "signals": SIGNALS, "pairs": PAIRS,
}  # fmt: skip
FAULTS = [
    ("by hand", "BADAK-201", "                p.grad = None\n", ""),
    ("by hand", "BADAK-254", "p -= 0.1", "p += 0.1"),
    ("by hand", "BADAK-248", "logits = torch.relu(x[rows] @ w1 + b1) @ w2 + b2", "logits = torch.relu(x[rows] @ w1 @ w2 + b2)"),
    ("of a module", "BADAK-201", "    opt.zero_grad()\n", ""),
    ("of a module", "BADAK-202", "net(x[rows])", "net(x[rows]).softmax(-1)"),
    ("graph", "BADAK-238", "out[train_mask], kind[train_mask]", "out, kind"),
    ("graph", "BADAK-238", "val = (pred[val_mask] == kind[val_mask])", "val = (pred[test_mask] == kind[test_mask])"),
    ("stream", "BADAK-238", "train_text, val_text = text[:3000]", "train_text, val_text = text"),
    ("stream", "BADAK-264", "        state = state.detach()\n", "        state = torch.zeros(1, 8, 24)\n"),
    ("ratings", "BADAK-238", "model(users[1200:], items[1200:]), ratings[1200:]", "model(users[:300], items[:300]), ratings[:300]"),
    ("ratings", "BADAK-259", 'best = Factors(), nn.MSELoss(), float("inf")', "best = Factors(), nn.MSELoss(), 0.0"),
    ("two", "BADAK-259", 'startswith("body.")', 'startswith("backbone.")'),
    ("two", "BADAK-259", "{name: p for", "{name[5:]: p for"),
    ("two", "BADAK-259", "second.load_state_dict(state, strict=False)\n", ""),
    ("prices", "BADAK-263", "answer * std + mean - price", "answer - price"),
    ("mixture", "BADAK-230", "log_softmax(shares, -1)", "log_softmax(shares, 0)"),
    ("signals", "BADAK-257", "Signals(test_part, False)", "Signals(test_part, True)"),
    ("signals", "BADAK-238", "slice(0, 400), slice", "slice(0, 500), slice"),
    ("pairs", "BADAK-221", "pairs[rows, 0], pairs[rows, 1],", "pairs[rows, 0], pairs[rows, 0],"),
    ("pairs", "BADAK-267", "F.logsigmoid(-n)", "F.logsigmoid(n)"),
]
DRIVER = """
import json, sys
from tests.inspect.doctor.held_out import examined, warm
warm()
print(json.dumps([examined(text, "program") for text in json.load(sys.stdin)]))
"""
IN_PYTORCH = """
import json, os, sys, tempfile
os.chdir(tempfile.mkdtemp())
for text in json.load(sys.stdin):
    exec(compile(text, "program", "exec"), {"__name__": "__main__"})
"""


def driven(driver: str, texts: list[str]) -> str:
    command = [sys.executable, "-c", driver]
    done = subprocess.run(
        command, input=json.dumps(texts), capture_output=True, text=True, cwd=Path(__file__).parents[3], check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_runs_in_pytorch():
    driven(IN_PYTORCH, [*PROGRAMS.values()])


def test_nothing_is_said_of_them_and_each_mistake_is_found():
    assert all(PROGRAMS[name].count(old) == 1 for name, _, old, _ in FAULTS)
    texts = [PROGRAMS[name].replace(old, new) for name, _, old, new in FAULTS]
    said = json.loads(driven(DRIVER, [*PROGRAMS.values(), *texts]))
    sound, spoiled = said[: len(PROGRAMS)], said[len(PROGRAMS) :]
    assert not [each["text"] for each in sound if each["codes"] or each.get("failed")]
    missed = [(fault, each["text"]) for fault, each in zip(FAULTS, spoiled, strict=True) if fault[1] not in each["codes"]]
    assert not missed


PICTURE = """
import torch
from torch import nn
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).requires_grad_(False)
picture = torch.randn(1, 8, requires_grad=True)
for step in range(30):
    net(picture)[0, 1].backward()
    picture.data += 0.1 * picture.grad
    picture.grad = None
"""


def test_a_picture_that_is_made_is_no_training():
    (said,) = json.loads(driven(DRIVER, [PICTURE]))
    assert not said["codes"] and "before its first optimizer.step()" in said["text"]
