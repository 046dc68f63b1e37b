"""What the text of a program tells by itself, each next to what looks like it and is right."""

import pytest

from badak.inspect.doctor import names, text


def told(monkeypatch, program: str) -> list[str]:
    monkeypatch.setattr(text, "own_text", lambda: program)
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
         "a = scaler.fit_transform(X_train)\nb = scaler.transform(X_test)"),
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
        ("loss.append(-log_prob * R)", 1),
        ("loss = (log_probs * something).mean()", 0),
    ],
)
def test_the_weight_of_a_logarithm(monkeypatch, line, sign):
    monkeypatch.setattr(text, "own_text", lambda: line)
    assert text.weight_of(1) == sign


@pytest.mark.parametrize(
    ("program", "again"),
    [
        ("opt = torch.optim.Adam(teacher.parameters())\nopt = torch.optim.SGD(student.parameters(), lr=0.1)", True),
        ("def train(net):\n    opt = optim.Adam(net.parameters())\ntrain(a)\ntrain(b)", True),
        ("opt = optim.Adam(net.parameters())", False),
    ],
)
def test_a_second_training_is_waited_for(monkeypatch, program, again):
    monkeypatch.setattr(names, "own_text", lambda: program)
    assert names.trains_again() == again


def test_data_for_tests_that_is_only_prepared(monkeypatch):
    monkeypatch.setattr(names, "own_text", lambda: "X_test = load()\nX_test = (X_test - mean) / std\nfit(X)")
    assert names.held_back() == ["X_test"]
    monkeypatch.setattr(names, "own_text", lambda: "X_test = load()\nX_test = (X_test - mean) / std\ntest(X_test)")
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
