"""backward() of what has no graph names the expression at which the graph ends, as a newcomer's program has it."""

from pathlib import Path

import pytest

import badak
from badak import nn
from badak.core.errors import GraphError
from badak.nn import functional as F

x, y = badak.randn(5, 4), badak.tensor([0, 2, 1, 1, 0])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 3)

    def forward(self, x):
        return self.b(self.a(x))


class Cutting(Net):
    def forward(self, x):
        h = self.a(x)
        return self.b(h).detach()


class Off(Net):
    @badak.no_grad()
    def forward(self, x):
        return self.b(self.a(x))


net = Net()


def argmax():
    pred = net(x).argmax(dim=-1)
    loss = F.mse_loss(pred.float(), y.float())
    loss.backward()


def accuracy():
    out = net(x)
    loss = (out.argmax(1) == y).float().mean()
    loss.backward()


def not_recorded():
    with badak.no_grad():
        out = net(x)
    loss = F.cross_entropy(out, y)
    loss.backward()


def its_number():
    loss = F.cross_entropy(net(x), y)
    loss = badak.tensor(loss.item())
    loss.backward()


def in_forward():
    F.cross_entropy(Cutting()(x), y).backward()


def forward_under_no_grad():
    model = Off()
    out = model(x)
    total = 0
    total += F.cross_entropy(out, y)
    total.backward()


def data():
    out = net(x).data
    loss = F.cross_entropy(out, y)
    loss.backward()


def step(loss):
    loss.backward()


def through_numpy_and_a_helper():
    preds = net(x).detach().numpy()
    loss = F.cross_entropy(badak.from_numpy(preds), y)
    step(loss)


@badak.no_grad()
def decorated():
    loss = F.cross_entropy(net(x), y)
    loss.backward()


def a_list_of_numbers():
    losses = []
    for _ in range(3):
        losses.append(F.cross_entropy(net(x), y).item())
    loss = badak.tensor(losses).mean()
    loss.backward()


def integers():
    h = net(x).to(badak.long)
    loss = F.l1_loss(h.float(), badak.zeros(5, 3))
    loss.backward()


def attention():
    q = x[None]
    o, _ = nn.MultiheadAttention(4, 2, batch_first=True)(q, q, q)
    context = o.detach()
    badak.autograd.backward(context.pow(2).mean())


def asked_for_a_gradient():
    loss = F.cross_entropy(net(x), y)
    badak.autograd.grad(loss.detach(), list(net.parameters()))


def an_encoder():
    encoder = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    out = encoder(x[None])
    loss = badak.tensor([float(each.sum()) for each in out]).sum()
    loss.backward()


class Trainer:
    def attributes(self):
        self.model = Net()
        self.out = self.model(x).detach()
        self.loss = self.out.sum()
        self.loss.backward()


def no_parameters():
    a = badak.ones(3)
    (a * 2).sum().backward()


def frozen():
    model = Net().requires_grad_(False)
    loss = F.cross_entropy(model(x), y)
    loss.backward()


def made_within():
    with badak.no_grad():
        loss = badak.ones(2, requires_grad=True).mean()
    loss.backward()


def without_source():
    exec("z = net(x).detach()\nz.sum().backward()", dict(globals()))


CASES = [
    (argmax, "net(x).argmax(dim=-1)", "gives integers or truth values"),
    (accuracy, "out.argmax(1)", "gives integers or truth values"),
    (not_recorded, "net(x)", "was computed under no_grad()"),
    (its_number, "loss.item()", "takes the numbers out of the graph"),
    (in_forward, "self.b(h).detach()", "leaves the graph"),
    (forward_under_no_grad, "self.b(self.a(x))", "was computed under no_grad()"),
    (data, "net(x).data", "leaves the graph"),
    (through_numpy_and_a_helper, "net(x).detach()", "leaves the graph"),
    (decorated, "net(x)", "was computed under no_grad()"),
    (a_list_of_numbers, "F.cross_entropy(net(x), y).item()", "takes the numbers out of the graph"),
    (integers, "net(x).to(badak.long)", "gives integers or truth values"),
    (attention, "o.detach()", "leaves the graph"),
    (asked_for_a_gradient, "loss.detach()", "leaves the graph"),
    (an_encoder, "badak.tensor([float(each.sum()) for each in out])", "takes the numbers out of the graph"),
    (Trainer().attributes, "self.model(x).detach()", "leaves the graph"),
    (made_within, "badak.ones(2, requires_grad=True)", "was computed under no_grad()"),
    (no_parameters, "(a * 2).sum()", "requires grad"),
    (frozen, "F.cross_entropy(model(x), y)", "requires grad"),
]


@pytest.mark.parametrize(("program", "code", "how"), CASES, ids=[case[0].__name__ for case in CASES])
def test_the_end_of_the_graph_is_named(program, code, how):
    with pytest.raises(GraphError, match="does not require grad and does not have a grad_fn") as caught:
        program()
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert f" {code} (test_ungraphed.py:" in caught.value.cause and how in caught.value.cause and caught.value.fix
    line = int(caught.value.cause.rpartition("test_ungraphed.py:")[2].partition(")")[0])
    assert code in lines[line - 1], "the line is that of the expression"


def test_without_source_the_kinds_are_named():
    with pytest.raises(GraphError, match=r"of shape \(\) was computed under no_grad\(\) or from detached data"):
        without_source()
