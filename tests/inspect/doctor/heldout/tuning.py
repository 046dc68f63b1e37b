"""Fine-tuning: a body that was trained before stays frozen, a new head learns two classes."""

import torch
from torch import nn

torch.manual_seed(43)
V = 40


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(V, 32, padding_idx=0)
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids):
        return self.layers(self.table(ids), src_key_padding_mask=ids == 0)


class Classifier(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body, self.drop, self.head = body, nn.Dropout(0.1), nn.Linear(32, 2)

    def forward(self, ids):
        real = (ids != 0).unsqueeze(-1)
        h = self.body(ids)
        return self.head(self.drop((h * real).sum(1) / real.sum(1)))


def texts(n=16):
    ids = torch.randint(1, V, (n, 12))
    ids[torch.arange(12) >= torch.randint(5, 13, (n, 1))] = 0
    return ids, (ids[:, 0] > V // 2).long()


model = Classifier(Body())
for p in model.body.parameters():
    p.requires_grad_(False)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for i in range(40):
    model.train()
    model.body.eval()
    ids, label = texts()
    logits = model(ids)
    loss = criterion(logits, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if i % 10 == 5:
        model.eval()
        with torch.no_grad():
            ids, label = texts()
            print(criterion(model(ids), label).item())
