"""Fine-tuning in two stages: a body that was trained before is frozen at first, then all of it learns, slowly; two groups."""

import torch
import torch.nn as nn

torch.manual_seed(8)


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 48), nn.LayerNorm(48), nn.GELU(), nn.Linear(48, 48), nn.LayerNorm(48), nn.GELU())

    def forward(self, x):
        return self.layers(x)


class Classifier(nn.Module):
    def __init__(self, body, classes):
        super().__init__()
        self.body, self.dropout, self.head = body, nn.Dropout(0.1), nn.Linear(48, classes)

    def forward(self, x):
        return self.head(self.dropout(self.body(x)))


W = torch.randn(16, 6)
x_all = torch.randn(900, 16)
y_all = (x_all @ W + 0.3 * torch.randn(900, 6)).argmax(1)
x_train, y_train, x_val, y_val = x_all[:700], y_all[:700], x_all[700:], y_all[700:]
body = Body()
torch.save(body.state_dict(), "body.pt")
pretrained = Body()
pretrained.load_state_dict(torch.load("body.pt"))
model = Classifier(pretrained, 6)
criterion = nn.CrossEntropyLoss()


def run(optimizer, steps):
    model.train()
    for _ in range(steps):
        rows = torch.randint(0, len(x_train), (50,))
        out = model(x_train[rows])
        loss = criterion(out, y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(x_val).argmax(1) == y_val).float().mean()
    print(loss.item(), accuracy.item())


for p in model.body.parameters():
    p.requires_grad = False
run(torch.optim.AdamW(model.head.parameters(), lr=1e-2), 8)
for p in model.body.parameters():
    p.requires_grad = True
groups = [{"params": model.body.parameters(), "lr": 1e-3}, {"params": model.head.parameters()}]
run(torch.optim.AdamW(groups, lr=5e-3), 30)
