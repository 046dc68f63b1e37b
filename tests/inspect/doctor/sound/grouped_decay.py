"""A small transformer for sums of digits with groups of parameters, rates by depth, warm-up, tests within an epoch."""

import torch
from torch import nn

torch.manual_seed(10)
ids = torch.randint(1, 10, (900, 6))
total = ids.sum(1) % 7


class Adder(nn.Module):
    def __init__(self, d=32, depth=2):
        super().__init__()
        self.embed, self.place = nn.Embedding(10, d), nn.Parameter(torch.randn(1, 7, d) * 0.02)
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        layer = nn.TransformerEncoderLayer(d, 4, 64, 0.1, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(d, 7)

    def forward(self, ids):
        x = torch.cat([self.cls.expand(len(ids), -1, -1), self.embed(ids)], dim=1) + self.place
        return self.head(self.layers(x)[:, 0])


model = Adder()
groups = [
    {"params": [model.place, model.cls, *model.embed.parameters()], "lr": 1e-3, "weight_decay": 0.0},
    {"params": [p for p in model.layers.parameters() if p.dim() > 1], "lr": 2e-3, "weight_decay": 0.05},
    {"params": [p for p in model.layers.parameters() if p.dim() <= 1], "lr": 2e-3, "weight_decay": 0.0},
    {"params": model.head.parameters(), "lr": 4e-3},
]
optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 15))
criterion = nn.CrossEntropyLoss()


def evaluate():
    was = model.training
    model.eval()
    with torch.no_grad():
        right = (model(ids[800:]).argmax(1) == total[800:]).float().mean().item()
    model.train(was)
    return right


for epoch in range(3):
    model.train()
    for number, rows in enumerate(torch.randperm(800).split(40)):
        loss = criterion(model(ids[rows]), total[rows])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if number % 5 == 4:
            print(epoch, number, loss.item(), evaluate())
