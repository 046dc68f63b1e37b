"""Forms that programs of other people have: sparse tables, rows sorted by their length, one batch for several epochs of a policy,
a test behind a training in which something was found."""

import subprocess
import sys

import badak
from badak import nn
from badak.nn import functional as F

TESTED_LATER = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(480, 6, 8)
y = (x.sum((1, 2)) > 0).long()
parts = [TensorDataset(x[:400], y[:400]), TensorDataset(x[400:], y[400:])]
train_loader, test_loader = DataLoader(parts[0], 20, shuffle=True), DataLoader(parts[WHICH], 20)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 12, batch_first=True, bidirectional=True)
        self.out = nn.Linear(24, 2)
    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])  # where the way back has read one place
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for a, b in train_loader:
        loss = nn.functional.cross_entropy(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    right = sum((net(a).argmax(1) == b).sum().item() for a, b in test_loader)
    print('test accuracy', right / len(test_loader.dataset))
"""

POLICY = """
import torch
from torch import nn
torch.manual_seed(0)
value = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(value.parameters(), lr=1e-3)
for episode in range(7):
    states, rewards = [torch.randn(4)], []
    for t in range(20):
        states.append(states[-1] + 0.1 * torch.randn(4) + 0.1 * value(states[-1]).item())
        rewards.append(torch.randn(1))
    for epoch in range(3):
        target = torch.stack(rewards) + 0.9 * value(torch.stack(states[1:]))
        loss = nn.functional.smooth_l1_loss(value(torch.stack(states[:-1])), target.detach())
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def codes(checkup):
    return {finding.code for finding in checkup.findings}


def test_a_model_that_is_given_a_sparse_table_is_watched():
    badak.manual_seed(0)
    table = badak.sparse_coo_tensor([[0, 1, 2, 3, 3], [1, 0, 3, 2, 1]], badak.ones(5), (4, 4))

    class Graph(nn.Module):
        def __init__(self):
            super().__init__()
            self.map = nn.Linear(5, 3)

        def forward(self, x, near, beside=None):
            return badak.sparse.mm(near, self.map(x))

    model, x, y = Graph(), badak.randn(4, 5), badak.tensor([0, 1, 2, 0])
    opt = badak.optim.Adam(model.parameters(), lr=0.01)
    with badak.doctor(quiet=True) as checkup:
        for _ in range(20):
            loss = F.cross_entropy(model(x, table, beside=table), y)
            loss.backward()
            opt.step()
    assert codes(checkup) == {"BADAK-201"}


def sorted_by_length(apart):
    """Rows and their lengths, the longest first; apart: the lengths stay as they were."""
    badak.manual_seed(0)
    model = nn.ModuleDict({"table": nn.Embedding(30, 12), "out": nn.Linear(12, 3)})

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, ids, lengths):
            keep = (badak.arange(ids.shape[1]) < lengths[:, None])[:, :, None]
            return self.inner["out"]((self.inner["table"](ids) * keep).sum(1) / lengths[:, None])

    reader = Reader()
    opt = badak.optim.Adam(reader.parameters(), lr=0.01)
    with badak.doctor(quiet=True) as checkup:
        for _ in range(20):
            ids, lengths = badak.randint(1, 30, (16, 9)), badak.randint(2, 10, (16,))
            y = ids[:, 0] % 3
            ordered, rows = lengths.sort(0, descending=True)
            loss = F.cross_entropy(reader(ids[rows], lengths if apart else ordered), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return codes(checkup)


def test_lengths_that_are_sorted_lie_in_the_order_of_the_rows():
    assert "BADAK-256" not in sorted_by_length(apart=False)
    assert "BADAK-256" in sorted_by_length(apart=True)


def said_of(tmp_path, text, before=""):
    """What the doctor says of a program."""
    path = tmp_path / "train.py"
    path.write_text(text)
    code = f"import sys\nfrom badak.inspect.doctor import program\n{before}\nprint(program.examined(sys.argv[1], []))"
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert not run.returncode, run.stderr
    return run.stdout


def test_states_and_what_follows_them_are_no_batch_that_slides(tmp_path):
    """Both are read three times for each batch, and then another batch comes."""
    assert "BADAK-222" not in said_of(tmp_path, POLICY)


def test_a_finding_does_not_keep_a_test_behind_the_training_from_being_looked_at(tmp_path):
    """The first test comes later than it is waited for."""
    late = "program._Stopping.looks_out = lambda visit: program.Lookout(visit, 0.0, visit.late, True)"
    for which in range(2):
        said = said_of(tmp_path, TESTED_LATER.replace("WHICH", str(which)), late)
        assert "BADAK-217" in said
        assert ("BADAK-238" in said) == (which == 0), said
