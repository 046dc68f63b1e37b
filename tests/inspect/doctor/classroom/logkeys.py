"""DeepLog in small: an LSTM learns which event follows in a log; what it does not expect is an anomaly."""

import numpy as np
import torch
import torch.nn as nn
import torch.utils.data as tud

WINDOW = 8
NUM_KEYS = 14
TOP = 4
HIDDEN = 48


def normal_session(rs):
    """open, some reads and writes, close; sometimes a retry"""
    events = [0, 1]
    for _ in range(rs.randint(4, 9)):
        kind = rs.randint(3)
        if kind == 0:
            events += [2, 3, 4]
        elif kind == 1:
            events += [5, 6, 7]
        else:
            events += [8, 9] + ([8, 9] if rs.rand() < 0.3 else [])
    return events + [10, 11]


def abnormal_session(rs):
    events = normal_session(rs)
    at = rs.randint(2, len(events) - 1)
    how = rs.randint(3)
    if how == 0:
        events.insert(at, 12 + rs.randint(2))
    elif how == 1:
        events[at : at + 2] = events[at : at + 2][::-1]
        events.insert(at, rs.randint(NUM_KEYS))
    else:
        del events[at]
    return events


def windows(sessions):
    inputs, outputs = [], []
    for session in sessions:
        padded = [NUM_KEYS] * WINDOW + session
        for i in range(len(session)):
            inputs.append(padded[i : i + WINDOW])
            outputs.append(padded[i + WINDOW])
    return torch.tensor(inputs), torch.tensor(outputs)


class DeepLog(nn.Module):
    def __init__(self, num_keys, hidden_size, num_layers=1):
        super().__init__()
        self.embed = nn.Embedding(num_keys + 1, 16)
        self.lstm = nn.LSTM(16, hidden_size, num_layers, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Linear(hidden_size, num_keys)

    def forward(self, x):
        out, _ = self.lstm(self.embed(x))
        return self.fc(self.drop(out[:, -1, :]))


def is_anomaly(model, session, top=TOP):
    x, y = windows([session])
    candidates = torch.topk(model(x), top, dim=1).indices
    expected = (candidates == y.unsqueeze(1)).any(dim=1)
    return not bool(expected.all())


rs = np.random.RandomState(12)
torch.manual_seed(12)
train_sessions = [normal_session(rs) for _ in range(110)]
valid_sessions = [normal_session(rs) for _ in range(30)]
test_normal = [normal_session(rs) for _ in range(60)]
test_abnormal = [abnormal_session(rs) for _ in range(60)]

dataloader = tud.DataLoader(tud.TensorDataset(*windows(train_sessions)), batch_size=64, shuffle=True, pin_memory=False)
valid_x, valid_y = windows(valid_sessions)

model = DeepLog(NUM_KEYS, HIDDEN)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)

print(f"{len(dataloader.dataset)} windows, {len(dataloader)} batches")
for epoch in range(5):
    train_loss = 0
    model.train()
    for seq, label in dataloader:
        output = model(seq)
        loss = criterion(output, label)
        optimizer.zero_grad()
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        output = model(valid_x)
        valid_loss = criterion(output, valid_y).item()
        valid_acc = (output.argmax(dim=1) == valid_y).float().mean().item()
    print(
        f"Epoch [{epoch + 1}/5], train_loss: {train_loss / len(dataloader):.4f}, valid_loss: {valid_loss:.4f}, acc: {valid_acc:.3f}"
    )

model.eval()
TP = FP = 0
with torch.no_grad():
    for session in test_normal:
        if is_anomaly(model, session):
            FP += 1
    for session in test_abnormal:
        if is_anomaly(model, session):
            TP += 1
FN = len(test_abnormal) - TP
P = 100 * TP / max(TP + FP, 1)
R = 100 * TP / (TP + FN)
F1 = 2 * P * R / max(P + R, 1e-9)
print(f"false positive (FP): {FP}, false negative (FN): {FN}, Precision: {P:.3f}%, Recall: {R:.3f}%, F1-measure: {F1:.3f}%")
