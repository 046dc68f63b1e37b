# Human activity from a phone's sensors: (batch, 9 signals, 64 samples) -> Conv1d -> LSTM -> one of six activities
import badak as torch
import badak.nn as nn


class HARModel(nn.Module):
    def __init__(self, n_signals=9, n_classes=6, n_filters=24, n_hidden=32, n_layers=2, drop_prob=0.3):
        super(HARModel, self).__init__()
        self.conv1 = nn.Conv1d(n_signals, n_filters, 5)
        self.conv2 = nn.Conv1d(n_filters, n_filters, 5)
        self.conv3 = nn.Conv1d(n_filters, n_filters, 5)
        self.lstm1 = nn.LSTM(n_filters, n_hidden, n_layers)
        self.lstm2 = nn.LSTM(n_hidden, n_hidden, n_layers)
        self.fc = nn.Linear(n_hidden, n_classes)
        self.dropout = nn.Dropout(drop_prob)
        self.relu = nn.ReLU()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))  # (batch, filters, steps)
        x = x.permute(2, 0, 1)  # (steps, batch, filters)
        x, _ = self.lstm1(x)
        x = self.dropout(x)
        x, _ = self.lstm2(x)
        x = self.dropout(x[-1])
        return self.fc(x)


def build():
    signals = torch.randn(6, 9, 64)
    labels = torch.tensor([0, 3, 5, 1, 2, 4])
    net = HARModel()
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=0.001)
    return {"model": net, "batch": (signals,), "loss": lambda out: criterion(out, labels), "optimizer": opt}
