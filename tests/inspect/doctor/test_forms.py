"""Forms that programs of other people have: sparse tables, rows sorted by their length, one batch for several epochs of a policy,
a test behind a training in which something was found."""

import subprocess
import sys

import pytest

import badak
from badak import nn
from badak.data import Dataset
from badak.inspect.doctor.diagnoses.tests import items_of
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


def sorted_by_length(apart=""):
    """Rows, their lengths and their labels, the longest first; apart: one of them stays as it was."""
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
            loss = F.cross_entropy(
                reader(ids[rows], lengths if apart == "lengths" else ordered), y if apart == "labels" else y[rows]
            )
            opt.zero_grad()
            loss.backward()
            opt.step()
    return codes(checkup)


def test_lengths_that_are_sorted_lie_in_the_order_of_the_rows():
    assert "BADAK-256" not in sorted_by_length()
    assert "BADAK-256" in sorted_by_length("lengths")
    assert "BADAK-256" in sorted_by_length("labels")


def test_the_items_of_datasets_are_compared_where_they_are_plain():
    class Items(Dataset):
        def __init__(self, **held):
            self.__dict__.update(held)

        def __len__(self):
            return 3

    assert items_of(Items(samples=[("a.png", 0), ("b.png", 1), ("c.png", 0)])) == {("a.png", 0), ("b.png", 1), ("c.png", 0)}
    for held in ({"x": [[1], [2], [3]]}, {"x": [badak.ones(2)] * 3, "y": [0, 1, 2]}, {"x": badak.ones(3, 2)}, {"x": [7, 3, 1]}):
        assert items_of(Items(**held)) == set()


def said_of(tmp_path, text, before=""):
    """What the doctor says of a program."""
    path = tmp_path / "train.py"
    path.write_text(text)
    code = f"import sys\nfrom badak.inspect.doctor import program\n{before}\nprint(program.examined(sys.argv[1], []))"
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert not run.returncode, run.stderr
    return run.stdout


@pytest.mark.slow
def test_states_and_what_follows_them_are_no_batch_that_slides(tmp_path):
    """Both are read three times for each batch, and then another batch comes."""
    assert "BADAK-222" not in said_of(tmp_path, POLICY)


@pytest.mark.slow
def test_a_finding_does_not_keep_a_test_behind_the_training_from_being_looked_at(tmp_path):
    """The first test comes later than it is waited for."""
    late = "program._Stopping.looks_out = lambda visit: program.Lookout(visit, 0.0, visit.late, True)"
    for which in range(2):
        said = said_of(tmp_path, TESTED_LATER.replace("WHICH", str(which)), late)
        assert "BADAK-217" in said
        assert ("BADAK-238" in said) == (which == 0), said


SCHEDULED = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(240, 8)
y = (x.sum(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), 8, shuffle=True)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.SCHEDULE
for epoch in range(2):
    for a, b in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(a), b).backward()
        opt.step()
        scheduler.step()
"""


@pytest.mark.slow
def test_a_schedule_is_judged_by_what_it_does_in_an_epoch(tmp_path):
    """Two falls are seen, or many small ones, and what 30 batches make of them is known."""
    for schedule in (
        "StepLR(opt, 3)",
        "StepLR(opt, step_size=10, gamma=0.1)",
        "ExponentialLR(opt, gamma=0.85)",
        "CosineAnnealingLR(opt, T_max=25)",
    ):
        assert "BADAK-236" in said_of(tmp_path, SCHEDULED.replace("SCHEDULE", schedule)), schedule
    for schedule in ("StepLR(opt, step_size=10, gamma=0.5)", "LinearLR(opt, 1.0, 0.0, 60)", "CosineAnnealingLR(opt, T_max=60)"):
        assert "BADAK-236" not in said_of(tmp_path, SCHEDULED.replace("SCHEDULE", schedule)), schedule


FILES = """
import os
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(0)
root = os.path.dirname(os.path.abspath(__file__))
rng = np.random.RandomState(0)
for part, n in (("train", 120), ("val", 40)):
    os.makedirs(os.path.join(root, part), exist_ok=True)
    for i in range(n):
        np.save(os.path.join(root, part, f"{i}.npy"), rng.randn(6, 6).astype("f4") + i % 2)
class Folder(Dataset):
    def __init__(self, part, changed):
        folder = os.path.join(root, part)
        self.changed, self.samples = changed, [(os.path.join(folder, f), int(f[:-4]) % 2) for f in sorted(os.listdir(folder))]
    def __len__(self):
        return len(self.samples)
    def __getitem__(self, i):
        path, label = self.samples[i]
        x = torch.from_numpy(np.load(path))
        return x + 0.1 * torch.randn(6, 6) if self.changed else x, label
sets = {"train": Folder("train", True), "val": Folder(PART, False)}
loaders = {x: DataLoader(sets[x], batch_size=8, shuffle=True) for x in ["train", "val"]}
net = nn.Sequential(nn.Flatten(), nn.Linear(36, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for phase in ["train", "val"]:
        net.train(phase == "train")
        for x, y in loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                loss = nn.functional.cross_entropy(net(x), y)
                if phase == "train":
                    opt.zero_grad()
                    loss.backward()
                    opt.step()
"""


@pytest.mark.slow
def test_the_files_of_a_training_are_known_however_they_are_changed(tmp_path):
    assert "BADAK-238" in said_of(tmp_path, FILES.replace("PART", '"train"'))
    assert "BADAK-238" not in said_of(tmp_path, FILES.replace("PART", '"val"'))


CRITIC = """
import torch
from torch import nn
torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
opt_c = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
for step in range(40):
    real = torch.randn(32, 2) + 2
    made = generator(torch.randn(32, 4))
    loss_c = SIGN(torch.mean(critic(made)) - torch.mean(critic(real)))
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    if step % 4 == 0:
        loss_g = -torch.mean(critic(generator(torch.randn(32, 4))))
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
"""


@pytest.mark.slow
def test_what_a_critic_is_given_may_have_its_graph(tmp_path):
    """Nothing is detached: the optimizers tell whose step it is."""
    assert "BADAK-254" in said_of(tmp_path, CRITIC.replace("SIGN", "-"))
    assert "BADAK-254" not in said_of(tmp_path, CRITIC.replace("SIGN", ""))


UPHILL = """
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(400, 8)
y = (x.sum(1) > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2), nn.LogSoftmax(dim=1))
for step in range(30):
    rows = torch.randint(0, 400, (40,))
    net.zero_grad()
    nn.functional.nll_loss(net(x[rows]), y[rows]).backward()
    for p in net.parameters():
        p.data.add_(p.grad, alpha=RATE)
"""


@pytest.mark.slow
def test_weights_that_are_written_along_the_gradient_of_logarithms(tmp_path):
    assert "BADAK-254" in said_of(tmp_path, UPHILL.replace("RATE", "0.1"))
    assert "BADAK-254" not in said_of(tmp_path, UPHILL.replace("RATE", "-0.1"))


LETTERS = """
import torch
from torch import nn
torch.manual_seed(0)
text = torch.randint(0, 20, (3000,))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.cell, self.out = nn.Embedding(20, 16), nn.GRUCell(16, 16), nn.Linear(16, 20)
    def forward(self, one, state):
        state = self.cell(self.table(one.view(1)), state)
        return self.out(state), state
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(22):
    at = int(torch.randint(1, 2900, (1,)))
    given, asked = text[at:at + 40], text[at + SHIFT:at + SHIFT + 40]
    state, loss = torch.zeros(1, 16), 0
    for i in range(40):
        answer, state = net(given[i], state)
        loss += nn.functional.cross_entropy(answer, asked[i].view(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.slow
def test_letters_that_are_asked_for_one_by_one_are_a_text(tmp_path):
    for shift, wrong in ((1, False), (-1, True), (2, True)):
        assert ("BADAK-205" in said_of(tmp_path, LETTERS.replace("SHIFT", str(shift)))) == wrong, shift
