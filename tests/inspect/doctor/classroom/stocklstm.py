"""LSTM으로 주가 예측하기"""

import math
import random

import torch
import torch.nn as nn

torch.manual_seed(0)
random.seed(0)
days = 600
price = [100.0]
for d in range(1, days):
    price.append(price[-1] + math.sin(d / 9) + random.gauss(0, 0.4))
volume = [1000 + 300 * math.cos(d / 9) + random.gauss(0, 30) for d in range(days)]
data = torch.tensor(list(zip(price, volume)))

split = int(days * 0.8)
train_raw, test_raw = data[:split], data[split:]
mins = train_raw.min(dim=0).values
maxs = train_raw.max(dim=0).values
train_scaled = (train_raw - mins) / (maxs - mins)
test_scaled = (test_raw - mins) / (maxs - mins)

seq_length = 20


def make_windows(series):
    xs, ys = [], []
    for i in range(len(series) - seq_length):
        xs.append(series[i : i + seq_length])
        ys.append(series[i + seq_length, 0])
    return torch.stack(xs), torch.stack(ys).unsqueeze(1)


x_train, y_train = make_windows(train_scaled)
x_test, y_test = make_windows(test_scaled)


class StockLSTM(nn.Module):
    def __init__(self, input_dim=2, hidden_dim=32, num_layers=1, output_dim=1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.num_layers = num_layers
        self.lstm = nn.LSTM(input_dim, hidden_dim, num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_dim, output_dim)

    def forward(self, x):
        h0 = torch.zeros(self.num_layers, x.size(0), self.hidden_dim)
        c0 = torch.zeros(self.num_layers, x.size(0), self.hidden_dim)
        out, (hn, cn) = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1, :])


model = StockLSTM()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
batch = 64
for epoch in range(15):
    model.train()
    order = torch.randperm(len(x_train))
    epoch_loss = 0.0
    for i in range(0, len(order), batch):
        idx = order[i : i + batch]
        optimizer.zero_grad()
        pred = model(x_train[idx])
        loss = criterion(pred, y_train[idx])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        epoch_loss += loss.item() * len(idx)
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            val = criterion(model(x_test), y_test)
        print(f"epoch {epoch + 1} train {epoch_loss / len(x_train):.5f} test {val.item():.5f}")

model.eval()
with torch.no_grad():
    pred = model(x_test) * (maxs[0] - mins[0]) + mins[0]
    real = y_test * (maxs[0] - mins[0]) + mins[0]
rmse = torch.sqrt(((pred - real) ** 2).mean()).item()
print("RMSE (won):", rmse)
