"""Tomorrow's temperature: windows of a series, a Transformer with a causal mask, early stopping, MAE."""

import copy

import torch
from torch import nn

torch.manual_seed(7)
days = torch.arange(900.0)
series = torch.stack([torch.sin(days / 20), torch.cos(days / 9), torch.sin(days / 50) ** 2], 1) + 0.1 * torch.randn(900, 3)
train, test = series[:700], series[700:]
mean, std = train.mean(0), train.std(0)
train, test = (train - mean) / std, (test - mean) / std
WINDOW = 16


def windows(data):
    x = torch.stack([data[i : i + WINDOW] for i in range(len(data) - WINDOW)])
    y = torch.stack([data[i + 1 : i + WINDOW + 1, :1] for i in range(len(data) - WINDOW)])
    return x, y


class Weather(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.inp, self.pos = nn.Linear(3, d), nn.Parameter(torch.randn(1, WINDOW, d) * 0.1)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 64, 0.1, batch_first=True), 2)
        self.out = nn.Linear(d, 1)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        return self.out(self.enc(self.inp(x) + self.pos, mask=mask, is_causal=True))


train_x, train_y = windows(train)
test_x, test_y = windows(test)
model = Weather()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.L1Loss()
best, best_state, bad = float("inf"), None, 0

for epoch in range(3):
    model.train()
    for batch in torch.randperm(len(train_x)).split(40):
        prediction = model(train_x[batch])
        loss = criterion(prediction, train_y[batch])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        score = criterion(model(test_x), test_y).item()
    if score < best:
        best, best_state, bad = score, copy.deepcopy(model.state_dict()), 0
    else:
        bad += 1
        if bad == 2:
            break
    print(epoch, f"{loss.item():.3f} {score:.3f}")
model.load_state_dict(best_state)
