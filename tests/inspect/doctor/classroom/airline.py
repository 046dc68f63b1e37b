"""Airline passengers with an LSTM."""

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable

np.random.seed(1)
torch.manual_seed(1)

# monthly passengers: a trend, a season, some noise
months = np.arange(240)
passengers = (120 + 1.6 * months) * (1 + 0.25 * np.sin(2 * np.pi * months / 12) + 0.1 * np.sin(2 * np.pi * months / 6))
passengers = (passengers + 8 * np.random.randn(240)).astype(np.float32).reshape(-1, 1)


def sliding_windows(data, seq_length):
    x, y = [], []
    for i in range(len(data) - seq_length):
        x.append(data[i : i + seq_length])
        y.append(data[i + seq_length])
    return np.array(x), np.array(y)


train_size = 180
lo, hi = passengers[:train_size].min(), passengers[:train_size].max()
scaled = (passengers - lo) / (hi - lo)

seq_length = 12
x, y = sliding_windows(scaled, seq_length)
cut = train_size - seq_length
trainX = Variable(torch.Tensor(x[:cut]))
trainY = Variable(torch.Tensor(y[:cut]))
testX = Variable(torch.Tensor(x[cut:]))
testY = Variable(torch.Tensor(y[cut:]))


class LSTM(nn.Module):
    def __init__(self, num_classes, input_size, hidden_size, num_layers):
        super().__init__()
        self.num_layers = num_layers
        self.hidden_size = hidden_size
        self.lstm = nn.LSTM(input_size=input_size, hidden_size=hidden_size, num_layers=num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_size, num_classes)

    def forward(self, x):
        h_0 = Variable(torch.zeros(self.num_layers, x.size(0), self.hidden_size))
        c_0 = Variable(torch.zeros(self.num_layers, x.size(0), self.hidden_size))
        ula, (h_out, _) = self.lstm(x, (h_0, c_0))
        h_out = h_out[-1].view(-1, self.hidden_size)
        return self.fc(h_out)


num_epochs = 300
learning_rate = 0.01
lstm = LSTM(num_classes=1, input_size=1, hidden_size=16, num_layers=1)
criterion = torch.nn.MSELoss()
optimizer = torch.optim.Adam(lstm.parameters(), lr=learning_rate)

for epoch in range(num_epochs):
    outputs = lstm(trainX)
    optimizer.zero_grad()
    loss = criterion(outputs, trainY)
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        print(f"Epoch: {epoch}, loss: {loss.item():1.5f}")

lstm.eval()
with torch.no_grad():
    train_predict = lstm(trainX).numpy() * (hi - lo) + lo
    test_predict = lstm(testX).numpy() * (hi - lo) + lo
train_true = trainY.numpy() * (hi - lo) + lo
test_true = testY.numpy() * (hi - lo) + lo
print(f"train RMSE {np.sqrt(((train_predict - train_true) ** 2).mean()):.2f}")
print(f"test RMSE {np.sqrt(((test_predict - test_true) ** 2).mean()):.2f}")
print(f"mean passengers of the test months {test_true.mean():.1f}")
